"""Functions on data whose classes, spaces and cases do not fit."""

from collections.abc import Callable
from typing import TypeAlias

from adjoint import grad
from diff import Expr, TermFunction, arrow, as_vector, case, data, folded, inner, on, sequence, tanh, term, variant
from hilbert import Fin, Matrix, R, Scalar, Vec, Vector


class Word: ...


class Hidden: ...


word, hidden = Fin(Word, 3), Fin(Hidden, 2)
V, H, W = R**word, R**hidden, R ** (hidden * word)


@variant
class Nothing:
    pass


@variant
class Just:
    value: Expr[Scalar]


Maybe: TypeAlias = Nothing | Just


@variant
class Leaf:
    word: Expr[Vector[Word]]


@variant
class Node:
    left: "Tree"
    right: "Tree"


Tree: TypeAlias = Leaf | Node


@variant
class Rose:
    label: Expr[Scalar]
    children: "tuple[Rose, ...]"


maybe = data(Nothing, Just, value=R)
tree = data(Leaf, Node, word=V)
rose = data(Rose, label=R)


class Good:
    @staticmethod
    def times(e: Expr[Scalar], s: Expr[Scalar]) -> Expr[Scalar]:
        return e * s

    @staticmethod
    @term(W, tree)
    def encode(w: Expr[Matrix[Hidden, Word]], t: Tree) -> Expr[Vector[Hidden]]:
        match t:
            case Leaf(x):
                return tanh(w @ x)
            case Node(left, right):
                return Good.encode(w, left) + Good.encode(w, right)

    @staticmethod
    @term(arrow(R, R), R)
    def twice(f: Callable[[Expr[Scalar]], Expr[Scalar]], x: Expr[Scalar]) -> Expr[Scalar]:
        return f(f(x))

    @staticmethod
    @term(R, maybe)
    def default(x: Expr[Scalar], m: Maybe) -> Expr[Scalar]:
        return case(m, on(Nothing, lambda _: x) | on(Just, lambda j: j.value))

    @staticmethod
    def square(t: Tree) -> Expr[Scalar]:
        raise NotImplementedError

    @staticmethod
    def into_hidden(x: Expr[Scalar]) -> Expr[Vector[Hidden]]:
        return x * H.zeros()

    @staticmethod
    def hidden_first(x: Expr[Vector[Hidden]], a: Expr[Scalar]) -> Expr[Scalar]:
        return inner(x, x) * a

    @staticmethod
    def changes(x: Expr[Scalar], a: Expr[Vector[Hidden]]) -> Expr[Scalar]:
        return x * inner(a, a)


# --- values ---


def bad_vector(v: Vec[Vector[Hidden]]) -> Leaf:
    return Leaf(v)  # E: arg-type


def bad_matrix(v: Vec[Matrix[Hidden, Word]]) -> Leaf:
    return Leaf(v)  # E: arg-type


def bad_nested(v: Vec[Vector[Word]]) -> Tree:
    return Node(Leaf(v), v)  # E: arg-type


def bad_number() -> Just:
    return Just(1.0)  # E: arg-type


def bad_missing(t: Tree) -> Tree:
    return Node(t)  # E: call-arg


def bad_many(t: Tree) -> Tree:
    return Node(t, t, t)  # E: call-arg


def bad_name(v: Vec[Vector[Word]]) -> Leaf:
    return Leaf(words=v)  # E: call-arg


def bad_expression(x: Expr[Vector[Hidden]]) -> Leaf:
    return Leaf(x)  # E: arg-type


def bad_list(v: Vec[Scalar]) -> Rose:
    return Rose(v, [])  # E: arg-type


def bad_children(v: Vec[Scalar]) -> Rose:
    return Rose(v, (v,))  # E: arg-type


def bad_child(v: Vec[Scalar]) -> Rose:
    return Rose(v, Rose(v, ()))  # E: arg-type


def bad_field(t: Leaf) -> Expr[Vector[Word]]:
    return t.words  # E: attr-defined, no-any-return


def bad_field_of_other(t: Node) -> object:
    return t.word  # E: attr-defined


def bad_field_of_tree(t: Tree) -> Expr[Vector[Word]]:
    return t.word  # E: union-attr


def bad_field_type(t: Leaf) -> Expr[Vector[Hidden]]:
    return t.word  # E: return-value


def bad_changed(t: Leaf, v: Expr[Vector[Word]]) -> None:
    t.word = v  # E: misc


def bad_other_data(m: Maybe) -> Tree:
    return Node(m, m)  # E: arg-type


# --- functions ---


def bad_case_missing() -> None:
    @term(R, maybe)
    def f(x: Expr[Scalar], m: Maybe) -> Expr[Scalar]:
        match m:  # E: exhaustive-match
            case Nothing():
                return x
        raise AssertionError


def bad_branch_space() -> None:
    @term(tree)
    def f(t: Tree) -> Expr[Vector[Word]]:
        match t:
            case Leaf(w):
                return w
            case Node(left, right):
                return inner(f(left), f(right))  # E: return-value


def bad_branch_axis() -> None:
    @term(W, tree)
    def f(w: Expr[Matrix[Hidden, Word]], t: Tree) -> Expr[Vector[Word]]:
        match t:
            case Leaf(x):
                return w @ x  # E: return-value
            case Node(left, right):
                return f(w, left) + f(w, right)


def bad_swapped() -> None:
    @term(tree, W)  # E: arg-type
    def f(w: Expr[Matrix[Hidden, Word]], t: Tree) -> Expr[Scalar]:
        return inner(w, w)


def bad_space() -> None:
    @term(H)  # E: arg-type
    def f(x: Expr[Vector[Word]]) -> Expr[Scalar]:
        return inner(x, x)


def bad_data() -> None:
    @term(maybe)  # E: arg-type
    def f(t: Tree) -> Expr[Scalar]:
        return Good.square(t)


def bad_count() -> None:
    @term(R)  # E: arg-type
    def f(x: Expr[Scalar], y: Expr[Scalar]) -> Expr[Scalar]:
        return x * y


def bad_function_kind() -> None:
    @term(arrow(R, H), R)  # E: arg-type
    def f(g: Callable[[Expr[Scalar]], Expr[Scalar]], x: Expr[Scalar]) -> Expr[Scalar]:
        return g(x)


def bad_sequence_kind() -> None:
    @term(R, tree)  # E: arg-type
    def f(x: Expr[Scalar], ts: tuple[Tree, ...]) -> Expr[Scalar]:
        return x


def bad_recursion_argument() -> None:
    @term(R, tree)
    def f(x: Expr[Scalar], t: Tree) -> Expr[Scalar]:
        match t:
            case Leaf(w):
                return inner(w, w) * x
            case Node(left, right):
                return f(left, x) + f(x, right)  # E: call-overload, no-any-return


def bad_pattern_field() -> None:
    @term(tree)
    def f(t: Tree) -> Expr[Scalar]:
        match t:
            case Leaf(w):
                return w  # E: return-value
            case Node(left, right):
                return f(left) + f(right)


def bad_result_of_part() -> None:
    @term(tree)
    def f(t: Tree) -> Expr[Scalar]:
        match t:
            case Leaf(w):
                return inner(w, w)
            case Node(left, _):
                return inner(f(left), f(left)) @ left  # E: misc, no-any-return, operator


# --- applied ---


def bad_call_space(v: Vec[Matrix[Word, Hidden]], t: Tree) -> object:
    return Good.encode(v, t)  # E: arg-type


def bad_call_data(v: Vec[Matrix[Hidden, Word]], m: Maybe) -> object:
    return Good.encode(v, m)  # E: call-overload


def bad_call_count(v: Vec[Matrix[Hidden, Word]]) -> object:
    return Good.encode(v)  # E: call-overload


def bad_call_order(v: Vec[Matrix[Hidden, Word]], t: Tree) -> object:
    return Good.encode(t, v)  # E: call-overload


def bad_call_result(v: Vec[Matrix[Hidden, Word]], t: Tree) -> Vec[Vector[Word]]:
    return Good.encode(v, t)  # E: return-value


def bad_call_expression(v: Expr[Matrix[Hidden, Word]], t: Tree) -> Expr[Vector[Word]]:
    return Good.encode(v, t)  # E: return-value


def bad_function_argument(x: Vec[Scalar]) -> object:
    return Good.twice(Good.into_hidden, x)  # E: arg-type


def bad_function_vector(x: Vec[Scalar]) -> object:
    return Good.twice(x, x)  # E: call-overload


def bad_gradient(v: Vec[Matrix[Hidden, Word]], t: Tree) -> object:
    return grad(Good.encode)(v, t)  # E: arg-type


def bad_gradient_argument(t: Tree) -> object:
    return grad(Good.default)(R.vec(1.0), t)  # E: call-overload


def bad_sum(v: Vec[Matrix[Hidden, Word]], t: Tree) -> object:
    return Good.encode(v, t) + V.zeros()  # E: operator


# --- case and folded ---


def bad_alternative_missing(m: Maybe, x: Expr[Scalar]) -> Expr[Scalar]:
    return case(m, on(Just, lambda j: j.value))  # E: misc


def bad_alternative_foreign(m: Maybe, x: Expr[Scalar]) -> Expr[Scalar]:
    return case(m, on(Leaf, lambda _: x) | on(Just, lambda j: j.value))  # E: misc


def bad_alternative_field(m: Maybe, x: Expr[Scalar]) -> Expr[Scalar]:
    return case(m, on(Nothing, lambda n: n.value) | on(Just, lambda j: j.value))  # E: attr-defined


def bad_alternative_result(m: Maybe, x: Expr[Scalar]) -> Expr[Vector[Word]]:
    return case(m, on(Nothing, lambda _: x) | on(Just, lambda j: j.value))  # E: arg-type, return-value


def bad_class(m: Maybe) -> object:
    return on(m, lambda _: m)  # E: arg-type


def bad_fold_item(xs: tuple[Expr[Scalar], ...], a: Expr[Scalar]) -> Expr[Scalar]:
    return folded(Good.hidden_first, a, xs)  # E: arg-type


def bad_fold_start(xs: tuple[Expr[Scalar], ...], h: Expr[Vector[Hidden]]) -> object:
    return folded(Good.changes, h, xs)  # E: arg-type


def bad_fold_items(x: Expr[Vector[Word]], a: Expr[Scalar]) -> Expr[Scalar]:
    return folded(Good.times, a, x)  # E: call-overload, no-any-return


# --- declared ---


def bad_kind() -> object:
    return data(Nothing, Just, value=Just)  # E: call-overload


def bad_instance(v: Vec[Scalar]) -> object:
    return data(Nothing, Just(v), value=R)  # E: call-overload


def bad_term_argument() -> object:
    return term(Just)  # E: call-overload


def bad_sequence() -> object:
    return sequence(3)  # E: call-overload


def bad_term_of_number() -> object:
    return term(R)(3)  # E: call-overload


def bad_entries_of_a_field(t: Leaf) -> object:
    return t.word.array  # E: attr-defined


def bad_vector_of_a_field(t: Leaf) -> object:
    w: Vec[Vector[Hidden]] = as_vector(t.word)  # E: arg-type
    return w


def bad_vector_of_a_tree(t: Tree) -> object:
    return as_vector(t)  # E: arg-type


Scalars: TypeAlias = TermFunction[[Expr[Scalar], Maybe], [Vec[Scalar], Maybe], Expr[Scalar], Vec[Scalar]]


def bad_held_function() -> Scalars:
    return Good.encode  # E: return-value


def bad_argument_of_a_held_function(f: Scalars, t: Tree) -> object:
    return f(R.vec(1.0), t)  # E: call-overload


def bad_function_that_is_no_term(f: Callable[[Expr[Scalar], Maybe], Expr[Scalar]]) -> Scalars:
    return f  # E: return-value


def bad_saved(m: Maybe) -> None:
    tree.save(m, "tree.npz")  # E: arg-type


def bad_read() -> Maybe:
    return tree.load("tree.npz")  # E: return-value

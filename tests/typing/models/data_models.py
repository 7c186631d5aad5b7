"""Functions on data that are right: variants, trees, sequences, functions as arguments and results."""

from collections.abc import Callable
from typing import TypeAlias, reveal_type

from adjoint import grad, value_and_grad
from diff import (
    AnyTermFunction,
    Expr,
    TermFunction,
    arrow,
    as_vector,
    case,
    data,
    exp,
    folded,
    inner,
    on,
    program,
    sequence,
    sin,
    tanh,
    term,
    variant,
)
from hilbert import Fin, Matrix, Part, R, Record, Scalar, Vec, Vector


class Word: ...


class Hidden: ...


word, hidden = Fin(Word, 3), Fin(Hidden, 2)


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


@variant
class Measured:
    at: Expr[Vector[Word]]
    value: Maybe


class Params(Record):
    embed: Part[Matrix[Hidden, Word]]
    join: Part[Matrix[Hidden, Hidden]]


maybe = data(Nothing, Just, value=R)
tree = data(Leaf, Node, word=R**word)
rose = data(Rose, label=R)
measured = data(Measured, at=R**word, value=maybe)
P = Params(embed=R ** (hidden * word), join=R ** (hidden * hidden))


@term(R, maybe)
def model_default(missing: Expr[Scalar], m: Maybe) -> Expr[Scalar]:
    match m:
        case Nothing():
            return missing
        case Just(value):
            return value


@term(P, tree)
def model_encoder(p: Expr[Params], t: Tree) -> Expr[Vector[Hidden]]:
    match t:
        case Leaf(w):
            return tanh(p[Params.embed] @ w)
        case Node(left, right):
            return tanh(p[Params.join] @ (model_encoder(p, left) + model_encoder(p, right)))


@term(tree)
def model_leaves(t: Tree) -> Expr[Vector[Word]]:
    match t:
        case Leaf(w):
            return w
        case Node(left, right):
            return model_leaves(left) + model_leaves(right)


@term(rose, to=R)
def model_total(t: Rose) -> Expr[Scalar]:
    return t.label + folded(lambda c, a: model_total(c) + a, t.label, t.children)


@term(sequence(R))
def model_sum(xs: tuple[Expr[Scalar], ...]) -> Expr[Scalar]:
    return folded(lambda x, a: x * x + a, R.vec(0.0), xs)


@term(arrow(R, R), R)
def model_twice(f: Callable[[Expr[Scalar]], Expr[Scalar]], x: Expr[Scalar]) -> Expr[Scalar]:
    return f(f(x))


@term(R, R)
def model_use(a: Expr[Scalar], b: Expr[Scalar]) -> Expr[Scalar]:
    return model_twice(lambda y: y * b, a)


@term(R, to=arrow(R, R))
def model_line(slope: Expr[Scalar]) -> Callable[[Expr[Scalar]], Expr[Scalar]]:
    return lambda x: slope * x


@term(R, tree, to=tree)
def model_scaled(k: Expr[Scalar], t: Tree) -> Tree:
    match t:
        case Leaf(w):
            return Leaf(k * w)
        case Node(left, right):
            return Node(model_scaled(k, left), model_scaled(k, right))


@term(R, measured)
def model_case(x: Expr[Scalar], m: Measured) -> Expr[Scalar]:
    return case(m.value, on(Nothing, lambda _: x) | on(Just, lambda j: j.value * x))


@term(R, sequence(maybe))
def model_missing(x: Expr[Scalar], xs: tuple[Maybe, ...]) -> Expr[Scalar]:
    return folded(lambda m, a: model_default(x, m) + a, x, xs)


@term(tree, tree)
def model_of_two(a: Tree, b: Tree) -> Expr[Scalar]:
    return inner(model_leaves(a), model_leaves(b))


@term(R, R)
def model_pair(a: Expr[Scalar], b: Expr[Scalar]) -> tuple[Expr[Scalar], Expr[Scalar]]:
    return a * b, a + b


@term(R, maybe, R)
def model_three(a: Expr[Scalar], m: Maybe, b: Expr[Scalar]) -> Expr[Scalar]:
    match m:
        case Nothing():
            return a
        case Just(value):
            return value * b


@term(R, R, R)
def model_of_vectors(a: Expr[Scalar], b: Expr[Scalar], c: Expr[Scalar]) -> Expr[Scalar]:
    return a * b + c


@term(maybe, R)
def model_data_first(m: Maybe, x: Expr[Scalar]) -> Expr[Scalar]:
    return case(m, on(Nothing, lambda _: sin(x)) | on(Just, lambda j: exp(j.value)))


@term(tree, to=arrow(R, R))
def model_accumulated(t: Tree) -> Callable[[Expr[Scalar]], Expr[Scalar]]:
    match t:
        case Leaf(w):
            return lambda d: d * inner(w, w)
        case Node(left, right):
            return lambda d: model_accumulated(left)(d + 1.0) + model_accumulated(right)(d + 1.0)


@term(P, tree)
def model_loss(p: Expr[Params], t: Tree) -> Expr[Scalar]:
    y = model_encoder(p, t)
    return inner(y, y)


def model_leaf_of_vector(v: Vec[Vector[Word]]) -> Leaf:
    return Leaf(v)


def model_leaf_of_expression(v: Expr[Vector[Word]]) -> Leaf:
    return Leaf(v)


def model_field(t: Leaf) -> Expr[Vector[Word]]:
    return t.word


def model_tree(v: Vec[Vector[Word]]) -> Tree:
    return Node(Leaf(v), Node(Leaf(v), Leaf(v)))


def model_rose(v: Vec[Scalar]) -> Rose:
    return Rose(v, (Rose(v, ()), Rose(v, ())))


def model_value(p: Vec[Params], t: Tree) -> Vec[Vector[Hidden]]:
    return model_encoder(p, t)


def model_expression(p: Expr[Params], t: Tree) -> Expr[Vector[Hidden]]:
    return model_encoder(p, t)


def model_data_value(k: Vec[Scalar], t: Tree) -> Tree:
    return model_scaled(k, t)


def model_several(a: Vec[Scalar], b: Vec[Scalar]) -> object:
    return model_pair(a, b)


def model_gradient(p: Vec[Params], t: Tree) -> object:
    return grad(model_loss, 0)(p, t)


def model_both(p: Vec[Params], t: Tree) -> object:
    return value_and_grad(model_loss)(p, t)


def model_program(p: Vec[Params], t: Tree) -> object:
    return program(model_encoder, at=(p, t))


def model_applied(x: Vec[Scalar]) -> Vec[Scalar]:
    return model_use(x, x)


def model_folded(xs: tuple[Expr[Scalar], ...], x: Expr[Scalar]) -> Expr[Scalar]:
    return folded(lambda e, a: e * a, x, xs)


def model_folded_pair(xs: tuple[Expr[Scalar], ...], h: Expr[Vector[Hidden]]) -> Expr[Vector[Hidden]]:
    found = folded(lambda e, a: (a[0] + e, a[0] * a[1]), (R.vec(0.0), h), xs)
    total, state = folded(lambda e, a: (a[0] + e, e * a[1]), (R.vec(0.0), (R**hidden).ones()), xs)
    return total * state + found[1]


def model_folded_triple(xs: tuple[Expr[Scalar], ...], x: Expr[Scalar]) -> Expr[Scalar]:
    total, last, h = folded(lambda e, a: (a[0] + e, e, e * a[2]), (R.vec(0.0), x, (R**hidden).ones()), xs)
    return total * last + h @ h


def model_case_of_data(m: Maybe, x: Expr[Scalar]) -> Expr[Scalar]:
    return case(m, on(Nothing, lambda _: x) | on(Just, lambda j: j.value))


def main() -> None:
    reveal_type(model_encoder(P.zeros(), Leaf((R**word).zeros())))  # N: Vec[Vector[Hidden]]
    reveal_type(model_scaled(R.vec(1.0), Leaf((R**word).zeros())))  # N: Leaf | Node
    reveal_type(tree)  # N: Data[Leaf | Node]


def model_entries_of_a_field(t: Leaf) -> float:
    """A field of built data is a vector: its entries, its sums with vectors, and functions of it."""
    w = as_vector(t.word)
    reveal_type(w)  # N: Vec[Vector[Word]]
    moved: Vec[Vector[Word]] = w + (R**word).ones()
    return float(moved.array[0]) + float(inner(w, w))


Loss: TypeAlias = TermFunction[[Expr[Params], Tree], [Vec[Params], Tree], Expr[Scalar], Vec[Scalar]]


def model_taking_a_function(loss: Loss, p: Vec[Params], t: Tree) -> Vec[Scalar]:
    """The type of a function on data: as a parameter, a variable, and of any arguments."""
    grad(loss, 0)(p, t)
    return loss(p, t)


def model_of_any_arguments(f: AnyTermFunction) -> object:
    return f.term


def model_holding_functions(p: Vec[Params], t: Tree) -> Vec[Scalar]:
    held: list[Loss] = [model_loss]
    named: dict[str, AnyTermFunction] = {"loss": model_loss, "encoder": model_encoder}
    model_of_any_arguments(named["loss"])
    return model_taking_a_function(held[0], p, t)


def model_saved(t: Tree) -> Tree:
    """What is read is of the kind that reads it."""
    tree.save(t, "tree.npz")
    return tree.load("tree.npz")


def model_saved_rows(rows: tuple[Maybe, ...]) -> tuple[Maybe, ...]:
    """Sequences, too."""
    sequence(maybe).save(rows, "rows.npz")
    return sequence(maybe).load("rows.npz")

"""Functions on data: the Python function, its term and its programs agree; what cannot be a term is refused."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjoint import grad, value_and_grad
from diff import (
    Expr,
    arrow,
    as_vector,
    case,
    data,
    exp,
    folded,
    fun,
    inner,
    on,
    program,
    sequence,
    sin,
    tanh,
    term,
    variant,
)
from diff.higher import Taylor, TermError, call, evaluate
from diff.lam.files.module import Module
from diff.lam.term.lam_values import Tagged
from diff.lam.term.terms import Prim, below
from hilbert import Fin, Matrix, Part, R, Record, Scalar, SpaceError, Vec, Vector, direct_sum


class Word: ...


class Hidden: ...


word, hidden = Fin(Word, 2), Fin(Hidden, 3)
V, H = R**word, R**hidden


class Params(Record):
    embed: Part[Matrix[Hidden, Word]]
    join: Part[Matrix[Hidden, Hidden]]


P = Params(embed=R ** (hidden * word), join=R ** (hidden * hidden))


@variant
class Leaf:
    word: Expr[Vector[Word]]


@variant
class Node:
    left: Leaf | Node
    right: Leaf | Node


@variant
class Rose:
    label: Expr[Scalar]
    children: tuple[Rose, ...]


@variant
class Nothing:
    pass


@variant
class Just:
    value: Expr[Scalar]


tree = data(Leaf, Node, word=V)
rose = data(Rose, label=R)
maybe = data(Nothing, Just, value=R)
R2R = arrow(R, R)


@term(P, tree)
def encode(p: Expr[Params], t: Leaf | Node) -> Expr[Vector[Hidden]]:
    match t:
        case Leaf(w):
            return tanh(p[Params.embed] @ w)
        case Node(left, right):
            return tanh(p[Params.join] @ (encode(p, left) + 0.5 * encode(p, right)))


@term(P, tree)
def energy(p: Expr[Params], t: Leaf | Node) -> Expr[Scalar]:
    y = encode(p, t)
    return y @ y


@term(rose, to=R)
def total(t: Rose) -> Expr[Scalar]:
    return t.label * folded(lambda c, a: total(c) + a, R.vec(1.0), t.children)


@term(R2R, R)
def twice(f: Callable[[Expr[Scalar]], Expr[Scalar]], x: Expr[Scalar]) -> Expr[Scalar]:
    y = f(x) * x
    return f(y) + y


@term(R, R)
def used(a: Expr[Scalar], b: Expr[Scalar]) -> Expr[Scalar]:
    c = a * b
    return twice(lambda y: y * c + twice(sin, y), a) + c


@term(tree, to=R2R)
def deeper(t: Leaf | Node) -> Callable[[Expr[Scalar]], Expr[Scalar]]:
    match t:
        case Leaf(w):
            return lambda d: d * inner(w, w)
        case Node(left, right):
            return lambda d: deeper(left)(d + 1.0) + deeper(right)(d * 2.0)


@term(R, tree, to=tree)
def mirrored(k: Expr[Scalar], t: Leaf | Node) -> Leaf | Node:
    match t:
        case Leaf(w):
            return Leaf(k * w)
        case Node(left, right):
            return Node(mirrored(k, right), mirrored(k, left))


@term(R, sequence(maybe))
def filled_in(x: Expr[Scalar], ms: tuple[Nothing | Just, ...]) -> Expr[Scalar]:
    return folded(lambda m, a: a * x + case(m, on(Nothing, lambda _: x) | on(Just, lambda j: j.value)), x * x, ms)


def trees(depth: int = 4) -> st.SearchStrategy[Any]:
    numbers = st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=2)
    return st.recursive(numbers.map(lambda a: Leaf(V.vec(a))), lambda t: st.builds(Node, t, t), max_leaves=2**depth)


def roses() -> st.SearchStrategy[Any]:
    labels = st.integers(-2, 2).map(lambda k: R.vec(float(k)))
    leaf: st.SearchStrategy[Any] = st.builds(Rose, labels, st.just(()))
    return st.recursive(leaf, lambda r: st.builds(Rose, labels, st.lists(r, max_size=3).map(tuple)), max_leaves=8)


MAYBES = st.lists(st.one_of(st.just(Nothing()), st.integers(-2, 2).map(lambda k: Just(R.vec(float(k))))), max_size=4)
RNG = np.random.default_rng(0)
p0 = P.random(RNG)


def leaves_of(value: Any) -> list[Any]:
    """The arrays in a value."""
    if isinstance(value, Vec):
        return [np.asarray(leaf) for leaf in value.leaves]
    if isinstance(value, tuple):
        return [a for part in value for a in leaves_of(part)]
    return [a for f in attrs.fields(type(value)) for a in leaves_of(getattr(value, f.name))]


def agree(found: Any, due: Any) -> bool:
    """Whether two values have one shape and leaves that are equal but for rounding."""
    if isinstance(due, Vec):
        return isinstance(found, Vec) and found.space == due.space and all(map(np.allclose, found.leaves, due.leaves))
    if isinstance(due, tuple):
        return isinstance(found, tuple) and len(found) == len(due) and all(map(agree, found, due))
    names = [f.name for f in attrs.fields(type(due))]
    return type(found) is type(due) and all(agree(getattr(found, n), getattr(due, n)) for n in names)


def three_ways(f: Any, *args: Any) -> None:
    """Python = evaluator of the term = program for the shape."""
    due = f(*args)
    assert agree(f.evaluated(*args), due)
    at = f.at(*args)
    assert agree(at.result(at.program(at.point)), due)
    assert agree(at.arguments(at.point), args if len(args) > 1 else args[0])


@given(trees())
def test_trees(t: Any) -> None:
    three_ways(encode, p0, t)
    three_ways(mirrored, R.vec(2.0), t)


@given(roses())
def test_trees_of_many_children(t: Any) -> None:
    three_ways(total, t)


@given(MAYBES.map(tuple))
def test_sequences_and_variants(ms: Any) -> None:
    three_ways(filled_in, R.vec(3.0), ms)


@given(trees())
def test_results_that_are_functions(t: Any) -> None:
    """An accumulator: the result is a function of what varies."""
    d = R.vec(0.5)
    f: Any = deeper(t)
    assert agree(deeper.evaluated(t)(d), f(d))


def test_functions_as_arguments() -> None:
    three_ways(used, R.vec(0.3), R.vec(0.4))
    x = R.vec(0.7)
    assert agree(twice.evaluated(sin, x), twice(sin, x))
    assert agree(twice.evaluated(lambda y: y * x, x), twice(lambda y: y * x, x))


@given(trees())
def test_gradients_in_the_classes_of_the_user(t: Any) -> None:
    """grad = differences of the Python function, leaf by leaf."""
    found = grad(energy)(p0, t)
    assert type(found[1]) is type(t)
    at = energy.at(p0, t)
    x = at.point.flat()
    direction = np.random.default_rng(1).standard_normal(x.size)

    def value(s: float) -> float:
        return float(energy(*at.arguments(at.program.dom.unflat(x + s * direction))))

    slope = (value(1e-6) - value(-1e-6)) / 2e-6
    flat = np.concatenate([a.ravel() for a in leaves_of(found)])
    assert np.isclose(flat @ direction, slope, atol=1e-6 * max(1.0, abs(slope)) + 1e-7)
    assert agree(grad(energy, 1)(p0, t), found[1])
    y, parts = value_and_grad(energy, 0)(p0, t)
    assert agree(y, energy(p0, t))
    assert agree(parts, found[0])


def test_gradients_in_an_argument_without_vectors() -> None:
    """They are that argument."""

    @term(R, maybe)
    def f(w: Expr[Scalar], m: Nothing | Just) -> Expr[Scalar]:
        match m:
            case Nothing():
                return w * w
            case Just(x):
                return w * x

    w = R.vec(3.0)
    assert grad(f, 1)(w, Nothing()) == Nothing()
    value, part = value_and_grad(f, 1)(w, Nothing())
    assert (float(value), part) == (9.0, Nothing())
    assert float(grad(f, 0)(w, Nothing())) == 6.0


def test_in_a_traced_function() -> None:
    """A call on expressions is part of the program; the data may hold expressions."""
    t = Node(Leaf(V.vec([1.0, 2.0])), Leaf(V.vec([0.5, -1.0])))
    f = fun(P, V)(lambda p, v: energy(p, Node(t, Leaf(v))))
    v = V.vec([0.25, 1.0])
    assert np.isclose(float(f(p0, v)), float(energy(p0, Node(t, Leaf(v)))))
    g = grad(energy)
    h = fun(P)(lambda p: g(p, t)[0])
    assert agree(h(p0), g(p0, t)[0])


def test_terms_are_checked_terms() -> None:
    """What is traced has the type that the checker finds, for every function here."""
    for f in (encode, energy, total, twice, used, deeper, mirrored, filled_in):
        made, _ = Module().checked(f.term)
        assert made == f.term


def test_what_python_evaluates_once_is_one_let() -> None:
    """A fold of depth d calls the unknown function as often as Python does."""
    count = 0

    def f(x: Expr[Scalar]) -> Expr[Scalar]:
        nonlocal count
        count += 1
        return exp(x) * 0.1

    twice.evaluated(f, R.vec(1.0))
    assert count == 2


def test_no_step_is_in_two_programs() -> None:
    """A vector that is computed before a call of an unknown function, and used after it, is a variable."""

    @term(arrow(R, R), R)
    def f(g: Callable[[Expr[Scalar]], Expr[Scalar]], x: Expr[Scalar]) -> Expr[Scalar]:
        y = exp(x)
        return g(y) * y + g(x) * y

    stack: list[Any] = [f.term]
    exponentials = 0
    while stack:
        node = stack.pop()
        stack += below(node)
        if isinstance(node, Prim):
            exponentials += sum(getattr(step.operation, "name", "") == "exp" for step in program(node.op).steps)
    assert exponentials == 1


def test_the_macro_on_a_function_on_data() -> None:
    """D_(1,2) of a fold is the jet of its program."""

    @term(R, maybe)
    def f(x: Expr[Scalar], m: Nothing | Just) -> Expr[Scalar]:
        match m:
            case Nothing():
                return x * x * x
            case Just(v):
                return v * x

    D = Taylor.of(1, 2)
    jet = (R.vec(2.0), R.vec(1.0), R.vec(0.0))
    nothing = call(evaluate(D.term(f.term)), (jet, Tagged("Nothing", ())))
    assert [float(x) for x in nothing] == [8.0, 12.0, 12.0]


def test_tracing_is_once_and_never_on_data() -> None:
    runs = 0

    @term(R, tree)
    def f(x: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
        nonlocal runs
        runs += 1
        match t:
            case Leaf(w):
                return inner(w, w) * x
            case Node(left, right):
                return f(x, left) + f(x, right)

    assert runs == 0
    t = Node(Leaf(V.vec([1.0, 2.0])), Leaf(V.vec([3.0, 4.0])))
    f(R.vec(1.0), t)
    assert runs == 3  # the nodes
    p = program(f, at=(R.vec(1.0), t))
    assert runs == 6  # to see that it takes its argument apart, and for the classes
    assert program(f, at=(R.vec(5.0), t)) is p
    program(f, at=(R.vec(1.0), Node(t, t)))
    assert runs == 6


def test_deep_trees() -> None:
    """10⁴ levels: the value, the program and the gradient, without Python's stack."""

    @variant
    class End:
        x: Expr[Scalar]

    @variant
    class More:
        x: Expr[Scalar]
        rest: End | More

    chain = data(End, More, x=R)

    @term(chain)
    def f(t: End | More) -> Expr[Scalar]:
        match t:
            case End(x):
                return x
            case More(x, rest):
                return x + 0.5 * f(rest)

    t: Any = End(R.vec(1.0))
    for _ in range(10_000):
        t = More(R.vec(1.0), t)
    assert np.isclose(float(f(t)), 2.0)
    assert np.isclose(float(grad(f)(t).rest.rest.x), 0.25)


def test_threads() -> None:
    """Two threads may trace one function at once."""

    @term(R, tree)
    def f(x: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
        match t:
            case Leaf(w):
                return inner(w, w) * x
            case Node(left, right):
                return f(x, left) + f(x, right)

    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(str(f.term))) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 4
    assert len(set(found)) == 1


# --- mistakes ---


WRONG: Any = H
NUMBER: Any = 3
UNTYPED: Any = encode
UNTYPED_CASE: Any = case
"""What type checkers refuse, for the errors at run time."""


def refused(f: Any, code: str, *words: str) -> None:
    with pytest.raises(TermError) as found:
        f.term  # noqa: B018 - it is traced
    assert found.value.code == code
    for part in words:
        assert part in str(found.value)


def test_nested_patterns_say_what_to_write() -> None:
    @term(tree)
    def nested(t: Leaf | Node) -> Expr[Vector[Word]]:
        match t:
            case Node(Leaf(a), _):
                return a
            case Node(left, _):
                return nested(left)
            case Leaf(w):
                return w

    refused(nested, "tag", "write case(v, on(A, …) | on(B, …))", "in nested")


def test_isinstance_of_parts_says_what_to_write() -> None:
    @term(tree)
    def looks(t: Leaf | Node) -> Expr[Vector[Word]]:
        return t.word if isinstance(t, Leaf) else t.left.word if isinstance(t.left, Leaf) else looks(t.right)

    refused(looks, "tag", "case(v, on(A, …)")


def test_recursion_on_what_is_no_part() -> None:
    @term(tree)
    def again(t: Leaf | Node) -> Expr[Vector[Word]]:
        match t:
            case Leaf(w):
                return w
            case Node(left, right):
                return again(Node(right, left))

    refused(again, "recursion", "no part of its argument")


def test_mutual_recursion() -> None:
    """It is refused, and what the error says to write is right."""

    @term(R, tree)
    def plus(w: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
        match t:
            case Leaf(v):
                return w * v.sum()
            case Node(left, right):
                return minus(w, left) + w * minus(w, right)

    @term(R, tree)
    def minus(w: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
        match t:
            case Leaf(v):
                return w * w * v.sum()
            case Node(left, right):
                return plus(w, left) - plus(w, right)

    refused(plus, "recursion", "plus and minus call each other", "write one that gives both results, to=(V, W)")

    @term(R, tree, to=(R, R))
    def both(w: Expr[Scalar], t: Leaf | Node) -> tuple[Expr[Scalar], Expr[Scalar]]:
        match t:
            case Leaf(v):
                return w * v.sum(), w * w * v.sum()
            case Node(left, right):
                (a, b), (c, d) = both(w, left), both(w, right)
                return b + w * d, a - c

    t = Node(Node(Leaf(V.ones()), Leaf(V.ones())), Leaf(V.ones()))
    w = R.vec(2.0)
    assert float(plus(w, t)) == float(both(w, t)[0]) == 16.0
    first = term(R, tree)(lambda w, t: both(w, t)[0])
    assert float(grad(first)(w, t)[0]) == 24.0


def test_recursion_with_other_arguments() -> None:
    @term(R, tree)
    def varies(d: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
        match t:
            case Leaf(w):
                return d * inner(w, w)
            case Node(left, right):
                return varies(d + 1.0, left) + varies(d + 1.0, right)

    refused(varies, "recursion", "another argument 1", "to=arrow(…)")


def test_a_part_and_its_result() -> None:
    @term(tree, to=tree)
    def both(t: Leaf | Node) -> Leaf | Node:
        match t:
            case Leaf(_):
                return t
            case Node(left, right):
                return Node(both(left), right) if False else Node(left, both(right))

    refused(both, "recursion", "uses such a part itself")


def test_branches_of_two_spaces() -> None:
    @term(tree)
    def two(t: Leaf | Node) -> Any:
        match t:
            case Leaf(w):
                return w
            case Node(_, _):
                return R.vec(1.0)

    refused(two, "shape", "ℝ for Node, and one of ℝ^Word2 for Leaf")


def test_results_that_nothing_determines() -> None:
    @term(rose)
    def unknown(t: Rose) -> Expr[Scalar]:
        return t.label + folded(lambda c, a: unknown(c) + a, R.vec(0.0), t.children)

    refused(unknown, "recursion", "to=…")


def test_unknown_functions_in_loops() -> None:
    from diff import iterate

    @term(R2R, R)
    def loops(f: Callable[[Expr[Scalar]], Expr[Scalar]], x: Expr[Scalar]) -> Expr[Scalar]:
        return iterate(f, x, Fin.of(3))

    refused(loops, "tag", "body of a loop")


PAIR = direct_sum(R, V)


@term(R, sequence(PAIR))
def weighted(k: Expr[Scalar], rows: Any) -> Expr[Scalar]:
    def step(row: Any, rest: Expr[Scalar]) -> Any:
        a, v = row
        return k * a * inner(v, v) + rest

    return folded(step, R.vec(0.0), rows)


def test_sequences_of_tuples() -> None:
    """Elements of a direct sum unpack; Python's tuples of vectors are no elements, and the error says what is."""
    rows: Any = (PAIR.vec((1.0, [1.0, 2.0])), PAIR.vec((3.0, [1.0, 0.0])))
    apart: Any = ((R.vec(1.0), V.vec([1.0, 2.0])),)
    k = R.vec(2.0)
    assert float(weighted(k, rows)) == float(weighted.evaluated(k, rows)) == 16.0
    along, gradients = grad(weighted)(k, rows)
    assert float(along) == 8.0
    np.testing.assert_array_equal([one.flat() for one in gradients], [[10.0, 4.0, 8.0], [2.0, 12.0, 0.0]])
    with pytest.raises(TermError, match=r"a tuple of 2 where a vector of .* is due: make it by V\.vec\(data\)"):
        grad(weighted)(k, apart)
    with pytest.raises(TermError, match=r"not a tuple of 2: tuples of vectors are those of direct_sum\(V, W\)"):
        sequence((R, V))  # type: ignore[call-overload]


def test_wrong_spaces_name_the_line() -> None:
    @term(V, H)
    def wrong(v: Any, h: Any) -> Any:
        return v + h

    refused(wrong, "shape", "return v + h")


def test_results_without_a_kind() -> None:
    @term(R)
    def gives(x: Expr[Scalar]) -> Any:
        return lambda y: x * y

    refused(gives, "type", "to=…")


@pytest.mark.parametrize(
    ("made", "code", "words"),
    [
        (lambda: data(int), "type", "@variant"),
        (data, "branches", "one class or more"),
        (lambda: data(Leaf, Leaf, word=V), "branches", "another name"),
        (lambda: data(Leaf, Node), "type", "data(…, word=V)"),
        (lambda: data(Leaf, Node, word=V, words=V), "type", "there are left, right, word"),
        (lambda: data(Leaf, Node, word=NUMBER), "type", "takes a space"),
        (lambda: sequence(3), "type", "sequence(…) takes"),  # type: ignore[call-overload]
        (lambda: arrow(R), "type", "the result"),  # type: ignore[call-overload]
        (term, "type", "at least one"),
        (lambda: term(Leaf), "type", "the class Leaf"),  # type: ignore[call-overload]
        (lambda: term(R)(3), "type", "a Python function"),  # type: ignore[call-overload]
        (lambda: term(R)(lambda x, y: x * y), "type", "parameters are (x, y)"),  # type: ignore[misc, arg-type]
        (lambda: encode.at(p0), "type", "takes 2 arguments, not 1"),
        (lambda: encode.at(p0, Just(R.vec(1.0))), "type", "a value of data(Leaf, Node"),
        (lambda: encode.at(p0, Leaf(WRONG.zeros())), "shape", "where one of"),
        (lambda: grad(energy, 2), "type", "the arguments 0 to 1"),
        (lambda: grad(UNTYPED)(p0, Leaf(V.zeros())), "type", "a gradient is of ℝ"),
        (lambda: UNTYPED_CASE(Leaf(V.zeros()), on(Nothing, str)), "branches", "no alternative for the class Leaf"),
    ],
)
def test_mistakes(made: Any, code: str, words: str) -> None:
    with pytest.raises(TermError) as found:
        made()
    assert found.value.code == code
    assert words in str(found.value)


def test_alternatives_of_unknown_values_are_all_there() -> None:
    @variant
    class Pair:
        a: Nothing | Just

    @term(data(Pair, a=maybe))
    def f(p: Pair) -> Any:
        return UNTYPED_CASE(p.a, on(Just, lambda j: j.value))

    refused(f, "branches", "due are Nothing, Just")


def test_a_program_needs_a_shape() -> None:
    with pytest.raises(SpaceError, match="program"):
        program(encode)  # type: ignore[call-overload]


def test_classes_recur_where_they_may() -> None:
    """Not left of an arrow."""

    @variant
    class Bad:
        f: Any

    made = data(Bad, f=arrow(R, R))
    assert str(made.core.declaration.cases) == "(('Bad', <type real → real>),)"


def test_equal_data_are_one_type() -> None:
    assert data(Leaf, Node, word=V).core is tree.core
    assert data(Leaf, Node, word=R ** Fin(Word, 5)).core is not tree.core


ZERO: Any = R.vec(0.0)


@variant
class Private:
    _value: Expr[Scalar]
    _next: Private | Nothing


def test_fields_with_an_underscore() -> None:
    """attrs calls the parameter of `_value` value: so do `data`, and what it makes; the attribute keeps its name."""
    kind = data(Private, Nothing, value=R)

    @term(kind, to=kind)
    def squared(p: Private | Nothing) -> Private | Nothing:
        match p:
            case Private(value, rest):
                return Private(value * value, squared(rest))
            case Nothing():
                return p

    @term(kind)
    def total(p: Private | Nothing) -> Any:
        match squared(p):
            case Private(_value=value, _next=rest):
                return value + total(rest)
            case Nothing():
                return R.vec(0.0)

    @term(kind)
    def first(p: Private | Nothing) -> Expr[Scalar]:
        value: Expr[Scalar] = UNTYPED_CASE(squared(p), on(Private, lambda q: q._value) | on(Nothing, lambda _: ZERO))
        return value

    p = Private(R.vec(3.0), Private(R.vec(4.0), Nothing()))
    assert float(total(p)) == 9.0 + 256.0
    assert float(first.evaluated(p)) == float(first(p)) == 9.0
    g = grad(first)(p)
    assert isinstance(g, Private)
    assert isinstance(g._next, Private)
    assert (float(as_vector(g._value)), float(as_vector(g._next._value))) == (6.0, 0.0)
    with pytest.raises(TermError, match=r"of which space is Private\.value, .* write data\(…, value=V\)"):
        data(Private, Nothing, _value=R)


def test_vectors_of_another_space() -> None:
    """Called on data, a function is Python's, and its vectors are of the spaces that `term` was told."""
    square = term(R)(lambda x: x * x)
    assert float(square(R.vec(3.0))) == 9.0
    leaf = Leaf(V.zeros())
    assert encode(p0, t=leaf).space == H  # type: ignore[call-overload]
    with pytest.raises(
        TermError, match=r"argument 1 of lambda, x: a vector of ℝ\^Word2 where one of ℝ is due"
    ) as found:
        square(V.zeros())  # type: ignore[arg-type]
    assert found.value.code == "shape"
    with pytest.raises(
        TermError, match=r"argument 1 of encode, p: a vector of ℝ\^Word2 where one of Params\(.*\) is due"
    ):
        encode(V.zeros(), leaf)  # type: ignore[arg-type]
    for other in (2.0, np.ones(3), None):
        with pytest.raises(TermError, match=r"argument 1 of lambda, x: .* is due: make it by V\.vec\(data\)") as found:
            square(other)  # type: ignore[call-overload]
        assert found.value.code == "type"


def test_a_term_shows_what_is_done_between_calls() -> None:
    """By the formula of a short program in the term's names; a long one, or one without arguments, by the function."""

    head = "λ(⟨p, t⟩ : Params(embed: ℝ^{Hidden3×Word2}, join: ℝ^{Hidden3×Hidden3}) * Leaf|Node). fold t of "
    branches = "{Leaf word → tanh(p.embed⋆word) | Node ⟨left, right⟩ → tanh(p.join⋆(left+0.5·right))}"
    assert str(encode.term) == head + branches

    def several(f: Any, x: Any) -> Any:
        y = f(2.0 * x + 1.0)
        for _ in range(9):
            y = sin(x * y)
        return f(y)

    due = "λ⟨f, x⟩. let v = 2·x+1 in let y = f v in let v1 = several ⟨x, y⟩ in f v1"
    assert str(term(arrow(R, R), R)(several).term) == due


def test_pickled_by_name() -> None:
    """As Python's functions are; and gradients with them."""
    assert pickle.loads(pickle.dumps(encode)) is encode
    one = Leaf(V.vec([0.5, -1.0]))
    slope, due = pickle.loads(pickle.dumps(grad(energy)))(P.ones(), one), grad(energy)(P.ones(), one)
    assert np.array_equal(slope[0].flat(), due[0].flat())
    assert np.array_equal(slope[1].word.array, due[1].word.array)


def test_functions_too_many_in_each_other() -> None:
    """An error with the function where it ended, and no line for each around it."""

    def after(f: Any) -> Any:
        return term(R)(lambda x: f(x) + x)

    functions: list[Any] = [term(R)(lambda x: x * x)]
    for _ in range(2000):
        functions.append(after(functions[-1]))
    told = "^lambda calls functions that call others, too many in each other for Python's stack$"
    with pytest.raises(TermError, match=told):
        grad(functions[-1])(R.vec(1.0))
    assert grad(functions[50])(R.vec(1.0)).array == 52.0


def test_a_program_of_other_terms_is_named() -> None:
    """What is done between calls is a formula of variables only; names that end in digits stay as they are."""
    made = term(R, arrow(R, R))(lambda x1, f: f(2.0 * x1)).term
    assert str(made) == "λ⟨x1, f⟩. let v = 2·x1 in f v"
    (prim,) = [node for node in all_below(made) if isinstance(node, Prim)]
    assert str(attrs.evolve(prim, arg=Module().term("1 + 2")[0])) == "lambda (1 + 2)"


def all_below(root: Any) -> list[Any]:
    """The nodes of a term."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(below(node))
    return found

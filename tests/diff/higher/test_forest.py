"""A forest is one program a tree: values, gradients, any number of children, shared nodes; steps that are few."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diff.datatypes.kinds.layout
from adjoint import grad
from diff import Expr, arrow, case, data, folded, forest, fun, inner, on, tanh, term, variant
from diff.higher import TermError
from diff.lam.run.evaluate import Evaluator
from hilbert import Fin, R, Scalar, SpaceError, Vector, direct_sum
from tests.diff.higher.test_functions_on_data import (
    Just,
    Leaf,
    Node,
    Nothing,
    Rose,
    V,
    Word,
    encode,
    energy,
    maybe,
    p0,
    rose,
    tree,
    trees,
    word,
)

FORESTS = st.lists(trees(), min_size=1, max_size=5)


@given(FORESTS)
def test_a_forest_is_one_program_a_tree(some: Any) -> None:
    for f in (encode, energy):
        found = forest(f, some)(p0)
        assert found.space.index.size == len(some)
        assert np.allclose(found.array, [f(p0, t).array for t in some], atol=1e-12)


@given(FORESTS)
def test_gradients(some: Any) -> None:
    """Those of trees that share nodes, too."""
    some = [*some, Node(some[0], some[-1]), some[0]]
    f = forest(energy, some)
    found: Any = grad(fun(p0.space)(lambda p: f(p).sum()))(p0)
    due = sum((np.asarray(grad(energy, 0)(p0, t).flat()) for t in some), np.zeros(p0.space.dim))
    assert np.allclose(found.flat(), due, atol=1e-12 * max(1.0, float(abs(due).max())))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(0, 5))
def test_any_number_of_children(counts: list[int], salt: int) -> None:
    def made(depth: int) -> Rose:
        n = counts[(depth * 5 + salt) % len(counts)] if depth < 4 else 0
        return Rose(R.vec(0.1 * depth - 0.3), tuple(made(depth + 1 + k) for k in range(n)))

    some = [made(0), made(1), made(3)]
    w = R.vec(0.7)
    explicit: Any = pooled_to
    assert np.allclose(forest(explicit, some)(w).array, [explicit(w, t).array for t in some], atol=1e-12)


@term(R, rose, to=R)
def pooled_to(w: Expr[Scalar], t: Rose) -> Expr[Scalar]:
    return tanh(w * t.label + folded(lambda c, a: pooled_to(w, c) + a, t.label, t.children))


@variant
class Weight:
    """A leaf."""

    value: Expr[Scalar]


@variant
class Turned:
    """One child, and a number of its own."""

    by: Expr[Scalar]
    child: "Weight | Turned | Joined"


@variant
class Joined:
    """Any number of children, which may be none."""

    parts: "tuple[Weight | Turned | Joined, ...]"
    first: "Weight | Turned | Joined"


@term(R, data(Weight, Turned, Joined, value=R, by=R), to=R)
def mixed(w: Expr[Scalar], t: Weight | Turned | Joined) -> Expr[Scalar]:
    match t:
        case Weight(value):
            return tanh(w * value)
        case Turned(by, child):
            return by * mixed(w, child) - w
        case Joined(parts, first):
            return mixed(w, first) * folded(lambda c, a: tanh(mixed(w, c) - a), w, parts)


def summed(f: Any) -> Any:
    return fun(R)(lambda w: f(w).sum())


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 8), min_size=1, max_size=4)), max_size=14))
def test_graphs_of_nodes_of_several_classes(made: list[tuple[int, list[int]]]) -> None:
    """Nodes that are held from any height above, leaves too, and are trees of the forest besides."""
    nodes: list[Any] = [Weight(R.vec(0.5)), Weight(R.vec(-1.5))]
    for k, (cls, below) in enumerate(made):
        of = [nodes[j % len(nodes)] for j in below]
        number = R.vec(0.2 * k - 1.0)
        nodes.append([Weight(number), Turned(number, of[0]), Joined(tuple(of[1:]), of[0]), Joined((), of[0])][cls])
    w = R.vec(0.7)
    for some in (nodes[-1:], nodes[::-2], [*nodes, nodes[0]]):
        f: Any = forest(mixed, some)
        assert np.allclose(f(w).array, [mixed(w, t).array for t in some], atol=1e-12)
        slope: Any = grad(summed(f))(w)
        due = sum(float(grad(mixed, 0)(w, t)) for t in some)
        assert np.isclose(float(slope), due, atol=1e-12 * max(1.0, abs(due)))


def test_vectors_that_do_not_lie_side_by_side() -> None:
    """Columns of a table, and a matrix and its transpose, as the vectors of leaves."""
    columns = np.arange(12.0).reshape(2, 6)
    some = [Node(Leaf(V.vec(columns[:, k])), Leaf(V.vec(columns[:, k + 1]))) for k in range(5)]
    assert np.allclose(forest(energy, some)(p0).array, [energy(p0, t).array for t in some])
    X = Fin.of(3)

    @variant
    class Table:
        entries: Expr[Any]

    @variant
    class Next:
        table: "Table | Next"

    @term(R, data(Table, Next, entries=R ** (X * X)), to=R)
    def corner(w: Expr[Scalar], t: Table | Next) -> Expr[Scalar]:
        match t:
            case Table(entries):
                return w * entries[0, 2]
            case Next(table):
                return corner(w, table)

    square = np.arange(9.0).reshape(3, 3)
    tables = [Next(Table((R ** (X * X)).vec(one))) for one in (square, square.T)]
    assert forest(corner, tables)(R.vec(1.0)).array.tolist() == [2.0, 6.0]


def test_data_within_data() -> None:
    """Nodes whose fields have other tags are other groups."""

    @variant
    class End:
        m: Nothing | Just

    @variant
    class Both:
        m: Nothing | Just
        left: "End | Both"
        right: "End | Both"

    def known(w: Expr[Scalar], m: Nothing | Just) -> Expr[Scalar]:
        return case(m, on(Nothing, lambda _: w) | on(Just, lambda j: j.value * w))

    @term(R, data(End, Both, m=maybe))
    def f(w: Expr[Scalar], t: End | Both) -> Expr[Scalar]:
        match t:
            case End(m):
                return known(w, m)
            case Both(m, left, right):
                return known(w, m) * f(w, left) - f(w, right)

    some: list[Any] = [
        Both(Nothing(), End(Just(R.vec(2.0))), Both(Just(R.vec(3.0)), End(Nothing()), End(Just(R.vec(5.0))))),
        End(Nothing()),
        Both(Just(R.vec(0.5)), End(Nothing()), End(Nothing())),
    ]
    w = R.vec(1.5)
    assert np.allclose(forest(f, some)(w).array, [f(w, t).array for t in some])


@variant
class One:
    v: Expr[Scalar]


@variant
class Other:
    v: Expr[Scalar]


@variant
class Tip:
    m: One | Other


@variant
class Twig:
    left: "Tip | Twig"
    right: "Tip | Twig"


@term(R, data(Tip, Twig, m=data(One, Other, v=R)))
def of_tags(w: Expr[Scalar], t: Tip | Twig) -> Expr[Scalar]:
    match t:
        case Tip(m):
            return case(m, on(One, lambda one: one.v * w) | on(Other, lambda other: other.v * other.v + w))
        case Twig(left, right):
            return of_tags(w, left) * of_tags(w, right)


def test_tags_with_the_same_vectors_are_other_groups() -> None:
    some: list[Tip | Twig] = [Twig(Tip(One(R.vec(2.0))), Tip(Other(R.vec(3.0)))), Tip(Other(R.vec(5.0)))]
    assert forest(of_tags, some)(R.vec(1.5)).array.tolist() == [3.0 * 10.5, 26.5]


def test_steps_are_those_of_the_levels() -> None:
    """As many for 50 trees as for one of the same height; at most 15 a level."""

    def full(depth: int, k: float) -> Any:
        return Leaf(V.vec([k, 1.0])) if depth == 0 else Node(full(depth - 1, k + 1.0), full(depth - 1, k - 1.0))

    one, many = [full(5, 0.0)], [full(5, float(k)) for k in range(50)]
    few: Any = forest(energy, one)
    all_: Any = forest(energy, many)
    assert len(all_.steps) <= len(few.steps) + 5
    assert len(all_.steps) <= 15 * 6


def test_as_many_trees_as_entries() -> None:
    """A result that does not depend on the tree is repeated along the trees, whatever their number."""

    @term(V, tree, to=V)
    def f(w: Expr[Vector[Word]], t: Leaf | Node) -> Expr[Vector[Word]]:
        match t:
            case Leaf(_):
                return tanh(w)
            case Node(left, _):
                return f(w, left)

    one = Leaf(V.ones())
    for n in (V.dim - 1, V.dim, V.dim + 1):
        made: Any = forest(f, [one] * n)(p := V.random(np.random.default_rng(n)))
        assert np.array_equal(made.array, np.tile(np.tanh(p.array), (n, 1)))


def test_results_that_do_not_vary() -> None:
    """A constant at a leaf, and a parameter."""

    @term(R, tree)
    def f(w: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
        match t:
            case Leaf(_):
                return w
            case Node(left, right):
                return f(w, left) + f(w, right)

    t = Leaf(V.zeros())
    assert forest(f, [Node(t, Node(t, t)), t])(R.vec(2.0)).array.tolist() == [6.0, 2.0]


@term(R, maybe)
def flat_case(w: Expr[Scalar], m: Nothing | Just) -> Expr[Scalar]:
    match m:
        case Nothing():
            return w
        case Just(v):
            return v * w


@term(tree)
def alone(t: Leaf | Node) -> Expr[Vector[Word]]:
    match t:
        case Leaf(w):
            return w
        case Node(left, right):
            return alone(left) + alone(right)


@term(R, tree, to=(R, R))
def pair(w: Expr[Scalar], t: Leaf | Node) -> tuple[Expr[Scalar], Expr[Scalar]]:
    match t:
        case Leaf(word):
            return w * word.sum(), word @ word
        case Node(left, right):
            (a, b), (c, d) = pair(w, left), pair(w, right)
            return a * d, b + c


@term(R, tree, to=R)
def of_a_pair(w: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
    a, b = pair(w, t)
    return a * b


@term(R, tree, to=arrow(R, R))
def way(w: Expr[Scalar], t: Leaf | Node) -> Callable[[Expr[Scalar]], Expr[Scalar]]:
    match t:
        case Leaf(word):
            return lambda s: s * word.sum()
        case Node(left, right):
            return lambda s: way(w, right)(way(w, left)(s))


@term(R, tree, to=R)
def along_the_way(w: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
    return way(w, t)(w)


@term(arrow(R, R), tree, to=R)
def applied(f: Callable[[Expr[Scalar]], Expr[Scalar]], t: Leaf | Node) -> Expr[Scalar]:
    match t:
        case Leaf(word):
            return f(word.sum())
        case Node(left, right):
            return applied(f, left) * applied(f, right)


BOTH = direct_sum(R, R)


@term(BOTH, tree, to=BOTH)
def of_a_sum(w: Expr[Any], t: Leaf | Node) -> Expr[Any]:
    match t:
        case Leaf(_):
            return w
        case Node(left, right):
            return of_a_sum(w, left) + of_a_sum(w, right)


def test_one_of_several_results() -> None:
    """What the message says goes: a function that gives one vector of them."""
    some: list[Leaf | Node] = [Node(Leaf(V.ones()), Leaf(V.vec([0.5, 2.0]))), Leaf(V.ones())]
    w = R.vec(1.5)
    assert np.allclose(forest(of_a_pair, some)(w).array, [of_a_pair(w, t).array for t in some])


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: forest(pair, [Leaf(V.zeros())]), "pair gives several: make a function of the same arguments that"),
        (lambda: forest(way, [Leaf(V.zeros())]), "way gives functions or data: make a function of the same"),
        (lambda: forest(along_the_way, [Leaf(V.zeros())]), "these are functions: take one tree at a time"),
        (lambda: forest(of_a_sum, [Leaf(V.zeros())]), "vectors of one space, and no direct sums"),
        (lambda: forest(energy, []), "one tree at least"),
        (lambda: forest(energy, [Just(R.vec(1.0))]), "where a value of"),
        (lambda: forest(energy, [Leaf((R ** Fin(Word, 5)).zeros())]), "where one of"),
        (lambda: forest(energy, [Leaf(3)]), r"3 where a vector of"),  # type: ignore[arg-type]
        (lambda: forest(energy, Leaf(V.zeros())), r"takes several trees, \[tree\] for one"),  # type: ignore[arg-type]
        (lambda: forest(inner, [Leaf(V.zeros())]), "takes a function on data"),  # type: ignore[arg-type]
        (lambda: forest(alone, [Leaf(V.zeros())]), "alone takes trees alone: call it with each, or give it a vector"),
        (lambda: forest(applied, [Leaf(V.zeros())]), "before the trees are vectors"),
        (lambda: forest(flat_case, [Nothing(), Just(R.vec(1.0))]), "it is no fold"),
    ],
)
def test_mistakes(made: Any, words: str) -> None:
    with pytest.raises(SpaceError, match=words):
        made()


@term(R, rose)
def labels(w: Expr[Scalar], t: Rose) -> Expr[Scalar]:
    return folded(lambda child, total: labels(w, child) + total, w * t.label, t.children)


def test_children_are_tuples() -> None:
    """A list is refused as a gradient refuses it, at any depth, and one that holds itself."""
    one: Any = R.vec(1.0)
    kids: list[Any] = []
    kids.append(Rose(one, kids))  # type: ignore[arg-type]
    for children in ([], [Rose(one, ())], kids, None):
        wrong: Any = Rose(one, (Rose(one, children),))  # type: ignore[arg-type]
        for tried in (lambda t: forest(labels, [t]), lambda t: grad(labels)(one, t)):
            with pytest.raises(TermError, match=r"where a tuple of values of .* is due") as found:
                tried(wrong)
            assert found.value.code == "type"


def test_a_tree_that_holds_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cycle is told as one; a part that many share is none."""
    monkeypatch.setattr(diff.datatypes.kinds.layout, "FEW", 1000)
    uses: list[Any] = [
        lambda t: forest(energy, [t]),
        lambda t: energy.at(p0, t),
        lambda t: grad(energy)(p0, t),
        lambda t: tree.save(t, tmp_path / "t"),
    ]
    for name in ("left", "right"):
        t = Node(Leaf(V.zeros()), Leaf(V.zeros()))
        object.__setattr__(t, name, Node(t, t))
        for use in uses:
            with pytest.raises(TermError, match=r"a cycle: some .*Node.* is a part of itself") as found:
                use(t)
            assert found.value.code == "infinite"
    shared: Leaf | Node = Leaf(V.zeros())
    for _ in range(11):
        shared = Node(shared, shared)
    tree.save(shared, tmp_path / "t")


def test_errors_are_errors_of_terms() -> None:
    with pytest.raises(TermError):
        forest(energy, [])
    assert word.size == 2


def test_what_is_done_at_a_node_is_traced_once_for_each_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of trees and levels is."""
    calls: list[str] = []
    value_of = Evaluator.primitive

    def primitive(self: Evaluator, op: Any, value: Any, name: str = "") -> Any:
        calls.append(str(op))
        return value_of(self, op, value, name)

    @term(R, tree)
    def f(w: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
        match t:
            case Leaf(word):
                return w * tanh(word.sum())
            case Node(left, right):
                return tanh(f(w, left) + f(w, right))

    def high(depth: int) -> Any:
        return Leaf(V.vec([0.5, 1.0])) if depth == 0 else Node(high(depth - 1), Leaf(V.vec([float(depth), 1.0])))

    monkeypatch.setattr(Evaluator, "primitive", primitive)
    forest(f, [high(12), high(7)])
    many = len(calls)
    calls.clear()
    forest(f, [high(1)])
    assert many == len(calls) == 2


@term(R, tree)
def total(w: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
    match t:
        case Leaf(word):
            return w * word.sum()
        case Node(left, right):
            return total(w, left) + total(w, right)


def test_folds_one_after_the_other() -> None:
    """What one gives for a tree is not the same for all nodes of another; side by side they are two folds."""
    some: list[Any] = [Node(Leaf(V.vec([1.0, 2.0])), Leaf(V.vec([3.0, 4.0]))), Leaf(V.vec([5.0, 6.0]))]

    @term(R, tree)
    def after(w: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
        return total(total(w, t), t)

    @term(R, tree)
    def beside(w: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
        return total(w, t) * total(w * w, t)

    with pytest.raises(TermError, match="the results of one fold are used at the nodes of another"):
        forest(after, some)
    assert np.allclose(forest(beside, some)(R.vec(2.0)).array, [20.0 * 40.0, 22.0 * 44.0])


def test_steps_say_where_they_were_written() -> None:
    """Those of a node in the function, those between levels where the forest is made."""
    f: Any = forest(encode, [Node(Leaf(V.ones()), Leaf(V.zeros()))])
    assert {step.place[0].co_name for step in f.steps if step.place} == {
        "encode",
        "test_steps_say_where_they_were_written",
    }

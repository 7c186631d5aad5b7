"""Arguments as points of the domain of a program and back: one pass that agrees with the values of the evaluator."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjoint import grad, value_and_grad
from diff import Expr, data, folded, fun, sequence, term, variant
from diff.datatypes.kinds import conversion
from diff.datatypes.kinds.conversion import to_core
from diff.datatypes.kinds.kinds import Kind
from diff.datatypes.kinds.layout import Maker, reader, taken
from diff.datatypes.term import term_functions
from diff.lam.term.lam_values import shape_of, stacked
from hilbert import Bool, Elements, Fin, R, Scalar, Vec, Vector, direct_sum
from hilbert.space.space import Copower

X = Fin.of(2)
V = R**X
BOTH = direct_sum(R, V)


@variant
class Leaf:
    value: Expr[Vector[Any]]


@variant
class Node:
    """Vectors stand between what recurs, and one field is a sequence of others."""

    left: Leaf | Node
    weight: Expr[Scalar]
    both: Expr[Any]
    more: tuple[Leaf | Node, ...]
    row: tuple[Expr[Scalar], ...]


@attrs.frozen(kw_only=True)
class Named:
    _hidden: Any
    later: Any


@variant
class Picked:
    table: Expr[Any]
    at: Expr[Any]


NODE: Any = Node
tree = data(Leaf, Node, value=V, weight=R, both=BOTH, row=sequence(R))
named = data(Named, hidden=R, later=Bool)
NUMBERS = st.integers(-3, 3).map(float)
SCALARS = NUMBERS.map(R.vec)
VECTORS = st.lists(NUMBERS, min_size=2, max_size=2).map(V.vec)
SUMS: Any = st.builds(lambda a, v: BOTH.vec((a, v.array)), NUMBERS, VECTORS)


def node(t: Any) -> Any:
    return st.builds(
        Node, t, SCALARS, SUMS, st.lists(t, max_size=2).map(tuple), st.lists(SCALARS, max_size=3).map(tuple)
    )


TREES: Any = st.recursive(st.builds(Leaf, VECTORS), node, max_leaves=8)
NAMED: Any = st.builds(lambda a, b: Named(hidden=R.vec(a), later=Bool.vec(b)), NUMBERS, st.booleans())
VALUES: list[tuple[Kind, Any]] = [
    (V, VECTORS),
    (BOTH, SUMS),
    (tree, TREES),
    (named, NAMED),
    (sequence(named), st.lists(NAMED, max_size=3).map(tuple)),
    (sequence(V), st.lists(VECTORS, max_size=3).map(tuple)),
]


def same(a: Any, b: Any) -> bool:
    """Whether two values have the same classes, spaces and entries."""
    if isinstance(a, Vec):
        return isinstance(b, Vec) and a.space == b.space and all(map(np.array_equal, a.leaves, b.leaves))
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    names = [f.name for f in attrs.fields(type(a))]
    return type(a) is type(b) and all(same(getattr(a, name), getattr(b, name)) for name in names)


@pytest.mark.parametrize(("kind", "some"), VALUES, ids=[repr(kind) for kind, _ in VALUES])
@given(st.data())
def test_the_key_is_the_shape(kind: Kind, some: Any, data: Any) -> None:
    """Keys are equal where shapes are; the vectors are the leaves; a value is made of its key and arrays."""
    a, b = data.draw(some), data.draw(some)
    found, other = taken(reader(kind), a), taken(reader(kind), b)
    assert found is not None
    assert other is not None
    shape, leaves = shape_of(to_core(kind, a))
    assert (found[0] == other[0]) == (shape == shape_of(to_core(kind, b))[0])
    arrays = [array for v in found[1] for array in v.leaves]
    assert all(map(np.array_equal, arrays, [array for v in leaves for array in v.leaves]))
    assert same(Maker(kind, iter(found[0])).made(iter(arrays)), a)


@term(R, tree, sequence(V), to=R)
def total(k: Expr[Scalar], t: Leaf | Node, rows: tuple[Expr[Any], ...]) -> Expr[Scalar]:
    start = folded(lambda row, a: row @ row + a, k, rows)
    return k * summed(t) * start


@term(tree, to=R)
def summed(t: Leaf | Node) -> Expr[Scalar]:
    match t:
        case Leaf(value):
            return value @ value
        case Node(left, weight, both, more, row):
            inner = folded(lambda c, a: summed(c) + a, both[0] * both[1].sum(), more)
            return weight * summed(left) + inner + folded(lambda x, a: x * x + a, R.vec(0.0), row)


ROWS: Any = st.lists(VECTORS, max_size=3).map(tuple)


@given(SCALARS, TREES, ROWS)
def test_points_and_arguments(k: Any, t: Any, rows: Any) -> None:
    """Lists of one shape are stacked; the way back is the inverse, for all arguments and for each."""
    at = total.at(k, t, rows)
    assert same(at.arguments(at.point), (k, t, rows))
    leaves = shape_of(stacked(to_core(total.kinds, (k, t, rows))))[1]
    assert all(map(np.array_equal, at.point.leaves, [array for v in leaves for array in v.leaves]))
    assert np.isclose(float(at.program(at.point)), float(total(k, t, rows)))
    whole = grad(total)(k, t, rows)
    assert all(same(grad(total, j)(k, t, rows), whole[j]) for j in range(3) if j < 2 or rows)


def test_at_a_known_shape_the_evaluator_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second call makes no value of the evaluator, whatever the numbers are."""

    def one(a: float) -> tuple[Any, ...]:
        t = NODE(Leaf(V.vec([a, 1.0])), R.vec(a), BOTH.vec((a, [1.0, a])), (), (R.vec(a), R.vec(2.0)))
        return R.vec(a), t, (V.vec([a, a]), V.zeros())

    both, first = value_and_grad(total), grad(total, 0)
    both(*one(1.0)), first(*one(1.0))
    for name in ("to_core", "from_core"):
        monkeypatch.setattr(conversion, name, None)
    monkeypatch.setattr(term_functions, "to_core", None)
    monkeypatch.setattr(term_functions, "shape_of", None)
    value, slopes = both(*one(2.0))
    assert same(value, total(*one(2.0)))
    assert same(first(*one(2.0)), slopes[0])


def test_discrete_fields() -> None:
    """Their part of a gradient is 0 in their tangent space."""
    picked = data(Picked, table=V, at=Elements(X))

    @term(picked)
    def entry(n: Picked) -> Expr[Scalar]:
        x: Expr[Scalar] = n.table[n.at]
        return x * x

    found: Any = grad(entry)(Picked(V.vec([1.0, 3.0]), Elements(X).vec(1)))
    assert found.table.array.tolist() == [0.0, 6.0]
    assert found.at.space == Elements(X).tangent


def test_expressions_in_arguments() -> None:
    """In a traced function a gradient is one of expressions, also where they stand beside vectors in a list."""
    slopes: Any = grad(total)
    f = fun(R, V)(lambda k, v: slopes(k, Leaf(v), (v, V.vec([1.0, 2.0])))[2][0])
    k, v = R.vec(2.0), V.vec([1.0, -1.0])
    due = slopes(k, Leaf(v), (v, V.vec([1.0, 2.0])))[2][0]
    assert np.allclose(f(k, v).array, due.array)
    assert isinstance(stacked(to_core(sequence(V), (v, v))).element.space, Copower)

"""What is not read has no slope: where an entry is not read, nothing of it is in the derivative, infinite or not.

The law's oracle is the same function with those entries of the point that are singular moved away: where what is moved
is not read, all derivatives are as they were.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import hilbert.all as hb
from hilbert.relation import pairs
from tests.support_programs import DOMAINS, LOOPS, RECORDS, UNARY, Body, Fin, R, V, X, Y, function, point, terms, value

M = R ** (Y * X)
WEIGHTS = hb.const(V.vec([1.0, -2.0, 0.5, 3.0]))
POINT = V.vec([0.0, 4.0, 9.0, 1.0])
INF = float("inf")
MATRIX = hb.const(M.vec(np.arange(8.0).reshape(2, 4) + 1.0))
SPARSE = hb.from_scipy(scipy.sparse.csr_array(np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]])), X, Y)
PAIRS = hb.red(pairs([(1, 0), (2, 1)], X, Y))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def pulled(f: Any, x: Any, w: Any) -> Any:
    return hb.vjp(f)(x, w)


def closed_pulled(f: Any, x: Any, w: Any) -> Any:
    return hb.adjoint(hb.derivative(f)(x))(w)


def pushed(f: Any, x: Any, v: Any) -> Any:
    return hb.jvp(f)(x, v)


def closed_pushed(f: Any, x: Any, v: Any) -> Any:
    return hb.derivative(f)(x)(v)


def series(f: Any, x: Any, v: Any) -> Any:
    return hb.taylor(f, x, v, 2)[1]


PULLED, PUSHED = (pulled, closed_pulled), (pushed, closed_pushed, series)
MATRICES: tuple[Any, ...] = (hb.jacobian, lambda f, x: hb.jacobian(f, x, as_="sparse").toarray())


def near(found: Any, due: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(due), rtol=1e-9, atol=1e-12)


# --- programs whose value is known ---

READ: list[tuple[Body, list[float]]] = [
    (lambda x: hb.sqrt(x)[1], [0, 1 / 4, 0, 0]),
    (lambda x: hb.sqrt(x)[1:3].sum(), [0, 1 / 4, 1 / 6, 0]),
    (lambda x: hb.sqrt(x).crop(1, 0).sum(), [0, 0, 0, 0]),
    (lambda x: PAIRS(hb.sqrt(x)).sum(), [0, 1 / 4, 1 / 6, 0]),
    (lambda x: SPARSE(hb.sqrt(x)).sum(), [0, 1 / 4, 1 / 3, 0]),
    (lambda x: hb.sqrt(x)[1] + hb.sqrt(x)[2] * hb.sqrt(x)[1], [0, 1, 1 / 3, 0]),
    (lambda x: (hb.sqrt(x)[1:3] * hb.sqrt(x)[2:4]).sum(), [0, 3 / 4, 1 / 2, 3 / 2]),
    (lambda x: hb.sqrt(x).sort()[3], [0, 0, 1 / 6, 0]),
    (lambda x: hb.sqrt(x).max() - hb.sqrt(x)[1:].min(), [0, 0, 1 / 6, -1 / 2]),
    (lambda x: hb.sqrt(x)[hb.sqrt(x).top(2)].sum(), [0, 1 / 4, 1 / 6, 0]),
    (lambda x: hb.sqrt(x)[x.argmax()] * (1.0 + hb.sqrt(x)[1]), [0, 3 / 4, 1 / 2, 0]),
    (lambda x: hb.maximum(hb.sqrt(x) - 1.5, 0.0).sum(), [0, 1 / 4, 1 / 6, 0]),
    (lambda x: hb.relu(hb.log(x)).sum(), [0, 1 / 4, 1 / 9, 0]),
    (lambda x: hb.sqrt(x).clip(0.5, 2.5).sum(), [0, 1 / 4, 0, 1 / 2]),
    (lambda x: hb.select(x > 0.5, hb.sqrt(x)).sum(), [0, 1 / 4, 1 / 6, 1 / 2]),
    (lambda x: hb.where(x > 0.5, hb.sqrt(x), x).sum(), [1, 1 / 4, 1 / 6, 1 / 2]),
    (lambda x: hb.where(x[1] > 100.0, lambda: hb.sqrt(x).sum(), lambda: x[1]), [0, 1, 0, 0]),
    (lambda x: hb.relu(MATRIX @ hb.sqrt(x) - 100.0).sum(), [0, 0, 0, 0]),
    (lambda x: hb.sqrt(MATRIX @ hb.relu(x - 100.0)).sum(), [0, 0, 0, 0]),
    (lambda x: hb.sqrt(hb.relu(x - 5.0)).sum(), [0, 0, 1 / 4, 0]),
    (lambda x: hb.sqrt((x + 1.0).pad(1, 1)).sum(), list(0.5 / np.sqrt(POINT.array + 1.0))),
    (lambda x: hb.sqrt(hb.stack(Y)(x[1], 0.0 * x[1])).sum(), [0, 1 / 4, 0, 0]),
    (lambda x: (hb.const(V.vec([INF, 1.0, 1.0, 1.0])) * x)[1], [0, 1, 0, 0]),
    (lambda x: hb.exp(hb.const(V.vec([1000.0, 0.0, 0.0, 0.0])) + x)[1], [0, np.exp(4.0), 0, 0]),
    (lambda x: (0.0 * hb.sqrt(x)).sum(), [0, 0, 0, 0]),
    (lambda x: hb.iterate(lambda s: s + hb.sqrt(x)[1], x[1], Y), [0, 3 / 2, 0, 0]),
    (lambda x: hb.iterate(hb.sqrt, x, Y)[1], [0, 1 / (8 * np.sqrt(2)), 0, 0]),
    (lambda x: hb.iterate(lambda s: hb.sqrt(s)[1:].pad(0, 1), x, Y)[1], [0, 0, 0, 1 / 4]),
    (lambda x: hb.fold(lambda s, e: s * e, R.vec(1.0), hb.sqrt(x)[1:]), [0, 3 / 4, 1 / 3, 3]),
    (lambda x: hb.each(hb.sqrt, x)[1], [0, 1 / 4, 0, 0]),
    (lambda x: hb.each(lambda e: hb.where(e >= 0.0, lambda: hb.sqrt(e), lambda: e), x)[1], [0, 1 / 4, 0, 0]),
    (lambda x: (x[:1].norm() + x[1:3].norm()) ** 2, [0, 8, 18, 0]),
    (lambda x: abs(x).sum(), [0, 1, 1, 1]),
]


@pytest.mark.parametrize(("body", "due"), READ)
def test_the_slope_of_what_is_read(body: Body, due: list[float]) -> None:
    """Each way to leave an entry out, and each way that what a function makes of it does not depend on the tangent."""
    f: Any = hb.fun(V)(body)
    for pull in (*PULLED, lambda f, x, _: hb.grad(f)(x)):
        near(pull(f, POINT, R.vec(1.0)).array, due)
    for push in PUSHED:
        near(push(f, POINT, V.ones()).array, sum(due))
    for form in MATRICES:
        near(np.ravel(form(f, POINT)), due)


@pytest.mark.parametrize("body", [body for body, _ in READ])
def test_lanes_are_independent(body: Body) -> None:
    """(f^Y)' is f' in each lane, in all forms."""
    f: Any = hb.fun(V)(body)
    points = np.array([POINT.array, [2.0, 0.0, 3.0, 4.0]])
    rows = [hb.grad(f)(V.vec(point)).array for point in points]
    F, P = f**Y, (V**Y).vec(points)
    near(hb.vjp(F)(P, F.cod.ones()).array, rows)
    near((hb.grad(f) ** Y)(P).array, rows)
    near(hb.jvp(F)(P, F.dom.ones()).array, [hb.jvp(f)(V.vec(point), V.ones()).array for point in points])
    for form in MATRICES:
        near(form(F, P), scipy.sparse.block_diag([row[None] for row in rows]).toarray())


@pytest.mark.parametrize(
    "body",
    [
        lambda x: (hb.sqrt(x) * hb.sqrt(x)).sum(),
        lambda x: (hb.const(V.vec([0.0, 1.0, 1.0, 1.0])) * hb.sqrt(x)).sum(),
        lambda x: ((x > 0.5).cast(R) * hb.sqrt(x)).sum(),
    ],
)
def test_zeros_by_value(body: Body) -> None:
    """(√x)² has the slope 1 at 0, and that is not known: a 0 that is a value follows IEEE."""
    gradient = hb.grad(hb.fun(V)(body))(POINT).array
    assert np.isnan(gradient[0])
    assert np.isfinite(gradient[1:]).all()


def test_norms_at_zero() -> None:
    """‖·‖ and hypot have the slope 0 at 0, the shortest of the subgradients; their second derivatives there are NaN."""
    rows = R ** (X * Y)
    A = rows.vec([[0.0, 0.0], [1.0, 1.0], [3.0, 4.0], [0.0, 2.0]])
    unit = A.array / np.maximum(np.hypot(*A.array.T), 1e-300)[:, None]
    near(hb.grad(hb.fun(rows)(lambda A: A.norm(over=Y).sum()))(A).array, unit)
    near(hb.grad(hb.fun(rows)(lambda A: A.norm(over=Y).max()))(A).array, unit * [[0.0], [0.0], [1.0], [0.0]])
    near(hb.grad(hb.fun(V)(lambda x: x.norm()))(V.zeros()).array, np.zeros(4))
    f = hb.fun(V, V)(lambda x, y: hb.hypot(x, y).sum())
    dx, dy = hb.grad(f)(V.vec([0.0, 3.0, 0.0, 1.0]), V.vec([0.0, 4.0, 2.0, 0.0]))
    near((dx.array, dy.array), ([0.0, 0.6, 0.0, 1.0], [0.0, 0.8, 1.0, 0.0]))
    assert np.isnan(hb.hessian(hb.fun(V)(lambda x: x.norm()), V.zeros())).all()


def test_the_farthest_pair() -> None:
    """Distances of points to themselves have no slope; that of the farthest pair has two unit vectors."""
    p, q = Fin.of(5), Fin.of(2)
    space = R ** (p * q)

    def farthest(A: Any) -> Any:
        dist = hb.each(lambda r: hb.each(lambda s: (r - s).norm(), A.rows()), A.rows())
        return hb.uncurry((R**p) ** p)(dist).max()

    points = np.random.default_rng(0).normal(size=(5, 2))
    apart = points[:, None] - points[None]
    i, j = np.unravel_index(np.argmax(np.linalg.norm(apart, axis=2)), (5, 5))
    due = np.zeros((5, 2))
    due[i] = apart[i, j] / np.linalg.norm(apart[i, j])
    due[j] = -due[i]
    near(hb.grad(hb.fun(space)(farthest))(space.vec(points)).array, due)


def test_the_matrix_of_what_is_singular_in_one_place() -> None:
    """The Jacobian of √ at (0, 4, 9, 1) is diagonal, with one ∞."""
    for form in MATRICES:
        near(form(hb.fun(V)(hb.sqrt), POINT), np.diag([INF, 1 / 4, 1 / 6, 1 / 2]))


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("last", [True, False])
def test_the_matrix_of_what_is_stacked_and_not_read(count: int, last: bool) -> None:  # noqa: FBT001
    """A stack whose one part is a root, of which another part is read, has the identity as Jacobian."""
    stack = hb.stack(Fin.of(count), V)

    def read(x: Any) -> Any:
        parts = [x] * (count - 1)
        return stack(*parts, hb.sqrt(x))[count - 2] if last else stack(hb.sqrt(x), *parts)[1]

    for form in MATRICES:
        near(form(hb.fun(V)(read), POINT), np.eye(4))


# --- what costs nothing ---


def test_dense_networks_pay_nothing() -> None:
    """Where no datum can be infinite no step is added: as many as with the masks made in their places."""
    W = R ** (X * X)
    f = hb.fun(W, V)(lambda W, x: hb.square(hb.relu(W @ hb.tanh(W @ hb.relu(x))))[1:].sum())
    steps = [type(step.operation).__name__ for step in hb.program(hb.grad(f)).line.steps]
    assert "Choose" not in steps
    assert "AnyLane" not in steps
    assert len(steps) == 21


# --- the law ---

COUNT = int(os.environ.get("SUPPORTS", "100"))
"""Programs without loops, and a part of that of the others: `SUPPORTS=2000 pytest --hypothesis-seed=1 …` for more."""
NUMBERS = st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, 4.0, 9.0]), min_size=24, max_size=24)
KNOWN = {name: UNARY[name] for name in ("sqrt", "log", "asinh", "power", "shift", "windows", "pairs", "matrix", "plus")}
"""What leaves places out that are known when a program is built, or none."""
SMALL = ["vector", "sum", "record", "records in lanes"]


def holds(f: Any, name: str, numbers: list[float]) -> None:
    """J(x) = J(x') where nothing is read of what differs between x and x', in every form; what is not read is 0."""
    given = np.array(numbers[: DOMAINS[name].size])
    is_zero = given == 0.0
    # what is 0 a little away from there, in one order of the places, and in the other
    moved = [point(name, np.where(is_zero, 1e-8 * (1 + np.arange(given.size)[::k]), given)) for k in (1, -1)]
    oracles = [MATRICES[1](f, at) for at in moved]
    if not np.isfinite(oracles).all() or not np.isfinite([f(at).flat() for at in moved]).all():
        return  # a slope beside ∞ is 0 by value
    if np.isnan(f(point(name, given)).flat()).any():
        return  # and so is that of a slope
    due, none = oracles[0], (oracles[0] == 0.0) & (oracles[1] == 0.0)
    rows = none[:, is_zero].all(axis=1) & np.isclose(due, oracles[1], rtol=1e-12, atol=0.0).all(axis=1)
    known = rows[:, None] | none
    columns = known.all(axis=0)
    x, v, w = point(name, given), *(np.resize([1.0, -2.0, 0.5, 3.0], n) for n in due.shape[::-1])
    for pull in PULLED:
        near(pull(f, x, f.cod.unflat(w)).flat()[columns], (w @ due)[columns])
    for push in PUSHED:
        near(push(f, x, DOMAINS[name].space.tangent.unflat(v)).flat()[rows], (due @ v)[rows])
    for form in MATRICES:
        near(form(f, x)[known], due[known])


@settings(max_examples=COUNT)
@given(
    st.sampled_from([*DOMAINS]),
    st.sampled_from([*UNARY, *RECORDS]),
    terms([*UNARY, *RECORDS], 4),
    NUMBERS,
)
def test_what_is_not_read_may_as_well_be_elsewhere(name: str, first: str, term: Any, numbers: list[float]) -> None:
    """Places known and dynamic, masks, relations, branches and lanes, records, between primitives singular at 0."""
    f = function(name, lambda x, y: value((first, term), x, y), into_record=first in RECORDS)
    holds(f, name, numbers)


@settings(max_examples=COUNT // 5)
@given(st.sampled_from(SMALL), terms([*LOOPS, *KNOWN], 2), st.sampled_from([*LOOPS]), NUMBERS)
def test_what_a_loop_does_not_read(name: str, term: Any, last: str, numbers: list[float]) -> None:
    """Loops among places that are known when they are built: what is carried is followed over the rounds."""
    holds(function(name, lambda x, y: value((last, term), x, y)), name, numbers)


@settings(max_examples=COUNT // 5)
@given(st.sampled_from(SMALL), st.sampled_from([*UNARY, *RECORDS]), terms([*UNARY, *RECORDS], 3), NUMBERS)
def test_gradients_are_functions_of_the_same_kind(name: str, first: str, term: Any, numbers: list[float]) -> None:
    """The law of a gradient, in all forms of its derivative: of Hessians."""
    holds(hb.grad(function(name, lambda x, y: value((first, term), x, y) @ WEIGHTS)), name, numbers)


@settings(max_examples=COUNT // 20)
@given(st.sampled_from(SMALL), st.sampled_from([*LOOPS]), terms([*KNOWN], 1), NUMBERS)
def test_gradients_of_loops(name: str, last: str, term: Any, numbers: list[float]) -> None:
    """Loops back over loops."""
    holds(hb.grad(function(name, lambda x, y: value((last, term), x, y) @ WEIGHTS)), name, numbers)


# --- data ---


@hb.variant
class Leaf:
    """A vector."""

    value: Any


@hb.variant
class Node:
    """Two trees: something of what they give is read."""

    left: Any
    right: Any


TREES: Any = hb.data(Leaf, Node, value=V)


@hb.term(R, TREES)
def read(s: Any, t: Any) -> Any:
    """A part of the roots in a tree."""
    match t:
        case Leaf(v):
            return s * hb.sqrt(v)
        case Node(left, right):
            return read(s, left)[1:].pad(0, 1) + hb.relu(read(s, right) - 1.137)
        case _:  # there is no other
            raise TypeError(t)


@hb.term(R, TREES)
def one_entry(s: Any, t: Any) -> Any:
    """One of these entries."""
    return read(s, t)[1]


@settings(max_examples=max(COUNT // 20, 5))
@given(
    st.recursive(st.builds(Leaf, NUMBERS.map(lambda e: V.vec(e[:4]))), lambda of: st.builds(Node, of, of), max_leaves=4)
)
def test_what_is_not_read_of_a_tree(tree: Any) -> None:
    """Gradients in data whose parts are read at some places: as with what is 0 moved away."""

    def leaves(t: Any) -> list[Any]:
        return [t.value.array] if isinstance(t, Leaf) else leaves(t.left) + leaves(t.right)

    def moved(t: Any) -> Any:
        if isinstance(t, Leaf):
            return Leaf(V.vec(np.where(t.value.array == 0.0, 1e-8, t.value.array)))
        return Node(moved(t.left), moved(t.right))

    slope: Any = hb.grad(one_entry, 1)
    gradient, due = (np.array(leaves(slope(R.vec(1.0), t))) for t in (tree, moved(tree)))
    place = (due == 0.0) | (np.array(leaves(tree)) != 0.0)
    near(gradient[place], due[place])

"""What is not read has no slope: where an entry is not read, nothing of it is in the derivative, infinite or not.

The law's oracle is the same function with those entries of the point that are singular moved away: where what is moved
is not read, all derivatives are as they were.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import hilbert.all as hb
from hilbert.program.control.loop import Loop
from hilbert.relation import pairs

R, Fin = hb.R, hb.Fin
X, Y, N = Fin.of(4), Fin.of(2), 4
V, M = R**X, R ** (Y * X)
POINT = V.vec([0.0, 4.0, 9.0, 1.0])
INF = float("inf")
MATRIX = hb.const(M.vec(np.arange(8.0).reshape(2, 4) + 1.0))
SPARSE = hb.from_scipy(scipy.sparse.csr_array(np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]])), X, Y)
PAIRS = hb.red(pairs([(1, 0), (2, 1)], X, Y))
Body = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def pulled(f: Any, x: Any, w: Any) -> Any:
    return hb.vjp(f)(x, w).array


def closed_pulled(f: Any, x: Any, w: Any) -> Any:
    return hb.adjoint(hb.derivative(f)(x))(w).array


def pushed(f: Any, x: Any, v: Any) -> Any:
    return hb.jvp(f)(x, v).array


def closed_pushed(f: Any, x: Any, v: Any) -> Any:
    return hb.derivative(f)(x)(v).array


def series(f: Any, x: Any, v: Any) -> Any:
    return hb.taylor(f, x, v, 2)[1].array


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
    for pull in (*PULLED, lambda f, x, _: hb.grad(f)(x).array):
        near(pull(f, POINT, R.vec(1.0)), due)
    for push in PUSHED:
        near(push(f, POINT, V.ones()), sum(due))
    for form in MATRICES:
        near(np.ravel(form(f, POINT)), due)


@pytest.mark.parametrize("body", [body for body, _ in READ])
def test_lanes_are_independent(body: Body) -> None:
    """(f^Y)' is f' in each lane, in all forms; blocks of loops in matrices are made of basis vectors, and left out."""
    f: Any = hb.fun(V)(body)
    points = np.array([POINT.array, [2.0, 0.0, 3.0, 4.0]])
    rows = [hb.grad(f)(V.vec(point)).array for point in points]
    F, P = f**Y, (V**Y).vec(points)
    near(hb.vjp(F)(P, F.cod.ones()).array, rows)
    near((hb.grad(f) ** Y)(P).array, rows)
    near(hb.jvp(F)(P, F.dom.ones()).array, [hb.jvp(f)(V.vec(point), V.ones()).array for point in points])
    if not any(isinstance(step.operation, Loop) for step in hb.program(f).steps):
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

APART = hb.const(V.vec([0.11, 0.23, 0.37, 0.53]))
"""What keeps equal entries apart: the order of entries is that at the point moved a little."""
UNARY: dict[str, Body] = {
    "sqrt": hb.sqrt,
    "log": hb.log,
    "reciprocal": lambda y: 1.0 / y,
    "asinh": hb.asinh,
    "power": lambda y: y**1.5,
    "relu": lambda y: hb.relu(y - 1.0),
    "maximum": lambda y: hb.maximum(y - 1.5, 0.0),
    "clip": lambda y: y.clip(0.5, 2.5),
    "select": lambda y: hb.select(y > 0.5, y),
    "where": lambda y: hb.where(y > 0.5, y, 2.0 * y),
    "shift": lambda y: y[1:].pad(0, 1),
    "windows": lambda y: y[:3].pad(1, 0) + y,
    "pairs": hb.red(pairs([(1, 0), (2, 1), (2, 2), (0, 2)], X, X)),
    "matrix": lambda y: hb.const((R ** (X * X)).vec(np.arange(16.0).reshape(4, 4) - 5.5)) @ y,
    "sort": lambda y: (y + APART).sort(),
    "max": lambda y: (y + APART).max() * hb.const(V.vec([3.0, 1.0, 2.0, 0.5])),
    "plus": lambda y: y + hb.const(V.vec([0.0, 1.0, 0.0, 2.0])),
    "branch": lambda y: hb.each(lambda e: hb.where(e > 0.5, lambda: hb.sqrt(e), lambda: e), y),
    "top": lambda y: y[(y + APART).top(2)].pad(1, 1),
    "norms": lambda y: hb.stack(X)(y[:2].norm(), y[2:].norm(), y[0], y[3]),
    "none": lambda y: 0.0 * y + 1.0,
}
LOOPS: dict[str, Body] = {
    "loop": lambda y: hb.iterate(lambda s: s + hb.sqrt(y)[1], y, Fin.of(2)),
    "carried": lambda y: hb.iterate(hb.sqrt, y, Fin.of(2)),
    "shifted": lambda y: hb.iterate(lambda s: (s**0.5)[1:].pad(0, 1), y, Fin.of(3)),
    "fold": lambda y: y + hb.fold(lambda s, e: s * (e + 0.5), R.vec(1.0), hb.sqrt(y)[1:]),
} | {name: UNARY[name] for name in ("sqrt", "asinh", "shift", "windows", "pairs", "matrix", "plus")}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: (a + 0.25) * (b + 0.75),
    "maximum": lambda a, b: hb.maximum(a, b + APART),
    "where": lambda a, b: hb.where(a > b + APART, a, b + 1.0),
}
TERMS = st.recursive(
    st.just(("x",)),
    lambda of: st.one_of(st.tuples(st.sampled_from([*UNARY]), of), st.tuples(st.sampled_from([*BINARY]), of, of)),
    max_leaves=4,
)
COUNT = int(os.environ.get("SUPPORTS", "150"))


def value(term: Any, x: Any) -> Any:
    """The function that a term writes."""
    name, *parts = term
    if not parts:
        return x
    return (UNARY if len(parts) == 1 else BINARY)[name](*(value(part, x) for part in parts))


def moved(point: Any, order: int) -> Any:
    """The point with what is 0 a little away from there, in one order of the places, or the other."""
    return V.vec(np.where(point == 0.0, 1e-8 * (1 + np.arange(N)[::order]), point))


ENTRIES = st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, 4.0, 9.0]), min_size=N, max_size=N)


def holds(f: Any, entries: list[float], pushed: Any = PUSHED, matrices: Any = MATRICES) -> None:
    """J(x) = J(x') where nothing is read of what differs between x and x', in every form; what is not read is 0."""
    point = np.array(entries)
    points = [moved(point, order) for order in (1, -1)]
    oracles = [hb.jacobian(f, at, as_="sparse").toarray() for at in points]
    if not np.isfinite(oracles).all() or not np.isfinite([f(at).array for at in points]).all():
        return  # a slope beside ∞ is 0 by value
    none = (oracles[0] == 0.0) & (oracles[1] == 0.0)
    rows = none[:, point == 0.0].all(axis=1) & np.isclose(oracles[0], oracles[1], rtol=1e-12, atol=0.0).all(axis=1)
    known = rows[:, None] | none
    x, w = V.vec(entries), np.array([1.0, -2.0, 0.5, 3.0])
    for pull in PULLED:
        near(pull(f, x, V.vec(w))[known.all(axis=0)], (w @ oracles[0])[known.all(axis=0)])
    for push in pushed:
        near(push(f, x, V.vec(w))[rows], (oracles[0] @ w)[rows])
    for form in matrices:
        near(form(f, x)[known], oracles[0][known])


@settings(max_examples=COUNT)
@given(st.sampled_from([*UNARY]), TERMS, ENTRIES)
def test_what_is_not_read_may_as_well_be_elsewhere(first: str, term: Any, entries: list[float]) -> None:
    """Places known and dynamic, masks, relations, branches and lanes, between primitives that are singular at 0."""
    holds(hb.fun(V)(lambda x: value(term, UNARY[first](x))), entries)


@settings(max_examples=COUNT // 3)
@given(st.lists(st.sampled_from([*LOOPS]), min_size=1, max_size=3), ENTRIES)
def test_what_a_loop_does_not_read(names: list[str], entries: list[float]) -> None:
    """Loops among places that are known when they are built: what is carried is followed over the rounds."""

    def body(x: Any) -> Any:
        for name in names:
            x = LOOPS[name](x)
        return x

    holds(hb.fun(V)(body), entries, PUSHED[:2], ())  # jets of loops, and their blocks in matrices: everywhere


@settings(max_examples=COUNT // 3)
@given(st.sampled_from([*UNARY]), TERMS, ENTRIES)
def test_gradients_are_functions_of_the_same_kind(first: str, term: Any, entries: list[float]) -> None:
    """The law of a gradient, in all forms of its derivative: of Hessians."""
    weights = hb.const(V.vec([1.0, -2.0, 0.5, 3.0]))
    holds(hb.grad(hb.fun(V)(lambda x: value(term, UNARY[first](x)) @ weights)), entries)

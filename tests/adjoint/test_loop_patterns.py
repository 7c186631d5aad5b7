"""Loops in sparse matrices: the pattern of k rounds is what those of one round make one after the other."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import diff
from adjoint import adjoint, hessian, jacobian
from diff import const, derivative, fun, inner, sin, tanh
from hilbert import Elements, Fin, R
from hilbert.relation import band, shift
from linmap import cost, matrix, red, structure

D: Any = diff
"""Without types: mypy would read each function once for every overload of those around it."""
RNG = np.random.default_rng
A, B = Fin.of(5), Fin.of(3)
LINE, GRID = Fin.of(11), A * B
V, G = R**LINE, R**GRID


FEW = settings(max_examples=12)


def agree(loop: Any, unrolled: Any) -> int:
    """Compare the derivative of a loop and its adjoint, in two forms, with that of its rounds written out.

    Numbers are random, so that the entries that are not 0 are those which the rounds leave.
    """
    x = loop.dom.random(RNG(0))
    d = derivative(loop).at(x)
    due = matrix(derivative(unrolled).at(x), "array")
    for f, m in ((d, due), (adjoint(d), due.T)):
        made = matrix(f, "sparse")
        np.testing.assert_allclose(made.toarray(), m, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(matrix(f, "array"), m, rtol=1e-10, atol=1e-12)
        assert made.nnz == np.count_nonzero(m)
    return int(np.count_nonzero(due))


# --- the counts of the issue ---


def kutta(n: int, k: int, *, both: bool) -> tuple[Any, Any]:
    """k steps of Runge and Kutta for x′ᵢ = g(xᵢ, xᵢ₋₁), or of both neighbours: as a loop, and written out."""
    X = Fin.of(n)
    left, right = red(shift(X, 1)), red(shift(X, -1))

    def slope(x: Any) -> Any:
        y = sin(x) * left(x)
        return y + x * right(x) if both else y

    def step(x: Any) -> Any:
        a = slope(x)
        b = slope(x + 0.05 * a)
        c = slope(x + 0.05 * b)
        return x + (0.1 / 6.0) * (a + 2.0 * b + 2.0 * c + slope(x + 0.1 * c))

    def unrolled(x: Any) -> Any:
        for _ in range(k):
            x = step(x)
        return x

    return fun(R**X)(lambda x: D.iterate(step, x, Fin.of(k))), fun(R**X)(unrolled)


@pytest.mark.parametrize(("both", "entries"), [(False, 702), (True, 1344)])
def test_runge_kutta(both: bool, entries: int) -> None:  # noqa: FBT001
    """60 states, 3 rounds of four slopes each: 12 neighbours on a side."""
    loop, unrolled = kutta(60, 3, both=both)
    assert str(structure(derivative(loop))) == f"sparse, {entries} of 60·60 entries"
    assert agree(loop, unrolled) == entries


# --- generated rounds ---

TABLE = const((Elements(LINE) ** LINE).vec([1, 0, 2, 4, 4, 6, 5, 7, 8, 8, 10]))
W = const((R ** (B * B)).random(RNG(1)))
DATA = const(V.random(RNG(2)))
Step = Callable[[Any], Any]
ON_LINE: dict[str, Step] = {
    "entry by entry": tanh,
    "data": lambda s: DATA * s,
    "from the left": red(shift(LINE, 1)),
    "from the right": red(shift(LINE, -2)),
    "a band": red(band(LINE, 1, 0)),
    "a turn": lambda s: s.roll(1),
    "a table": lambda s: s[TABLE],
    "a neighbour": lambda s: s + red(shift(LINE, 1))(sin(s)),
    "the first three": lambda s: s * const(V.vec([1.0] * 3 + [0.5] * 8)),
}
ON_GRID: dict[str, Step] = {
    "entry by entry": tanh,
    "along A": lambda s: s + s.roll(1, over=A),
    "a block along B": lambda s: D.each(lambda row: W @ row, s, over=A),
    "turned along B": lambda s: s.roll(1, over=B),
    "five points": lambda s: sin(s) + s.roll(1, over=A) * s.roll(-1, over=B),
    "a sum along B": lambda s: s + s.sum(over=B).rep(G, over=B),
    "a loop in each lane": lambda s: D.each(lambda row: D.iterate(lambda r: sin(r.roll(1)) * row, row, B), s, over=A),
}


def after(steps: dict[str, Step], names: list[str], s: Any) -> Any:
    for name in names:
        s = steps[name](s)
    return s


@FEW
@given(st.lists(st.sampled_from(list(ON_LINE)), min_size=1, max_size=2), st.integers(0, 5))
def test_rounds_on_a_line(names: list[str], k: int) -> None:
    """Powers of the pattern of a round have exactly the entries of the rounds written out."""

    def unrolled(x: Any) -> Any:
        for _ in range(k):
            x = after(ON_LINE, names, x)
        return x

    loop = fun(V)(lambda x: D.iterate(lambda s: after(ON_LINE, names, s), x, Fin.of(k)))
    agree(loop, fun(V)(unrolled))


@FEW
@given(st.lists(st.sampled_from(list(ON_GRID)), min_size=1, max_size=2), st.integers(0, 4), st.booleans())
def test_rounds_on_a_grid(names: list[str], k: int, doubled: bool) -> None:  # noqa: FBT001
    """Stencils along several axes, blocks, and lanes."""

    def unrolled(x: Any) -> Any:
        for _ in range(k):
            x = after(ON_GRID, names, x)
            x = tanh(x) if doubled else x
        return x

    def step(s: Any) -> Any:
        s = after(ON_GRID, names, s)
        return D.iterate(tanh, s, Fin.of(1)) if doubled else s

    loop = fun(G)(lambda x: D.iterate(step, x, Fin.of(k)))
    agree(loop, fun(G)(unrolled))


@settings(max_examples=10)
@given(
    st.lists(st.sampled_from(list(ON_LINE)), min_size=1, max_size=2),
    st.sampled_from(list(ON_LINE)),
    st.integers(0, 4),
    st.booleans(),
    st.booleans(),
)
def test_rounds_that_read_and_make(
    names: list[str],
    read: str,
    k: int,
    reverse: bool,  # noqa: FBT001
    pair: bool,  # noqa: FBT001
) -> None:
    """What a round reads comes to the end by the rounds that are left; what it makes, from those before."""
    T = Fin.of(k)

    def step(theta: Any, s: Any, x: Any) -> tuple[Any, Any]:
        s = after(ON_LINE, names, s) + ON_LINE[read](x) + theta * DATA
        return s, ON_LINE[read](sin(s)) + DATA * x

    def unrolled(x: Any, xs: Any, theta: Any) -> Any:
        made: dict[int, Any] = {}
        for t in range(k)[::-1] if reverse else range(k):
            x, made[t] = step(theta, x, xs[t])
        return (x, *(made[t] for t in range(k))) if pair else x

    def loop(x: Any, xs: Any, theta: Any) -> Any:
        last, made = D.fold(lambda s, y: step(theta, s, y), x, xs, reverse=reverse)
        return (last, *(made[t] for t in range(k))) if pair else last

    agree(fun(V, V**T, V)(loop), fun(V, V**T, V)(unrolled))


SHIFTED = red(shift(LINE, 1))


@pytest.mark.parametrize(("k", "entries"), [(0, 11), (1, 21), (3, 38), (20, 66), (10**6, 66)])
def test_while(k: int, entries: int) -> None:
    """A round may be the last one, so that all powers count: from some on nothing is new."""
    f = fun(V)(
        lambda x: D.while_(lambda s: inner(s, s) > 0.01, lambda s: 0.5 * (s + SHIFTED(sin(s))), x, at_most=Fin.of(k))
    )
    form = str(structure(derivative(f)))
    assert form == (f"sparse, {entries} of 11·11 entries" if k else "diagonal")
    if k == 3:
        d = derivative(f).at(V.random(RNG(0)))
        np.testing.assert_allclose(matrix(d, "sparse").toarray(), jacobian(f, V.random(RNG(0))))


def test_states_that_change_places() -> None:
    """Of two states that are exchanged in each round, an even number of rounds leads back."""

    def exchanged(k: int) -> str:
        f = fun(V, V)(lambda a, b: D.iterate(lambda p: (sin(p[1]), tanh(p[0])), (a, b), Fin.of(k)))
        return str(structure(derivative(f)))

    assert [exchanged(k) for k in (2, 3)] == ["diagonal", "[zero, diagonal; diagonal, zero]"]


def test_hessian() -> None:
    """What a loop makes in each round is read by the loop back: both are sparse."""
    L = Fin.of(60)
    left = red(shift(L, 1))
    f = fun(R**L)(lambda x: inner(*[D.iterate(lambda s: s + left(sin(s)) * s, x, Fin.of(2))] * 2))
    x = (R**L).random(RNG(0))
    made, due = hessian(f, x, as_="sparse"), hessian(f, x)
    np.testing.assert_allclose(made.toarray(), due, rtol=1e-10, atol=1e-10)
    assert made.nnz == np.count_nonzero(due) < 60 * 6


def test_systems() -> None:
    """The system of a root whose equation has a loop is solved in a band."""
    L = Fin.of(300)
    left = red(shift(L, 1))
    f = fun(R**L)(lambda a: D.root(lambda x: 4.0 * x + D.iterate(lambda s: 0.5 * left(tanh(s)), x, Fin.of(2)) - a, a))
    assert "sparse, 598 entries: in a band" in str(cost(f))
    a = (R**L).random(RNG(0))
    x = f(a)
    moved = x
    for _ in range(2):
        moved = 0.5 * left(tanh(moved))
    np.testing.assert_allclose((4.0 * x + moved).array, a.array, atol=1e-9)


# --- how large ---


def test_structure_lists_nothing() -> None:
    """On lines and on grids the entries are counted by formula, whatever the sizes are."""
    L = Fin.of(10**12)
    left = red(shift(L, 1))
    on_line = fun(R**L)(lambda x: D.iterate(lambda s: s + left(sin(s)), x, Fin.of(10)))
    assert str(structure(derivative(on_line))) == f"sparse, {11 * 10**12 - 55} of {10**12}·{10**12} entries"
    X, Y = Fin.of(10**5), Fin.of(10**5 + 1)

    def heat(u: Any) -> Any:
        return sin(u) + u.roll(1, over=X) + u.roll(-1, over=X) + u.roll(1, over=Y) + u.roll(-1, over=Y)

    on_grid = fun(R ** (X * Y))(lambda u: D.iterate(heat, u, Fin.of(10)))
    n = X.size * Y.size
    assert str(structure(derivative(on_grid))) == f"sparse, {221 * n} of {n}·{n} entries"


def test_memory() -> None:
    """Five rounds on 2,000 states: 41,790 entries, by 21 vectors; the matrix in full would take 32 MB."""
    loop, _ = kutta(2000, 5, both=False)
    x = loop.dom.random(RNG(0))
    tracemalloc.start()
    made = jacobian(loop, x, as_="sparse")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made.nnz == 41_790
    assert most < 16e6
    assert "largest array     42000" in str(cost(derivative(loop), "sparse"))

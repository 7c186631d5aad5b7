"""How loops are ordered, cut and done strip by strip: the values are the interpreter's, and memory is saved."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hilbert.all as hb
from diff.terms.lower import planned
from docs.examples import heat
from hilbert.compiled.machine.compiled_line import CompiledLine
from hilbert.compiled.tree.places import Place, Variable, along
from hilbert.program.run.run import Runner

pytest.importorskip("llvmlite")


class Row:
    """Rows of a matrix."""


class Inner:
    """What is summed over."""


class Column:
    """Columns of a matrix."""


@given(st.integers(-9, 9), st.integers(0, 40), st.integers(1, 9), st.integers(1, 9))
def test_quotients_and_remainders_of_places(slope: int, offset: int, size: int, n: int) -> None:
    """They are those of the numbers, also where a slope is larger than what is divided by."""
    i = Variable("i", size)
    place = Place.of(i) * slope + (offset - min(0, slope * (size - 1)))
    for k in range(size):
        value = _at(place, k)
        assert _at(place.divided(n), k) == value // n
        assert _at(place.modulo(n), k) == value % n


def _at(place: Place, k: int) -> int:
    """The number that a place is in round k."""

    def number(atom: Any) -> int:
        if isinstance(atom, Variable):
            return k
        whole = _at(atom.of, k)
        return int(whole % atom.n if atom.remainder else whole // atom.n)

    found = place.over(number).number
    assert found is not None
    return found


def test_places_on_a_diagonal_are_affine() -> None:
    """501·i in 500×500 is (i, i)."""
    i = Place.of(Variable("i", 500))
    assert along(501 * i, (500, 500)) == (i, i)


@pytest.mark.parametrize(
    ("n", "d", "h", "is_less"), [(2000, 64, 128, True), (128, 64, 128, False), (1999, 64, 128, False)]
)
def test_products_are_done_strip_by_strip(n: int, d: int, h: int, is_less: bool) -> None:  # noqa: FBT001
    """What passes between two products has the rows of one strip, if they are many and strips of some divide them."""
    rng = np.random.default_rng(0)
    rows, inner, columns = hb.Fin(Row, n), hb.Fin(Inner, d), hb.Fin(Column, h)
    f: Any = hb.fun(hb.R ** (inner * columns), (hb.R**inner) ** rows)(
        lambda w, batch: hb.each(lambda x: hb.tanh(w.T @ x).sum(), batch).sum()
    )
    line = planned(hb.grad(f, 0)).line
    made = CompiledLine(line)
    given_ = [rng.normal(size=leaf.shape) for leaf in line.slots[: line.arity]]
    (due,), (found,) = Runner(line).run(given_), made(given_)
    assert np.allclose(found, due, rtol=1e-12, atol=1e-12)
    assert (made.report.bytes < n * h * 8) == is_less


def test_loops_around_a_torus_have_no_quotients() -> None:
    """Rotations are read in place: the places of the neighbours are affine in each part of a loop."""
    f = hb.fun(heat.observed.dom)(lambda u: hb.iterate(heat.warmed, u, hb.Fin.of(3)))
    line = planned(f).line
    made = CompiledLine(line)
    u = np.random.default_rng(0).normal(size=(64, 64))
    assert np.allclose(made([u])[0], Runner(line).run([u])[0], rtol=1e-13)
    assert "urem" not in made.text


def test_short_axes_beside_each_other_are_loops() -> None:
    """A field of 16×16 is no longer a program than one of 17×17; only sums over some entries are written out."""
    statements = []
    for n in (16, 17):
        rows, columns = hb.Fin(Row, n), hb.Fin(Column, n)

        def step(u: Any, rows: Any = rows, columns: Any = columns) -> Any:
            return u + 0.1 * (u.roll(1, over=rows) + u.roll(1, over=columns) - 2.0 * u * u * u)

        def loss(u: Any, step: Any = step) -> Any:
            return hb.iterate(step, u, hb.Fin.of(3)).sum()

        made = CompiledLine(planned(hb.grad(hb.fun(hb.R ** (rows * columns))(loss))).line)
        statements.append(made.report.statements)
    assert statements[0] == statements[1] < 300


class Lane:
    """Matrices side by side."""


@pytest.mark.parametrize("reader", ["nobody", "a kernel", "sums", "a product"])
@pytest.mark.parametrize("lanes", [1, 5])
def test_products_side_by_side(reader: str, lanes: int) -> None:
    """What products for each lane take lies lane by lane; kernels and other products read that as it is declared."""
    rows, inner, lane = hb.Fin(Row, 32), hb.Fin(Inner, 24), hb.Fin(Lane, lanes)
    last: dict[str, Any] = {
        "nobody": lambda u: u.sum(),
        "a kernel": lambda u: u.sort(over=inner),
        "sums": lambda u: u.cumsum(over=rows),
        "a product": lambda u: hb.contract("nbk,nbj->kj", u, u),
    }

    def f(a: Any, b: Any) -> Any:
        u = hb.tanh(a)
        v = hb.contract("nbk,bkj->nbj", u, b)
        return v.sum(), last[reader](u), hb.contract("nbj,nbk->bjk", hb.tanh(v), u)

    space = hb.R ** (rows * lane * inner), hb.R ** (lane * inner * inner)
    line = planned(hb.fun(*space)(f)).line
    made = CompiledLine(line)
    assert bool(made.report.calls) == (reader == "a kernel")
    rng = np.random.default_rng(0)
    given_ = [rng.normal(size=leaf.shape) for leaf in line.slots[: line.arity]]
    for found, due in zip(made(given_), Runner(line).run(given_), strict=True):
        assert np.allclose(found, due, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(33,), (1000,), (3, 50), (3, 4, 20)])
@pytest.mark.parametrize("field", [hb.R, hb.R32])
def test_places_of_extremes_of_long_rows(shape: tuple[int, ...], field: Any) -> None:
    """The first of several, the first NaN, infinite numbers, zeros of both signs: as numpy has them."""
    axes = [hb.Fin(tag, n) for tag, n in zip((Row, Inner, Lane), shape, strict=False)]
    space: Any = field ** functools.reduce(operator.mul, axes)
    rng, last = np.random.default_rng(0), axes[-1]
    point = rng.integers(0, 9, shape).astype(space.zeros().array.dtype)
    points = [point, np.full_like(point, -np.inf), np.where(point == 3, -0.0, 0.0 * point)]
    points += [np.where(point == 3, value, point) for value in (np.nan, np.inf, -np.inf)]
    for name in ("argmax", "argmin"):
        line = planned(hb.fun(space)(lambda x, name=name: getattr(x, name)(over=last))).line
        made = CompiledLine(line)
        for x in points:
            assert np.array_equal(made([x])[0], getattr(np, name)(x, axis=-1))


def test_functions_are_not_called_where_values_are_put_to_places_that_are_read() -> None:
    """The functions are a loop over vectors, the sum of their values by groups is not: it is a loop of its own."""
    group, rows = hb.Fin(Row, 6), hb.Fin(Inner, 1000)
    f: Any = hb.fun(hb.R**group, hb.Elements(group) ** rows)(lambda u, ids: hb.softplus(u[ids]).sum())
    made = hb.compiled(hb.grad(f, 0))
    assert made.report.loops == 3
    assert made.report.bytes == 8000
    plain: Any = hb.fun(hb.R**group, hb.Elements(group) ** rows)(lambda u, ids: (u[ids] * u[ids]).sum())
    assert hb.compiled(hb.grad(plain, 0)).report.bytes == 0

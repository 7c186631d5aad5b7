"""The greatest and least entries along X, their places, and entries that are looked up, in blocks: as of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as hb

N = 23
X, D = hb.Fin.of(N), hb.Fin.of(3)
Y, S = hb.R**X, (hb.R**D) ** X
PROGRAMS: dict[str, Any] = {
    "max": hb.fun(Y)(lambda y: y.max()),
    "min of a function": hb.fun(Y)(lambda y: hb.square(y).min()),
    "max of each column": hb.fun(S)(lambda s: hb.exp(s.max(over=X)).sum()),
    "max of all": hb.fun(S)(lambda s: hb.square(s).max()),
    "scaled to a range": hb.fun(Y)(lambda y: hb.square((y - y.min().rep(Y)) / (y.max() - y.min()).rep(Y)).sum()),
    "entry of another at the place": hb.fun(Y, Y)(lambda y, z: z[y.argmax()] * y.max()),
    "entries of another at the places": hb.fun(S, Y)(lambda s, z: hb.square(z[s.argmin(over=X)]).sum()),
}
PLACES: dict[str, Any] = {
    "argmax": hb.fun(Y)(lambda y: y.argmax()),
    "argmin of each column": hb.fun(S)(lambda s: s.argmin(over=X)),
}
SIZES = (1, 7, N, N + 1)


def agree(f: Any, x: Any, **given: Any) -> None:
    for size in SIZES:
        for a, b in zip(f(x).leaves, hb.blocked(f, over=X, size=size, **given)(x).leaves, strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(b, a, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(name: str) -> None:
    f = PROGRAMS[name]
    for g in (f, hb.grad(f)):
        agree(g, g.dom.random(np.random.default_rng(0)), threads=2)


@pytest.mark.parametrize("name", [*PROGRAMS, *PLACES])
def test_machine_code(name: str) -> None:
    pytest.importorskip("llvmlite")
    f = {**PROGRAMS, **PLACES}[name]
    for g in (f, hb.grad(f)) if name in PROGRAMS else (f,):
        agree(hb.compiled(g), g.dom.random(np.random.default_rng(0)))


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("seed", range(5))
def test_the_first_place_of_some_that_are_the_same(name: str, seed: int) -> None:
    f = PLACES[name]
    x = f.dom.vec(np.random.default_rng(seed).integers(0, 3, f.dom.zeros().array.shape).astype(float))
    agree(f, x)
    agree(hb.grad(PROGRAMS["max"]), Y.vec(np.round(np.cos(seed + np.arange(N) % 4.0))))


def test_nan_and_infinities() -> None:
    y = np.linspace(-1, 1, N)
    rows = [y.copy() for _ in range(4)]
    rows[0][[5, 16]] = np.nan
    rows[1][[11, 20]] = np.inf
    rows[2][:] = -np.inf
    rows[3][-1] = np.nan
    for row in rows:
        for f in (*PLACES.values(), PROGRAMS["max"]):
            agree(f, f.dom.vec(row if f.dom == Y else np.stack([row, -row, row[::-1]], 1)))
    z = np.where(np.arange(N) == 4, 1.5, np.nan)  # what is not looked up is not read
    f = PROGRAMS["entry of another at the place"]
    agree(f, f.dom.vec((-np.square(np.arange(N) - 4.0), z)))


def test_places_that_are_given() -> None:
    K = hb.Fin.of(5)
    f: Any = hb.fun(hb.Elements(X) ** K, Y)(lambda k, z: hb.square(hb.each(lambda i: z[i], k)).sum())
    x = f.dom.vec((np.array([0, 22, 7, 6, 7]), np.linspace(-1, 2, N)))
    for g in (f, hb.grad(f, 1)):
        agree(g, x)


def test_passes() -> None:
    """A maximum takes none of its own; its gradient, or what is looked up at its place, takes one."""
    count = {name: len(hb.blocked(f, over=X).report.passes) for name, f in PROGRAMS.items()}
    assert count == dict.fromkeys(PROGRAMS, 1) | {
        "scaled to a range": 2,
        "entry of another at the place": 2,
        "entries of another at the places": 2,
    }
    assert len(hb.blocked(hb.grad(PROGRAMS["max"]), over=X).report.passes) == 2
    assert "totals: 23, ℝ" in str(hb.blocked(PROGRAMS["max"], over=X).report)


def test_distributed() -> None:
    f = PROGRAMS["entry of another at the place"]
    rng = np.random.default_rng(0)
    y, z = rng.standard_normal(N), rng.standard_normal(N)
    found = hb.distributed(f, over=X, size=4)(data={"y": y, "z": z})
    np.testing.assert_allclose(found.array, f(Y.vec(y), Y.vec(z)).array)


def test_in_a_loop_it_is_refused() -> None:
    f: Any = hb.fun(hb.R, Y)(lambda a, y: hb.iterate(lambda s: (s * y).max(), a, hb.Fin.of(3)))
    with pytest.raises(hb.SpaceError, match=f"no blocks along {N}"):
        hb.blocked(f, over=X)

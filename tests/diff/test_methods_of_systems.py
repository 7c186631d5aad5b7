"""`solve` and `inverse` by a method that the user names: the same solutions, or an error that says why not."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import SpaceError
from tests.structured_maps import pieces, summed

N = 120
RNG = np.random.default_rng(0)
EVERY = pieces(N, RNG)
MAPS: dict[str, Any] = {
    "chain": summed(N, [EVERY["diagonal"], EVERY["band"]]),
    "blocks": summed(N, [EVERY["blocks"]]),
    "low rank": summed(N, [EVERY["diagonal"], EVERY["rank two"]]),
    "dense": summed(N, [EVERY["dense"]]),
}
ALLOWED: dict[str, list[str]] = {
    "chain": ["full", "band", "sparse", "GMRES"],
    "blocks": ["full", "band", "blocks", "elimination", "sparse", "GMRES"],
    "low rank": ["full", "band", "sparse", "low rank", "GMRES"],
    "dense": ["full", "band", "sparse", "GMRES"],
}
METHODS = ["full", "band", "blocks", "elimination", "sparse", "low rank", "GMRES"]
SAID = {
    "full": "by its matrix",
    "band": "in a band",
    "blocks": "blocks",
    "elimination": "eliminat",
    "sparse": "by sparse LU",
    "low rank": "by Woodbury",
    "GMRES": "by GMRES",
}


def near(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9 * (1.0 + np.abs(b).max()))


@pytest.mark.parametrize("how", METHODS)
@pytest.mark.parametrize("name", MAPS)
def test_every_method(name: str, how: Any) -> None:
    """Solution, inverse and its adjoint, and gradient are those of the method that is found; cost says the method."""
    f = MAPS[name]
    V, d = f.cod, hb.derivative(f, wrt=1)
    p, b, zero = V.random(RNG), V.random(RNG), f.cod.zeros()
    told: Callable[..., Any] = hb.solve(d, how=how)
    if how not in ALLOWED[name]:
        with pytest.raises(SpaceError, match=f"how={re.escape(repr(how))} does not solve this system"):
            told(p, zero, b)
        return
    found = hb.solve(d)
    near(told(p, zero, b).array, found(p, zero, b).array)
    assert SAID[how] in str(hb.cost(told)).splitlines()[-1]
    assert pickle.loads(pickle.dumps(told)) == told
    assert told != found
    inverse = hb.linalg.inverse(d.at(p, zero), how=how)
    near(inverse(b).array, found(p, zero, b).array)
    near(hb.adjoint(inverse)(b).array, hb.adjoint(hb.linalg.inverse(d.at(p, zero)))(b).array)
    slope = hb.grad(hb.fun(V, V)(lambda p, b: told(p, zero, b).sum()))(p, b)
    due = hb.grad(hb.fun(V, V)(lambda p, b: found(p, zero, b).sum()))(p, b)
    near(slope.flat(), due.flat())


@pytest.mark.parametrize("how", ["lu", 3, True, ["full"]])
def test_no_method(how: Any) -> None:
    """A name that is none is an error with the names."""
    a = 2.0 * hb.identity(hb.R ** hb.Fin.of(3))
    for call in (lambda: hb.solve(a, a.dom.ones(), how=how), lambda: hb.linalg.inverse(a, how=how)):
        with pytest.raises(SpaceError, match=r"how=…\) is None, 'full', .* or 'GMRES', not"):
            call()


def test_lanes() -> None:
    """Lifted, each row is solved by the method."""
    f = MAPS["chain"]
    V, d, Z = f.cod, hb.derivative(f, wrt=1), hb.Fin.of(3)
    rows, p = (V**Z).random(RNG), (V**Z).random(RNG)
    found, told = (hb.solve(d, how=how) for how in (None, "band"))
    some: Any = lambda solve: hb.lift(hb.fun(V, V)(lambda p, b: solve(p, V.zeros(), b)), Z, over=(0, 1))  # noqa: E731
    near(some(told)(p, rows).array, some(found)(p, rows).array)


def test_a_method_does_not_give_way() -> None:
    """Where a method cannot run at a point, the error says so; without a name another method is taken."""
    V = hb.R ** hb.Fin.of(N)
    keep = V.vec((np.arange(N) > 0).astype(float))
    d = hb.derivative(hb.fun(V, V)(lambda p, x: p * x + x.sum() * p.space.ones()), wrt=1)
    b = V.random(RNG)
    assert np.isfinite(hb.solve(d)(keep, V.zeros(), b).array).all()
    with pytest.raises(SpaceError, match=r"how='low rank' .* its matrix is singular"):
        hb.solve(d, how="low rank")(keep, V.zeros(), b)


def test_under_jit() -> None:
    """Under jit no number is known: a method that reads numbers is refused, the matrix in full is none of these."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", val=True)
    f = MAPS["chain"]
    V, d = f.cod, hb.derivative(f, wrt=1)
    p, b = V.random(RNG), V.random(RNG)
    for how in (None, "full", "band"):
        solve: Any = hb.solve(d, how=how)
        run = jax.jit(hb.as_jax(hb.fun(V, V)(lambda p, b, solve=solve: solve(p, V.zeros(), b))))
        if how == "band":
            with pytest.raises(SpaceError, match="under jit none is known: leave how= out"):
                run(p.array, b.array)
        else:
            near(np.asarray(run(p.array, b.array)), hb.solve(d)(p, V.zeros(), b).array)

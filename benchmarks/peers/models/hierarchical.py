"""Two hierarchical models, as samplers ask for them: eight schools, and radon in 85 counties. Value and gradient.

JAX's parameters are one flat array, as samplers hand them over: each further array makes a call 2 µs longer. The
measurements of radon are drawn by a fixed seed, in the shape of the survey: 919 houses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import Call, Calls, Given, Made, Row, gradient, jitted, mine
from benchmarks.timing import jax

VALUE = "value and gradient"
EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def schools() -> Given:
    """Mean, logarithm of the deviation, and a standard effect for each of the eight."""
    return (np.array(4.0), np.array(1.0), np.random.default_rng(0).standard_normal(8)), (EFFECTS, ERRORS)


def our_schools(given: Given, made: Made) -> Calls:
    """Not centred."""
    V = hb.R ** hb.Fin.of(8)
    effects, errors = map(V.vec, given[1])

    def density(mu: Any, tau: Any, eta: Any) -> Any:
        z = (effects - (mu + hb.exp(tau) * eta)) / errors
        return -0.5 * (z @ z + eta @ eta + hb.square(mu / 5.0)) + tau - hb.log1p(hb.square(hb.exp(tau) / 5.0))

    f: Any = hb.fun(hb.R, hb.R, V)(density)
    both, at = made(hb.value_and_grad(f)), f.dom.vec(given[0])
    return {VALUE: Call(lambda: both(at))}


def schools_in_jax(given: Given) -> Calls:
    """The same."""
    xp = jax().numpy
    effects, errors = given[1]

    def density(p: Any) -> Any:
        mu, tau, eta = p[0], p[1], p[2:]
        z = (effects - (mu + xp.exp(tau) * eta)) / errors
        return -0.5 * (z @ z + eta @ eta + (mu / 5.0) ** 2) + tau - xp.log1p((xp.exp(tau) / 5.0) ** 2)

    return {VALUE: flat(density, given[0])}


def flat(density: Callable[[Any], Any], params: Any) -> Call:
    """Value and gradient of a density of one flat array."""
    call = jitted(density, (np.concatenate([np.ravel(p) for p in params]),), gradient())
    cuts, shapes = np.cumsum([p.size for p in params[:-1]]), [p.shape for p in params]

    def parts(result: Any) -> list[Any]:
        pieces = np.split(np.asarray(result[1]), cuts)
        return [result[0], *(piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True))]

    return Call(call.run, parts)


def radon(counties: int, houses: int) -> Given:
    """Parameters; the county of each house, whether it was measured in the basement, and logarithms of radon."""
    rng = np.random.default_rng(0)
    params = np.array(1.3), np.array(-1.0), rng.standard_normal(counties), np.array(-0.6), np.array(-0.3)
    return params, (rng.integers(0, counties, houses), rng.integers(0, 2, houses) * 1.0, rng.standard_normal(houses))


def our_radon(given: Given, made: Made) -> Calls:
    """An intercept for each county, gathered."""
    params, (county_of, floors, seen) = given
    county, house = hb.Fin.of(len(params[2])), hb.Fin.of(len(seen))
    H = hb.R**house
    floor, measured, where = H.vec(floors), H.vec(seen), hb.gather(county_of, county, rows=house)

    def density(mean: Any, spread: Any, offsets: Any, slope: Any, noise: Any) -> Any:
        z = (measured - where(mean + hb.exp(spread) * offsets) - slope * floor) / hb.exp(noise)
        prior = hb.square(mean) + hb.square(slope) + hb.square(spread) + hb.square(noise) + offsets @ offsets
        return -0.5 * (z @ z) - len(seen) * noise - 0.5 * prior

    f: Any = hb.fun(hb.R, hb.R, hb.R**county, hb.R, hb.R)(density)
    both, at = made(hb.value_and_grad(f)), f.dom.vec(params)
    return {VALUE: Call(lambda: both(at))}


def radon_in_jax(given: Given) -> Calls:
    """The same."""
    xp = jax().numpy
    county_of, floor, measured = given[1]

    def density(p: Any) -> Any:
        mean, spread, offsets, slope, noise = p[0], p[1], p[2:-2], p[-2], p[-1]
        z = (measured - (mean + xp.exp(spread) * offsets)[county_of] - slope * floor) / xp.exp(noise)
        prior = mean**2 + slope**2 + spread**2 + noise**2 + offsets @ offsets
        return -0.5 * (z @ z) - len(measured) * noise - 0.5 * prior

    return {VALUE: flat(density, given[0])}


ROWS = (
    Row("eight schools", {**mine(our_schools), "jax": schools_in_jax}, lambda _: schools(), schools),
    Row(
        "radon, 919 houses in 85 counties",
        {**mine(our_radon), "jax": radon_in_jax},
        lambda _: radon(85, 919),
        lambda: radon(3, 7),
    ),
)

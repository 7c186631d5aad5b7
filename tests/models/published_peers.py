"""The models of docs/examples/published in JAX, functions of the arrays of the unknowns in the same order."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from docs.examples.published import (
    bal,
    cart_pole,
    darcy,
    deblurring,
    eight_schools,
    garch,
    graph_network,
    hmm,
    minimal_surface,
    negative_binomial,
    neural_ode,
    pinn,
    radon,
)

jax.config.update("jax_enable_x64", val=True)


def schools_density(mean: Any, log_spread: Any, offset: Any) -> Any:
    """docs/examples/published/eight_schools.py."""
    spread = jnp.exp(log_spread)
    z = (eight_schools.rise.array - (5.0 * mean + spread * offset)) / eight_schools.error.array
    return -0.5 * (z @ z + mean**2 + offset @ offset) - jnp.log1p((spread / 5.0) ** 2) + log_spread


def radon_loss(intercept: Any, on_floor: Any, on_uranium: Any, log_between: Any, log_within: Any, offset: Any) -> Any:
    """docs/examples/published/radon.py."""
    between, within = jnp.exp(log_between), jnp.exp(log_within)
    level = intercept + on_uranium * radon.uranium.array + between * offset
    z = (radon.log_radon.array - level[radon.county.array] - on_floor * radon.floor.array) / within
    flat = (intercept**2 + on_floor**2 + on_uranium**2) / 200.0
    return 0.5 * (z @ z + offset @ offset + between**2 + within**2) + 919 * log_within + flat


def negative_binomial_loss(slopes: Any, log_size: Any) -> Any:
    """docs/examples/published/negative_binomial.py."""
    counts, lgamma = negative_binomial.counts.array, jax.scipy.special.gammaln
    size = jnp.exp(log_size)
    above = negative_binomial.design.array @ slopes + negative_binomial.log_exposure.array - log_size
    ways = lgamma(counts + size) - lgamma(size) - lgamma(counts + 1.0)
    return -(ways + counts * above - (counts + size) * jax.nn.softplus(above)).sum()


def garch_loss(mean: Any, log_level: Any, logit_persistence: Any, logit_share: Any) -> Any:
    """docs/examples/published/garch.py."""
    persistence, share, level = jax.nn.sigmoid(logit_persistence), jax.nn.sigmoid(logit_share), jnp.exp(log_level)

    def step(h: Any, y: Any) -> Any:
        square = (y - mean) ** 2
        after = level + persistence * (share * square + (1.0 - share) * h)
        return after, 0.5 * (jnp.log(2.0 * math.pi * h) + square / h)

    return jax.lax.scan(step, level / (1.0 - persistence), garch.returns.array)[1].sum()


def hmm_loss(start: Any, moves: Any, mean: Any, log_deviation: Any) -> Any:
    """docs/examples/published/hmm.py, the recursion on logarithms in place of the scaled one."""
    moves = jax.nn.log_softmax(moves, 1)

    def step(state: Any, x: Any) -> Any:
        density = -0.5 * ((x - mean) * jnp.exp(-log_deviation)) ** 2 - log_deviation - 0.5 * math.log(2.0 * math.pi)
        return jax.nn.logsumexp(state[:, None] + moves, 0) + density, None

    return -jax.nn.logsumexp(jax.lax.scan(step, jax.nn.log_softmax(start), hmm.seen.array)[0])


def surface_area(u: Any) -> Any:
    """docs/examples/published/minimal_surface.py."""
    z, h = minimal_surface.saddle.array + jnp.pad(u, 1), 2.0 / 31.0
    a, b, c, d = z[:-1, :-1], z[:-1, 1:], z[1:, :-1], z[1:, 1:]
    lower = jnp.sqrt(1.0 + ((b - a) ** 2 + (c - a) ** 2) / h**2)
    upper = jnp.sqrt(1.0 + ((d - b) ** 2 + (d - c) ** 2) / h**2)
    return (lower + upper).sum() * (h**2 / 2.0)


def broyden_residual(x: Any) -> Any:
    """docs/examples/published/broyden.py."""
    z = jnp.pad(x, 1)
    return (3.0 - 2.0 * x) * x - z[:-2] - 2.0 * z[2:] + 1.0


def bal_residual(rotation: Any, shift: Any, focal: Any, radial: Any, points: Any) -> Any:
    """docs/examples/published/bal.py."""

    def projected(r: Any, s: Any, focal: Any, radial: Any, x: Any) -> Any:
        square = r @ r
        angle = jnp.sqrt(jnp.where(square > 0, square, 1.0))
        u = r / angle
        far = jnp.cos(angle) * x + jnp.sin(angle) * jnp.cross(u, x) + (1.0 - jnp.cos(angle)) * (u @ x) * u
        y = jnp.where(square > 0, far, x + jnp.cross(r, x)) + s
        flat = -y[:2] / y[2]
        near = flat @ flat
        return focal * (1.0 + radial[0] * near + radial[1] * near**2) * flat

    views = (rotation, shift, focal, radial)
    seen: list[Any] = [*(part[bal.camera.array] for part in views), points[bal.point.array]]
    return jax.vmap(projected)(*seen) - bal.measured.array


def pinn_loss(on_time: Any, on_place: Any, bias: Any, out: Any) -> Any:
    """docs/examples/published/pinn.py, derivatives by grad of grad."""

    def u(t: Any, x: Any) -> Any:
        return out @ jnp.tanh(on_time * t + on_place * x + bias)

    u_x = jax.grad(u, 1)

    def residual(t: Any, x: Any) -> Any:
        return jax.grad(u)(t, x) + u(t, x) * u_x(t, x) - 0.01 / math.pi * jax.grad(u_x, 1)(t, x)

    inside = jax.vmap(residual)(pinn.times.array, pinn.places.array)
    first = jax.vmap(u, (None, 0))(0.0, pinn.line.array) + jnp.sin(math.pi * pinn.line.array)
    return (inside**2).mean() + (first**2).mean()


def darcy_imbalance(m: Any, p: Any) -> Any:
    """docs/examples/published/darcy.py."""
    k = jnp.exp(m)
    down = 2.0 / (1.0 / k[1:] + 1.0 / k[:-1]) * (p[1:] - p[:-1])
    right = 2.0 / (1.0 / k[:, 1:] + 1.0 / k[:, :-1]) * (p[:, 1:] - p[:, :-1])
    inward = jnp.diff(jnp.pad(down, ((1, 1), (0, 0))), axis=0) + jnp.diff(jnp.pad(right, ((0, 0), (1, 1))), axis=1)
    return 2.0 * darcy.sides.array * k * p - inward - 1.0


def darcy_readings(m: Any) -> Any:
    """docs/examples/published/darcy.py, by a dense solver; the sensors are those of its seed."""
    zero = jnp.zeros((16, 16))
    matrix = jax.jacfwd(darcy_imbalance, 1)(m, zero).reshape(256, 256)
    pressure = jnp.linalg.solve(matrix, -darcy_imbalance(m, zero).ravel())
    return pressure[np.random.default_rng(0).integers(0, 256, 20)]


def deblurring_energy(u: Any) -> Any:
    """docs/examples/published/deblurring.py."""
    kernel = deblurring.kernel.array[::-1, ::-1, 0, 0]
    u = u[:, :, 0]
    off = jax.scipy.signal.convolve2d(u, kernel, mode="same") - deblurring.blurred.array[:, :, 0]
    down, right = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
    return 0.5 * (off**2).sum() + 0.01 * jnp.sqrt(down**2 + right**2 + 1e-4).sum()


def graph_loss(embed: Any, own: Any, received: Any) -> Any:
    """docs/examples/published/graph_network.py."""
    states = jnp.tanh(graph_network.features.array @ embed.T)
    messages = jax.ops.segment_sum(states[graph_network.source.array], graph_network.target.array, 60)
    scores = jax.nn.log_softmax(states @ own.T + messages @ received.T)
    return -scores[jnp.arange(60), graph_network.labels.array].mean()


def ode_loss(start: Any, inner: Any, bias: Any, outer: Any) -> Any:
    """docs/examples/published/neural_ode.py."""

    def slope(x: Any) -> Any:
        return outer @ jnp.tanh(inner @ x**3 + bias)

    def step(x: Any, y: Any) -> Any:
        a = slope(x)
        b = slope(x + 0.05 * a)
        c = slope(x + 0.05 * b)
        d = slope(x + 0.1 * c)
        z = x + 0.1 / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        return z, (z - y) @ (z - y)

    return jax.lax.scan(step, start, neural_ode.seen.array)[1].mean()


def cart_pole_effort(path: Any) -> Any:
    """docs/examples/published/cart_pole.py, of the flat path."""
    force = path[4 * 41 :]
    return cart_pole.step / 2.0 * (force[1:] @ force[1:] + force[:-1] @ force[:-1])


def cart_pole_constraints(path: Any) -> Any:
    """docs/examples/published/cart_pole.py: defects, then both ends."""
    place, angle, speed, spin, force = path.reshape(5, 41)
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    inertia, push = 1.0 + 0.3 * sine**2, 0.5 * 0.3 * sine * spin**2 + force
    speeding = (push + 0.3 * 9.81 * cosine * sine) / inertia
    spinning = -(push * cosine + 1.3 * 9.81 * sine) / (0.5 * inertia)
    x, rate = jnp.stack([place, angle, speed, spin]), jnp.stack([speed, spin, speeding, spinning])
    defects = x[:, 1:] - x[:, :-1] - cart_pole.step / 2.0 * (rate[:, 1:] + rate[:, :-1])
    return jnp.concatenate([defects.ravel(), x[:, 0], x[:, -1] - jnp.array([1.0, math.pi, 0.0, 0.0])])

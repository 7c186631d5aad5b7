"""The example models in JAX, as one would write them there: functions of the same arrays in the same order.

The page docs/models.md counts the lines of these beside those of the examples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", val=True)
PLACES = np.random.default_rng(1).choice(64 * 64, 64, replace=False)


def mixture(gamma: float, m: int) -> Callable[..., Any]:
    """docs/examples/gmm.py."""

    def f(alpha: Any, mean: Any, q: Any, below: Any, x: Any) -> Any:
        (n, d), k = x.shape, len(alpha)
        columns, rows = np.triu_indices(d, 1)
        lower = jnp.zeros((k, d, d)).at[:, rows, columns].set(below)
        z = x[:, None] - mean
        y = jnp.exp(q) * z + jnp.einsum("kij,nkj->nki", lower, z)
        inside = alpha + q.sum(1) - 0.5 * (y * y).sum(2)
        fit = jax.nn.logsumexp(inside, 1).sum() - n * jax.nn.logsumexp(alpha) - n * d / 2 * math.log(2 * math.pi)
        w = d + m + 1
        prior = k * (w * d * math.log(gamma / math.sqrt(2)) - jax.scipy.special.multigammaln(w / 2, d))
        return fit + gamma**2 / 2 * ((jnp.exp(q) ** 2).sum() + (below**2).sum()) - m * q.sum() - prior

    return f


def logistic(w: Any, A: Any, y: Any) -> Any:
    """docs/examples/logistic.py."""
    return jax.nn.softplus(-y * (A @ w)).sum() + 0.5 * w @ w


def gaussian_process(length: Any, amplitude: Any, noise: Any, t: Any, y: Any) -> Any:
    """docs/examples/gaussian_process.py."""
    smooth = jnp.exp(-0.5 * jnp.exp(-2 * length) * (t[:, None] - t) ** 2)
    L = jnp.linalg.cholesky(jnp.exp(2 * amplitude) * smooth + jnp.exp(2 * noise) * jnp.eye(len(t)))
    z = jax.scipy.linalg.solve_triangular(L, y, lower=True)
    return -0.5 * (z @ z) - jnp.log(jnp.diagonal(L)).sum() - len(t) / 2 * math.log(2 * math.pi)


def transformer(*leaves: Any) -> Any:
    """docs/examples/transformer.py, its loss."""
    scale1, shift1, query, key, value, out, scale2, shift2, up, bias, down, x, target = leaves

    def normalised(x: Any, scale: Any, shift: Any) -> Any:
        z = x - x.mean(1, keepdims=True)
        return z / jnp.sqrt((z * z).mean(1, keepdims=True) + 1e-6) * scale + shift

    def attention(query: Any, key: Any, value: Any, out: Any, x: Any) -> Any:
        scores = (x @ query.T) @ (x @ key.T).T / math.sqrt(len(key))
        past = jnp.tril(jnp.ones_like(scores, dtype=bool))
        return jax.nn.softmax(jnp.where(past, scores, -jnp.inf), 1) @ (x @ value.T) @ out.T

    y = normalised(x, scale1, shift1)
    x = x + jax.vmap(attention, (0, 0, 0, 0, None))(query, key, value, out, y).sum(0)
    y = normalised(x, scale2, shift2)
    x = x + jax.nn.gelu(y @ up.T + bias, approximate=False) @ down.T
    return ((x - target) ** 2).mean()


def convolutional(labels: Any) -> Callable[..., Any]:
    """docs/examples/convolutional.py, its loss."""

    def conv(x: Any, w: Any, stride: int) -> Any:
        window = (stride, stride), ((1, 1), (1, 1))
        return jax.lax.conv_general_dilated(x, w, *window, dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def f(edges: Any, edge_bias: Any, strokes: Any, stroke_bias: Any, dense: Any, bias: Any, x: Any) -> Any:
        h = jax.nn.relu(conv(x, edges, 1) + edge_bias)
        g = jax.nn.relu(conv(h, strokes, 2) + stroke_bias)
        scores = jnp.einsum("oyxc,byxc->bo", dense, g) + bias
        return -jnp.take_along_axis(jax.nn.log_softmax(scores, 1), labels[:, None], 1).mean()

    return f


def lstm(*leaves: Any) -> Any:
    """docs/examples/lstm.py."""
    weight, bias, into, out, last, hidden, cell, text, following = leaves

    def step(state: Any, character: Any) -> Any:
        x, after = character * into, []
        for (w, b), (h, c) in zip(zip(weight, bias, strict=True), state, strict=True):
            forget, write, give = (jax.nn.sigmoid(v * w[k] + b[k]) for k, v in enumerate((x, h, x)))
            kept = c * forget + write * jnp.tanh(h * w[3] + b[3])
            x = give * jnp.tanh(kept)
            after.append((x, kept))
        return after, x * out + last

    _, scores = jax.lax.scan(step, list(zip(hidden, cell, strict=True)), text)
    likely = scores - jnp.log(2 + jnp.exp(scores).sum(1, keepdims=True))
    return -(following * likely).mean()


def bundle_adjustment(camera_of: Any, point_of: Any, features: Any) -> Callable[..., Any]:
    """docs/examples/bundle_adjustment.py, its residuals in a row."""

    def projected(rotation: Any, centre: Any, focal: Any, principal: Any, radial: Any, x: Any) -> Any:
        v = x - centre
        square = rotation @ rotation
        angle = jnp.sqrt(jnp.where(square > 0, square, 1.0))
        u = rotation / angle
        far = jnp.cos(angle) * v + jnp.sin(angle) * jnp.cross(u, v) + (1 - jnp.cos(angle)) * (u @ v) * u
        y = jnp.where(square > 0, far, v + jnp.cross(rotation, v))
        flat = y[:2] / y[2]
        r = flat @ flat
        return principal + focal * (1 + radial[0] * r + radial[1] * r**2) * flat

    def f(*leaves: Any) -> Any:
        *views, x, weights = leaves
        seen: list[Any] = [*(part[camera_of] for part in views), x[point_of]]
        flat = jax.vmap(projected)(*seen)
        return jnp.concatenate([(weights[:, None] * (flat - features)).ravel(), 1 - weights**2])

    return f


def kalman(push: Any, measured: Any, track: Any) -> Any:
    """docs/examples/kalman.py."""
    move, look = jnp.eye(4) + 0.1 * jnp.eye(4, k=2), jnp.eye(2, 4)
    Q, R = jnp.exp(2 * push) * jnp.diag(jnp.array([0.0, 0.0, 1.0, 1.0])), jnp.exp(2 * measured) * jnp.eye(2)

    def step(belief: Any, y: Any) -> Any:
        mean, spread = move @ belief[0], move @ belief[1] @ move.T + Q
        error, S = y - look @ mean, look @ spread @ look.T + R
        gain = jnp.linalg.solve(S, look @ spread).T
        logdet = jnp.linalg.slogdet(S)[1]
        likely = -0.5 * (error @ jnp.linalg.solve(S, error) + logdet + 2 * math.log(2 * math.pi))
        return (mean + gain @ error, spread - gain @ look @ spread), likely

    return jax.lax.scan(step, (jnp.zeros(4), jnp.eye(4)), track)[1].sum()


def ratings(who: Any, what: Any, stars: Any) -> Callable[..., Any]:
    """docs/examples/ratings.py, the squares of its errors."""
    return lambda u, v: (((u[who] * v[what]).sum(1) - stars) ** 2).sum()


def heat(u: Any) -> Any:
    """docs/examples/heat.py, what is observed."""

    def warmed(u: Any, _: Any) -> Any:
        around = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1)
        return (1 - 4 * 0.2) * u + 0.2 * around, None

    def until_read(u: Any, _: Any) -> Any:
        u = jax.lax.scan(warmed, u, None, 40)[0]
        return u, u.ravel()[PLACES]

    return jax.lax.scan(until_read, u, None, 5)[1]


def hand(wrist: Any, still: Any, behind: Any, skin: Any, who: Any, targets: Any) -> Callable[..., Any]:
    """docs/examples/hand.py, what is seen at vertices."""

    def about_x(a: Any) -> Any:
        c, s = jnp.cos(a), jnp.sin(a)
        return jnp.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])

    def about_y(a: Any) -> Any:
        c, s = jnp.cos(a), jnp.sin(a)
        return jnp.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]])

    def rotation(r: Any) -> Any:
        square = r @ r
        angle = jnp.sqrt(jnp.where(square > 0, square, 1.0))
        x, y, z = jnp.where(square > 0, r / angle, r)
        k = jnp.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return jnp.eye(3) + jnp.where(square > 0, jnp.sin(angle) * k + (1 - jnp.cos(angle)) * k @ k, k)

    def moved(behind: Any, skin: Any, b: Any) -> Any:
        first = wrist @ behind[0]
        second = first @ behind[1] @ about_y(b[1]) @ about_x(b[0])
        third = second @ behind[2] @ about_x(b[2])
        bones = jnp.stack([first, second, third, third @ behind[3] @ about_x(b[3])])
        return jnp.einsum("kvh,kah->va", skin, bones)

    def f(turn: Any, shift: Any, bends: Any) -> Any:
        return targets - ((still + jax.vmap(moved)(behind, skin, bends).sum(0)) @ rotation(turn).T + shift)[who]

    return f

"""The mixture of Gaussians of ADBench (GMM): its gradient in weights, means and factors of the inverse covariances.

All formulations but those of docs/examples and of plain JAX make one product of matrices for all points and components,
x Qᵀ − Q μ. Those in blocks make it for 500 points at a time, which stay in the caches, and came later.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

import hilbert.all as hb
from benchmarks import timing
from benchmarks.peers.row import LISTED, Call, Calls, Made, Ours, Row, jitted, mine

GRADIENT = "gradient"
BLOCK = 500


@frozen
class Given:
    """The parameters, the points, and the prior's γ and m."""

    params: tuple[Any, ...]
    """Logarithms of weights, means, logarithms of diagonals, and what is below them, column by column."""
    x: Any
    gamma: float
    m: int

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The dimension, the number of components, that of points."""
        return (*self.params[1].shape[::-1], len(self.x))

    @property
    def below(self) -> tuple[Any, Any]:
        """Rows and columns of the entries below the diagonal."""
        columns, rows = np.triu_indices(self.sizes[0], 1)
        return rows, columns

    @property
    def constant(self) -> float:
        """The part of the objective that depends on no parameter."""
        d, k, n = self.sizes
        w = d + self.m + 1
        gammas = d * (d - 1) / 4 * math.log(math.pi) + sum(math.lgamma((w - j) / 2) for j in range(d))
        return -n * d / 2 * math.log(2 * math.pi) - k * (w * d * math.log(self.gamma / math.sqrt(2)) - gammas)


def given(d: int, k: int, n: int) -> Callable[[Path | None], Given]:
    """The arrays of a file of ADBench, or drawn ones."""

    def read(path: Path | None) -> Given:
        if path is None:
            return drawn(d, k, n)
        numbers = np.array(path.read_text("utf-8").split()[3:], dtype=float)
        alpha, mean, factors, x, (gamma, m) = np.split(numbers, np.cumsum([k, k * d, k * d * (d + 1) // 2, n * d]))
        factors = factors.reshape(k, -1)
        params = alpha, mean.reshape(k, d), factors[:, :d].copy(), factors[:, d:].copy()
        return Given(params, x.reshape(n, d), float(gamma), int(m))

    return read


def drawn(d: int, k: int, n: int) -> Given:
    """Random parameters and points."""
    rng = np.random.default_rng(0)
    shapes = (k,), (k, d), (k, d), (k, d * (d - 1) // 2)
    return Given(tuple(rng.standard_normal(shape) for shape in shapes), rng.standard_normal((n, d)), 1.0, 0)


# --- ours ---


def objective(given: Given) -> Any:
    """The factors of all components once, then one contraction for all points."""
    from docs.examples.gmm import Gaussian

    d, k, n = given.sizes
    rows, columns = given.below
    axis, component, point, below = (hb.Fin.of(size) for size in (d, k, n, len(rows)))
    record: Any = Gaussian
    G = record(alpha=hb.R, mean=hb.R**axis, q=hb.R**axis, below=hb.R**below)
    square = hb.segment_sum(rows * d + columns, axis * axis, rows=below)
    gamma, m, constant = given.gamma, given.m, given.constant

    def prepared(g: Any) -> Any:
        Q = hb.exp(g[Gaussian.q]).diag() + square(g[Gaussian.below])
        return Q, Q @ g[Gaussian.mean], g[Gaussian.alpha] + g[Gaussian.q].sum()

    def f(gaussians: Any, xs: Any) -> Any:
        Qs, bs, ws = hb.each(prepared, gaussians)

        def log_density(x: Any) -> Any:
            def one(Q: Any, b: Any, w: Any) -> Any:
                y = Q @ x - b
                return w - 0.5 * (y @ y)

            return hb.each(one, Qs, bs, ws).logsumexp()

        alpha, q, low = gaussians[Gaussian.alpha], gaussians[Gaussian.q], gaussians[Gaussian.below]
        scale = hb.exp(q)
        fit = hb.each(log_density, xs).sum() - n * alpha.logsumexp()
        return fit + gamma**2 / 2 * (hb.inner(scale, scale) + hb.inner(low, low)) - m * q.sum() + constant

    return hb.fun(G**component, (hb.R**axis) ** point)(f)


def example(given: Given) -> Any:
    """docs/examples/gmm.py: x − μ for each point and component."""
    from docs.examples import gmm

    return gmm.objective(*given.sizes, given.gamma, given.m)


def ours(model: Callable[[Given], Any]) -> Ours:
    """The gradient."""

    def make(given: Given, made: Made) -> Calls:
        f = model(given)
        slope, (M, X) = made(hb.grad(f, 0)), f.dom.parts
        p, x = M.vec(given.params), X.vec(given.x)
        return {GRADIENT: Call(lambda: slope(p, x))}

    return make


# --- by hand ---


def fitted(x: Any, Q: Any, b: Any, w: Any) -> tuple[Any, ...]:
    """The gradient of Σ log Σ exp of the scores of some points, in Q, b = Q μ and w."""
    k, d, _ = Q.shape
    y = x @ Q.reshape(k * d, d).T
    y -= b.reshape(-1)
    y = y.reshape(len(x), k, d)
    scores = w - 0.5 * np.einsum("nki,nki->nk", y, y)
    scores -= scores.max(axis=1, keepdims=True)
    shares = np.exp(scores, out=scores)
    shares /= shares.sum(axis=1, keepdims=True)
    y *= shares[:, :, None]
    return -(y.reshape(len(x), k * d).T @ x).reshape(k, d, d), y.sum(0), shares.sum(0)


def by_hand(block: int | None) -> Callable[[Given], Calls]:
    """Back-propagation, for all points at once or in blocks."""

    def make(given: Given) -> Calls:
        alpha, mean, q, low = given.params
        x, gamma, m = given.x, given.gamma, given.m
        (d, k, n), (rows, columns), diagonal = given.sizes, given.below, np.arange(given.sizes[0])
        size = block or n

        def gradient() -> Any:
            Q, scale = np.zeros((k, d, d)), np.exp(q)
            Q[:, diagonal, diagonal], Q[:, rows, columns] = scale, low
            b, w = np.matmul(Q, mean[:, :, None])[:, :, 0], alpha + q.sum(1)
            parts = [fitted(x[i : i + size], Q, b, w) for i in range(0, n, size)]
            dQ, db, dw = (sum(part) for part in zip(*parts, strict=True))
            dQ += db[:, :, None] * mean[:, None, :]
            shares = np.exp(alpha - alpha.max())
            dalpha = dw - n * (shares / shares.sum())
            dq = dw[:, None] + dQ[:, diagonal, diagonal] * scale + gamma**2 * scale * scale - m
            return dalpha, np.matmul(db[:, None, :], Q)[:, 0, :], dq, dQ[:, rows, columns] + gamma**2 * low

        return {GRADIENT: Call(gradient)}

    return make


# --- JAX ---


def prepared_in_jax(given: Given) -> Callable[..., Any]:
    """Q, Q μ and the weights of a mixture."""
    xp = timing.jax().numpy
    (d, k, _), (rows, columns) = given.sizes, given.below

    def prepared(alpha: Any, mean: Any, q: Any, low: Any) -> Any:
        Q = xp.zeros((k, d, d)).at[:, xp.arange(d), xp.arange(d)].set(xp.exp(q)).at[:, rows, columns].set(low)
        return Q, xp.einsum("kij,kj->ki", Q, mean), alpha + q.sum(1)

    return prepared


def fit_in_jax(pre: Any, x: Any) -> Any:
    """Σ log Σ exp of the scores of some points, by one product."""
    found = timing.jax()
    Q, b, w = pre
    k, d = b.shape
    y = (x @ Q.reshape(k * d, d).T).reshape(len(x), k, d) - b
    return found.nn.logsumexp(w - 0.5 * (y * y).sum(2), axis=1).sum()


def prior_in_jax(given: Given) -> Callable[..., Any]:
    """The part that depends on no point."""
    found = timing.jax()
    n, gamma, m, constant = given.sizes[2], given.gamma, given.m, given.constant

    def prior(alpha: Any, _: Any, q: Any, low: Any) -> Any:
        squares = (found.numpy.exp(q) ** 2).sum() + (low * low).sum()
        return constant - n * found.nn.logsumexp(alpha) + 0.5 * gamma * gamma * squares - m * q.sum()

    return prior


def by_product(given: Given) -> Callable[..., Any]:
    """The objective of JAX by one product of matrices for all."""
    prepared, prior = prepared_in_jax(given), prior_in_jax(given)
    return lambda p, x: fit_in_jax(prepared(*p), x) + prior(*p)


def plain(given: Given) -> Callable[..., Any]:
    """The objective of JAX with x − μ for each point and component."""
    found, prepared, prior = timing.jax(), prepared_in_jax(given), prior_in_jax(given)

    def f(p: Any, x: Any) -> Any:
        Q, _, w = prepared(*p)
        y = found.numpy.einsum("knj,kij->kni", x[None] - p[1][:, None], Q)
        return found.nn.logsumexp(w[:, None] - 0.5 * (y * y).sum(2), axis=0).sum() + prior(*p)

    return f


def in_jax(objective: Callable[[Given], Callable[..., Any]]) -> Callable[[Given], Calls]:
    """The gradient of an objective."""

    def make(given: Given) -> Calls:
        return {GRADIENT: jitted(objective(given), (given.params, given.x), lambda jax, f: jax.grad(f))}

    return make


def in_blocks(given: Given) -> Calls:
    """JAX: the gradients of blocks of points are added up in a scan."""
    found, prepared, prior = timing.jax(), prepared_in_jax(given), prior_in_jax(given)
    d, _, n = given.sizes

    def gradient(p: Any, x: Any) -> Any:
        pre, back = found.vjp(prepared, *p)
        zero = found.tree.map(found.numpy.zeros_like, pre)

        def added(total: Any, block: Any) -> Any:
            return found.tree.map(found.numpy.add, total, found.grad(fit_in_jax)(pre, block)), None

        total = found.lax.scan(added, zero, x.reshape(-1, min(BLOCK, n), d))[0]
        return found.tree.map(found.numpy.add, back(total), found.grad(prior, (0, 1, 2, 3))(*p))

    return {GRADIENT: jitted(gradient, (given.params, given.x))}


PEERS = {
    **mine(ours(objective)),
    **mine(ours(example), "docs/examples"),
    "numpy gemm": by_hand(None),
    "jax": in_jax(plain),
    "jax gemm": in_jax(by_product),
    "numpy gemm in blocks": by_hand(BLOCK),
    "jax gemm in blocks": in_blocks,
}


def file_of(d: int, k: int, n: int) -> str:
    """The file of ADBench."""
    return f"gmm/{n // 1000}k/gmm_d{d}_K{k}.txt"


def row(name: str, d: int, k: int, n: int) -> Row:
    """A size of ADBench."""
    added = ("numpy gemm in blocks", "jax gemm in blocks")
    heavy = n * k * d > 200_000
    return Row(
        name, PEERS, given(d, k, n), lambda: drawn(3, 2, 6), LISTED, file=file_of(d, k, n), added=added, heavy=heavy
    )


ROWS = (
    row("GMM d2 1k", 2, 5, 1000),
    row("GMM d10 1k", 10, 25, 1000),
    row("GMM d20 1k", 20, 50, 1000),
    row("GMM d64 1k", 64, 10, 1000),
    row("GMM d10 10k", 10, 25, 10_000),
)

"""Models whose loss is a sum over many rows: value and gradient, ours, and by hand in numpy, in blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

import hilbert.all as hb

Array: TypeAlias = Any
Hand: TypeAlias = Callable[[int], list[Array]]


class Second:
    """The units of the second layer."""


class Moment:
    """The moments of a sequence."""


@frozen
class Rows:
    """A function of parameters and rows, where it is evaluated, and the same by hand in blocks of so many rows."""

    name: str
    function: Any
    over: Any
    at: tuple[Any, ...]
    hand: Hand | None


def slices(n: int, size: int) -> Iterator[slice]:
    """The rows of each block."""
    return (slice(k, k + size) for k in range(0, n, size))


def added(totals: list[Array], parts: Sequence[Array]) -> None:
    """Add in place."""
    for k, part in enumerate(parts):
        totals[k] += part


def in_file(array: Array, path: Path) -> Array:
    """The array, mapped from a file."""
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def logistic(n: int, folder: Path | None = None) -> Rows:
    """Logistic regression on ten numbers a row, which are in a file of a folder."""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((n, 10)), rng.standard_normal(10)
    y = np.sign(x @ w + rng.standard_normal(n))
    x, X, D = (in_file(x, folder / "rows.npy") if folder else x), hb.Fin.of(n), hb.Fin.of(10)
    f: Any = hb.fun(hb.R**D, (hb.R**D) ** X, hb.R**X)(
        lambda w, xs, ys: hb.each(lambda x, y: hb.softplus(-y * (w @ x)), xs, ys).mean()
    )

    def hand(size: int) -> list[Array]:
        totals = [np.zeros(()), np.zeros(10)]
        for part in slices(n, size):
            a, b = x[part], y[part]
            t = a @ w
            t *= -b
            e = np.exp(-np.abs(t))
            value = np.log1p(e).sum() + np.maximum(t, 0.0).sum()
            share = np.where(t >= 0.0, 1.0, e) / (1.0 + e)
            share *= b
            added(totals, [value, -(share @ a)])
        return [total / n for total in totals]

    M, S, Y = f.dom.parts
    return Rows("logistic regression", hb.value_and_grad(f, 0), X, (M.vec(w), S.vec(x), Y.vec(y)), hand)


def ratings(n: int) -> Rows:
    """Squared errors of ratings by products of vectors of people and films, whose numbers are given with each row."""
    rng = np.random.default_rng(1)
    people, films, k = 10_000, 1_000, 8
    u, v = rng.standard_normal((people, k)), rng.standard_normal((films, k))
    who, what, stars = rng.integers(0, people, n), rng.integers(0, films, n), rng.standard_normal(n)
    X, P, F, T = hb.Fin.of(n), hb.Fin.of(people), hb.Fin.of(films), hb.R ** hb.Fin.of(k)
    f: Any = hb.fun(T**P, T**F, hb.Elements(P) ** X, hb.Elements(F) ** X, hb.R**X)(
        lambda u, v, who, what, stars: hb.square(hb.each(hb.inner, u[who], v[what]) - stars).mean()
    )

    def summed(ids: Array, rows: Array, count: int) -> Array:
        return np.stack([np.bincount(ids, rows[:, j], count) for j in range(k)], 1)

    def hand(size: int) -> list[Array]:
        totals = [np.zeros(()), np.zeros((people, k)), np.zeros((films, k))]
        for part in slices(n, size):
            i, j = who[part], what[part]
            a, b = u.take(i, 0), v.take(j, 0)
            r = np.einsum("nk,nk->n", a, b) - stars[part]
            b *= r[:, None]
            a *= r[:, None]
            added(totals, [r @ r, summed(i, b, people), summed(j, a, films)])
        return [total * scale / n for total, scale in zip(totals, (1.0, 2.0, 2.0), strict=True)]

    at = tuple(part.vec(a) for part, a in zip(f.dom.parts, (u, v, who, what, stars), strict=True))
    return Rows("ratings", hb.value_and_grad(f, (0, 1)), X, at, hand)


def network(n: int) -> Rows:
    """A network 10-32-32-1 with tanh, and its squared error."""
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((n, 10)), rng.standard_normal(n)
    D, H, K, X = hb.Fin.of(10), hb.Fin.of(32), hb.Fin(Second, 32), hb.Fin.of(n)
    a, b, c = rng.standard_normal((32, 10)) / 3, rng.standard_normal((32, 32)) / 6, rng.standard_normal(32)
    p, q = rng.standard_normal(32), rng.standard_normal(32)
    spaces = (hb.R ** (H * D), hb.R**H, hb.R ** (K * H), hb.R**K, hb.R**K, (hb.R**D) ** X, hb.R**X)

    def loss(a: Any, p: Any, b: Any, q: Any, c: Any, xs: Any, ys: Any) -> Any:
        def out(x: Any, y: Any) -> Any:
            return hb.square(c @ hb.tanh(b @ hb.tanh(a @ x + p) + q) - y)

        return hb.each(out, xs, ys).mean()

    f: Any = hb.fun(*spaces)(loss)

    def hand(size: int) -> list[Array]:
        totals = [np.zeros(()), *(np.zeros_like(one) for one in (a, p, b, q, c))]
        for part in slices(n, size):
            u = x[part]
            h = u @ a.T
            h += p
            np.tanh(h, out=h)
            g = h @ b.T
            g += q
            np.tanh(g, out=g)
            r = g @ c - y[part]
            value, dc = r @ r, r @ g
            g *= g
            np.subtract(1.0, g, out=g)
            g *= c
            g *= r[:, None]
            dh = g @ b
            db, dq = g.T @ h, g.sum(0)
            h *= h
            np.subtract(1.0, h, out=h)
            dh *= h
            added(totals, [value, dh.T @ u, dh.sum(0), db, dq, dc])
        return [total * scale / n for total, scale in zip(totals, (1.0, *5 * (2.0,)), strict=True)]

    at = tuple(part.vec(one) for part, one in zip(f.dom.parts, (a, p, b, q, c, x, y), strict=True))
    return Rows("network 10-32-32-1", hb.value_and_grad(f, (0, 1, 2, 3, 4)), X, at, hand)


def normed(n: int) -> Rows:
    """Rows of a layer, normed by mean and variance of all rows, and a loss of them."""
    rng = np.random.default_rng(3)
    x, a, w = rng.standard_normal((n, 10)), rng.standard_normal((8, 10)), rng.standard_normal(8)
    D, H, X = (hb.Fin.of(size) for size in (10, 8, n))

    def loss(a: Any, w: Any, xs: Any) -> Any:
        h = hb.each(lambda x: a @ x, xs)
        centred = h - h.mean(over=X).rep(h.space)
        scaled = centred / hb.sqrt(hb.square(centred).mean(over=X) + 1e-5).rep(h.space)
        return hb.each(lambda z: hb.softplus(w @ z), scaled).mean()

    f: Any = hb.fun(hb.R ** (H * D), hb.R**H, (hb.R**D) ** X)(loss)

    def hand(size: int) -> list[Array]:
        mean = sum((x[part] @ a.T).sum(0) for part in slices(n, size)) / n
        variance = sum(((x[part] @ a.T - mean) ** 2).sum(0) for part in slices(n, size)) / n
        deviation = np.sqrt(variance + 1e-5)
        totals = [np.zeros(()), np.zeros(8), np.zeros(8), np.zeros(8)]

        def shares(part: slice) -> tuple[Array, Array, Array]:
            z = x[part] @ a.T
            z -= mean
            z /= deviation
            t = z @ w
            e = np.exp(-np.abs(t))
            return z, np.log1p(e).sum() + np.maximum(t, 0.0).sum(), np.where(t >= 0.0, 1.0, e) / (1.0 + e)

        for part in slices(n, size):
            z, value, share = shares(part)
            along = share @ z
            added(totals, [value, along, share.sum() * w, along * w])
        value, dw, dz, dzz = (total / n for total in totals)
        da = np.zeros((8, 10))
        for part in slices(n, size):
            z, _, share = shares(part)
            z *= -dzz
            z += share[:, None] * w
            z -= dz
            da += z.T @ x[part]
        return [value, da / (n * deviation[:, None]), dw]

    at = tuple(part.vec(one) for part, one in zip(f.dom.parts, (a, w, x), strict=True))
    return Rows("batch norm", hb.value_and_grad(f, (0, 1)), X, at, hand)


def smoothed(n: int) -> Rows:
    """A signal near another, with few steps: squares of deviations, and moduli of differences, rounded off at 0."""
    rng = np.random.default_rng(6)
    x, y = rng.standard_normal(n), rng.standard_normal(n)
    X = hb.Fin.of(n)

    def loss(x: Any, y: Any) -> Any:
        return 0.5 * hb.square(x - y).sum() + 3.0 * hb.sqrt(hb.square(x[1:] - x[:-1]) + 0.01).sum()

    def hand(size: int) -> list[Array]:
        value, slope = np.zeros(()), np.empty(n)
        for part in slices(n, size):
            start, end = part.start, min(part.stop, n)
            left, right = max(start - 1, 0), min(end + 1, n)
            steps = np.diff(x[left:right])
            moduli = steps * steps
            moduli += 0.01
            np.sqrt(moduli, out=moduli)
            out = slope[start:end]
            np.subtract(x[start:end], y[start:end], out=out)
            value += 0.5 * (out @ out) + 3.0 * moduli[start - left :].sum()
            steps /= moduli
            steps *= 3.0
            out[: right - 1 - start] -= steps[start - left :]
            out[1 - start + left :] += steps[: end - 1 - left]
        return [value, slope]

    f: Any = hb.fun(hb.R**X, hb.R**X)(loss)
    at = tuple(part.vec(one) for part, one in zip(f.dom.parts, (x, y), strict=True))
    return Rows("neighbours", hb.value_and_grad(f, 0), X, at, hand)


def markov(n: int, length: int = 20) -> Rows:
    """The likelihood of n short sequences in a hidden Markov model of 3 states, by the forward recursion."""
    rng = np.random.default_rng(4)
    y = rng.uniform(0.0, 3.0, (n, length))
    start, turns, means = rng.standard_normal(3), rng.standard_normal((3, 3)), np.arange(3.0)
    S, T, X = hb.Fin.of(3), hb.Fin(Moment, length), hb.Fin.of(n)
    V, half = hb.R**S, 0.5 * math.log(2 * math.pi)

    def loss(start: Any, turns: Any, means: Any, ys: Any) -> Any:
        first, moves = start.softmax(), turns.softmax(over=1)

        def one(y: Any) -> Any:
            seen = hb.each(lambda at: hb.exp(-0.5 * hb.square(means - at) - half), y)
            return hb.log(hb.fold(lambda s, e: (moves.T @ s) * e, first, seen).sum())

        return -hb.each(one, ys).mean()

    f: Any = hb.fun(V, hb.R ** (S * S), V, (hb.R**T) ** X)(loss)

    def hand(size: int) -> list[Array]:
        first, moves = np.exp(start - start.max()), np.exp(turns - turns.max(1, keepdims=True))
        first, moves = first / first.sum(), moves / moves.sum(1, keepdims=True)
        totals = [np.zeros(()), np.zeros(3), np.zeros((3, 3)), np.zeros(3)]
        for part in slices(n, size):
            z = y[part].T[:, :, None] - means
            seen = np.exp(-0.5 * z * z - half)
            states, moved = [np.broadcast_to(first, z.shape[1:])], list[Array]()
            for here in seen:
                moved.append(states[-1] @ moves)
                states.append(moved[-1] * here)
            sums = states[-1].sum(1)
            back = np.repeat(1.0 / sums[:, None], 3, 1)
            dmoves, dmeans = np.zeros((3, 3)), np.zeros(3)
            for t in range(length - 1, -1, -1):
                dmeans += np.einsum("ns,ns,ns->s", back, states[t + 1], z[t])
                back *= seen[t]
                dmoves += states[t].T @ back
                back = back @ moves.T
            added(totals, [np.log(sums).sum(), back.sum(0), dmoves, dmeans])
        value, dfirst, dmoves, dmeans = (-total / n for total in totals)
        dturns = moves * (dmoves - (dmoves * moves).sum(1, keepdims=True))
        return [value, first * (dfirst - dfirst @ first), dturns, dmeans]

    at = tuple(part.vec(one) for part, one in zip(f.dom.parts, (start, turns, means, y), strict=True))
    return Rows("hidden Markov, 20 moments", hb.value_and_grad(f, (0, 1, 2)), X, at, hand)


def mixture(n: int, *, by_product: bool = False) -> Rows:
    """The mixture of Gaussians of ADBench, d = 10, K = 25: as docs/examples has it, or by one product of matrices."""
    from benchmarks.peers.arrays import mixture as made

    given = made.drawn(10, 25, n)
    f = (made.objective if by_product else made.example)(given)
    M, X = f.dom.parts
    name = f"mixture d10 K25{', by one product' * by_product}"
    return Rows(name, hb.value_and_grad(f, 0), X.leaves[0].axes[0], (M.vec(given.params), X.vec(given.x)), None)

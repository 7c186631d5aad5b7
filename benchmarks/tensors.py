"""Formal tensors: Griewank's derivative at n = m = 10⁷ as a tensor of rank 1, and sums of terms, beside numpy by hand.

Timed: the matrix of the derivative at a new point as a formal tensor, and `linear` of it applied forward and back to a
vector; then a tensor of rank 8 under ⋆, ⊙ and recompression. No array of n·m entries could exist: it would take 800 TB.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

from adjoint import adjoint
from benchmarks.timing import HAND, OURS, Line, Options, agree, compare
from diff import derivative, fun, inner, sin
from hilbert import Copower, Fin, R, compress, from_factors
from linmap import linear, matrix, structure

SIZE, QUICK = 10_000_000, 1_000_000
WIDE, RANK = 1_000_000, 8
LIMIT = 1.3


class In:
    """Tag of an axis."""


class Out:
    """Tag of an axis."""


def lines(options: Options) -> Iterator[Line | str]:
    """Griewank's example, then a tensor of rank 8."""
    yield from griewank(options, QUICK if options.quick else SIZE)
    yield from terms(options)


def griewank(options: Options, n: int) -> Iterator[Line | str]:
    """c·(b⊗a): its two factors, and what they do to vectors."""
    domain, codomain = R ** Fin(In, n), R ** Fin(Out, n)
    rng = np.random.default_rng(0)
    a, dx, b, dy = (rng.standard_normal(n) for _ in range(4))
    a /= np.sqrt(n)
    av, bv, dxv, dyv = domain.vec(a), codomain.vec(b), domain.vec(dx), codomain.vec(dy)
    points = [rng.standard_normal(n) for _ in range(2)]
    vectors = [domain.vec(x) for x in points]
    d = derivative(fun(domain)(lambda v: sin(inner(av, v)) * bv))
    yield f"structure of the derivative: {structure(d)}"

    def tensor_by_hand(x: Any) -> Any:
        return np.cos(a @ x), b, a

    def tensor_of(x: Any) -> Any:
        return matrix(d.at(x), as_="tensor")

    hand, ours = cycle(points), cycle(vectors)
    t = tensor_of(vectors[0])
    f = linear(t)
    back = adjoint(f)
    c = tensor_by_hand(points[0])[0]
    agree(
        "Griewank as a tensor",
        {HAND: [forward_by_hand(a, b, c, dx), adjoint_by_hand(a, b, c, dy)], OURS: [f(dxv).array, back(dyv).array]},
        1e-10,
    )
    size = f"10^{len(str(n)) - 1}"
    yield from compare(
        f"b·sin(aᵀx), {size}: the tensor at a new x",
        {HAND: lambda: tensor_by_hand(next(hand)), OURS: lambda: tensor_of(next(ours))},
        options,
    )
    forward: dict[str, Callable[[], Any]] = {HAND: partial(forward_by_hand, a, b, c, dx), OURS: lambda: f(dxv)}
    adjoints: dict[str, Callable[[], Any]] = {HAND: partial(adjoint_by_hand, a, b, c, dy), OURS: lambda: back(dyv)}
    yield from compare(f"linear(t), {size}: forward", forward, options, limit=LIMIT)
    yield from compare(f"linear(t), {size}: adjoint", adjoints, options, limit=LIMIT)
    yield memory("tensor, linear, forward and adjoint", lambda: _all(tensor_of, vectors[0], dxv, dyv), n)


def _all(tensor_of: Callable[[Any], Any], x: Any, dx: Any, dy: Any) -> None:
    f = linear(tensor_of(x))
    f(dx)
    adjoint(f)(dy)


def forward_by_hand(a: Any, b: Any, c: Any, dx: Any) -> Any:
    """c·(b⊗a) on a vector, in two lines."""
    d = c * (a @ dx)
    return d * b


def adjoint_by_hand(a: Any, b: Any, c: Any, dy: Any) -> Any:
    """c·(a⊗b) on a vector, in two lines."""
    d = c * (b @ dy)
    return d * a


def terms(options: Options) -> Iterator[Line | str]:
    """A tensor of rank 8 between spaces of 10⁶ dimensions."""
    V, W, X = R ** Fin(In, WIDE), R ** Fin(Out, WIDE), Fin.of(RANK)
    rng = np.random.default_rng(1)
    left, right, v = (rng.standard_normal(shape) for shape in ((RANK, WIDE), (RANK, WIDE), WIDE))
    t = from_factors(Copower(W, X).vec(left), Copower(V, X).vec(right))
    f, vector = linear(t), V.vec(v)
    s = t + t.space.left.vec(left[0]).tensor(t.space.right.vec(right[1]))
    agree("rank 8", {HAND: [left.T @ (right @ v)], OURS: [f(vector).array]}, 1e-10)
    apply: dict[str, Callable[[], Any]] = {HAND: lambda: left.T @ (right @ v), OURS: lambda: f(vector)}
    yield from compare("rank 8, 10^6: applied to a vector", apply, options, limit=LIMIT)
    gram: dict[str, Callable[[], Any]] = {
        HAND: lambda: np.sum((left @ left.T) * (right @ right.T)),
        OURS: lambda: t.inner(t),
    }
    agree("s ⊙ t", {who: [call()] for who, call in gram.items()}, 1e-10)
    yield from compare("rank 8, 10^6: s ⊙ t by Gram matrices", gram, options)

    def by_hand() -> Any:
        columns, rows = np.vstack([left, left[:1]]), np.vstack([right, right[1:2]])
        (q, a), (p, b) = np.linalg.qr(columns.T), np.linalg.qr(rows.T)
        u, values, w = np.linalg.svd(a @ b.T)
        return (q @ u)[:, :RANK] * values[:RANK], w[:RANK] @ p.T

    def compressed() -> Any:
        return compress(s, 1e-12)[0]

    found, report = compress(s, 1e-12)
    agree("compress", {HAND: [f(vector).array + left[0] * (right[1] @ v)], OURS: [linear(found)(vector).array]}, 1e-9)
    yield f"compress: {report}"
    yield from compare("rank 9 → 8, 10^6: compress", {HAND: by_hand, OURS: compressed}, options)
    yield memory("rank 8: sums, ⊙, ‖·‖, compress", lambda: ((s - t).norm(), compressed()), RANK * WIDE)


def memory(what: str, call: Callable[[], object], entries: int) -> str:
    """The peak of new memory; raises ValueError if it is more than a few times the factors."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1] // 8
    tracemalloc.stop()
    if peak > 20 * entries:
        msg = f"{what}: a peak of {peak} entries for factors of {entries}"
        raise ValueError(msg)
    return f"{what}: peak of all new arrays {peak:,} entries"

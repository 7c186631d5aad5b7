"""Segment sums in functions, by dynamic indices, and with weights; beside others, in one run.

Σ sin(segment-sum(x²)) is the row of that name among the measured peers: its value and its gradient, at 10⁶ values in
10⁵ segments. Gathers and segment sums by elements that are arguments are timed against the raw calls on indices that
nothing is known of before. Sparse matrices are timed against scipy's product, with weights that are constant (the
matrix is then made before, on both sides) and with weights that are an argument (scipy's matrix is made with it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from adjoint import adjoint, grad
from benchmarks.relations import SIZES, against_the_best
from benchmarks.timing import HAND, OURS, Line, Options, agree, jax, medians, optional
from diff import bilinear, fun, sin, sparse_product
from hilbert import Elements, Fin, R
from linmap import segment_sum, sparse
from linmap.contraction import gather as gather_at
from linmap.contraction import segment_sum as segment_sum_at

VALUES, SEGMENTS = 1_000_000, 100_000
PEER_LIMIT = 1.4
Array: TypeAlias = Any
Calls: TypeAlias = dict[str, Callable[[], Any]]


def lines(options: Options) -> Iterator[Line | str]:
    """The row beside its peers, then the raw calls."""
    yield from sines(options)
    for n in SIZES[: 1 if options.quick else None]:
        yield from found(n, options)
        yield from matrices(n, options)


def sines(options: Options) -> Iterator[Line]:
    """Σ sin(segment-sum(x²))."""
    rng = np.random.default_rng(0)
    x, t = rng.standard_normal(VALUES), rng.integers(0, SEGMENTS, VALUES)
    X, Y = Fin.of(VALUES), Fin.of(SEGMENTS)
    sums = segment_sum(t, Y, rows=X)
    f = fun(R**X)(lambda v: sin(sums(v * v)).sum())
    gradient = grad(f)
    v = (R**X).vec(x)
    values: Calls = {HAND: lambda: np.sin(np.bincount(t, x * x, SEGMENTS)).sum(), OURS: lambda: f(v).array}
    gradients: Calls = {HAND: lambda: by_hand(x, t), OURS: lambda: gradient(v).array}
    for add in (with_jax, with_autograd, with_torch):
        add(x, t, values, gradients)
    for what, calls in (("value", values), ("gradient", gradients)):
        agree(what, {who: [np.asarray(call())] for who, call in calls.items()}, 1e-9)
        times = medians(calls, options)
        best = min(seconds for who, seconds in times.items() if who != OURS)
        for who, seconds in times.items():
            limit = PEER_LIMIT if who == OURS else None
            yield Line(f"Σ sin(segment-sum(x²)), 10⁶ in 10⁵: {what}", who, seconds, seconds / best, limit)


def by_hand(x: Array, t: Array) -> Array:
    """The gradient."""
    slope = np.cos(np.bincount(t, x * x, SEGMENTS))
    out = slope.take(t)
    out *= x
    out *= 2.0
    return out


def with_jax(x: Array, t: Array, values: Calls, gradients: Calls) -> None:
    """JAX, jitted."""
    found = jax()
    if found is None:
        return

    def total(v: Any, at: Any) -> Any:
        return found.numpy.sin(found.ops.segment_sum(v * v, at, SEGMENTS)).sum()

    value, gradient = found.jit(total), found.jit(found.grad(total))
    here, at = found.numpy.asarray(x), found.numpy.asarray(t)
    values["jax (jit)"] = lambda: found.block_until_ready(value(here, at))
    gradients["jax (jit)"] = lambda: found.block_until_ready(gradient(here, at))


def with_autograd(x: Array, t: Array, values: Calls, gradients: Calls) -> None:
    """Autograd, which has no segment sum: bincount with its derivative."""
    if optional("autograd") is None:
        return
    import autograd.numpy as anp
    from autograd import grad as gradient_of
    from autograd.extend import defvjp, primitive

    sums = primitive(lambda v: np.bincount(t, v, SEGMENTS))
    defvjp(sums, lambda _, __: lambda g: g.take(t))

    def total(v: Any) -> Any:
        return anp.sum(anp.sin(sums(v * v)))

    gradient = gradient_of(total)
    values["autograd"] = lambda: total(x)
    gradients["autograd"] = lambda: gradient(x)


def with_torch(x: Array, t: Array, values: Calls, gradients: Calls) -> None:
    """Torch, eagerly."""
    torch = optional("torch")
    if torch is None:
        return
    torch.set_num_threads(1)
    leaf, at = torch.from_numpy(x.copy()).requires_grad_(), torch.from_numpy(t)

    def total() -> Any:
        return torch.sin(torch.zeros(SEGMENTS, dtype=torch.float64).index_add(0, at, leaf * leaf)).sum()

    def value() -> Any:
        with torch.no_grad():
            return total().numpy()

    def gradient() -> Any:
        return torch.autograd.grad(total(), leaf)[0].numpy()

    values["torch"], gradients["torch"] = value, gradient


def found(n: int, options: Options) -> Iterator[Line]:
    """Gather and segment sum by n elements that are an argument, and their adjoints in v."""
    rng = np.random.default_rng(1)
    m, power = n // 10, len(str(n)) - 1
    t, x, y = rng.integers(0, m, n), rng.standard_normal(n), rng.standard_normal(m)
    X, Y = Fin.of(m), Fin.of(n)
    at, vx, vy = (Elements(X) ** Y).vec(t), (R**Y).vec(x), (R**X).vec(y)
    take, add = bilinear(gather_at(X, Y)), bilinear(segment_sum_at(X, Y))
    star = fun(R**X, Elements(X) ** Y, R**Y)(lambda _, k, w: bilinear(segment_sum_at(X, Y))(w, k))
    rows: dict[str, Calls] = {
        "gather": {OURS: lambda: take(vy, at).array, "take": lambda: y.take(t), "x[t]": lambda: y[t]},
        "segment sum": {OURS: lambda: add(vx, at).array, **sums(t, m, x)},
        "gather, adjoint": {OURS: lambda: star(vy, at, vx).array, **sums(t, m, x)},
    }
    for what, calls in rows.items():
        agree(what, {who: [call()] for who, call in calls.items()}, 1e-9)
        yield from against_the_best(f"dynamic {what}, 1e{power}", calls, options)


def sums(t: Array, m: int, x: Array) -> Calls:
    """Sums by target, where nothing is known of the targets before."""

    def added() -> Array:
        out = np.zeros(m)
        np.add.at(out, t, x)
        return out

    return {"bincount": lambda: np.bincount(t, x, m), "add.at": added}


def matrices(n: int, options: Options) -> Iterator[Line]:
    """Products with sparse matrices of n entries, 10 in a row and 1 in a row."""
    if optional("scipy.sparse") is not None:
        for size in (n // 10, n):
            yield from matrix(n, size, options)


def matrix(n: int, size: int, options: Options) -> Iterator[Line]:
    """Products with one sparse matrix of n entries."""
    sp = optional("scipy.sparse")
    rng = np.random.default_rng(2)
    X, K = Fin.of(size), Fin.of(n)
    rows, cols, w = rng.integers(0, size, n), rng.integers(0, size, n), rng.standard_normal(n)
    A = sp.csr_array((w, (rows, cols)), shape=(size, size))
    At = A.T.tocsr()
    x = rng.standard_normal(size)
    v = (R**X).vec(x)
    f = sparse(rows, cols, w, X, X)
    star = adjoint(f)
    product = sparse_product(rows, cols, X, X, entries=K)
    weights = (R**K).vec(w)
    made: dict[str, Calls] = {
        "sparse matrix": {OURS: lambda: f(v).array, "csr @": lambda: A @ x},
        "sparse matrix, adjoint": {OURS: lambda: star(v).array, "csr @": lambda: At @ x, "csc @": lambda: A.T @ x},
        "sparse product of weights": {
            OURS: lambda: product(weights, v).array,
            "coo @": lambda: sp.coo_array((w, (rows, cols)), shape=(size, size)) @ x,
            "take, bincount": lambda: np.bincount(rows, w * x.take(cols), size),
        },
    }
    for what, calls in made.items():
        agree(what, {who: [call()] for who, call in calls.items()}, 1e-9)
        yield from against_the_best(f"{what}, {n // size} in a row, 1e{len(str(n)) - 1}", calls, options)

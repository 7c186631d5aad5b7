"""red_R beside the best raw call, for each form of relation and each direction, at 10⁶ and 10⁷ elements.

The raw calls are checked to compute the same; differences of cumulative sums, which a single NaN spoils, are not among
them. What a relation prepares once is done before, on both sides, and our time for it is printed.
"""

from __future__ import annotations

import ctypes
import itertools
import multiprocessing
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.timing import OURS, Line, Options, agree, duration, medians, optional
from hilbert import Fin, R, Relation
from hilbert.relation import band, columns, equality, full, function, geq, leq, rotation, run, shift, sliding, window
from hilbert.relation import partial as mask
from linmap import red

LIMIT = 1.25
SIZES = (1_000_000, 10_000_000)
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h
Array: TypeAlias = Any
Calls: TypeAlias = dict[str, Callable[[], Any]]


@frozen
class Row:
    """A relation, and for an array the raw calls that do the same."""

    what: str
    relation: Relation[Any, Any]
    raw: Callable[[Array], Calls] = field(eq=False)


def lines(options: Options) -> Iterator[Line | str]:
    """Every form in both directions, then products, sums and compositions against the calls for their parts."""
    yield identity(SIZES[0])
    for n in SIZES[: 1 if options.quick else None]:
        for kind in (forms, tables, stencils, made_of_others):
            for k in itertools.count():
                found = alone(kind, n, k, options)
                if found is None:
                    break
                yield from found


def alone(kind: Callable[[int], Iterator[Row]], n: int, k: int, options: Options) -> list[Line | str] | None:
    """The lines of the k-th row of a kind, measured in a process of its own; None if there is none.

    Otherwise an array is faulted in anew at each call while one of half the size is not, or the other way round: that
    depends on what was freed before in the process. In all of them the C library is set as it sets itself after a
    while: arrays from 32 MB on get new memory at each call, smaller ones what was freed.
    """
    processes = multiprocessing.get_context("fork")
    receiver, sender = processes.Pipe(duplex=False)

    def measure() -> None:
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:  # the GNU C library
            mallopt(M_MMAP_THRESHOLD, 1 << 25)
            mallopt(M_TRIM_THRESHOLD, 1 << 28)
        row = next(itertools.islice(kind(n), k, None), None)
        sender.send(None if row is None else list(of_row(f"{row.what}, 1e{len(str(n)) - 1}", row, options)))

    child = processes.Process(target=measure)
    child.start()
    sender.close()
    found: list[Line | str] | None = receiver.recv()
    child.join()
    return found


def identity(n: int) -> str:
    """Raise ValueError unless red of an identity hands its argument on."""
    v = (R ** Fin.of(n)).vec(np.zeros(n))
    if red(equality(Fin.of(n)), R)(v).leaves[0] is not v.leaves[0]:
        msg = "red of an identity is not its argument"
        raise ValueError(msg)
    return "id: the argument itself"


def of_row(what: str, row: Row, options: Options) -> Iterator[Line | str]:
    """Check that all candidates agree, then time them; ours against the best of the others."""
    x = np.random.default_rng(0).standard_normal(row.relation.dom.size)
    f = red(row.relation, R)
    v = f.dom.vec(x.reshape(row.relation.dom.shape))
    calls: Calls = {OURS: lambda: f(v).array, **row.raw(x)}
    agree(what, {who: [flat(call())] for who, call in calls.items()}, 1e-9)
    yield from against_the_best(what, calls, options)
    if row.relation.prepared:
        yield f"    prepared once: {', '.join(f'{p.what} in {duration(p.seconds)}' for p in row.relation.prepared)}"


def flat(result: Any) -> Array:
    """All entries of an array or of a tuple of arrays."""
    parts = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.reshape(part, -1) for part in parts])


def against_the_best(what: str, calls: Calls, options: Options) -> Iterator[Line]:
    """Our median over that of the fastest other."""
    found = medians(calls, options)
    best = min(seconds for who, seconds in found.items() if who != OURS)
    for who, seconds in found.items():
        yield Line(what, who, seconds, seconds / best, LIMIT if who == OURS else None)


def forms(n: int) -> Iterator[Row]:
    """The forms without tables."""
    X, half = Fin.of(n), n // 2
    yield Row("X×5", full(X, Fin.of(5)), lambda x: {"sum, full": lambda: np.full(5, x.sum())})
    yield Row("5×X", full(Fin.of(5), X), lambda x: {"sum, full": lambda: np.full(n, x.sum())})
    yield Row("≤", leq(X), lambda x: {"cumsum": partial(np.cumsum, x)})
    yield Row("≥", geq(X), lambda x: {"cumsum": lambda: np.cumsum(x[::-1])[::-1]})
    part, every = run(Fin.of(half), X, 17), run(Fin.of(half), X, 0, 2)
    yield Row("slice", part.T, lambda x: {"copy": x[17 : 17 + half].copy})
    yield Row("every second", every.T, lambda x: {"copy": x[::2].copy})
    yield Row(
        "pad",
        part,
        lambda x: {
            "zeros": lambda: written(x, n, slice(17, 17 + half)),
            "pad": lambda: np.pad(x, (17, n - half - 17)),
        },
    )
    yield Row("zeros between", every, lambda x: {"zeros": lambda: written(x, n, slice(None, None, 2))})
    yield Row("rotation", rotation(X, 1000), lambda x: {"roll": lambda: np.roll(x, 1000)})
    yield Row(
        "shift",
        shift(X, 1000),
        lambda x: {
            "zeros": lambda: written(x[:-1000], n, slice(1000, None)),
            "concatenate": lambda: np.concatenate([np.zeros(1000), x[:-1000]]),
        },
    )


def written(x: Array, n: int, where: Any) -> Array:
    """Zeros with x written into them."""
    out = np.zeros(n)
    out[where] = x
    return out


def tables(n: int) -> Iterator[Row]:
    """The forms with a table: masks, functions, permutations, pairs."""
    rng = np.random.default_rng(1)
    X = Fin.of(n)
    keep = rng.random(n) < 0.5
    yield Row("mask", mask(keep, X), partial(masks, keep))
    for what, m, ordered in (("", n // 10, False), (", ordered", n // 10, True), (", long runs", n // 1000, True)):
        t = rng.integers(0, m, n)
        t = np.sort(t) if ordered else t
        f = function(t, X, Fin.of(m))
        yield Row(f"segment sum{what}", f, partial(segment_sums, t, m))
        yield Row(f"gather{what}", f.T, partial(gathers, t))
    turn = rng.permutation(n)
    inverse = np.argsort(turn)
    yield Row(
        "permutation",
        function(turn, X, X),
        lambda x: {"take": lambda: x.take(inverse), "assign": lambda: assigned(x, turn)},
    )
    for what, size in ((", 1 in a row", n), (", 10 in a row", n // 10)):
        r = columns(rng.integers(0, size, n), rng.integers(0, size, n), Fin.of(size), Fin.of(size))
        yield Row(f"pairs{what}", r, partial(products, r))
        yield Row(f"pairs{what}, transposed", r.T, partial(products, r.T))


def masks(keep: Array, x: Array) -> Calls:
    """Selections that keep NaN out."""
    bits = -keep.astype(np.int64)

    def copied() -> Array:
        out = np.zeros_like(x)
        np.copyto(out, x, where=keep)
        return out

    return {
        "where": lambda: np.where(keep, x, 0.0),
        "copyto": copied,
        "bits": lambda: (x.view(np.int64) & bits).view(np.float64),
    }


def assigned(x: Array, places: Array) -> Array:
    """out[places] = x."""
    out = np.empty_like(x)
    out[places] = x
    return out


def gathers(t: Array, x: Array) -> Calls:
    """Entries at positions."""
    return {"take": lambda: x.take(t), "x[t]": lambda: x[t]}


def segment_sums(t: Array, m: int, x: Array) -> Calls:
    """Sums by target, with sorted orders and pointers made before."""
    n = len(t)
    ordered = bool((t[1:] >= t[:-1]).all())
    order = np.argsort(t, kind="stable")
    there, starts = np.unique(t[order], return_index=True)

    def added() -> Array:
        out = np.zeros(m)
        np.add.at(out, t, x)
        return out

    def runs() -> Array:
        return assigned_at(np.add.reduceat(x if ordered else x.take(order), starts), there, m)

    calls: Calls = {"bincount": lambda: np.bincount(t, x, m), "add.at": added, "reduceat": runs}
    sp = optional("scipy.sparse")
    if sp is not None:
        csc = sp.csc_array((np.ones(n), t.astype(np.int32), np.arange(n + 1, dtype=np.int32)), shape=(m, n))
        csr = csc.tocsr()
        calls |= {"csr @": lambda: csr @ x, "csc @": lambda: csc @ x}
    return calls


def assigned_at(values: Array, places: Array, m: int) -> Array:
    """Zeros with values at places."""
    out = np.zeros(m)
    out[places] = values
    return out


def products(r: Relation[Any, Any], x: Array) -> Calls:
    """Products with the 0-1 matrix of explicit pairs."""
    source, target = r.holds()
    m, n = r.cod.size, r.dom.size
    calls: Calls = {"take, bincount": lambda: np.bincount(target, x.take(source), m)}
    sp = optional("scipy.sparse")
    if sp is not None:
        entries = (np.ones(r.size), (target.astype(np.int32), source.astype(np.int32)))
        csr, csc = sp.csr_array(entries, shape=(m, n)), sp.csc_array(entries, shape=(m, n))
        calls |= {"csr @": lambda: csr @ x, "csc @": lambda: csc @ x}
    return calls


def stencils(n: int) -> Iterator[Row]:
    """The forms of windows."""
    X = Fin.of(n)
    for w in (1, 4, 50):
        yield Row(f"band ±{w}", band(X, w, w), partial(bands, w))
    for w, s in ((2, 2), (5, 5), (3, 2), (100, 100)):
        pool = window(X, w, stride=s)
        yield Row(f"windows of {w} by {s}", pool, partial(pools, w, s, pool.cod.size))
        yield Row(f"windows of {w} by {s}, adjoint", pool.T, partial(unpools, w, s, n))
    third = n // 3
    wide = sliding(Fin.of(third), 3)
    yield Row("3 side by side", wide.T, lambda x: {"copy": lambda: sliding_window_view(x, 3).copy()})
    yield Row("3 laid over", wide, lambda x: {"slices": lambda: overlaid(x.reshape(-1, 3), third)})


def bands(w: int, x: Array) -> Calls:
    """Stencils of ones."""
    n = len(x)

    def slices() -> Array:
        out = x.copy()
        for k in range(1, w + 1):
            out[k:] += x[: n - k]
            out[: n - k] += x[k:]
        return out

    calls: Calls = {"convolve": lambda: np.convolve(x, np.ones(2 * w + 1), "same")}
    return calls | {"slices": slices} if w < 10 else calls


def pools(w: int, s: int, m: int, x: Array) -> Calls:
    """Sums of windows."""

    def slices() -> Array:
        out = x[0 : s * (m - 1) + 1 : s] + x[1 : s * (m - 1) + 2 : s]
        for k in range(2, w):
            out += x[k : k + s * (m - 1) + 1 : s]
        return out

    calls: Calls = {"slices": slices}
    if w < 10:
        calls["convolve"] = lambda: np.convolve(x, np.ones(w), "valid")[::s]
    if w == s:
        calls["sum"] = lambda: x[: m * s].reshape(m, s).sum(axis=1)
        calls["@ ones"] = lambda: x[: m * s].reshape(m, s) @ np.ones(s)
    return calls


def unpools(w: int, s: int, n: int, x: Array) -> Calls:
    """The adjoint of sums of windows."""
    m = len(x)

    def slices() -> Array:
        out = np.zeros(n)
        for k in range(w):
            out[k : k + s * (m - 1) + 1 : s] += x
        return out

    calls: Calls = {"slices": slices}
    if w == s:
        calls["repeat"] = lambda: np.pad(np.repeat(x, s), (0, n - m * s)) if n > m * s else np.repeat(x, s)
    return calls


def overlaid(x: Array, n: int) -> Array:
    """Windows added where they come from."""
    out = np.zeros(n)
    m, w = x.shape
    for k in range(w):
        out[k : k + m] += x[:, k]
    return out


def made_of_others(n: int) -> Iterator[Row]:
    """Products, sums and compositions; the raw calls are the best ones of the parts, one after the other."""
    rng = np.random.default_rng(2)
    k, half = 1000, n // 2
    X, K, H = Fin.of(n // k), Fin.of(k), Fin.of(half)
    yield Row("≤ × id", leq(X) * equality(K), lambda x: {"parts": lambda: np.cumsum(x.reshape(-1, k), axis=0)})
    yield Row("id × ≤", equality(X) * leq(K), lambda x: {"parts": lambda: np.cumsum(x.reshape(-1, k), axis=1)})
    pool = window(X, 2, stride=2) * window(K, 2, stride=2)
    yield Row("windows of 2 × 2", pool, lambda x: {"parts": lambda: pooled(x.reshape(-1, k))})
    t, u = rng.integers(0, half, half), rng.integers(0, half // 10, half)
    f, g = function(t, H, H), function(u, H, Fin.of(half // 10))
    yield Row("gather + gather", f.T + f.T, lambda x: {"parts": lambda: (x[:half].take(t), x[half:].take(t))})
    yield Row(
        "≤ + ≥", leq(H) + geq(H), lambda x: {"parts": lambda: (np.cumsum(x[:half]), np.cumsum(x[half:][::-1])[::-1])}
    )
    yield Row("g ∘ f", g @ f, lambda x: {"parts": lambda: np.bincount(u, np.bincount(t, x, half), half // 10)})
    yield Row("(g ∘ f)ᵀ", (g @ f).T, lambda x: {"parts": lambda: x.take(u).take(t)})


def pooled(x: Array) -> Array:
    """Sums of 2 × 2 cells."""
    rows = x[::2] + x[1::2]
    return rows[:, ::2] + rows[:, 1::2]

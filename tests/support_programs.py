"""Programs whose primitives are singular at 0, between all ways to leave an entry out: terms, and what they mean.

A term is a tuple of a name and its parts; `x` and `y` are what the space of the argument holds (`DOMAINS`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import hilbert.all as hb
from hilbert.relation import pairs
from tests.untyped import each, fold, iterate, where

R, Fin = hb.R, hb.Fin
X, Y, N = Fin.of(4), Fin.of(2), 4
V = R**X
Body = Callable[[Any], Any]


class Pair(hb.Record):
    """Two vectors by name."""

    first: hb.Part[Any]
    second: hb.Part[Any]


class Nested(hb.Record):
    """A record in a record, a stack of them, and a part that is discrete."""

    pair: hb.Part[Any]
    stack: hb.Part[Any]
    place: hb.Part[Any]


P, S = Pair(first=V, second=V), Pair(first=R, second=R)
NESTED = Nested(pair=P, stack=P**Y, place=hb.Elements(X))
TWO = hb.direct_sum(V, V)


def both(a: Any, b: Any) -> Any:
    """A record of two expressions."""
    return hb.made(P, hb.entry(Pair.first, a), hb.entry(Pair.second, b))


def entries(a: Any, b: Any) -> Any:
    """A record of two numbers."""
    return hb.made(S, hb.entry(Pair.first, a), hb.entry(Pair.second, b))


# --- what terms are made of ---

APART = hb.const(V.vec([0.11, 0.23, 0.37, 0.53]))
"""Keeps equal entries apart: their order is that at the point moved a little. No kink is at such a point."""
BESIDE = hb.const(V.vec([0.0717, 0.1513, 0.2909, 0.4171]))
UNARY: dict[str, Body] = {
    "sqrt": hb.sqrt,
    "log": hb.log,
    "reciprocal": lambda y: 1.0 / y,
    "asinh": hb.asinh,
    "power": lambda y: y**1.5,
    "relu": lambda y: hb.relu(y - 1.03),
    "maximum": lambda y: hb.maximum(y - 1.57, 0.0),
    "clip": lambda y: y.clip(0.47, 2.51),
    "select": lambda y: hb.select(y > 0.53, y),
    "where": lambda y: hb.where(y > 0.51, y, 2.0 * y),
    "shift": lambda y: y[1:].pad(0, 1),
    "windows": lambda y: y[:3].pad(1, 0) + y,
    "pairs": hb.red(pairs([(1, 0), (2, 1), (2, 2), (0, 2)], X, X)),
    "matrix": lambda y: hb.const((R ** (X * X)).vec(np.arange(16.0).reshape(4, 4) - 5.5)) @ y,
    "sort": lambda y: (y + APART).sort(),
    "max": lambda y: (y + APART).max() * hb.const(V.vec([3.0, 1.0, 2.0, 0.5])),
    "plus": lambda y: y + hb.const(V.vec([0.0, 1.0, 0.0, 2.0])),
    "branch": lambda y: each(lambda e: where(e > 0.49, lambda: hb.sqrt(e), lambda: e), y),
    "top": lambda y: y[(y + APART).top(2)].pad(1, 1),
    "norms": lambda y: hb.stack(X)(y[:2].norm(), y[2:].norm(), y[0], y[3]),
    "none": lambda y: 0.0 * y + 1.0,
}
PARTS: Any = hb.fun(P)(lambda r: r[Pair.first] + r[Pair.second][1:].pad(0, 1))
FUNCTION: Any = hb.fun(V, V)(lambda a, b: (a * b, b + a[1]))
CALLED: Any = hb.fun(P)(lambda r: both(hb.sqrt(r[Pair.first]), hb.log(r[Pair.second])))
RECORDS: dict[str, Body] = {
    "read part": lambda y: both(y + 1.0, hb.sqrt(y))[Pair.first],
    "replaced part": lambda y: both(hb.sqrt(y), y).replace(Pair.first, y)[Pair.first],
    "two parts": lambda y: PARTS(both(y, hb.sqrt(y))),
    "lanes of records": lambda y: each(lambda e: entries(hb.sqrt(e), e * e), y)[Pair.second],
    "read lanes": lambda y: each(lambda e: entries(hb.sqrt(e), e * e), y)[Pair.first][1:].pad(0, 1),
    "branch of records": lambda y: where(y[1] > 0.52, lambda: both(y, hb.sqrt(y)), lambda: both(hb.log(y), y))[
        Pair.first
    ],
    "sum": lambda y: FUNCTION(hb.sqrt(y), y)[1],
    "called": lambda y: CALLED(both(y, y + 1.0))[Pair.second],
}
LOOPS: dict[str, Body] = {
    "loop": lambda y: iterate(lambda s: s + hb.sqrt(y)[1], y, Y),
    "carried": lambda y: iterate(hb.sqrt, y, Y),
    "fold": lambda y: y + fold(lambda s, e: s * (e + 0.5), R.vec(1.0), hb.sqrt(y)[1:]),
    "carried parts": lambda y: iterate(lambda s: (s[0] + s[1][1:].pad(0, 1), hb.sqrt(s[1])), (y, y), Y)[0],
    "one of two": lambda y: iterate(lambda s: (hb.sqrt(s[0]), s[1] + 1.0), (y, y), Y)[1],
    "carried record": lambda y: iterate(
        lambda s: both(hb.sqrt(s[Pair.first]), s[Pair.second] + s[Pair.first][1]), both(y, y), Y
    )[Pair.second],
    "records in rounds": lambda y: (
        fold(
            lambda s, r: s + r[Pair.second] * hb.sqrt(r[Pair.second] + 1.0),
            R.vec(0.0),
            each(lambda e: entries(hb.sqrt(e), e), y),
        )
        * (y + 0.25)
    ),
    "outputs": lambda y: fold(lambda s, e: (s + e, hb.sqrt(e)), R.vec(0.5), y)[1][1:].pad(0, 1),
    "no outputs": lambda y: fold(lambda s, e: (s + e, hb.sqrt(e)), R.vec(0.5), y)[0] * (y + 0.25),
    "loops in lanes": lambda y: each(lambda e: iterate(hb.sqrt, e, Y), y)[1:].pad(1, 0),
    "loop in a loop": lambda y: iterate(lambda s: s + iterate(hb.sqrt, y, Y)[2], y, Y),
}


# --- terms ---


def terms(unary: Collection[str], leaves: int) -> st.SearchStrategy[Any]:
    """Terms of some names, with so many leaves at most."""
    return st.recursive(
        st.sampled_from([("x",), ("y",)]),
        lambda of: st.one_of(st.tuples(st.sampled_from([*unary]), of), st.tuples(st.sampled_from([*BINARY]), of, of)),
        max_leaves=leaves,
    )


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: (a + 0.25) * (b + 0.75),
    "maximum": lambda a, b: hb.maximum(a, b + BESIDE),
    "where": lambda a, b: hb.where(a > b + BESIDE, a, b + 1.0),
}
ALL = UNARY | RECORDS | LOOPS


def value(term: Any, x: Any, y: Any) -> Any:
    """The function that a term writes."""
    name, *parts = term
    if not parts:
        return x if name == "x" else y
    return (ALL if len(parts) == 1 else BINARY)[name](*(value(part, x, y) for part in parts))


# --- what a function takes, and what it gives ---


class Domain(NamedTuple):
    """A space, how two vectors are had from its expressions, and how many numbers a point has."""

    space: Any
    read: Callable[[Any], tuple[Any, Any]]
    size: int


DOMAINS = {
    "vector": Domain(V, lambda x: (x, x), 4),
    "sum": Domain(TWO, lambda x: (x[0], x[1]), 8),
    "record": Domain(P, lambda r: (r[Pair.first], r[Pair.second]), 8),
    "nested": Domain(
        NESTED,
        lambda n: (n[Nested.pair / Pair.second], n[Nested.stack / Pair.first][1] + hb.onehot(n[Nested.place])),
        24,
    ),
    "stack of records": Domain(P**Y, lambda s: (s[Pair.first][0], s[Pair.second][1]), 16),
    "records in lanes": Domain(S**X, lambda s: (s[Pair.first], s[Pair.second]), 8),
}


def point(name: str, numbers: Any) -> Any:
    """A point of a domain."""
    space, numbers = DOMAINS[name].space, np.asarray(numbers)
    if space != NESTED:
        return space.unflat(numbers)
    return NESTED.of(pair=P.unflat(numbers[:8]), stack=(P**Y).unflat(numbers[8:]), place=2)


def function(name: str, body: Callable[[Any, Any], Any], *, into_record: bool = False) -> Any:
    """The function of a domain that the two vectors in it are given to, as a vector or as a part of a record."""
    domain = DOMAINS[name]

    def whole(a: Any) -> Any:
        x, y = domain.read(a)
        z = body(x, y)
        return both(z, y) if into_record else z

    return hb.fun(domain.space)(whole)

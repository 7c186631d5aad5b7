"""Relations of every form, drawn by Hypothesis: `ALL[form](source)`; sizes 0 and 1 are among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert import Fin, Index, Relation, Unit
from hilbert.relation import (
    Window,
    band,
    by_key,
    by_keys,
    equality,
    full,
    function,
    greater,
    less,
    partial,
    reversal,
    rotation,
    run,
    shift,
    sliding,
    window,
)
from tests.strategies import FORMS, Source

if TYPE_CHECKING:
    from collections.abc import Callable


def some_set(s: Source, *, empty: bool = True, budget: int = 6) -> Index:
    """An index set, 𝟏 among them."""
    return s.index(budget, empty=empty, unit=True)


def _partial(s: Source) -> Relation[Any, Any]:
    X = some_set(s)
    return partial(s.rng().integers(0, 2, X.shape if s.flag() else X.size).astype(bool), X)


def _strided(s: Source) -> Relation[Any, Any]:
    n, stride = s.size(4), s.one_of([-3, -2, -1, 1, 2, 3])
    span = abs(stride) * max(n - 1, 0) + min(n, 1)
    X, Y = s.one_of([Fin.of(n), Unit()]) if n == 1 else Fin.of(n), Fin.of(span + s.integer(0, 3))
    low = max(span - 1, 0) if stride < 0 else 0
    return run(X, Y, s.integer(low, low + Y.size - span), stride)


def _window(s: Source) -> Relation[Any, Any]:
    X, Y = some_set(s, budget=6), some_set(s, budget=6)
    return Window(X, Y, s.integer(0, 5), s.integer(1, 3), s.integer(-4, 4), s.integer(1, 3))


def _sliding(s: Source) -> Relation[Any, Any]:
    w, stride, d, o = s.integer(1, 3), s.integer(1, 4), s.integer(1, 2), s.integer(0, 2)
    X = Fin.of(o + d * (w - 1) + s.integer(0, 6))
    return sliding(X, w, stride=stride, offset=o, dilation=d)


def _small(s: Source) -> Relation[Any, Any]:
    return BASIC[s.one_of(list(BASIC))](s)


def _composable(s: Source) -> Relation[Any, Any]:
    """S ∘ R for a function R, or the transpose of such a composition."""
    S = _small(s)
    X, Y = some_set(s), S.dom
    R = function(s.rng().integers(0, Y.size, X.size), X, Y) if Y.size else run(Fin.of(0), Y, 0)
    T = S @ R
    return T.T if s.flag() else T


BASIC: dict[str, Callable[[Source], Relation[Any, Any]]] = {
    **FORMS,
    "partial identity": _partial,
    "<": lambda s: less(some_set(s)),
    ">": lambda s: greater(some_set(s)),
    "strided inclusion": _strided,
    "converse of a strided inclusion": lambda s: _strided(s).T,
    "reversal": lambda s: reversal(some_set(s)),
    "rotation": lambda s: rotation(some_set(s), s.integer(-4, 4)),
    "shift": lambda s: shift(some_set(s), s.integer(-3, 3)),
    "band": lambda s: band(some_set(s, budget=6), s.integer(-1, 2), s.integer(1, 3)),
    "windows": _window,
    "converse of windows": lambda s: _window(s).T,
    "pooling": lambda s: window(Fin.of(s.size(9)), w := s.integer(1, 3), stride=w),
    "windows side by side": lambda s: _sliding(s).T,
    "windows laid over": _sliding,
    "by key": lambda s: by_key(s.rng().choice(list("abc"), s.size(6))),
    "by keys": lambda s: by_keys(*(s.rng().integers(0, 3, (2, s.size(6))).tolist())),
}
"""The forms that are not made of others."""

ALL: dict[str, Callable[[Source], Relation[Any, Any]]] = {
    **BASIC,
    "product": lambda s: _small(s) * _small(s),
    "sum": lambda s: _small(s) + _small(s),
    "sum of a sum": lambda s: (_small(s) + _small(s)) + _small(s),
    "product with an identity": lambda s: equality(some_set(s)) * _small(s),
    "sum of products": lambda s: _small(s) * full(Unit(), Fin.of(2)) + _small(s),
    "composition": _composable,
}
"""Every form of relation."""


def dense(relation: Relation[Any, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The truth table of R ⊆ X × Y, of shape (|X|, |Y|)."""
    table = np.zeros((relation.dom.size, relation.cod.size), dtype=bool)
    x, y = relation.holds()
    assert len(set(zip(x.tolist(), y.tolist(), strict=True))) == len(x), "a pair stands twice"
    table[x, y] = True
    return table

"""Vectors computed once: sums and multiples, with tokens that tell where they come from.

The same law on the same vectors gives an equal vector, in every process, so that simplified terms are equal if the
given ones are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert import Vec
from hilbert.base.repr_names import derived_token

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def token(what: str, vectors: Iterable[Vec[Any]]) -> int:
    """The token of a vector made from others."""
    return derived_token(" ".join([what, *(f"{v.token:032x}" for v in vectors)]))


def scaled(k: float, v: Vec[Any]) -> Vec[Any]:
    """k·v."""
    return Vec(v.space, (k * v).leaves, token(f"{k!r} times", [v]))


def summed(terms: Sequence[tuple[float, Vec[Any]]]) -> Vec[Any]:
    """Σ k·v."""
    total: Any = None
    for k, v in terms:
        term = v if k == 1.0 else k * v
        total = term if total is None else total + term
    return Vec(total.space, total.leaves, token(f"sum of {[k for k, _ in terms]!r}", [v for _, v in terms]))

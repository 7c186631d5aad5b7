"""Relations between positions of arrays, and the linear map `red r` that they give (paper §2.2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from attrs import frozen

from diff.lam.term.term_error import TermError
from hilbert import Fin
from hilbert.relation import columns
from linmap import red

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Index, Type
    from hilbert.map.map import AnyMap

MOST = 10**6
"""The pairs that a relation may have."""


@final
@frozen
class Listed:
    """The elements of a domain and a codomain, in order, and what each of the domain is related to."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    related: dict[int, tuple[int, ...]]


def to(k: int, rows: Sequence[int], cols: Sequence[int]) -> Listed:
    """Every row is related to k."""
    return Listed(tuple(rows), tuple(cols), dict.fromkeys(rows, (k,)) if k in cols else {})


def same(rows: Sequence[int], cols: Sequence[int]) -> Listed:
    """Every row is related to itself."""
    both = set(rows) & set(cols)
    return Listed(tuple(rows), tuple(cols), {i: (i,) for i in rows if i in both})


def pairs(entries: Sequence[tuple[int, int]]) -> Listed:
    """These pairs, each once; domain and codomain by first appearance."""
    related: dict[int, dict[int, None]] = {}
    for i, j in entries:
        related.setdefault(i, {})[j] = None
    return Listed(
        tuple(related), tuple(dict.fromkeys(j for _, j in entries)), {i: tuple(js) for i, js in related.items()}
    )


def transposed(r: Listed) -> Listed:
    """{(j, i) : (i, j) ∈ r}."""
    related: dict[int, dict[int, None]] = {}
    for i, js in r.related.items():
        for j in js:
            related.setdefault(j, {})[i] = None
    return Listed(r.columns, r.rows, {j: tuple(found) for j, found in related.items()})


def composed(r: Listed, s: Listed) -> Listed:
    """r o s = {(i, k) : (i, j) ∈ s and (j, k) ∈ r for some j}."""
    paths = sum(len(r.related.get(j, ())) for js in s.related.values() for j in js)
    if paths > MOST:
        raise TermError("limit", f"a composition of {paths} paths, more than {MOST}")
    related = {i: tuple(dict.fromkeys(k for j in js for k in r.related.get(j, ()))) for i, js in s.related.items()}
    return Listed(s.rows, r.columns, related)


def reduction(r: Listed, X: Index, of: Type) -> AnyMap:
    """red r : V^X ⊸ V^m, (red r v)_t = Σ v_j over j related to the t-th row; raises TermError where v is too short."""
    size = sum(len(r.related.get(i, ())) for i in r.rows)
    if size > MOST:
        raise TermError("limit", f"a relation of {size} pairs, more than {MOST}")
    last = max((j for i in r.rows for j in r.related.get(i, ())), default=-1)
    least = min((j for i in r.rows for j in r.related.get(i, ())), default=0)
    n = X.size
    if last >= n or least < 0:
        raise TermError("shape", f"red reads position {last if last >= n else least} of an array of {n}")
    read = [(j, t) for t, i in enumerate(r.rows) for j in r.related.get(i, ())]
    sources, targets = [j for j, _ in read], [t for _, t in read]
    return red(columns(sources, targets, X, Fin.of(len(r.rows))), of)

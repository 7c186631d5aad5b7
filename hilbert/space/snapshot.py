"""Snapshots: a vector that becomes part of a function is copied, unless nobody can write into its arrays.

>>> import numpy as np
>>> from hilbert import Fin, R
>>> buffer = np.ones(2)
>>> v = (R ** Fin.of(2)).vec(buffer)
>>> kept = snapshot(v)
>>> kept == v, snapshot(v) is kept, snapshot(kept) is kept
(True, True, True)
>>> buffer[0] = 5.0
>>> print(v, kept, snapshot(v), sep=", ")
[5.0, 1.0] ∈ ℝ^2, [1.0, 1.0] ∈ ℝ^2, [5.0, 1.0] ∈ ℝ^2
>>> snapshot(v) == v
False
"""

from __future__ import annotations

from operator import is_
from typing import Any

from hilbert.arrays.formal.formal_array import Formal, Memo, mapped
from hilbert.arrays.kernels.library import library
from hilbert.base.once import LOCK
from hilbert.space.vector import Vec

OWN = object()
"""Marks a vector that is its own snapshot: a reference to itself would be a cycle."""


def snapshot(v: Vec[Any]) -> Vec[Any]:
    """The vector as its entries are now, in arrays that nobody writes into; v itself where v has such arrays.

    The copy is kept with v and given again as long as the entries of v are those of the copy, so that a vector which
    enters many functions is copied once. The first copy equals v. When the owner of the arrays has written into them,
    the next copy is another vector: equal tokens mean equal entries. An argument that is no vector is given
    back, for its node to refuse.
    """
    if type(v) is not Vec:
        return v
    kept: Any = getattr(v, "_snapshot", None)
    if kept is OWN:
        return v
    if kept is not None and all(map(_is_same, kept.leaves, v.leaves)):
        return kept  # type: ignore[no-any-return]
    leaves = _leaves(v.leaves)
    made = v if leaves is v.leaves else Vec(v.space, leaves, v.token if kept is None else None)
    with LOCK:
        if made is not v:
            _keep(v, made)
        _keep(made, OWN)
    return made


def is_snapshot(v: Vec[Any]) -> bool:
    """Tell if a vector is known to have arrays that nobody writes into."""
    return getattr(v, "_snapshot", None) is OWN


def fixed(value: Vec[Any] | int) -> Vec[Any] | int:
    """An integer, or a vector as its entries are now."""
    return snapshot(value) if isinstance(value, Vec) else value


def _leaves(leaves: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arrays that nobody writes into: the same tuple, if they are such."""
    memo: Memo | None = None
    made: list[Any] = []
    for leaf in leaves:
        if isinstance(leaf, Formal):  # factors that several share stay shared
            memo = memo or Memo()
            made.append(_formal(leaf, memo))
        else:
            made.append(library(leaf).snapshot(leaf))
    return leaves if all(map(is_, made, leaves)) else tuple(made)


def _formal(leaf: Formal, memo: Memo) -> Formal:
    made = mapped(leaf, lambda a: memo.of("snapshot", (a,), library(a).snapshot))
    return leaf if all(map(is_, made.parts, leaf.parts)) else made


def _is_same(kept: Any, now: Any) -> bool:
    """Tell if an array still has the entries of its copy."""
    if isinstance(now, Formal):
        return all(map(_is_same, kept.parts, now.parts))
    return kept is now or library(now).unchanged(kept, now)


_keep = vars(Vec)["_snapshot"].__set__

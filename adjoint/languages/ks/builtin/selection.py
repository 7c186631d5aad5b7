"""Elements of tensors: indices that are in range, and what stands there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.languages.ks.builtin import effects, integers
from adjoint.languages.ks.value.ks_values import element, entries, is_real, mapped
from adjoint.languages.ks.value.tensor_lanes import lane_element, lane_entry
from adjoint.languages.ks.value.value_classes import LEAF, Arr, Items, Table, UnrolledError, Value
from diff import each, onehot
from diff.lam.term.term_error import TermError
from diff.trace.expr import Expr
from hilbert import Elements, R
from linmap import crop, pad

if TYPE_CHECKING:
    from adjoint.languages.ks.builtin.evaluation import Evaluation


def position(ev: Evaluation, k: Value, n: int, *, check: bool = True) -> Value:
    """An index that is in range: an integer, a table, or an element for each lane; raises TermError for another."""
    if isinstance(k, int):
        if check and not 0 <= k < n:
            effects.demand(ev, condition=False, message=f"index {k} of {n} elements")
        return min(max(k, 0), n - 1)
    if isinstance(k, Table):
        wrong = (k.array < 0) | (k.array >= n)
        if wrong.any():
            _, (at, bad), mask = ev.where.running(k, Table(k.lanes, wrong))
            if check and (bad & mask).any():
                effects.demand(ev, Table(k.lanes, ~wrong), f"index {at[bad & mask][0]} of {n} elements")
            k = Table(k.lanes, np.clip(k.array, 0, max(n - 1, 0)))
        return k
    if check and k.space.index.size > n:
        fits = integers.compare("lt", k, n)
        effects.demand(ev, fits, f"an index that is found from reals is not one of {n} elements")
    return k


def selected(ev: Evaluation, x: Arr | Items, k: Value) -> Value:
    """The element, or the rows, at a position in the first axis."""
    n, *rest = x.dims
    if isinstance(x, Items):
        return _listed(x, k)
    if isinstance(k, int):
        if n == 0:
            return mapped(lambda leaf: leaf.space.base.zeros() if isinstance(leaf, LEAF) else 0, x.item)
        item = element(Arr((n,), x.item), (k,))
    else:
        item = mapped(lambda leaf: _row(ev, leaf, k, n), x.item)
    return Arr(tuple(rest), item) if rest else item


def _row(ev: Evaluation, leaf: Any, k: Value, n: int) -> Any:
    if isinstance(leaf, LEAF):
        lane = k.lanes[0] if isinstance(k, Table) and len(k.lanes) == 1 else None
        if lane is not None and k is lane.index and lane.n == n:
            found = lane_element(lane, leaf)
            if found is not None:
                return found
        if isinstance(k, Table):
            k = lane_entry(k, entries(n))
        rows: Any = _of_length(leaf, k.space.index.size) if isinstance(k, Expr) else leaf
        if is_real(leaf) or isinstance(k, int):
            return rows[k]
        if isinstance(leaf.space.base, Elements):  # gathers are linear
            return each(onehot, rows)[k].argmax()
        return rows.cast(R)[k] > 0.5
    if not isinstance(k, Table):
        raise TermError("tag", "an integer that is found from reals selects reals only", ev.place)
    lanes = tuple(sorted({*leaf.lanes, *k.lanes}, key=lambda lane: lane.depth))
    grid = np.ix_(*(np.arange(lane.n) for lane in lanes))
    at = dict(zip(lanes, grid, strict=True))
    index = k.array[tuple(at[lane] for lane in k.lanes)]
    return Table(lanes, leaf.array[(*(at[lane] for lane in leaf.lanes), index)])


def _of_length(leaf: Any, m: int) -> Any:
    """The first m elements; where there are fewer, zeros behind them."""
    V, X = leaf.space.base, leaf.space.index
    if m == X.size:
        return leaf
    return crop(X, 0, m, V)(leaf) if m < X.size else pad(X, 0, m - X.size, V)(leaf)


def _listed(x: Items, k: Value) -> Value:
    n, *rest = x.dims
    if not isinstance(k, int):
        raise UnrolledError("elements of several shapes are selected one by one", [k])
    m = len(x.items) // n if n else 0
    return Items(tuple(rest), x.items[k * m : (k + 1) * m]) if rest else x.items[k]

"""Integers of 64 bits and truth values: known, as tables over lanes, or as data of the program."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.languages.ks.builtin import effects
from adjoint.languages.ks.value.ks_values import constant, truth
from adjoint.languages.ks.value.tensor_lanes import aligned, lane_entry
from adjoint.languages.ks.value.value_classes import LEAF, Table, Value
from diff import const
from diff.lam.term.term_error import TermError
from diff.trace.expr import Expr
from hilbert import Elements, R, Vec
from hilbert.space.space import Bool

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjoint.languages.ks.builtin.evaluation import Evaluation

LARGEST = 2**63
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "gt": operator.gt,
    "lt": operator.lt,
    "gte": operator.ge,
    "lte": operator.le,
    "eq": operator.eq,
}


def _in_range(low: float, high: float) -> None:
    if low < -LARGEST or high >= LARGEST:
        raise TermError("limit", "this integer does not fit into 64 bits")


def arithmetic(f: Callable[[Any, Any], Any], a: Value, b: Value) -> Value:
    """f of two integers; raises TermError for a result of more than 64 bits."""
    if isinstance(a, int) and isinstance(b, int):
        made = f(a, b)
        _in_range(made, made)
        return made
    lanes, (x, y) = aligned(a, b)
    ends = [f(int(p), int(q)) for p in _ends(x) for q in _ends(y)]
    if ends:  # of sums, differences and products the extremes are at the ends
        _in_range(min(ends), max(ends))
    return Table(lanes, f(x, y))


def _ends(array: Any) -> tuple[int, ...]:
    return (int(array.min()), int(array.max())) if array.size else ()


def add(a: Value, b: Value) -> Value:
    """a + b."""
    return arithmetic(operator.add, a, b)


def total(table: Table) -> Value:
    """The sum over the first axis of a tensor."""
    n = len(table.lanes)
    ends = _ends(table.array)
    if ends:
        size = table.array.shape[n]
        _in_range(min(ends[0] * size, 0), max(ends[1] * size, 0))
    return constant(table.lanes, table.array.sum(axis=n))


def div(ev: Evaluation, a: Value, b: Value) -> Value:
    """a / b, truncated towards zero; by zero an error."""
    if isinstance(a, int) and isinstance(b, int):
        if b == 0:
            effects.demand(ev, condition=False, message="an integer is divided by zero")
            return 0
        made = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        _in_range(made, made)
        return made
    lanes, (x, y) = aligned(a, b)
    effects.demand(
        ev,
        constant(lanes, np.broadcast_to(y != 0, np.broadcast_shapes(x.shape, y.shape))),
        "an integer is divided by zero",
    )
    safe = np.where(y == 0, 1, y)
    least = np.iinfo(np.int64).min
    if ((x == least) & (safe == -1)).any():
        _in_range(-int(least), -int(least))
    below = x // safe  # rounded down
    return Table(lanes, below + ((below * safe != x) & ((x < 0) != (safe < 0))))


def is_found(v: Value) -> bool:
    """Tell if an integer is found from reals: data of the program, an element of an index set."""
    return isinstance(v, Expr) and isinstance(v.space, Elements)


def require_known(ev: Evaluation, *values: Value) -> None:
    """Raise for arithmetic of integers that are found from reals, which is done one by one, at a point."""
    if not any(map(is_found, values)):
        return
    what = "there is no arithmetic of an integer that is found from reals"
    if not ev.where.is_outside:
        raise ev.where.outside(what)
    raise TermError("tag", f"{what}: it is an index, is compared, or is made real by to_float", ev.place)


def number(v: Value) -> Any:
    """An integer as a real."""
    if isinstance(v, Expr):
        positions = R**v.space.index
        return const(positions.vec(np.arange(v.space.index.size, dtype=np.float64)))[v]
    return lane_entry(v) if isinstance(v, Table) else R.vec(float(v))


def compare(sign: str, a: Value, b: Value) -> Value:
    """A comparison of integers, truth values or reals."""
    if is_found(a) or is_found(b):
        return _compared(sign, number(a), number(b))
    if isinstance(a, LEAF) and isinstance(b, LEAF):
        return _compared(sign, a, b)
    if isinstance(a, LEAF) or isinstance(b, LEAF):
        return ~(_data(a) ^ _data(b))
    if not isinstance(a, Table) and not isinstance(b, Table):
        return bool(COMPARISONS[sign](a, b))
    lanes, (x, y) = aligned(a, b)
    return Table(lanes, np.asarray(COMPARISONS[sign](x, y)))


def _compared(sign: str, a: Any, b: Any) -> Value:
    if not all(f.is_field for f in a.space.leaves):
        made = (a & b) | (~a & ~b)
    else:
        made = (a >= b) & (a <= b) if sign == "eq" else COMPARISONS[sign](a, b)
    return bool(made.array) if isinstance(made, Vec) else made


def _data(c: Value) -> Any:
    """A truth value as data."""
    if isinstance(c, LEAF):
        return c
    return lane_entry(c, Bool) if isinstance(c, Table) else truth(c=bool(c))


def _logical(name: str, f: Callable[[Any, Any], Any], a: Value, b: Value) -> Value:
    if isinstance(a, LEAF) or isinstance(b, LEAF):
        known = next((v for v in (a, b) if isinstance(v, bool)), None)
        if known is not None:  # it decides, or leaves the other
            other = b if a is known else a
            return other if known == (name == "and") else known
        return f(_data(a), _data(b))
    if isinstance(a, bool) and isinstance(b, bool):
        return bool(f(a, b))
    lanes, (x, y) = aligned(a, b)
    return Table(lanes, f(x, y))


def both(a: Value, b: Value) -> Value:
    """a and b."""
    return _logical("and", operator.and_, a, b)


def either(a: Value, b: Value) -> Value:
    """a or b."""
    return _logical("or", operator.or_, a, b)


def negated(a: Value) -> Value:
    """not a."""
    if isinstance(a, bool):
        return not a
    return Table(a.lanes, ~a.array) if isinstance(a, Table) else ~a

"""The prelude on values: arithmetic of reals, integers and vectors."""

from __future__ import annotations

import math
import operator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.languages.ks.builtin import integers
from adjoint.languages.ks.builtin.builtin_row import BuiltIn, Overloads, in_place, of_value, of_values
from adjoint.languages.ks.value.gamma import digamma, lgamma, magnitude
from adjoint.languages.ks.value.ks_values import items_of, mapped, real, stacked
from adjoint.languages.ks.value.tensor_lanes import lane_entry
from adjoint.languages.ks.value.types import BOOL, tensor, vec
from adjoint.languages.ks.value.value_classes import LEAF, Arr, Items, Table, Value
from diff import const, cos, cosh, divide, each, erf, exp, inner, log, maximum, select, sin, sqrt, tanh
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import real as number
from diff.lam.term.types import INT, REAL
from diff.trace.expr import Expr
from hilbert import R, Vec

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjoint.languages.ks.builtin.evaluation import Evaluation, Use

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": divide,
}


def _is_integer(v: Value) -> bool:
    return isinstance(v, int) or (isinstance(v, Table) and v.array.dtype.kind in "ib")


def _binary(name: str) -> Callable[[Evaluation, Value], Value]:
    def run(ev: Evaluation, v: Value) -> Value:
        a, b = v
        integers.require_known(ev, a, b)
        if _is_integer(a):
            return integers.div(ev, a, b) if name == "div" else integers.arithmetic(_SIGNS[name], a, b)
        if isinstance(a, LEAF) and isinstance(b, LEAF):
            return _SIGNS[name](a, b)
        return _on_vectors(name, a, b)

    return run


def _comparison(name: str) -> Callable[[Value], Value]:
    return lambda v: integers.compare(name, *v)


def _on_vectors(name: str, a: Value, b: Value) -> Value:
    """add, sub, mul of vectors; a vector minus a number; a number or a matrix times a vector."""
    if isinstance(a, LEAF):
        return mapped(lambda x: a * x, b)
    if isinstance(b, LEAF):
        return mapped(lambda x: x - b.rep(x.space) if isinstance(x, LEAF) and x.space != R else x - b, a)
    matrix = _matrix(a)
    if matrix is not None and isinstance(b, Arr):
        return Arr((matrix.space.index.size,), each(lambda row: inner(row, b.item), matrix))
    rows = _rows(a)
    if rows is not None:
        return stacked((len(rows),), [dot(row, b) for row in rows])
    return mapped(_SIGNS[name], a, b)


def _matrix(a: Value) -> Any:
    """The reals of a matrix whose rows have one length, as one vector of rows."""
    item = a.item if isinstance(a, Arr) else None
    if isinstance(item, Arr) and len(a.dims) == len(item.dims) == 1:
        return item.item if isinstance(item.item, LEAF) else None
    return item if isinstance(item, LEAF) and len(a.dims) == 2 else None


def _rows(a: Value) -> list[Value] | None:
    """The rows of a matrix; None for a vector."""
    if isinstance(a, Arr) and len(a.dims) == 1 and not isinstance(a.item, Arr):
        return None
    if isinstance(a, Items) and len(a.dims) == 1 and not any(isinstance(x, (Arr, Items)) for x in a.items):
        return None
    if len(a.dims) == 2:
        n, m = a.dims
        flat = items_of(a).items
        return [stacked((m,), flat[k * m : (k + 1) * m]) for k in range(n)]
    return list(items_of(a).items)


def dot(a: Value, b: Value) -> Any:
    """⟨a, b⟩ of two vectors of one length."""
    made: list[Any] = []
    mapped(lambda x, y: made.append(inner(x, y)), a, b)
    total: Any = R.zeros()
    for k, one in enumerate(made):
        total = one if k == 0 else total + one
    return total


def _negated(ev: Evaluation, v: Value) -> Value:
    integers.require_known(ev, v)
    return integers.arithmetic(operator.sub, 0, v) if _is_integer(v) else -v


def _power(ev: Evaluation, v: Value) -> Value:
    x, n = v
    if isinstance(n, int):
        return x ** float(n) if n != 1 else x
    return _powers(ev, x, n)


def _powers(ev: Evaluation, x: Any, n: Table) -> Any:
    """x^n for exponents that depend on the lane: each exponent by a mask."""
    made: Any = real(0.0)
    for k in np.unique(n.array):
        here = Table(n.lanes, n.array == k)
        made = ev.chosen(here, partial(_power_of, x, int(k)), partial(_kept, made))
    return made


def _power_of(x: Any, n: int) -> Any:
    return x ** float(n)


def _kept(x: Any) -> Any:
    return x


def _to_float(v: Value) -> Value:
    if isinstance(v, Table):
        return lane_entry(v)
    if isinstance(v, (bool, int)):
        return real(v)
    if isinstance(v, Vec):
        return real(float(v.array))
    assert isinstance(v, Expr)
    if integers.is_found(v):
        return integers.number(v)
    return select(v, const(real(1.0)))


def _largest(v: Value) -> Value:
    """max of two reals, or of a vector."""
    if isinstance(v, tuple):
        return maximum(*v)
    if not v.dims[0]:
        raise TermError("shape", "the largest of no elements")
    if isinstance(v, Items):
        made = v.items[0]
        for one in v.items[1:]:
            made = maximum(made, one)
        return made
    return v.item.max()


def _largest_at(v: Value) -> Value:
    """The position of the largest element, the first of equal ones."""
    if not v.dims[0]:
        raise TermError("shape", "the largest of no elements")
    x = stacked(v.dims, v.items) if isinstance(v, Items) else v
    at = x.item.argmax()
    return int(at.array) if isinstance(at, Vec) else at


def _hashed(ev: Evaluation, v: Value) -> Value:
    """A number in [0, 1) for an integer, the same in each run and on every machine."""
    integers.require_known(ev, v)
    if isinstance(v, Table):
        return lane_entry(Table(v.lanes, _hash(v.array)))
    return real(float(_hash(np.asarray([v]))[0]))


def _hash(k: Any) -> Any:
    """The notes' hash (§12), modulo 2⁶⁴: a linear step, three shifts, a product, three shifts."""
    v = k.astype(np.int64).view(np.uint64) * np.uint64(3935559000370003845) + np.uint64(2691343689449507681)
    v ^= v >> np.uint64(21)
    v ^= v << np.uint64(37)
    v ^= v >> np.uint64(4)
    v = v * np.uint64(4768777513237032717)
    v ^= v << np.uint64(20)
    v ^= v >> np.uint64(41)
    v ^= v << np.uint64(5)
    return v.astype(np.float64) * 5.42101086242752217e-20


_REALS, _MATRIX = vec(REAL), tensor(2, REAL)
_TO_REAL: Overloads = (((REAL,), REAL),)
_ARITHMETIC: Overloads = (((REAL, REAL), REAL), ((INT, INT), INT))
_ON_VECTORS: Overloads = (*_ARITHMETIC, ((_REALS, _REALS), _REALS))
_OF_A_VECTOR: Overloads = (((REAL, _REALS), _REALS), ((_MATRIX, _REALS), _REALS), ((vec(_REALS), _REALS), _REALS))
_COMPARISON: Overloads = (((REAL, REAL), BOOL), ((INT, INT), BOOL))
_LOGICAL: Overloads = (((BOOL, BOOL), BOOL),)


def _of_real(f: Any) -> Callable[[Use, Value], Value]:
    """A function of a real on values: at each real of a tensor."""
    return lambda _, v: mapped(f, v)


TABLE: dict[str, BuiltIn] = {
    "to_float": BuiltIn(of_value(_to_float), (((INT,), REAL),)),
    "bool_to_float": BuiltIn(of_value(_to_float), (((BOOL,), REAL),)),
    "not": BuiltIn(of_value(integers.negated), (((BOOL,), BOOL),)),
    "and": BuiltIn(of_values(integers.both), _LOGICAL),
    "or": BuiltIn(of_values(integers.either), _LOGICAL),
    "neg": BuiltIn(in_place(_negated), (((REAL,), REAL), ((INT,), INT)), partials=lambda *_: [number(-1.0)]),
    "add": BuiltIn(in_place(_binary("add")), _ON_VECTORS, partials=lambda *_: [None, None]),
    "sub": BuiltIn(
        in_place(_binary("sub")), (*_ON_VECTORS, ((_REALS, REAL), _REALS)), partials=lambda *_: [None, number(-1.0)]
    ),
    "mul": BuiltIn(in_place(_binary("mul")), (*_ON_VECTORS, *_OF_A_VECTOR), partials=lambda _, x, y: [y, x]),
    "div": BuiltIn(
        in_place(_binary("div")),
        _ARITHMETIC,
        partials=lambda call, x, y: [call("div", number(1.0), y), call("neg", call("div", x, call("mul", y, y)))],
    ),
    **{name: BuiltIn(of_value(_comparison(name)), _COMPARISON) for name in ("gt", "lt", "gte", "lte")},
    "log": BuiltIn(_of_real(log), _TO_REAL, partials=lambda call, x: [call("div", number(1.0), x)]),
    "exp": BuiltIn(_of_real(exp), (*_TO_REAL, ((_REALS,), _REALS)), partials=lambda call, x: [call("exp", x)]),
    "sin": BuiltIn(_of_real(sin), _TO_REAL, partials=lambda call, x: [call("cos", x)]),
    "cos": BuiltIn(_of_real(cos), _TO_REAL, partials=lambda call, x: [call("neg", call("sin", x))]),
    "tanh": BuiltIn(_of_real(tanh), _TO_REAL),
    "cosh": BuiltIn(_of_real(cosh), _TO_REAL),
    "sqrt": BuiltIn(_of_real(sqrt), _TO_REAL, partials=lambda call, x: [call("div", number(0.5), call("sqrt", x))]),
    "erf": BuiltIn(_of_real(erf), _TO_REAL),
    "abs": BuiltIn(_of_real(magnitude), _TO_REAL),
    "lgamma": BuiltIn(_of_real(lgamma), _TO_REAL),
    "digamma": BuiltIn(_of_real(digamma), _TO_REAL),
    "dot": BuiltIn(of_values(dot), (((_REALS, _REALS), REAL),)),
    "max": BuiltIn(of_value(_largest), (((REAL, REAL), REAL), ((_REALS,), REAL))),
    "imax": BuiltIn(of_value(_largest_at), (((_REALS,), INT),)),
    "pow": BuiltIn(in_place(_power), (((REAL, INT), REAL),)),
    "pi": BuiltIn(of_value(lambda _: real(math.pi)), (((), REAL),)),
    "$ranhashdoub": BuiltIn(in_place(_hashed), (((INT,), REAL),)),
}
"""The prelude: each function with its overloads."""

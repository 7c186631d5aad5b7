"""Stored values of a type: the type as which they are stored, a step on their leaves, and 0 among them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, assert_never

from adjoint.higher.value.pullback_values import Functional, Neutral, Stuck
from diff.lam.term.inductive import is_first_order, payload
from diff.lam.term.lam_values import Native, Tagged, Value, summands
from diff.lam.term.term_error import TermError
from diff.lam.term.types import Arrow, DataType, Ground, Int, Lin, TupleType, Ty, TypeVariable, dual, mentions
from hilbert import Vec
from hilbert.arrays.libraries.namespace import as_leaf, filled
from hilbert.base.once import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.lam.term.binding import Pass
    from hilbert.map.map import AnyMap


def is_discrete(op: AnyMap, name: str) -> bool:
    """Tell if all results of a primitive are discrete: these do not move. Raises TermError `type` where some are."""
    if op.cod.is_space:
        return False
    if any(space.is_space for space in summands(op.cod)):
        raise TermError("type", f"{name or op} has discrete and real results, and no derivative")
    return True


@once
def result_types(op: AnyMap) -> tuple[Ty, ...]:
    """The types of the leaves of a primitive's results."""
    return tuple(Ground(space) for space in summands(op.cod))


@once
def stored(ty: Ty) -> Ty:
    """The type as which values are stored: σ* as σ, but where functions are.

    Raises TermError `type` for covectors on variants that hold functions.
    """
    while isinstance(ty, Lin):
        dom = ty.dom
        match dom:
            case Ground() | Int():
                return dom
            case TupleType(parts):
                return TupleType(tuple(map(dual, parts)))
            case DataType():
                if not is_first_order(dom):
                    raise TermError("type", f"there are no covectors on {dom}: it holds functions")
                return dom
            case Lin(inner):
                ty = inner
            case Arrow() | TypeVariable():
                return ty
            case _:
                assert_never(dom)
    return ty


def leafwise(value: Value, ty: Ty, step: Callable[[Value, Ty], Value]) -> Value:
    """The value with `step(v, σ)` for its leaves, from left to right; what is discrete stays."""
    results: list[Value] = []
    todo: list[tuple[Value, Ty] | Callable[[list[Value]], None]] = [(value, ty)]
    while todo:  # values to visit, and below those of its parts what makes a value of the results for them
        entry = todo.pop()
        if not isinstance(entry, tuple):
            entry(results)
            continue
        one, kind = entry
        if isinstance(kind, Lin) and not isinstance(one, Neutral):
            kind = stored(kind)  # σ* stays for functions, and where a neutral term stands
        match kind:
            case Ground():
                results.append(step(one, kind) if kind.space.is_space else one)
            case DataType() if type(one) is Tagged:
                cells: list[tuple[str, list[Value]]] = []
                while type(one) is Tagged and (heads := _heads(kind).get(one.label)):
                    values = zip(one.payload, heads, strict=False)
                    cells.append((one.label, [step(v, of) if of.space.is_space else v for v, of in values]))
                    one = one.payload[-1]
                if cells:
                    todo += partial(_end_cells, cells), (one, kind)
                else:
                    todo += partial(_tag, one.label), (one.payload, payload(kind, one.label))
            case TupleType() if type(one) is tuple:
                todo.append(partial(_tuple, len(one)))
                todo += zip(reversed(one), reversed(kind.parts), strict=True)
            case Int():
                results.append(one)
            case TupleType() | DataType() | Arrow() | Lin() | TypeVariable():  # a function, or a neutral term
                results.append(step(one, kind))  # pyright: ignore[reportArgumentType]  # it forgets that kind is a Ty
            case _:
                assert_never(kind)
    return results[0]


def _tuple(count: int, results: list[Value]) -> None:
    """Replace the last results by their tuple."""
    start = len(results) - count
    results[start:] = [tuple(results[start:])]


def _tag(label: str, results: list[Value]) -> None:
    """Replace the last result by ℓ of it."""
    results[-1] = Tagged(label, results[-1])


def _end_cells(cells: list[tuple[str, list[Value]]], results: list[Value]) -> None:
    """Replace the last result by the cells of a list that ends in it."""
    for label, values in reversed(cells):
        results[-1] = Tagged(label, (*values, results[-1]))


@once
def _heads(data: DataType) -> dict[str, tuple[Ground, ...]]:
    """By constructor what a cell of a list holds beside the rest of it, where that is vectors alone."""
    cells: dict[str, Any] = {}
    for label, _ in data.declaration.cases:
        match payload(data, label):
            case TupleType((*heads, last)) if last == data and all(isinstance(part, Ground) for part in heads):
                cells[label] = tuple(heads)
            case _:  # it is no cell of a list
                pass
    return cells


def zero(ty: Ty) -> Value:
    """0 : σ; raises TermError `shape` at variants, where 0 has no one shape."""
    kind = stored(ty)
    match kind:
        case Ground(space) if space.is_space:
            return space.zeros()
        case TupleType(parts):
            return tuple(map(zero, parts))
        case Arrow(_, cod):

            def constant(_: Value) -> Pass:
                return zero(cod)
                yield

            return Native(constant)
        case Lin():
            return Functional()
        case Ground(space):  # what is discrete does not move: any element will do
            return Vec(space, tuple(as_leaf(filled(leaf.stored().shape, leaf.dtype), leaf) for leaf in space.leaves))
        case Int():
            return 0
        case DataType() | TypeVariable():
            raise TermError("shape", f"there is no 0 of {ty} before its tags and lengths are known")
        case _:
            assert_never(kind)


def zero_at(point: Value, ty: Ty) -> Value:
    """0 among the tangents at a point: its tags and lengths are those of the point.

    Raises Stuck where a neutral term stands for a variant.
    """

    def leaf(one: Value, kind: Ty) -> Value:
        if isinstance(kind, Arrow) and mentions(kind.cod, DataType):
            return one  # what is linear has one derivative everywhere
        if isinstance(kind, DataType):
            raise Stuck
        return zero(kind)

    return leafwise(point, ty, leaf)

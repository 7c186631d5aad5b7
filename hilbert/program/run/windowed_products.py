"""Products added up over overlapping windows, as products with windows: the adjoint of a convolution is run so.

Σ_q a_{x − d·q} ⋄ b_q, for x ∈ X, is made of a product for each pair (p, q), which is large, and a sum over windows. The
same is one contraction of the windows of a, zeros around it, with b backwards.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from hilbert.index.index import Fin
from hilbert.index.spec import Spec
from hilbert.program.line.builder import Builder
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Contract, Reduce
from hilbert.relation import Converse, Inclusion
from hilbert.relation.function_forms import Sliding, reversal, run, sliding

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.program.line.line import Step


@frozen
class _Axis:
    """An axis of the result: that of a label, or of windows at places `p` with offsets `q`, from `low` on."""

    label: str
    offset: str = ""
    dilation: int = 1
    low: int = 0
    index: Any = None
    places: Any = None
    offsets: Any = None


def correlated(
    last: Step[Any], alone: Callable[[int], Step[Any] | None], line: Line
) -> tuple[Line, tuple[int, ...]] | None:
    """A line that equals `last` and the steps before it, which nothing else reads, and its operands; None if not so."""
    chain, step = list[Reduce](), last
    while isinstance(step.operation, Reduce):
        chain.append(step.operation)
        before = alone(step.args[0])
        if before is None:
            return None
        step = before
    if type(step.operation) is not Contract or not any(type(f.relation) is Sliding for f in chain):
        return None
    axes = _axes(chain[::-1], step.operation.spec)
    made = None if axes is None else _line(line, step, axes)
    return None if made is None else (made, step.args)


def _axes(chain: list[Reduce], spec: Spec) -> list[_Axis] | None:
    """The axes of the result; None if the steps do something else than to add up windows, and to cut."""
    axes = [_Axis(c) for c in spec.out]
    for f in chain:
        match f.relation:
            case Sliding(pairs, X, 1, 0, dilation):
                place, offset = axes[f.at : f.at + 2]
                if place.offset or offset.offset:
                    return None
                axes[f.at : f.at + 2] = [_Axis(place.label, offset.label, dilation, 0, X, pairs.left, pairs.right)]
            case Converse(Inclusion(X, Y, low, 1)) if axes[f.at].offset and len(X.axes) == len(Y.axes) == 1:
                before = axes[f.at]
                axes[f.at] = evolve(before, low=before.low + low, index=X)
            case _:  # asks for windows and cuts: any other form, such as a sum or a stride, is something else
                return None
    return axes


def _line(line: Line, product: Step[Any], axes: list[_Axis]) -> Line | None:
    """The product with windows; None where places and offsets are not those of two operands, or it costs more."""
    spec = product.operation.spec
    windows = [axis for axis in axes if axis.offset]
    sides = [spec.left, spec.right]
    side = next((k for k in (0, 1) if all(a.label in sides[k] and a.offset in sides[1 - k] for a in windows)), None)
    if side is None or any(a.label in sides[1 - side] or a.offset in sides[side] for a in windows):
        return None
    if prod(axis.index.size / max(axis.places.size, 1) for axis in windows) > MORE:
        return None
    if not all(line.slots[k].is_field for k in product.args):
        return None  # elements choose windows: nothing is multiplied
    b = Builder([line.slots[k] for k in product.args])
    slots, labels = [0, 1], list(sides)
    for axis in windows:
        slots[side] = _reached(b, slots[side], labels[side].index(axis.label), axis)
        slots[1 - side] = b.apply(Reduce(reversal(axis.offsets), labels[1 - side].index(axis.offset)), slots[1 - side])
    for axis in windows:
        at = labels[side].index(axis.label)
        around = b.slots[slots[side]].axes[at]
        cut = sliding(around, axis.offsets.size, dilation=axis.dilation, to=axis.index * axis.offsets)
        slots[side] = b.apply(Reduce(cut.T, at), slots[side])
        labels[side] = labels[side].replace(axis.label, axis.label + axis.offset)
    names = "".join(axis.label for axis in axes)
    return b.line([b.contract(Spec.of(labels[0], labels[1], names), *slots)])


MORE = 1.3
"""The largest ratio of multiplications that is worth not storing the products."""


def _reached(b: Builder, slot: int, at: int, axis: _Axis) -> int:
    """The entries of an operand that the windows of an axis reach, zeros where they reach beyond it."""
    places, reach = axis.places.size, axis.dilation * (axis.offsets.size - 1)
    start, length = axis.low - reach, axis.index.size + reach
    first = max(start, 0)
    part = Fin.of(max(min(start + length, places) - first, 0))
    if part.size != places:
        slot = b.apply(Reduce(run(part, axis.places, first).T, at), slot)
    if part.size != length:
        slot = b.apply(Reduce(run(b.slots[slot].axes[at], Fin.of(length), first - start), at), slot)
    return slot

"""The partial derivatives of primitives among the steps of a series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from diff.derive.primitive_partials import partials_on
from hilbert.program.line.operation import Add, Literal, Scale

if TYPE_CHECKING:
    from hilbert.program.line.builder import Builder
    from hilbert.program.line.line import Step


@final
@frozen
class PartialDerivative:
    """A partial derivative: factor · slot; `square` is c where the slot is c·u + const for the argument u itself."""

    factor: float
    slot: int
    whole: int
    square: float | None


def partials_of(src: Builder, slot: int, step: Step[Any]) -> list[float | PartialDerivative]:
    """The partial derivatives of the primitive of a step, each a number or a slot, which is put among the steps."""
    line, numbers = partials_on(src.slots[slot], step.operation)
    where = src.inline(line, (*step.args, slot))
    slots = iter(line.outputs)
    return [_factor(src, where[next(slots)], u) if k is None else k for u, k in zip(step.args, numbers, strict=True)]


def _factor(src: Builder, whole: int, u: int) -> PartialDerivative:
    """A slot without the numbers in front of it, and whether it is c·u + const."""
    factor, slot = _unscaled(src, whole)
    c, inner = factor, slot
    while inner != u and isinstance(src.operation(inner), Add):
        args = src.steps[inner - src.arity].args
        rest = [a for a in args if not isinstance(src.operation(a), Literal)]
        if len(rest) != 1:
            break
        k, inner = _unscaled(src, rest[0])
        c *= k
    return PartialDerivative(factor, slot, whole, c if inner == u else None)


def _unscaled(src: Builder, slot: int) -> tuple[float, int]:
    """k and x of a slot k·x."""
    k = 1.0
    while isinstance(operation := src.operation(slot), Scale):
        k, slot = k * operation.k, src.steps[slot - src.arity].args[0]
    return k, slot

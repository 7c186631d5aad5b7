"""Steps of a tape that are better done together: differences, sums with padded arrays, sparse products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert.arrays.segments import makes_rows
from hilbert.arrays.tape import Instruction
from hilbert.relation import Converse, Graph, Inclusion
from linmap.net import wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.space import Leaf


Found = tuple[Instruction, tuple[int, ...]]
"""A step that does more at once, and the slots that it makes superfluous."""


def fused(code: Sequence[Instruction], slots: Sequence[Leaf], outputs: Sequence[int]) -> list[Instruction]:
    """The same results with fewer steps; an array that only the steps replaced have read is not made."""
    maker = {step.to: step for step in code}
    uses: dict[int, int] = {}
    for slot in [*outputs, *(slot for step in code for slot in step.args)]:
        uses[slot] = uses.get(slot, 0) + 1
    gone = set[int]()
    made: list[Instruction] = []
    for step in code:
        found: Found | None = None
        match step.operation:
            case wire.Add():
                found = _difference(step, maker, uses) or _added_into(step, maker, uses)
            case wire.Reduce(Graph() as targets, 0):
                found = _weighted(step, targets, maker, uses, slots)
            case _:
                pass
        made.append(found[0] if found else step)
        gone.update(found[1] if found else ())
    return [step for step in made if step.to not in gone]


def _difference(step: Instruction, maker: dict[int, Instruction], uses: dict[int, int]) -> Found | None:
    """a + (−1)·b as a − b."""
    for a, b in (step.args, step.args[::-1]):
        negated = maker.get(b)
        if negated and negated.operation == wire.Scale(-1.0) and uses[b] == 1:
            return Instruction(wire.Subtract(), (a, negated.args[0]), step.to), (b,)
    return None


def _added_into(step: Instruction, maker: dict[int, Instruction], uses: dict[int, int]) -> Found | None:
    """The sum with an array that lies between zeros touches what it covers only."""
    for a, b in (step.args, step.args[::-1]):
        padded = maker.get(b)
        match padded.operation if padded and uses[b] == 1 else None:
            case wire.Reduce(Inclusion(dom, cod), _) as inclusion if padded and dom.size < cod.size:
                return Instruction(wire.AddInto(inclusion), (a, padded.args[0]), step.to), (b,)
            case _:
                pass
    return None


def _weighted(
    last: Instruction,
    targets: Graph[Any, Any],
    maker: dict[int, Instruction],
    uses: dict[int, int],
    slots: Sequence[Leaf],
) -> Found | None:
    """A segment sum of weighted entries of a gather as the product with a sparse matrix, where that is quicker."""
    sums: Any = last.operation
    (middle,) = last.args
    product = maker.get(middle)
    if uses[middle] != 1 or product is None or not isinstance(product.operation, wire.Contract):
        return None
    spec = product.operation.spec
    for side in (0, 1):
        w, v = product.args if side == 0 else product.args[::-1]
        weights, rows = (spec.left, spec.right) if side == 0 else (spec.right, spec.left)
        first = maker.get(v)
        if first is None or uses[v] != 1 or not isinstance(first.operation, wire.Reduce):
            continue
        match first.operation:
            case wire.Reduce(Converse(Graph() as sources), 0) as gather:
                pass
            case _:
                continue
        zipped = spec.out == rows and weights == rows[: len(weights)] and len(weights) == len(sources.dom.axes)
        if zipped and slots[w].is_field and sources.dom == targets.dom and makes_rows(sources, targets):
            operation = wire.Weighted(gather, product.operation, side, sums)
            return Instruction(operation, (w, first.args[0]), last.to), (middle, v)
    return None

"""Steps of a tape that are better done together: a gather, a product by weights and a segment sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert.arrays.segments import makes_rows
from hilbert.arrays.tape import Instruction
from hilbert.relation import Converse, Graph
from linmap import wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.space import Leaf


def fused(code: list[Instruction], slots: Sequence[Leaf], outputs: Sequence[int]) -> list[Instruction]:
    """The same results with fewer steps; what nobody else reads is not computed."""
    if not any(isinstance(step.operation, wire.Reduce) and _is_graph(step.operation.relation) for step in code):
        return code
    maker = {step.to: step for step in code}
    uses: dict[int, int] = {}
    for slot in [*outputs, *(slot for step in code for slot in step.args)]:
        uses[slot] = uses.get(slot, 0) + 1
    gone = set[int]()
    made: dict[int, Instruction] = {}
    for step in code:
        found = _weighted(step, maker, uses, slots)
        if found:
            made[step.to], between = found
            gone.update(between)
    return [made.get(step.to, step) for step in code if step.to not in gone] if made else code


def _is_graph(relation: Any) -> bool:
    return isinstance(relation, Graph)


def _weighted(
    last: Instruction, maker: dict[int, Instruction], uses: dict[int, int], slots: Sequence[Leaf]
) -> tuple[Instruction, tuple[int, int]] | None:
    """The sparse product that ends in a step, and the two slots that it makes superfluous."""
    match last.operation:
        case wire.Reduce(Graph() as targets, 0) as sums:
            (middle,) = last.args
        case _:
            return None
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

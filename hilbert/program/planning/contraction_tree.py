"""Trees of contractions in a line: what their steps multiply and sum, whatever the order in which they do.

A tree is made of contractions of real arrays, transpositions, scalings and full sums and repetitions, linked by slots
that one step alone reads. It means k · Σ Π factors: each factor a slot with a label for each of its axes. Constants
that are filled with one number belong to k; what is made of constants when the line is bound is a factor.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from hilbert.arrays.libraries.contraction_order import Labels
from hilbert.program.line.operation import Contract, Literal, Move, Reduce, Scale
from hilbert.program.planning.multiplications import products, sums
from hilbert.program.run.constant_folding import constants
from hilbert.relation import Full

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hilbert.index.index import Index
    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line, Step


@final
@frozen
class ContractionTree:
    """k · Σ Π factors, over the labels that `keep` does not have; as written, the steps into `inner` slots, last first.

    `axes` are those of the labels. `products`, `work` and `largest` are what the steps as written come to:
    multiplications, the entries summed by reductions with them, and the entries of the largest array.
    """

    inner: tuple[int, ...]
    factors: tuple[int, ...]
    labels: tuple[Labels, ...]
    keep: Labels
    axes: tuple[Index, ...]
    k: float
    products: int
    work: int
    largest: int


LINKS = frozenset({Contract, Move, Reduce, Scale})


def trees(line: Line) -> Iterator[list[int]]:
    """The slots of maximal trees that have something to reorder, last trees first; a tree begins at its root."""
    arity, slots, steps = line.arity, line.slots, line.steps
    kinds = [type(step.operation) for step in steps]
    if Contract not in kinds or (Literal not in kinds and sum(map(LINKS.__contains__, kinds)) < 2):
        return  # no tree has two factors or more to put in order, or a number
    reads, made = line.reads, constants(line)
    linked = bytearray(len(slots))
    for slot, step in enumerate(steps, arity):
        if type(step.operation) in LINKS and not (made and made[slot]):
            linked[slot] = _links(step, slots)
    for root in range(len(slots) - 1, arity - 1, -1):
        if not linked[root]:
            continue
        inner = [root]
        contracts = filled = False
        for slot in inner:  # grows while it is read
            step = steps[slot - arity]
            contracts |= type(step.operation) is Contract
            for a in step.args:
                if linked[a] and reads[a] == 1:
                    linked[a] = 0  # no root
                    inner.append(a)
                elif made and made[a]:
                    filled |= _number(line, a) is not None
        if contracts and (len(inner) > 1 or filled):
            yield inner


def shape(line: Line, inner: list[int]) -> tuple[Any, ...]:
    """What a tree looks like: trees that look alike are reordered alike."""
    arity, slots, within = line.arity, line.slots, set(inner)
    steps = [line.steps[slot - arity] for slot in inner]
    return tuple([(step.operation, *((slots[a], a in within, _number(line, a)) for a in step.args)) for step in steps])


def _number(line: Line, slot: int) -> float | None:
    """The number that a slot is filled with, if it is a constant made of one."""
    operation = line.steps[slot - line.arity].operation if slot >= line.arity else None
    return operation.value.number if isinstance(operation, Literal) else None


def _links(step: Step[Any], slots: tuple[Leaf, ...]) -> bool:
    """Whether a step that multiplies, moves or reduces may be a part of a tree: of real arrays, by whole axes."""
    if type(step.operation) is Reduce and type(step.operation.relation) is not Full:
        return False
    operands = [slots[a] for a in step.args]
    return all(leaf.is_field for leaf in operands) and any(leaf.axes for leaf in operands)


def meaning(line: Line, inner: list[int]) -> ContractionTree | None:
    """What a tree means; None if it has no factors but numbers, or if these have no finite product.

    From the root down, the labels of a step's operands come from those of its result.
    """
    arity, slots = line.arity, line.slots
    axes: list[Index] = list(slots[inner[0]].axes)
    keep = tuple(range(len(axes)))
    factors: list[int] = []
    labels: list[Labels] = []
    k = 1.0

    def fresh(new: tuple[Index, ...]) -> Labels:
        axes.extend(new)
        return tuple(range(len(axes) - len(new), len(axes)))

    within = set(inner)
    todo = [(inner[0], keep)]
    while todo:
        slot, out = todo.pop()
        if slot not in within:
            number = _number(line, slot)
            if number is None:
                factors.append(slot)
                labels.append(out)
            else:
                k *= number
            continue
        step = line.steps[slot - arity]
        below: list[Labels]
        match step.operation:
            case Contract(spec):
                name = dict(zip(spec.out, out, strict=True))
                left = dict(zip(spec.left, slots[step.args[0]].axes, strict=True))
                summed = spec.contracted
                name |= dict(zip(summed, fresh(tuple(left[c] for c in summed)), strict=True))
                below = [tuple(name[c] for c in spec.left), tuple(name[c] for c in spec.right)]
            case Scale(factor):
                k *= factor
                below = [out]
            case Move(order):
                place = dict(zip(order, out, strict=True))
                below = [tuple(place[i] for i in range(len(out)))]
            case Reduce(relation, at):
                end = at + len(relation.cod.axes)
                below = [out[:at] + fresh(relation.dom.axes) + out[end:]]
            case other:  # `_links` lets no other step in
                raise TypeError(other)
        todo += reversed(list(zip(step.args, below, strict=True)))
    if not factors or not math.isfinite(k):
        return None
    made = [line.steps[slot - arity] for slot in inner]
    count = sum(products(step, slots) for step in made)
    return ContractionTree(
        tuple(inner),
        tuple(factors),
        tuple(labels),
        keep,
        tuple(axes),
        k,
        count,
        count + sum(sums(step, slots) for step in made),
        max(slots[a].size for slot in inner for a in (slot, *line.steps[slot - arity].args)),
    )

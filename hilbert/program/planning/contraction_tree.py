"""Trees of contractions in a line: the sums of products that they mean, whatever the order of their steps.

A tree is made of contractions of real arrays, transpositions, scalings and full sums and repetitions, linked by slots
that one step alone reads. It means k · Σ Π factors: each factor a slot with a label for each of its axes. Constants
that are filled with one number belong to k; a slot that is constant once the line is bound is a factor.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, final, get_args

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

    `axes` are those of the labels. `products`, `work` and `largest` are costs of the steps as written:
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


Link: TypeAlias = Contract | Move | Reduce | Scale
LINKS = frozenset(get_args(Link))
"""The operations of the steps of a tree."""


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
    """The form of a tree as a key: trees with equal keys are reordered alike."""
    arity, slots, within = line.arity, line.slots, set(inner)
    steps = [line.steps[slot - arity] for slot in inner]
    return tuple([(step.operation, *((slots[a], a in within, _number(line, a)) for a in step.args)) for step in steps])


def _number(line: Line, slot: int) -> float | None:
    """The number that a slot is filled with, if it is a constant made of one."""
    operation = line.steps[slot - line.arity].operation if slot >= line.arity else None
    return operation.value.number if isinstance(operation, Literal) else None


def _links(step: Step[Any], slots: tuple[Leaf, ...]) -> bool:
    """True if a step that multiplies, moves or reduces may be a part of a tree: of real arrays, by whole axes."""
    if type(step.operation) is Reduce and type(step.operation.relation) is not Full:
        return False
    operands = [slots[a] for a in step.args]
    return all(leaf.is_field for leaf in operands) and any(leaf.axes for leaf in operands)


@final
class _Reading:
    """A tree read from the root down: the labels of a step's operands come from those of its result."""

    def __init__(self, line: Line, inner: list[int]) -> None:
        self.line = line
        self.axes: list[Index] = []
        self.factors: list[tuple[int, Labels]] = []
        self.k = 1.0
        self.keep = self._fresh(line.slots[inner[0]].axes)
        within, waiting = frozenset(inner), [(inner[0], self.keep)]
        while waiting:
            slot, labels = waiting.pop()
            if slot in within:
                step = line.steps[slot - line.arity]
                waiting += reversed(list(zip(step.args, self._operands(step, labels), strict=True)))
            elif (number := _number(line, slot)) is None:
                self.factors.append((slot, labels))
            else:
                self.k *= number

    def _fresh(self, axes: tuple[Index, ...]) -> Labels:
        """New labels for some axes."""
        first = len(self.axes)
        self.axes.extend(axes)
        return tuple(range(first, len(self.axes)))

    def _operands(self, step: Step[Link], out: Labels) -> list[Labels]:
        """The labels of the operands of a step, from those of its result; a scaling's number is multiplied into k."""
        operation = step.operation
        match operation:
            case Contract(spec):
                axis = dict(zip(spec.left, self.line.slots[step.args[0]].axes, strict=True))
                label = dict(zip(spec.out, out, strict=True))
                summed = self._fresh(tuple(axis[c] for c in spec.contracted))
                label |= dict(zip(spec.contracted, summed, strict=True))
                return [tuple(label[c] for c in operand) for operand in (spec.left, spec.right)]
            case Scale(k):
                self.k *= k
                return [out]
            case Move(order):
                label_of = dict(zip(order, out, strict=True))
                return [tuple(label_of[axis] for axis in range(len(out)))]
            case Reduce(relation, at):
                return [out[:at] + self._fresh(relation.dom.axes) + out[at + len(relation.cod.axes) :]]
            case _:
                assert_never(operation)


def meaning(line: Line, inner: list[int]) -> ContractionTree | None:
    """The product that a tree means; None if it has no factors but numbers, or if these have no finite product."""
    read, slots = _Reading(line, inner), line.slots
    if not read.factors or not math.isfinite(read.k):
        return None
    steps = [line.steps[slot - line.arity] for slot in inner]
    multiplied = sum(products(step, slots) for step in steps)
    summed = sum(sums(step, slots) for step in steps)
    return ContractionTree(
        inner=tuple(inner),
        factors=tuple(slot for slot, _ in read.factors),
        labels=tuple(labels for _, labels in read.factors),
        keep=read.keep,
        axes=tuple(read.axes),
        k=read.k,
        products=multiplied,
        work=multiplied + summed,
        largest=max(slots[k].size for slot, step in zip(inner, steps, strict=True) for k in (slot, *step.args)),
    )

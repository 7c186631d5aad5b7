"""Networks of contractions in a line: what one tree of steps multiplies and sums, whatever the order in which it does.

A tree is made of contractions of real arrays, transpositions, scalings and full sums and repetitions, linked by slots
that one step alone reads. It means k · Σ Π factors: each factor a slot with a label for each of its axes. Constants
that are filled with one number belong to k.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from hilbert.program.count import products, sums
from hilbert.program.operation import Contract, Literal, Move, Reduce, Scale
from hilbert.program.search import Labels
from hilbert.relation import Full

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hilbert.index import Index
    from hilbert.leaf import Leaf
    from hilbert.program.line import Line, Step


@final
@frozen
class Network:
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


def networks(line: Line) -> Iterator[Network]:
    """The maximal trees, last first."""
    arity, slots, reads = line.arity, line.slots, line.reads
    linked = [_links(step, slots) for step in line.steps]
    taken = bytearray(len(slots))
    for k in range(len(line.steps) - 1, -1, -1):
        root = arity + k
        if not linked[k] or taken[root]:
            continue
        inner = [root]
        for slot in inner:  # grows while it is read
            for a in line.steps[slot - arity].args:
                if a >= arity and linked[a - arity] and reads[a] == 1:
                    taken[a] = 1
                    inner.append(a)
        if any(isinstance(line.steps[slot - arity].operation, Contract) for slot in inner):
            found = _network(line, inner)
            if found.factors and (len(inner) > 1 or len(found.factors) < 2):
                yield found


def _number(line: Line, slot: int) -> float | None:
    """The finite number that a slot is filled with, if it is a constant made of one."""
    operation = line.steps[slot - line.arity].operation if slot >= line.arity else None
    k = operation.value.number if isinstance(operation, Literal) else None
    return k if k is not None and math.isfinite(k) else None


def _links(step: Step[Any], slots: tuple[Leaf, ...]) -> bool:
    """Whether a step may be a part of a tree."""
    match step.operation:
        case Contract():
            return all(slots[a].is_field for a in step.args)
        case Scale():
            return True
        case Move() | Reduce(Full()):
            return slots[step.args[0]].is_field
        case _:  # sums, primitives, casts, other reductions, constants: a factor
            return False


def _network(line: Line, inner: list[int]) -> Network:
    """From the root down: the labels of a step's operands from those of its result."""
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
    made = [line.steps[slot - arity] for slot in inner]
    count = sum(products(step, slots) for step in made)
    return Network(
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

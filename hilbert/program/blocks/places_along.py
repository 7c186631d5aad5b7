"""Places along X: the greatest and least entries of an array along X, and entries that are looked up at given places.

The place of the greatest entry is a total together with the entry: of two blocks, the greater one, or the first of two
that are the same, is that of both. A place of another pass lies in one block; the others have nothing there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.line.builder import Builder
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Along, Contract

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from hilbert.program.blocks.fact import Monoid
    from hilbert.program.blocks.open_constants import Family

    Array: TypeAlias = npt.NDArray[Any]

EXTREMES: dict[str, Monoid] = {"argmax": "argmax", "argmin": "argmin"}
"""The functions that find a place along X, and how their places are put together."""


def at_place(leaf: Leaf, along: Along) -> Spec:
    """The labels of the entry that is found along X, of an array and its place."""
    labels, n, at = ALPHABET[: len(leaf.axes)], len(along.index.axes), along.at
    rest = labels[:at] + labels[at + n :]
    return Spec.of(labels, rest + labels[at : at + n], rest)


def with_extremes(line: Line, along: Family) -> Line:
    """The line with a step for each entry whose place along X is found, behind that of the place; none is left out."""
    b = Builder(line.slots[: line.arity], fixed=line.fixed)
    where = list(range(line.arity))
    for step in line.steps:
        args, b.place = tuple([where[a] for a in step.args]), step.place
        where.append(b.step(step.operation, args))
        match step.operation:
            case Along(name, of) as found if name in EXTREMES and any(axis in along for axis in of.axes):
                b.contract(at_place(b.slots[args[0]], found), args[0], where[-1])
            case _:  # it finds no place along X
                pass
    return Line(tuple(b.slots), tuple(b.steps), tuple([where[k] for k in line.outputs]), line.fixed)


def is_extreme(line: Line, place: int, of: int, spec: Spec) -> bool:
    """Tell if a contraction gives the entries of a slot whose places another one holds."""
    if place < line.arity:
        return False
    step = line.steps[place - line.arity]
    return step.args == (of,) and spec in {at := at_place(line.slots[of], step.operation), at.mirrored}


def looked_up(line: Line, along: Family, known: int) -> tuple[Line, tuple[int, ...]]:
    """The line whose first inputs, if they are places along X, are looked up within a block; and which are, in order.

    Each step that looks up has two more inputs, behind those that are known: where the place is in the block, and a
    truth value that tells if it lies there.
    """
    found: dict[int, int] = {}  # the place of each step
    for slot, step in enumerate(line.steps, line.arity):
        if isinstance(step.operation, Contract):
            for a in step.args:
                if a < known and is_place(line.slots[a], along):
                    found[slot] = a
    if not found:
        return line, ()
    inside = [leaf for k in found.values() for leaf in (line.slots[k], Leaf(Entry("bool"), line.slots[k].axes))]
    b = Builder([*line.slots[:known], *inside, *line.slots[known : line.arity]], fixed=line.fixed)
    where = [*range(known), *range(known + len(inside), b.arity)]
    pairs = {slot: (known + 2 * j, known + 2 * j + 1) for j, slot in enumerate(found)}
    for slot, step in enumerate(line.steps, line.arity):
        b.place = step.place
        args = [where[a] for a in step.args]
        if slot in found:
            spec, place = step.operation.spec, found[slot]
            left, right = (spec.left, spec.right) if step.args[0] == place else (spec.right, spec.left)
            other = args[1 - step.args.index(place)]
            where.append(_looked_up(b, (left, right, spec.out), pairs[slot], other, line.slots[place]))
        else:
            where.append(b.step(step.operation, tuple(args)))
    return b.line([where[k] for k in line.outputs]), tuple(found.values())


def _looked_up(b: Builder, labels: tuple[str, str, str], pair: tuple[int, int], other: int, place: Leaf) -> int:
    """The contraction of an array with elements, nothing where they are not in the block."""
    (elements, inside), (left, right, out), n = pair, labels, len(place.axes)
    axes = left[:n]
    more = "".join(c for c in axes if c not in right)
    if left[n] in right:
        more = "".join(c for c in axes if c not in out)
        found = b.contract(Spec.of(left, right, out + more), elements, other)
        return b.contract(Spec.of(axes, out + more, out), inside, found)
    kept = b.contract(Spec.of(axes, right, right + more), inside, other)
    return b.contract(Spec.of(left, right + more, out), elements, kept)


def is_place(leaf: Leaf, along: Family) -> bool:
    """Tell if entries are elements of X, or of a product with X in front."""
    return leaf.entry.index is not None and bool(leaf.entry.index.axes) and leaf.entry.index.axes[0] in along


def within(place: Array, span: tuple[int, int], each: int) -> list[Array]:
    """The elements as those of some rows, and if they are; `each` are the elements of a row."""
    low, high = span[0] * each, span[1] * each
    return [np.clip(place - low, 0, max(high - low - 1, 0)), (place >= low) & (place < high)]


def greater(name: str, a: Sequence[Array], b: Sequence[Array]) -> list[Array]:
    """The places and the entries that are greatest, or least, of two blocks: the first ones; NaN is the greatest."""
    first, second = np.asarray(a[1]), np.asarray(b[1])
    wins = (second > first if name == "argmax" else second < first) | (np.isnan(second) & ~np.isnan(first))
    return [np.where(wins, y, x) for x, y in zip(a, b, strict=True)]

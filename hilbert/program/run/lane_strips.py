"""Stretches of steps that act lane by lane along one long last axis, run in strips: what is made stays in the cache.

Arrays of many points are read from memory and written back by every step; a strip of some thousand points goes through
all steps of a stretch while it is in the cache. Values are the same but for the order of sums within products.

>>> from hilbert.index.leaf import Entry
>>> x = Leaf(Entry("float64"), (Fin.of(3), Fin.of(100000)))
>>> b = Builder([x])
>>> y = 0
>>> for k in range(9):
...     y = b.add(y, b.contract(Spec("ij", "ij", "ij"), y, 0))
>>> line = in_strips_of_lanes(b.line([y]))
>>> [(type(step.operation).__name__, len(step.operation.line.steps)) for step in line.steps]
[('Lanes', 18)]
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import field, frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.index import Fin, Unit
from hilbert.index.leaf import Bundle, Leaf
from hilbert.index.spec import Spec  # noqa: F401 - the example's
from hilbert.program.calls.schedule import CACHE, most_held
from hilbert.program.layout.store import ChooseInside
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Unpack
from hilbert.program.line.constant import filled
from hilbert.program.line.line import Line, Step
from hilbert.program.line.operation import Along, Contract, Literal, Move, Reduce
from hilbert.program.line.step_operation import Operation
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.constant_folding import folded
from hilbert.program.run.fuse import fused
from hilbert.relation import Full

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.index.index import Index

LONG = 1 << 13
"""Lanes from which strips are worth it."""
MANY = 8
"""Steps of a stretch from which strips are worth it."""
MADE = 2
"""A stretch makes so many times the entries that it reads: fewer could as well be made when they are read."""
TRIED = 3
"""The axes with the most entries are tried, so many."""
NARROW, WIDE = 1 << 9, 1 << 13
"""The least and the most lanes of a strip."""


@final
@frozen(repr=False, slots=False)
class Lanes(Operation):
    """A line whose steps act lane by lane along the last axis X of their results; operands without X are whole."""

    line: Line
    axis: Index = field(eq=False)

    def image(self, *operands: Leaf) -> Leaf | Bundle:
        """The leaf of the one output, or the bundle of several."""
        made = tuple(self.line.slots[k] for k in self.line.outputs)
        return made[0] if len(made) == 1 else Bundle(made)

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """A kernel that runs strip after strip; of a library that lays arrays out itself, the whole line."""
        if not lib.is_host:
            bound = BoundLine(fused(folded(self.line)), lib, [])
            return Kernel(lambda *arrays: _one_or_all(bound(arrays)), fresh=False)
        strips = _Strips(self)
        return Kernel(strips, fresh=False, onto=strips.onto)


@final
class _Strips:
    """The kernel in numpy; a line is bound for each width of strips: all but the last have the same."""

    __slots__ = ("_bound", "_made", "_of", "_sliced", "_width")

    def __init__(self, of: Lanes) -> None:
        self._of, line = of, of.line
        self._sliced = [_has(leaf, of.axis) for leaf in line.slots[: line.arity]]
        self._made = [line.slots[k] for k in line.outputs]
        self._width = width(line, of.axis)
        self._bound: dict[int, BoundLine] = {}

    def __call__(self, *arrays: Any) -> Any:
        """The results, written strip by strip."""
        return self._written([np.empty(leaf.shape, leaf.dtype) for leaf in self._made], arrays)

    def onto(self, places: tuple[int, ...]) -> Callable[..., Any]:
        """The function of the operands, and of arrays that the results of these numbers are written into."""

        def call(*arrays: Any) -> Any:
            given = dict(zip(places, arrays[-len(places) :], strict=True))
            results = [
                given[k] if k in given else np.empty(leaf.shape, leaf.dtype) for k, leaf in enumerate(self._made)
            ]
            return self._written(results, arrays[: -len(places)])

        return call

    def _written(self, results: list[Any], arrays: Sequence[Any]) -> Any:
        n = self._of.axis.size
        for start in range(0, n, self._width):
            strip = (..., slice(start, min(start + self._width, n)))
            given = [a[strip] if sliced else a for a, sliced in zip(arrays, self._sliced, strict=True)]
            size = min(self._width, n - start)
            bound = self._bound.get(size) or self._bind(size)
            out = [result[strip] for result in results]
            for target, made in zip(out, bound(given, out), strict=True):
                if made is not target:
                    target[...] = made
        return _one_or_all(results)

    def _bind(self, size: int) -> BoundLine:
        line = fused(folded(narrowed(self._of.line, self._of.axis, Fin.of(size))))
        bound = self._bound[size] = BoundLine(line, NUMPY, [], range(len(line.outputs)))
        return bound


def _one_or_all(made: list[Any]) -> Any:
    return made[0] if len(made) == 1 else Arrays(made)


def _has(leaf: Leaf, axis: Index) -> bool:
    """Tell if an array has the lanes, as its last axis."""
    return not isinstance(leaf, Bundle) and leaf.axes[-1:] == (axis,)


def width(line: Line, axis: Index) -> int:
    """The lanes of a strip: a power of two, so that the arrays that are held at once stay in the cache."""
    found = CACHE * axis.size // max(held(line, axis), 1)
    return int(min(max(1 << max(found.bit_length() - 1, 0), NARROW), WIDE))


def held(line: Line, axis: Index) -> int:
    """The most bytes of arrays with the lanes that a line holds at once."""

    def weigh(slot: int) -> int:
        return 8 * line.slots[slot].size * _has(line.slots[slot], axis)

    steps = [(step.args, to) for to, step in enumerate(line.steps, line.arity)]
    return most_held(range(line.arity), steps, line.outputs, weigh)


def narrowed(line: Line, axis: Index, to: Index) -> Line:
    """The line of so many lanes."""

    def leaf(of: Leaf) -> Leaf:
        return Leaf(of.entry, (*of.axes[:-1], *to.axes)) if _has(of, axis) else of

    steps = list[Step[Any]]()
    for slot, step in enumerate(line.steps, line.arity):
        operation = step.operation
        match operation:
            case Literal(value) if value.number is not None:
                operation = Literal(filled(value.number, leaf(line.slots[slot])))
            case Reduce(Full(dom, cod), at) if cod == axis and not dom.axes:
                operation = Reduce(Full(Unit(), to), at)
            case _:  # the operation acts on any number of lanes
                pass
        steps.append(Step(operation, step.args, step.place))
    return Line(tuple(map(leaf, line.slots)), tuple(steps), line.outputs, line.fixed)


# --- the stretches of a line ---


def in_strips_of_lanes(line: Line) -> Line:
    """The line in which stretches that act lane by lane along a long axis are single steps, where that is worth it."""
    total = Counter[Any]()
    for leaf in line.slots:
        if not isinstance(leaf, Bundle) and leaf.axes and leaf.shape[-1] >= LONG:
            total[leaf.axes[-1]] += leaf.size
    for axis, _ in total.most_common(TRIED):  # the first along which it is worth it
        made = _collected(line, axis)
        if made is not line:
            return made
    return line


def _collected(line: Line, axis: Index) -> Line:
    stages: dict[int, list[int]] = {}
    for slot, n in enumerate(_levels(line, axis)[line.arity :], line.arity):
        stages.setdefault(n, []).append(slot)
    found = {n: _stretch(line, slots) for n, slots in stages.items() if n % 2 and _is_worth(line, axis, slots)}
    worth = {n: stretch for n, stretch in found.items() if held(stretch.line, axis) > CACHE}
    if not worth:
        return line
    b = Builder(line.slots[: line.arity], fixed=line.fixed)
    where = dict(enumerate(range(line.arity)))
    for n, slots in sorted(stages.items()):
        if n in worth:
            _put(b, line, axis, worth[n], where)
        else:
            for k in slots:
                step = line.steps[k - line.arity]
                b.place = step.place
                where[k] = b.emit(step.operation, tuple(where[a] for a in step.args), line.slots[k])
    return b.line(where[k] for k in line.outputs).pruned()


def _levels(line: Line, axis: Index) -> list[int]:
    """For each slot the stage in which it is made: odd stages act lane by lane, and stages come one after the other."""
    level = [0] * line.arity
    for slot, step in enumerate(line.steps, line.arity):
        acts = int(acts_by_lane(line, slot, axis))
        found = max([level[a] + (level[a] % 2 != acts) for a in step.args], default=acts)
        level.append(found if found % 2 == acts else found + 1)
    return level


def _is_worth(line: Line, axis: Index, slots: list[int]) -> bool:
    """Tell if a stretch has many steps, and makes twice what it reads: all of that is made before the stretch."""
    made = [k for k in slots if not _is_constant(line, k)]
    inside = {*slots}
    given = {a for k in made for a in line.steps[k - line.arity].args if a not in inside and _has(line.slots[a], axis)}
    return len(made) >= MANY and sum(line.slots[k].size for k in made) >= MADE * sum(line.slots[a].size for a in given)


def _is_constant(line: Line, slot: int) -> bool:
    return isinstance(line.steps[slot - line.arity].operation, Literal)


@frozen
class _Stretch:
    """A line of some steps of another, and the slots there of its inputs and of its outputs."""

    line: Line
    given: list[int]
    ends: list[int]


def _stretch(line: Line, slots: list[int]) -> _Stretch:
    """The stretch that makes some slots."""
    inside = {*slots}
    outputs = {*line.outputs}
    read = {a for k, step in enumerate(line.steps, line.arity) if k not in inside for a in step.args}
    given = sorted({a for k in slots for a in line.steps[k - line.arity].args} - inside)
    ends = [k for k in slots if k in read or k in outputs]
    stretch = Builder([line.slots[k] for k in given], fixed=line.fixed)
    here = {k: place for place, k in enumerate(given)}
    for k in slots:
        step = line.steps[k - line.arity]
        stretch.place = step.place
        here[k] = stretch.emit(step.operation, tuple(here[a] for a in step.args), line.slots[k])
    return _Stretch(stretch.line(here[k] for k in ends), given, ends)


def _put(b: Builder, line: Line, axis: Index, stretch: _Stretch, where: dict[int, int]) -> None:
    """Add a stretch as one step, and a step for each of several results."""
    lanes, ends = Lanes(stretch.line, axis), stretch.ends
    made = b.emit(lanes, tuple(where[k] for k in stretch.given), lanes.image())
    for place, k in enumerate(ends):
        where[k] = made if len(ends) == 1 else b.emit(Unpack(place), (made,), line.slots[k])


def acts_by_lane(line: Line, slot: int, axis: Index) -> bool:
    """Tell if each entry of a step's result along the last axis is made of the operands' entries there."""
    step, leaf = line.steps[slot - line.arity], line.slots[slot]
    leaves = [line.slots[k] for k in step.args]
    if not _has(leaf, axis) or not _once([leaf, *leaves], axis):
        return False
    counts = [len(one.axes) - _has(one, axis) for one in leaves]
    match step.operation:
        case Literal(value):
            return value.number is not None
        case Contract(spec):
            x = spec.out[-1]
            kept = all(have.endswith(x) or x not in have for have in (spec.left, spec.right))
            return kept and all(one.entry.index is None for one in leaves)
        case Reduce(Full(dom, cod), at) if cod == axis and not dom.axes:
            return at == counts[0] and not _has(leaves[0], axis)
        case Reduce(relation, at):
            return _has(leaves[0], axis) and at + len(relation.dom.axes) <= counts[0]
        case Move(order):
            return order[-1] == len(order) - 1
        case Along(_, index, at):
            return at + len(index.axes) <= counts[0]
        case ChooseInside():
            return True
        case operation:  # any other acts entry by entry, or sees whole arrays
            same = all(one.axes in ((), leaf.axes) for one in leaves)
            return same and operation.by_entry(NUMPY, leaves) is not None


def _once(leaves: Iterable[Leaf], axis: Index) -> bool:
    """Tell if arrays have the lanes as their last axis only."""
    return all(not isinstance(leaf, Bundle) and axis not in leaf.axes[:-1] for leaf in leaves)

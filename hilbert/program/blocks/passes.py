"""The passes of a line over the blocks of X, and what is computed between them.

A pass computes totals, and lanes that are results; it reads inputs, shared slots, and the totals of the passes before.
Lanes are computed again in each pass that reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import evolve, frozen

from hilbert.base.once import OfFields, Remembering, once
from hilbert.errors import SpaceError
from hilbert.index.index import Fin
from hilbert.index.leaf import Bundle
from hilbert.program.blocks.block_line import Block, block_line, resized
from hilbert.program.blocks.fact import Lane, Shared, Steer, Total
from hilbert.program.blocks.facts import facts
from hilbert.program.blocks.halos import BlockRows, family, has_halo, reached
from hilbert.program.blocks.open_constants import opened
from hilbert.program.blocks.places_along import looked_up, with_extremes
from hilbert.program.control.branch import Cond
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack
from hilbert.program.line.choice import AnyLane
from hilbert.program.line.line import Line, Step
from hilbert.program.planning.multiplications import multiplications

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    import numpy.typing as npt

    from hilbert.index.index import Index
    from hilbert.index.leaf import Leaf
    from hilbert.program.blocks.fact import Fact, Monoid
    from hilbert.program.blocks.halos import Span
    from hilbert.program.blocks.open_constants import Family

FEW = 50
"""Shared values are computed in each block of machine code, if a block is so many times their work."""


@final
@frozen
class Rows:
    """The rows of a block: of each of its lanes, of the arrays in which places are looked up, and its own.

    Blocks with equal keys run one line.
    """

    key: Hashable
    lanes: Sequence[Span]
    places: Sequence[Span]
    own: BlockRows

    def later(self, own: BlockRows) -> Rows:
        """The rows of a later block that reads the same ones beside its own."""
        by = own.start - self.own.start
        lanes, places = ([(a + by, b + by) for a, b in of] for of in (self.lanes, self.places))
        return Rows(self.key, lanes, places, own)


@final
@frozen(eq=False)
class Pass(OfFields, Remembering):
    """A run over all blocks: its line, the slots that are its inputs, and those of the whole that it makes.

    `line` is that of all of X; its inputs are the slots `known`, then two for each of the `places` along X among these
    (see `looked_up`), then lanes, which are inputs of the whole.
    """

    along: Family
    line: Line
    known: Sequence[int]
    lanes: Sequence[int]
    at: Sequence[int]
    totals: Sequence[int]
    monoids: Sequence[Monoid]
    results: Sequence[int]
    places: Sequence[int]
    has_halo: bool

    def rows(self, start: int, end: int) -> Rows:
        """The rows of the block of some elements."""
        own = BlockRows(self.along, start, end)
        if not self.has_halo:
            every = [(start, end)]
            return Rows(end - start, every * len(self.lanes), every * len(self.places), own)
        alike: dict[Any, Rows] = self.memo() if own.is_inside(*_reached(self)) else {}
        known = alike.get(end - start)
        if known is not None:
            return known.later(own)
        spans = own.spans(self.line)
        read, count = [span for (span,) in spans[: self.line.arity] if span is not None], len(self.places)
        rows = Rows(own.key(self.line, spans), read[count:], read[:count], own)
        alike.setdefault(end - start, rows)  # another thread may have been quicker, with another block
        return rows

    @property
    def halo(self) -> tuple[int, int]:
        """The most rows that a block reads in front of its own, and behind them."""
        middle = self.along[0].size // 2
        read = [(a, b) for a, b in self.rows(middle, middle + 1).lanes if a < b]
        return max([0, *(middle - a for a, _ in read)]), max([0, *(b - middle - 1 for _, b in read)])

    def block(self, rows: Rows) -> Line:
        """The line of a block."""
        start, end = rows.own.start, rows.own.end
        if self.has_halo:
            return block_line(self.line, rows.own, rows.own.spans(self.line))
        if end - start == self.along[0].size:
            return self.line
        count = len(self.known)
        sets = {self.along[0]: Fin(Block, end - start)}
        return resized(self.line, sets, range(count, count + 2 * len(self.places), 2))


@once
def _reached(part: Pass) -> tuple[int, Sequence[Span]]:
    """The rows that a block reads beside its own, and the rows of slices of few."""
    return reached(part.line, part.along)


@final
@frozen(eq=False)
class Between:
    """The steps from known slots that run before a pass, or at the end."""

    line: Line
    known: Sequence[int]
    made: Sequence[int]


@final
@frozen(eq=False)
class Passes:
    """A line in passes over X: `stages` are run in order; `constants` are the arrays of the last inputs."""

    along: Family
    line: Line
    facts: Sequence[Fact]
    constants: Sequence[npt.NDArray[Any]]
    stages: Sequence[Pass | Between]

    @property
    def index(self) -> Index:
        """X, the first of its family."""
        return self.along[0]

    @property
    def passes(self) -> list[Pass]:
        """The passes over the blocks."""
        return [stage for stage in self.stages if isinstance(stage, Pass)]


def in_passes(line: Line, index: Index, *, far: bool = False) -> Passes:
    """The passes of a line over X; raises SpaceError where the line has none, or nothing along X.

    A set of one element, or none, has one block, in which every line runs. With `far` blocks go on with what is linear
    in their totals: machine code then knows which entries nobody reads.
    """
    if len(index.axes) != 1:
        msg = f"blocks run along one axis, and {index} has {len(index.axes)}: give one of them"
        raise SpaceError(msg)
    along = family(line, index)
    try:
        return _proved(line, along, far=far)
    except SpaceError:
        if index.size > 1 or not any(index in leaf.axes for leaf in line.slots[: line.arity]):
            raise
        return _at_once(line, index)


def _proved(line: Line, along: Family, *, far: bool) -> Passes:
    """The passes that the facts of the slots give."""
    index = along[0]
    line, constants = opened(line, along)
    line = with_own_questions(with_extremes(line, along))
    found = facts(line, along, far=far)
    if not any(isinstance(one, Lane) for one in found):
        msg = f"no blocks along {index}: no array of the function has this axis"
        raise SpaceError(msg)
    return Passes(along, line, found, constants, _stages(line, along, found))


def with_own_questions(line: Line) -> Line:
    """The line in which branches ask for themselves whether some lane takes them, and are not run in a block with none.

    The other readers of such an answer may need that of all blocks.
    """
    steps = dict(enumerate(line.steps, line.arity))
    of_branches = {a for step in line.steps if isinstance(step.operation, Cond) for a in step.args}
    asking = {k: steps[k].args[0] for k in of_branches if k in steps and isinstance(steps[k].operation, Pack)}
    own = {k for k, q in asking.items() if q in steps and isinstance(steps[q].operation, AnyLane)}
    slots, made, where = [*line.slots[: line.arity]], list[Step[Any]](), [*range(line.arity)]

    def put(step: Step[Any], args: Iterable[int], leaf: Leaf) -> int:
        made.append(Step(step.operation, tuple(args), step.place))
        slots.append(leaf)
        return len(slots) - 1

    for k, step in steps.items():
        args = [where[a] for a in step.args]
        if k in own:
            asked = steps[asking[k]]
            args[0] = put(asked, [where[a] for a in asked.args], line.slots[asking[k]])
        where.append(put(step, args, line.slots[k]))
    return Line(tuple(slots), tuple(made), tuple([where[k] for k in line.outputs]), line.fixed)


def _at_once(line: Line, index: Index) -> Passes:
    """The one pass over a set of at most one element, whose block is the whole line: its totals are of all elements."""
    leaves = enumerate(line.slots)
    at = {k: of.axes.index(index) for k, of in leaves if not isinstance(of, Bundle) and index in of.axes}
    found = [Lane(at[k]) if k in at else Shared() for k in range(len(line.slots))]
    ends = [k for k in dict.fromkeys(line.outputs) if k >= line.arity]
    totals, results = ([k for k in ends if (k in at) == is_lane] for is_lane in (False, True))
    known, lanes = ([k for k in range(line.arity) if (k in at) == is_lane] for is_lane in (False, True))
    inner = sorted(k for k in _needed(line, ends, set()) if k >= line.arity)
    part = _part(line, [*known, *lanes], inner, [*totals, *results])
    monoids: list[Monoid] = ["alone"] * len(totals)
    one = Pass((index,), part, known, lanes, [at[k] for k in lanes], totals, monoids, results, [], has_halo=False)
    return Passes((index,), line, found, [], [one])


def _stages(line: Line, along: Family, found: Sequence[Fact]) -> list[Pass | Between]:
    """The passes, from the first level to the last, with what is computed between them."""
    entries = _entries(line, found)
    needed = _needed(line, line.outputs, set())
    read = {*line.outputs}  # by more than a total of the same pass
    for k in needed:
        if k >= line.arity:
            one = found[k]
            read.update(a for a in line.steps[k - line.arity].args if not _is_same_pass(found[a], one))
    levels: dict[int, list[int]] = {}
    for k in sorted(needed & read):
        one = found[k]
        if isinstance(one, Total) or (isinstance(one, Lane) and k in line.outputs and k >= line.arity):
            levels.setdefault(one.level, []).extend(entries.get(k, (k,)))
    known, stages = set(range(line.arity)), list[Pass | Between]()
    for level in sorted(levels):
        made = list(dict.fromkeys(levels[level]))
        whole = [k for k in made if isinstance(found[k], Lane)]
        totals = [k for k in made if isinstance(found[k], Total)]
        inner = _within(line, found, [*totals, *whole], level)
        outside = {a for k in inner for a in line.steps[k - line.arity].args if a not in inner}
        lanes = sorted(k for k in outside if isinstance(found[k], Lane))
        shared = sorted(outside - {*lanes})
        stages += _between(line, known, [k for k in shared if k not in known])
        known |= {*shared, *made}
        monoids = [one.monoid for k in totals if isinstance(one := found[k], Total)]
        at = [one.at for k in lanes if isinstance(one := found[k], Lane)]
        part = _part(line, [*shared, *lanes], sorted(inner), [*totals, *whole])
        part, places = looked_up(part, along, len(shared))
        reads = has_halo(part, along)
        stages.append(Pass(along, part, shared, lanes, at, totals, monoids, whole, places, reads))
    return stages + _between(line, known, [k for k in line.outputs if k not in known])


def _is_same_pass(fact: Fact, by: Fact) -> bool:
    """Tell if the reader of a slot is a total of the same pass as the slot."""
    return isinstance(by, Total) and not (isinstance(fact, Total) and fact.level < by.level)


def _entries(line: Line, found: Sequence[Fact]) -> dict[int, tuple[int, int]]:
    """The pair of a place along X and the entry there, for each of both."""
    pairs = dict[int, tuple[int, int]]()
    for k, one in enumerate(found):
        if isinstance(one, Total) and one.monoid == "picked":
            args = line.steps[k - line.arity].args
            place = next(a for a in args if isinstance(found[a], Total))
            pairs[k] = pairs[place] = place, k
    return pairs


def _within(line: Line, found: Sequence[Fact], ends: Iterable[int], level: int) -> set[int]:
    """The steps of a pass: those of its ends, and of lanes and of what steers them, back to inputs and shared slots."""
    inner, waiting = set[int](), list(ends)
    while waiting:
        k = waiting.pop()
        if k not in inner and k >= line.arity:
            inner.add(k)
            args = line.steps[k - line.arity].args
            waiting += [a for a in args if isinstance(line.slots[a], Bundle) or _is_inside(found[a], level)]
    return inner


def _is_inside(fact: Fact, level: int) -> bool:
    """Tell if a slot is computed in each block; a total that is read at its own level is."""
    if isinstance(fact, tuple):
        return any(not isinstance(one, Shared) for one in fact)
    return isinstance(fact, Lane | Steer) or (isinstance(fact, Total) and fact.level == level)


def _needed(line: Line, ends: Iterable[int], known: set[int]) -> set[int]:
    """Some slots, and all slots from which they are computed, back to the known ones."""
    needed, waiting = set[int](), list(ends)
    while waiting:
        k = waiting.pop()
        if k not in needed:
            needed.add(k)
            if k >= line.arity and k not in known:
                waiting += line.steps[k - line.arity].args
    return needed


def _between(line: Line, known: set[int], wanted: Sequence[int]) -> list[Pass | Between]:
    """The line from known slots to others, unless none is wanted."""
    if not wanted:
        return []
    needed = _needed(line, wanted, known)
    given = sorted(needed & known)
    return [Between(_part(line, given, sorted(needed - known), wanted), given, list(dict.fromkeys(wanted)))]


def _part(line: Line, given: Sequence[int], steps: Sequence[int], ends: Sequence[int]) -> Line:
    """The line of some steps, on slots that are given."""
    number = {k: at for at, k in enumerate([*given, *steps])}
    made = [line.steps[k - line.arity] for k in steps]
    inner = [Step(step.operation, tuple([number[a] for a in step.args]), step.place) for step in made]
    leaves = tuple([line.slots[k] for k in number])
    return Line(leaves, tuple(inner), tuple([number[k] for k in dict.fromkeys(ends)]), line.fixed)


def joined(found: Passes, size: int) -> Passes:
    """The passes, in which each block computes the shared slots by itself where these are little work.

    Machine code of a block then knows how shared arrays are made: which entries of a matrix are 0.
    """
    stages: list[Pass | Between] = []
    for before, part in zip([None, *found.stages], found.stages, strict=False):
        if isinstance(before, Between) and isinstance(part, Pass):
            n = found.index.size
            if not part.places and FEW * _work(before.line) * n <= _work(part.line) * min(size, n):
                stages.append(_joined(found.line, before, part))
                continue
        stages.append(part)
    return evolve(found, stages=stages)


def _joined(line: Line, before: Between, part: Pass) -> Pass:
    """The pass whose blocks compute, too, the slots that were made between this pass and the one before."""
    known = list(dict.fromkeys([*before.known, *(k for k in part.known if k not in before.made)]))
    given = [*known, *part.lanes]
    b = Builder([line.slots[k] for k in given], fixed=line.fixed)
    where = {k: at for at, k in enumerate(given)}
    made = b.inline(before.line, [where[k] for k in before.known])
    where |= zip(before.made, (made[k] for k in before.line.outputs), strict=True)
    ends = b.inline(part.line, [where[k] for k in (*part.known, *part.lanes)])
    return evolve(part, line=b.line(ends[k] for k in part.line.outputs), known=known)


def _work(line: Line) -> int:
    """The multiplications of a line, and the entries that it makes."""
    return multiplications(line) + sum(leaf.size for leaf in line.slots[line.arity :])

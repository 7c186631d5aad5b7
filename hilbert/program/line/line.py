"""A straight line: slots 0, 1, … hold the inputs, then the result of each step; one array each.

>>> from hilbert.index.leaf import Entry
>>> x = Leaf(Entry("float64"))
>>> line = Line((x, x, x), (Step(Scale(2.0), (0,)), Step(Scale(3.0), (0,))), (1,))
>>> line.arity, line.reads, len(line.pruned().steps)
(1, [2, 1, 0], 1)
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from attrs import field, frozen

from hilbert.base.once import OfFields, cached_property, first
from hilbert.errors import SpaceError
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.operation import Scale  # noqa: F401 - the example's
from hilbert.program.line.source_line import Place, told
from hilbert.program.line.step_operation import Operation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

O_co = TypeVar("O_co", bound=Operation, covariant=True)


@final
@frozen
class Step(Generic[O_co]):
    """slot = operation(slots `args`). The place where the step was written is no part of its value."""

    operation: O_co
    args: tuple[int, ...]
    place: Place | None = field(default=None, eq=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Step, (self.operation, self.args, *([told(self.place)] if self.place else []))


@final
@frozen(slots=False, repr=False, eq=False)
class Line(OfFields):
    """Inputs, steps and outputs. The first slots are the inputs; slot `arity + k` is the result of step k.

    In a `fixed` line contractions keep the order in which they are written: see
    `hilbert.program.planning.contraction_plan`.
    """

    slots: tuple[Leaf, ...]
    steps: tuple[Step[Any], ...]
    outputs: tuple[int, ...]
    fixed: bool = False

    def __attrs_post_init__(self) -> None:
        count = len(self.slots)
        arity = count - len(self.steps)
        if arity < 0:
            msg = f"a line of {len(self.steps)} steps has a slot for each, not {count}"
            raise SpaceError(msg)
        for k, step in enumerate(self.steps, arity):
            for a in step.args:
                if not 0 <= a < k:
                    msg = f"the step into slot {k} of {self.slots[k]} reads the slots {step.args}: give earlier ones"
                    raise SpaceError(msg)
        for k in self.outputs:
            if not 0 <= k < count:
                msg = f"a line of {count} slots has no slot {k} to end in"
                raise SpaceError(msg)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Line) or self._hash != other._hash:
            return False
        if self._class[0] is other._class[0]:
            return True
        is_same = self._value == other._value
        if is_same:
            other._class[0] = self._class[0]
        return is_same

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self._value)

    @property
    def _value(self) -> tuple[Any, ...]:
        return self.slots, self.steps, self.outputs, self.fixed

    @cached_property
    def _class(self) -> list[object]:
        """A list that lines found to be equal share, because constants that name one program compare lines often."""
        return [object()]

    @property
    def arity(self) -> int:
        """The number of inputs."""
        return len(self.slots) - len(self.steps)

    @cached_property
    def reads(self) -> list[int]:
        """The number of times that each slot is read, by steps and as an output."""
        count = [0] * len(self.slots)
        for k in self.outputs:
            count[k] += 1
        for step in self.steps:
            for a in step.args:
                count[a] += 1
        return count

    @cached_property
    def live(self) -> dict[frozenset[int], list[set[int]]]:
        """Answers of `live_parts`, kept because every line around a line asks the lines within it."""
        return {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Line, (self.slots, self.steps, self.outputs, self.fixed)

    def ending(self, outputs: Iterable[int]) -> Line:
        """The line with other outputs, without steps that these do not need."""
        outputs = tuple(outputs)
        return pruned(self.slots, self.steps, outputs, self if outputs == self.outputs else None, fixed=self.fixed)

    def pruned(self) -> Line:
        """The line without steps that nothing needs."""
        return self.ending(self.outputs)

    def __repr__(self) -> str:
        fixed = ", fixed=True" if self.fixed else ""
        return f"Line(slots={self.slots!r}, steps={self.steps!r}, outputs={self.outputs!r}{fixed})"


def pruned(
    slots: Iterable[Leaf],
    steps: Iterable[Step[Any]],
    outputs: tuple[int, ...],
    line: Line | None = None,
    *,
    fixed: bool = False,
) -> Line:
    """A line without steps that its outputs do not need: dead code, found in one pass from the end.

    With nothing to leave out the result is `line`, if one is given.
    """
    slots, steps = tuple(slots), tuple(steps)
    if Bundle in set(map(type, slots)):
        return _narrowed(Line(slots, steps, outputs, fixed))
    arity = len(slots) - len(steps)
    if set(outputs).union(*[step.args for step in steps]).issuperset(range(arity, len(slots))):
        return line or Line(slots, steps, outputs, fixed)  # nobody reads the last step that is dead
    live = bytearray(len(slots))
    for k in outputs:
        live[k] = 1
    for k in range(len(steps) - 1, -1, -1):
        if live[arity + k]:
            for a in steps[k].args:
                live[a] = 1
    where = list(range(arity)) + [0] * len(steps)
    kept: list[Step[Any]] = []
    leaves = list(slots[:arity])
    for k, step in enumerate(steps, arity):
        if live[k]:
            where[k] = len(leaves)
            kept.append(Step(step.operation, tuple([where[a] for a in step.args]), step.place))
            leaves.append(slots[k])
    return Line(tuple(leaves), tuple(kept), tuple(where[k] for k in outputs), fixed)


# --- bundles: a part of their arrays is live ---


def live_parts(line: Line, outputs: Iterable[int]) -> Sequence[AbstractSet[int]]:
    """The arrays of each slot that some outputs need; the one array of a slot that is no bundle is 0."""
    wanted = frozenset(outputs)
    found = line.live.get(wanted)
    if found is None:
        live = Liveness(line)
        live.need(wanted)
        found = first(line.live, wanted, live.parts)
    return found


class Liveness:
    """The liveness of slots: which arrays of each are needed by the outputs that were asked for so far."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.parts = [set[int]() for _ in line.slots]

    def need(self, outputs: Iterable[int]) -> set[int]:
        """Ask for more outputs; gives the inputs that are needed since. Slots needed before are not visited again."""
        line, live, found = self.line, self.parts, set[int]()
        slots, arity = line.slots, line.arity
        ahead: list[int] = []  # a heap: the last slot first, so that all that reads a slot comes before it

        def add(slot: int, parts: set[int]) -> None:
            if not parts <= live[slot]:
                live[slot] |= parts
                if slot < arity:
                    found.add(slot)
                else:
                    heapq.heappush(ahead, -slot)

        for k in outputs:
            add(k, _parts(slots[k]))
        while ahead:
            k = -heapq.heappop(ahead)
            while ahead and ahead[0] == -k:
                heapq.heappop(ahead)
            step = line.steps[k - arity]
            match step.operation:
                case Pack():
                    for j in live[k]:
                        add(step.args[j], _parts(slots[step.args[j]]))
                case Unpack(j):
                    add(step.args[0], {j})
                case other if _is_of_bundles(line, k):
                    live[k], given = other.needed(live[k])
                    add(step.args[0], given)
                case _:  # an array of arrays, or several at once
                    live[k] = _parts(slots[k])
                    for a in step.args:
                        add(a, _parts(slots[a]))
        return found


def _is_of_bundles(line: Line, slot: int) -> bool:
    """Tell if a step maps a bundle to a bundle: then a narrower step gives fewer results, of fewer operands."""
    args = line.steps[slot - line.arity].args
    return isinstance(line.slots[slot], Bundle) and any(isinstance(line.slots[a], Bundle) for a in args)


def _parts(leaf: Leaf) -> set[int]:
    return set(range(len(leaf.leaves))) if isinstance(leaf, Bundle) else {0}


def _is_whole(live: AbstractSet[int], leaf: Leaf, step: Step[Any]) -> bool:
    """Tell if a step makes only arrays that are needed; of a constant bundle some arrays are enough."""
    return bool(live) and (not step.args or live == _parts(leaf))


def _narrowed(line: Line) -> Line:
    """The line without steps, and arrays of bundles, that its outputs do not need."""
    slots, steps, arity = line.slots, line.steps, line.arity
    live = live_parts(line, line.outputs)
    if all(map(_is_whole, live[arity:], slots[arity:], steps)):
        return line
    where = list(range(arity)) + [0] * len(steps)
    have = [sorted(_parts(leaf)) for leaf in slots]  # the arrays of each slot, by their old places
    leaves, kept = list(slots[:arity]), list[Step[Any]]()

    def put(operation: Operation, *args: int, place: Place | None = None) -> int:
        kept.append(Step(operation, args, place))
        leaves.append(operation.image(*(leaves[a] for a in args)))
        return len(leaves) - 1

    def taken(slot: int, j: int) -> int:
        """The slot of one array of a bundle."""
        step = steps[slot - arity] if slot >= arity else None
        if step is not None and isinstance(step.operation, Pack):
            return where[step.args[j]]
        return put(Unpack(have[slot].index(j)), where[slot])

    for k, step in enumerate(steps, arity):
        if not live[k]:
            continue
        match step.operation:
            case Pack():
                have[k] = sorted(live[k])
                where[k] = put(step.operation, *(where[step.args[j]] for j in have[k]))
            case Unpack(j):
                where[k] = taken(step.args[0], j)
            case other if _is_of_bundles(line, k):
                need, given = other.needed(live[k])
                have[k] = sorted(need)
                (a,) = step.args
                whole = bool(given) and sorted(given) == have[a]  # a bundle of nothing is packed where it is asked for
                bundle = where[a] if whole else put(Pack(), *(taken(a, j) for j in sorted(given)))
                where[k] = put(other.narrowed(need, given), bundle, place=step.place)
            case _:  # an array of arrays, or several at once
                where[k] = len(leaves)
                kept.append(Step(step.operation, tuple([where[a] for a in step.args]), step.place))
                leaves.append(slots[k])
    made = Line(tuple(leaves), tuple(kept), tuple(where[k] for k in line.outputs), line.fixed)
    return line if made.slots == slots and made.steps == steps else _narrowed(made)


def restricted(line: Line, inputs: Iterable[int]) -> Line:
    """The line of some of its inputs only, where its steps read no others."""
    kept = list(inputs)
    number = {k: place for place, k in enumerate(kept)}
    number |= {k: len(kept) + k - line.arity for k in range(line.arity, len(line.slots))}
    steps = tuple(Step(step.operation, tuple([number[a] for a in step.args]), step.place) for step in line.steps)
    slots = (*(line.slots[k] for k in kept), *line.slots[line.arity :])
    return Line(slots, steps, tuple(number[k] for k in line.outputs), line.fixed)

"""Alike steps of a line: the rounds of a Python loop leave them, `f(x[i])` for each i; they differ in entries only.

Two steps are alike if they have one operation, were written at one place, and have operands that are alike. Entries of
one vector are alike, and so are constants of one shape. So steps that are alike do not depend on one another, and may
be computed side by side: they are *lanes* of one step (`hilbert.program.transform.lanes_of_steps`).

Sums of many terms are one step here, since the terms, and not the partial sums, are alike. A chain of sums of which the
partial sums are read, too, is the cumulative sum of its terms.
"""

from __future__ import annotations

from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias, assert_never, final

from hilbert.index.index import Unit
from hilbert.index.leaf import Bundle
from hilbert.program.line.bundle import Unpack
from hilbert.program.line.choice import AnyLane, Fill
from hilbert.program.line.operation import Add, Literal, Reduce, Scale
from hilbert.relation import Converse, Inclusion

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line, Step
    from hilbert.program.line.step_operation import Operation

FEWEST: Final = 16
"""The fewest alike steps that are put side by side; fewer stay as they are written."""
MOST: Final = 2**20
"""The most entries that stand side by side: larger arrays gain nothing, and would take memory at once."""
Groups: TypeAlias = "dict[int, list[int]]"
"""The terms of a sum by their class."""


class Kind(Enum):
    """The kinds of classes of steps."""

    ALONE = "an input, or a step that is like no other"
    LITERAL = "a number, in every entry"
    PICK = "one entry along some axes, as x[i]"
    PLACE = "one entry along some axes, which is a term of a long sum"
    STEP = "any other operation"
    SUM = "a sum of many terms"
    CHAIN = "a partial sum of alike terms that is read itself"


@final
class Alike:
    """A class of steps that are alike: its members' slots, in order, and the classes of their operands.

    `columns` has, for each operand or group of terms of a sum, the slots that the members read there.
    """

    __slots__ = ("args", "columns", "first", "is_liftable", "kind", "leaf", "members")

    def __init__(self, kind: Kind, leaf: Leaf, args: tuple[int, ...] = ()) -> None:
        """Made by `Classes`."""
        self.kind, self.leaf, self.args = kind, leaf, args
        self.members: list[int] = []
        self.columns: list[Sequence[int]] = []
        self.first = -1  # of a chain: the slot of the sum that it goes on from
        self.is_liftable = False


@final
class Classes:
    """The classes of the slots of a line, those of operands before those of the steps that read them."""

    def __init__(self, line: Line) -> None:
        """Find the classes, in passes that are linear in the line."""
        self.line, self.arity = line, line.arity
        self.all: list[Alike] = []
        self.of = [-1] * len(line.slots)  # the class of each slot; none within a long sum
        self.groups: dict[int, Groups] = {}  # of each long sum
        self.terms: dict[int, int] = {}  # of each step of a chain: the slot that it adds
        self.places = [0] * len(line.slots)  # of the entry that a step reads or puts
        self._known: dict[Hashable, int] = {}
        self._numbers: dict[int, int] = {}  # of operations, by their ids
        self._find()

    def step(self, slot: int) -> Step[Any]:
        """The step into a slot."""
        return self.line.steps[slot - self.arity]

    def at(self, slot: int) -> Alike:
        """The class of a slot."""
        return self.all[self.of[slot]]

    # --- finding them ---

    def _find(self) -> None:
        line, of, every = self.line, self.of, self.all
        sums = _Sums(line)
        for slot in range(self.arity):
            of[slot] = self._alone(slot)
        for slot, step in enumerate(line.steps, self.arity):
            if slot in sums.long:
                if self._summed(slot, sums.terms(slot)):
                    continue
                for inner in sums.inner(slot):  # few of the terms are alike
                    of[inner] = self._plain(inner, self.step(inner))
            elif sums.is_within[slot]:  # the sum as a whole has a class
                continue
            found = self._placed(slot, step) if slot in sums.placed else -1
            if slot in sums.chained:
                found = self._chained(slot, sums.chained[slot])
            of[slot] = self._plain(slot, step) if found < 0 else found
        for slot, k in enumerate(of):
            if k >= 0:
                every[k].members.append(slot)
        for cls in every:
            cls.columns = self._columns(cls)
            cls.is_liftable = self._liftable(cls)

    def _class(self, key: Hashable, slot: int, kind: Kind, args: tuple[int, ...] = ()) -> int:
        found = self._known.setdefault(key, len(self.all))
        if found == len(self.all):
            self.all.append(Alike(kind, self.line.slots[slot], args))
        return found

    def _alone(self, slot: int) -> int:
        return self._class(("alone", slot), slot, Kind.ALONE)

    def _plain(self, slot: int, step: Step[Any]) -> int:
        """The class of a step by its operation and operands."""
        operation, of = step.operation, self.of
        args = tuple([of[k] for k in step.args])
        what = self._numbers.get(id(operation))
        if what is None:
            if (entry := _entry(operation, back=True)) is not None:
                self.places[slot] = entry
                return self._class(
                    ("pick", operation.at, len(operation.relation.dom.axes), args), slot, Kind.PICK, args
                )
            if type(operation) is Literal and operation.value.number is not None:
                return self._class(("literal", self.line.slots[slot]), slot, Kind.LITERAL)
            what = self._numbered(operation)
        if what == ALONE or type(self.line.slots[slot]) is Bundle:
            return self._alone(slot)
        if what == NEGATION:  # its place is never told
            return self._class((what, args), slot, Kind.STEP, args)
        place = step.place
        where = (id(place[0]), *place[1:]) if isinstance(place, tuple) else place  # code is not compared
        return self._class((what, where, args), slot, Kind.STEP, args)

    def _numbered(self, operation: Operation) -> int:
        """The number of an operation, the same for alike ones; kept by object, so that none is compared twice."""
        match operation:
            case Scale(-1.0):
                found = NEGATION
            case Scale(k):
                found = ZERO if k == 0.0 else FACTOR  # 0 is no number among others: 0·∞ is 0
            case Literal() | Unpack() | AnyLane() | Fill():
                found = ALONE
            case _ if not operation.is_pure:
                found = ALONE
            case _:  # each is of its own kind
                found = self._known.setdefault(operation, -len(self._known) - OWN)
        self._numbers[id(operation)] = found
        return found

    def _placed(self, slot: int, step: Step[Any]) -> int:
        """The class of a step that puts an entry, wherever it puts it; −1 of another step."""
        place = _entry(step.operation, back=False)
        if place is None:
            return -1
        self.places[slot], args = place, (self.of[step.args[0]],)
        return self._class(("place", step.operation.at, args, self.line.slots[slot]), slot, Kind.PLACE, args)

    def _summed(self, slot: int, terms: list[int]) -> bool:
        """Give a long sum its class if many of its terms are alike."""
        groups: Groups = {}
        for k in terms:
            groups.setdefault(self.of[k], []).append(k)
        if max(map(len, groups.values())) < FEWEST:
            return False
        self.groups[slot] = groups
        key = "sum", tuple((k, len(group)) for k, group in groups.items())
        self.of[slot] = self._class(key, slot, Kind.SUM, tuple(groups))
        return True

    def _chained(self, slot: int, pair: tuple[int, int]) -> int:
        """The class of the chain that a sum continues, if its term is alike to that of the sum before it."""
        before, self.terms[slot] = pair
        term = self.of[self.terms[slot]]
        if before not in self.terms or term != self.of[self.terms[before]]:
            return -1
        if self.at(before).kind is Kind.CHAIN:
            return self.of[before]
        found = self._class(("chain", slot), slot, Kind.CHAIN, (term,))
        self.all[found].first = before
        return found

    # --- classes that can be put side by side ---

    def _columns(self, cls: Alike) -> list[Sequence[int]]:
        match cls.kind:
            case Kind.ALONE | Kind.LITERAL:
                return []
            case Kind.CHAIN:
                return [[self.terms[k] for k in cls.members]]
            case Kind.SUM:
                return [list(chain.from_iterable([self.groups[k][a] for k in cls.members])) for a in cls.args]
            case Kind.PICK | Kind.PLACE | Kind.STEP:
                return list(zip(*[self.step(k).args for k in cls.members], strict=True))
            case _:
                assert_never(cls.kind)

    def _liftable(self, cls: Alike) -> bool:
        """Tell if the members can be one step: each operand is shared by all, or a class that can be one step."""
        match cls.kind:
            case Kind.LITERAL:
                return True
            case Kind.ALONE | Kind.PLACE:
                return False
            case Kind.PICK:
                return not varies(cls.columns[0]) or self.all[cls.args[0]].is_liftable
            case Kind.STEP | Kind.SUM | Kind.CHAIN:
                count = len(cls.members)
                if count < 2 or count * cls.leaf.size > MOST:
                    return False
                return all(not varies(some) or self.gathers(some) for some in cls.columns)
            case _:
                assert_never(cls.kind)

    def gathers(self, slots: Sequence[int]) -> bool:
        """Tell if slots of one class can be put side by side; of steps that put an entry somewhere, the entries."""
        cls = self.at(slots[0])
        if cls.kind is Kind.PLACE:
            cls = self.all[cls.args[0]]
        return cls.is_liftable and len(slots) * cls.leaf.size <= MOST


ALONE, NEGATION, FACTOR, ZERO, OWN = -1, -2, -3, -4, 5
"""Numbers of operations, and the first of those that have their own."""


def varies(some: Sequence[float]) -> bool:
    """Tell if operands are not all one slot, or factors not all one number."""
    return len(set(some)) > 1


@final
class _Sums:
    """The sums of a line: trees of additions whose partial sums nobody else reads, and chains of such that are read."""

    def __init__(self, line: Line) -> None:
        self.line, self.arity = line, line.arity
        n = len(line.slots)
        is_sum = [False] * n
        inner, size = [False] * n, [1] * n  # True for a partial sum of a tree; the number of its terms
        reads = line.reads
        after: dict[int, int] = {}  # the sum that goes on from a sum that is read elsewhere, too
        self.chained: dict[int, tuple[int, int]] = {}  # for each sum the sum that it continues, and its term
        length: dict[int, int] = {}
        for slot, step in enumerate(line.steps, self.arity):
            if type(step.operation) is not Add:
                continue
            is_sum[slot] = True
            for k in step.args:
                inner[k] = is_sum[k] and reads[k] == 1
            a, b = step.args
            size[slot] = (size[a] if inner[a] else 1) + (size[b] if inner[b] else 1)
            before, term = (b, a) if is_sum[b] and not inner[b] and (inner[a] or not is_sum[a]) else (a, b)
            length[slot] = 1
            if is_sum[before] and not inner[before] and before not in after:
                after[before], length[slot] = slot, length[before] + 1
            self.chained[slot] = before, term
        self._inner = inner
        sums = [k for k in range(n) if is_sum[k]]
        for slot in reversed(sums):
            if slot in after:
                length[slot] = length[after[slot]]
        self.chained = {k: pair for k, pair in self.chained.items() if length[k] >= FEWEST and not inner[k]}
        self.long = {k for k in sums if not inner[k] and size[k] >= FEWEST}
        self.is_within, self.placed = bytearray(n), set[int]()
        for slot in self.long:
            for k in self.inner(slot):
                self.is_within[k] = 1
            self.placed.update(k for k in self.terms(slot) if reads[k] == 1)

    def inner(self, slot: int) -> list[int]:
        """The partial sums of a tree, in order."""
        return sorted(self._walked(slot, lambda k: self._inner[k])[1:])

    def terms(self, slot: int) -> list[int]:
        """The terms of a tree, from the left."""
        return self._walked(slot, lambda k: not self._inner[k], top=False)

    def _walked(self, slot: int, accepts: Callable[[int], bool], *, top: bool = True) -> list[int]:
        found, waiting = [slot] if top else [], list(reversed(self.line.steps[slot - self.arity].args))
        while waiting:
            k = waiting.pop()
            if accepts(k):
                found.append(k)
            if self._inner[k]:
                waiting += reversed(self.line.steps[k - self.arity].args)
        return found


def _entry(operation: Any, *, back: bool) -> int | None:
    """The place of the one entry that a reduction reads (`back`) or puts; None for another operation."""
    if type(operation) is not Reduce:
        return None
    relation: Any = operation.relation
    if back:
        if type(relation) is not Converse:
            return None
        relation = relation.of
    is_one = type(relation) is Inclusion and type(relation.dom) is Unit
    return relation.offset if is_one else None


def are_many(line: Line) -> bool:
    """Tell if a line reads so many entries, or has so many numbers, that a search for alike steps is worth it."""
    entries, numbers = 0, set[float]()
    for step in line.steps if len(line.steps) >= FEWEST else ():
        operation = step.operation
        if type(operation) is Reduce:
            entries += _entry(operation, back=True) is not None
        elif type(operation) is Scale:
            numbers.add(operation.k)
        elif type(operation) is Literal and operation.value.number is not None:
            numbers.add(operation.value.number)
        if entries + len(numbers) >= FEWEST:
            return True
    return False

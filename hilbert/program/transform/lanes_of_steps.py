"""Lines in which alike steps are one step, on arrays with an axis more: for functions written entry by entry.

>>> from hilbert.index.index import Fin, Unit
>>> from hilbert.index.leaf import Entry, Leaf
>>> from hilbert.program.line.builder import Builder
>>> from hilbert.program.line.operation import Scale
>>> from hilbert.relation import run
>>> X = Fin.of(100)
>>> b = Builder([Leaf(Entry("float64"), (X,))])
>>> total = b.number(0.0, Leaf(Entry("float64")))
>>> for k in range(100):
...     entry = b.apply(Reduce(run(Unit(), X, k).T, 0), 0)
...     total = b.add(total, b.apply(Scale(2.0), entry))
>>> line = b.line([total])
>>> len(line.steps), len(in_lanes_of_steps(line).steps)
(301, 4)
"""

from __future__ import annotations

import hashlib
import heapq
from itertools import chain
from typing import TYPE_CHECKING, Any, assert_never, final

import numpy as np

from hilbert.index.index import Fin, Unit
from hilbert.index.leaf import Leaf
from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.line.builder import Builder
from hilbert.program.line.constant import Const, signed
from hilbert.program.line.lift_step import lifted_step
from hilbert.program.line.operation import Move, Reduce, Scale
from hilbert.program.transform.alike_steps import FEWEST, Alike, Classes, Kind, are_many, varies
from hilbert.relation import Full, Graph, leq, rotation, run
from hilbert.relation.relation import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hilbert.index.index import Index
    from hilbert.program.line.line import Line
    from hilbert.relation.relation import AnyRelation, Ints


def in_lanes_of_steps(line: Line) -> Line:
    """The line with its alike steps as one step each, whose results are lanes; itself if there are few.

    Sums of many terms are added up in another order: values change by rounding. A fixed line stays as it is.
    """
    if line.fixed or not are_many(line):
        return line
    classes = Classes(line)
    lifted = _lifted(classes)
    return _Lanes(classes, lifted).line() if lifted else line


def _lifted(classes: Classes) -> set[int]:
    """The classes that are put side by side: those of many members, and those that these read.

    Numbers, entries that are read and entries that are put somewhere are among them if a class reads them.
    """
    own = {Kind.STEP, Kind.SUM, Kind.CHAIN}
    every = list(enumerate(classes.all))
    found = {k for k, cls in every if cls.kind in own and cls.is_liftable and len(cls.members) >= FEWEST}
    for groups in classes.groups.values():
        found.update(a for a, group in groups.items() if len(group) >= FEWEST and classes.gathers(group))
    for k, cls in reversed(every):
        if k in found:
            found.update(a for a, some in zip(cls.args, cls.columns, strict=True) if varies(some))
    return found


@final
class _Lanes:
    """Put the classes of a line side by side, and the other steps in their order between them."""

    def __init__(self, classes: Classes, lifted: set[int]) -> None:
        self.classes, self.lifted = classes, lifted
        self.b = Builder(classes.line.slots[: classes.arity])
        self.where = dict(enumerate(range(classes.arity)))  # the slots of values that stand alone
        self.lanes: dict[int, int] = {}  # the slots of classes
        self.rank = [0] * len(classes.of)  # the lane of each slot among those of its class

    def line(self) -> Line:
        """The line in lanes."""
        for unit in self._units():
            if unit < 0:
                self._lift(-1 - unit)
            elif unit >= self.classes.arity:
                self._keep(unit)
        return self.b.line([self._alone(k) for k in self.classes.line.outputs])

    # --- order ---

    def _units(self) -> Iterator[int]:
        """Schedule slots that stay alone, and classes k as −1 − k: each after its operands, else in order."""
        classes = self.classes
        last: dict[int, int] = {}
        due: dict[int, set[int]] = {}
        for k, cls in enumerate(classes.all):
            if cls.kind in {Kind.PICK, Kind.PLACE, Kind.LITERAL}:
                continue
            if k in self.lifted:
                last[-1 - k] = cls.members[-1]
                first = [cls.first] if cls.kind is Kind.CHAIN else []
                due[-1 - k] = self._needed([*first, *(some[0] for some in cls.columns)])  # the others are alike
                continue
            for slot in cls.members:
                last[slot] = slot
                groups = classes.groups.get(slot)
                read = () if slot < classes.arity else classes.step(slot).args
                due[slot] = self._needed(read if groups is None else chain.from_iterable(groups.values()))
        readers: dict[int, list[int]] = {}
        for unit, needed in due.items():
            for k in needed:
                readers.setdefault(k, []).append(unit)
        left = {unit: len(needed) for unit, needed in due.items()}
        ready = [(last[unit], unit) for unit, count in left.items() if not count]
        heapq.heapify(ready)
        while ready:
            _, unit = heapq.heappop(ready)
            yield unit
            for k in readers.get(unit, ()):
                left[k] -= 1
                if not left[k]:
                    heapq.heappush(ready, (last[k], k))
        assert not any(left.values())  # steps that are alike do not depend on one another

    def _needed(self, slots: Iterable[int]) -> set[int]:
        """The scheduled items that must be built before these slots can be read; numbers need none."""
        classes, found = self.classes, set[int]()
        for k in slots:
            slot, cls = k, classes.at(k)
            while cls.kind is Kind.PICK or cls.kind is Kind.PLACE:
                (slot,) = classes.step(slot).args
                cls = classes.at(slot)
            if cls.kind is not Kind.LITERAL:
                found.add(-1 - classes.of[slot] if classes.of[slot] in self.lifted else slot)
        return found

    # --- one by one ---

    def _keep(self, slot: int) -> None:
        """Emit a step that stays alone; alike terms of a sum are added up in lanes."""
        classes, b = self.classes, self.b
        step = classes.step(slot)
        b.place = step.place
        groups = classes.groups.get(slot)
        if groups is None:
            self.where[slot] = b.step(step.operation, tuple(map(self._alone, step.args)))
            return
        parts: list[int] = []
        for a, group in groups.items():
            at_once = len(group) >= FEWEST and a in self.lifted
            parts += [self._total(group)] if at_once else map(self._alone, group)
        self.where[slot] = self._added(parts)

    def _alone(self, slot: int) -> int:
        """The slot of one value."""
        found = self.where.get(slot)
        if found is None:
            classes, b, cls = self.classes, self.b, self.classes.of[slot]
            step = classes.step(slot)
            if cls in self.lanes and classes.all[cls].kind is not Kind.PICK:
                X = b.slots[self.lanes[cls]].axes[0]
                found = b.apply(Reduce(run(Unit(), X, self.rank[slot]).T, 0), self.lanes[cls])
            else:
                found = b.step(step.operation, tuple(map(self._alone, step.args)))
            self.where[slot] = found
        return found

    def _added(self, parts: Sequence[int]) -> int:
        total, *rest = parts
        for k in rest:
            total = self.b.add(total, k)
        return total

    # --- side by side ---

    def _lift(self, k: int) -> None:
        """Put the members of a class side by side, in the order of the lanes that they read, which become slices."""
        classes, b, cls = self.classes, self.b, self.classes.all[k]
        members, columns = cls.members, cls.columns
        b.place = classes.step(members[0]).place
        if cls.kind is Kind.STEP:
            keys = [key for some in columns if varies(some) for key in self._keys(some)]
            order = _order([*keys, np.arange(len(members))])
            members, columns = [members[at] for at in order], [[some[at] for at in order] for some in columns]
        self._rank(members)
        X = Fin.of(len(members))
        match cls.kind:
            case Kind.CHAIN:
                (some,) = columns
                terms = self._gathered(some, X) if varies(some) else b.rep(self._alone(some[0]), (X,))
                self.lanes[k] = b.add(b.rep(self._alone(cls.first), (X,)), b.apply(Reduce(leq(X), 0), terms))
            case Kind.SUM:
                self.lanes[k] = self._added([self._total(some, len(members), X) for some in columns])
            case Kind.STEP:
                self.lanes[k] = self._operation(cls, members, columns, X)
            case Kind.ALONE | Kind.LITERAL | Kind.PICK | Kind.PLACE:  # their values are made one by one
                raise TypeError(cls.kind)
            case _:
                assert_never(cls.kind)

    def _operation(self, cls: Alike, members: Sequence[int], columns: Sequence[Sequence[int]], X: Index) -> int:
        """One operation in all lanes; numbers that differ are a table."""
        classes, b = self.classes, self.b
        up = [varies(some) for some in columns]
        args = [self._gathered(some, X) if u else self._alone(some[0]) for some, u in zip(columns, up, strict=True)]
        factors = [f.k for slot in members if isinstance(f := classes.step(slot).operation, Scale)]
        if varies(factors):
            axes = ALPHABET[: 1 + len(cls.leaf.axes)]
            spec = Spec.of(axes[0], axes if up[0] else axes[1:], axes)
            return b.contract(spec, self._table(factors, Leaf(cls.leaf.entry), X), args[0])
        operation = classes.step(cls.members[0]).operation
        return lifted_step(b, operation, 1, args, up, lambda j: self._along(args[j], X, up[j]))

    def _along(self, slot: int, X: Index, up: bool) -> int:  # noqa: FBT001 - as lifted_step asks
        """The operand that varies, or the shared one once for each lane."""
        if up:
            return slot
        filling = self.b.filling(slot)
        return self.b.rep(slot, (X,)) if filling is None else self.b.number(filling, self.b.slots[slot].under((X,)))

    def _rank(self, members: Sequence[int]) -> None:
        """Set the rank of members: their places among the lanes of their class."""
        for at, slot in enumerate(members):
            self.rank[slot] = at

    def _keys(self, slots: Sequence[int]) -> list[Ints]:
        """Sort keys for slots of one class, the most important first, so that gathers become slices."""
        classes = self.classes
        match classes.at(slots[0]).kind:
            case Kind.LITERAL:
                return []
            case Kind.PICK:
                sources = self._sources(slots)
                first = self._keys(sources) if varies(sources) else []
                return [*first, np.array([classes.places[k] for k in slots])]
            case Kind.ALONE | Kind.PLACE | Kind.STEP | Kind.SUM | Kind.CHAIN:
                return [np.array([self.rank[k] for k in slots])]
            case kind:
                assert_never(kind)

    def _sources(self, slots: Sequence[int]) -> list[int]:
        """The operand of each step that picks or places an entry."""
        steps, arity = self.classes.line.steps, self.classes.arity
        return [steps[k - arity].args[0] for k in slots]

    def _gathered(self, slots: Sequence[int], J: Index) -> int:
        """Values of one class side by side along J."""
        classes, b = self.classes, self.b
        k = classes.of[slots[0]]
        cls = classes.all[k]
        if cls.kind is Kind.LITERAL:
            return self._table([classes.step(slot).operation.value.number for slot in slots], cls.leaf, J)
        if cls.kind is not Kind.PICK:
            return self._taken(self.lanes[k], 0, self._lane_index(k), [self.rank[slot] for slot in slots], J)
        sources = self._sources(slots)
        entry = classes.step(slots[0]).operation
        X, at, places = entry.relation.dom, entry.at, [classes.places[slot] for slot in slots]
        if not varies(sources):
            return _moved(b, self._taken(self._alone(sources[0]), at, X, places, J), at, len(J.axes), 0)
        whole = self._whole(classes.of[sources[0]])
        ranks = [self.rank[source] * X.size + place for source, place in zip(sources, places, strict=True)]
        Y = self._lane_index(classes.of[sources[0]]) * X
        return self._taken(_moved(b, whole, 1 + at, len(X.axes), 1), 0, Y, ranks, J)

    def _whole(self, k: int) -> int:
        """All members of a class side by side."""
        if k not in self.lanes:  # entries that entries are read of
            members = self.classes.all[k].members
            members = [members[at] for at in _order(self._keys(members))]
            self._rank(members)
            self.lanes[k] = self._gathered(members, Fin.of(len(members)))
        return self.lanes[k]

    def _lane_index(self, k: int) -> Index:
        return self.b.slots[self.lanes[k]].axes[0]

    def _taken(self, slot: int, at: int, X: Index, places: Sequence[int], J: Index) -> int:
        """The entries at places of X, along J in its stead: a slice, a rotation, or a gather."""
        b, n = self.b, X.size
        relation = _function(np.asarray(places), J, X)
        if type(relation) is Graph and J.size == n and len(J.axes) == 1:
            by = places[0]
            if places == [(by + k) % n for k in range(n)]:
                return b.apply(Reduce(rotation(J, -by), at), self._taken(slot, at, X, [*range(n)], J))
        return slot if J == X and places == [*range(n)] else b.apply(Reduce(relation.T, at), slot)

    def _total(self, slots: Sequence[int], rows: int = 1, within: Index | None = None) -> int:
        """The sum of terms of one class; for several rows, the axis `within`, a sum of equally many terms for each."""
        classes, b = self.classes, self.b
        count = len(slots) // rows
        X = Fin.of(count)
        J = X if within is None else within * X
        at = len(J.axes) - 1
        if within is not None and not varies(slots):
            value = self._alone(slots[0])
            return b.rep(value if count == 1 else b.scale(float(count), value), (within,))
        if classes.at(slots[0]).kind is not Kind.PLACE:
            rows_of = np.arange(len(slots)) // count
            slots = [slots[k] for k in _order([rows_of, *self._keys(slots)])]
            return b.apply(Reduce(Full(X, Unit()), at), self._gathered(slots, J))
        put = classes.step(slots[0]).operation
        Y = put.relation.cod
        slots = [slot for k in range(rows) for slot in sorted(slots[k * count : (k + 1) * count], key=self._place)]
        sources = self._sources(slots)
        some = self._gathered(sources, J) if varies(sources) else b.rep(self._alone(sources[0]), J.axes)
        places = [classes.places[slot] for slot in slots]
        if places == [*range(count)] * rows and X == Y:
            found = some
        elif places == places[:count] * rows:
            found = b.apply(Reduce(_function(np.asarray(places[:count]), X, Y), at), some)
        else:
            assert within is not None  # there are several rows
            places = [k // count * Y.size + place for k, place in enumerate(places)]
            found = b.apply(Reduce(_function(np.asarray(places), J, within * Y), 0), some)
        return _moved(b, found, at, len(Y.axes), at + put.at)

    def _place(self, slot: int) -> int:
        return self.classes.places[slot]

    def _table(self, numbers: list[float], leaf: Leaf, J: Index) -> int:
        """Numbers along J, each in every entry of an array."""
        if len(set(map(signed, numbers))) == 1:
            return self.b.number(numbers[0], leaf.under(J.axes))
        array = np.array(numbers, leaf.dtype)
        token = _token(array)
        array = np.broadcast_to(array.reshape(*J.shape, *(1 for _ in leaf.axes)), J.shape + leaf.shape)
        array.flags.writeable = False
        return self.b.literal(Const(array, leaf.under(J.axes), (token, 0)))


def _order(keys: Sequence[Ints]) -> list[int]:
    """The order by some keys, the first of which counts most."""
    order: list[int] = np.lexsort(list(keys[::-1])).tolist()
    return order


def _function(places: Ints, J: Index, X: Index) -> AnyRelation:
    """The function from J to places of X: a run of them, or by a table, whose token equal tables share."""
    steps = np.diff(places)
    stride = int(steps[0]) if len(steps) else 1
    if stride and (steps == stride).all():
        return run(J, X, int(places[0]), stride)
    return Graph(J, X, table(places, _token(places)))


def _token(array: Any) -> int:
    """A token made of the entries, which all equal arrays share."""
    return int.from_bytes(hashlib.blake2b(array.tobytes(), digest_size=16).digest(), "big")


def _moved(b: Builder, slot: int, at: int, count: int, to: int) -> int:
    """The slot with its `count` axes from `at` on moved to `to`, among the others."""
    if at == to:
        return slot
    axes = list(range(len(b.slots[slot].axes)))
    rest = axes[:at] + axes[at + count :]
    return b.apply(Move((*rest[:to], *axes[at : at + count], *rest[to:])), slot)

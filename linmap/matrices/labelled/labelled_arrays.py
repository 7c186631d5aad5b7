"""Labels with their axes, and the steps of a line that place, sum, take and repeat labelled arrays."""

from __future__ import annotations

import itertools
import math
import uuid
from functools import reduce
from operator import mul
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert import SpaceError, Unit
from hilbert.base.once import cached_property
from hilbert.index.leaf import Entry, Leaf
from hilbert.program.line.constant import Const, filled
from hilbert.program.line.operation import Add
from hilbert.relation import Converse, Full, Graph, Inclusion
from hilbert.relation.relation import Table as Positions
from linmap.matrices.labelled.accumulation_order import Accumulation, beyond
from linmap.matrices.labelled.columns import Labels, ascends, progression, sample, split
from linmap.matrices.labelled.deferred_lines import FOLDED, Deferred
from linmap.matrices.labelled.labelled_products import NetworkFactor, PairList
from linmap.matrices.labelled.supported_steps import SupportedSteps
from linmap.net.support import breaks
from linmap.term import wire
from linmap.term.datum import Ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert import Index
    from hilbert.relation.relation import AnyRelation
    from linmap.matrices.labelled.columns import Ints
    from linmap.term.datum import Datum


class LabelledArrays(SupportedSteps):
    """Labels with their axes, and steps that compute arrays with labelled axes from some data."""

    patterns = False
    """True if only the places of the entries matter, not their values."""
    is_exact = False
    """True if a pattern is listed also where it fills most of a block."""
    is_united = False
    """True once products with different patterns have been made one."""

    def __init__(self, data: Sequence[Ref], base: Entry, limit: int | None = None) -> None:
        super().__init__(data)
        self.limit = limit
        self.base = base
        self.sizes: list[int] = []
        self.axes: list[Index] = []
        self.orders: list[Accumulation] = []
        self.place: dict[Datum, int] = {ref: k for k, ref in enumerate(data)}
        self._positions: dict[tuple[int, bytes], Positions] = {}
        self._made: dict[int, Any] = {}  # the arrays of constants, by slot
        self._covers: dict[tuple[AnyRelation, bool], bool] = {}
        self._arrays_of: dict[int, AnyRelation] = {}  # the relations that are arrays, by slot
        self._pairs: dict[Any, PairList] = {}  # those listed since `release` or `fix`
        self._ranges: dict[tuple[int, ...], tuple[Ints, ...]] = {}
        self.rows = 0  # how many tuples were listed so far
        self.lock = RLock()  # held while something is worked out that adds labels or steps
        self._fresh = itertools.count()

    @cached_property
    def _token(self) -> int:
        """A number in the keys of a plan's constants, which no other plan has."""
        return uuid.uuid4().int

    # --- labels and arrays ---

    def label(self, axis: Index) -> int:
        """A fresh label of an axis."""
        self.sizes.append(axis.size)
        self.axes.append(axis)
        return len(self.sizes) - 1

    def twin(self, c: int) -> int:
        """A fresh label of the axis of another."""
        return self.label(self.axes[c])

    def size(self, labels: Iterable[int]) -> int:
        """The number of values of some labels together."""
        return math.prod([self.sizes[c] for c in labels])

    def entries(self, f: NetworkFactor) -> int:
        """The number of entries of a factor."""
        return self.slots[f.slot].size

    def datum(self, d: Datum) -> int:
        """The slot of a datum. Arrays of numpy's constants are kept, as the plan does the steps on these alone."""
        if not isinstance(d, Const):
            return self.place[d]
        slot = self.builder.literal(d)
        if d.leaf.is_field and breaks(d):
            self.breaking.add(slot)
        if isinstance(d.array, np.ndarray) and d.leaf.entry == self.base and 0 < d.leaf.size <= FOLDED:
            self._made[slot] = d.array
        return slot

    def is_found(self, f: NetworkFactor) -> bool:
        """Tell if a factor is a dynamic element of an index set: a relation known only at the point."""
        return self.slots[f.slot].entry.index is not None

    def covers(self, relation: AnyRelation, *, back: bool) -> bool:
        """Tell if a relation has a pair for each element of its codomain, or of its domain, if read `back`."""
        key = (relation, back)
        if key not in self._covers:
            self._covers[key] = bool(((relation if back else relation.T).degrees() > 0).all())
        return self._covers[key]

    def runner(self, outputs: Sequence[int]) -> Deferred:
        """A function that computes some arrays from the data that the net refers to.

        Raises SpaceError where an array on the way has more entries than the limit, and than all results.
        """
        line = self.builder.line(outputs)
        if self.limit is not None:
            allowed = max(self.limit, *(line.slots[k].size for k in line.outputs), 0)
            largest = max((leaf.size for leaf in line.slots[line.arity :]), default=0)
            if largest > allowed:
                raise SpaceError(beyond(self.limit, largest))
        return Deferred(line)

    # --- arrays ---

    def arranged(self, f: NetworkFactor, labels: Labels) -> int:
        """The factor's array with its axes in another order."""
        if f.labels == labels:
            return f.slot
        move = tuple(f.labels.index(c) for c in labels)
        leaf = self.slots[f.slot]
        return self.emit(wire.Move(move), (f.slot,), Leaf(leaf.entry, tuple(leaf.axes[i] for i in move)))

    def scaled(self, k: float, slot: int) -> int:
        """k times an array."""
        if slot in self._made and k != 1.0:
            return self._constant(k * self._made[slot], self.slots[slot].axes, self.held(slot))
        return slot if k == 1.0 else self.emit(wire.Scale(k), (slot,), self.slots[slot])

    def added(self, a: int, b: int) -> int:
        """The sum of two arrays on the same axes, in the wider precision."""
        leaf = max(self.slots[a], self.slots[b], key=lambda x: x.dtype)
        if a in self._made and b in self._made:
            both = self.held(a), self.held(b)
            held = None if any(one is None for one in both) else both[0] | both[1]
            return self._constant(self._made[a] + self._made[b], leaf.axes, held)
        return self.emit(Add(), (self.cast(a, leaf.entry), self.cast(b, leaf.entry)), leaf)

    def cast(self, slot: int, entry: Entry) -> int:
        """The array with entries of another precision."""
        leaf = self.slots[slot]
        return slot if leaf.entry == entry else self.emit(wire.Cast(entry), (slot,), Leaf(entry, leaf.axes))

    def reduced(self, slot: int, relation: AnyRelation) -> int:
        """red_R on the first axes of an array."""
        operation = wire.Reduce(relation, 0)
        return self.emit(operation, (slot,), operation.image(self.slots[slot]))

    def taken(self, slot: int, source: Index, positions: Ints | None, target: Index) -> int:
        """The entries of an array at some positions of its first axes, `source`, or all, along the axes of `target`."""
        start, step = (0, 1) if positions is None else progression(positions)
        if source == target and (start, step) == (0, 1):
            return slot
        axes = target.axes + self.slots[slot].axes[len(source.axes) :]
        if slot in self._made and target.size <= FOLDED:
            at = slice(None) if positions is None else positions
            rows = [
                None if array is None else array.reshape(source.size, *array.shape[len(source.axes) :])[at]
                for array in (self._made[slot], self.held(slot))
            ]
            return self._constant(rows[0], axes, rows[1])
        if step:
            return self.reduced(slot, Converse(Inclusion(target, source, start, step)))
        assert positions is not None  # it is no progression
        return self.reduced(slot, Converse(Graph(target, source, self.positions(positions))))

    def summed(self, slot: int, source: Index, positions: Ints, target: Index) -> int:
        """Each entry along the first axes, `source`, added to its position along the axes of `target`."""
        start, step = progression(positions)
        if source == target and (start, step) == (0, 1):
            return slot
        axes = target.axes + self.slots[slot].axes[len(source.axes) :]
        array = self._made.get(slot)
        if array is not None and array.ndim == len(source.axes) and target.size <= FOLDED:
            held = self.held(slot)
            some = np.bincount(positions, None if held is None else held.reshape(-1), target.size) > 0
            return self._constant(np.bincount(positions, array.reshape(-1), target.size), axes, some)
        if step:
            return self.reduced(slot, Inclusion(source, target, start, step))
        return self.reduced(slot, Graph(source, target, self.positions(positions)))

    def positions(self, positions: Ints) -> Positions:
        """Positions as a table, the same for equal positions, so that the data prepared for a table are shared."""
        key = sample(positions)
        found = self._positions.get(key)
        if found is None or not np.array_equal(found.array, positions):
            kept = positions.astype(np.int64, copy=False).view()  # nobody writes into what a plan has worked out
            kept.flags.writeable = False
            found = self._positions[key] = Positions(kept)
        return found

    def fix(self) -> None:
        """Let all steps that follow read arrays as they are, and not what these were selected from."""
        super().fix()
        self._forget_pairs()

    def _forget_pairs(self) -> None:
        self._pairs.clear()
        self._ranges.clear()

    def pairs_of(self, relation: AnyRelation, *sides: Sequence[int]) -> PairList:
        """The pairs of a relation, listed once, as columns for the axes of these sizes at its two sides."""
        key = relation, *map(tuple, sides)
        if key not in self._pairs:
            columns: list[Ints] = []
            once: list[bool] = []
            for flat, sizes in zip(map(np.asarray, relation.holds()), sides, strict=True):
                once.append(ascends(flat))
                every = once[-1] and len(flat) == math.prod(sizes)
                columns += self._range(tuple(sizes)) if every else _columns(flat, sizes)
            self._pairs[key] = PairList(tuple(columns), (once[0], once[1]))
        return self._pairs[key]

    def _range(self, sizes: tuple[int, ...]) -> tuple[Ints, ...]:
        """All tuples of axes of these sizes in order: the same arrays for the same sizes."""
        if sizes not in self._ranges:
            self._ranges[sizes] = _columns(np.arange(math.prod(sizes)), sizes)
        return self._ranges[sizes]

    def index(self, labels: Labels) -> Index:
        """The index set of some labels together."""
        return reduce(mul, [self.axes[c] for c in labels]) if labels else Unit()

    def known(self, slot: int) -> Any:
        """The array of a constant; None for all others."""
        return self._made.get(slot)

    def release(self, since: int, outputs: Sequence[int]) -> None:
        """Let go of the constants that are new since there were so many slots, but for outputs and what steps read."""
        self._forget_pairs()
        steps, arity = self.builder.steps, self.builder.arity
        kept = {*outputs, *(a for step in steps[since - arity :] for a in step.args)}
        for slot in [slot for slot in self._made if slot >= since and slot not in kept]:
            del self._made[slot]
            self.builder.forget(slot)

    def constant(self, array: Any, labels: Labels, held: Any = None) -> NetworkFactor:
        """A factor with numbers that the plan has worked out, and where they are not 0 by structure."""
        return NetworkFactor(self._constant(array, tuple(self.axes[c] for c in labels), held), labels)

    def _constant(self, array: Any, axes: tuple[Index, ...], held: Any = None) -> int:
        leaf = Leaf(self.base, axes)
        array = np.asarray(array, self.base.dtype).reshape(leaf.shape)
        array.flags.writeable = False
        slot = self.datum(Const(array, leaf, (self._token, next(self._fresh))))
        self._made[slot] = array
        self.hold(slot, held)
        return slot

    def ones(self, labels: Labels) -> NetworkFactor:
        """A factor that is 1 everywhere."""
        value = filled(1.0, Leaf(self.base, tuple(self.axes[c] for c in labels)))
        slot = self.datum(value)
        self._made[slot] = value.array
        return NetworkFactor(slot, labels)

    def counted(self, labels: Labels, columns: Sequence[Any]) -> NetworkFactor:
        """An array that counts how often each tuple of labels occurs in some columns."""
        made = np.zeros(tuple(self.sizes[c] for c in labels))
        np.add.at(made, tuple(columns), 1.0)
        return self.constant(made, labels, made != 0.0)

    def spread(self, f: NetworkFactor, labels: Labels) -> int:
        """The factor's array with exactly these axes: replicated along those that it has not."""
        slot, has = f.slot, f.labels
        for c in labels:
            if c not in has:
                leaf = self.slots[slot]
                rep = wire.Reduce(Full(Unit(), self.axes[c]), 0)
                slot, has = self.emit(rep, (slot,), leaf.under((self.axes[c],))), (c, *has)
        return self.arranged(NetworkFactor(slot, has), labels)

    def without(self, f: NetworkFactor, labels: Sequence[int]) -> NetworkFactor:
        """The factor's sum over some of its labels."""
        slot, has = f.slot, f.labels
        for c in labels:
            at = has.index(c)
            leaf = self.slots[slot]
            less = Leaf(leaf.entry, leaf.axes[:at] + leaf.axes[at + 1 :])
            slot = self.emit(wire.Reduce(Full(leaf.axes[at], Unit()), at), (slot,), less)
            has = has[:at] + has[at + 1 :]
        return NetworkFactor(slot, has)


def _columns(flat: Ints, sizes: Sequence[int]) -> tuple[Ints, ...]:
    """A column for each axis of these sizes from the flat positions together."""
    return tuple(column for _, column in split(range(len(sizes)), flat, sizes))

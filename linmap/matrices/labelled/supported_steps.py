"""Steps of a line whose arrays carry supports, so that no 0 by structure meets an infinity (`linmap.net.support`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hilbert.index.index import Unit
from hilbert.index.leaf import Leaf
from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.line.builder import Builder
from hilbert.program.line.choice import Choose
from hilbert.program.line.constant import Const
from hilbert.program.line.operation import Add, Contract, Move, product
from hilbert.relation import Full
from linmap.matrices.labelled.pending_selections import (
    Pieces,
    Selected,
    behind,
    common,
    kept,
    piece,
    selecting,
    selection,
)
from linmap.net.loop_masks import known_mask
from linmap.net.support import Given, Part, Support, breaks, covers, united
from linmap.net.supported_flow import Supports, compact
from linmap.term import wire
from linmap.term.datum import Ref

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.program.line.step_operation import Operation
    from linmap.matrices.labelled.pending_selections import Mask
    from linmap.term.datum import Datum

WHOLE = 10**5
"""A product of at most so many entries is made before it is summed; of a larger one, rows are left out."""


class SupportedSteps:
    """A line on some data, with the supports of its arrays."""

    def __init__(self, data: Sequence[Ref]) -> None:
        self.builder = Builder([ref.leaf for ref in data])
        self.slots = self.builder.slots
        self.supports = Supports(self.builder, self.datum)
        self.where: dict[int, Support] = {}  # of the arrays that are 0 somewhere by structure
        self.breaking = {k for k, ref in enumerate(data) if ref.leaf.is_field and breaks(ref)}
        self._selected: dict[int, Selected] = {}
        self._pieces: dict[int, Pieces] = {}
        self._together: dict[tuple[int, ...], int] = {}
        self._opposite = {k: ref.known for k, ref in enumerate(data) if not ref.leaf.is_field}

    def datum(self, d: Datum) -> int:
        """The slot of a datum."""
        raise NotImplementedError

    def emit(self, operation: Operation, args: tuple[int, ...], leaf: Leaf) -> int:
        """Emit a step, on what its operands were selected from, and note the support of its result."""
        if self._selected.keys().isdisjoint(args) and (len(args) < 2 or self._pieces.keys().isdisjoint(args)):
            return self._emit(operation, args, leaf)
        if isinstance(operation, Add):
            return self._sum(args[0], args[1], leaf)
        given = self._selected.get(args[0]) if len(args) == 1 else None
        masks = None if given is None else behind(operation, given.masks)
        if given is None or masks is None:
            return self._emit(operation, args, leaf)
        return self._select(self._emit(operation, (given.slot,), leaf), masks)

    def fix(self) -> None:
        """Let all steps that follow read arrays as they are, and not what these were selected from."""
        self._selected.clear()
        self._pieces.clear()

    def _sum(self, a: int, b: int, leaf: Leaf) -> int:
        """A sum: selected afterwards if both are selected alike, or a choice of what a mask and its negation select."""
        x, y = (self._selected.get(k) or Selected(k) for k in (a, b))
        masks = common(x, y)
        if masks is not None:
            return self._select(self._emit(Add(), (x.slot, y.slot), leaf), masks)
        left, right = self._pieces.get(a) or piece(x, self._opposite), self._pieces.get(b) or piece(y, self._opposite)
        if left is None or right is None or (left.masks, left.axes) != (right.masks, right.axes):
            return self._emit(Add(), (a, b), leaf)
        slots = [
            u if v is None else v if u is None else self.emit(Add(), (u, v), leaf)
            for u, v in zip(left.slots, right.slots, strict=True)
        ]
        return self._choice(Pieces(left.masks, left.axes, (slots[0], slots[1])), leaf)

    def _choice(self, of: Pieces, leaf: Leaf) -> int:
        """The array that has both pieces."""
        order = of.order(len(leaf.axes))
        first = Leaf(leaf.entry, tuple([leaf.axes[k] for k in order]))
        plain = order == tuple(range(len(order)))
        slots = [k if plain or k is None else self.emit(Move(order), (k,), first) for k in of.slots]
        assert None not in slots  # a sum of different pieces has both
        pieces = [k for k in slots if k is not None]
        slot = self._emit(Choose(), (of.masks[0], *pieces), first)
        if not self.where.keys().isdisjoint(pieces):
            places = Spec.of(ALPHABET[: len(of.axes)], ALPHABET[: len(order)], ALPHABET[: len(order)])
            left, right = (
                self.supports.image(wire.ContractWith(places, 0, Ref(m, self.slots[m])), m, Part(k, self.where.get(k)))
                for m, k in zip(of.masks, pieces, strict=True)
            )
            self.where[slot] = united(left, right)
        if not plain:
            slot = self._emit(Move(tuple(map(order.index, range(len(order))))), (slot,), leaf)
        self._pieces[slot] = of
        return slot

    def _select(self, x: int, masks: Sequence[Mask]) -> int:
        """Select from an array by some masks, and by those that it was selected by: once by all on the same axes."""
        known = self._selected.get(x) or Selected(x)
        every = tuple(dict.fromkeys([*known.masks, *masks]))
        if every == known.masks:
            return x
        slot = known.slot
        for axes in dict.fromkeys([some for _, some in every]):
            mask = self._both(tuple([m for m, some in every if some == axes])), axes
            leaf = self.slots[slot]
            slot = self._emit(Contract(selection(mask, len(leaf.axes))), (mask[0], slot), leaf)
        self._selected[slot] = Selected(known.slot, every)
        return slot

    def _both(self, masks: tuple[int, ...]) -> int:
        """The places where all of some masks on the same axes hold."""
        if masks not in self._together:
            known = masks[:-1] in self._together  # most often one mask is new
            both, more = (self._together[masks[:-1]], masks[-1:]) if known else (masks[0], masks[1:])
            for m in more:
                both = self.builder.emit(Choose(), (both, m, both), self.slots[m])
            self._together[masks] = both
        return self._together[masks]

    def _emit(self, operation: Operation, args: tuple[int, ...], leaf: Leaf) -> int:
        slot = self.builder.emit(operation, args, leaf)
        if not self.breaking.isdisjoint(args):
            self.breaking.add(slot)
        if slot not in self.where and (self.where or not self._is_whole(operation, args)):
            found = self._support(operation, args)
            if found is not None:
                self.where[slot] = found
        return slot

    def _is_whole(self, operation: Operation, args: tuple[int, ...]) -> bool:
        """Tell if a step leaves no place out, if its operands have no holes: only relations and elements do."""
        return not isinstance(operation, wire.Reduce) and all(self.slots[a].is_field for a in args)

    def note(self, p: Part, *, breaks: bool) -> None:
        """Note the support of an array that steps of others have made, and whether it may be infinite."""
        if p.where is not None:
            self.where[p.base] = p.where
        if breaks:
            self.breaking.add(p.base)

    def _support(self, operation: Operation, args: tuple[int, ...]) -> Support:
        """The places where a step's result can differ from 0; None for all."""
        parts = [Part(a, self.where.get(a)) for a in args]
        match operation:
            case Add():
                return united(parts[0].where, parts[1].where)
            case Contract(spec):
                if parts[0].where and parts[1].where:  # where both can
                    for _, mask in self.supports.selection(parts[0]):
                        slot = self.supports.slot(mask)
                        f = wire.ContractWith(spec, 0, Ref(slot, self.slots[slot]))
                        return self.supports.image(f, slot, parts[1])
                for side, x, d in ((0, parts[1], args[0]), (1, parts[0], args[1])):
                    f = wire.ContractWith(spec, side, Ref(d, self.slots[d]))
                    if self.slots[x.base].is_field and (x.where or not covers(f)):
                        return self.supports.image(f, d, x)
                return None
            case wire.Scale():
                return parts[0].where
            case wire.Reduce() | wire.Move() | wire.Cast():
                return self.supports.image(operation, None, parts[0])
            case _:  # of steps of others nothing is known
                return None

    def held(self, slot: int) -> Any:
        """The places where a constant that was worked out is not 0 by structure, as a mask; None for all."""
        where = self.where.get(slot)
        return where.mask.array if isinstance(where, Given) and isinstance(where.mask, Const) else None

    def hold(self, slot: int, held: Any) -> None:
        """Note where a constant that was worked out is not 0 by structure."""
        if held is not None and not held.all():
            leaf = self.slots[slot]
            self.where[slot] = Given(known_mask(held.reshape(leaf.shape), leaf.axes))

    def multiplied(self, spec: Spec, a: int, b: int) -> int:
        """The contraction of two arrays; no 0 by structure meets an entry that may be infinite (0 · ∞ is NaN)."""
        found = selecting(spec, self.slots[a], self.slots[b])
        if found is not None:
            x, mask = (b, a) if found[0] == 0 else (a, b)
            return self._select(x, [(mask, found[1])])
        u, v = (self._selected.get(k) or Selected(k) for k in (a, b))
        left, right = kept(spec, spec.left, u), kept(spec, spec.right, v)
        u, v = (Selected(k) if masks is None else x for k, masks, x in ((a, left, u), (b, right, v)))
        if (u.slot, v.slot) != (a, b):
            return self._select(self.multiplied(spec, u.slot, v.slot), [*(left or ()), *(right or ())])
        leaf = product(spec, self.slots[a], self.slots[b])
        sides = ((a, spec.left, b, spec.right), (b, spec.right, a, spec.left))
        risky = [side for side in sides if side[2] in self.breaking and side[0] in self.where]
        if not risky:
            return self.emit(Contract(spec), (a, b), leaf)
        if not spec.contracted:
            slot = self.emit(Contract(spec), (a, b), leaf)
            for x, its, _, _ in risky:
                slot = self._masked(slot, spec.out, self.supports.mask(Part(x, self.where[x])), its)
            return slot
        if risky and leaf.size * math.prod(n for n in self._summed(spec, a)) <= WHOLE:
            return self._summed_later(spec, a, b)
        for x, its, d, mine in risky:
            read = self.supports.rows(d, mine, Part(x, self.where[x]), its)
            self.breaking.add(read)
            a, b = (read if k == d else k for k in (a, b))
        return self.emit(Contract(spec), (a, b), leaf)

    def _masked(self, slot: int, out: str, mask: Const | int | None, its: str) -> int:
        """An array with these labels where a mask with those holds, and 0 elsewhere."""
        if isinstance(mask, Const):
            mask, its = compact(mask, its)
        if mask is None:
            return slot
        leaf = self.slots[slot]
        return self.emit(Contract(Spec.of(its, out, out)), (self.supports.slot(mask), slot), leaf)

    def _summed(self, spec: Spec, a: int) -> list[int]:
        """The lengths of the axes that a contraction sums over."""
        return [axis.size for c, axis in zip(spec.left, self.slots[a].axes, strict=True) if c in spec.contracted]

    def _summed_later(self, spec: Spec, a: int, b: int) -> int:
        """The contraction as a product of all entries, masked where 0 by structure, and then its sums."""
        first = "".join(c for c in spec.left + spec.right if c in spec.contracted)
        whole = "".join(dict.fromkeys(first)) + spec.out
        slot = self.multiplied(Spec.of(spec.left, spec.right, whole), a, b)
        for _ in spec.contracted:
            total = wire.Reduce(Full(self.slots[slot].axes[0], Unit()), 0)
            slot = self.emit(total, (slot,), total.image(self.slots[slot]))
        return slot

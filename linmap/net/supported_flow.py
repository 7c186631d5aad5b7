"""The flow through a net as steps of one line, each part with its support and its selections (`linmap.net.support`)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, TypeVar, assert_never, final

import numpy as np

from hilbert.arrays.libraries.namespace import freeze
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.index import Fin, Unit
from hilbert.index.leaf import Leaf
from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.line.choice import AnyLane, Choose
from hilbert.program.line.constant import Const, filled
from hilbert.program.line.operation import Contract, Literal, Move, Reduce
from hilbert.program.line.step_operation import Operation
from hilbert.relation import Full, run
from linmap.net.support import (
    Given,
    Image,
    Part,
    Selection,
    Support,
    Union,
    breaks,
    covers,
    is_selection,
    labels,
    united,
)
from linmap.term import wire
from linmap.term.datum import Datum, Ref

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.index.index import Index
    from hilbert.program.line.builder import Builder


T = TypeVar("T")
ONE = Fin.of(1)
MADE = ("support", 0, 0)
"""The key of a mask that is worked out, and in no line yet."""


@final
class Supports:
    """Arcs applied to parts, as steps of one line."""

    def __init__(self, b: Builder, at: Callable[[Datum], int], *, postpone: bool = True) -> None:
        self.b, self.at = b, at
        self.postpone = postpone  # not where no product behind may be infinite: steps then stand as in the term
        self._settled: dict[Part, Part] = {}
        self._truths: dict[Image | Union | Given, Const | int] = {}
        self._bounds: dict[Image | Union | Given, Support] = {}

    # --- the flow ---

    def through(self, f: wire.Simple, p: Part) -> Part | None:
        """An arc on what flows."""
        if isinstance(f, wire.Same):
            return p
        if isinstance(f, wire.Scale):
            return None if f.k == 0.0 else Part(self.b.scale(f.k, p.base), p.where, p.pending)
        if not self.postpone:  # nor is it asked where the result can differ from 0
            return Part(wire.step(self.b, f, p.base, self.at))
        datum = self.at(f.datum) if isinstance(f, wire.ContractWith) else None
        if isinstance(f, wire.ContractWith):
            if f.free[0]:
                return self._entered(f, datum, p)
            if f.datum.leaf.is_field and (p.pending or p.where) and breaks(f.datum):
                return self._multiplied(f, self.at(f.datum), p)
        if is_selection(f):
            return Part(p.base, p.where, (*p.pending, (f, datum)))
        q = self.settled(p)
        return Part(self._made(f, datum, q.base), self.image(f, datum, q))

    def both(self, x: Part, y: Part) -> Part:
        """The sum of two flows; selections that are the same are made once, after the sum."""
        if x.pending != y.pending or x.where is not y.where:
            x, y = self.settled(x), self.settled(y)
        total = self.b.add(x.base, y.base)
        if x.where is y.where:
            return Part(total, x.where, x.pending)
        return Part(total, united(x.where, y.where))

    def settled(self, p: Part) -> Part:
        """The part with its selections made."""
        if not p.pending:
            return p
        if p not in self._settled:
            q = p
            for f, datum in p.pending:
                q = Part(self._made(f, datum, q.base), self.image(f, datum, q))
            self._settled[p] = q
        return self._settled[p]

    def _made(self, f: wire.Simple, datum: Any, x: int) -> int:
        return wire.step(self.b, f, x, lambda _: datum)

    def image(self, f: wire.Simple, datum: int | None, of: Part) -> Support:
        """The places where an arc's result can differ from 0; a user's operator may make anything of a part."""
        match f:
            case wire.Same() | wire.Scale() | wire.Cast():
                return of.where
            case wire.ContractWith() | Reduce() | Move():
                everywhere = of.where is None and covers(f)
                return None if everywhere else Image(f, datum, of.where, self.b.slots[of.base])
            case wire.External(rule) if rule.looks:
                return of.where
            case _:  # of others nothing is known: everywhere is never wrong
                return None

    def _entered(self, f: wire.ContractWith, datum: int | None, p: Part) -> Part:
        """A branch is entered: what becomes of lanes that do not take it is dropped where it is left."""
        if not all(isinstance(s, wire.ContractWith) and s.spec.out == labels(s)[1] for s, _ in p.pending):
            p = self.settled(p)
        return Part(self._made(f, datum, p.base), p.where, p.pending)  # masks are made in any order

    # --- products with what breaks ---

    def _multiplied(self, f: wire.ContractWith, d: int, p: Part) -> Part:
        """A contraction with a d that breaks, in which d is read at the places of the flow's support only."""
        fixed, source = labels(f)
        if source != f.spec.out:
            return self._summed(f, d, self.settled(p))
        found = self._pulled(p, d, fixed, source)
        if found is None:
            p = self.settled(p)
            found = d, fixed, source
        d, mine, all_ = found
        base = self._product(f.side, d, mine, p.base, all_, all_)
        return Part(base, None, (*self.selection(p), *p.pending))

    def _summed(self, f: wire.ContractWith, d: int, p: Part) -> Part:
        """A contraction of d with a part that sums over a label, as d @ x does.

        Entries of d that would only be multiplied by entries of x outside of its support, which are 0, are set to 0
        before: an infinite one among them would give ∞·0 = NaN.
        """
        fixed, source = labels(f)
        return Part(self._made(f, self.rows(d, fixed, p, source), p.base), self.image(f, d, p))

    def rows(self, d: int, fixed: str, p: Part, source: str) -> int:
        """The array d with 0 in place of the entries that are only multiplied by zeros outside of a part's support.

        `fixed` are the labels of d, `source` those of the part: in d @ x with fixed = "ij", source = "j", column j of d
        stays if x[j] is in the support.
        """
        mask = self.mask(p)
        if mask is None:
            return d
        read = "".join(c for c in source if c in fixed)
        order = tuple(source.index(c) for c in (*read, *(c for c in source if c not in fixed)))
        some = mask if order == tuple(range(len(order))) else self._step(Move(order), mask)
        some = some if len(read) == len(source) else self._step(AnyLane(len(read), when=True), some)
        if isinstance(some, Const):
            some, read = compact(some, read)
        if not isinstance(some, Const) or not holds(some):
            d = self.b.contract(Spec.of(read, fixed, fixed), self.slot(some), d)
        return d

    def _product(self, side: int, d: int, mine: str, x: int, its: str, out: str) -> int:
        b = self.b
        return b.contract(Spec.of(mine, its, out), d, x) if side == 0 else b.contract(Spec.of(its, mine, out), x, d)

    def _pulled(self, p: Part, d: int, mine: str, all_: str) -> tuple[int, str, str] | None:
        """Pull d back through the pending selections S, as d · S(x) = S(S*d · x): S*d, its labels, the labels of x.

        So no 0 outside of S meets an entry of d that is infinite. None where d has the labels that one selection makes
        in part only, or not side by side. `all_` are the labels of S(x), `mine` the labels of d among them.
        """
        fresh = iter(c for c in ALPHABET if c not in all_)
        for f, datum in reversed(p.pending):
            if isinstance(f, Reduce):
                new = "".join(next(fresh) for _ in f.relation.dom.axes)
                end = f.at + len(f.relation.cod.axes)
                old, all_ = all_[f.at : end], all_[: f.at] + new + all_[end:]
                if old in mine:
                    at = mine.index(old)
                    d = self.b.apply(Reduce(f.relation.T, at), d)
                    mine = mine[:at] + new + mine[at + len(old) :]
                elif set(old) & set(mine):
                    return None
                continue
            assert isinstance(f, wire.ContractWith)
            name = dict(zip(f.spec.out, all_, strict=True))
            name |= {c: next(fresh) for c in labels(f)[1] if c not in name}  # a permutation alone sums labels
            fixed, source = ("".join(name[c] for c in some) for some in labels(f))
            places = set(fixed) - set(source)  # labels that S makes: the place of each lane; none of a mask
            if places & set(mine):
                if not places <= set(mine):
                    return None
                keep = "".join(c for c in source if c in fixed or c in mine)
                d, mine = self.b.contract(Spec.of(mine, fixed, keep), d, self.slot(datum)), keep
            all_ = source
        return d, mine, all_

    # --- masks ---

    def selection(self, p: Part) -> tuple[Selection, ...]:
        """The selection of where a part can differ from 0; none if that is everywhere."""
        mask, leaf = self.mask(p), self.b.slots[p.base]
        if mask is None:
            return ()
        slot = self.slot(mask)
        return ((wire.ContractWith(Spec.pointwise(len(leaf.axes)), 0, Ref(slot, self.b.slots[slot])), slot),)

    def mask(self, p: Part) -> Const | int | None:
        """The mask of a part's base, a constant or the slot that computes it; None where no place is known to be 0."""
        mask = None if p.where is None else self._along(self._truth(p.where), self.b.slots[p.base].axes)
        return None if isinstance(mask, Const) and holds(mask) else mask

    def bound(self, p: Part) -> Const | None:
        """A mask that is known, of places outside of which a part's base is 0; None for everywhere."""
        where = None if p.where is None else _folded(p.where, self._bounds, self._bound)
        mask = None if where is None else self._truth(where)
        return mask if isinstance(mask, Const) and not holds(mask) else None

    def _bound(self, s: Image | Union | Given, parts: list[Support]) -> Support:
        """The support by what is known when the line is built: a place found at the point may be any."""
        match s:
            case Given(mask):
                return s if isinstance(mask, Const) else None
            case Union():
                return s if parts == [s.left, s.right] else united(*parts)
            case Image(f, datum, _, source):
                of = parts[0] if parts else None
                if isinstance(f, wire.ContractWith) and self._is_found_later(f, datum):
                    return of if f.datum.leaf.entry.index is None and labels(f)[1] == f.spec.out else None
                return None if of is None and covers(f) else Image(f, datum, of, source)
            case _:
                assert_never(s)

    def _is_found_later(self, f: wire.ContractWith, datum: int | None) -> bool:
        """Tell if an arc is a mask or has places, and these are found at the point."""
        return not f.datum.leaf.is_field and not isinstance(self._known(datum), Const)

    def _truth(self, s: Image | Union | Given) -> Const | int:
        """The mask of a support: a constant, or the slot that computes it."""
        return _folded(s, self._truths, self._made_of)

    def _made_of(self, s: Image | Union | Given, parts: list[Const | int]) -> Const | int:
        match s:
            case Given(mask):
                return mask
            case Union():
                return self._union(*parts)
            case Image():
                return self._held(s, *parts)
            case _:
                assert_never(s)

    def _union(self, a: Const | int, b: Const | int) -> Const | int:
        for k in (a, b):
            if isinstance(k, Const) and holds(k):
                return k
        if a is b or (isinstance(a, int) and a == b):
            return a
        return self._step(Choose(), a, a, self._along(b, self._leaf(a).axes))

    def _along(self, x: Const | int, axes: tuple[Index, ...]) -> Const | int:
        """A mask along axes of the same sizes: masks are made where axes of equal size may have lost their names."""
        have = self._leaf(x).axes
        if have == axes or [axis.size for axis in have] != [axis.size for axis in axes]:
            return x
        if isinstance(x, Const):
            return Const(x.array, Leaf(x.leaf.entry, axes), MADE)
        for at, (a, b) in enumerate(zip(have, axes, strict=True)):
            if a != b:
                x = self._step(Reduce(run(a, b, 0), at), x)
        return x

    def _held(self, s: Image, of: Const | int | None = None) -> Const | int:
        """The mask of an image."""
        f = s.arc
        if isinstance(f, wire.ContractWith):
            fixed, source = labels(f)
            if f.datum.leaf.is_field:
                assert of is not None  # or the arc covers everything
                return self._arranged(of, source, f.spec.out, dict(zip(fixed, f.datum.leaf.axes, strict=True)))
            datum = self._known(s.datum)
            if fixed == source == f.spec.out and f.datum.leaf.entry.index is None:
                return datum if of is None else self._step(Choose(), of, datum, of)
            return self._through(Contract(f.spec), s, of, lambda x: (datum, x) if f.side == 0 else (x, datum))
        return self._through(f, s, of, lambda x: (x,))

    def _through(self, operation: Operation, s: Image, of: Const | int | None, args: Any) -> Const | int:
        """Numbers 0 and 1 go through the arc, and are asked where they are not 0."""
        x: Const | int = filled(1.0, s.source)
        if of is not None:
            x = self._step(Contract(Spec.pointwise(len(s.source.axes))), self._along(of, s.source.axes), x)
        x = self._step(operation, *args(x))
        return self._step(AnyLane(len(self._leaf(x).axes), when=True), x)

    # --- steps on constants, made at once, and on slots ---

    def _arranged(self, x: Const | int, have: str, out: str, axes: dict[str, Index]) -> Const | int:
        """A mask with the labels `out`: true where any is along labels that are dropped, repeated along new labels."""
        keep = "".join(c for c in have if c in out)
        if keep != have:
            order = keep + "".join(c for c in have if c not in out)
            x = x if order == have else self._step(Move(tuple(map(have.index, order))), x)
            x = self._step(AnyLane(len(keep), when=True), x)
        for c in out:
            if c not in keep:
                x, keep = self._step(Reduce(Full(Unit(), axes[c]), 0), x), c + keep
        return x if keep == out else self._step(Move(tuple(map(keep.index, out))), x)

    def _known(self, slot: Any) -> Const | int:
        """The constant in a slot, if it is one of numpy's."""
        operation = self.b.operation(slot)
        if isinstance(operation, Literal) and isinstance(operation.value.array, np.ndarray):
            return operation.value
        return int(slot)

    def _leaf(self, x: Const | int) -> Leaf:
        return x.leaf if isinstance(x, Const) else self.b.slots[x]

    def slot(self, x: Any) -> int:
        """The slot of a mask, or of a datum."""
        if not isinstance(x, Const):
            return int(x)
        if x.key == MADE:
            token = int.from_bytes(hashlib.blake2b(x.array.tobytes(), digest_size=16).digest())
            x = Const(freeze(x.array), x.leaf, ("support", token, 0))
        return self.b.literal(x)

    def _step(self, operation: Operation, *args: Const | int) -> Const | int:
        """A step on the line; of constants only, its result."""
        leaves = [self._leaf(x) for x in args]
        arrays = [x.array.reshape(x.leaf.shape) for x in args if isinstance(x, Const)]
        if len(arrays) < len(args):
            return self.b.step(operation, tuple(map(self.slot, args)))
        leaf = operation.image(*leaves)
        axes = _repeated(operation, leaves, arrays)
        thin = [Leaf(x.entry, tuple([ONE if axis in axes else axis for axis in x.axes])) for x in leaves]
        some = [a[_places(x, axes)] for a, x in zip(arrays, leaves, strict=True)]
        image = operation.image(*thin)
        made = np.asarray(operation.bind(NUMPY, thin, image).call(*some)).reshape(image.shape)
        return Const(np.broadcast_to(made, leaf.shape), leaf, MADE)


def _repeated(operation: Operation, leaves: Sequence[Leaf], arrays: Sequence[Any]) -> set[Index]:
    """The axes along which some arrays repeat the same truth values, and on which an operation does nothing else."""
    found: set[Index] = set()
    other: set[Index] = set()
    for leaf, array in zip(leaves, arrays, strict=True):
        for axis, step in zip(leaf.axes, array.strides, strict=True):
            (other if step or not axis.size else found).add(axis)
        other.update(() if leaf.entry.index is None else leaf.entry.index.axes)
    if isinstance(operation, Reduce):
        other |= {*operation.relation.dom.axes, *operation.relation.cod.axes}
    return found - other


def _places(leaf: Leaf, axes: set[Index]) -> tuple[slice, ...]:
    """One place on some axes, and all on the others."""
    return tuple([slice(0, 1) if axis in axes else slice(None) for axis in leaf.axes])


def holds(x: Const) -> bool:
    """Tell if a mask is true everywhere; a place that is repeated is looked at once."""
    return bool(x.array[tuple([slice(None) if step else slice(0, 1) for step in x.array.strides])].all())


def compact(x: Const, labels: str) -> tuple[Const, str]:
    """A mask without the axes along which it repeats itself, and the labels that are left."""
    array = x.array.reshape(x.leaf.shape)
    kept = [k for k, step in enumerate(array.strides) if step or not array.shape[k]]
    places = tuple([slice(None) if k in kept else 0 for k in range(len(labels))])
    leaf = Leaf(x.leaf.entry, tuple([x.leaf.axes[k] for k in kept]))
    return Const(np.asarray(array[places]), leaf, x.key), "".join([labels[k] for k in kept])


def _folded(s: Image | Union | Given, found: dict[Any, T], make: Callable[[Image | Union | Given, list[T]], T]) -> T:
    """Fold a support, part by part; no recursion, as it is as deep as its net."""
    todo = [s]
    while todo:
        s = todo[-1]
        parts = (s.left, s.right) if isinstance(s, Union) else (s.of,) if isinstance(s, Image) and s.of else ()
        missing = [k for k in parts if k not in found]
        if not missing:
            todo.pop()
            found[s] = make(s, [found[k] for k in parts])
        todo += missing
    return found[s]

"""Supports: an entry that is not read has no slope, and one that does not vary has no tangent.

When a net is applied, a wire carries, beside its array, the places where the array can differ from 0:

    Part(base, where, pending)      the wire is  S_n • … • S_1 (base),  and base is 0 outside of `where`

`pending` are *selections* S that are not made yet: an inclusion (index, slice, pad), one place in each lane (max),
a mask (relu, where, select). S is a partial isometry, so that a product with an array d passes it,

    (d ·) • S  =  S • (S*d ·)                          S*d = d for a mask

and S is made once, at the end, by selection: no 0 outside of S meets an infinite d. That is done where d may be ±∞ or
NaN (`breaks`); else S is made before the product. Where flows meet, their selections are made and their supports unite;
a product with a d that breaks leaves the mask of that union as a selection behind itself.

`where` is a term, an image or a union. Its mask is made only where a d that breaks follows: at once if it is known when
the line is built, by steps on truth values otherwise. Outside of its selections a base may hold anything, a NaN too:
only products, sums of bases with the same selections, and these selections themselves touch it.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never, cast, final

import numpy as np
from attrs import frozen

from hilbert.index.leaf import Leaf
from hilbert.program.line.constant import Const
from hilbert.relation import (
    Agreement,
    Composite,
    Converse,
    Equality,
    Form,
    Full,
    Function,
    Graph,
    Inclusion,
    Order,
    Pairs,
    Partial,
    ProductRelation,
    Rotation,
    Sliding,
    SumRelation,
    Window,
)
from hilbert.relation.relation import AnyRelation
from linmap.term import wire
from linmap.term.datum import Datum, Ref
from linmap.term.wire import Reduce

Rearranging: TypeAlias = wire.ContractWith | Reduce | wire.Move
"""An arc whose entries are those of its source at other places, or sums of them."""


@final
@frozen(eq=False)
class Image:
    """The places where an arc's result can differ from 0 if its `source` can in `of` (None: everywhere)."""

    arc: Rearranging
    datum: int | None
    of: Support
    source: Leaf


@final
@frozen(eq=False)
class Given:
    """A mask: one that is known when the line is built, or the slot that has it."""

    mask: Const | int


@final
@frozen(eq=False)
class Union:
    """The places of either of two flows that meet."""

    left: Image | Union | Given
    right: Image | Union | Given


Support: TypeAlias = "Image | Union | Given | None"
"""The places where an array can differ from 0; None for all."""
Selection: TypeAlias = tuple[wire.Simple, int | None]
"""An arc, and the slot of its datum."""


@final
@frozen
class Part:
    """The flow through a wire: see above."""

    base: int
    where: Support = None
    pending: tuple[Selection, ...] = ()


def breaks(datum: Datum) -> bool:
    """Tell if a datum may hold ±∞ or NaN at finite points, overflow of sums and products apart."""
    return not (datum.known if isinstance(datum, Ref) else is_finite(datum))


def is_finite(value: Const) -> bool:
    """Tell if the entries of a constant are known to be finite: their sum is, which takes no memory."""
    array = value.array if value.number is None else value.number
    if not isinstance(array, (np.ndarray, np.generic, float)):
        return False
    with np.errstate(all="ignore"):
        return bool(np.isfinite(np.sum(array)))


def labels(f: wire.ContractWith) -> tuple[str, str]:
    """The labels of the fixed operand, and of what flows."""
    return (f.spec.left, f.spec.right) if f.side == 0 else (f.spec.right, f.spec.left)


def is_selection(f: wire.Simple) -> bool:
    """Tell if an arc puts each entry in at most one place, or leaves it out, and adds nothing up."""
    match f:
        case Reduce(relation):
            return isinstance(relation, Inclusion)
        case wire.ContractWith(spec, _, datum):
            _, source = labels(f)
            if datum.leaf.entry.index is not None:  # one place in each lane, or a permutation
                is_permutation = isinstance(datum, Ref) and bool(datum.known)
                return is_permutation or (set(source) <= set(spec.out) and len(spec.out) > len(source))
            return not datum.leaf.is_field and source == spec.out
        case _:  # all others add entries up, keep or move all; to make a selection at once is right, too
            return False


def covers(f: Rearranging) -> bool:
    """Tell if an arc is known to make something of everything, everywhere."""
    match f:
        case Reduce(relation):
            return _reaches_all(relation)
        case wire.ContractWith(spec, _, datum):
            fixed, source = labels(f)
            if datum.leaf.is_field or datum.leaf.entry.index is None:
                return datum.leaf.is_field
            scatters = any(c in spec.out for c in fixed[len(datum.leaf.axes) :])
            return bool(len(spec.out) <= len(source) and (not scatters or (isinstance(datum, Ref) and datum.known)))
        case wire.Move():
            return True
        case _:
            assert_never(f)


def _reaches_all(relation: AnyRelation) -> bool:
    """Tell if each element of the codomain is known to be related to one of the domain: no row is empty."""
    form = cast("Form", relation)
    match form:
        case Equality() | Rotation():
            return True
        case Full(X, _):
            return bool(X.size)
        case Order(_, _, strict):
            return not strict
        case Agreement(X, _, _, target):
            return bool(X.size) and len({*target}) == len(target)
        case Converse(of):
            return isinstance(of, Function)
        case Graph() | Pairs() | Partial() | Inclusion() | Window() | Sliding():  # rows are counted where that is asked
            return False
        case ProductRelation() | SumRelation() | Composite():
            return False
        case _:
            assert_never(form)


def united(x: Support, y: Support) -> Support:
    """The support of a sum: the places where one of two arrays can differ from 0.

    Where one array is m·x and the other (not m)·y, for one array of truth values m, the two supports share no place and
    make up that of what m was applied to, which is the result; else it is a `Union`. None stands for all places.
    """
    if x is None or y is None:
        return None
    if isinstance(x, Image) and isinstance(y, Image) and x.of is y.of and _are_opposite(x.arc, y.arc):
        return x.of
    return Union(x, y)


def _are_opposite(f: wire.Simple, g: wire.Simple) -> bool:
    """Tell if two arcs are a mask and its negation."""
    if not (isinstance(f, wire.ContractWith) and isinstance(g, wire.ContractWith) and f.spec == g.spec):
        return False
    c, d = f.datum, g.datum
    if not (isinstance(c, Ref) and isinstance(d, Ref)) or c.leaf.is_field or c.leaf.entry.index is not None:
        return False
    return c.known == -d.known != 0

"""The classes of arcs, which take an array or a bundle to another, and functions of any arc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from attrs import evolve

from linmap.term import simple_arcs
from linmap.term.datum import Datum, Ref
from linmap.term.net import Inverse, Recur, Wire, datum_of
from linmap.term.simple_arcs import *  # noqa: F403 - an arc is exported where it stands
from linmap.term.simple_arcs import ContractWith

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hilbert.index.leaf import Leaf

__all__ = ["Inverse", "Recur", "Wire", "at_slots", "closed", "datum_of", "image", "lifted", "on_data"]
__all__ += simple_arcs.__all__


def image(f: Wire, leaf: Leaf) -> Leaf:
    """The codomain of an arc on a leaf; raises SpaceError where the leaf is not in its domain."""
    return f.image(leaf)


def lifted(f: Wire, n: int, *, datum_too: bool = False) -> Wire:
    """f^X for n axes X in front; the data are shared by all of X unless they are lifted too (then Δ of a family)."""
    return f.lifted(n, datum_too=datum_too) if isinstance(f, ContractWith) else f.lifted(n)


def on_data(f: Wire, change: Callable[[Datum], Datum]) -> Wire:
    """The arc with its datum changed; the same object if it has none, or if nothing changed."""
    before = datum_of(f)
    after = None if before is None else change(before)
    if after is before:
        return f
    if isinstance(f, ContractWith):  # most often
        return ContractWith(f.spec, f.side, cast("Datum", after), f.free)
    changed: Any = f
    return cast("Wire", evolve(changed, datum=after))


def at_slots(f: Wire, place: Mapping[int, int]) -> Wire:
    """The arc with its reference at another slot."""
    return on_data(f, lambda d: Ref(place[d.slot], d.leaf, d.known) if isinstance(d, Ref) else d)


def closed(f: Wire, data: Mapping[int, Datum]) -> Wire:
    """The arc with its reference replaced by what it refers to."""
    return on_data(f, lambda datum: data.get(datum.slot, datum) if isinstance(datum, Ref) else datum)

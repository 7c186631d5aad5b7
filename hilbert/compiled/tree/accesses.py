"""The accesses of statements: which entries of which buffers are read and written."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, assert_never

from hilbert.compiled.tree.places import Computed, Place
from hilbert.compiled.tree.statements import Called, For, If, Nest, Product, Routine, Store, inside
from hilbert.compiled.tree.values import computed, loads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.places import Variable
    from hilbert.compiled.tree.statements import Statement
    from hilbert.compiled.tree.values import Value


class Access(NamedTuple):
    """An entry that is read or written; places None stand for the whole buffer."""

    places: tuple[Place, ...] | None
    writes: bool


Accesses: TypeAlias = "dict[Buffer, list[Access]]"
ANY = Place.of(Computed())
"""Any place along an axis."""
FEW = 32
"""Up to so many different places in a buffer are compared with each other."""


def accesses(statement: Statement, *, constants: bool = False, within: bool = True) -> Accesses:
    """The accesses of a statement and of those within it; without those of constants, which nobody writes."""
    found: Accesses = {}
    for top in inside([statement]) if within else [statement]:
        match top:
            case If(condition):
                _read(found, condition, constants)
            case Store(buffer, places, value, monoid) | Nest(_, buffer, places, value, monoid):
                _read(found, value, constants)
                for inner in computed(places):
                    _read(found, inner, constants)
                entries = found.setdefault(buffer, [])
                entries.append(Access(places, writes=True))
                if monoid is not None:
                    entries.append(Access(places, writes=False))
            case Product():
                for buffer, start in top.ends:
                    every = tuple(place if place.variable else ANY for place in start) or None
                    found.setdefault(buffer, []).append(Access(every, writes=buffer is top.c))
            case Routine() | Called():
                for is_written, buffers in ((False, top.buffers), (True, top.made)):
                    for buffer in buffers:
                        found.setdefault(buffer, []).append(Access(None, is_written))
            case For():
                pass
            case _:
                assert_never(top)
    return found


def _read(found: Accesses, value: Value, constants: bool) -> None:  # noqa: FBT001 - handed on
    for load in loads(value):
        buffer, places = load.args
        if constants or buffer.kind != "constant":
            found.setdefault(buffer, []).append(Access(places, writes=False))


def writes(found: list[Access]) -> bool:
    """Tell if one of the accesses writes."""
    return any(access.writes for access in found)


def width(every: Iterable[tuple[Place, ...] | None], k: int, variable: Variable) -> int:
    """The width of the strip of a round along axis k, in which all places are; 0 where they are in no one strip."""
    found = {None if places is None or (strip := places[k].strip(variable)) is None else strip[0] for places in every}
    return found.pop() or 0 if len(found) == 1 else 0


def is_own(entries: list[Access], rank: int, variable: Variable) -> bool:
    """Tell if no round of a loop touches an entry of a buffer, with so many axes, that another round writes.

    Along some axis the accesses stand in one strip, or at one place that moves; or each two of them, one of which
    writes, never meet along some axis.
    """
    found: dict[tuple[Place, ...], bool] = {}
    for places, is_written in entries:
        if places is None:
            return False
        found[places] = found.get(places, False) or is_written
    if any(width(found, k, variable) or _moves({places[k] for places in found}, variable) for k in range(rank)):
        return True
    if len(found) > FEW:
        return False
    pairs = itertools.combinations_with_replacement(found.items(), 2)
    asked = ((one, other) for (one, first), (other, second) in pairs if first or second)
    return all(any(_never_meet(p, q, variable) for p, q in zip(*pair, strict=True)) for pair in asked)


def _moves(places: set[Place], variable: Variable) -> bool:
    """Tell if there is one place, which is another one in each round."""
    return len(places) == 1 and [atom for place in places for atom, _ in place.terms] == [variable]


def _never_meet(p: Place, q: Place, variable: Variable) -> bool:
    """Tell if the place p of a round of a loop is never the place q of another round."""
    ends, others = p.bounds(), q.bounds()
    if ends is None or others is None:
        return False
    is_affine = len(p.terms) == 1 and p.terms == q.terms and p.terms[0][0] == variable
    gap = p.offset - q.offset
    return ends[1] < others[0] or others[1] < ends[0] or (is_affine and (gap == 0 or gap % p.terms[0][1] != 0))

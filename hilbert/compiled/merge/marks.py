"""Innermost loops whose rounds do not meet are marked: the compiler may run several rounds at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert.compiled.merge.accesses import accesses, width, writes
from hilbert.compiled.tree.statements import For, Store, inside
from hilbert.compiled.tree.values import loads

if TYPE_CHECKING:
    from hilbert.compiled.merge.accesses import Access
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.places import Variable
    from hilbert.compiled.tree.statements import Statement


def mark_parallel(statements: list[Statement]) -> None:
    """Mark the innermost loops whose rounds write different entries, or entries that live in one round."""
    count: dict[Buffer, int] = {}
    for statement in statements:
        for buffer, entries in accesses(statement).items():
            count[buffer] = count.get(buffer, 0) + len(entries)
    for statement in inside(statements):
        if isinstance(statement, For) and not statement.rounds:
            statement.is_parallel = _is_parallel(statement, count)


def _is_parallel(loop: For, count: dict[Buffer, int]) -> bool:
    stores = [s for s in loop.body if isinstance(s, Store)]
    if len(stores) != len(loop.body):
        return False
    found = accesses(loop)
    first = _first(stores)
    return all(
        not writes(entries)
        or _moves(entries, buffer, loop.variable)
        or (buffer.is_local and len(entries) == count[buffer] and first[buffer] and _is_fixed(entries))
        for buffer, entries in found.items()
    )


def _first(stores: list[Store]) -> dict[Buffer, bool]:
    """For each buffer whether the first access of a round writes it."""
    found: dict[Buffer, bool] = {}
    for store in stores:
        for load in loads(store.value):
            found.setdefault(load.args[0], False)
        found.setdefault(store.buffer, store.monoid is None)
    return found


def _moves(entries: list[Access], buffer: Buffer, variable: Variable) -> bool:
    """Tell if all accesses stand, along some axis, at one place that moves with the variable, or in its strip."""
    for k in range(len(buffer.shape)):
        if width([access.places for access in entries], k, variable):
            return True
        places = {access.places[k] if access.places is not None else None for access in entries}
        if len(places) == 1:
            (place,) = places
            if place is not None and len(place.terms) == 1 and place.terms[0][0] == variable:
                return True
    return False


def _is_fixed(entries: list[Access]) -> bool:
    return all(p.number is not None for access in entries for p in access.places or ())

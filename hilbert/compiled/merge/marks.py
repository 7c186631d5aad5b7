"""Innermost loops whose rounds meet in totals only are marked: the compiler may run several rounds at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert.compiled.tree.accesses import accesses, is_own, writes
from hilbert.compiled.tree.statements import For, If, Store, blocks, inside
from hilbert.compiled.tree.values import loads

if TYPE_CHECKING:
    from hilbert.compiled.tree.accesses import Access
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.places import Place
    from hilbert.compiled.tree.statements import Statement


def mark_parallel(statements: list[Statement]) -> None:
    """Mark the innermost loops whose rounds write different entries, or entries that live in one round."""
    kept: set[Buffer] = set()
    _keep(statements, kept)
    for statement in inside(statements):
        if isinstance(statement, For):
            _mark(statement, kept)


def _keep(statements: list[Statement], kept: set[Buffer]) -> None:
    """Add the buffers of which an entry is read that the same list of statements has not written before."""
    written: set[tuple[Buffer, tuple[Place, ...]]] = set()
    for statement in statements:
        if isinstance(statement, Store):
            entry = statement.buffer, statement.places
            read = {load.args for load in loads(statement.value)} | ({entry} if statement.monoid is not None else set())
            kept |= {b for b, _ in read - written}
            written.add(entry)
        elif isinstance(statement, If):
            kept |= {load.args[0] for load in loads(statement.condition)}
        for block in blocks(statement):
            _keep(block, kept)


def _mark(loop: For, kept: set[Buffer]) -> None:
    stores = [s for s in loop.body if isinstance(s, Store)]
    if len(stores) != len(loop.body):
        return
    written = {buffer: entries for buffer, entries in accesses(loop).items() if writes(entries)}
    shared = {b: found for b, found in written.items() if not (b.is_local and b not in kept and _is_fixed(found))}
    meeting = {b for b, found in shared.items() if not is_own(found, len(b.shape), loop.variable)}
    read = {load.args[0] for store in stores for load in loads(store.value)}
    loop.totals = frozenset(meeting)
    totals = [store for store in stores if store.buffer in meeting]
    is_one = all(p.is_without(loop.variable) for store in totals for p in store.places)
    loop.is_parallel = not meeting & read and is_one and all(store.monoid is not None for store in totals)


def _is_fixed(entries: list[Access]) -> bool:
    return all(p.number is not None for access in entries for p in access.places or ())

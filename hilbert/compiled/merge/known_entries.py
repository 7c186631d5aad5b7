"""Entries that are numbers stand in the program as numbers, and entries that nobody reads are not stored.

Of a buffer, the axes count along which all places are numbers: an *entry* here is all that stands at one place of each
of them. So the zeros of triangular matrices, whose axes are written out, cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, final

from hilbert.compiled.tree.accesses import accesses
from hilbert.compiled.tree.rewriting import Rewriting
from hilbert.compiled.tree.statements import If, Product, Store, blocks, inside, on_blocks

if TYPE_CHECKING:
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.places import Place
    from hilbert.compiled.tree.statements import Statement
    from hilbert.compiled.tree.values import Pool, Value

Entry: TypeAlias = "tuple[Buffer, tuple[int, ...]]"


def settled(pool: Pool, statements: list[Statement]) -> list[Statement]:
    """The statements with numbers in place of known entries, without added zeros and stores that nobody reads."""
    return _needed(statements, _numbered(pool, statements))


@final
class _Entries:
    """The entries of the program's own buffers, but for buffers that some statement takes as a whole."""

    def __init__(self, statements: list[Statement]) -> None:
        self._axes: dict[Buffer, tuple[int, ...]] = {}
        products = [s for s in inside(statements) if isinstance(s, Product)]
        whole = {buffer for product in products for buffer in accesses(product)}
        for statement in statements:
            for buffer, entries in accesses(statement).items():
                axes = self._axes.setdefault(buffer, tuple(range(len(buffer.shape))))
                for access in entries:
                    if access.places is None or buffer.kind != "work" or buffer.is_whole:
                        whole.add(buffer)
                    elif axes:
                        axes = tuple([k for k in axes if not access.places[k].terms])
                self._axes[buffer] = axes
        for buffer in whole:
            self._axes.pop(buffer, None)

    def at(self, buffer: Buffer, places: tuple[Place, ...]) -> Entry | None:
        """The entry at some places; None for a buffer of an argument or a result, or one that is taken as a whole."""
        axes = self._axes.get(buffer)
        return None if axes is None else (buffer, tuple([places[k].offset for k in axes]))


def _numbered(pool: Pool, statements: list[Statement]) -> _Entries:
    """Put a number in place of each entry to which all stores store this number, in the order of the statements."""
    entries = _Entries(statements)
    stores: dict[Entry, list[Store]] = {}
    for statement in inside(statements):
        if isinstance(statement, Store) and (entry := entries.at(statement.buffer, statement.places)):
            stores.setdefault(entry, []).append(statement)

    def known(buffer: Buffer, places: tuple[Place, ...]) -> Value | None:
        entry = entries.at(buffer, places)
        found = stores.get(entry, ()) if entry is not None else ()
        values = {store.value if store.monoid is None else None for store in found}
        value = values.pop() if len(values) == 1 else None
        return value if value is not None and value.number is not None else None

    change = Rewriting(pool, {}, known=known)
    for statement in inside(statements):
        if isinstance(statement, Store):
            statement.value = change.value(statement.value)
            if _adds_nothing(statement) and (entry := entries.at(statement.buffer, statement.places)):
                stores[entry].remove(statement)
        elif isinstance(statement, If):
            statement.condition = change.value(statement.condition)
    return entries


def _adds_nothing(store: Store) -> bool:
    return store.monoid == "add" and store.value.number == 0


def _needed(statements: list[Statement], entries: _Entries) -> list[Statement]:
    """The statements without stores whose entries nobody reads, and without zeros that are added."""
    waiting: list[Statement] = []
    unread: dict[Entry, list[Store]] = {}
    for statement in inside(statements):
        if isinstance(statement, If):
            waiting.append(statement)
        elif isinstance(statement, Store) and not _adds_nothing(statement):
            entry = entries.at(statement.buffer, statement.places)
            if entry is None:
                waiting.append(statement)
            else:
                unread.setdefault(entry, []).append(statement)
    kept: set[Statement] = set()
    while waiting:
        top = waiting.pop()
        kept.add(top)
        for buffer, found in accesses(top, within=False).items():
            for access in found:
                if access.places is not None and not access.writes and (entry := entries.at(buffer, access.places)):
                    waiting += unread.pop(entry, [])
    return _only(statements, kept)


def _only(statements: list[Statement], kept: set[Statement]) -> list[Statement]:
    """The statements with these stores only, and without loops that hold nothing."""
    for statement in statements:
        on_blocks(statement, lambda inner: _only(inner, kept))
    return [s for s in statements if (s in kept if isinstance(s, Store) else not blocks(s) or any(blocks(s)))]

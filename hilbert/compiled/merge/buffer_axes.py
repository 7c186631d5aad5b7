"""Buffers that live within one round of a loop keep its strip of that axis; small ones become the function's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from hilbert.compiled.tree.accesses import accesses, width
from hilbert.compiled.tree.places import Place
from hilbert.compiled.tree.rewriting import Rewriting
from hilbert.compiled.tree.statements import For, If, Product, Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.compiled.tree.arrays import Loops
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.statements import Statement

Gone: TypeAlias = "dict[Buffer, dict[int, int]]"
"""For each buffer the axes that are cut, and what is left of them."""
LOCAL = 64
"""The entries of a buffer that may be the function's own, in registers if the compiler finds them."""

MOST = 1 << 13
"""The entries of all such buffers together, but for single ones: a thread's stack is small."""


def contract(to: Loops, parts: Sequence[Sequence[Statement]]) -> None:
    """Cut the axes of buffers to the strip of one round where every access is in that of a loop around all of them.

    Each part becomes a function: a buffer that several of them use lies in memory.
    """
    uses: dict[Buffer, list[tuple[tuple[Place, ...] | None, tuple[For, ...]]]] = {}
    found_in: dict[Buffer, set[int]] = {}
    waiting: list[tuple[Statement, tuple[For, ...], int]] = []
    for number, part in enumerate(parts):
        waiting.extend((statement, (), number) for statement in part)
    while waiting:
        top, around, number = waiting.pop()
        match top:
            case For(_, body):
                waiting += [(inner, (*around, top), number) for inner in body]
                continue
            case If(condition, then, otherwise):
                waiting += [(inner, around, number) for inner in then + otherwise]
                found = accesses(If(condition, [], []))
            case _:  # those that hold no others
                found = accesses(top)
        for buffer, entries in found.items():
            uses.setdefault(buffer, []).extend((access.places, around) for access in entries)
            found_in.setdefault(buffer, set()).add(number)
    gone: Gone = {}
    for buffer in to.buffers:
        used = uses.get(buffer, [])
        if not used or buffer.is_whole:
            continue
        common = used[0][1]
        for _, around in used:
            k = 0
            while k < min(len(common), len(around)) and common[k] is around[k]:
                k += 1
            common = common[:k]
        every = [places for places, _ in used]
        dropped = {k: n for k in range(len(buffer.shape)) for loop in common if (n := width(every, k, loop.variable))}
        if dropped:
            gone[buffer] = dropped
    for buffer, dropped in gone.items():
        buffer.shape = tuple(dropped.get(k, n) for k, n in enumerate(buffer.shape))
    if gone:
        _rewrite(to, [statement for part in parts for statement in part], gone)
    held = 0
    for buffer in sorted(to.buffers, key=lambda b: b.size):
        is_alone = not (buffer.is_whole or buffer.is_ordered) and len(found_in.get(buffer, ())) <= 1
        buffer.is_local = is_alone and buffer.size <= LOCAL and held <= MOST
        held += buffer.size * (buffer.is_local and buffer.size > 1)


def _rewrite(to: Loops, statements: list[Statement], gone: Gone) -> None:
    """The statements at the places that are left."""

    def kept(buffer: Buffer, places: tuple[Place, ...]) -> tuple[Place, ...]:
        dropped = gone.get(buffer)
        return (
            places if dropped is None else tuple(Place(p.offset) if k in dropped else p for k, p in enumerate(places))
        )

    change = Rewriting(to.pool, {}, kept)
    waiting = list(statements)
    while waiting:
        top = waiting.pop()
        match top:
            case For(_, body):
                waiting += body
            case If(condition, then, otherwise):
                top.condition = change.value(condition)
                waiting += then + otherwise
            case Store():
                top.value = change.value(top.value)
                top.places = change.places(top.buffer, top.places)
            case Product(a, b, c) if top.batch:
                first, second, made = (
                    Place(0) if axis in gone.get(buffer, ()) else start
                    for buffer, axis, start in zip((a, b, c), top.batch, top.starts, strict=True)
                )
                top.starts = first, second, made
            case _:  # whole arrays
                pass

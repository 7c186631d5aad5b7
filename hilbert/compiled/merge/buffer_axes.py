"""Buffers that live within one round of a loop keep its strip of that axis; small ones become the function's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from hilbert.compiled.tree.accesses import accesses, width
from hilbert.compiled.tree.places import Place
from hilbert.compiled.tree.rewriting import Rewriting
from hilbert.compiled.tree.statements import For, blocks

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


def contract(to: Loops, parts: Sequence[list[Statement]]) -> None:
    """Cut the axes of buffers to the strip of one round where every access is in that of a loop around all of them.

    Each part becomes a function: a buffer that several of them use lies in memory.
    """
    uses: dict[Buffer, list[tuple[tuple[Place, ...] | None, tuple[For, ...], int]]] = {}

    def visit(number: int, statements: Sequence[Statement], around: tuple[For, ...]) -> None:
        for statement in statements:
            for buffer, entries in accesses(statement, within=False).items():
                uses.setdefault(buffer, []).extend((access.places, around, number) for access in entries)
            for block in blocks(statement):
                visit(number, block, (*around, statement) if isinstance(statement, For) else around)

    for number, part in enumerate(parts):
        visit(number, part, ())
    gone: Gone = {}
    for buffer in to.buffers:
        used = [] if buffer.is_whole else uses.get(buffer, [])
        common = [loops[0] for loops in zip(*(around for _, around, _ in used), strict=False) if len({*loops}) == 1]
        every = [places for places, _, _ in used]
        dropped = {k: n for k in range(len(buffer.shape)) for loop in common if (n := width(every, k, loop.variable))}
        if dropped:
            gone[buffer] = dropped
            buffer.shape = tuple(dropped.get(k, n) for k, n in enumerate(buffer.shape))

    def kept(buffer: Buffer, places: tuple[Place, ...]) -> tuple[Place, ...]:
        dropped = gone.get(buffer, {})
        return tuple([Place(p.offset) if k in dropped else p for k, p in enumerate(places)]) if dropped else places

    change = Rewriting(to.pool, {}, kept)
    for part in parts if gone else ():
        part[:] = change.statements(part)
    held = 0
    for buffer in sorted(to.buffers, key=lambda b: b.size):
        is_alone = (
            not (buffer.is_whole or buffer.is_ordered) and len({number for *_, number in uses.get(buffer, ())}) <= 1
        )
        buffer.is_local = is_alone and buffer.size <= LOCAL and held <= MOST
        held += buffer.size * (buffer.is_local and buffer.size > 1)

"""Buffers that live within one round of a loop lose that axis; small ones become the function's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert.compiled.merge.accesses import accesses
from hilbert.compiled.tree.statements import For, If, Store

if TYPE_CHECKING:
    from hilbert.compiled.tree.arrays import Loops
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.places import Place
    from hilbert.compiled.tree.statements import Statement
    from hilbert.compiled.tree.values import Value

LOCAL = 64
"""The entries of a buffer that may be the function's own, in registers if the compiler finds them."""

MOST = 1 << 13
"""The entries of all such buffers together, but for single ones: a thread's stack is small."""


def contract(to: Loops, statements: list[Statement]) -> None:
    """Drop the axes of buffers along which every access stands at the place of a loop around all of them."""
    uses: dict[Buffer, list[tuple[tuple[Place, ...] | None, tuple[For, ...]]]] = {}
    segments: dict[Buffer, set[int]] = {}
    waiting: list[tuple[Statement, tuple[For, ...], int]] = []
    segment = 0
    for statement in statements:
        segment += not isinstance(statement, (For, If, Store))
        waiting.append((statement, (), segment))
    while waiting:
        top, around, segment = waiting.pop()
        match top:
            case For(_, body):
                waiting += [(inner, (*around, top), segment) for inner in body]
                continue
            case If(condition, then, otherwise):
                waiting += [(inner, around, segment) for inner in then + otherwise]
                found = accesses(If(condition, [], []))
            case _:
                found = accesses(top)
        for buffer, entries in found.items():
            uses.setdefault(buffer, []).extend((access.places, around) for access in entries)
            segments.setdefault(buffer, set()).add(segment)
    gone: dict[Buffer, set[int]] = {}
    for buffer in to.buffers:
        used = uses.get(buffer, [])
        if not used or buffer.is_whole or any(places is None for places, _ in used):
            continue
        common = used[0][1]
        for _, around in used:
            k = 0
            while k < min(len(common), len(around)) and common[k] is around[k]:
                k += 1
            common = common[:k]
        variables = {loop.variable for loop in common if not loop.rounds}
        dropped = {
            k
            for k in range(len(buffer.shape))
            if variables and used[0][0] is not None and (v := used[0][0][k].variable) in variables
            and all(places is not None and places[k].variable == v for places, _ in used)
        }
        if dropped:
            gone[buffer] = dropped
    for buffer, dropped in gone.items():
        kept = [k for k in range(len(buffer.shape)) if k not in dropped]
        buffer.order = tuple(kept.index(k) for k in buffer.order if k in kept)
        buffer.shape = tuple(buffer.shape[k] for k in kept)
    if gone:
        _rewrite(to, statements, gone)
    held = 0
    for buffer in sorted(to.buffers, key=lambda b: b.size):
        buffer.is_local = (
            not buffer.is_whole and buffer.size <= LOCAL and len(segments.get(buffer, ())) <= 1 and held <= MOST
        )
        held += buffer.size * (buffer.is_local and buffer.size > 1)


def _rewrite(to: Loops, statements: list[Statement], gone: dict[Buffer, set[int]]) -> None:
    """The statements at the places that are left."""
    known: dict[Value, Value] = {}
    pool = to.pool

    def kept(buffer: Buffer, places: tuple[Place, ...]) -> tuple[Place, ...]:
        dropped = gone.get(buffer, ())
        return tuple(p for k, p in enumerate(places) if k not in dropped)

    def value(v: Value) -> Value:
        return pool.changed(v, known, place, kept)

    def place(p: Place) -> Place:
        return p.over(lambda atom: value(atom) if hasattr(atom, "pool") else _divided(atom, place))

    waiting = list(statements)
    while waiting:
        top = waiting.pop()
        match top:
            case For(_, body):
                waiting += body
            case If(condition, then, otherwise):
                top.condition = value(condition)
                waiting += then + otherwise
            case Store():
                top.value = value(top.value)
                top.places = tuple(map(place, kept(top.buffer, top.places)))
            case _:  # whole arrays
                pass


def _divided(atom: object, place: object) -> object:
    if hasattr(atom, "remainder"):
        inner = place(atom.of)  # type: ignore[operator]
        return inner.modulo(atom.n) if atom.remainder else inner.divided(atom.n)
    return atom

"""Buffers that live within one round of a loop keep its strip of that axis; small ones become the function's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from hilbert.compiled.merge.accesses import accesses, width
from hilbert.compiled.tree.places import Place
from hilbert.compiled.tree.statements import For, If, Store

if TYPE_CHECKING:
    from hilbert.compiled.tree.arrays import Loops
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.statements import Statement
    from hilbert.compiled.tree.values import Value

Gone: TypeAlias = "dict[Buffer, dict[int, int]]"
"""For each buffer the axes that are cut, and what is left of them."""
LOCAL = 64
"""The entries of a buffer that may be the function's own, in registers if the compiler finds them."""


def contract(to: Loops, statements: list[Statement]) -> None:
    """Cut the axes of buffers to the strip of one round where every access is in that of a loop around all of them."""
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
    gone: Gone = {}
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
        every = [places for places, _ in used]
        dropped = {
            k: n
            for k in range(len(buffer.shape))
            for loop in common
            if not loop.rounds and (n := width(every, k, loop.variable))
        }
        if dropped:
            gone[buffer] = dropped
    for buffer, dropped in gone.items():
        buffer.shape = tuple(dropped.get(k, n) for k, n in enumerate(buffer.shape))
    if gone:
        _rewrite(to, statements, gone)
    for buffer in to.buffers:
        buffer.is_local = not buffer.is_whole and buffer.size <= LOCAL and len(segments.get(buffer, ())) <= 1


def _rewrite(to: Loops, statements: list[Statement], gone: Gone) -> None:
    """The statements at the places that are left."""
    known: dict[Value, Value] = {}
    pool = to.pool

    def kept(buffer: Buffer, places: tuple[Place, ...]) -> tuple[Place, ...]:
        dropped = gone.get(buffer, {})
        return tuple(Place(p.offset) if k in dropped else p for k, p in enumerate(places))

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

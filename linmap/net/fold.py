"""One fold over nets: running, applying to symbols, comparing, printing and listing products are algebras of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from linmap.term.net import Arc, Net

T = TypeVar("T")


def fold(
    body: Net, inputs: Iterable[tuple[int, T]], act: Callable[[Arc, T], T | None], add: Callable[[T, T], T]
) -> list[T | None]:
    """The value at each output if `inputs` (wire, value) flow in; None, for 0, where nothing arrives.

    `act` gives the value that an arc makes of that of its source, `add` the sum of two values on one wire. Arcs stand
    in topological order, so a wire is complete when it is first read.
    """
    value: dict[int, T] = {}

    def put(w: int, x: T) -> None:
        value[w] = add(value[w], x) if w in value else x

    for w, x in inputs:
        put(w, x)
    for arc in body.arcs:
        if arc.src in value:
            made = act(arc, value[arc.src])
            if made is not None:
                put(arc.dst, made)
    return [value.get(w) for w in body.outputs]


def extended(a: list[T], b: list[T]) -> list[T]:
    """a, with the items of b behind its own: `add` for values that are lists, each the only one to know its list."""
    a.extend(b)
    return a


def live_arcs(arcs: Iterable[Arc], inputs: Iterable[int], outputs: Iterable[int]) -> list[Arc]:
    """The arcs, in order, that some input reaches and that lead to some output: the others are 0."""
    arcs = list(arcs)
    moving, live = set(inputs), set(outputs)
    for arc in arcs:
        if arc.src in moving:
            moving.add(arc.dst)
    kept = []
    for arc in reversed(arcs):
        if arc.dst in live and arc.src in moving:
            live.add(arc.src)
            kept.append(arc)
    return kept[::-1]

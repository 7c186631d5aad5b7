"""What linear loops and inverses mean: their adjoints, and a step of a line when they are applied to slots.

A linear loop becomes a loop (paper §6, over time), an inverse a linear system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import evolve

import hilbert.program.transform.run_linear_system  # noqa: F401 - attaches what runs a linear system
from hilbert.base.attach import attach
from hilbert.index.leaf import Leaf
from hilbert.program.control.branch import TRUTH
from hilbert.program.control.equation_step import Solve
from hilbert.program.control.loop import Loop
from hilbert.program.line.builder import Builder
from hilbert.program.line.constant import Const
from hilbert.program.transform.emit_loop import emitted, looped
from linmap.net.fold import fold
from linmap.net.support import Given, Part, breaks
from linmap.net.supported_flow import MADE, Supports
from linmap.net.transposed_net import turned
from linmap.term import wire
from linmap.term.bundle_arcs import Recur
from linmap.term.datum import Ref
from linmap.term.inverse import Inverse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from linmap.term.datum import Datum
    from linmap.term.net import Arc, Net

Flowing: TypeAlias = "Part | dict[int, Part]"
"""What flows through a wire: a slot with its support, or one for each array of a bundle that is not 0."""
ROUNDS = 16
"""Supports of what a loop carries are followed for so many rounds; if they still grow, all is read."""


def _adjoint(f: Recur, _: Leaf) -> Recur:
    return evolve(f, body=turned(f.body), fed=f.summed, summed=f.fed, reverse=not f.reverse)


attach(Recur, "adjoint", _adjoint)
attach(Inverse, "adjoint", lambda f, _: evolve(f, body=turned(f.body)))


# --- application ---


def acted(b: Builder, f: Recur | Inverse, x: dict[int, int], at: Callable[[Datum], int]) -> dict[int, int]:
    """What a linear loop or an inverse makes of a bundle that flows into it."""
    made = _opaque(Supports(b, at), f, {k: Part(slot) for k, slot in x.items()})
    return {k: p.base for k, p in made.items()}


def _opaque(supports: Supports, f: Recur | Inverse, x: dict[int, Part]) -> dict[int, Part]:
    b, datum = supports.b, supports.at(f.datum)
    if isinstance(f, Recur):
        return _loop(supports, f, x, datum)
    return {k: Part(slot) for k, slot in _system(b, f, {k: p.base for k, p in x.items()}, datum).items()}


def _through(f: wire.Wire, x: Flowing, supports: Supports) -> Flowing | None:
    """What an arc makes of what flows into it."""
    match f:
        case wire.OutOf(k):
            assert isinstance(x, dict)
            return x.get(k)
        case Recur() | Inverse():
            assert isinstance(x, dict)
            return _opaque(supports, f, x)
        case wire.Into(k, _):
            assert isinstance(x, Part)
            return {k: supports.settled(x)}
        case wire.Same():
            return x
        case single:  # one array to one array, as its type says
            assert isinstance(x, Part)
            return supports.through(single, x)


def _both(x: Flowing, y: Flowing, supports: Supports) -> Flowing:
    """The sum of what flows into a wire."""
    if isinstance(x, dict) and isinstance(y, dict):
        return x | {k: supports.both(x[k], p) if k in x else p for k, p in y.items()}
    assert isinstance(x, Part)
    assert isinstance(y, Part)
    return supports.both(x, y)


def _parts(supports: Supports, body: Net, given: Iterable[tuple[int, Flowing]], lead: int = 0) -> list[Flowing | None]:
    """What arrives at each output of a net, with its support."""

    def act(arc: Arc, x: Flowing) -> Flowing | None:
        return _through(wire.lifted(arc.map, lead) if lead else arc.map, x, supports)

    return fold(body, given, act, lambda x, y: _both(x, y, supports))


def flowing(b: Builder, body: Net, given: Iterable[tuple[int, int]], at: Callable[[Datum], int]) -> list[int | None]:
    """The slot that arrives at each output of a net; None where nothing does."""
    supports = Supports(b, at, postpone=_may_break(body))
    found = _parts(supports, body, ((w, Part(slot)) for w, slot in given))
    return [_settled(supports, x) for x in found]


def _settled(supports: Supports, x: Flowing | None) -> int | None:
    assert not isinstance(x, dict)
    return None if x is None else supports.settled(x).base


def _loop(outside: Supports, f: Recur, parts: dict[int, Part], datum: int) -> dict[int, Part]:
    """The loop of a line that a linear loop is on some slots: parts of the flow that are 0 stay 0."""
    b, body, n, m = outside.b, f.body, f.lead, len(f.index.axes)
    x = {k: p.base for k, p in parts.items()}
    lead = b.slots[next(iter(x.values()))].axes[:n]
    present = _present(f, x)
    arrive = _reached(body, [body.inputs[k] for k in present])
    sums = [k for k in range(f.states, f.states + f.summed) if body.outputs[k] in arrive]
    rows = [k for k in range(f.states + f.summed, len(body.outputs)) if body.outputs[k] in arrive]
    states = [k for k in present if k < f.states]
    fed = [k for k in present if f.states <= k < f.states + f.fed]
    slices = [k for k in present if k >= f.states + f.fed]
    data = b.unpack(datum)
    before = [x[k] if k in x else b.number(0.0, body.wires[body.inputs[k]].under(lead)) for k in states]
    before += [b.number(0.0, body.wires[body.outputs[k]].under(lead)) for k in sums]
    given = [*before, *(x[k] for k in fed), *data[: f.fixed]]
    given += [*(_in_front(b, x[k], n, m) for k in slices), *data[f.fixed :]]
    leaves = [b.slots[k] for k in given]
    whole = len(before) + len(fed) + f.fixed
    leaves[whole:] = [evolve(leaf, axes=leaf.axes[m:]) for leaf in leaves[whole:]]

    def round_(masks: Masks) -> tuple[Supports, dict[int, int], list[Flowing | None]]:
        """A round, with its totals, where these places only of what is carried and fed can differ from 0."""
        inner = Builder(leaves, fold=True, fixed=f.line.fixed)
        place = iter(range(inner.arity))
        flow: dict[int, int] = {k: next(place) for k in states}
        totals = {k: next(place) for k in sums}
        flow |= {k: next(place) for k in fed}
        fixed = [next(place) for _ in range(f.fixed)]
        flow |= {k: next(place) for k in slices}
        where = inner.inline(f.line, [*fixed, *place])
        inside = Supports(inner, lambda d: where[d.slot] if isinstance(d, Ref) else inner.literal(d))
        read = {k: None if (mask := masks.get(k)) is None else Given(mask) for k in flow}
        return inside, totals, _parts(inside, body, [(body.inputs[k], Part(flow[k], read[k])) for k in flow], n)

    masks = _carried(outside, f, parts, states, fed, round_)
    inside, totals, made = round_(masks)
    inner, ends = inside.b, [_settled(inside, p) for p in made]
    after = [_slot(inner, ends[k], body.wires[body.outputs[k]].under(lead)) for k in states]
    after += [inner.add(totals[k], _slot(inner, ends[k], inner.slots[totals[k]])) for k in sums]
    after += [_slot(inner, ends[k], body.wires[body.outputs[k]].under(lead)) for k in rows]
    loop = Loop(inner.line(after), f.index, len(before), len(fed) + f.fixed, f.reverse, f.again)
    results = dict(zip((*states, *sums, *rows), looped(b, loop, given), strict=True))
    read = {k: Given(mask) for k in states if (mask := masks.get(k)) is not None}
    read |= {k: Given(mask) for k in sums if masks and (mask := _mask(inside, made[k])) is not None}
    return {k: Part(_behind(b, slot, n, m) if k in rows else slot, read.get(k)) for k, slot in results.items()}


Masks: TypeAlias = "dict[int, Const | None]"
"""Where some arrays of a bundle can differ from 0, if that is known; None, or not there, for everywhere."""


def _carried(
    outside: Supports, f: Recur, parts: dict[int, Part], states: list[int], fed: list[int], round_: Any
) -> Masks:
    """The masks of what a loop carries, a fixed point over its rounds, and of what each round is given."""
    if not any(p.where for p in parts.values()) or not _may_break(f.body):
        return {}
    masks: Masks = {k: outside.known(parts[k]) for k in (*states, *fed) if k in parts}
    if not any(masks.values()):
        return {}
    for k in states:
        if k not in parts:  # 0 at first
            leaf = f.body.wires[f.body.inputs[k]].under(outside.b.slots[next(iter(parts.values())).base].axes[: f.lead])
            masks[k] = Const(np.zeros(leaf.shape, bool), Leaf(TRUTH.entry, leaf.axes), MADE)
    for _ in range(min(ROUNDS, f.index.size)):
        inside, _, made = round_(masks)
        grown = {k: _grown(masks[k], inside, made[k]) for k in states if masks[k] is not None}
        if all(grown[k] is masks[k] for k in grown):
            return masks
        masks |= grown
    return masks if f.index.size <= ROUNDS else {}


def _grown(mask: Const | None, inside: Supports, end: Flowing | None) -> Const | None:
    """A mask and where what a round makes of it can differ from 0; itself if that is in it."""
    more = _mask(inside, end)
    if mask is None or end is None:
        return mask
    if more is None or not (more.array & ~mask.array).any():
        return mask if more is not None else None
    array = more.array | mask.array
    return None if array.all() else Const(array, mask.leaf, MADE)


def _mask(inside: Supports, end: Flowing | None) -> Const | None:
    return inside.known(end) if isinstance(end, Part) else None


def _may_break(body: Net) -> bool:
    """Whether some datum of a round may be infinite, in a loop inside too."""
    for arc in body.arcs:
        f = arc.map
        if isinstance(f, wire.ContractWith):
            if f.datum.leaf.is_field and breaks(f.datum):
                return True
        elif isinstance(f, Recur) and _may_break(f.body):
            return True
    return False


def _system(b: Builder, f: Inverse, x: dict[int, int], datum: int) -> dict[int, int]:
    """The linear system that an inverse is on some slots."""
    body, unknowns = f.body, len(f.body.inputs)
    lead = b.slots[next(iter(x.values()))].axes[: f.lead]
    data = b.unpack(datum)
    inner = Builder([*f.made.leaves, *(b.slots[k] for k in data)], fold=True, fixed=f.line.fixed)
    where = inner.inline(f.line, range(unknowns, inner.arity))

    def at(d: Datum) -> int:
        return where[d.slot] if isinstance(d, Ref) else inner.literal(d)

    made = flowing(inner, body, [(w, k) for k, w in enumerate(body.inputs)], at)
    line = inner.line(_slot(inner, y, leaf) for y, leaf in zip(made, f.given.leaves, strict=True))
    sides = [_slot(b, x.get(k), leaf.under(lead)) for k, leaf in enumerate(f.given.leaves)]
    before, b.place = b.place, f.place or b.place
    found = emitted(b, Solve(line, unknowns, lead, f.lanes, f.of), [*sides, *data])
    b.place = before
    return dict(enumerate(found))


def _slot(b: Builder, flow: int | None, leaf: Leaf) -> int:
    return b.number(0.0, leaf) if flow is None else flow


def _present(f: Recur, x: Iterable[int]) -> list[int]:
    """The inputs of a round that are not 0 in every round: those given, and states that others lead to."""
    present = set(x)
    while True:
        arrive = _reached(f.body, [f.body.inputs[k] for k in present])
        more = {k for k in range(f.states) if f.body.outputs[k] in arrive} - present
        if not more:
            return sorted(present)
        present |= more


def _reached(body: Net, inputs: Iterable[int]) -> set[int]:
    """The wires that something arrives at from some inputs."""
    reached = set(inputs)
    for arc in body.arcs:
        if arc.src in reached:
            reached.add(arc.dst)
    return reached


def _in_front(b: Builder, slot: int, n: int, m: int) -> int:
    """The stack with its m axes in front of n others."""
    return _moved(b, slot, (*range(n, n + m), *range(n))) if n else slot


def _behind(b: Builder, slot: int, n: int, m: int) -> int:
    """The stack with its m axes behind n others."""
    return _moved(b, slot, (*range(m, n + m), *range(m))) if n else slot


def _moved(b: Builder, slot: int, first: tuple[int, ...]) -> int:
    return b.apply(wire.Move((*first, *range(len(first), len(b.slots[slot].axes)))), slot)

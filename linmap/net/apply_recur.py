"""Linear loops and inverses, applied to slots, as steps of a line.

A linear loop becomes a loop (paper §6, over time), an inverse a linear system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import evolve

from hilbert.index.leaf import Leaf
from hilbert.program.control.equation_step import Solve
from hilbert.program.control.loop import Loop
from hilbert.program.line.builder import Builder
from hilbert.program.line.constant import Const
from hilbert.program.transform.emit_loop import emitted, looped
from linmap.net.fold import fold
from linmap.net.loop_masks import (
    GivenMasks,
    Masks,
    Round,
    carried_masks,
    given_as,
    given_masks,
    in_all_rounds,
    may_break,
)
from linmap.net.support import Part
from linmap.net.supported_flow import Supports
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Inverse, Recur

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from linmap.term.datum import Datum
    from linmap.term.net import Arc, Net

Flowing: TypeAlias = "Part | dict[int, Part]"
"""The flow through a wire: a slot with its support, or one for each array of a bundle that is not 0."""


def acted(b: Builder, f: Recur | Inverse, x: dict[int, int], at: Callable[[Datum], int]) -> dict[int, int]:
    """Apply a linear loop or an inverse to a bundle."""
    made = acted_on_parts(Supports(b, at), f, {k: Part(slot) for k, slot in x.items()})
    return {k: p.base for k, p in made.items()}


def acted_on_parts(supports: Supports, f: Recur | Inverse, x: dict[int, Part]) -> dict[int, Part]:
    """Apply a linear loop or an inverse to a bundle of parts, their selections made."""
    b, datum = supports.b, supports.at(f.datum)
    if isinstance(f, Recur):
        return _loop(supports, f, x, datum)
    return {k: Part(slot) for k, slot in _system(b, f, {k: p.base for k, p in x.items()}, datum).items()}


def _through(f: wire.Wire, x: Flowing, supports: Supports) -> Flowing | None:
    """Apply an arc; None where nothing comes out."""
    match f:
        case wire.OutOf(k):
            assert isinstance(x, dict)
            return x.get(k)
        case Recur() | Inverse():
            assert isinstance(x, dict)
            return acted_on_parts(supports, f, x)
        case wire.Into(k, _):
            assert isinstance(x, Part)
            return {k: supports.settled(x)}
        case wire.Same():
            return x
        case single:  # one array to one array, as its type says
            assert isinstance(x, Part)
            return supports.through(single, x)


def _both(x: Flowing, y: Flowing, supports: Supports) -> Flowing:
    """The sum of two flows into a wire."""
    if isinstance(x, dict) and isinstance(y, dict):
        return x | {k: supports.both(x[k], p) if k in x else p for k, p in y.items()}
    assert isinstance(x, Part)
    assert isinstance(y, Part)
    return supports.both(x, y)


def _parts(supports: Supports, body: Net, given: Iterable[tuple[int, Flowing]], lead: int = 0) -> list[Flowing | None]:
    """The flow at each output of a net, with its support."""

    def act(arc: Arc, x: Flowing) -> Flowing | None:
        return _through(wire.lifted(arc.map, lead) if lead else arc.map, x, supports)

    return fold(body, given, act, lambda x, y: _both(x, y, supports))


def flowing(
    b: Builder, body: Net, given: Iterable[tuple[int, int]], at: Callable[[Datum], int], where: Masks | None = None
) -> list[int | None]:
    """The slot that arrives at each output of a net; None where nothing does. Input k is 0 outside of its mask."""
    supports = Supports(b, at, postpone=may_break(body))
    found = _parts(supports, body, [(w, Part(s, given_as((where or {}).get(k)))) for k, (w, s) in enumerate(given)])
    return [None if end is None else end.base for end in (_made(supports, x) for x in found)]


def _made(supports: Supports, x: Flowing | None) -> Part | None:
    """The flow at an output, its selections made."""
    assert not isinstance(x, dict)
    return None if x is None else supports.settled(x)


def _loop(outside: Supports, f: Recur, parts: dict[int, Part], datum: int) -> dict[int, Part]:
    """The loop of a line that a linear loop is on some slots: parts of the flow that are 0 stay 0."""
    b, body, n, m, follows = outside.b, f.body, f.lead, len(f.index.axes), outside.postpone
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
    read = given_masks(outside, f, parts, present) if follows else GivenMasks({}, {}, {})
    given = [*before, *(x[k] for k in fed), *(read.shared[k] for k in read.shared), *data[: f.fixed]]
    stacks = [*(x[k] for k in slices), *(read.stacks[k] for k in read.stacks)]
    given += [*(_in_front(b, slot, n, m) for slot in stacks), *data[f.fixed :]]
    leaves = [b.slots[k] for k in given]
    shared = len(fed) + len(read.shared) + f.fixed
    whole = len(before) + shared
    leaves[whole:] = [evolve(leaf, axes=leaf.axes[m:]) for leaf in leaves[whole:]]

    def round_(carried: Masks) -> Round:
        """Build a round in which the arrays that are carried can differ from 0 at these places only."""
        inner = Builder(leaves, fold=True, fixed=f.line.fixed)
        place = iter(range(inner.arity))
        flow: dict[int, int] = {k: next(place) for k in states}
        totals = {k: next(place) for k in sums}
        flow |= {k: next(place) for k in fed}
        masks = {**carried, **read.known, **{k: next(place) for k in read.shared}}
        masks = {k: mask for k, mask in masks.items() if k >= f.states or k in carried}
        fixed = [next(place) for _ in range(f.fixed)]
        flow |= {k: next(place) for k in slices}
        masks |= {k: next(place) for k in read.stacks}
        where = inner.inline(f.line, [*fixed, *place])
        inside = Supports(inner, lambda d: where[d.slot] if isinstance(d, Ref) else inner.literal(d), postpone=follows)
        some = [(body.inputs[k], Part(flow[k], given_as(masks.get(k)))) for k in flow]
        return Round(inside, totals, [_made(inside, end) for end in _parts(inside, body, some, n)], masks)

    carried = carried_masks(outside, f, parts, states, round_)
    last = round_(carried)
    inner, totals = last.supports.b, last.totals
    ends: dict[int, int] = {}
    for k in (*states, *sums, *rows):
        end = last.ends[k]
        ends[k] = _slot(inner, None if end is None else end.base, body.wires[body.outputs[k]].under(lead))
    after = [ends[k] for k in states]
    after += [inner.add(totals[k], ends[k]) for k in sums]
    after += [ends[k] for k in rows]
    made = {k: last.supports.mask(end) for k in (*sums, *rows) if follows and (end := last.ends[k]) is not None}
    found = {k: mask for k in rows if isinstance(mask := made.get(k), int)}  # masks of each round
    loop = Loop(inner.line([*after, *found.values()]), f.index, len(before), shared, f.reverse, f.again)
    results = looped(b, loop, given)
    slots = dict(zip((*states, *sums, *rows), results, strict=False))
    masks = carried | {k: _behind(b, slot, n, m) for k, slot in zip(found, results[len(slots) :], strict=True)}
    for k, mask in made.items():
        if isinstance(mask, Const):
            masks[k] = in_all_rounds(f.index, mask, n) if k in rows else mask
    return {k: Part(_behind(b, slot, n, m) if k in rows else slot, given_as(masks.get(k))) for k, slot in slots.items()}


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
    found = emitted(b, Solve(line, unknowns, lead, f.lanes, f.by, f.positive, f.of), [*sides, *data])
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

"""What linear loops and inverses mean: their adjoints, and a step of a line when they are applied to slots.

A linear loop becomes a loop (paper §6, over time), an inverse a linear system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import evolve

import hilbert.program.transform.run_linear_system  # noqa: F401 - attaches what runs a linear system
from hilbert.base.attach import attach
from hilbert.program.control.equation_step import Solve
from hilbert.program.control.loop import Loop
from hilbert.program.line.builder import Builder
from hilbert.program.transform.emit_loop import emitted, looped
from linmap.net.fold import fold
from linmap.net.reverse import turned
from linmap.net.support import Part, Supports
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.inverse import Inverse
from linmap.term.recur import Recur

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hilbert.index.leaf import Leaf
    from linmap.term.datum import Datum
    from linmap.term.net import Arc, Net

Flow: TypeAlias = "int | dict[int, int] | None"
"""What a net is applied to, and gives: a slot, or one for each array of a bundle that is not 0."""
Flowing: TypeAlias = "Part | dict[int, int]"
"""What flows through a wire: a slot with its support, or the slots of a bundle, of which no support is known."""


def _adjoint(f: Recur, _: Leaf) -> Recur:
    return evolve(f, body=turned(f.body), fed=f.summed, summed=f.fed, reverse=not f.reverse)


attach(Recur, "adjoint", _adjoint)
attach(Inverse, "adjoint", lambda f, _: evolve(f, body=turned(f.body)))


# --- application ---


def acted(b: Builder, f: Recur | Inverse, x: dict[int, int], at: Callable[[Datum], int]) -> dict[int, int]:
    """What a linear loop or an inverse makes of a bundle that flows into it."""
    return _loop(b, f, x, at(f.datum)) if isinstance(f, Recur) else _system(b, f, x, at(f.datum))


def _through(f: wire.Wire, x: Flowing, supports: Supports) -> Flowing | None:
    """What an arc makes of what flows into it."""
    match f:
        case wire.OutOf(k):
            assert isinstance(x, dict)
            return Part(x[k]) if k in x else None
        case Recur() | Inverse():
            assert isinstance(x, dict)
            return acted(supports.b, f, x, supports.at)
        case wire.Into(k, _):
            assert isinstance(x, Part)
            return {k: supports.settled(x).base}
        case wire.Same():
            return x
        case single:  # one array to one array, as its type says
            assert isinstance(x, Part)
            return supports.through(single, x)


def _both(x: Flowing, y: Flowing, supports: Supports) -> Flowing:
    """The sum of what flows into a wire."""
    if isinstance(x, dict) and isinstance(y, dict):
        return x | {k: supports.b.add(x[k], slot) if k in x else slot for k, slot in y.items()}
    assert isinstance(x, Part)
    assert isinstance(y, Part)
    return supports.both(x, y)


def flowing(
    b: Builder, body: Net, given: Iterable[tuple[int, Flow]], at: Callable[[Datum], int], lead: int = 0
) -> list[Flow]:
    """What arrives at each output of a net."""
    supports = Supports(b, at)

    def act(arc: Arc, x: Flowing) -> Flowing | None:
        return _through(wire.lifted(arc.map, lead) if lead else arc.map, x, supports)

    inputs = ((w, Part(x) if isinstance(x, int) else x) for w, x in given if x is not None)
    found = fold(body, inputs, act, lambda x, y: _both(x, y, supports))
    return [supports.settled(x).base if isinstance(x, Part) else x for x in found]


def _loop(b: Builder, f: Recur, x: dict[int, int], datum: int) -> dict[int, int]:
    """The loop of a line that a linear loop is on some slots: parts of the flow that are 0 stay 0."""
    body, n, m = f.body, f.lead, len(f.index.axes)
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

    inner = Builder(leaves, fold=True, fixed=f.line.fixed)
    place = iter(range(inner.arity))
    flow: dict[int, int] = {k: next(place) for k in states}
    totals = {k: next(place) for k in sums}
    flow |= {k: next(place) for k in fed}
    fixed = [next(place) for _ in range(f.fixed)]
    flow |= {k: next(place) for k in slices}
    where = inner.inline(f.line, [*fixed, *place])

    def at(d: Datum) -> int:
        return where[d.slot] if isinstance(d, Ref) else inner.literal(d)

    made = flowing(inner, body, [(body.inputs[k], slot) for k, slot in flow.items()], at, n)
    after = [_slot(inner, made[k], body.wires[body.outputs[k]].under(lead)) for k in states]
    after += [inner.add(totals[k], _slot(inner, made[k], inner.slots[totals[k]])) for k in sums]
    after += [_slot(inner, made[k], body.wires[body.outputs[k]].under(lead)) for k in rows]
    loop = Loop(inner.line(after), f.index, len(before), len(fed) + f.fixed, f.reverse, f.again)
    results = dict(zip((*states, *sums, *rows), looped(b, loop, given), strict=True))
    return results | {k: _behind(b, results[k], n, m) for k in rows}


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


def _slot(b: Builder, flow: Flow, leaf: Leaf) -> int:
    assert not isinstance(flow, dict)
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

"""The derivative of a condition: that of both branches, each between masks, with data of the branch that is taken.

The data of the other branch are 0, so that the net has both branches: a structure that a guard keeps sparse stays so.
The flow is masked on both sides, by selection: an entry that is not finite in a lane reaches that lane only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diff.derive.equation_derivative import guarded, mask
from diff.terms.elementwise import Comparison
from hilbert.program.control.branch import Cond
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.transform.emit_loop import emitted
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Arc, refs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.derive.tangents import Tangents
    from diff.terms.linearization import AnyLinearization
    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line


def derived(
    t: Tangents, cond: Cond, given: Sequence[int], ds: Sequence[AnyLinearization]
) -> tuple[list[int], list[Arc]]:
    """The slots of the results of a condition, and the arcs of its derivative; `ds` are those of its branches.

    A result is taken to be finite where all arguments of the condition are: the condition guards its branches.
    """
    b, (c, *captured) = t.b, given
    lines = [d.program.line for d in ds]
    data = [_arrays(line, [ref.slot for ref in refs(d.body)]) for line, d in zip(lines, ds, strict=True)]
    zeros = [[line.slots[k] for k in some] for line, some in zip(lines, data, strict=True)]
    made = emitted(b, Cond(_kept(lines[0], (data[0], zeros[1])), _kept(lines[1], (zeros[0], data[1]))), given)
    count = len(cond.made.leaves)
    results, rest = made[:count], iter(made[count:])
    t.finite |= dict.fromkeys(results, tuple(given))
    ends = [k for k in results if b.slots[k].is_field]
    starts = [k for k in captured if b.slots[k].is_field]
    arcs: list[Arc] = []
    in_lanes = isinstance(b.operation(c), AnyLane)  # these are chosen afterwards
    for when, d, line, kept in zip((True, False), ds, lines, data, strict=True):
        slots = dict(zip(kept, rest, strict=False))
        place = {ref.slot: _packed(b, line, ref.slot, slots) for ref in refs(d.body)}
        taken = c if when else b.step(Comparison("logical_not"), (c,))
        wires = [t.wire(leaf) for leaf in d.body.wires]
        arcs += [
            Arc(mask(b, c, b.slots[k], when=when, free=(True, False)), k, wires[w])
            for k, w in zip(starts, d.body.inputs, strict=True)
        ]
        arcs += [Arc(_at(b, a.map, place, taken), wires[a.src], wires[a.dst]) for a in d.body.arcs]
        arcs += [
            Arc(mask(b, c, b.slots[k], when=when, free=(in_lanes, True)), wires[w], k)
            for k, w in zip(ends, d.body.outputs, strict=True)
        ]
    return results, arcs


def _at(b: Builder, f: wire.Wire, place: dict[int, int], taken: int) -> wire.Wire:
    """An arc of a branch on the data outside; an inverse is guarded, as its map would be 0 where the data are."""
    datum = wire.datum_of(f)
    if not isinstance(f, wire.Inverse) or not isinstance(datum, Ref):
        return wire.at_slots(f, place)
    packed = b.pack([*b.unpack(place[datum.slot]), taken])
    return guarded(f, Ref(packed, b.slots[packed]))


def _arrays(line: Line, slots: Sequence[int]) -> list[int]:
    """The slots of the arrays of some data, bundles taken apart."""
    found, todo = dict[int, None](), list(slots)
    for slot in todo:  # grows while it is read
        if _is_bundle(line, slot):
            todo += line.steps[slot - line.arity].args
        else:
            found[slot] = None
    return list(found)


def _is_bundle(line: Line, slot: int) -> bool:
    return slot >= line.arity and isinstance(line.steps[slot - line.arity].operation, Pack)


def _packed(b: Builder, line: Line, slot: int, slots: dict[int, int]) -> int:
    """The slot outside of a datum."""
    if not _is_bundle(line, slot):
        return slots[slot]
    return b.pack([_packed(b, line, a, slots) for a in line.steps[slot - line.arity].args])


def _kept(line: Line, data: Sequence[Sequence[Leaf | int]]) -> Line:
    """A branch that gives its data behind its results, and 0 for the other branch's data, whose leaves are given."""
    b = Builder(line.slots[: line.arity], fixed=line.fixed)
    where = b.inline(line, range(line.arity))
    rows = [[where[k] if isinstance(k, int) else b.number(0.0, k) for k in some] for some in data]
    return b.line([*(where[k] for k in line.outputs), *rows[0], *rows[1]])


def by_masks(b: Builder, f: Choose | Fill, args: tuple[int, ...], y: int) -> list[Arc]:
    """The arcs into the result of a choice by a condition, each through its mask.

    ∂Fill/∂x is the mask: a lane that does not run the branch got a substitute, and no differential flows into it.
    """
    c, *sides = args
    leaf = b.slots[y]
    if isinstance(f, Fill):
        return [Arc(mask(b, c, leaf, when=f.when, free=(True, False)), sides[0], y)]
    return [
        Arc(mask(b, c, leaf, when=when, free=(False, _is_lane_of(b, c, k))), k, y)
        for when, k in zip((True, False), sides, strict=True)
    ]


def _is_lane_of(b: Builder, c: int, slot: int) -> bool:
    """Tell if a slot is a result of a branch that is run if some lane takes it by condition c."""
    if not isinstance(b.operation(slot), Unpack):
        return False
    (made,) = b.steps[slot - b.arity].args
    if not isinstance(b.operation(made), Cond):
        return False
    some = b.unpack(b.steps[made - b.arity].args[0])[0]
    return isinstance(b.operation(some), AnyLane) and b.steps[some - b.arity].args == (c,)

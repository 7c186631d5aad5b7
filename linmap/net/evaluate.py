"""Application: a net becomes a tape of array operations once, and runs in the namespace of the vectors it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from hilbert import SpaceError, Type, Vec
from hilbert.arrays.namespace import freeze
from hilbert.arrays.tape import Instruction, Tape
from linmap.net import wire
from linmap.net.fuse import fused
from linmap.net.lower import net
from linmap.term.datum import Const, Ref
from linmap.term.nodes import Closed, LinMap, Net, refs

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.space import Leaf

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def runner(f: LinMap[V, W]) -> Callable[[Vec[V]], Vec[W]]:
    """What applies f to vectors of its domain, made once for each term.

    Raises SpaceError if f still refers to a point: close it with `.at(point)`.
    """
    body = f.body if isinstance(f, Closed) else net(f)
    data = f.data.arrays if isinstance(f, Closed) else ()
    if len(refs(body)) != len(data):
        msg = f"an open map {body.dom} ⊸ {body.cod} is not applied: it refers to a point; close it with .at(point)"
        raise SpaceError(msg)
    memo = body.memo()
    made = memo.get("tape")
    if made is None:
        made = memo["tape"] = tape(body)
    run, cod = made.run, f.cod
    if not data:
        return lambda x: Vec(cod, tuple(map(freeze, run(x.leaves))))
    return lambda x: Vec(cod, tuple(map(freeze, run([*x.leaves, *data]))))


def tape(body: Net) -> Tape:
    """The net as straight-line array code; its inputs are the argument's leaves and then the data it refers to."""
    slots: list[Leaf] = []
    constants: dict[int, Any] = {}
    code: list[Instruction] = []
    value: dict[int, int] = {}  # wire → the slot of what has been added into it so far
    place: dict[Any, int] = {}  # datum → slot

    def new(leaf: Leaf) -> int:
        slots.append(leaf)
        return len(slots) - 1

    def emit(operation: Any, args: tuple[int, ...], leaf: Leaf) -> int:
        code.append(Instruction(operation, args, new(leaf)))
        return len(slots) - 1

    def put(w: int, slot: int) -> None:
        value[w] = emit(wire.Add(), (value[w], slot), slots[slot]) if w in value else slot

    def fixed(datum: Const | Ref) -> int:
        if datum not in place:
            assert isinstance(datum, Const)  # references are placed below
            place[datum] = new(datum.leaf)
            constants[place[datum]] = datum.array
        return place[datum]

    for w in body.inputs:
        new(body.wires[w])
    for ref in refs(body):
        place[ref] = new(ref.leaf)
    arity = len(slots)
    for k, w in enumerate(body.inputs):
        put(w, k)
    for arc in body.arcs:
        if arc.src not in value:
            continue  # 0
        x = value[arc.src]
        match arc.map:
            case wire.Same():
                put(arc.dst, x)
            case wire.Section(spec, side, datum):
                args = (fixed(datum), x) if side == 0 else (x, fixed(datum))
                put(arc.dst, emit(wire.Contract(spec), args, body.wires[arc.dst]))
            case operation:
                put(arc.dst, emit(operation, (x,), body.wires[arc.dst]))
    outputs = []
    for w in body.outputs:
        if w not in value:
            leaf = body.wires[w]
            value[w] = new(leaf)
            constants[value[w]] = np.broadcast_to(np.zeros((), leaf.dtype), leaf.shape)
        outputs.append(value[w])
    return Tape(slots, arity, constants, fused(code, slots, outputs), outputs)

"""Running functions: a program becomes a tape of array operations once, in the namespace of its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from diff.lower import program
from diff.term import Literal, Program
from hilbert import Map, Type, Vec
from hilbert.arrays.namespace import freeze
from hilbert.arrays.tape import Instruction, Tape
from linmap import wire
from linmap.fuse import fused

if TYPE_CHECKING:
    from collections.abc import Sequence

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def evaluate(f: Map[V, W], x: Vec[V]) -> Vec[W]:
    """f(x) for a vector of f's domain."""
    p = program(f)
    memo = p.memo()
    run = memo.get("tape")
    if run is None:
        run = memo["tape"] = tape(p, p.outputs)
    return Vec(f.cod, tuple(map(freeze, run.run(x.leaves))))


def tape(p: Program[Any, Any], outputs: Sequence[int]) -> Tape:
    """The program as straight-line array code that ends in the given slots; a + (−1)·b is one subtraction."""
    constants: dict[int, Any] = {}
    code: list[Instruction] = []
    uses = [0] * len(p.slots)
    for step in p.steps:
        for k in step.args:
            uses[k] += 1
    for k in outputs:
        uses[k] += 1
    negated: dict[int, int] = {}
    arity = p.arity
    for k, step in enumerate(p.steps):
        to = arity + k
        match step.operation:
            case Literal(value):
                constants[to] = value.array
            case wire.Scale(-1.0) if uses[to] == 1:
                negated[to] = step.args[0]  # decided at its one use
                code.append(Instruction(step.operation, step.args, to))
            case wire.Add():
                a, b = step.args
                if a in negated and b not in negated:
                    a, b = b, a
                if b in negated and a != b:
                    code.append(Instruction(wire.Subtract(), (a, negated[b]), to))
                else:
                    code.append(Instruction(wire.Add(), step.args, to))
            case operation:
                code.append(Instruction(operation, step.args, to))
    read = set(outputs)
    needed = list[Instruction]()
    for instruction in reversed(code):  # negations that became subtractions are read by nobody
        if instruction.to in read:
            needed.append(instruction)
            read.update(instruction.args)
    code = fused(needed[::-1], p.slots, outputs)
    return Tape(p.slots, range(arity), {k: a for k, a in constants.items() if k in read}, code, outputs)

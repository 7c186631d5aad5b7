"""Running functions: a program becomes a tape of array operations once, in the namespace of its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from diff.lower import program
from diff.term import Literal, Program
from hilbert import Map, Type, Vec
from hilbert.arrays.namespace import freeze
from hilbert.arrays.tape import Instruction, Tape
from linmap.net.fuse import fused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def runner(f: Map[V, W]) -> Callable[[Vec[V]], Vec[W]]:
    """What applies f to vectors of its domain, made once for each term."""
    p = program(f)
    memo = p.memo()
    made = memo.get("tape")
    if made is None:
        made = memo["tape"] = tape(p, p.outputs)
    run, cod = made.run, f.cod
    return lambda x: Vec(cod, tuple(map(freeze, run(x.leaves))))


def tape(p: Program[Any, Any], outputs: Sequence[int]) -> Tape:
    """The program as straight-line array code that ends in the given slots."""
    constants: dict[int, Any] = {}
    code: list[Instruction] = []
    for to, step in enumerate(p.steps, p.arity):
        match step.operation:
            case Literal(value):
                constants[to] = value.array
            case operation:
                code.append(Instruction(operation, step.args, to))
    read = set(outputs)
    needed = list[Instruction]()
    for instruction in reversed(code):
        if instruction.to in read:
            needed.append(instruction)
            read.update(instruction.args)
    constants = {k: array for k, array in constants.items() if k in read}
    return Tape(p.slots, p.arity, constants, fused(needed[::-1], p.slots, outputs), outputs)

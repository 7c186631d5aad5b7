"""The data of a derivative that are finite wherever a function's arguments are, but for overflow of sums and products.

Such data need no support (`linmap.net.support`): a product with 0 is 0. Rows of the table of primitives say so of
themselves and all their derivatives; linear steps, sums and contractions are finite if their arguments are, loops if
each round is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, cast

from attrs import evolve

from diff.terms.elementwise import Elementwise
from diff.terms.user_operation import Custom
from hilbert.index.leaf import Bundle
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.external import External
from hilbert.program.line.operation import Add, Along, Cast, Contract, Keep, Literal, Move, Reduce, Scale
from linmap.net.support import is_finite
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Arc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from diff.terms.program import Operation
    from hilbert.program.line.builder import Builder
    from hilbert.program.line.line import Line

Flags: TypeAlias = "tuple[Any, ...]"
"""For each of some slots True if all its entries are finite; for a bundle a tuple of such values for its parts."""
CARRIED = frozenset((Scale, Reduce, Move, Cast, External, Keep, Contract, Add, Choose, Fill))
"""Steps whose result is finite where all operands are."""
NOTHING: Mapping[int, tuple[int, ...]] = {}


def follow(found: list[Any], line: Line | Builder, sure: Mapping[int, tuple[int, ...]] = NOTHING) -> None:
    """Append for each further slot of a line if it is finite; some are where those are that `sure` has for them."""
    for slot in range(len(found), len(line.slots)):
        step = line.steps[slot - line.arity]
        args = [found[a] for a in step.args]
        if slot in sure:
            found.append(all(found[a] for a in sure[slot]))
            continue
        if type(step.operation) in CARRIED:  # most often
            found.append(all(args))
            continue
        leaf = line.slots[slot]
        operation: Operation = step.operation
        match operation:
            case Literal(value):
                found.append(not value.leaf.is_field or is_finite(value))
            case Pack():
                found.append(tuple(args))
            case Unpack(k):
                found.append(args[0][k])
            case AnyLane():
                found.append(True)
            case Along():
                found.append(args[0] or not leaf.is_field)
            case Elementwise() as p:
                found.append(p.rule.is_discrete or (p.rule.is_finite(p.params) and all(args)))
            case Loop() as loop:
                found.append(_rounds(loop, args[0])[1])
            case Cond() as cond:
                ends = [_ends(line, args[0][1:]) for line in cond.lines]
                found.append(tuple(a and b for a, b in zip(*ends, strict=True)))
            case Implicit() | Solve() as equation:  # what is singular is an error
                found.append(tuple(all(args[0]) for _ in equation.made.leaves))
            case While() | Custom():  # anything
                found.append(tuple(not k.is_field for k in leaf.leaves) if isinstance(leaf, Bundle) else False)
            case Scale() | Reduce() | Move() | Cast() | External() | Keep() | Contract() | Add() | Choose() | Fill():
                found.append(all(args))  # the same as above
            case _:
                assert_never(operation)


def line_may_break(line: Line) -> bool:
    """Tell if some slot of a line, or a slope there, may be infinite at finite arguments."""
    found: list[Any] = [True] * line.arity
    follow(found, line)
    return not all(all(some) if isinstance(some, tuple) else some for some in found)


def _ends(line: Line, given: Flags) -> Flags:
    found = list(given)
    follow(found, line)
    return tuple(found[k] for k in line.outputs)


def _rounds(loop: Loop, given: Flags) -> tuple[Flags, Flags]:
    """The flags of the arguments of all rounds, and of the results of the loop."""
    n = loop.states
    for _ in range(2):
        ends = _ends(loop.body, given)
        states = tuple(a and b for a, b in zip(given[:n], ends[:n], strict=True))
        if states == given[:n]:
            return given, ends
        given = (*states, *given[n:])
    given = (*(False for _ in range(n)), *given[n:])
    return given, (*given[:n], *_ends(loop.body, given)[n:])


def marked(
    b: Builder,
    arcs: Sequence[Arc],
    sure: Mapping[int, tuple[int, ...]],
    loops: Mapping[int, tuple[Loop, tuple[int, ...]]],
) -> list[Arc]:
    """The arcs of a derivative with their data marked; `loops` has the loop of an arc, and the slots of its arrays."""
    found: list[Any] = [True] * b.arity
    follow(found, b, sure)

    def mark(d: Any) -> Any:
        known = _known(b, d.slot, found)
        return Ref(d.slot, d.leaf, known) if known else d

    made: list[Arc] = []
    for arc in arcs:
        if not isinstance(wire.datum_of(arc.map), Ref):
            made.append(arc)
            continue
        f = wire.on_data(arc.map, mark)
        if id(arc) in loops:
            loop, given = loops[id(arc)]
            if not all(_rounds(loop, tuple(found[k] for k in given))[0]):
                f = _unmarked(f)
        made.append(arc if f is arc.map else Arc(f, arc.src, arc.dst))
    return made


def _known(b: Builder, slot: int, found: Sequence[Any]) -> int:
    """The field `known` of a datum: see `linmap.term.datum.Ref`."""
    operation, leaf = b.operation(slot), b.slots[slot]
    if isinstance(leaf, Bundle):
        return 0
    if leaf.is_field:
        return int(found[slot])
    if leaf.entry.index is not None:
        return int(isinstance(operation, Along) and operation.name == "argsort")
    is_negated = isinstance(operation, Elementwise) and operation.name == "logical_not"
    return -1 - b.steps[slot - b.arity].args[0] if is_negated else 1 + slot


def _unmarked(f: wire.Wire) -> wire.Wire:
    """The arc with nothing known of the data in its rounds."""
    f = wire.on_data(f, lambda d: Ref(d.slot, d.leaf) if isinstance(d, Ref) else d)
    if not isinstance(f, wire.Recur):
        return f
    arcs = tuple(Arc(_unmarked(a.map), a.src, a.dst) for a in f.body.arcs)
    return cast("wire.Wire", evolve(f, body=evolve(f.body, arcs=arcs)))

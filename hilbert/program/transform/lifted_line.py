"""Lines under more axes: each step acts on arrays that vary over X, and steps that do not vary are computed once.

A contraction and an operation of a user's read arrays that do not vary without a copy; only where operands must have
the same axes is an array replicated (a view). A loop is lifted by its body; its varying states are a fixed point.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias, assert_never, cast

from attrs import evolve

from hilbert.base.once import once
from hilbert.program.control.branch import Cond
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.operation import Literal, Move
from hilbert.program.transform.emit_loop import emitted, looped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.index.index import Index
    from hilbert.index.leaf import Leaf
    from hilbert.program.control.flows import Flow
    from hilbert.program.line.line import Line

Axes: TypeAlias = "tuple[Index, ...]"
Parts: TypeAlias = "bool | tuple[bool, ...]"
"""True for a slot that varies; for a bundle, one truth value for each of its arrays."""
Varies: TypeAlias = "list[Parts]"
"""One entry for each slot."""


def lifted_line(
    b: Builder, line: Line, axes: Axes, given: Iterable[int], up: Sequence[bool]
) -> tuple[list[int], list[bool]]:
    """The outputs of a lifted line on slots of which some vary, and for each output True if the output varies."""
    where, n = list(given), len(axes)
    varies = varying(line, up)
    replicated: dict[int, int] = {}

    def rep(k: int) -> int:
        """Slot k with the lifted axes; a number in every entry fills the larger array."""
        if varies[k]:
            return where[k]
        if k not in replicated:
            filling = b.filling(where[k])
            leaf = b.slots[where[k]]
            replicated[k] = b.rep(where[k], axes) if filling is None else b.number(filling, leaf.under(axes))
        return replicated[k]

    for to, step in enumerate(line.steps, line.arity):
        some, b.place = varies[to], step.place
        match step.operation:
            case Pack():
                slot = b.pack([where[a] for a in step.args])
            case _ if not (any(some) if isinstance(some, tuple) else some):
                slot = b.step(step.operation, tuple(where[k] for k in step.args))
            case Unpack(k):
                slot = b.unpack(where[step.args[0]])[k]
            case ControlFlow() as flow:
                (a,) = step.args
                slot = b.pack(_lifted_flow(b, cast("Flow", flow), axes, b.unpack(where[a]), varies[a], some))
            case operation:  # no other operation holds lines: its class says how it is lifted
                partly = operation.partly(n, tuple([bool(varies[a]) for a in step.args]))
                if partly is None:
                    slot = b.step(operation.lifted(n), tuple(map(rep, step.args)))
                else:
                    slot = b.step(partly, tuple([where[a] for a in step.args]))
        where.append(slot)
    return [where[k] for k in line.outputs], [bool(varies[k]) for k in line.outputs]


def varying(line: Line, up: Sequence[bool]) -> Varies:
    """For each slot True if the slot varies, given which inputs do."""
    varies: Varies = list(up)
    for step in line.steps:
        match step.operation:
            case Pack():
                varies.append(tuple(bool(varies[a]) for a in step.args))
            case Unpack(k):
                of = varies[step.args[0]]
                varies.append(of[k] if isinstance(of, tuple) else of)
            case ControlFlow() as flow:
                varies.append(_varying_results(cast("Flow", flow), varies[step.args[0]]))
            case _:  # every other operation gives one array, which varies where an operand does
                varies.append(any(varies[a] for a in step.args))
    return varies


def _varying_results(flow: Flow, given: Parts) -> tuple[bool, ...]:
    """For each result of control flow True if the result varies, given which operands do."""
    match flow:
        case Loop():
            return _results(flow, given)[1]
        case Cond():
            return _branch_results(flow, given)
        case While():
            return _states(flow, given)
        case Implicit() | Solve():  # one unknown depends on all else
            return (any(_every(given, 1)),) * flow.unknowns
        case _:
            assert_never(flow)


def _lifted_flow(b: Builder, flow: Flow, axes: Axes, given: Sequence[int], up: Parts, made: Parts) -> list[int]:
    """The results of control flow under more axes, on operands of which some vary, where the results in `made` do."""
    match flow:
        case Loop():
            return _loop(b, flow, axes, given, up)
        case Cond():
            return _branches(b, flow, axes, given, up, made)
        case While():
            return _while(b, flow, axes, given, up)
        case Implicit():
            return _equation(b, flow, axes, given, up)
        case Solve():
            return _system(b, flow, axes, given, up)
        case _:
            assert_never(flow)


def _results(loop: Loop, given: Parts) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """True for each state, and each result, that varies in some round: for a state before or after the round."""
    c, up = loop.states, _every(given, loop.body.arity)
    while True:
        inner = varying(loop.body, up)
        after = [bool(inner[k]) for k in loop.body.outputs]
        both = [a or b for a, b in zip(up[:c], after[:c], strict=True)]
        if both == up[:c]:
            return tuple(both), (*both, *after[c:])
        up[:c] = both


def _branch_results(cond: Cond, given: Parts) -> tuple[bool, ...]:
    """True for each result that varies: for all if the condition does."""
    c, *up = _every(given, cond.then.arity + 1)
    inner = [varying(line, up) for line in cond.lines]
    ends = [[bool(found[k]) for k in line.outputs] for found, line in zip(inner, cond.lines, strict=True)]
    return tuple(c or any(pair) for pair in zip(*ends, strict=True))


def _branches(b: Builder, cond: Cond, axes: Axes, given: Sequence[int], ups: Parts, made: Parts) -> list[int]:
    """The results of a lifted condition; one that varies becomes two that ask if some lane takes the branch."""
    c, *captured = given
    varies, *before = _every(ups, len(given))
    results = _every(made, len(cond.made.leaves))
    if not varies:
        return emitted(b, Cond(*(_lifted_branch(line, axes, before, results) for line in cond.lines)), given)
    found: list[list[int]] = []
    for when, branch in zip((True, False), cond.lines, strict=True):
        if all(isinstance(step.operation, Literal) for step in branch.steps):  # nothing is computed: none need take it
            outputs, up = lifted_line(b, branch, axes, captured, before)
            found.append([k if u else b.rep(k, axes) for k, u in zip(outputs, up, strict=True)])
            continue
        line = _lifted_branch(branch, axes, before, results)
        some = b.step(AnyLane(0, when), (c,))
        filled = [b.step(Fill(0, when), (c, k)) if u else k for k, u in zip(captured, before, strict=True)]
        zeros = Builder(line.slots[: line.arity])
        nothing = zeros.line([zeros.number(0.0, line.slots[k]) for k in line.outputs])
        found.append(emitted(b, Cond(line, nothing), [some, *filled]))
    return [b.step(Choose(), (c, *pair)) for pair in zip(*found, strict=True)]


def _lifted_branch(line: Line, axes: Axes, up: Sequence[bool], made: Sequence[bool]) -> Line:
    inner = Builder(
        [leaf.under(axes) if u else leaf for leaf, u in zip(line.slots, up, strict=False)], fixed=line.fixed
    )
    outputs, varies = lifted_line(inner, line, axes, range(inner.arity), up)
    slots = zip(outputs, varies, made, strict=True)
    return inner.line([inner.rep(k, axes) if m and not v else k for k, v, m in slots])


def _loop(b: Builder, loop: Loop, axes: Axes, given: Sequence[int], up: Parts) -> list[int]:
    """The results of a lifted loop; a stack that varies has the lifted axes behind its own inside, in front outside."""
    body, c, whole = loop.body, loop.states, loop.states + loop.shared
    n, m = len(axes), len(loop.index.axes)
    states, results = _results(loop, up)
    before = _every(up, body.arity)
    inside = [*states, *before[c:]]
    slots = [b.rep(k, axes) if s and not u else k for k, s, u in zip(given[:c], states, before[:c], strict=True)]
    slots += given[c:whole]
    slots += [_moved(b, k, n, m) if u else k for k, u in zip(given[whole:], before[whole:], strict=True)]
    leaves = [leaf.under(axes) if u else leaf for leaf, u in zip(body.slots, inside, strict=False)]
    inner = Builder(leaves, fixed=body.fixed)
    outputs, varies = lifted_line(inner, body, axes, range(inner.arity), inside)
    outputs[:c] = [
        inner.rep(k, axes) if s and not v else k for k, s, v in zip(outputs[:c], states, varies[:c], strict=True)
    ]
    made = looped(b, evolve(loop, body=inner.line(outputs)), slots)
    return made[:c] + [_moved(b, k, m, n) if u else k for k, u in zip(made[c:], results[c:], strict=True)]


def lifted_on(line: Line, axes: Axes, up: Sequence[bool], leaves: Sequence[Leaf] | None = None) -> Line:
    """The line where some inputs vary, and all outputs do; `leaves` are those of the inputs, where they are at hand."""
    if leaves is None:
        leaves = [leaf.under(axes) if u else leaf for leaf, u in zip(line.slots, up, strict=False)]
    inner = Builder(leaves, fixed=line.fixed)
    outputs, varies = lifted_line(inner, line, axes, range(inner.arity), up)
    return inner.line([k if v else inner.rep(k, axes) for k, v in zip(outputs, varies, strict=True)])


def _every(of: Parts, count: int) -> list[bool]:
    return list(of) if isinstance(of, tuple) else [of] * count


def _states(loop: While, given: Parts) -> tuple[bool, ...]:
    """True for each state that varies in some round: for all if the condition does."""
    c, up = loop.states, _every(given, loop.body.arity)
    while True:
        inner = varying(loop.body, up)
        both = [u or bool(inner[k]) for u, k in zip(up, loop.body.outputs, strict=False)]
        both = [True] * c if both[0] else both
        if both == up[:c]:
            return tuple(both)
        up[:c] = both


def _while(b: Builder, loop: While, axes: Axes, given: Sequence[int], up: Parts) -> list[int]:
    """Lift a loop so that each lane stops by itself: a lane whose condition is false keeps its state."""
    body, c, before = loop.body, loop.states, _every(up, loop.body.arity)
    states = _states(loop, up)
    slots = [b.rep(k, axes) if s and not u else k for k, s, u in zip(given, states, before, strict=False)]
    inside = [*states, *before[c:]]
    leaves = [leaf.under(axes) if u else leaf for leaf, u in zip(body.slots, inside, strict=False)]
    inner = Builder(leaves, fixed=body.fixed)
    args = list(range(inner.arity))
    has_lanes = states[0] and len(inner.slots[0].axes) > len(axes)
    goes = inner.step(AnyLane(len(axes), when=True), (0,)) if has_lanes else 0
    if states[0]:
        args = [inner.step(Fill(0, when=True), (goes, k)) if u else k for k, u in zip(args, inside, strict=True)]
    outputs, varies = lifted_line(inner, body, axes, args, inside)
    outputs = [inner.rep(k, axes) if s and not v else k for k, s, v in zip(outputs, states, varies, strict=True)]
    if states[0]:
        outputs = [inner.step(Choose(), (goes, k, old)) for old, k in enumerate(outputs)]
    return emitted(b, evolve(loop, body=inner.line(outputs)), [*slots, *given[c:]])


def _equation(b: Builder, f: Implicit, axes: Axes, given: Sequence[int], up: Parts) -> list[int]:
    """Lift an equation: one for each lane."""
    c, before = f.unknowns, _every(up, f.body.arity)
    slots = [b.rep(k, axes) if not u else k for k, u in zip(given[:c], before, strict=False)]
    lanes = tuple((axis, tuple(before[c:])) for axis in axes)
    return emitted(b, evolve(f, lanes=lanes + f.lanes), [*slots, *given[c:]])


@once
def equation(f: Implicit) -> Line:
    """The equation of all lanes together, as a line."""
    return in_lanes(f, f.body)


def in_lanes(f: Implicit, line: Line) -> Line:
    """A line on the unknowns and captures of one lane, on those of all lanes of an equation."""
    for varies, some in groupby(reversed(f.lanes), key=itemgetter(1)):
        axes = tuple(axis for axis, _ in some)[::-1]
        line = lifted_on(line, axes, [*(True for _ in range(f.unknowns)), *varies])
    return line


def _system(b: Builder, f: Solve, axes: Axes, given: Sequence[int], up: Parts) -> list[int]:
    """Lift a linear system: one for each lane; if all lanes share the data, one system with more right sides."""
    c, n, m = len(f.line.outputs), len(axes), len(f.many)
    before = _every(up, c + len(f.data))
    sides = [b.rep(k, axes) if not u else k for k, u in zip(given[:c], before, strict=False)]
    if not any(before[c:]):
        return emitted(b, evolve(f, many=axes + f.many), [*sides, *given[c:]])
    line = lifted_on(f.line, axes, [*(True for _ in range(f.unknowns)), *before[c:]])
    sides = [_moved(b, k, n, m) for k in sides]
    made = emitted(b, evolve(f, line=line, lanes=f.lanes + n), [*sides, *given[c:]])
    return [_moved(b, k, m, n) for k in made]


def _moved(b: Builder, slot: int, n: int, m: int) -> int:
    """The slot with the m axes behind the first n moved in front of them."""
    rest = range(n + m, len(b.slots[slot].axes))
    return b.apply(Move((*range(n, n + m), *range(n), *rest)), slot)

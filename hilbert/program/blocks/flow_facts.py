"""The facts of the results of control flow: of loops, branches, equations, and linear systems along X."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, assert_never

from attrs import evolve

from hilbert.program.blocks.fact import Lane, Shared, Steer, Total, asked_of, either, is_zero, steered, word
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.errors import SpaceError
    from hilbert.index.index import Index
    from hilbert.program.blocks.fact import Asked, Fact, One
    from hilbert.program.control.flows import Flow
    from hilbert.program.line.line import Line, Step


class Rules(Protocol):
    """The rules along X for the steps of a line: see `hilbert.program.blocks.facts`."""

    index: Index
    has_halo: bool

    def inside(self) -> Rules:
        """The rules of a body."""

    def of(self, line: Line, given: Sequence[One] | None) -> list[Fact]:
        """The fact of each slot of a line, from those of its inputs."""

    def at(self, axes: Sequence[Index]) -> tuple[int, ...]:
        """The places of axes along X."""

    def answered(self, asked: Asked, zero: frozenset[int]) -> None:
        """Require that lanes which are 0 outside some masks read only answers about these."""

    def refused(self, step: Step[Any], why: str) -> SpaceError:
        """The error for a step, with its place."""


def of_flow(rules: Rules, step: Step[Any], ones: list[One], level: int) -> Fact:
    """The facts of the results of control flow."""
    flow: Flow = step.operation
    leaves = flow.made.leaves
    if all(isinstance(one, Shared) for one in ones) and not any(rules.at(leaf.axes) for leaf in leaves):
        return (Shared(level),) * len(leaves)
    if not isinstance(flow, Cond):
        rules.answered(asked_of(ones), frozenset())
    ones = [_at_level(one, 0) for one in ones]
    match flow:
        case Loop():
            found = _loop(rules, step, flow, ones)
        case Cond():
            found = _branches(rules, step, flow, ones)
        case While():
            found = _rounds(rules, step, flow.body, flow.states, ones)[: flow.states]
        case Implicit():
            found = _equation(rules, step, flow, ones)
        case Solve():
            found = _system(rules, step, flow, ones)
        case _:
            assert_never(flow)
    if rules.has_halo and any(isinstance(one, Total) for one in found):
        raise rules.refused(step, "it makes a total, and other steps read rows beside their own")
    return tuple([_at_level(one, level) for one in found])


def _at_level(one: One, level: int) -> One:
    """The fact at another level; masks are slots of one line, and no others know them."""
    return evolve(one, level=level, zero=frozenset()) if isinstance(one, Lane) else evolve(one, level=level)


def _equation(rules: Rules, step: Step[Any], f: Implicit, ones: list[One]) -> list[One]:
    """The unknowns of an equation for each element of X, whose captures vary along X as the equation says."""
    axes = [axis for axis, _ in f.lanes]
    if rules.at(axes):
        at, n = rules.at(axes)[0], f.unknowns
        _, varies = f.lanes[at]
        here = [sum(other[k] for _, other in f.lanes[:at]) for k in range(len(varies))]
        due = [
            *(Lane(at) for _ in range(n)),
            *(Lane(h) if v else Shared() for h, v in zip(here, varies, strict=True)),
        ]
        if all(
            one == fact or (isinstance(one, Shared) and fact == Shared()) for one, fact in zip(ones, due, strict=True)
        ):
            return [Lane(at)] * n
    raise rules.refused(step, f"one {f.of} depends on all elements of {rules.index}")


def _system(rules: Rules, step: Step[Any], f: Solve, ones: list[One]) -> list[One]:
    """The unknowns of a linear system for each element of X, or of one system with a right side for each."""
    sides, data, m = ones[: len(f.line.outputs)], ones[len(f.line.outputs) :], len(f.many)
    if rules.at(f.many):
        at = rules.at(f.many)[0]
        if all(one == Lane(at) for one in sides) and not any(isinstance(one, Lane) for one in data):
            return [Lane(at)] * f.unknowns
    else:
        leaves = f.line.slots[: f.unknowns]
        (at,) = rules.at(leaves[0].axes[: f.lanes])[:1] or (-1,)
        if at >= 0 and all(one == Lane(at + m) for one in sides):
            inside = rules.inside().of(f.line, [*(Lane(at) for _ in leaves), *data])
            if all(inside[k] == Lane(at) for k in f.line.outputs):
                return [Lane(at + m)] * f.unknowns
    raise rules.refused(step, f"one linear system depends on all elements of {rules.index}")


def _loop(rules: Rules, step: Step[Any], loop: Loop, ones: list[One]) -> list[One]:
    """States and stacks; a stack has the axes of the loop in front."""
    c, whole, m = loop.states, loop.states + loop.shared, len(loop.index.axes)
    inner = list(ones)
    for k, one in enumerate(ones[whole:], whole):
        if isinstance(one, Lane):
            if one.at < m:
                raise rules.refused(step, f"a loop over {rules.index} has its rounds in order")
            inner[k] = Lane(one.at - m)
    found = _rounds(rules, step, loop.body, c, inner)
    return found[:c] + [Lane(one.at + m) if isinstance(one, Lane) else one for one in found[c:]]


def _rounds(rules: Rules, step: Step[Any], body: Line, states: int, ones: list[One]) -> list[One]:
    """The facts of a body's results, where its states are what all rounds make of them."""
    inside = rules.inside()
    while True:
        slots = inside.of(body, ones)
        made = [slots[k] for k in body.outputs]
        after = [_both(rules, step, ones[k], made[k]) for k in range(states)]
        if after == ones[:states]:
            return [*after, *[one for one in made[states:] if not isinstance(one, tuple)]]
        ones = [*after, *ones[states:]]


def _branches(rules: Rules, step: Step[Any], cond: Cond, ones: list[One]) -> list[One]:
    """The facts of the results of both lines; where lanes steer, what all share is read by such lanes alone."""
    condition, *given = ones
    if isinstance(condition, Lane):
        raise rules.refused(step, "a condition is another one in each lane")
    inside = rules.inside()
    ends = [[inside.of(line, given)[k] for k in line.outputs] for line in cond.lines]
    found = [_both(rules, step, *pair) for pair in zip(*ends, strict=True)]
    if not isinstance(condition, Steer):
        return found
    steer = evolve(condition, level=0)
    asked = [steer if isinstance(one, Shared) and not one.is_zero else one for one in found]
    for one, *pair in zip(asked, *ends, strict=True):
        if isinstance(one, Steer) and (rules.has_halo or not any(is_zero(end) for end in pair)):
            raise rules.refused(step, steered(rules.index))
    return asked


def _both(rules: Rules, step: Step[Any], a: Fact, b: Fact) -> One:
    """The fact of a slot that is made in one of two ways."""
    if (one := either(a, b)) is not None:
        return one
    why = f"it is {word(a)} in one round or branch, and {word(b)} in another"
    if {type(a), type(b)} == {Shared, Total}:
        why = f"a round, or a branch, needs a total over all of {rules.index}: write the loop in Python"
    raise rules.refused(step, why)

"""The relation of each slot of a line to the elements of an index set X: proved step by step.

A *block* of a line is the line run on a part of X: inputs with the axis X are restricted to that part. A slot is

- `Shared`: the same in all blocks;
- `Lane(at)`: it has X as axis `at`, and its entries in a block are those of the whole;
- `Total(monoid)`: without the axis X; the whole is the sum, or another monoid's total, of what the blocks give;
- `Steer`: it tells whether some lanes of a block are to be computed, or is the same in all blocks in which some are. A
  lifted function computes each lane as if it were alone, so that lanes which are asked about are those of the whole,
  whatever steers the others. Where other lanes read the answer, too, the question is a total of the whole, `any`.

A slot of `level` n needs n passes over X before its own: the totals of these passes are inputs by then. Whatever is not
proved is refused, with the step. One pass over the line; the bodies of loops are read until states are what they were.

>>> from hilbert.index.index import Fin, Unit
>>> from hilbert.index.leaf import Entry
>>> from hilbert.program.line.builder import Builder
>>> from hilbert.program.line.operation import Reduce, Scale
>>> from hilbert.relation import Full
>>> X = Fin.of(5)
>>> b = Builder([Leaf(Entry("float64"), (X,))])
>>> mean = b.scale(0.2, b.apply(Reduce(Full(X, Unit()), 0), 0))
>>> centred = b.add(0, b.scale(-1.0, b.rep(mean, (X,))))
>>> for fact in facts(b.line([centred]), (X,)):
...     print(fact)
Lane(at=0, level=0)
Total(monoid='add', level=0)
Shared(level=1, is_zero=False)
Lane(at=0, level=1)
Lane(at=0, level=1)
Lane(at=0, level=1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import evolve

from hilbert.errors import SpaceError
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.blocks.fact import (
    AskedElsewhere,
    Lane,
    Shared,
    Steer,
    Total,
    asked_of,
    chosen,
    every,
    level_of,
    masks,
    zero_in,
)
from hilbert.program.blocks.flow_facts import of_flow
from hilbert.program.blocks.halos import has_halo, is_by_entry, is_relabelled, is_slice, name_of, sides
from hilbert.program.blocks.places_along import EXTREMES, is_extreme, is_place
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.operation import Add, Along, Cast, Contract, Keep, Move, Reduce, Scale
from hilbert.program.line.operation import Literal as Constant
from hilbert.program.line.source_line import computed_by
from hilbert.relation.plain_forms import Full

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.index.index import Index
    from hilbert.program.blocks.fact import Asked, Fact, One
    from hilbert.program.blocks.open_constants import Family
    from hilbert.program.line.line import Line, Step


def facts(line: Line, along: Family, *, far: bool = False) -> list[Fact]:
    """The fact of each slot; inputs with the axis X, or another set of its family, are lanes, others are shared.

    With `far` each block goes on from its own total to values that are linear in totals, and these are totals as well.
    Otherwise such a value is computed once after the pass, and shared.
    Raises SpaceError for a step of which nothing is proved: with the step's line, and why.
    """
    rules = LineRules(along, is_body=False, is_far=far, has_halo=has_halo(line, along))
    while True:
        try:
            return rules.of(line, None)
        except AskedElsewhere as error:
            rules.whole |= error.questions


@final
class LineRules:
    """The rules along X; within a body no total is known before the rounds are over, so that all stay linear.

    Questions about lanes of the slots `whole` are totals.
    """

    def __init__(self, along: Family, *, is_body: bool, is_far: bool = True, has_halo: bool = False) -> None:
        self.along, self.index = along, along[0]
        self.is_body, self.is_far, self.has_halo = is_body, is_far, has_halo
        self.whole = set[int]()

    def inside(self) -> LineRules:
        """The rules of a body."""
        return LineRules(self.along, is_body=True)

    def of(self, line: Line, given: Sequence[One] | None) -> list[Fact]:
        """The fact of each slot of a line, from those of its inputs."""
        found: list[Fact] = list(given) if given is not None else [self.input(k, line) for k in range(line.arity)]
        for slot, step in enumerate(line.steps, line.arity):
            made = self.step(step, [found[a] for a in step.args], line, slot)
            leaf = line.slots[slot]
            if isinstance(made, Lane) and leaf.kind == "b":
                made = evolve(made, zero=made.zero | masks(step, slot))
            for one, of in zip(every(made), leaf.leaves if isinstance(leaf, Bundle) else (leaf,), strict=True):
                expected = (one.at,) if isinstance(one, Lane) else ()
                if self.at(of.axes) != expected:
                    if len(self.at(of.axes)) > 1:
                        raise self.refused(step, self.beside())
                    axis = of.axes[next(k for k in self.at(of.axes) if (k,) != expected)]
                    raise self.refused(step, f"its result {of} has {axis} where nothing is known of that axis")
            found.append(made)
        return found

    def input(self, k: int, line: Line) -> One:
        """The fact of an input; raises SpaceError for two axes along X."""
        axes = line.slots[k].axes
        at = self.at(axes)
        if len(at) > 1:
            every = " and ".join(dict.fromkeys(str(axes[j]) for j in at))
            times = f"the axis {every} {len(at)} times"
            if len({axes[j] for j in at}) > 1:
                times = f"the axes {every}, and slices or windows lead from one to the other"
            msg = f"argument array {k} in {line.slots[k]} has {times}: blocks have one"
            raise SpaceError(msg)
        return Lane(at[0]) if at else Shared()

    def at(self, axes: Sequence[Index]) -> tuple[int, ...]:
        """The places of axes along X."""
        return tuple([k for k, axis in enumerate(axes) if axis in self.along])

    def beside(self) -> str:
        """The reason to refuse pairs of elements of X."""
        return f"it puts each element of {self.index} beside each other one: name one set apart"

    def refused(self, step: Step[Any], why: str) -> SpaceError:
        """The error for a step, with its place."""
        error = SpaceError(f"no blocks along {self.index}: {why}")
        computed_by(error, step.place)
        return error

    # --- one step ---

    def step(self, step: Step[Any], given: list[Fact], line: Line, slot: int) -> Fact:
        """The fact of a step's result."""
        operation = step.operation
        match operation:
            case Pack():
                return tuple(one for fact in given for one in every(fact))
            case Unpack(k):
                (of,) = given
                assert isinstance(of, tuple)
                return of[k]
            case Constant(value):
                at = self.at(value.leaf.axes)
                if isinstance(value.leaf, Bundle):
                    return (Shared(),) * len(value.leaf.leaves)
                return Lane(at[0]) if at else Shared(is_zero=value.number == 0.0)
            case _:  # the facts of the operands say more
                pass
        is_far = self.is_far and not self.at(line.slots[slot].axes)
        if is_far and (made := self.linear(operation, given)) is not None:
            return made
        if (one := self.picked(operation, given, line, step)) is not None:
            return one
        level = max([level_of(one) for fact in given for one in every(fact)], default=0)
        ones = [self.closed(one, step) for fact in given for one in every(fact)]
        if isinstance(operation, ControlFlow):
            return of_flow(self, step, ones, level)
        leaves = [line.slots[a] for a in step.args]
        if all(isinstance(one, Shared) for one in ones):
            return self.from_shared(step, line.slots[slot], leaves, level)
        if all(isinstance(one, Shared | Steer) for one in ones):
            asked = asked_of(ones)
            if self.at(line.slots[slot].axes):
                self.answered(asked, frozenset())
                return self.from_shared(step, line.slots[slot], leaves, level)
            return Steer(level, asked)  # what else is asked about the lanes of a block
        zero = zero_in(step, ones)
        self.answered(asked_of(ones), frozenset() if self.has_halo else zero | chosen(step, ones))
        lanes: list[One] = [Shared() if isinstance(one, Steer) else one for one in ones]
        found = self.from_lanes(step, lanes, leaves, level, slot)
        return evolve(found, zero=zero) if isinstance(found, Lane) else found

    def answered(self, asked: Asked, zero: frozenset[int]) -> None:
        """Require that lanes which are 0 outside some masks read only answers about these; in a branch they do.

        With halos a block asks about other rows than it has, so that nothing but branches may read an answer.
        """
        elsewhere = {slot for slot, mask in asked if mask not in zero and not self.is_body}
        if elsewhere:
            raise AskedElsewhere(elsewhere)

    def closed(self, one: One, step: Step[Any]) -> One:
        """The fact that a step reads in place of a total: shared, from the next pass on."""
        if not isinstance(one, Total):
            return one
        if self.is_body:
            raise self.refused(
                step, f"a round, or a branch, needs a total over all of {self.index}: write the loop in Python"
            )
        return Shared(one.level + 1)

    def from_shared(self, step: Step[Any], leaf: Leaf, leaves: list[Leaf], level: int) -> One:
        """The result of shared slots: shared, or lanes that a reduction replicates them over."""
        if isinstance(leaf, Bundle) or not self.at(leaf.axes):
            return Shared(level)
        here = self.at(leaf.axes)[0]
        match step.operation:
            case Reduce(Full(dom, cod), at) if not self.at(dom.axes) and self.at(cod.axes):
                return Lane(at + self.at(cod.axes)[0], level)
            case Reduce(relation, at) if not self.is_body and is_slice(relation.T) and at == here:  # few rows
                return Lane(at, level)
            case Contract(spec) if not self.is_body and (label := spec.out[here]):
                places = [k for k, labels in enumerate((spec.left, spec.right)) if label in labels]
                if all(is_place(leaves[k], self.along) for k in places):
                    return Lane(spec.out.index(label), level)
            case _:  # no other step makes lanes of shared arrays
                pass
        raise self.refused(step, f"{name_of(step)} makes all of {leaf} at once")

    def from_lanes(self, step: Step[Any], ones: list[One], leaves: list[Leaf], level: int, slot: int) -> Fact:
        """The result, in a slot, of slots of which some are lanes."""
        operation: Any = step.operation
        lanes = [one.at for one in ones if isinstance(one, Lane)]
        here = lanes[0]
        front = {operation.front(k, one.at) for k, one in enumerate(ones) if isinstance(one, Lane)}
        if None not in front:
            (at,) = front
            leaf = operation.image(*leaves)
            return (Lane(at, level),) * len(leaf.leaves) if isinstance(leaf, Bundle) else Lane(at, level)
        match operation:
            case Reduce(relation, at):
                n = len(relation.dom.axes)
                if here < at:
                    return Lane(here, level)
                if here >= at + n:
                    return Lane(here - n + len(relation.cod.axes), level)
                if isinstance(relation, Full):
                    return Total("add", level)
                if is_relabelled(relation, self.along):
                    return Lane(at + self.at(relation.cod.axes)[0], level)
                if here == at and not self.is_body and (pair := sides(relation)) is not None:
                    if self.at(pair[1]):
                        return Lane(at, level)
                    if is_slice(relation):  # of few rows
                        return Total("add", level)
                raise self.refused(step, f"it relates elements of {self.index} to others ({relation})")
            case Move(order):
                return Lane(order.index(here), level)
            case Contract(spec):
                both = (spec.left, spec.right)
                labels = {both[k][one.at] for k, one in enumerate(ones) if isinstance(one, Lane)}
                label = labels.pop()
                if labels:
                    raise self.refused(step, self.beside())
                places = [k for k, one in enumerate(ones) if not isinstance(one, Lane) and label in both[k]]
                if places and (self.is_body or not is_place(leaves[places[0]], self.along)):
                    raise self.refused(step, f"an entry is looked up at any element of {self.index}: all are needed")
                return Lane(spec.out.index(label), level) if label in spec.out else Total("add", level)
            case Along(name, along, at):
                n, is_one = len(along.axes), name in {"argmax", "argmin", "logsumexp"}
                if here < at:
                    return Lane(here, level)
                if here >= at + n:
                    return Lane(here - n * is_one, level)
                if name == "logsumexp":
                    return Total("logsumexp", level)
                if name in EXTREMES and along.axes[0] in self.along and not self.is_body:
                    return Total(EXTREMES[name], level)
                raise self.refused(step, f"{name} along {self.index} needs all of its elements at once")
            case AnyLane(at, when):
                if here < at:
                    return Lane(here, level)
                if slot in self.whole and not self.is_body:
                    return Total("any", level)
                (of,) = step.args
                return Steer(level, frozenset() if self.is_body else frozenset({(slot, of if when else -1 - of)}))
            case Choose() | Fill():
                pass
            case _ if not is_by_entry(operation, len(ones)):
                raise self.refused(step, f"nothing is known of {name_of(step)} along {self.index}")
            case _:  # entry by entry
                pass
        for one, leaf in zip(ones, leaves, strict=True):
            if not isinstance(one, Lane) and leaf.axes and not isinstance(operation, Choose | Fill):
                raise self.refused(step, f"lanes along {self.index} meet an array of {leaf} that is none")
        if len(set(lanes)) > 1:
            raise self.refused(step, f"{self.index} is another axis of one operand than of the other")
        return Lane(here, level)

    def picked(self, operation: Any, given: list[Fact], line: Line, step: Step[Any]) -> One | None:
        """The entry whose place along X is found in the same pass: a total with the place; None for other steps."""
        if isinstance(operation, Contract) and not self.is_body:
            for of, place in (0, 1), (1, 0):
                match given[of], given[place]:
                    case Lane(), Total(name, level) if name in EXTREMES:
                        if is_extreme(line, step.args[place], step.args[of], operation.spec):
                            return Total("picked", level)
                    case _:  # no place of this pass
                        pass
        return None

    def linear(self, operation: Any, given: list[Fact]) -> One | None:
        """A sum, or a linear function, of totals: a total of the blocks' results; None for other steps."""
        totals = [fact for fact in given if isinstance(fact, Total)]
        if not totals or any(fact.monoid != "add" for fact in totals):
            return None
        if any(level_of(one) > totals[0].level + 1 for fact in given for one in every(fact)):
            return None
        if any(isinstance(fact, Shared) and fact.level > totals[0].level for fact in given) or len({*totals}) > 1:
            return None
        match operation:
            case Scale() | Move() | Cast() | Keep():
                return totals[0]
            case Reduce():
                return totals[0]
            case Add() if len(totals) == 2 or any(isinstance(fact, Shared) and fact.is_zero for fact in given):
                return totals[0]
            case Contract() if len(totals) == 1 and any(isinstance(fact, Shared) for fact in given):
                return totals[0]
            case _:  # it closes the pass
                return None

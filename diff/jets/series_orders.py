"""The orders of Taylor coefficients that are needed of each slot: found from the results backwards, before any is made.

What moves with no input has a value only, and a partial derivative of a primitive is needed for one order less than its
value: so each coefficient is found after all that it is made of.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from diff.derive.primitive_partials import partials_on
from diff.derive.tangents import without_bound
from diff.jets.multiindex import Alpha, pairs
from diff.jets.series_rules import Euler, is_ruled, rule_of
from diff.jets.taylor_series import PartialDerivative, Rule
from diff.terms.elementwise import Elementwise
from diff.terms.user_operation import in_derivatives
from hilbert import SpaceError
from hilbert.program.control.equation_step import Implicit
from hilbert.program.control.while_loop import While
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Add, Literal, Scale
from hilbert.program.line.source_line import computed_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from diff.terms.program import AnyProgram
    from hilbert.program.line.line import Step

MOST = 10_000_000
"""The most products that a jet takes."""
DISCRETE = frozenset("bi")
"""Entries without derivatives, by kind."""


class Orders:
    """The steps of a program, those of derivatives that its coefficients take, and the highest order of each.

    Some inputs have coefficients above the value; `fed` says which result the derivative of each input is, in one
    parameter.
    """

    def __init__(
        self, p: AnyProgram, alphas: Iterable[Alpha], inputs: AbstractSet[int], fed: tuple[int, ...] = ()
    ) -> None:
        self.levels: list[list[Alpha]] = []  # the multi-indices by order
        for alpha in alphas:
            while len(self.levels) <= sum(alpha):
                self.levels.append([])
            self.levels[sum(alpha)].append(alpha)
        self.src = Builder(p.slots[: p.arity])  # the steps of p, and those of derivatives
        where = self.src.inline(in_derivatives(p.line, len(self.levels) - 1), range(p.arity))
        self.outputs = tuple(where[k] for k in p.outputs)
        self.fed = tuple(where[p.outputs[k]] for k in fed)
        self.ways = sorted({self.way(alpha)[1] for level in self.levels[1:] for alpha in level})
        self.rules: dict[int, Rule] = {}
        self.linear: set[int] = set()  # slots of rules that are linear in a tangent: 0 at order 0
        self.own: set[int] = set()  # tangents in a rule that are those of its own results
        self.moving = bytearray(bool(fed) or i in inputs for i in range(p.arity))
        self.partials: dict[int, list[float | PartialDerivative]] = {}
        self.products = 0
        self.need = self._orders()

    def way(self, alpha: Alpha) -> tuple[int, int]:
        """αᵢ and i, for which αᵢ is the least that is not 0: a sum of γᵢ u_γ has the fewest terms."""
        return min((n, i) for i, n in enumerate(alpha) if n)

    def no_jet(self, slot: int, operation: Any, where: str = "") -> SpaceError:
        """The error for a step without coefficients."""
        step = self.src.steps[slot - self.src.arity]
        if isinstance(operation, While):
            return without_bound(step)
        name = getattr(operation, "name", type(operation).__name__.lower())
        msg = f"there is no jet of the step {name} into {self.src.slots[slot]}{where}: "
        error = SpaceError(f"{msg}unroll it, or take nested derivatives")
        computed_by(error, step.place)
        return error

    def pairs(self, alpha: Alpha) -> Iterator[tuple[Alpha, Alpha]]:
        """All (γ, α − γ); raises SpaceError where the whole comes to more than 10⁷."""
        self.products += math.prod(n + 1 for n in alpha)
        if self.products > MOST:
            msg = f"a jet of order {len(self.levels) - 1} in {len(alpha)} parameters takes more than {MOST} products: "
            raise SpaceError(msg + "take fewer parameters, a lower order or a smaller set wanted=…; see interpolated")
        return pairs(alpha)

    def _orders(self) -> dict[int, int]:
        """The highest order that is needed of each slot, found from the results backwards."""
        highest = len(self.levels) - 1
        roots = range(self.src.arity) if self.fed else self.outputs
        need: dict[int, int] = {}
        todo = [(slot, highest) for slot in roots]
        while todo:
            slot, order = todo.pop()
            if order and not self.moves(slot):
                order = 0
            if need.get(slot, -1) < order:
                need[slot] = order
                todo += [(k, order - lower) for k, lower in self._below(slot, order)]
        return need

    def moves(self, slot: int) -> bool:
        """Tell if a slot may have coefficients of order 1 and above."""
        for k in range(len(self.moving), len(self.src.slots)):
            args = self.src.steps[k - self.src.arity].args
            self.moving.append(self.src.slots[k].kind not in DISCRETE and any(self.moving[a] for a in args))
        return bool(self.moving[slot])

    def _below(self, slot: int, order: int) -> Iterator[tuple[int, int]]:
        """The slots that coefficients up to an order are made of, and how much lower their orders are."""
        if slot < self.src.arity:
            if self.fed and order:
                yield self.fed[slot], 1
            return
        step = self.src.steps[slot - self.src.arity]
        if slot in self.linear:  # at its order what it is multiplied by is needed below that
            for a in step.args:
                if a in self.linear or isinstance(step.operation, Euler):
                    yield a, 0
                elif order:
                    yield a, 1
            return
        if order and is_ruled(step.operation):
            for some in self.rule(slot).ends.values():
                yield from ((k, 0) for k in some)
            if isinstance(step.operation, Implicit):  # the inverse is at the values of all unknowns, read or not
                yield from ((k, order) for k in self.src.unpack(slot))
        if order and isinstance(step.operation, Elementwise):
            for partial in self._partials(slot, step):
                if isinstance(partial, PartialDerivative):
                    yield (partial.slot, 1) if partial.square is None else (partial.whole, order)
        for a in step.args:
            yield a, 0

    def rule(self, slot: int) -> Rule:
        """The rule of a step that has one."""
        if slot not in self.rules:
            self.rules[slot] = rule_of(self, slot)
        return self.rules[slot]

    def _partials(self, slot: int, step: Step[Any]) -> list[float | PartialDerivative]:
        """The partial derivatives of the primitive of a step, each a number or a slot."""
        if slot not in self.partials:
            self.partials[slot] = partials_of(self.src, slot, step)
        return self.partials[slot]

    def groups(self) -> Iterator[list[int]]:
        """The slots that are needed, in groups of those that need each other, each after what it needs."""
        done = set[int]()
        for first in sorted(self.need):
            group, todo = set[int](), [first]
            while todo:
                slot = todo.pop()
                if slot not in done:
                    done.add(slot)
                    group.add(slot)
                    todo += [k for k, _ in self._below(slot, self.need[slot])]
            yield self._in_order(group)

    def _in_order(self, group: set[int]) -> list[int]:
        """Slots, each after those whose coefficients of the same order it needs."""
        if self.linear.isdisjoint(group):
            return sorted(group)
        found: dict[int, None] = {}
        stack = [(slot, False) for slot in sorted(group, reverse=True)]
        while stack:
            slot, is_ready = stack.pop()
            if slot in found or slot not in group:
                continue
            if is_ready:
                found[slot] = None
            else:
                stack.append((slot, True))
                stack += [(k, False) for k in self._beside(slot)]
        return list(found)

    def _beside(self, slot: int) -> Iterable[int]:
        """The slots that a coefficient needs coefficients of the same order of."""
        if slot < self.src.arity:
            return ()
        step = self.src.steps[slot - self.src.arity]
        if is_ruled(step.operation) and slot in self.rules:
            return [k for some in self.rules[slot].ends.values() for k in some]
        if slot not in self.linear:
            return step.args
        return (
            () if slot in self.own else [a for a in step.args if a in self.linear or isinstance(step.operation, Euler)]
        )


def partials_of(src: Builder, slot: int, step: Step[Any]) -> list[float | PartialDerivative]:
    """The partial derivatives of the primitive of a step, each a number or a slot, which is put among the steps."""
    line, numbers = partials_on(src.slots[slot], step.operation)
    where = src.inline(line, (*step.args, slot))
    slots = iter(line.outputs)
    return [_factor(src, where[next(slots)], u) if k is None else k for u, k in zip(step.args, numbers, strict=True)]


def _factor(src: Builder, whole: int, u: int) -> PartialDerivative:
    """A partial derivative in a slot: its numbers in front taken off; with c if it is c·u + const."""
    factor, slot = _unscaled(src, whole)
    c, inner = factor, slot
    while inner != u and isinstance(src.operation(inner), Add):
        args = src.steps[inner - src.arity].args
        rest = [a for a in args if not isinstance(src.operation(a), Literal)]
        if len(rest) != 1:
            break
        k, inner = _unscaled(src, rest[0])
        c *= k
    return PartialDerivative(factor, slot, whole, c if inner == u else None)


def _unscaled(src: Builder, slot: int) -> tuple[float, int]:
    """k and x of a slot k·x."""
    k = 1.0
    while isinstance(operation := src.operation(slot), Scale):
        k, slot = k * operation.k, src.steps[slot - src.arity].args[0]
    return k, slot

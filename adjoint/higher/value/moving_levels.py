"""Values that move at levels: a differentiation within another has the higher one.

A value that moves carries a tangent for each level, the highest outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from adjoint.higher.value.normal_forms import Reader
from adjoint.higher.value.pullback_values import (
    AnyValue,
    DualNumber,
    Functional,
    Jacobian,
    Neutral,
    Node,
    Out,
    Pulled,
    Start,
    Still,
    Summed,
    Tape,
)
from adjoint.higher.value.stored_types import leafwise
from diff.lam.run.evaluate import STEPS
from diff.lam.term.lam_values import Closure, Native, Stack, Tagged, Value
from diff.lam.term.types import Arrow, Ground, Lin, Ty
from hilbert import Vec
from hilbert.base.notarray import Applicable


class Levels(Reader):
    """Values at the levels of differentiations in each other: what moves at one, and what stands still there."""

    def __init__(self, steps: int = STEPS) -> None:
        super().__init__(steps)
        self.count = 0
        self.is_open = False
        self.tapes: dict[int, Tape] = {}
        self.opened: dict[Still, Closure] = {}

    def tape(self) -> Tape:
        """The tape of a new differentiation."""
        self.count += 1
        self.tapes[self.count] = made = Tape(self.count)
        return made

    def lifted(self, point: Value, ty: Ty, tape: Tape) -> Value:
        """The point with a linear variable at each leaf."""
        start = Start(point, ty, self.types(point, ty))
        tape.add(start)
        return self.moved(point, ty, start, tape.level)

    def moved(self, value: Value, ty: Ty, node: Node, level: int) -> Value:
        """The value, to which the results of a node are added as tangents."""
        if type(value) is Vec and isinstance(ty, Ground) and ty.space.is_space:
            return self.perturbed(value, Out(node, 0), level)
        k = iter(range(len(node.types)))
        return leafwise(value, ty, lambda leaf, _: self.perturbed(leaf, Out(node, next(k)), level))

    def perturbed(self, leaf: Value, tangent: Out, level: int) -> Value:
        """v + ε v̇ of a leaf, which may move already."""
        if isinstance(leaf, DualNumber) and leaf.level > level:
            return DualNumber(self.perturbed(leaf.value, tangent, level), leaf.tangent, leaf.level)
        if isinstance(leaf, DualNumber) and leaf.level == level and isinstance(tangent.type, Ground):
            node = Summed(leaf.tangent, tangent, (tangent.type,))
            self.tapes[level].add(node)
            return DualNumber(leaf.value, Out(node, 0), level)
        return DualNumber(leaf, tangent, level)

    def still(self, value: Value, level: int) -> Value:
        """W: the value without what moves at a level."""
        if isinstance(value, DualNumber):
            if value.level == level:
                return self.still(value.value, level)
            return DualNumber(self.still(value.value, level), value.tangent, value.level)
        if isinstance(value, (Vec, int, Neutral)):
            return value
        if isinstance(value, (tuple, Tagged)):
            return _parts(value, lambda leaf: self.still(leaf, level))
        if level not in self.levels(value):
            return value
        if isinstance(value, Functional):
            return Functional(tuple(type(one)(*(self.still(v, level) for v in _fields(one))) for one in value.terms))
        if isinstance(value, Jacobian):
            return Jacobian(value.op, self.still(value.direction, level), value.name)
        return Still(value, level)

    def stilled(self, function: Still, closure: Closure) -> Closure:
        """A closure whose values stand still at a level, made once; functions among them when they are called."""
        if function not in self.opened:
            level = function.level
            values = {
                k: Still(v, level) if isinstance(v, (Closure, Native, Still)) else self.still(v, level)
                for k, v in closure.values.items()
            }
            self.opened[function] = Closure(closure.lam, values)
        return self.opened[function]

    def levels(self, value: Value) -> set[int]:
        """The levels at which a value may move: those of its leaves and of what its functions have captured."""
        levels: set[int] = set()
        seen: set[int] = set()
        stack: list[AnyValue] = [value]
        while stack:
            one = stack.pop()
            if isinstance(one, (Vec, int, Neutral)) or id(one) in seen:
                continue
            seen.add(id(one))
            match one:
                case DualNumber(inner, _, level):
                    levels.add(level)
                    stack.append(inner)
                case tuple():
                    stack.extend(one)
                case Tagged(_, inner):
                    stack.append(inner)
                case Closure(_, values):
                    stack.extend(values.values())
                case Pulled(_, _, values, form, _):
                    stack.extend((*values.values(), form))
                case Jacobian(_, direction, _):
                    stack.append(direction)
                case Functional(terms):
                    stack.extend(v for term in terms for v in _fields(term))
                case Native(_, of):
                    stack.extend(of)
                case Still(inner, level):
                    levels |= self.levels(inner) - {level}
                case Stack() | Applicable():
                    pass
                case _:
                    assert_never(one)
        return levels

    def types(self, value: Value, ty: Ty) -> tuple[Ty, ...]:
        """The types of the leaves."""
        types: list[Ty] = []

        def step(leaf: Value, kind: Ty) -> Value:
            types.append(kind)
            return leaf

        leafwise(value, ty, step)
        return tuple(types)


def space_below(leaf: Value) -> Any:
    """The space of a vector that may move."""
    while isinstance(leaf, DualNumber):
        leaf = leaf.value
    if isinstance(leaf, Neutral):
        assert isinstance(leaf.type, Ground)
        return leaf.type.space
    return leaf.space


def is_vector(value: Value) -> bool:
    """Tell if a value is a vector or a neutral term of such a type, or one that moves."""
    while isinstance(value, DualNumber):
        value = value.value
    return isinstance(value, Vec) or (isinstance(value, Neutral) and isinstance(value.type, Ground))


def is_known(value: Value) -> bool:
    """Tell if a value is a vector, or one that moves."""
    while type(value) is DualNumber:
        value = value.value
    return type(value) is Vec


def is_atomic(value: Value) -> bool:
    """Tell if a value is a vector, a covector or a neutral term of such a type, and does not move."""
    return isinstance(value, (Vec, Functional)) or (isinstance(value, Neutral) and not isinstance(value.type, Arrow))


def is_neutral_covector(value: Value) -> bool:
    """Tell if a covector is a neutral term, also one that moves."""
    while isinstance(value, DualNumber):
        value = value.value
    return isinstance(value, Neutral) and isinstance(value.type, Lin)


def is_functional(value: Value) -> bool:
    """Tell if a value is a covector at functions, or one that moves."""
    while isinstance(value, DualNumber):
        value = value.value
    return isinstance(value, Functional)


def under(leaf: Value, level: int) -> Value:
    """The leaf without what moves at a level that is its highest."""
    return leaf.value if type(leaf) is DualNumber and leaf.level == level else leaf


def tangents_at(leaves: Sequence[Value], level: int) -> tuple[Out | None, ...]:
    """The tangents of leaves at a level that is their highest; None for a leaf that stands still there."""
    return tuple([leaf.tangent if type(leaf) is DualNumber and leaf.level == level else None for leaf in leaves])


def _fields(one: Any) -> list[Value]:
    return [getattr(one, f.name) for f in type(one).__attrs_attrs__]


def _parts(value: Value, step: Any) -> Value:
    """The value with `step(v)` for its leaves."""
    results: list[Value] = []
    todo: list[Any] = [(value, False)]
    while todo:
        one, ready = todo.pop()
        if ready:
            if isinstance(one, Tagged):
                results[-1] = Tagged(one.label, results[-1])
            else:
                results[len(results) - len(one) :] = [tuple(results[len(results) - len(one) :])]
        elif isinstance(one, tuple):
            todo.append((one, True))
            todo.extend((part, False) for part in reversed(one))
        elif isinstance(one, Tagged):
            todo += [(one, True), (one.payload, False)]
        else:
            results.append(step(one))
    return results[0]

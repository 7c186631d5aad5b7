"""Ranges of the values of a program's slots, by interval arithmetic: which data are positive, whatever the point.

>>> from diff import exp, fun, tanh
>>> from hilbert import R
>>> p = fun(R)(lambda x: exp(x) * (1.0 - tanh(x) ** 2.0))
>>> print(ranges(p.line)[p.outputs[0]].is_positive)
True
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import evolve, frozen

from diff.terms.elementwise import Elementwise
from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import Choose
from hilbert.program.line.operation import Add, Cast, Contract, Keep, Literal, Move, Reduce, Scale
from hilbert.relation import Function
from linmap.matrices.structure.positive_maps import LARGE, Known, is_positive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from diff.terms.program import AnyProgram
    from hilbert.index.leaf import Leaf
    from hilbert.program.line.builder import Builder
    from hilbert.program.line.constant import Const
    from hilbert.program.line.line import Line
    from hilbert.relation.relation import AnyRelation
    from linmap.term.datum import Ref
    from linmap.term.net import Net


@final
@frozen
class Range:
    """All numbers between two, infinite ones perhaps; with or without the ends."""

    low: float = -math.inf
    high: float = math.inf
    has_low: bool = True
    has_high: bool = True

    @property
    def is_positive(self) -> bool:
        """Tell if all numbers are."""
        return self.low > 0.0 or (self.low == 0.0 and not self.has_low)

    @property
    def is_negative(self) -> bool:
        """Tell if all numbers are."""
        return self.high < 0.0 or (self.high == 0.0 and not self.has_high)

    def scaled(self, k: float) -> Range:
        """All multiples by a number."""
        if k == 0.0:
            return Range(0.0, 0.0)
        low, high = k * self.low, k * self.high
        return (
            Range(low, high, self.has_low, self.has_high) if k > 0.0 else Range(high, low, self.has_high, self.has_low)
        )

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high

    def __add__(self, other: Range) -> Range:
        low, high = self.low + other.low, self.high + other.high
        return Range(low, high, self.has_low and other.has_low, self.has_high and other.has_high)

    def __mul__(self, other: Range) -> Range:
        """All products; the ends count unless both factors are positive."""
        corners = [0.0 if 0.0 in (a, b) else a * b for a in self.ends for b in other.ends]
        found = Range(min(corners), max(corners))
        if min(self.low, other.low) < 0.0:
            return found
        is_above = (
            (self.is_positive and other.is_positive) if found.low == 0.0 else not (self.has_low and other.has_low)
        )
        return evolve(found, has_low=not is_above, has_high=self.has_high or other.has_high or found.high == 0.0)

    @property
    def squared(self) -> Range:
        """All squares."""
        if self.is_positive or self.is_negative:
            one = self if self.is_positive else self.scaled(-1.0)
            return Range(one.low * one.low, one.high * one.high, one.has_low, one.has_high)
        high = max(-self.low, self.high)
        has = any(has and abs(end) == high for end, has in ((self.low, self.has_low), (self.high, self.has_high)))
        return Range(0.0, high * high, has_high=has)

    def __or__(self, other: Range) -> Range:
        """The least range of both."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        has_low = any(one.has_low for one in (self, other) if one.low == low)
        return Range(low, high, has_low, any(one.has_high for one in (self, other) if one.high == high))


ANY, ABOVE, FROM_ZERO = Range(), Range(0.0, has_low=False), Range(0.0)
UNIT, WITHIN = Range(0.0, 1.0, has_low=False, has_high=False), Range(-1.0, 1.0, has_low=False, has_high=False)
TOP = Range(0.0, 1.0, has_low=False)
Found: TypeAlias = "Range | tuple[Range, ...]"

IMAGES: dict[str, Callable[[Range], Range]] = {
    "absolute": lambda x: x if x.is_positive else x.scaled(-1.0) if x.is_negative else FROM_ZERO,
    "cos": lambda _: Range(-1.0, 1.0),
    "cosh": lambda _: Range(1.0),
    "erf": lambda _: WITHIN,
    "erfc": lambda _: Range(0.0, 2.0, has_low=False, has_high=False),
    "exp": lambda _: ABOVE,
    "reciprocal": lambda x: ABOVE if x.is_positive else ANY,
    "relu": lambda x: x if x.is_positive else FROM_ZERO,
    "sech^2": lambda _: TOP,
    "sigmoid": lambda _: UNIT,
    "sin": lambda _: Range(-1.0, 1.0),
    "slope of sigmoid": lambda _: Range(0.0, 0.25, has_low=False),
    "softplus": lambda _: ABOVE,
    "sqrt": lambda x: ABOVE if x.is_positive else FROM_ZERO,
    "sqrt(x^2+1)": lambda _: Range(1.0),
    "square": lambda x: x.squared,
    "tanh": lambda _: WITHIN,
    "tanh'": lambda _: TOP,
    "1/(x^2+1)": lambda _: TOP,
}
"""The range of each of some functions; of the others nothing is known."""


SIGNS = (ANY, FROM_ZERO, ABOVE)
"""The ranges of numbers of which nothing is known, of those from 0 on, and of positive ones."""
DEPTH = 6
"""The longest path from a slot on which steps are looked at for its sign."""


def sign(b: Builder, slot: int) -> int:
    """The sign of a slot of a builder at any point: 2 where all entries are positive, 1 where none is negative."""
    known: dict[tuple[int, int], Found] = {}

    def found(slot: int, depth: int) -> Found:
        if slot < b.arity or not depth:
            return ANY
        if (slot, depth) not in known:
            step = b.steps[slot - b.arity]
            given = [found(a, depth - 1) for a in step.args]
            known[slot, depth] = _image(step.operation, given, step.args, b.slots, b.slots[slot])
        return known[slot, depth]

    one = found(slot, DEPTH)
    return 2 * one.is_positive or int(one.low >= 0.0) if isinstance(one, Range) else 0


def ranges(line: Line, signs: Sequence[int] = ()) -> tuple[Found, ...]:
    """The ranges of all slots, of bundles those of their arrays; of the inputs only signs may be known."""
    found: list[Found] = [*(SIGNS[k] for k in signs), *[ANY] * (line.arity - len(signs))]
    for k, step in enumerate(line.steps, line.arity):
        found.append(_image(step.operation, [found[a] for a in step.args], step.args, line.slots, line.slots[k]))
    return tuple(found)


def proves_positive(p: AnyProgram, body: Net, signs: Sequence[int] = ()) -> bool:
    """Tell if a net with references to slots of a program is proved to be symmetric and positive, at any point."""
    return is_positive(body, facts(p, signs))


def facts(p: AnyProgram, signs: Sequence[int] = ()) -> Callable[[Ref], Known]:
    """The ranges of the slots of a program, at any point, from the signs of its first inputs."""
    line = p.line
    found = ranges(line, signs)

    def known(ref: Ref) -> Known:
        one, step = found[ref.slot], line.steps[ref.slot - line.arity] if ref.slot >= line.arity else None
        constant = step.operation.value if step and isinstance(step.operation, Literal) else None
        return Known(one.low >= 0.0, one.is_positive, constant) if isinstance(one, Range) else Known(constant=constant)

    return known


def _image(f: Any, given: Sequence[Any], args: Sequence[int], slots: Sequence[Leaf], made: Leaf) -> Any:
    """The range of a step's result; of a bundle those of its arrays."""
    match f:
        case Literal(value):
            return _constant(value)
        case Pack():
            return tuple(one if isinstance(one, Range) else ANY for one in given)
        case Unpack(k):
            return given[0][k] if isinstance(given[0], tuple) else ANY
        case _ if not all(isinstance(one, Range) for one in given) or not made.is_field:
            return ANY
        case Scale(k):
            return given[0].scaled(k)
        case Move() | Cast() | Keep():
            return given[0]
        case Add():
            return given[0] + given[1]
        case Choose():
            return given[1] | given[2]
        case Reduce(relation):
            return given[0] if _takes_one(relation) else _sum_of(given[0])
        case Contract(spec) if all(slots[a].is_field for a in args):
            one = given[0].squared if args[0] == args[1] and spec.left == spec.right else given[0] * given[1]
            return _sum_of(one) if spec.contracted else one
        case Elementwise(name="power", params=(exponent,)):
            return _power(given[0], exponent)
        case Elementwise(name=name) if name in IMAGES and len(given) == 1:
            return IMAGES[name](given[0])
        case Elementwise(name="divide"):
            return given[0] * ABOVE if given[1].is_positive else ANY
        case Elementwise(name="maximum"):
            low = max(given[0].low, given[1].low)
            return ABOVE if any(one.is_positive for one in given) else FROM_ZERO if low >= 0.0 else ANY
        case _:  # an open class here
            return ANY


def _takes_one(relation: AnyRelation) -> bool:
    """Tell if a reduction by a relation has one entry in each sum; of relations of huge sets only their form tells."""
    back = relation.T
    return isinstance(back, Function) or (max(back.dom.size, back.cod.size) <= LARGE and back.is_function)


def _sum_of(one: Range) -> Range:
    """All sums of some numbers, or of none."""
    return FROM_ZERO if one.low >= 0.0 else ANY


def _power(x: Range, exponent: float) -> Range:
    if exponent == 2.0:
        return x.squared
    if x.is_positive:
        return ABOVE
    return FROM_ZERO if exponent > 0.0 and exponent % 2.0 == 0.0 else ANY


def _constant(value: Const) -> Range:
    if not value.leaf.is_field or isinstance(value.array, Formal):
        return ANY
    host = to_numpy(value.array) if value.number is None else np.asarray(value.number)
    if not host.size or not np.isfinite(host).all():
        return ANY
    return Range(float(host.min()), float(host.max()))

"""Forward: primitives and functions at values that move, and what they write to the tapes (rules 9–15, 18 and 19).

A let series is followed as it is evaluated: each value carries its tangent, a variable of the derivative let series, so
that rules 7, 8 and 20 need no tuples. Rule 9 is a value without a tangent, rule 11 a value that is passed on, rules 12
and 13 are tuples of values, and rule 18 is a function whose free variables move.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, assert_never

from attrs import evolve

from adjoint.higher.machine.composed_primitives import composed
from adjoint.higher.value.moving_levels import (
    Levels,
    is_atomic,
    is_functional,
    is_known,
    is_vector,
    space_below,
    tangents_at,
    under,
)
from adjoint.higher.value.normal_forms import neutral, with_lets
from adjoint.higher.value.pullback_values import (
    Applied,
    Crossed,
    DualNumber,
    Functional,
    FunctionValue,
    Jacobian,
    Linearized,
    Neutral,
    Out,
    Pulled,
    Still,
    Stopped,
    Stuck,
)
from adjoint.higher.value.stored_types import is_discrete, result_types, zero
from diff.derive.affine import jvp
from diff.lam.check.library_names import sign
from diff.lam.files.type_of_term import type_of
from diff.lam.term.binding import Pass
from diff.lam.term.lam_values import Closure, Native, Tagged, Value, flat, on_leaves, shaped, summands
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, App, Case, Fold, If, Jac, Lam, Plus, Prim, Sharp, Tuple, Var, fresh
from diff.lam.term.types import Arrow, Ground, Lin, TupleType, ground
from hilbert import SpaceError, Vec
from hilbert.map.map import AnyMap

TWICE = "a second derivative, 𝒟(𝒟h)(a)(u)(v), of a function h that moves itself,"
"""The construct that no sum of ev and dv says, and that §13 has no rule for."""
_STILL = frozenset({Vec})
"""The class of leaves that neither move nor are stuck."""


class Mover(Levels):
    """Values that move."""

    # --- primitives ---

    def primitive(self, op: AnyMap, value: Value, name: str = "") -> Value:
        """op(v); the tangent is 𝒥op along those of the leaves (rules 10, 14, 15)."""
        return self.on_leaves(op, flat(value), name)

    def at_once(self, term: AnyTerm, env: dict[int, Value]) -> Value | None:
        """The value of a straight term as that of one map, where its variables are vectors, which may move.

        Not where there is a free variable: what that stops is kept as a term, of primitives that have names.
        """
        whole = None if self.is_open else composed(term)
        if whole is not None:
            op, variables = whole
            leaves = [env.get(number) for number in variables]
            if all(map(is_known, leaves)):
                with suppress(SpaceError):  # an error is told with the place of a step
                    return self.on_leaves(op, leaves)
        return self.at_hand(term, env)

    def on_leaves(self, op: AnyMap, leaves: Sequence[Value], name: str = "") -> Value:
        """op at the element of its domain that has these leaves."""
        if _STILL.issuperset(map(type, leaves)):
            return on_leaves(op, leaves)
        level = max([leaf.level for leaf in leaves if type(leaf) is DualNumber], default=0)
        if level:
            points = tuple([under(leaf, level) for leaf in leaves])
            result = self.on_leaves(op, points, name)
            if is_discrete(op, name):
                return result
            node = Linearized(op, name, points, tangents_at(leaves, level), result_types(op))
            self.tapes[level].add(node)
            return self.moved(result, ground(op.cod), node, level)
        if any(type(leaf) is Neutral for leaf in leaves):
            return neutral(Prim(op, self._argument(shaped(op.dom, iter(leaves))), name), ground(op.cod))
        return on_leaves(op, leaves)

    def _argument(self, value: Value) -> AnyTerm:
        """The term of an argument of primitives: numbers and neutral terms, covectors of numbers among them."""
        if isinstance(value, tuple):
            return Tuple(tuple(map(self._argument, value)))
        if isinstance(value, Neutral) and isinstance(value.type, Lin):
            return Sharp(value.term)
        term: AnyTerm = _done(self.read(value, TupleType(())))
        return term

    def jacobian(self, op: AnyMap, name: str, direction: Value, point: Value) -> Value:
        """(𝒥f·v) a: rule 4, and where it moves rule 14, or (15) of f' (§13.2)."""
        along, at = flat(direction), flat(point)
        level = max((leaf.level for leaf in (*along, *at) if isinstance(leaf, DualNumber)), default=0)
        if level and not any(isinstance(leaf, DualNumber) and leaf.level == level for leaf in at):
            still = tuple(under(leaf, level) for leaf in along)
            result = self.jacobian(op, name, shaped(op.dom, iter(still)), point)
            node = Linearized(op, name, tuple(at), tangents_at(along, level), result_types(op))
            self.tapes[level].add(node)
            return self.moved(result, ground(op.cod), node, level)
        if not level and any(isinstance(leaf, Neutral) for leaf in (*along, *at)):
            term = App(Jac(op, self._argument(direction), name), self._argument(point))
            return neutral(term, ground(op.cod))
        if is_discrete(op, name):
            return zero(ground(op.cod))
        tangents = [u if s.is_space else s.tangent.zeros() for u, s in zip(along, summands(op.dom), strict=True)]
        return self.on_leaves(jvp(op), (*at, *tangents), f"{name}'" if name else "")

    def sum(self, a: Value, b: Value) -> Pass:
        """v + w at any type: rule 10."""
        match a, b:
            case Vec(), Vec():
                return self.on_leaves(sign("+", a.space, a.space), (a, b), "+")
            case Tagged(label, x), Tagged(other, y):
                if label != other:
                    raise TermError("shape", f"{label} and {other} are not added: their tags differ")
                part = yield self.sum(x, y)
                return Tagged(label, part)
            case Functional(), Functional():
                return Functional((*a.terms, *b.terms))
            case DualNumber(inner, tangent, level), other if is_functional(a) and is_functional(b):
                inner = yield self.sum(inner, other)
                return self.perturbed(inner, tangent, level)
            case Functional(), DualNumber() if is_functional(b):
                return (yield self.sum(b, a))
            case (Functional() | Neutral(), _) | (_, Functional() | Neutral()) if is_atomic(a) and is_atomic(b):
                ty = next(one.type for one in (a, b) if isinstance(one, Neutral))
                if isinstance(ty, Ground):
                    return self.primitive(sign("+", ty.space, ty.space), (a, b), "+")
                left = yield self.read(a, ty)
                right = yield self.read(b, ty)
                return Neutral(Plus(left, right), ty)
            case (Pulled() | Jacobian() | Neutral() | DualNumber(), _) | (_, Pulled() | Jacobian() | Neutral()) if (
                not is_vector(a)
            ):

                def pointwise(arg: Value) -> Pass:
                    x = yield self.call(a, arg)
                    y = yield self.call(b, arg)
                    return (yield self.sum(x, y))

                return Native(pointwise, (a, b))
            case (Vec() | DualNumber(), _) | (Neutral(), DualNumber()):
                space = space_below(a)
                return self.primitive(sign("+", space, space), (a, b), "+")
            case _:  # asks for values of derivatives: others, as tuples, are added as in the base class
                return (yield super().sum(a, b))

    # --- functions ---

    def call(self, function: FunctionValue, arg: Value) -> Pass:
        """f v; a function that moves is rule 19."""
        match function:
            case DualNumber(inner, tangent, level):
                result = yield self.call(inner, arg)
                return self.applied(result, tangent, level, arg)
            case Neutral():
                return (yield self._stopped(function, arg))
            case Jacobian(op, direction, name):
                return self.jacobian(op, name, direction, arg)
            case Still(Closure() as closure, level):
                return (yield super().call(self.stilled(function, closure), self.still(arg, level)))
            case Still(inner, level):
                result = yield self.call(inner, arg)
                return self.still(result, level)
            case Closure() | Native() | Pulled():
                return (yield super().call(function, arg))
            case _:
                assert_never(function)

    def applied(self, result: Value, tangent: Out, level: int, arg: Value) -> Value:
        """(f + ε ḟ) a = f a + ε ḟ W(a), f a at hand; where a moves at a higher level, 𝒟ḟ(W(a))(ȧ) is of both."""
        arrow: Any = tangent.type
        above = [m for m in self.levels(arg) if m > level] if self.count > level else []
        point, plain = arg, result
        for m in (*above, level):
            point, plain = self.still(point, m), self.still(plain, m)
        types = self.types(plain, arrow.cod)
        node = Applied(tangent, point, plain, types)
        self.tapes[level].add(node)
        moved = self.moved(result, arrow.cod, node, level)
        if above:
            if len(above) > 1:
                raise Stuck(TWICE)
            crossed = Crossed(tangent, level, self.still(arg, level), plain, types)
            self.tapes[above[0]].add(crossed)
            moved = self.moved(moved, arrow.cod, crossed, above[0])
        return moved

    def _stopped(self, function: Neutral, arg: Value) -> Pass:
        """k a, k neutral: values 1 and 2 of the paper, with 𝒟k(a)(ȧ) for a tangent (rule 19d)."""
        assert isinstance(function.type, Arrow)
        level = max(self.levels(arg), default=0)
        if level:
            point = self.still(arg, level)
            result = yield self.call(function, point)
            node = Stopped(function, point, arg, self.types(result, function.type.cod))
            self.tapes[level].add(node)
            return self.moved(result, function.type.cod, node, level)
        arg = yield self.read(arg, function.type.dom)
        return neutral(App(function.term, arg), function.type.cod)

    # --- what stops ---

    def free(self, x: Var) -> Value:
        """A free variable stands for itself."""
        self.is_open = True
        return neutral(x, x.type)

    def undecided(self, condition: Value, term: If | Case | Fold, env: dict[int, Value]) -> Pass:
        """A condition or tag that is not known: the term stays, with what its variables stand for."""
        if isinstance(condition, DualNumber) and not isinstance(term, If):  # a neutral term that moves
            raise Stuck
        if not isinstance(condition, Neutral):
            return (yield super().undecided(condition, term, env))
        x = fresh("t", condition.type)
        inner = evolve(term, condition=x) if isinstance(term, If) else evolve(term, of=x)
        (made, lets) = yield self.closed(Lam(x, inner), env)
        stopped = evolve(made.body, **{"condition" if isinstance(term, If) else "of": condition.term})
        return neutral(with_lets(lets, stopped), type_of(term))


def _done(run: Pass) -> Any:
    """The result of a pass that yields nothing."""
    try:
        next(run)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("numbers are read at once")

"""Reduction as a machine (§14 of the paper): forward through the let series, then back over the derivative let series.

There are environments and no substitution; every primitive is computed once on the way forward, and its transposed
Jacobian is applied once on the way back. What a free variable stops is left as a term.
"""

from __future__ import annotations

from typing import assert_never

from adjoint.higher.machine.derivative_series import Bodies
from adjoint.higher.value.moving_levels import is_neutral_covector
from adjoint.higher.value.normal_forms import neutral, with_lets
from adjoint.higher.value.pullback_values import (
    At,
    DirectionalCovector,
    Functional,
    Jacobian,
    Neutral,
    Pulled,
    Start,
    Stuck,
    Tape,
)
from adjoint.higher.value.stored_types import zero, zero_at
from diff.jets.multiindex import count
from diff.lam.files.type_of_term import free_variables, type_of
from diff.lam.run.evaluate import STEPS
from diff.lam.run.matching import bind
from diff.lam.term.binding import Pass
from diff.lam.term.lam_values import Value
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Cov,
    Diff,
    Dual,
    Dv,
    Ev,
    Jac,
    Lam,
    Plus,
    Point,
    Pull,
    Pullbacks,
    Sharp,
    Zero,
    pattern_type,
    require_term,
)
from diff.lam.term.types import Arrow, DataType, Ty, dual, mentions
from hilbert.base.lazy import uncollected
from hilbert.base.term import driven


def reduce(term: AnyTerm, steps: int = STEPS) -> AnyTerm:
    """The normal form of a checked term of the language of pullbacks, t ⟶* V (§10, §14).

    Free variables stand for themselves. Raises TermError: `limit` after so many function calls, `type` for no term.
    """
    require_term(term, "reduce(t)")
    count(steps, "reduce(t, steps=…)")
    try:
        with uncollected():
            normal: AnyTerm = driven(_read(Machine(steps), term))
    except Stuck as stuck:
        raise refusal(term, stuck) from None
    return normal


def refusal(term: AnyTerm, stuck: Stuck) -> TermError:
    """The error for a closed term that stops where no rule of the paper is."""
    what = f"{stuck} has no covector that is a sum of ev and dv" if str(stuck) else "the term has no normal form"
    message = (
        r"a covector of functions moves: for the entry of pull(\f. t, c) g at u write diff(\f. t, g, u) or, where t"
        r" differentiates f itself, diff(\s. (\f. t) (\x. g x + s*u x), 0, 1)"
    )
    return TermError("limit", f"{what} (§10.1): {message}", term.place)


def _read(machine: Machine, term: AnyTerm) -> Pass:
    machine.is_open = bool(free_variables(term))
    value = yield machine.value(term, {})
    return (yield machine.read(value, type_of(term)))


class Machine(Bodies):
    """One reduction. Where there is a free variable, a derivative that it stops is tried, and else kept as a term."""

    def pullback(self, term: Pullbacks, env: dict[int, Value]) -> Pass:
        """The formers of the language of pullbacks."""
        match term:
            case Pull(pattern, body, form):
                form = yield self.value(form, env)
                return Pulled(pattern, body, dict(env), form, type_of(body))
            case Dual(_, _, covector, _):
                covector = yield self.value(covector, env)
                return (yield self._transposed(term, covector, env))
            case Jac(op, direction, name):
                direction = yield self.value(direction, env)
                return Jacobian(op, direction, name)
            case Cov(of) | Point(of):  # stored as what they are of
                return (yield self.value(of, env))
            case Sharp(of):
                covector = yield self.value(of, env)
                if not is_neutral_covector(covector):
                    return covector
                if not isinstance(covector, Neutral):  # it moves
                    raise Stuck
                return neutral(Sharp(covector.term), type_of(term))
            case Diff(function, point, direction):
                f = yield self.value(function, env)
                at = yield self.value(point, env)
                along = yield self.value(direction, env)
                return (yield self._along(f, at, along, type_of(function)))
            case Ev(at, covector):
                point = yield self.value(at, env)
                c = yield self.value(covector, env)
                return Functional((At(point, c),))
            case Dv(at, along, covector):
                point = yield self.value(at, env)
                direction = yield self.value(along, env)
                c = yield self.value(covector, env)
                return Functional((DirectionalCovector(point, direction, c),))
            case Zero(ty):
                return zero(ty)
            case Plus():  # of both languages
                raise AssertionError(term)
            case _:
                assert_never(term)

    def _along(self, f: Value, at: Value, along: Value, arrow: Ty) -> Pass:
        """𝒟F(a)(u); a term where a tag is not known."""
        if not self.is_open:
            return (yield self.differential(f, at, along, arrow))
        try:
            return driven(self.differential(f, at, along, arrow))
        except Stuck:
            if self.levels((f, at, along)):
                raise
        assert isinstance(arrow, Arrow)
        function = yield self.read(f, arrow)
        point = yield self.read(at, arrow.dom)
        direction = yield self.read(along, arrow.dom)
        return neutral(Diff(function, point, direction), arrow.cod)

    def _transposed(self, term: Dual, covector: Value, env: dict[int, Value]) -> Pass:
        """(λp. S)*·c; a term where S is stuck."""
        ty = pattern_type(term.pattern)
        point = None if term.point is None else (yield self.value(term.point, env))

        def run() -> Pass:
            tape = self.tape()
            inner = dict(env)
            start = zero(ty) if point is None else zero_at(point, ty)
            bind(term.pattern, self.lifted(start, ty, tape), inner)
            result = yield self.value(term.body, inner)
            return (yield self._dual(tape, result, type_of(term.body), covector))

        if not self.is_open:
            return (yield run())
        try:
            return driven(run())
        except Stuck:
            pass
        (closed, lets) = yield self.closed(Lam(term.pattern, term.body), env)
        c = yield self.read(covector, dual(type_of(term.body)))
        spot = None if point is None else (yield self.read(point, ty))
        return Neutral(with_lets(lets, Dual(closed.pattern, closed.body, c, spot)), dual(ty))

    def call(self, function: Value, arg: Value) -> Pass:
        """f v; in an open term a pullback that is stuck stays as a term."""
        if not isinstance(function, Pulled):
            return (yield super().call(function, arg))
        if not self.is_open:
            return (yield self._pulled(function, arg))
        try:
            return driven(self._pulled(function, arg))
        except Stuck:
            pass
        ty = pattern_type(function.pattern)
        pull = yield self.read(function, Arrow(ty, dual(ty)))
        point = yield self.read(arg, ty)
        return Neutral(App(pull, point), dual(ty))

    def _pulled(self, function: Pulled, point: Value) -> Pass:
        """((Ω λp. t)·ω) V: the forward phase, the 1-form at the value, and the reverse phase."""
        tape = self.tape()
        ty = pattern_type(function.pattern)
        env = dict(function.values)
        bind(function.pattern, self.lifted(point, ty, tape), env)
        result = yield self.value(function.body, env)
        covector = yield self.call(function.form, self.still(result, tape.level))
        return (yield self._dual(tape, result, function.type, covector))

    def _dual(self, tape: Tape, result: Value, ty: Ty, covector: Value) -> Pass:
        """(λv. S)*·c: transposed, or the term where that is stuck."""
        start = tape.nodes[0]
        assert isinstance(start, Start)
        if not self.is_open:
            return (yield self.transposed(tape, start, [(result, ty, covector)]))
        try:
            return driven(self.transposed(tape, start, [(result, ty, covector)]))
        except Stuck:
            pass
        pattern, body = yield self.body(tape, start, result, ty)
        c = yield self.read(covector, dual(ty))
        spot = None
        if mentions(start.type, DataType):
            spot = yield self.read(zero_at(start.point, start.type), start.type)
        return Neutral(Dual(pattern, body, c, spot), dual(start.type))

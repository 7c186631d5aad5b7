"""The checker finds types by unification, and the meaning of words: primitives, constructors or names of a module.

Γ ⊢ t : σ is one `match`, the typing rules of both languages. Variables carry their types, so there is no Γ to pass. The
space of a primitive is what annotations, read from the left to the right, have made known; else it is ℝ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from attrs import evolve

from diff.lam.check.linearity import is_linear
from diff.lam.check.resolve import BOOL, LAMBDA, Dialect, Scope
from diff.lam.check.typing_rules import Rules, fits
from diff.lam.term.binding import Pass, mapped
from diff.lam.term.inductive import payload
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Case,
    Con,
    Cov,
    Diff,
    Dual,
    Dv,
    Ev,
    Fix,
    Fold,
    If,
    Jac,
    Lam,
    Let,
    Lit,
    Name,
    Number,
    Plus,
    Point,
    Prim,
    Proj,
    Pull,
    Sharp,
    Sign,
    Tuple,
    Typed,
    Var,
    Zero,
    pattern_type,
    variables,
)
from diff.lam.term.types import INT, Arrow, DataType, Ground, TupleType, Ty, Unknown, dual, ground, unknown
from hilbert import Vec
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Checker(Rules):
    """The equations of one item, and the rules that make them."""

    def __init__(self, names: Scope, profile: Dialect = LAMBDA) -> None:
        super().__init__(names, profile)
        self._linear: list[Dual] = []

    def check(self, term: AnyTerm, due: Ty | None = None) -> tuple[AnyTerm, Ty]:
        """The term with its words resolved, and its type, both with unknowns; `due` is the type that is expected."""
        made, ty = driven(self.infer(term, due))
        if due is not None:
            self.types.unify(ty, due, term.place, "the term")
        return made, ty

    def finish(
        self, term: AnyTerm, ty: Ty, open_: Callable[[Unknown], Ty], seen: Callable[[AnyTerm], None] = lambda _: None
    ) -> tuple[AnyTerm, Ty]:
        """The term and its type without unknowns: `open_` says what stands for those that nothing determines.

        `seen` is called with each subterm as it was, from the outside in.
        """
        self.components.settle()
        memo: dict[Ty, Ty] = {}
        closed_type = self.types.resolve(ty, memo, open_)
        closed = mapped(term, seen, lambda one: self.types.resolve(one, memo, open_))
        for body in self._linear:
            if not is_linear(body.body, {x.number for x in variables(body.pattern)}):
                raise TermError("linear", "the body of a dual map is not linear in its variable", body.place)
        return closed, closed_type

    def infer(self, term: AnyTerm, hint: Ty | None = None) -> Pass:
        """Γ ⊢ t : σ, as (t, σ); `hint` is the type that is due, where that is known."""
        unify = self.types.unify
        hint = self.known(hint)
        place = term.place
        match term:
            case Var(_, _, ty):
                return term, ty
            case Lit(Vec() as value) if isinstance(hint, Ground) and fits(value, hint.space):
                return Lit(hint.space.vec(value.array), place=place), hint
            case Lit(value):
                return term, ground(value.space) if isinstance(value, Vec) else INT
            case Number():
                return self.number(term, hint)
            case Tuple(parts):
                dues: Sequence[Ty | None] = [None] * len(parts)
                if isinstance(hint, TupleType) and len(hint.parts) == len(parts):
                    dues = hint.parts
                made, types = yield from self.each(parts, dues)
                return Tuple(tuple(made), place=place), TupleType(tuple(types))
            case Con(label, DataType() as data, arg):
                if isinstance(hint, DataType) and hint.declaration is data.declaration:
                    unify(data, hint, place)
                due = payload(data, label)
                arg = yield from self.due(arg, due, place, f"what {label} takes")
                return Con(label, data, arg, place=place), data
            case Name(name, at):
                return self.named(name, at, hint, place)
            case Prim(op, arg):
                arg = yield from self.due(arg, ground(op.dom), place, "the argument")
                return evolve(term, arg=arg), ground(op.cod)
            case Lam(pattern, body):
                if not isinstance(hint, Arrow):
                    body, ty = yield self.infer(body)
                    return evolve(term, body=body), Arrow(pattern_type(pattern), ty)
                unify(hint.dom, pattern_type(pattern), pattern.place, "the argument")
                body = yield from self.due(body, hint.cod, place, "the result")
                return evolve(term, body=body), Arrow(pattern_type(pattern), hint.cod)
            case App():
                return (yield from self.application(term, hint))
            case Let(pattern, value, body):
                value = yield from self.due(value, pattern_type(pattern), place, "the value")
                body, ty = yield self.infer(body, hint)
                return evolve(term, value=value, body=body), ty
            case Proj(index, of):
                of, ty = yield self.infer(of)
                return Proj(index, of, place=place), self.components.of(ty, index, place)
            case If(condition, then, otherwise):
                condition = yield from self.due(condition, BOOL, place, "the condition")
                then, ty = yield self.infer(then, hint)
                otherwise = yield from self.due(otherwise, ty, place, "the other branch")
                return If(condition, then, otherwise, place=place), ty
            case Case(of, branches):
                of, ty = yield self.infer(of)
                data = self.data(ty, branches, place)
                unify(ty, data, of.place or place, "what is taken apart")
                made, ty = yield self.branches(branches, data, data, hint or unknown())
                return Case(of, made, place=place), ty
            case Fold(given, of, branches):
                of, ty = yield self.infer(of, given)
                data = given if isinstance(given, DataType) else self.data(ty, branches, place)
                unify(ty, data, of.place or place, "what is folded")
                result = hint or unknown()
                made, ty = yield self.branches(branches, data, result, result)
                return Fold(data, of, made, place=place), ty
            case Fix(var, body):
                body = yield from self.due(body, var.type, place, f"the definition of {var.name}")
                return Fix(var, body, place=place), var.type
            case Typed(of, due):
                of = yield from self.due(of, due, place, "the term")
                return of, due
            case Sign(text, args):
                return (yield self.operator(text, args, hint, place))
            case Zero(ty):
                return term, ty
            case Plus(left, right):
                left, ty = yield self.infer(left, hint)
                right = yield from self.due(right, ty, place, "the other summand")
                return Plus(left, right, place=place), ty
            case Pull():
                return (yield from self.pullback(term))
            case Dual(pattern, body, covector):
                body, ty = yield self.infer(body)
                covector = yield from self.due(covector, dual(ty), place, "the covector")
                dual_map = evolve(term, body=body, covector=covector)
                self._linear.append(dual_map)
                return dual_map, dual(pattern_type(pattern))
            case Jac():
                return (yield from self.jacobian(term))
            case Cov(of):
                of, ty = yield self.infer(of)
                return Cov(of, place=place), dual(self.vectors(ty, place))
            case Sharp(of):
                of, ty = yield self.covector(of, place)
                return Sharp(of, place=place), ty
            case Point(of):
                of, ty = yield self.infer(of)
                return Point(of, place=place), dual(dual(ty))
            case Diff(function, point, direction):
                function, ty = yield self.infer(function)
                arrow = Arrow(unknown(), unknown())
                unify(ty, arrow, function.place or place, "what is differentiated")
                point = yield from self.due(point, arrow.dom, place, "the point")
                direction = yield from self.due(direction, arrow.dom, place, "the direction")
                return Diff(function, point, direction, place=place), arrow.cod
            case Ev(at, covector):
                at, ty = yield self.infer(at)
                covector, cod = yield self.covector(covector, place)
                return Ev(at, covector, place=place), dual(Arrow(ty, cod))
            case Dv(at, along, covector):
                at, ty = yield self.infer(at)
                along = yield from self.due(along, ty, place, "the direction")
                covector, cod = yield self.covector(covector, place)
                return Dv(at, along, covector, place=place), dual(Arrow(ty, cod))
            case Con():  # its type was not even declared
                raise TermError("type", f"{term.label} is no constructor of {term.type}", place)
            case _:
                assert_never(term)

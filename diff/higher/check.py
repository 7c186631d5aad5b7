"""The checker: types are found by unification, and what a front end left open becomes primitives, constructors, names.

Γ ⊢ t : σ is one `match`, the typing rules of both languages. Variables carry their types, so there is no Γ to pass. The
space of a primitive is what annotations, read from the left to the right, have made known; else it is ℝ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from attrs import evolve

from diff.higher import operators
from diff.higher.binding import Pass, mapped
from diff.higher.errors import Place, TermError
from diff.higher.linear import is_linear
from diff.higher.resolve import BOOL, LAMBDA, Dialect, Resolver, Scope
from diff.higher.terms import (
    AnyTerm,
    App,
    Branch,
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
    fresh,
    pattern_type,
    real,
    variables,
)
from diff.higher.types import (
    INT,
    REAL,
    UNIT,
    Arrow,
    DataType,
    Ground,
    Int,
    Lin,
    TupleType,
    Ty,
    Unknown,
    dual,
    ground,
    instance,
    payload,
    unknown,
)
from hilbert import SpaceError, Vec
from hilbert.term import driven

if TYPE_CHECKING:
    from collections.abc import Callable


class Checker(Resolver):
    """The equations of one item, and the rules that make them."""

    def __init__(self, names: Scope, profile: Dialect = LAMBDA) -> None:
        super().__init__(names, profile)
        self._linear: list[Dual] = []

    # --- what is asked of it ---

    def check(self, term: AnyTerm, due: Ty | None = None) -> tuple[AnyTerm, Ty]:
        """The term with what was open replaced, and its type, both with unknowns; `due` is what is expected of it."""
        made, ty = driven(self._infer(term, due))
        if due is not None:
            self.types.unify(ty, due, term.place, "the term")
        return made, ty

    def finish(self, term: AnyTerm, ty: Ty, open_: Callable[[Unknown], Ty]) -> tuple[AnyTerm, Ty]:
        """The term and its type without unknowns: `open_` says what stands for those that nothing determines."""
        self.settle()
        memo: dict[Ty, Ty] = {}
        found = self.types.resolve(ty, memo, open_)
        made = mapped(term, lambda _: None, lambda one: self.types.resolve(one, memo, open_))
        for body in self._linear:
            if not is_linear(body.body, {x.number for x in variables(body.pattern)}):
                raise TermError("linear", "the body of a dual map is not linear in its variable", body.place)
        return made, found

    # --- the rules ---

    def _infer(self, term: AnyTerm, hint: Ty | None = None) -> Pass:
        """Γ ⊢ t : σ, as (t, σ); `hint` is the type that is due, where that is known."""
        unify = self.types.unify
        hint = self.known(hint)
        place = term.place
        match term:
            case Var(_, _, ty):
                return term, ty
            case Lit(Vec() as value) if isinstance(hint, Ground) and _fits(value, hint.space):
                return Lit(hint.space.vec(value.array), place=place), hint
            case Lit(value):
                return term, ground(value.space) if isinstance(value, Vec) else INT
            case Number(text):
                if isinstance(hint, Int) and text.isdigit():
                    return Lit(int(text), place=place), INT
                return real(float(text), place), REAL
            case Name(name, at):
                return self.named(name, at, hint, place)
            case Prim(op, arg):
                arg, ty = yield self._infer(arg, ground(op.dom))
                unify(ty, ground(op.dom), arg.place or place, "the argument")
                return evolve(term, arg=arg), ground(op.cod)
            case Lam(pattern, body):
                cod = None
                if isinstance(hint, Arrow):
                    unify(hint.dom, pattern_type(pattern), pattern.place, "the argument")
                    cod = hint.cod
                body, ty = yield self._infer(body, cod)
                return evolve(term, body=body), Arrow(pattern_type(pattern), ty)
            case App(Name(name) as function, arg) if (count := self.arity(name)) is not None:
                return (yield self._applied(name, count, arg, function.place))
            case App(Name(name), arg) if (known := self.names.map(name)) is not None and not self.names.definition(
                name
            ):
                return (yield self._infer(Prim(known, arg, name, place=place)))
            case App(Name(name), arg) if self.names.constructor(name) is not None:
                return (yield self._constructed(name, self.names.constructor(name), arg, hint, place))
            case App(function, arg):
                function, ty = yield self._infer(function)
                ty = self.types.find(ty)
                if not isinstance(ty, (Arrow, Unknown)):
                    message = f"this is of type {self.types.text(ty)} and is applied, but is no function"
                    raise TermError("type", message, function.place or place)
                if isinstance(ty, Unknown):
                    arrow = Arrow(unknown(), unknown())
                    unify(ty, arrow, place)
                    ty = arrow
                arg, found = yield self._infer(arg, ty.dom)
                unify(found, ty.dom, arg.place or place, "the argument")
                return App(function, arg, place=place), ty.cod
            case Let(pattern, value, body):
                value, ty = yield self._infer(value, pattern_type(pattern))
                unify(ty, pattern_type(pattern), value.place or place, "the value")
                body, ty = yield self._infer(body, hint)
                return evolve(term, value=value, body=body), ty
            case Tuple(parts):
                dues = list(hint.parts) if isinstance(hint, TupleType) and len(hint.parts) == len(parts) else []
                made, types = [], []
                for k, part in enumerate(parts):
                    part, ty = yield self._infer(part, dues[k] if dues else None)  # noqa: PLW2901 - the part, checked
                    made.append(part)
                    types.append(ty)
                return Tuple(tuple(made), place=place), TupleType(tuple(types))
            case Proj(index, of):
                of, ty = yield self._infer(of)
                return Proj(index, of, place=place), self.component(ty, index, place)
            case If(condition, then, otherwise):
                condition, ty = yield self._infer(condition, BOOL)
                unify(ty, BOOL, condition.place or place, "the condition")
                then, ty = yield self._infer(then, hint)
                otherwise, other = yield self._infer(otherwise, ty)
                unify(other, ty, otherwise.place or place, "the other branch")
                return If(condition, then, otherwise, place=place), ty
            case Con(label, DataType() as data, arg):
                if isinstance(hint, DataType) and hint.declaration is data.declaration:
                    unify(data, hint, place)
                due = payload(data, label)
                arg, ty = yield self._infer(arg, due)
                unify(ty, due, arg.place or place, f"what {label} takes")
                return Con(label, data, arg, place=place), data
            case Case(of, branches):
                of, ty = yield self._infer(of)
                data = self.data(ty, branches, place)
                unify(ty, data, of.place or place, "what is taken apart")
                made, ty = yield self._branches(branches, data, data, hint or unknown())
                return Case(of, made, place=place), ty
            case Fold(given, of, branches):
                of, ty = yield self._infer(of, given)
                data = given if isinstance(given, DataType) else self.data(ty, branches, place)
                unify(ty, data, of.place or place, "what is folded")
                result = hint or unknown()
                made, ty = yield self._branches(branches, data, result, result)
                return Fold(data, of, made, place=place), ty
            case Fix(var, body):
                body, ty = yield self._infer(body, var.type)
                unify(ty, var.type, body.place or place, f"the definition of {var.name}")
                return Fix(var, body, place=place), ty
            case Typed(of, due):
                of, ty = yield self._infer(of, due)
                unify(ty, due, of.place or place, "the term")
                return of, ty
            case Sign(text, args):
                return (yield self._operator(text, args, hint, place))
            case Zero(ty):
                return term, ty
            case Plus(left, right):
                left, ty = yield self._infer(left, hint)
                right, other = yield self._infer(right, ty)
                unify(other, ty, right.place or place, "the other summand")
                return Plus(left, right, place=place), ty
            case Pull(pattern, body, form):
                body, ty = yield self._infer(body)
                form, found = yield self._infer(form, Arrow(ty, dual(ty)))
                if isinstance(self.types.find(found), Lin):  # a covector is the constant 1-form
                    form, found = Lam(fresh("_", ty), form, place=form.place), Arrow(ty, found)
                unify(found, Arrow(ty, dual(ty)), form.place or place, "the 1-form")
                sigma = pattern_type(pattern)
                return evolve(term, body=body, form=form), Arrow(sigma, dual(sigma))
            case Dual(pattern, body, covector):
                body, ty = yield self._infer(body)
                covector, found = yield self._infer(covector, dual(ty))
                unify(found, dual(ty), covector.place or place, "the covector")
                dual_map = evolve(term, body=body, covector=covector)
                self._linear.append(dual_map)
                return dual_map, dual(pattern_type(pattern))
            case Jac(op, direction):
                if isinstance(op, Name):
                    op = self.map(op.name, place)  # a name until here
                direction, ty = yield self._infer(direction, ground(op.dom))
                unify(ty, ground(op.dom), direction.place or place, "the direction")
                return evolve(term, op=op, direction=direction), Arrow(ground(op.dom), ground(op.cod))
            case Cov(of):
                of, ty = yield self._infer(of)
                return Cov(of, place=place), dual(self.vectors(ty, place))
            case Sharp(of):
                ty = unknown()
                of, found = yield self._infer(of, dual(ty))
                unify(found, dual(ty), of.place or place, "the covector")
                return Sharp(of, place=place), ty
            case Point(of):
                of, ty = yield self._infer(of)
                return Point(of, place=place), dual(dual(ty))
            case Diff(function, point, direction):
                function, ty = yield self._infer(function)
                arrow = Arrow(unknown(), unknown())
                unify(ty, arrow, function.place or place, "what is differentiated")
                point, found = yield self._infer(point, arrow.dom)
                unify(found, arrow.dom, point.place or place, "the point")
                direction, found = yield self._infer(direction, arrow.dom)
                unify(found, arrow.dom, direction.place or place, "the direction")
                return Diff(function, point, direction, place=place), arrow.cod
            case Ev(at, covector):
                at, ty = yield self._infer(at)
                cod = unknown()
                covector, found = yield self._infer(covector, dual(cod))
                unify(found, dual(cod), covector.place or place, "the covector")
                return Ev(at, covector, place=place), dual(Arrow(ty, cod))
            case Dv(at, along, covector):
                at, ty = yield self._infer(at)
                along, found = yield self._infer(along, ty)
                unify(found, ty, along.place or place, "the direction")
                cod = unknown()
                covector, found = yield self._infer(covector, dual(cod))
                unify(found, dual(cod), covector.place or place, "the covector")
                return Dv(at, along, covector, place=place), dual(Arrow(ty, cod))
            case Con():  # its type was not even declared
                raise TermError("type", f"{term.label} is no constructor of {term.type}", place)
            case _:
                assert_never(term)

    # --- parts of rules ---

    def _applied(self, name: str, count: int, arg: AnyTerm, place: Place | None) -> Pass:
        """p(t): the first argument whose space is known says at which space p is."""
        due = BOOL if name in operators.LOGICAL else None
        arg, ty = yield self._infer(arg, due if count == 1 else None)
        given = self.types.find(ty)
        if count > 1 and isinstance(given, Unknown):
            self.types.unify(given, TupleType(tuple(unknown() for _ in range(count))), arg.place)
            given = self.types.find(given)
        types: tuple[Ty, ...] = (given,)
        if count > 1:
            if not isinstance(given, TupleType) or len(given.parts) != count:
                message = f"{name} takes {count} arguments, {name}(x, y), not one of type {self.types.text(given)}"
                raise TermError("type", message, place)
            types = given.parts
        known = [one for one in map(self.types.find, types) if not isinstance(one, Unknown)]
        space = self.ground(due or (known[0] if known else types[0]), place)
        if space is None:
            message = f"{name} applies to vectors, not to one of type {self.types.text(types[0])}"
            raise TermError("type", message, arg.place or place)
        for one in types:
            self.types.unify(one, Ground(space), arg.place or place, f"the argument of {name}")
        op = self.at_space(name, space, place)
        return Prim(op, arg, name, place=place), ground(op.cod)

    def _operator(self, text: str, args: tuple[AnyTerm, ...], hint: Ty | None, place: Place | None) -> Pass:
        """t + s and the other signs."""
        made, types = [], []
        for arg in args:
            arg, ty = yield self._infer(arg, hint if text in {"+", "-"} and isinstance(hint, Ground) else None)  # noqa: PLW2901
            made.append(arg)
            types.append(ty)
        if text in {"+", "-"}:
            known = [one for one in map(self.types.find, types) if not isinstance(one, Unknown)]
            for arg, ty in zip(made, types, strict=True):
                self.types.unify(
                    ty, known[0] if known else self.profile.default, arg.place or place, f"a part of {text}"
                )
        if text == "+" and isinstance(self.types.find(types[0]), (TupleType, Arrow, Lin)):
            return Plus(*made, place=place), types[0]
        spaces = []
        for arg, ty in zip(made, types, strict=True):
            space = self.ground(ty, arg.place)
            if space is None:
                message = f"{text[0]} applies to vectors, not to one of type {self.types.text(ty)}"
                raise TermError("type", message, arg.place or place)
            spaces.append(space)
        try:
            op = self.profile.sign(text, *spaces)
        except TermError as error:
            raise error.at(place) from None
        except SpaceError as error:
            raise TermError("type", str(error), place) from None
        return Prim(op, made[0] if len(made) == 1 else Tuple(tuple(made), place=place), text, place=place), ground(
            op.cod
        )

    def _constructed(self, name: str, declaration: Any, arg: AnyTerm, hint: Ty | None, place: Place | None) -> Pass:
        """ℓ t."""
        data = self.constructed(declaration, hint)
        if declaration.field(name) is UNIT:
            raise TermError("type", f"{name} takes nothing", arg.place or place)
        return (yield self._infer(Con(name, data, arg, place=place), hint))

    def _branches(self, branches: tuple[Branch, ...], data: DataType, recur: Ty, result: Ty) -> Pass:
        """ℓ p → s for each label: p is of type F(recur) at ℓ, s of the result's."""
        made = []
        for branch in branches:
            due = instance(data.declaration.field(branch.label), data.args, recur)
            self.types.unify(pattern_type(branch.pattern), due, branch.place, f"what {branch.label} binds")
            body, ty = yield self._infer(branch.body, result)
            self.types.unify(ty, result, body.place or branch.place, f"the branch {branch.label}")
            made.append(evolve(branch, body=body))
        return tuple(made), result


def _fits(value: Vec[Any], space: Any) -> bool:
    """Whether numbers as they are written, without the names of axes, are those of a vector of a space."""
    leaves = space.leaves
    return space != value.space and len(leaves) == 1 and leaves[0].is_field and leaves[0].shape == value.array.shape

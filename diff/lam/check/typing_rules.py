"""Typing rules of words that a parser leaves open, and of branches: the space of p(t) and t + s, the type of p."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from attrs import evolve

from diff.lam.check import library_names
from diff.lam.check.resolve import BOOL, Resolver
from diff.lam.term.binding import Pass
from diff.lam.term.inductive import instance
from diff.lam.term.term_error import Place, TermError
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Branch,
    Con,
    Jac,
    Lam,
    Lit,
    Name,
    Number,
    Plus,
    Prim,
    Pull,
    Tuple,
    Var,
    fresh,
    pattern_type,
    real,
)
from diff.lam.term.types import (
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
    unknown,
)
from hilbert import SpaceError, Vec

if TYPE_CHECKING:
    from collections.abc import Sequence


class Rules(Resolver, ABC):
    """The rules that are longer than a case of the figure."""

    @abstractmethod
    def infer(self, term: AnyTerm, hint: Ty | None = None) -> Pass:
        """Γ ⊢ t : σ, as (t, σ)."""

    def applicable(self, ty: Ty, at: Place | None, place: Place | None) -> Arrow:
        """The type of a term that is applied, as a function's type; raises TermError `type` for another type."""
        known = self.types.find(ty)
        if isinstance(known, Arrow):
            return known
        if not isinstance(known, Unknown):
            raise TermError("type", f"this is of type {self.types.text(known)} and is applied, but is no function", at)
        arrow = Arrow(unknown(), unknown())
        self.types.unify(known, arrow, place)
        return arrow

    def each(self, parts: Sequence[AnyTerm], dues: Sequence[Ty | None]) -> Pass:
        """The parts of a tuple and their types."""
        made, types = [], []
        for part, due in zip(parts, dues, strict=True):
            # a number needs no pass: long lists are mostly those
            part, ty = self.number(part, due) if type(part) is Number else (yield self.infer(part, due))  # noqa: PLW2901
            made.append(part)
            types.append(ty)
        return made, types

    def number(self, term: Number, hint: Ty | None) -> tuple[Lit, Ty]:
        """A number as it is written: an integer where one is due, else a real."""
        if term.text.isdigit() and isinstance(self.known(hint), Int):
            return Lit(int(term.text), place=term.place), INT
        return real(float(term.text), term.place), REAL

    def due(self, term: AnyTerm, ty: Ty, place: Place | None, what: str) -> Pass:
        """A term of this type."""
        term, found = yield self.infer(term, ty)
        self.types.unify(found, ty, term.place or place, what)
        return term

    def covector(self, term: AnyTerm, place: Place | None) -> Pass:
        """A covector, and the type of the vectors that it applies to."""
        ty = unknown()
        return (yield from self.due(term, dual(ty), place, "the covector")), ty

    def application(self, term: App, hint: Ty | None) -> Pass:
        """f t: a primitive or constructor that is applied by its name, or a function."""
        function, arg, place = term.function, term.arg, term.place
        if isinstance(function, Name):
            name = function.name
            count = self.arity(name)
            if count is not None:
                return (yield self.applied(name, count, arg, function.place))
            op = self.names.map(name)
            if op is not None and not self.names.definition(name):
                return (yield self.infer(Prim(op, arg, name, place=place)))
            declaration = self.names.constructor(name)
            if declaration is not None:
                return (yield self.construction(name, declaration, arg, hint, place))
        function, ty = yield self.infer(function)
        arrow = self.applicable(ty, function.place or place, place)
        what = f"the argument of {function.name}" if isinstance(function, (Name, Var)) else "the argument"
        arg = yield from self.due(arg, arrow.dom, place, what)
        return App(function, arg, place=place), arrow.cod

    def pullback(self, term: Pull) -> Pass:
        """(Ω λp. t)·ω; a covector for ω is the constant 1-form."""
        body, ty = yield self.infer(term.body)
        form, found = yield self.infer(term.form, Arrow(ty, dual(ty)))
        if isinstance(self.types.find(found), Lin):
            form, found = Lam(fresh("_", ty), form, place=form.place), Arrow(ty, found)
        self.types.unify(found, Arrow(ty, dual(ty)), form.place or term.place, "the 1-form")
        sigma = pattern_type(term.pattern)
        return evolve(term, body=body, form=form), Arrow(sigma, dual(sigma))

    def jacobian(self, term: Jac) -> Pass:
        """𝒥f·t: f is a name until here, and stands for the map at the space of t."""
        op: Any = term.op
        known = self.names.map(op.name) if isinstance(op, Name) else op
        along, ty = yield self.infer(term.direction, ground(known.dom) if known else None)
        if isinstance(op, Name):
            op = self.map(op.name, ty, term.place)
        self.types.unify(ty, ground(op.dom), along.place or term.place, "the direction")
        return evolve(term, op=op, direction=along), Arrow(ground(op.dom), ground(op.cod))

    def applied(self, name: str, count: int, arg: AnyTerm, place: Place | None) -> Pass:
        """p(t): the first argument whose space is known says at which space p is."""
        due = BOOL if name in library_names.LOGICAL else None
        arg, ty = yield self.infer(arg)
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
        first = due or (known[0] if known else types[0])
        space = self.ground(first, place)
        if space is None:
            message = f"{name} applies to vectors, not to one of type {self.types.text(first)}"
            raise TermError("type", message, arg.place or place)
        for one in types:
            self.types.unify(one, Ground(space), arg.place or place, f"the argument of {name}")
        op = self.at_space(name, space, place)
        return Prim(op, arg, name, place=place), ground(op.cod)

    def operator(self, text: str, args: tuple[AnyTerm, ...], hint: Ty | None, place: Place | None) -> Pass:
        """t + s and the other signs."""
        due = hint if text in {"+", "-"} and isinstance(hint, Ground) else None
        made, types = yield self.each(args, (due,) * len(args))
        if text in {"+", "-"}:
            for arg, ty in zip(made, types, strict=True):
                self.types.unify(ty, types[0], arg.place or place, f"a part of {text}")
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

    def construction(self, name: str, declaration: Any, arg: AnyTerm, hint: Ty | None, place: Place | None) -> Pass:
        """ℓ t."""
        data = self.constructed(declaration, hint)
        if declaration.fields[name] is UNIT:
            raise TermError("type", f"{name} takes nothing", arg.place or place)
        return (yield self.infer(Con(name, data, arg, place=place), hint))

    def branches(self, branches: tuple[Branch, ...], data: DataType, recur: Ty, result: Ty) -> Pass:
        """ℓ p → s for each label: p is of type F(recur) at ℓ, s of the result's."""
        checked = []
        for branch in branches:
            due = instance(data.declaration.fields[branch.label], data.args, recur)
            self.types.unify(pattern_type(branch.pattern), due, branch.place, f"what {branch.label} binds")
            body = yield from self.due(branch.body, result, branch.place, f"the branch {branch.label}")
            checked.append(evolve(branch, body=body))
        return tuple(checked), result


def fits(value: Vec[Any], space: Any) -> bool:
    """Tell if numbers as they are written, without the names of axes, are those of a vector of a space."""
    if not value.space.is_space:  # truth values are no numbers
        return False
    leaves = space.leaves
    return len(leaves) == 1 and leaves[0].is_field and leaves[0].shape == value.array.shape

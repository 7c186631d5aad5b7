"""r ⊙R m where each variable is written out once: r₁ ⊙R m + r₂ ⊙R m = (r₁ + r₂) ⊙R m, out of branches and sums, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, final

from attrs import Factory, frozen

from adjoint.languages.ks.notes.reverse.pass_scopes import lets, packed
from adjoint.languages.ks.text.term_union import ks_term
from adjoint.languages.ks.text.typed_terms import Maker
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Tuple, Var, fresh
from diff.lam.term.types import Lin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjoint.languages.ks.notes.reverse.pass_scopes import Bindings
    from diff.lam.term.binding import Pass


@final
@frozen
class Scope:
    """The result of r ⊙R m in a scope: lets, cotangents of s, and those of the variables that are bound around it."""

    bindings: Bindings = Factory(list)
    found: list[AnyTerm] = Factory(list)
    zeros: list[AnyTerm] = Factory(list)
    """Cotangents of s that are 0."""
    came: dict[int, AnyTerm] = Factory(dict)


@final
class Cotangents:
    """The pass, for maps from the space of s; `table` gives r ⊙R m for what is no sum of maps from there."""

    def __init__(self, make: Maker, s: AnyTerm, table: Callable[[AnyTerm, AnyTerm], Pass]) -> None:
        self.make, self.s, self.table = make, s, table
        self.lets: dict[int, Let] = {}
        """The lets that bind variables, by the numbers of these."""

    def of(self, r: AnyTerm, m: AnyTerm) -> Pass:
        """r ⊙R m."""
        scope = yield self._scope(r, m)
        assert not scope.came, "a variable of a map from s stands in a map from elsewhere"
        return lets(scope.bindings, self._sum(scope))

    def _scope(self, r: AnyTerm, m: AnyTerm) -> Pass:
        """The same in a scope; its variables are written out when all that reads them is, the last bound first."""
        make, scope, todo = self.make, Scope(), [(r, m)]
        own: list[int] = []
        while todo or own:
            if not todo:
                number = own.pop()
                if number in scope.came:
                    todo.append((_named(make, scope.came.pop(number), scope), self.lets[number].value))
                continue
            r, term = todo.pop()
            m = ks_term(term)
            match m:
                case Var(_, number) if number in self.lets:
                    scope.came[number] = make.added(scope.came[number], r) if number in scope.came else r
                case Let(Var(_, number, Lin()), _, body):
                    self.lets[number] = m
                    own.append(number)
                    todo.append((r, body))
                case Let(pattern, value, body):
                    scope.bindings.append((pattern, value))
                    todo.append((r, body))
                case App(Name("lmCompose"), Tuple((m1, m2))):
                    v = yield self.of(r, m1)
                    todo.append((_named(make, v, scope), m2))
                case App(Name("lmAdd"), Tuple(ms)):
                    todo += [(r, one) for one in reversed(ms)]
                case App(Name("lmVCat"), Tuple(ms)):
                    parts = [(make.component(k, r), one) for k, one in enumerate(ms)]
                    todo += reversed(parts)
                case If(_, a, b):
                    r = _named(make, r, scope)
                    left = yield self._scope(r, a)
                    right = yield self._scope(r, b)
                    self._leave(m, (left, right), scope)
                case App(Name("assert"), Tuple((_, Lam(_, body)))):
                    inner = yield self._scope(r, body)
                    self._leave(m, (inner,), scope)
                case App(Name("lmVCatV"), App(Name("build"), Tuple((_, Lam(i, body))))):  # Σᵢ r[i] ⊙R m
                    inner = yield self._scope(make.call("index", i, r), body)
                    self._leave(m, (inner,), scope)
                case App(Name("lmZero")):
                    zero = yield self.table(r, m)
                    scope.zeros.append(zero)
                case Var() | App() | Lit() | Name() | Tuple() | Lam():  # no sum of maps from there: by the table
                    v = yield self.table(r, m)
                    scope.found.append(v)
                case _:
                    assert_never(m)
        return scope

    def _leave(self, m: AnyTerm, inner: Sequence[Scope], scope: Scope) -> None:
        """Add the cotangents out of the scopes in m: that of s, and of each variable around that one of them reads."""
        make = self.make
        numbers = list(dict.fromkeys(number for one in inner for number in one.came))
        has_s = not numbers or any(one.found for one in inner)
        ends = []
        for one in inner:
            parts = [self._sum(one)] if has_s else []
            parts += [one.came[k] if k in one.came else make.zero(_value(self.lets[k])) for k in numbers]
            ends.append(lets(one.bindings, packed(parts)))
        whole = _with(make, m, ends)
        if not numbers:
            scope.found.append(whole)
            return
        count = len(numbers) + has_s
        made = _named(make, whole, scope)
        parts = [made] if count == 1 else [make.component(k, made) for k in range(count)]
        if has_s:
            scope.found.append(parts.pop(0))
        for number, r in zip(numbers, parts, strict=True):
            scope.came[number] = make.added(scope.came[number], r) if number in scope.came else r

    def _sum(self, scope: Scope) -> AnyTerm:
        """The cotangent of s."""
        made, *others = scope.found or scope.zeros[:1] or [self.make.zero(self.s)]
        for one in others:
            made = self.make.added(made, one)
        return made


def _named(make: Maker, value: AnyTerm, scope: Scope) -> AnyTerm:
    """A variable for a value, or for each of a tuple."""
    if isinstance(value, Tuple):
        return Tuple(tuple([_named(make, part, scope) for part in value.parts]))
    if isinstance(value, (Var, Lit)):
        return value
    x = fresh("r", make.type(value))
    scope.bindings.append((x, value))
    return x


def _with(make: Maker, m: AnyTerm, ends: Sequence[AnyTerm]) -> AnyTerm:
    """The term whose scopes end so: a condition, an assertion, or a sum over what m is built of."""
    match m:
        case If(c, _, _):
            return If(c, *ends)
        case App(Name("assert"), Tuple((c, _))):
            return make.asserted(c, *ends)
        case App(_, App(_, Tuple((n, Lam(i, _))))):
            return make.call("sumbuild", n, Lam(i, *ends))
        case _:  # asks for the three that `_scope` leaves; of others it would be a mistake
            raise TypeError(type(m).__name__)


def _value(let: Let) -> AnyTerm:
    """The value that a map is the derivative of: what is bound after it, or in a fold what it is 1 of."""
    match let.value:
        case App(Name("lmHCat"), Tuple((App(Name("lmOne"), x), *_) | (App(Name("lmZero"), Tuple((_, x))), *_))):
            return x
        case _:  # one question: else a let of the function follows that of its derivative
            assert isinstance(let.body, Let)
            return let.body.pattern

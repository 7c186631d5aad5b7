"""A-normal form: arguments are variables and constants, each value has a name; with sharing, one for equal values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import frozen

from adjoint.languages.ks.making import Maker, key_of
from adjoint.languages.ks.notes.needed import needed
from diff.higher.binding import mapped, renamed
from diff.higher.open_terms import Name
from diff.higher.terms import AnyTerm, App, If, Lam, Let, Lit, Tuple, Var, fresh, variables
from hilbert.term import driven

if TYPE_CHECKING:
    from collections.abc import Hashable

    from diff.higher.binding import Pass

Bindings: TypeAlias = list[tuple[Any, AnyTerm]]


@final
@frozen
class Normal:
    """The pass; `shares` says whether equal values are computed once."""

    make: Maker
    shares: bool = False

    def body(self, e: AnyTerm, known: dict[Hashable, AnyTerm], names: dict[int, AnyTerm]) -> Pass:
        """A term whose lets are its own."""
        bindings: Bindings = []
        made = yield self.value(e, bindings, dict(known), names)
        for pattern, value in reversed(bindings):
            made = Let(pattern, value, made)
        return made

    def atom(self, e: AnyTerm, to: Bindings, known: dict[Hashable, AnyTerm], names: dict[int, AnyTerm]) -> Pass:
        """A variable, a constant, or a tuple of such."""
        made = yield self.value(e, to, known, names)
        if isinstance(made, (Var, Lit, Name, Tuple)):
            return made
        if self.shares and key_of(made) in known:
            return known[key_of(made)]
        x = fresh("t", self.make.type(made))
        to.append((x, made))
        if self.shares:
            known[key_of(made)] = x
        return x

    def value(self, e: AnyTerm, to: Bindings, known: dict[Hashable, AnyTerm], names: dict[int, AnyTerm]) -> Pass:
        """A term of one step, after bindings of its parts."""
        match e:
            case Var(_, number):
                return names.get(number, e)
            case Lit() | Name():
                return e
            case Tuple(parts):
                atoms = []
                for part in parts:
                    atom = yield self.atom(part, to, known, names)
                    atoms.append(atom)
                return Tuple(tuple(atoms), place=e.place)
            case Let(Var(_, number) as x, value, body):
                made = yield self.value(value, to, known, names)
                if isinstance(made, (Var, Lit)):
                    names[number] = made
                elif self.shares and key_of(made) in known:
                    names[number] = known[key_of(made)]
                elif self.shares and isinstance(made, (Tuple, Name)):
                    names[number] = made
                else:
                    to.append((x, made))
                    if self.shares:
                        known[key_of(made)] = x
                return (yield self.value(body, to, known, names))
            case Let(pattern, value, body):
                made = yield self.value(value, to, known, names)
                if isinstance(made, Tuple):
                    names.update({x.number: part for x, part in zip(variables(pattern), made.parts, strict=True)})
                else:
                    to.append((pattern, made))
                return (yield self.value(body, to, known, names))
            case If(c, then, otherwise):
                condition = yield self.atom(c, to, known, names)
                a = yield self.body(then, known, names)
                b = yield self.body(otherwise, known, names)
                return If(condition, a, b, place=e.place)
            case Lam(pattern, body):
                made = yield self.body(body, known, names)
                return Lam(pattern, made, place=e.place)
            case App(Name("assert") as f, Tuple((c, Lam(pattern, body)))):
                condition = yield self.atom(c, to, known, names)
                late = yield self.body(body, known, names)
                return App(f, Tuple((condition, Lam(pattern, late))), place=e.place)
            case App(f, arg):
                head = f if isinstance(f, Name) else (yield self.value(f, to, known, names))
                if isinstance(arg, Tuple):
                    given = []
                    for part in arg.parts:
                        step = self.value if isinstance(part, Lam) else self.atom
                        made = yield step(part, to, known, names)
                        given.append(made)
                    made = Tuple(tuple(given))
                else:
                    made = yield self.atom(arg, to, known, names)
                if isinstance(made, Tuple) and isinstance(head, Name) and head.name.startswith("get$"):  # it is at hand
                    return made.parts[int(head.name.split("$")[1]) - 1]
                return App(head, made, place=e.place)
            case _:  # there are no others in this language
                raise TypeError(type(e).__name__)


def normal(make: Maker, e: AnyTerm) -> AnyTerm:
    """A-normal form."""
    made: AnyTerm = driven(Normal(make).body(e, {}, {}))
    return made


def shared(make: Maker, e: AnyTerm) -> AnyTerm:
    """A-normal form in which equal values are computed once, and what nobody reads is not computed."""
    made: AnyTerm = driven(Normal(make, shares=True).body(renamed(e), {}, {}))
    return needed(made)


def unique(e: AnyTerm) -> AnyTerm:
    """The term with a name of its own for each variable."""
    taken: dict[str, int] = {}
    names: dict[int, str] = {}

    def step(node: AnyTerm) -> AnyTerm | None:
        if not isinstance(node, Var):
            return None
        if node.number not in names:
            base = node.name.partition("$")[0] or "x"
            count = taken[base] = taken.get(base, 0) + 1
            names[node.number] = base if count == 1 else f"{base}${count}"
        return Var(names[node.number], node.number, node.type, place=node.place)

    return mapped(e, step)

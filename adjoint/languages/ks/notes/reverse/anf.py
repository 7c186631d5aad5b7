"""A-normal form: arguments are variables and constants, each value has a name; with sharing, one for equal values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, final

from adjoint.languages.ks.notes.jacobian.numbering import Numbering
from adjoint.languages.ks.notes.reverse.dead_code import needed
from adjoint.languages.ks.text.term_union import ks_term
from adjoint.languages.ks.text.typed_terms import Maker
from diff.lam.term.binding import each, mapped, renamed
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Pattern, Tuple, Var, fresh, variables
from hilbert.base.term import driven

if TYPE_CHECKING:
    from diff.lam.term.binding import Pass

Bindings: TypeAlias = list[tuple[Any, AnyTerm]]


@final
class Normal:
    """The pass; `numbers` are given where equal values are computed once."""

    def __init__(self, make: Maker, numbers: Numbering | None = None) -> None:
        self.make, self.numbers = make, numbers
        self.names: dict[int, AnyTerm] = {}
        """The terms that replace variables, by their numbers."""
        self.known: dict[int, AnyTerm] = {}
        """The variables of values that are computed in the scope, by the numbers of these; the innermost ones last."""

    def body(self, e: AnyTerm) -> Pass:
        """A term whose lets are its own."""
        bindings: Bindings = []
        around = len(self.known)
        made = yield self.value(e, bindings)
        while len(self.known) > around:
            self.known.popitem()
        for pattern, value in reversed(bindings):
            made = Let(pattern, value, made)
        return made

    def function(self, lam: Lam) -> Pass:
        """A function whose body's lets are its own."""
        if self.numbers is not None:
            self.numbers.entered(lam)
        made = yield self.body(lam.body)
        return Lam(lam.pattern, made, place=lam.place)

    def found(self, value: AnyTerm) -> AnyTerm | None:
        """The variable of an equal value, where these are shared."""
        return None if self.numbers is None else self.known.get(self.numbers.of(value))

    def bind(self, pattern: Pattern, value: AnyTerm, to: Bindings) -> None:
        """let p = v, after the bindings so far."""
        to.append((pattern, value))
        if self.numbers is not None:
            self.numbers.bound(pattern, value)
            if isinstance(pattern, Var):
                self.known[self.numbers.of(value)] = pattern

    def atom(self, e: AnyTerm, to: Bindings) -> Pass:
        """A variable, a constant, or a tuple of such."""
        made = yield self.value(e, to)
        if isinstance(made, (Var, Lit, Name, Tuple)):
            return made
        known = self.found(made)
        if known is not None:
            return known
        x = fresh("t", self.make.type(made))
        self.bind(x, made, to)
        return x

    def value(self, e: AnyTerm, to: Bindings) -> Pass:
        """A term of one step, after bindings of its parts."""
        e = ks_term(e)
        match e:
            case Var(_, number):
                return self.names.get(number, e)
            case Lit() | Name():
                return e
            case Tuple(parts):
                atoms = yield each(lambda part: self.atom(part, to), parts)
                return Tuple(tuple(atoms), place=e.place)
            case Let(Var(_, number) as x, value, body):
                made = yield self.value(value, to)
                known = self.found(made)
                if isinstance(made, (Var, Lit)):
                    self.names[number] = made
                elif known is not None:
                    self.names[number] = known
                elif self.numbers is not None and isinstance(made, (Tuple, Name)):
                    self.names[number] = made
                else:
                    self.bind(x, made, to)
                return (yield self.value(body, to))
            case Let(pattern, value, body):
                made = yield self.value(value, to)
                if isinstance(made, Tuple):
                    self.names.update({x.number: part for x, part in zip(variables(pattern), made.parts, strict=True)})
                else:
                    self.bind(pattern, made, to)
                return (yield self.value(body, to))
            case If(c, then, otherwise):
                condition = yield self.atom(c, to)
                a = yield self.body(then)
                b = yield self.body(otherwise)
                return If(condition, a, b, place=e.place)
            case Lam():
                return (yield self.function(e))
            case App(Name("assert") as f, Tuple((c, Lam() as lam))):
                condition = yield self.atom(c, to)
                late = yield self.function(lam)
                return App(f, Tuple((condition, late)), place=e.place)
            case App(f, arg):
                head = f if isinstance(f, Name) else (yield self.value(f, to))
                if isinstance(arg, Tuple):
                    given = []
                    for part in arg.parts:
                        step = self.value if isinstance(part, Lam) else self.atom
                        made = yield step(part, to)
                        given.append(made)
                    made = Tuple(tuple(given))
                else:
                    made = yield self.atom(arg, to)
                if isinstance(made, Tuple) and isinstance(head, Name) and head.name.startswith("get$"):  # it is at hand
                    return made.parts[int(head.name.split("$")[1]) - 1]
                return App(head, made, place=e.place)
            case _:
                assert_never(e)


def normal(make: Maker, e: AnyTerm) -> AnyTerm:
    """A-normal form."""
    made: AnyTerm = driven(Normal(make).body(e))
    return made


def shared(make: Maker, e: AnyTerm) -> AnyTerm:
    """A-normal form in which equal values are computed once, and what nobody reads is not computed."""
    made: AnyTerm = driven(Normal(make, Numbering()).body(renamed(e)))
    return needed(made)


def unique(e: AnyTerm) -> AnyTerm:
    """The term with a name of its own for each variable, which is that of no function that it calls."""
    functions: set[str] = set()
    taken: dict[str, int] = {}
    names: dict[int, str] = {}

    def called(node: AnyTerm) -> None:
        if isinstance(node, Name):
            functions.add(node.name)

    def step(node: AnyTerm) -> AnyTerm | None:
        if not isinstance(node, Var):
            return None
        if node.number not in names:
            base = node.name.partition("$")[0] or "x"
            name = None
            while name is None or name in functions:
                count = taken[base] = taken.get(base, 0) + 1
                name = base if count == 1 else f"{base}${count}"
            names[node.number] = name
        return Var(names[node.number], node.number, node.type, place=node.place)

    mapped(e, called)
    return mapped(e, step)

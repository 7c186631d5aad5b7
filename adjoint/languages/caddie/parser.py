"""Text → definitions, whose bodies are open terms of the core: what is built in is a `Name`, all else a variable.

The rules are generators on one trampoline, so that nested brackets do not use Python's stack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, final

import numpy as np
from attrs import frozen

from adjoint.languages.bound_names import Bound
from adjoint.languages.caddie.token_reader import SIGNS, Reader
from adjoint.languages.caddie.types import FUNCTIONS, is_number
from diff.lam.term.term_error import Place, TermError, near
from diff.lam.term.terms import AnyTerm, App, Lam, Let, Name, Proj, Tuple, Var, fresh
from diff.lam.term.types import unknown
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjoint.languages.caddie.tokens import Token
    from adjoint.languages.source_text import Source
    from diff.lam.term.binding import Pass

WIDEST = 10_000
"""The components of a tuple that one of them is asked of: all of them are in its type."""
DEEPEST = 20_000
"""More brackets in each other are refused."""
_BEGINS = {"let", "map", "iota", "repl", "red", "pow", "(", "[", "#"}


@final
@frozen(eq=False)
class Definition:
    """fun name x = body; `itself` stands for it in later ones, at one type."""

    itself: Var
    function: Lam

    @property
    def name(self) -> str:
        """Its name."""
        return self.itself.name

    @property
    def place(self) -> Place | None:
        """The place of its name."""
        return self.itself.place


def definitions(sources: Sequence[Source]) -> list[Definition]:
    """The definitions of texts, in their order; raises TermError where one cannot be parsed."""
    found: dict[str, Definition] = {}
    for source in sources:
        parser = Parser(source, found)
        while parser.token.kind != "end":
            one = parser.definition()
            found[one.name] = one
    return list(found.values())


def expression(source: Source, known: Sequence[Definition]) -> AnyTerm:
    """An expression in which definitions may be applied."""
    parser = Parser(source, {one.name: one for one in known})
    made: AnyTerm = driven(parser.exp())
    if parser.token.kind != "end":
        parser.fail("an operator or the end of the expression")
    return made


def applied(function: AnyTerm, *args: AnyTerm, place: Place | None) -> AnyTerm:
    """f a b …"""
    for arg in args:
        function = App(function, arg, place=place)
    return function


@final
class Parser(Reader):
    """The grammar, on the tokens of a text; each name is looked up where it stands."""

    def __init__(self, source: Source, known: dict[str, Definition]) -> None:
        super().__init__(source)
        self.known = known
        self.bound = Bound()
        self.depth = 0

    # --- names ---

    def _function(self, token: Token) -> AnyTerm | None:
        """The function of this name."""
        if token.text in self.known:
            known = self.known[token.text].itself
            return Var(known.name, known.number, known.type, place=token.place)
        return Name(token.text, place=token.place) if token.text in FUNCTIONS else None

    def _unbound(self, token: Token) -> NoReturn:
        hint = near(token.text, (*self.bound, *self.known, *FUNCTIONS, "pi"))
        raise TermError("unbound", f"{token.text} is not defined before this place{hint}", token.place)

    # --- the grammar ---

    def definition(self) -> Definition:
        """fun id id = exp."""
        self.words = 0
        self.expect("fun", ", with which a definition begins")
        name = self.name("the name of a function")
        if name.text in self.known:
            first = self.known[name.text].place
            raise TermError("syntax", f"{name.text} is defined twice, first at {first}", name.place)
        parameter = self.name(f"the parameter of {name.text}: a function takes one, which may be a tuple")
        x = self.bound.bind(parameter.text, unknown(), parameter.place)
        self.expect("=", ": a function has one parameter, which may be a tuple")
        body = driven(self.exp())
        self.bound.unbind(x)
        if self.token.kind != "end" and self.token.text != "fun":
            self.fail("an operator, 'fun' or the end of the text")
        return Definition(fresh(name.text, unknown(), name.place), Lam(x, body, place=parameter.place))

    def exp(self) -> Pass:
        """{if exp then exp else} term {± term}."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise TermError("limit", f"nested more than {DEEPEST} deep", self.token.place)
        conditions: list[tuple[Place, AnyTerm, AnyTerm]] = []
        while self.token.text == "if":
            place = self.step().place
            condition = yield self.exp()
            self.expect("then")
            then = yield self.exp()
            self.expect("else", ": a condition has two branches")
            conditions.append((place, condition, then))
        made = yield self.term()
        while self.token.text in SIGNS:
            sign = self.step()
            right = yield self.term()
            made = applied(Name(sign.text, place=sign.place), made, right, place=made.place)
        for place, condition, then in reversed(conditions):
            thunks = [Lam(Tuple(()), branch, place=branch.place) for branch in (then, made)]
            made = applied(Name("if", place=place), condition, *thunks, place=place)
        self.depth -= 1
        return made

    def term(self) -> Pass:
        """atom {* atom} [*> term]."""
        scaled: list[tuple[Token, AnyTerm]] = []
        while True:
            made = yield self.atom()
            while self.token.text == "*":
                sign = self.step()
                right = yield self.atom()
                made = applied(Name("*", place=sign.place), made, right, place=made.place)
            if self.token.text != "*>":
                break
            scaled.append((self.step(), made))
        for sign, left in reversed(scaled):
            made = applied(Name("*>", place=sign.place), left, made, place=left.place)
        return made

    def _begins_atom(self) -> bool:
        return self.token.kind in {"name", "number"} or self.token.text in _BEGINS

    def atom(self, *, is_part: bool = False) -> Pass:
        """An atom, after the functions that are applied to it; where it is part of a relation, another may follow."""
        before: list[tuple[Any, Place]] = []
        while (one := self._prefix()) is not None:
            before.append(one)
        made = yield self._atom(is_part=is_part)
        for function, place in reversed(before):
            if isinstance(function, int):
                made = Proj(function - 1, made, place=place)
            else:
                made = App(function, made, place=place)
        return made

    def _prefix(self) -> tuple[Any, Place] | None:
        """A function, pow k, repl n or #i before an atom."""
        token = self.token
        if token.kind == "name" and token.text not in self.bound:
            if (function := self._function(token)) is None:
                return None
            self.step()
            if not self._begins_atom():
                hint = f"({self.token.text}…)" if self.token.text in SIGNS else "x"
                what = f"{token.text} is a function, and no value: apply it, as in {token.text} {hint}"
                raise TermError("syntax", what, token.place)
            return function, token.place
        if self.accept("pow"):
            exponent = self.number("the exponent of pow, a number")
            decimal = np.format_float_positional(float(exponent.text), trim="0")
            return Name(f"pow {decimal}", place=token.place), token.place
        if self.accept("repl"):
            return Name(f"repl {self.count('a number of elements')}", place=token.place), token.place
        if self.accept("#"):
            place = self.token.place
            index = self.count("the number of a component", WIDEST)
            if index == 0:
                raise TermError("syntax", "components are counted from 1", place)
            return index, token.place
        return None

    def _atom(self, *, is_part: bool) -> Pass:
        token = self.token
        place = token.place
        if token.kind == "number" or (token.kind == "sign" and token.text in SIGNS):
            return Name(self.number("a number").text, place=place)
        if token.kind == "name":
            return self._variable(self.step(), is_part=is_part)
        if self.accept("iota"):
            return Name(f"iota {self.count('a number of elements')}", place=place)
        if self.accept("let"):
            name = self.name("the name of a variable")
            self.expect("=")
            value = yield self.exp()
            self.expect("in")
            x = self.bound.bind(name.text, unknown(), name.place)
            body = yield self.exp()
            self.bound.unbind(x)
            self.expect("end", f", which closes the let at {place}")
            return Let(x, value, body, place=place)
        if self.accept("map"):
            self.expect("(", ": map (fn x => e) xs")
            self.expect("fn")
            name = self.name("the name of a variable")
            self.expect("=>")
            x = self.bound.bind(name.text, unknown(), name.place)
            body = yield self.exp()
            self.bound.unbind(x)
            self.expect(")")
            over = yield self.atom()
            return applied(Name("map", place=place), Lam(x, body, place=body.place), over, place=place)
        if self.accept("red"):
            relation = yield self.relation()
            over = yield self.atom()
            return applied(Name("red", place=place), relation, over, place=place)
        if self.accept("["):
            return (yield self._array(place))
        if self.accept("("):
            if self.accept(")"):
                raise TermError("syntax", "() is no value: a tuple has two components or more", place)
            parts = yield self._several(")", place)
            return parts[0] if len(parts) == 1 else Tuple(parts, place=place)
        self.fail("an expression" if token.text != "if" else "an expression: an if as an operand stands in brackets")
        return None

    def _variable(self, token: Token, *, is_part: bool) -> AnyTerm:
        x = self.bound.get(token.text)
        if x is None:
            if token.text == "pi":
                return Name("pi", place=token.place)
            self._unbound(token)
        if self._begins_atom() and not is_part:
            raise TermError("type", f"{token.text} is a variable and no function: it is not applied", token.place)
        return Var(x.name, x.number, x.type, place=token.place)

    def _several(self, closing: str, opened: Place) -> Pass:
        """exp {, exp} and the bracket that closes."""
        parts: list[AnyTerm] = []
        while True:
            part = yield self.exp()
            parts.append(part)
            if not self.accept(","):
                break
        self.expect(closing, f" or an operator: the bracket at {opened} is open")
        return parts

    def _array(self, place: Place) -> Pass:
        """exp {, exp} ], or from .. to, step ]."""
        first = self.token
        if self.accept("]"):
            raise TermError("syntax", "an array has an element: repl 0 x is the empty one", place)
        item = yield self.exp()
        if self.accept(".."):
            start = self._bound(item, first)
            stop = self.number("the end of a range, a number").text
            self.expect(",", ": a range is [from .. to, step]")
            step = self.number("the step of a range, a number").text
            self.expect("]")
            return Name(f"range {start} {stop} {step}", place=place)
        items = [item]
        if self.accept(","):
            more = yield self._several("]", place)
            items += more
        else:
            self.expect("]", f" or an operator: the bracket at {place} is open")
        made: AnyTerm = Name("[]", place=place)
        for one in reversed(items):
            made = applied(Name("::", place=one.place), one, made, place=place)
        return App(Name(f"array {len(items)}", place=place), made, place=place)

    def _bound(self, item: AnyTerm, token: Token) -> str:
        if isinstance(item, Name) and is_number(item.name):
            return item.name
        raise TermError("syntax", "the start of a range is a number", token.place)

    # --- relations ---

    def relation(self) -> Pass:
        """arel {^ T} {o arel {^ T}}, from the left."""
        made = yield self._relation()
        while True:
            token = self.token
            if self.accept("^"):
                if self.token.text != "T":
                    self.fail("T: r ^ T is the transposed relation")
                self.step()
                made = App(Name("^", place=token.place), made, place=token.place)
            elif token.text == "o" and token.kind == "name" and "o" not in self.bound:
                self.step()
                right = yield self._relation()
                made = applied(Name("o", place=token.place), made, right, place=token.place)
            else:
                return made

    def _relation(self) -> Pass:
        """(to k from to), (id from to), (rel), or an array of pairs."""
        place = self.token.place
        self.depth += 1
        if self.depth > DEEPEST:
            raise TermError("limit", f"nested more than {DEEPEST} deep", place)
        if not self.accept("("):
            pairs = yield self.atom(is_part=True)
            made: AnyTerm = App(Name("pairs", place=place), pairs, place=place)
        else:
            word = self.token
            is_function = word.text in {"to", "id"} and word.text not in self.bound and word.text not in self.known
            if is_function:
                self.step()
                args = [(yield self.atom(is_part=True))] if word.text == "to" else []
                args += [(yield self._indices()), (yield self._indices())]
                made = applied(Name(word.text, place=word.place), *args, place=word.place)
            else:
                made = yield self.relation()
            self.expect(")", f": the bracket at {place} is open")
        self.depth -= 1
        return made

    def _indices(self) -> Pass:
        """Indices; a single one is an array of it."""
        made = yield self.atom(is_part=True)
        if isinstance(made, Name) and made.name.isdigit():
            end = Name("[]", place=made.place)
            listed = applied(Name("::", place=made.place), made, end, place=made.place)
            return App(Name("array 1", place=made.place), listed, place=made.place)
        return made

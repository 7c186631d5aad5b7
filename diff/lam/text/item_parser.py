"""Text → items: the grammar of declarations, definitions, primitives, free variables and claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from diff.lam.term.inductive import LIST, declared
from diff.lam.term.term_error import CODES, Place, TermError, require_text
from diff.lam.term.terms import AnyTerm, Lam, Tuple, fresh, pattern_type, variables
from diff.lam.term.types import RECUR, UNIT, Arrow, Declaration, Param, Ty, unknown
from diff.lam.text.items import CLAIMS, Claim, Declared, Definition, Free, Orders, PrimitiveItem
from diff.lam.text.parser import Parser
from diff.lam.text.tokens import items, tokens
from hilbert.base.lazy import uncollected
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diff.lam.term.terms import Pattern
    from diff.lam.text.items import Item
    from diff.lam.text.tokens import Token


@final
class Reader:
    """The items of texts, read one after the other: types and names that are known so far."""

    def __init__(self) -> None:
        self.types: dict[str, Declaration] = {"list": LIST}
        self.names: set[str] = set()

    def read(self, text: str, file: str = "<text>") -> Iterator[Item]:
        """The items; raises TermError where one cannot be parsed."""
        require_text(text, "read(text)")
        for item, line in items(text, file):
            yield self.item(item, file, line)

    def item(self, item: str, file: str, line: int) -> Item:
        """One item."""
        words = item.split(None, 3)
        if words[0] == "error" and words[1:2] == ["syntax"]:
            return self._syntax(item, file, line)
        with uncollected():
            parsed = self._item(tokens(item, file, line))
        if isinstance(parsed, (Definition, PrimitiveItem, Free)):
            self.names.add(parsed.name)
        return parsed

    def term(self, text: str, file: str = "<text>") -> AnyTerm:
        """A term alone, open as it is written."""
        require_text(text, "term(text)")
        p = self._parser(tokens(text, file))
        term: AnyTerm = driven(p.term())
        _at_end(p)
        return term

    def _parser(self, words: list[Token]) -> Parser:
        return Parser(words, self.types, frozenset(self.names))

    def _item(self, words: list[Token]) -> Item:
        first = words[0]
        p = self._parser(words)
        p.step()
        if first.text in CLAIMS:
            return self._claim(p, first)
        match first.text:
            case "data":
                parsed: Item = Declared(self._data(p, first), first.place)
            case "def":
                parsed = self._definition(p, first.place)
            case "prim":
                parsed = self._primitive(p, first.place)
            case "var":
                name = p.name("a name")
                p.expect(":")
                parsed = Free(name, p.type(), first.place)
            case _:  # no word that begins an item
                due = "an item begins with data, def, prim, var or the word of a claim"
                raise TermError("syntax", f"{due}, not with {first}", first.place)
        _at_end(p)
        return parsed

    def _data(self, p: Parser, first: Token) -> Declaration:
        """data Name {a} = Con [aty] {| Con [aty]}."""
        name = p.constructor("the name of a type")
        names: list[str] = []
        while p.token.kind == "name":
            names.append(p.step().text)
        if len(set(names)) < len(names):
            raise TermError("syntax", f"{name} has two parameters of one name", first.place)
        p.parameters = {a: Param(k) for k, a in enumerate(names)}
        p.recursive, p.open = (name, tuple(names), RECUR), False
        p.expect("=")
        cases: dict[str, Ty] = {}
        while True:
            place, label = p.token.place, p.constructor("a constructor")
            if label in cases:
                raise TermError("branches", f"{name} has two constructors {label}", place)
            cases[label] = UNIT if p.token.text == "|" or p.token.kind == "end" else p.atomic()
            if not p.accept("|"):
                break
        try:
            declaration = declared(name, len(names), tuple(cases.items()))
        except TermError as error:
            raise error.at(first.place) from None
        self.types[name] = declaration
        return declaration

    def _primitive(self, p: Parser, place: Place) -> PrimitiveItem:
        """prim name pat {pat} = term."""
        name = p.name("a name")
        patterns: list[Pattern] = []
        while not patterns or p.token.text != "=":
            patterns.append(p.pattern())
            p.bind(patterns[-1])
        p.expect("=")
        body = driven(p.term())
        whole = patterns[0] if len(patterns) == 1 else Tuple(tuple(patterns), place=place)
        return PrimitiveItem(name, Lam(whole, body, place=place), len(patterns), place)

    def _definition(self, p: Parser, place: Place) -> Definition:
        """def name {pat} [: ty] = term."""
        name = p.name("a name")
        itself = fresh(name, unknown(), place)
        outer = p.bind(itself)
        patterns: list[Pattern] = []
        before = []
        while p.token.text not in {"=", ":"}:
            patterns.append(p.pattern())
            before.append(p.bind(patterns[-1]))
        ty = p.type() if p.accept(":") else None
        p.expect("=")
        body = driven(p.term())
        for one in reversed(before):
            p.unbind(one)
        p.unbind(outer)
        annotated = ty is not None and not any(x.number in p.bare for pattern in patterns for x in variables(pattern))
        for pattern in reversed(patterns):
            body = Lam(pattern, body, place=pattern.place)
            ty = None if ty is None else Arrow(pattern_type(pattern), ty)
        return Definition(name, body, ty, itself, annotated, place)

    def _claim(self, p: Parser, first: Token) -> Claim:
        """value t = t | reduce t = t | pair t with t = t | grad t at t = t | type t = ty | error …

        or taylor orders t at {atom} = atom.
        """
        place, word = first.place, first.text
        if word == "error":
            return self._error(p, place)
        orders = self._orders(p) if word == "taylor" else None
        terms = [driven(p.term())]
        ty: Ty | None = None
        match word:
            case "pair":
                p.expect("with")
                terms.append(driven(p.term()))
            case "grad":
                p.expect("at")
                terms.append(driven(p.term()))
            case "taylor":
                p.expect("at")
                while p.token.text != "=":
                    terms.append(driven(p.atom()))
            case _:  # one term before the sign of equality
                pass
        p.expect("=")
        if word == "type":
            ty = p.type()
        else:
            terms.append(driven(p.atom() if word == "taylor" else p.term()))
        _at_end(p)
        return Claim(word, tuple(terms), place, ty, orders)

    def _error(self, p: Parser, place: Place) -> Claim:
        """error CODE : (term | data … | def …)."""
        code = p.name("a code")
        if code not in CODES:
            raise TermError("syntax", f"{code} is no code of an error: {', '.join(sorted(CODES))}", place)
        p.expect(":")
        types, names = dict(self.types), set(self.names)
        try:
            refused: Any = None
            if p.token.text in {"data", "def", "prim"}:
                refused = self._item(p.tokens[p.at :])
            term = () if refused else (driven(p.term()),)
            if term:
                _at_end(p)
        except TermError as error:
            return Claim("error", (), place, code=code, refused=error)
        finally:
            self.types, self.names = types, names
        return Claim("error", term, place, code=code, refused=refused)

    def _syntax(self, item: str, file: str, line: int) -> Claim:
        """error syntax : …, whose text may be anything."""
        place = Place(file, line, 1)
        start = item.find(":")
        if start < 0 or item[:start].split() != ["error", "syntax"]:
            raise TermError("syntax", "error syntax : text", place)
        lead = "\n" * item[: start + 1].count("\n") + " " * (start - item.rfind("\n", 0, start))
        try:
            words = tokens(lead + item[start + 1 :], file, line)
            p = self._parser(words)
            if words[0].text in {"data", "def", "prim"}:
                types = dict(self.types)
                try:
                    self._item(words)
                finally:
                    self.types = types
            else:
                driven(p.term())
                _at_end(p)
        except TermError as error:
            return Claim("error", (), place, code="syntax", refused=error)
        return Claim("error", (), place, code="syntax")

    def _orders(self, p: Parser) -> Orders:
        """(k, R), or {α, …} with a digit for each parameter."""
        if p.accept("("):
            k = int(p.digits("the number of parameters"))
            p.expect(",")
            order = int(p.digits("the order"))
            p.expect(")")
            return Orders(k, order)
        p.expect("{")
        listed: list[tuple[int, ...]] = []
        while True:
            listed.append(tuple(map(int, p.digits("a multi-index"))))
            if not p.accept(","):
                break
        p.expect("}")
        return Orders(len(listed[0]), max(map(sum, listed)), tuple(listed))


def _at_end(p: Parser) -> None:
    if p.token.kind != "end":
        p.fail("the end of the item")

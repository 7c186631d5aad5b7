"""Terms as text: as caddie is written, so that it is read back, and as the expressions that the calculus starts from.

Internal expressions have `a + ~(b)` for a difference, `.` `dot` `x` for the products of vectors, `Z` for 0 and
`#i{of n}` for projections.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, cast, final

from adjoint.languages.caddie.types import definition
from diff.lam.term.inductive import instance
from diff.lam.term.terms import App, Lam, Let, Name, Proj, Tuple, Var, below
from diff.lam.term.types import INT, Arrow, TupleType, Ty
from hilbert.base.term import bottom_up, driven

if TYPE_CHECKING:
    from diff.lam.term.binding import Pass
    from diff.lam.term.terms import AnyTerm

EXP, SUM, TERM, PRODUCT, ATOM = range(5)
"""An expression; the left side of ±; a side of ± or the right side of *>; the left side of *; an atom."""
_SIGNS = {"+": (SUM, SUM, TERM), "-": (SUM, SUM, TERM), "*": (PRODUCT, PRODUCT, ATOM), "*>": (TERM, PRODUCT, TERM)}
"""The level of what an operator makes, of its left and of its right side."""
_PRODUCTS = {"dprod": "dot", "dprod3": "dot", "cprod3": "x", "cross": "x", "sprod": "."}
CaddieTerm: TypeAlias = Var | Name | Lam | App | Let | Tuple | Proj
"""The closed union; mypy lists the passes that lack a class of it."""


def caddie_term(e: AnyTerm) -> CaddieTerm:
    """A term of a text; where another class comes, the `assert_never` of the `match` fails."""
    return cast("CaddieTerm", e)


def source(name: str, function: Lam) -> str:
    """fun name x = body."""
    return f"fun {name} {_named(function)} = {shown(function.body)}"


def internal(name: str, function: Lam) -> str:
    """The definition as an internal expression."""
    return f"fun {name} {_named(function)} = {shown(function.body, of=_types(function))}"


def shown(term: AnyTerm, of: dict[int, Ty] | None = None) -> str:
    """A term as text; with the types of its subterms, by identity, as an internal expression."""
    shower = _Shower(of)
    driven(shower.term(term, EXP))
    return "".join(shower.out)


def _named(function: Lam) -> str:
    assert isinstance(function.pattern, Var)
    return function.pattern.name


def _types(term: AnyTerm) -> dict[int, Ty]:
    """The type of each subterm of a checked term, by identity."""
    found: dict[int, Ty] = {}

    def step(node: CaddieTerm, rec: Any) -> Any:
        match node:
            case Var(_, _, ty):
                made: Any = ty
            case Name(name, at):
                made = instance(definition(name)[0], at)
            case Lam(pattern, body):
                made = Arrow(rec(pattern), rec(body))
            case App(function, _):
                made = rec(function).cod
            case Let(_, _, body):
                made = rec(body)
            case Tuple(parts):
                made = TupleType(tuple(map(rec, parts)))
            case Proj(index, inner):
                made = rec(inner).parts[index]
            case _:
                assert_never(node)
        found[id(node)] = made
        return made

    bottom_up(term, step, below)
    return found


@final
class _Shower:
    """The pieces of a text."""

    def __init__(self, types: dict[int, Ty] | None) -> None:
        self.out: list[str] = []
        self.types = types

    def write(self, *pieces: str) -> None:
        self.out += pieces

    def term(self, term: AnyTerm, level: int) -> Pass:
        """A term where one of this level is due."""
        term = caddie_term(term)
        match term:
            case Var(name):
                self.write(name)
            case Name():
                self.write(self._constant(term, level))
            case Let(Var(name), value, body):
                self.write("let ", name, " = ")
                yield self.term(value, EXP)
                self.write(" in ")
                yield self.term(body, EXP)
                self.write(" end")
            case Tuple(parts):
                yield self._listed("(", parts, ")")
            case Proj(index, inner):
                self.write(f"#{index + 1}", self._of(inner), " ")
                yield self.term(inner, ATOM)
            case App():
                head, args = _applied(term)
                yield self._application(head, args, level)
            case Lam() | Let():  # it is shown where it is an argument; a let binds a variable
                raise TypeError(type(term).__name__)
            case _:
                assert_never(term)

    def _of(self, term: AnyTerm) -> str:
        if self.types is None:
            return ""
        ty = self.types[id(term)]
        assert isinstance(ty, TupleType)
        return f"{{of {len(ty.parts)}}}"

    def _constant(self, term: Name, level: int) -> str:
        name = term.name
        word, *constants = name.split(" ")
        if word == "range":
            return "[{} .. {}, {}]".format(*constants)
        if self.types is not None:
            if word == "iota":
                return f"({','.join(map(str, range(int(constants[0]))))})"
            if name == "0" and INT not in term.at:  # an index is no zero of the calculus
                name = "Z"
            name = repr(math.pi) if name == "pi" else name
        return f"({name})" if name.startswith("-") and level == ATOM else name

    def _listed(self, opening: str, parts: Any, closing: str) -> Pass:
        self.write(opening)
        for k, part in enumerate(parts):
            self.write(", " if k else "")
            yield self.term(part, EXP)
        self.write(closing)

    def _application(self, head: AnyTerm, args: list[AnyTerm], level: int) -> Pass:
        word = head.name.partition(" ")[0] if isinstance(head, Name) else ""
        if word in _SIGNS:
            yield self._sign(word, args, level)
        elif word == "if":
            yield self._if(args, level)
        elif word == "array":
            yield self._listed("[", _elements(args[0]), "]")
        elif word == "map":
            function = args[0]
            assert isinstance(function, Lam)
            self.write("map (fn ", _named(function), " => ")
            yield self.term(function.body, EXP)
            self.write(") ")
            yield self.term(args[1], ATOM)
        elif word == "red":
            self.write("red ")
            yield self._relation(args[0], is_part=True)
            self.write(" ")
            yield self.term(args[1], ATOM)
        elif word in _PRODUCTS and self.types is not None:
            yield self._product(_PRODUCTS[word], args[0])
        else:
            assert isinstance(head, (Name, Var))
            self.write(head.name, " ")
            yield self.term(args[0], ATOM)

    def _sign(self, word: str, args: list[AnyTerm], level: int) -> Pass:
        own, left, right = _SIGNS[word]
        is_internal = self.types is not None
        self.write("(" if level > own else "")
        yield self.term(args[0], left)
        if word == "-" and is_internal:
            self.write(" + ~(")
            yield self.term(args[1], EXP)
            self.write(")")
        else:
            self.write(" ", "." if word == "*>" and is_internal else word, " ")
            yield self.term(args[1], right)
        self.write(")" if level > own else "")

    def _if(self, args: list[AnyTerm], level: int) -> Pass:
        self.write("(" if level > EXP else "", "if ")
        yield self.term(args[0], EXP)
        for word, branch in zip((" then ", " else "), args[1:], strict=True):
            assert isinstance(branch, Lam)
            self.write(word)
            yield self.term(branch.body, EXP)
        self.write(")" if level > EXP else "")

    def _product(self, sign: str, pair: AnyTerm) -> Pass:
        """A bilinear product of the two components of a pair, which is bound where it is no variable."""
        self.write("(")
        if isinstance(pair, Tuple):
            yield self.term(pair.parts[0], ATOM)
            self.write(f" {sign} ")
            yield self.term(pair.parts[1], ATOM)
        elif isinstance(pair, Var):
            self.write(f"#1{{of 2}} {pair.name} {sign} #2{{of 2}} {pair.name}")
        else:
            self.write("let p = ")
            yield self.term(pair, EXP)
            self.write(f" in #1{{of 2}} p {sign} #2{{of 2}} p end")
        self.write(")")

    def _relation(self, term: AnyTerm, *, is_part: bool) -> Pass:
        """A relation, in brackets where it is a part and made by ^ or o."""
        head, args = _applied(term)
        assert isinstance(head, Name)
        match head.name:
            case "pairs":
                yield self.term(args[0], ATOM)
            case "^" | "o":
                self.write("(" if is_part else "")
                yield self._relation(args[0], is_part=False)
                self.write(" ^ T" if head.name == "^" else " o ")
                for other in args[1:]:
                    yield self._relation(other, is_part=True)
                self.write(")" if is_part else "")
            case name:  # to and id
                self.write("(", name)
                for arg in args:
                    self.write(" ")
                    yield self.term(arg, ATOM)
                self.write(")")


def _applied(term: AnyTerm) -> tuple[AnyTerm, list[AnyTerm]]:
    """A function and the arguments that it is applied to."""
    args: list[AnyTerm] = []
    while isinstance(term, App):
        args.append(term.arg)
        term = term.function
    return term, args[::-1]


def _elements(chain: AnyTerm) -> list[AnyTerm]:
    """The elements of an array as it is written."""
    found: list[AnyTerm] = []
    while isinstance(chain, App):
        _, (item, chain) = _applied(chain)
        found.append(item)
    return found

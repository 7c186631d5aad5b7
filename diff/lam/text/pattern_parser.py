"""Text → patterns: variables and tuples of patterns, and the scope that they open."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from diff.lam.term.binding import Pass
from diff.lam.term.term_error import Place, TermError
from diff.lam.term.terms import Pattern, Tuple, Var, fresh, variables
from diff.lam.term.types import TupleType, Ty, unknown
from diff.lam.text.tokens import Token
from diff.lam.text.type_parser import TypeParser
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Mapping

    from diff.lam.term.types import Declaration

Before: TypeAlias = list[tuple[str, Var | None]]
"""The names that a pattern has bound, with the variables that they stood for before."""


class PatternParser(TypeParser):
    """The grammar of patterns; `scope` is what names stand for at this point of the text."""

    def __init__(self, tokens: list[Token], types: Mapping[str, Declaration]) -> None:
        super().__init__(tokens, types)
        self.scope: dict[str, Var] = {}
        self.bare: set[int] = set()  # the numbers of variables without a type

    # --- patterns ---

    def pattern(self) -> Pattern:
        """pat; its names are not yet bound."""
        pattern: Pattern = driven(self._pattern())
        seen: set[str] = set()
        for x in variables(pattern):
            if x.name in seen and x.name != "_":
                raise TermError("syntax", f"the pattern binds {x.name} twice", x.place)
            seen.add(x.name)
        return pattern

    def _pattern(self) -> Pass:
        """A name, ⟨p, …⟩, (p, …) of two parts or more, (p : σ), or ()."""
        opening = self.token
        if opening.text not in {"(", "<"}:
            x = fresh(self.name("a name, '_', '(' or '<'"), unknown(), opening.place)
            self.bare.add(x.number)
            return x
        self.step()
        is_round = opening.text == "("
        if is_round and self.accept(")"):
            return Tuple((), place=opening.place)
        first = yield self._pattern()
        if is_round and self.accept(":"):
            typed = driven(_typed(first, self.type(), opening.place))
            self.bare.difference_update(x.number for x in variables(typed))
            self.expect(")")
            return typed
        parts = [first]
        while self.accept(","):
            part = yield self._pattern()
            parts.append(part)
        if is_round and len(parts) == 1:
            self.fail("',' or ':' in a pattern in parentheses")
        self.expect(")" if is_round else ">")
        return first if len(parts) == 1 else Tuple(tuple(parts), place=opening.place)

    def bind(self, pattern: Pattern) -> Before:
        """Bring the variables of a pattern into scope; returns what `unbind` needs."""
        before: Before = []
        for x in variables(pattern):
            before.append((x.name, self.scope.get(x.name)))
            if x.name != "_":
                self.scope[x.name] = x
        return before

    def unbind(self, before: Before) -> None:
        """Leave the scope of a pattern."""
        for name, old in reversed(before):
            if old is None:
                self.scope.pop(name, None)
            else:
                self.scope[name] = old


def _typed(pattern: Pattern, ty: Ty, place: Place) -> Pass:
    """(p : σ): the variables of a tuple get the parts of its type."""
    if isinstance(pattern, Var):
        return Var(pattern.name, pattern.number, ty, place=pattern.place)
    if not isinstance(ty, TupleType) or len(ty.parts) != len(pattern.parts):
        raise TermError("type", f"a pattern of {len(pattern.parts)} parts is not of type {ty}", place)
    parts = []
    for part, due in zip(pattern.parts, ty.parts, strict=True):
        typed = yield _typed(part, due, place)  # type: ignore[arg-type]  # the parts of a pattern are patterns
        parts.append(typed)
    return Tuple(tuple(parts), place=pattern.place)

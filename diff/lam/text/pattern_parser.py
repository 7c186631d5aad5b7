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
"""What names stood for before a pattern bound them."""


class PatternParser(TypeParser):
    """The grammar of patterns; `scope` is what names stand for at this point of the text."""

    def __init__(self, tokens: list[Token], types: Mapping[str, Declaration]) -> None:
        super().__init__(tokens, types)
        self.scope: dict[str, Var] = {}
        self.bare: set[int] = set()  # the numbers of variables without a type

    # --- patterns ---

    def pattern(self) -> Pattern:
        """pat; its names are not yet bound."""
        made = self._pattern()
        seen: set[str] = set()
        for x in variables(made):
            if x.name in seen and x.name != "_":
                raise TermError("syntax", f"the pattern binds {x.name} twice", x.place)
            seen.add(x.name)
        return made

    def _pattern(self) -> Pattern:
        stack: list[tuple[str, Place, list[Pattern]]] = []
        while True:
            token = self.token
            done: Pattern
            if token.text in {"(", "<"}:
                self.step()
                closing = ")" if token.text == "(" else ">"
                if self.accept(")") if closing == ")" else False:
                    done = Tuple((), place=token.place)
                else:
                    stack.append((closing, token.place, []))
                    continue
            else:
                name = self.name("a name, '_', '(' or '<'")
                done = fresh(name, unknown(), token.place)
                self.bare.add(done.number)
            while stack:
                closing, place, parts = stack[-1]
                if closing == ")" and not parts and self.accept(":"):
                    done = driven(_typed(done, self.type(), place))
                    self.bare.difference_update(x.number for x in variables(done))
                    self.expect(")")
                    stack.pop()
                    continue
                parts.append(done)
                if self.accept(","):
                    break
                if closing == ")" and len(parts) == 1:
                    self.fail("',' or ':' in a pattern in parentheses")
                self.expect(closing)
                done = parts[0] if len(parts) == 1 else Tuple(tuple(parts), place=place)
                stack.pop()
            else:
                return done

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
        made = yield _typed(part, due, place)  # type: ignore[arg-type]  # the parts of a pattern are patterns
        parts.append(made)
    return Tuple(tuple(parts), place=pattern.place)

"""Patterns as text: bound variables get names that nothing in scope has."""

from __future__ import annotations

from typing import Any

from diff.lam.show.show_types import is_plain, show_type
from diff.lam.term.former import Former
from diff.lam.term.terms import Pattern, Var, pattern_type, variables
from diff.lam.term.untyped_variables import undetermined
from diff.lam.text.tokens import KEYWORDS


class PatternShower:
    """One text: its pieces, the names of variables by number, and which of them need their type."""

    def __init__(self, term: Former | None = None) -> None:
        self.undetermined = undetermined(term)
        self.out: list[str] = []
        self.names: dict[int, str] = {}
        self.taken: set[str] = set(KEYWORDS)
        self.next: dict[str, int] = {}

    def write(self, *pieces: str) -> None:
        """Add pieces to the text."""
        self.out.extend(pieces)

    def bind(self, pattern: Pattern) -> list[str]:
        """Name the variables of a pattern; returns the names, for `unbind`."""
        given = []
        for x in variables(pattern):
            if x.name == "_":
                self.names[x.number] = "_"
                continue
            name = x.name
            while name in self.taken:
                k = self.next[x.name] = self.next.get(x.name, 0) + 1
                name = f"{x.name}_{k}" if x.name[-1].isdigit() else f"{x.name}{k}"
            self.names[x.number] = name
            self.taken.add(name)
            given.append(name)
        return given

    def unbind(self, names: list[str]) -> None:
        """Leave the scope of these names."""
        self.taken.difference_update(names)

    def pattern(self, pattern: Pattern, *, typed: bool = False) -> None:
        """A pattern, with its type where a reader could not find it."""
        ty = pattern_type(pattern)
        if typed and not (is_plain(ty) and self.undetermined.isdisjoint(x.number for x in variables(pattern))):
            self.write("(")
            self._pattern(pattern)
            self.write(" : ", show_type(ty), ")")
        else:
            self._pattern(pattern)

    def _pattern(self, pattern: Pattern) -> None:
        stack: list[Any] = [pattern]
        while stack:
            one = stack.pop()
            if isinstance(one, str):
                self.write(one)
            elif isinstance(one, Var):
                self.write(self.names.get(one.number, one.name))
            elif not one.parts:
                self.write("()")
            else:
                pieces: list[Any] = ["⟨"]
                for k, part in enumerate(one.parts):
                    pieces += [", ", part] if k else [part]
                stack.extend(reversed([*pieces, "⟩"]))

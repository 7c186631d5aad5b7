"""The parts of a term as text: on both sides of a sign, between brackets, as branches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from diff.lam.show.show_levels import APPLIED, ATOM, POWER, SIGNS, SUM, TERM, elements, is_constant, is_nil
from diff.lam.show.show_patterns import PatternShower
from diff.lam.term.binding import Pass
from diff.lam.term.former import Worded
from diff.lam.term.terms import AnyTerm, Branch, Con, Tuple, below


class PartShower(PatternShower, ABC):
    """Writes what stands around parts, and has the parts written."""

    @abstractmethod
    def term(self, term: AnyTerm | Branch, level: int) -> Pass:
        """A term where one of this level is due."""

    def operator(self, name: str, parts: tuple[Any, ...], arg: AnyTerm) -> Pass:
        """t + s, −t, t^n, or p(t)."""
        if name.startswith("^"):
            yield self.term(arg, APPLIED)
            self.write(name)
        elif name in SIGNS and len(parts) == 2:
            level = SIGNS[name]
            yield self.term(parts[0], level)
            self.write("*" if name == "*" else f" {name} ")
            yield self.term(parts[1], level + 1)
        elif name == "-":
            self.write("-")
            yield self.term(arg, POWER)  # two signs in a row begin a comment
        elif name in SIGNS:  # of a pair that is no tuple as it is written
            self.write(f"(λ⟨x, y⟩. x {name} y) ")
            yield self.term(arg, ATOM)
        else:
            self.write(f"{name} ")
            yield self.term(arg, ATOM)

    def several(self, opening: str, parts: tuple[Any, ...], closing: str) -> Pass:
        """Terms between brackets, with commas."""
        self.write(opening)
        for k, part in enumerate(parts):
            self.write(", " if k else "")
            yield self.term(part, TERM)
        self.write(closing)

    def worded(self, term: Worded) -> Pass:
        """word(t₁, …; tₙ)."""
        self.write(term.word)
        for k, part in enumerate(below(term)):
            self.write("(" if not k else "; " if k == term.semicolon else ", ")
            yield self.term(part, TERM)
        self.write(")")

    def branches(self, branches: tuple[Branch, ...]) -> Pass:
        """of {ℓ p → t | …}."""
        self.write(" of {")
        for k, branch in enumerate(branches):
            self.write(" | " if k else "", branch.label)
            names = self.bind(branch.pattern)
            if branch.pattern != Tuple(()):
                self.write(" ")
                self.pattern(branch.pattern)
            self.write(" → ")
            yield self.term(branch.body, TERM)
            self.unbind(names)
        self.write("}")

    def constructor(self, term: Con) -> Pass:
        """ℓ t; a list as [t₁, …, tₙ] or t₁ :: … :: t."""
        items, end = elements(term)
        if not items:
            self.write("[]" if is_nil(end) else term.label)
            if not is_constant(term):
                self.write(" ")
                yield self.term(term.arg, ATOM)
        elif is_nil(end):
            yield self.several("[", tuple(items), "]")
        else:
            for item in items:
                yield self.term(item, SUM)
                self.write(" :: ")
            yield self.term(end, TERM)


def is_right_fold(branches: tuple[Branch, ...]) -> bool:
    """Tell if a fold has the branches of fold (p, q). t over l from s."""
    patterns = {branch.label: branch.pattern for branch in branches}
    if set(patterns) != {"Nil", "Cons"}:
        return False
    nil, cons = patterns["Nil"], patterns["Cons"]
    return isinstance(nil, Tuple) and not nil.parts and isinstance(cons, Tuple) and len(cons.parts) == 2

"""Value numbering: equal terms have one number, up to the names that they bind."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, final

from adjoint.languages.ks.text.term_union import ks_term
from diff.lam.term.binding import each
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Pattern, Tuple, Var, below, variables
from hilbert.base.term import driven, postorder

if TYPE_CHECKING:
    from collections.abc import Hashable

    from diff.lam.term.binding import Pass


@final
class Numbering:
    """The numbers of terms, in time of their size: each node is met once.

    A variable that is bound by a let has the number of its value. One that is bound by a λ is numbered by the height of
    that λ, how many stand in each other there: those within are lower.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._variables: dict[int, int] = {}
        self._met: dict[int, tuple[AnyTerm, int]] = {}  # with the term, whose identity no other then has
        self._heights: dict[int, tuple[AnyTerm, int]] = {}

    def of(self, e: AnyTerm) -> int:
        """The number of a term."""
        if id(e) in self._met:
            return self._met[id(e)][1]
        number: int = driven(self._of(e))
        return number

    def bound(self, pattern: Pattern, value: AnyTerm) -> None:
        """let p = v: the variables have the number of v, or of its components."""
        self._bind(pattern, self.of(value))

    def entered(self, function: Lam) -> None:
        """λp: its variables have numbers before its body is met."""
        for k, x in enumerate(variables(function.pattern)):
            if x.number not in self._variables:
                self._variables[x.number] = self._number((Lam, self._height(function), k, x.type))

    def _bind(self, pattern: Pattern, number: int) -> None:
        if isinstance(pattern, Var):
            self._variables[pattern.number] = number
        else:
            for k, x in enumerate(variables(pattern)):
                self._variables[x.number] = self._number((Let, k, number))

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _of(self, e: AnyTerm) -> Pass:
        if id(e) in self._met:
            return self._met[id(e)][1]
        key: Hashable
        e = ks_term(e)
        match e:
            case Var(_, number) if number in self._variables:
                return self._variables[number]
            case Var(_, number):
                key = Var, number
            case Lit(value):
                key = Lit, value if isinstance(value, int) else (value.space, float(value.array).hex())
            case Name(name, at):
                key = Name, name, at
            case Tuple(parts):
                key = Tuple, *(yield each(self._of, parts))
            case App(function, arg):
                key = App, *(yield each(self._of, (function, arg)))
            case If(condition, then, otherwise):
                key = If, *(yield each(self._of, (condition, then, otherwise)))
            case Let():
                values: list[int] = []
                body: AnyTerm = e
                while isinstance(body, Let):
                    number = yield self._of(body.value)
                    self._bind(body.pattern, number)
                    values.append(number)
                    body = body.body
                key = Let, *values, (yield self._of(body))
            case Lam(pattern, body):
                self.entered(e)
                number = yield self._of(body)
                key = Lam, *[self._variables[x.number] for x in variables(pattern)], number
            case _:
                assert_never(e)
        made = self._number(key)
        self._met[id(e)] = e, made
        return made

    def _height(self, function: Lam) -> int:
        heights = self._heights
        for node in postorder(function, lambda node: [] if id(node) in heights else below(node)):
            if id(node) not in heights:
                most = max((heights[id(part)][1] for part in below(node)), default=0)
                heights[id(node)] = node, most + isinstance(node, Lam)
        return heights[id(function)][1]

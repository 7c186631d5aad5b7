"""The scopes of the two passes of reverse mode: what the first binds, what the second reads of it, and records."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, final

from attrs import Factory, frozen

from adjoint.languages.ks.text.typed_terms import reads
from diff.lam.term.terms import AnyTerm, Let, Pattern, Tuple, Var, fresh, pattern_type, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from diff.lam.term.binding import Pass
    from diff.lam.term.terms import Name

Bindings: TypeAlias = list[tuple[Pattern, AnyTerm]]
Back: TypeAlias = "Callable[[AnyTerm, Backward], Pass]"
"""A step of the second pass: it gives the operands of a value their parts of its cotangent."""


@final
@frozen
class Forward:
    """A scope of the first pass: what it binds, in order, and how to go back through each."""

    around: Forward | None = None
    index: Sequence[Var] = ()
    bindings: Bindings = Factory(list)
    steps: list[tuple[Pattern, Back]] = Factory(list)
    known: dict[int, AnyTerm] = Factory(dict)
    """The variables of values that are bound here, by the numbers of these."""
    numbers: set[int] = Factory(set)
    """Of the variables that are bound here."""

    def bind(self, pattern: Pattern, value: AnyTerm) -> None:
        """let pattern = value, after what is bound so far."""
        self.bindings.append((pattern, value))
        self.numbers.update(x.number for x in variables(pattern))

    def own(self) -> list[Var]:
        """The variables that are bound here."""
        return [x for pattern, _ in self.bindings for x in variables(pattern)]

    def of(self, x: AnyTerm) -> Forward:
        """The scope around that a variable is bound in."""
        scope = self
        while isinstance(x, Var) and scope.around is not None:
            if x.number in scope.numbers or any(x.number == i.number for i in scope.index):
                break
            scope = scope.around
        return scope


@final
@frozen
class Call:
    """A call in a scope of the first pass: its function, argument and value, and the components of the argument."""

    function: Name
    arg: AnyTerm
    parts: tuple[AnyTerm, ...]
    value: AnyTerm
    scope: Forward


Branch: TypeAlias = tuple[AnyTerm, Forward]
"""The value of a scope in a scope."""


@final
@frozen
class Entry:
    """A binding of a scope; its record is known when the second pass is made, and what stands after it is then done."""

    scope: Forward
    position: int

    def replace(self, value: AnyTerm, records: list[Var]) -> None:
        """Bind the value with records, or alone where there are none."""
        pattern, _ = self.scope.bindings[self.position]
        if not records:
            made: Bindings = [(pattern, value)]
        elif isinstance(pattern, Var):
            made = [(Tuple((pattern, *records)), value)]
        else:
            whole = fresh("p", pattern_type(pattern))
            made = [(Tuple((whole, *records)), value), (pattern, whole)]
        self.scope.bindings[self.position : self.position + 1] = made
        self.scope.numbers.update(x.number for bound, _ in made for x in variables(bound))


@final
@frozen
class Backward:
    """The same scope of the second pass: what it binds, and the cotangents of variables so far."""

    bindings: Bindings = Factory(list)
    cotangents: dict[int, tuple[Var, AnyTerm]] = Factory(dict)


# --- records ---


def lets(bindings: Bindings, e: AnyTerm) -> AnyTerm:
    """let p = v in … in e."""
    for pattern, value in reversed(bindings):
        e = Let(pattern, value, e)
    return e


def packed(parts: Sequence[AnyTerm]) -> AnyTerm:
    """Values as one: a tuple, unless there is one."""
    return parts[0] if len(parts) == 1 else Tuple(tuple(parts))


def opened(parts: Sequence[Var], b: AnyTerm, e: AnyTerm) -> AnyTerm:
    """let (x …) = b in e."""
    if not parts:
        return e
    return Let(parts[0] if len(parts) == 1 else Tuple(tuple(parts)), b, e)


def record(scope: Forward, end: AnyTerm, also: Sequence[Var] = ()) -> list[Var]:
    """The variables of a scope that its second pass reads."""
    read = reads(end)
    return [x for x in (*also, *scope.own()) if x.number in read]

"""The base of all terms of the λ-language, and the kinds of formers for which passes have one case.

A former of a kind that a pass knows needs no case of its own there.
"""

from __future__ import annotations

from typing import Any, ClassVar

from attrs import field, frozen

from diff.lam.term.term_error import Place
from hilbert.base.attach import declared
from hilbert.base.term import Term
from hilbert.displayed import DisplayedAsFormula
from hilbert.errors import shown


@frozen(eq=False, repr=False)
class Former(DisplayedAsFormula, Term):
    """A term. Equality up to names, hash and pickling are those of `diff.lam.term.equality`."""

    place: Place | None = field(default=None, eq=False, kw_only=True)

    @declared
    def __eq__(self, other: object) -> bool:
        raise NotImplementedError

    @declared
    def __hash__(self) -> int:
        raise NotImplementedError

    @declared
    def __reduce__(self) -> tuple[Any, ...]:
        raise NotImplementedError

    @declared
    def __str__(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<term {self}>"


@frozen(eq=False, repr=False)
class Strict(Former):
    """A former that binds nothing: its parts are evaluated first, from the left to the right."""


@frozen(eq=False, repr=False)
class Worded(Strict):
    """A strict former that is written word(t₁, …, tₙ), with a semicolon after so many terms if that is not 0."""

    word: ClassVar[str]
    semicolon: ClassVar[int] = 0


@frozen(eq=False, repr=False)
class PullbackFormer(Former):
    """A former of the language of pullbacks alone: a term of it is reduced, and has no value before."""


@frozen(eq=False, repr=False)
class OpenFormer(Former):
    """A former that a front end may write; the checker puts terms of the other formers in its place."""


shown.register(Former, lambda _: "a term")

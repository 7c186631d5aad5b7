"""The base of all terms of the λ-language: where a term was written, and how it is printed."""

from __future__ import annotations

from typing import Any

from attrs import field, frozen

from diff.lam.term.term_error import Place
from hilbert.base.attach import declared
from hilbert.base.term import Term
from hilbert.errors import shown


@frozen(eq=False, repr=False)
class Former(Term):
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


shown.register(Former, lambda _: "a term")

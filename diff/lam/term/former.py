"""The base of all terms of the λ-language: where a term was written, and how it is printed."""

from __future__ import annotations

from attrs import field, frozen

from diff.lam.term.term_error import Place
from hilbert.base.term import Term
from hilbert.errors import shown


@frozen(eq=False, repr=False)
class Former(Term):
    """A term. Equality up to names, hash and pickling are attached in `diff.lam.term.binding`."""

    place: Place | None = field(default=None, eq=False, kw_only=True)

    def __str__(self) -> str:
        from diff.lam.show.show import show_term  # printing is a pass over terms

        return show_term(self)

    def __repr__(self) -> str:
        return f"<term {self}>"


shown.register(Former, lambda _: "a term")

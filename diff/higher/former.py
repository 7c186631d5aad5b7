"""The base of all terms of the λ-language: where a term was written, and how it is printed."""

from __future__ import annotations

from attrs import field, frozen

from diff.higher.errors import Place
from hilbert.errors import shown
from hilbert.term import Term


@frozen(eq=False, repr=False)
class Former(Term):
    """A term. Equality up to names, hash and pickling are attached in `diff.higher.binding`."""

    place: Place | None = field(default=None, eq=False, kw_only=True)

    def __str__(self) -> str:
        from diff.higher.show import show_term  # printing is a pass over terms

        return show_term(self)

    def __repr__(self) -> str:
        return f"<term {self}>"


shown.register(Former, lambda _: "a term")

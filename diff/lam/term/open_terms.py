"""What a front end may write beside the terms; the checker replaces it."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from attrs import field, frozen

from diff.lam.term.former import Former
from hilbert.base.term import as_tuple

if TYPE_CHECKING:
    from diff.lam.term.terms import AnyTerm
    from diff.lam.term.types import Ty


@final
@frozen(eq=False, repr=False)
class Name(Former):
    """A definition, a constructor or a primitive; after checking a definition, at these types."""

    name: str
    at: tuple[Ty, ...] = ()


@final
@frozen(eq=False, repr=False)
class Number(Former):
    """A number as it is written: a real, or an integer where one is due."""

    text: str


@final
@frozen(eq=False, repr=False)
class Sign(Former):
    """An operator that is a primitive at the types of its arguments."""

    sign: str
    args: tuple[AnyTerm, ...] = field(converter=as_tuple)


@final
@frozen(eq=False, repr=False)
class Typed(Former):
    """(t : σ)."""

    of: AnyTerm
    type: Ty

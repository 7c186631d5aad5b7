"""The terms that texts of caddie are made of: a part of those of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from diff.lam.term.terms import App, Lam, Let, Name, Proj, Tuple, Var

if TYPE_CHECKING:
    from diff.lam.term.terms import AnyTerm

CaddieTerm: TypeAlias = Var | Name | Lam | App | Let | Tuple | Proj
"""The closed union; mypy lists the passes that lack a class of it."""


def caddie_term(e: AnyTerm) -> CaddieTerm:
    """A term of a text; where another class comes, the `assert_never` of the `match` fails."""
    return cast("CaddieTerm", e)

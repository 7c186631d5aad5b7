"""The terms that texts of KS-Lisp are made of: a part of those of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from diff.lam.term.terms import App, If, Lam, Let, Lit, Name, Tuple, Var

if TYPE_CHECKING:
    from diff.lam.term.terms import AnyTerm

KsTerm: TypeAlias = Var | Lit | Name | Tuple | Let | If | Lam | App
"""The closed union; mypy lists the passes that lack a class of it."""


def ks_term(e: AnyTerm) -> KsTerm:
    """A term of a text; where another class comes, the `assert_never` of the `match` fails."""
    return cast("KsTerm", e)

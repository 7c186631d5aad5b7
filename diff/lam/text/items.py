"""The items of a text: declarations of types, definitions, primitives, free variables and claims."""

from __future__ import annotations

from typing import Any, TypeAlias, final

from attrs import frozen

from diff.lam.term.term_error import Place
from diff.lam.term.terms import AnyTerm, Var
from diff.lam.term.types import Declaration, Ty


@final
@frozen(eq=False)
class Definition:
    """def name … = term; `recursive` is the variable that stands for the name in its own term."""

    name: str
    term: AnyTerm
    type: Ty | None
    recursive: Var | None
    is_annotated: bool
    place: Place


@final
@frozen(eq=False)
class PrimitiveItem:
    """prim name pat {pat} = term: one primitive, of the tuple of its patterns."""

    name: str
    term: AnyTerm
    patterns: int
    place: Place


@final
@frozen(eq=False)
class Free:
    """var name : ty."""

    name: str
    type: Ty
    place: Place


@final
@frozen(eq=False)
class Declared:
    """data, which is in the table of types already."""

    declaration: Declaration
    place: Place


@final
@frozen(eq=False)
class Orders:
    """(k, R), or the multi-indices that are listed."""

    k: int
    order: int
    listed: tuple[tuple[int, ...], ...] | None = None


@final
@frozen(eq=False)
class Claim:
    """word term … = term; a claim `error` has in `refused` the item to be refused, or the error of its parser."""

    word: str
    terms: tuple[AnyTerm, ...]
    place: Place
    type: Ty | None = None
    orders: Orders | None = None
    code: str = ""
    refused: Any = None


Item: TypeAlias = Definition | PrimitiveItem | Free | Declared | Claim
CLAIMS = {"value", "type", "reduce", "pair", "grad", "taylor", "error"}

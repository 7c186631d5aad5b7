"""Relations in terms: the paper's names for reductions, a name for each table; the text says which relation it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, cast

from hilbert import Unit
from hilbert.relation import (
    Agreement,
    Converse,
    Equality,
    Full,
    Graph,
    Inclusion,
    Order,
    Pairs,
    Partial,
    Rotation,
    Sliding,
    Window,
)
from hilbert.relation.compound_forms import Composite, ProductRelation, SumRelation
from linmap.printing.notation import subscript

if TYPE_CHECKING:
    from hilbert.relation import Form
    from hilbert.relation.relation import AnyRelation
    from linmap.printing.text_names import Names


def reduction(relation: AnyRelation, names: Names) -> str:
    """red_R, or its name where the paper has one."""
    match relation:
        case Full(_, Unit()):
            return "Σ"
        case Full(Unit(), _):
            return "rep"
        case Order(X, backwards, strict=False) if len(X.axes) == 1:
            return "scan*" if backwards else "scan"
        case Inclusion(Unit(), _, offset):
            return f"ι{subscript(offset + 1)}"
        case Converse(Inclusion(Unit(), _, offset)):
            return f"π{subscript(offset + 1)}"
        case _:  # every other form has no name of its own
            return f"red[{formula(relation, names)}]"


def formula(relation: AnyRelation, names: Names) -> str:
    """The text of a relation in which tables have names."""
    form = cast("Form", relation)
    match form:
        case Graph(X, Y, table):
            return names.of(table.token, f"{X}→{Y}", ":")
        case Converse(Graph(X, Y, table)):
            return f"{names.of(table.token, f'{X}→{Y}', ':')}ᵀ"
        case Pairs(X, Y, sources, targets):
            pair = sources.token, targets.token
            if pair[::-1] in names.names:
                return f"{names.names[pair[::-1]]}ᵀ"
            return names.of(pair, f"{X}×{Y}", "⊆")
        case Partial(X, keep):
            return f"id on {names.of(keep.token, X, '⊆')}"
        case ProductRelation() | SumRelation() | Composite():
            return form.written(lambda part: formula(part, names))
        case Order() | Window() | Rotation() | Equality() | Converse(Window()) if len(form.dom.axes) > 1:
            return f"{form} on {form.dom}"  # not a relation of the first of these axes
        case Full() | Equality() | Order() | Agreement() | Inclusion() | Window() | Sliding() | Rotation() | Converse():
            return str(form)  # a form without a table says all itself
        case _:
            assert_never(form)

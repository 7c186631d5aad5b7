"""Relations in terms: the paper's names for reductions, a name for each table; the text says which relation it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert import Unit
from hilbert.relation import Converse, Equality, Full, Graph, Inclusion, Order, Pairs, Partial, Rotation, Window
from hilbert.relation.compound_forms import Composite, ProductRelation, SumRelation
from linmap.printing.notation import subscript

if TYPE_CHECKING:
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
    match relation:
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
            return relation.written(lambda part: formula(part, names))
        case Order() | Window() | Rotation() | Equality() | Converse(Window()) if len(relation.dom.axes) > 1:
            return f"{relation} on {relation.dom}"  # not a relation of the first of these axes
        case _:  # a form without a table says all itself
            return str(relation)

"""Relations composed where one relation says what two reductions in a row do (paper §2.1, beyond).

red_S • red_R counts the ways from x to z; it is k·red_{S∘R} where there are k ways, or none, between any two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.relation import (
    Converse,
    Full,
    Function,
    Graph,
    Identity,
    Inclusion,
    Order,
    Pairs,
    Partial,
    ProductRelation,
    Rotation,
    SumRelation,
    table,
)
from hilbert.repr_names import derived

if TYPE_CHECKING:
    from hilbert import Relation


def is_identity(relation: Relation[Any, Any]) -> bool:
    """Whether the form of a relation shows that it is {(x, x)}."""
    if relation.dom != relation.cod:
        return False
    match relation:
        case Identity():
            return True
        case Full() | Order(strict=False):
            return bool(relation.dom.size == 1)
        case Inclusion(stride=stride) | Converse(Inclusion(stride=stride)):
            return bool(stride == 1 or relation.dom.size == 1)
        case Rotation(_, by):
            return not by
        case Partial(_, keep):
            return bool(keep.array.all())
        case ProductRelation(R, S) | SumRelation(R, S):
            return is_identity(R) and is_identity(S)
        case _:
            return False


def is_empty(relation: Relation[Any, Any]) -> bool:
    """Whether the form of a relation shows that nothing is related."""
    if not (relation.dom.size and relation.cod.size):
        return True
    match relation:
        case Pairs(_, _, sources):
            return not sources.array.size
        case Partial(_, keep):
            return not keep.array.any()
        case ProductRelation(R, S):
            return is_empty(R) or is_empty(S)
        case SumRelation(R, S):
            return is_empty(R) and is_empty(S)
        case _:
            return False


def composed(S: Relation[Any, Any], R: Relation[Any, Any]) -> tuple[int, Relation[Any, Any]] | None:
    """k and S∘R such that red_S • red_R = k·red_{S∘R}, where the forms allow it."""
    match S, R:
        case (Identity(), _):
            return 1, R
        case (_, Identity()):
            return 1, S
        case (Full(middle, Z), Full(X, _)):
            return middle.size, Identity(X) if X == Z and X.size == 1 else Full(X, Z)
        case (Full(_, Z), Function() as f):  # one way on from each x
            return 1, Full(f.dom, Z)
        case (Converse(Function() as f), Full(X, _)):  # one way back from each z
            return 1, Full(X, f.dom)
        case (Rotation(Z), Full(X, _)):
            return 1, Full(X, Z)
        case (Rotation(X, by), Rotation(_, more)):
            return 1, Rotation(X, (by + more) % max(X.size, 1))
        case (Partial(X, one), Partial(_, two)):
            return 1, Partial(X, table(one.array & two.array, derived(f"both {one.token} {two.token}")))
        case (ProductRelation(S1, S2), ProductRelation(R1, R2)) if (S1.dom, S2.dom) == (R1.cod, R2.cod):
            first, second = composed(S1, R1), composed(S2, R2)
            return (first[0] * second[0], first[1] * second[1]) if first and second else None
        case (SumRelation(S1, S2), SumRelation(R1, R2)) if (S1.dom, S2.dom) == (R1.cod, R2.cod):
            first, second = composed(S1, R1), composed(S2, R2)
            return (first[0], first[1] + second[1]) if first and second and first[0] == second[0] else None
        case (Converse(Inclusion() as g), Inclusion() as f) if f == g:
            return 1, Identity(f.dom)
        case (Graph() | Inclusion(), Graph() | Inclusion()):
            return 1, _after(S, R)
        case (Converse(Graph() | Inclusion() as g), Converse(Graph() | Inclusion() as f)):  # (S∘R)ᵀ = Rᵀ∘Sᵀ
            return 1, _after(f, g).T
        case (Converse(Inclusion(stride=1) as g), Inclusion(stride=1) as f):
            return 1, _overlap(f, g)
        case _:
            return None


def _after(g: Any, f: Any) -> Any:
    """The graph of g ∘ f."""
    if isinstance(g, Inclusion) and isinstance(f, Inclusion):
        return Inclusion(f.dom, g.cod, g.offset + g.stride * f.offset, g.stride * f.stride)
    positions = g.holds()[1][f.holds()[1]]
    return Graph(f.dom, g.cod, table(positions, derived(f"{_name(g)} {_name(f)}")))


def _name(f: Any) -> str:
    return f"graph {f.positions.token}" if isinstance(f, Graph) else f"run {f.offset} {f.stride}"


def _overlap(f: Inclusion[Any, Any], g: Inclusion[Any, Any]) -> Relation[Any, Any]:
    """{(x, z) : f(x) = g(z)} of two runs, which is a run where one lies in the other."""
    X, Z = f.dom, g.dom
    shift = f.offset - g.offset
    if 0 <= shift <= Z.size - X.size:
        return Inclusion(X, Z, shift)
    if 0 <= -shift <= X.size - Z.size:
        return Converse(Inclusion(Z, X, -shift))
    x = np.arange(max(0, -shift), max(0, min(X.size, Z.size - shift)))
    tables = [table(entries, derived(f"overlap {shift} {side}")) for side, entries in enumerate((x, x + shift))]
    return Pairs(X, Z, *tables)

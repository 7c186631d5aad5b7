"""Relations composed where one relation says what two reductions in a row do (paper §2.1, beyond).

red_S • red_R counts the ways from x to z; it is k·red_{S∘R} where there are k ways, or none, between any two.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.relation import Converse, Full, Graph, Identity, Inclusion, Order, Pairs, Rotation, table

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
        case _:
            return False


def is_empty(relation: Relation[Any, Any]) -> bool:
    """Whether the form of a relation shows that nothing is related."""
    if isinstance(relation, Pairs) and not relation.sources.array.size:
        return True
    return not (relation.dom.size and relation.cod.size)


def composed(S: Relation[Any, Any], R: Relation[Any, Any]) -> tuple[int, Relation[Any, Any]] | None:
    """k and S∘R such that red_S • red_R = k·red_{S∘R}, where the forms allow it."""
    match S, R:
        case (Identity(), _):
            return 1, R
        case (_, Identity()):
            return 1, S
        case (Full(middle, Z), Full(X, _)):
            return middle.size, Identity(X) if X == Z and X.size == 1 else Full(X, Z)
        case (Full(_, Z), Graph(X, _) | Inclusion(X, _)):  # one way on from each x
            return 1, Full(X, Z)
        case (Converse(Graph() | Inclusion() as f), Full(X, _)):  # one way back from each z
            return 1, Full(X, f.dom)
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
    return Graph(f.dom, g.cod, table(positions, _token(f"{_name(g)} {_name(f)}")))


def _token(name: str) -> int:
    """The same table has the same token whenever it is made."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=16).digest(), "big")


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
    tables = [table(entries, _token(f"overlap {shift} {side}")) for side, entries in enumerate((x, x + shift))]
    return Pairs(X, Z, *tables)

"""The operators of relations: R × S, R + S and S ∘ R, attached to their class from here (theory §2.1).

>>> from hilbert import Fin
>>> from hilbert.relation import equality, full, function, leq
>>> X, Y = Fin.of(3), Fin.of(2)
>>> R = function([0, 1, 0], X, Y)
>>> print(equality(Y) * leq(X), R + leq(Y), leq(Y) @ R, sep=" | ")
id × ≤ | graph(3→2) + ≤ | ≤ ∘ graph(3→2)
>>> (leq(Y) @ R).T == R.T @ leq(Y).T
True
"""

from __future__ import annotations

from typing import Any

from hilbert.errors import SpaceError
from hilbert.relation.compound_forms import Composite, ProductRelation, SumRelation, partial_by_form, paths
from hilbert.relation.function_forms import Window, band
from hilbert.relation.plain_forms import Equality, Full, Order, distinct
from hilbert.relation.relation import AnyRelation, H, I, J, K, Relation, require_relation

PATHS = 1 << 27
"""A composition that must be written out as explicit pairs goes through at most this many paths."""


def product(left: Relation[I, J], right: Relation[H, K]) -> ProductRelation[I, H, J, K]:
    """R × S."""
    return ProductRelation(left, right)


def disjoint(left: Relation[I, J], right: Relation[H, K]) -> SumRelation[I, H, J, K]:
    """R + S."""
    return SumRelation(left, right)


def composed(outer: Relation[J, K], inner: Relation[I, J]) -> Relation[I, K]:
    """S ∘ R, by a law, as a Composition, or written out as pairs."""
    require_relation(outer, "S @ R")
    require_relation(inner, "S @ R")
    if inner.cod != outer.dom:
        msg = f"S ∘ R of R ⊆ {inner.dom}×{inner.cod} and S ⊆ {outer.dom}×{outer.cod}: {inner.cod} is not {outer.dom}"
        raise SpaceError(msg)
    found: Any = law(outer, inner)
    if found is not None:
        return found  # type: ignore[no-any-return]
    if partial_by_form(inner) or partial_by_form(outer.T) or inner.is_partial_function or outer.T.is_partial_function:
        return Composite(outer, inner)
    count = int((inner.T.degrees().astype(float) * outer.degrees()).sum())
    if max(count, inner.size, outer.size) > PATHS:
        msg = (
            f"S ∘ R of R ⊆ {inner.dom}×{inner.cod} and S ⊆ {outer.dom}×{outer.cod} has {count} paths, too many to "
            f"write out as pairs; red(S) • red(R) counts paths without writing them out"
        )
        raise SpaceError(msg)
    x, z = paths(outer, inner)
    return distinct(inner.dom, outer.cod, x, z)


def law(outer: Any, inner: Any) -> AnyRelation | None:
    """S ∘ R as one form, if a law says so."""
    match outer, inner:
        case Equality(), _:  # id ∘ R = R
            return inner  # type: ignore[no-any-return]
        case _, Equality():  # S ∘ id = S
            return outer  # type: ignore[no-any-return]
        case Full(Y, Z), Full(X, _) if Y.size:  # Y×Z ∘ X×Y = X×Z
            return Full(X, Z)
        case Order(_, True, False), Order(_, True, False):  # ≥ ∘ ≥ = ≥
            return inner
        case Order(_, False, False), Order(_, False, False):  # ≤ ∘ ≤ = ≤
            return inner
        case Window(), Window() if _is_between(outer, inner):
            low = outer.offset + inner.offset
            return band(inner.dom, -low, low + outer.width + inner.width - 2)
        case _:  # no law: pairs of forms are many, and S ∘ R has a form of its own
            return None


def _is_between(outer: Window[Any, Any], inner: Window[Any, Any]) -> bool:
    """True for bands on one set if a y of each pair (x, z) lies between the two, so that none is lost at an end.

    That holds if both have the diagonal, or lie on one side of it.
    """
    bands = (outer, inner)
    if not all(w.dom == w.cod == inner.dom and w.stride == w.dilation == 1 <= w.width for w in bands):
        return False
    lows, highs = [w.offset for w in bands], [w.offset + w.width - 1 for w in bands]
    return max(lows) <= 0 <= min(highs) or min(lows) >= 0 or max(highs) <= 0

"""Products, sums and compositions of relations, closed under transpose (theory §2.1).

>>> from hilbert import Fin
>>> from hilbert.relation import equality, full, function, leq
>>> X, Y = Fin.of(3), Fin.of(2)
>>> R = function(X, Y, [0, 1, 0])
>>> print(equality(Y) * leq(X), R + leq(Y), leq(Y) @ R, sep=" | ")
id × ≤ | graph(3→2) + ≤ | ≤ ∘ graph(3→2)
>>> (leq(Y) @ R).T == R.T @ leq(Y).T
True
"""

from __future__ import annotations

from typing import Any, Generic, final

import numpy as np
from attrs import field, frozen

from hilbert.errors import SpaceError
from hilbert.index import Coproduct, Product
from hilbert.relation.base import H, I, Ints, J, K, Relation, require_relation
from hilbert.relation.forms import Full, Identity, Order
from hilbert.relation.make import distinct

PATHS = 1 << 27
"""A composition that must be written out as explicit pairs goes through at most this many paths."""


def _relation(_: Any, attribute: Any, value: Any) -> None:
    require_relation(value, f"the {attribute.name} side of R × S, R + S or S ∘ R")


def _bracketed(relation: Relation[Any, Any]) -> str:
    text = str(relation)
    return f"({text})" if any(sign in text for sign in ("×", " + ", "∘")) else text


@final
@frozen
class ProductRelation(Relation[Product[I, H], Product[J, K]], Generic[I, H, J, K]):
    """R × S = {((x, x'), (y, y')) : (x, y) ∈ R, (x', y') ∈ S}: reduced axis by axis."""

    left: Relation[I, J] = field(validator=_relation)
    right: Relation[H, K] = field(validator=_relation)

    @property
    def dom(self) -> Product[I, H]:
        """X × X'."""
        return self.left.dom * self.right.dom

    @property
    def cod(self) -> Product[J, K]:
        """Y × Y'."""
        return self.left.cod * self.right.cod

    @property
    def T(self) -> ProductRelation[J, K, I, H]:
        """Rᵀ × Sᵀ."""
        return ProductRelation(self.left.T, self.right.T)

    def holds(self) -> tuple[Ints, Ints]:
        """Every pair of R with every pair of S."""
        (a, b), (c, d) = self.left.holds(), self.right.holds()
        x = a[:, None] * self.right.dom.size + c
        y = b[:, None] * self.right.cod.size + d
        return x.reshape(-1), y.reshape(-1)

    @property
    def size(self) -> int:
        """|R|·|S|."""
        return self.left.size * self.right.size

    @property
    def is_function(self) -> bool:
        """If both are, or there is no (x, x')."""
        return (self.left.is_function and self.right.is_function) or not self.dom.size

    @property
    def is_partial_function(self) -> bool:
        """If both are, or one of them is empty."""
        return (self.left.is_partial_function and self.right.is_partial_function) or not self.size

    def __str__(self) -> str:
        return f"{_bracketed(self.left)} × {_bracketed(self.right)}"


@final
@frozen
class SumRelation(Relation[Coproduct[I, H], Coproduct[J, K]], Generic[I, H, J, K]):
    """R + S on disjoint unions: R between the first parts, S between the second; block by block."""

    left: Relation[I, J] = field(validator=_relation)
    right: Relation[H, K] = field(validator=_relation)

    @property
    def dom(self) -> Coproduct[I, H]:
        """X + X'."""
        return self.left.dom + self.right.dom

    @property
    def cod(self) -> Coproduct[J, K]:
        """Y + Y'."""
        return self.left.cod + self.right.cod

    @property
    def T(self) -> SumRelation[J, K, I, H]:
        """Rᵀ + Sᵀ."""
        return SumRelation(self.left.T, self.right.T)

    def holds(self) -> tuple[Ints, Ints]:
        """The pairs of R, then those of S."""
        (a, b), (c, d) = self.left.holds(), self.right.holds()
        return np.concatenate([a, c + self.left.dom.size]), np.concatenate([b, d + self.left.cod.size])

    @property
    def size(self) -> int:
        """|R| + |S|."""
        return self.left.size + self.right.size

    @property
    def is_function(self) -> bool:
        """If both are."""
        return self.left.is_function and self.right.is_function

    @property
    def is_partial_function(self) -> bool:
        """If both are."""
        return self.left.is_partial_function and self.right.is_partial_function

    def __str__(self) -> str:
        return f"{_bracketed(self.left)} + {_bracketed(self.right)}"


@final
@frozen
class Composition(Relation[I, J]):
    """S ∘ R where no (x, z) has more than one y between them, so that red_{S∘R} = red_S • red_R. Made by `S @ R`."""

    outer: Relation[Any, J] = field(validator=_relation)
    inner: Relation[I, Any] = field(validator=_relation)

    @property
    def dom(self) -> I:
        """That of R."""
        return self.inner.dom

    @property
    def cod(self) -> J:
        """That of S."""
        return self.outer.cod

    @property
    def T(self) -> Composition[J, I]:
        """Rᵀ ∘ Sᵀ."""
        return Composition(self.inner.T, self.outer.T)

    def holds(self) -> tuple[Ints, Ints]:
        """The pairs with a y between them."""
        return _paths(self.outer, self.inner)

    @property
    def is_function(self) -> bool:
        """If both are; otherwise it is counted."""
        return (self.inner.is_function and self.outer.is_function) or super().is_function

    @property
    def is_partial_function(self) -> bool:
        """If both are; otherwise it is counted."""
        return (self.inner.is_partial_function and self.outer.is_partial_function) or super().is_partial_function

    def __str__(self) -> str:
        return f"{_bracketed(self.outer)} ∘ {_bracketed(self.inner)}"


def composed(outer: Relation[J, K], inner: Relation[I, J]) -> Relation[I, K]:
    """S ∘ R = {(x, z) : (x, y) ∈ R and (y, z) ∈ S for some y}.

    It stays symbolic where each (x, z) has at most one such y: if R is a partial function, or S the converse of one.
    Then red_{S∘R} = red_S • red_R. So it does for id ∘ R, S ∘ id, full ∘ full, ≤ ∘ ≤ and ≥ ∘ ≥. Everything else becomes
    explicit pairs, each of which counts once, however many paths there are. Raises SpaceError where the sets do not
    meet, and for more paths than can be written out.
    """
    require_relation(outer, "S @ R")
    require_relation(inner, "S @ R")
    if inner.cod != outer.dom:
        msg = f"S ∘ R of R ⊆ {inner.dom}×{inner.cod} and S ⊆ {outer.dom}×{outer.cod}: {inner.cod} is not {outer.dom}"
        raise SpaceError(msg)
    found: Any = _law(outer, inner)
    if found is not None:
        return found  # type: ignore[no-any-return]
    if inner.is_partial_function or outer.T.is_partial_function:
        return Composition(outer, inner)
    count = int((inner.T.degrees().astype(float) * outer.degrees()).sum())
    if max(count, inner.size, outer.size) > PATHS:
        msg = (
            f"S ∘ R of R ⊆ {inner.dom}×{inner.cod} and S ⊆ {outer.dom}×{outer.cod} has {count} paths, too many to "
            f"write out as pairs; red(S) • red(R) counts paths without writing them out"
        )
        raise SpaceError(msg)
    x, z = _paths(outer, inner)
    return distinct(inner.dom, outer.cod, x, z)


def _law(outer: Any, inner: Any) -> Relation[Any, Any] | None:
    """S ∘ R as one form, if a law says so."""
    match outer, inner:
        case Identity(), _:  # id ∘ R = R
            return inner  # type: ignore[no-any-return]
        case _, Identity():  # S ∘ id = S
            return outer  # type: ignore[no-any-return]
        case Full(Y, Z), Full(X, _) if Y.size:  # Y×Z ∘ X×Y = X×Z
            return Full(X, Z)
        case Order(_, True, False), Order(_, True, False):  # ≥ ∘ ≥ = ≥
            return inner
        case Order(_, False, False), Order(_, False, False):  # ≤ ∘ ≤ = ≤
            return inner
        case _:
            return None


def _paths(outer: Relation[Any, Any], inner: Relation[Any, Any]) -> tuple[Ints, Ints]:
    """The ends (x, z) of every path x R y S z."""
    x, y = inner.holds()
    y2, z = outer.holds()
    order = np.argsort(y2, kind="stable")
    z = z[order]
    counts = np.bincount(y2, minlength=outer.dom.size)
    starts = np.concatenate([[0], np.cumsum(counts)])
    per = counts[y]
    step = np.arange(int(per.sum())) - np.repeat(np.cumsum(per) - per, per)
    return x.repeat(per), z[starts[y].repeat(per) + step]

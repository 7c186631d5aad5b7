"""Products, sums and compositions of relations, made of others and closed under transpose (theory §2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias, final

import numpy as np
from attrs import field, frozen

from hilbert.index.index import Coproduct, Product
from hilbert.relation.relation import AnyRelation, H, I, Ints, J, K, Relation, require_relation

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Composite", "ProductRelation", "SumRelation"]


def _relation(_: Any, attribute: Any, value: Any) -> None:
    require_relation(value, f"the {attribute.name} side of R × S, R + S or S ∘ R")


def _bracketed(text: str) -> str:
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

    def written(self, text: Callable[[AnyRelation], str]) -> str:
        """The text, given that of its sides."""
        return f"{_bracketed(text(self.left))} × {_bracketed(text(self.right))}"

    def __str__(self) -> str:
        return self.written(str)


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

    def written(self, text: Callable[[AnyRelation], str]) -> str:
        """The text, given that of its sides."""
        return f"{_bracketed(text(self.left))} + {_bracketed(text(self.right))}"

    def __str__(self) -> str:
        return self.written(str)


@final
@frozen
class Composite(Relation[I, J]):
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
    def T(self) -> Composite[J, I]:
        """Rᵀ ∘ Sᵀ."""
        return Composite(self.inner.T, self.outer.T)

    def holds(self) -> tuple[Ints, Ints]:
        """The pairs with a y between them."""
        return paths(self.outer, self.inner)

    @property
    def is_function(self) -> bool:
        """If both are; otherwise it is counted."""
        return (self.inner.is_function and self.outer.is_function) or super().is_function

    @property
    def is_partial_function(self) -> bool:
        """If both are; otherwise it is counted."""
        return (self.inner.is_partial_function and self.outer.is_partial_function) or super().is_partial_function

    def written(self, text: Callable[[AnyRelation], str]) -> str:
        """The text, given that of its sides; it says Y where that is not Z."""
        through = "" if self.inner.cod == self.cod else f" through {self.inner.cod}"
        return f"{_bracketed(text(self.outer))} ∘ {_bracketed(text(self.inner))}{through}"

    def __str__(self) -> str:
        return self.written(str)


def paths(outer: AnyRelation, inner: AnyRelation) -> tuple[Ints, Ints]:
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


CompoundForm: TypeAlias = ProductRelation[Any, Any, Any, Any] | SumRelation[Any, Any, Any, Any] | Composite[Any, Any]

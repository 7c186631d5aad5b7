"""Products, sums and compositions of relations, made of others and closed under transpose (theory §2.1).

R + S + … of n relations is n forms within each other: each property is computed once for each, without recursion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, final

import numpy as np
from attrs import field, frozen

from hilbert.base.once import kept, once
from hilbert.base.two_sided import TwoSided, folded, text, upwards
from hilbert.index.index import Coproduct, Product
from hilbert.relation.relation import AnyRelation, H, I, Ints, J, K, Relation, require_relation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Held: TypeAlias = tuple[Ints, Ints]
__all__ = ["Composite", "ProductRelation", "SumRelation"]


def _relation(_: Any, attribute: Any, value: Any) -> None:
    require_relation(value, f"the {attribute.name} side of R × S, R + S or S ∘ R")


class Compound(TwoSided, Relation[I, J]):
    """R × S, R + S or S ∘ R."""

    __slots__ = ()
    sign: ClassVar[str]

    @property
    def function_by_form(self) -> bool | None:
        """True if each x is related to exactly one y, as far as the sides tell; None where pairs must be counted."""
        raise TypeError(type(self).__name__)

    @property
    def partial_by_form(self) -> bool | None:
        """True if each x is related to at most one y, as far as the sides tell; None where pairs must be counted."""
        raise TypeError(type(self).__name__)

    @property
    @once
    def is_function(self) -> bool:
        """True if each x is related to exactly one y: by the sides, or by counting pairs."""
        found = self.function_by_form
        return super().is_function if found is None else found

    @property
    @once
    def is_partial_function(self) -> bool:
        """True if each x is related to at most one y: by the sides, or by counting pairs."""
        found = self.partial_by_form
        return super().is_partial_function if found is None else found

    @property
    @once
    def size(self) -> int:
        """The number of pairs, counted."""
        return super().size

    def holds(self) -> Held:
        """Every pair once, made of those of the parts."""
        found: Held = folded(self, _held, lambda at, parts: at.joined(parts))
        return found

    def written(self, leaf: Callable[[AnyRelation], str]) -> str:
        """The text, given the texts of the relations in it: in brackets if those have a sign."""

        def bracketed(side: Any) -> Sequence[Any]:
            alone = side if isinstance(side, TwoSided) else leaf(side)
            is_simple = isinstance(alone, str) and not any(sign in alone for sign in ("×", " + ", "∘"))
            return (alone,) if is_simple else ("(", alone, ")")

        def pieces(node: Any) -> Sequence[Any]:
            first, second = map(bracketed, node.sides)
            return *first, f" {node.sign} ", *second, node.through

        return text(self, pieces, leaf)

    @property
    def through(self) -> str:
        """The text behind the sides."""
        return ""

    def __str__(self) -> str:
        return self.written(str)

    def __repr__(self) -> str:
        def pieces(node: Any) -> Sequence[Any]:
            (one, other), (first, second) = node.__match_args__, node.sides
            return f"{type(node).__name__}({one}=", first, f", {other}=", second, ")"

        return text(self, pieces, repr)


def function_by_form(relation: AnyRelation) -> bool | None:
    """True if each x is related to exactly one y; None where the pairs of a composition would have to be counted."""
    return relation.function_by_form if isinstance(relation, Compound) else relation.is_function


def partial_by_form(relation: AnyRelation) -> bool | None:
    """True if each x is related to at most one y; None where a composition's pairs are not counted yet."""
    if not isinstance(relation, Compound):
        return relation.is_partial_function
    counted = kept(Compound.is_partial_function.fget, relation)  # type: ignore[attr-defined]
    return relation.partial_by_form if counted is None else counted


def _both(asked: Callable[[AnyRelation], bool | None], sides: Sequence[AnyRelation]) -> bool | None:
    """True if a property holds of both sides; False as soon as one lacks it, None where one of them does not tell."""
    first = asked(sides[0])
    second = first is False or asked(sides[1])
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


@final
@frozen(repr=False, eq=False)
class ProductRelation(Compound[Product[I, H], Product[J, K]], Generic[I, H, J, K]):
    """R × S = {((x, x'), (y, y')) : (x, y) ∈ R, (x', y') ∈ S}: reduced axis by axis."""

    left: Relation[I, J] = field(validator=_relation)
    right: Relation[H, K] = field(validator=_relation)
    sign = "×"

    @property
    @upwards
    def dom(self) -> Product[I, H]:
        """X × X'."""
        return self.left.dom * self.right.dom

    @property
    @upwards
    def cod(self) -> Product[J, K]:
        """Y × Y'."""
        return self.left.cod * self.right.cod

    @property
    @upwards
    def T(self) -> ProductRelation[J, K, I, H]:
        """Rᵀ × Sᵀ."""
        return ProductRelation(self.left.T, self.right.T)

    def joined(self, held: Sequence[Held]) -> Held:
        """Every pair of R with every pair of S."""
        x, y = held[0]
        for part, (a, b) in zip(self.run[1:], held[1:], strict=True):
            x = (x[:, None] * part.dom.size + a).reshape(-1)
            y = (y[:, None] * part.cod.size + b).reshape(-1)
        return x, y

    @property
    @upwards
    def size(self) -> int:
        """|R|·|S|."""
        return self.left.size * self.right.size

    @property
    @upwards
    def function_by_form(self) -> bool | None:
        """True if both sides are functions, or there is no (x, x')."""
        return _both(function_by_form, self.sides) if self.dom.size else True

    @property
    @upwards
    def partial_by_form(self) -> bool | None:
        """True if both sides are partial functions, or R × S is empty; None where a side does not tell."""
        found = _both(partial_by_form, self.sides)
        return found or not self.size if found is False else found  # without pairs, a side that is none does not matter


@final
@frozen(repr=False, eq=False)
class SumRelation(Compound[Coproduct[I, H], Coproduct[J, K]], Generic[I, H, J, K]):
    """R + S on disjoint unions: R between the first parts, S between the second; block by block."""

    left: Relation[I, J] = field(validator=_relation)
    right: Relation[H, K] = field(validator=_relation)
    sign = "+"

    @property
    @upwards
    def dom(self) -> Coproduct[I, H]:
        """X + X'."""
        return self.left.dom + self.right.dom

    @property
    @upwards
    def cod(self) -> Coproduct[J, K]:
        """Y + Y'."""
        return self.left.cod + self.right.cod

    @property
    @upwards
    def T(self) -> SumRelation[J, K, I, H]:
        """Rᵀ + Sᵀ."""
        return SumRelation(self.left.T, self.right.T)

    def joined(self, held: Sequence[Held]) -> Held:
        """The pairs of R, then those of S."""
        x, y = [0], [0]
        for part in self.run:
            x.append(x[-1] + part.dom.size)
            y.append(y[-1] + part.cod.size)
        sources = [a + start for (a, _), start in zip(held, x, strict=False)]
        return np.concatenate(sources), np.concatenate([b + start for (_, b), start in zip(held, y, strict=False)])

    @property
    @upwards
    def size(self) -> int:
        """|R| + |S|."""
        return self.left.size + self.right.size

    @property
    @upwards
    def function_by_form(self) -> bool | None:
        """True if both sides are functions."""
        return _both(function_by_form, self.sides)

    @property
    @upwards
    def partial_by_form(self) -> bool | None:
        """True if both sides are partial functions."""
        return _both(partial_by_form, self.sides)


@final
@frozen(repr=False, eq=False)
class Composite(Compound[I, J]):
    """S ∘ R where no (x, z) has more than one y between them, so that red_{S∘R} = red_S • red_R. Made by `S @ R`."""

    outer: Relation[Any, J] = field(validator=_relation)
    inner: Relation[I, Any] = field(validator=_relation)
    sign = "∘"

    @property
    @upwards
    def dom(self) -> I:
        """The domain of R."""
        return self.inner.dom

    @property
    @upwards
    def cod(self) -> J:
        """The codomain of S."""
        return self.outer.cod

    @property
    @upwards
    def T(self) -> Composite[J, I]:
        """Rᵀ ∘ Sᵀ."""
        return Composite(self.inner.T, self.outer.T)

    def joined(self, held: Sequence[Held]) -> Held:
        """The pairs with a y between them."""
        *outer, first = held
        *parts, _ = self.run
        for part, pairs in zip(reversed(parts), reversed(outer), strict=True):
            first = _linked(first, pairs, part.dom.size)
        return first

    @property
    @upwards
    def function_by_form(self) -> bool | None:
        """True if both sides are functions; None where pairs must be counted."""
        return _both(function_by_form, self.sides) or None

    @property
    @upwards
    def partial_by_form(self) -> bool | None:
        """True if both sides are partial functions; None where pairs must be counted."""
        return _both(partial_by_form, self.sides) or None

    @property
    def through(self) -> str:
        """Y, where Y is not Z."""
        return "" if self.inner.cod == self.cod else f" through {self.inner.cod}"


def _held(relation: AnyRelation) -> Held:
    return relation.holds()


def paths(outer: AnyRelation, inner: AnyRelation) -> Held:
    """The ends (x, z) of every path x R y S z."""
    return _linked(inner.holds(), outer.holds(), outer.dom.size)


def _linked(inner: Held, outer: Held, middle: int) -> Held:
    """The ends of every path along a pair of one relation and then a pair of the other, through so many elements."""
    (x, y), (y2, z) = inner, outer
    order = np.argsort(y2, kind="stable")
    z = z[order]
    counts = np.bincount(y2, minlength=middle)
    starts = np.concatenate([[0], np.cumsum(counts)])
    per = counts[y]
    step = np.arange(int(per.sum())) - np.repeat(np.cumsum(per) - per, per)
    return x.repeat(per), z[starts[y].repeat(per) + step]


CompoundForm: TypeAlias = ProductRelation[Any, Any, Any, Any] | SumRelation[Any, Any, Any, Any] | Composite[Any, Any]

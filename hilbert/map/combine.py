"""Projections, compositions, sums, multiples, forks, products and copowers: their spaces, and when they are defined.

The two languages have a node of their own for each of them; here is all that does not depend on the language.
"""

from __future__ import annotations

from functools import partial, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hilbert.base.once import once
from hilbert.base.term import merged
from hilbert.errors import SpaceError, shown
from hilbert.map.map import AnyMap, Map, exponent
from hilbert.map.table_forms import with_tables
from hilbert.space.direct_sum import DirectSum
from hilbert.space.nested_sums import apart
from hilbert.space.space import Copower, Type, bracketing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.base.term import Chain
    from hilbert.index.index import Index

M = TypeVar("M", bound=AnyMap)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def joint(inner: AnyMap, outer: AnyMap) -> None:
    """Raise SpaceError unless outer ∘ inner is defined."""
    if inner.cod is not outer.dom and inner.cod != outer.dom:
        swap = "; swap them?" if outer.cod == inner.dom else bracketing(inner.cod, outer.dom)
        msg = (
            f"cannot compose g ∘ f: f : {inner.dom} → {inner.cod} but g : {outer.dom} → {outer.cod}, "
            f"and {inner.cod} is not {outer.dom}{swap}"
        )
        raise SpaceError(apart(inner.cod, outer.dom) + msg)


def same_type(f: AnyMap, g: AnyMap) -> None:
    """Raise SpaceError unless f + g is defined."""
    if (f.dom is not g.dom and f.dom != g.dom) or (f.cod is not g.cod and f.cod != g.cod):
        msg = f"cannot add f : {f.dom} → {f.cod} and g : {g.dom} → {g.cod}: both must have the same spaces"
        hint = bracketing(g.dom, f.dom) or bracketing(g.cod, f.cod)
        raise SpaceError((apart(f.dom, g.dom) or apart(f.cod, g.cod)) + msg + hint)


def composed(kind: type[M], parts: Sequence[AnyMap]) -> M:
    """fₙ ∘ … ∘ f₁ as a node of one kind."""
    for inner, outer in pairwise(parts):
        joint(inner, outer)
    whole: Any = reduce(partial(merged, kind), parts)
    return cast("M", whole)


def added(kind: type[M], parts: Sequence[AnyMap]) -> M:
    """f + g as a node of one kind."""
    f, g = parts
    same_type(f, g)
    return merged(kind, f, g)


class Selection(Map[V, W]):
    """A map that may be a projection: π_i : ⊕ V_x → V_i, where `part` is i."""

    __slots__ = ()

    @property
    def part(self) -> int | None:
        """i, counted from 0; None for a map that is no projection."""
        raise TypeError(type(self).__name__)


class Composition(AnyMap):
    """fₙ ∘ … ∘ f₁; `parts` are in the order of application, f₁ first."""

    __slots__ = ()
    parts: Chain[Any]

    def __attrs_post_init__(self) -> None:
        for inner, outer in pairwise(self.parts):
            joint(inner, outer)

    @property
    @once
    def dom(self) -> Any:
        """The domain of f₁."""
        return self.parts[0].dom

    @property
    @once
    def cod(self) -> Any:
        """The codomain of fₙ."""
        return self.parts[-1].cod


class Addition(AnyMap):
    """f₁ + … + fₙ."""

    __slots__ = ()
    parts: Chain[Any]

    def __attrs_post_init__(self) -> None:
        first = self.parts[0]
        for part in self.parts:
            same_type(first, part)

    @property
    @once
    def dom(self) -> Any:
        """The common domain."""
        return self.parts[0].dom

    @property
    @once
    def cod(self) -> Any:
        """The common codomain."""
        return self.parts[0].cod


def _require_map(node: AnyMap, of: Any) -> None:
    """Raise SpaceError unless the part of a node is a map, of the node's language or a lower one."""
    if not isinstance(of, Map) or of.language > node.language:
        due = "a linear map is made of linear maps" if node.language == 0 else "a function is made of maps"
        msg = f"{due}, not of {shown(of)}"
        raise SpaceError(msg)


class Multiple(AnyMap):
    """k·f for a number k."""

    __slots__ = ()
    k: float
    of: Any  # a map of the language

    def __attrs_post_init__(self) -> None:
        _require_map(self, self.of)
        self.settle()

    @property
    @once
    def dom(self) -> Any:
        """The domain of f."""
        return self.of.dom

    @property
    @once
    def cod(self) -> Any:
        """The codomain of f."""
        return self.of.cod


class Pairing(AnyMap):
    """⟨f₁, …, fₙ⟩ : U → ⊕ V_y."""

    __slots__ = ()
    parts: Sequence[AnyMap]

    def __attrs_post_init__(self) -> None:
        dom = self.dom
        for part in self.parts:
            if part.dom is not dom and part.dom != dom:
                msg = f"⟨f, g⟩ needs one domain, not {dom} and {part.dom}"
                raise SpaceError(msg)
        self.settle()

    @property
    @once
    def dom(self) -> Any:
        """The common domain."""
        return self.parts[0].dom

    @property
    @once
    def cod(self) -> Any:
        """The direct sum of the codomains."""
        return DirectSum(tuple(part.cod for part in self.parts))


class SideBySide(AnyMap):
    """f₁ × … × fₙ = Π_x f_x : ⊕ V_x → ⊕ W_x."""

    __slots__ = ()
    parts: Sequence[AnyMap]

    def __attrs_post_init__(self) -> None:
        self.settle()

    @property
    @once
    def dom(self) -> Any:
        """The direct sum of the domains."""
        return DirectSum(tuple(part.dom for part in self.parts))

    @property
    @once
    def cod(self) -> Any:
        """The direct sum of the codomains."""
        return DirectSum(tuple(part.cod for part in self.parts))


class ElementByElement(AnyMap):
    """f^X : V^X → W^X."""

    __slots__ = ()
    of: Any  # a map of the language
    index: Index

    def __attrs_post_init__(self) -> None:
        _require_map(self, self.of)
        exponent(self.index)
        self.settle()

    @property
    @once
    def dom(self) -> Any:
        """V^X."""
        return Copower(self.of.dom, self.index)

    @property
    @once
    def cod(self) -> Any:
        """W^X."""
        return Copower(self.of.cod, self.index)

    def __call__(self, *args: Any, **names: Any) -> Any:
        """f^X(x); a table ℝ^{X×Y} or ℝ^X ⊗ ℝ^Y is taken for (ℝ^Y)^X, and given for it."""
        return super().__call__(*args, **names) if names else with_tables(self, self.index, args, (0,))

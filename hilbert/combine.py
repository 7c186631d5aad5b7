"""Compositions, sums, multiples, forks, products and copowers of maps: what they map, and when they are defined.

The two languages have each of them as a node of their own; here is what does not depend on the language.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hilbert.errors import SpaceError
from hilbert.map import Map
from hilbert.space import Copower, DirectSum, bracketing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.index import Index
    from hilbert.term import Chain


def joint(inner: Map[Any, Any], outer: Map[Any, Any]) -> None:
    """Raise SpaceError unless outer ∘ inner is defined."""
    if inner.cod is not outer.dom and inner.cod != outer.dom:
        swap = "; swap them?" if outer.cod == inner.dom else bracketing(inner.cod, outer.dom)
        msg = (
            f"cannot compose g ∘ f: f : {inner.dom} → {inner.cod} but g : {outer.dom} → {outer.cod}, "
            f"and {inner.cod} is not {outer.dom}{swap}"
        )
        raise SpaceError(msg)


def same_type(f: Map[Any, Any], g: Map[Any, Any]) -> None:
    """Raise SpaceError unless f + g is defined."""
    if f.dom != g.dom or f.cod != g.cod:
        msg = f"cannot add f : {f.dom} → {f.cod} and g : {g.dom} → {g.cod}: both must have the same spaces"
        raise SpaceError(msg)


class Composition(Map[Any, Any]):
    """fₙ ∘ … ∘ f₁; `parts` are in the order of application, f₁ first."""

    __slots__ = ()
    parts: Chain[Any]

    def __attrs_post_init__(self) -> None:
        for inner, outer in pairwise(self.parts):
            joint(inner, outer)

    @property
    def dom(self) -> Any:
        """The domain of f₁."""
        return self.kept("dom", lambda: self.parts[0].dom)

    @property
    def cod(self) -> Any:
        """The codomain of fₙ."""
        return self.kept("cod", lambda: self.parts[-1].cod)


class Addition(Map[Any, Any]):
    """f₁ + … + fₙ."""

    __slots__ = ()
    parts: Chain[Any]

    def __attrs_post_init__(self) -> None:
        first = self.parts[0]
        for part in self.parts:
            same_type(first, part)

    @property
    def dom(self) -> Any:
        """The common domain."""
        return self.kept("dom", lambda: self.parts[0].dom)

    @property
    def cod(self) -> Any:
        """The common codomain."""
        return self.kept("cod", lambda: self.parts[0].cod)


class Multiple(Map[Any, Any]):
    """k·f for a number k."""

    __slots__ = ()
    of: Any  # a map of the language

    def __attrs_post_init__(self) -> None:
        self.settle()

    @property
    def dom(self) -> Any:
        """That of f."""
        return self.kept("dom", lambda: self.of.dom)

    @property
    def cod(self) -> Any:
        """That of f."""
        return self.kept("cod", lambda: self.of.cod)


class Pairing(Map[Any, Any]):
    """⟨f₁, …, fₙ⟩ : U → ⊕ V_y."""

    __slots__ = ()
    parts: Sequence[Map[Any, Any]]

    def __attrs_post_init__(self) -> None:
        for part in self.parts:
            if part.dom != self.dom:
                msg = f"⟨f, g⟩ needs one domain, not {self.dom} and {part.dom}"
                raise SpaceError(msg)

    @property
    def dom(self) -> Any:
        """The common domain."""
        return self.kept("dom", lambda: self.parts[0].dom)

    @property
    def cod(self) -> Any:
        """The direct sum of the codomains."""
        return self.kept("cod", lambda: DirectSum(tuple(part.cod for part in self.parts)))


class SideBySide(Map[Any, Any]):
    """f₁ × … × fₙ = Π_x f_x : ⊕ V_x → ⊕ W_x."""

    __slots__ = ()
    parts: Sequence[Map[Any, Any]]

    @property
    def dom(self) -> Any:
        """The direct sum of the domains."""
        return self.kept("dom", lambda: DirectSum(tuple(part.dom for part in self.parts)))

    @property
    def cod(self) -> Any:
        """The direct sum of the codomains."""
        return self.kept("cod", lambda: DirectSum(tuple(part.cod for part in self.parts)))


class ElementByElement(Map[Any, Any]):
    """f^X : V^X → W^X."""

    __slots__ = ()
    of: Any  # a map of the language
    index: Index

    @property
    def dom(self) -> Any:
        """V^X."""
        return self.kept("dom", lambda: Copower(self.of.dom, self.index))

    @property
    def cod(self) -> Any:
        """W^X."""
        return self.kept("cod", lambda: Copower(self.of.cod, self.index))

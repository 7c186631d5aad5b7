"""The language of analytic functions (paper §3): terms that users compose, each checked against its spaces.

Linear maps are functions too: a term of this language may have linear maps as parts. `diff.terms.lower` gives terms
meaning as programs; `diff.show` prints them in the paper's notation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, final

from attrs import field, frozen

from diff.terms.elementwise import AnyElementwise
from diff.terms.function import AnyFun
from diff.terms.program import AnyProgram
from hilbert import Copower, DirectSum, Map, Space, SpaceError, Type, Vec
from hilbert.base.once import once
from hilbert.base.term import Chain, as_chain, as_tuple
from hilbert.errors import shown
from hilbert.index.index import Index, require_index
from hilbert.map.combine import (
    Addition,
    Composition,
    ElementByElement,
    Multiple,
    Pairing,
    SideBySide,
    added,
    composed,
)
from hilbert.map.map import AnyMap, factor
from hilbert.map.table_forms import with_tables
from hilbert.space.parts import part_span
from hilbert.space.snapshot import snapshot
from hilbert.space.space import require_space, require_type
from hilbert.space.vector import require_vector
from linmap.contraction import AnyContraction, require_contraction

if TYPE_CHECKING:
    from collections.abc import Sequence


S = TypeVar("S", bound=Space)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def _maps(_: Any, __: Any, parts: Any) -> None:
    if not len(parts):
        msg = "nothing to combine: give at least one map"
        raise SpaceError(msg)
    for part in parts:
        if not isinstance(part, Map):
            msg = f"a function is made of maps, not of {shown(part)}"
            raise SpaceError(msg)


@final
@frozen(eq=False, repr=False)
class Constant(AnyFun):
    """K_w : V → W, v ↦ w (§3.4)."""

    dom: Any
    value: Vec[Any] = field(converter=snapshot)

    def __attrs_post_init__(self) -> None:
        require_type(self.dom, "a constant map")
        require_vector(self.value, "a constant map")

    @property
    def cod(self) -> Any:
        """The space of w."""
        return self.value.space


@final
@frozen(eq=False, repr=False)
class Bilinear(AnyFun):
    """⋄ : U ⊕ V → W, a bilinear map given by labelled contractions (§3.1)."""

    contraction: AnyContraction

    def __attrs_post_init__(self) -> None:
        require_contraction(self.contraction, "a bilinear function")

    @property
    @once
    def dom(self) -> Any:
        """U ⊕ V."""
        return DirectSum((self.contraction.left, self.contraction.right))

    @property
    def cod(self) -> Any:
        """W."""
        return self.contraction.cod


@final
@frozen(eq=False, repr=False)
class Compose(Composition, AnyFun):
    """fₙ ∘ … ∘ f₁; `parts` are in the order of application, f₁ first."""

    parts: Chain[AnyMap] = field(converter=as_chain, validator=_maps)


@final
@frozen(eq=False, repr=False)
class Sum(Addition, AnyFun):
    """f₁ + … + fₙ, that is (+) ∘ ⟨f₁, …, fₙ⟩."""

    parts: Chain[AnyMap] = field(converter=as_chain, validator=_maps)

    def __attrs_post_init__(self) -> None:
        Addition.__attrs_post_init__(self)
        require_space(self.cod, "f + g")


@final
@frozen(eq=False, repr=False)
class Scaled(Multiple, AnyFun):
    """k·f, that is (k·) ∘ f."""

    k: float = field(converter=factor)
    of: AnyMap

    def __attrs_post_init__(self) -> None:
        Multiple.__attrs_post_init__(self)
        require_space(self.cod, "k·f")


@final
@frozen(eq=False, repr=False)
class Fork(Pairing, AnyFun):
    """⟨f₁, …, fₙ⟩ : U → ⊕ V_y."""

    parts: tuple[AnyMap, ...] = field(converter=as_tuple, validator=_maps)


@final
@frozen(eq=False, repr=False)
class Parallel(SideBySide, AnyFun):
    """f₁ × … × fₙ = Π_x f_x : ⊕ V_x → ⊕ W_x."""

    parts: tuple[AnyMap, ...] = field(converter=as_tuple, validator=_maps)


@final
@frozen(eq=False, repr=False)
class Power(ElementByElement, AnyFun):
    """f^X : V^X → W^X, element by element."""

    of: AnyMap
    index: Index


@final
@frozen(eq=False, repr=False)
class Lift(AnyFun):
    """f with the arguments at positions `over` varying over X, the others shared: A ⊕ B^X → W^X."""

    of: AnyMap
    index: Index
    over: tuple[int, ...]

    def __attrs_post_init__(self) -> None:
        _maps(None, None, (self.of,))
        require_index(self.index, "a lifted function")
        for k in as_tuple(self.over):
            part_span(self.of.dom, k)

    @property
    def dom(self) -> Any:
        """⊕ of A_i^X for the positions in `over`, of A_i for the others."""
        parts = self.of.dom.parts
        return DirectSum(tuple(Copower(p, self.index) if k in self.over else p for k, p in enumerate(parts)))

    @property
    def cod(self) -> Any:
        """W^X."""
        return Copower(self.of.cod, self.index)

    def __call__(self, *args: Any) -> Any:
        """f at arguments; a table ℝ^{X×Y} or ℝ^X ⊗ ℝ^Y is taken for (ℝ^Y)^X, and given for it."""
        return with_tables(self, self.index, args, self.over)


Node: TypeAlias = (
    Constant | Bilinear | Compose | Sum | Scaled | Fork | Parallel | Power | Lift | AnyElementwise | AnyProgram
)


# --- what combinations of functions are ---


def composition(_: AnyFun, parts: Sequence[AnyMap]) -> AnyFun:
    """fₙ ∘ … ∘ f₁."""
    return composed(Compose, parts)


def sum_of(_: AnyFun, parts: Sequence[AnyMap]) -> AnyFun:
    """f + g."""
    return added(Sum, parts)


def multiple(f: AnyFun, k: float) -> AnyFun:
    """k·f."""
    return Scaled(k, f)


def copower(f: AnyFun, index: Index) -> AnyFun:
    """f^X."""
    return Power(f, index)


def fork_of(_: AnyFun, parts: Sequence[AnyMap]) -> AnyFun:
    """⟨f₁, …, fₙ⟩."""
    return Fork(parts)


def parallel_of(_: AnyFun, parts: Sequence[AnyMap]) -> AnyFun:
    """f₁ ⊕ … ⊕ fₙ."""
    return Parallel(parts)

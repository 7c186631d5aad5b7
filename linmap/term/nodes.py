"""The language of linear maps (paper §3.2–3.3): terms that users compose, each checked against its spaces.

Every construct has its adjoint construct in the same language (`adjoint.reverse.rules`); `linmap.net.lower` gives them
meaning as nets of array operations, `linmap.printing.show` prints them in the paper's notation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, final

from attrs import field, frozen

from hilbert import DirectSum, SpaceError, Type, Vec
from hilbert.base.once import once
from hilbert.base.term import Chain, as_chain, as_tuple
from hilbert.errors import shown
from hilbert.index.index import Index
from hilbert.map.combine import (
    Addition,
    Composition,
    ElementByElement,
    Multiple,
    Pairing,
    Selection,
    SideBySide,
    added,
    composed,
)
from hilbert.map.map import AnyMap, factor
from hilbert.program.line.external import External, MapRule
from hilbert.relation.relation import AnyRelation, require_relation
from hilbert.space.parts import part_span
from hilbert.space.snapshot import snapshot
from hilbert.space.space import power, require_space
from hilbert.space.vector import require_vector
from linmap.contraction import AnyContraction, require_contraction
from linmap.term.linear_map import AnyLinMap, LinMap
from linmap.term.net import Closed, Net

if TYPE_CHECKING:
    from collections.abc import Sequence

I = TypeVar("I", bound=Index)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def _linear(_: Any, __: Any, parts: Any) -> None:
    if not len(parts):
        msg = "nothing to combine: give at least one linear map"
        raise SpaceError(msg)
    for part in parts:
        if not isinstance(part, LinMap):
            msg = f"a linear map is made of linear maps, not of {shown(part)}"
            raise SpaceError(msg)


def _vector_space(_: Any, __: Any, space: Any) -> None:
    require_space(space, "a linear map")


def _map_rule(_: Any, __: Any, rule: Any) -> None:
    if not isinstance(rule, MapRule):
        msg = f"a linear map of your own is made by linear_map(name, V, W, forward, adjoint), not of {shown(rule)}"
        raise SpaceError(msg)


def _one_array(_: Any, __: Any, space: Any) -> None:
    require_space(space, "a linear map")
    if len(space.leaves) != 1:
        msg = f"a linear map of your own is between spaces of one array each, and {space} has {len(space.leaves)}"
        raise SpaceError(msg)


def _part(node: Any, _: Any, position: Any) -> None:
    part_span(node.space, position)


def _relation(_: Any, __: Any, relation: Any) -> None:
    require_relation(relation, "red_R")


@final
@frozen(eq=False, repr=False)
class Identity(AnyLinMap):
    """id : V ⊸ V."""

    space: Type = field(validator=_vector_space)

    @property
    def dom(self) -> Any:
        """V."""
        return self.space

    @property
    def cod(self) -> Any:
        """V."""
        return self.space


@final
@frozen(eq=False, repr=False)
class ZeroMap(AnyLinMap):
    """0 : V ⊸ W."""

    dom: Any = field(validator=_vector_space)
    cod: Any = field(validator=_vector_space)


@final
@frozen(eq=False, repr=False)
class Compose(Composition, AnyLinMap):
    """fₙ • … • f₁; `parts` are in the order of application, f₁ first."""

    parts: Chain[AnyLinMap] = field(converter=as_chain, validator=_linear)


@final
@frozen(eq=False, repr=False)
class Sum(Addition, AnyLinMap):
    """f₁ + … + fₙ."""

    parts: Chain[AnyLinMap] = field(converter=as_chain, validator=_linear)


@final
@frozen(eq=False, repr=False)
class Scaled(Multiple, AnyLinMap):
    """k·f for a number k."""

    k: float = field(converter=factor)
    of: AnyLinMap


@final
@frozen(eq=False, repr=False)
class Section(AnyLinMap):
    """A bilinear map with one operand fixed: side 0 is (u⋄), side 1 is (⋄v); the datum is the vector u or v."""

    contraction: AnyContraction
    side: int
    datum: Vec[Any] = field(converter=snapshot)

    def __attrs_post_init__(self) -> None:
        require_contraction(self.contraction, "a section")
        if type(self.side) is not int or self.side not in (0, 1):
            c = self.contraction
            msg = f"a section of {c.symbol} : {c.left} × {c.right} → {c.cod} fixes side 0 or 1, not {shown(self.side)}"
            raise SpaceError(msg)
        require_vector(self.datum, "a section")
        due = self.contraction.left if self.side == 0 else self.contraction.right
        if self.datum.space != due:
            c, have = self.contraction, self.datum.space
            msg = f"a section of {c.symbol} : {c.left} × {c.right} → {c.cod} fixes a vector of {due}, not of {have}"
            raise SpaceError(msg)
        require_space(self.dom, "a section")

    @property
    def dom(self) -> Any:
        """The other operand's space."""
        return self.contraction.right if self.side == 0 else self.contraction.left

    @property
    def cod(self) -> Any:
        """The bilinear map's codomain."""
        return self.contraction.cod


@final
@frozen(eq=False, repr=False)
class Project(Selection[Any, Any], AnyLinMap):
    """π_i : ⊕ V ⊸ V_i; `position` counts from 0 and prints from 1."""

    space: Any = field(validator=_vector_space)
    position: int = field(validator=_part)

    @property
    def dom(self) -> Any:
        """⊕ V."""
        return self.space

    @property
    def cod(self) -> Any:
        """V_i."""
        return self.space.parts[self.position]

    @property
    def part(self) -> int:
        """i."""
        return self.position


@final
@frozen(eq=False, repr=False)
class Inject(AnyLinMap):
    """ι_i : V_i ⊸ ⊕ V; `position` counts from 0 and prints from 1."""

    space: Any = field(validator=_vector_space)
    position: int = field(validator=_part)

    @property
    def dom(self) -> Any:
        """V_i."""
        return self.space.parts[self.position]

    @property
    def cod(self) -> Any:
        """⊕ V."""
        return self.space


@final
@frozen(eq=False, repr=False)
class Fork(Pairing, AnyLinMap):
    """⟨f₁, …, fₙ⟩ : U ⊸ ⊕ V_y."""

    parts: tuple[AnyLinMap, ...] = field(converter=as_tuple, validator=_linear)


@final
@frozen(eq=False, repr=False)
class Join(AnyLinMap):
    """[g₁, …, gₙ] : ⊕ V_x ⊸ W, the sum of the gᵢ • πᵢ."""

    parts: tuple[AnyLinMap, ...] = field(converter=as_tuple, validator=_linear)

    def __attrs_post_init__(self) -> None:
        cod = self.cod
        for part in self.parts:
            if part.cod is not cod and part.cod != cod:
                msg = f"[f, g] needs one codomain, not {cod} and {part.cod}"
                raise SpaceError(msg)
        self.settle()

    @property
    @once
    def dom(self) -> Any:
        """The direct sum of the domains."""
        return DirectSum(tuple(part.dom for part in self.parts))

    @property
    @once
    def cod(self) -> Any:
        """The common codomain."""
        return self.parts[0].cod


@final
@frozen(eq=False, repr=False)
class Parallel(SideBySide, AnyLinMap):
    """f₁ × … × fₙ = Π_x f_x : ⊕ V_x ⊸ ⊕ W_x; also Δ of a tuple of linear maps."""

    parts: tuple[AnyLinMap, ...] = field(converter=as_tuple, validator=_linear)


@final
@frozen(eq=False, repr=False)
class Reduce(AnyLinMap):
    """red_R : V^X ⊸ V^Y for R ⊆ X × Y (§2.2.3); V^𝟏 is V."""

    relation: AnyRelation = field(validator=_relation)
    base: Any = field(validator=_vector_space)

    @property
    @once
    def dom(self) -> Any:
        """V^X."""
        return power(self.base, self.relation.dom)

    @property
    @once
    def cod(self) -> Any:
        """V^Y."""
        return power(self.base, self.relation.cod)


def _is_permutation(order: Any, n: int) -> bool:
    """Tell if something is a tuple of the numbers 0, …, n − 1, in any order."""
    return isinstance(order, tuple) and all(type(k) is int for k in order) and sorted(order) == list(range(n))


@final
@frozen(eq=False)
class Unitary(AnyLinMap):
    """A unitary operator that re-brackets, swaps or transposes (§3.2).

    Leaf k of the result is leaf `source[k]` of the argument with its axes in order `order[k]`.
    """

    name: str
    dom: Any = field(validator=_vector_space)
    cod: Any = field(validator=_vector_space)
    source: tuple[int, ...]
    order: tuple[tuple[int, ...], ...]

    def __attrs_post_init__(self) -> None:
        leaves = self.dom.leaves
        fits = isinstance(self.name, str) and _is_permutation(self.source, len(leaves))
        fits = fits and isinstance(self.order, tuple) and len(self.order) == len(leaves)
        pairs = [(leaves[s], order) for s, order in zip(self.source, self.order, strict=True)] if fits else []
        fits = fits and all(_is_permutation(order, len(leaf.axes)) for leaf, order in pairs)
        if not fits or self.cod.leaves != tuple(leaf.moved(order) for leaf, order in pairs):
            msg = f"{self.name} does not map {self.dom} onto {self.cod}"
            raise SpaceError(msg)


@final
@frozen(eq=False, repr=False)
class Lifted(ElementByElement, AnyLinMap):
    """f^X : V^X ⊸ W^X, element by element."""

    of: AnyLinMap
    index: Index


@final
@frozen(eq=False)
class Cast(AnyLinMap):
    """The same numbers in another field: K^X ⊸ K'^X; its adjoint casts back."""

    dom: Any = field(validator=_vector_space)
    cod: Any = field(validator=_vector_space)

    def __attrs_post_init__(self) -> None:
        if [leaf.axes for leaf in self.dom.leaves] != [leaf.axes for leaf in self.cod.leaves]:
            msg = f"a cast keeps the axes: {self.dom} and {self.cod} differ in more than the field"
            raise SpaceError(msg)


@final
@frozen(eq=False, repr=False)
class Own(AnyLinMap):
    """A linear map V ⊸ W that a user's functions compute, or its adjoint if it goes `back`."""

    rule: MapRule = field(validator=_map_rule)
    dom: Any = field(validator=_one_array)
    cod: Any = field(validator=_one_array)
    back: bool = False

    @property
    def operation(self) -> External:
        """The operation on the one array."""
        return External(self.rule, self.dom.leaves[0], self.cod.leaves[0], self.back)


Node: TypeAlias = (
    Identity
    | ZeroMap
    | Compose
    | Sum
    | Scaled
    | Section
    | Project
    | Inject
    | Fork
    | Join
    | Parallel
    | Reduce
    | Unitary
    | Lifted
    | Cast
    | Own
    | Net
    | Closed
)


# --- combinations of linear maps ---


def composition(_: AnyLinMap, parts: Sequence[AnyMap]) -> AnyLinMap:
    """fₙ ∘ … ∘ f₁."""
    return composed(Compose, parts)


def sum_of(_: AnyLinMap, parts: Sequence[AnyMap]) -> AnyLinMap:
    """f + g."""
    return added(Sum, parts)


def multiple(f: AnyLinMap, k: float) -> AnyLinMap:
    """k·f."""
    return Scaled(k, f)


def copower(f: AnyLinMap, index: Index) -> AnyLinMap:
    """f^X."""
    return Lifted(f, index)


def fork_of(_: AnyLinMap, parts: Sequence[AnyMap]) -> AnyLinMap:
    """⟨f₁, …, fₙ⟩."""
    return Fork(parts)


def parallel_of(_: AnyLinMap, parts: Sequence[AnyMap]) -> AnyLinMap:
    """f₁ ⊕ … ⊕ fₙ."""
    return Parallel(parts)

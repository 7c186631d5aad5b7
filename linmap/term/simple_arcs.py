"""The arcs that hold no net: the identity, a linear operation of a line, a section of a contraction, ends of bundles.

Everything that depends on the kind of an arc stands in its class: its codomain, its lifting over more axes, its adjoint
(Theorem 6.5 on single arrays; Into(k)* = OutOf(k)), its datum, and the step that it is in a line. Arcs that hold a net
are in `linmap.term.net`; `linmap.term.wire` has all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, assert_never, final

from attrs import evolve, field, fields, frozen

from hilbert.errors import SpaceError
from hilbert.index.leaf import Bundle, Leaf
from hilbert.index.spec import Spec
from hilbert.program.line.bundle import part
from hilbert.program.line.external import External
from hilbert.program.line.operation import Cast, Move, Reduce, Scale, product
from linmap.term.datum import Datum

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.program.line.operation import Unary

__all__ = [
    "Cast",
    "ContractWith",
    "External",
    "Into",
    "Move",
    "OutOf",
    "Reduce",
    "Same",
    "Scale",
    "Simple",
    "step",
]


class ArcOfNets:
    """The text of an arc that is no operation of a line: its class in `linmap.term.wire`, with the fields."""

    __slots__ = ()

    def __repr__(self) -> str:
        cls: Any = type(self)
        return f"wire.{cls.__name__}({', '.join(repr(getattr(self, f.name)) for f in fields(cls) if f.repr)})"


@final
@frozen(repr=False)
class Same(ArcOfNets):
    """The identity."""

    def image(self, leaf: Leaf) -> Leaf:
        """The same."""
        return leaf

    def lifted(self, n: int) -> Same:
        """id^X = id."""
        return self

    def adjoint(self, source: Leaf) -> Same:
        """id* = id."""
        return self


@final
@frozen(repr=False, cache_hash=True)
class ContractWith(ArcOfNets):
    """A labelled contraction with one operand fixed: side 0 is (u⋄), side 1 is (⋄v).

    `free` says of a mask, and of its adjoint, that lanes which it leaves out are dropped later anyway: a branch is
    entered through it, and each lane leaves by itself. No support is kept of such a mask (`linmap.net.support`).
    """

    spec: Spec
    side: int
    datum: Datum
    free: tuple[bool, bool] = field(default=(False, False), eq=False, repr=False)

    def image(self, leaf: Leaf) -> Leaf:
        """The contraction's; raises SpaceError where an axis does not fit its label."""
        return product(self.spec, *((self.datum.leaf, leaf) if self.side == 0 else (leaf, self.datum.leaf)))

    def lifted(self, n: int, *, datum_too: bool = False) -> ContractWith:
        """(u⋄)^X: the datum is shared by all of X unless it is lifted too (then Δ of a family)."""
        up = [True, True]
        up[self.side] = datum_too
        return evolve(self, spec=self.spec.lifted(n, left=up[0], right=up[1]))

    def adjoint(self, source: Leaf) -> ContractWith:
        """(u⋄)*, (⋄v)*: the labels are permuted."""
        return ContractWith(self.spec.section_adjoint(self.side), self.side, self.datum, (self.free[1], self.free[0]))


Simple: TypeAlias = Same | ContractWith | Scale | Reduce | Move | Cast | External
"""An arc from one array to one array."""


@final
@frozen(repr=False)
class Into(ArcOfNets):
    """Into array k of a bundle whose other arrays are 0; all may have more axes in front."""

    k: int
    bundle: Bundle

    def image(self, leaf: Leaf) -> Bundle:
        """The bundle."""
        own = part(self.bundle, self.k, "Into")
        lead = leaf.axes[: len(leaf.axes) - len(own.axes)]
        if own.under(lead) != leaf:
            msg = f"array {self.k} of the bundle {self.bundle} is no {leaf}"
            raise SpaceError(msg)
        return self.bundle.under(lead)

    def lifted(self, n: int) -> Into:
        """The same."""
        return self

    def adjoint(self, source: Leaf) -> OutOf:
        """ι* = π."""
        return OutOf(self.k)


@final
@frozen(repr=False)
class OutOf(ArcOfNets):
    """Array k of a bundle."""

    k: int

    def image(self, leaf: Leaf) -> Leaf:
        """The leaf of array k."""
        return part(leaf, self.k, "OutOf")

    def lifted(self, n: int) -> OutOf:
        """The same."""
        return self

    def adjoint(self, source: Leaf) -> Into:
        """π* = ι."""
        assert isinstance(source, Bundle)
        return Into(self.k, source)


# --- in a line ---


class StepMaker(Protocol):
    """A line under construction."""

    def contract(self, spec: Spec, left: int, right: int) -> int:
        """A labelled contraction."""
        ...

    def apply(self, f: Unary, slot: int) -> int:
        """A linear step."""
        ...


def step(b: StepMaker, f: Simple, x: int, at: Callable[[Datum], int]) -> int:
    """The slot of an arc applied to slot x: a section is the bilinear step itself, on the slot where its datum is."""
    match f:
        case Same():
            return x
        case ContractWith(spec, 0, datum):
            return b.contract(spec, at(datum), x)
        case ContractWith(spec, _, datum):
            return b.contract(spec, x, at(datum))
        case Scale() | Reduce() | Move() | Cast() | External():
            return b.apply(f, x)
        case _:
            assert_never(f)

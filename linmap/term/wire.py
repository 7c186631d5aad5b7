"""What an arc of a net does to one array: a linear operation of a line, the identity, or a section of a contraction.

Everything that depends on the kind of an arc stands in its class: its codomain, its lifting over more axes, its adjoint
(Theorem 6.5 on single arrays), its datum, and the step that it is in a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, final

from attrs import evolve, field, fields, frozen

from hilbert.index.spec import Spec
from hilbert.program.line.external import External
from hilbert.program.line.operation import Cast, Move, Reduce, Scale, product
from linmap.term.bundle_arcs import Into, OutOf, Recur
from linmap.term.datum import Datum, Ref
from linmap.term.inverse import Inverse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hilbert.index.leaf import Leaf
    from hilbert.program.line.operation import Unary

__all__ = [
    "Cast",
    "ContractWith",
    "External",
    "Into",
    "Inverse",
    "Move",
    "OutOf",
    "Recur",
    "Reduce",
    "Same",
    "Scale",
    "Wire",
    "at_slots",
    "closed",
    "datum_of",
    "image",
    "lifted",
    "on_data",
    "step",
]


class StepMaker(Protocol):
    """Where the steps of a line are made."""

    def contract(self, spec: Spec, left: int, right: int) -> int:
        """A labelled contraction."""
        ...

    def apply(self, f: Unary, slot: int) -> int:
        """A linear step."""
        ...


class _Arc:
    __slots__ = ()

    def __repr__(self) -> str:
        cls: Any = type(self)
        return f"wire.{cls.__name__}({', '.join(repr(getattr(self, f.name)) for f in fields(cls) if f.repr)})"


@final
@frozen(repr=False)
class Same(_Arc):
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
class ContractWith(_Arc):
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
"""What takes one array to one array."""
Wire: TypeAlias = Simple | Into | OutOf | Recur | Inverse


def image(f: Wire, leaf: Leaf) -> Leaf:
    """The codomain of an arc on a leaf; raises SpaceError where the leaf is not in its domain."""
    return f.image(leaf)


def lifted(f: Wire, n: int, *, datum_too: bool = False) -> Wire:
    """f^X for n axes X in front; the data are shared by all of X unless they are lifted too (then Δ of a family)."""
    return f.lifted(n, datum_too=datum_too) if isinstance(f, ContractWith) else f.lifted(n)


def datum_of(f: Wire) -> Datum | None:
    """The datum of an arc, if it has one."""
    return getattr(f, "datum", None)


def on_data(f: Wire, change: Callable[[Datum], Datum]) -> Wire:
    """The arc with its datum changed; the same object if it has none, or if nothing changed."""
    before = datum_of(f)
    after = None if before is None else change(before)
    if after is before:
        return f
    if isinstance(f, ContractWith):  # most often
        return ContractWith(f.spec, f.side, cast("Datum", after), f.free)
    changed: Any = f
    return cast("Wire", evolve(changed, datum=after))


def at_slots(f: Wire, place: Mapping[int, int]) -> Wire:
    """The arc with its reference at another slot."""
    return on_data(f, lambda d: Ref(place[d.slot], d.leaf, d.known) if isinstance(d, Ref) else d)


def closed(f: Wire, data: Mapping[int, Datum]) -> Wire:
    """The arc with its reference replaced by what it refers to."""
    return on_data(f, lambda datum: data.get(datum.slot, datum) if isinstance(datum, Ref) else datum)


def step(b: StepMaker, f: Simple, x: int, at: Callable[[Datum], int]) -> int:
    """The slot of an arc applied to slot x: a section is the bilinear step itself, on the slot where its datum is."""
    match f:
        case Same():
            return x
        case ContractWith(spec, 0, datum):
            return b.contract(spec, at(datum), x)
        case ContractWith(spec, _, datum):
            return b.contract(spec, x, at(datum))
        case linear:  # the linear operations of lines, as its type says
            return b.apply(linear, x)

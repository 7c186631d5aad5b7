"""Arcs of bundles: into one, out of one, and the linear loop, which holds a net for one round.

    Into(k)* = OutOf(k)        Recur(body, X)* = Recur(body*, X backwards), what is fed to all rounds and what is summed
                                                 over them exchanged

The meaning of `Recur` stands in `linmap.net.apply_recur`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import evolve, fields, frozen

from hilbert.base.attach import declared
from hilbert.base.once import OfFields, cached_property
from hilbert.errors import SpaceError
from hilbert.index.index import Index
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.line.bundle import part
from hilbert.program.line.line import Line
from linmap.term.datum import Datum

if TYPE_CHECKING:
    from linmap.term.net import Net


class _Arc:
    __slots__ = ()

    def __repr__(self) -> str:
        cls: Any = type(self)
        return f"wire.{cls.__name__}({', '.join(repr(getattr(self, f.name)) for f in fields(cls))})"


@final
@frozen(repr=False)
class Into(_Arc):
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
class OutOf(_Arc):
    """Array k of a bundle."""

    k: int

    def image(self, leaf: Leaf) -> Leaf:
        """Its leaf."""
        return part(leaf, self.k, "OutOf")

    def lifted(self, n: int) -> OutOf:
        """The same."""
        return self

    def adjoint(self, source: Leaf) -> Into:
        """π* = ι."""
        assert isinstance(source, Bundle)
        return Into(self.k, source)


@final
@frozen(repr=False, slots=False)
class Recur(OfFields, _Arc):
    """The linear loop: (states, what all rounds are fed, stacks) ⊸ (last states, sums over the rounds, stacks).

    `body` is a round as a net: its inputs are `states`, `fed` ones and slices, its outputs `states`, `summed` ones and
    slices. `line` computes what its references number from the data of a round: `fixed` ones, and slices. The one datum
    is the bundle of all; the flow has `lead` more axes in front, which the data have not. `again` is that of loops.
    """

    body: Net
    line: Line
    index: Index
    states: int
    fed: int
    summed: int
    fixed: int
    reverse: bool
    lead: int
    datum: Datum
    again: bool = False

    def _ends(self, ends: tuple[int, ...], whole: int) -> Bundle:
        leaves = [self.body.wires[w] for w in ends]
        return Bundle((*leaves[:whole], *(leaf.under(self.index.axes) for leaf in leaves[whole:])))

    @cached_property
    def given(self) -> Bundle:
        """What flows in, without axes in front."""
        return self._ends(self.body.inputs, self.states + self.fed)

    @cached_property
    def made(self) -> Bundle:
        """What flows out."""
        return self._ends(self.body.outputs, self.states + self.summed)

    def image(self, leaf: Leaf) -> Bundle:
        """The last states, the sums and the stacks."""
        first = leaf.leaves[0].axes[: self.lead] if isinstance(leaf, Bundle) and leaf.leaves else ()
        if leaf != self.given.under(first):
            msg = f"a linear loop on {self.given} does not apply to {leaf}"
            raise SpaceError(msg)
        return self.made.under(first)

    def lifted(self, n: int) -> Recur:
        """(·)^X: the data are shared."""
        return evolve(self, lead=self.lead + n)

    @declared
    def adjoint(self, source: Leaf) -> Recur:
        """The round turned, the other way."""
        raise NotImplementedError

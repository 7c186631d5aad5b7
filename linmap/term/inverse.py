"""The arc that undoes a net: the derivative of what an equation defines.

    Inverse(body)* = Inverse(body*)

Applied, it is a linear system, `hilbert.program.control.equation_step.Solve`; see `linmap.net.apply_recur`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import evolve, field, fields, frozen

from hilbert.base.attach import declared
from hilbert.base.once import OfFields, cached_property
from hilbert.errors import SpaceError
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.line.line import Line
from linmap.term.datum import Datum

if TYPE_CHECKING:
    from linmap.term.net import Net


@final
@frozen(repr=False, slots=False)
class Inverse(OfFields):
    """body⁻¹: from the bundle of the body's outputs to that of its inputs.

    `line` computes what the body's references number from the arrays of the datum. The first `lanes` axes of the wires
    at the ends are those of lanes, each with an inverse of its own; the flow has `lead` more axes in front. What it is
    the derivative `of`, and the `place` where that was written, are for messages only.
    """

    body: Net
    line: Line
    lanes: int
    lead: int
    datum: Datum
    of: str = field(default="", eq=False)
    place: str = field(default="", eq=False)

    @cached_property
    def given(self) -> Bundle:
        """What flows in, without axes in front."""
        return Bundle(tuple(self.body.wires[w] for w in self.body.outputs))

    @cached_property
    def made(self) -> Bundle:
        """What flows out."""
        return Bundle(tuple(self.body.wires[w] for w in self.body.inputs))

    def image(self, leaf: Leaf) -> Bundle:
        """The body's inputs; raises SpaceError for another bundle than that of its outputs."""
        first = leaf.leaves[0].axes[: self.lead] if isinstance(leaf, Bundle) and leaf.leaves else ()
        if leaf != self.given.under(first):
            msg = f"the inverse of a map into {self.given} does not apply to {leaf}"
            raise SpaceError(msg)
        return self.made.under(first)

    def lifted(self, n: int) -> Inverse:
        """(f⁻¹)^X: the data are shared."""
        return evolve(self, lead=self.lead + n)

    @declared
    def adjoint(self, source: Leaf) -> Inverse:
        """(f⁻¹)* = (f*)⁻¹."""
        raise NotImplementedError

    def __repr__(self) -> str:
        cls: Any = type(self)
        return f"wire.{cls.__name__}({', '.join(repr(getattr(self, f.name)) for f in fields(cls) if f.eq)})"

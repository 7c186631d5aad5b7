"""Nets: linear maps with shared flow, as arcs that add into numbered wires; closed by the data of a point.

Two arcs hold a net: the linear loop, one for each round, and the inverse, the net that is undone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, final, get_args

from attrs import evolve, field, frozen

from hilbert import SpaceError, Type
from hilbert.base.attach import declared
from hilbert.base.once import OfFields, cached_property, known, once
from hilbert.errors import shown
from hilbert.index.index import Index
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.line.line import Line
from hilbert.space.space import require_space
from linmap.term.datum import Data, Datum, Ref, as_data
from linmap.term.linear_map import AnyLinMap
from linmap.term.simple_arcs import ArcOfNets, Into, OutOf, Simple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.arrays.systems.methods import By

I = TypeVar("I", bound=Index)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


@final
@frozen(repr=False, slots=False)
class Recur(OfFields, ArcOfNets):
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
        """The bundle that flows in, without axes in front."""
        return self._ends(self.body.inputs, self.states + self.fed)

    @cached_property
    def made(self) -> Bundle:
        """The bundle that flows out."""
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

    def adjoint(self, source: Leaf) -> Recur:
        """The round turned, the other way: what is fed to all rounds and what is summed over them change places."""
        return evolve(self, body=turned(self.body), fed=self.summed, summed=self.fed, reverse=not self.reverse)


@final
@frozen(repr=False, slots=False)
class Inverse(OfFields, ArcOfNets):
    """body⁻¹: from the bundle of the body's outputs to that of its inputs.

    `line` computes what the body's references number from the arrays of the datum. The first `lanes` axes of the wires
    at the ends are those of lanes, each with an inverse of its own; the flow has `lead` more axes in front. Systems are
    solved `by` a method, or by conjugate gradients, if so; a body that is proved to be symmetric and positive is
    `positive`. What it is the derivative `of`, and the `place` where that was written, are for messages only.
    """

    body: Net
    line: Line
    lanes: int
    lead: int
    datum: Datum
    by: By | None = None
    positive: bool = field(default=False, eq=False, repr=False)
    of: str = field(default="", eq=False, repr=False)
    place: str = field(default="", eq=False, repr=False)

    @cached_property
    def given(self) -> Bundle:
        """The bundle that flows in, without axes in front."""
        return Bundle(tuple(self.body.wires[w] for w in self.body.outputs))

    @cached_property
    def made(self) -> Bundle:
        """The bundle that flows out."""
        return Bundle(tuple(self.body.wires[w] for w in self.body.inputs))

    def image(self, leaf: Leaf) -> Bundle:
        """The body's inputs; raises SpaceError for another bundle than that of its outputs."""
        first = leaf.leaves[0].axes[: self.lead] if isinstance(leaf, Bundle) and leaf.leaves else ()
        if leaf != self.given.under(first):
            msg = f"the inverse of a map into {self.given} does not apply to {leaf}"
            raise SpaceError(msg)
        return self.made.under(first)

    @declared
    def diagonal(self, given: Sequence[Any]) -> Any:
        """The diagonal of the inverse for the arrays of its datum, flat; None where its structure has no short way."""
        raise NotImplementedError

    def lifted(self, n: int) -> Inverse:
        """(f⁻¹)^X: the data are shared."""
        return evolve(self, lead=self.lead + n)

    def adjoint(self, source: Leaf) -> Inverse:
        """(f⁻¹)* = (f*)⁻¹."""
        return evolve(self, body=turned(self.body))


Wire: TypeAlias = Simple | Into | OutOf | Recur | Inverse
"""The operation of an arc."""
ARCS = frozenset(get_args(Wire))
"""The classes of the operations of arcs."""


@final
@frozen
class Arc:
    """wires[dst] += map(wires[src])."""

    map: Wire
    src: int
    dst: int

    def __attrs_post_init__(self) -> None:
        if type(self.map) not in ARCS or type(self.src) is not int or type(self.dst) is not int:
            msg = f"an arc is a linear operation from wire to wire, not {shown(self.map)} from {shown(self.src)} to "
            raise SpaceError(f"{msg}{shown(self.dst)}")


def _tuple_of(kind: type) -> Callable[[Any, Any, Any], None]:
    """An attrs validator: a tuple of values of one class."""

    def fits(item: Any) -> bool:
        return isinstance(item, kind) and not isinstance(item, bool)

    def check(_: Any, attribute: Any, value: Any) -> None:
        right = isinstance(value, tuple) and ({kind}.issuperset(map(type, value)) or all(map(fits, value)))
        if not right:
            msg = f"the {attribute.name} of a net are a tuple of {kind.__name__}, not {shown(value)}"
            raise SpaceError(msg)

    return check


@final
@frozen(eq=False, repr=False)
class Net(AnyLinMap):
    """A linear map with shared flow: numbered wires of one leaf each, and arcs that add into them.

    The arcs are in topological order. The inputs are added into their wires, the outputs are read; a wire that nothing
    reaches is 0.
    """

    dom: Any
    cod: Any
    inputs: tuple[int, ...] = field(validator=_tuple_of(int))
    arcs: tuple[Arc, ...] = field(validator=_tuple_of(Arc))
    outputs: tuple[int, ...] = field(validator=_tuple_of(int))
    wires: tuple[Leaf, ...] = field(validator=_tuple_of(Leaf))

    def __attrs_post_init__(self) -> None:
        count = len(self.wires)
        for space, ends in ((self.dom, self.inputs), (self.cod, self.outputs)):
            require_space(space, "a net")
            have = tuple([self.wires[k] for k in ends if 0 <= k < count])
            if have != space.leaves or len(have) != len(ends):
                msg = f"a net on {space} has wires {', '.join(map(str, have)) or 'none'} at its end"
                raise SpaceError(msg)
        read = set[int]()
        for arc in self.arcs:
            read.add(arc.src)
            if not (0 <= arc.src < count and 0 <= arc.dst < count) or arc.dst in read:
                msg = f"an arc of a net goes from wire {arc.src} to {arc.dst} of {count}, after that has been read"
                raise SpaceError(msg)
            source, target = self.wires[arc.src], self.wires[arc.dst]
            image = arc.map.image(source)
            if image is not target and image != target:
                msg = f"an arc {arc.map} from {source} does not end in {target}"
                raise SpaceError(msg)

    def __repr__(self) -> str:
        return f"Net({self.dom!r}, {self.cod!r}, {self.inputs!r}, {self.arcs!r}, {self.outputs!r}, {self.wires!r})"


@final
@frozen(eq=False)
class Closed(AnyLinMap):
    """An open net together with the data its Refs point to: closing copies nothing."""

    is_flat = True
    body: Net
    data: Data = field(converter=as_data)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.body, Net):
            msg = f"a closed map is a net with its data, not {shown(self.body)}"
            raise SpaceError(msg)
        if not self.data.fit(refs(self.body)):
            msg = "the data of a closed map do not fit the body's references"
            raise SpaceError(msg)

    @property
    def dom(self) -> Any:
        """The domain of the body."""
        return self.body.dom

    @property
    def cod(self) -> Any:
        """The codomain of the body."""
        return self.body.cod


@once
def turned(f: Net) -> Net:
    """f*: the adjoint of every arc, the other way (Theorem 6.5 on single arrays).

    Inputs and outputs change places; wires keep their numbers, so that f** = f.
    """
    arcs = tuple(Arc(a.map.adjoint(f.wires[a.src]), a.dst, a.src) for a in reversed(f.arcs))
    adjoint = Net(f.cod, f.dom, f.outputs, arcs, f.inputs, f.wires)
    known(turned, adjoint, f)
    return adjoint


def datum_of(f: Wire) -> Datum | None:
    """The datum of an arc, if it has one."""
    return getattr(f, "datum", None)


@once
def refs(body: Net) -> tuple[Ref, ...]:
    """The references of an open net, each once, by slot."""
    slots: dict[int, Ref] = {}
    for arc in body.arcs:
        datum = datum_of(arc.map)
        if isinstance(datum, Ref):
            slots[datum.slot] = datum
    return tuple(slots[k] for k in sorted(slots))


@once
def elements(body: Net) -> tuple[Datum, ...]:
    """The data of a net that are elements of index sets: constants, and relations that are known at a point."""
    data = dict.fromkeys(d for arc in body.arcs if (d := datum_of(arc.map)) is not None)
    return tuple(d for d in data if d.leaf.entry.index is not None)

"""Nets: linear maps with shared flow, as arcs that add into numbered wires; closed by the data of a point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, final, get_args

from attrs import field, frozen

from hilbert import SpaceError, Type
from hilbert.base.once import once
from hilbert.errors import shown
from hilbert.index.index import Index
from hilbert.index.leaf import Leaf
from hilbert.space.space import require_space
from linmap.term.datum import Data, Ref, as_data
from linmap.term.linear_map import AnyLinMap
from linmap.term.wire import Wire, datum_of

if TYPE_CHECKING:
    from collections.abc import Callable

I = TypeVar("I", bound=Index)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
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
        """That of the body."""
        return self.body.dom

    @property
    def cod(self) -> Any:
        """That of the body."""
        return self.body.cod


@once
def refs(body: Net) -> tuple[Ref, ...]:
    """The references of an open net, each once, by slot."""
    slots: dict[int, Ref] = {}
    for arc in body.arcs:
        datum = datum_of(arc.map)
        if isinstance(datum, Ref):
            slots[datum.slot] = datum
    return tuple(slots[k] for k in sorted(slots))

"""Parts of spaces, vectors and expressions, by a position, by a label, or by a lens, which names a part of a record.

>>> from hilbert import Part, R, Record, Scalar
>>> class Layer(Record):
...     weight: Part[Scalar]
...     bias: Part[Scalar]
>>> class Net(Record):
...     encoder: Part[Layer]
>>> lens = Net.encoder / Layer.bias
>>> P = Net(encoder=Layer(weight=R, bias=R))
>>> lens, print(P.of(encoder=(1.0, 2.0))[lens])
2.0 ∈ ℝ
(Net.encoder / Layer.bias, None)
"""

from __future__ import annotations

import itertools
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, final, overload

from attrs import evolve, frozen

from hilbert.base.once import once
from hilbert.base.tag_classes import require_importable
from hilbert.displayed import Displayed
from hilbert.errors import SpaceError, integer, shown
from hilbert.index.index import Index, has_labels
from hilbert.space.space import Copower, Type, require_numbered

A = TypeVar("A", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
I = TypeVar("I", bound=Index)
V_co = TypeVar("V_co", bound=Type, covariant=True)
W_contra = TypeVar("W_contra", bound=Type, contravariant=True)
V_contra = TypeVar("V_contra", bound=Type, contravariant=True)
L_co = TypeVar("L_co", covariant=True)


@final
@frozen(repr=False, cache_hash=True)
class Lens(Displayed, Generic[W_contra, V_co]):
    """A part of type V in a record of class W: `Params.weights`. One of a base class is one of its subclasses, too."""

    path: tuple[tuple[type[Any], str], ...]
    """The class and the name of each part on the way."""

    @overload
    def __truediv__(self, inner: Lens[V_co, W]) -> Lens[W_contra, W]: ...
    @overload
    def __truediv__(self: Lens[A, Copower[V, I]], inner: Lens[V, W]) -> Lens[A, Copower[W, I]]: ...
    def __truediv__(self, inner: Any) -> Any:
        """A part of the part; of a part in V^X those of all components. Raises SpaceError for anything but a lens."""
        if not isinstance(inner, Lens):
            msg = f"{self} / … goes on to a part of {self}: a lens, such as Layer.bias, would fit, not {shown(inner)}"
            raise SpaceError(msg)
        return Lens(self.path + inner.path)

    @property
    def name(self) -> str:
        """The names on the way, with dots: encoder.bias."""
        return ".".join(name for _, name in self.path)

    def at(self, space: Any) -> tuple[Any, int, int]:
        """The space of the part in a record, or in a copower of records, and the bounds of its leaves among all.

        Raises SpaceError where there is no such part.
        """
        return _found(space, self)

    def __reduce__(self) -> tuple[Any, ...]:
        for owner, _ in self.path:
            require_importable(owner, f"the record {owner.__qualname__}")
        return Lens, (self.path,)

    def __str__(self) -> str:
        return " / ".join(f"{owner.__name__}.{name}" for owner, name in self.path)

    def __repr__(self) -> str:
        return " / ".join(f"{owner.__qualname__}.{name}" for owner, name in self.path)


AnyLens: TypeAlias = Lens[Any, Any]
"""A lens of any record."""
shown.register(Lens, lambda lens: f"the lens {lens}")


@once
def _found(space: Any, lens: AnyLens) -> tuple[Any, int, int]:
    start, here = 0, space
    powers: list[Any] = []
    for owner, name in lens.path:
        while hasattr(here, "base"):  # V^X has the leaves of V
            powers.append(here)
            here = here.base
        if not isinstance(here, owner):
            raise SpaceError(_misfit(space, lens, here, owner))
        k = here.names.index(name)
        start += here.offsets[k]
        here = here.parts[k]
    stop = start + len(here.leaves)
    for power in reversed(powers):
        here = evolve(power, base=here)
    return here, start, stop


def lens_for(space: Any, name: str) -> str:
    """`p[Params.weights]` for the name of a part of a record, or of P^X; empty for another name."""
    while hasattr(space, "base"):
        space = space.base
    return f"p[{space.lenses[name]}]" if name in (getattr(space, "names", None) or ()) else ""


def place(space: Any, lens: Any, given: Any) -> tuple[int, int]:
    """The bounds of a part's leaves among all; raises SpaceError if `given`, the new part's space, is another one."""
    if not isinstance(lens, Lens):
        msg = f"a part of {space} is named by a lens, such as Params.weights, not by {shown(lens)}"
        raise SpaceError(msg)
    part, start, stop = lens.at(space)
    if given != part:
        msg = f"{lens} is in {part}, not in {given}"
        raise SpaceError(msg)
    return start, stop


def _misfit(space: Any, lens: AnyLens, here: Any, owner: type) -> str:
    if getattr(here, "names", None) is None:
        msg = f"{lens} is a part of the record {owner.__name__}, not of {here if here.is_sum else space}"
        at = next((k for k, part in enumerate(here.parts) if here.is_sum and isinstance(part, owner)), None)
        if at is not None:
            msg += f": of its part {at}, as in x[{at}][{lens}]; the gradient in it is grad(f, {at})(x, y)[{lens}]"
        return msg
    if str(lens) in map(str, here.lenses.values()):
        record = owner.__name__
        return f"{lens} is of another class {record} than the record: it was defined again; make the record anew"
    parts = ", ".join(map(str, here.lenses.values()))
    return f"{lens} is no part of the record {type(here).__name__}, whose parts are {parts}"


class Owner(Protocol[V_contra, L_co]):
    """A maker of the lens of a part of type V: a class of records.

    In `owner: type[Rec]` and `Lens[Rec, V]` the type checker would take Rec from where the lens is used, and refuse
    `p[Base.part]` of a subclass; here the class alone says it.
    """

    def _lens(self, part: V_contra, /) -> L_co:
        """The lens."""
        ...


# --- by position or label ---


def span(space: Type, i: Any) -> tuple[int, int]:
    """The bounds of the leaves of part i of a direct sum; raises SpaceError if there is none, and for a record."""
    require_numbered(space)
    return part_span(space, i)


def part_place(space: Type, i: Any) -> int:
    """The position of a part, which is given by its position, or its label in the index set of a sum over one."""
    parts = space.parts
    at = integer(i)
    if at is None and space._index_set is not None and has_labels(space._index_set):
        at = space._index_set.position(i)
    if at is None or not 0 <= at < len(parts):
        due = f"give 0 to {len(parts) - 1}" if parts else "it has none"
        msg = f"{space} has {len(parts)} parts, so position {shown(i)} does not exist: {due}"
        raise SpaceError(msg)
    return at


def part_span(space: Type, i: Any) -> tuple[int, int]:
    """The bounds of the leaves of part i of a direct sum or a record; raises SpaceError if there is none."""
    place = part_place(space, i)
    return space.offsets[place], space.offsets[place + 1]


@once
def summand_slices(space: Any) -> tuple[tuple[Any, slice], ...]:
    """The summands of a direct sum, and of a copower of one, each with the slice of its leaves."""
    ends = itertools.accumulate((len(part.leaves) for part in space.summands), initial=0)
    return tuple((part, slice(*both)) for part, both in zip(space.summands, itertools.pairwise(ends), strict=True))

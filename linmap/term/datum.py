"""Data: the only places where numbers occur in a linear term; a vector's leaf, or a slot of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, final, overload

import numpy as np
from attrs import field, frozen

from hilbert.repr_names import spelled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hilbert import Vec
    from hilbert.space import Leaf


@final
@frozen(repr=False)
class Const:
    """A leaf of a vector. Two are equal if they come from the same vector, or repeat the same number."""

    array: Any = field(eq=False)
    leaf: Leaf
    key: tuple[Any, ...]

    @property
    def number(self) -> float | None:
        """The number that stands in every entry, if the constant was made of one."""
        return self.key[1] if self.key[0] == "filled" else None

    def __reduce__(self) -> tuple[Any, ...]:
        if self.number is not None:
            return filled, (self.number, self.leaf)
        return Const, (self.array, self.leaf, self.key)

    def __repr__(self) -> str:
        if self.number is not None:
            return f"filled({self.number!r}, {self.leaf!r})"
        *what, token, place = self.key
        name = ".".join([f"{token:032x}", *(f"{hash(part) & 0xFFFFFFFFFFFFFFFF:016x}" for part in what), str(place)])
        return spelled(self, name, f"{self.leaf.dtype}{list(self.leaf.shape)}")


@final
@frozen
class Ref:
    """A slot of the program that computes the point: a datum that is not known yet."""

    slot: int
    leaf: Leaf


Datum: TypeAlias = Const | Ref


@final
class Data(Sequence[Const]):
    """The data of a closed map. Those that are found at a point become constants only when they are asked for."""

    __slots__ = ("_consts", "_origin", "_refs", "arrays")
    arrays: Sequence[Any]
    _consts: tuple[Const, ...] | None
    _refs: tuple[Ref, ...]
    _origin: tuple[Any, int]  # the program, and the token of the point

    def __init__(self, consts: Iterable[Const]) -> None:
        self._consts = tuple(consts)
        self.arrays = [c.array for c in self._consts]

    @staticmethod
    def found(arrays: Sequence[Any], refs: tuple[Ref, ...], program: Any, token: int) -> Data:
        """What some slots of a program hold at the point with this token."""
        data = Data.__new__(Data)
        data.arrays, data._refs, data._origin, data._consts = arrays, refs, (program, token), None
        return data

    @property
    def consts(self) -> tuple[Const, ...]:
        """The constants, in order."""
        if self._consts is None:
            program, token = self._origin
            pairs = zip(self.arrays, self._refs, strict=True)
            self._consts = tuple(Const(array, ref.leaf, ("at", program, token, ref.slot)) for array, ref in pairs)
        return self._consts

    def fit(self, refs: tuple[Ref, ...]) -> bool:
        """Whether there is one of the right leaf for each reference."""
        if self._consts is None and refs == self._refs:
            return True
        return [c.leaf for c in self.consts] == [ref.leaf for ref in refs]

    @overload
    def __getitem__(self, k: int) -> Const: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Const, ...]: ...
    def __getitem__(self, k: Any) -> Any:
        return self.consts[k]

    def __len__(self) -> int:
        return len(self.arrays)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Data) and self.consts == other.consts)

    def __hash__(self) -> int:
        return hash(self.consts)

    def __reduce__(self) -> tuple[Any, ...]:
        return Data, (self.consts,)

    def __repr__(self) -> str:
        return repr(self.consts)


def as_data(given: Iterable[Const]) -> Data:
    """Some constants as the data of a closed map."""
    return given if isinstance(given, Data) else Data(given)


def filled(number: float, leaf: Leaf) -> Const:
    """The constant with one number in every entry; it takes the memory of one."""
    array = np.broadcast_to(np.asarray(number, leaf.dtype), leaf.shape)
    return Const(array, leaf, ("filled", float(number)))


def constants(v: Vec[Any]) -> tuple[Const, ...]:
    """The leaves of a vector."""
    return tuple(
        Const(array, leaf, (v.token, k)) for k, (array, leaf) in enumerate(zip(v.leaves, v.space.leaves, strict=True))
    )

"""Data: the only places where numbers occur in a linear term; a vector's leaf, or a slot of a program."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import field, frozen

from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.base.once import LOCK
from hilbert.base.term import as_tuple
from hilbert.errors import SpaceError, shown
from hilbert.index.leaf import Leaf
from hilbert.program.line.constant import Const
from hilbert.program.line.operation import Literal
from hilbert.space.snapshot import snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hilbert import Vec


@final
@frozen
class Ref:
    """A slot of the program that computes the point: a datum that is not known yet.

    `known` is no part of the datum, and 0 unless something is known of it where it is derived: 1 for numbers that are
    finite at finite points, overflow apart, and for elements that are a permutation; k and −k for truth values of which
    one is the negation of the other. Supports need it (`linmap.net.support`).
    """

    slot: int
    leaf: Leaf
    known: int = field(default=0, eq=False, repr=False)


Datum: TypeAlias = Const | Ref
Entered: TypeAlias = "dict[int, tuple[Vec[Any], tuple[Const, ...]]]"
"""The vectors that are constants of a program being traced, by their ids."""


@final
class Data(Sequence[Const]):
    """The data of a closed map. Those that are found at a point become constants only when they are asked for."""

    __slots__ = ("_consts", "_origin", "_refs", "arrays")
    arrays: Sequence[Any]
    _consts: tuple[Const, ...] | None
    _refs: tuple[Ref, ...]
    _origin: (
        tuple[Any, int, bool] | None
    )  # the program, the token of the point, and whether one can write into the point

    def __init__(self, consts: Iterable[Const]) -> None:
        self._consts, self._origin = tuple(consts), None
        self.arrays = [c.array for c in self._consts]

    @staticmethod
    def found(
        arrays: Sequence[Any], refs: tuple[Ref, ...], program: Any, token: int, *, is_written: bool = False
    ) -> Data:
        """The arrays in some slots of a program at the point with this token; if that is written, by their bits."""
        data = Data.__new__(Data)
        data.arrays, data._refs, data._origin, data._consts = arrays, refs, (program, token, is_written), None
        return data

    @property
    def consts(self) -> tuple[Const, ...]:
        """The constants, in order."""
        if self._consts is None:
            assert self._origin is not None  # as for all data that are no constants
            program, token, is_written = self._origin
            made = tuple(
                _constant(program, ref)
                or Const(array, ref.leaf, ("at", program, _digest(array, token) if is_written else token, ref.slot))
                for array, ref in zip(self.arrays, self._refs, strict=True)
            )
            with LOCK:
                self._consts = made if self._consts is None else self._consts
        return self._consts

    def program(self, refs: tuple[Ref, ...]) -> Any:
        """The program in whose slots, with these references, the arrays were found; None for other data."""
        return self._origin[0] if self._origin is not None and self._refs == refs else None

    def fit(self, refs: tuple[Ref, ...]) -> bool:
        """Tell if the constants have the leaves of the references, one for each."""
        if self._consts is None and refs == self._refs:
            return True
        return [c.leaf for c in self.consts] == [ref.leaf for ref in refs]

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
    """Some constants as the data of a closed map; raises SpaceError for anything else."""
    if isinstance(given, Data):
        return given
    consts = as_tuple(given)
    for const in consts:
        if not isinstance(const, Const):
            msg = f"the data of a closed map are constants, not {shown(const)}"
            raise SpaceError(msg)
    return Data(consts)


def constants(v: Vec[Any], entered: Entered | None = None) -> tuple[Const, ...]:
    """The leaves of a vector: as its entries are now, or were when it entered the program that is being traced."""
    known = entered.get(id(v)) if entered else None
    if known is not None:
        return known[1]
    kept = snapshot(v)
    keys = zip(itertools.repeat(kept.token), itertools.count())
    made = tuple(map(Const, kept.leaves, kept.space.leaves, keys))
    if entered is not None:
        entered[id(v)] = (v, made)  # v stays alive, so its id does
    return made


def _constant(program: Any, ref: Ref) -> Const | None:
    """The array that a slot of a program is at every point, if it is one."""
    line = program.line
    operation = line.steps[ref.slot - line.arity].operation if ref.slot >= line.arity else None
    return operation.value if isinstance(operation, Literal) and operation.value.number is None else None


def _digest(array: Any, token: int) -> int:
    """A number for the bits of an array that was found at the point with this token."""
    found = sha256(token.to_bytes(16))
    found.update(np.ascontiguousarray(array).data)
    return int.from_bytes(found.digest()[:16])


def filling(array: Any) -> float | None:
    """The number of an array without axes, or of one that repeats a number without storing it again."""
    if isinstance(array, Formal) or (array.ndim and (not array.size or any(getattr(array, "strides", (1,))))):
        return None
    return float(to_numpy(array).flat[0])

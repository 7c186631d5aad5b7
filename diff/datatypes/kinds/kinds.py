"""Kinds: the arguments and results of functions on data: vectors, values of classes, sequences, functions, tuples.

A class says which fields there are, and of which types; a kind says of which spaces, so that the same classes may be
used at several sizes. `diff.datatypes.kinds.data` makes kinds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, final

import attrs

from diff.lam.term.inductive import list_of
from diff.lam.term.types import RECUR, Arrow, DataType, TupleType, Ty, ground
from hilbert import Type
from hilbert.base import attach
from hilbert.base.once import Remembering, once
from hilbert.displayed import Displayed

if TYPE_CHECKING:
    import os

T = TypeVar("T")


class Values(Displayed, Remembering, ABC, Generic[T]):
    """A set of Python values T that functions on data take: data, sequences, functions."""

    __slots__ = ()

    @property
    @abstractmethod
    def core(self) -> Ty:
        """Their type in the λ-language."""

    @attach.declared
    def save(self, value: T, file: str | os.PathLike[str]) -> None:
        """Write a value into a .npz file: its classes and lengths, and its vectors, stacked by space.

        Raises TermError for a value of another kind, and for functions and expressions in it.
        """
        raise NotImplementedError

    @attach.declared
    def load(self, file: str | os.PathLike[str]) -> T:
        """The value that `save` wrote, of classes of the same names and spaces of the same arrays.

        Raises TermError for another file, and for a value of another kind.
        """
        raise NotImplementedError


Kind: TypeAlias = "Type | Data[Any] | Itself | Sequence[Any] | Function[Any] | tuple[Any, ...]"
"""A space, a set of values, or a tuple of kinds; to users a set of values is `Values`, of any class."""


@final
@attrs.frozen(repr=False)
class Data(Values[T]):
    """Values of some classes, which may hold each other."""

    classes: tuple[type[Any], ...]
    fields: tuple[tuple[tuple[str, Kind], ...], ...]
    """Of each class its fields: the name that the constructor knows, and the kind, `Itself` where it recurs."""
    given: tuple[tuple[str, Kind], ...]
    _core: DataType

    @property
    def core(self) -> DataType:
        """Their type in the λ-language: a constructor for each class."""
        return self._core

    def __repr__(self) -> str:
        words = [cls.__name__ for cls in self.classes]
        return f"data({', '.join(words + [f'{name}={kind!r}' for name, kind in self.given])})"

    def at(self, cls: type[Any] | str) -> tuple[tuple[str, Kind], ...]:
        """The fields of a class, or of the constructor of its name, with this kind itself where it recurs."""
        known = [c.__name__ for c in self.classes]
        found = self.fields[known.index(cls if isinstance(cls, str) else cls.__name__)]
        return tuple((name, self.closed(kind)) for name, kind in found)

    def closed(self, kind: Kind) -> Kind:
        """A field's kind with this one where it recurs."""
        if isinstance(kind, Itself):
            return self
        return Sequence(self) if isinstance(kind, Sequence) and isinstance(kind.of, Itself) else kind

    def named(self, label: str) -> type[Any]:
        """The class of a constructor."""
        return next(cls for cls in self.classes if cls.__name__ == label)


@final
@attrs.frozen
class Itself(Values[Any]):
    """The kind of a field that recurs: a value of the data that the field belongs to."""

    @property
    def core(self) -> Ty:
        """The type X that stands for the data type in its own declaration."""
        return RECUR


@final
@attrs.frozen
class Sequence(Values[tuple[T, ...]]):
    """Tuples of any length of values of one kind."""

    of: Kind

    @property
    def core(self) -> DataType:
        """list σ."""
        return list_of(type_of(self.of))

    def __repr__(self) -> str:
        return f"sequence({self.of!r})"


@final
@attrs.frozen
class Function(Values[T]):
    """Functions between values of two kinds."""

    takes: tuple[Kind, ...]
    gives: Kind

    @property
    def core(self) -> Arrow:
        """σ → τ."""
        return Arrow(type_of(self.takes[0] if len(self.takes) == 1 else self.takes), type_of(self.gives))

    def __repr__(self) -> str:
        return f"arrow({', '.join(map(repr, (*self.takes, self.gives)))})"


def is_kind(given: Any) -> bool:
    """Tell if something is a space, a set of values, or a tuple of kinds."""
    return all(map(is_kind, given)) if isinstance(given, tuple) else isinstance(given, (Type, Values))


def type_of(kind: Kind) -> Ty:
    """The type of a kind in the λ-language."""
    if isinstance(kind, tuple):
        return TupleType(tuple(map(type_of, kind)))
    return ground(kind) if isinstance(kind, Type) else kind.core


@once
def attributes(kind: Data[Any], cls: type[Any]) -> tuple[tuple[str, Kind], ...]:
    """The fields of a class by the names of its attributes."""
    names = [f.name for f in attrs.fields(cls) if f.init]
    return tuple((name, of) for name, (_, of) in zip(names, kind.at(cls), strict=True))

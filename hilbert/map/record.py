"""Records: direct sums whose parts have names and types, declared as a class.

>>> from hilbert import Fin, Matrix, R, Vector
>>> class Pixel: ...
>>> class Hidden: ...
>>> pixel, hidden = Fin(Pixel, 2), Fin(Hidden, 1)
>>> class Params(Record):
...     weights: Part[Matrix[Hidden, Pixel]]
...     bias: Part[Vector[Hidden]]
>>> P = Params(weights=R ** (hidden * pixel), bias=R**hidden)
>>> print(P, P.weights, P.dim)
Params(weights: ℝ^{Hidden1×Pixel2}, bias: ℝ^Hidden1) ℝ^{Hidden1×Pixel2} 3
>>> p = P.of(weights=[[1.0, 2.0]], bias=[3.0])
>>> print(p[Params.bias])
[3.0] ∈ ℝ^Hidden1
"""

from __future__ import annotations

import inspect
import sys
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Never,
    NoReturn,
    Self,
    TypeVar,
    cast,
    dataclass_transform,
    final,
    overload,
)

from hilbert.base.attach import attached
from hilbert.base.notarray import Applicable, Missing, refuse_part
from hilbert.errors import MissingError, SpaceError, shown
from hilbert.index.index import Fin
from hilbert.map.annotated_spaces import annotated_spaces, scope
from hilbert.space.direct_sum import Biproduct
from hilbert.space.parts import Lens, Owner
from hilbert.space.space import Field, R, Space, Type
from hilbert.space.vector import Vec
from hilbert.tracebacks import called

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SPACES = "write R, R ** Fin(Tag, n), another record"
L = TypeVar("L")
F = TypeVar("F")
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


@final
class Part(Generic[V]):
    """Declares a part of type V: on the class a lens, on a record's space the part's space."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        """Make a part; called by the class of the record."""
        self.name = name

    @overload
    def __get__(self, record: None, owner: Owner[V, L]) -> L: ...
    @overload
    def __get__(self, record: Record, owner: Any) -> V: ...
    @overload  # taken where the first does not give what is due: mypy's message then names the type of the part
    def __get__(self, record: None, owner: type[Record]) -> Lens[Never, V]: ...  # type: ignore[overload-cannot-match]
    def __get__(self, record: Any, owner: Any) -> Any:
        """The lens of the part, or its space."""
        if record is None:
            return owner.lenses[self.name]
        return record.parts[list(record.lenses).index(self.name)]

    if TYPE_CHECKING:  # V is the type of the argument of the class; no record is there to be set

        def __set__(self, record: Never, space: V) -> None: ...


class _OfSpace:
    """A method of spaces; a call on the class raises an error that says how to write the call."""

    def __init__(self, method: Any) -> None:
        self.__wrapped__ = method

    def __get__(self, record: Any, owner: Any) -> Any:
        if record is not None:
            return self.__wrapped__.__get__(record, owner)
        name = self.__wrapped__.__name__

        def refused(*_: Any, **__: Any) -> NoReturn:
            msg = f"{owner.__name__}.{name} is of the class, which has no spaces: write P.{name}(…) of a space "
            raise SpaceError(f"{msg}P = {_call(owner.lenses, owner.__name__)}")

        return refused


def _of_space(method: F) -> F:
    return cast("F", _OfSpace(method))


@dataclass_transform(kw_only_default=True, eq_default=False)
class Record(Biproduct):
    """V₁ ⊕ … ⊕ Vₙ with names for its parts, `name: Part[V]` in a subclass; `Params(weights=V, …)` is a space.

    Two of them are equal if they are of one class and their parts are equal: a record is no direct sum. A subclass has
    the parts of its base classes first. Raises SpaceError for parts that are missing or that do not exist.
    """

    names: ClassVar[tuple[str, ...] | None] = ()
    lenses: ClassVar[dict[str, Lens[Any, Any]]] = {}
    """The lens of each part."""
    _scope: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Make the parts that the class declares; raises SpaceError for declarations that are no parts."""
        super().__init_subclass__(**options)
        cls._scope = scope(cls, sys._getframe(1))
        own = _declared(cls)
        for name in own:
            setattr(cls, name, Part(name))
            refuse_part(name)
        cls.names = _all_names(cls, own)
        cls.lenses = {name: Lens(((cls, name),)) for name in cls.names}

    def __init__(self, *spaces: Any, **parts: Any) -> None:
        """The record with these spaces as its parts, all of them by name."""
        cls = type(self)
        if spaces:
            msg = f"{cls.__name__}({shown(spaces[0])}, …): parts are given by name, {_call(cls.lenses, cls.__name__)}"
            raise SpaceError(msg)
        _require_names(f"the record {cls.__name__}", parts, cls.lenses, _call(cls.lenses, cls.__name__))
        for name, space in parts.items():
            if not isinstance(space, Type):
                is_data = isinstance(space, (Vec, list, tuple)) or hasattr(space, "dtype")
                due = f"P.of({name}=…) makes a vector of a record P of spaces, P = {cls.__name__}.space()"
                due = due if is_data else SPACES
                raise SpaceError(f"{cls.__name__}.{name} is a space, not {shown(space)}: {due}")
        self._hold(tuple(parts[name] for name in cls.lenses))

    def _hold(self, parts: tuple[Any, ...]) -> None:
        vars(self)["_parts"] = parts
        self.settle()

    @classmethod
    def of_parts(cls, parts: tuple[Any, ...]) -> Self:
        """The record of this class with these parts, in order."""
        made = cls.__new__(cls)
        made._hold(parts)
        return made

    @classmethod
    def space(cls, scalars: Field = R, /, **sizes: int | Fin[Any]) -> Self:
        """The record whose parts have the spaces of their annotations: `Theta.space()`, `Theta.space(School=8)`.

        An axis has the size that its class declares, or the one given by the name of its tag, or an index set of that
        tag. `scalars` is R or R32. Raises SpaceError for a size that is missing, a name that no axis or more than one
        has, and an annotation that says no space.
        """
        return cls.of_parts(annotated_spaces(cls, scalars, sizes))

    if TYPE_CHECKING:  # see `hilbert.space.parts.Owner`

        @classmethod
        def _lens(cls, part: W, /) -> Lens[Self, W]: ...

    @_of_space
    @called
    def of(self, *unnamed: Never, **parts: Any) -> Vec[Self]:
        """The vector with these parts by name: vectors of their spaces, or data for them.

        Raises SpaceError for parts that are missing, that do not exist or that do not fit. See `made` for expressions.
        """
        cls = type(self).__name__
        written = f"P.of({', '.join(f'{name}=…' for name in self.lenses)})"
        if unnamed:
            msg = f"P.of takes the parts of {cls} by name: write {written}"
            raise SpaceError(msg)
        _require_names(f"a vector of {cls}", parts, self.lenses, written)
        leaves: list[Any] = []
        for name, space in zip(self.lenses, self.parts, strict=True):
            given = parts[name]
            if isinstance(given, Applicable):
                msg = f"P.of({name}=…) makes a vector of numbers, not of {shown(given)}: write "
                raise SpaceError(f"{msg}made(P, {', '.join(f'entry({cls}.{name}, …)' for name in self.lenses)})")
            leaves += _part(f"{cls}.{name}", space, given).leaves
        return Vec(self, tuple(leaves))

    if not TYPE_CHECKING:  # to a type checker there are no other attributes
        zeros, ones, random, vec = map(
            _of_space, (Biproduct.zeros, Biproduct.ones, Biproduct.random, attached(Biproduct, "vec"))
        )

        def __getattr__(self, name: str) -> Any:
            """Raise an error that lists the parts of the record."""
            if name.startswith("_"):
                raise AttributeError(name=name, obj=self)
            remedy = self._attributes.get(name)
            hint = f"; write {self._instead_of(name) or remedy}" if remedy else ""
            msg = f"the record {type(self).__name__} has no part {name}: it has {', '.join(self.lenses)}{hint}"
            raise MissingError(msg)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a space is not changed: {type(self).__name__}.{name} cannot be set"
        raise SpaceError(msg)

    @property
    def _summands(self) -> tuple[Space, ...]:
        return self._parts


def _part(lens: str, space: Type, data: Any) -> Vec[Any]:
    try:
        return space.vec(data)
    except SpaceError as error:
        msg = f"{lens}: {error}"
        raise SpaceError(msg) from error


def _call(names: Iterable[str], cls: str) -> str:
    return f"{cls}({', '.join(f'{name}=V' for name in names)})"


def _require_names(what: str, given: Iterable[str], due: Iterable[str], remedy: str) -> None:
    """Raise SpaceError that lists the names that are missing and those that are too many."""
    missing = [name for name in due if name not in given]
    extra = [name for name in given if name not in due]
    found = [f"{', '.join(missing)} missing"] if missing else []
    found += [f"no part is called {', '.join(extra)}"] if extra else []
    if found:
        msg = f"{what}: {'; '.join(found)}; write {remedy}"
        raise SpaceError(msg)


def _declared(cls: type[Record]) -> list[str]:
    """The names that a class declares as parts."""
    names = []
    for name, annotation in inspect.get_annotations(cls).items():
        head = str(annotation).partition("[")[0].rpartition(".")[2]
        if head == "ClassVar":
            continue
        if head != "Part":
            said = getattr(annotation, "__name__", annotation)
            msg = f"{cls.__name__}.{name} is annotated {said}: a record has parts, `{name}: Part[V]` for a "
            raise SpaceError(f"{msg}space V; what is no part is a `ClassVar`")
        if name in vars(cls):
            msg = f"the part {cls.__name__}.{name} has a value: its space is given where a record is made, "
            raise SpaceError(f"{msg}{cls.__name__}({name}=V)")
        names.append(name)
    for name, value in vars(cls).items():
        if isinstance(value, Part):
            msg = f"{cls.__name__}.{name} is declared by an annotation: write `{name}: Part[V]`"
            raise SpaceError(msg)
    return names


def _all_names(cls: type[Record], own: Sequence[str]) -> tuple[str, ...]:
    """The names of the base classes' parts, then those of the class; raises SpaceError for a name that is taken."""
    found: dict[str, Part[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        for name, value in vars(base).items():
            if isinstance(value, Part):
                if name in found:
                    msg = f"two base classes of {cls.__name__} have a part {name}: rename one of them"
                    raise SpaceError(msg)
                found[name] = value
    for name in found:
        if name in vars(cls):
            msg = f"{cls.__name__}.{name} is a part of a base class already: give it another name"
            raise SpaceError(msg)
    for name in own:
        is_taken = hasattr(Record, name) and not isinstance(inspect.getattr_static(Record, name), Missing)
        if name.startswith("_") or is_taken:
            why = "begins with an underscore" if name.startswith("_") else f"would hide `{name}` of every space"
            msg = f"the part {cls.__name__}.{name} {why}: give it another name"
            raise SpaceError(msg)
    return (*found, *own)

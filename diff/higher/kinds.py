"""What functions on data take and give: vectors of a space, values of classes, sequences, functions, tuples of such.

>>> from hilbert import R, Scalar
>>> from diff import Expr
>>> @variant
... class Nothing:
...     pass
>>> @variant
... class Just:
...     value: Expr[Scalar]
>>> maybe = data(Nothing, Just, value=R)
>>> maybe
data(Nothing, Just, value=R)
>>> maybe.core.declaration.cases
(('Nothing', <type unit>), ('Just', <type real>))

A class says which fields there are, and of which types; `data` says of which spaces, so that the same classes may be
used at several sizes. A field of which `data` is told nothing recurs: it holds one of the classes, or a tuple of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, dataclass_transform, final, overload

import attrs

from diff.expr import Expr, literal
from diff.higher.annotated import annotation, without_operators
from diff.higher.binding import Pass, each
from diff.higher.errors import TermError
from diff.higher.evaluate import call
from diff.higher.inductive import declared, list_of
from diff.higher.types import RECUR, UNIT, Arrow, DataType, TupleType, Ty, ground
from diff.higher.values import Native, Tagged, Value, nested
from hilbert import Type, Vec, attach
from hilbert.biproduct import DirectSum
from hilbert.errors import shown
from hilbert.once import Remembering
from hilbert.term import driven

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

C = TypeVar("C", bound=type)
T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


class Values(Remembering, ABC, Generic[T]):
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


Kind: TypeAlias = "Type | Values[Any] | tuple[Any, ...]"
"""A space, a set of values, or a tuple of kinds."""


@dataclass_transform(frozen_default=True)
def variant(cls: type[T]) -> type[T]:
    """The class as one of frozen attrs classes, of which `data` makes a type.

    A field that is annotated `Expr[V]` is given as an expression or as a vector. Raises TermError for what is no class.
    """
    if not isinstance(cls, type):
        raise TermError("type", f"@variant stands before a class, not before {shown(cls)}")
    try:
        return without_operators(attrs.frozen(cls))
    except ValueError as error:
        raise TermError("type", f"@variant makes a class frozen, which {cls.__name__} cannot be: {error}") from None


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
    """Where a field recurs."""

    @property
    def core(self) -> Ty:
        """X."""
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
    """Whether something is a space, a set of values, or a tuple of kinds."""
    return all(map(is_kind, given)) if isinstance(given, tuple) else isinstance(given, (Type, Values))


def type_of(kind: Kind) -> Ty:
    """The type of a kind in the λ-language."""
    if isinstance(kind, tuple):
        return TupleType(tuple(map(type_of, kind)))
    return ground(kind) if isinstance(kind, Type) else kind.core


# --- what users write ---


@overload
def data(a: type[A], /, **kinds: Type | Values[Any]) -> Data[A]: ...
@overload
def data(a: type[A], b: type[B], /, **kinds: Type | Values[Any]) -> Data[A | B]: ...
@overload
def data(a: type[A], b: type[B], d: type[D], /, **kinds: Type | Values[Any]) -> Data[A | B | D]: ...
@overload
def data(a: type[A], b: type[B], d: type[D], e: type[E], /, **kinds: Type | Values[Any]) -> Data[A | B | D | E]: ...
@overload
def data(
    a: type[A], b: type[B], d: type[D], e: type[E], f: type[F], /, **kinds: Type | Values[Any]
) -> Data[A | B | D | E | F]: ...
@overload
def data(*classes: type[Any], **kinds: Type | Values[Any]) -> Data[Any]: ...
def data(*classes: type[Any], **kinds: Any) -> Data[Any]:
    """The type of values of some attrs classes; `kinds` are the spaces of their fields, by the names of these.

    A field may also be of other data, of a sequence or a function. One without a kind recurs. Raises TermError: `type`
    for what is no such class, for a field without a space and for a kind without a field; `branches` for two classes of
    one name; `positive` where the data themselves stand left of an arrow.
    """
    for cls in classes:
        if not (isinstance(cls, type) and attrs.has(cls)):
            raise TermError("type", f"data(…) takes attrs classes, such as those under @variant, not {shown(cls)}")
    labels = [cls.__name__ for cls in classes]
    if not labels or len(set(labels)) < len(labels):
        raise TermError("branches", f"data({', '.join(labels)}) takes one class or more, each of another name")
    for name, kind in kinds.items():
        _known(kind, f"data(…, {name}=…)")
    fields = tuple(
        tuple((f.alias or f.name, _field(cls, f, classes, kinds)) for f in attrs.fields(cls) if f.init)
        for cls in classes
    )
    unknown = kinds.keys() - {name for some in fields for name, _ in some}
    if unknown:
        there = ", ".join(sorted({name for some in fields for name, _ in some})) or "none"
        raise TermError("type", f"data(…, {min(unknown)}=…): no class has such a field; there are {there}")
    cases = [(label, _payload([type_of(kind) for _, kind in some])) for label, some in zip(labels, fields, strict=True)]
    made = DataType(declared("|".join(labels), 0, cases), ())
    return Data(classes, fields, tuple(kinds.items()), made)


@overload
def sequence(of: Values[A]) -> Sequence[A]: ...
@overload
def sequence(of: V) -> Sequence[Expr[V]]: ...
def sequence(of: Any) -> Sequence[Any]:
    """Tuples of any length of vectors of a space, or of values of one kind."""
    _known(of, "sequence(…)")
    return Sequence(of)


@overload
def arrow(a: V, to: W, /) -> Function[Callable[[Expr[V]], Expr[W]]]: ...
@overload
def arrow(a: Any, b: Any, /, *more: Any) -> Function[Any]: ...
def arrow(*kinds: Any) -> Function[Any]:
    """arrow(V, W): functions from vectors of V to those of W; the last kind is that of the result."""
    if len(kinds) < 2:
        raise TermError("type", "arrow(V, W) takes the kinds of the arguments and that of the result")
    for kind in kinds:
        _known(kind, "arrow(…)")
    return Function(kinds[:-1], kinds[-1])


def _known(kind: Any, what: str) -> None:
    if not isinstance(kind, (Type, Values)):
        more = ": tuples of vectors are those of direct_sum(V, W)" if isinstance(kind, tuple) else ""
        raise TermError("type", f"{what} takes a space, data(…), sequence(…) or arrow(…), not {shown(kind)}{more}")


def _field(cls: type[Any], f: attrs.Attribute[Any], classes: tuple[type[Any], ...], kinds: dict[str, Kind]) -> Kind:
    name, said = f.alias or f.name, annotation(cls, f, classes)
    kind = kinds.get(name)
    wrong = said.untold(name) if kind is None else said.told(name, kind, is_space=isinstance(kind, Type))
    if wrong is not None:
        raise TermError("type", wrong)
    if kind is not None:
        return kind
    return Sequence(Itself()) if said.form == "tuple" else Itself()


def _payload(types: list[Ty]) -> Ty:
    return types[0] if len(types) == 1 else TupleType(tuple(types)) if types else UNIT


# --- values of Python and of the evaluator ---


def to_core(kind: Kind, value: Any) -> Value:
    """A value of Python as one of the evaluator; raises TermError for one of another kind."""
    return driven(_to_core(kind, value))


def fault(kind: Kind, value: Any) -> TermError | None:
    """What is wrong with a value of a kind, without a look at its parts; None if nothing is."""
    match kind:
        case tuple():
            is_one = isinstance(value, tuple) and len(value) == len(kind)
            return None if is_one else _misfit(value, f"a tuple of {len(kind)}")
        case Data():
            return None if type(value) in kind.classes else _misfit(value, f"a value of {kind}")
        case Sequence(of):
            return None if isinstance(value, tuple) else _misfit(value, f"a tuple of values of {of}")
        case Function():
            return None if callable(value) else _misfit(value, "a function")
        case Type():
            if not isinstance(value, (Vec, Expr)):
                return _misfit(value, f"a vector of {kind}", ": make it by V.vec(data)")
            due = f"a vector of {value.space} where one of {kind} is due"
            return None if value.space == kind else TermError("shape", due)
        case _:  # where a field recurs it is closed
            raise TypeError(kind)


def _to_core(kind: Kind, value: Any) -> Pass:
    wrong = fault(kind, value)
    if wrong is not None:
        raise wrong
    match kind:
        case tuple():
            pairs = zip(kind, value, strict=True)
            return tuple((yield each(lambda pair: _to_core(*pair), pairs)))
        case Data():
            fields = [(of, getattr(value, name)) for name, of in attributes(kind, type(value))]
            parts = yield each(lambda pair: _to_core(*pair), fields)
            return Tagged(type(value).__name__, parts[0] if len(parts) == 1 else tuple(parts))
        case Sequence(of):
            made = Tagged("Nil", ())
            for item in reversed(value):
                one = yield _to_core(of, item)
                made = Tagged("Cons", (one, made))
            return made
        case Function(takes, gives):

            def run(arg: Value) -> Pass:
                args = [from_core(takes[0], arg)] if len(takes) == 1 else from_core(takes, arg)
                return (yield _to_core(gives, value(*args)))

            return Native(run)
        case _:  # nothing else is without a fault
            assert isinstance(kind, Type)
            return nested(kind, value)


def attributes(kind: Data[Any], cls: type[Any]) -> list[tuple[str, Kind]]:
    """The fields of a class by the names of its attributes."""
    names = [f.name for f in attrs.fields(cls) if f.init]
    return [(name, of) for name, (_, of) in zip(names, kind.at(cls), strict=True)]


def _misfit(value: Any, due: str, remedy: str = "") -> TermError:
    return TermError("type", f"{shown(value)} where {due} is due{remedy}")


def from_core(kind: Kind, value: Value) -> Any:
    """A value of the evaluator as one of Python."""
    return driven(_from_core(kind, value))


def _from_core(kind: Kind, value: Value) -> Pass:
    match kind:
        case tuple():
            return tuple((yield each(lambda pair: _from_core(*pair), zip(kind, value, strict=True))))
        case Data():
            fields = kind.at(value.label)
            payload = (value.payload,) if len(fields) == 1 else value.payload
            pairs = [(of, one) for (_, of), one in zip(fields, payload, strict=True)]
            parts = yield each(lambda pair: _from_core(*pair), pairs)
            return kind.named(value.label)(**dict(zip([name for name, _ in fields], parts, strict=True)))
        case Sequence(of):
            items = []
            while value.label == "Cons":
                one = yield _from_core(of, value.payload[0])
                items.append(one)
                value = value.payload[1]
            return tuple(items)
        case Function(takes, gives):

            def run(*args: Any) -> Any:
                given = to_core(takes, args)
                return from_core(gives, call(value, given[0] if len(takes) == 1 else given))

            return run
        case Type():
            return joined(kind, value)
        case _:  # where a field recurs it is closed
            raise TypeError(kind)


def joined(space: Type, value: Value) -> Any:
    """The vector or expression of a space whose parts, if it is a direct sum, are these: the inverse of `nested`."""
    if not isinstance(space, DirectSum):
        return value
    parts = [joined(part, one) for part, one in zip(space.parts, value, strict=True)]
    if all(isinstance(part, Vec) for part in parts):
        return Vec(space, tuple(leaf for part in parts for leaf in part.leaves))
    builder = next(part.builder for part in parts if isinstance(part, Expr))
    slots = [k for part in parts for k in (literal(builder, part) if isinstance(part, Vec) else part).slots]
    return Expr(builder, space, tuple(slots))

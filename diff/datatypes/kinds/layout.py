"""Python values of a kind in one pass: their discrete part as a flat key, their vectors from left to right.

`taken(readers(kind), value)` is the key, the classes and lengths in the order in which they are met, and the vectors;
`Maker` is the way back for one key. Neither makes an object for each node beside what the user's classes ask for.
"""

from __future__ import annotations

from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, final

import attrs
from attrs import frozen

from diff.datatypes.kinds.kinds import Data, Function, Itself, Kind, Sequence, attributes
from diff.lam.term.term_error import TermError
from hilbert import Type, Vec
from hilbert.base.once import once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Reader: TypeAlias = Any
"""The reader of a kind's values: Classes, Items, Parts, a space, or None for functions, which have no leaves."""
Key: TypeAlias = tuple[Any, ...]
"""The classes and lengths in a value, from left to right."""


@final
@frozen(eq=False)
class Classes:
    """The reader of data: for each class a getter of its fields from right to left, and their readers."""

    of: dict[type[Any], tuple[Callable[[Any], tuple[Any, ...]], tuple[Any, ...]]]


@final
@frozen(eq=False)
class Items:
    """The reader of a sequence, whose items are read by `of`."""

    of: Any


@final
@frozen(eq=False)
class Parts:
    """The reader of a tuple of kinds: readers of its parts from right to left."""

    of: tuple[Any, ...]


FEW = 1_000_000
"""The number of parts beyond which data are searched for a cycle."""


def reader(kind: Kind) -> Reader:
    """The reader of a kind's values."""
    match kind:
        case tuple():
            return Parts(tuple(map(reader, reversed(kind))))
        case Data():
            return _classes(kind)
        case Sequence(of):
            return Items(reader(of))
        case Function():
            return None
        case Type():
            return kind
        case Itself():  # where a field recurs it is closed
            raise TypeError(kind)
        case never:
            assert_never(never)


@once
def _classes(kind: Data[Any]) -> Classes:
    made = Classes({})
    for cls, some in zip(kind.classes, kind.fields, strict=True):
        names = tuple(name for name, _ in reversed(attributes(kind, cls)))
        readers: list[Reader] = []
        for _, of in reversed(some):
            if isinstance(of, Itself):
                readers.append(made)
            elif isinstance(of, Sequence) and isinstance(of.of, Itself):
                readers.append(Items(made))
            else:
                readers.append(reader(of))
        made.of[cls] = _getter(names), tuple(readers)
    return made


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Some attributes of an object, always as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda value: (getattr(value, names[0]),)) if names else (lambda _: ())


def taken(how: Reader, value: Any) -> tuple[Key, list[Vec[Any]]] | None:
    """The key and the vectors of a value; None for one that is not of this kind or holds more than vectors.

    Raises TermError `infinite` for data that hold themselves.

    Each call of a gradient waits for this: there are two stacks, so that no pair is made for a part, and no `match`,
    which takes twice the time. Of vectors in one space, which is equal to the one due, one is compared.
    """
    key: list[Any] = []
    vectors: list[Vec[Any]] = []
    dues: list[Any] = [how]
    parts: list[Any] = [value]
    equal: tuple[Any, Any] = None, None  # two spaces that were found to be equal
    unchecked = FEW
    while dues:
        due, part = dues.pop(), parts.pop()
        form = type(due)
        if form is Classes:
            fields = due.of.get(type(part))
            if fields is None:
                return None
            key.append(type(part))
            if len(key) > unchecked:
                _require_finite(value)
                unchecked *= 10
            dues += fields[1]
            parts += fields[0](part)
        elif form is Items:
            if not isinstance(part, tuple):
                return None
            key.append(len(part))
            dues += [due.of] * len(part)
            parts += reversed(part)
        elif form is Parts:
            if not isinstance(part, tuple) or len(part) != len(due.of):
                return None
            dues += due.of
            parts += reversed(part)
        elif type(part) is not Vec:
            return None
        else:
            space = part.space
            if space is not due and (space is not equal[0] or due is not equal[1]):
                if space != due:  # that of a function is None
                    return None
                equal = space, due
            vectors.append(part)
    return tuple(key), vectors


def _require_finite(value: Any) -> None:
    """Raise TermError where an object of the data, however often it is met, is a part of itself."""
    above: set[int] = set()
    done: set[int] = set()
    todo = [(value, False)]
    while todo:
        one, left = todo.pop()
        if left:
            above.remove(id(one))
            done.add(id(one))
        elif id(one) in above:
            raise cycle(type(one).__name__)
        elif id(one) not in done and (isinstance(one, tuple) or attrs.has(type(one))) and not isinstance(one, Vec):
            above.add(id(one))
            parts = one if isinstance(one, tuple) else [getattr(one, f.name) for f in attrs.fields(type(one))]
            todo += [(one, True), *((part, False) for part in parts)]


def cycle(what: Any) -> TermError:
    """The error of data that hold themselves."""
    return TermError("infinite", f"a cycle: some {what} is a part of itself, and data are finite: make it anew instead")


@final
class Maker:
    """Values of one kind and key from their arrays. Each step makes a value of the last few, so parts come first.

    In a key a class may be its name. Raises ValueError for a key of another kind, StopIteration for one too short.
    """

    def __init__(self, kind: Kind, key: Iterator[Any]) -> None:
        self._steps: list[tuple[Any, int]] = []
        todo: list[tuple[Any, int | None]] = [(kind, None)]
        while todo:
            one, count = todo.pop()
            if count is not None or isinstance(one, Type):
                self._steps.append((one, -1 - len(one.leaves) if count is None else count))
                continue
            parts: list[Any]
            if isinstance(one, Data):
                cls = _named(one, next(key))
                parts, make = [of for _, of in one.at(cls)], _constructor(cls)
            elif isinstance(one, Sequence):
                parts, make = [one.of] * _length(one, next(key)), _tuple
            else:
                parts, make = list(one), _tuple
            todo.append((make, len(parts)))
            todo += [(part, None) for part in reversed(parts)]

    @property
    def spaces(self) -> list[Type]:
        """The spaces of the vectors."""
        return [make for make, count in self._steps if count < 0]

    def made(self, arrays: Iterator[Any]) -> Any:
        """The value of these arrays; takes as many from the iterator as the value has."""
        done: list[Any] = []
        for make, count in self._steps:
            if count < 0:
                done.append(Vec(make, tuple(islice(arrays, -1 - count))))
            elif count:
                parts = done[-count:]
                del done[-count:]
                done.append(make(*parts))
            else:
                done.append(make())
        return done[0]


def _named(kind: Data[Any], word: Any) -> type[Any]:
    for cls in kind.classes:
        if word is cls or word == cls.__name__:
            return cls
    raise ValueError(f"{word} is no class of {kind}")


def _length(kind: Sequence[Any], word: Any) -> int:
    if isinstance(word, int):
        return word
    raise ValueError(f"{word} is no length of {kind}")


def _tuple(*parts: Any) -> tuple[Any, ...]:
    return parts


def _constructor(cls: type[Any]) -> Callable[..., Any]:
    """The class, called with its fields in their order."""
    some = [f for f in attrs.fields(cls) if f.init]
    if not any(f.kw_only for f in some):
        return cls
    names = [f.alias or f.name for f in some]
    return lambda *parts: cls(**dict(zip(names, parts, strict=True)))

"""Visits of the nodes of trees: their children, the discrete part of their fields, their vectors as tables."""

from __future__ import annotations

from itertools import repeat
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from diff.datatypes.kinds.conversion import to_core
from diff.datatypes.kinds.kinds import Data, Itself, Kind, Sequence, attributes
from diff.lam.term.lam_values import DiscreteShape, shape_of, spaces_of
from diff.lam.term.term_error import TermError
from hilbert import Copower, R, Type, Vec
from hilbert.arrays.libraries.namespace import freeze
from hilbert.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.int64]
    Row: TypeAlias = tuple[type[Any], tuple[Any, ...]]
    """A class, and the discrete part of each field: None for a child, a number of children, a space or a shape."""
    Vectors: TypeAlias = list[Vec[Any]] | tuple[Vec[Any], ...]

LEAF = DiscreteShape(R)
"""The shape of a child's result, whatever its space is: a leaf."""


@final
@frozen(eq=False)
class Table:
    """Vectors of one space, one at each node: for each leaf of the space its arrays, one beneath the other."""

    space: Type
    arrays: tuple[Any, ...]


@final
class Visit:
    """The way to read the nodes of a class, found from its kinds."""

    def __init__(self, kind: Data[Any], cls: type[Any]) -> None:
        self.kind, self.cls = kind, cls
        own = kind.fields[kind.classes.index(cls)]
        self.fields = [(name, of) for (name, _), (_, of) in zip(attributes(kind, cls), own, strict=True)]
        some = [of for _, of in self.fields]
        self.is_even = all(isinstance(of, Itself) or _is_one_leaf(of) for of in some)
        """True if all nodes of the class have one shape."""
        self.has_vectors = not all(map(_recurs, some))
        names = [name for name, of in self.fields if _recurs(of)]
        is_each = all(isinstance(of, Itself) for of in some if _recurs(of))
        self.arity = len(names) if is_each else None
        """The number of children of each node; None where nodes differ."""
        self.children: Callable[[Any], tuple[Any, ...]] | None = _attributes(names) if is_each else self._all_children
        """A function that gives the children of a node; None for a class without children."""
        self._row = (cls, tuple(None if isinstance(of, Itself) else of for of in some))

    def _all_children(self, node: Any) -> tuple[Any, ...]:
        found: list[Any] = []
        for name, of in self.fields:
            if isinstance(of, Itself):
                found.append(getattr(node, name))
            elif _recurs(of):
                some = getattr(node, name)
                if not isinstance(some, tuple):
                    raise TermError("type", f"{shown(some)} where a tuple of values of {self.kind} is due")
                found += some
        return tuple(found)

    def row(self, node: Any) -> Row:
        """The row of a node; the node is not looked at where all nodes of the class have one row."""
        if self.is_even:
            return self._row
        parts: list[Any] = []
        for name, of in self.fields:
            if isinstance(of, Itself) or _is_one_leaf(of):
                parts.append(None if isinstance(of, Itself) else of)
            else:
                value = getattr(node, name)
                parts.append(len(value) if _recurs(of) else shape_of(to_core(of, value))[0])
        return self.cls, tuple(parts)

    def tables(self, nodes: list[Any]) -> list[Table]:
        """The vectors in nodes of one shape, leaf by leaf. Raises TermError for what is none, or of another space."""
        found: list[Table] = []
        for name, of in self.fields:
            if _recurs(of):
                continue
            try:
                if _is_one_leaf(of):
                    found.append(_table(list(map(attrgetter(name), nodes)), of))
                else:
                    each = zip(*(shape_of(to_core(of, getattr(node, name)))[1] for node in nodes), strict=True)
                    found += [_table(column, column[0].space) for column in each]
            except TermError as error:
                raise TermError(error.code, f"{self.cls.__name__}.{name}: {error.message}") from None
        return found


def _attributes(names: list[str]) -> Callable[[Any], tuple[Any, ...]] | None:
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda node: (getattr(node, names[0]),)) if names else None


def _recurs(kind: Kind) -> bool:
    return isinstance(kind, Itself) or (isinstance(kind, Sequence) and isinstance(kind.of, Itself))


def _is_one_leaf(kind: Kind) -> bool:
    return isinstance(kind, Type) and len(kind.leaves) == 1


def _table(column: Vectors, space: Any) -> Table:
    """Vectors one beneath the other. Raises TermError for what is none, or of another space."""
    for cls in set(map(type, column)) - {Vec}:
        value = next(one for one in column if type(one) is cls)
        raise TermError("type", f"{shown(value)} where a vector of {space} is due: a forest holds vectors")
    spaces = list(map(attrgetter("space"), column))
    if not all(map(is_, spaces, repeat(spaces[0]))) or spaces[0] != space:
        _check(spaces, space)
    return Table(space, tuple(_beneath([v.leaves[k] for v in column]) for k in range(len(space.leaves))))


def _check(spaces: list[Any], space: Any) -> None:
    """Raise TermError unless all are one space; those made of the same base and index are, without a look inside."""
    if type(space) is Copower and set(map(type, spaces)) == {Copower}:
        bases, indices = (set(map(id, map(attrgetter(name), spaces))) for name in ("base", "index"))
        if bases == {id(space.base)} and indices == {id(space.index)}:
            return
    for other in spaces:
        if other != space:
            raise TermError("shape", f"a vector of {other} where one of {space} is due")


def _beneath(arrays: list[Any]) -> Any:
    """np.stack, of which this is the quick way."""
    first = arrays[0]
    if type(first) is np.ndarray and first.size and set(map(type, arrays)) == {np.ndarray}:
        try:
            return np.frombuffer(b"".join(arrays), first.dtype).reshape(len(arrays), *first.shape)
        except (TypeError, BufferError):  # some lie otherwise in memory
            pass
    return freeze(np.stack(arrays))


def shape_at(parts: tuple[Any, ...]) -> tuple[DiscreteShape, list[int | None]]:
    """The discrete shape of a payload, children being leaves; for each leaf the child's number, None for a vector."""
    made: list[DiscreteShape] = []
    places: list[int | None] = []
    count = 0
    for part in parts:
        if part is None or isinstance(part, int):
            of = 1 if part is None else part
            places += range(count, count + of)
            count += of
        if part is None:
            made.append(LEAF)
        elif isinstance(part, int):
            some = DiscreteShape(("tag", "Nil"), (DiscreteShape("tuple"),))
            for _ in range(part):
                some = DiscreteShape(("tag", "Cons"), (DiscreteShape("tuple", (LEAF, some)),))
            made.append(some)
        elif isinstance(part, Type):
            made.append(DiscreteShape(part))
            places.append(None)
        else:
            made.append(part)
            places += [None] * len(spaces_of(part))
    return (made[0] if len(made) == 1 else DiscreteShape("tuple", tuple(made))), places

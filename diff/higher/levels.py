"""Trees as groups of nodes of one height, class and shape, lower ones first; a node that is shared is there once.

What is done for each node in Python is its visit; heights and groups are found for all nodes together.
"""

from __future__ import annotations

from itertools import pairwise, repeat
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from diff.higher.conversion import to_core
from diff.higher.errors import TermError
from diff.higher.kinds import Data, Itself, Kind, Sequence, attributes
from diff.higher.layout import cycle
from diff.higher.values import DiscreteShape, shape_of, spaces_of
from hilbert import Copower, Fin, R, Type, Vec
from hilbert.arrays.namespace import freeze
from hilbert.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.int64]
    Vectors: TypeAlias = list[Vec[Any]] | tuple[Vec[Any], ...]

LEAF = DiscreteShape(R)
"""The shape of a child's result, whatever its space is: a leaf."""


@final
@frozen(eq=False)
class Group:
    """Nodes of one height, class and shape: for each leaf of the shape their children, by number, or a table."""

    label: str
    shape: DiscreteShape
    nodes: Ints
    columns: tuple[Ints | Table, ...]


@final
@frozen(eq=False)
class Table:
    """Vectors of one space, one at each node: for each leaf of the space its arrays, one beneath the other."""

    space: Type
    arrays: tuple[Any, ...]

    def at(self, rows: Ints) -> Table:
        """Some of them."""
        if len(rows) == len(self.arrays[0]):  # all, in their order
            return self
        return Table(self.space, tuple(freeze(array[rows]) for array in self.arrays))


@final
class Levels:
    """The groups of some trees; `last` is for each node the last group that it is a child in, beyond all for a tree."""

    def __init__(self, kind: Data[Any], trees: list[Any]) -> None:
        if not trees:
            raise TermError("shape", "forest(f, trees) takes one tree at least")
        self.kind, self.roots = kind, Fin.of(len(trees))
        visits = {cls: _Visit(kind, cls) for cls in kind.classes}
        nodes, classes, self.tops, children, counts, layers = _nodes(kind, visits, trees)
        heights = _heights(children, counts) if layers is None else _heights_in(layers, counts)
        if heights is None:
            raise cycle(kind)
        rows, forms = _rows(visits, nodes, classes)
        codes = heights * len(forms) + rows
        order = np.argsort(
            codes.astype(np.int16) if codes.max() < 1 << 15 else codes, kind="stable"
        )  # the first by radix
        cuts = np.flatnonzero(np.diff(codes[order])) + 1
        first = np.cumsum(counts) - counts
        shapes = [_shape(parts) for _, parts in forms]
        tables, place = [list[Table]() for _ in forms], np.empty(len(nodes), np.int64)
        for row, (cls, _) in enumerate(forms):
            if visits[cls].has_vectors:
                some = np.flatnonzero(rows == row)
                place[some] = np.arange(len(some))
                tables[row] = visits[cls].tables([nodes[k] for k in some.tolist()] if len(forms) > 1 else nodes)
        self.groups: list[Group] = []
        of = np.empty(len(nodes), np.int64)
        for g, some in enumerate(np.split(order, cuts)):
            of[some] = g
            row = rows[some[0]]
            cls, (shape, places) = forms[row][0], shapes[row]
            vectors = iter(tables[row])
            columns = tuple(
                next(vectors).at(place[some]) if at is None else children[first[some] + at] for at in places
            )
            self.groups.append(Group(cls.__name__, shape, some, columns))
        self.last = np.full(len(nodes), -1)
        np.maximum.at(self.last, children, np.repeat(of, counts))
        self.last[self.tops] = len(self.groups)


@final
class _Visit:
    """What is asked of the nodes of a class."""

    def __init__(self, kind: Data[Any], cls: type[Any]) -> None:
        self.kind, self.cls = kind, cls
        own = kind.fields[kind.classes.index(cls)]
        self.fields = [(name, of) for (name, _), (_, of) in zip(attributes(kind, cls), own, strict=True)]
        some = [of for _, of in self.fields]
        self.is_even = all(isinstance(of, Itself) or _is_one_leaf(of) for of in some)
        """Whether all nodes of the class have one shape."""
        self.has_vectors = not all(map(_recurs, some))
        names = [name for name, of in self.fields if _recurs(of)]
        is_each = all(isinstance(of, Itself) for of in some if _recurs(of))
        self.children: Callable[[Any], tuple[Any, ...]] | None = _attributes(names) if is_each else self._all_children
        """The children of a node; None where there are none."""
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

    def row(self, node: Any) -> tuple[type[Any], tuple[Any, ...]]:
        """The class and what is discrete of the fields: None for a child, how many children, a space or a shape."""
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
                    some = zip(*(shape_of(to_core(of, getattr(node, name)))[1] for node in nodes), strict=True)
                    found += [_table(column, column[0].space) for column in some]
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
    each = list(map(attrgetter("leaves"), column))
    return Table(space, tuple(_beneath([leaves[k] for leaves in each]) for k in range(len(space.leaves))))


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
        except BufferError:  # some lie otherwise in memory
            pass
    return freeze(np.stack(arrays))


def _nodes(
    kind: Data[Any], visits: dict[type[Any], _Visit], trees: list[Any]
) -> tuple[list[Any], Ints, Ints, Ints, Ints, list[int] | None]:
    """The nodes, each once; the numbers of their classes, of the trees, of the children; how many of these each has.

    Last, where no node is shared, the number at which each layer begins: children follow in the order of their parents.
    """
    children_of = {cls: visit.children for cls, visit in visits.items()}
    numbers: dict[int, int] | None = None  # not needed before a node is shared
    seen: set[int] = set()
    nodes: list[Any] = []
    found: list[int] = []
    sizes: list[int] = []  # how many children, of nodes of classes that have some
    layers: list[int] = []
    layer = trees
    while layer:
        start = len(nodes)
        layers.append(start)
        seen.update(map(id, layer))
        if numbers is None and len(seen) == start + len(layer):
            nodes += layer
        else:
            if numbers is None:
                numbers = {id(node): k for k, node in enumerate(nodes)}
                found += range(start)
            for node in layer:
                k = numbers.setdefault(id(node), len(nodes))
                found.append(k)
                if k == len(nodes):
                    nodes.append(node)
            layer = nodes[start:]
        below: list[Any] = []
        for node in layer:
            try:
                of = children_of[type(node)]
            except KeyError:
                raise TermError("type", f"{shown(node)} where a value of {kind} is due") from None
            if of is not None:
                parts = of(node)
                sizes.append(len(parts))
                below += parts
        layer = below
    number_of = {cls: k for k, cls in enumerate(visits)}
    classes = np.fromiter(map(number_of.__getitem__, map(type, nodes)), np.int64, len(nodes))
    counts = np.zeros(len(nodes), np.int64)
    counts[np.array([of is not None for of in children_of.values()])[classes]] = sizes
    each, n = np.arange(len(nodes)) if numbers is None else np.array(found), len(trees)
    return nodes, classes, each[:n], each[n:], counts, layers if numbers is None else None


def _rows(
    visits: dict[type[Any], _Visit], nodes: list[Any], classes: Ints
) -> tuple[Ints, list[tuple[type[Any], tuple[Any, ...]]]]:
    """Which row each node has, and the rows."""
    if all(visit.is_even for visit in visits.values()):  # the row says no more than the class
        return classes, [visit.row(None) for visit in visits.values()]
    known: dict[Any, int] = {}
    return np.array([known.setdefault(visits[type(node)].row(node), len(known)) for node in nodes]), list(known)


def _heights_in(layers: list[int], counts: Ints) -> Ints:
    """The heights of nodes in layers: 0 without children, else one more than the highest child, which stands below."""
    heights = np.zeros(len(counts), np.int64)
    for start, end in reversed(list(pairwise(layers))):
        some = counts[start:end]
        parents = np.flatnonzero(some)
        first = (np.cumsum(some) - some)[parents]
        heights[start + parents] = np.maximum.reduceat(heights[end : end + int(some.sum())], first) + 1
    return heights


def _heights(children: Ints, counts: Ints) -> Ints | None:
    """The heights of nodes: 0 without children, else more than those of all children; None if one is below itself."""
    n = len(counts)
    by_child = np.argsort(children, kind="stable")
    parents = np.repeat(np.arange(n), counts)[by_child]
    ends = np.cumsum(np.bincount(children, minlength=n))
    starts = ends - np.bincount(children, minlength=n)
    heights, waiting = np.zeros(n, np.int64), counts.copy()
    ready, height = np.flatnonzero(counts == 0), 0
    while ready.size:  # all whose children are done
        heights[ready] = height
        sizes = ends[ready] - starts[ready]
        edges = np.repeat(starts[ready] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        above = parents[edges]
        np.subtract.at(waiting, above, 1)
        ready, height = np.unique(above[waiting[above] == 0]), height + 1
    return None if waiting.any() else heights


def _shape(parts: tuple[Any, ...]) -> tuple[DiscreteShape, list[int | None]]:
    """What is discrete of a payload, a child being a leaf, and for each leaf which child it is, None for a vector."""
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

"""Trees as levels of nodes, those furthest from the roots first; a node that is shared is there once.

Python visits each node once; numpy finds levels and groups for all nodes together. A node stands one level below the
lowest node that holds it: in trees without shared nodes a level reads leaves and the results of the level before, each
once.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from diff.datatypes.forest.visits import Table, Visit, shape_at
from diff.datatypes.kinds.layout import cycle
from diff.lam.term.term_error import TermError
from hilbert import Fin
from hilbert.errors import shown

if TYPE_CHECKING:
    from diff.datatypes.forest.visits import Ints, Row
    from diff.datatypes.kinds.kinds import Data
    from diff.lam.term.lam_values import DiscreteShape


@final
@frozen(eq=False)
class Group:
    """Nodes of one class and shape: for each leaf of the shape their children, by number, or a table."""

    label: str
    shape: DiscreteShape
    nodes: Ints
    columns: tuple[Ints | Table, ...]


@final
@frozen(eq=False)
class Level:
    """Groups that read what lower levels have made; the last level has none, and reads the trees."""

    groups: tuple[Group, ...]
    columns: tuple[Ints, ...]
    """The nodes that are read, for each column of children."""
    kept: Ints
    """Nodes with children, of lower levels, that higher ones read."""
    sources: Ints
    """The nodes that are read or kept, each once: first those that are read."""
    read: int
    """The number of sources that this level reads."""


@final
@frozen(eq=False)
class Leaves:
    """A group of nodes without children: one for each place among what all levels read, by its number in the group."""

    group: Group
    places: Ints
    numbers: Ints


@final
class Levels:
    """The levels of some trees, from the bottom up, and their leaves; `places` is how many sources are read in all."""

    def __init__(self, kind: Data[Any], trees: list[Any]) -> None:
        if not trees:
            raise TermError("shape", "forest(f, trees) takes one tree at least")
        self.kind, self.roots = kind, Fin.of(len(trees))
        visits = {cls: Visit(kind, cls) for cls in kind.classes}
        found = _unshared(kind, visits, trees) or _shared(kind, visits, trees)
        depths = _depths(found) if found.depths is None else found.depths
        if depths is None:
            raise cycle(kind)
        self.count = len(found.nodes)
        at = depths.max() - 1 - depths  # the level of a node with children
        groups = _Groups(visits, found)
        self.levels = _levels(found, at, groups)
        read = np.concatenate([level.sources[: level.read] for level in self.levels])
        self.places = len(read)
        self.is_leaf = found.counts == 0
        self.leaves: list[Leaves] = []
        rows = np.where(self.is_leaf, groups.rows, -1)[read]
        for row in np.flatnonzero(np.bincount(rows + 1)[1:]):
            places = np.flatnonzero(rows == row)
            some, numbers = read[places], np.arange(len(places))
            if found.depths is None:
                some, numbers = np.unique(some, return_inverse=True)
            self.leaves.append(Leaves(groups.of(some), places, numbers))


@final
class _Groups:
    """Nodes by their rows (class and shape), to make groups of those that have one row."""

    def __init__(self, visits: dict[type[Any], Visit], found: _Nodes) -> None:
        self.visits, self.found = visits, found
        self.first = np.cumsum(found.counts) - found.counts
        """For each node the place where its children begin."""
        self.forms: list[Row]
        if all(visit.is_even for visit in visits.values()):  # a row says no more than the class
            self.rows, self.forms = found.classes, [visit.row(None) for visit in visits.values()]
        else:
            known: dict[Row, int] = {}
            rows = [known.setdefault(visits[type(node)].row(node), len(known)) for node in found.nodes]
            self.rows, self.forms = np.array(rows), list(known)
        self.shapes = [shape_at(parts) for _, parts in self.forms]

    def of(self, some: Ints) -> Group:
        """The group of some nodes."""
        row = self.rows[some[0]]
        cls, (shape, places) = self.forms[row][0], self.shapes[row]
        visit, first = self.visits[cls], self.first[some]
        vectors = iter(visit.tables([self.found.nodes[k] for k in some.tolist()]) if visit.has_vectors else ())
        columns = [next(vectors) if k is None else self.found.children[first + k] for k in places]
        return Group(cls.__name__, shape, some, tuple(columns))


def _levels(found: _Nodes, at: Ints, groups: _Groups) -> list[Level]:
    """The levels, the trees last."""
    above = int(at.max(initial=-1)) + 1
    last = waiting = np.empty(0, np.int64)
    if found.depths is None:  # where a node is read last
        last = np.full(len(at), -1)
        np.maximum.at(last, found.children, np.repeat(at, found.counts))
        last[found.tops] = above
    inner = np.flatnonzero(found.counts)
    codes = (at * len(groups.forms) + groups.rows)[inner]
    inner = inner[np.argsort(codes, kind="stable")]
    made: list[list[Group]] = [[] for _ in range(above + 1)]
    for some in np.split(inner, np.flatnonzero(np.diff(np.sort(codes))) + 1) if inner.size else ():
        made[at[some[0]]].append(groups.of(some))
    levels: list[Level] = []
    for k, level in enumerate(made):
        columns = [one for group in level for one in group.columns if not isinstance(one, Table)]
        if k == above:
            columns = [found.tops]
        kept = waiting[last[waiting] > k]
        sources = read = np.concatenate(columns)
        if found.depths is None:
            once = np.unique(read)
            read = once if len(once) < len(read) else read
            sources = np.concatenate([read, kept[~np.isin(kept, read)]])
            waiting = np.concatenate([kept, *[group.nodes for group in level]])
        levels.append(Level(tuple(level), tuple(columns), kept, sources, len(read)))
    return levels


@final
@frozen(eq=False)
class _Nodes:
    """The nodes, each once, with their classes and how many children each has; trees and children are their numbers."""

    nodes: list[Any]
    classes: Ints
    counts: Ints
    tops: Ints
    children: Ints
    """The children, in the order of the nodes that hold them."""
    depths: Ints | None
    """The distance of each node from its root; None where nodes are shared."""


@final
@frozen(eq=False)
class _Layer:
    """The nodes that lie equally deep, those of a class beside each other, with the children of all in order."""

    nodes: list[Any]
    classes: Ints
    counts: Ints
    numbers: Ints
    """The numbers of the nodes in the order in which they were given."""
    children: list[Any]


def _unshared(kind: Data[Any], visits: dict[type[Any], Visit], trees: list[Any]) -> _Nodes | None:
    """Nodes layer by layer; None if one stands twice."""
    layers: list[_Layer] = []
    seen: list[Ints] = []
    size = most = 0
    given = trees
    while given:
        seen.append(np.fromiter(map(id, given), np.int64, len(given)))
        layer = _layer(kind, visits, given, size)
        layers.append(layer)
        size, given = size + len(given), layer.children
        if size + len(given) >= most:  # all are compared whenever they have become twice as many
            if _repeats(seen):
                return None
            most = 2 * (size + len(given))
    if _repeats(seen):
        return None
    return _Nodes(
        nodes=[node for layer in layers for node in layer.nodes],
        classes=np.concatenate([layer.classes for layer in layers]),
        counts=np.concatenate([layer.counts for layer in layers]),
        tops=layers[0].numbers,
        children=_joined([layer.numbers for layer in layers[1:]]),
        depths=np.repeat(np.arange(len(layers)), [len(layer.nodes) for layer in layers]),
    )


def _layer(kind: Data[Any], visits: dict[type[Any], Visit], given: list[Any], start: int) -> _Layer:
    """One layer, whose nodes are numbered from `start` on."""
    number_of = {cls: k for k, cls in enumerate(visits)}
    try:
        classes = np.fromiter(map(number_of.__getitem__, map(type, given)), np.int64, len(given))
    except KeyError:
        raise _stranger(kind, given) from None
    order = np.argsort(classes, kind="stable")
    numbers = np.empty(len(given), np.int64)
    numbers[order] = np.arange(start, start + len(given))
    nodes = [given[k] for k in order.tolist()]
    counts = np.zeros(len(given), np.int64)
    children: list[Any] = []
    begin = 0
    for visit, n in zip(visits.values(), np.bincount(classes, minlength=len(visits)).tolist(), strict=True):
        end = begin + n
        if n and visit.children is not None:
            parts = list(map(visit.children, nodes[begin:end]))
            counts[begin:end] = visit.arity or list(map(len, parts))
            children.extend(chain.from_iterable(parts))
        begin = end
    return _Layer(nodes, classes[order], counts, numbers, children)


def _shared(kind: Data[Any], visits: dict[type[Any], Visit], trees: list[Any]) -> _Nodes:
    """The nodes of trees that may share some, each numbered where it is met first."""
    children_of = {cls: visit.children for cls, visit in visits.items()}
    known: dict[int, int] = {}
    nodes: list[Any] = []
    counts: list[int] = []
    numbers: list[int] = []
    layer = trees
    while layer:
        start = len(nodes)
        for node in layer:
            k = known.setdefault(id(node), len(nodes))
            numbers.append(k)
            if k == len(nodes):
                nodes.append(node)
        layer = []
        for node in nodes[start:]:
            if type(node) not in children_of:
                raise _stranger(kind, [node])
            of = children_of[type(node)]
            parts = () if of is None else of(node)
            counts.append(len(parts))
            layer += parts
    number_of = {cls: k for k, cls in enumerate(visits)}
    classes = np.array([number_of[type(node)] for node in nodes])
    each, n = np.array(numbers), len(trees)
    return _Nodes(nodes, classes, np.array(counts), each[:n], each[n:], None)


def _repeats(some: list[Ints]) -> bool:
    """Tell if a number stands twice."""
    ordered = np.sort(np.concatenate(some))
    return bool((ordered[1:] == ordered[:-1]).any())


def _joined(some: list[Ints]) -> Ints:
    return np.concatenate(some) if some else np.empty(0, np.int64)


def _stranger(kind: Data[Any], layer: list[Any]) -> TermError:
    """The error for the first node of a layer that is no value of the kind."""
    node = next(node for node in layer if type(node) not in kind.classes)
    return TermError("type", f"{shown(node)} where a value of {kind} is due")


def _depths(found: _Nodes) -> Ints | None:
    """The depth of each node: 0 if no node holds it, else 1 + the largest depth of those that do; None for a cycle."""
    children, counts = found.children, found.counts
    first = np.cumsum(counts) - counts
    depths, waiting = np.zeros(len(counts), np.int64), np.bincount(children, minlength=len(counts))
    ready, depth = np.flatnonzero(waiting == 0), 0
    while ready.size:  # all that hold them are done
        depths[ready] = depth
        sizes = counts[ready]
        below = children[np.repeat(first[ready] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())]
        np.subtract.at(waiting, below, 1)
        ready, depth = np.unique(below[waiting[below] == 0]), depth + 1
    return None if waiting.any() else depths

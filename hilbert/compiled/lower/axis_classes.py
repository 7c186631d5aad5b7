"""The classes of axes of a program: those that one loop runs along; which are written out, and in which order they are.

An axis of a buffer and the variable that is a place along it are of one class, over all nests. So the axes of a model
are found again without a word about spaces: a batch, a hidden layer. Small classes are written out, entry by entry;
a class with most work is the outermost loop, so that what happens for one of its elements stays in registers; the
innermost one is that in which vectors gain most.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, TypeAlias, final

from hilbert.compiled.tree.places import Place, Variable
from hilbert.compiled.tree.statements import For, Nest, Product, blocks, inside
from hilbert.compiled.tree.values import computed, loads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.statements import Statement

Axis: TypeAlias = "Variable | tuple[Buffer, int]"
FEW, SOME, WIDE = 4, 16, 17
"""To write a class out is to make a statement for each of its elements, in place of a loop: s0 = a[0]; s1 = a[1]; ….

Classes of up to FEW elements are written out. So are those of up to SOME elements, where sums run over them and most
statements with them are in a loop over a class of WIDE or more elements, too.
"""
VECTOR = 8
"""The innermost loop, of which the compiler makes instructions on vectors, is over a class of at least this size."""
SUM = 16
"""A sum along the innermost loop costs as much more as work on this many entries: a vector is added up at its end."""
MOST = 128
"""The most statements that the classes of one nest of loops are written out to."""
COLD, MUCH = 64, 10**7
"""A nest is cold if another one runs at least COLD times as many statements as this one, and fewer than MUCH.

In a cold nest only classes of up to FEW elements are written out, to keep the code short. Where the other one runs MUCH
statements or more, which takes milliseconds, or where the code runs often, no nest is cold: zeros of triangular
matrices, which only statements written out leave out, save more time there than the longer code costs.
"""
POINTS, ENTRIES = 2, 32
"""The outermost loop advances by up to POINTS elements where they share a matrix with ENTRIES entries written out.

Then each entry of the matrix is loaded once for all of these elements: t = a[3]; y0 += t * x0; y1 += t * x1.
"""


@final
class AxisClasses:
    """The classes, which are found by the places at which nests read and write."""

    def __init__(self, statements: list[Statement], *, often: bool = False) -> None:
        self._parent: dict[Axis, Axis] = {}
        self._nests = dict(_nests(statements, 1))
        most = max(self._nests.values(), default=0)
        self._cold = {nest for nest, work in self._nests.items() if COLD * work <= most < MUCH and not often}
        rounds = {s.variable for s in inside(statements) if isinstance(s, For) and s.rounds}
        self._batches: list[Variable] = []
        for statement in inside(statements):
            match statement:
                case For(variable, [Product() as product], rounds=False):
                    self._batches.append(variable)
                    for buffer, start in product.ends:
                        self._join(variable, (buffer, [place.variable for place in start].index(variable)))
                case _:  # products in rounds, or alone
                    pass
        self._moved: list[tuple[Variable, Axis]] = []
        for nest in self._nests:
            self._meet(nest)
        self._rounds = {self._find(axis) for v, axis in self._moved if v in rounds} | {*map(self._find, rounds)}
        self._weigh()
        self._outer = self._outermost()
        self._inner = self._innermost()
        self.written = self._written_out()
        self._points = self._at_once(statements)

    def rank(self, axis: Axis, size: int) -> tuple[int, int, int]:
        """The order of an axis: rounds, the outermost class, those written out, others by size, the innermost one."""
        found = self._find(axis)
        number = self._numbers.setdefault(found, len(self._numbers))
        if found in self._rounds:
            return (-1, 0, number)
        if self._outer is not None and size == self._size[self._outer]:
            return (0, 0, number)
        if self.is_written(axis):
            return (1, 0, number)
        return (3, 0, number) if found == self._inner else (2, size, number)

    def is_written(self, axis: Axis) -> bool:
        """Tell if the axis is written out."""
        return self._find(axis) in self.written

    def written_in(self, nest: Nest) -> list[Variable]:
        """The variables of a nest that are written out."""
        is_cold = nest in self._cold
        return [v for v in nest.variables if self.is_written(v) and not (is_cold and v.size > FEW)]

    def points(self, v: Variable) -> int:
        """The number of places along a variable that are done at once."""
        return self._points if self._find(v) == self._outer else 1

    # --- classes ---

    def _find(self, axis: Axis) -> Axis:
        parent = self._parent
        root = axis
        while (above := parent.get(root, root)) is not root:
            root = above
        while axis is not root:
            parent[axis], axis = root, parent.get(axis, root)
        return root

    def _join(self, a: Axis, b: Axis) -> None:
        a, b = self._find(a), self._find(b)
        if a != b:
            self._parent[a] = b

    def _meet(self, nest: Nest) -> None:
        """The classes that a nest puts together; shifted and computed places only move along an axis."""
        for buffer, places in nest.entries:
            for k, place in enumerate(places):
                axis, variable = (buffer, k), place.variable
                if variable is not None and variable.size == buffer.shape[k]:
                    self._join(variable, axis)
                else:
                    self._moved.extend((v, axis) for v in variables_of(place))

    # --- work ---

    def _weigh(self) -> None:
        """The work of each class, and the part of that which is done beside a wide one."""
        self._size, self._numbers = dict[Axis, int](), dict[Axis, int]()
        self._work, self._beside, self._gain = Counter[Axis](), Counter[Axis](), defaultdict[Axis, float](float)
        self._summed: set[Axis] = set()
        for nest, work in self._nests.items():
            sizes = {self._find(v): v.size for v in nest.variables}
            for found, n in sizes.items():
                self._size[found] = n
                self._work[found] += work
                if max((m for other, m in sizes.items() if other != found), default=1) >= WIDE:
                    self._beside[found] += work
            for v in nest.variables:
                found = self._find(v)
                self._gain[found] += work * _gain(nest, v)
                if nest.monoid is not None and not any(v in p.variables for p in nest.places):
                    self._summed.add(found)

    def _is_small(self, found: Axis) -> bool:
        n = self._size[found]
        is_beside = found in self._summed and self._beside[found] > 0.6 * self._work[found]
        return n <= FEW or (n <= SOME and is_beside)

    def _outermost(self) -> Axis | None:
        loops = [found for found in self._size if not self._is_small(found)]
        if not loops:
            return None
        batches = {*map(self._find, self._batches)} & {*loops}
        loops = [*batches] or loops
        most = max(self._work[found] for found in loops)
        loops = [found for found in loops if 3 * self._work[found] >= most]
        return max(loops, key=lambda found: (2 * self._gain[found] < self._work[found], self._size[found]))

    def _innermost(self) -> Axis | None:
        """Of the other classes the one in which vectors gain most."""
        loops = [found for found, n in self._size.items() if n >= VECTOR and found != self._outer]
        return max((found for found in loops if not self._is_small(found)), key=self._gain.__getitem__, default=None)

    def _written_out(self) -> set[Axis]:
        """The classes that are written out, where no nest becomes too long by it."""
        written = {found for found in self._size if self._is_small(found)}
        among: defaultdict[Axis, dict[Buffer, int]] = defaultdict(dict)
        for variable, axis in dict.fromkeys(self._moved):
            if self._find(axis) in written and isinstance(axis, tuple):
                buffer, k = axis
                places = among[self._find(variable)]
                places[buffer] = places.get(buffer, 1) * buffer.shape[k]
        for found, places in among.items():  # entries that are moved within a few, or to their places in a matrix
            n = self._size.get(found, MOST + 1)
            if n <= max(SOME, min(MOST, *places.values())):
                written.add(found)
        for nest in self._nests:
            candidates = [v for v in nest.variables if v.size <= FEW or nest not in self._cold]
            classes = dict.fromkeys(found for v in candidates if (found := self._find(v)) in written)
            inside = sorted(classes, key=lambda found: self._size[found])
            while math.prod(v.size for v in candidates if self._find(v) in written) > MOST:
                written.discard(inside.pop())
        return written

    def _at_once(self, statements: list[Statement]) -> int:
        """The number of places of the outermost class that are done at once: 1 if no nest has a matrix for all."""
        whole = {b for s in inside(statements) if isinstance(s, Product) for b in (s.a, s.b, s.c)}
        if self._outer is None or self._outer in {self._find((b, k)) for b in whole for k in range(len(b.shape))}:
            return 1
        most, sizes = 0, {v.size for nest in self._nests for v in nest.variables if self._find(v) == self._outer}
        within = [nest for nest in self._nests if self._outer in {self._find(v) for v in nest.variables}]
        for buffer, places in (entry for nest in within for entry in nest.entries):
            along = {v for place in places for v in place.variables}
            looped = {self._find(v) for v in along if not self.is_written(v)}
            if looped and self._outer not in looped and not buffer.is_whole:
                most = max(most, math.prod(v.size for v in along if self.is_written(v)))
        return POINTS if most >= ENTRIES and not any(n % POINTS for n in sizes) else 1


def _gain(nest: Nest, v: Variable) -> float:
    """The gain of vectors along a variable of a nest: none where arrays whose order is given lie across.

    A sum along a vector costs about as much as 16 of its entries.
    """
    for buffer, places in nest.entries:
        is_given = buffer.is_whole or buffer.is_ordered or buffer.kind != "work"
        if is_given and stride(buffer, places, v) not in {0, 1}:
            return 0.0
    return 1.0 if any(place.variable == v for place in nest.places) else max(0.0, 1 - SUM / max(v.size, 1))


def stride(buffer: Buffer, places: tuple[Place, ...], v: Variable) -> int | None:
    """The entries from a place in a buffer to the next one along a variable; None where that varies."""
    total = 0
    for place, n in zip(places, buffer.strides, strict=True):
        for atom, k in place.terms:
            if atom == v:
                total += k * n
            elif v in variables_of(Place.of(atom)):
                return None
    return total


def _nests(statements: list[Statement], rounds: int) -> Iterator[tuple[Nest, int]]:
    """All nests, and how many entries are computed by each."""
    for statement in statements:
        if isinstance(statement, Nest):
            yield statement, rounds * math.prod(v.size for v in statement.variables)
        inner = rounds * (statement.variable.size if isinstance(statement, For) else 1)
        for block in blocks(statement):
            yield from _nests(block, inner)


def variables_of(place: Place) -> list[Variable]:
    """The variables that a place depends on, also by the values that it is computed from."""
    read = [inner for value in computed([place]) for load in loads(value) for inner in load.args[1]]
    return [atom for one in (place, *read) for atom in one.atoms if isinstance(atom, Variable)]

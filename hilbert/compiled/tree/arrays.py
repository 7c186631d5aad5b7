"""Arrays of a compiled program: what stands at each place, and the builder that stores them in buffers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, final

import numpy as np
from attrs import frozen

from hilbert.compiled.tree.buffers import Buffer
from hilbert.compiled.tree.places import Place, Variable, along
from hilbert.compiled.tree.statements import UNITS, For, If, Nest
from hilbert.compiled.tree.values import Pool
from hilbert.index.leaf import Entry, Leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.compiled.tree.statements import Statement
    from hilbert.compiled.tree.values import Number, Value

Places: TypeAlias = tuple[Place, ...]
At: TypeAlias = "Callable[[Places], Value]"
"""The function that gives the value at some places."""
Put: TypeAlias = "Callable[[Places], tuple[Places, Value]]"
"""The function that gives the place of a value, and the value, for places along some axes."""
Piece: TypeAlias = "tuple[int, int, Callable[[Places, Place], Value]]"
"""A piece [low, high) of flat axes, and what stands there, at places along the others."""
T = TypeVar("T")


@final
@frozen(eq=False)
class Array:
    """An array of the program that is compiled: `at((i, j))` is the expression of its entry at i, j.

    `buffer` is where the entries are stored; it is None for a view, whose entries are computed wherever one is read: of
    y = 2·x with x stored, y.at((i,)) is the expression 2·x[i]. `views` counts views within each other: 2 for z = y + 1.
    `whole` makes the array that a kernel of the interpreter is given in its place, where some entries are read by
    nothing else and might be ones at which the kernel fails: see `Fill`.
    """

    leaf: Leaf
    at: At
    buffer: Buffer | None = None
    whole: Callable[[], Array] | None = None
    views: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return self.leaf.shape

    @property
    def dtype(self) -> str:
        """The entries' dtype."""
        return self.leaf.dtype


class Unmade(Exception):  # noqa: N818 - says what an operation has no loops for
    """An operation has no loops; the message says which."""


class Loops:
    """The statements made so far, and the buffers of the program.

    Operations say what their results are by `view`, `each`, `total` and `put`.
    """

    has_products = True
    """Products of large matrices are statements of their own."""

    def __init__(self) -> None:
        self.pool = Pool()
        self.statements: list[Statement] = []
        self.buffers: list[Buffer] = []
        self.constants: dict[Any, Buffer] = {}
        self.wanted: Buffer | None = None  # where the next result is stored
        self.doubted: Buffer | None = None  # true where the interpreter is to compute the line
        self.triangles: set[Buffer] = set()  # of lower triangles, with 0 above
        self._names = itertools.count()
        self._made: dict[Any, tuple[list[Statement], int, Statement, Any]] = {}

    # --- the parts ---

    def number(self, number: Number, dtype: str) -> Value:
        """A number."""
        return self.pool.number(number, dtype)

    def variable(self, size: int) -> Variable:
        """A new variable."""
        return Variable(f"v{next(self._names)}", size)

    def buffer(self, shape: tuple[int, ...], dtype: str) -> Buffer:
        """A new buffer, or the one where the next result is wanted."""
        wanted, self.wanted = self.wanted, None
        if wanted is not None and wanted.shape == shape and wanted.dtype == dtype:
            return wanted
        made = Buffer(f"t{next(self._names)}", shape, dtype)
        self.buffers.append(made)
        return made

    def constant(self, array: Any) -> Buffer:
        """A buffer with these numbers; equal ones are one."""
        array = np.ascontiguousarray(array)
        key = (array.tobytes() if array.nbytes < 1 << 16 else id(array), array.shape, array.dtype.name)
        found = self.constants.get(key)
        if found is None:
            name = f"k{len(self.constants)}"
            found = self.constants[key] = Buffer(name, array.shape, array.dtype.name, "constant", array)
        return found

    def of(self, leaf: Leaf, buffer: Buffer) -> Array:
        """The array of a buffer."""
        return Array(leaf, lambda places: self.pool.load(buffer, places), buffer)

    def table(self, entries: Any) -> Callable[[Places], Place]:
        """Integers as places: numbers or affine where they are so, otherwise read."""
        entries = np.asarray(entries, np.int64)
        line = _affine(entries)
        if line is not None:
            first, slopes = line
            return lambda places: sum((p * k for p, k in zip(places, slopes, strict=True)), Place(first))
        buffer = self.constant(entries)
        return lambda places: self.place(self.pool.load(buffer, places))

    @staticmethod
    def place(value: Value) -> Place:
        """An integer as a place."""
        if value.number is not None:
            return Place(int(value.number))
        return value.args[0] if value.name == "place" else Place.of(value)

    # --- results ---

    @staticmethod
    def view(leaf: Leaf, at: At) -> Array:
        """An array that is computed where it is read."""
        return Array(leaf, at)

    @staticmethod
    def row(leaf: Leaf, array: Array, front: Places) -> Array:
        """The entries of an array at some places along its first axes."""
        return Array(leaf, lambda places: array.at((*front, *places)))

    def each(self, leaf: Leaf, at: At) -> Array:
        """An array that is stored, entry by entry."""
        buffer = self.buffer(leaf.shape, leaf.dtype)
        self.put_into(buffer, leaf.shape, lambda places: (places, at(places)))
        return self.of(leaf, buffer)

    def total(
        self, leaf: Leaf, sizes: Sequence[int], at: Callable[[Places, Places], Value], monoid: str = "add"
    ) -> Array:
        """Values put together along some more axes; units of the monoid where there are none."""
        if 0 in sizes:
            return self.each(leaf, lambda _: self.number(UNITS[monoid], leaf.dtype))
        buffer = self.buffer(leaf.shape, leaf.dtype)
        places, variables = self._axes(leaf.shape)
        inner, more = self._axes(sizes)
        monoid_or_none = monoid if any(n != 1 for n in sizes) else None
        self.statements.append(Nest(variables + more, buffer, places, at(places, inner), monoid_or_none))
        return self.of(leaf, buffer)

    def put(self, leaf: Leaf, sizes: Sequence[int], at: Put, monoid: str | None = "add") -> Array:
        """Values put to the places that `at` gives for each place along the axes; 0 elsewhere.

        Without a monoid no two may be put to one place.
        """
        buffer = self.buffer(leaf.shape, leaf.dtype)
        self.begin(buffer)
        self.put_into(buffer, sizes, at, monoid)
        return self.of(leaf, buffer)

    def put_into(self, buffer: Buffer, sizes: Sequence[int], at: Put, monoid: str | None = None) -> None:
        """The same, into a buffer that has begun, or whose entries are all put."""
        places, variables = self._axes(sizes)
        to, value = at(places)
        self.statements.append(Nest(variables, buffer, to, value, monoid, begins=False))

    def begin(self, buffer: Buffer) -> None:
        """Fill a buffer with zeros."""
        zero = self.number(False if buffer.dtype == "bool" else 0 if buffer.dtype == "int64" else 0.0, buffer.dtype)
        self.put_into(buffer, buffer.shape, lambda places: (places, zero))

    def pieces(self, leaf: Leaf, at: int, pieces: Sequence[Piece], axes: int = 1) -> Array:
        """An array in pieces along its axes from `at` on, flat: [low, high) and the value at other places and this."""
        buffer = self.buffer(leaf.shape, leaf.dtype)
        shape, inside = leaf.shape, leaf.shape[at : at + axes]
        for low, high, value in pieces:

            def piece(places: Places, low: int = low, value: Any = value) -> tuple[Places, Value]:
                *others, step = places
                return (*others[:at], *along(step + low, inside), *others[at:]), value(tuple(others), step + low)

            if high > low:
                self.put_into(buffer, (*shape[:at], *shape[at + axes :], high - low), piece)
        return self.of(leaf, buffer)

    def doubt(self, sizes: Sequence[int], at: At) -> None:
        """Let the interpreter compute the line if a truth value holds somewhere along axes: it may say an error."""
        if self.doubted is None:
            self.doubted = self.buffer((), "bool")
            self.doubted.is_whole = True
        found = self.total(Leaf(Entry("bool"), ()), sizes, lambda _, along: at(along), "or").at(())
        self.put_into(self.doubted, (), lambda _: ((), found), "or")

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """Make something by statements under a key, unless these stand in the same list already."""
        statements, found = self.statements, self._made.get(key)
        if found is not None and found[0] is statements and found[2] in statements[found[1] : found[1] + 1]:
            made: T = found[3]
            return made
        new = make()
        self._made[key] = statements, len(statements) - 1, statements[-1], new
        return new

    def aside(self, make: Callable[[], T]) -> T:
        """Call a function that makes arrays, and store none of them where the next result is wanted."""
        kept, self.wanted = self.wanted, None
        made = make()
        self.wanted = kept
        return made

    def copied(self, array: Array) -> Array:
        """The array in a buffer of its own."""
        return self.aside(lambda: self.each(array.leaf, array.at))

    def stored(self, array: Array) -> Buffer:
        """The buffer of an array; a view is stored first."""
        buffer = array.buffer or self.copied(array).buffer
        assert buffer is not None
        return buffer

    def entry(self, array: Array) -> tuple[list[Variable], Value]:
        """Variables along the axes of an array, and what stands there."""
        variables = [self.variable(n) for n in array.shape]
        return variables, array.at(tuple(map(Place.of, variables)))

    def lying(self, array: Array) -> tuple[Buffer, list[int]] | None:
        """The buffer that an array is read from, and the array's axis for each of its own; None if it is computed."""
        variables, value = self.entry(array)
        found = [place.variable for place in value.args[1]] if value.name == "load" else []
        if len(found) != len(variables) or {*found} != {*variables}:
            return None
        return value.args[0], [variables.index(v) for v in found if v is not None]

    def write(self, to: Array, array: Array, front: Places = ()) -> None:
        """Write an array into a buffer, at some places along its first axes."""
        assert to.buffer is not None
        if array.buffer is not to.buffer or front:
            self.put_into(to.buffer, array.shape, lambda places: ((*front, *places), array.at(places)))

    def exchange(self, states: Sequence[Array], new: Sequence[Array]) -> None:
        """Write new states over the old ones; new states that are read from buffers of old ones are copied first."""
        old = {state.buffer for state in states}
        kept: list[Array] = []
        for state, array in zip(states, new, strict=True):
            is_apart = array.buffer is state.buffer or array.buffer not in {None, *old}
            kept.append(array if is_apart else self.copied(array))
        for state, array in zip(states, kept, strict=True):
            self.write(state, array)

    def branch(self, condition: Value, *ways: Callable[[], None]) -> None:
        """One of two lists of statements. The condition is stored, for they may write over its operands."""
        single = Array(Leaf(Entry(condition.dtype), ()), lambda _: condition)
        kept = condition if condition.number is not None else self.copied(single).at(())
        then, otherwise = map(self._apart, ways)
        self.statements.append(If(kept, then, otherwise))

    def rounds(self, size: int, body: Callable[[Place], None]) -> None:
        """Rounds in order; the body makes the statements of one."""
        variable = self.variable(size)
        inner = self._apart(lambda: body(Place.of(variable)))
        if size:
            self.statements.append(For(variable, inner, rounds=True))

    def search(self, size: int, goes: Array, body: Callable[[], None]) -> None:
        """Rounds while a truth value holds, at most so many: the body makes the statements of one, and a new value."""
        inner = self._apart(body)
        self.statements.append(For(self.variable(size), [If(goes.at(()), inner, [])], rounds=True))

    def _apart(self, make: Callable[[], None]) -> list[Statement]:
        """The statements that a function makes, apart from the others."""
        outer, self.statements = self.statements, []
        try:
            make()
            return self.statements
        finally:
            self.statements = outer

    def _axes(self, sizes: Sequence[int]) -> tuple[Places, tuple[Variable, ...]]:
        """Places along axes of these sizes, and their variables; an axis of one entry has none."""
        variables = [self.variable(n) if n != 1 else None for n in sizes]
        places = tuple(Place(0) if v is None else Place.of(v) for v in variables)
        return places, tuple(v for v in variables if v is not None)


def _affine(entries: Any) -> tuple[int, Sequence[int]] | None:
    """first + Σ slope·place, where a table is so."""
    if not entries.size:
        return 0, (0,) * entries.ndim
    first, units = int(entries.flat[0]), np.eye(entries.ndim, dtype=int)
    slopes = [int(entries[(*at,)]) - first if n > 1 else 0 for at, n in zip(units, entries.shape, strict=True)]
    axes = np.ogrid[tuple(map(slice, entries.shape))]
    due = sum((slope * axis for slope, axis in zip(slopes, axes, strict=True)), np.array(first))
    return (first, slopes) if np.array_equal(np.broadcast_to(due, entries.shape), entries) else None

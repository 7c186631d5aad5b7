"""The entries of a pass at one row of X, as expressions: short axes are unrolled, and sums over X are left to a query.

Operations have no second formula for it: each says its loops, as for machine code, and these are read at single places.

>>> from hilbert.index.index import Fin
>>> from hilbert.index.leaf import Entry
>>> from hilbert.program.line.builder import Builder
>>> from hilbert.program.line.operation import Contract
>>> from hilbert.index.spec import Spec
>>> D, X = Fin.of(2), Fin.of(7)
>>> b = Builder([Leaf(Entry("float64"), (D,)), Leaf(Entry("float64"), (X, D))])
>>> line = b.line([b.contract(Spec.of("d", "xd", "x"), 0, 1)])
>>> to = RowLoops(7)
>>> (product,) = to.slots(line)[line.arity :]
>>> print(product.at((to.here,)))
p0[0] * p1[row, 0] + p0[1] * p1[row, 1]
"""

from __future__ import annotations

import itertools
import math
from functools import reduce
from typing import TYPE_CHECKING, Any, Never, TypeVar, final

from diff.blocks.queries.sql_text import FUNCTIONS
from hilbert import SpaceError
from hilbert.compiled.tree.arrays import Array, Loops, Unmade
from hilbert.compiled.tree.buffers import Buffer
from hilbert.compiled.tree.places import Place, Variable, flat
from hilbert.compiled.tree.statements import UNITS
from hilbert.compiled.tree.values import unfinished
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.source_line import computed_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hilbert.compiled.tree.arrays import Piece, Places, Put
    from hilbert.compiled.tree.values import Value
    from hilbert.program.line.line import Line, Step

T = TypeVar("T")
WIDE, MOST = 4096, 50_000
"""The most entries of an array for each row, and the most expressions of a pass."""
KINDS = ("float64", "int64", "bool")
REMEDY = "take the rows out of the database, data=relation.to_arrow_table(), and write engine=None"
"""The advice of an error for a function that is no query."""


@final
class RowLoops(Loops):
    """Arrays at one row: `here` is its place along X, the axis of `size` entries, and no other axis has this size."""

    has_products = False

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.here = Place.of(Variable("row", size))
        self.puts: dict[Array, list[tuple[Places, Value]]] = {}
        """The places and values that each row adds to an array that is a segment sum over X."""
        self._seen: set[Value] = set()

    def slots(self, line: Line) -> list[Array]:
        """The array of each slot; raises SpaceError for a step that is no part of a query, with its place."""
        made = list[Array]()
        for k, leaf in enumerate(line.slots[: line.arity]):
            array = self.of(leaf, Buffer(f"p{k}", leaf.shape, leaf.dtype, "in"))
            made.append(self._known(array) if self.size in leaf.shape else array)
        for slot, step in enumerate(line.steps, line.arity):
            try:
                made.append(self._step(step, [made[a] for a in step.args], line.slots[slot]))
            except Unmade as unmade:
                raise refused(str(unmade), step) from None
        return made

    def _step(self, step: Step[Any], operands: Sequence[Array], leaf: Leaf) -> Array:
        """The array of a step, whose entries are written out."""
        operation = step.operation
        name = str(getattr(operation, "name", type(operation).__name__))
        if isinstance(operation, ControlFlow) or isinstance(leaf, Bundle):
            msg = f"a query has no loops, branches or systems ({name})"
            raise Unmade(msg)
        if leaf.dtype not in KINDS:
            msg = f"a query computes in float64, and {name} makes {leaf.dtype}"
            raise Unmade(msg)
        array: Array | None = operation.loops(self, operands, leaf)
        if array is None:
            msg = f"SQL has no {name}"
            raise Unmade(msg)
        return array if array in self.puts else self._known(array)

    def _known(self, array: Array) -> Array:
        """The array whose entries are written out; one at a computed place is chosen among them."""
        entries = [(places, self._checked(array.at(places))) for places in self.places(array.shape)]
        return Array(array.leaf, self._read(entries, array.dtype))

    def _read(self, entries: Sequence[tuple[Places, Value]], dtype: str) -> Callable[[Places], Value]:
        """The sum of the values whose places are some given ones; of truth values, if one of these is true."""
        pool, is_truth = self.pool, dtype == "bool"
        zero = self.number(False if is_truth else 0 if dtype == "int64" else 0.0, dtype)
        known: dict[Places, list[Value]] = {}
        for places, value in entries:
            known.setdefault(places, []).append(value)
        computed = [entry for entry in entries if not self._is_plain(entry[0])]

        def at(places: Places) -> Value:
            found = list(known.get(places, ()))
            for to, value in computed if self._is_plain(places) else entries:
                apart = [(a, b) for a, b in zip(to, places, strict=True) if a != b]
                if not apart or any(a.number is not None and b.number is not None for a, b in apart):
                    continue
                one = value
                for a, b in apart:
                    one = pool.select(pool.node("eq", (pool.integer(a), pool.integer(b)), "bool"), one, zero)
                found.append(one)
            return reduce(lambda a, b: pool.logic("or", a, b) if is_truth else pool.add(a, b), found or [zero])

        return at

    def _is_plain(self, places: Places) -> bool:
        return all(place.number is not None or place == self.here for place in places)

    def _checked(self, value: Value) -> Value:
        """The value; raises Unmade where no query says it."""
        for one in unfinished(value, self._seen):
            self._seen.add(one)
            if one.name == "call" and one.args[0] not in FUNCTIONS:
                msg = f"SQL has no {one.args[0]}"
                raise Unmade(msg)
            if one.name == "place" and one.args[0].variables:
                msg = "the number of a row is no part of it"
                raise Unmade(msg)
            if len(self._seen) > MOST:
                msg = f"the query has more than {MOST} expressions"
                raise Unmade(msg)
        return value

    def places(self, sizes: Sequence[int]) -> Iterator[Places]:
        """All places along some axes; along X that of the row."""
        count = math.prod(n for n in sizes if n != self.size)
        if count > WIDE:
            msg = f"an array has {count} entries for each row, and a query at most {WIDE}"
            raise Unmade(msg)
        every: list[list[Place]] = [[self.here] if n == self.size else [Place(k) for k in range(n)] for n in sizes]
        return itertools.product(*every)

    # --- what operations say ---

    def each(self, leaf: Leaf, at: Callable[[Places], Value]) -> Array:
        """The entries, one by one."""
        return Array(leaf, at)

    def total(
        self, leaf: Leaf, sizes: Sequence[int], at: Callable[[Places, Places], Value], monoid: str = "add"
    ) -> Array:
        """The values put together along short axes; along X what each row adds."""
        if self.size in sizes and monoid != "add":
            msg = f"the only total of a query is a sum, not {monoid}"
            raise Unmade(msg)
        inner = [*self.places(sizes)]

        def entry(places: Places) -> Value:
            if not inner:
                return self.number(UNITS[monoid], leaf.dtype)
            total = at(places, inner[0])
            for more in inner[1:]:
                both = (total, at(places, more))
                total = self.pool.logic(monoid, *both) if monoid in {"and", "or"} else getattr(self.pool, monoid)(*both)
            return total

        return Array(leaf, entry)

    def put(self, leaf: Leaf, sizes: Sequence[int], at: Put, monoid: str | None = "add") -> Array:
        """Values at computed places; where these are not along X, each row adds its own to a segment sum."""
        pairs = [at(places) for places in self.places(sizes)]
        array = Array(leaf, self._read(pairs, leaf.dtype))
        if self.size in sizes and self.size not in leaf.shape:
            self.puts[array] = [(places, self._checked(value)) for places, value in pairs]
        return array

    def pieces(self, leaf: Leaf, at: int, pieces: Sequence[Piece], axes: int = 1) -> Array:
        """The value of the piece that a place is in."""

        def entry(places: Places) -> Value:
            step = flat(places[at : at + axes], leaf.shape[at : at + axes])
            if step.number is None:
                self._in_rounds()
            value = next(value for low, high, value in pieces if low <= step.offset < high)
            return value((*places[:at], *places[at + axes :]), step)

        return Array(leaf, entry)

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """Call a function that makes arrays."""
        return make()

    def buffer(self, *_: Any) -> Never:
        """Raise Unmade: a query stores nothing."""
        self._in_rounds()

    put_into = stored = rounds = branch = buffer  # type: ignore[assignment]

    def _in_rounds(self) -> Never:
        msg = "it is computed in rounds, and a query has none"
        raise Unmade(msg)


def refused(why: str, step: Step[Any] | None = None) -> SpaceError:
    """The error for a function that is no query, with the place of the step."""
    error = SpaceError(f"no query for DuckDB: {why}: {REMEDY}")
    if step is not None:
        computed_by(error, step.place)
    return error

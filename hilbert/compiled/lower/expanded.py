"""Nests as loops: small axes written out, the others in the order of their classes.

Loops of one size have one variable in all nests, so that those that stand at the same place of a nest can be merged.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from hilbert.compiled.lower.axis_classes import AxisClasses
from hilbert.compiled.tree.places import Place, Variable
from hilbert.compiled.tree.statements import UNITS, For, If, Nest, Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.compiled.tree.arrays import Loops
    from hilbert.compiled.tree.places import Atom
    from hilbert.compiled.tree.statements import Statement
    from hilbert.compiled.tree.values import Pool, Value


def expanded(to: Loops) -> list[Statement]:
    """The statements of a program with loops for its nests, and its buffers in the order of these loops."""
    classes = AxisClasses(to.statements)
    for buffer in to.buffers:
        if not buffer.is_whole:
            axes = range(len(buffer.shape))
            buffer.order = tuple(sorted(axes, key=lambda k: classes.rank((buffer, k), buffer.shape[k])))
    return Expansion(to.pool, classes).statements(to.statements)


class Expansion:
    """The change of nests into loops."""

    def __init__(self, pool: Pool, classes: AxisClasses) -> None:
        self.pool, self.classes = pool, classes

    def statements(self, statements: list[Statement]) -> list[Statement]:
        """The statements, with loops for nests."""
        made: list[Statement] = []
        for statement in statements:
            match statement:
                case Nest():
                    made += self.nest(statement)
                case For(variable, body, rounds):
                    made.append(For(variable, self.statements(body), rounds))
                case If(condition, then, otherwise):
                    made.append(If(condition, self.statements(then), self.statements(otherwise)))
                case _:  # what takes whole arrays stays
                    made.append(statement)
        return made

    def nest(self, nest: Nest) -> list[Statement]:
        """The loops of a nest, and those before it that fill the buffer with units."""
        classes = self.classes
        ranks = {v: classes.rank(v, v.size) for v in nest.variables}
        looped = sorted((v for v in nest.variables if not classes.is_written(v)), key=ranks.__getitem__)
        written = [v for v in nest.variables if classes.is_written(v)]
        loops, names = [], dict[Variable, Place]()
        for v in looped:
            count = sum(w.size == v.size for w in loops)
            loops.append(Variable(f"i{v.size}" + (f"_{count}" if count else ""), v.size))
            names[v] = Place.of(loops[-1])
        totals: dict[tuple[Place, ...], Value] = {}
        for numbers in itertools.product(*(range(v.size) for v in written)):
            places, value = self._at(nest, names | dict(zip(written, map(Place, numbers), strict=True)))
            if nest.monoid is not None and places in totals:
                value = put_together(self.pool, nest.monoid, totals[places], value)
            totals[places] = value
        free = [v for v in loops if all(any(p.variable == v for p in places) for places in totals)]
        if nest.monoid is None or (nest.begins and len(free) == len(loops)):
            return _around(loops, [Store(nest.buffer, places, value) for places, value in totals.items()])
        first: list[Statement] = []
        if nest.begins:
            unit = self.pool.number(UNITS[nest.monoid], nest.buffer.dtype)
            first = _around(free, [Store(nest.buffer, places, unit) for places in totals])
        stores: list[Statement] = [Store(nest.buffer, p, v, nest.monoid) for p, v in totals.items()]
        return first + _around(loops, stores)

    def _at(self, nest: Nest, at: dict[Variable, Place]) -> tuple[tuple[Place, ...], Value]:
        """Places and value of a nest at some values of its variables."""
        known: dict[Value, Value] = {}
        place = substitution(self.pool, at, known)
        return tuple(map(place, nest.places)), self.pool.changed(nest.value, known, place)


def substitution(pool: Pool, at: dict[Variable, Place], known: dict[Value, Value]) -> Callable[[Place], Place]:
    """The change of a place by places for variables."""

    def atom(a: Atom) -> Atom | int | Place:
        if isinstance(a, Variable):
            return at.get(a, a)
        if hasattr(a, "remainder"):
            inner = place(a.of)
            return inner.modulo(a.n) if a.remainder else inner.divided(a.n)
        value = pool.changed(a, known, place)
        if value.number is not None:
            return int(value.number)
        return value.args[0] if value.name == "place" else value  # type: ignore[no-any-return]

    def place(p: Place) -> Place:
        return p.over(atom)

    return place


def put_together(pool: Pool, monoid: str, a: Value, b: Value) -> Value:
    """Two values put together."""
    if monoid in {"or", "and"}:
        return pool.logic(monoid, a, b)
    made: Value = getattr(pool, monoid)(a, b)
    return made


def _around(loops: list[Variable], body: list[Statement]) -> list[Statement]:
    for variable in reversed(loops):
        body = [For(variable, body)]
    return body

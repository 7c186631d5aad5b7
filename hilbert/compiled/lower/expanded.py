"""Nests as loops: small axes written out, the others in the order of their classes.

Loops of one size have one variable in all nests, so that those that stand at the same place of a nest can be merged.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from hilbert.compiled.lower.axis_classes import MOST, AxisClasses, stride
from hilbert.compiled.tree.places import Place, Variable
from hilbert.compiled.tree.rewriting import Rewriting
from hilbert.compiled.tree.statements import UNITS, For, Nest, Product, Store, on_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.compiled.tree.arrays import Loops
    from hilbert.compiled.tree.statements import Statement
    from hilbert.compiled.tree.values import Pool, Value

STRIP = 8
"""The most places that are done in one pass of the innermost loop: what a vector machine has registers for."""


def expanded(to: Loops, *, often: bool = False) -> list[Statement]:
    """The statements of a program with loops for its nests, and its buffers in the order of these loops."""
    classes = AxisClasses(to.statements, often=often)
    for buffer in to.buffers:
        if not buffer.is_whole and not buffer.is_ordered:
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
                case For(variable, [Product() as product], rounds=False):
                    own = Variable(f"i{variable.size}", variable.size)
                    made.append(For(own, Rewriting(self.pool, {variable: Place.of(own)}).statements([product])))
                case _:  # what takes whole arrays stays
                    made.append(on_blocks(statement, self.statements))
        return made

    def nest(self, nest: Nest) -> list[Statement]:
        """The loops of a nest, and those before it that fill the buffer with units."""
        classes = self.classes
        ranks = {v: classes.rank(v, v.size) for v in nest.variables}
        written = classes.written_in(nest)
        looped = sorted((v for v in nest.variables if v not in written), key=lambda v: (ranks[v], -reach(nest, v)))
        strip = {v: by for v in looped if (by := classes.points(v)) > 1}
        strip = strip or strip_of(nest, looped, math.prod(v.size for v in written))
        loops, names = list[Variable](), dict[Variable, Place]()
        for v in looped:
            by = strip.get(v, 1)
            count = sum(w.size == v.size // by for w in loops)
            name = f"i{v.size // by}" + (f"_{count}" if count else "")
            loops.append(Variable(name, v.size // by, is_rolled=classes.is_written(v)))
            names[v] = Place.of(loops[-1]) * by
        totals: dict[tuple[Place, ...], Value] = {}
        steps = [*(v.size for v in written), *strip.values()]
        for numbers in itertools.product(*map(range, steps)):
            at = dict(zip([*written, *strip], numbers, strict=True))
            change = Rewriting(self.pool, names | {v: names.get(v, Place(0)) + n for v, n in at.items()})
            places, value = change.places(nest.buffer, nest.places), change.value(nest.value)
            if nest.monoid is not None and places in totals:
                value = self.pool.again(nest.monoid, (totals[places], value), value.dtype)
            totals[places] = value
        plain: list[Statement] = [Store(nest.buffer, places, value) for places, value in totals.items()]
        free = [v for v in loops if all(any(v in p.variables for p in places) for places in totals)]
        if nest.monoid is None or (nest.begins and len(free) == len(loops)):
            return around(loops, plain)
        unit = self.pool.number(UNITS[nest.monoid], nest.buffer.dtype)
        first = around(free, [Store(nest.buffer, places, unit) for places in totals]) if nest.begins else []
        stores: list[Statement] = [Store(nest.buffer, p, v, nest.monoid) for p, v in totals.items()]
        return first + around(loops, stores)


def reach(nest: Nest, v: Variable) -> int:
    """The most entries from a place of a nest to the next one along a variable."""
    return max(abs(stride(*entry, v) or 0) for entry in nest.entries)


def strip_of(nest: Nest, looped: list[Variable], written: int) -> dict[Variable, int]:
    """The variable of which several places are done in one pass of the innermost loop, and how many.

    For a matrix times a vector the variable runs along one of the two axes of the matrix. Sums along the other axis
    stay in registers, or are loaded and stored once for all these places. Matrices that the program makes have no
    strips: their entries are made in the same loop, along the variable.
    """
    if nest.monoid != "add" or len(looped) < 2:
        return {}
    v, inner = looped[-2:]
    free = [any(p.variable == u for p in nest.places) for u in (v, inner)]
    is_beside = all(stride(*entry, inner) in {0, 1} for entry in nest.entries)
    given = [entry for entry in nest.entries[1:] if entry[0].kind in {"in", "constant"}]
    is_given = any(stride(*entry, v) and stride(*entry, inner) == 1 for entry in given)
    by = max((k for k in range(1, STRIP + 1) if not v.size % k and k * written <= MOST), default=1)
    return {v: by} if by > 1 and is_given and free[0] != free[1] and is_beside else {}


def around(loops: Sequence[Variable], body: list[Statement]) -> list[Statement]:
    """Loops over variables, the first one outermost, around statements."""
    for variable in reversed(loops):
        body = [For(variable, body)]
    return body

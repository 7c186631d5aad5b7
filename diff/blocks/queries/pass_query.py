"""A pass over data as one statement of SQL: a scan, columns that are computed in turn, and sums of these by keys.

Where sums go by several keys, columns are computed once, into a table of the statement that each of its parts reads.
Rows of shared arrays at ids are joined; of the parts each joins those that it reads again, so that the table is narrow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import field, frozen

from diff.blocks.queries.row_loops import RowLoops, refused
from diff.blocks.queries.sql_text import literal, named, operation, select, written, written_place
from hilbert.base.once import once
from hilbert.compiled.tree.places import Place, flat
from hilbert.index.index import Fin
from hilbert.program.blocks.block_line import Block, resized
from hilbert.program.line.operation import Contract, Reduce

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from diff.blocks.queries.relation_columns import RelationColumn
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.values import Value
    from hilbert.index.index import Index
    from hilbert.program.blocks.passes import Pass

Array: TypeAlias = "npt.NDArray[Any]"
ROWS = '"hilbert rows"'
"""The name of the relation in a statement."""
LEVELS = 300
"""The most columns that are computed one from the other."""


@final
@frozen
class Summand:
    """The terms that each row adds to the entry of a total at some places, of which some are computed."""

    total: int
    places: tuple[Place, ...]
    value: Value

    @property
    def keys(self) -> tuple[Place, ...]:
        """The places that are computed: the rows that have the same ones are a group."""
        return tuple(dict.fromkeys(place for place in self.places if place.number is None))


@final
@frozen(eq=False)
class Table:
    """A shared array as a table: a row for each place along its axes `by`, and of the other entries those `columns`."""

    buffer: Buffer
    by: tuple[int, ...]
    columns: dict[int, None] = field(factory=dict)

    @property
    def name(self) -> str:
        """The name of the table in statements."""
        return f'"hilbert {self.buffer.name} by {"".join(map(str, self.by))}"'

    def rows(self, array: Array) -> dict[str, Array]:
        """The columns of the array."""
        moved = np.moveaxis(array, self.by, range(len(self.by)))
        n = math.prod(moved.shape[: len(self.by)])
        flat_rows = moved.reshape(n, -1)
        return {"key": np.arange(n)} | {f"c{k}": np.ascontiguousarray(flat_rows[:, k]) for k in self.columns}


@final
@frozen(eq=False)
class PassQuery:
    """The totals of a pass, by the keys of groups of rows, and the columns that are computed for each row."""

    part: Pass
    groups: Sequence[Sequence[Summand]]
    levels: Mapping[Value, int]
    tables: dict[str, Table] = field(factory=dict)

    def statement(self, columns: Sequence[RelationColumn], number: Callable[[Buffer, int], str]) -> str:
        """The text, with columns for the inputs along X; `number` writes entries of shared arrays."""
        first, names = len(self.part.known), {value: f"x{k}" for k, value in enumerate(self.levels)}
        carried = _Stage(first, self.tables, names, number, dot="_")
        depth = max(self.levels.values(), default=0)
        layers = [
            [f"{carried.defined(value)} AS {names[value]}" for value, at in self.levels.items() if at == level]
            for level in range(1, depth + 1)
        ]
        is_one = len(self.groups) == 1
        stages = [carried if is_one else _Stage(first, self.tables, names, number, dot=".") for _ in self.groups]
        width = max(len(ones) for ones in self.groups)
        keys = max(len(ones[0].keys) if ones else 0 for ones in self.groups)
        ends = [
            _sums(k, stage, ones, width, keys) for k, (stage, ones) in enumerate(zip(stages, self.groups, strict=True))
        ]
        read = {name: None for stage in (carried, *stages) for name in stage.inputs}
        entries = [
            f"{cast} AS v{k}_{j}"
            for k, column in enumerate(columns, first)
            for j, cast in enumerate(column.casts)
            if f"v{k}_{j}" in read
        ]
        good = " AND ".join(check for column in columns for check in column.checks) or "TRUE"
        parts = [f"r0 AS ({select([*entries, f'({good}) AS good'], ROWS)})"]
        if carried.joins:
            taken = ["r0.*", *(f"{name.replace('_', '.')} AS {name}" for name in carried.taken)]
            parts.append(f"r1 AS ({select(taken, f'r0{carried.joined}')})")
        for layer in layers:
            parts.append(f"r{len(parts)} AS ({select(['*', *layer], f'r{len(parts) - 1}')})")
        source = f"r{len(parts) - 1}"
        if not is_one:
            kept = dict.fromkeys(name for stage in stages for name in (*stage.inputs, *stage.named))
            parts.append(f"m AS MATERIALIZED ({select([*kept, 'good'], source)})")
            source = "m"
        selects = [
            select(end, source + ("" if is_one else stage.joined) + by)
            for stage, (end, by) in zip(stages, ends, strict=True)
        ]
        return "WITH " + ",\n".join(parts) + "\n" + "\nUNION ALL\n".join(selects)

    def totals(self, found: Mapping[str, Any], size: int) -> list[Array] | None:
        """The totals, from the columns of the result; None where not all rows are checked."""
        branch = np.asarray(found["part"])
        if int(np.ma.filled(found["good"], 0)[branch == 0].sum()) != size:
            return None
        line = self.part.line
        made = [np.zeros(line.slots[k].shape, line.slots[k].dtype) for k in line.outputs]
        for k, ones in enumerate(self.groups):
            rows = branch == k
            columns = {name: np.ma.filled(column, 0)[rows] for name, column in found.items()}
            keys = {place: columns[f"key{j}"] for j, place in enumerate(ones[0].keys if ones else ())}
            for j, one in enumerate(ones):
                sums = columns[f"s{j}"]
                at = tuple([keys[p] if p.number is None else p.offset for p in one.places])
                made[one.total][at] += sums if one.keys else sums.sum()
        return made


def _sums(k: int, stage: _Stage, ones: Sequence[Summand], width: int, keys: int) -> tuple[list[str], str]:
    """The columns of a part of the statement, and the end that groups its rows."""
    own = [stage.place(place) for place in (ones[0].keys if ones else ())]
    columns = [f"{k} AS part", f"{'NULL' if k else 'count(*) FILTER (WHERE good)'} AS good"]
    columns += [f"{of} AS key{j}" for j, of in enumerate([*own, *(["NULL"] * (keys - len(own)))])]
    columns += [f"sum({stage.value(one.value)}) AS s{j}" for j, one in enumerate(ones)]
    columns += [f"NULL AS s{j}" for j in range(len(ones), width)]
    return columns, f" GROUP BY {', '.join(own)}" if own else ""


@final
class _Stage:
    """Expressions at one place of a statement, and what they read there.

    Columns of joined tables are t0.c1; where they are carried to later places, t0_c1.
    """

    def __init__(
        self,
        first: int,
        tables: dict[str, Table],
        names: Mapping[Value, str],
        number: Callable[[Buffer, int], str],
        dot: str,
    ) -> None:
        self.first, self.tables, self.names, self.number, self.dot = first, tables, names, number, dot
        self.joins: dict[tuple[str, str], str] = {}
        self.inputs, self.named, self.taken = dict[str, None](), dict[str, None](), dict[str, None]()

    @property
    def joined(self) -> str:
        """The tables that are joined."""
        return "".join(f" JOIN {table} {t} ON {t}.key = {key}" for (table, key), t in self.joins.items())

    def value(self, value: Value) -> str:
        """The expression of a value."""
        return written(value, self._known)

    def defined(self, value: Value) -> str:
        """The expression that a name stands for."""
        return operation(value, self._known)

    def place(self, place: Place) -> str:
        """The expression of a place."""
        return written_place(place, lambda one: self._entry(one, self.dot))

    def _known(self, value: Value) -> str | None:
        name = self.names.get(value)
        if name is not None:
            self.named[name] = None
        return name or self._entry(value, self.dot)

    def _entry(self, value: Value, dot: str) -> str | None:
        """The column of an entry, or a number; None for other values."""
        if value.name != "load":
            return None
        buffer, places = value.args
        by = tuple([k for k, place in enumerate(places) if place.number is None])
        others = [k for k in range(len(places)) if k not in by]
        rest = flat(tuple([places[k] for k in others]), tuple([buffer.shape[k] for k in others])).offset
        if buffer.kind == "in" and int(buffer.name[1:]) >= self.first:
            self.inputs[f"v{buffer.name[1:]}_{rest}"] = None
            return f"v{buffer.name[1:]}_{rest}"
        if not by:
            return literal(buffer.values.flat[rest].item()) if buffer.values is not None else self.number(buffer, rest)
        table = self.tables.setdefault(f"{buffer.name}{by}", Table(buffer, by))
        table.columns[rest] = None
        at = flat(tuple([places[k] for k in by]), tuple([buffer.shape[k] for k in by]))
        key = written_place(at, lambda one: self._entry(one, "."))
        alias = self.joins.setdefault((table.name, key), f"t{len(self.joins)}")
        self.taken[f"{alias}_c{rest}"] = None
        return f"{alias}{dot}c{rest}"


@once
def pass_query(part: Pass, index: Index) -> PassQuery:
    """The query of a pass; raises SpaceError where the pass is none, with the step."""
    if part.results:
        raise refused(f"a result has an entry for each row of {index}, and rows of a relation have no order")
    if part.has_halo or part.places:
        raise refused(f"f reads other rows of {index} than a step's own, and rows of a relation have no order")
    ends = [part.line.steps[k - part.line.arity] for k in part.line.outputs]
    for step, monoid in zip(ends, part.monoids, strict=True):
        if monoid != "add" or not isinstance(step.operation, Reduce | Contract):
            written = {"argmax": "max or argmax", "argmin": "min or argmin"}.get(monoid, monoid)
            raise refused(f"the only totals over {index} of a query are sums, not {written}", step)
    size = 1 + max([n for leaf in part.line.slots for n in leaf.shape], default=0)
    line = resized(part.line, {index: Fin(Block, size)})
    to = RowLoops(size)
    slots = to.slots(line)
    groups: dict[tuple[Place, ...], list[Summand]] = {(): []}
    for k, slot in enumerate(line.outputs):
        array = slots[slot]
        pairs = to.puts.get(array) or [(places, array.at(places)) for places in to.places(array.shape)]
        for one in [Summand(k, places, value) for places, value in pairs if value.number != 0.0]:
            groups.setdefault(one.keys, []).append(one)
    alone = groups.pop(())
    least = min(groups, key=lambda keys: len(groups[keys]), default=())
    if len(alone) > len(groups.get(least, [])):
        least = ()
    ordered = [[*groups.pop(least, []), *alone], *groups.values()]  # sums of all rows are those of groups, summed
    levels = named(one.value for ones in ordered for one in ones)
    if max(levels.values(), default=0) > LEVELS:
        raise refused(f"more than {LEVELS} columns are computed one from the other")
    return PassQuery(part, ordered, levels)

"""The columns of a relation of DuckDB that are rows of arguments: their types, and what is checked of each row."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from diff.blocks.queries.sql_text import quoted
from hilbert import SpaceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.blocks.data_arguments import DataArguments
    from hilbert.index.leaf import Leaf

WHOLE = frozenset(["tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint"])
TYPES = {"f": WHOLE | {"hugeint", "uhugeint", "float", "double", "decimal"}, "i": WHOLE, "b": frozenset(["boolean"])}
"""The types of DuckDB whose values are numbers, ids and truth values."""
SQL = {"f": "DOUBLE", "i": "BIGINT", "b": "BOOLEAN"}


@final
@frozen
class Named:
    """A column of a relation, by its name."""

    name: str
    type: Any


@final
@frozen(eq=False)
class RelationTable:
    """A relation as a table of columns."""

    relation: Any

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self.relation.columns)

    def __getitem__(self, name: str) -> Named:
        """A column."""
        return Named(name, self.relation.types[self.relation.columns.index(name)])


@final
@frozen
class RelationColumn:
    """A column that has the rows of an array of the arguments; `data` is the name of the part."""

    data: str
    column: str
    leaf: Leaf
    shape: tuple[int, ...]

    @property
    def entries(self) -> list[str]:
        """The entries of a row."""
        places = itertools.product(*map(range, self.shape))
        return [quoted(self.column) + "".join(f"[{k + 1}]" for k in at) for at in places]

    @property
    def casts(self) -> list[str]:
        """The entries of a row, as expressions are computed with them; ids that are too large are NULL."""
        return [f"TRY_CAST({entry} AS {SQL[_kind(self.leaf)]})" for entry in self.entries]

    @property
    def checks(self) -> list[str]:
        """The conditions on the entries of a row."""
        n = None if self.leaf.entry.index is None else self.leaf.entry.index.size
        return [f"{one} IS NOT NULL" if n is None else f"{one} BETWEEN 0 AND {n - 1}" for one in self.entries]

    @property
    def faults(self) -> list[str]:
        """Aggregates that find what is wrong: how many rows have no value, and the least and the largest."""
        none = " OR ".join(f"{entry} IS NULL" for entry in self.entries) or "FALSE"
        ends = [f"{of}({', '.join(self.entries)})" for of in ("least", "greatest")]
        is_id = self.leaf.entry.index is not None and self.entries
        least, greatest = (f"min({ends[0]})", f"max({ends[1]})") if is_id else ("NULL", "NULL")
        return [f"count(*) FILTER (WHERE {none})", least, greatest]

    def fault(self, missing: int, least: Any, greatest: Any) -> str | None:
        """The text of what is wrong; None where nothing is."""
        if missing:
            return f"column {self.column!r} has no value in {missing} rows: fill them, or leave them out"
        index = self.leaf.entry.index
        if index is None or least is None or (least >= 0 and greatest < index.size):
            return None
        return (
            f"data {self.data!r}: {greatest if least >= 0 else least} is no element of {index}, 0 to {index.size - 1}"
        )


def relation_columns(known: DataArguments, relation: Any, given: Sequence[str]) -> dict[int, RelationColumn]:
    """The columns for the arrays of some arguments, by number; raises SpaceError for a column of another type."""
    made: dict[int, RelationColumn] = {}
    for name in given:
        if name in relation.columns and len(known.spaces[name].leaves) > 1:
            msg = f"column {name!r} is a record: the relation needs a column for each part, select {quoted(name)}.*"
            raise SpaceError(msg)
        for k, (data, column, leaf) in enumerate(known.parts(RelationTable(relation), name), known.first[name]):
            if known.index not in leaf.axes:
                msg = f"{data!r} has no axis {known.index}: give {name} as a vector, not as data"
                raise SpaceError(msg)
            at = leaf.axes.index(known.index)
            shape = (*leaf.shape[:at], *leaf.shape[at + 1 :])
            due = SQL[_kind(leaf)] + "".join(f"[{n}]" for n in reversed(shape))
            if not _fits(column.type, _kind(leaf), shape):
                own = quoted(column.name)
                if _kind(leaf) == "i" and column.type.id in {"varchar", "enum"} and not shape:
                    msg = f"column {column.name!r} has labels, of type {column.type}, and a query takes the numbers of "
                    msg += f"the elements of {leaf.entry.index}, BIGINT from 0: join a table (label, number) of them, "
                    msg += f"or select list_position(labels, {own}) - 1 AS {own} for the list of labels, "
                    raise SpaceError(msg + "or take the rows out of the database, data=relation.to_arrow_table()")
                msg = f"column {column.name!r} has the type {column.type}, and {data!r} takes {due}: "
                raise SpaceError(msg + f"select CAST({own} AS {due}) AS {own}")
            made[k] = RelationColumn(data, column.name, leaf, shape)
    return made


def _kind(leaf: Leaf) -> str:
    """f for numbers, i for ids, b for truth values."""
    return "i" if leaf.entry.index is not None else "b" if leaf.dtype == "bool" else "f"


def _fits(of: Any, kind: str, shape: tuple[int, ...]) -> bool:
    """Tell if a type of DuckDB is that of arrays of a shape, with entries of a kind."""
    for n in shape:
        if of.id != "array" or dict(of.children)["size"] != n:
            return False
        of = dict(of.children)["child"]
    return of.id in TYPES[kind]

"""Running the passes of a function as queries of DuckDB, on the rows of a relation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from diff.blocks.queries.pass_query import ROWS, PassQuery, pass_query
from diff.blocks.queries.relation_columns import RelationTable, relation_columns
from diff.blocks.queries.row_loops import refused
from diff.blocks.queries.sql_text import literal, select
from hilbert import SpaceError
from hilbert.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from diff.blocks.data_arguments import DataArguments
    from diff.blocks.queries.relation_columns import RelationColumn
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.program.blocks.passes import Pass, Passes
    from hilbert.program.blocks.run_blocks import Passed

    Progress: TypeAlias = Callable[[int, int], object]


def is_relation(data: Any) -> bool:
    """Tell if data are a relation of DuckDB."""
    return type(data).__name__ == "DuckDBPyRelation"


def is_connection(engine: Any) -> bool:
    """Tell if an engine is a connection to DuckDB."""
    return type(engine).__name__ == "DuckDBPyConnection"


@final
@frozen(eq=False)
class Queries:
    """The passes of a function on the rows of a relation.

    `given` are the arguments whose rows the relation has, and `columns` those of their arrays, by number.
    """

    passes: Passes
    relation: Any
    given: Sequence[str]
    columns: Mapping[int, RelationColumn]
    queries: Mapping[Pass, PassQuery]

    @staticmethod
    def of(passes: Passes, known: DataArguments, relation: Any) -> Queries:
        """The queries of passes; raises SpaceError for what is no query."""
        if not is_relation(relation):
            msg = "a connection to DuckDB as engine= runs on a relation of this connection, such as "
            raise SpaceError(msg + f"data=connection.table(name), not on {shown(relation)}")
        if passes.constants:
            raise refused(f"f has a constant along {passes.index}: make it an argument, and a column of the relation")
        given = known.given(RelationTable(relation))
        columns = relation_columns(known, relation, given)
        for part in passes.passes:
            other = next((k for k in part.lanes if k not in columns), None)
            if other is not None:
                name = next(name for name, k in reversed([*known.first.items()]) if k <= other)
                msg = f"{name} has an entry for each row of {passes.index}: the relation needs a column {name!r}"
                raise SpaceError(msg)
        queries = {part: pass_query(part, passes.index) for part in passes.passes}
        return Queries(passes, relation, given, columns, queries)

    @property
    def text(self) -> str:
        """The statements, one for each pass; $p2_0 stands for entry 0 of the pass's shared array 2."""
        return "\n\n".join(
            query.statement(self._columns(part), lambda buffer, k: f"${buffer.name}_{k}") + ";"
            for part, query in self.queries.items()
        )

    def passed(self, connection: Any, progress: Progress | None = None) -> Passed:
        """The function that gives the totals of a pass; `progress` is called after each."""
        ((is_standard,),) = connection.execute("SELECT current_setting('ieee_floating_point_ops')").fetchall()
        if not is_standard:
            msg = "DuckDB is set to divide in a way of its own: run SET ieee_floating_point_ops = true"
            raise SpaceError(msg)
        done, size = [0], self.passes.index.size

        def passed(part: Pass, known: dict[int, Any]) -> dict[int, Any]:
            made = self._totals(connection, part, known)
            done[0] += size
            if progress is not None:
                progress(done[0], size * len(self.queries))
            return made

        return passed

    def _totals(self, connection: Any, part: Pass, known: Mapping[int, Any]) -> dict[int, Any]:
        query, columns = self.queries[part], self._columns(part)
        arrays = [np.asarray(known[k]) for k in part.known]
        text = query.statement(columns, partial(_number, arrays))
        made = list[str]()
        try:
            for table in query.tables.values():
                buffer, name = table.buffer, table.name.strip('"')
                array = buffer.values if buffer.values is not None else arrays[int(buffer.name[1:])]
                connection.register(name, table.rows(array))
                made.append(name)
            totals = query.totals(self._relation(text).fetchnumpy(), self.passes.index.size)
        finally:
            for name in made:
                connection.unregister(name)
        if totals is None:
            raise SpaceError(self._fault(columns))
        return dict(zip(part.totals, totals, strict=True))

    def _columns(self, part: Pass) -> list[RelationColumn]:
        return [self.columns[k] for k in part.lanes]

    def _relation(self, text: str) -> Any:
        """The result of a query; raises SpaceError where it does not find the tables that are registered for it."""
        from duckdb import CatalogException

        try:
            return self.relation.query(ROWS.strip('"'), text)
        except CatalogException as error:
            if "name hilbert " not in str(error):
                raise
            msg = "the relation is one of another connection than engine=: give its own"
            raise SpaceError(msg) from error

    def _fault(self, columns: Sequence[RelationColumn]) -> str:
        """The text of what is wrong with the rows."""
        asked = select(["count(*)", *(fault for column in columns for fault in column.faults)], ROWS)
        found: Iterator[Any] = iter(self._relation(asked).fetchall()[0])
        count, index = next(found), self.passes.index
        for column in columns:
            fault = column.fault(next(found), next(found), next(found))
            if fault is not None:
                return fault
        if count != index.size:
            return f"the data have {count} rows, and {index} has {index.size} elements"
        return "the relation has changed while it was read"


def _number(arrays: Sequence[Any], buffer: Buffer, k: int) -> str:
    return literal(arrays[int(buffer.name[1:])].flat[k].item())

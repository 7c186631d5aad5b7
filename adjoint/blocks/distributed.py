"""Functions of parameters and data, where the data are read block by block, here or on other machines.

>>> import numpy as np
>>> from diff import each, fun, square
>>> from hilbert import Fin, R
>>> X = Fin.of(1000)
>>> f = fun(R, R**X, R**X)(lambda a, x, y: each(lambda x, y: square(a * x - y), x, y).sum())
>>> g = distributed(f, over=X, size=128)
>>> x = np.linspace(0.0, 1.0, 1000)
>>> print(round(g(R.vec(0.5), data={"x": x, "y": 0.25 * x}).array, 6))
20.84376
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from attrs import frozen

from adjoint.blocks.blocked import made_in_blocks
from diff.blocks.blocked_program import in_blocks
from diff.blocks.data_arguments import DataArguments
from diff.blocks.data_tables import columns_of, is_table, tables_of
from diff.blocks.engines import mapped_by
from diff.blocks.queries.run_queries import Queries, is_connection, is_relation
from hilbert import Map, SpaceError, Type, Vec
from hilbert.errors import shown
from hilbert.program.blocks.fact import Lane, steered
from hilbert.program.blocks.passes import Between
from hilbert.program.line.source_line import computed_by
from linmap.term.protocols import Elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from diff.blocks.blocked_program import BlockedProgram, BlockReport
    from diff.function_cost import Running
    from hilbert.index.index import Index
    from hilbert.program.blocks.tasks import Rows

    Progress: TypeAlias = Callable[[int, int], object]

W = TypeVar("W", bound=Type)
LARGE = 1_000_000
"""The entries of a constant along X from which on it is to be an argument."""


def distributed(f: Map[Any, W], over: Index, size: int | None = None) -> Distributed[W]:
    """The function g with `g(*arguments, data=…, engine=…)`, whose data are read, and run, block by block.

    `data` gives, by the names of arguments, their rows along the index set `over`; the other arguments are vectors, in
    their order. Blocks and results are those of `blocked(f, over, size)`: they do not depend on the engine. Raises
    SpaceError as `blocked` does, and for a constant of f with an entry for each of more than 10⁶ rows.
    """
    p = made_in_blocks("distributed", f, over, size, 1)
    for stage in p.passes.stages:
        if isinstance(stage, Between) and any(isinstance(p.passes.facts[k], Lane) for k in stage.known):
            step = next((step for step in stage.line.steps if step.place is not None), stage.line.steps[0])
            error = SpaceError(f"no blocks along {over}: {steered(over)}")
            computed_by(error, step.place)
            raise error
    for constant in p.passes.constants:
        if constant.size > LARGE:
            msg = f"f has a constant of {constant.size} entries along {over}: make it an argument, and give it as data"
            raise SpaceError(msg)
    return Distributed(p)


@final
@frozen(eq=False, repr=False)
class Distributed(Elsewhere, Generic[W]):
    """A function whose data are read block by block: see `distributed`."""

    blocked: BlockedProgram[Any, W]

    def __str__(self) -> str:
        return str(self.blocked)

    __repr__ = __str__

    @property
    def report(self) -> BlockReport:
        """The sizes of the blocks, and the passes."""
        return self.blocked.report

    @property
    def function(self) -> BlockedProgram[Any, W]:
        """The function in blocks."""
        return self.blocked

    def orders(self) -> tuple[Any, ...]:
        """The contractions that run in another order, the passes, and the arguments that data give rows for."""
        return *self.blocked.orders(), self._arguments.text()

    def costed(self) -> Running:
        """The cost of the function in blocks: what a block holds is the memory that a worker needs."""
        return self.blocked.costed()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments, which `data` gives rows for."""
        return self.blocked.names

    def __call__(self, *arguments: Vec[Any], data: Any, engine: Any = None, progress: Progress | None = None) -> Vec[W]:
        """The value, for vectors that are the arguments without data, in their order.

        `data` is a table: a mapping from names of arguments to rows, a frame of pandas, a table of pyarrow, or
        `parquet(path)`. Rows are arrays, columns, or arrays of Dask or zarr. Or `data` are tables that have the next
        rows each: a list, an iterator for a single pass, or a function that gives an iterator. `engine` is an executor,
        a Dask client, or a function like `map`; by default blocks run here. `progress(done, total)` is called with the
        rows that are done, of all passes. Or `data` is a relation of DuckDB, and `engine` its connection: then each
        pass is a query, which `sql` shows.
        """
        p = self.blocked
        known = self._arguments
        if is_relation(data) and not is_connection(engine):
            msg = "data= is a relation of DuckDB: give its connection, engine=connection, or take the rows out of it, "
            raise SpaceError(msg + "data=relation.to_arrow_table()")
        queries = self._queries(data) if is_connection(engine) else None
        if queries is not None:
            given, columns = queries.given, queries.relation.columns
            sources: dict[int, Any] = dict.fromkeys(queries.columns)
        elif is_table(data):
            given, columns, feed = known.given(data), columns_of(data), None
            sources = dict(known.whole(data, given))
        else:
            first, tables = tables_of(data, len(p.passes.passes))
            given, columns = known.given(first), columns_of(first)
            copied = engine is not None and not isinstance(data, (list, tuple))  # a reader may fill one buffer again
            sources = dict.fromkeys(known.sources(first, given)[0])
            feed = known.feed(given, tables, copied=copied)
        left = known.due(columns, given, len(arguments))
        for name, vector in zip(left, arguments, strict=True):
            space = known.spaces[name]
            if not isinstance(vector, Vec) or vector.space != space:
                msg = f"{name} is {shown(vector)}, where a vector of {space} is due"
                raise SpaceError(msg)
            sources |= enumerate(vector.leaves, known.first[name])
        if queries is not None:
            passed = queries.passed(engine, progress)
            return self._plain.by_passes(passed, [sources[k] for k in range(len(p.dom.leaves))])
        mapped = None if engine is None else mapped_by(engine, "engine=")
        if progress is not None:
            mapped = partial(_watched, mapped or map, progress, len(p.passes.passes) * p.over[0].size, [0])
        return p.on_sources([sources[k] for k in range(len(p.dom.leaves))], mapped, feed)

    def sql(self, data: Any) -> str:
        """The statements that run on a relation of DuckDB, one for each pass.

        `$p2_0` stands for entry 0 of the shared array p2 of the pass, in the order of its entries; `"hilbert p0 by 0"`
        is the shared array p0, with a row for each place along its axis 0. Raises SpaceError for what is no query.
        """
        return self._queries(data).text

    @property
    def _plain(self) -> BlockedProgram[Any, W]:
        """The function in blocks of the interpreter: what is shared by all rows is computed here."""
        p = self.blocked
        return in_blocks(p.map, p.over, p.given, p.threads, is_compiled=False)

    @property
    def _arguments(self) -> DataArguments:
        return DataArguments.of(self.blocked.over[0], self.names, self.blocked.dom)

    def _queries(self, data: Any) -> Queries:
        return Queries.of(self._plain.passes, self._arguments, data)


def _watched(
    mapped: Any, progress: Progress, total: int, done: list[int], task: Any, rows: Iterable[Rows]
) -> Iterator[Any]:
    """The results, with a call of `progress` after each."""
    counts = list[int]()

    def counted() -> Iterator[Rows]:
        for row in rows:
            counts.append(row[1] - row[0])
            yield row

    for k, found in enumerate(mapped(task, counted())):
        done[0] += counts[k]
        progress(done[0], total)
        yield found

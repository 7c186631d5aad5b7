"""Arguments of a function whose rows come from a table, or from tables that have the next rows each.

A table is a mapping from names to rows, a frame of pandas, a table of pyarrow, or `parquet(path)`. The rows of an
argument that is a record are a table of its parts, or columns with their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import evolve, frozen

from diff.blocks.data_sources import Checked, source_of_rows
from diff.blocks.data_tables import column_of, columns_of, is_table, meant
from hilbert import Copower, Fin, SpaceError, Type
from hilbert.errors import shown
from hilbert.index.leaf import Leaf
from hilbert.program.blocks.sources import Held, Shifted
from hilbert.space.space import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hilbert.index.index import Index
    from hilbert.program.blocks.run_blocks import Feed
    from hilbert.program.blocks.tasks import Rows

Sources: TypeAlias = "dict[int, Checked]"
"""The sources of arrays of the arguments, by the numbers of these arrays."""


@final
@frozen
class DataArguments:
    """The arguments of a function, by their names: their spaces, and the number of the first array of each."""

    index: Index
    spaces: Mapping[str, Type]
    first: Mapping[str, int]

    @staticmethod
    def of(index: Index, names: Sequence[str], dom: Type) -> DataArguments:
        """The arguments of a function with some domain."""
        parts = dom.parts if len(names) > 1 else (dom,)
        if len(parts) != len(names):
            msg = f"distributed(f, over=X): f on {dom} names {len(names)} arguments: write f with one for each part"
            raise SpaceError(msg)
        starts = [sum(len(part.leaves) for part in parts[:k]) for k in range(len(parts))]
        return DataArguments(index, dict(zip(names, parts, strict=True)), dict(zip(names, starts, strict=True)))

    def text(self) -> str:
        """A line for the arguments that are vectors, and one for those that may have rows in data."""
        named = {
            name: [f"{name}.{one}" for one in _names(space)] if len(_names(space)) == len(space.leaves) else [name]
            for name, space in self.spaces.items()
        }
        vectors, rows = list[str](), list[str]()
        for name, space in self.spaces.items():
            if not all(self.index in leaf.axes for leaf in space.leaves):
                vectors.append(f"{name} ∈ {space}")
                continue
            for one, leaf in zip(named[name] * len(space.leaves), space.leaves, strict=False):
                others = tuple(axis for axis in leaf.axes if axis != self.index)
                rows.append(f"{one} ∈ {type_of(Leaf(leaf.entry, others))}")
        text = [f"vectors: {', '.join(vectors)}"] if vectors else []
        return "\n".join([*text, f"data: for each element of {self.index} {', '.join(rows) or 'nothing'}"])

    def given(self, table: Any) -> list[str]:
        """The arguments whose rows a table has; raises SpaceError where a mapping has other names."""
        columns = columns_of(table)
        found = {name: [name] if name in columns else _names(space) for name, space in self.spaces.items()}
        found = {name: used for name, used in found.items() if used and all(one in columns for one in used)}
        used = {one for names in found.values() for one in names}
        if isinstance(table, Mapping) and any(name not in used for name in columns):
            parts = {one: name for name, space in self.spaces.items() for one in _names(space)}
            other = next((name for name in columns if name not in {*used, *self.spaces, *parts}), None)
            if other is None:
                raise SpaceError(self._lacks(columns, next(parts[name] for name in columns if name not in used)))
            near = meant(other, [name for name in (*self.spaces, *parts) if name not in columns])
            msg = f"data has {shown(other)}{near}, and the arguments are {', '.join(self.spaces)}"
            raise SpaceError(msg + self._unnamed)
        return [*found]

    def due(self, columns: Sequence[str], given: Sequence[str], arguments: int) -> list[str]:
        """The arguments that are vectors, in their order; raises SpaceError where there is not a vector for each."""
        left = [name for name in self.spaces if name not in given]
        if arguments == len(left):
            return left
        rows = [name for name in left if all(self.index in leaf.axes for leaf in self.spaces[name].leaves)]
        if rows and arguments == len(left) - len(rows):
            raise SpaceError(self._lacks(columns, rows[0]))
        have, names = ", ".join(given) or "no argument", ", ".join(left) or "none"
        msg = f"the data have {have}: a vector is due for each of the other arguments, {names}; "
        msg += f"{arguments} were given"
        raise SpaceError(msg + self._unnamed)

    def _lacks(self, columns: Sequence[str], name: str) -> str:
        """The text for an argument whose column, or a part of which, is missing."""
        parts = [part for part in _names(self.spaces[name]) if part not in columns]
        one = parts[0] if parts else name
        of = f", a part of {name}" if parts else ""
        near = meant(one, [column for column in columns if column not in self.spaces])
        have = ", ".join(map(str, columns)) or "nothing"
        return f"the data have no column {one!r}{of}{near}: they have {have}; for each row of {self.index} one is due"

    @property
    def _unnamed(self) -> str:
        """The way out where an argument is a sum, whose parts have no names."""
        for name, space in self.spaces.items():
            if len(space.leaves) > 1 and not _names(space):
                text = f"; {name} ∈ {space} is a sum without names: write a function with an argument for each part, "
                return text + "such as fun(P, P, X, Y)(lambda p, v, x, y: hvp(f, 0)(p, x, y, v))"
        return ""

    def sources(self, table: Any, given: Sequence[str]) -> tuple[Sources, int]:
        """The sources of the arrays of some arguments, and the number of rows, which is that of all."""
        found: Sources = {}
        counts: dict[int, str] = {}
        for name in given:
            columns = columns_of(table)
            if name not in columns and not _names(self.spaces[name]):
                msg = f"a later part of the data has no {name!r}: it has {', '.join(map(str, columns)) or 'nothing'}"
                raise SpaceError(msg)
            for k, (part, of, leaf) in enumerate(self.parts(table, name), self.first[name]):
                found[k], n = self._checked(of, part, leaf)
                counts.setdefault(n, part)
        if len(counts) > 1:
            (n, one), (m, other), *_ = counts.items()
            msg = f"data {one!r} have {n} rows, and data {other!r} have {m}"
            raise SpaceError(msg)
        return found, next(iter(counts), 0)

    def parts(self, table: Any, name: str) -> list[tuple[str, Any, Leaf]]:
        """The parts of an argument by their names, the rows that a table has of each, and their leaves."""
        space = self.spaces[name]
        every = _rows(column_of(table, name) if name in columns_of(table) else table, name, space)
        return [(part, rows, leaf) for (part, rows), leaf in zip(every, space.leaves, strict=True)]

    def _checked(self, rows: Any, name: str, leaf: Leaf) -> tuple[Checked, int]:
        """The source of the rows of an array, and their number."""
        if self.index not in leaf.axes:
            msg = f"{name!r} has no axis {self.index}: give {name.partition('.')[0]} as a vector, not as data"
            raise SpaceError(msg)
        if type(self.index) is not Fin and hasattr(rows, "iloc"):
            msg = f"data {name!r} is a column with labels of its own, and so has {self.index}: give the numbers, "
            raise SpaceError(msg + "column.to_numpy(), in the order of the labels of the set")
        source, n = source_of_rows(rows, name)
        return Checked(source, name, leaf, leaf.axes.index(self.index)), n

    def _none(self, number: int) -> Held:
        """The array of an argument over a set without elements."""
        leaf = [leaf for space in self.spaces.values() for leaf in space.leaves][number]
        return Held(np.zeros(leaf.shape, leaf.dtype), leaf.axes.index(self.index))

    def whole(self, table: Any, given: Sequence[str]) -> Sources:
        """The sources of a table that has all rows; raises SpaceError for more or fewer."""
        found, n = self.sources(table, given)
        if given and n != self.index.size:
            msg = f"the data have {n} rows, and {self.index} has {self.index.size} elements"
            raise SpaceError(msg)
        return found

    def feed(self, given: Sequence[str], tables: Callable[[], Iterable[Any]], *, copied: bool) -> Feed:
        """All elements, in the parts in which tables have their rows, copied if the next may lie in the same memory."""

        def fed(numbers: Sequence[int], known: Sequence[Any]) -> Iterator[Rows]:
            start, size = 0, self.index.size
            if not size:
                yield 0, 0, [of or self._none(k) for k, of in zip(numbers, known, strict=True)]
                return
            for table in tables():
                found, n = self.sources(table, given)
                if start + n > size:
                    msg = f"the data have {start + n} rows or more, and {self.index} has {size} elements"
                    raise SpaceError(msg)
                if n:
                    rows = {k: evolve(one, source=Shifted(one.source, start)) for k, one in found.items()}
                    end = start + n
                    sent = {k: one.sent(start, end) for k, one in rows.items()}
                    sent = {k: one.copied() for k, one in sent.items()} if copied else sent
                    others = {k: of.sent(start, end) for k, of in zip(numbers, known, strict=True) if of is not None}
                    yield start, end, [others[k] if k in others else sent[k] for k in numbers]
                    start = end
            if start != size:
                msg = f"the data have {start} rows, and {self.index} has {size} elements"
                raise SpaceError(msg)

        return fed


def _names(space: Type) -> list[str]:
    """The names of the parts of a record, or of a family of records."""
    return list(getattr(space, "names", None) or getattr(getattr(space, "base", None), "names", None) or ())


def _parts(space: Type) -> Sequence[Type]:
    """The parts of a record, or for a family of records the families of each part."""
    if not isinstance(space, Copower):
        return space.parts
    return [Copower(part, space.index) for part in space.base.parts]


def _rows(rows: Any, name: str, space: Type) -> list[tuple[str, Any]]:
    """The rows of each array of an argument, with its name."""
    if len(space.leaves) == 1 and not _names(space):
        return [(name, rows)]
    if not _names(space):
        msg = f"data {name!r} are the rows of a sum without names, {space}: make it a record"
        raise SpaceError(msg)
    if not is_table(rows):
        msg = f"data {name!r} is {shown(rows)}, and the rows of a record are a table of its parts, "
        raise SpaceError(msg + f"{{{_names(space)[0]!r}: …}}, or columns with their names")
    columns, made = columns_of(rows), list[tuple[str, Any]]()
    for part, of in zip(_names(space), _parts(space), strict=True):
        if part not in columns:
            near = meant(part, [column for column in columns if column not in _names(space)])
            msg = f"data {name!r} lack the part {part!r}{near}: {', '.join(columns)}"
            raise SpaceError(msg)
        made += _rows(column_of(rows, part), f"{name}.{part}", of)
    return made

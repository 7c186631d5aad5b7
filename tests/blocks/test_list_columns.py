"""Columns of lists, in Arrow, pandas, DuckDB and Parquet files, are vectors for each row; groups are read once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hilbert.all as hb
from diff.blocks import parquet_columns
from diff.blocks.list_columns import unlisted
from hilbert import SpaceError

N = 50


class Row(hb.Axis, size=N): ...


class Feature(hb.Axis, size=3): ...


class Two(hb.Axis, size=2): ...


V, M = (hb.R**Feature.set) ** Row.set, (hb.R ** (Two.set * Feature.set)) ** Row.set
rng = np.random.default_rng(0)
X, A = rng.standard_normal((N, 3)), rng.standard_normal((N, 2, 3))
weighted: Any = hb.fun(hb.R**Feature.set, V)(lambda w, xs: hb.each(lambda x: hb.square(w @ x), xs).sum())
g = hb.distributed(hb.value_and_grad(weighted, 0), over=Row.set, size=7)
AT = (hb.R**Feature.set).random(rng)
WANT = g(AT, data={"xs": X})


def same(a: Any, b: Any) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a.leaves, b.leaves, strict=True))


def fixed(x: Any) -> Any:
    """A fixed-size list array of the rows of an array."""
    made = pa.array(x.ravel())
    for n in x.shape[:0:-1]:
        made = pa.FixedSizeListArray.from_arrays(made, n)
    return made


COLUMNS = {
    "fixed": fixed(X),
    "variable": pa.array(X.tolist()),
    "large": pa.array(X.tolist(), pa.large_list(pa.float64())),
    "a part": fixed(np.concatenate([X, X]))[N:],
    "chunks": pa.chunked_array([fixed(X[:9]), fixed(X[9:])]),
    "objects": pd.Series(list(X), index=range(N)[::-1]),
    "lists": pd.Series(X.tolist()),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_lists_are_vectors(kind: str, tmp_path: Path) -> None:
    column = COLUMNS[kind]
    assert same(g(AT, data={"xs": column}), WANT)
    with ThreadPoolExecutor(2) as pool:
        assert same(g(AT, data={"xs": column}, engine=pool), WANT)
    if not hasattr(column, "iloc"):
        pq.write_table(pa.table({"xs": column}), tmp_path / "x.parquet", row_group_size=11)
        assert same(g(AT, data=hb.parquet(tmp_path / "x.parquet")), WANT)


def test_lists_of_lists_are_matrices() -> None:
    squares: Any = hb.fun(M)(lambda a: hb.square(a).sum())
    h = hb.distributed(squares, over=Row.set, size=7)
    for column in (fixed(A), pa.array(A.tolist()), pd.Series(list(A))):
        assert np.isclose(h(data={"a": column}).array, np.square(A).sum())
        assert np.array_equal(unlisted(column), A)


def test_rows_of_a_database_that_are_taken_out() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    rows = connection.sql("SELECT [sin(i), i, 1]::DOUBLE[3] AS xs FROM range(50) t(i)")
    want = g(AT, data={"xs": np.stack([np.sin(np.arange(N)), np.arange(N), np.ones(N)], 1)})
    for table in (rows.to_arrow_table(), rows.df(), rows.fetchnumpy()):
        assert all(np.allclose(a, b) for a, b in zip(g(AT, data=table).leaves, want.leaves, strict=True))


def changed(k: int, row: Any) -> list[Any]:
    return [row if j == k else x for j, x in enumerate(X.tolist())]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (None, r"no value in 1 rows \(9\): fill them"),
        ([1.0, None, 2.0], r"no value in 1 rows \(9\): fill them"),
        ([1.0, 2.0], r"3 entries in row 7, and 2 in row 9: "),
    ],
)
def test_rows_that_are_no_vectors(row: Any, text: str, tmp_path: Path) -> None:
    rows = pa.array(changed(9, row))
    tables = [{"xs": rows}, {"xs": pd.Series(changed(9, row))}] if row != [1.0, None, 2.0] else [{"xs": rows}]
    for table in tables:
        with pytest.raises(SpaceError, match=r"data 'xs', rows 7 to 13: .*" + text):
            g(AT, data=table)
    pq.write_table(pa.table({"xs": rows}), tmp_path / "x.parquet")
    with pytest.raises(SpaceError, match=r"column 'xs' of .*x\.parquet has " + text.replace("row 7", "row 0")):
        g(AT, data=hb.parquet(tmp_path / "x.parquet"))


@pytest.mark.parametrize("count", [1, 5, 8])
def test_a_group_is_read_once(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where blocks are shorter than groups, and there are many columns."""
    path = tmp_path / "x.parquet"
    names = [f"c{k}" for k in range(count)]
    columns = {name: rng.standard_normal(N) for name in names}
    pq.write_table(pa.table(columns), path, row_group_size=11)
    read = list[tuple[tuple[str, ...], int]]()
    group = parquet_columns.Column.group

    def counted(self: Any, k: int) -> Any:
        read.append((self.names, k))
        return group(self, k)

    monkeypatch.setattr(parquet_columns.Column, "group", counted)
    body = f"lambda {', '.join(names)}: ({' + '.join(names)}).sum()"
    h = hb.distributed(hb.fun(*[hb.R**Row.set] * count)(eval(body)), over=Row.set, size=4)  # noqa: S307
    assert np.isclose(h(data=hb.parquet(path)).array, sum(a.sum() for a in columns.values()))
    assert sorted(read) == sorted(((name,), k) for name in names for k in range(5))
    monkeypatch.setattr(parquet_columns, "BYTES", 0)
    h(data=hb.parquet(path))
    assert len(parquet_columns._GROUPS) == parquet_columns.LEAST


def test_groups_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    table = pa.table({"xs": pa.array(X.tolist())})
    with pq.ParquetWriter(path, table.schema) as file:
        for part in (table[:0], table[:20], table[:0], table[20:]):
            file.write_table(part)
    assert same(g(AT, data=hb.parquet(path)), WANT)


def test_a_masked_list_has_no_value() -> None:
    rows = np.empty(3, object)
    rows[:] = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert unlisted(np.ma.array(rows, mask=False)).tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    with pytest.raises(SpaceError, match=r"no value in 1 rows \(8\)"):
        unlisted(np.ma.array(rows, mask=[False, True, False]), 7)


def test_the_group_that_was_read_longest_ago_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, read = tmp_path / "x.parquet", list[int]()
    pq.write_table(pa.table({"x": np.arange(50.0)}), path, row_group_size=10)
    column, group = hb.parquet(path)["x"], parquet_columns.Column.group
    monkeypatch.setattr(parquet_columns, "BYTES", 0)

    def counted(self: Any, k: int) -> Any:
        read.append(k)
        return group(self, k)

    monkeypatch.setattr(parquet_columns.Column, "group", counted)
    for k in (0, 1, 0, 2, 0, 1):
        assert column.read(10 * k, 10 * k + 3).tolist() == [10.0 * k, 10.0 * k + 1, 10.0 * k + 2]
    assert read == [0, 1, 2, 1]

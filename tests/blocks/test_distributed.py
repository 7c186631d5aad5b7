"""`distributed`: rows from tables of all kinds, from files, and in parts; errors name the data and the rows."""

from __future__ import annotations

import itertools
import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hilbert.all as hb
from hilbert import SpaceError

N = 1000


class Row(hb.Axis, size=N): ...


class Person(hb.Axis, size=7): ...


class Feature(hb.Axis, size=3): ...


class Rates(hb.Record):
    """A rate for each person, and weights of features."""

    rate: hb.Part[hb.Vector[Person]]
    weight: hb.Part[hb.Vector[Feature]]


class Seen(hb.Record):
    """Who, with what features, and what was seen."""

    who: hb.Part[hb.Copower[hb.Elements[hb.Fin[Person]], hb.Fin[Row]]]
    x: hb.Part[hb.Copower[hb.Vector[Feature], hb.Fin[Row]]]
    y: hb.Part[hb.Vector[Row]]


P, S, V = Rates.space(), Seen.space(), (hb.R**Feature.set) ** Row.set


@hb.fun(P, S)
def loss(p: Any, d: Any) -> Any:
    """Squares of what is left, and of the deviation from its mean: a second pass; the gradient takes three."""
    rest = hb.each(lambda w, x, y: p[Rates.rate][w] + p[Rates.weight] @ x - y, d[Seen.who], d[Seen.x], d[Seen.y])
    return hb.square(rest).sum() + hb.square(rest - rest.mean().rep(rest.space)).mean()


rng = np.random.default_rng(0)
WHO, X, Y = rng.integers(0, 7, N), rng.standard_normal((N, 3)), rng.standard_normal(N)
AT = P.random(rng)
f = hb.value_and_grad(loss, 0)
g = hb.distributed(f, over=Row.set, size=130)
WANT = hb.blocked(f, over=Row.set, size=130)(AT, S.vec((WHO, X, Y)))
ARRAYS = {"who": WHO, "x": X, "y": Y}


def same(a: Any, b: Any) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a.leaves, b.leaves, strict=True))


def as_(kind: str, path: Path) -> Any:
    """The rows in a table of some kind."""
    match kind:
        case "record":
            return {"d": ARRAYS}
        case "columns" | "lists":
            return {k: a.tolist() for k, a in ARRAYS.items()} if kind == "lists" else ARRAYS
        case "files":
            for k, a in ARRAYS.items():
                np.save(path / f"{k}.npy", a)
            return {k: np.load(path / f"{k}.npy", mmap_mode="r") for k in ARRAYS}
        case "pandas":
            frame = pd.DataFrame({"who": WHO, "y": Y, "other": Y}, index=np.arange(N)[::-1])
            return {"d": {"who": frame["who"], "x": X, "y": frame["y"]}}
        case "pyarrow":
            rows = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 3)
            table = pa.table({"who": WHO, "y": Y, "x": rows})
            return {"who": table["who"], "x": X, "y": table["y"]}
        case "parquet":
            columns = {"who": WHO, "y": Y, **{f"x{k}": X[:, k] for k in range(3)}}
            pq.write_table(pa.table(columns), path / "rows.parquet", row_group_size=301)
            rows = hb.parquet(path / "rows.parquet")
            return {"who": rows["who"], "x": rows["x0", "x1", "x2"], "y": rows["y"]}
        case "dask":
            da = pytest.importorskip("dask.array")
            return {"d": {k: da.from_array(a, chunks=77) + 0 for k, a in ARRAYS.items()}}
        case _:
            raise ValueError(kind)


KINDS = ["record", "columns", "lists", "files", "pandas", "pyarrow", "parquet", "dask"]


@pytest.mark.parametrize("kind", KINDS)
def test_tables(kind: str, tmp_path: Path) -> None:
    data = as_(kind, tmp_path)
    assert same(g(AT, data=data), WANT)
    with ThreadPoolExecutor(2) as pool:
        assert same(g(AT, data=data, engine=pool), WANT)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_travel(kind: str, tmp_path: Path) -> None:
    """Tasks and rows are pickled; those of files, and those that are computed, travel as the place or the recipe."""
    sizes = list[int]()

    def engine(task: Any, rows: Any) -> Iterator[Any]:
        of = pickle.loads(pickle.dumps(task))
        for row in rows:
            sent = pickle.dumps(row)
            sizes.append(len(sent))
            yield of(pickle.loads(sent))

    assert same(g(AT, data=as_(kind, tmp_path), engine=engine), WANT)
    if kind in {"files", "parquet"}:
        assert max(sizes) < 2500


def test_a_frame_of_columns() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "unused": 0})
    h = hb.distributed(hb.fun(hb.R, hb.R**Row.set, hb.R**Row.set)(lambda k, a, b: (k * a * b).sum()), over=Row.set)
    want = np.sum(3 * X[:, 0] * X[:, 1])
    for table in (frame, pa.Table.from_pandas(frame)):
        assert np.isclose(h(hb.R.vec(3.0), data=table).array, want)
    assert h.names == ("k", "a", "b")
    assert str(h) == str(h.blocked) != ""


def parts(*ends: int) -> list[dict[str, Any]]:
    starts = (0, *ends[:-1])
    return [{k: a[s:e] for k, a in ARRAYS.items()} for s, e in zip(starts, ends, strict=True)]


@pytest.mark.parametrize("ends", [(N,), (130, 260, 390, 520, 650, 780, 910, N), (1, 1, 400, 999, N), (0, N, N)])
def test_rows_in_parts(ends: tuple[int, ...]) -> None:
    """Parts of any size, also empty ones; a list and a function are read once for each pass."""
    for data in (parts(*ends), lambda: iter(parts(*ends))):
        found = g(AT, data=data)
        for a, b in zip(found.leaves, WANT.leaves, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        with ThreadPoolExecutor(2) as pool:
            assert same(g(AT, data=data, engine=pool), found)


def test_an_iterator_is_read_once() -> None:
    with pytest.raises(SpaceError, match="there are 3 passes over the data, and an iterator gives them once"):
        g(AT, data=iter(parts(N)))
    one = hb.distributed(hb.fun(hb.R**Row.set)(lambda y: y.sum()), over=Row.set)
    rows = ({"y": Y[k : k + 100]} for k in range(0, N, 100))
    assert np.isclose(one(data=rows).array, Y.sum())
    with pytest.raises(SpaceError, match="the iterator is empty: it has no tables, or was read before"):
        one(data=rows)
    again = iter(parts(400, N))
    with pytest.raises(SpaceError, match=r"the function data\(\) gives the same iterator again"):
        g(AT, data=lambda: again)


def test_arguments_that_are_sums_have_no_names() -> None:
    """hvp has the arguments x, a sum of those of f, and v: an argument for each part is written by hand."""
    space = hb.R**Row.set
    h: Any = hb.fun(hb.R, space, space)(lambda a, x, y: hb.exp(a * x * y).sum())
    at, v = hb.R.vec(0.5), hb.R.vec(2.0)
    with pytest.raises(SpaceError, match=r"data has 'y', .*x ∈ .* is a sum without names: write .* hvp\(f, 0\)"):
        hb.distributed(hb.hvp(h, 0), over=Row.set)(at, v, data={"x": Y, "y": Y})
    by_hand: Any = hb.fun(hb.R, hb.R, space, space)(lambda a, v, x, y: hb.hvp(h, 0)(a, x, y, v))
    found = hb.distributed(by_hand, over=Row.set)(at, v, data={"x": Y, "y": Y})
    assert np.isclose(found.array, hb.hvp(h, 0)(at, space.vec(Y), space.vec(Y), v).array)


def test_frames_of_dask_are_named() -> None:
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(pd.DataFrame({"y": Y}), npartitions=3)
    one = hb.distributed(hb.fun(hb.R**Row.set)(lambda y: y.sum()), over=Row.set)
    with pytest.raises(SpaceError, match="data= is a frame of Dask: give its columns as arrays"):
        one(data=frame)
    with pytest.raises(SpaceError, match="data 'y' is a column of Dask of unknown length"):
        one(data={"y": frame["y"]})
    assert np.isclose(one(data={"y": frame["y"].to_dask_array(lengths=True)}).array, Y.sum())


def test_errors_name_the_function_that_was_called() -> None:
    makers: dict[str, Any] = {"blocked": hb.blocked, "distributed": hb.distributed}
    for name, make in makers.items():
        with pytest.raises(SpaceError, match=rf"^{name}\(f, over=X\) takes an index set, not 3"):
            make(f, 3)
        with pytest.raises(SpaceError, match=rf"^{name}\(f, over=X, size=0\)"):
            make(f, Row.set, 0)
        with pytest.raises(SpaceError, match=rf"^{name} takes a map, not 3"):
            make(3, Row.set)


def test_vectors_beside_the_data() -> None:
    """An argument with the axis may be a vector; results with the axis are written."""
    h = hb.distributed(hb.fun(hb.R**Row.set, V)(lambda a, x: hb.each(lambda k, v: k * v, a, x)), over=Row.set, size=99)
    a = (hb.R**Row.set).vec(Y)
    assert np.allclose(h(a, data={"x": X}).array, Y[:, None] * X)
    assert np.allclose(h(a, data=[{"x": X[:300]}, {"x": X[300:]}]).array, Y[:, None] * X)
    assert np.allclose(h((V.vec(X)), data={"a": Y}).array, Y[:, None] * X)
    assert np.allclose(h(data={"a": Y, "x": X}).array, Y[:, None] * X)


def test_progress_counts_rows_of_all_passes() -> None:
    seen = list[tuple[int, int]]()
    g(AT, data=ARRAYS, progress=lambda done, total: seen.append((done, total)))
    assert len(seen) == 24
    assert seen[-1] == (3 * N, 3 * N)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


def moved(k: int, a: Any) -> Any:
    return {**ARRAYS, list(ARRAYS)[k]: a}


def with_(array: Any, at: Any, value: float) -> Any:
    made = np.array(array)
    made[at] = value
    return made


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: {"d": ARRAYS, "z": Y}, "data has 'z', and the arguments are p, d"),
    (lambda: {**ARRAYS, "z": Y}, "data has 'z', and the arguments are p, d"),
    (lambda: {"p": ARRAYS, "d": ARRAYS}, "data 'p' lack the part 'rate': who, x, y"),
    (lambda: {"d": {"who": WHO, "x": X}}, "data 'd' lack the part 'y': who, x"),
    (
        lambda: {"d": Y},
        r"data 'd' is an array of shape \(1000,\) .*, and the rows of a record are a table of its parts",
    ),
    (lambda: {"d": {"who": WHO, "x": X, "Y": Y}}, r"data 'd' lack the part 'y' \(did you mean 'Y'\?\): who, x, Y"),
    (lambda: moved(2, Y[:-1]), r"data 'd\.who' have 1000 rows, and data 'd\.y' have 999"),
    (lambda: {k: a[:-1] for k, a in ARRAYS.items()}, "the data have 999 rows, and Row1000 has 1000 elements"),
    (lambda: parts(400, 999), "the data have 999 rows, and Row1000 has 1000 elements"),
    (lambda: [*parts(400, N), *parts(1)], "the data have 1001 rows or more, and Row1000 has 1000 elements"),
    (lambda: moved(0, with_(WHO, 700, 7)), r"data 'd\.who', rows 650 to 779: .*7"),
    (lambda: moved(0, with_(WHO, 700, -1)), r"data 'd\.who', rows 650 to 779: .*-1"),
    (lambda: moved(0, Y), r"data 'd\.who', rows 0 to 129: "),
    (lambda: moved(1, X[:, :2]), r"data 'd\.x', rows 0 to 129: "),
    (lambda: moved(1, X.T[:, :1].repeat(N, 1).T[:, :, None]), r"data 'd\.x', rows 0 to 129: "),
    (lambda: moved(2, Y.astype(str)), r"data 'd\.y', rows 0 to 129: "),
    (lambda: moved(2, 3.0), r"data 'd\.y' is 3\.0: give an array or a column of known length"),
    (lambda: moved(2, None), r"data 'd\.y' is None: give an array or a column of known length"),
    (lambda: moved(2, (hb.R**Row.set).vec(Y)), r"data 'd\.y' is a vector of ℝ\^Row1000: give v\.array"),
    (lambda: 3, "data= takes a table, tables with the next rows each, or a function that gives them, not 3"),
    (lambda: [3], "data= takes a table"),
    (list, "data= has no tables: give tables with the next rows each"),
    (lambda: iter(()), r"there are 3 passes|the iterator is empty"),
    (lambda: lambda: ARRAYS, r"the function data\(\) gives a table, where an iterator over tables is due"),
    (lambda: {"Who": WHO, "x": X, "y": Y}, r"data has 'Who' \(did you mean 'who'\?\), and the arguments are p, d"),
    (lambda: {"who": WHO, "x": X}, r"the data have no column 'y', a part of d: they have who, x; for each row"),
    (
        lambda: pd.DataFrame({"x": Y, "who": WHO, "Y": Y}),
        r"no column 'y', a part of d \(did you mean 'Y'\?\): they have x",
    ),
    (lambda: "w.parquet", r"data= is a path, 'w\.parquet', not a table: open the file, data=parquet\('w\.parquet'\)"),
    (lambda: ["w.parquet"], r"data= is a path, 'w\.parquet', not a table"),
    (lambda: Path("w.parquet"), r"data= is a path, 'w\.parquet', not a table"),
    (lambda: Y, r"data= is an array of shape \(1000,\) .*, whose columns have no names: give the rows by the names"),
    (lambda: np.zeros(N, [("who", "i8"), ("y", "f8")]), "data= is a structured array, which is no table"),
]


@pytest.mark.parametrize(("data", "text"), BAD)
def test_bad_data(data: Callable[[], Any], text: str) -> None:
    with pytest.raises(SpaceError, match=text):
        g(AT, data=data())


def test_bad_calls() -> None:
    with pytest.raises(SpaceError, match="the data have d: a vector is due for each of the other arguments, p; 0"):
        g(data=ARRAYS)
    with pytest.raises(SpaceError, match="p is 3, where a vector of Rates"):
        g(3, data=ARRAYS)  # type: ignore[arg-type]
    with pytest.raises(SpaceError, match="engine= takes an executor, a Dask client, or a function like map"):
        g(AT, data=ARRAYS, engine=3)
    large = np.zeros((N, 1001))
    other = hb.Fin.of(1001)
    h = hb.fun(hb.R**Row.set)(lambda y: (hb.const(((hb.R**other) ** Row.set).vec(large)).sum(over=other) * y).sum())
    with pytest.raises(SpaceError, match="f has a constant of 1001000 entries along Row1000: make it an argument"):
        hb.distributed(h, over=Row.set)


def test_numbers_that_are_none() -> None:
    """NaN is a number; a value that is missing in a column of a file is none."""
    h = hb.distributed(hb.fun(hb.R**Row.set)(lambda y: y.sum()), over=Row.set)
    assert np.isnan(h(data={"y": with_(Y, 3, np.nan)}).array)


def test_columns_of_parquet_files(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1.0, None, 3.0], "b": [1, 2, 3]}), path, row_group_size=2)
    rows = hb.parquet(path)
    assert list(rows) == ["a", "b"]
    three = hb.Fin.of(3)
    h = hb.distributed(hb.fun(hb.R**three)(lambda a: a.sum()), over=three)
    with pytest.raises(SpaceError, match=r"column 'a' of .* has no value in 1 rows \(1\): fill them, or leave"):
        h(data=rows)
    assert h(data={"a": rows["b"]}).array == 6.0
    with pytest.raises(SpaceError, match="has no column 'c'; its columns are a, b"):
        rows["c"]
    with pytest.raises(SpaceError, match="takes the path of a file or a folder, or a list of paths, not 3"):
        hb.parquet(3)  # type: ignore[arg-type]
    with pytest.raises(SpaceError, match="parquet"):
        hb.parquet(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("a, b")
    with pytest.raises(SpaceError, match="parquet"):
        hb.parquet(tmp_path / "text.parquet")
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "b": [1, 2, 4]}), path)
    with pytest.raises(SpaceError, match="has changed since"):
        h(data={"a": rows["b"]})


def test_files_without_rows(tmp_path: Path) -> None:
    """Parts without rows, which some writers leave, say nothing of the length of lists."""
    xs, ten, two = np.arange(20.0).reshape(10, 2), hb.Fin.of(10), hb.Fin.of(2)
    table = pa.table({"y": xs[:, 0], "x": xs.tolist()})
    for k, (start, end) in enumerate([(0, 0), (0, 4), (4, 4), (4, 10), (10, 10)]):
        pq.write_table(table.slice(start, end - start), tmp_path / f"{k}.parquet")
    V = (hb.R**two) ** ten
    h = hb.distributed(hb.fun(hb.R**ten, V)(lambda y, x: (y.sum(), (x * x).sum())), over=ten)
    y, x = h(data=hb.parquet(tmp_path)).leaves
    assert (float(y), float(x)) == (xs[:, 0].sum(), (xs * xs).sum())
    assert hb.parquet([tmp_path / "0.parquet", tmp_path / "2.parquet"])["y"].shape == (0,)


class Real(hb.Record):
    """A pair of numbers."""

    x: hb.Part[hb.Scalar]
    y: hb.Part[hb.Vector[Feature]]


@pytest.mark.parametrize("kind", ["record", "columns"])
def test_a_family_of_records(kind: str) -> None:
    """The rows of D ** X, for D a record: those of each part."""
    space = Real.space() ** Row.set
    h = hb.fun(hb.R, space)(lambda a, d: hb.each(lambda r: a * r[Real.x] * r[Real.y].sum(), d).sum())
    columns = {"x": Y, "y": X}
    found = hb.distributed(h, over=Row.set)(hb.R.vec(2.0), data={"d": columns} if kind == "record" else columns)
    assert np.isclose(found.array, 2.0 * (Y * X.sum(1)).sum())


def test_a_result_that_is_an_argument() -> None:
    h = hb.distributed(hb.fun(hb.R**Row.set)(lambda y: (y, y.sum())), over=Row.set, size=130)
    for data in ({"y": Y}, [{"y": Y[:400]}, {"y": Y[400:]}]):
        found = h(data=data).split()
        assert np.array_equal(found[0].array, Y)
        assert np.isclose(found[1].array, Y.sum())
        assert not np.shares_memory(found[0].array, Y)


def test_sets_without_elements() -> None:
    none = hb.Fin.of(0)
    h = hb.distributed(hb.fun(hb.R**none)(lambda y: y.sum()), over=none)
    for data in ({"y": np.zeros(0)}, [{"y": np.zeros(0)}], []):
        if data == []:
            continue  # nobody can tell which arguments such data are of
        assert h(data=data).array == 0.0


def test_mapped_files(tmp_path: Path) -> None:
    """A file that is changed in memory alone, or replaced, is read from memory; one that changes is an error."""
    path = tmp_path / "y.npy"
    np.save(path, Y)
    h = hb.distributed(hb.fun(hb.R**Row.set)(lambda y: y.sum()), over=Row.set, size=130)
    own = np.load(path, mmap_mode="c")
    own[0] = 100.0
    mapped = np.load(path, mmap_mode="r")
    np.save(tmp_path / "other.npy", Y + 1.0)

    def travels(task: Any, rows: Any) -> Iterator[Any]:
        for row in rows:
            yield pickle.loads(pickle.dumps(task))(pickle.loads(pickle.dumps(row)))

    for engine in (None, travels):
        assert np.isclose(h(data={"y": own}, engine=engine).array, own.sum())
        assert np.isclose(h(data={"y": mapped}, engine=engine).array, Y.sum())
    (tmp_path / "other.npy").replace(path)
    for engine in (None, travels):
        assert np.isclose(h(data={"y": mapped}, engine=engine).array, Y.sum())
    path.unlink()
    for engine in (None, travels):
        assert np.isclose(h(data={"y": mapped}, engine=engine).array, Y.sum())


def test_engines_that_do_something_else() -> None:
    data = {"d": ARRAYS}
    for engine, text in (
        (lambda task, rows: [task(row) for row in rows][::-1], "gave the block of element 910 where that of 0 is due"),
        (lambda task, rows: [None for _ in rows], "gave None where the result of a block is due"),  # noqa: ARG005
        (ThreadPoolExecutor, r"an executor that is made, such as ThreadPoolExecutor\(\), not the class"),
    ):
        with pytest.raises(SpaceError, match=text):
            g(AT, data=data, engine=engine)


def test_columns_that_are_not_what_they_seem(tmp_path: Path) -> None:
    three = hb.Labelled.of(("a", "b", "c"))
    h = hb.distributed(hb.fun(hb.R**three)(lambda y: y.sum()), over=three)
    with pytest.raises(SpaceError, match=r"a column with labels of its own, and so has 3: give the numbers"):
        h(data={"y": pd.Series([1.0, 2.0, 3.0], ["c", "b", "a"])})
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], ["y", "y"])
    one = hb.Fin.of(1)
    k = hb.distributed(hb.fun(hb.R**one)(lambda y: y.sum()), over=one)
    with pytest.raises(SpaceError, match="the data have 2 columns 'y'"):
        k(data=table)
    pq.write_table(table, tmp_path / "two.parquet")
    with pytest.raises(SpaceError, match=r"has 2 columns 'y': give them other names"):
        k(data=hb.parquet(tmp_path / "two.parquet"))
    with pytest.raises(SpaceError, match="is named by a string, some by several, not by 0"):
        hb.parquet(tmp_path / "two.parquet")[0]  # type: ignore[index]
    with pytest.raises(SpaceError, match="a later part of the data has no 'y': it has z"):
        h(data=[{"y": Y[:1]}, {"z": Y[:2]}])
    with pytest.raises(SpaceError, match="a table, tables with the next rows each, or a function that gives them"):
        h(data=lambda: None)
    with pytest.raises(SpaceError, match="names 0 arguments: write f with one for each part"):
        hb.distributed(hb.fun(hb.R**one, hb.R**one)(lambda *a: a[0].sum()), over=one)(data={})


def test_many_groups_of_rows(tmp_path: Path) -> None:
    """Each group is read once, also where blocks are shorter."""
    path = tmp_path / "groups.parquet"
    pq.write_table(pa.table({"y": Y, "k": WHO}), path, row_group_size=7)
    h = hb.distributed(hb.fun(hb.R**Row.set)(lambda y: y.sum()), over=Row.set, size=3)
    assert np.isclose(h(data={"y": hb.parquet(path)["y"]}).array, Y.sum())
    pq.write_table(pa.table({"k": WHO[:0]}), path)
    none = hb.Fin.of(0)
    ids = hb.Elements(hb.Fin.of(7)) ** none
    counted = hb.distributed(
        hb.fun(hb.R**none, ids)(lambda y, k: (y * hb.const((hb.R ** hb.Fin.of(7)).ones())[k]).sum()), over=none
    )
    assert counted((hb.R**none).zeros(), data={"k": hb.parquet(path)["k"]}).array == 0.0


def test_explain_and_cost_say_how_a_function_runs_on_data() -> None:
    """The passes, what each argument has for each row, and the memory of a block; halos where there are some."""
    g = hb.distributed(f, over=Row.set, size=100)
    text = str(hb.explain(g))
    assert str(g.report) in text
    assert "vectors: p ∈ Rates(rate: ℝ^Person7, weight: ℝ^Feature3)" in text
    assert text.endswith("data: for each element of Row1000 d.who ∈ Person7, d.x ∈ ℝ^Feature3, d.y ∈ ℝ")
    cost: Any = hb.cost(g)
    assert cost == hb.cost(g.blocked)
    assert cost.blocks == (str(g.report), f"a block holds some {g.blocked.held} bytes")
    steps = hb.fun(hb.R**Row.set)(lambda y: hb.square(y[1:] - y[:-1]).sum())
    assert "reads 0 rows before and 1 behind its own" in str(hb.explain(hb.distributed(steps, over=Row.set, size=100)))
    with pytest.raises(SpaceError, match="cost takes a linear map or a derivative"):
        hb.cost(g, "array")


@pytest.mark.parametrize("size", [1000, 10_000])
def test_the_memory_of_a_block_is_predicted(size: int) -> None:
    """A call holds, beside the arguments, the bytes that `cost` says, with views and arrays that die early."""
    rows, wide = hb.Fin.of(50_000), hb.Fin.of(20)
    spread: Any = hb.fun(hb.R**wide, hb.R**rows)(
        lambda a, y: hb.each(lambda v: hb.exp(v * a).logsumexp(), y - y.mean().rep(y.space)).sum()
    )
    squares: Any = hb.fun(hb.R**rows, hb.R**rows)(lambda x, y: hb.exp(hb.sin(x) * hb.cos(y)).sum())
    for h in (spread, hb.grad(spread, 0), squares):
        g, x = hb.blocked(h, over=rows, size=size), h.dom.random(rng)
        g(x)
        tracemalloc.start()
        g(x)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        own = 8 * size * sum(leaf.size // rows.size for leaf in h.dom.leaves if rows in leaf.axes)  # views here
        assert 0.66 * g.held - own <= peak <= 1.3 * g.held


@pytest.mark.parametrize("kind", ["numpy", "pandas", "pyarrow", "record"])
def test_a_reader_fills_one_buffer_again(kind: str) -> None:
    """Rows that a reader yields are read before the reader goes on, wherever blocks run."""
    y, buffer = np.arange(float(N)), np.empty(100)
    make: dict[str, Callable[[], Any]] = {
        "numpy": lambda: {"y": buffer},
        "pandas": lambda: pd.DataFrame({"y": buffer}, copy=False),
        "pyarrow": lambda: pa.table({"y": pa.array(buffer)}),
        "record": lambda: {"y": buffer[::-1]},
    }
    read = y.reshape(10, 100)[:, ::-1].ravel() if kind == "record" else y

    def reader() -> Iterator[Any]:
        for k in range(0, N, 100):
            buffer[:] = y[k : k + 100]
            yield make[kind]()

    class Reader:
        def __iter__(self) -> Iterator[Any]:
            return reader()

    weighted = hb.distributed(hb.fun(hb.R**Row.set, hb.R**Row.set)(lambda k, y: k @ y), over=Row.set, size=70)
    weights = (hb.R**Row.set).vec(X[:, 0])
    with ThreadPoolExecutor(2) as pool:
        for data in (reader(), reader, Reader()):
            assert np.isclose(weighted(weights, data=data, engine=pool).array, X[:, 0] @ read, rtol=1e-12)
    late: Callable[[Any, Any], Any] = lambda task, rows: map(task, list(rows))  # noqa: E731
    assert np.isclose(weighted(weights, data=reader, engine=late).array, X[:, 0] @ read, rtol=1e-12)


def test_files_that_have_the_next_rows_each(tmp_path: Path) -> None:
    """A list of paths, a folder and a pattern are one table; blocks run over the ends of files."""
    ends = (0, 1, 1, 400, 401, N)
    folder = tmp_path / "rows"
    folder.mkdir()
    columns = {"who": WHO, "y": Y, **{f"x{k}": X[:, k] for k in range(3)}}
    for k, (start, end) in enumerate(itertools.pairwise(ends)):
        part = {name: a[start:end] for name, a in columns.items()}
        pq.write_table(pa.table(part), folder / f"{k}.parquet", row_group_size=77)
    files = [folder / f"{k}.parquet" for k in range(5)]

    def travels(task: Any, rows: Any) -> Iterator[Any]:
        of = pickle.loads(pickle.dumps(task))
        for row in rows:
            sent = pickle.dumps(row)
            assert len(sent) < 3500
            yield of(pickle.loads(sent))

    for path in (files, folder, str(folder / "*.parquet")):
        rows = hb.parquet(path)
        data = {"who": rows["who"], "x": rows["x0", "x1", "x2"], "y": rows["y"]}
        for engine in (None, travels):
            assert same(g(AT, data=data, engine=engine), WANT)
    for start, end in ((0, 0), (0, 1), (0, 402), (399, 401), (400, 400), (N, N), (5, N)):
        assert np.array_equal(hb.parquet(folder)["y"].read(start, end), Y[start:end])
    pq.write_table(pa.table({"z": Y}), folder / "other.parquet")
    with pytest.raises(SpaceError, match=r"0\.parquet has the columns who, y, x0, x1, x2, and .*other\.parquet has z"):
        hb.parquet(folder)
    with pytest.raises(SpaceError, match=r"there is no file \*\.parquet"):
        hb.parquet(tmp_path)
    with pytest.raises(SpaceError, match="there is no file of this form"):
        hb.parquet(tmp_path / "*.parquet")
    with pytest.raises(SpaceError, match="or a list of paths, not a list of 0"):
        hb.parquet([])


def test_names_of_files_that_look_like_patterns(tmp_path: Path) -> None:
    """A file, or a folder, with such a name is what is read; a pattern is one where there is none."""
    (tmp_path / "rows[1]").mkdir()
    for k, path in enumerate((tmp_path / "a[1].parquet", tmp_path / "a1.parquet", tmp_path / "rows[1]" / "b.parquet")):
        pq.write_table(pa.table({"y": Y[: k + 1]}), path)
    for name, length in (("a[1].parquet", 1), ("a[12].parquet", 2), ("rows[1]", 3)):
        assert hb.parquet(tmp_path / name)["y"].shape == (length,)


def test_arguments_without_rows_are_vectors() -> None:
    """A record of which some part has rows only is a vector, as the call wants."""

    class Both(hb.Record):
        rate: hb.Part[hb.Vector[Row]]
        weight: hb.Part[hb.Vector[Feature]]

    h = hb.distributed(hb.fun(Both.space(), hb.R**Row.set)(lambda p, y: (p[Both.rate] * y).sum()), over=Row.set)
    assert "\nvectors: p ∈ Both(rate: ℝ^Row1000, weight: ℝ^Feature3)\ndata: for each element of Row1000 y ∈ ℝ" in str(
        hb.explain(h)
    )


def test_no_argument_has_rows() -> None:
    h: Any = hb.distributed(hb.fun(hb.R)(lambda a: (a.rep(hb.R**Row.set) * (hb.R**Row.set).vec(Y)).sum()), over=Row.set)
    assert str(hb.explain(h)).endswith("vectors: a ∈ ℝ\ndata: for each element of Row1000 nothing")

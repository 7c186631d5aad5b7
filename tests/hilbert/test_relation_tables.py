"""Relations from the columns of tables: keys of every type, missing keys, labels, columns of other libraries."""

import datetime as dt
import pickle
from typing import Any, final

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hilbert import Fin, R, SpaceError
from hilbert.index.index import Labelled
from hilbert.relation import by_key, by_keys, labels
from linmap import group_by, project, red

COLUMNS: dict[str, Any] = {
    "strings": ["b", "a", "b", "c"],
    "integers": [3, 1, 3, 2],
    "floats": [0.5, -0.0, 0.5, 2.0],
    "truth values": [True, False, True, False],
    "bytes": [b"b", b"a", b"b", b"c"],
    "dates": [dt.date(2020, 1, d) for d in (2, 1, 2, 3)],
    "tuples": [("a", 1), ("a", 2), ("a", 1), ("b", 1)],
    "mixed": ["a", 1, "a", 2.5],
    "large integers": [2**70, 1, 2**70, 3],
}


class Town:
    """A tag."""


class Row:
    """A tag."""


@final
class Column:
    """What pandas and Arrow have in common: `to_numpy`, and no `__array__`."""

    def __init__(self, entries: Any) -> None:
        """Hold some entries."""
        self.entries = entries

    def to_numpy(self) -> Any:
        """The entries as numpy has them."""
        return np.asarray(self.entries)


@pytest.mark.parametrize("kind", COLUMNS)
def test_keys(kind: str) -> None:
    """The keys are the distinct ones in the order in which they first occur, as Python's own values."""
    column = COLUMNS[kind]
    found = by_key(column)
    keys = list(dict.fromkeys(column))
    assert list(found.cod.labels) == keys
    assert found.positions.array.tolist() == [keys.index(k) for k in column]
    assert found.dom == Fin.of(len(column))
    assert list(labels(column, Town).labels) == keys


@given(st.lists(st.one_of(st.integers(-3, 3), st.text(max_size=1), st.booleans())))
def test_any_column(column: list[Any]) -> None:
    """By hashing, so that 1, True and 1.0 are one key."""
    found = by_key(column)
    keys = list(dict.fromkeys(column))
    assert list(found.cod.labels) == keys
    assert [keys[k] for k in found.positions.array] == column


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "bool", "U3", "S3", "M8[D]", "m8[s]", object])
def test_arrays(dtype: Any) -> None:
    """An array gives what the list of its entries gives; dates keep their unit."""
    array = np.asarray([1, 0, 1, 0] if dtype != "bool" else [True, False, True, False]).astype(dtype)
    found = by_key(array)
    assert found.positions.array.tolist() == [0, 1, 0, 1]
    assert found.cod.size == 2
    assert by_key(Column(array)).cod.labels == found.cod.labels
    for label in found.cod.labels:
        assert found.cod.position(label) in (0, 1)


def test_given_sets() -> None:
    """Rows and keys may be named; keys that do not occur have no rows."""
    towns = Labelled(Town, ["Turku", "Oslo", "Bergen"])
    rows = Fin(Row, 3)
    found = by_key(["Bergen", "Turku", "Bergen"], rows=rows, keys=towns)
    assert (found.dom, found.cod) == (rows, towns)
    sums = red(found, R)((R**rows).vec([1.0, 2.0, 4.0]))
    assert sums.array.tolist() == [2.0, 0.0, 5.0]
    assert float(project(R**towns, "Bergen")(sums)) == 5.0
    assert by_key(np.asarray(["Oslo"]), keys=towns).positions.array.tolist() == [1]


def test_two_columns() -> None:
    """Keys that stand in one row are related, once."""
    found = by_keys(["a", "b", "a", "a"], [1, 1, 2, 1])
    assert (found.dom.labels, found.cod.labels) == (("a", "b"), (1, 2))
    assert list(zip(*(p.tolist() for p in found.holds()), strict=True)) == [(0, 0), (0, 1), (1, 0)]
    other = by_keys(["a"], [2], sources=found.dom, targets=found.cod)
    assert [p.tolist() for p in other.holds()] == [[0], [1]]


def test_empty() -> None:
    """A table without rows."""
    assert by_key([]).cod.size == by_key(np.zeros(0)).cod.size == 0
    assert by_keys([], []).size == 0


NAN = float("nan")


@pytest.mark.parametrize(
    "column",
    [
        [1.0, NAN],
        np.asarray([NAN, 1.0]),
        np.asarray(["NaT", "2020-01-01"], "M8[D]"),
        np.asarray(["a", NAN], object),
        np.asarray(["NaT"], "m8[s]"),
        ["a", None],
        pd.Series(["a", None]),
        pd.Series(["a", None], dtype="string"),
        pd.Series(["a", None], dtype=object),
        pd.Series(["a", None], dtype="category"),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([1, None], dtype="int64[pyarrow]"),
        pa.array(["a", None]),
        pa.array(["a", None]).dictionary_encode(),
        pa.array([1, None]),
        pa.array([dt.date(2020, 1, 1), None]),
        pa.nulls(2),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_missing_keys(column: Any) -> None:
    """None, NaN, NaT, NA and null are no keys."""
    with pytest.raises(SpaceError, match="missing entries"):
        by_key(column)


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        (pd.Series(["a", "b", "a"]), ("a", "b")),
        (pd.Index(["a", "b", "a"], dtype="string"), ("a", "b")),
        (pd.Series([3, 1, 3], index=[5, 6, 7]).astype("category"), (3, 1)),
        (pd.Series([3, 1, 3], dtype="Int64"), (3, 1)),
        (pd.Series([True, False, True], dtype="boolean"), (True, False)),
        (pd.MultiIndex.from_tuples([("a", 1), ("b", 2), ("a", 1)]), (("a", 1), ("b", 2))),
        (pd.Series(pd.to_datetime(["2020", "2019", "2020"])), (np.datetime64("2020"), np.datetime64("2019"))),
        (pa.array(["a", "b", "a"]), ("a", "b")),
        (pa.chunked_array([["a", "b"], ["a"]]).dictionary_encode(), ("a", "b")),
        (pa.table({"k": [3, 1, 3]})["k"], (3, 1)),
        (pa.array([b"x", b"y", b"x"]), (b"x", b"y")),
        (pa.array([dt.date(2020, 1, 1), dt.date(2019, 1, 1)] * 2)[:3], (np.datetime64("2020"), np.datetime64("2019"))),
    ],
)
def test_columns_of_tables(column: Any, keys: tuple[Any, ...]) -> None:
    """Columns of pandas and Arrow, of the types that keys have there."""
    found = by_key(column)
    assert found.cod.labels == keys
    assert found.positions.array.tolist() == [0, 1, 0]
    assert by_key(column, keys=found.cod).positions.array.tolist() == [0, 1, 0]


def test_group_by_agrees_with_pandas() -> None:
    """Sums by key of a frame."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["Oslo", "Turku", "Bergen"], 50), "sales": rng.standard_normal(50)})
    due = frame.groupby("town", sort=False)["sales"].sum()
    f = group_by(frame["town"])
    assert labels(frame["town"], Town).labels == tuple(due.index)
    np.testing.assert_allclose(f(f.dom.vec(frame["sales"])).array, due.to_numpy())


wrong: Any = "Town"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: by_key(["a", "z"], keys=Labelled.of("ab")), "'z' is not a label of 2: its labels are 'a', 'b'"),
        (lambda: by_key(["a"], rows=Fin.of(2)), "a column of 1 entries does not have the rows 2"),
        (lambda: by_key([["a"], ["b"]]), "hashable; a list may become a tuple"),
        (lambda: by_key(np.zeros((2, 2))), "has one axis, not the shape (2, 2)"),
        (lambda: by_key(3), "has one axis, not the shape ()"),
        (lambda: by_key(np.ma.array([1, 2], mask=[False, True])), "not a masked array: column.compressed() leaves"),
        (lambda: by_keys(["a"], ["b", "c"]), "have the same length, not 1 and 2"),
        (lambda: labels(["a"], wrong), "the tag of an axis is a class"),
        (lambda: Labelled.of(["a", "a"]), "distinct, but 'a' stands twice"),
        (lambda: Labelled.of([]).position("a"), "'a' is not a label of 0: it has none"),
        (lambda: Labelled.of([1.0, float("nan")]), "label 1 of an index set is missing (None, NaN)"),
        (lambda: Labelled.of(np.array(["NaT"], "M8[D]")), "label 0 of an index set is missing (None, NaN)"),
        (lambda: Labelled.of([["a"]]), "hashable; a list may become a tuple"),
    ],
)
def test_errors(make: Any, message: str) -> None:
    """What does not fit is refused, and the message says what would."""
    with pytest.raises(SpaceError) as caught:
        make()
    assert message in str(caught.value)


def test_labelled_sets() -> None:
    """Equal by tag and labels, in their order; pickled; one axis of an array."""
    X: Any = Labelled(Town, ["a", "b"])
    assert Labelled(Town, ("a", "b")) == X
    assert Labelled(Town, ("b", "a")) != X
    assert Labelled.of(["a", "b"]) != X
    assert Fin(Town, 2) != X
    assert pickle.loads(pickle.dumps(X)) == X
    assert (X * X).shape == (2, 2)
    assert (X * X).position(("b", "a")) == 2
    v = (R**X).vec([1.0, 2.0])
    assert float(project(R**X, "b")(v)) == 2.0

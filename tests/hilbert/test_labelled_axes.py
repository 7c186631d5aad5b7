"""Axes with labels: positions of labels, elements given by labels, integers as positions."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hilbert import Bool, Elements, Fin, Index, Labelled, R, SpaceError, direct_sum
from hilbert.relation import by_key, labels
from linmap import gather, segment_sum


class User: ...


class Row: ...


NAMES = ["ada", "bob", "eve"]
users, years, n = labels(NAMES, User), Labelled(User, (2021, 2022, 2023)), Fin(User, 3)


@pytest.mark.parametrize(
    "column",
    [
        ["eve", "ada", "eve"],
        np.array(["eve", "ada", "eve"]),
        np.array(["eve", "ada", "eve"], object),
        pd.Series(["eve", "ada", "eve"]),
        pd.Categorical(["eve", "ada", "eve"]),
        pd.Series(pd.Categorical(["eve", "ada", "eve"])),
        pa.array(["eve", "ada", "eve"]),
        pa.array(["eve", "ada", "eve"]).dictionary_encode(),
        pa.chunked_array([pa.array(["eve", "ada", "eve"]).dictionary_encode()]),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}",
)
def test_strings_and_categoricals_are_labels(column: Any) -> None:
    """x.at(column), and elements of x ** rows, have the positions of the labels."""
    rows = Fin(Row, 3)
    for v in (users.at(column, rows), (Elements(users) ** rows).vec(column)):
        assert v.space == Elements(users) ** rows
        assert v.array.tolist() == [2, 0, 2]
    assert users.at(column).space == Elements(users) ** Fin.of(3)
    w = (R**users).vec([1.0, 2.0, 4.0])
    assert gather(column, users)(w).array.tolist() == [4.0, 1.0, 4.0]


def test_integers_are_positions() -> None:
    """Where labels are integers, only `at` and a categorical column read them as labels."""
    assert years.at([2023, 2021]).array.tolist() == [2, 0]
    assert (Elements(years) ** Fin.of(2)).vec([2, 0]).array.tolist() == [2, 0]
    assert (Elements(years) ** Fin.of(2)).vec(pd.Categorical([2023, 2021])).array.tolist() == [2, 0]
    assert Elements(years).vec(1).array.tolist() == 1
    with pytest.raises(SpaceError, match="entries from 2021 to 2021 are not elements of User3"):
        Elements(years).vec(2021)
    v = (R**years).vec([1.0, 2.0, 4.0])
    assert gather([2, 0], years)(v).array.tolist() == [4.0, 1.0]
    assert gather(years.at([2022]))(v).array.tolist() == [2.0]
    w = (R ** Fin.of(2)).vec([1.0, 2.0])
    assert segment_sum(years.at([2023, 2023]))(w).array.tolist() == [0.0, 0.0, 3.0]


def test_one_label_and_many_axes() -> None:
    """A string is one element; nested lists and arrays keep their shape; tuples of a direct sum are read by part."""
    assert Elements(users).vec("bob").array.tolist() == 1
    grid = (Elements(users) ** (Fin.of(2) * Fin.of(2))).vec([["bob", "ada"], ["eve", "eve"]])
    assert grid.array.tolist() == [[1, 0], [2, 2]]
    pair = direct_sum(R, Elements(users), Bool).vec((1.0, "eve", True))
    assert [a.tolist() for a in pair.array] == [1.0, 2, True]
    assert users.at(NAMES[:2], Fin.of(2) * Fin.of(1)).array.tolist() == [[0], [1]]


def test_the_labels_of_positions() -> None:
    """Fin(Tag, n) is the axis with the labels 0, …, n − 1."""
    assert list(n.labels) == [0, 1, 2]
    assert n.at([2, 0]).array.tolist() == [2, 0]
    assert n.at([2, 0]).space == Elements(n) ** Fin.of(2)
    assert by_key([2, 0], keys=n).cod == n
    assert users.labels == ("ada", "bob", "eve")


def test_equality_and_pickles() -> None:
    """Two axes are equal if tags and labels are; an axis with labels is a Fin, but none with positions only."""
    assert isinstance(users, Fin)
    assert isinstance(users, Labelled)
    assert users == Labelled(User, NAMES)
    assert hash(users) == hash(Labelled(User, NAMES))
    assert users != n
    assert n != users
    anonymous: Index = Labelled.of(NAMES)
    assert users != anonymous
    assert users != Labelled(User, NAMES[::-1])
    for axis in (users, years, n):
        assert pickle.loads(pickle.dumps(axis)) == axis
        assert eval(repr(axis), {"Labelled": Labelled, "Fin": Fin, "User": User}) == axis  # noqa: S307


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: users.at(["ada", "zoe"]), "'zoe' is not a label of User3: its labels are 'ada', 'bob', 'eve'"),
        (lambda: users.at(["ada", None]), "missing entries"),
        (lambda: users.at(["ada"], Fin.of(2)), "a column of 1 entries does not have the rows 2"),
        (lambda: users.at(["ada"], 1), "takes an index set, not 1"),  # type: ignore[call-overload]
        (lambda: users.at("ada"), "a column of keys has one axis"),
        (lambda: Elements(users).vec("zoe"), "'zoe' is not a label of User3"),
        (lambda: (Elements(users) ** Fin.of(2)).vec(["ada"]), r"shape \(2,\) would fit"),
        (lambda: Elements(n).vec("ada"), "'ada' is not an element of User3: give an integer from 0 to 2"),
        (lambda: n.at([3]), "3 is not an element of User3"),
    ],
)
def test_errors(make: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        make()


def test_tables_with_labels_of_their_own() -> None:
    """A table of pandas is taken in the order of the axis; in another order it is refused, and so is a dictionary."""
    V: Any = R ** Labelled.of(["age", "dose"])
    assert V.vec(pd.Series({"age": 1.0, "dose": 2.0})).array.tolist() == [1.0, 2.0]
    assert V.vec(pd.Series([1.0, 2.0])).array.tolist() == [1.0, 2.0]
    for wrong in ({"dose": 1.0, "age": 2.0}, {"age": 1.0, "height": 2.0}):
        with pytest.raises(SpaceError, match=r"write t\.loc\[list\(X\.labels\)\]"):
            V.vec(pd.Series(wrong))
        with pytest.raises(SpaceError, match=r"write V\.vec\(\[d\[k\] for k in X\.labels\]\)"):
            V.vec(wrong)
    M: Any = V ** Fin.of(2)
    assert M.vec(pd.DataFrame({"age": [1.0, 2.0], "dose": [3.0, 4.0]})).array.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    with pytest.raises(SpaceError, match=r"write t\[list\(X\.labels\)\]"):
        M.vec(pd.DataFrame({"dose": [1.0, 2.0], "age": [3.0, 4.0]}))


def test_categories_are_the_labels_of_a_categorical_column() -> None:
    """All of them, in their order, whichever occur."""
    column = pd.Series(["mid", "low", "mid"], dtype=pd.CategoricalDtype(["low", "mid", "high"], ordered=True))
    levels = labels(column, User)
    assert levels.labels == ("low", "mid", "high")
    assert gather(column, levels)((R**levels).vec([1.0, 2.0, 3.0])).array.tolist() == [2.0, 1.0, 2.0]
    assert labels(pd.Categorical([3, 1]), User).labels == (1, 3)


def test_a_table_is_no_sequence_of_labels() -> None:
    """Iteration over a data frame is over the names of its columns."""
    table = pd.DataFrame({"name": ["a", "b", "c"]})
    with pytest.raises(SpaceError, match="give one column, table"):
        Labelled.of(table)
    assert Labelled.of(table["name"]).labels == ("a", "b", "c")
    assert Labelled.of(table.columns).labels == ("name",)

"""Columns of polars and DataArrays of xarray, by what they have: small classes stand for those libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hilbert import Bool, Elements, Fin, Labelled, R, SpaceError, Z, direct_sum
from hilbert.relation import by_key, function, labels
from linmap.relational.weighted import sparse


class City:
    """An axis."""


class TimeStep:
    """An axis."""


L, T, X = Labelled(City, ["a", "b", "c"]), Fin(TimeStep, 2), Fin.of(3)
M = R ** (L * T)


class Categories:
    """The categories of a Categorical of polars, which all such columns share."""


class DType:
    """A type of polars: of an Enum it has the categories."""

    def __init__(self, name: str, categories: Any = None) -> None:
        self.name = name
        if categories is not None:
            self.categories = categories

    def __str__(self) -> str:
        return self.name


class Series:
    """A column of polars: nulls are counted by a method, and NaN is a number."""

    def __init__(self, entries: list[Any], dtype: DType | None = None) -> None:
        self.entries = entries
        self.dtype = dtype or DType("Float64")

    def null_count(self) -> int:
        """How many nulls there are."""
        return sum(entry is None for entry in self.entries)

    def drop_nulls(self) -> Series:
        """Without them."""
        return Series([entry for entry in self.entries if entry is not None], self.dtype)

    def __len__(self) -> int:
        return len(self.entries)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:  # noqa: FBT001 - numpy calls it so
        is_float = str(self.dtype) == "Float64"  # where nulls become NaN
        return np.asarray([np.nan if is_float and entry is None else entry for entry in self.entries], dtype)

    def to_numpy(self) -> Any:
        """Its entries."""
        return np.asarray(self)


class DataFrame:
    """A table of polars: nulls by column, names of columns, none of rows."""

    def __init__(self, **columns: Series) -> None:
        self.of = columns

    @property
    def columns(self) -> list[str]:
        """Their names."""
        return list(self.of)

    def null_count(self) -> Any:
        """How many nulls each column has, as a table."""
        return np.array([[column.null_count() for column in self.of.values()]])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:  # noqa: FBT001 - numpy calls it so
        return np.stack([np.asarray(column) for column in self.of.values()], axis=1)


class DataArray:
    """An array of xarray: its dimensions have names, and labels if they have coordinates."""

    loc = None

    def __init__(self, array: Any, dims: tuple[str, ...], **coords: Any) -> None:
        self.values, self.dims = np.asarray(array), dims
        self.coords = {name: DataArray(own, (name,)) for name, own in coords.items()}

    @property
    def dtype(self) -> Any:
        """Of its entries."""
        return self.values.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Of its array."""
        return self.values.shape

    def isnull(self) -> DataArray:
        """Which entries are NaN."""
        return DataArray(self.values != self.values, self.dims)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:  # noqa: FBT001 - numpy calls it so
        return np.asarray(self.values, dtype)

    def to_numpy(self) -> Any:
        """Its array."""
        return self.values


def test_columns_of_polars() -> None:
    """Numbers, truth values, positions and weights."""
    assert (R**X).vec(Series([1.0, 2.0, 3.0])).array.tolist() == [1.0, 2.0, 3.0]
    assert (R**X).vec(Series([1, 2, 3], DType("Int64"))).array.tolist() == [1.0, 2.0, 3.0]
    assert np.isnan((R**X).vec(Series([1.0, float("nan"), 3.0])).array[1])
    assert (Bool**X).vec(Series([True, False, True], DType("Boolean"))).array.tolist() == [True, False, True]
    assert (Z**X).vec(Series([1, 2, 3], DType("Int64"))).array.tolist() == [1, 2, 3]
    column = Series([0, 1, 1], DType("Int64"))
    assert function(column, X, Fin.of(2)).holds()[1].tolist() == [0, 1, 1]
    A = sparse(column, [0, 1, 2], Series([1.0, 2.0, 3.0]), X, Fin.of(2))
    assert A((R**X).ones()).array.tolist() == [1.0, 5.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: (R**X).vec(Series([1.0, None, 3.0])),
        lambda: sparse([0, 1, 1], [0, 1, 2], Series([1.0, None, 3.0]), X, Fin.of(2)),
        lambda: (R ** (Fin.of(2) * Fin.of(2))).vec(DataFrame(x=Series([1.0, None]), y=Series([3.0, 4.0]))),
    ],
)
def test_nulls_of_polars_are_refused(make: Any) -> None:
    """With polars' own remedy, where it is a column of it."""
    with pytest.raises(SpaceError, match=r"missing entries \(NaN, NA, null\) is not an element of .*: leave their"):
        make()


def test_the_remedy_is_that_of_polars() -> None:
    """Columns have no dropna there."""
    with pytest.raises(SpaceError, match=r"column\.drop_nulls\(\)\), or fill them \(column\.fill_null\(0\.0\)\)"):
        (R**X).vec(Series([1.0, None, 3.0]))


@pytest.mark.parametrize("dtype", [DType("String"), DType("Categorical", Categories()), DType("Enum", ["c", "b", "a"])])
def test_labels_of_polars(dtype: DType) -> None:
    """Strings, Categoricals and Enums are labels; the labels of an Enum are its categories, in their order."""
    column = Series(["b", "a", "b"], dtype)
    assert (Elements(L) ** X).vec(column).array.tolist() == L.at(column).array.tolist() == [1, 0, 1]
    assert by_key(column).cod.labels == ("b", "a")
    assert by_key(column, keys=L).holds()[1].tolist() == [1, 0, 1]
    assert labels(column, City).labels == (("c", "b", "a") if dtype.name == "Enum" else ("b", "a"))
    with pytest.raises(SpaceError, match="missing entries"):
        by_key(Series(["a", None], dtype))


def test_tables_of_polars() -> None:
    """The names of the columns are held against a labelled axis."""
    V = R ** (T * Labelled.of(["age", "dose"]))
    table = {"age": Series([1.0, 2.0]), "dose": Series([3.0, 4.0])}
    assert V.vec(DataFrame(**table)).array.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    with pytest.raises(SpaceError, match=r"write t\[list\(X\.labels\)\], or t\.to_numpy\(\) if its order is meant"):
        V.vec(DataFrame(dose=table["dose"], age=table["age"]))


ARRAY = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("names", [("City", "TimeStep"), ("city", "time_step"), ("CITY", "timestep")])
@pytest.mark.parametrize("labelled", [False, True])
def test_dimensions_are_matched_by_name(names: tuple[str, str], *, turned: bool, labelled: bool) -> None:
    """In any order, as classes or variables are written."""
    coords = {names[0]: ["a", "b", "c"]} if labelled else {}
    given = DataArray(ARRAY.T if turned else ARRAY, names[::-1] if turned else names, **coords)
    assert M.vec(given).array.tolist() == ARRAY.tolist()
    assert ((R**L) ** T).vec(given).array.tolist() == ARRAY.T.tolist()
    assert direct_sum(M, R).vec((given, 1.0))[0].array.tolist() == ARRAY.tolist()


def test_anonymous_axes_take_what_is_left() -> None:
    """In order: they have no names."""
    V = R ** (Fin.of(2) * L * Fin.of(4))
    a = np.arange(24.0).reshape(2, 4, 3)
    assert V.vec(DataArray(a, ("x", "y", "city"))).array.tolist() == a.transpose(0, 2, 1).tolist()
    assert R.vec(DataArray(1.0, ())).array == 1.0
    assert (R**X).vec(DataArray([1.0, 2.0, 3.0], ("x",))).array.tolist() == [1.0, 2.0, 3.0]
    assert (Elements(L) ** T).vec(DataArray(["c", "a"], ("time_step",))).array.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (DataArray(ARRAY, ("town", "time_step")), r"dimensions \(town, time_step\) is not an element of .*a\.rename"),
        (DataArray(ARRAY, ("dim_0", "dim_1")), r"dimensions \(dim_0, dim_1\)"),
        (DataArray(ARRAY[:, 0], ("city",)), r"dimensions \(city\)"),
        (DataArray(ARRAY[..., None], ("city", "time_step", "z")), r"dimensions \(city, time_step, z\)"),
        (DataArray(ARRAY, ("city", "City")), r"dimensions \(city, City\)"),
        (DataArray(ARRAY.T, ("city", "time_step")), r"shape \(2, 3\) is not an element"),
        (
            DataArray(ARRAY, ("city", "time_step"), city=["c", "a", "b"]),
            r"order of X\.labels, X = City3, and dimension city in another: write a\.sel\(city=list\(X\.labels\)\)",
        ),
        (DataArray(ARRAY, ("city", "time_step"), city=["a", "b", "x"]), "dimension city in another"),
        (DataArray(np.full((3, 2), np.nan), ("city", "time_step")), r"missing entries \(NaN\).*a\.fillna\(0\.0\)"),
    ],
)
def test_dimensions_are_checked(given: Any, message: str) -> None:
    """Names, counts, sizes, labels and missing entries."""
    with pytest.raises(SpaceError, match=message):
        M.vec(given)


def test_two_axes_of_one_name() -> None:
    """Names do not tell them apart."""
    with pytest.raises(SpaceError, match=r"dimensions \(city, other\)"):
        (R ** (L * L)).vec(DataArray(np.zeros((3, 3)), ("city", "other")))


def test_a_dataset_is_several_arrays() -> None:
    """It is told from one."""

    class Dataset:
        """Of xarray."""

        data_vars: Any = {}  # noqa: RUF012 - it stands for a property
        loc = None

    with pytest.raises(SpaceError, match=r"several arrays, of which d\[name\] is one"):
        M.vec(Dataset())

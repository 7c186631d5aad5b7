"""Claims of the pages on operations, linear algebra, differential equations and numpy's habits, each with a test."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import hilbert.all as hb
from diff.mistakes.other_libraries import KEYWORDS
from hilbert.relation import by_key, by_keys, labels, shift
from tests.public import PUBLIC


class Row:
    """A tag."""


class Column:
    """Another."""


X, Y = hb.Fin.of(3), hb.Fin.of(2)
V, M = hb.R**X, hb.R ** (X * X)
NAMES: dict[str, Any] = {name: getattr(hb, name) for name in PUBLIC} | {"math": math}
fun: Any = hb.fun


# --- docs/operations.md ---


@pytest.mark.parametrize(("n", "m"), [(3, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("column", [Row, Column])
def test_a_matrix_is_made_of_its_singular_values_again(n: int, m: int, column: type) -> None:
    """A = (U * s.rep(U.space, over=0)) @ V.T; s has the index set of the smaller side, of the columns for one size."""
    rows: Any = hb.Fin(Row, n)
    columns: Any = hb.Fin(column, m)
    A: Any = (hb.R ** (rows * columns)).random(np.random.default_rng(0))
    U, s, W = hb.svd(A).split()
    smaller = rows if n < m else columns
    assert (U.space, s.space, W.space) == (hb.R ** (rows * smaller), hb.R**smaller, hb.R ** (columns * smaller))
    again = (U * s.rep(U.space, over=0)) @ W.T
    assert again.space == A.space
    np.testing.assert_allclose(again.array, A.array, atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_the_diagonal_of_the_second_factor_is_positive(seed: int) -> None:
    """(Q, R) of A = QR: the diagonal of R is positive, for one matrix and for a family of them."""
    W = hb.R ** (X * Y)
    A = W.random(np.random.default_rng(seed))
    _, R = hb.qr(A).split()
    assert (np.diag(R.array) > 0.0).all()
    many = (W ** hb.Fin.of(4)).random(np.random.default_rng(seed))
    found: Any = fun(W)(lambda a: hb.qr(a).split()[1].diagonal()) ** hb.Fin.of(4)
    assert (found(many).array > 0.0).all()


def test_an_operation_ends_in_a_space() -> None:
    """`operation(name, A, to=C)` raises SpaceError for a C that is no space."""
    value: Any = lambda _, x: x  # noqa: E731
    with pytest.raises(hb.SpaceError, match="operation of no space takes a space, not 3"):
        hb.operation("of no space", V, to=3, value=value)  # type: ignore[call-overload]


def test_no_elements_one_by_one_have_the_precision_of_their_space() -> None:
    """An operation with `batched=False` is called for each element; of none of them the result is in its space."""
    W = hb.R32**X
    f = hb.operation("one by one in single", W, to=W, value=lambda _, x: x, batched=False)
    none = (f ** hb.Fin.of(0))((W ** hb.Fin.of(0)).zeros())
    assert (none.array.dtype, none.array.shape) == (np.float32, (0, 3))


# --- docs/taylor.md: differential equations ---


def test_an_equation_is_in_one_space() -> None:
    """x' = f(x) needs f : V → V; another space of as many dimensions is another space."""
    f: Any = fun(V)(lambda x: x.reshape(hb.Fin.of(1) * X))
    with pytest.raises(hb.SpaceError, match="needs f : V → V"):
        hb.ode_series(f, 2)


# --- docs/from-numpy.md, docs/functions.md: functions and arguments of other libraries ---


@pytest.mark.parametrize("name", ["silu", "swish", "log_sigmoid", "relu", "softplus", "sigmoid", "tanh"])
def test_what_stands_for_a_function_of_jax_does_the_same(name: str) -> None:
    """jax.nn.f(x) is refused with what to write; that gives JAX's values."""
    f: Callable[[Any], Any] = getattr(jax.nn, name)
    with pytest.raises(hb.SpaceError, match=r"does not apply to an expression of .*: write ") as error:
        fun(V)(lambda x: (f(x),))
    code = str(error.value).splitlines()[0].partition(": write ")[2].removeprefix("hb.")
    got = fun(V)(lambda x: eval(code, NAMES | {"x": x}))(V.vec([-1.0, 0.25, 2.0]))  # noqa: S307 - a text of ours
    with jax.enable_x64(new_val=True):
        np.testing.assert_allclose(got.array, f(jnp.asarray([-1.0, 0.25, 2.0])), rtol=1e-12)


def test_what_stands_for_least_squares_does_the_same() -> None:
    """np.linalg.lstsq(A, b) is refused with the normal equations of A."""
    A, b = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0, 4.0])
    spaces: Any = (hb.R ** (X * Y), V)
    with pytest.raises(hb.SpaceError, match="lstsq does not apply") as error:
        fun(*spaces)(lambda A, b: np.linalg.lstsq(A, b)[0])
    code = str(error.value).splitlines()[0].partition(": write ")[2]
    got = fun(*spaces)(lambda A, b: eval(code, NAMES | {"A": A, "b": b}))(  # noqa: S307 - a text of ours
        spaces[0].vec(A), spaces[1].vec(b)
    )
    np.testing.assert_allclose(got.array, np.linalg.lstsq(A, b)[0], rtol=1e-12)


ARGUMENTS = {
    "axis": "over=X",
    "dim": "over=X",
    "keepdims": "x.rep(V)",
    "argnums": "wrt=k",
    "has_aux": "a function of its own",
    "in_axes": "lift(f, X, over=(k, l))",
    "static_argnums": "reads it from around it",
}
"""Arguments of functions of numpy and JAX, and the words of the library that take their place."""


@pytest.mark.parametrize("name", KEYWORDS)
def test_arguments_of_other_libraries_say_what_to_write(name: str) -> None:
    """In a traced function an argument that numpy or JAX has is refused with what stands for it here."""
    with pytest.raises(hb.SpaceError, match="unexpected keyword argument") as error:
        fun(V)(lambda x: x.cumsum(**{name: 0}))
    assert ARGUMENTS[name] in str(error.value).splitlines()[0]


def test_all_arguments_of_other_libraries_are_looked_at() -> None:
    """Each is one of the test above."""
    assert set(KEYWORDS) == set(ARGUMENTS)


@pytest.mark.parametrize("f", [np.add, np.multiply, np.subtract, np.divide, np.matmul, np.not_equal, np.less])
def test_functions_of_numpy_do_not_apply_to_one_expression_twice(f: Callable[..., Any]) -> None:
    """numpy's functions do not apply to expressions, nor to vectors, also where both arguments are one object."""
    name = getattr(f, "__name__", "")
    with pytest.raises(hb.SpaceError, match=f"numpy's {name} does not apply to an expression"):
        fun(V)(lambda x: f(x, x))
    v = V.ones()
    with pytest.raises(hb.SpaceError, match=f"numpy's {name} does not apply to a vector"):
        f(v, v)


# --- docs/relations.md ---


def test_a_shift_relates_each_to_the_one_so_much_later() -> None:
    """`shift(X, k)`: y = x + k where both lie in X."""
    for k in (-2, -1, 0, 1, 2):
        pairs = zip(*shift(X, k).holds(), strict=True)
        assert sorted((int(x), int(y)) for x, y in pairs) == [(x, x + k) for x in range(3) if 0 <= x + k < 3]


@pytest.mark.parametrize("columns", [(["a", "b", "a"], [1, 2]), (["a", "b"], [1, 2, 1])])
def test_two_columns_have_as_many_rows(columns: tuple[list[str], list[int]]) -> None:
    """Two columns are a relation between their keys: the longer one is refused, whichever it is."""
    with pytest.raises(hb.SpaceError, match="two columns of one table have the same length, not"):
        by_keys(*columns)


def test_labels_of_a_categorical_column() -> None:
    """Keys stand in the order in which they first occur; `labels` of a categorical column are its categories."""
    column = pd.Series(pd.Categorical(["ink", "tea", "ink"], categories=["tea", "ink", "oil"]))
    assert by_key(column).cod.labels == by_key(list(column)).cod.labels == ("ink", "tea")
    assert labels(column, Row).labels == ("tea", "ink", "oil")


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_labels_of_a_categorical_column_with_missing_entries(missing: object) -> None:
    """Their rows are left out first, and the categories stay."""
    column = pd.Series(pd.Categorical(["ink", missing, "tea"], categories=["tea", "ink", "oil"]))
    for given in (column, column.array):
        with pytest.raises(hb.SpaceError, match=r"missing entries .*: leave their rows out"):
            labels(given, Row)
    assert labels(column.dropna(), Row).labels == ("tea", "ink", "oil")

"""v.named(Y) keeps the entries; A.add(v) and A.times(v) are v repeated; pad and crop are along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import Axis, Fin, R, SpaceError


class Row(Axis, size=2):
    """Rows."""


class Column(Axis, size=3):
    """Columns."""


class Next(Axis, size=3):
    """As many as columns."""


class Deep(Axis, size=4):
    """A third axis."""


row, column, after, deep = Row.set, Column.set, Next.set, Deep.set
V, M, S = R**column, R ** (row * column), R ** (column * column)
RNG = np.random.default_rng(0)
v: Any = V.random(RNG)
w: Any = (R**row).random(RNG)
A: Any = M.random(RNG)
B: Any = S.random(RNG)
cube: Any = (R ** (row * deep * column)).random(RNG)
family: Any = (V**row).random(RNG)
number: Any = R.vec(1.0)
fun: Any = hb.fun
records: Any = (hb.direct_sum(R, V) ** column).random(RNG)


def said(make: Any) -> str:
    """The message of the error."""
    with pytest.raises(SpaceError) as caught:
        make()
    return str(caught.value).splitlines()[0]


CASES: dict[str, tuple[Any, Any, Any]] = {
    "vector": (v, lambda x: x.named(after), R**after),
    "matrix": (A, lambda x: x.named(Fin.of(2) * after), R ** (Fin.of(2) * after)),
    "columns": (A, lambda x: x.named(after, over=column), R ** (row * after)),
    "second": (B, lambda x: x.named(after, over=1), R ** (column * after)),
    "middle": (cube, lambda x: x.named(Deep.of(4), over=1), R ** (row * deep * column)),
    "two of three": (cube, lambda x: x.named(Next.of(4), over=deep), R ** (row * Next.of(4) * column)),
    "inside": (family, lambda x: x.named(after, over=1), (R**after) ** row),
    "outside": (family, lambda x: x.named(Fin.of(2)), V ** Fin.of(2)),
    "all parts": (records, lambda x: x.named(after), hb.direct_sum(R, V) ** after),
    "labels": (v, lambda x: x.named(hb.Labelled(Next, "abc")), R ** hb.Labelled(Next, "abc")),
}


@pytest.mark.parametrize("name", CASES)
def test_other_names_keep_the_entries(name: str) -> None:
    """v.named(Y) has the entries of v, on vectors and in functions; its derivative is unitary."""
    x, rename, space = CASES[name]
    f: Any = fun(x.space)(rename)
    for y in (rename(x), f(x)):
        assert y.space == space
        assert np.array_equal(y.flat(), x.flat())
    d = hb.derivative(f).at(x)
    assert np.array_equal(hb.adjoint(d)(d(x)).flat(), x.flat())
    assert hb.check_adjoint(f, x)


def test_elements_have_other_names_too() -> None:
    """Discrete entries are named as numbers are."""
    ids = (hb.Elements(row) ** column).vec([1, 0, 1])
    assert ids.named(after).array.tolist() == [1, 0, 1]
    assert ids.named(after).space == hb.Elements(row) ** after


def test_text() -> None:
    """An axis with another name prints as v : X, several at once; of one that is added the sum is in brackets."""
    assert str(fun(V)(lambda x: x.named(after))) == "x ↦ x : Next3"
    assert str(fun(V)(lambda x: (-x).named(after))) == "x ↦ (−x) : Next3"
    assert str(fun(V)(lambda x: hb.tanh(x.named(after)))) == "x ↦ tanh(x : Next3)"
    assert str(fun(V)(lambda x: 1.0 - x.named(after))) == "x ↦ 1 − (x : Next3)"
    assert str(fun(M)(lambda x: x.named(Fin.of(2) * after))) == "x ↦ x : 2×Next3"
    total = fun(M)(lambda x: hb.tanh(x.named(after, over=1)).sum())
    assert str(hb.grad(total)) == "x ↦ tanh'(x : Row2×Next3) : Row2×Column3"
    assert str(fun(S, V)(lambda a, x: a.named(after, over=0) @ x)) == "(a, x) ↦ (a : Next3×Column3)⋆x"


def test_a_recurrence_over_a_square_matrix() -> None:
    """(A v : X) is in the space of v again, and the gradient is that of numpy's."""
    step: Any = fun(R ** (after * column), V)(
        lambda a, x: hb.iterate(lambda h: hb.tanh(a @ h).named(column), x, Fin.of(3)).sum()
    )
    a = 0.1 * (R ** (after * column)).random(RNG)
    h = v.array
    for _ in range(3):
        h = np.tanh(a.array @ h)
    assert np.isclose(float(step(a, v)), h.sum(), rtol=1e-14)
    assert hb.check_derivative(step, a, v)
    assert hb.check_adjoint(step, a, v)


def test_a_vector_along_the_axis_that_it_names() -> None:
    """A.add(v) is A + v.rep(A.space), A.times(v) the product with it, on vectors and in functions."""
    pairs = [(A, v), (A, w), (cube, v), (cube, w), (cube, A), (family, v), (v, v), (A, R.vec(2.0)), (A, A)]
    for x, y in pairs:
        repeated = y if x.space == y.space else y.rep(x.space)
        for f, due in ((fun(x.space, y.space)(lambda a, b: a.add(b)), x + repeated),
                       (fun(x.space, y.space)(lambda a, b: a.times(b)), x * repeated)):  # fmt: skip
            assert f(x, y).space == x.space
            assert np.allclose(f(x, y).flat(), due.flat(), rtol=1e-15)
            assert hb.check_derivative(f, x, y)
            assert hb.check_adjoint(f, x, y)
        assert np.array_equal(x.add(y).flat(), (x + repeated).flat())
        assert np.array_equal(x.times(y).flat(), (x * repeated).flat())
    assert (
        str(fun(M, V)(lambda a, b: a.add(b).times(b)))
        == "(a, b) ↦ [row, column] ↦ (a[row, column]+b[column])·b[column]"
    )


def test_matrices_are_padded_and_cropped_along_one_axis() -> None:
    """As numpy does along one axis; without `over` a matrix is refused."""
    assert np.array_equal(A.pad(1, 2, over=column).array, np.pad(A.array, ((0, 0), (1, 2))))
    assert np.array_equal(A.pad(1, 2, over=0).array, np.pad(A.array, ((1, 2), (0, 0))))
    assert A.pad(0, 1, over=row, to=after).space == R ** (after * column)
    assert np.array_equal(A.crop(1, None, over=column).array, A.array[:, 1:])
    assert np.array_equal(A.crop(None, None, step=-1, over=1).array, A.array[:, ::-1])
    assert np.array_equal(cube.crop(1, 3, over=deep, to=row).array, cube.array[:, 1:3])
    assert np.array_equal(family.pad(1, 0).array, np.pad(family.array, ((1, 0), (0, 0))))
    assert np.array_equal(v.pad(1, 2, to=Fin(Next, 6)).array, np.pad(v.array, (1, 2)))
    f: Any = fun(M)(lambda a: a.pad(1, 1, over=column).crop(0, 1, over=row))
    assert f(A).space == R ** (Fin.of(1) * Fin.of(5))
    assert hb.check_derivative(f, A)
    assert hb.check_adjoint(f, A)


REFUSED: list[tuple[Any, str]] = [
    (
        lambda: A.pad(1, 1),
        (
            ".pad() of a vector of ℝ^{Row2×Column3} is along one axis, and Row2×Column3 has 2: say which by its index "
            "set, over=X, or by its position, over=0 or over=1"
        ),
    ),
    (lambda: fun(M)(lambda a: a.crop(0, 1)), ".crop() of an expression of ℝ^{Row2×Column3} is along one axis"),
    (lambda: A.crop(0, 1, over=row * column), "is along one axis, and Row2×Column3 has 2"),
    (lambda: B.pad(1, 1, over=column), "2 factors of its index sets are Column3; say which by its position"),
    (lambda: A.pad(1, 1, over=2), "axis 2 does not exist"),
    (lambda: A.crop(0, 1, over=0, to=row), "crop has 1 elements, but Row2 has 2"),
    (lambda: number.pad(1, 1), ".pad() is for vectors of V^X, not for a vector of ℝ"),
    (lambda: v.named(row), ".named(Row2) of a vector of ℝ^Column3: Column3 has the shape (3,), and Row2 has (2,)"),
    (lambda: A.named(Fin.of(6)), "and 6 has (6,); x.reshape(Y) keeps the entries in their flat order"),
    (lambda: v.named(Next), ".named(Y) takes an index set, not the class Next: write Next.set"),
    (lambda: v.named(3), ".named(Y) takes an index set, not 3"),
    (lambda: A.named(after, over=deep), ".named(Deep4) of a vector of"),
    (lambda: number.named(after), ".named() is for vectors of V^X"),
    (
        lambda: B.add(v),
        (
            ".add(v) of a vector of ℝ^{Column3×Column3} and v in ℝ^Column3: v fits along the axes 0 or 1; write A + "
            "v.rep(A.space, over=k), where k is the axis along which v is repeated, or give the axes two names "
            "by A.named(Y)"
        ),
    ),
    (lambda: B.times(v), "v fits along the axes 0 or 1; write A * v.rep(A.space, over=k)"),
    (lambda: A.add((R**deep).ones()), "its axes are Row2, Column3, and Deep4 is none of them"),
    (lambda: A.add(A.T), "those of v stand in another order, or more often"),
    (lambda: A.add((hb.R32**row).ones()), "is for spaces of one array each, over one field"),
    (lambda: A.add(3.0), "add of a vector of ℝ^{Row2×Column3} and 3.0: a vector would fit"),
    (lambda: records.times(v), "is for spaces of one array each"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_what_does_not_fit(make: Any, message: str) -> None:
    """The message says what would fit: the axis, its position, the candidates."""
    assert message in said(make)


def test_the_advice_for_two_candidates_works() -> None:
    """Both ways out of two axes of one name."""
    assert np.array_equal((B + v.rep(S, over=0)).array, B.array + v.array)
    assert np.array_equal(B.named(after, over=0).add(v).array, B.array + v.array)

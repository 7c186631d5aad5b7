# ruff: noqa: ARG001, ARG005 - rules and values take their arguments by position
"""Wrong operations are found, each with its reason; right functions pass."""

import itertools
from typing import Any

import numpy as np
import pytest

from adjoint import adjoint, check_adjoint, verify
from diff import const, derivative, fun, lift, log, operation, relu, sin, solve
from hilbert import R32, Elements, Fin, R, SpaceError, Vec, direct_sum
from tests.untyped import iterate

X, Y = Fin.of(3), Fin.of(2)
V, M = R**X, R ** (X * X)
rng = np.random.default_rng(0)
v, w, m = V.random(rng), V.random(rng), M.random(rng)
calls = itertools.count()


def times(a: Any, b: Any, y: Any, da: Any, db: Any) -> Any:
    """The rule of a product of a matrix and a vector."""
    return da @ b + a @ db


def matvec(xp: Any, a: Any, b: Any) -> Any:
    """That product."""
    return (a @ b[..., None])[..., 0]


WRONG: dict[str, tuple[Any, Any, str]] = {
    "a wrong factor": (matvec, lambda a, b, y, da, db: 2.0 * (da @ b) + a @ db, "the derivative: "),
    "transposed": (matvec, lambda a, b, y, da, db: da @ b + a.T @ db, "the derivative: "),
    "a missing argument": (matvec, lambda a, b, y, da, db: da @ b, "the derivative: "),
    "a wrong sign": (matvec, lambda a, b, y, da, db: a @ db - da @ b, "the derivative: "),
    "not linear": (matvec, lambda a, b, y, da, db: da @ db, "is not linear in the tangents"),
    "affine": (matvec, lambda a, b, y, da, db: times(a, b, y, da, db) + b, "is not linear in the tangents"),
    "another space": (matvec, lambda a, b, y, da, db: da, "where an expression of ℝ\\^3 is due"),
    "a wrong shape": (lambda xp, a, b: a, times, "the value: .* where an array of shape"),
    "a wrong dtype": (lambda xp, a, b: matvec(xp, a, b).astype("float32"), times, "the value: .*float32"),
    "the axes in front ignored": (
        lambda xp, a, b: xp.broadcast_to(matvec(xp, a, b).reshape(-1, 3)[0], b.shape),
        times,
        "lifted over argument 1: its values are not those",
    ),
    "mixed along the axes in front": (
        lambda xp, a, b: (
            matvec(xp, a, b) + 0.1 * xp.sum(b - b[..., :1, :], axis=None) if b.ndim > 1 else matvec(xp, a, b)
        ),
        times,
        "lifted over ",
    ),
    "NaN": (lambda xp, a, b: matvec(xp, a, b) * xp.nan, times, "the value: it is not finite"),
    "impure": (lambda xp, a, b: matvec(xp, a, b) + next(calls), times, "the value: it differs"),
    "no derivative": (matvec, None, "no_derivative|has no derivative"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_wrong_operations(case: tuple[Any, Any, str]) -> None:
    """Each is named, with the point."""
    value, tangent, message = case
    f = operation("wrong", M, V, to=V, value=value, tangent=tangent)
    found = verify(f, at=(m, w))
    assert not found
    with pytest.raises(SpaceError, match=message):
        raise SpaceError(str(found))
    assert str(found).startswith("FAILED at point 1: ")


def test_right_functions() -> None:
    """Operations, functions of the language, linear maps; at one point and at several, also in single precision."""
    f = operation("right", M, V, to=V, value=matvec, tangent=times)
    assert str(verify(f, at=[(m, w), (m, v)])) == "passed at 2 points"
    assert verify(fun(M, V)(lambda a, b: solve(a, b) * sin(b)), at=(m, w))
    assert verify(lift(f, Y, over=(1,)), at=(m, (V**Y).random(rng)))
    assert verify(2.0 * sin**X, at=v)
    assert verify(fun(V, Elements(X))(lambda a, i: a[i]), at=(v, Elements(X).vec(1)))
    assert verify(fun(direct_sum(R, V))(lambda x: x.split()[0] * x.split()[1]), at=direct_sum(R, V).random(rng))
    assert verify(fun(R32**X)(lambda a: a * a), at=(R32**X).vec(np.array([1, 2, 3], np.float32)))


def test_the_second_point_is_one_where_there_is_a_value() -> None:
    """x ↦ x·(Ax) − x, many times, leaves all bounds a little further away; √(1 − x²) has no value there."""
    A = const((R ** (X * X)).vec([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    f = fun(V)(lambda x: iterate(lambda s: s * (A @ s) - s, x, Fin.of(50)))
    with np.errstate(all="ignore"):
        assert verify(f, at=V.vec([1.0, -1.0, 0.0]))
        assert verify(fun(R)(lambda x: (1.0 - x * x) ** 0.5), at=R.vec(0.99))


@pytest.mark.parametrize("k", [1e-200, 1e-300, 1e200])
def test_functions_of_any_size(k: float) -> None:
    """The dot test is relative, where squares are 0 or infinite, too."""
    f: Any = fun(V)(lambda x: k * sin(x))
    with np.errstate(over="ignore"):
        assert check_adjoint(f, v)
        assert not check_adjoint(f, v, star=adjoint(derivative(f).at(v)) * 1.001)


def test_points() -> None:
    """A kink is said to be one; each point is reported; bad points are refused."""
    f: Any = fun(R)(relu)
    found = verify(f, at=[R.vec(1.0), R.vec(0.0)])
    assert str(found).startswith("FAILED at point 2: the derivative: ")
    assert "kink" in str(found)
    with pytest.warns(RuntimeWarning):
        assert "it is not finite" in str(verify(fun(R)(log), at=R.vec(-1.0)))
    points: list[Vec[Any]] = []
    for at in (v, (R.vec(1.0), R.vec(1.0)), points, 3):
        with pytest.raises(SpaceError):
            verify(f, at=at)

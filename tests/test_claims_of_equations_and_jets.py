"""Claims of the pages on control flow and Taylor modes: equations between several arrays, jets outside a domain."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adjoint import check, jacobian
from diff import asin, const, fun, log, sqrt, taylor
from hilbert import Fin, R, SpaceError
from tests.untyped import root

X, Y = Fin.of(3), Fin.of(2)
V = R**Y
A, B = V.vec([1.0, 2.0]), V.vec([1.0, -2.0])
START = (const(R.vec(0.6)), const(R.vec(0.4)))


# --- docs/control-flow.md: fixed_point and root ---


either: Any = root  # a tuple of equations for one vector is no type


def two_unknowns(c: Any) -> Any:
    """u·A + v²·B = c for numbers u, v."""
    u, v = root(lambda s: const(A) * s[0] + const(B) * s[1] * s[1] - c, START)
    return 3.0 * u + v


def two_equations(c: Any) -> Any:
    """The same for the vector (u, v), as two equations."""
    equations: Any = lambda s: (s[0] + s[1] * s[1] - c[0], 2.0 * s[0] - 2.0 * s[1] * s[1] - c[1])  # noqa: E731
    s = root(equations, const(V.vec([0.6, 0.4])))
    return 3.0 * s[0] + s[1]


def solved(c: Any) -> float:
    """3u + v."""
    return float(3.0 * (c[0] + c[1] / 2.0) / 2.0 + math.sqrt((c[0] - c[1] / 2.0) / 2.0))


@pytest.mark.parametrize("body", [two_unknowns, two_equations])
def test_a_root_is_of_a_function_into_a_space_of_the_same_dimension(body: Callable[[Any], Any]) -> None:
    """`root(f, start)`: f is into a space of the same dimension, of as many arrays or not; derivatives, lifts, jets."""
    f = fun(V)(body)
    points = (V**X).vec([[1.3, 0.4], [1.0, 0.2], [2.0, 0.4]])
    due = [solved(row) for row in points.array]
    assert float(f(points[0])) == pytest.approx(due[0], rel=1e-12)
    assert check(f, points[0])
    np.testing.assert_allclose((f**X)(points).array, due, rtol=1e-12)
    h = 1e-3
    along = [solved(points.array[0] + k * h) for k in (-1, 0, 1)]
    second = (along[0] - 2.0 * along[1] + along[2]) / (2.0 * h * h)
    assert float(taylor(f, points[0], V.ones(), 2)[2]) == pytest.approx(second, rel=1e-4)
    assert np.count_nonzero(jacobian(f**X, points)) == 6


def test_equations_and_unknowns_are_as_many() -> None:
    """One of fewer or more equations is refused, and says how many unknowns there are."""
    with pytest.raises(SpaceError, match="as many equations as unknowns, 2"):
        fun(V)(lambda c: root(lambda s: s[0] + s[1] - c[0], START)[0])


# --- docs/taylor.md ---


def test_coefficients_outside_of_a_domain() -> None:
    """They are those of the derivative there: NaN or ±∞, or numbers, as those of log at −1."""
    with np.errstate(all="ignore"):
        of_log = [float(c) for c in taylor(fun(R)(log), R.vec(-1.0), R.vec(1.0), 3)]
        of_root = [float(c) for c in taylor(fun(R)(sqrt), R.vec(-1.0), R.vec(1.0), 3)]
        of_asin = [float(c) for c in taylor(fun(R)(asin), R.vec(2.0), R.vec(1.0), 3)]
    assert math.isnan(of_log[0])
    assert of_log[1:] == pytest.approx([-1.0, -1.0 / 2.0, -1.0 / 3.0])
    assert all(map(math.isnan, of_root + of_asin))

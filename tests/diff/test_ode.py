"""Solutions of x' = f(x): the recurrence of coefficients, and Taylor steps to a tolerance."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from diff import const, cos, exp, fun, ode_series, ode_solve, program, register, sin, square, tanh
from diff.jets.ode import _Steps
from diff.terms.elementwise import RULES
from hilbert import R32, Bool, Fin, R, SpaceError, direct_sum

P = R ** Fin.of(2)
series: Any = ode_series
solve: Any = ode_solve
kepler = fun(P, P)(lambda q, v: (v, -((q @ q) ** -1.5) * q))


@pytest.mark.parametrize(
    ("f", "x0", "due"),
    [
        (fun(R)(lambda x: x), 2.0, [2.0 / math.factorial(n) for n in range(9)]),
        (fun(R)(square), 0.5, [0.5 ** (n + 1) for n in range(9)]),
        (fun(R)(lambda x: square(x) + 1.0), 0.0, [0, 1, 0, 1 / 3, 0, 2 / 15, 0, 17 / 315, 0]),
        (fun(R)(lambda x: exp(-x)), 0.0, [0.0, *((-1.0) ** (n + 1) / n for n in range(1, 9))]),
        (fun(R)(lambda x: x * 0.0 + 3.0), 1.0, [1.0, 3.0, *[0.0] * 7]),
    ],
)
def test_coefficients(f: Any, x0: float, due: list[float]) -> None:
    """exp, 1/(1/x₀ − t), tan, ln(1 + t), and a line."""
    found = ode_series(f, 8)(R.vec(x0))
    np.testing.assert_allclose([float(c) for c in found.split()], due, atol=1e-14)


def test_the_equation() -> None:
    """(n+1)·x_{n+1} = f(x)_n, for a system: the series of x' is the Taylor polynomial of f along x."""
    f = fun(P, R)(lambda q, t: (tanh(q) * sin(t) + q, 1.0 + t * 0.0))
    x = f.dom.random(np.random.default_rng(0))
    terms = ode_series(f, 6)(x).split()
    h = 1e-2
    at = sum((h**n * c for n, c in enumerate(terms)), 0.0 * terms[0])
    slope = sum((n * h ** (n - 1) * c for n, c in enumerate(terms) if n), 0.0 * terms[0])
    for a, b in zip(slope.leaves, f(at).leaves, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-11)


def test_steps_are_quadratic_in_the_order() -> None:
    """Twice the order takes at most 4.5 times the steps."""
    short, long = (len(program(ode_series(kepler, order)).steps) for order in (16, 32))
    assert long <= 4.5 * short


@pytest.mark.parametrize("t", [1.0, -2.5, 0.0, 7])
def test_linear_systems(t: float) -> None:
    """x' = Ax: x(t) = e^{tA} x₀, forwards and backwards."""
    X = Fin.of(3)
    A = (R ** (X * X)).random(np.random.default_rng(3))
    f = fun(R**X)(lambda x: A @ x)
    x0 = (R**X).random(np.random.default_rng(4))
    due = scipy.linalg.expm(t * A.array) @ x0.array
    np.testing.assert_allclose(ode_solve(f, x0, t, 1e-13).array, due, rtol=0.0, atol=1e-11 * np.abs(due).max())


def test_kepler() -> None:
    """Eccentricity 0.6, ten periods, order 20: back at the start to 1e-10."""
    e = 0.6
    x0 = kepler.dom.vec(([1.0 - e, 0.0], [0.0, math.sqrt((1.0 + e) / (1.0 - e))]))
    for options in ({"tol": 1e-14, "order": 20}, {"tol": 1e-14}):
        end = solve(kepler, x0, 20.0 * math.pi, **options)
        assert max(np.abs(a - b).max() for a, b in zip(end.leaves, x0.leaves, strict=True)) < 1e-10


@pytest.mark.parametrize("tol", [1e-4, 1e-8, 1e-12])
def test_the_tolerance_is_kept(tol: float) -> None:
    """The error of x' = x cos t over [0, 10] is of the order of the tolerance."""
    f = fun(R, R)(lambda x, t: (x * (sin(t + math.pi / 2.0)), 1.0 + t * 0.0))
    end = ode_solve(f, f.dom.vec((1.0, 0.0)), 10.0, tol)
    assert abs(float(end.leaves[0]) - math.exp(math.sin(10.0))) < 100.0 * tol


def test_several_times() -> None:
    """The values at several times are those of one solution; a time may stand twice, and be 0."""
    times = [0.0, 0.5, 0.5, 1.7, 3.0]
    found = ode_solve(fun(R)(lambda x: -x), R.vec(2.0), times)
    np.testing.assert_allclose([float(x) for x in found], [2.0 * math.exp(-t) for t in times], rtol=1e-11)
    assert isinstance(ode_solve(fun(R)(lambda x: -x), R.vec(2.0), [1.0]), list)


def test_a_solution_through_0() -> None:
    """x' = 1 from −1: the step does not shrink where x is 0; and x' = t³ from 0, whose first coefficients are 0."""
    assert float(ode_solve(fun(R)(lambda x: x * 0.0 + 1.0), R.vec(-1.0), 2.0)) == pytest.approx(1.0, rel=1e-12)
    f = fun(R, R)(lambda x, t: (t * t * t, 1.0 + x * 0.0))
    assert float(ode_solve(f, f.dom.vec((0.0, 0.0)), 2.0).leaves[0]) == pytest.approx(4.0, rel=1e-12)


def test_from_0() -> None:
    """x' = exp(−x) from 0 is ln(1 + t), in a few steps: where x is 0 the bound is that by |x₁|·h."""
    calls = 0

    def value(xp: Any, x: Any) -> Any:
        nonlocal calls
        calls += 1
        assert calls < 200
        return xp.exp(-x)

    decay = register("test's decay", value, lambda _, y: -y)
    try:
        assert float(ode_solve(fun(R)(decay), R.vec(0.0), 1.0, 1e-10)) == pytest.approx(math.log(2.0), abs=1e-9)
    finally:
        del RULES["test's decay"]


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7])
def test_the_order_suits_the_tolerance(tol: float) -> None:
    """Without `order` it is 1 − ½ ln tol, rounded up: the same number, and another one for the orders beside it."""
    order = math.ceil(1.0 - 0.5 * math.log(tol))
    f, x = fun(R)(lambda x: sin(x) + 1.0), R.vec(0.3)
    due = {n: float(ode_solve(f, x, 1.0, tol, order=n)) for n in (order - 1, order, order + 1)}
    assert float(ode_solve(f, x, 1.0, tol)) == due[order]
    assert len(set(due.values())) == 3


@pytest.mark.parametrize("order", [8, 9])
def test_steps_by_the_last_two_coefficients(order: int) -> None:
    """x' = x² + 1 from 0, the tangent, has x_n = 0 for even n: the step is by the other one of the last two."""
    f, tol, n = fun(R)(lambda x: square(x) + 1.0), 1e-10, 9 if order == 9 else 7
    steps = _Steps(ode_series(f, order), R.vec(0.0), [1.0], tol, order)
    assert steps._length() == pytest.approx((tol / abs(float(steps.terms[n][0]))) ** (1.0 / (n - 1)))


def test_coefficients_that_vanish_by_chance() -> None:
    """x' = x¹⁶ from t = 0.5: the last coefficients are 0 at first, and the step is tested at its end."""
    f = fun(R, R)(lambda x, t: (square(square(square(square(t)))) * square(square(square(square(t)))), 1.0 + x * 0.0))
    found = ode_solve(f, f.dom.vec((1.0, 0.0)), 1.5, 1e-10, order=6)
    assert float(found.leaves[0]) == pytest.approx(1.0 + 1.5**33 / 33.0, rel=1e-8)


def test_a_rule_beside_one_of_what_does_not_move() -> None:
    """x' = softmax(x)·c is that of the number c: the softmax that is made of constants has no coefficients."""
    start = P.vec([0.3, -0.5])
    weights = np.exp([0.3, -0.5]) / np.exp([0.3, -0.5]).sum()
    some = ode_series(fun(P)(lambda x: x.softmax() * const(start).softmax()), 4)(start)
    due = ode_series(fun(P)(lambda x: x.softmax() * const(P.vec(weights))), 4)(start)
    for a, b in zip(some.leaves, due.leaves, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_single_precision() -> None:
    """On ℝ₃₂, with a tolerance above its rounding."""
    f = fun(R32)(lambda x: -x)
    end = ode_solve(f, R32.vec(1.0), 1.0, 1e-6)
    assert end.leaves[0].dtype == np.dtype("float32")
    assert float(end) == pytest.approx(math.exp(-1.0), rel=1e-5)


def test_a_solution_that_ends() -> None:
    """x' = x² from 1 blows up at t = 1: the error names the time; f that is not finite at x₀ is said to be so."""
    with np.errstate(all="ignore"):
        with pytest.raises(SpaceError, match=r"cannot be continued (beyond|at) t = (1|0\.99999)"):
            ode_solve(fun(R)(square), R.vec(1.0), 2.0)
        with pytest.raises(SpaceError, match="f is not finite there"):
            ode_solve(fun(R)(lambda x: 1.0 / x), R.vec(0.0), 1.0)


def test_bad_input() -> None:
    """Another codomain, a discrete part, tolerances, orders and times."""
    f = fun(R)(lambda x: -x)
    one = R.vec(1.0)
    refused: list[tuple[Any, str]] = [
        (lambda: series(fun(P)(lambda x: x @ x), 3), "needs f : V → V"),
        (lambda: series(fun(R, Bool)(lambda x, c: (x, c)), 3), "discrete part"),
        (lambda: series(f, -1), "a whole number from 0 on, not -1"),
        (lambda: series(f, 2.5), "a whole number"),
        (lambda: series(f, 10**6), "N = 1000001 slots"),
        (lambda: solve(f, P.zeros(), 1.0), "a vector of ℝ is due"),
        (lambda: solve(f, one, 1.0, 0.0), "tol is a number from 2.2e-16"),
        (lambda: solve(f, one, 1.0, 1e-17), "tol is a number"),
        (lambda: solve(fun(R32)(lambda x: -x), R32.vec(1.0), 1.0, 1e-10), "from 1.2e-07"),
        (lambda: solve(f, one, math.inf), "t is a time"),
        (lambda: solve(f, one, "1"), "t is a time"),
        (lambda: solve(f, one, [1.0, 0.5]), "sort them"),
        (lambda: solve(f, one, [-1.0, 0.5]), "sort them"),
        (lambda: solve(f, one, 1.0, order=1), "an order from 2 to 100, not 1: 15 suits the tolerance 1e-12"),
        (lambda: solve(f, one, 1.0, order=101), "an order from 2 to 100, not 101"),
        (lambda: solve(f, one, 1.0, 1e-15, order=300), "an order from 2 to 100, not 300: 19 suits the tolerance 1e-15"),
        (lambda: solve(3, one, 1.0), "ode_solve takes a map"),
        (lambda: fun(R)(lambda x: solve(f, x, 1.0)), r"x0 is an expression of ℝ: in a traced function .* iterate\("),
        (lambda: fun(R)(lambda t: solve(f, one, t)), r"t is an expression of ℝ: in a traced function .* iterate\("),
    ]
    for make, said in refused:
        with pytest.raises(SpaceError, match=said):
            make()
    assert direct_sum(R, P).dim == 3
    decay: Any = fun(R)(lambda x: -x)
    assert float(solve(decay, one, 1.0, order=100)) == pytest.approx(math.exp(-1.0))


def test_hopeless_times() -> None:
    """A time that no pace reaches is refused after some steps, one that a growing step reaches is not."""
    f = fun(R)(lambda x: cos(x) + 2.0)
    with pytest.raises(
        SpaceError, match=r"took \d+ steps to t = .*at this pace more than 1000000000 lead to t = -1e\+30"
    ):
        ode_solve(f, R.vec(0.0), -1e30)
    assert float(ode_solve(fun(R)(lambda x: -x), R.vec(1.0), 200.0)) < 1e-80
    assert np.isclose(float(ode_solve(fun(R)(lambda x: 0.5 / x), R.vec(1e-3), 1e12)), 1e6)


def test_parameters_are_parts_that_stay() -> None:
    """Of a map that has some the message says what to write, which works; of another map it says no more."""
    V = R ** Fin.of(2)
    f: Any = fun(R, V, R)(lambda p, x, q: p * q * x)
    said = "needs f : V → V, not one ℝ ⊕ ℝ^2 ⊕ ℝ → ℝ^2: parameters are parts of the state that stay, "
    due = "fun(P0, V, P2)(lambda p0, x, p2: (0.0*p0, f(p0, x, p2), 0.0*p2))"
    for made in (lambda: ode_series(f, 2), lambda: ode_solve(f, V.ones(), 1.0)):
        with pytest.raises(SpaceError) as found:
            made()
        assert str(found.value) == f"x' = f(x) {said}{due}"
    whole = eval(due, {"fun": fun, "f": f, "P0": R, "V": V, "P2": R})  # noqa: S307 - a text of ours
    end = ode_solve(whole, whole.dom.vec((2.0, [1.0, 3.0], 0.5)), 1.0)
    assert np.allclose(end[1].array, np.exp(1.0) * np.array([1.0, 3.0]), rtol=1e-12)
    wrong: Any = fun(V)(lambda x: x @ x)
    with pytest.raises(SpaceError, match=r"not one ℝ\^2 → ℝ$"):
        ode_series(wrong, 2)


def test_in_a_traced_function() -> None:
    """The steps are as many as the numbers need; so they are for one argument of several, given as a tuple."""
    fall = fun(P)(lambda x: -x)
    uses: list[Any] = [lambda q: solve(kepler, (q, q), 1.0), lambda q: solve(fall, q, 1.0)]
    for use in uses:
        with pytest.raises(SpaceError, match="in a traced function a number of steps is given, as in iterate"):
            fun(P)(use)

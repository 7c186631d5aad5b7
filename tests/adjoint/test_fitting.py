"""Least squares, minimizers, Laplace's approximation: values and derivatives, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize

import hilbert.all as hb
from hilbert import SpaceError

HB: Any = hb
RNG = np.random.default_rng(0)
T = np.linspace(0.0, 3.0, 60)
ROWS = hb.R ** hb.Fin.of(60)
TIMES = ROWS.vec(T)
SEEN = 2.0 * np.exp(-0.8 * T) + 0.3 + 0.01 * RNG.standard_normal(60)
FAR = SEEN + np.where(np.arange(60) % 12 == 0, 3.0, 0.0)
THREE = hb.direct_sum(hb.R, hb.R, hb.R)


def decay(seen: Any) -> Any:
    """The residuals of a·exp(−k·t) + c."""
    y = ROWS.vec(seen)
    return hb.fun(hb.R, hb.R, hb.R)(lambda a, k, c: a * hb.exp(-k * TIMES) + c.rep(ROWS) - y)


def chain(n: int) -> Any:
    """Residuals that tie each unknown to the next one, and to a datum."""
    V = hb.R ** hb.Fin.of(n)
    data = V.vec(np.sin(np.arange(n) / 20.0))
    inner = hb.R ** hb.Fin.of(n - 1)
    f = hb.fun(V)(lambda x: (hb.exp(x) - hb.exp(data)).concatenate(3.0 * (x.crop(1, n) - x.crop(0, n - 1))))
    assert f.cod.dim == V.dim + inner.dim
    return f


START = THREE.vec((1.0, 1.0, 0.0))


@pytest.mark.parametrize("loss", ["squares", "huber", "cauchy"])
def test_the_fit_is_that_of_scipy(loss: Any) -> None:
    f = decay(FAR)
    fit = hb.levenberg_marquardt(f, START, loss=loss, scale=0.1)
    name = {"squares": "linear"}.get(loss, loss)
    want = least_squares(
        lambda x: x[0] * np.exp(-x[1] * T) + x[2] - FAR, [1.0, 1.0, 0.0], loss=name, f_scale=0.1, xtol=1e-14, ftol=1e-14
    )
    np.testing.assert_allclose(fit.point.flat(), want.x, rtol=1e-5)
    assert np.isclose(fit.losses[-1], want.cost, rtol=1e-8)
    assert all(b < a for a, b in zip(fit.losses, fit.losses[1:], strict=False))
    assert str(fit).startswith(f"{fit.rounds} rounds: ")
    assert any(word in fit.reason for word in ("short", "smaller", "stays"))


def test_gauss_newton_and_sparse_equations() -> None:
    f = chain(400)
    start = f.dom.zeros()
    seen = list[tuple[int, float]]()
    fits = [
        hb.gauss_newton(f, start, progress=lambda k, loss: seen.append((k, loss))),
        hb.levenberg_marquardt(f, start),
    ]
    a, b = (fit.point.array for fit in fits)
    np.testing.assert_allclose(a, b, atol=1e-6)
    assert np.max(np.abs(hb.grad(hb.fun(f.dom)(lambda x: 0.5 * (f(x) @ f(x))))(fits[0].point).array)) < 1e-6
    assert [k for k, _ in seen] == list(range(1, fits[0].rounds + 1))
    assert [loss for _, loss in seen] == list(fits[0].losses[1:])
    assert "in a band of 1 + 1 + 1 diagonals" in fits[0].way
    assert hb.gauss_newton(decay(SEEN), START).way == "by its matrix"


def test_ends() -> None:
    f = decay(SEEN)
    assert hb.levenberg_marquardt(f, START, at_most=2).reason == "2 rounds are over"
    exact = hb.fun(hb.R)(lambda x: 2.0 * x)
    assert hb.gauss_newton(exact, hb.R.vec(1.0)).reason == "the residuals are 0"
    flat = hb.fun(hb.R)(lambda x: hb.exp(-x * x) + 1.0)
    fit = hb.levenberg_marquardt(flat, hb.R.vec(0.3))
    assert fit.losses[-1] < fit.losses[0]


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: HB.levenberg_marquardt(3, START), "levenberg_marquardt takes a map, not 3"),
    (lambda: HB.levenberg_marquardt(decay(SEEN), 3), "the start is a vector of ℝ ⊕ ℝ ⊕ ℝ, not 3"),
    (
        lambda: HB.levenberg_marquardt(decay(SEEN), START, loss="l1"),
        "the name of a loss is 'squares', 'huber', 'cauchy'",
    ),
    (lambda: HB.levenberg_marquardt(decay(SEEN), START, at_most=0), "at_most=0: a number of rounds from 1 on"),
    (lambda: HB.levenberg_marquardt(decay(SEEN), START, damping=0.0), r"damping=0\.0: a number above 0"),
    (lambda: HB.gauss_newton(decay(SEEN), START, tolerance=-1.0), r"tolerance=-1\.0: a number above 0"),
    (lambda: HB.gauss_newton(decay(SEEN), THREE.vec((np.nan, 1.0, 1.0))), "residuals at the start are not all finite"),
    (
        lambda: HB.gauss_newton(hb.fun(hb.R, hb.R)(lambda x, y: x + y - 1.0), hb.direct_sum(hb.R, hb.R).zeros()),
        "JᵀJ is singular at this point; levenberg_marquardt adds",
    ),
    (lambda: HB.laplace(decay(SEEN), START), r"laplace\(f, start\) takes an f of parameters and latent variables"),
    (lambda: HB.laplace(hb.fun(hb.R, hb.R)(lambda a, x: a * x * x), 3), "the start is a vector of ℝ, not 3"),
    (lambda: hb.fun(hb.R)(lambda a: HB.minimizer(lambda x: (x - a).rep(ROWS), a)), "minimizer gives a number, not an"),
]


@pytest.mark.parametrize("k", range(len(BAD)))
def test_bad_input(k: int) -> None:
    call, text = BAD[k]
    with pytest.raises(SpaceError, match=text):
        call()


def test_a_minimizer_and_its_derivatives() -> None:
    n = 100
    V = hb.R ** hb.Fin.of(n)

    def energy(x: Any, b: Any) -> Any:
        step = x.crop(1, n) - x.crop(0, n - 1)
        return hb.softplus(x).sum() + 0.5 * (x @ x) + hb.cosh(step).sum() - b @ x

    f: Any = hb.fun(V)(lambda b: hb.minimizer(lambda x: energy(x, b), hb.const(V.zeros())))
    b = V.vec(3.0 * RNG.standard_normal(n))
    flat = hb.as_scipy(hb.fun(V)(lambda x: energy(x, b)))
    want = minimize(flat.fun, np.zeros(n), jac=flat.jac, method="L-BFGS-B", options={"maxiter": 10_000, "ftol": 1e-15})
    np.testing.assert_allclose(f(b).array, want.x, atol=1e-5)
    v, h = V.random(RNG), 1e-5
    ends = [f(V.vec(b.array + s * h * v.array)).array for s in (1, -1)]
    np.testing.assert_allclose(hb.jvp(f)(b, v).array, (ends[0] - ends[1]) / (2 * h), atol=1e-6)


@pytest.mark.parametrize("n", [5, 200])
def test_laplace_of_a_normal_density_is_exact(n: int) -> None:
    """−log ∫ N(y | x, s) N(x | 0, K) dx, which is normal in y."""
    V = hb.R ** hb.Fin.of(n)
    y = V.random(RNG)

    def joint(theta: Any, x: Any) -> Any:
        s, k = hb.exp(theta[0]), hb.exp(theta[1])
        rest, step = y - x, x.crop(1, n) - x.crop(0, n - 1)
        prior = 0.5 * k * (step @ step + x @ x)
        return 0.5 * s * (rest @ rest) + prior - 0.5 * n * theta[0]

    P = hb.R ** hb.Fin.of(2)
    f = hb.fun(P, V)(joint)
    m = hb.laplace(f, V.zeros())
    theta = P.vec([0.3, -0.4])
    s, k = np.exp(theta.array)
    d = np.diff(np.eye(n), axis=0)
    prior = k * (d.T @ d + np.eye(n))
    full = prior + s * np.eye(n)
    x = np.linalg.solve(full, s * y.array)
    want = joint(theta, V.vec(x)).array + 0.5 * np.linalg.slogdet(full)[1] - 0.5 * n * np.log(2 * np.pi)
    assert np.isclose(m(theta).array, want, rtol=1e-12)
    slope, h = hb.grad(m)(theta).array, 1e-6
    for i in range(2):
        ends = [m(P.vec(theta.array + sign * h * np.eye(2)[i])).array for sign in (1, -1)]
        assert np.isclose(slope[i], (ends[0] - ends[1]) / (2 * h), rtol=1e-6, atol=1e-6)


def test_a_step_that_is_too_long_is_halved() -> None:
    """Newton's iteration alone leaves the domain of the logarithm, or runs away."""
    a = hb.R.vec(0.5)
    f = hb.fun(hb.R)(lambda a: hb.root(lambda x: hb.log(x) - a, hb.const(hb.R.vec(30.0))))
    assert np.isclose(f(a).array, np.exp(0.5))
    assert np.isclose(hb.grad(f)(a).array, np.exp(0.5))
    g = hb.fun(hb.R)(lambda a: hb.root(lambda x: hb.tanh(x) - a, hb.const(hb.R.vec(2.0))))
    assert np.isclose(g(a).array, np.arctanh(0.5))
    X = hb.Fin.of(3)
    many = (hb.R**X).vec([0.1, 0.5, 0.9])
    np.testing.assert_allclose((g**X)(many).array, np.arctanh(many.array))


def test_an_infinite_slope_is_no_solution() -> None:
    f = hb.fun(hb.R)(lambda a: hb.root(lambda x: hb.sqrt(x) - a, hb.const(hb.R.vec(0.0))))
    with pytest.raises(SpaceError, match="the root is not found in 100 rounds; the last residual is 2"):
        f(hb.R.vec(2.0))


@pytest.mark.parametrize(
    ("f", "start", "want"),
    [
        (lambda x: (x - hb.log(x)).sum(), (0.1, 5.0, 30.0), 1.0),
        (lambda x: (hb.exp(x) - x).sum(), (5.0, -20.0, 30.0), 0.0),
    ],
)
def test_a_minimizer_stays_where_the_function_has_values(f: Any, start: Any, want: float) -> None:
    V = hb.R ** hb.Fin.of(3)
    found: Any = hb.fun(V)(lambda s: HB.minimizer(f, s))(V.vec(start))
    np.testing.assert_allclose(found.array, want, atol=1e-9)


def test_least_squares_in_single_precision() -> None:
    V = hb.R32 ** hb.Fin.of(100)
    f = hb.fun(V)(lambda x: hb.exp(x) - 2.0)
    for fit in (hb.levenberg_marquardt(f, V.zeros()), hb.gauss_newton(f, V.zeros())):
        np.testing.assert_allclose(fit.point.array, np.log(2.0), rtol=1e-5)
        assert fit.point.array.dtype == np.float32
    with pytest.raises(SpaceError, match="progress=3: a function of the round and the loss"):
        HB.levenberg_marquardt(f, V.zeros(), progress=3)


def test_second_derivatives_of_large_determinants() -> None:
    """They are refused where they need large matrices in full; differences of the gradient, as the message has them."""
    few, many = (_chain_of(n) for n in (200, 5000))
    p, v, h = hb.R.vec(0.3), hb.R.vec(1.0), 1e-4
    exact = hb.hessian(few, p)
    x, f = p, few
    near = (hb.grad(f)(x + h * v) - hb.grad(f)(x - h * v)) / (2.0 * h)
    np.testing.assert_allclose(near.array, exact.item(), rtol=1e-6)
    said = r"the second derivative for a matrix of 5000 rows .* \(grad\(f\)\(x \+ h \* v\) - grad"
    with pytest.raises(SpaceError, match=said):
        hb.hessian(many, p)
    assert np.isfinite(hb.grad(many)(p).array)


def _chain_of(n: int) -> Any:
    """Laplace's approximation for a random walk with counts."""
    V = hb.R ** hb.Fin.of(n)
    y = V.vec(np.arange(n) % 3.0)

    def joint(p: Any, x: Any) -> Any:
        steps = x[1:] - x[:-1]
        return (hb.exp(x) - y * x).sum() + 0.5 * hb.exp(p) * (steps @ steps + x[0] ** 2) - 0.5 * n * p

    return hb.laplace(hb.fun(hb.R, V)(joint), V.zeros())

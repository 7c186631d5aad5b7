"""Functions of symmetric matrices beside exact divided differences, at all gaps; exponentials beside block matrices."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert.all import Fin, R

GAPS = [0.0, 1e-16, 1e-12, 1e-8, 1e-6, 5e-5, 2e-4, 1e-2, 1e-1]
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "exp": (hb.exp, [np.exp] * 8),
    "log": (
        hb.log,
        [np.log, *(lambda x, k=k: -math.factorial(k - 1) / (-x) ** k for k in range(1, 8))],
    ),
    "a polynomial": (
        hb.fun(R)(lambda x: x**5 - 2.0 * x**3 + x),
        [np.polynomial.Polynomial([0.0, 1.0, 0.0, -2.0, 0.0, 1.0]).deriv(k) for k in range(8)],
    ),
}


def difference(of: list[Any], *x: float) -> float:
    """f[x₀, …, xₙ]: the quotient where the numbers are far from each other, else Taylor's series at their mean."""
    x = tuple(sorted(x))
    n, m = len(x) - 1, float(np.mean(x))
    if n == 0:
        return float(of[0](x[0]))
    if x[-1] - x[0] > 0.05:
        return (difference(of, *x[1:]) - difference(of, *x[:-1])) / (x[-1] - x[0])
    sums, total, factor = [1.0, *[0.0] * 7], 0.0, 1.0
    for one in x:  # the symmetric sums of powers of x − m
        for k in range(1, 8):
            sums[k] += (one - m) * sums[k - 1]
    for k in range(8):
        factor *= max(k, 1)
        total += sums[k - n] * of[k](m) / factor if k >= n else 0.0
    return total


def spectrum(kind: str, gap: float) -> Any:
    """Five eigenvalues, two or three of them close."""
    return np.array(
        [1.0, 1.0 + gap, 2.0, 3.0, 0.5] if kind == "two" else [1.0, 1.0 + gap, 1.0 + 2 * gap, 2.5, 2.5 + gap]
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_divided_differences(name: str) -> None:
    """First and second derivatives to 10⁻¹¹ and 10⁻⁷ of the largest entry, at every gap, as lanes and in all forms."""
    f, of = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    n, L = 5, Fin.of(2 * len(GAPS))
    M = R ** (Fin.of(n) * Fin.of(n))
    g = hb.fun(M)(lambda a: hb.matrix_function(f, a))
    points, first, second = [], [], []
    e, h = (x + x.T for x in rng.normal(size=(2, n, n)))
    for kind in ("two", "three"):
        for gap in GAPS:
            w = spectrum(kind, gap)
            q = np.linalg.qr(rng.normal(size=(n, n)))[0]
            points.append((q * w) @ q.T)
            inner, other = q.T @ e @ q, q.T @ h @ q
            one = np.array([[difference(of, a, b) for b in w] for a in w])
            two = np.array([[[difference(of, a, b, c) for c in w] for b in w] for a in w])
            first.append(q @ (one * inner) @ q.T)
            second.append(
                q
                @ (np.einsum("ikj,ik,kj->ij", two, inner, other) + np.einsum("ikj,ik,kj->ij", two, other, inner))
                @ q.T
            )
    d: Any = hb.lift(hb.jvp(g), L, over=(0, 1))
    lanes = [(M**L).vec(np.stack(x)) for x in (points, [e] * L.size, [h] * L.size, [0 * e] * L.size)]
    made, due = d(lanes[0], lanes[1]).array, np.stack(first)
    assert (np.abs(made - due).max((1, 2)) <= 1e-11 * np.abs(due).max((1, 2))).all()
    dd: Any = hb.jvp(d)
    made, due = dd((lanes[0], lanes[1]), (lanes[2], lanes[3])).array, np.stack(second)
    assert (np.abs(made - due).max((1, 2)) <= 1e-7 * np.abs(due).max((1, 2))).all()
    assert all(hb.check(g, M.vec(np.diag([1.0, 1.0, 2.0, 2.0, 3.0]) + 0.1 * e)))


def test_roots_and_logarithms() -> None:
    """√A·√A = A, A^(−½)·√A = 1, exp log A = A; so are their derivatives, where eigenvalues are equal, too."""
    X = Fin.of(4)
    M = R ** (X * X)
    rng = np.random.default_rng(1)
    q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    for w in ([1.0, 1.0, 4.0, 9.0], [0.1, 0.2, 30.0, 500.0]):
        A, E = M.vec((q * np.array(w)) @ q.T), M.vec(q + q.T)
        laws: list[tuple[Any, Any]] = [
            (lambda a: hb.sqrtm(a) @ hb.sqrtm(a) - a, 0 * q),
            (lambda a: hb.inv_sqrtm(a) @ hb.sqrtm(a), np.eye(4)),
            (lambda a: hb.expm(hb.logm(a)) - a, 0 * q),
            (lambda a: hb.matrix_function(hb.exp, 0.01 * a) - hb.expm(0.005 * (a + a.T)), 0 * q),
        ]
        for law, due in laws:
            f: Any = hb.fun(M)(law)
            np.testing.assert_allclose(f(A).array, due, atol=1e-9)
            np.testing.assert_allclose(hb.jvp(f)(A, E).array, 0 * q, atol=1e-9)


def test_the_example() -> None:
    """exp at Q·diag(2, 2, 5)·Qᵀ, by its eigenvalues as by Padé's quotient, for six Q."""
    M = R ** (Fin.of(3) * Fin.of(3))
    rng = np.random.default_rng(3)
    by_values: Any = hb.jvp(hb.fun(M)(lambda a: hb.matrix_function(hb.exp, a)))
    by_series: Any = hb.jvp(hb.fun(M)(hb.expm))
    for _ in range(6):
        q, e = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=(3, 3))
        A, E = M.vec((q * np.array([2.0, 2.0, 5.0])) @ q.T), M.vec(e + e.T)
        np.testing.assert_allclose(by_values(A, E).array, by_series(A, E).array, atol=1e-11)


def test_polar_factor() -> None:
    """A·(AᵀA)^(−½) at an orthogonal A: its derivative is the skew part of AᵀE."""
    M = R ** (Fin.of(3) * Fin.of(3))
    rng = np.random.default_rng(2)
    q, e = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=(3, 3))
    f = hb.fun(M)(lambda a: a @ hb.inv_sqrtm(a.T @ a))
    np.testing.assert_allclose(hb.jvp(f)(M.vec(q), M.vec(e)).array, q @ (q.T @ e - e.T @ q) / 2, atol=1e-13)
    assert np.isfinite(hb.hessian(hb.fun(M)(lambda a: f(a).sum()), M.vec(q))).all()


def test_a_third_derivative() -> None:
    """At distinct eigenvalues it is there; at equal ones it is NaN, not a number."""
    M = R ** (Fin.of(2) * Fin.of(2))
    f = hb.fun(M)(lambda a: hb.sqrtm(a))  # noqa: PLW0108
    E = M.vec([[0.3, 0.2], [0.2, -0.1]])
    found = hb.taylor(f, M.vec([[1.0, 0.0], [0.0, 4.0]]), E, 3)
    t = np.linspace(-0.3, 0.3, 9)
    values = [f(M.vec(np.diag([1.0, 4.0]) + x * E.array)).array.ravel() for x in t]
    due = np.polyfit(t, np.stack(values), 8)[::-1][:4]
    np.testing.assert_allclose(np.stack([one.array.ravel() for one in found]), due, atol=1e-6)
    *known, third = hb.taylor(f, M.vec(np.eye(2)), E, 3)
    assert all(np.isfinite(one.array).all() for one in known)
    assert np.isnan(third.array).any()


def test_exponential() -> None:
    """exp and its first two derivatives are the corners of exponentials of block matrices; lifted, as by itself."""
    n = 3
    M, L = R ** (Fin.of(n) * Fin.of(n)), Fin.of(3)
    rng = np.random.default_rng(n)
    f = hb.fun(M)(hb.expm)
    d: Any = hb.jvp(f)
    dd: Any = hb.jvp(d)
    big: Any = hb.R ** (Fin.of(4 * n) * Fin.of(4 * n))
    a, e, h, o = (rng.normal(size=(n, n)) for _ in range(4))
    o = 0 * o
    made = []
    for scale in (0.0, 1.0, 30.0):
        A = scale * a
        blocks = np.block([[A, e, h, o], [o, A, o, h], [o, o, A, e], [o, o, o, A]])
        due = hb.expm(big.vec(blocks)).array
        size = np.abs(due).max()
        for got, j in (
            (f(M.vec(A)), 0),
            (d(M.vec(A), M.vec(e)), 1),
            (dd((M.vec(A), M.vec(e)), (M.vec(h), M.vec(o))), 3),
        ):
            np.testing.assert_allclose(got.array, due[:n, j * n : (j + 1) * n], atol=1e-12 * size)
        made.append(f(M.vec(A)).array)
    lanes = (f**L)((M**L).vec(np.stack([0.0 * a, a, 30.0 * a]))).array
    np.testing.assert_allclose(lanes, np.stack(made), rtol=1e-11)
    assert all(hb.check(f, M.vec(a)))
    stiff = np.diag(-np.linspace(10.0, 5000.0, n))
    np.testing.assert_allclose(d(M.vec(stiff), M.vec(np.eye(n))).array, np.diag(np.exp(np.diag(stiff))), atol=1e-18)
    assert np.isnan(d(M.vec(2.0 * stiff - 10000.0), M.vec(e)).array).all()


def test_pickled_and_printed() -> None:
    """A function of a matrix goes to another process, with the function that it is of."""
    M = R ** (Fin.of(2) * Fin.of(2))
    of = hb.fun(R)(lambda x: x * x)
    f = hb.fun(M)(lambda a: hb.matrix_function(of, a) + hb.sqrtm(a))
    again = pickle.loads(pickle.dumps(f))
    assert again == f
    A = M.vec([[2.0, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(again(A).array, f(A).array)
    root = hb.fun(M)(lambda a: hb.sqrtm(a))  # noqa: PLW0108
    assert eval(repr(root), hb.NAMES) == root  # noqa: S307 - our own text
    assert "sqrtm(0.5·(a+aᵀ))" in str(f)


def test_other_precision() -> None:
    """ℝ₃₂."""
    M = hb.R32 ** (Fin.of(2) * Fin.of(2))
    a = np.array([[2.0, 0.5], [0.5, 1.0]], np.float32)
    functions: list[Any] = [hb.sqrtm, hb.expm]

    def gradient(f: Any, M: Any) -> Any:
        return hb.grad(hb.fun(M)(lambda a: f(a).sum()))

    for f in functions:
        due = gradient(f, R**M.index)((R**M.index).vec(a.astype(float))).array
        np.testing.assert_allclose(gradient(f, M)(M.vec(a)).array, due, rtol=1e-4)


SLOPE_DIFFERENCES: dict[str, tuple[Any, Any]] = {
    "log": (hb.log, lambda a, b: -1.0 / (a * b)),
    "sqrt": (hb.sqrt, lambda a, b: -0.5 / (math.sqrt(a * b) * (math.sqrt(a) + math.sqrt(b)))),
    "exp": (hb.exp, lambda a, b: math.exp(a) * math.expm1(b - a) / (b - a)),
}


@pytest.mark.parametrize("name", SLOPE_DIFFERENCES)
@pytest.mark.parametrize("ratio", [1.00001, 1.001, 1.5, 5.0])
def test_close_to_each_other_beside_the_largest(name: str, ratio: float) -> None:
    """Two eigenvalues far below the largest: ∂²(tr f)/∂a₀₁∂a₁₀ is half of f'[a, b], however f varies between them."""
    f, exact = SLOPE_DIFFERENCES[name]
    M = R ** (Fin.of(3) * Fin.of(3))
    F = hb.fun(M)(lambda A: hb.matrix_function(f, A).trace())
    for least in (1e-7, 1e-8, 1e-9, 1e-10, 1e-12):
        found = hb.hessian(F, M.vec(np.diag([least, ratio * least, 1.0])))[1, 3]
        assert found == pytest.approx(0.5 * exact(least, ratio * least), rel=1e-7)

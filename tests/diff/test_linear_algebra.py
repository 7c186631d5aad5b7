"""Linear algebra: values beside numpy, derivatives beside JAX, and what happens at the singular points."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hilbert.all as hb
from adjoint import check, grad, hessian
from diff import (
    cholesky,
    contract,
    det,
    eigh,
    exp,
    fun,
    inner,
    inverse,
    lift,
    logdet,
    qr,
    solve,
    solve_triangular,
    svd,
)
from hilbert import R32, Fin, R, SpaceError, Vec
from tests.untyped import fold


class Row:
    """A tag."""


class Column:
    """Another."""


X, Y, Z = Fin.of(4), Fin.of(5), Fin.of(3)
M, V = R ** (X * X), R**X
rng = np.random.default_rng(1)
A: Any = M.vec(rng.normal(size=(4, 4)) + 4 * np.eye(4))
S: Any = M.vec(A.array @ A.array.T)
T: Any = (R ** (Y * X)).random(rng)
b: Any = V.random(rng)
B: Any = (R ** (X * Z)).random(rng)
Case = tuple[Callable[..., Any], Callable[..., Any], tuple[Vec[Any], ...]]


def spectral(a: Any, c: Any) -> Any:
    """Σ exp(wₖ)·(uₖ·c)², which does not depend on the signs of the eigenvectors."""
    w, u = eigh(a).split()
    return inner(exp(w), (u.T @ c) * (u.T @ c))


def spectral_jax(a: Any, c: Any) -> Any:
    """The same."""
    w, u = jnp.linalg.eigh((a + a.T) / 2)
    return jnp.sum(jnp.exp(w) * (u.T @ c) ** 2)


def of_qr(a: Any, c: Any) -> Any:
    """‖QQᵀc‖² + Σ Rᵢⱼ²·i, which does not depend on signs."""
    q, r = qr(a).split()
    return inner(q.T @ c, q.T @ c) + inner(r * r, (R ** (X * X)).vec(np.arange(16.0).reshape(4, 4)))


def of_qr_jax(a: Any, c: Any) -> Any:
    """The same."""
    q, r = jnp.linalg.qr(a)
    return jnp.sum((q.T @ c) ** 2) + jnp.sum(r * r * np.arange(16.0).reshape(4, 4))


def of_svd(a: Any, c: Any, d: Any) -> Any:
    """Σ exp(−sₖ)·(uₖ·c)·(vₖ·d), which does not depend on the signs of the pairs."""
    u, s, v = svd(a).split()
    return inner(exp(-s), (u.T @ c) * (v.T @ d))


def of_svd_jax(a: Any, c: Any, d: Any) -> Any:
    """The same."""
    u, s, vt = jnp.linalg.svd(a, full_matrices=False)
    return jnp.sum(jnp.exp(-s) * (u.T @ c) * (vt @ d))


c = (R**Y).random(rng)
CASES: dict[str, Case] = {
    "solve": (lambda a, x: inner(x, solve(a, x)), lambda a, x: x @ jnp.linalg.solve(a, x), (A, b)),
    "solve a matrix": (
        lambda a, x: inner(x, solve(a, x) * x),
        lambda a, x: jnp.sum(x * jnp.linalg.solve(a, x) * x),
        (A, B),
    ),
    "solve_triangular": (
        lambda a, x: inner(x, solve_triangular(a, x)),
        lambda a, x: x @ jax.scipy.linalg.solve_triangular(a, x, lower=True),
        (A, b),
    ),
    "solve_triangular, upper": (
        lambda a, x: inner(x, solve_triangular(a, x, lower=False)),
        lambda a, x: jnp.sum(x * jax.scipy.linalg.solve_triangular(a, x)),
        (A, B),
    ),
    "inverse": (lambda a: inner(inverse(a), a * a), lambda a: jnp.sum(jnp.linalg.inv(a) * a * a), (A,)),
    "det": (det, jnp.linalg.det, (A,)),
    "logdet": (logdet, lambda a: jnp.linalg.slogdet(a)[1], (A,)),
    "cholesky": (
        lambda a, x: inner(x, cholesky(a) @ x),
        lambda a, x: x @ jnp.linalg.cholesky((a + a.T) / 2) @ x,
        (S, b),
    ),
    "eigh": (spectral, spectral_jax, (S, b)),
    "qr": (of_qr, of_qr_jax, (T, c)),
    "svd": (of_svd, of_svd_jax, (T, c, b)),
    "svd, wide": (lambda a, x, y: of_svd(a.T, x, y), lambda a, x, y: of_svd_jax(a.T, x, y), (T, b, c)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_against_jax(case: Case) -> None:
    """Value, gradient and Hessian, to 1e-10; third derivatives along a direction by the checks."""
    ours, theirs, x = case
    f: Any = fun(*(v.space for v in x))(ours)
    with jax.enable_x64(True):  # noqa: FBT003
        given = [jnp.asarray(v.array) for v in x]
        value, gradient = jax.value_and_grad(theirs, tuple(range(len(x))))(*given)
        second = jax.jit(jax.hessian(theirs))(*given)
    np.testing.assert_allclose(f(*x).array, value, rtol=1e-10)
    found = grad(f)(*x)
    parts = [found] if len(x) == 1 else found.split()
    for mine, due in zip(parts, gradient, strict=True):
        np.testing.assert_allclose(mine.array, due, rtol=1e-10, atol=1e-10 * np.abs(due).max())
    n = x[0].space.dim
    due = np.asarray(second).reshape(n, n)
    np.testing.assert_allclose(hessian(f, *x, wrt=0), due, rtol=1e-8, atol=1e-10 * np.abs(due).max())
    assert check(grad(f), *x)


@pytest.mark.parametrize("name", ["solve", "solve a matrix", "cholesky", "eigh", "logdet", "inverse", "qr", "svd"])
@pytest.mark.parametrize("all_vary", [True, False])
def test_lifted(name: str, *, all_vary: bool) -> None:
    """Over the matrix alone and over everything: as the loop over elements, and its derivative."""
    ours, _, x = CASES[name]
    f: Any = fun(*(v.space for v in x))(ours)
    over = tuple(range(len(x))) if all_vary else (0,)
    g: Any = lift(f, Z, over=over) if len(x) > 1 else f**Z
    many = [[v.space.vec(v.array * (1 + 0.1 * k)) for k in range(3)] if j in over else [v] * 3 for j, v in enumerate(x)]
    packed = [
        (v.space**Z).vec(np.stack([m.array for m in ms])) if j in over else v
        for j, (v, ms) in enumerate(zip(x, many, strict=True))
    ]
    np.testing.assert_allclose(g(*packed).array, [f(*row).array for row in zip(*many, strict=True)], rtol=1e-12)
    assert check(g, *packed)


def test_a_shared_matrix_is_factored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lifted over the right sides alone, under one lift and two."""
    sizes: list[tuple[int, ...]] = []
    real = np.linalg.solve

    def counted(a: Any, x: Any) -> Any:
        sizes.append(a.shape)
        return real(a, x)

    monkeypatch.setattr(np.linalg, "solve", counted)
    f: Any = lift(lift(fun(M, V)(lambda a, x: solve(a, x)), Z, over=(1,)), Y, over=(1,))  # noqa: PLW0108
    many = f.dom.parts[1].random(rng)
    np.testing.assert_allclose(f(A, many).array, np.einsum("ij,klj->kli", np.linalg.inv(A.array), many.array))
    assert sizes == [(4, 4)]


def test_third_derivative() -> None:
    """Of y·A⁻¹y + log det A, in A along three directions, against JAX."""
    f: Any = fun(M)(lambda a: inner(b, solve(a, b)) + logdet(a))
    d1, d2, d3 = (M.random(rng) for _ in range(3))
    jvp: Any = hb.jvp
    third = fun(M)(lambda a: jvp(fun(M)(lambda p: jvp(fun(M)(lambda q: jvp(f)(q, d1)))(p, d2)))(a, d3))
    with jax.enable_x64(True):  # noqa: FBT003
        y = jnp.asarray(b.array)

        def g(a: Any) -> Any:
            return y @ jnp.linalg.solve(a, y) + jnp.linalg.slogdet(a)[1]

        def along(h: Any, d: Any) -> Any:
            return lambda a: jax.jvp(h, (a,), (jnp.asarray(d.array),))[1]

        expected = along(along(along(g, d1), d2), d3)(jnp.asarray(S.array))
    np.testing.assert_allclose(third(S).array, expected, rtol=1e-10)


def test_in_a_loop() -> None:
    """A Kalman gain by a fold: a matrix is inverted in each round."""

    def gain(p: Any, q: Any, xs: Any) -> Any:
        def step(s: Any, x: Any) -> Any:
            return inverse(inverse(s) + x[0] * x[0] * q)

        return fold(step, p, xs)

    f: Any = fun(M, M, V**Z)(gain)
    assert check(f, S, S, (V**Z).random(rng))


def test_typed_axes() -> None:
    """The solution is over the columns of A; factors keep the axes of A."""
    row, column = Fin(Row, 3), Fin(Column, 3)
    a = (R ** (row * column)).vec(np.diag([1.0, 2.0, 4.0]))
    assert solve(a, (R**row).ones()).space == R**column
    assert inverse(a).space == R ** (column * row)
    assert [part.space for part in svd(a).split()] == [R ** (row * column), R**column, R ** (column * column)]
    assert [part.space for part in qr(a).split()] == [R ** (row * column), R ** (column * column)]


def test_single_precision() -> None:
    """It stays single."""
    a = (R32 ** (X * X)).vec(S.array.astype(np.float32))
    f: Any = fun(a.space)(lambda a: inner(eigh(a)[0], eigh(a)[0]) + logdet(a) + inner(cholesky(a), a))
    assert f(a).array.dtype == np.float32
    assert grad(f)(a).array.dtype == np.float32


def test_singular_points() -> None:
    """No value: an error; no derivative: infinite, NaN or an error, but for symmetric functions."""
    with pytest.raises(SpaceError, match="solve: Singular matrix"):
        solve(M.zeros(), b)
    with pytest.raises(SpaceError, match="inverse: Singular matrix"):
        inverse(M.zeros())
    for lower in (True, False):
        with pytest.raises(SpaceError, match=r"operation (upper )?solve_triangular: Singular matrix"):
            solve_triangular(M.zeros(), b, lower=lower)
    with pytest.raises(SpaceError, match="not positive definite"):
        cholesky(-S)
    assert not grad(fun(M)(lambda a: det(a)))(M.zeros()).array.any()  # noqa: PLW0108
    assert det(M.zeros()).array == 0.0
    one = M.vec(np.eye(4))
    w: Any = fun(M)(lambda a: eigh(a)[0].sum())
    np.testing.assert_allclose(grad(w)(one).array, np.eye(4))  # the sum of the eigenvalues is the trace
    u: Any = fun(M)(lambda a: inner(eigh(a)[1], A))
    with pytest.warns(RuntimeWarning, match="eigh: eigenvalues are equal"):
        assert np.abs(grad(u)(one).array).max() > 1e6
    z: Any = fun(M)(lambda a: (svd(a)[1] * svd(a)[1]).sum())
    np.testing.assert_allclose(grad(z)(one).array, 2.0 * np.eye(4), atol=1e-12)  # ‖A‖²
    q: Any = fun(M)(lambda a: qr(a)[0].sum())
    with pytest.raises(SpaceError, match="inverse: Singular matrix"):
        grad(q)(M.vec(np.diag([1.0, 2.0, 0.0, 3.0])))


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: solve(T, b), "as many rows as columns"),
    (lambda: solve(A, c), "takes b in ℝ\\^4"),
    (lambda: solve(A, R.vec(1.0)), "takes b in ℝ\\^4"),
    (lambda: solve(A, (R32**X).zeros()), "takes b in ℝ\\^4"),
    (lambda: inverse(b), "takes a matrix"),
    (lambda: inverse((R ** ((X * X) * X)).zeros()), "takes a matrix"),
    (lambda: cholesky((R ** (Fin(Row, 2) * Fin(Column, 2))).zeros()), "the same index set for its rows and columns"),
    (lambda: qr(T.T), "at least as many rows as columns"),
    (lambda: solve_triangular(A, b, lower=1), "lower"),  # type: ignore[call-overload]
    (lambda: eigh(3.0), "takes a matrix"),  # type: ignore[call-overload]
    (lambda: det(np.eye(3)), "takes a matrix"),  # type: ignore[call-overload]
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_refused(call: Callable[[], Any], message: str) -> None:
    """The message says what is due."""
    with pytest.raises(SpaceError, match=message):
        call()


def test_contraction_of_a_factor() -> None:
    """Results of one factorization are one step: it is computed once."""
    of: Any = eigh
    f: Any = fun(M)(lambda a: contract("ij,j,kj->ik", of(a)[1], of(a)[0], of(a)[1]))
    assert sum("eigh" in repr(step.operation) for step in f.steps) == 1
    np.testing.assert_allclose(f(S).array, S.array, atol=1e-12)


@pytest.mark.parametrize("over", [(0,), (1,), (0, 1)])
def test_no_unknowns_in_lanes(over: tuple[int, ...]) -> None:
    """Systems of size 0, lifted over the matrix, the right side, or both."""
    X = hb.Fin.of(0)
    solvers: list[Any] = [hb.solve, lambda a, b: hb.solve_triangular(a, b, lower=True)]
    for solver in solvers:
        f: Any = hb.lift(hb.fun(hb.R ** (X * X), hb.R**X)(solver), hb.Fin.of(3), over=over)
        assert f(f.dom.zeros()).array.shape == (3, 0)


def test_the_logarithm_of_a_large_determinant() -> None:
    """logdet A = log|det A| where det A overflows; −∞ where A is singular, without a warning."""
    X = Fin.of(400)
    A = (R ** (X * X)).vec(np.diag([-10.0] + [10.0] * 399))
    assert float(logdet(A)) == pytest.approx(400 * math.log(10.0))
    assert float(logdet((R ** (X * X)).zeros())) == -math.inf


def test_factors_of_a_matrix_that_is_not_of_full_rank() -> None:
    """A = QR with orthogonal Q, whatever A is."""
    for rows in ([[0.0, 1.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]):
        A = (R ** (Fin.of(2) * Fin.of(2))).vec(rows)
        q, r = qr(A).split()
        np.testing.assert_allclose(q.array @ r.array, A.array, atol=1e-12)
        np.testing.assert_allclose(q.array.T @ q.array, np.eye(2), atol=1e-12)

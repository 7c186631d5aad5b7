"""det at singular and nearly singular matrices: its first two derivatives beside exact fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert.all import Fin, R, SpaceError

SMALL = [1.0, 1e-3, 1e-5, 1e-6, 3e-8, 1e-9, 1e-13, 1e-17, 1e-200, 0.0]


def exact_det(a: list[list[Fraction]]) -> Fraction:
    """By minors."""
    if not a:
        return Fraction(1)
    return sum(
        ((-1) ** j * a[0][j] * exact_det([[*row[:j], *row[j + 1 :]] for row in a[1:]]) for j in range(len(a))),
        Fraction(0),
    )


def exact_gradient(a: list[list[Fraction]]) -> list[list[Fraction]]:
    """The cofactors."""
    n = range(len(a))
    return [[(-1) ** (i + j) * exact_det([[a[p][q] for q in n if q != j] for p in n if p != i]) for j in n] for i in n]


def fractions(a: Any) -> list[list[Fraction]]:
    """The numbers themselves."""
    return [[Fraction(float(x)) for x in row] for row in a]


def exact_second(a: Any, e: Any) -> Any:
    """The derivative of the cofactors in direction e."""
    h = Fraction(1, 10**40)
    ends = []
    for sign in (1, -1):
        moved = [
            [x + sign * h * y for x, y in zip(p, q, strict=True)]
            for p, q in zip(fractions(a), fractions(e), strict=True)
        ]
        ends.append(exact_gradient(moved))
    return np.array([[float((x - y) / (2 * h)) for x, y in zip(p, q, strict=True)] for p, q in zip(*ends, strict=True)])


def matrices(n: int, rng: np.random.Generator) -> Any:
    """With one or two small singular values, beside regular ones, and some whose entries are whole numbers."""
    for small, many in itertools.product(SMALL, (1, 2)):
        u, v = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
        s = np.linspace(2.0, 1.0, n)
        s[n - many :] = small
        yield u @ np.diag(s) @ v.T
        yield np.diag(s)
    yield np.zeros((n, n))
    yield np.ones((n, n))
    yield np.arange(float(n * n)).reshape(n, n)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_two_derivatives(n: int) -> None:
    """10⁻¹²·σ₁⋯σ₍n₋₁₎ and 10⁻⁹ of the largest entry; and each matrix among all others, lifted, as by itself."""
    rng = np.random.default_rng(n)
    X, found = Fin.of(n), list(matrices(n, rng))
    M, L = R ** (X * X), Fin.of(len(found))
    f = hb.fun(M)(lambda a: hb.det(a))  # noqa: PLW0108
    g = hb.grad(f)
    h: Any = hb.jvp(g)
    e = rng.normal(size=(n, n))
    second = []
    for a in found:
        due = np.array([[float(x) for x in row] for row in exact_gradient(fractions(a))])
        s = np.linalg.svd(a)[1]
        noise = 1e-15 * s[0] * np.prod(s[: max(n - 2, 0)])  # that of the entries themselves: ε·‖A‖
        np.testing.assert_allclose(g(M.vec(a)).array, due, rtol=0.0, atol=1e-12 * np.prod(s[:-1]) + 10 * noise)
        second.append(h(M.vec(a), M.vec(e)).array)
        due, noise = exact_second(a, e), 1e-70 + 1e-14 * s[0] * np.prod(s[: max(n - 3, 0)])
        np.testing.assert_allclose(second[-1], due, rtol=0.0, atol=1e-9 * np.abs(due).max() + noise)
    batch: Any = (M**L).vec(np.stack(found))
    lanes: Any = hb.lift(h, L, over=(0, 1))(batch, (M**L).vec(np.stack([e] * len(found))))
    scale = np.abs(np.stack(second)).max((1, 2), keepdims=True) + 1e-300
    np.testing.assert_allclose(lanes.array / scale, np.stack(second) / scale, atol=1e-9)
    total = hb.grad(hb.fun(M**L)(lambda As: hb.each(lambda a: hb.det(a), As).sum()))(batch).array  # noqa: PLW0108
    np.testing.assert_allclose(total, np.stack([g(M.vec(a)).array for a in found]), rtol=1e-9, atol=1e-13)


def test_the_example() -> None:
    """[[1, 2], [2, 4]], and 0₄, of which nothing is left."""
    X, Y = Fin.of(2), Fin.of(4)
    assert_is = np.testing.assert_allclose
    assert_is(
        hb.grad(hb.fun(R ** (X * X))(hb.det))((R ** (X * X)).vec([[1.0, 2.0], [2.0, 4.0]])).array, [[4, -2], [-2, 1]]
    )
    assert not hb.grad(hb.fun(R ** (Y * Y))(hb.det))((R ** (Y * Y)).zeros()).array.any()


@pytest.mark.parametrize("small", [1.0, 1e-6])
def test_a_third_derivative(small: float) -> None:
    """Of regular matrices the coefficients of det(A + tE); of singular ones an error that names det and its line."""
    M = R ** (Fin.of(3) * Fin.of(3))
    f = hb.fun(M)(lambda a: hb.det(a))  # noqa: PLW0108
    E = M.random(np.random.default_rng(0))
    A = M.vec(np.diag([1.0, small, 2.0]))
    t = np.linspace(-1.0, 1.0, 5)
    due = np.polyfit(t, [np.linalg.det(A.array + x * E.array) for x in t], 4)[::-1]
    np.testing.assert_allclose([float(c) for c in hb.taylor(f, A, E, 3)], due[:4], atol=1e-8)
    third = hb.hessian(hb.fun(M)(lambda a: hb.inner(hb.grad(f)(a), hb.const(E))), A)
    assert np.isfinite(third).all()
    with pytest.raises(SpaceError, match=r"Singular matrix.*in the derivative of det") as caught:
        hb.hessian(hb.fun(M)(lambda a: hb.inner(hb.grad(f)(a), hb.const(E))), M.zeros())
    assert __file__ in caught.value.__notes__[0]


def logarithm(A: Any) -> Any:
    """Where an error is to point."""
    return hb.logdet(A)


def test_singular_points_name_the_operation() -> None:
    """logdet has a value and no derivative there: the error says of what, and where that was written."""
    M = R ** (Fin.of(2) * Fin.of(2))
    f = hb.fun(M)(logarithm)
    assert float(f(M.zeros())) == -np.inf
    with pytest.raises(SpaceError, match=r"inverse: Singular matrix.*, in the derivative of logdet\n") as caught:
        hb.grad(f)(M.zeros())
    assert caught.value.__notes__ == [f"  computed by {__file__}:{logarithm.__code__.co_firstlineno + 2} in logarithm"]


def test_other_arrays() -> None:
    """JAX under jit, where nobody can know whether a matrix is singular."""
    jax = pytest.importorskip("jax")
    M = hb.R32 ** (Fin.of(2) * Fin.of(2))
    g = hb.grad(hb.fun(M)(hb.det))
    compiled = jax.jit(lambda a: g(M.vec(a)).array)
    for a in (np.diag([1.0, 0.0]), np.diag([1.0, 2.0])):
        np.testing.assert_allclose(compiled(jax.numpy.asarray(a, "float32")), np.diag(np.diag(a)[::-1]), atol=1e-5)

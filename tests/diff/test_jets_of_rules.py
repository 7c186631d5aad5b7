"""Jets of what is known by a rule are nested derivatives: operations of users, fixed points, roots, systems."""

import math
from typing import Any

import numpy as np
import pytest

from adjoint import grad, hessian
from diff import (
    cholesky,
    const,
    contract,
    cos,
    det,
    eigh,
    exp,
    fun,
    inner,
    interpolated,
    inverse,
    jet,
    jvp,
    kept,
    laplacian,
    lift,
    logdet,
    ode_series,
    operation,
    program,
    sin,
    solve,
    taylor,
)
from hilbert import R32, Fin, R, SpaceError, direct_sum
from linmap import linear_map
from tests.untyped import each, fixed_point, iterate, root, while_

X = Fin.of(3)
V = R**X
M = R ** (X * X)
POINT, ALONG = V.vec([0.3, -0.4, 0.7]), V.vec([1.0, 0.5, -0.25])
UNIT: Any = operation(
    "unit of jets",
    V,
    to=V,
    value=lambda xp, x: x / xp.linalg.vector_norm(x, axis=-1, keepdims=True),
    tangent=lambda x, y, dx: (dx - inner(y, dx) * y) * (1.0 / (x @ x) ** 0.5),
)
POLAR: Any = operation(
    "polar of jets",
    V,
    R,
    to=direct_sum(R, V),
    value=lambda xp, x, k: (k * xp.sum(x * x, axis=-1), x * k[..., None]),
    tangent=lambda x, k, _, dx, dk: (dk * (x @ x) + 2.0 * k * (x @ dx), dk * x + k * dx),
)
KEPT: Any = operation(
    "kept of jets", V, to=V, value=lambda _, x: x * x, tangent=lambda x, _, dx: 2.0 * kept(x * kept(dx))
)
WIDER: Any = operation(
    "wider of jets",
    R32,
    to=R,
    value=lambda xp, x: xp.astype(x * x, xp.float64),
    tangent=lambda x, _, dx: 2.0 * (x * dx).cast(R),
)
SPD = const(M.vec(3.0 * np.eye(3)))
DOUBLED: Any = linear_map("doubled in jets", V, V, lambda _, a: 2.0 * a, lambda _, b: 2.0 * b)


def matrix(x: Any) -> Any:
    """A symmetric matrix of distinct eigenvalues."""
    return contract("i,j->ij", x, x, to=M) + SPD


FUNCTIONS: dict[str, Any] = {
    "an operation": lambda x: UNIT(sin(x)) @ x,
    "in itself": lambda x: UNIT(UNIT(x) + x * x) @ exp(x),
    "several results": lambda x: POLAR(x, x @ x)[0] + POLAR(x, x @ x)[1] @ x,
    "a linear map": lambda x: DOUBLED(x * x) @ x,
    "a fixed point": lambda x: fixed_point(lambda y: 0.5 * cos(y * (x @ x)), x @ x),
    "of a vector": lambda x: fixed_point(lambda y: 0.3 * sin(y * x) + x, x) @ x,
    "of running sums": lambda x: fixed_point(lambda y: 0.1 * sin(y.cumsum()) + x, x) @ x,
    "of what is kept": lambda x: KEPT(KEPT(x) * x) @ x,
    "of a transpose": lambda x: (fixed_point(lambda y: 0.1 * sin(y.T) + matrix(x), SPD) @ x) @ x,
    "of a linear map": lambda x: fixed_point(lambda y: 0.1 * DOUBLED(y * x) + x, x) @ x,
    "of two states": lambda x: fixed_point(lambda s: (0.3 * s[1] + x, 0.2 * sin(s[0]) * x), (x, x))[1] @ x,
    "of an operation": lambda x: fixed_point(lambda y: 0.3 * UNIT(y + x) + x, x) @ x,
    "a root": lambda x: root(lambda y: y * y * y + y - x @ x, x @ x),
    "a root of a vector": lambda x: root(lambda y: y * y * y + y - x, x) @ x,
    "in a loop": lambda x: iterate(lambda s: UNIT(s + x), x, X) @ x,
    "lanes": lambda x: each(lambda e: fixed_point(lambda y: 0.3 * sin(y * e) + 0.1, e), x).sum(),
    "a gradient": lambda x: grad(fun(V)(lambda z: fixed_point(lambda y: 0.3 * sin(y * z) + z, z) @ z))(x) @ x,
    "a system": lambda x: solve(matrix(x), x) @ x,
    "an inverse": lambda x: inverse(matrix(x)) @ x @ x,
    "a determinant": lambda x: det(matrix(x)) + logdet(matrix(x)),
    "a factor": lambda x: (cholesky(matrix(x)) @ x) @ x,
    "log Σ exp": lambda x: (x * x).logsumexp() * x[0],
    "softmax": lambda x: (x * x).softmax() @ x,
    "log softmax": lambda x: (x * x).log_softmax() @ sin(x),
    "softmax along an axis": lambda x: (matrix(x).softmax(over=0) @ x) @ x + matrix(x).logsumexp(over=1) @ x,
    "softmax of itself": lambda x: (4.0 * x.softmax()).softmax() @ x,
    "lanes of softmax": lambda x: each(lambda e: (e * x).logsumexp(), x) @ x,
    "a constant start": lambda x: fixed_point(lambda y: 0.5 * cos(y * (x @ x)), R.vec(1.0)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_taylor_is_nested_derivatives(name: str) -> None:
    """n! cₙ = Dⁿf(x)[v, …, v], n ≤ 4."""
    f: Any = fun(V)(FUNCTIONS[name])
    coefficients = taylor(f, POINT, ALONG, 4)
    derivative: Any = f
    for n, c in enumerate(coefficients):
        assert np.isclose(math.factorial(n) * float(c), float(derivative(POINT)), rtol=1e-7, atol=1e-8)
        d: Any = jvp(derivative)
        derivative = fun(V)(lambda y, d=d: d(y, const(ALONG)))  # type: ignore[misc]


def test_a_rule_that_changes_the_precision() -> None:
    """(x²)² in double precision, of a number in single precision: powers of two are exact."""
    found = taylor(fun(R32)(lambda x: WIDER(x) * WIDER(x)), R32.vec(2.0), R32.vec(0.5), 4)
    assert [float(c) for c in found] == [16.0, 16.0, 6.0, 1.0, 0.0625]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_laplacians_and_mixed_derivatives(name: str) -> None:
    """Families of directions, collapsed ones, and two parameters."""
    f: Any = fun(V)(FUNCTIONS[name])
    second = np.asarray(hessian(f, POINT))
    assert np.isclose(float(laplacian(f)(POINT)), np.trace(second), rtol=1e-8, atol=1e-8)
    J: Any = jet(f, 2, 2, given=[(0, 0), (0, 1), (1, 0)])
    mixed = float(J(POINT, ALONG, V.vec([0.0, 1.0, 1.0])).split()[4])
    assert np.isclose(mixed, second @ [0.0, 1.0, 1.0] @ ALONG.array, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    "f",
    [
        lambda s, u: fixed_point(lambda y: 1.0 + 0.2 * s * y * y + 0.1 * u * y, s),
        lambda s, u: root(lambda y: y * y * y + y * s - u, u),
    ],
)
def test_equations_in_two_parameters(f: Any) -> None:
    """Coefficients of order four, against those of jets in one parameter."""
    g: Any = fun(R, R)(f)
    x, e1, e2 = (g.dom.vec(pair) for pair in ((0.5, 0.7), (1.0, 0.0), (0.0, 1.0)))
    found, due = (J(x, e2, e1).flat() for J in (jet(g, 2, 4, given=[(0, 0), (0, 1), (1, 0)]), interpolated(g, 2, 4)))
    assert np.allclose(found, due, rtol=1e-10)


def test_known_series() -> None:
    """√(1 + s) is a root, the series of Catalan's numbers a fixed point y = 1 + s·y²."""
    f = fun(R)(lambda a: root(lambda y: y * y - a, a))
    assert np.allclose([float(c) for c in taylor(f, R.vec(1.0), R.vec(1.0), 4)], [1, 1 / 2, -1 / 8, 1 / 16, -5 / 128])
    g = fun(R)(lambda s: fixed_point(lambda y: 1.0 + s * y * y, s))
    assert np.allclose([float(c) for c in taylor(g, R.vec(0.0), R.vec(1.0), 5)], [1, 1, 2, 5, 14, 42])


def test_differential_equations() -> None:
    """x' = y where y + y³ = x: coefficients that need each other order by order, against those of the inverse."""
    f = fun(R)(lambda x: root(lambda y: y + y * y * y - x, x))
    x = [float(c) for c in ode_series(f, 5)(R.vec(2.0)).split()]
    y = [float(c) for c in taylor(f, R.vec(2.0), R.vec(1.0), 1)]
    assert np.allclose(x[:3], [2.0, 1.0, y[1] / 2.0])
    step = 1e-3
    there = sum(c * step**n for n, c in enumerate(x))
    slope = sum(n * c * step ** (n - 1) for n, c in enumerate(x) if n)
    assert np.isclose(slope + slope**3, there, rtol=1e-12)


def test_lifted() -> None:
    """The jet of a lift is the lift of the jet."""
    f: Any = fun(V)(FUNCTIONS["of a vector"])
    rng, X4 = np.random.default_rng(0), Fin.of(4)
    points, along = (V**X4).random(rng), (V**X4).random(rng)
    found: Any = lift(fun(V, V)(lambda x, v: taylor(f, x, v, 3)[3]), X4, over=(0, 1))
    due: Any = taylor(f**X4, points, along, 3)[3]
    assert np.allclose(found(points, along).array, due.array)


def test_steps_are_quadratic_in_the_order() -> None:
    for name in ("an operation", "a fixed point", "of a vector"):
        f: Any = fun(V)(FUNCTIONS[name])
        assert len(program(jet(f, 1, 24)).steps) <= 4.5 * len(program(jet(f, 1, 12)).steps)


def test_what_is_constant_needs_no_rule() -> None:
    """An operation without a tangent, of what does not move, is its value."""
    plain: Any = operation("plain in jets", R, to=R, value=lambda _, x: x * x)
    f: Any = fun(R, R)(lambda x, y: plain(y) * x)
    assert [float(c) for c in taylor(f, f.dom.vec((2.0, 3.0)), R.vec(1.0), 2, wrt=0)] == [18.0, 9.0, 0.0]
    with pytest.raises(SpaceError, match="operation plain in jets has no derivative"):
        taylor(f, f.dom.vec((2.0, 3.0)), R.vec(1.0), 2, wrt=1)


def test_eigenvalues() -> None:
    """Their rule divides by differences of eigenvalues."""
    f: Any = fun(V)(lambda x: eigh(matrix(x) + const(M.vec(np.diag([0.0, 1.0, 2.5]))))[0] @ x)
    c = taylor(f, POINT, ALONG, 2)
    assert np.isclose(2.0 * float(c[2]), np.asarray(hessian(f, POINT)) @ ALONG.array @ ALONG.array)


def test_what_has_none_says_why_and_where() -> None:
    f: Any = fun(R)(lambda x: while_(lambda s: s < 4.0, lambda s: s * 2.0, x))
    with pytest.raises(SpaceError, match="while_ without at_most has a value and no derivative") as caught:
        taylor(f, R.vec(1.0), R.vec(1.0), 2)
    assert "test_jets_of_rules.py" in "".join(caught.value.__notes__)
    g: Any = fun(V)(lambda x: fixed_point(lambda y: 0.3 * iterate(lambda s: sin(s * x), y, X), x))
    with pytest.raises(SpaceError, match="in the derivative of the body of fixed_point"):
        taylor(g, POINT, ALONG, 2)
    wrong: Any = operation("wrong", V, to=V, value=lambda xp, a: xp.sin(a), tangent=lambda a, _, da: cos(a) * da * da)
    with pytest.raises(SpaceError, match="linear"):
        taylor(wrong, POINT, ALONG, 2)


UNREAD: dict[str, Any] = {
    "an unknown": lambda x: fixed_point(lambda _: sin(x), x),
    "one of two": lambda x: fixed_point(lambda y: (0.3 * y[0] + cos(x), 0.2 * y[0] * x), (x, x))[0],
    "two of two": lambda x: fixed_point(lambda _: (cos(x), x * x), (x, x))[1],
    "an unknown of which a result is not taken": lambda x: fixed_point(lambda y: (cos(x), 0.1 * y[0] * x), (x, x))[1],
    "an unknown of a root that cancels": lambda x: root(lambda y: y - x + 0.0 * y, x) * x,
    "an unknown in lanes": lambda x: each(lambda s: fixed_point(lambda _: sin(s), s), x),
}


@pytest.mark.parametrize("name", UNREAD)
def test_an_equation_that_does_not_read_an_unknown(name: str) -> None:
    f: Any = fun(V)(UNREAD[name])
    g: Any = fun(V)(lambda x: inner(f(x), f(x)))
    c = taylor(g, POINT, ALONG, 2)
    assert np.isclose(2.0 * float(c[2]), float(np.asarray(hessian(g, POINT)) @ ALONG.array @ ALONG.array))
    assert np.isclose(float(laplacian(g)(POINT)), np.trace(np.asarray(hessian(g, POINT))))

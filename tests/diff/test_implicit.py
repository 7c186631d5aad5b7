"""Fixed points, roots and loops without a bound: values, implicit derivatives of every order, lanes, passes, errors."""

from __future__ import annotations

import itertools
import math
import pickle
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adjoint import adjoint, check, check_derivative, grad, hessian, jacobian
from diff import (
    again,
    const,
    contract,
    derivative,
    exp,
    fun,
    inner,
    jet,
    jvp,
    lift,
    log,
    operation,
    pointfree,
    program,
    sin,
    stop_gradient,
    tanh,
)
from diff.names import NAMES
from hilbert import R32, Copower, Fin, R, SpaceError
from hilbert.arrays.systems import linear_systems
from hilbert.program.control.equation_step import Solve
from linmap import cost, diagonal, equal, explain, matrix, simplify, structure
from tests.oracle import value
from tests.untyped import each, fixed_point, fold, iterate, root, where, while_

jax.config.update("jax_enable_x64", val=True)
RNG = np.random.default_rng
X, Y = Fin.of(3), Fin.of(2)
V, W = R**X, R ** (X * X)


def total(f: Any) -> Any:
    """The square of the result: a scalar function."""

    def body(*x: Any) -> Any:
        y = f(*x)
        return inner(y, y)

    return fun.over(f.dom)(body)


def point(f: Any, seed: int = 0) -> Any:
    return f.dom.random(RNG(seed))


def close(a: Any, b: Any, tolerance: float = 1e-9) -> None:
    assert a.space == b.space
    for x, y in zip(a.leaves, b.leaves, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=tolerance, atol=tolerance)


def contraction(w: Any, a: Any) -> Any:
    return fixed_point(lambda x: 0.3 * tanh(w @ x) + a, a)


def cubic(w: Any, a: Any) -> Any:
    return root(lambda x: x * x * x + 0.1 * (w @ x) + x - a, a)


def nested(w: Any, a: Any) -> Any:
    """A fixed point of what a root defines, in a loop that reads both."""
    return iterate(lambda s: fixed_point(lambda x: 0.2 * sin(cubic(w, x)) + s, s), a, Y)


def several(w: Any, a: Any) -> Any:
    """Two unknowns of different spaces, and a loop inside the equation."""

    def equations(state: Any) -> Any:
        x, t = state
        moved = iterate(lambda s: tanh(0.3 * s + 0.1 * (w @ x)), x, Y)
        return x - 0.2 * moved - a, 2.0 * t + sin(t) - inner(a, a)

    x, t = root(equations, (a, a.sum()))
    return t * x


FUNCTIONS: dict[str, Any] = {f.__name__: fun(W, V)(f) for f in (contraction, cubic, nested, several)}
ALL = pytest.mark.parametrize("name", FUNCTIONS)


def unrolled(w: Any, a: Any) -> Any:
    """The fixed point of `contraction` by sixty rounds written out."""
    x = a
    for _ in range(60):
        x = 0.3 * tanh(w @ x) + a
    return x


def test_the_equation_holds() -> None:
    """x = f(x), and f(x) = 0."""
    p = point(FUNCTIONS["cubic"])
    w, a = p[0].array, p[1].array
    x = FUNCTIONS["contraction"](p).array
    np.testing.assert_allclose(x, 0.3 * np.tanh(w @ x) + a, atol=1e-10)
    x = FUNCTIONS["cubic"](p).array
    np.testing.assert_allclose(x**3 + 0.1 * w @ x + x, a, atol=1e-10)


def test_against_rounds_written_out() -> None:
    """Value, gradient and Hessian of a contraction are those of sixty of its rounds."""
    f, g = total(FUNCTIONS["contraction"]), total(fun(W, V)(unrolled))
    x = point(f)
    close(f(x), g(x))
    close(grad(f)(x), grad(g)(x))
    np.testing.assert_allclose(hessian(f, x), hessian(g, x), atol=1e-8)
    close(grad(total(grad(f)))(x), grad(total(grad(g)))(x), 1e-7)


def test_against_jax() -> None:
    """The gradient beside JAX's custom_root."""

    def peer(w: Any, a: Any) -> Any:
        def newton(f: Any, x: Any) -> Any:
            for _ in range(40):
                x = x - jnp.linalg.solve(jax.jacobian(f)(x), f(x))
            return x

        x = jax.lax.custom_root(
            lambda x: x * x * x + 0.1 * (w @ x) + x - a,
            a,
            newton,
            lambda g, y: jnp.linalg.solve(jax.jacobian(g)(y), y),
        )
        return x @ x

    f = total(FUNCTIONS["cubic"])
    x = point(f)
    arrays = tuple(map(jnp.asarray, x.leaves))
    for have, want in zip(grad(f)(x).leaves, jax.jit(jax.grad(peer, (0, 1)))(*arrays), strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-10, atol=1e-12)


@ALL
def test_derivatives(name: str) -> None:
    """Derivative and adjoint, of the function and of its gradient."""
    f = FUNCTIONS[name]
    x = point(f)
    assert all(check(f, x))
    assert check_derivative(grad(total(f)), x)
    assert check_derivative(jvp(f), point(jvp(f)))


@ALL
def test_beside_the_oracle(name: str) -> None:
    """The matrix of the inverse is the inverse of the matrix."""
    f = FUNCTIONS[name]
    x, dx, dy = point(f), f.dom.random(RNG(1)), f.cod.random(RNG(2))
    df = derivative(f).at(x)
    close(f(x), value(f, x))
    close(df(dx), value(df, dx))
    close(adjoint(df)(dy), value(adjoint(df), dy))
    assert adjoint(adjoint(df)) == df


@ALL
def test_lifted_in_every_choice(name: str) -> None:
    """Each lane stops by itself: it has the value, and the gradient, that it has alone; under one and two lifts."""
    f = FUNCTIONS[name]
    lanes = Fin.of(4)
    gradient = grad(total(f))
    for over in ((0,), (1,), (0, 1)):
        g = lift(f, lanes, over=over)
        x = point(g, 3)
        factors = np.array([0.1, 1.0, 2.0, 0.5])
        parts = [x[i].array.T * factors if i in over else x[i].array for i in range(2)]
        x = g.dom.vec(tuple(a.T if i in over else a for i, a in enumerate(parts)))
        values, many = g(x).array, grad(total(g))(x)
        shared: list[Any] = [0.0, 0.0]
        for k in range(4):
            alone = f.dom.vec(tuple(x[i].array[k] if i in over else x[i].array for i in range(2)))
            np.testing.assert_allclose(values[k], f(alone).array, rtol=1e-9, atol=1e-10)
            one = gradient(alone)
            for i in range(2):
                if i in over:
                    np.testing.assert_allclose(many[i].array[k], one[i].array, rtol=1e-7, atol=1e-9)
                else:
                    shared[i] = shared[i] + one[i].array
        for i in {0, 1} - {*over}:
            np.testing.assert_allclose(many[i].array, shared[i], rtol=1e-7, atol=1e-9)
        twice = lift(g, Y, over=over[:1])
        assert all(check(twice, point(twice)))


@ALL
def test_passes(name: str) -> None:
    """Text, repr, pickle, equality, simplification, cost, structure, matrix, the point-free form."""
    f = FUNCTIONS[name]
    x, d = point(f), derivative(f)
    for h in (f, grad(total(f)), d, adjoint(d)):
        assert str(h)
        assert eval(repr(h), dict(NAMES)) == h  # noqa: S307 - that is what a repr is for
        assert pickle.loads(pickle.dumps(h)) == h
        assert equal(h, pickle.loads(pickle.dumps(h)))
    assert equal(f, fun(W, V)(globals()[name]))
    dx = f.dom.random(RNG(1))
    close(simplify(d).at(x)(dx), d.at(x)(dx))
    assert str(explain(d))
    assert str(cost(f))
    assert str(cost(d.at(x)))
    assert str(structure(d.at(x)))
    close(pointfree(f)(x), f(x))
    columns = np.stack([d.at(x)(e).array for e in f.dom.basis()], axis=1)
    np.testing.assert_allclose(jacobian(f, x), columns, atol=1e-10)
    np.testing.assert_allclose(matrix(adjoint(d).at(x), "array"), columns.T, atol=1e-10)
    along: Any = f.dom.ones()
    if name in {"nested", "several"}:  # an equation, or a loop, in an equation
        with pytest.raises(SpaceError, match="in the derivative of the body of"):
            jet(f, 1, 1)
    else:
        close(jet(f, 1, 1)(x, along).split()[1], jvp(f)(x, along))


def test_equal_tells_equations_apart() -> None:
    """equal compares equations, tolerances and rounds."""

    def made(k: float, n: int) -> Any:
        return fun(V)(lambda a: fixed_point(lambda x: k * tanh(x) + a, a, at_most=n))

    f, g, h = made(0.3, 50), made(0.4, 50), made(0.3, 60)
    assert not equal(f, g)
    assert not equal(f, h)
    assert f != g


@pytest.mark.parametrize("solved", [root, fixed_point])
def test_what_is_read_back_is_equal(solved: Any) -> None:
    """Where an equation was written is told in messages, and not in what is read back: both are one map."""
    f = fun(R)(lambda x: solved(lambda u: 0.5 * sin(u) - x, x))
    for d in (derivative(f), adjoint(derivative(f).at(R.vec(0.5)))):
        read = eval(repr(d), dict(NAMES))  # noqa: S307 - what `repr` wrote
        assert read == d
        assert equal(read, d)


@pytest.mark.parametrize("body", ["iterate", "again", "fixed_point", "root"])
def test_constants_in_bodies_are_compared_by_contents(body: str) -> None:
    """Derivatives of two traces of one text are equal, of two texts not."""

    def traced(*entries: float) -> Any:
        def step(s: Any) -> Any:
            return 0.1 * sin(s) * const(V.vec(list(entries)))

        def of(x: Any) -> Any:
            return {
                "iterate": lambda: iterate(step, x, Y),
                "again": lambda: again(lambda s: again(step, s), x),
                "fixed_point": lambda: fixed_point(lambda s: step(s) + x, x),
                "root": lambda: root(lambda s: step(s) - s + x, x),
            }[body]()

        return derivative(fun(V)(of))

    assert equal(traced(1.0, 2.0, 3.0), traced(1.0, 2.0, 3.0))
    assert not equal(traced(1.0, 2.0, 3.0), traced(1.0, 2.0, 4.0))


def test_a_system_with_one_matrix_is_solved_once() -> None:
    """Under a lift that the data do not vary over, the derivative is one system with many right sides."""
    g = derivative(fun(V)(lambda a: root(lambda x: x * x * x + x - a, a))).at(V.ones())
    many = g ** Fin.of(5)
    rows = Copower(V, Fin.of(5)).random(RNG(0))
    np.testing.assert_allclose(
        many(rows).array, rows.array / (1 + 3 * g(V.ones()).array[0] ** 0 * _root() ** 2), rtol=1e-9
    )
    f = program(jvp(fun(V)(lambda a: root(lambda x: x * x * x + x - a, a))))
    assert sum(isinstance(step.operation, Solve) for step in f.steps) == 1


def _root() -> float:
    """x³ + x = 1."""
    return float(min(np.roots([1.0, 0.0, 1.0, -1.0]), key=lambda z: abs(z.imag)).real)


@pytest.mark.parametrize("n", [0, 1])
def test_small_spaces(n: int) -> None:
    """No unknown, and one."""
    A = R ** Fin.of(n)
    f = fun(A)(lambda a: fixed_point(lambda x: 0.5 * x + a, a))
    g = fun(A)(lambda a: root(lambda x: 2.0 * x - a, a))
    for h, k in ((f, 2.0), (g, 0.5)):
        np.testing.assert_allclose(h(A.ones()).array, k * np.ones(n), atol=1e-9)
        np.testing.assert_allclose(jacobian(h, A.ones()), k * np.eye(n), atol=1e-12)


def test_single_precision() -> None:
    """In ℝ₃₂ the tolerance and the results are of that precision."""
    A = R32**X
    f = fun(A)(lambda a: root(lambda x: x * x * x + x - a, a))
    y = f(A.ones())
    assert y.array.dtype == np.float32
    np.testing.assert_allclose(y.array, _root(), rtol=1e-5)
    assert jacobian(f, A.ones()).dtype == np.float32


def test_many_unknowns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a matrix costs too much GMRES solves the systems: the same values and gradients."""
    Z = Fin.of(40)
    U = R**Z
    q = (R ** (Z * Z)).vec(0.1 * RNG(5).standard_normal((40, 40)))
    f = total(fun(U)(lambda a: root(lambda x: x * x * x + x + q @ x - a, a)))
    g = lift(fun(R, U)(lambda k, a: f(k * a)), Fin.of(3), over=(1,))
    x, y = U.random(RNG(0)), point(g)
    direct = f(x), grad(f)(x), grad(total(g))(y)
    monkeypatch.setattr("hilbert.program.control.equation_step.SMALL", 0)
    monkeypatch.setattr("diff.solving.system_plan.FAR", 0)
    f = total(fun(U)(lambda a: root(lambda x: x * x * x + x + q @ x - a, a)))
    g = lift(fun(R, U)(lambda k, a: f(k * a)), Fin.of(3), over=(1,))
    assert str(cost(f)).endswith("system root of 40 unknowns: by GMRES, or by its matrix")
    for have, want in zip((f(x), grad(f)(x), grad(total(g))(y)), direct, strict=True):
        close(have, want, 1e-8)


def test_matrices_of_many_lanes_are_not_made() -> None:
    """At most 2²⁴ entries in all lanes; of 80 unknowns at any number, for GMRES keeps as many vectors."""
    assert [linear_systems.has_room(n, 1) for n in (80, 4096, 4097)] == [True, True, False]
    assert [linear_systems.has_room(512, lanes) for lanes in (64, 65)] == [True, False]
    assert linear_systems.has_room(80, 10**9)


def test_gmres() -> None:
    """apply(x) = b for every row, and what is left where there is no solution."""
    a = np.eye(300) + 0.02 * RNG(0).standard_normal((300, 300))
    b = RNG(1).standard_normal((4, 300))
    b[2] = 0.0
    x, left = linear_systems.gmres(np, lambda v: v @ a.T, b)
    np.testing.assert_allclose(x @ a.T, b, atol=1e-9)
    assert left == 0.0
    assert linear_systems.gmres(np, lambda v: v * (np.arange(300) > 0), np.ones((1, 300)))[1] > 1e-3


def test_where_gmres_is_slow_a_matrix_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """An implicit step of a stiff diffusion, without scipy: in one lane and in three, and its gradient."""
    monkeypatch.setattr("diff.solving.system_plan.scipy_of", lambda: None)
    monkeypatch.setattr("diff.solving.system_plan.FAR", 0)
    n = 513
    line, many = R ** Fin.of(n), Fin.of(3)
    stiff = 2.0 * np.eye(n) - np.roll(np.eye(n), 1, 0) - np.roll(np.eye(n), -1, 0)
    f: Any = fun(line)(lambda u: root(lambda w: w - u + 1e3 * (2.0 * w - w.roll(1) - w.roll(-1)), u))
    u, k = line.random(RNG(0)), line.random(RNG(1))
    inverse = np.linalg.inv(np.eye(n) + 1e3 * stiff)
    np.testing.assert_allclose(f(u).array, inverse @ u.array, atol=1e-9)
    said = "system root of 513 unknowns, sparse, 1539 entries: by GMRES, or by its matrix, without scipy"
    assert str(cost(f)).endswith(said)
    slope = grad(fun(line)(lambda u: f(u) @ const(k)))(u)
    np.testing.assert_allclose(slope.array, inverse.T @ k.array, atol=1e-9)
    several = (line**many).random(RNG(2))
    np.testing.assert_allclose((f**many)(several).array, several.array @ inverse.T, atol=1e-9)
    monkeypatch.setattr(linear_systems, "ENTRIES", 0)
    monkeypatch.setattr(linear_systems, "RESTARTS", 1)
    with pytest.raises(SpaceError, match="GMRES leaves"):
        fun(line)(lambda u: root(lambda w: w - u + 1e3 * (2.0 * w - w.roll(1) - w.roll(-1)), u) * 2.0)(u)


def test_in_conditions() -> None:
    """In a branch, in lanes: a lane that does not take it does not search, and its gradient is that of its branch."""

    def body(w: Any, xs: Any) -> Any:
        return each(lambda x: where(x > 0, lambda: root(lambda y: exp(y) + y - w * log(x), x), lambda: w * x), xs).sum()

    f = fun(R, V)(body)
    w, xs = R.vec(1.5), V.vec([2.0, -1.0, 0.0])
    assert np.isfinite(float(f(w, xs)))
    gradient = grad(f)(w, xs)
    assert np.isfinite(gradient.flat()).all()
    np.testing.assert_allclose(gradient[1].array[1:], 1.5, rtol=1e-12)
    smooth = V.vec([2.0, -1.0, 0.5])
    assert all(check(f, f.dom.vec((w.array, smooth.array))))


def scaled(p: Any, u: Any, of: Any) -> Any:
    """0 where u is half of something; the derivative is no constant."""
    return (1.5 + sin(p)) * (u - 0.5 * of)


IN_BRANCHES: dict[str, Any] = {
    "a root": lambda p: root(lambda u: scaled(p, u, sin(p)), p),
    "in its start": lambda p: root(lambda u: scaled(p, u, p), root(lambda w: scaled(p, w, p), p)),
    "in a root": lambda p: root(lambda u: scaled(p, u, root(lambda w: scaled(p, w, u + p), p)), p),
    "in a fixed point": lambda p: fixed_point(lambda u: 0.2 * root(lambda w: scaled(u, w, p), p) + p, p),
    "in a branch": lambda p: where(p > -9.0, lambda: root(lambda u: scaled(p, u, p), p), lambda: p),
    "of two": lambda p: root(lambda s: (scaled(p, s[0], p), scaled(p, s[1], s[0])), (p, p))[1],
}


@pytest.mark.parametrize("body", IN_BRANCHES.values(), ids=IN_BRANCHES)
def test_a_branch_that_is_not_taken_undoes_nothing(body: Any) -> None:
    """Its data are 0, and no derivative of it is singular: in one lane, and where no lane takes it."""
    f = fun(R)(lambda p: where(p > 0.0, lambda: p * p, lambda: body(p)))
    for x in (R.vec(1.0), R.vec(-1.0)):
        d = derivative(f).at(x)
        due = jvp(f)(x, R.vec(1.0))
        for found in (matrix(d, as_="sparse").toarray(), jacobian(f, x), diagonal(d).array, grad(f)(x).array):
            np.testing.assert_allclose(np.asarray(found).ravel(), [float(due)], rtol=1e-9)
        second = hessian(f, x, as_="sparse").toarray()
        np.testing.assert_allclose(second, hessian(f, x), rtol=1e-9, atol=1e-12)
        assert check_derivative(grad(f), x)
    lanes: Any = f**X
    for at in ([1.0, 2.0, 3.0], [1.0, -1.0, 0.5], [-1.0, -0.5, -2.0]):
        v = V.vec(at)
        d, each_ = derivative(lanes).at(v), [float(jvp(f)(R.vec(a), R.vec(1.0))) for a in at]
        np.testing.assert_allclose(matrix(d, as_="sparse").toarray(), np.diag(each_), rtol=1e-9)
        np.testing.assert_allclose(jacobian(lanes, v), np.diag(each_), rtol=1e-9)
        np.testing.assert_allclose(adjoint(d)(V.ones()).array, each_, rtol=1e-9)


def test_in_a_fold() -> None:
    """Implicit Euler: each round solves an equation."""

    def simulated(k: Any, x: Any) -> Any:
        return fold(
            lambda x, dt: root(lambda y: y - x + dt * k * sin(y), x), x, (R ** Fin.of(4)).vec([0.1, 0.2, 0.1, 0.3])
        )

    f = total(fun(R, V)(simulated))
    assert all(check(f, point(f)))
    assert check_derivative(grad(f), point(f))


def test_inside_jit() -> None:
    """lax.while_loop; what is not found is NaN there."""
    f = fun(R)(lambda a: root(lambda x: x * x * x + x - a, a))
    found = jax.jit(lambda a: grad(f)(R.vec(a)).array)(jnp.asarray(1.0))
    np.testing.assert_allclose(found, 1.0 / (1.0 + 3.0 * _root() ** 2), rtol=1e-9)
    g = fun(R)(lambda a: fixed_point(lambda x: 2.0 * x + a, a, at_most=5))
    assert np.isnan(jax.jit(lambda a: g(R.vec(a)).array)(jnp.asarray(1.0)))
    halved = fun(R)(lambda x: while_(lambda s: s > 1.0, lambda s: s / 2.0, x))
    assert float(jax.jit(lambda a: halved(R.vec(a)).array)(jnp.asarray(10.0))) == 0.625
    constant = fun(R)(lambda a: a * root(lambda x: x * x - 2.0, const(R.vec(1.0))))  # no datum of it is traced
    assert float(jax.jit(lambda a: constant(R.vec(a)).array)(jnp.asarray(3.0))) == pytest.approx(3.0 * np.sqrt(2.0))


@pytest.mark.parametrize("name", ["fixed_point", "root"])
def test_inside_jit_only_lanes_in_which_nothing_is_found_are_nan(name: str) -> None:
    """Value and gradient of the others are as without jit; numbers and vectors, lanes of lanes."""
    u = V.vec([1.0, 2.0, 3.0])

    def line(a: Any) -> Any:
        return fixed_point(lambda x: a * x + u, u, at_most=300)

    def curved(a: Any) -> Any:  # from above 1 on, Newton's steps are x ↦ −x³
        return root(lambda x: x / (1.0 + x * x) ** 0.5 - 0.0 * a, a * u / 3.0, at_most=8) + a * u

    f = fun(R)(line if name == "fixed_point" else curved)
    lanes: Any = (f**X) ** Y
    at = np.asarray([[0.5, 3.0, -0.5], [0.1, -0.2, 4.0]])
    due = np.asarray(u.array) * (1.0 / (1.0 - at) if name == "fixed_point" else at)[..., None]
    due[at > 2.0] = np.nan
    slope = fun(lanes.dom)(lambda a: inner(lanes(a), lanes(a)))
    value, back = jax.jit(lambda a: (lanes(lanes.dom.vec(a)).array, grad(slope)(lanes.dom.vec(a)).array))(at)
    np.testing.assert_allclose(value, due, rtol=1e-9, atol=1e-9)
    square = float(inner(u, u))
    slopes = 2.0 * square * (1.0 / (1.0 - at) ** 3 if name == "fixed_point" else at)
    np.testing.assert_allclose(back[at < 2.0], slopes[at < 2.0], rtol=1e-8)


# --- loops without a bound ---


def collatz(x: Any) -> Any:
    """Rounds until a number is small, each counted."""
    return while_(lambda s: s[0] > 1.0, lambda s: (s[0] * 0.7 - 0.01, s[1] + 1.0), (x, 0.0 * x))[1]


def test_while_beside_python() -> None:
    """The rounds that Python makes, in each lane of its own number."""
    f = fun(R)(collatz)
    for x in (0.5, 3.0, 1e6, float("nan")):
        count, s = 0.0 * x, x
        while s > 1.0:
            s, count = s * 0.7 - 0.01, count + 1.0
        np.testing.assert_array_equal(float(f(R.vec(x))), count)
    many = fun(V)(lambda xs: each(collatz, xs))
    np.testing.assert_array_equal(many(V.vec([0.5, 3.0, 1e6])).array, [float(f(R.vec(x))) for x in (0.5, 3.0, 1e6)])
    table = lift(fun(R, R)(lambda k, x: collatz(k * x)), X, over=(1,)) ** Y
    ks, xs = (R**Y).vec([1.0, 10.0]), (V**Y).random(RNG(0)) * 100.0
    found = table(table.dom.vec((ks.array, xs.array))).array
    expected = [[float(f(R.vec(k * x))) for x in row] for k, row in zip(ks.array, xs.array, strict=True)]
    np.testing.assert_array_equal(found, expected)


def test_a_lane_that_has_stopped_computes_nothing_of_its_own() -> None:
    """log is taken where it is defined only: warnings are errors."""
    f = fun(V)(lambda xs: each(lambda x: while_(lambda s: s > 0.1, lambda s: log(s + 0.5), x), xs))
    np.testing.assert_array_equal(f(V.vec([-5.0, 0.0, 0.05])).array, [-5.0, 0.0, 0.05])
    assert np.isfinite(f(V.vec([-5.0, 3.0, 1.0])).array).all()


def test_while_has_no_derivative() -> None:
    """An error that says what to write, at the line; what does not depend on it is differentiated."""

    def halved(x: Any) -> Any:
        return while_(lambda s: s > 1.0, lambda s: s / 2.0, x)

    with pytest.raises(SpaceError, match=r"while_ without at_most has a value and no derivative.*at_most=X") as caught:
        grad(fun(R)(halved))
    assert "test_implicit.py" in caught.value.__notes__[0]
    f = fun(R, R)(lambda w, x: w * halved(stop_gradient(x)))
    close(grad(f)(R.vec(3.0), R.vec(10.0)), f.dom.vec((0.625, 0.0)))
    g = fun(R)(lambda x: where(halved(x) > 0.6, lambda: x * x, lambda: x))
    assert float(grad(g)(R.vec(10.0))) == 20.0


@pytest.mark.parametrize("f", [fun(R)(collatz), fun(V)(lambda xs: each(collatz, xs))], ids=["alone", "lanes"])
def test_passes_of_while(f: Any) -> None:
    """Text, repr, pickle, equality, cost, the point-free form, the oracle."""
    x = 5.0 * point(f)
    assert "while" in str(f)
    assert eval(repr(f), dict(NAMES)) == f  # noqa: S307 - that is what a repr is for
    assert pickle.loads(pickle.dumps(f)) == f
    assert equal(f, pickle.loads(pickle.dumps(f)))
    assert str(cost(f))
    close(pointfree(f)(x), f(x))
    close(value(f, x), f(x))


# --- errors ---

UNKNOWN: Any = 3
MISTAKES: list[tuple[Callable[..., Any], str]] = [
    (lambda a: fixed_point(lambda x: x.sum(), a), r"fixed_point takes ℝ\^3 and gives ℝ: give an element of the same"),
    (lambda a: root(lambda x: x.sum(), a), "gives ℝ: there must be as many equations as unknowns, 3"),
    (lambda a: root(lambda x: x > 0, a), "in the same precision"),
    (lambda a: fixed_point(lambda x: x, a > 0), "finds numbers of one precision"),
    (lambda _: fixed_point(lambda x: x, UNKNOWN), "the start of fixed_point is a vector"),
    (lambda a: root(lambda x: x, a, at_most=0), "at_most=0: a number of rounds from 1 on"),
    (lambda a: root(lambda x: x, a, tolerance=-1.0), "tolerance=-1.0: a number above 0"),
    (lambda a: while_(lambda s: s, lambda s: s, a), "the condition of while_ is one truth value, such as x > 0"),
    (lambda a: while_(lambda s: s.sum() > 0, lambda s: s.sum(), a), "a state of the same space$"),
]


@pytest.mark.parametrize(("body", "what"), MISTAKES, ids=range(len(MISTAKES)))
def test_errors(body: Any, what: str) -> None:
    """A mistake is a SpaceError at the user's line."""
    with pytest.raises(SpaceError) as caught:
        fun(V)(body)
    first, *rest = str(caught.value).splitlines()
    assert re.search(what, first), first
    assert "test_implicit.py" in "\n".join(rest)


def test_not_found() -> None:
    """The last residual, the rounds, the line; of several lanes that of the worst."""
    f = fun(R)(lambda a: fixed_point(lambda x: 2.0 * x + a, a, at_most=5))
    with pytest.raises(SpaceError, match="the fixed point is not found in 5 rounds; the last residual is 32") as caught:
        f(R.vec(1.0))
    assert any("test_implicit.py" in note for note in caught.value.__notes__)
    with pytest.raises(SpaceError, match="the root is not found: a residual is NaN"):
        fun(R)(lambda a: root(lambda x: x + sin(x) - a, 0.0 * a))(R.vec(float("nan")))


@pytest.mark.parametrize("solved", [root, fixed_point])
def test_the_search_ends_where_there_is_no_number(solved: Any) -> None:
    """Alone and in lanes, far from the last round; the lanes that are well do not help."""
    f = fun(R)(lambda a: solved(lambda x: log(x) - a, a, at_most=10**9))
    for call in (lambda: f(R.vec(-1.0)), lambda: (f**X)((R**X).vec([1.0, 1.0, -1.0]))):
        with np.errstate(all="ignore"), pytest.raises(SpaceError, match="is not found: a residual is NaN") as caught:
            call()
        assert any("test_implicit.py" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("grown", [lambda x, a: 1.5 * x + a, lambda x, a: x * x + a, lambda x, a: -2.0 * x + a])
@pytest.mark.parametrize("field", [R, R32])
def test_what_grows_beyond_all_numbers_is_not_found(grown: Any, field: Any) -> None:
    """|x|² overflows before x does: no step is short then."""
    f = fun(field)(lambda a: fixed_point(lambda x: grown(x, a), a))
    with np.errstate(all="ignore"), pytest.raises(SpaceError, match="the fixed point is not found"):
        f(field.vec(3.0))


def test_a_root_beyond_all_numbers_is_not_found() -> None:
    """From where |x|² overflows the first step is not short."""
    f = fun(R, R)(lambda a, x: root(lambda y: y * y - a, x))
    assert float(f(R.vec(4.0), R.vec(1e10)).array) == pytest.approx(2.0, rel=1e-12)
    with np.errstate(all="ignore"), pytest.raises(SpaceError):
        f(R.vec(4.0), R.vec(1e160))


def test_a_singular_derivative_names_the_equation() -> None:
    """What a user called, both spaces, the remedy and the line: in the search, in derivatives, lifted and pickled."""
    f = fun(R)(lambda a: root(lambda x: x * x - a, 0.0 * a))
    rows = fun(V)(lambda v: each(lambda a: root(lambda x: x * x - a, 0.0 * a), v))
    fixed = fun(R)(lambda a: fixed_point(lambda x: x + (a - a) * a, a))
    newton = r"^root: the derivative ℝ → ℝ of its function is singular at this point.*start it elsewhere\n"
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: f(R.vec(1.0)), newton),
        (lambda: grad(f)(R.vec(0.0)), newton),
        (lambda: jvp(f)(R.vec(0.0), R.vec(1.0)), newton),
        (lambda: pickle.loads(pickle.dumps(grad(f)))(R.vec(0.0)), newton),
        (lambda: rows(V.ones()), r"^root: the derivative ℝ\^3 → ℝ\^3"),
        (lambda: matrix(derivative(rows).at(V.zeros())), r"^root: the derivative ℝ\^3 → ℝ\^3"),
        (lambda: grad(fixed)(R.vec(1.0)), "^fixed_point: id minus the derivative ℝ → ℝ of its function is singular"),
    ]
    for call, said in calls:
        with pytest.raises(SpaceError, match=said) as caught:
            call()
        assert any("test_implicit.py" in note for note in caught.value.__notes__), said


def test_the_order_of_unknowns() -> None:
    """Several unknowns come back in the order, and the spaces, of the start."""
    spaces = (V, R, W)
    for order in itertools.permutations(range(3)):
        start = tuple(spaces[k].ones() for k in order)
        found = fixed_point(lambda s: tuple(0.5 * x for x in s), start)
        assert [x.space for x in found] == [spaces[k] for k in order]
        assert all(abs(x.array).max() < 1e-9 for x in found)


def test_an_equation_in_lanes_is_a_block_for_each() -> None:
    """The Jacobian of what solves an equation in each lane has one block a lane; a copower of a map has so too."""
    X, L = Fin.of(3), Fin.of(4)
    A = (R ** (X * X)).vec(np.eye(3) * 2 + 0.2 * RNG(0).normal(size=(3, 3)))
    one = fun(R**X)(lambda b: root(lambda u: A @ u + 0.1 * u * u * u - b, b))
    many = one**L
    cubes = fun(R**L)(lambda v: each(lambda x: root(lambda z: z * z * z + z - x, x), v))
    assert str(structure(derivative(cubes))) == "diagonal"
    assert str(structure(derivative(grad(total(cubes))))) == "diagonal"
    assert str(structure(derivative(many))) == "4 blocks, each dense 3×3"
    copies = derivative(one).at((R**X).vec(RNG(1).normal(size=3))) ** L
    assert str(structure(copies)) == "identity ⊗ dense 3×3"
    for f in (derivative(many).at(many.dom.vec(RNG(2).normal(size=(4, 3)))), copies):
        due = np.stack([f(e).array.reshape(-1) for e in f.dom.basis()], axis=1)
        np.testing.assert_allclose(matrix(f, "array"), due, atol=1e-12)
        np.testing.assert_allclose(matrix(f, "sparse").toarray(), due, atol=1e-12)
        np.testing.assert_allclose(diagonal(f).array.reshape(-1), np.diag(due), atol=1e-12)


def within(solved: Any, depth: int) -> Any:
    """An equation whose body holds another, so many deep."""

    def equation(k: int, x: Any, a: Any) -> Any:
        held = solved(lambda y: equation(k - 1, y, 0.5 * x + a), a) if k else a
        return 0.2 * tanh(x) + 0.1 * held - (x if solved is root else 0.0 * x)

    return fun(R)(lambda a: solved(lambda x: equation(depth, x, a), a))


@pytest.mark.parametrize("solved", [fixed_point, root])
def test_equations_in_equations_are_linear_in_their_depth(solved: Any) -> None:
    """Each level is the same length of text more, in lanes of lanes too, and is lifted and compared."""
    pair = [within(solved, k) for k in (10, 20, 30)]
    lifted = [(f**X) ** Y for f in pair]
    for some in (pair, lifted):
        a, b, c = (len(repr(program(f))) for f in some)
        assert abs((c - b) - (b - a)) < 100  # numbers have more digits
    assert c < 60_000
    assert equal(lifted[2], (within(solved, 30) ** X) ** Y)
    assert not equal(lifted[2], (within(solved, 29) ** X) ** Y)
    assert math.isclose(float(within(solved, 2)(R.vec(0.3))), found(2, 0.3), abs_tol=1e-10)


def found(depth: int, a: float) -> float:
    """What `within` defines, by rounds of Python's floats."""
    x = a
    for _ in range(30):
        x = 0.2 * math.tanh(x) + 0.1 * (found(depth - 1, 0.5 * x + a) if depth else a)
    return x


@pytest.mark.parametrize("solved", [fixed_point, root])
def test_what_the_unknown_does_not_change_is_computed_once(solved: Any) -> None:
    """In the search, its lanes and the derivative: not in each round."""
    calls: list[tuple[int, ...]] = []

    def value_of(xp: Any, a: Any) -> Any:
        calls.append(a.shape)
        return xp.exp(-a * a)

    costly = operation(f"costly {solved.__name__}", V, to=V, value=value_of, tangent=lambda a, y, da: -2.0 * a * y * da)

    def body(a: Any) -> Any:
        return solved(lambda x: 0.4 * tanh(x) + costly(a) - (x if solved is root else 0.0 * x), a)

    f = fun(V)(body)
    for g, shape in ((f, (3,)), (f**Y, (2, 3))):
        del calls[:]
        g(point(g))
        assert calls == [shape]
    del calls[:]
    grad(total(f))(point(f))
    assert calls == [(3,)]


def test_an_exact_root_is_not_searched_further() -> None:
    """A step that is short is taken whole, though it makes a residual of 0 no smaller."""
    calls: list[int] = []

    def value_of(xp: Any, a: Any) -> Any:
        calls.append(1)
        return xp.asarray(a) ** 3

    cube = operation("third power", V, to=V, value=value_of, tangent=lambda a, y, da: 3.0 * y / a * da)
    f = fun(V)(lambda a: root(lambda x: cube(x) - a, a))
    close(f(V.ones()), V.ones())
    assert len(calls) <= 4


def test_what_is_summed_over_nothing_is_nothing() -> None:
    """A part of an equation that sums over an empty axis is zero in its structure, and in each form of its matrix."""
    X, none = Fin.of(3), Fin.of(0)
    one = const((R**X).ones())

    def step(a: Any, u: Any) -> Any:
        return contract("i,j->ij", a.crop(0, 0), u, to=R ** (none * X)).T @ a.crop(0, 0) + one * a.sum()

    open_map: Any = derivative(fun(R**X)(lambda a: fixed_point(lambda u: step(a, u), one)))
    assert str(structure(open_map)) == "rank 1"
    L = open_map.at((R**X).ones())
    assert np.array_equal(matrix(L).array, np.ones((3, 3)))
    assert np.array_equal(matrix(L, as_="array"), np.ones((3, 3)))
    two = derivative(fun(R**X)(lambda a: fixed_point(lambda u: a.crop(0, 0).sum() * u + one * a.sum(), one)))
    assert str(structure(two)) == "rank 1"

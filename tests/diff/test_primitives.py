"""Primitives: values, first and second derivatives agree with JAX in double precision at points of their domains."""

import math
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adjoint import grad, jacobian
from diff import fun, power, register
from diff.primitives.primitives import (
    BINARY,
    PRIMITIVES,
    absolute,
    erf,
    maximum,
    minimum,
    relu,
    sigmoid,
    sign,
    sin,
    softplus,
)
from diff.terms.elementwise import RULES, Primitive
from hilbert import R32, Field, Fin, R, SpaceError

jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - JAX has it so

EVERYWHERE = (-2.5, -0.7, 0.3, 1.9)
POSITIVE = (0.2, 0.9, 1.7, 6.0)
INSIDE = (-0.8, -0.3, 0.1, 0.6)
POINTS = {
    "asin": INSIDE,
    "acos": INSIDE,
    "atanh": INSIDE,
    "acosh": (1.2, 2.0, 3.5, 7.0),
    "log": POSITIVE,
    "log2": POSITIVE,
    "log10": POSITIVE,
    "sqrt": POSITIVE,
    "log1p": (-0.6, -0.1, 0.4, 3.0),
    "lgamma": POSITIVE,
    "digamma": POSITIVE,
    "entr": POSITIVE,
    "ndtri": (0.02, 0.3, 0.6, 0.99),
}
"""Where a primitive is not differentiable on all of ℝ. The points avoid kinks: 0 for absolute, sign and relu."""
EXPONENTS = (-2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5)
PAIRS = ((0.3, 1.7), (2.5, 0.4), (1.2, 1.3), (3.0, 2.0))
IN_JAX = {
    "exact_tanh": jnp.tanh,
    "erf": jax.scipy.special.erf,
    "erfc": jax.scipy.special.erfc,
    "erfcx": jax.scipy.special.erfcx,
    "log_ndtr": jax.scipy.special.log_ndtr,
    "ndtri": jax.scipy.special.ndtri,
    "lgamma": jax.scipy.special.gammaln,
    "digamma": jax.scipy.special.digamma,
    "i0e": jax.scipy.special.i0e,
    "i1e": jax.scipy.special.i1e,
    "entr": jax.scipy.special.entr,
    "xlogy": jax.scipy.special.xlogy,
    "betaln": jax.scipy.special.betaln,
    "log_sigmoid": jax.nn.log_sigmoid,
    "gelu": partial(jax.nn.gelu, approximate=False),
    "stop_gradient": jax.lax.stop_gradient,
    "absolute": jnp.abs,
    "relu": jax.nn.relu,
    "sigmoid": jax.nn.sigmoid,
    "softplus": jax.nn.softplus,
    "asin": jnp.arcsin,
    "acos": jnp.arccos,
    "atan": jnp.arctan,
    "asinh": jnp.arcsinh,
    "acosh": jnp.arccosh,
    "atanh": jnp.arctanh,
    "atan2": jnp.arctan2,
    "pow": jnp.power,
}
"""Names that differ in JAX."""


def in_jax(name: str) -> Any:
    """JAX's function of that name."""
    return IN_JAX.get(name) or getattr(jnp, name)


def with_derivatives(f: Any, points: Any) -> list[Any]:
    """The values, derivatives and second derivatives of a function of one variable at several points."""
    x = jnp.asarray(points)
    return [jax.vmap(g)(x) for g in (f, jax.grad(f), jax.grad(jax.grad(f)))]


@cache
def reference() -> dict[str, list[Any]]:
    """JAX's values and derivatives for every primitive of one argument, compiled at once."""

    def everything() -> dict[str, list[Any]]:
        return {p.name: with_derivatives(in_jax(p.name), POINTS.get(p.name, EVERYWHERE)) for p in PRIMITIVES}

    return {name: list(map(np.array, rows)) for name, rows in jax.jit(everything)().items()}


@cache
def reference_of_powers() -> dict[float, list[Any]]:
    """The same for x^k."""

    def everything() -> list[list[Any]]:
        return [with_derivatives(lambda x, k=k: x**k, POSITIVE) for k in EXPONENTS]

    return {k: list(map(np.array, rows)) for k, rows in zip(EXPONENTS, jax.jit(everything)(), strict=True)}


@cache
def reference_of_two_arguments() -> dict[str, list[Any]]:
    """Values, gradients and Hessians of every primitive of two arguments."""

    def everything() -> dict[str, Any]:
        points = jnp.asarray(PAIRS)
        found = {}
        for p in BINARY:
            f = in_jax(p.name)

            def g(z: Any, f: Any = f) -> Any:
                return f(z[0], z[1])

            found[p.name] = tuple(jax.vmap(h)(points) for h in (g, jax.grad(g), jax.hessian(g)))
        return found

    return {name: list(map(np.array, rows)) for name, rows in jax.jit(everything)().items()}


def ours(f: Any, points: Any, order: int) -> Any:
    """The same by `grad`, on each point."""
    for _ in range(order):
        f = grad(f)
    return np.array([float(f(R.vec(x))) for x in points])


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("p", PRIMITIVES, ids=lambda p: p.name)
def test_of_one_argument(p: Primitive, order: int) -> None:
    """p, p' and p'' at points inside the domain."""
    found = ours(p, POINTS.get(p.name, EVERYWHERE), order)
    np.testing.assert_allclose(found, reference()[p.name][order], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("k", EXPONENTS)
def test_power(k: float, order: int) -> None:
    """x^k, k·x^(k−1) and k·(k−1)·x^(k−2)."""
    for f in (power(k), fun(R)(lambda x: x**k)):
        np.testing.assert_allclose(ours(f, POSITIVE, order), reference_of_powers()[k][order], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("k", [0.0, 1.0, 2.0, 3.0])
def test_power_at_zero(k: float) -> None:
    """x⁰, x, x² and x³ are differentiable at 0 as often as one likes."""
    for order in range(4):
        due = np.polyder(np.poly1d([1.0] + [0.0] * int(k)), order)(0.0) if order else 0.0**k
        assert ours(power(k), [0.0], order)[0] == due


@pytest.mark.parametrize("p", BINARY, ids=lambda p: p.name)
def test_of_two_arguments(p: Any) -> None:
    """p, its two partial derivatives and its Hessian, which is symmetric."""
    for pair, value, gradient, second in zip(PAIRS, *reference_of_two_arguments()[p.name], strict=True):
        point = p.dom.vec(pair)
        np.testing.assert_allclose(float(p(point)), value, rtol=1e-12)
        np.testing.assert_allclose(grad(p)(point).flat(), gradient, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(jacobian(grad(p), point), second, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("p", PRIMITIVES, ids=lambda p: p.name)
def test_third_derivative_is_in_the_language(p: Primitive) -> None:
    """p''' exists, as a program, and is the derivative of p'': by central differences."""
    points = np.array(POINTS.get(p.name, EVERYWHERE))
    h = 1e-6
    due = (ours(p, points + h, 2) - ours(p, points - h, 2)) / (2.0 * h)
    np.testing.assert_allclose(ours(p, points, 3), due, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("p", PRIMITIVES, ids=lambda p: p.name)
def test_element_by_element(p: Primitive) -> None:
    """p(v), p ** X and fun(V)(p) are the same, and an expression of p is one step."""
    V = R ** Fin.of(4)
    v = V.vec(list(POINTS.get(p.name, EVERYWHERE)))
    due = np.array([float(p(R.vec(x))) for x in v.array])
    for found in (p(v), (p**V.index)(v), fun(V)(p)(v)):
        np.testing.assert_allclose(found.array, due, rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "x", "in_numpy"),
    [
        ("log", -1.0, np.log),
        ("log", 0.0, np.log),
        ("sqrt", -1.0, np.sqrt),
        ("asin", 2.0, np.arcsin),
        ("acosh", 0.5, np.arccosh),
        ("reciprocal", 0.0, np.reciprocal),
    ],
)
def test_outside_the_domain(name: str, x: float, in_numpy: Any) -> None:
    """NaN or ±∞ with numpy's warning, as numpy has it."""
    with pytest.warns(RuntimeWarning) as ours_warned:
        found = Primitive(name)((R ** Fin.of(1)).vec([x])).array
    with pytest.warns(RuntimeWarning) as numpy_warned:
        due = in_numpy(np.array([x]))
    np.testing.assert_equal(found, due)
    assert [str(w.message) for w in ours_warned] == [str(w.message) for w in numpy_warned]


def test_a_primitive_of_ones_own() -> None:
    """A registered primitive differentiates twice, composes, lifts, and may return its argument unharmed."""
    p = register("test's cube", lambda _, x: x * x * x, lambda x, _: 3.0 * x * x)
    assert ours(p, [2.0], 0)[0] == 8.0
    assert ours(p, [2.0], 1)[0] == 12.0
    due = with_derivatives(lambda x: jnp.sin(x) ** 3, [0.3])[2][0]
    assert ours(p @ sin, [0.3], 2)[0] == pytest.approx(float(due))
    alias = register("test's identity", lambda _, x: x, lambda x, _: 0.0 * x + 1.0)
    V = R ** Fin.of(3)
    v = V.vec([1.0, 2.0, 3.0])
    f = fun(V)(lambda x: relu(alias(2.0 * x)) + 2.0 * x - relu(alias(x)))
    np.testing.assert_array_equal(f(v).array, 3.0 * v.array)
    with pytest.raises(SpaceError, match="in the table"):
        register("test's cube", lambda _, x: x, lambda x, _: x)
    for name in ("test's cube", "test's identity"):
        del RULES[name]


def test_at_least_twenty_five() -> None:
    """The table has the 25 primitives that were promised, each with a domain."""
    table: tuple[Any, ...] = (*PRIMITIVES, *BINARY)
    assert len(table) == 50  # which README counts
    assert all(p.rule.domain and p.rule.derivatives for p in table)


@pytest.mark.parametrize("field", [R, R32])
def test_small_values_keep_their_digits(field: Field) -> None:
    """σ and the derivative of softplus are right to a few units in the last place, however small; nothing overflows."""
    limits = np.finfo(field.dtype)
    points = np.linspace(0.98 * float(np.log(limits.tiny)), 80.0, 300).astype(field.dtype)
    exact = 1.0 / (1.0 + np.exp(-points.astype(np.longdouble)))
    V = field ** Fin.of(len(points))
    with np.errstate(all="raise", under="ignore"):
        for found in (sigmoid(V.vec(points)), grad(fun(V)(lambda x: softplus(x).sum()))(V.vec(points))):
            assert np.max(np.abs(found.array / exact - 1.0)) <= 4 * limits.eps


def test_erf_everywhere() -> None:
    """Within 3·10⁻¹⁶ on all of ℝ, the ends of its pieces and ±∞ among them."""
    points = np.array(
        [*np.linspace(-7.0, 7.0, 4001), *(k * b for k in (-1, 1) for b in (1e-300, 1.0, 6.0, 30.0, np.inf))]
    )
    found = erf((R ** Fin.of(len(points))).vec(points)).array
    assert np.max(np.abs(found - [math.erf(x) for x in points])) <= 3e-16


@pytest.mark.parametrize(
    ("body", "due"),
    [
        (relu, 0.0),
        (lambda x: -relu(-x), 0.0),
        (absolute, 0.0),
        (sign, 0.0),
        (lambda x: maximum(x, 2.0 * x), 1.0),
        (lambda x: maximum(2.0 * x, x), 2.0),
        (lambda x: minimum(x, 2.0 * x), 1.0),
        (lambda x: minimum(2.0 * x, x), 2.0),
    ],
)
def test_at_kinks(body: Any, due: float) -> None:
    """At a kink the derivative is the one that the table documents: 0 of relu, |x| and sign; the left side's."""
    assert float(grad(fun(R)(body))(R.vec(0.0))) == due

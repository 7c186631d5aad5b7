"""Special functions: at infinity, 0 and NaN, third derivatives beside mpmath, on other array libraries, compiled."""

import math
import sys
from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp, mpf

import hilbert.all as hb
from adjoint import grad
from diff import (
    betaln,
    digamma,
    entr,
    erfc,
    erfcx,
    fun,
    i0e,
    i1e,
    lgamma,
    log_ndtr,
    log_sigmoid,
    ndtri,
    polygamma,
    sinc,
    source,
    xlogy,
)
from hilbert import R32, Field, Fin, R, SpaceError
from hilbert.arrays.libraries import scipy_functions
from tests.slopes import ROWS

jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - JAX has it so

ALL: dict[str, Any] = {
    "lgamma": lgamma,
    "digamma": digamma,
    "polygamma 2": lambda x: polygamma(2, x),
    "erfc": erfc,
    "erfcx": erfcx,
    "log_ndtr": log_ndtr,
    "ndtri": ndtri,
    "i0e": i0e,
    "i1e": i1e,
    "sinc": sinc,
    "log_sigmoid": log_sigmoid,
    "entr": entr,
}
BY_LIBRARY = {"lgamma", "digamma", "polygamma 2", "ndtri", "i0e", "i1e"}
POINTS = (-30.25, -4.3, -0.6, 1e-3, 0.2, 0.71, 1.5, 4.6, 30.5)


def nth(f: Any, order: int, field: Field = R) -> Any:
    """The derivative of a function of a real."""
    g: Any = fun(field)(f)
    for _ in range(order):
        g = grad(g)
    return g


@pytest.mark.parametrize("field", [R, R32], ids=str)
@pytest.mark.parametrize("name", ALL)
def test_third_derivatives(name: str, field: Field) -> None:
    """f''' is the slope of f'' in mpmath, within 10⁻⁹ (10⁻³ in single precision) of the larger one of f'' and f'''."""
    third = nth(ALL[name], 3, field)
    bend = ROWS[name].slopes[0, 0]
    for number in POINTS:
        x = mpf(float(np.dtype(field.dtype).type(number)))
        if (name in {"ndtri", "entr"} and x < 0) or (name == "ndtri" and x > 1):
            continue
        with mp.workprec(300):
            due = mp.diff(bend, x, h=mpf(2) ** -100)
            size = float(max(abs(due), abs(bend(x))))
        if np.finfo(field.dtype).tiny < size < np.finfo(field.dtype).max:
            assert abs(float(third(field.vec(number))) - float(due)) <= (1e-9 if field == R else 1e-3) * size, number


@pytest.mark.parametrize(
    ("f", "values"),
    [
        (lgamma, {0.0: math.inf, -1.0: math.inf, math.inf: math.inf, 1.0: 0.0, 2.0: 0.0}),
        (digamma, {math.inf: math.inf, -2.0: math.nan}),
        (erfc, {0.0: 1.0, math.inf: 0.0, -math.inf: 2.0}),
        (erfcx, {0.0: 1.0, math.inf: 0.0, -math.inf: math.inf, 1e300: 1e-300 / math.sqrt(math.pi)}),
        (log_ndtr, {0.0: -math.log(2.0), math.inf: 0.0, -math.inf: -math.inf, -1e100: -5e199}),
        (ndtri, {0.0: -math.inf, 0.5: 0.0, 1.0: math.inf, 1.5: math.nan, -1.0: math.nan}),
        (i0e, {0.0: 1.0, math.inf: 0.0, -math.inf: 0.0}),
        (i1e, {0.0: 0.0, math.inf: 0.0, -math.inf: 0.0}),
        (sinc, {0.0: 1.0, 1.0: 0.0, -3.0: 0.0, 1e300: 0.0}),
        (log_sigmoid, {0.0: -math.log(2.0), math.inf: 0.0, -math.inf: -math.inf}),
        (entr, {0.0: 0.0, 1.0: 0.0, math.inf: -math.inf, -1.0: -math.inf, -math.inf: -math.inf}),
    ],
)
def test_at_ends(f: Any, values: dict[float, float]) -> None:
    """Values at 0, at poles and at infinity, in both precisions; NaN for NaN."""
    for field in (R, R32):
        for x, due in values.items():
            if x in {1e300, -1e100} and field == R32:
                continue
            with np.errstate(all="ignore"):
                found = float(f(field.vec(x)))
            assert found == pytest.approx(due, rel=1e-6 if field == R32 else 1e-14, abs=1e-300, nan_ok=True), x
        assert math.isnan(float(f(field.vec(math.nan))))


def test_slopes_at_ends() -> None:
    """Slopes at 0 and at infinity that a plain formula would make NaN."""
    for f, order, x, due in (
        (log_ndtr, 1, -math.inf, math.inf),
        (log_ndtr, 1, math.inf, 0.0),
        (log_ndtr, 2, -1e8, -1.0),
        (log_ndtr, 3, -1e3, 2e-9),
        (erfcx, 1, math.inf, 0.0),
        (erfcx, 2, math.inf, 0.0),
        (sinc, 1, 0.0, 0.0),
        (sinc, 2, 0.0, -(math.pi**2) / 3),
        (sinc, 4, 0.0, math.pi**4 / 5),
        (i0e, 1, 0.0, 0.0),
        (i0e, 2, 0.0, 0.5),
        (i1e, 1, 0.0, 0.5),
        (entr, 1, 0.0, math.inf),
    ):
        with np.errstate(all="ignore"):
            found = float(nth(f, order)(R.vec(x)))
        assert found == pytest.approx(due, rel=1e-5), (f, order, x)


def test_logarithms_times_0() -> None:
    """xlogy(0, y) is 0 for all y but NaN, and its slope in y is 0; entr is −xlogy(x, x)."""
    both = grad(fun(R, R)(xlogy), 1)
    for y in (0.0, 1.0, -1.0, math.inf):
        assert (float(xlogy(R.vec(0.0), R.vec(y))), float(both(R.vec(0.0), R.vec(y)))) == (0.0, 0.0)
    assert math.isnan(float(xlogy(R.vec(0.0), R.vec(math.nan))))
    assert float(xlogy(R.vec(0.5), R.vec(0.5))) == -float(entr(R.vec(0.5)))


@pytest.mark.parametrize("k", range(6))
def test_polygamma(k: int) -> None:
    """ψ⁽ᵏ⁾ by order, also left of 0; the derivative of one is the next."""
    points = np.array([-1e3 - 0.25, -33.3, -0.5, 0.1, 1.0, 7.0, 1e5])
    V = R ** Fin.of(len(points))
    found = polygamma(k, V.vec(points)).array
    with mp.workprec(200):
        due = [float(mp.psi(k, mpf(x))) for x in points]
    np.testing.assert_allclose(found, due, rtol=1e-12)
    slope = grad(fun(V)(lambda x: polygamma(k, x).sum()))
    np.testing.assert_array_equal(slope(V.vec(points)).array, polygamma(k + 1, V.vec(points)).array)


def test_lgamma_and_betaln() -> None:
    """ln B(x, y) = ln Γ(x) + ln Γ(y) − ln Γ(x + y), with the gradients of both sides."""
    V = R ** Fin.of(3)
    x, y = V.vec([0.2, 1.5, 9.0]), V.vec([3.0, 0.4, 7.5])
    f = fun(V, V)(lambda x, y: betaln(x, y).sum())
    g = fun(V, V)(lambda x, y: (lgamma(x) + lgamma(y) - lgamma(x + y)).sum())
    assert float(f(x, y)) == pytest.approx(float(g(x, y)), rel=1e-13)
    np.testing.assert_allclose(grad(f)(x, y).flat(), grad(g)(x, y).flat(), rtol=1e-13)


@pytest.mark.parametrize("name", ALL)
def test_on_other_libraries(name: str) -> None:
    """JAX's arrays, also inside of jit, and those of array-api-strict, where it has them: the numbers of numpy."""
    points = np.array([0.2, 0.7, 0.95])
    V = R ** Fin.of(3)
    f = fun(V)(lambda x: ALL[name](x).sum())
    g = grad(f)
    due = g(V.vec(points)).array
    np.testing.assert_allclose(g(V.vec(jnp.asarray(points))).array, due, rtol=1e-12)
    np.testing.assert_allclose(jax.jit(lambda a: g(V.vec(a)).array)(jnp.asarray(points)), due, rtol=1e-12)
    if name in BY_LIBRARY:
        with pytest.raises(SpaceError, match="has no kernel in the array namespace array_api_strict: use numpy, cupy"):
            f(V.vec(array_api_strict.asarray(points)))
    else:
        np.testing.assert_allclose(np.asarray(g(V.vec(array_api_strict.asarray(points))).array), due, rtol=1e-12)


@pytest.mark.parametrize("field", [R, R32], ids=str)
@pytest.mark.parametrize("name", ALL)
def test_compiled(name: str, field: Field) -> None:
    """A function that is one of an array library is a counted call of compiled code, any other is in its loops."""
    V = field ** Fin.of(40)
    f = grad(fun(V)(lambda x: ALL[name](x).sum()))
    x = V.vec(np.linspace(0.03, 0.97, 40).astype(field.dtype))
    code = hb.compiled(f)
    assert bool(code.report.calls) == (name in BY_LIBRARY)
    np.testing.assert_allclose(code(x).array, f(x).array, rtol=1e-13 if field == R else 2e-6)


@pytest.mark.parametrize("name", ALL)
def test_text(name: str) -> None:
    """The text in numpy computes the same, by scipy's functions where the library has them."""
    V = R ** Fin.of(3)
    x = V.vec([0.2, 0.7, 0.95])
    f = fun(V)(ALL[name])
    for g in (f, grad(fun(V)(lambda x: ALL[name](x).sum()))):
        text = source(g)
        assert np.array_equal(text.function()(x.array), g(x).array)
    assert ("import scipy.special" in source(f).text) == (name in BY_LIBRARY)


def test_printed() -> None:
    """Terms with orders, and derivatives without a public name."""
    assert str(fun(R)(lambda x: polygamma(2, x))) == "x ↦ ψ[2](x)"
    assert str(grad(fun(R)(log_ndtr))) == "x ↦ (φ/Φ)(x)"
    assert str(grad(fun(R)(i1e))) == "x ↦ i0e x − i1e(x)/x − (sign x)·i1e x"


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without scipy a function that needs one says what to install; the others, and JAX's arrays, need none."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    scipy_functions.scipy_function.cache_clear()
    message = r'gammaln of numpy\'s arrays needs scipy: pip install "hilbert\[special\]"'
    with pytest.raises(SpaceError, match=message):
        fun(R)(lambda x: lgamma(x) + 1.0)(R.vec(2.0))
    assert float(lgamma(R.vec(jnp.asarray(3.0)))) == pytest.approx(math.log(2.0))
    assert float(erfc(R.vec(0.0)) + sinc(R.vec(0.0)) + entr(R.vec(1.0)) + log_ndtr(R.vec(90.0))) == 2.0
    scipy_functions.scipy_function.cache_clear()

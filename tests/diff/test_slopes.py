"""Values, first and second derivatives of all rows of the table of primitives are right to the last digits."""

from typing import Any

import numpy as np
import pytest

from adjoint import grad, hessian
from diff import asin, atan2, derivative, exact_tanh, expm1, fun, hypot, log, logaddexp, register, sigmoid
from diff.terms.elementwise import RULES, Binary
from hilbert import R32, Field, Fin, R, direct_sum
from tests import slopes

ROWS = dict(slopes.rows())


@pytest.mark.parametrize("key", ROWS)
def test_to_the_last_digits(key: str) -> None:
    """|p − exact| ≤ 16 units in the last place, and so for p' and p'', in both precisions, beside mpmath."""
    for field in (R, R32):
        found, _, compared = slopes.misses(key, ROWS[key], field, 48, np.random.default_rng(1))
        assert not found
        assert compared


def test_every_row_has_a_counterpart() -> None:
    """A row that is new in the table makes the law fail with a sentence."""
    register("of nobody", lambda _, x: x + 0.0, lambda x, _: x)
    try:
        with pytest.raises(LookupError, match="'of nobody' of the table of primitives has no counterpart here: write"):
            dict(slopes.rows())
    finally:
        del RULES["of nobody"]


def test_sums_of_exponentials_of_equal_numbers() -> None:
    """logaddexp(x, x)' = 1 at every size, and the two slopes of logaddexp add up to 1."""
    twice = grad(fun(R)(lambda x: logaddexp(x, x)))
    assert [float(twice(R.vec(x))) for x in (1e15, 1e50, -1e300)] == [1.0, 1.0, 1.0]
    x = R32.vec(-1e7)
    assert sum(float(v) for v in grad(fun(R32, R32)(logaddexp))(x, x).split()) == 1.0


def test_sums_of_exponentials_with_infinities() -> None:
    """Of −∞ and a number the slopes are 0 and 1, of two −∞ both are 0, without a warning."""
    both, inf = grad(fun(R, R)(logaddexp)), np.inf
    for x, y, due in ((-inf, 2.0, (0.0, 1.0)), (2.0, -inf, (1.0, 0.0)), (inf, 2.0, (1.0, 0.0))):
        assert both(R.vec(x), R.vec(y)).flat().tolist() == list(due)
    assert both(R.vec(-inf), R.vec(-inf)).flat().tolist() == [0.0, 0.0]


def test_the_logarithm_of_sigmoid() -> None:
    """log σ(x) is one step: its value is right where σ is 1, its second derivative −σ'(x) in the tail."""
    outer = fun(R)(log)
    for f in (fun(R)(lambda x: log(sigmoid(x))), log @ sigmoid, fun(R)(lambda x: outer(sigmoid(x)))):
        assert str(derivative(f)) == "(σ(−x) ·)"
        assert float(f(R.vec(50.0))) == pytest.approx(-1.9287498479639178e-22, rel=1e-15)
        second = [float(grad(grad(f))(R.vec(-37.43))), np.asarray(hessian(f, R.vec(-37.43))).item()]
        assert second == pytest.approx([-5.55082508625372e-17] * 2, rel=1e-14)


@pytest.mark.parametrize("field", [R, R32], ids=str)
def test_norms_of_any_size(field: Field) -> None:
    """‖k·v‖ = k·‖v‖, its gradient is that of v, its Hessian 1/k times that of v, where squares leave the range."""
    X = Fin.of(3)
    V, lanes = field**X, field ** (Fin.of(2) * X)
    both = direct_sum(V, field)
    size = fun(V)(lambda x: x.norm())
    each = fun(lanes)(lambda x: x.norm(over=1))
    total = fun(both)(lambda x: x.norm())
    for k in (1e25, 1e-25) if field == R32 else (1e160, 1e-160, 1e300, 1e-300, 1.0):
        v = V.vec(np.array([k, 2 * k, 2 * k], field.dtype))
        found = [float(size(v)), v.norm(), *each(lanes.vec(np.array([v.array, v.array]))).array]
        assert np.array(found) / k == pytest.approx([3.0] * 4, rel=1e-6)
        assert float(total(both.vec((v.array, v.array[0])))) / k == pytest.approx(10.0**0.5, rel=1e-6)
        unit = np.array([1.0, 2.0, 2.0]) / 3
        assert grad(size)(v).array == pytest.approx(unit, rel=1e-6)
        bend = (np.eye(3) - np.outer(unit, unit)) / 3
        np.testing.assert_allclose(hessian(size, v) * k, bend, atol=1e-6)
        several = hessian(fun(lanes)(lambda x: x.norm(over=1).sum()), lanes.vec(np.array([v.array, v.array]))) * k
        np.testing.assert_allclose(several, np.kron(np.eye(2), bend), atol=1e-6)
    assert float(size(V.zeros())) == V.zeros().norm() == 0.0


def test_powers_at_0() -> None:
    """At x = 0, x^y has slopes y·0^(y−1) and 0 for y > 0, 0 and −∞ for y = 0, −∞ and −∞ for y < 0."""
    due = {2.0: (0.0, 0.0), 1.0: (1.0, 0.0), 0.5: (np.inf, 0.0), 0.0: (0.0, -np.inf), -1.0: (-np.inf, -np.inf)}
    with np.errstate(all="ignore"):
        for y, pair in due.items():
            assert grad(Binary("pow"))(R.vec(0.0), R.vec(y)).flat().tolist() == list(pair)


@pytest.mark.parametrize(
    ("f", "at", "slope"),
    [
        (fun(R)(expm1), -40.0, 4.248354255291589e-18),
        (fun(R)(asin), 1.0 - 2.0**-53, 2.0**26),
        (fun(R32)(lambda x: atan2(x, R32.vec(1e-25))), 1e-25, 5e24),
        (fun(R32)(lambda x: hypot(x, R32.vec(1e25))), 1e25, 0.5**0.5),
        (fun(R)(exact_tanh), -40.0, 7.219405138313123e-35),
    ],
)
def test_slopes_at_edges(f: Any, at: float, slope: float) -> None:
    """Slopes that a plain formula would lose."""
    assert float(grad(f)(f.dom.vec(at))) == pytest.approx(slope, rel=1e-6)

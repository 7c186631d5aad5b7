"""check_derivative: right derivatives pass at every smooth point, wrong ones fail."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from adjoint import check_derivative
from diff import cos, exp, fun, log, register, relu, sin, sqrt, tanh
from diff.elementwise import RULES
from hilbert import Fin, R
from tests.function_terms import smooth_function
from tests.strategies import Source, sources


@settings(max_examples=100)
@given(sources(smooth=True, single=False))
def test_right_derivatives_pass(s: Source) -> None:
    """Of random smooth functions, at random points."""
    f = smooth_function(s)
    for seed in range(3):
        report = check_derivative(f, s.vector(f.dom), seed=seed)
        assert report, report


@pytest.mark.parametrize("f", [sin, fun(R)(lambda x: cos(tanh(x)))], ids=["sin", "cos ∘ tanh"])
def test_terms_of_two_orders_that_cancel(f: Any) -> None:
    """Near a point of inflection there are directions along which the remainder has no slope."""
    rng = np.random.default_rng(0)
    for seed in range(300):
        assert check_derivative(f, R.vec(0.05 * rng.standard_normal()), seed=seed)


def test_a_kink_beside_the_point() -> None:
    """relu is smooth at 0.03: the smallest steps stay on one side."""
    for seed in range(20):
        assert check_derivative(fun(R)(lambda x: relu(x) * x), R.vec(0.03), seed=seed)


def test_a_boundary_beside_the_point() -> None:
    """Large steps may leave the domain; at its end no step stays inside."""
    with np.errstate(all="ignore"):
        for seed in range(20):
            assert check_derivative(log, R.vec(0.02), seed=seed)
            assert check_derivative(sqrt, R.vec(0.02), seed=seed)
        report = check_derivative(log, R.vec(0.0))
    assert not report
    assert "remainder" in dict(report.numbers)


@pytest.fixture
def wrong() -> Iterator[Any]:
    """A primitive whose derivative is a little off, while the test runs."""
    yield register("almost_sin", lambda xp, x: xp.sin(x), lambda x, _: 1.001 * cos(x))
    RULES.pop("almost_sin")
    RULES.pop("almost_sin'", None)


def test_wrong_derivatives_fail_and_are_named(wrong: Any) -> None:
    """Along every direction; the step is named in a composition, in a traced function and under a copower."""
    X = Fin.of(3)
    rng = np.random.default_rng(0)
    functions: list[Any] = [wrong, tanh @ wrong @ cos, fun(R**X)(lambda x: wrong(x) @ tanh(x)), (exp @ wrong) ** X]
    for f in functions:
        for seed in range(20):
            report = check_derivative(f, f.dom.random(rng), seed=seed)
            assert not report
            assert "almost_sin" in str(report.failing)

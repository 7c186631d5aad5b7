"""The checks: what is right passes at every smooth point, in both precisions; what is wrong fails; kinks are named."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from adjoint import check, check_adjoint, check_derivative, verify
from diff import (
    absolute,
    cholesky,
    const,
    cos,
    derivative,
    eigh,
    exp,
    fun,
    log,
    maximum,
    operation,
    register,
    relu,
    root,
    sin,
    sqrt,
    square,
    tanh,
    where,
)
from hilbert import R32, Fin, R
from linmap import cast, identity, scale, section
from linmap.contraction import hadamard
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
def wrong() -> Any:
    """A primitive whose derivative is a little off."""
    return register("almost_sin", lambda xp, x: xp.sin(x), lambda x, _: 1.001 * cos(x))


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


# --- single precision, and what cancels ---


@settings(max_examples=60)
@given(sources(smooth=True, fields=(R32,)))
def test_right_functions_pass_in_single_precision(s: Source) -> None:
    """Both checks, of random smooth functions."""
    f = smooth_function(s)
    for seed in range(3):
        for report in check(f, s.vector(f.dom), seed=seed):
            assert report, report


CANCELLING: dict[str, Any] = {
    "(x + 10⁶) − 10⁶ − x": lambda x: (x + 1e6) - 1e6 - x,
    "sin² + cos² − 1": lambda x: sin(x) ** 2 + cos(x) ** 2 - 1.0,
    "10³·x − 10³·x": lambda x: 1e3 * sin(x) - 5e2 * sin(x) - 5e2 * sin(x),
    "exp(x)·exp(−x) − 1": lambda x: exp(8.0 * x) * exp(-8.0 * x) - 1.0,
}


@pytest.mark.parametrize("field", [R, R32], ids=str)
@pytest.mark.parametrize("name", CANCELLING)
def test_functions_that_are_0_up_to_rounding(name: str, field: Any) -> None:
    """What cancels counts by the size that it had."""
    V = field ** Fin.of(3)
    f = fun(V)(CANCELLING[name])
    for seed in range(20):
        x = V.random(np.random.default_rng(seed))
        assert all(check(f, x, seed=seed)), name


def test_linear_maps_that_are_0_up_to_rounding() -> None:
    """(a·) + (b·) − (a + b)·, and what passes through single precision."""
    V = R ** Fin.of(3)
    a, b = V.vec([0.1, 0.2, 0.3]), V.vec([0.7, 0.1, 1e3])
    h = hadamard(V)
    assert check_adjoint(section(h, 0, a) + section(h, 0, b) - section(h, 0, a + b))
    narrow = cast(V, R32)
    assert check_adjoint(cast(narrow.cod, R) @ narrow)


def test_wrong_adjoints_fail_by_the_last_digits() -> None:
    """An error of 10⁻¹² in double precision, and of 10⁻⁴ in single, is found."""
    for field, off in ((R, 1e-12), (R32, 1e-4)):
        V = field ** Fin.of(3)
        assert not check_adjoint(identity(V), star=scale(1.0 + off, V))
        assert check_adjoint(identity(V), star=identity(V))


def test_wrong_derivatives_fail_in_single_precision(wrong: Any) -> None:
    """One per mille off is seen above the rounding."""
    V = R32 ** Fin.of(3)
    f = fun(V)(lambda x: tanh(wrong(x)))
    found = [check_derivative(f, V.vec([0.3, 0.5, -0.4]), seed=seed) for seed in range(20)]
    assert not any(found)
    assert all("almost_sin" in str(report.failing) for report in found)


# --- kinks ---

KINKS: dict[str, tuple[Any, float]] = {
    "relu": (relu, 0.0),
    "|x|": (absolute, 0.0),
    "max(x, −x)": (lambda x: maximum(x, -x), 0.0),
    "max(x, x²)": (lambda x: maximum(x, x * x), 1.0),
    "sin of relu": (lambda x: sin(relu(x - 0.5)) + x * x, 0.5),
}


@pytest.mark.parametrize("field", [R, R32], ids=str)
@pytest.mark.parametrize("name", KINKS)
def test_a_kink_is_named(name: str, field: Any) -> None:
    """Where the slopes on both sides differ, no derivative is right, and the report says why."""
    body, at = KINKS[name]
    V = field ** Fin.of(3)
    for seed in range(20):
        report = check_derivative(fun(V)(body), V.full(at), seed=seed)
        assert not report
        assert str(report.failing).startswith("kink: the slopes on both sides of the point differ")


@pytest.mark.parametrize("field", [R, R32], ids=str)
@pytest.mark.parametrize("name", KINKS)
@pytest.mark.parametrize("beside", [0.03, -0.02])
def test_beside_a_kink_is_none(name: str, field: Any, beside: float) -> None:
    """The smallest steps stay on one side."""
    body, at = KINKS[name]
    V = field ** Fin.of(3)
    for seed in range(20):
        report = check_derivative(fun(V)(body), V.full(at + beside), seed=seed)
        assert report, report


@pytest.mark.parametrize("name", ["cholesky", "one root", "two roots"])
def test_steps_that_leave_where_a_function_is_defined(name: str) -> None:
    """A step to where there is no value, as it raises, is left out as one to NaN is."""
    X = Fin.of(3)
    one, V, W = R.vec(0.01), R ** (X * X), R**X
    functions: dict[str, tuple[Any, Any]] = {
        "cholesky": (fun(V)(cholesky), V.vec(np.diag([1.0, 0.2, 0.1]))),
        "one root": (fun(R)(lambda a: root(lambda x: x * x - a, const(R.vec(1.0)))), one),
        "two roots": (fun(W)(lambda a: root(lambda x: x * x - a, const(W.ones()))), W.vec([0.01, 0.02, 0.03])),
    }
    f, x = functions[name]
    for seed in range(3):
        assert check_derivative(f, x, seed=seed)
    assert verify(f, at=x)


def test_a_wrong_derivative_is_no_kink(wrong: Any) -> None:
    """The second difference of a smooth function falls as t²."""
    report = check_derivative(fun(R)(lambda x: wrong(x) * x), R.vec(0.4))
    assert not report
    assert "kink" not in str(report)
    assert derivative(wrong)(R.vec(0.4))(R.vec(1.0)).array != np.cos(0.4)


def test_a_small_derivative_behind_rounding() -> None:
    """Where the difference of values soon is below rounding, primitives are tested alone: a wrong one is named."""
    halved = register("halved_square", lambda xp, x: xp.square(x), lambda x, _: x)
    V = R32 ** Fin.of(4)
    x = V.vec([0.3, -0.7, 1.1, 0.2])

    def behind(f: Any) -> Any:
        return fun(V)(lambda v: exp(0.01 * (f(tanh(v)) + 100.0 - 100.0)))

    assert check_derivative(behind(square), x)
    report = check_derivative(behind(halved), x)
    assert not report
    assert "halved_square" in str(report.failing)


@pytest.mark.parametrize("k", [1e-300, 1e-160, 1e160, 1e300])
def test_values_whose_squares_are_no_numbers(k: float) -> None:
    """A right derivative passes and a wrong one fails, by its slope, however large or small the values are."""
    V = R ** Fin.of(3)
    x = V.vec([0.1, 0.2, 0.3])
    assert check(fun(V)(lambda x: k * sin(x)), x)
    rules: dict[str, Any] = {"value": lambda xp, x: k * xp.sin(x), "tangent": lambda x, _, dx: 0.5 * k * cos(x) * dx}
    wrong = operation("half", V, to=V, **rules)
    report = check_derivative(wrong, x)
    assert not report
    assert dict(report.numbers)["slope"] < 1.1
    assert 0.0 < dict(report.numbers)["largest remainder / t"] < k
    assert "half" in str(report.failing)


@pytest.mark.parametrize("name", ["cholesky", "eigh"])
def test_steps_of_symmetric_matrices_are_not_blamed(name: str) -> None:
    """They take (A + Aᵀ)/2: what moves there is symmetric, and the wrong step comes after them."""
    X = Fin.of(3)
    V = R ** (X * X)
    wrong: Any = operation("doubled", R, to=R, value=lambda _, x: 2.0 * x, tangent=lambda *_: 3.0 * _[-1])
    bodies: dict[str, Any] = {
        "cholesky": lambda A: wrong(cholesky(A).sum()),
        "eigh": lambda A: wrong(eigh(A).split()[0].norm()),
    }
    f = fun(V)(bodies[name])
    for seed in range(5):
        report = check_derivative(f, V.vec(np.diag([1.0, 2.0, 3.0]) + 0.1), seed=seed)
        assert "doubled" in str(report.failing)


@pytest.mark.parametrize("field", [R, R32], ids=str)
def test_a_jump_is_named(field: Any) -> None:
    """Where the values on both sides differ; steps that are right are not blamed."""
    X = Fin.of(2)
    V = field ** (X * X)
    one, A = field.vec(0.0), V.vec([[2.0, 0.3], [0.3, 1.0]])

    def body(w: Any, A: Any) -> Any:
        return where(w > 0, lambda: 1.0 + w, lambda: w) + cholesky(A).sum()

    for seed in range(5):
        report = check_derivative(fun(field, V)(body), one, A, seed=seed)
        assert not report
        assert report.failing == "jump: the values on both sides of the point differ"
        assert check_derivative(fun(field, V)(body), field.vec(0.02), A, seed=seed)
    near = fun(R)(lambda x: where(x > 2e-4, lambda: x + 1.0, lambda: x))
    assert check_derivative(near, R.vec(0.0))  # the larger steps see a jump, the smaller ones that it is not at 0

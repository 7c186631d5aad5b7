"""Jets of loops, lanes and branches are those of nested derivatives; rounds add no steps."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import diff
from adjoint import grad, hessian
from diff import const, exp, fun, jet, jvp, laplacian, log, ode_series, program, sin, tanh, taylor
from hilbert import Fin, R, SpaceError
from hilbert.program.control.branch import Cond
from hilbert.program.control.loop import Loop
from tests.untyped import fold, iterate, while_

X, V = Fin.of(5), R ** Fin.of(3)
POINT, ALONG = V.vec([0.3, -0.4, 0.7]), V.vec([1.0, 0.5, -0.25])
ONE = R.vec(1.0)

D: Any = diff
"""Without types: mypy would read each function once for every overload of those around it."""
FUNCTIONS: dict[str, Any] = {
    "iterate": lambda x: D.iterate(lambda s: tanh(s * x) + s, x, X) @ x,
    "fold": lambda x: D.fold(lambda s, e: sin(s * e) + x @ x, x @ x, x),
    "backwards": lambda x: D.fold(lambda s, e: sin(s * e) + e, x @ x, x, reverse=True),
    "outputs": lambda x: D.fold(lambda s, e: (s * e + exp(e), s * s), x @ x, x)[1].sum(),
    "a start that does not vary": lambda x: D.fold(lambda s, e: s * e + 0.5, ONE, x),
    "two states": lambda x: D.fold(lambda s, e: (s[0] * e + s[1], s[0]), (x @ x, ONE), x)[0],
    "a loop in a loop": lambda x: D.iterate(lambda s: D.iterate(lambda t: sin(t * s) + x @ x, s, Fin.of(2)), x @ x, X),
    "one branch": lambda x: D.where(x @ x > 0.1, lambda: sin(x) @ x, lambda: x @ x),
    "the other": lambda x: D.where(x @ x > 10.0, lambda: sin(x) @ x, lambda: exp(x @ x)),
    "a constant branch": lambda x: D.where(x @ x > 10.0, lambda: const(ONE), lambda: exp(x @ x)),
    "lanes": lambda x: D.each(lambda e: D.where(e > 0.0, lambda: log(e), lambda: e * e * e), x).sum(),
    "entries": lambda x: D.where(x > 0.0, exp(x), x * x * x).sum(),
    "while": lambda x: D.while_(lambda s: s @ s < 4.0, lambda s: s * (x @ x) + s, x, at_most=X) @ x,
    "an equation with a branch": lambda x: D.fixed_point(
        lambda y: D.where(y > 0.0, lambda: 0.3 * sin(y * (x @ x)) + x @ x, lambda: 0.5 * y), x @ x
    ),
    "an equation in a loop": lambda x: D.iterate(lambda t: D.root(lambda y: y * y * y + y - t * (x @ x), t), x @ x, X),
    "again": lambda x: D.again(lambda y: sin(y) * y, x) @ x,
    "checkpoint": lambda x: D.iterate(lambda s: tanh(s * x) + s, x, Fin.of(9), checkpoint=True) @ x,
    "what moves goes on by a loop and a branch inside": lambda x: D.iterate(
        lambda s: (
            D.where(s[0] > 0.0, lambda: s[1] * s[0], lambda: s[1]),
            D.fold(lambda t, e: (t[0] * e, t[1] + e * s[2]), (s[0], s[1]), (R**X).vec([0.0, 0.5, 1.0, 1.5, 2.0]))[1],
            s[2] + x @ x,
        ),
        (ONE, ONE, ONE),
        X,
    )[0],
    "what moves comes from the first branch alone": lambda x: D.iterate(
        lambda s: (D.where(s[1] > 0.0, lambda: s[1] * s[1], lambda: const(ONE)), s[1] + x @ x), (ONE, ONE), X
    )[0],
    "what moves comes from the other branch alone": lambda x: D.iterate(
        lambda s: (D.where(s[1] < 0.0, lambda: const(ONE), lambda: s[1] * s[1]), s[1] + x @ x), (ONE, ONE), X
    )[0],
    "no rounds": lambda x: D.iterate(lambda s: s * s, x @ x, Fin.of(0)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_taylor_is_nested_derivatives(name: str) -> None:
    """n! cₙ = Dⁿf(x)[v, …, v], n ≤ 4."""
    f: Any = fun(V)(FUNCTIONS[name])
    coefficients = taylor(f, POINT, ALONG, 4)
    derivative: Any = f
    for n, c in enumerate(coefficients):
        due = float(derivative(POINT))
        assert np.isclose(math.factorial(n) * float(c), due, rtol=1e-9, atol=1e-9)
        derivative = along(derivative)


def along(f: Any) -> Any:
    """x ↦ Df(x)[v]."""
    d: Any = jvp(f)
    return fun(V)(lambda y: d(y, const(ALONG)))


def test_what_moves_is_found_in_time_linear_in_the_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that shifts n states: twice the states, twice the steps that are looked at."""
    from diff.jets.series_of_control import _Flow

    looked = [0]
    moved = _Flow._moved

    def counted(flow: _Flow, slot: int) -> set[int]:
        looked[0] += 1
        return moved(flow, slot)

    monkeypatch.setattr(_Flow, "_moved", counted)

    def count(n: int) -> int:
        def shifted(x: Any) -> Any:
            start = (x, *(const(ONE) for _ in range(n - 1)))
            return iterate(lambda s: (sin(s[-1]) * s[0], *(s[k] * s[k] for k in range(n - 1))), start, X)[-1]

        looked[0] = 0
        jet(fun(R)(shifted), 1, 2)
        return looked[0]

    small = count(20)
    assert 20 <= small <= 100
    assert count(40) <= 2 * small + 10


@pytest.mark.parametrize("name", FUNCTIONS)
def test_laplacians(name: str) -> None:
    """Δf is the trace of the Hessian: families of directions, and collapsed ones."""
    f: Any = fun(V)(FUNCTIONS[name])
    assert np.isclose(float(laplacian(f)(POINT)), np.trace(hessian(f, POINT)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["iterate", "outputs", "two states", "lanes"])
def test_gradients_of_coefficients(name: str) -> None:
    """The gradient of a slot of a jet of a loop, against differences."""
    f: Any = fun(V)(FUNCTIONS[name])
    c2: Any = fun(V)(lambda y: taylor(f, y, ALONG, 2)[2])
    found = grad(c2)(POINT).array
    for k, e in enumerate(np.eye(3)):
        up, down = (float(c2(POINT + h * V.vec(e))) for h in (1e-5, -1e-5))
        assert np.isclose(found[k], (up - down) / 2e-5, atol=1e-6)


def test_several_parameters() -> None:
    f: Any = fun(V)(FUNCTIONS["fold"])
    J: Any = jet(f, 2, 2, given=[(0, 0), (0, 1), (1, 0)])
    mixed = float(J(POINT, ALONG, V.vec([0.0, 1.0, 1.0])).split()[4])
    assert np.isclose(mixed, np.asarray(hessian(f, POINT)) @ [0.0, 1.0, 1.0] @ ALONG.array)


def test_steps_do_not_depend_on_rounds() -> None:
    def steps(n: int) -> int:
        rounds: Any = fun(V)(lambda x: iterate(lambda s: tanh(s * x), x, Fin.of(n)))
        return len(program(jet(rounds, 1, 5)).steps)

    assert steps(5) == steps(5000)


def test_loops_and_branches_are_made_once() -> None:
    """Where all that they are made of is known, one loop and one choice give the coefficients of every order."""
    f: Any = fun(V)(lambda x: FUNCTIONS["iterate"](x) + FUNCTIONS["one branch"](x))
    kinds = [type(step.operation) for step in program(jet(f, 1, 5)).steps]
    assert (kinds.count(Loop), kinds.count(Cond)) == (1, 1)


def test_loops_and_branches_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their coefficients are found once for all that read them, of every order."""
    from diff.jets import series_of_control

    found = Counter[str]()

    def counted(name: str, of: Any) -> Any:
        def run(*args: Any) -> Any:
            found[name] += 1
            return of(*args)

        return run

    for name in ("_of_loop", "_of_branches"):
        monkeypatch.setattr(series_of_control, name, counted(name, getattr(series_of_control, name)))

    def f(x: Any) -> Any:
        y, z = D.iterate(lambda s: (tanh(s[0] * x), s[1] + s[0]), (x, x), X)
        w = D.where(x @ x > 0.1, lambda: sin(x) @ x, lambda: x @ x)
        return y @ z + z @ x + w * w + w

    jet(fun(V)(f), 1, 5)
    assert found == {"_of_loop": 1, "_of_branches": 1}


def test_what_does_not_vary_has_no_coefficients() -> None:
    """A state that never depends on the argument stays one array in the loop of the jet."""
    body: Any = lambda x: fold(lambda s, e: (s[0] * e, s[1] * 0.5), (x @ x, ONE), x)[1]  # noqa: E731
    f: Any = fun(V)(body)
    assert [float(c) for c in taylor(f, POINT, ALONG, 2)] == [0.125, 0.0, 0.0]


def test_differential_equations() -> None:
    """x' = x⁴, by a loop and without: coefficients that need each other order by order."""
    f = fun(R)(lambda x: iterate(lambda s: s * x, x, Fin.of(3)))
    g = fun(R)(lambda x: x * x * x * x)
    found, due = (ode_series(h, 6)(R.vec(0.5)).split() for h in (f, g))
    assert np.allclose([float(a) for a in found], [float(b) for b in due])


def test_loops_without_a_bound_have_none() -> None:
    f = fun(R)(lambda x: while_(lambda s: s < 4.0, lambda s: s * 2.0, x))
    with pytest.raises(SpaceError, match="while_ without at_most"):
        taylor(f, ONE, ONE, 2)


@pytest.mark.parametrize("name", ["root", "fixed_point"])
def test_equations_with_loops_have_none(name: str) -> None:
    """The error names the step, the equation and the remedy."""
    solve = getattr(D, name)
    f: Any = fun(R)(lambda s: solve(lambda y: D.iterate(lambda t: 0.2 * sin(t) * s, y, X) + s, s))
    with pytest.raises(
        SpaceError, match=f"step loop .*, in the derivative of the body of {name}: unroll it, or take nested"
    ):
        taylor(f, ONE, ONE, 2)

"""Compositions of 2·10⁴ functions: every pass is a loop, none overflows the stack, and all are linear in the size."""

import math
import pickle
from typing import Any

import pytest

from adjoint import adjoint, grad
from diff import affine, cos, derivative, program, sin, tanh
from hilbert import Fin, R
from linmap import LinMap, compose, scale, scan, suffix
from linmap.net.lower import net
from tests.strategies import same

N = 20_000
PRIMITIVES = (sin, cos, tanh)


def by_compose() -> Any:
    """tanh ∘ … ∘ cos ∘ sin, from a sequence that is given outermost first."""
    return compose([PRIMITIVES[k % 3] for k in reversed(range(N))])


def by_operator() -> Any:
    """The same by `@`, from the inside."""
    f: Any = sin
    for k in range(1, N):
        f = PRIMITIVES[k % 3] @ f
    return f


def from_the_outside() -> Any:
    """The same by `@`, from the outside."""
    f: Any = PRIMITIVES[(N - 1) % 3]
    for k in reversed(range(N - 1)):
        f = f @ PRIMITIVES[k % 3]
    return f


@pytest.fixture(scope="module")
def f() -> Any:
    """The composition that the tests share."""
    return by_compose()


@pytest.mark.parametrize("make", [by_compose, by_operator, from_the_outside])
def test_equality_hash_and_pickle(make: Any, f: Any) -> None:
    """However it is built, it is one function, and comes back from a pickle."""
    g = make()
    assert g == f
    assert hash(g) == hash(f)
    assert pickle.loads(pickle.dumps(g)) == f
    assert g != cos @ f


def test_values_and_derivatives(f: Any) -> None:
    """The value and the gradient are those of a loop over floats; forward and backward agree."""
    x, slope = 0.3, 1.0
    for k in range(N):
        slope *= (math.cos(x), -math.sin(x), 1.0 - math.tanh(x) ** 2)[k % 3]
        x = (math.sin, math.cos, math.tanh)[k % 3](x)
    point, one = R.vec(0.3), R.vec(1.0)
    value, linear = affine(f, point)
    assert float(f(point)) == float(value) == pytest.approx(x, rel=1e-12)
    for found in (linear(one), adjoint(linear)(one), grad(f)(point)):
        assert float(found) == pytest.approx(slope, rel=1e-9, abs=1e-300)


def test_sizes(f: Any) -> None:
    """The derivative has at most four times the steps of the function, and the gradient at most six."""
    d = derivative(f)
    assert len(program(f).steps) == N
    assert len(d.program.steps) + len(d.body.arcs) <= 4 * N
    assert len(adjoint(d).body.arcs) == len(d.body.arcs)
    assert len(program(grad(f)).steps) <= 6 * N


def test_derivative_is_compared_and_pickled(f: Any) -> None:
    """The derivative in the point and its adjoint are terms like others."""
    d = derivative(f)
    found = pickle.loads(pickle.dumps(d))
    assert found == d
    assert adjoint(found) == adjoint(d)
    assert hash(adjoint(found)) == hash(adjoint(d))


def test_printing(f: Any) -> None:
    """Text of at most 40 lines of 100 columns, of the function, its derivative, the adjoint and the gradient."""
    for term in (f, derivative(f), adjoint(derivative(f)), grad(f)):
        lines = str(term).splitlines()
        assert 0 < len(lines) <= 40
        assert max(map(len, lines)) <= 100


def test_linear_maps() -> None:
    """A composition of 2·10⁴ linear maps is applied, turned round, compared, hashed, pickled and printed."""
    X = Fin.of(2)
    V = R**X
    parts = [scan(R, X), *(scale(-1.0 if k % 2 else 1.0, V) for k in range(N))]
    f: LinMap[Any, Any] = compose(list(reversed(parts)))
    g: LinMap[Any, Any] = parts[0]
    for part in parts[1:]:
        g = part @ g
    v = V.vec([1.0, 2.0])
    back = adjoint(f)
    assert f == g
    assert hash(f) == hash(g)
    assert same(f(v), scan(R, X)(v))
    assert same(back(v), suffix(R, X)(v))
    assert adjoint(back) == f
    assert pickle.loads(pickle.dumps(back)) == back
    assert len(net(f).arcs) == N + 1
    assert len(str(f).splitlines()) <= 40


def test_deep_nesting() -> None:
    """A term that is nested 2000 deep, ½·(2·(… sin)), has no depth for any pass."""
    X = Fin.of(2)
    f: Any = sin
    g: LinMap[Any, Any] = scan(R, X)
    for _ in range(1000):
        f = 0.5 * (2.0 * f)
        g = 0.5 * (2.0 * g)
    point, v = R.vec(0.3), (R**X).vec([1.0, 2.0])
    assert float(f(point)) == float(sin(point))
    assert float(grad(f)(point)) == pytest.approx(float(cos(point)))
    assert pickle.loads(pickle.dumps(f)) == f
    assert adjoint(adjoint(g)) == g
    assert same(g(v), scan(R, X)(v))
    for text in (str(f), str(g)):
        assert len(text.splitlines()) <= 40

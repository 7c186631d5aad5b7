"""f^[1](x) = (f x, f' x): the value and the derivative of the affine interpretation are those of f and f'."""

from typing import Any

from hypothesis import given, note, settings

from diff import affine, derivative, jvp
from hilbert import Vec
from tests.function_terms import function, smooth_function
from tests.strategies import Source, close, same, sources


@settings(max_examples=100)
@given(sources(smooth=True))
def test_affine_interpretation(s: Source) -> None:
    """affine(f, x), derivative(f).at(x), derivative(f).run(x) and jvp(f)(x, dx) agree, and the value is f(x)."""
    f = function(s, 3)
    note(f)
    d = derivative(f)
    x = s.vector(f.dom)
    value, linear = affine(f, x)
    dx = s.vector(linear.dom)
    assert close(value, f(x))
    assert close(d.value(x), f(x))
    assert d.at(x) == linear
    assert d.run(x)[1] == linear
    assert same(d.run(x)[0], value)
    assert close(jvp(f)(x, dx), linear(dx))
    assert close(d.uncurried(x, dx), linear(dx))
    assert s.unchanged()


@given(sources(smooth=True))
def test_a_point_computes_only_numbers(s: Source) -> None:
    """At another point the derivative has the same body, which is not copied, and other data."""
    f = function(s)
    x, y = s.vector(f.dom), s.vector(f.dom)
    at_x, at_y = affine(f, x)[1], affine(f, y)[1]
    assert at_x.body is at_y.body  # type: ignore[attr-defined]
    assert at_x == affine(f, x)[1]


@given(sources(smooth=True))
def test_second_derivative_is_symmetric(s: Source) -> None:
    """f''(x)(u)(v) = f''(x)(v)(u), by differentiating (x, u) ↦ f'(x)(u) once more."""
    f = smooth_function(s)
    note(f)
    first = jvp(f)
    x, u, v = s.vector(f.dom), s.vector(f.dom), s.vector(f.dom)
    zero = f.dom.zeros()

    def second(a: Vec[Any], b: Vec[Any]) -> Vec[Any]:
        point = first.dom.vec((x.array, a.array))
        value: Vec[Any] = affine(first, point)[1](first.dom.vec((b.array, zero.array)))
        return value

    assert close(second(u, v), second(v, u))

"""f^[1r](x) = (f x, (f' x)*): Figure 2 agrees with the adjoint of Figure 1."""

from hypothesis import given, note, settings

from adjoint import adjoint, adjoint_affine, vjp
from diff import affine, derivative
from tests.function_terms import between, function
from tests.strategies import Source, close, same, sources


@settings(max_examples=100)
@given(sources(smooth=True))
def test_adjoint_affine(s: Source) -> None:
    """The value is that of f, and the linear map is adjoint(f^[1]), by ==."""
    f = function(s, 3)
    note(f)
    x = s.vector(f.dom)
    value, back = adjoint_affine(f, x)
    due, linear = affine(f, x)
    w = s.vector(back.dom)
    assert same(value, due)
    assert back == adjoint(linear)
    assert back == adjoint(derivative(f)).at(x)
    assert close(vjp(f)(x, w), back(w))
    assert s.unchanged()


@given(sources(smooth=True))
def test_composition(s: Source) -> None:
    """(g∘f)^[1r](x) = (g (f x), a • b) for f^[1r](x) = (f x, a) and g^[1r](f x) = (g (f x), b)."""
    U, V, W = s.space(8), s.space(8), s.space(8)
    f, g = between(s, U, V, 2, kinks=True), between(s, V, W, 2, kinks=True)
    note((f, g))
    x, w = s.vector(U), s.vector(W)
    y, a = adjoint_affine(f, x)
    z, b = adjoint_affine(g, y)
    value, back = adjoint_affine(g @ f, x)
    assert close(value, z)
    assert close(back(w), (a @ b)(w))

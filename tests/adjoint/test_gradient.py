"""∇f(x) = (f'(x))*(1): gradients, Jacobians and Hessians agree with differences, with f', and with each other."""

from typing import Any

import numpy as np
from hypothesis import given, note, settings

from adjoint import adjoint, grad, hessian, jacobian, value_and_grad
from diff import affine, fun, inner, lift
from hilbert import Bool, DirectSum, Elements, Fin, Map, R, Zero
from linmap.term.net import Closed
from tests.function_terms import between, function
from tests.oracle import matrix
from tests.strategies import Source, close, elements, gathered, sources
from tests.tangents import central


def scalar_valued(s: Source, V: Any) -> Any:
    """A function V → ℝ, on a space or on a type with discrete parts."""
    return between(s, V, R, 3)


@settings(max_examples=100)
@given(sources(smooth=True, single=False))
def test_gradient(s: Source) -> None:
    """∇f(x) ⊙ dx = f'(x)(dx), = (f'(x))*(1) ⊙ dx, and is the limit of differences; value_and_grad has both."""
    f = scalar_valued(s, s.space(12))
    note(f)
    x, dx = s.vector(f.dom), s.vector(f.dom)
    g, linear = grad(f)(x), affine(f, x)[1]
    scale = max(1.0, g.norm() * dx.norm())
    assert close(g, adjoint(linear)(R.vec(1.0)))
    assert abs(g.inner(dx) - float(linear(dx))) <= 1e-10 * scale
    assert abs(g.inner(dx) - float(central(f, x, dx))) <= 1e-5 * scale
    both = value_and_grad(f)(x)
    assert close(both[0], f(x))
    assert close(both[1], g)


@settings(max_examples=100)
@given(sources(smooth=True, single=False))
def test_wrt(s: Source) -> None:
    """grad(f, wrt=k) is part k of grad(f), and 0 in a discrete part."""
    parts = [s.one_of([s.space(6), Zero(), Bool, Elements(s.index(empty=False))]) for _ in range(s.integer(1, 3))]
    V = DirectSum(tuple(parts))
    f = scalar_valued(s, V)
    note(f)
    x = s.vector(V)
    whole = grad(f)(x)
    start = 0
    for k, part in enumerate(parts):
        found = grad(f, wrt=k)(x)
        stop = start + found.space.dim
        assert found.space == part.tangent
        assert np.allclose(found.flat(), whole.flat()[start:stop], rtol=0, atol=1e-12)
        assert close(value_and_grad(f, wrt=k)(x)[1], found)
        start = stop
    assert start == whole.space.dim


@settings(max_examples=100)
@given(sources(smooth=True, single=False))
def test_jacobian(s: Source) -> None:
    """jacobian(f, x) is the matrix of f'(x), of shape (dim W, dim V); with wrt its columns; in blocks by leaves."""
    f = function(s)
    note(f)
    x = s.vector(f.dom)
    linear = affine(f, x)[1]
    assert isinstance(linear, Closed)
    due = matrix(linear)
    found = jacobian(f, x)
    assert found.shape == due.shape == (f.cod.tangent.dim, f.dom.tangent.dim)
    assert np.allclose(found, due, rtol=1e-10, atol=1e-12)
    start = 0
    wrt = list(f.dom.lenses.values()) if f.dom.names is not None else range(len(f.dom.parts))
    for k, part in zip(wrt, f.dom.parts, strict=True):
        stop = start + part.tangent.dim
        assert np.allclose(jacobian(f, x, wrt=k), due[:, start:stop], rtol=1e-10, atol=1e-12)
        start = stop
    blocks = jacobian(f, x, blocks=True)
    pairs = zip(linear.cod.leaves, blocks, strict=True)
    rows = [np.concatenate([np.zeros((leaf.size, 0)), *row], axis=1) for leaf, row in pairs]
    assert np.allclose(np.concatenate([np.zeros((0, due.shape[1])), *rows]), due, rtol=1e-10, atol=1e-12)


@settings(max_examples=60)
@given(sources(smooth=True, single=False))
def test_hessian(s: Source) -> None:
    """The Hessian is symmetric, and is the matrix of differences of the gradient."""
    f = scalar_valued(s, s.space(6))
    note(f)
    x, dx = s.vector(f.dom), s.vector(f.dom)
    found = hessian(f, x)
    size = max(1.0, float(np.max(np.abs(found), initial=0.0)))
    assert np.allclose(found, found.T, rtol=0, atol=1e-9 * size)
    assert np.allclose(found @ dx.flat(), central(grad(f), x, dx).flat(), rtol=0, atol=1e-4 * size)


@settings(max_examples=100)
@given(sources(smooth=True, single=False))
def test_shared_arguments(s: Source) -> None:
    """∇ of Σ_x f(a, b_x) is Σ_x ∇₁f(a, b_x) in the shared argument, and ∇₂f(a, b_x) in element x of the other."""
    A, B, X = s.space(6), s.space(6), s.index(3)
    f = between(s, DirectSum((A, B)), R, 3)
    note(f)
    batch = lift(f, X)
    total = fun(A, B**X)(lambda a, b: batch(a, b).sum())
    a, b = s.vector(A), s.vector(B**X)
    shared, own = A.zeros(), []
    for lane in elements(b):
        both = grad(f)(a, lane)
        shared += both[0]
        own.append(both[1])
    found = grad(total)(a, b)
    assert close(found[0], shared)
    assert close(found[1], gathered(B**X, own))


def test_a_constant_that_is_added_in_every_lane() -> None:
    """∇_k Σ_x (k + b_x) = |X|: a number that is replicated comes back as many times."""
    X = Fin.of(5)
    shifted = fun(R, R**X)(lambda k, b: lift(fun(R, R)(lambda k, b: 2.0 * k + b), X)(k, b).sum())
    assert grad(shifted)(R.vec(1.0), (R**X).zeros()).array[0] == 10.0


@given(sources(smooth=True))
def test_gradient_of_a_quadratic_form(s: Source) -> None:
    """∇(x ⊙ x) = 2·x in every space, and ∇(c ⊙ x) = c."""
    V = s.space()
    if not V.leaves:
        V = s.field
    c, x = s.vector(V), s.vector(V)
    square: Map[Any, Any] = fun(V)(lambda v: inner(v, v))
    line: Map[Any, Any] = fun(V)(lambda v: inner(c, v))
    assert close(grad(square)(x), 2.0 * x)
    assert close(grad(line)(x), c)

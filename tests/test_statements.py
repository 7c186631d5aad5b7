"""Definitions and propositions of the paper, each stated as it stands there: see docs/traceability.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from adjoint import adjoint, grad
from diff import affine, const, constant, derivative, dot, fun, jvp, log, sign, sin, sqrt, tanh
from hilbert import R32, Fin, R, SpaceError, Unit, Zero, direct_sum
from linmap import delta, equal, fork, inject, matrix, parallel, project, rep, total
from linmap.contraction import hadamard, matrix_vector, outer
from tests.function_terms import smooth_function
from tests.strategies import Source, close, sources
from tests.tangents import central

X, Y = Fin.of(2), Fin.of(3)
V, W = R**X, R**Y
RNG = np.random.default_rng(0)


def test_index_sets() -> None:
    """§2.1: |X × Y| = |X|·|Y| in row-major order, |X + Y| = |X| + |Y| with X first, |𝟏| = 1 without an axis."""
    assert ((X * Y).size, (X * Y).shape, (X * Y).position((1, 2))) == (6, (2, 3), 5)
    assert ((X + Y).size, (X + Y).shape, Unit().size, Unit().shape) == (5, (5,), 1, ())
    assert [(X * Y).position((x, y)) for x in range(2) for y in range(3)] == list(range(6))
    assert (R ** (X * Y)).vec([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).flat().tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    with pytest.raises(SpaceError):
        (X * Y).position((2, 0))


def test_spaces() -> None:
    """§2.2: dim V⊕W = dim V + dim W, dim V⊗W = dim V·dim W, dim V^X = dim V·|X|; and in which order their axes lie."""
    dims = [Z.dim for Z in (Zero(), R, direct_sum(V, W), V * W, W**X, direct_sum(V, W) ** X)]
    assert dims == [0, 1, 5, 6, 6, 10]
    assert [leaf.shape for leaf in (V * W).leaves] == [(2, 3)]
    assert [leaf.shape for leaf in (W**X).leaves] == [(2, 3)]
    assert [leaf.shape for leaf in (direct_sum(V, W) ** Y).leaves] == [(3, 2), (3, 3)]
    assert [leaf.shape for leaf in (direct_sum(V, R) * W).leaves] == [(2, 3), (3,)]
    v, w = V.vec([1.0, 2.0]), W.vec([3.0, 4.0, 5.0])
    assert v.tensor(w).dense().array.tolist() == [[3.0, 4.0, 5.0], [6.0, 8.0, 10.0]]


@given(sources(smooth=True, single=False))
def test_frechet_derivative(s: Source) -> None:
    """Def. 1.1: ‖f(v + dv) − (f(v) + A(dv))‖ / ‖dv‖ → 0 for ‖dv‖ → 0, and A is linear."""
    f = smooth_function(s)
    if not f.dom.leaves or not f.cod.leaves:
        return
    v, dv = s.vector(f.dom), s.vector(f.dom)
    A = derivative(f)(v)
    ratios = [float((f(v + t * dv) - (f(v) + A(t * dv))).norm()) / t for t in (1e-2, 1e-3, 1e-4)]
    size = 1.0 + float(f(v).norm()) + float(A(dv).norm())
    assert ratios[2] <= 0.2 * ratios[0] + 1e-9 * size
    assert close(A(2.0 * dv), 2.0 * A(dv), 1e-9)


@given(sources(smooth=True, single=False))
def test_affine_approximation(s: Source) -> None:
    """Prop. 5.1, Fig. 1: f^[1](v) = (f(v), f'(v)): the value is f's, the linear part is the slope of f.

    Of two results side by side, each stands in its place.
    """
    f = smooth_function(s)
    f = fork(f, 2.0 * f)
    v, dv = s.vector(f.dom), s.vector(f.dom)
    value, linear = affine(f, v)
    assert close(value, f(v))
    assert close(linear(dv), central(f, v, dv), 1e-5)


FUNCTIONS: dict[str, Any] = {
    "composition": tanh @ sin,
    "layer": fun(R ** (Y * X), V, W)(lambda M, x, b: tanh(M @ x + b)),
    "product": fun(V, V)(lambda x, y: x * sin(y) + (x @ y) * y),
    "copower": (sin @ tanh) ** Y,
    "constant": fun(V)(lambda x: x * const(V.vec([2.0, -1.0])) + const(V.vec([1.0, 3.0]))),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_fig_1(name: str) -> None:
    """Fig. 1: both components for a function of each kind, at a point where neither is 0: value, and slope."""
    f = FUNCTIONS[name]
    v, dv = f.dom.random(RNG), f.dom.random(RNG)
    value, linear = affine(f, v)
    assert np.allclose(value.flat(), f(v).flat(), rtol=1e-13)
    assert np.allclose(linear(dv).flat(), central(f, v, dv).flat(), rtol=1e-5, atol=1e-8)
    assert np.all(value.flat() != 0.0)
    assert np.all(linear(dv).flat() != 0.0)


@given(sources(smooth=True, single=False))
def test_constants(s: Source) -> None:
    """Thm 4.1 (2): K_w'(v) = 0, the zero map, and so it is inside of a sum; its value is w."""
    U, w = s.space(), s.vector(s.space())
    K = constant(w, U)
    v, dv = s.vector(U), s.vector(U)
    assert close(K(v), w)
    assert not np.any(derivative(K)(v)(dv).flat())
    if U.leaves:
        shifted = fun(U)(lambda x: sin(x) + const(v))
        assert close(derivative(shifted)(v)(dv), derivative(fun(U)(sin))(v)(dv))
    assert derivative(fun(R)(sign)).body.arcs == ()  # 0 everywhere, by the table


@given(sources(smooth=True, single=False))
def test_parallel_composition(s: Source) -> None:
    """Thm 4.1 (5): (Π f_x)'(⊕ v_x)(⊕ dv_x) = ⊕ f_x'(v_x)(dv_x), for tuples and for copowers."""
    f, g = smooth_function(s), smooth_function(s)
    v, w, dv, dw = s.vector(f.dom), s.vector(g.dom), s.vector(f.dom), s.vector(g.dom)
    S = direct_sum(f.dom, g.dom)
    both = derivative(parallel(f, g))(S.vec((v, w)))(S.vec((dv, dw)))
    assert close(both[0], derivative(f)(v)(dv))
    assert close(both[1], derivative(g)(w)(dw))
    vs, dvs = s.vector(f.dom**X), s.vector(f.dom**X)
    family = derivative(f**X)(vs)(dvs)
    for x in range(2):
        assert close(project(f.cod**X, x)(family), derivative(f)(project(f.dom**X, x)(vs))(project(f.dom**X, x)(dvs)))


def test_delta_gathers_a_family() -> None:
    """§2.2: Δ(⊕ f_x)(⊕ v_x) = ⊕ f_x(v_x) for a family of linear maps that are given as data."""
    family, vs = (V**Y).random(RNG), (V**Y).random(RNG)
    found = delta(hadamard(V), 0, family, Y)(vs)
    assert np.allclose(found.array, family.array * vs.array)


def test_injections_and_projections() -> None:
    """§2.2: π_y ∘ Πf ∘ ι_y = f_y, and π_z ∘ Πf ∘ ι_y = 0 for y ≠ z, if f_z(0) = 0: not for cos, say."""
    S = direct_sum(V, W)
    f, g = fun(V)(tanh), fun(W)(sin)
    v = V.random(RNG)
    around = parallel(f, g)(inject(S, 0)(v))
    assert np.array_equal(around[0].array, f(v).array)
    assert not around[1].array.any()
    shifted = parallel(f, fun(W)(lambda w: w + 1.0))(inject(S, 0)(v))
    assert shifted[1].array.tolist() == [1.0] * 3


def test_duals() -> None:
    """§6: dual(v) = (⊙v), and dual⁻¹(f) = f*(1) (Prop. 6.4): the covector of v is (⊙v), and it is v's again."""
    v, w = V.random(RNG), V.random(RNG)
    assert float(dot(v)(w)) == pytest.approx(v.inner(w))
    assert np.allclose(adjoint(dot(v))(R.vec(1.0)).array, v.array)
    quadratic = fun(V)(lambda x: x @ x)
    assert np.allclose(grad(quadratic)(v).array, adjoint(derivative(quadratic)(v))(R.vec(1.0)).array)
    assert np.allclose(grad(quadratic)(v).array, 2.0 * v.array)


def test_adjoint_by_covectors() -> None:
    """Def. 6.1: f*(w) = v ⇔ f†(⊙w) = (⊙v), where f†(κ) = κ ∘ f: composing (⊙w) with f is (⊙ f*(w))."""
    A = (R ** (Y * X)).random(RNG)
    f: Any = fun(V)(lambda x: A @ x)
    linear = derivative(f)(V.zeros())
    w, v = W.random(RNG), V.random(RNG)
    assert float((dot(w) @ linear)(v)) == pytest.approx(float(dot(adjoint(linear)(w))(v)))


@given(sources(single=False))
def test_the_adjoint_is_unique(s: Source) -> None:
    """Prop. 6.2: f* exists, and its matrix is the transposed one, which f(v) ⊙ w = v ⊙ f*(w) determines."""
    f = derivative(smooth_function(s))
    linear = f(s.vector(f.dom))
    if linear.dom.leaves and linear.cod.leaves:
        forward, back = matrix(linear, as_="array"), matrix(adjoint(linear), as_="array")
        assert np.allclose(back, forward.T, rtol=0, atol=1e-9 * (1.0 + np.max(np.abs(forward), initial=0.0)))


def test_the_adjoint_of_a_cast() -> None:
    """Prop. 6.2: f* : W ⊸ V between spaces over two fields; its results are in V, in V's precision."""
    for f in (fun(V)(lambda x: sin(x).cast(R32)), fun(R32**X)(lambda x: sin(x).cast(R))):
        linear = derivative(f)(f.dom.vec([0.5, -1.0]))
        w = f.cod.vec([1.0 / 3.0, 2.0 / 3.0])
        assert adjoint(linear)(w).array.dtype == f.dom.leaves[0].dtype
        assert np.allclose(matrix(adjoint(linear), as_="array"), matrix(linear, as_="array").T, rtol=1e-6)


def test_gateaux() -> None:
    """A.4: f'(v, dv) = lim (f(v + t·dv) − f(v)) / t is f'(v)(dv) of Fréchet; `jvp` is the function of both."""
    f = fun(V)(lambda x: tanh(x) * (x @ x))
    v, dv = V.random(RNG), V.random(RNG)
    t = 1e-6
    assert np.allclose(((f(v + t * dv) - f(v)) / t).array, derivative(f)(v)(dv).array, atol=1e-5)
    assert np.allclose(jvp(f)(v, dv).array, derivative(f)(v)(dv).array, rtol=1e-14)


def test_dual_numbers_compose() -> None:
    """A.5: (g ∘ f)^[fad](v, dv) = g^[fad](f^[fad](v, dv)) with f^[fad](v, dv) = (f(v), f'(v, dv))."""
    f, g = fun(V)(lambda x: sin(x) * x), fun(V)(tanh)
    v, dv = V.random(RNG), V.random(RNG)
    both = jvp(g @ f)(v, dv)
    assert np.allclose(both.array, jvp(g)(f(v), jvp(f)(v, dv)).array, rtol=1e-13)
    assert equal(derivative(g @ f)(v), derivative(g)(f(v)) @ derivative(f)(v))


@pytest.mark.parametrize(("p", "x"), [(log, -1.0), (sqrt, -1.0), (log, 0.0)])
def test_partial_primitives(p: Any, x: float) -> None:
    """§3.4: a primitive is a partial function: outside its domain it is NaN or ±∞, and so is its derivative."""
    with np.errstate(all="ignore"):
        assert not np.isfinite(p(R.vec(x)).array)
        assert x < 0.0 or not np.isfinite(derivative(p)(R.vec(x))(R.vec(1.0)).array)


def test_bilinearity_of_the_tensor_product() -> None:
    """§2.2, corrected: v⊗(w₁ + w₂) = v⊗w₁ + v⊗w₂, and (u₁⊗v₁) ⊙ (u₂⊗v₂) = (u₁⊙u₂)·(v₁⊙v₂)."""
    v, u, w1, w2 = V.random(RNG), V.random(RNG), W.random(RNG), W.random(RNG)
    assert np.allclose(v.tensor(w1 + w2).dense().array, (v.tensor(w1) + v.tensor(w2)).dense().array)
    assert v.tensor(w1).inner(u.tensor(w2)) == pytest.approx(v.inner(u) * w1.inner(w2))
    assert outer(V, W).cod == V * W


def test_sums_and_families() -> None:
    """§2.1: Σ_X and rep_X, (Σ v) = Σ_x v_x and (rep k)_x = k; the matrix–vector product of §3.1 is a contraction."""
    v = V.random(RNG)
    assert float(total(X)(v)) == pytest.approx(sum(v.array.tolist()))
    assert rep(X)(R.vec(2.0)).array.tolist() == [2.0, 2.0]
    assert matrix_vector(Y, X).cod == W

"""Small programs whose right value is known: one of each kind that tools get wrong.

Sections are those of `../shared/design/edges.md`. Times of solving are in `benchmarks`; values of it in
`tests/diff/test_sparse_systems.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import hilbert.all as hb
from adjoint.higher import reduce, steps
from adjoint.higher.term.claims import run
from adjoint.languages import Source
from adjoint.languages.ks import load
from diff.higher import Module
from hilbert.relation import pairs

R, R32, Fin = hb.R, hb.R32, hb.Fin
X, Y, p3 = Fin.of(4), Fin.of(2), Fin.of(3)
V, U, M3 = R**X, R**Y, R ** (Fin.of(3) * Fin.of(3))
INF = float("inf")
fold: Any = hb.fold
iterate: Any = hb.iterate
each: Any = hb.each
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def near(found: Any, due: Any, rtol: float = 1e-9, atol: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(due), rtol=rtol, atol=atol)


def slope(f: Any, x: float, field: Any = R) -> float:
    return float(hb.grad(hb.fun(field)(f))(field.vec(x)))


# --- slopes that cancel ---


def test_the_slopes_of_a_logarithm_of_a_sum() -> None:
    """Those of logaddexp add up to 1, far from 0, in single precision, and through a fold."""
    assert [slope(lambda x: hb.logaddexp(x, x), x) for x in (1e15, 1e50)] == [1.0, 1.0]
    two = hb.grad(hb.fun(R32, R32)(hb.logaddexp))(R32.vec(-1e7), R32.vec(-1e7))
    assert sum(float(k) for k in two.split()) == 1.0
    many = R32 ** Fin.of(1000)
    total = hb.fun(many)(lambda xs: fold(hb.logaddexp, R32.vec(-INF), xs))
    normal = -1e5 + np.random.default_rng(0).standard_normal(1000)
    for entries in (normal, np.full(1000, -1e5)):
        gradient = hb.grad(total)(many.vec(entries.astype(np.float32))).array
        near(gradient.sum(dtype=float), 1.0, rtol=2e-4)


def test_tails() -> None:
    """expm1, the curvature of log σ, atan2 and norms of numbers whose squares are none."""
    near(slope(hb.expm1, -40.0), np.exp(-40.0))
    f = hb.fun(R)(lambda x: hb.log(hb.sigmoid(x)))
    for second in (float(hb.grad(hb.grad(f))(R.vec(-37.43))), np.ravel(hb.hessian(f, R.vec(-37.43)))[0]):
        near(second, -5.551e-17, rtol=1e-3, atol=0.0)
    by_y, by_x = hb.grad(hb.fun(R32, R32)(hb.atan2))(R32.vec(1e-25), R32.vec(1e-25)).split()
    near([float(by_y), float(by_x)], [5e24, -5e24], rtol=1e-6)
    V32 = R32**Y
    near(hb.grad(hb.fun(V32)(lambda x: x.norm()))(V32.vec([1e25, 1e25])).array, [0.5**0.5] * 2, rtol=1e-6)


# --- what is not read ---

UNREAD: dict[str, tuple[Any, Any, list[float], list[float]]] = {
    "an entry": (U, lambda x: hb.sqrt(x)[1], [0.0, 4.0], [0.0, 0.25]),
    "maximum": (U, lambda x: hb.maximum(hb.sqrt(x) - 1.0, 0.0).sum(), [0.0, 0.0], [0.0, 0.0]),
    "relu": (U, lambda x: hb.relu(hb.log(x)).sum(), [0.0, 0.0], [0.0, 0.0]),
    "root of relu": (U, lambda x: hb.sqrt(hb.relu(x - 5.0)).sum(), [0.0, 0.0], [0.0, 0.0]),
    "pad": (U, lambda x: hb.sqrt(x.pad(1, 1)).sum(), [1.0, 4.0], [0.5, 0.25]),
    "matrix": (
        V,
        lambda x: hb.relu(hb.const((R ** (X * X)).ones()) @ hb.sqrt(x) - 100.0).sum(),
        [0.0, 4.0, 9.0, 1.0],
        [0.0] * 4,
    ),
    "relation": (U, lambda x: hb.red(pairs([(1, 1)], Y, Y))(hb.sqrt(x)).sum(), [0.0, 4.0], [0.0, 0.25]),
    "loop": (U, lambda x: iterate(hb.sqrt, x, Fin.of(2))[1], [0.0, 4.0], [0.0, 0.25 * 4.0**-0.75]),
    "number 0": (U, lambda x: (0.0 * hb.sqrt(x)).sum(), [0.0, 4.0], [0.0, 0.0]),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_not_read(name: str) -> None:
    """The slope in all forms, and their second derivatives where they are finite."""
    space, body, at, due = UNREAD[name]
    f, x, one = hb.fun(space)(body), space.vec(at), R.vec(1.0)
    near(hb.grad(f)(x).array, due)
    near(hb.vjp(f)(x, one).array, due)
    near(hb.adjoint(hb.derivative(f)(x))(one).array, due)
    near(np.ravel(hb.jacobian(f, x)), due)
    near(hb.jacobian(f, x, as_="sparse").toarray().ravel(), due)
    for push in (hb.jvp(f)(x, space.ones()), hb.derivative(f)(x)(space.ones()), hb.taylor(f, x, space.ones(), 2)[1]):
        near(push.array, sum(due))
    dense, sparse = hb.hessian(f, x), hb.hessian(f, x, as_="sparse").toarray()
    assert np.isfinite(dense).all()
    near(sparse, dense)


def test_one_entry_of_a_diagonal_is_infinite() -> None:
    """Beside it are zeros."""
    for as_ in ("array", "sparse"):
        J: Any = hb.jacobian(hb.fun(U)(hb.sqrt), U.vec([0.0, 4.0]), as_=as_)
        near(J if as_ == "array" else J.toarray(), [[INF, 0.0], [0.0, 0.25]])


def test_zeros_that_are_values() -> None:
    """(√x)² is 0·∞ by value; `structure` of 0·√x says zero."""
    assert np.isnan(slope(lambda x: hb.sqrt(x) * hb.sqrt(x), 0.0))
    assert str(hb.structure(hb.derivative(hb.fun(U)(lambda x: 0.0 * hb.sqrt(x))))) == "zero"


def test_rows_beside_one_that_is_zero() -> None:
    """Norms of rows: one of them, the largest, some."""
    space = R ** (p3 * Y)
    A = space.vec([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]])
    unit = np.array([[0.0, 0.0], [0.6, 0.8], [0.0, 0.0]])
    reads: tuple[Any, ...] = (lambda n: n[1], lambda n: n.max(), lambda n: n.crop(1, 2).sum())
    norms: Any = hb.fun(space)(lambda A: A.norm(over=Y))
    for read in reads:
        near(hb.grad(hb.fun(norms.cod)(read) @ norms)(A).array, unit)


def test_the_farthest_pair() -> None:
    """Distances of points to themselves are not read."""
    p, q = Fin.of(5), Fin.of(2)
    points = np.random.default_rng(1).normal(size=(5, 2))

    def far(A: Any) -> Any:
        dist = each(lambda r: each(lambda s: (r - s).norm(), A.rows()), A.rows())
        return hb.uncurry((R**p) ** p)(dist).max()

    gradient = hb.grad(hb.fun(R ** (p * q))(far))((R ** (p * q)).vec(points)).array
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    i, j = np.unravel_index(apart.argmax(), apart.shape)
    due = np.zeros((5, 2))
    due[i] = (points[i] - points[j]) / apart[i, j]
    due[j] = -due[i]
    near(gradient, due)


# --- log space ---


@pytest.mark.parametrize(("states", "steps"), [(3, 4), (5, 7)])
def test_a_left_to_right_model(states: int, steps: int) -> None:
    """Transitions that are not there have logarithm −∞ and slope 0; the others are as with −10³⁰ for it."""
    S, T = Fin.of(states), Fin.of(steps)
    space = R ** (S * S)
    rng = np.random.default_rng(2)
    there = np.triu(np.ones((states, states), bool)) & ~np.triu(np.ones((states, states), bool), 2)
    emitted = hb.const(((R**S) ** T).vec(rng.normal(size=(steps, states))))
    first = hb.const((R**S).vec([0.0, *[-INF] * (states - 1)]))

    def likelihood(A: Any) -> Any:
        def step(alpha: Any, e: Any) -> Any:
            return each(lambda column: (alpha + column).logsumexp(), A.T.rows()) + e

        return fold(step, first, emitted).logsumexp()

    f = hb.grad(hb.fun(space)(likelihood))
    logs = rng.normal(size=(states, states))
    found, due = (f(space.vec(np.where(there, logs, none))).array for none in (-INF, -1e30))
    near(found[there], due[there])
    assert not found[~there].any()


def test_an_empty_measure() -> None:
    """Its logarithm is −∞, its gradient 0, its softmax 0."""
    nothing = V.vec([-INF] * 4)
    f = hb.fun(V)(lambda x: x.logsumexp())
    assert float(f(nothing)) == -INF
    assert not hb.grad(f)(nothing).array.any()
    assert not hb.fun(V)(lambda x: x.softmax())(nothing).array.any()


# --- linear algebra ---


def test_determinants_of_singular_matrices() -> None:
    """The adjugate; of a batch, each its own."""
    M2, M4 = R ** (Y * Fin.of(2)), R ** (X * Fin.of(4))
    near(hb.grad(hb.fun(M2)(hb.det))(M2.vec([[1.0, 2.0], [2.0, 4.0]])).array, [[4.0, -2.0], [-2.0, 1.0]])
    near(hb.grad(hb.fun(M4)(hb.det))(M4.zeros()).array, np.zeros((4, 4)))
    batch = np.stack([[[1.0, 2.0], [2.0, 4.0]], [[2.0, 1.0], [0.0, 3.0]]])
    both = (hb.grad(hb.fun(M2)(hb.det)) ** Fin.of(2))((M2 ** Fin.of(2)).vec(batch)).array
    near(both, [[[4.0, -2.0], [-2.0, 1.0]], [[3.0, 0.0], [-1.0, 2.0]]])


def test_a_function_of_a_matrix_with_equal_eigenvalues() -> None:
    """exp at Q·diag(2, 2, 5)·Qᵀ for six Q: the derivative of expm."""
    f = hb.fun(M3)(lambda A: hb.matrix_function(hb.fun(R)(hb.exp), A))
    for _ in range(6):
        q, e = np.linalg.qr(RNG.normal(size=(3, 3)))[0], RNG.normal(size=(3, 3))
        A, E = (q * [2.0, 2.0, 5.0]) @ q.T, e + e.T
        near(hb.jvp(f)(M3.vec(A), M3.vec(E)).array, scipy.linalg.expm_frechet(A, E)[1], rtol=1e-9, atol=1e-9)


def test_a_projector_on_close_levels() -> None:
    """On two of four levels that agree to 10⁻¹⁵: the gap to the third decides."""
    levels, q = np.array([0.0, 1e-15, 1.0, 2.5]), np.linalg.qr(RNG.normal(size=(4, 4)))[0]
    M4, step = R ** (X * Fin.of(4)), hb.fun(R)(lambda w: hb.where(w < 0.5, lambda: 1.0 + 0.0 * w, lambda: 0.0 * w))
    e = RNG.normal(size=(4, 4))
    A, E = (q * levels) @ q.T, e + e.T
    found = hb.jvp(hb.fun(M4)(lambda A: hb.matrix_function(step, A)))(M4.vec(A), M4.vec(E)).array
    inner = q.T @ E @ q
    due = np.zeros((4, 4))
    for i in range(2):
        for j in range(2, 4):
            due[i, j] = due[j, i] = inner[i, j] / (levels[i] - levels[j])
    near(found, q @ due @ q.T, rtol=1e-7, atol=1e-9)


def test_the_polar_factor_of_an_orthogonal_matrix() -> None:
    """A·(AᵀA)^{−1/2}: its derivative takes the antisymmetric part, Q·(QᵀE − EᵀQ)/2."""
    q, e = np.linalg.qr(RNG.normal(size=(3, 3)))[0], RNG.normal(size=(3, 3))
    polar = hb.fun(M3)(lambda A: hb.contract("ij,jk->ik", A, hb.inv_sqrtm(hb.contract("ji,jk->ik", A, A))))
    near(polar(M3.vec(q)).array, q)
    near(hb.jvp(polar)(M3.vec(q), M3.vec(e)).array, q @ (q.T @ e - e.T @ q) / 2)


def test_squares_of_eigenvalues() -> None:
    """Σw² is ‖A‖² on symmetric matrices: at I its gradient is 2I."""
    f = hb.fun(M3)(lambda A: hb.square(hb.eigh(A)[0]).sum())
    near(hb.grad(f)(M3.vec(np.eye(3))).array, 2.0 * np.eye(3))


def test_second_derivatives_of_squares_of_eigenvalues() -> None:
    """2·id on symmetric matrices."""
    f = hb.fun(M3)(lambda A: hb.square(hb.eigh(A)[0]).sum())
    e = np.arange(9.0).reshape(3, 3)
    near(hb.jvp(hb.grad(f))(M3.vec(np.eye(3)), M3.vec(e + e.T)).array, 2.0 * (e + e.T))


# --- buffers ---


def test_a_constant_is_a_copy() -> None:
    """What is done to the buffer afterwards is not done to the function."""
    buffer, W = np.ones(3), R**p3
    c = W.vec(buffer)
    f = hb.fun(W)(lambda w: hb.const(c) @ w + hb.exp(hb.const(c)).sum())
    before = float(f(W.ones()))
    buffer[:] = 0.0
    assert float(f(W.ones())) == before == 3.0 + 3.0 * np.exp(1.0)


# --- text ---

TEXT = r"""
reduce pull(\l. l (\m n. m*m + n) 0, cov(1)) (\f d. f (-2) (f 1 d)) = ev(\m n. m*m + n; ev(0; cov(1)))
pair pull(\u. pull(\x. u (\a. a*x), cov(1)) 2, \c. eps(1)) (\h. h (h 1)) with (\h. h 3) = 3
"""


def test_pullbacks() -> None:
    """One normal form, the last of the steps too; dv at a function."""
    report = run(TEXT)
    assert all(result.found is None for result in report.results), str(report)
    term = Module().term(TEXT.splitlines()[1].partition("reduce ")[2].partition(" =")[0])[0]
    *_, last = steps(term)
    assert str(last.term) == str(reduce(term))


def test_ks() -> None:
    """`Tuple` is `(Tuple)`; a sparse tensor of indexes and values is added up at them."""
    text = """(def f Float ((x : Float) (b : Tuple)) x)
        (def g (Vec Float) (x : Float) (buildFromSparse (constVec 5 (tuple)) 4 (lam (i : Integer)
          (index i (Vec_init (tuple 1 1.0) (tuple 3 3.0) (tuple 0 5.0) (tuple 1 1.5))))))"""
    found = load([Source("t.ks", text)])
    assert found.functions["f"].signature == "(Tuple Float (Tuple)) -> Float"
    assert found.expression("(g 1.0)") == "[5.0, 2.5, 0.0, 3.0, 0.0]"

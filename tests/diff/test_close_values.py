"""Derivatives of `eigh` and `svd` where values are close or equal: what is right there, and what warns."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from diff.vocabulary import close_values, spectra
from hilbert.all import R32, Fin, R

N = 4
M = R ** (Fin.of(N) * Fin.of(N))
RNG = np.random.default_rng(5)
Q = np.linalg.qr(RNG.normal(size=(N, N)))[0]
E, H = (M.vec(x + x.T) for x in RNG.normal(size=(2, N, N)))
SPECTRA = {
    "two": [1.0, 1.0, 2.0, 3.0],
    "two and two": [1.0, 1.0, 2.0, 2.0],
    "all": [2.0] * 4,
    "nearly": [1.0, 1.0 + 1e-15, 1.0 + 1e-9, 3.0],
    "small gaps": [1.0, 1.0 + 3e-8, 1.0 + 1e-7, 1.0 + 2e-6],
    "of both signs": [-2.0, -2.0, 1.0, 1.0],
    "none": [-1.0, 0.5, 2.0, 4.0],
}
FUNCTIONS: dict[str, Any] = {
    "square": hb.square,
    "exp": hb.exp,
    "a trace": lambda x: x,
}
quiet = pytest.mark.filterwarnings("error")


def at(w: Any, q: Any = Q) -> Any:
    """A symmetric matrix with eigenvalues w."""
    return M.vec((q * np.array(w)) @ q.T)


def of_values(g: Any) -> Any:
    """Σ g(w)."""
    return hb.fun(M)(lambda a: g(hb.eigh(a)[0]).sum())


def close(found: Any, due: Any, scale: float | None = None) -> None:
    """To 10⁻⁷ of the largest entry."""
    due = np.asarray(due)
    np.testing.assert_allclose(np.asarray(found), due, atol=1e-7 * (scale or max(1.0, np.abs(due).max())))


@quiet
@pytest.mark.parametrize("name", FUNCTIONS)
def test_sums_over_eigenvalues(name: str) -> None:
    """Σ g(w) is tr g(A): value, gradient, second derivative in all forms are those of `matrix_function`, silently."""
    g = FUNCTIONS[name]
    f, due = of_values(g), hb.fun(M)(lambda a: hb.matrix_function(hb.fun(R)(g), a).trace())
    forms: Any = [hb.grad(f), hb.hessian, hb.jvp(hb.grad(f)), hb.vjp(hb.grad(f)), hb.jvp(hb.jvp(f))]
    hess: Any = hb.jvp(hb.grad(due))
    zero = M.zeros()
    for A in (*map(at, SPECTRA.values()), at([2.0] * N, np.eye(N))):
        np.testing.assert_allclose(f(A).array, due(A).array, rtol=1e-13, atol=1e-13)
        slope = hb.grad(due)(A).array
        np.testing.assert_allclose(forms[0](A).array, slope, rtol=1e-12, atol=1e-12)
        along = hess(A, E).array
        close(hb.hessian(f, A), hb.hessian(due, A))
        close(forms[2](A, E).array, along)
        close(forms[3](A, E).array, along)
        close(forms[4]((A, E), (H, zero)).array, np.vdot(along, H.array))
        found = [float(c) for c in hb.taylor(f, A, E, 2)]
        close(found, [float(due(A)), np.vdot(slope, E.array), np.vdot(along, E.array) / 2])


@quiet
@pytest.mark.parametrize(("w", "error"), [([1e-10, 2e-10], 1e-5), ([1e-8, 1e-8], 2e-3), ([1e-4, 1e-4], 2e-5)])
def test_eigenvalues_far_below_the_largest(w: Any, error: float) -> None:
    """Σ log w is log det A: its second derivative is as good as its condition lets it be."""
    w = np.array([*w, 1.0, 2.0])
    inner = Q.T @ E.array @ Q
    due = -Q @ (inner / np.outer(w, w)) @ Q.T
    found = hb.jvp(hb.grad(of_values(hb.log)))(at(w), E).array
    np.testing.assert_allclose(found, due, atol=error * np.abs(due).max())


@quiet
def test_lanes() -> None:
    """In lanes each matrix is by itself."""
    f = of_values(hb.exp)
    L = Fin.of(len(SPECTRA))
    many = (M**L).vec(np.stack([at(w).array for w in SPECTRA.values()]))
    made: Any = hb.lift(hb.jvp(hb.grad(f)), L, over=(0, 1))(many, (M**L).vec(np.stack([E.array] * L.size)))
    for row, w in zip(made.array, SPECTRA.values(), strict=True):
        close(row, hb.jvp(hb.grad(f))(at(w), E).array)


@quiet
def test_sums_over_singular_values() -> None:
    """Σ σ² is ‖A‖², at 0, too; Σ σ at equal singular values is tr √(AᵀA); of square, tall and wide matrices."""
    for rows, columns in ((4, 4), (3, 4), (3, 2)):
        V = R ** (Fin.of(rows) * Fin.of(columns))
        q = np.linalg.qr(RNG.normal(size=(max(rows, columns),) * 2))[0][:rows, :columns]
        squares = hb.fun(V)(lambda a: (hb.svd(a)[1] * hb.svd(a)[1]).sum())
        for a in (q, 0.0 * q, q @ np.diag([2.0, 2.0, 0.0, 0.0, 1.0][:columns])):
            close(hb.hessian(squares, V.vec(a)), 2.0 * np.eye(V.dim))
            np.testing.assert_allclose(hb.grad(squares)(V.vec(a)).array, 2.0 * a, atol=1e-13)
    nuclear = hb.fun(M)(lambda a: hb.svd(a)[1].sum())
    due = hb.fun(M)(lambda a: hb.sqrtm(a.T @ a).trace())
    for name in ("two", "all", "small gaps"):
        A = M.vec(at(SPECTRA[name]).array @ Q)
        close(hb.hessian(nuclear, A), hb.hessian(due, A))


def projector(a: Any) -> Any:
    """On the eigenvectors of the two lowest eigenvalues."""
    two = hb.eigh(a)[1] * hb.const(M.vec(np.array([[1.0, 1.0, 0.0, 0.0]] * N)))
    return two @ two.T


@pytest.mark.filterwarnings("ignore:eigh")
@pytest.mark.parametrize("gap", [0.0, 1e-15, 1e-12, 1e-9, 1e-6])
def test_a_projector_on_close_values(gap: float) -> None:
    """The gap to the third value decides, in all forms."""
    f = hb.fun(M)(projector)
    A = at([1.0, 1.0 + gap, 2.0, 3.5])
    w, u = np.linalg.eigh(A.array)
    inner = u.T @ E.array @ u
    factor = np.zeros((N, N))
    factor[:2, 2:] = 1.0 / (w[:2, None] - w[None, 2:])
    due = u @ (inner * (factor + factor.T)) @ u.T
    close(hb.jvp(f)(A, E).array, due)
    close(hb.vjp(f)(A, E).array, due)
    close(hb.jacobian(f, A) @ E.array.ravel(), due.ravel())


@quiet
def test_what_is_not_asked_for_does_not_warn() -> None:
    """The eigenvector of a value by itself has its gradient, whatever the others do; nor do values far apart."""
    last = hb.fun(M)(lambda a: hb.eigh(a)[1][:, 3])
    square = hb.fun(M)(lambda a: last(a) @ (hb.const(H) @ last(a)))
    A = at([1.0, 1.0, 1.0, 3.0])
    t = 1e-5
    step = [float(square(M.vec(A.array + s * t * E.array))) for s in (-1, 1)]
    assert np.vdot(hb.grad(square)(A).array, E.array) == pytest.approx((step[1] - step[0]) / (2 * t), rel=1e-7)
    whole = hb.fun(M)(lambda a: projector(a).sum() + hb.svd(a)[0].sum())
    far = at(SPECTRA["none"])
    for made in (hb.grad(whole)(far), hb.jvp(whole)(far, E), *hb.taylor(whole, far, E, 2)):
        assert np.isfinite(made.array).all()
    assert np.isfinite(hb.hessian(whole, far)).all()
    assert np.isfinite(hb.jacobian(whole, far)).all()


FORMS: dict[str, Any] = {
    "grad": lambda f, A: hb.grad(hb.fun(M)(lambda a: f(a).sum()))(A),
    "jvp": lambda f, A: hb.jvp(f)(A, E),
    "vjp": lambda f, A: hb.vjp(f)(A, E),
    "jacobian": hb.jacobian,
}


@pytest.mark.parametrize("form", FORMS)
def test_one_warning_for_each_step(form: str) -> None:
    """U·diag(eʷ)·Uᵀ at equal eigenvalues warns once, with the line of `eigh`; another line warns again."""
    A = at([2.0, 2.0, 5.0, 6.0])

    def function() -> Any:
        def body(a: Any) -> Any:
            w, u = hb.eigh(a).split()
            return u @ hb.exp(w).diag() @ u.T

        return hb.fun(M)(body)

    where = function.__code__.co_firstlineno + 2
    spectra._told.clear()  # what was said in other forms
    text = rf"eigh: eigenvalues are equal(.|\n)*test_close_values.py:{where} in "
    with pytest.warns(RuntimeWarning, match=text) as found:
        assert [FORMS[form](function(), A) for _ in range(3)]
    assert len(found) == 1
    with pytest.warns(RuntimeWarning, match="svd: singular values are equal, or 0"):
        FORMS[form](hb.fun(M)(lambda a: hb.svd(a)[0]), A)


def test_third_derivatives() -> None:
    """NaN at close values, a number elsewhere."""
    f = of_values(hb.exp)
    for w, known in (([1.0, 1.0, 2.0, 3.0], False), (SPECTRA["none"], True)):
        *some, third = hb.taylor(f, at(w), E, 3)
        assert all(np.isfinite(one.array).all() for one in some)
        assert np.isfinite(third.array) == known
        g: Any = hb.grad(hb.fun(M)(lambda a: hb.jvp(hb.grad(f))(a, E).sum()))
        assert np.isfinite(g(at(w)).array).all() == known
    due = hb.taylor(hb.fun(M)(lambda a: hb.matrix_function(hb.exp, a).trace()), at(SPECTRA["none"]), E, 3)[3]
    close(third.array, due.array)


def test_pickled() -> None:
    """The rules go to another process by their names."""
    for f in (of_values(hb.exp), hb.fun(M)(lambda a: hb.svd(a)[0].sum())):
        for g in (hb.grad(f), hb.jvp(hb.grad(f))):
            assert pickle.loads(pickle.dumps(g)) == g


def test_single_precision() -> None:
    """In ℝ₃₂."""
    V = R32 ** (Fin.of(3) * Fin.of(3))
    f = hb.fun(V)(lambda a: (hb.eigh(a)[0] * hb.eigh(a)[0]).sum())
    one, e = V.vec(np.eye(3, dtype=np.float32)), np.array([[1, 2, 0], [2, 0, 1], [0, 1, 3]], np.float32)
    np.testing.assert_allclose(hb.jvp(hb.grad(f))(one, V.vec(e)).array, 2 * e, atol=1e-2)


def _all_of(found: Any) -> Any:
    return found if isinstance(found, tuple) else (found,)


@quiet
def test_where_nobody_can_ask_for_values() -> None:
    """Under JAX's jit the numbers are those of numpy, and nothing warns."""
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):  # noqa: FBT003
        for name in ("apart", "all_gaps", "all_gaps_of_pairs"):
            value = getattr(close_values, name)
            w = np.array([2.0, 1.0, 1.0] if name == "all_gaps_of_pairs" else [1.0, 1.0, 2.0])
            due, found = value(np, w), jax.jit(lambda w, of=value: of(jax.numpy, w))(w)
            for one, other in zip(_all_of(due), _all_of(found), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-14)
        look: Any = spectra.CLOSE_EIGENVALUES.looks
        jax.jit(lambda a: look(jax.numpy, a, "a place under jit"))(np.eye(2))
    with pytest.warns(RuntimeWarning, match="a place under jit"):
        look(np, np.eye(2), "a place under jit")

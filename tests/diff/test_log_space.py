"""Logarithms of measures: entries −∞ are 0 in the measure, and where all are, the measure is empty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert.all import R32, Fin, R

NONE = -np.inf
NAMES = ("logsumexp", "softmax", "log_softmax")


def function(name: str, V: Any, over: Any) -> Any:
    """The function along an axis."""
    return hb.fun(V)(lambda a: getattr(a, name)(over=over))


def measures(rng: np.random.Generator, axis: int) -> Any:
    """Forty rows of four logarithms: any set of them −∞, far apart or equal; along an axis."""
    a = rng.normal(size=(40, 4)) * rng.choice([0.0, 1.0, 30.0, 1e5], size=(40, 1))
    a[np.array([[k >> bit & 1 for bit in range(4)] for k in range(40)]) == 1] = NONE
    return a if axis else a.T


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("field", "axis"), [(R, 1), (R, 0), (R32, 1)])
def test_nothing_is_nothing(name: str, field: Any, axis: int) -> None:
    """Derivatives of orders 1 and 2 are those with −10³⁰ for −∞; of an empty measure they are 0, its parts 0 or −∞."""
    rng = np.random.default_rng(3)
    a = measures(rng, axis).astype(field.dtype)
    V: Any = field ** (Fin.of(a.shape[0]) * Fin.of(a.shape[1]))
    f: Any = function(name, V, axis)
    x, near = V.vec(a), V.vec(np.where(np.isinf(a), np.array(-1e30, field.dtype), a))
    empty = np.isinf(a).all(axis, keepdims=True)
    y, due = f(x).array, f(near).array
    here = empty if name != "logsumexp" else empty.squeeze(axis)
    due = np.where(here, 0.0 if name == "softmax" else NONE, np.where(due < -1e29, NONE, due))
    np.testing.assert_allclose(y, due, rtol=1e-5 if field == R32 else 1e-12)
    u, v, w = V.random(rng), V.random(rng), f.cod.random(rng)
    d: Any = hb.jvp(f)
    r: Any = hb.vjp(f)
    dd: Any = hb.jvp(d)
    rr: Any = hb.vjp(r)
    zeros = V.zeros()
    for made, expected in (
        (d(x, u), d(near, u)),
        (r(x, w), r(near, w)),
        (dd((x, u), (v, zeros)), dd((near, u), (v, zeros))),
        (rr((x, w), u).split()[0], rr((near, w), u).split()[0]),
    ):
        lanes = np.broadcast_to(empty if made.array.ndim == 2 else empty.squeeze(axis), made.array.shape)
        found, right = made.array, np.where(lanes, 0.0, expected.array)
        np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5 if field == R32 else 1e-12)
    for one in hb.taylor(f, x, u, 3)[1:]:
        assert np.isfinite(one.array).all()


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_measure_on_other_arrays(name: str) -> None:
    """The same value, and gradient, on arrays of JAX."""
    jnp = pytest.importorskip("jax").numpy
    a = np.array([[NONE, NONE, NONE], [1.0, NONE, 2.0]], np.float32)
    V = R32 ** (Fin.of(2) * Fin.of(3))
    f = function(name, V, 1)
    w = f.cod.random(np.random.default_rng(0))
    for g, args in ((f, ()), (hb.vjp(f), (w,))):
        there = [one.space.vec(jnp.asarray(one.array)) for one in (V.vec(a), *args)]
        np.testing.assert_allclose(np.asarray(g(*there).array), g(V.vec(a), *args).array, rtol=1e-5)


@pytest.mark.filterwarnings("error")
def test_an_empty_measure_does_not_warn() -> None:
    """No logarithm of 0 is computed."""
    V = R ** (Fin.of(2) * Fin.of(2))
    for name in NAMES:
        assert not np.isnan(function(name, V, 1)(V.full(NONE)).array).any()


def test_the_text_of_a_log_softmax() -> None:
    """A function along axes, as softmax is; its derivative says where there is none."""
    f = hb.fun(R ** Fin.of(3))(lambda x: x.log_softmax())
    assert str(f) == "x ↦ log_softmax x"
    assert str(hb.derivative(f)) == "ρ[logsumexp x ≠ (−inf)] − rep•(softmax x ⊙)"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("field", [R, R32])
def test_a_fold_from_nothing(field: Any) -> None:
    """logaddexp of two empty measures has slopes 0, at every order; so a fold from −∞ is logsumexp, and its slopes."""
    V, rng = field ** Fin.of(6), np.random.default_rng(2)
    f = hb.fun(V)(lambda xs: hb.fold(lambda a, b: hb.logaddexp(a, b), field.vec(NONE), xs))  # noqa: PLW0108
    g = hb.fun(V)(lambda xs: xs.logsumexp())
    exact = 1e-5 if field == R32 else 1e-13
    for row in measures(rng, 1)[:32]:
        x, u = V.vec(np.append(row, [NONE, row[0]]).astype(field.dtype)), V.random(rng)
        size = exact * max(1.0, float(np.abs(row[np.isfinite(row)]).max(initial=0.0)))
        made = hb.grad(f)(x).array
        assert made.sum() == pytest.approx(float(not np.isinf(float(g(x)))), abs=exact)
        np.testing.assert_allclose(made, hb.grad(g)(x).array, atol=size)
        np.testing.assert_allclose(hb.hessian(f, x), hb.hessian(g, x), atol=size)
        for one, due in zip(hb.taylor(f, x, u, 3), hb.taylor(g, x, u, 3), strict=True):
            np.testing.assert_allclose(one.array, due.array, atol=50 * size, rtol=exact)


def left_to_right(states: int, steps: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """log p of a sequence as a function of the log transitions, a point with −∞ below the diagonal, the emissions."""
    S, T = Fin.of(states), Fin.of(steps)
    M = R ** (S * S)
    emissions = ((R**S) ** T).vec(rng.normal(size=(steps, states)))
    start = np.full(states, NONE)
    start[0] = 0.0

    def likelihood(A: Any) -> Any:
        def step(alpha: Any, e: Any) -> Any:
            return (alpha.rep(M, over=1) + A).logsumexp(over=0) + e

        return hb.fold(step, hb.const((R**S).vec(start)), hb.const(emissions)).logsumexp()

    a = np.where(np.triu(np.ones((states, states))) > 0, rng.normal(size=(states, states)), NONE)
    return hb.fun(M)(likelihood), M.vec(a), M.vec(np.where(np.isinf(a), -1e30, a))


@pytest.mark.parametrize(("states", "steps"), [(1, 1), (3, 2), (3, 6), (5, 7)])
def test_hidden_markov_model(states: int, steps: int) -> None:
    """The gradient in finite transitions is that with −10³⁰ in place of −∞, and 0 in the others; so is the Hessian."""
    f, A, near = left_to_right(states, steps, np.random.default_rng(states + steps))
    np.testing.assert_allclose(float(f(A)), float(f(near)))
    made = hb.grad(f)(A).array
    np.testing.assert_allclose(made, hb.grad(f)(near).array, atol=1e-14)
    assert not made[np.isinf(A.array)].any()
    np.testing.assert_allclose(made.sum(), steps)
    np.testing.assert_allclose(hb.hessian(f, A), hb.hessian(f, near), atol=1e-12)

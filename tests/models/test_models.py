"""The example models: values and gradients beside JAX, and the reference values of ADBench."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from scipy.sparse.linalg import lsmr

import hilbert.all as hb
from docs.examples import (
    bundle_adjustment,
    convolutional,
    gaussian_process,
    gmm,
    hand,
    heat,
    kalman,
    logistic,
    lstm,
    ratings,
    transformer,
)
from hilbert.relation import labels
from tests.models import peers

ADBENCH = Path(__file__).parents[1] / "data" / "adbench"


def near(found: Any, due: Any, tolerance: float = 1e-10) -> None:
    """The largest difference, relative to the largest entry."""
    a, b = np.asarray(found), np.asarray(due)
    assert a.shape == b.shape
    assert np.max(np.abs(a - b), initial=0.0) <= tolerance * max(1.0, np.max(np.abs(b), initial=0.0))


def beside(f: hb.Map[Any, Any], peer: Callable[..., Any], *args: hb.Vec[Any], fixed: Sequence[Any] = ()) -> None:
    """Value and gradient of f at all its arguments, real ones, are those of `peer` at their arrays and at `fixed`."""
    leaves = [leaf for a in args for leaf in a.leaves]
    value, slopes = jax.jit(jax.value_and_grad(peer, tuple(range(len(leaves)))))(*leaves, *fixed)
    near(f(*args).array, value)
    gradient: hb.Vec[Any] = hb.grad(f)(*args)
    assert len(gradient.leaves) == len(slopes)
    for found, due in zip(gradient.leaves, slopes, strict=True):
        near(found, due)


# --- mixture of Gaussians ---


def test_mixture_of_adbench() -> None:
    """gmm/test.txt: the values of ADBench to 1e-8."""
    f, gaussians, xs = gmm.read((ADBENCH / "gmm_test.txt").read_text("utf-8"))
    assert abs(float(f(gaussians, xs)) - 8.07380408004975791) <= 1e-8
    first = hb.grad(f, 0)(gaussians, xs).leaves[0]
    near(first, [0.108662855508652456, -0.741270039523898472, 0.632607184015246071], 1e-8)


@pytest.mark.parametrize(("d", "k", "n"), [(3, 4, 7), (1, 1, 1), (2, 1, 0)])
def test_mixture(d: int, k: int, n: int) -> None:
    """Random mixtures, of one coordinate, one component, no point too."""
    f = gmm.objective(d, k, n, 1.3, 2)
    beside(f, peers.mixture(1.3, 2), *(part.random(np.random.default_rng(0)) for part in f.dom.parts))


# --- logistic regression ---


def test_logistic() -> None:
    """The Hessian is AᵀDA + 1 to 1e-12, by one product of n×m×n; Newton's method ends at the minimum."""
    A, y = logistic.data()
    f = logistic.loss(A, y)
    w = f.dom.random(np.random.default_rng(0), scale=0.1)
    beside(f, peers.logistic, w, fixed=(A.array, y.array))
    p = 1 / (1 + np.exp(-(A @ w).array))
    due = (A.array.T * (p * (1 - p))) @ A.array + np.eye(logistic.feature.size)
    near(hb.hessian(f, w), due, 1e-12)
    found = hb.cost(hb.derivative(hb.grad(f)), "array")
    n, m = logistic.feature.size, logistic.case.size
    assert found.matrix.flops < 2.2 * n * m * n
    w = f.dom.zeros()
    for _ in range(10):
        w = w - f.dom.vec(np.linalg.solve(hb.hessian(f, w), hb.grad(f)(w).array))
    assert hb.grad(f)(w).norm() < 1e-8


# --- Gaussian process ---


def test_gaussian_process() -> None:
    """The likelihood of a kernel, and its gradient."""
    rng = np.random.default_rng(0)
    V = hb.R ** hb.Fin(gaussian_process.Sample, 40)
    t, y = V.random(rng), V.random(rng)
    k = gaussian_process.K.vec((0.2, -0.1, -0.7))
    f = gaussian_process.log_likelihood(t, y)
    beside(f, peers.gaussian_process, k, fixed=(t.array, y.array))
    assert hb.check_derivative(f, k)


# --- networks ---


def test_transformer() -> None:
    """The loss of a block, and its gradient in all parameters."""
    rng = np.random.default_rng(0)
    p = hb.initial(transformer.P, rng, transformer.start) + 0.1 * transformer.P.random(rng)
    beside(transformer.loss, peers.transformer, p, transformer.X.random(rng), transformer.X.random(rng))


def test_a_block_does_not_look_ahead() -> None:
    """The last token changes the last row only."""
    rng = np.random.default_rng(1)
    p, x = hb.initial(transformer.P, rng, transformer.start), transformer.X.random(rng)
    changed = x.array.copy()
    changed[-1] += 1.0
    difference = transformer.block(p, x).array - transformer.block(p, transformer.X.vec(changed)).array
    assert not difference[:-1].any()
    assert difference[-1].all()


def test_convolutional() -> None:
    """The mean loss of a batch, and its gradient in kernels, biases and weights."""
    rng = np.random.default_rng(0)
    p = convolutional.P.random(rng, scale=0.3)
    samples = convolutional.Sample**convolutional.batch
    x, labels = rng.random((32, 8, 8, 1)), rng.integers(0, 10, 32)
    f = hb.fun(convolutional.P)(lambda p: convolutional.objective(p, samples.vec((x, labels))))
    beside(f, peers.convolutional(labels), p, fixed=(x,))


# --- loops ---


def test_lstm_of_adbench() -> None:
    """lstm_l2_c1024: the loss of ADBench to 1e-8, and the gradient in all parameters."""
    f, point = lstm.read((ADBENCH / "lstm_l2_c1024.txt").read_text("utf-8"))
    assert abs(float(f(point)) - 0.66666518) <= 1e-8
    net, *data = point.split()
    whole: hb.Map[Any, Any] = f
    beside(hb.fun(net.space)(lambda p: whole(p, *data)), peers.lstm, net, fixed=point.leaves[len(net.leaves) :])


def test_the_loop_is_one_step() -> None:
    """The gradient has as many steps for a text of 10 characters as for one of 1,000."""
    counts = {n: len(hb.program(hb.grad(lstm.loss(2, 5, n), 0)).steps) for n in (10, 1000)}
    assert len(set(counts.values())) == 1


# --- bundle adjustment ---


def test_bundle_adjustment_of_adbench() -> None:
    """ba/test.txt: residuals and the first row of the Jacobian as in ADBench, to 1e-8."""
    f, scene = bundle_adjustment.read((ADBENCH / "ba_test.txt").read_text("utf-8"))
    errors, weights = f(scene).leaves
    near(errors[0], [-0.269048849235189402, 0.259944792677901881], 1e-8)
    near(weights[0], 0.826092651515999976, 1e-8)
    jacobian = hb.matrix(hb.derivative(f).at(scene), as_="sparse")
    near(jacobian.toarray()[0, :3], [228.877202208246757, 634.574811495545418, -782.222866259340549], 1e-8)
    near(jacobian.toarray(), hb.jacobian(f, scene), 1e-12)


def test_bundle_adjustment() -> None:
    """Random cameras, one of them at rotation 0: residuals and Jacobian are JAX's, with 15 entries in a row at most."""
    rng = np.random.default_rng(0)
    camera_of, point_of, features = rng.integers(0, 4, 15), rng.integers(0, 6, 15), rng.random((15, 2))
    f = bundle_adjustment.residuals(4, 6, camera_of, point_of, features)
    scene = f.dom.random(rng)
    turns = scene.leaves[0].copy()
    turns[1] = 0.0
    assert (camera_of == 1).any()
    views, xs, weights = scene.split()
    scene = f.dom.vec(((turns, *views.leaves[1:]), xs, weights))
    peer = jax.jit(peers.bundle_adjustment(camera_of, point_of, features))
    near(np.concatenate([leaf.ravel() for leaf in f(scene).leaves]), peer(*scene.leaves))
    blocks = jax.jit(jax.jacobian(peer, tuple(range(len(scene.leaves)))))(*scene.leaves)
    due = np.concatenate([np.reshape(block, (45, -1)) for block in blocks], axis=1)
    jacobian = hb.matrix(hb.derivative(f).at(scene), as_="sparse")
    near(jacobian.toarray(), due)
    counts = np.diff(jacobian.indptr)
    assert counts[:30].max() <= 15
    assert counts[30:].max() == 1


# --- Kalman filter ---


def test_kalman() -> None:
    """The likelihood of a track, its gradient and its Hessian."""
    rng = np.random.default_rng(0)
    f, track = kalman.log_likelihood(30), kalman.drawn(30, 0.3, 0.1, rng)
    noise = kalman.N.vec((-1.0, -2.0))
    beside(f, peers.kalman, noise, track)
    due = jax.jit(jax.hessian(lambda n: peers.kalman(n[0], n[1], track.array)))(noise.flat())
    near(hb.hessian(f, noise, track, wrt=0), due)


# --- ratings ---


def test_ratings() -> None:
    """Labels pick the vectors of people and films; a row of the Jacobian has 2·3 entries."""
    people, films, stars = ratings.drawn(np.random.default_rng(0))
    person, film = labels(people, ratings.Person), labels(films, ratings.Film)
    f = ratings.ratings(people, films, person, film, hb.Fin(ratings.Taste, 3))
    due = f.cod.vec(stars)
    u, v = (part.random(np.random.default_rng(1)) for part in f.dom.parts)
    who, what = (np.array([keys.labels.index(x) for x in column]) for keys, column in ((person, people), (film, films)))
    loss = hb.fun.over(f.dom)(lambda u, v: hb.square(f(u, v) - due).sum())
    beside(loss, peers.ratings(who, what, np.array(stars)), u, v)
    jacobian = hb.matrix(hb.derivative(f).at(u, v), as_="sparse")
    assert set(np.diff(jacobian.indptr)) == {6}


# --- heat equation ---


def test_heat() -> None:
    """What the sensors read; the adjoint is JAX's gradient of its inner product with other readings."""
    rng = np.random.default_rng(0)
    u, y = heat.observed.dom.random(rng), heat.observed.cod.random(rng)
    near(heat.observed(u).array, jax.jit(peers.heat)(u.array))
    beside(
        hb.fun(u.space)(lambda u: hb.inner(heat.observed(u), y)),
        lambda u, y: (peers.heat(u) * y).sum(),
        u,
        fixed=(y.array,),
    )


def test_the_start_is_the_regularised_least_squares_solution() -> None:
    """Conjugate gradients end where scipy's LSMR does, to 1e-6."""
    y = heat.seen(np.random.default_rng(0))
    operator = hb.matrix(hb.derivative(heat.observed).at(heat.observed.dom.zeros()), as_="operator")
    due = lsmr(operator, y.flat(), damp=heat.PENALTY**0.5, atol=1e-14, btol=1e-14, maxiter=2000)[0]
    found = heat.estimated(y).flat()
    assert np.linalg.norm(found - due) <= 1e-6 * np.linalg.norm(due)


# --- hand tracking ---

HAND = hand.read_hand(ADBENCH / "hand_model")
MESH = hb.fun(hand.POSE)(lambda p: hand.mesh(HAND, p))


def test_the_hand_at_rest() -> None:
    """The pose 0 is the mesh of the file."""
    rest = np.loadtxt(ADBENCH / "hand_model" / "vertices.txt", delimiter=":", usecols=(0, 1, 2))
    assert np.max(np.abs(MESH(hand.POSE.zeros()).array - rest)) <= 1e-6


def test_the_hand_as_a_whole() -> None:
    """A turn and a shift move it rigidly: no distance changes, and the shift is that of the mean."""
    rng = np.random.default_rng(0)
    bends = rng.standard_normal((5, 4))
    before = MESH(hand.POSE.vec((np.zeros(3), np.zeros(3), bends))).array
    for turn in (np.zeros(3), rng.standard_normal(3), 1e-9 * rng.standard_normal(3)):
        shift = rng.standard_normal(3)
        after = MESH(hand.POSE.vec((turn, shift, bends))).array
        near(np.linalg.norm(after[:, None] - after, axis=2), np.linalg.norm(before[:, None] - before, axis=2))
        near((after - shift) @ turn, before @ turn)  # what lies along the axis stays


@pytest.mark.parametrize("file", ["hand1_t26_c100", "hand6_t26_c1600", "hand1_t26_c100_triangles"])
def test_residuals_of_adbench(file: str) -> None:
    """At the pose of the file they are the noise."""
    sight = hand.read_sight(ADBENCH / f"{file}.txt")
    f = hand.residuals(HAND, sight)
    assert 0.17 <= hand.rms(f(sight.pose)) <= 0.185
    assert hand.rms(f(f.dom.zeros())) > 0.8


def test_a_pose_by_gauss_newton() -> None:
    """From the hand at rest to the noise."""
    sight = hand.read_sight(ADBENCH / "hand6_t26_c1600.txt")
    f = hand.residuals(HAND, sight)
    found = hand.fitted(f, f.dom.zeros())
    assert abs(hand.rms(f(found)) - 0.1725) <= 1e-3


def test_hand() -> None:
    """Residuals and their Jacobian beside JAX, at a random pose and at rotation 0."""
    rng = np.random.default_rng(0)
    sight = hand.read_sight(ADBENCH / "hand1_t26_c100.txt")
    f = hand.residuals(HAND, sight)
    behind, skin = HAND.limbs.leaves
    peer = jax.jit(peers.hand(HAND.wrist.array, HAND.still.array, behind, skin, sight.which, sight.targets))
    jacobian = jax.jit(jax.jacobian(peer, (0, 1, 2)))
    for turn in (rng.standard_normal(3), np.zeros(3)):
        p = hand.POSE.vec((turn, rng.standard_normal(3), rng.standard_normal((5, 4))))
        near(f(p).array, peer(*p.leaves))
        blocks = jacobian(*p.leaves)
        near(hb.jacobian(f, p), np.concatenate([np.reshape(b, (300, -1)) for b in blocks], axis=1))


def test_weights_on_triangles() -> None:
    """The Jacobian in the weights has two entries in a row, and is that of differences."""
    sight = hand.read_sight(ADBENCH / "hand1_t26_c100_triangles.txt")
    f = hand.on_triangles(HAND, sight.which, sight.targets)
    point = f.dom.vec((sight.pose, sight.weights))
    jacobian = hb.jacobian(f, point, wrt=1)
    assert np.count_nonzero(jacobian, axis=1).max() <= 2
    assert hb.check_derivative(f, point)
    assert hb.check_adjoint(f, point)

"""The example models of docs/examples beside the same in JAX (tests/models/peers.py): value and gradient at a point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.timing import OURS, Line, Options, agree, compare, jax
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

JAX = "jax (jit)"
ADBENCH = Path(__file__).parents[1] / "tests" / "data" / "adbench"


def lines(options: Options) -> Iterator[Line | str]:
    """One comparison for each model."""
    if jax() is None:
        return
    from tests.models import peers  # they need JAX

    rng = np.random.default_rng(0)
    k = 5 if options.quick else 25
    mixture = gmm.objective(10, k, 1000, 1.0, 0)
    yield from beside(f"mixture, 1000 points, d = 10, k = {k}", mixture, peers.mixture(1.0, 0), options, wrt=0)
    A, y = logistic.data()
    yield from beside("logistic regression, 569×31", logistic.loss(A, y), peers.logistic, options, (A.array, y.array))
    V = hb.R ** hb.Fin(gaussian_process.Sample, 100)
    t, y100 = V.random(rng), V.random(rng)
    process = gaussian_process.log_likelihood(t, y100)
    fixed = t.array, y100.array
    yield from beside("Gaussian process, n = 100", process, peers.gaussian_process, options, fixed, limit=3.0)
    yield from beside("Kalman filter, 500 moments", kalman.log_likelihood(500), peers.kalman, options, wrt=0)
    yield from beside("transformer block, 24×32", transformer.loss, peers.transformer, options, wrt=0)
    x, digits = rng.random((32, 8, 8, 1)), rng.integers(0, 10, 32)
    samples = (convolutional.Sample**convolutional.batch).vec((x, digits))
    network = hb.fun(convolutional.P)(lambda p: convolutional.objective(p, samples))
    yield from beside("convolutional net, batch 32", network, peers.convolutional(digits), options, (x,))
    people, films, stars = ratings.drawn(rng)
    person, film = labels(people, ratings.Person), labels(films, ratings.Film)
    rated = ratings.ratings(people, films, person, film, hb.Fin(ratings.Taste, 3))
    due = rated.cod.vec(stars)
    squares = hb.fun.over(rated.dom)(lambda u, v: hb.square(rated(u, v) - due).sum())
    who, what = (np.array([keys.labels.index(x) for x in column]) for keys, column in ((person, people), (film, films)))
    yield from beside("ratings, 3000 rows", squares, peers.ratings(who, what, np.array(stars)), options)
    seen = heat.seen(rng)
    misfit = hb.fun(heat.observed.dom)(lambda u: hb.square(heat.observed(u) - seen).sum())
    yield from beside("heat, 64×64, 200 steps", misfit, lambda u: ((peers.heat(u) - seen.array) ** 2).sum(), options)
    camera_of, point_of, features = rng.integers(0, 50, 10_000), rng.integers(0, 2000, 10_000), rng.random((10_000, 2))
    errors = bundle_adjustment.residuals(50, 2000, camera_of, point_of, features)
    total = hb.fun.over(errors.dom)(lambda *scene: sum(hb.square(e).sum() for e in errors(*scene).split()))
    squared = peers.bundle_adjustment(camera_of, point_of, features)
    peer: Callable[..., Any] = lambda *leaves: (squared(*leaves) ** 2).sum()  # noqa: E731 - as the other rows
    yield from beside("bundle adjustment, 10,000 observations", total, peer, options)
    sight = hand.read_sight(ADBENCH / "hand6_t26_c1600.txt")
    model = hand.read_hand(ADBENCH / "hand_model")
    seen_points = hand.residuals(model, sight)
    off = hb.fun(hand.POSE)(lambda p: hb.square(seen_points(p)).sum())
    behind, skin = model.limbs.leaves
    of_hand = peers.hand(model.wrist.array, model.still.array, behind, skin, sight.which, sight.targets)
    yield from beside("hand, 1600 points", off, lambda *p: (of_hand(*p) ** 2).sum(), options)
    recurrent = lstm.loss(2, 14, 1023)
    yield from beside("LSTM, 1023 characters, 2×14", recurrent, peers.lstm, options, wrt=0)


def beside(
    what: str,
    f: hb.Map[Any, Any],
    peer: Callable[..., Any],
    options: Options,
    fixed: tuple[Any, ...] = (),
    *,
    wrt: int | None = None,
    limit: float | None = None,
) -> Iterator[Line]:
    """Value and gradient of f, in all of its arguments or one, at a random point."""
    point: hb.Vec[Any] = f.dom.random(np.random.default_rng(0), scale=0.3)
    ours: hb.Map[Any, Any] = hb.value_and_grad(f) if wrt is None else hb.value_and_grad(f, wrt)
    count = len(point.leaves) if wrt is None else len(point.split()[wrt].leaves)
    found = jax()
    compiled = found.jit(found.value_and_grad(peer, tuple(range(count))))
    here = [found.numpy.asarray(leaf) for leaf in (*point.leaves, *fixed)]
    candidates: dict[str, Callable[[], Any]] = {
        OURS: lambda: ours(point).leaves,
        JAX: lambda: found.block_until_ready(compiled(*here)),
    }
    value, slopes = candidates[JAX]()
    agree(what, {OURS: candidates[OURS](), JAX: [value, *slopes]}, 1e-9)
    yield from compare(what, candidates, options, baseline=JAX, limit=limit)

"""The Jacobian of bundle adjustment (docs/examples/bundle.py) as a CSR array, against vmapped, jitted JAX blocks.

Each call starts at a new point. JAX computes the blocks only; ours also puts them in their places, as BSR or as CSR.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.timing import OURS, Line, Options, compare, jax
from diff import derivative
from docs.examples.bundle import observations, scene
from linmap import matrix

OBSERVATIONS, CAMERAS, POINTS = 200_000, 1000, 50_000
PEER = "jax (jit), blocks"


def lines(options: Options) -> Iterator[Line | str]:
    """The blocks agree entry by entry; then the times."""
    found = jax()
    if found is None:
        yield "bundle: JAX is not installed, nothing to compare with"
        return
    rng = np.random.default_rng(0)
    camera_of, point_of = rng.integers(0, CAMERAS, OBSERVATIONS), rng.integers(0, POINTS, OBSERVATIONS)
    f = observations(CAMERAS, POINTS, camera_of, point_of)
    d = derivative(f)
    scenes = [scene(rng, f) for _ in range(3)]
    blocks = peer(found, camera_of, point_of)
    x = scenes[0]
    made = matrix(d.at(x), as_="sparse")
    worst = difference(made, [np.asarray(b) for b in blocks(x.array)], camera_of, point_of)
    size = f"{made.shape[0]}×{made.shape[1]}, {made.nnz} entries"
    yield f"bundle: {size}; largest difference from JAX {worst:.1e} relative"
    points = itertools.cycle(scenes)
    rows: dict[str, Callable[[], Any]] = {
        PEER: lambda: found.block_until_ready(blocks(next(points).array)),
        "hilbert, blocks": lambda: matrix(d.at(next(points)), as_="blocks"),
        OURS: lambda: matrix(d.at(next(points)), as_="sparse"),
    }
    rounds = Options(min(options.rounds, 7), options.quick)
    yield from compare("bundle adjustment, 200,000 observations", rows, rounds, baseline=PEER)


def peer(found: Any, camera_of: Any, point_of: Any) -> Callable[[Any], Any]:
    """JAX's blocks: the derivative of each observation in its pose (9 numbers), its point and its weight."""
    np_ = found.numpy

    def observed(pose: Any, x: Any, weight: Any) -> Any:
        r, centre, focal, distortion = pose[:3], pose[3:6], pose[6], pose[7:9]
        angle = np_.sqrt(r @ r)
        axis = r / angle
        v = x - centre
        turned = np_.cos(angle) * v + np_.sin(angle) * np_.cross(axis, v) + (1 - np_.cos(angle)) * (axis @ v) * axis
        flat = turned[:2] / turned[2]
        square = flat @ flat
        return weight * focal * (1 + distortion[0] * square + distortion[1] * square**2) * flat

    each = found.vmap(found.jacfwd(observed, argnums=(0, 1, 2)))

    def blocks(scene_: Any) -> Any:
        (rotation, centre, focal, distortion), places, weights = scene_
        poses = np_.concatenate([rotation, centre, focal[:, None], distortion], axis=1)
        return each(poses[camera_of], places[point_of], weights)

    compiled: Callable[[Any], Any] = found.jit(blocks)
    return compiled


def difference(made: Any, blocks: list[Any], camera_of: Any, point_of: Any) -> float:
    """The largest difference of the CSR array's entries from the blocks, relative to the largest entry."""
    k = np.arange(OBSERVATIONS)
    starts = np.cumsum([0, 3 * CAMERAS, 3 * CAMERAS, CAMERAS, 2 * CAMERAS, 3 * POINTS])
    worst = 0.0
    for row in range(2):
        columns = [(starts[0] + 3 * camera_of + j, blocks[0][:, row, j]) for j in range(3)]
        columns += [(starts[1] + 3 * camera_of + j, blocks[0][:, row, 3 + j]) for j in range(3)]
        columns += [(starts[2] + camera_of, blocks[0][:, row, 6])]
        columns += [(starts[3] + 2 * camera_of + j, blocks[0][:, row, 7 + j]) for j in range(2)]
        columns += [(starts[4] + 3 * point_of + j, blocks[1][:, row, j]) for j in range(3)]
        columns += [(starts[5] + k, blocks[2][:, row])]
        for column, due in columns:
            entries = np.asarray(made[2 * k + row, column]).reshape(-1)
            worst = max(worst, float(np.max(np.abs(entries - due))))
    return worst / max(float(np.max(np.abs(b))) for b in blocks)

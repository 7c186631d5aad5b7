"""Bundle adjustment from combinators: CSR with exactly the proven entries, right to rounding against JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.sparse import block_array

from adjoint import check
from diff import derivative
from docs.examples.bundle import observations, scene
from linmap import matrix, structure
from linmap.matrices.network.network import network
from linmap.matrices.structure.structure import BlockDiagonal, Blocks, SparseForm
from linmap.term.net import Closed

jax.config.update("jax_enable_x64", val=True)
CAMERAS, POINTS, SEEN = 4, 6, 15


def test_bundle_adjustment() -> None:
    """2·15 rows; 9 camera, 3 point and 1 weight columns for each; nothing else is an entry, nothing is dense."""
    rng = np.random.default_rng(0)
    camera_of, point_of = rng.integers(0, CAMERAS, SEEN), rng.integers(0, POINTS, SEEN)
    f = observations(CAMERAS, POINTS, camera_of, point_of)
    d = derivative(f)
    form = structure(d)
    assert isinstance(form, Blocks)
    assert [type(e) for _, e in form.entries] == [SparseForm] * 5 + [BlockDiagonal]
    x = scene(rng, f)
    assert all(check(f, x))
    found = matrix(d.at(x), as_="sparse")
    assert found.nnz == 2 * SEEN * (9 + 3 + 1)
    due = reference(x.array, camera_of, point_of)
    assert np.max(np.abs(found.toarray() - due)) <= 1e-10 * np.max(np.abs(due))
    blocks = matrix(d.at(x), as_="blocks")
    assert [[block.blocksize for block in row] for row in blocks] == [[(2, 3), (2, 3), (2, 1), (2, 2), (2, 3), (2, 1)]]
    assert sum(block.nnz for row in blocks for block in row) == found.nnz
    assert np.array_equal(block_array(blocks).toarray(), found.toarray())


def reference(scene_: Any, camera_of: Any, point_of: Any) -> Any:
    """The dense Jacobian by JAX."""

    def f(s: Any) -> Any:
        (rotation, centre, focal, distortion), places, weights = s
        r, v = rotation[camera_of], places[point_of] - centre[camera_of]
        angle = jnp.sqrt(jnp.sum(r * r, axis=1, keepdims=True))
        axis = r / angle
        along = jnp.sum(axis * v, axis=1, keepdims=True)
        turned = jnp.cos(angle) * v + jnp.sin(angle) * jnp.cross(axis, v) + (1 - jnp.cos(angle)) * along * axis
        flat = turned[:, :2] / turned[:, 2:]
        square = jnp.sum(flat * flat, axis=1, keepdims=True)
        k = distortion[camera_of]
        bend = 1 + k[:, :1] * square + k[:, 1:] * square**2
        return (weights * focal[camera_of])[:, None] * bend * flat

    leaves = jax.tree_util.tree_leaves(jax.jit(jax.jacobian(f))(scene_))
    return np.concatenate([np.reshape(leaf, (2 * SEEN, -1)) for leaf in leaves], axis=1)


def test_structure_does_not_depend_on_numbers() -> None:
    """The answer is the same for every constant: structure looks at the term's names and sizes only."""
    rng = np.random.default_rng(1)
    camera_of, point_of = rng.integers(0, CAMERAS, SEEN), rng.integers(0, POINTS, SEEN)
    f = observations(CAMERAS, POINTS, camera_of, point_of)
    d = derivative(f)
    open_form = structure(d)
    x = scene(rng, f)
    assert structure(d.at(x)) == structure(d.at(scene(rng, f))) == open_form
    closed = d.at(x)
    assert isinstance(closed, Closed)
    assert network(closed.body) is network(d.body)

"""Bundle adjustment of ADBench (BA): the Jacobian of residuals, 2×15 for each observation, and that of the weights.

Which camera sees which point is drawn by a fixed seed; files of ADBench have one camera, point, weight and feature for
all observations.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.arrays.bundle_in_c import in_c
from benchmarks.peers.row import LISTED, Call, Calls, Given, Made, Ours, Row, jitted, mine
from benchmarks.timing import jax

JACOBIAN = "Jacobian"
IN_C = "symforce, C by gcc"
CUTS = (3, 6, 7, 9)
"""Ends of the parts of a camera: rotation, centre, focal length, principal point, radial distortion."""


def given(cameras: int, points: int, seen: int) -> Callable[[Path | None], Given]:
    """Cameras, points, weights, features, and the camera and the point of each observation."""

    def read(path: Path | None) -> Given:
        if path is None:
            return drawn(cameras, points, seen)
        v = np.array(path.read_text("utf-8").split()[3:], dtype=float)
        parts = np.tile(v[:11], (cameras, 1)), np.tile(v[11:14], (points, 1)), np.full(seen, v[14])
        return *parts, np.tile(v[15:17], (seen, 1)), *sights(cameras, points, seen)

    return read


def drawn(cameras: int, points: int, seen: int) -> Given:
    """Points in front of cameras that are turned a little."""
    rng = np.random.default_rng(1)
    views = [0.1 + 0.1 * rng.standard_normal((cameras, 3)), rng.standard_normal((cameras, 3)) - [0.0, 0.0, 8.0]]
    views += [500.0 + rng.standard_normal((cameras, 1)), rng.standard_normal((cameras, 2))]
    views += [0.01 * rng.standard_normal((cameras, 2))]
    rest = rng.standard_normal((points, 3)), 1 + rng.random(seen), rng.standard_normal((seen, 2))
    return np.concatenate(views, 1), *rest, *sights(cameras, points, seen)


def sights(cameras: int, points: int, seen: int) -> tuple[Any, Any]:
    """The camera and the point of each observation."""
    rng = np.random.default_rng(0)
    return rng.integers(0, cameras, seen), rng.integers(0, points, seen)


# --- ours ---


def residuals(given: Given) -> Any:
    """Coordinates by contractions with constants, as docs/examples/bundle.py has them, so that blocks are 2×n."""
    from docs.examples.bundle import LEVI_CIVITA
    from docs.examples.bundle_adjustment import Axis, Image, Plane, Space, V, View

    each: Any = hb.each
    axis, image = Axis.set, Image.set
    cameras, points, weights, features, camera_of, point_of = given
    cross = (hb.R ** (axis * axis * axis)).vec(LEVI_CIVITA)
    plane, depth = (hb.R ** (image * axis)).vec(np.eye(2, 3)), Space.vec([0.0, 0.0, 1.0])
    first, second = Plane.vec([1.0, 0.0]), Plane.vec([0.0, 1.0])

    def observed(c: Any, x: Any, weight: Any, feature: Any) -> Any:
        r = c[View.rotation]
        angle = r.norm()
        u, z = r / angle, x - c[View.centre]
        turned = hb.contract("kj,j->k", hb.contract("kij,i->kj", cross, u), z)
        y = hb.cos(angle) * z + hb.sin(angle) * turned + ((1.0 - hb.cos(angle)) * (u @ z)) * u
        flat = (1.0 / (depth @ y)) * (plane @ y)
        square, radial = flat @ flat, c[View.radial]
        bend = 1.0 + (first @ radial) * square + (second @ radial) * square * square
        return weight * (c[View.principal] + c[View.focal] * (bend * flat) - feature), 1.0 - weight * weight

    seen, camera, point = (hb.Fin.of(len(part)) for part in (weights, cameras, points))
    view, place = hb.gather(camera_of, camera, V, rows=seen), hb.gather(point_of, point, Space, rows=seen)
    measured = hb.const((Plane**seen).vec(features))
    one = hb.fun(V, Space, hb.R, Plane)(observed)
    return hb.fun(V**camera, Space**point, hb.R**seen)(lambda c, x, w: each(one, view(c), place(x), w, measured))


def example(given: Given) -> Any:
    """docs/examples/bundle_adjustment.py: entries of vectors, and a condition at rotation 0."""
    from docs.examples.bundle_adjustment import residuals

    cameras, points, _, features, camera_of, point_of = given
    return residuals(len(cameras), len(points), camera_of, point_of, features)


def ours(model: Callable[[Given], Any], kind: str) -> Ours:
    """The Jacobian at a point, as blocks or as a CSR array, by a program of the point."""

    def make(given: Given, made: Made) -> Calls:
        f = model(given)
        p = made(hb.jacobian_program(f, as_=kind))  # type: ignore[call-overload]  # one of two names
        cameras, points, weights = given[:3]
        views = [np.ascontiguousarray(part) for part in np.split(cameras, CUTS, axis=1)]
        views[2] = views[2][:, 0]
        at = f.dom.vec((tuple(views), points, weights))
        numbers = from_blocks if kind == "blocks" else from_csr
        return {JACOBIAN: Call(lambda: p.matrix(at), lambda m: numbers(m, len(weights)))}

    return make


def from_blocks(blocks: Any, seen: int) -> list[Any]:
    """2×15 for each observation, and the slope of each weight; the principal point's block is kept as a diagonal."""
    parts = list[Any]()
    for block in blocks[0]:
        entries = np.asarray(block.data)
        if len(parts) == 3 and entries.size == 2 * seen:
            entries = np.einsum("pi,ij->pij", entries.reshape(seen, 2), np.eye(2))
        if entries.shape == (2 * seen, 2, 1):
            entries = entries.reshape(seen, 2, 2).transpose(0, 2, 1)
        parts.append(entries.reshape(seen, 2, -1))
    return [np.concatenate(parts, axis=2), np.asarray(blocks[1][-1].data).reshape(seen)]


def from_csr(matrix: Any, seen: int) -> list[Any]:
    """The same from the rows, which have no entries where the principal point's block has none."""
    top = matrix[: 2 * seen].tocsr()
    top.sort_indices()
    entries, whole = top.data.reshape(seen, 2, 14), np.zeros((seen, 2, 15))
    whole[:, :, :7], whole[:, :, 9:] = entries[:, :, :7], entries[:, :, 8:]
    whole[:, [0, 1], [7, 8]] = entries[:, :, 7]
    return [whole, matrix[2 * seen :].data]


# --- JAX ---


def in_jax(mode: str) -> Callable[[Given], Calls]:
    """The Jacobian of an observation by `jacrev` or `jacfwd`, mapped over all."""

    def make(given: Given) -> Calls:
        found = jax()
        xp = found.numpy

        def observed(c: Any, x: Any, weight: Any, feature: Any) -> Any:
            r, z = c[:3], x - c[3:6]
            angle = xp.sqrt(r @ r)
            u = r / angle
            y = xp.cos(angle) * z + xp.sin(angle) * xp.cross(u, z) + (1 - xp.cos(angle)) * (u @ z) * u
            flat = y[:2] / y[2]
            square = flat @ flat
            return weight * (c[7:9] + c[6] * (1 + c[9] * square + c[10] * square * square) * flat - feature)

        one = getattr(found, mode)(observed, argnums=(0, 1, 2))

        def jacobian(cameras: Any, points: Any, weights: Any, features: Any, camera_of: Any, point_of: Any) -> Any:
            dc, dx, dw = found.vmap(one)(cameras[camera_of], points[point_of], weights, features)
            return xp.concatenate([dc, dx, dw[:, :, None]], 2), found.vmap(found.grad(lambda w: 1 - w * w))(weights)

        return {JACOBIAN: jitted(jacobian, given)}

    return make


PEERS = {
    **mine(ours(residuals, "blocks")),
    **mine(ours(residuals, "sparse"), "CSR"),
    **mine(ours(example, "blocks"), "docs/examples"),
    "jax reverse": in_jax("jacrev"),
    "jax forward": in_jax("jacfwd"),
    IN_C: lambda given: {JACOBIAN: in_c(given)},
}


def row(name: str, cameras: int, points: int, seen: int) -> Row:
    """A size of ADBench."""
    file = f"ba/{name.lower()}_n{cameras}_m{points}_p{seen}.txt"
    made = given(cameras, points, seen)
    return Row(name, PEERS, made, lambda: drawn(2, 3, 5), LISTED, file=file, added=(IN_C,), heavy=True)


ROWS = (row("BA1", 49, 7776, 31843), row("BA4", 372, 47423, 204472))

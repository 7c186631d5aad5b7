"""The pattern of bundle adjustment: two gathers by index columns, a map for each observation, weights.

The Jacobian is a sparse matrix with exactly the entries that the term proves: each residual depends on one camera and
one point. It is never dense, and no sparsity is declared by hand.

    python docs/examples/bundle.py
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

import hilbert.all as hb


class Camera:
    """The cameras."""


class Point:
    """The points in space."""


class Observation:
    """An observation: one point seen by one camera."""


class Space:
    """The three coordinates of space."""


class Image:
    """The two coordinates of an image."""


space, image = hb.Fin(Space, 3), hb.Fin(Image, 2)
Pose = hb.direct_sum(hb.R**space, hb.R**space, hb.R, hb.R**image)  # rotation, centre, focal length, radial distortion
PoseType: TypeAlias = hb.DirectSum[hb.Vector[Space], hb.Vector[Space], hb.Scalar, hb.Vector[Image]]
Scene: TypeAlias = hb.DirectSum[
    hb.Copower[PoseType, hb.Fin[Camera]], hb.Copower[hb.Vector[Space], hb.Fin[Point]], hb.Vector[Observation]
]
LEVI_CIVITA = np.zeros((3, 3, 3))
LEVI_CIVITA[[0, 1, 2], [1, 2, 0], [2, 0, 1]] = 1.0
LEVI_CIVITA[[0, 2, 1], [2, 1, 0], [1, 0, 2]] = -1.0
CROSS = (hb.R ** (space * space * space)).vec(LEVI_CIVITA)
FIRST, SECOND = (hb.R**image).vec([1.0, 0.0]), (hb.R**image).vec([0.0, 1.0])
PLANE = (hb.R ** (image * space)).vec(np.eye(2, 3))
DEPTH = (hb.R**space).vec([0.0, 0.0, 1.0])


def cross(a: hb.Expr[hb.Vector[Space]], b: hb.Expr[hb.Vector[Space]]) -> hb.Expr[hb.Vector[Space]]:
    """a × b."""
    return hb.contract("kj,j->k", hb.contract("kij,i->kj", CROSS, a), b)


@hb.fun(Pose, hb.R**space, hb.R)
def observed(
    pose: hb.Expr[PoseType], x: hb.Expr[hb.Vector[Space]], weight: hb.Expr[hb.Scalar]
) -> hb.Expr[hb.Vector[Image]]:
    """The place where a camera sees a point: Rodrigues' rotation, projection, radial distortion; times the weight."""
    r, centre, focal, distortion = pose.split()
    angle = hb.sqrt(r @ r)
    axis = (1.0 / angle) * r
    v = x - centre
    turned = hb.cos(angle) * v + hb.sin(angle) * cross(axis, v) + ((1.0 - hb.cos(angle)) * (axis @ v)) * axis
    flat = (1.0 / (DEPTH @ turned)) * (PLANE @ turned)
    square = flat @ flat
    bend = 1.0 + (FIRST @ distortion) * square + (SECOND @ distortion) * square * square
    return weight * (focal * (bend * flat))


def observations(
    cameras: int, points: int, camera_of: Any, point_of: Any
) -> hb.Map[Scene, hb.Copower[hb.Vector[Image], hb.Fin[Observation]]]:
    """All observations from the index columns: Pose^cameras ⊕ (ℝ³)^points ⊕ ℝ^observations → (ℝ²)^observations."""
    seen = hb.Fin(Observation, len(camera_of))
    camera, point = hb.Fin(Camera, cameras), hb.Fin(Point, points)
    pose = hb.gather(camera_of, camera, Pose, rows=seen)
    place = hb.gather(point_of, point, hb.R**space, rows=seen)
    each = hb.lift(observed, seen, over=(0, 1, 2))
    return hb.fun(Pose**camera, (hb.R**space) ** point, hb.R**seen)(lambda c, x, w: each(pose(c), place(x), w))


def scene(rng: np.random.Generator, f: hb.Map[Scene, Any]) -> hb.Vec[Scene]:
    """Random poses and points in front of the cameras, and weights."""
    poses, points, weights = (int(part.index.size) for part in f.dom.parts)
    rotation = 0.1 + 0.1 * rng.standard_normal((poses, 3))
    centre = rng.standard_normal((poses, 3)) - np.array([0.0, 0.0, 8.0])
    lens = (500.0 + rng.standard_normal(poses), 0.01 * rng.standard_normal((poses, 2)))
    return f.dom.vec(((rotation, centre, *lens), rng.standard_normal((points, 3)), 1 + rng.random(weights)))


def main() -> None:
    """Print the structure of a small scene's derivative, and the shape of its Jacobian."""
    rng = np.random.default_rng(0)
    camera_of, point_of = rng.integers(0, 5, 40), rng.integers(0, 20, 40)
    f = observations(5, 20, camera_of, point_of)
    d = hb.derivative(f)
    print(hb.structure(d))
    jacobian = hb.matrix(d.at(scene(rng, f)), as_="sparse")
    print(f"{jacobian.shape[0]}×{jacobian.shape[1]}, {jacobian.nnz} entries")


if __name__ == "__main__":
    main()

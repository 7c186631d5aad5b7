"""The pattern of bundle adjustment: two gathers by index columns, a map for each observation, weights.

The Jacobian is a sparse matrix with exactly the entries that the term proves: each residual depends on one camera and
one point. It is never dense, and no sparsity is declared by hand.

    python docs/examples/bundle.py
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from diff import Expr, contract, cos, derivative, fun, lift, sin, sqrt
from hilbert import Copower, DirectSum, Fin, Map, R, Scalar, Vec, Vector, direct_sum
from hilbert.relation import function
from linmap import matrix, red, structure


class Camera:
    """The cameras."""


class Point:
    """The points in space."""


class Observation:
    """What is seen: one point by one camera."""


class Space:
    """The three coordinates of space."""


class Image:
    """The two coordinates of an image."""


space, image = Fin(Space, 3), Fin(Image, 2)
Pose = direct_sum(R**space, R**space, R, R**image)  # rotation, centre, focal length, radial distortion
PoseType: TypeAlias = DirectSum[Vector[Space], Vector[Space], Scalar, Vector[Image]]
Scene: TypeAlias = DirectSum[Copower[PoseType, Fin[Camera]], Copower[Vector[Space], Fin[Point]], Vector[Observation]]
LEVI_CIVITA = np.zeros((3, 3, 3))
LEVI_CIVITA[[0, 1, 2], [1, 2, 0], [2, 0, 1]] = 1.0
LEVI_CIVITA[[0, 2, 1], [2, 1, 0], [1, 0, 2]] = -1.0
CROSS = (R ** (space * space * space)).vec(LEVI_CIVITA)
FIRST, SECOND = (R**image).vec([1.0, 0.0]), (R**image).vec([0.0, 1.0])
PLANE = (R ** (image * space)).vec(np.eye(2, 3))
DEPTH = (R**space).vec([0.0, 0.0, 1.0])


def cross(a: Expr[Vector[Space]], b: Expr[Vector[Space]]) -> Expr[Vector[Space]]:
    """a × b."""
    return contract("kj,j->k", contract("kij,i->kj", CROSS, a), b)


@fun(Pose, R**space, R)
def observed(pose: Expr[PoseType], x: Expr[Vector[Space]], weight: Expr[Scalar]) -> Expr[Vector[Image]]:
    """Where a camera sees a point: Rodrigues' rotation, projection, radial distortion; times the weight."""
    r, centre, focal, distortion = pose.split()
    angle = sqrt(r @ r)
    axis = (1.0 / angle) * r
    v = x - centre
    turned = cos(angle) * v + sin(angle) * cross(axis, v) + ((1.0 - cos(angle)) * (axis @ v)) * axis
    flat = (1.0 / (DEPTH @ turned)) * (PLANE @ turned)
    square = flat @ flat
    bend = 1.0 + (FIRST @ distortion) * square + (SECOND @ distortion) * square * square
    return weight * (focal * (bend * flat))


def observations(
    cameras: int, points: int, camera_of: Any, point_of: Any
) -> Map[Scene, Copower[Vector[Image], Fin[Observation]]]:
    """All observations from the index columns: Pose^cameras ⊕ (ℝ³)^points ⊕ ℝ^observations → (ℝ²)^observations."""
    seen = Fin(Observation, len(camera_of))
    camera, point = Fin(Camera, cameras), Fin(Point, points)
    pose = red(function(seen, camera, camera_of).T, Pose)
    place = red(function(seen, point, point_of).T, R**space)
    each = lift(observed, seen, over=(0, 1, 2))
    return fun(Pose**camera, (R**space) ** point, R**seen)(lambda c, x, w: each(pose(c), place(x), w))


def scene(rng: np.random.Generator, f: Map[Scene, Any]) -> Vec[Scene]:
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
    d = derivative(f)
    print(structure(d))
    jacobian = matrix(d.at(scene(rng, f)), as_="sparse")
    print(f"{jacobian.shape[0]}×{jacobian.shape[1]}, {jacobian.nnz} entries")


if __name__ == "__main__":
    main()

"""Bundle adjustment: the residuals BA of ADBench (Šrajer, Kukelova & Fitzgibbon 2018), and their sparse Jacobian.

One observation is a function of a camera, a point and a weight; all of them are gathered by index and lifted. At
rotation 0, where Rodrigues' formula is singular, a condition takes its limit.

    python docs/examples/bundle_adjustment.py FILE
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import hilbert.all as hb


class Camera(hb.Axis):
    """The cameras."""


class Point(hb.Axis):
    """The points in space."""


class Seen(hb.Axis):
    """An observation: one point seen by one camera."""


class Axis(hb.Axis, size=3):
    """The three coordinates of space."""


class Image(hb.Axis, size=2):
    """The two coordinates of an image."""


Space, Plane = hb.R**Axis.set, hb.R**Image.set
SpaceType: TypeAlias = hb.Vector[Axis]
PlaneType: TypeAlias = hb.Vector[Image]


class View(hb.Record):
    """A camera: rotation vector, centre, focal length, principal point and radial distortion."""

    rotation: hb.Part[SpaceType]
    centre: hb.Part[SpaceType]
    focal: hb.Part[hb.Scalar]
    principal: hb.Part[PlaneType]
    radial: hb.Part[PlaneType]


V = View.space()
Scene: TypeAlias = hb.DirectSum[hb.Copower[View, hb.Fin[Camera]], hb.Copower[SpaceType, hb.Fin[Point]], hb.Vector[Seen]]
Features: TypeAlias = hb.Copower[PlaneType, hb.Fin[Seen]]
Residuals: TypeAlias = hb.DirectSum[Features, hb.Vector[Seen]]


def cross(a: hb.Expr[SpaceType], b: hb.Expr[SpaceType]) -> hb.Expr[SpaceType]:
    """a × b."""
    return (a.roll(-1) * b.roll(1)) - (a.roll(1) * b.roll(-1))


def turned(r: hb.Expr[SpaceType], v: hb.Expr[SpaceType]) -> hb.Expr[SpaceType]:
    """v turned around r by the angle ‖r‖."""

    def rodrigues() -> hb.Expr[SpaceType]:
        angle = r.norm()
        u = r / angle
        return hb.cos(angle) * v + hb.sin(angle) * cross(u, v) + (1.0 - hb.cos(angle)) * (u @ v) * u

    return hb.where(r @ r > 0.0, rodrigues, lambda: v + cross(r, v))


@hb.fun(V, Space)
def projected(c: hb.Expr[View], x: hb.Expr[SpaceType]) -> hb.Expr[PlaneType]:
    """The place at which a camera sees a point."""
    y = turned(c[View.rotation], x - c[View.centre])
    flat = y.crop(0, 2, to=Image.set) / y[2]
    square, radial = flat @ flat, c[View.radial]
    return c[View.principal] + c[View.focal] * (1.0 + radial[0] * square + radial[1] * square**2) * flat


def residuals(n: int, m: int, camera_of: Any, point_of: Any, features: Any) -> hb.Map[Scene, Residuals]:
    """weight·(projected − feature) and 1 − weight² of all observations."""
    seen, camera, point = Seen.of(len(camera_of)), Camera.of(n), Point.of(m)
    view, place = hb.gather(camera_of, camera, V, rows=seen), hb.gather(point_of, point, Space, rows=seen)
    measured = (Plane**seen).vec(features)

    @hb.fun(V**camera, Space**point, hb.R**seen)
    def f(
        views: hb.Expr[hb.Copower[View, hb.Fin[Camera]]],
        xs: hb.Expr[hb.Copower[SpaceType, hb.Fin[Point]]],
        weights: hb.Expr[hb.Vector[Seen]],
    ) -> tuple[hb.Expr[Features], hb.Expr[hb.Vector[Seen]]]:
        flat = hb.each(projected, view(views), place(xs))
        errors = hb.each(lambda w, e: w * e, weights, flat - measured)
        return errors, 1.0 - weights * weights

    return f


def read(text: str) -> tuple[hb.Map[Scene, Residuals], hb.Vec[Scene]]:
    """The residuals and the scene of a file of ADBench, which has one camera, point, weight and feature for all."""
    n, m, p = map(int, text.split()[:3])
    one, x, weight, feature = np.split(np.array(text.split()[3:], dtype=float), [11, 14, 15])
    seen = np.arange(p)
    f = residuals(n, m, seen % n, seen % m, np.tile(feature, (p, 1)))
    views = [np.tile(part, (n, 1)) for part in np.split(one, [3, 6, 7, 9])]
    views[2] = views[2][:, 0]
    return f, f.dom.vec((views, np.tile(x, (m, 1)), np.tile(weight, p)))


def main() -> None:
    """Print the structure of the derivative, and time its sparse Jacobian."""
    file = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parents[2] / "tests/data/adbench/ba_test.txt"
    f, scene = read(file.read_text("utf-8"))
    d = hb.derivative(f)
    print(projected, hb.structure(d), sep="\n\n", end="\n\n")
    for which in ("first", "second"):
        start = time.perf_counter()
        jacobian = hb.matrix(d.at(scene), as_="sparse")
        print(f"{which} Jacobian: {time.perf_counter() - start:.3f} s")
    print(f"{jacobian.shape[0]}×{jacobian.shape[1]}, {jacobian.nnz} entries")


if __name__ == "__main__":
    main()

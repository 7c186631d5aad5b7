"""Bundle adjustment in the large: cameras of nine numbers see points (Agarwal et al. 2010), on a scene drawn here."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import hilbert.all as hb


class Camera(hb.Axis, size=6):
    """The cameras."""


class Point(hb.Axis, size=40):
    """The points in space."""


class Seen(hb.Axis, size=120):
    """The observations: one point by one camera."""


class Space(hb.Axis, size=3):
    """The coordinates of space."""


class Image(hb.Axis, size=2):
    """The coordinates of an image."""


class View(hb.Record):
    """A camera: rotation vector, shift, focal length and radial distortion."""

    rotation: hb.Part[hb.Vector[Space]]
    shift: hb.Part[hb.Vector[Space]]
    focal: hb.Part[hb.Scalar]
    radial: hb.Part[hb.Vector[Image]]


class Scene(hb.Record):
    """All cameras and all points."""

    views: hb.Part[hb.Copower[View, hb.Fin[Camera]]]
    points: hb.Part[hb.Copower[hb.Vector[Space], hb.Fin[Point]]]


Pixels: TypeAlias = hb.Copower[hb.Vector[Image], hb.Fin[Seen]]
S, V, Places = Scene.space(), View.space(), hb.R**Space.set

rng = np.random.default_rng(0)
camera = (hb.Elements(Camera.set) ** Seen.set).vec(rng.integers(0, 6, 120))
point = (hb.Elements(Point.set) ** Seen.set).vec(rng.integers(0, 40, 120))
views = (V**Camera.set).vec((np.zeros((6, 3)), np.tile([0.0, 0.0, -6.0], (6, 1)), np.full(6, 500.0), np.zeros((6, 2))))
scene = S.of(views=views, points=rng.normal(size=(40, 3))) + S.random(rng, scale=0.01)


def cross(a: hb.Expr[hb.Vector[Space]], b: hb.Expr[hb.Vector[Space]]) -> hb.Expr[hb.Vector[Space]]:
    """a × b."""
    return a.roll(-1) * b.roll(1) - a.roll(1) * b.roll(-1)


def turned(r: hb.Expr[hb.Vector[Space]], x: hb.Expr[hb.Vector[Space]]) -> hb.Expr[hb.Vector[Space]]:
    """x turned around r by the angle ‖r‖."""

    def rodrigues() -> hb.Expr[hb.Vector[Space]]:
        angle = r.norm()
        u = r / angle
        return hb.cos(angle) * x + hb.sin(angle) * cross(u, x) + (1.0 - hb.cos(angle)) * (u @ x) * u

    return hb.where(r @ r > 0.0, rodrigues, lambda: x + cross(r, x))


@hb.fun(V, Places)
def projected(v: hb.Expr[View], x: hb.Expr[hb.Vector[Space]]) -> hb.Expr[hb.Vector[Image]]:
    """The image of a point in a camera."""
    y = turned(v[View.rotation], x) + v[View.shift]
    flat = -y.crop(0, 2, to=Image.set) / y[2]
    square, radial = flat @ flat, v[View.radial]
    return v[View.focal] * (1.0 + radial[0] * square + radial[1] * square**2) * flat


@hb.fun(S)
def images(s: hb.Expr[Scene]) -> hb.Expr[Pixels]:
    """The images of all observations."""
    return hb.each(projected, s[Scene.views][camera], s[Scene.points][point])


measured = images(scene) + images.cod.random(rng)


@hb.fun(S)
def residual(s: hb.Expr[Scene]) -> hb.Expr[Pixels]:
    """The images of a scene, less the measured ones, in pixels."""
    return images(s) - measured

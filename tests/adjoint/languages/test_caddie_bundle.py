"""A bundle adjustment in caddie beside the same model by `fun`: a camera turns, projects and distorts a point."""

from typing import Any

import numpy as np
import pytest

from adjoint import grad
from adjoint.languages import Source
from adjoint.languages.caddie import load
from diff import cos, fun, sin
from hilbert import R, direct_sum

TEXT = """
(* Rodrigues: a rotation by the vector r *)
fun rotate a =
  let r = #1 a in let v = #2 a in
  let angle = pow 0.5 (dprod3 (r, r)) in
  let axis = pow -1.0 angle *> r in
    cos angle *> v + sin angle *> cprod3 (axis, v) + dprod3 (axis, v) * (1 - cos angle) *> axis
  end end end end
fun perspective v = pow -1.0 (#3 v) *> (#1 v, #2 v)
fun distort a =
  let k = #1 a in let p = #2 a in
  let rr = norm2sq p in (1 + #1 k * rr + #2 k * rr * rr) *> p end end end
fun project a =
  let camera = #1 a in
    #2 #3 camera *> distort (#1 #3 camera, perspective (rotate (#1 camera, #2 a) + #2 camera))
  end
fun residual a = #2 a *> (project (#1 a) - #3 a)
fun error a = norm2sq (residual a)
"""
CAMERA = ((0.3, -0.2, 0.5), (0.1, 0.2, 4.0), ((0.1, -0.02), 1.5))
POINT, WEIGHT, SEEN = (0.4, -0.7, 1.2), 0.8, (0.15, -0.3)
ARGS = ((CAMERA, POINT), WEIGHT, SEEN)


def test_types() -> None:
    """The types that caddie's own example has."""
    functions = load([Source("ba.cad", TEXT)]).functions
    point = "(real * real * real)"
    camera = f"({point} * {point} * ((real * real) * real))"
    assert functions["rotate"].signature == f"({point} * {point}) -> {point}"
    assert functions["project"].signature == f"({camera} * {point}) -> (real * real)"
    assert functions["error"].signature == f"(({camera} * {point}) * real * (real * real)) -> real"


def test_gradient() -> None:
    """The gradient in all parameters: against the model by `fun`, and against differences."""
    error = load([Source("ba.cad", TEXT)]).error
    f = error.of()
    three, two = direct_sum(R, R, R), direct_sum(R, R)

    def by_hand(view: Any, weight: Any, seen: Any) -> Any:
        camera, point = view.split()
        r, t, lens = (part.split() for part in camera.split())
        k, f = lens[0].split(), lens[1]
        v = point.split()
        angle = sum((x * x for x in r[1:]), r[0] * r[0]) ** 0.5
        axis = [x / angle for x in r]
        product = [axis[(i + 1) % 3] * v[(i + 2) % 3] - axis[(i + 2) % 3] * v[(i + 1) % 3] for i in range(3)]
        along = (axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2]) * (1.0 - cos(angle))
        moved = [cos(angle) * v[i] + sin(angle) * product[i] + along * axis[i] + t[i] for i in range(3)]
        x, y = moved[0] / moved[2], moved[1] / moved[2]
        rr = x * x + y * y
        scale = f * (1.0 + k[0] * rr + k[1] * rr * rr)
        u, w = seen.split()
        dx, dy = weight * (scale * x - u), weight * (scale * y - w)
        return dx * dx + dy * dy

    model = fun(direct_sum(direct_sum(three, three, direct_sum(two, R)), three), R, two)(by_hand)
    assert f.dom == model.dom
    x = f.dom.vec(ARGS)
    assert float(f(x)) == pytest.approx(float(model(x)), rel=1e-14)
    found, due = grad(f)(x).flat(), grad(model)(x).flat()
    assert np.allclose(found, due, rtol=1e-12, atol=1e-13)
    at = x.flat()
    steps = np.eye(at.size) * 1e-6
    differences = [float(f(f.dom.unflat(at + e))) - float(f(f.dom.unflat(at - e))) for e in steps]
    assert np.allclose(found, np.array(differences) / 2e-6, rtol=1e-6, atol=1e-8)

"""Whether derivatives are right: ours and those by hand, against differences and against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.languages.ks import derivatives, linear, maps
from adjoint.languages.ks.values import Value, is_real, leaves_of, plus, scaled, tangent
from adjoint.languages.ks.values import real as number

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjoint.languages.ks.evaluate import KsEvaluator
    from adjoint.languages.ks.linked import Linked
    from adjoint.languages.ks.names import Callee

STEP = 6e-6
"""Of central differences: the cube root of the rounding unit."""
CLOSE = 1e-6
"""How far differences may be away, relatively."""
EQUAL = 1e-10
"""How far derivatives may be apart, relatively."""


def wrong(
    linked: Linked, callee: Callee, x: Value, rng: np.random.Generator, evaluator: Callable[[], KsEvaluator]
) -> str | None:
    """What is wrong at a point; None if nothing is."""

    def call(of: Callee, arg: Value) -> Value:
        return maps.call(linked, of, arg, evaluator())

    if not leaves_of(x):
        return None
    y = call(callee, x)
    if not all(np.isfinite(leaf.array).all() for leaf in leaves_of(y) if is_real(leaf)):
        return "the value is not finite where it was tried: give a point by --at"
    dx, dy = _drawn(x, rng), _drawn(y, rng)
    if not leaves_of(dx) or not leaves_of(dy):
        return None
    first = maps.by_name(linked, "suffwdpass", callee)
    if first is not None:
        value = call(first, x)[0]
        off = linear.dot(plus(value, scaled(number(-1.0), y)), plus(value, scaled(number(-1.0), y)))
        if not float(off.array) ** 0.5 <= EQUAL * max(_size(y), 1.0):
            return f"{first.key}, written by hand, gives another value than {callee.key}"
    found = {
        "fwd": linear.dot(derivatives.forward(linked, callee, (x, dx), evaluator()), dy),
        "rev": linear.dot(derivatives.backward(linked, callee, (x, dy), evaluator()), dx),
        "sufrev": linear.dot(derivatives.split_reverse(linked, callee, (x, dy), evaluator()), dx),
    }
    off = scaled(number(STEP), dx)
    there, before = call(callee, plus(x, off)), call(callee, plus(x, scaled(number(-1.0), off)))
    slope = linear.dot(tangent(lambda v: v, there), dy) - linear.dot(tangent(lambda v: v, before), dy)
    due = float(slope.array) / (2.0 * STEP)
    size = max(abs(due), _size(dx) * _size(dy) * 1e-3, 1e-9)
    for name, of in found.items():
        value = float(of.array)
        if not abs(value - due) <= CLOSE * 10.0 * size + 1e-10 * _size(y) / STEP:
            hand = maps.written(linked, name, callee)
            what = f"{hand.key}, written by hand," if hand else f"[{name} {callee.key}]"
            return f"{what} gives {value!r} where differences give {due!r}"
    forward = float(found["fwd"].array)
    for name in ("rev", "sufrev"):
        if not abs(float(found[name].array) - forward) <= EQUAL * max(abs(forward), size):
            what = f"{float(found[name].array)!r}, not {forward!r}"
            return f"[{name} {callee.key}] is not the transpose of [fwd {callee.key}]: {what}"
    return None


def _drawn(value: Value, rng: np.random.Generator) -> Value:
    """A tangent at a value."""

    def leaf(v: Any) -> Any:
        return v.space.vec(np.asarray(rng.standard_normal(v.array.shape)))

    return tangent(leaf, value)


def _size(value: Value) -> float:
    return max((float(np.abs(leaf.array).max(initial=0.0)) for leaf in leaves_of(value) if is_real(leaf)), default=0.0)

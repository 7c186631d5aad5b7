"""Optimal control: the least force that swings up a pole on a cart, by the trapezoidal rule (Kelly 2017)."""

from __future__ import annotations

import math
from typing import TypeAlias

import hilbert.all as hb


class Knot(hb.Axis, size=41):
    """The moments, 1/20 of a second apart."""


class Path(hb.Record):
    """The motion of cart and pole, and the force; the angle of a hanging pole is 0."""

    place: hb.Part[hb.Vector[Knot]]
    angle: hb.Part[hb.Vector[Knot]]
    speed: hb.Part[hb.Vector[Knot]]
    spin: hb.Part[hb.Vector[Knot]]
    force: hb.Part[hb.Vector[Knot]]


Knots: TypeAlias = hb.Expr[hb.Vector[Knot]]
Steps: TypeAlias = hb.Expr[hb.Vector[hb.Anonymous]]
Number: TypeAlias = hb.Expr[hb.Scalar]
P = Path.space()

step, cart, pole, length, gravity = 1.0 / 20.0, 1.0, 0.3, 0.5, 9.81


def rates(p: hb.Expr[Path]) -> tuple[Knots, Knots, Knots, Knots]:
    """The rates of change of place, angle, speed and spin, by the law of Newton."""
    sine, cosine, spin = hb.sin(p[Path.angle]), hb.cos(p[Path.angle]), p[Path.spin]
    inertia, push = cart + pole * sine**2, length * pole * sine * spin**2 + p[Path.force]
    speeding = (push + pole * gravity * cosine * sine) / inertia
    spinning = -(push * cosine + (cart + pole) * gravity * sine) / (length * inertia)
    return p[Path.speed], spin, speeding, spinning


def defect(x: Knots, rate: Knots) -> Steps:
    """The change in each step, less the step times the mean of the rates at its ends."""
    return x[1:] - x[:-1] - step / 2.0 * (rate[1:] + rate[:-1])


@hb.fun(P)
def effort(p: hb.Expr[Path]) -> Number:
    """The integral of the force's square."""
    return step / 2.0 * (p[Path.force][1:] @ p[Path.force][1:] + p[Path.force][:-1] @ p[Path.force][:-1])


@hb.fun(P)
def motion(p: hb.Expr[Path]) -> tuple[Steps, Steps, Steps, Steps]:
    """The defects, which are 0 for a path that obeys the law."""
    a, b, c, d = rates(p)
    return defect(p[Path.place], a), defect(p[Path.angle], b), defect(p[Path.speed], c), defect(p[Path.spin], d)


@hb.fun(P)
def first(p: hb.Expr[Path]) -> tuple[Number, Number, Number, Number]:
    """The state at the first knot, which is to be 0: at rest, with the pole hanging."""
    return p[Path.place][0], p[Path.angle][0], p[Path.speed][0], p[Path.spin][0]


@hb.fun(P)
def last(p: hb.Expr[Path]) -> tuple[Number, Number, Number, Number]:
    """The state at the last knot, less the due one: at rest, 1 to the right, with the pole upright."""
    return p[Path.place][-1] - 1.0, p[Path.angle][-1] - math.pi, p[Path.speed][-1], p[Path.spin][-1]


program = hb.nlp(effort, equal=hb.fun(P)(lambda p: (motion(p), first(p), last(p))))

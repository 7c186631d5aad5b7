"""Checks of adjoints and derivatives by numbers, with a report that names the failing subterm (paper §8's laws).

>>> from hilbert import R
>>> from diff import exp, fun, sin
>>> f = fun(R)(lambda x: exp(x * sin(x)))
>>> bool(check_derivative(f, R.vec(0.5))), bool(check_adjoint(f, R.vec(0.5)))
(True, True)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from attrs import frozen

from adjoint.checks.remainder import MARGIN, abroad, drawn, failing_step, noise, remainder_of
from adjoint.checks.rounding import size
from adjoint.reverse.first_nan import first_nan
from adjoint.reverse.rules import adjoint
from diff import derivative
from diff.terms.lower import program
from hilbert import Map, SpaceError, Vec
from hilbert.base.attach import overloaded
from hilbert.base.term import postorder
from hilbert.displayed import Displayed
from hilbert.errors import integer, shown
from hilbert.map.map import AnyMap, argument, require_map
from hilbert.program.line.constant import Const
from linmap.net.lower import net
from linmap.term.linear_map import AnyLinMap, LinMap
from linmap.term.net import Closed, Net, refs

if TYPE_CHECKING:
    from adjoint import _calls


@final
@frozen
class Report(Displayed):
    """The outcome of a check; true if it passed. `failing` is the smallest subterm found to fail."""

    ok: bool
    what: str
    numbers: tuple[tuple[str, float], ...]
    failing: str | None = None

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [f"{'passed' if self.ok else 'FAILED'}: {self.what}"]
        lines += [f"  {name}: {value:.3g}" for name, value in self.numbers]
        if self.failing:
            lines.append(f"  failing subterm: {self.failing}")
        return "\n".join(lines)


class _Both(NamedTuple):
    derivative: Report
    adjoint: Report


class Checks(Displayed, _Both):
    """The outcomes of both checks of a function; true if both passed."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return self.derivative.ok and self.adjoint.ok

    def __str__(self) -> str:
        return f"{self.derivative}\n{self.adjoint}"


def _generator(seed: int) -> np.random.Generator:
    number = integer(seed)
    if number is None or number < 0:
        msg = f"a seed is an integer ≥ 0, not {shown(seed)}"
        raise SpaceError(msg)
    return np.random.default_rng(number)


def _home(f: AnyLinMap) -> Any:
    """An array of the map that lives outside numpy, if there is one."""
    data = f.data if isinstance(f, Closed) else [getattr(arc.map, "datum", None) for arc in net(f).arcs]
    return abroad(datum.array for datum in data if isinstance(datum, Const))


def _dot_error(f: AnyLinMap, g: AnyLinMap, rng: np.random.Generator, samples: int) -> tuple[float, float]:
    """|f(v) ⊙ w − v ⊙ g(w)|, relative to ‖f(v)‖·‖w‖ + ‖v‖·‖g(w)‖, and what rounding may make of it: the worst pair."""
    worst, like = (0.0, 0.0), _home(f)
    leaves = [leaf for space in (f.dom, f.cod) for leaf in space.leaves]
    epsilon = max((float(np.finfo(leaf.dtype).eps) for leaf in leaves), default=0.0)
    least = max((float(np.finfo(leaf.dtype).tiny) for leaf in leaves), default=0.0) / (epsilon or 1.0)
    for _ in range(samples):
        v, w = drawn(f.dom, rng, like), drawn(f.cod, rng, like)
        fv, gw = f(v), g(w)
        scale = max(_size(fv) * _size(w) + _size(v) * _size(gw), least)
        error = abs(fv.inner(w) - v.inner(gw))
        if not math.isfinite(error):
            return math.inf, MARGIN * epsilon
        limit = MARGIN * epsilon
        if error > limit * scale:  # the sizes inside of f matter only then
            limit += MARGIN * (noise(f, v, rng) * w.norm() + v.norm() * noise(g, w, rng)) / scale
        found = (error / scale if scale else 0.0), limit
        worst = max(worst, found, key=lambda pair: pair[0] / (pair[1] or 1.0))
    return worst


def _size(v: Vec[Any]) -> float:
    """‖v‖, where its square is 0 or no number, too."""
    return v.norm() if v.is_formal else size(v.leaves)


@overloaded(lambda: _calls.check_adjoint)
def check_adjoint(f: AnyMap, *x: Vec[Any], star: AnyLinMap | None = None, samples: int = 5, seed: int = 0) -> Report:
    """The dot test f(v) ⊙ w = v ⊙ f*(w) over random vectors, of a linear map or of a function's derivative at x.

    `star` is the map to test instead of adjoint(f). Where the test fails, every subterm is tested with its own adjoint.
    What rounding may make of both sides is measured, in the precision of each space, with what cancels inside of f.
    Raises SpaceError if f is neither linear nor given a point, for a point of another space, and if `star` has other
    spaces.
    """
    rng = _generator(seed)
    if (integer(samples) or 0) < 1:
        msg = f"check_adjoint draws at least one sample, not {shown(samples)}"
        raise SpaceError(msg)
    if isinstance(f, LinMap):
        linear = f
        if x:  # where a linear map is tested does not matter, but the point is one of its domain
            argument(f, x)
    elif isinstance(f, Map) and x:
        linear = derivative(f).at(argument(f, x))
    else:
        msg = "check_adjoint takes a linear map, or a function and a point: check_adjoint(f, x)"
        raise SpaceError(msg)
    g = adjoint(linear) if star is None else star
    if not isinstance(g, LinMap) or g.dom != linear.cod or g.cod != linear.dom:
        due = f"a linear map {linear.cod} ⊸ {linear.dom}"
        msg = f"the adjoint of f : {linear.dom} ⊸ {linear.cod} is {due}, not {shown(g)}"
        raise SpaceError(msg)
    error, limit = _dot_error(linear, g, rng, samples)
    failing = None
    if error > limit:
        failing = str(linear) if star is not None else _failing_part(linear, rng, samples)
    what = f"f(v) ⊙ w = v ⊙ f*(w) for f : {linear.dom} ⊸ {linear.cod}"
    return Report(error <= limit, what, (("largest relative error", error), ("tolerance", limit)), failing)


def _failing_part(f: AnyLinMap, rng: np.random.Generator, samples: int) -> str:
    for part in postorder(f):
        if isinstance(part, Net) and refs(part):
            continue  # open: what it refers to is data of the map above it
        if isinstance(part, LinMap):
            error, limit = _dot_error(part, adjoint(part), rng, samples)
            if error > limit:
                return str(part)
    return str(f)


@overloaded(lambda: _calls.check_derivative)
def check_derivative(f: AnyMap, *x: Vec[Any], seed: int = 0) -> Report:
    """The remainder ‖(f(x+t·dx) − f(x−t·dx))/2 − t·f'(x)(dx)‖ falls as t³: a log–log fit, over shrinking t.

    A wrong derivative leaves a term in t. There is none in t², which might hide it, or cancel with that in t³.
    What rounding makes of it is measured, and does not count. Where the remainder does not fall, or soon is below
    rounding, steps are tested at the values that they have at x, moved as x moves them, and the first that fails is
    named. At a kink, where the slopes on both sides differ, and at a jump, where the values do, there is no derivative:
    the check fails, and says "kink" or "jump". Values that are not finite, however small the step, fail the check.
    Raises SpaceError for a point of another space.
    """
    require_map(f, "check_derivative")
    point = argument(f, x, "check_derivative")
    rng = _generator(seed)
    dx = drawn(derivative(f).dom, rng, abroad(point.leaves))
    found = remainder_of(f, point, dx, rng)
    failing = None if found.ok and found.sure else failing_step(f, point, dx, rng, every=not found.ok)
    if not all(math.isfinite(number) for _, number in found.numbers):
        place = first_nan(program(f).line, point.leaves)
        failing = failing if place is None else f"NaN at {place}"
    if found.broken:
        failing = f"{found.broken} on both sides of the point differ{f', in {failing}' if failing else ''}"
    what = f"(f(x + t·dx) − f(x − t·dx))/2 − t·f'(x)(dx) falls as t³ for f : {f.dom} → {f.cod}"
    return Report(found.ok and failing is None, what, found.numbers, failing)


@overloaded(lambda: _calls.check)
def check(f: AnyMap, *x: Vec[Any], seed: int = 0) -> Checks:
    """Both checks of a function at a point: its derivative, and the derivative's adjoint."""
    require_map(f, "check")
    argument(f, x, "check")
    return Checks(check_derivative(f, *x, seed=seed), check_adjoint(f, *x, seed=seed))

"""Tests of a function at points: of an operation of a user's above all, whose value and rule are taken on trust.

>>> from hilbert import R
>>> from diff import operation
>>> cube = operation("cube", R, to=R, value=lambda xp, x: x**3, tangent=lambda x, y, dx: 2.0 * x * x * dx)
>>> print(verify(cube, at=R.vec(2.0)))
FAILED at point 1: the derivative: (f(x + t·dx) − f(x − t·dx))/2 − t·f'(x)(dx) falls as t³ for f : ℝ → ℝ
  slope: 1
  largest remainder / t: 0.503
  failing subterm: step 1 of 1, cube on ℝ: x ↦ cube(x)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from adjoint.checks.check_derivatives import check
from diff import lift
from hilbert import Copower, DirectSum, Fin, SpaceError, Vec
from hilbert.arrays.libraries.namespace import namespace, to_numpy
from hilbert.displayed import Displayed
from hilbert.errors import written
from hilbert.map.map import AnyMap, argument, require_map

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAIR = Fin.of(2)
"""The functions are run on two points side by side."""
NEAR = (1.0625, 1.0 + 2.0**-10, 1.0 + 2.0**-20)
"""The second point is the first times one of these, if the function has a value there."""
CLOSE = 1e3
"""Results that are computed side by side may differ by so many units of rounding."""


@final
@frozen
class Verification(Displayed):
    """The failures that were found, in the order of the points; true if there are none."""

    failures: tuple[str, ...]
    points: int

    def __bool__(self) -> bool:
        return not self.failures

    def __str__(self) -> str:
        if not self.failures:
            return f"passed at {self.points} point{'s' * (self.points > 1)}"
        return "\n".join(f"FAILED {failure}" for failure in self.failures)


@written("verify(f, at=x)")
def verify(f: AnyMap, *, at: Any) -> Verification:
    """Test that f is a function, lifts as its loop, and has the derivative and the adjoint that it says, at points.

    `at` is a point, as one vector or as a tuple with one for each argument, or a list of points. At each of them the
    value is computed twice; side by side with another one, in each argument and in all; and differentiated: see
    `check`. Raises SpaceError for what is no function, and for points of another space.
    """
    require_map(f, "verify")
    points = [argument(f, x if isinstance(x, tuple) else (x,)) for x in (at if isinstance(at, list) else [at])]
    if not points:
        raise SpaceError("verify(f, at=…) takes a point, or a list of points, and the list is empty")
    failures = tuple(f"at point {k}: {text}" for k, x in enumerate(points, 1) for text in _failures(f, x))
    return Verification(failures, len(points))


def _failures(f: AnyMap, x: Vec[Any]) -> Iterator[str]:
    try:
        value = f(x)
    except SpaceError as error:
        yield f"the value: {error}"
        return
    if not _alike(f(x), value, 0.0):
        yield "the value: it differs when it is computed again"
        return
    if not _is_finite(value):
        yield "the value: it is not finite"
        return
    yield from _lifts(f, x, value)
    try:
        derivative, adjoint = check(f, x)
    except SpaceError as error:
        yield f"the derivative: {error}"
        return
    for name, report in (("derivative", derivative), ("adjoint", adjoint)):
        if not report:
            yield f"the {name}: {str(report).removeprefix('FAILED: ')}"


def _lifts(f: AnyMap, x: Vec[Any], value: Vec[Any]) -> Iterator[str]:
    """Run side by side with another point, in one argument or in all: each as alone."""
    parts = x.split() if isinstance(f.dom, DirectSum) else (x,)
    for over in dict.fromkeys([*((k,) for k in range(len(parts))), tuple(range(len(parts)))]):
        other, there = _nearby(f, parts, over)
        pair = [_pair(part, other[k]) if k in over else part for k, part in enumerate(parts)]
        name = "all arguments" if len(over) == len(parts) else f"argument {over[0] + 1}"
        lifted: AnyMap = lift(f, PAIR, over=over) if isinstance(f.dom, DirectSum) else f**PAIR
        try:
            both = lifted(*pair)
        except SpaceError as error:
            yield f"lifted over {name}: {error}"
            return
        for k, due in enumerate((value, there)):
            found = Vec(f.cod, tuple(a[k] for a in both.leaves))
            if not _alike(found, due, CLOSE):
                yield f"lifted over {name}: its values are not those of one point after the other"
                return


def _nearby(f: AnyMap, parts: Sequence[Vec[Any]], over: Sequence[int]) -> tuple[list[Vec[Any]], Vec[Any]]:
    """A point with other values of some arguments, where f has a value, and this value."""
    for factor in NEAR:
        other = [_times(factor, part) if k in over else part for k, part in enumerate(parts)]
        try:
            there = f(*other)
        except SpaceError:  # it leaves where f is defined
            continue
        if _is_finite(there):
            return other, there
    return list(parts), f(*parts)


def _is_finite(v: Vec[Any]) -> bool:
    return all(np.isfinite(to_numpy(a)).all() for a in v.leaves)


def _times(factor: float, x: Vec[Any]) -> Vec[Any]:
    """A point nearby; what is discrete stays."""
    leaves = zip(x.leaves, x.space.leaves, strict=True)
    return Vec(x.space, tuple(factor * a if leaf.is_field else a for a, leaf in leaves))


def _pair(x: Vec[Any], y: Vec[Any]) -> Vec[Any]:
    stacked = tuple(namespace(a).stack([a, b]) for a, b in zip(x.leaves, y.leaves, strict=True))
    return Vec(Copower(x.space, PAIR), stacked)


def _alike(a: Vec[Any], b: Vec[Any], units: float) -> bool:
    """Tell if two vectors agree up to rounding."""
    for left, right in zip(a.leaves, b.leaves, strict=True):
        x, y = to_numpy(left), to_numpy(right)
        if x.dtype.kind != "f" or not units:
            if not np.array_equal(x, y, equal_nan=x.dtype.kind == "f"):
                return False
        else:
            size = max(1.0, float(np.abs(y).max(initial=0.0)))
            if not np.allclose(x, y, rtol=0.0, atol=units * np.finfo(x.dtype).eps * size):
                return False
    return True

"""Solutions of x' = f(x) by Taylor series: x_{n+1} = f(x)_n / (n+1).

>>> from hilbert import R
>>> from diff import fun
>>> logistic = fun(R)(lambda x: x * (1.0 - x))
>>> print(ode_series(logistic, 3)(R.vec(0.5)))
(0.5, 0.25, 0.0, -0.020833333333333332) ∈ ℝ ⊕ ℝ ⊕ ℝ ⊕ ℝ
>>> print(round(float(ode_solve(logistic, R.vec(0.5), 2.0)), 12))  # 1/(1 + e⁻²)
0.880797077978
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, final, overload

import numpy as np

from diff.jets.multiindex import count, indices
from diff.jets.series import Series
from diff.jets.taylor_series import Coefficients
from diff.terms.lower import program
from diff.terms.planned_program import derived
from diff.terms.program import AnyProgram, Program
from diff.trace.expr import Expr
from hilbert import DirectSum, Map, SpaceError, Type, Vec
from hilbert.arrays.kernels.library import library
from hilbert.base.once import once
from hilbert.errors import number, shown
from hilbert.map.map import AnyMap, argument, require_map
from hilbert.program.line.builder import Builder
from hilbert.space.space import require_space

if TYPE_CHECKING:
    from collections.abc import Iterator

V = TypeVar("V", bound=Type)
Leaves = tuple[Any, ...]


def ode_series(f: Map[V, V], order: int) -> Map[V, Any]:
    """V → V ⊕ … ⊕ V, x₀ ↦ (x₀, …, x_R) with x(t) = Σ x_n tⁿ + O(t^{R+1}) the solution of x' = f(x), x(0) = x₀.

    Coefficients are divided by n!. Time is a component with derivative 1, where f depends on it. Raises SpaceError
    unless f is a map of one space to itself, and for an order below 0.
    """
    require_map(f, "ode_series")
    order = count(order, "the order of a Taylor series")
    indices(1, order)  # not too many
    require_space(f.dom, "x' = f(x)")
    _require_rate(f)
    return _series(program(f), order)


def _require_rate(f: AnyMap) -> None:
    """Raise SpaceError unless f is a map of one space to itself; where it has parameters, say what becomes of them."""
    if f.dom == f.cod:
        return
    msg = f"x' = f(x) needs f : V → V, not one {f.dom} → {f.cod}"
    parts = f.dom.parts if isinstance(f.dom, DirectSum) else ()
    if sum(part == f.cod for part in parts) == 1:
        names = ["x" if part == f.cod else f"p{k}" if len(parts) > 2 else "p" for k, part in enumerate(parts)]
        rates = [f"f({', '.join(names)})" if name == "x" else f"0.0*{name}" for name in names]
        spaces, given = ", ".join(name.upper() for name in names).replace("X", "V"), ", ".join(names)
        msg += f": parameters are parts of the state that stay, fun({spaces})(lambda {given}: ({', '.join(rates)}))"
    raise SpaceError(msg)


@once
def _series(p: AnyProgram, order: int) -> AnyProgram:
    def built(q: AnyProgram) -> AnyProgram:
        b = Builder(q.dom.leaves, fold=True, fixed=q.line.fixed)
        start: Coefficients = {(i, (0,)): i for i in range(q.arity)}
        series = Series(q, b, indices(1, order), start, fed=tuple(range(q.arity)))
        outputs = [series.at(i, alpha) for alpha in indices(1, order) for i in range(q.arity)]
        return Program.of(b, q.dom, outputs, DirectSum((q.dom,) * (order + 1)), q.names)

    return derived(p, built)


@overload
def ode_solve(f: Map[V, V], x0: Vec[V], t: float, tol: float = ..., *, order: int | None = None) -> Vec[V]: ...
@overload
def ode_solve(
    f: Map[V, V], x0: Vec[V], t: Sequence[float], tol: float = ..., *, order: int | None = None
) -> list[Vec[V]]: ...
def ode_solve(f: AnyMap, x0: Vec[Any], t: Any, tol: float = 1e-12, *, order: int | None = None) -> Any:
    """x(t) for x' = f(x), x(0) = x₀, by Taylor steps; of several times, in order, a list.

    Each step is as long as the last coefficients allow for a local error of `tol`, relative to the largest entry of x,
    and is taken again, half as long, where the polynomial does not solve the equation to that at its end. Without
    `order` it is 1 − ½ ln tol, which suits the tolerance. The method is explicit: not for stiff equations.

    Raises SpaceError for other spaces, a tolerance that is not between rounding and 1, an order above 100, times that
    go back and forth, where the solution ends before t, and where the pace of the first 5,000 steps makes them more
    than 10⁹.
    """
    require_map(f, "ode_solve")
    for what, given in (("x0", x0), ("t", t)):
        if isinstance(given, Expr) or (isinstance(given, tuple) and Expr in map(type, given)):
            msg = f"ode_solve(f, x0, t) takes as many steps as these numbers need, and {what} is {shown(given)}: in a "
            msg += "traced function a number of steps is given, as in iterate(step, x0, X), whose step adds up the "
            raise SpaceError(f"{msg}coefficients ode_series(f, order)(x) times powers of its length")
    _require_rate(f)
    x = argument(f, (x0,))
    times, ends = _times(t), isinstance(number(t), float)
    rounding = max((float(np.finfo(leaf.dtype).eps) for leaf in f.dom.leaves if leaf.is_field), default=0.0)
    bound = number(tol)
    if bound is None or not rounding <= bound < 1.0:
        msg = f"tol is a number from {rounding:.2g}, the rounding of {f.dom}, to 1, not {shown(tol)}"
        raise SpaceError(msg)
    terms = _order(bound) if order is None else count(order, "the order of a Taylor step")
    if not 2 <= terms <= HIGHEST:
        fit = _order(bound)
        msg = f"a Taylor step has an order from 2 to {HIGHEST}, not {terms}: {fit} suits the tolerance {bound:.2g}"
        raise SpaceError(msg)
    run = ode_series(f, terms)
    found = [Vec(f.dom, leaves) for leaves in _Steps(run, x, times, bound, terms)]
    return found[0] if ends else found


def _order(tol: float) -> int:
    """1 − ½ ln tol, at which a number of digits costs least; 2 at least."""
    return max(2, math.ceil(1.0 - 0.5 * math.log(tol)))


def _times(t: Any) -> list[float]:
    """The times as numbers; raises SpaceError for other things, and for times that are not in order from 0."""
    given = [t] if number(t) is not None else list(t) if isinstance(t, (Sequence, np.ndarray)) else [None]
    times = [number(one) for one in given]
    found = [one for one in times if one is not None and math.isfinite(one)]
    if len(found) != len(times):
        msg = f"t is a time, or several of them, not {shown(t)}"
        raise SpaceError(msg)
    way = [0.0, *found]
    if way not in (sorted(way), sorted(way, reverse=True)):
        msg = f"the {len(found)} times t of a solution go one way from 0, forwards or backwards: sort them"
        raise SpaceError(msg)
    return found


HIGHEST = 100
"""The highest order of a Taylor step: a program has steps in its square, and rounding leaves nothing to gain above."""
SOME, MOST = 5000, 10**9
"""The steps after which a pace is known, and those that no solution takes."""


@final
class _Steps:
    """The solution at some times, one after the other."""

    def __init__(self, run: AnyMap, x: Vec[Any], times: list[float], tol: float, order: int) -> None:
        self.run, self.times, self.tol, self.order = run, times, tol, order
        self.space = run.dom
        self.now, self.taken = 0.0, 0
        self.terms = self._series(x.leaves)

    def __iter__(self) -> Iterator[Leaves]:
        """Evaluate the polynomial of the step in which a time lies."""
        for time in self.times:
            while (rest := time - self.now) != 0.0:
                if self.taken >= SOME and abs(rest) * self.taken > MOST * abs(self.now):
                    msg = f"the solution of x' = f(x) took {self.taken} steps to t = {self.now:.6g}: at this pace more "
                    raise SpaceError(f"{msg}than {MOST} lead to t = {time:.6g}; give a shorter time")
                h = math.copysign(min(self._length(), abs(rest)), rest)
                self.taken += 1
                self._advance(h, time if abs(h) == abs(rest) else self.now + h)
            yield self.terms[0]

    def _series(self, leaves: Leaves) -> list[Leaves]:
        """The coefficients at a point."""
        n = len(self.space.leaves)
        flat = self.run(Vec(self.space, leaves)).leaves
        return [flat[k * n : k * n + n] for k in range(self.order + 1)]

    def _length(self) -> float:
        """h with |x_n|·hⁿ ≤ tol·max(|x₀|, |x₁|·h) for the last n, where x_n is the larger of the last two."""
        value, slope = _size(self.terms[0]), _size(self.terms[1])
        found = math.inf
        for n in (self.order - 1, self.order):
            size = _size(self.terms[n])
            if size > 0.0:
                by_slope = (self.tol * slope / size) ** (1.0 / (n - 1)) if n > 1 else 0.0
                found = min(found, max((self.tol * value / size) ** (1.0 / n), by_slope))
        if math.isfinite(slope) and math.isfinite(value):
            return found
        msg = f"the solution of x' = f(x) cannot be continued at t = {self.now:.6g}: f is not finite there"
        raise SpaceError(msg)

    def _advance(self, h: float, time: float) -> None:
        """A step of length h, or half of it, and so on, until the polynomial solves the equation at its end."""
        while True:
            end = _horner(self.terms, h)
            slope = _horner([tuple(n * a for a in c) for n, c in enumerate(self.terms)][1:], h)
            terms = self._series(end)
            defect = _size(tuple(a - b for a, b in zip(terms[1], slope, strict=True))) * abs(h) / self.order
            if defect <= self.tol * max(_size(end), _size(self.terms[1]) * abs(h)):
                self.now, self.terms = time, terms
                return
            h *= 0.5
            time = self.now + h
            if time == self.now:
                msg = (
                    f"the solution of x' = f(x) cannot be continued beyond t = {self.now:.6g}: no step is short enough"
                )
                raise SpaceError(msg)


def _horner(terms: Sequence[Leaves], h: float) -> Leaves:
    """Σ terms_n·hⁿ."""
    total = terms[-1]
    for c in terms[-2::-1]:
        total = tuple([h * a + b for a, b in zip(total, c, strict=True)])
    return total


def _size(leaves: Leaves) -> float:
    """The largest |entry|."""
    sizes = [0.0]
    for a in leaves:
        if getattr(a, "size", 1):
            xp = library(a).xp
            sizes.append(float(xp.max(xp.abs(a))))
    return math.nan if any(map(math.isnan, sizes)) else max(sizes)

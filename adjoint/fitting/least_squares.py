"""Least squares: points where the sum of the squares of residuals is least, by Gauss–Newton and Levenberg–Marquardt.

The Jacobian is a program of the point, and its normal equations are solved by their structure (Nielsen's damping; see
Madsen, Nielsen and Tingleff, *Methods for non-linear least squares problems*, 2004).

>>> import numpy as np
>>> from diff import exp, fun
>>> from hilbert import Fin, R
>>> X = R ** Fin.of(20)
>>> t = X.vec(np.linspace(0.0, 2.0, 20))
>>> model = fun(R, R)(lambda a, k: a * exp(-k * t))
>>> data = model(R.vec(2.0), R.vec(0.7))
>>> fit = levenberg_marquardt(fun(R, R)(lambda a, k: model(a, k) - data), model.dom.vec((1.0, 1.0)))
>>> print(np.round(fit.point.flat(), 6).tolist(), fit.rounds < 10)
[2.0, 0.7] True
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, assert_never, final, get_args

import numpy as np
from attrs import frozen

from adjoint.reverse.jacobian_program import jacobian_program
from diff.terms.lower import program
from hilbert import Map, SpaceError, Type, Vec
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.arrays.systems.normal_equations import NormalEquations
from hilbert.errors import integer, number, shown
from hilbert.map.map import require_map
from linmap.matrices.made.patterns import SparsePattern
from linmap.printing.notation import Listing

if TYPE_CHECKING:
    from collections.abc import Callable

Loss: TypeAlias = Literal["squares", "huber", "cauchy"]
"""The loss of a residual r: r², or one that grows less fast where |r| is above a scale."""
V = TypeVar("V", bound=Type)
MOST, HALVES = 1e16, 30
"""The damping at which no step makes the loss smaller, and how often a step without damping is halved."""


@final
@frozen
class Fit(Listing, Generic[V]):
    """The end of a search for least squares: the point, half of the loss before and after each round, the reason."""

    point: Vec[V]
    losses: tuple[float, ...]
    reason: str
    way: str

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return len(self.losses) - 1

    def __str__(self) -> str:
        return self.text()

    def text(self, lines: int | None = None) -> str:
        """The losses, why the search ended, and how the equations were solved."""
        start, end = self.losses[0], self.losses[-1]
        made = [f"{self.rounds} rounds: {start:.6g} → {end:.6g}", f"end: {self.reason}", f"equations: {self.way}"]
        return "\n".join(made[:lines])


def levenberg_marquardt(
    f: Map[V, Any],
    start: Vec[V],
    *,
    at_most: int = 100,
    tolerance: float = 1e-10,
    damping: float = 1e-3,
    loss: Loss = "squares",
    scale: float = 1.0,
    progress: Callable[[int, float], object] | None = None,
) -> Fit[V]:
    """The point near `start` where ½ Σ f(x)ᵢ² is least; half the `loss` of each entry, if that is another.

    A round solves (JᵀWJ + λ diag JᵀWJ) s = −JᵀW f(x), whose weights W are those of the loss at the `scale`: "huber"
    is linear, "cauchy" logarithmic beyond that. The search ends where the step is at most a part of `tolerance` of x,
    where the loss gets no smaller, or after so many rounds; `.reason` says which. `progress(round, loss)` is called
    after each. Raises SpaceError for an f or a start that do not fit, and where f(start) is no number.
    """
    return _search(f, start, "levenberg_marquardt", at_most, tolerance, damping, loss, scale, progress)


def gauss_newton(
    f: Map[V, Any],
    start: Vec[V],
    *,
    at_most: int = 100,
    tolerance: float = 1e-10,
    loss: Loss = "squares",
    scale: float = 1.0,
    progress: Callable[[int, float], object] | None = None,
) -> Fit[V]:
    """As `levenberg_marquardt` without damping: a step that makes the loss no smaller is halved.

    Raises SpaceError also where JᵀWJ is singular.
    """
    return _search(f, start, "gauss_newton", at_most, tolerance, 0.0, loss, scale, progress)


@final
class _Residuals:
    """The residuals of a function, their loss, and the equations of a round."""

    def __init__(self, f: Any, loss: Loss, scale: float, what: str) -> None:
        self.f, self.loss, self.scale, self.what = program(f), loss, scale, what
        self.jacobian = _jacobian(f)
        pattern = self.jacobian.pattern
        if isinstance(pattern, SparsePattern):
            self.equations = NormalEquations(pattern.shape, pattern.indptr, pattern.indices)
        else:
            m, n = f.cod.dim, f.dom.dim
            self.equations = NormalEquations((m, n), np.arange(m + 1) * n, np.tile(np.arange(n), m))

    def at(self, x: Vec[Any]) -> tuple[Any, float]:
        """The residuals, and half of their loss."""
        with np.errstate(all="ignore"):
            r = np.asarray(to_numpy(self.f(x).flat()), np.float64)
            return r, 0.5 * float(self._losses(r).sum())

    def _losses(self, r: Any) -> Any:
        size, s = np.abs(r), self.scale
        match self.loss:
            case "huber":
                return np.where(size <= s, r * r, 2.0 * s * size - s * s)
            case "cauchy":
                return s * s * np.log1p((r / s) ** 2)
            case "squares":
                return r * r
            case never:
                assert_never(never)

    def weights(self, r: Any) -> Any:
        """The derivative of the loss over that of the square."""
        match self.loss:
            case "huber":
                return self.scale / np.maximum(np.abs(r), self.scale)
            case "cauchy":
                return 1.0 / (1.0 + (r / self.scale) ** 2)
            case "squares":
                return np.ones_like(r)
            case never:
                assert_never(never)

    def entries(self, x: Vec[Any]) -> Any:
        """The entries of the Jacobian, row by row."""
        return np.asarray(to_numpy(self.jacobian(x).flat()), np.float64)

    def trial(self, now: _Trial, step: Any) -> _Trial:
        """The point behind a step."""
        flat = now.flat + step
        x = now.x.space.unflat(flat.astype(now.x.flat().dtype))
        return _Trial(x, flat, *self.at(x), step)

    def damped(self, now: _Trial, entries: Any, weights: Any, lam: float) -> tuple[_Trial | None, float]:
        """The point behind a step, damped until the loss is smaller, and the damping; None where that is large."""
        growth = 2.0
        while lam < MOST:
            with suppress(np.linalg.LinAlgError):
                made = self.trial(now, self.equations.solved(entries, weights, -now.r, lam))
                if made.value < now.value:
                    return made, lam
            lam, growth = lam * growth, growth * 2.0
        return None, lam

    def halved(self, now: _Trial, entries: Any, weights: Any) -> _Trial | None:
        """The point behind a step, or the first of its halves, that makes the loss smaller."""
        try:
            step = self.equations.solved(entries, weights, -now.r, 0.0)
        except np.linalg.LinAlgError as error:
            msg = f"{self.what}: JᵀJ is singular at this point; levenberg_marquardt adds a part of its diagonal"
            raise SpaceError(msg) from error
        for k in range(HALVES):
            made = self.trial(now, step * 0.5**k)
            if made.value < now.value:
                return made
        return None


def _jacobian(f: Any) -> Any:
    """The program of the entries of the Jacobian; of the whole matrix, where that is full or its places are unknown."""
    try:
        found = jacobian_program(f, as_="sparse")
    except SpaceError:
        return jacobian_program(f, as_="array")
    full = 4 * found.pattern.entries > f.dom.dim * f.cod.dim
    return jacobian_program(f, as_="array") if full else found


@final
@frozen
class _Trial:
    """A point, its residuals, half of their loss, and the step that led there."""

    x: Vec[Any]
    flat: Any
    r: Any
    value: float
    step: Any


def _search(
    f: Any,
    start: Any,
    what: str,
    at_most: Any,
    tolerance: Any,
    damping: Any,
    loss: Any,
    scale: Any,
    progress: Callable[[int, float], object] | None,
) -> Fit[Any]:
    """Rounds of steps, each of which makes the loss smaller."""
    most = _required(f, start, what, at_most, tolerance, damping, loss, scale, progress)
    of, lam = _Residuals(f, loss, float(scale), what), float(damping)
    r, value = of.at(start)
    if not math.isfinite(value):
        msg = f"{what}: the residuals at the start are not all finite"
        raise SpaceError(msg)
    now = _Trial(start, np.asarray(start.flat(), np.float64), r, value, 0.0)
    losses, reason = [value], f"{most} rounds are over"
    while len(losses) <= most and losses[-1]:
        entries, weights = of.entries(now.x), of.weights(now.r)
        slope = of.equations.product(entries, weights * now.r)
        made, lam = of.damped(now, entries, weights, lam) if damping else (of.halved(now, entries, weights), lam)
        if made is None:
            reason = "no step makes the loss smaller"
            break
        gain = now.value - made.value
        ratio = gain / max(-0.5 * float(slope @ made.step), np.finfo(float).tiny)
        lam *= max(1 / 3, 1.0 - (2.0 * min(ratio, 1.0) - 1.0) ** 3)
        is_short = np.linalg.norm(made.step) <= tolerance * (tolerance + np.linalg.norm(now.flat))
        is_flat, now = gain <= max(tolerance**2, 4.0 * np.finfo(float).eps) * now.value, made
        losses.append(now.value)
        if progress is not None:
            progress(len(losses) - 1, now.value)
        if is_short or is_flat:
            reason = f"the step is short: at most {tolerance:g} of x" if is_short else "the loss stays what it is"
            break
    if not losses[-1]:
        reason = "the residuals are 0"
    return Fit(now.x, tuple(losses), reason, of.equations.way)


def _required(
    f: Any, start: Any, what: str, at_most: Any, tolerance: Any, damping: Any, loss: Any, scale: Any, progress: Any
) -> int:
    """The most rounds; raises SpaceError for arguments that do not fit."""
    require_map(f, what)
    if not (f.dom.is_space and f.cod.is_space):
        msg = f"{what} takes a function between spaces, not one from {f.dom} to {f.cod}"
        raise SpaceError(msg)
    if not isinstance(start, Vec) or start.space != f.dom:
        msg = f"{what}(f, start): the start is a vector of {f.dom}, not {shown(start)}"
        raise SpaceError(msg)
    most = integer(at_most)
    if most is None or most < 1:
        msg = f"{what}: at_most={shown(at_most)}: a number of rounds from 1 on"
        raise SpaceError(msg)
    if progress is not None and not callable(progress):
        msg = f"{what}: progress={shown(progress)}: a function of the round and the loss"
        raise SpaceError(msg)
    for name, given, least in (("tolerance", tolerance, 0.0), ("damping", damping, 0.0), ("scale", scale, 0.0)):
        k = number(given)
        if k is None or not (least < k < math.inf or (name == "damping" and what == "gauss_newton")):
            msg = f"{what}: {name}={shown(given)}: a number above 0"
            raise SpaceError(msg)
    if loss not in get_args(Loss):
        msg = f"{what}: the name of a loss is {', '.join(map(repr, get_args(Loss)))}, not {shown(loss)}"
        raise SpaceError(msg)
    return most

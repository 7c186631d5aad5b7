"""Conjugate gradients for symmetric positive systems, from products with vectors (Hestenes and Stiefel, 1952).

Many systems are solved side by side: the last axis is that of the unknowns. That a matrix is not positive, or not
symmetric, shows in numbers that the method computes, or nearly: pᵀAp ≤ 0 for a search direction p, or two directions
with qᵀAp ≠ 0 = (Aq)ᵀp.

>>> import numpy as np
>>> a, b = np.asarray([[2.0, 1.0], [1.0, 3.0]]), np.asarray([3.0, 4.0])
>>> how = ConjugateGradients(preconditioner=None, tolerance=1e-12, steps=10)
>>> conjugate_gradients(np, lambda x: x @ a, None, b, how).round(12).tolist()
[1.0, 1.0]
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

import numpy as np
from attrs import frozen

from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.arrays.systems.scipy_modules import Scipy

    Map = Callable[[Any], Any]

Preconditioner: TypeAlias = Literal["diagonal", "band", "blocks"]
"""The parts of a matrix whose inverse is a preconditioner."""
STRAY = 2.0
"""The residual of a solution may be so many times as large as that of the recurrence, for rounding."""
EXPONENT = 0.6
"""The part of |b| that the residual may have is ε to this power, where nothing else is said."""


@final
@frozen
class ConjugateGradients:
    """The options of a search: a preconditioner by name, the part of |b| left in the residual, and the most steps.

    Without a tolerance the part is ε^(3/5): 4·10⁻¹⁰ in double precision, and 7·10⁻⁵ in single precision.
    """

    preconditioner: Preconditioner | None
    tolerance: float | None
    steps: int


def conjugate_gradients(xp: Any, apply: Map, precondition: Map | None, b: Any, how: ConjugateGradients) -> Any:
    """x with apply(x) = b; NaN where b, or a product, is not finite.

    Where the residual of x is larger than that of the recurrence, the search starts again at x, as long as that halves
    the residual. Raises SpaceError where it does not or the steps are used up, and for a map that turns out not to be
    symmetric and positive.
    """
    scale = _scale(xp, b)
    b = b / scale  # of which squares neither overflow nor vanish
    size = _norm(xp, b)
    tolerance = float(xp.finfo(b.dtype).eps) ** EXPONENT if how.tolerance is None else how.tolerance
    due, before, steps = tolerance * size, size, 0
    x, r = xp.zeros_like(b), xp.asarray(b, copy=True)
    while True:
        x, steps, is_open = _search(xp, apply, precondition, (x, r), due, steps, how.steps)
        r = b - apply(x)
        left = _norm(xp, r)
        far = is_open | (left > STRAY * due)
        if not bool(xp.any(far)):
            x, found = x * scale, xp.isfinite(left)
            return x if bool(xp.all(found)) else xp.where(found[..., None], x, xp.full_like(x, xp.nan))
        if steps >= how.steps or bool(xp.any(far & (left > before / 2.0))):
            part = float(xp.max(xp.where(far, left / xp.where(far, size, xp.ones_like(size)), xp.zeros_like(left))))
            raise SpaceError(_unsolved(part, tolerance, steps if steps >= how.steps else None))
        before = left


def _search(
    xp: Any, apply: Map, precondition: Map | None, at: tuple[Any, Any], due: Any, steps: int, most: int
) -> tuple[Any, int, Any]:
    """Steps from x, whose residual is r, until that of the recurrence is small; both arrays are written over.

    With the number of steps, and which systems are left.
    """
    x, r = at
    sp = scipy_of() if xp is np and r.size == r.shape[-1] else None
    v: Many | One = Many(xp) if sp is None else One(sp, r)
    due = due if sp is None else due.item()
    p: Any = None
    rho, first = due, None
    is_open = v.norm(r) > due
    while steps < most and v.some(is_open):
        z = r if precondition is None else precondition(r)
        last, rho = rho, v.dot(r, z)
        if v.some(is_open & (rho <= 0.0)):
            raise SpaceError("cg: the preconditioner is not positive: take another one, or preconditioner=None")
        p = xp.asarray(z, copy=True) if p is None else v.sum(z, v.ratio(rho, last, is_open), p)
        ap = apply(p)
        curvature = v.dot(p, ap)
        if v.some(is_open & (curvature <= 0.0)):
            raise SpaceError(f"cg: the map is not positive, as step {steps + 1} shows: {INSTEAD}")
        if first is not None:
            is_exact = is_open & (rho > float(xp.finfo(p.dtype).eps) ** 0.5 * last)  # p is more than rounding
            _require_symmetric(xp, first, (p, ap), is_exact)
        first = None if steps else (xp.asarray(p, copy=True), xp.asarray(ap, copy=True))
        alpha = v.ratio(rho, curvature, is_open)
        x, r = v.added(x, alpha, p), v.added(r, -alpha, ap)
        is_open = v.norm(r) > due
        steps += 1
    return x, steps, is_open


@final
class Many:
    """Vectors of many systems, with a number for each; sums are written over one of their vectors."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp

    def some(self, truths: Any) -> bool:
        """Tell if one of some truths holds."""
        return bool(self._xp.any(truths))

    def ratio(self, a: Any, b: Any, where: Any) -> Any:
        """a / b for some of the systems, and 0 for the others."""
        xp = self._xp
        return xp.where(where, a / xp.where(where, b, xp.ones_like(b)), xp.zeros_like(a))

    def dot(self, x: Any, y: Any) -> Any:
        """The inner products."""
        return self._xp.vecdot(x, y)

    def norm(self, x: Any) -> Any:
        """The lengths."""
        return _norm(self._xp, x)

    def added(self, x: Any, k: Any, p: Any) -> Any:
        """x + k·p, in the place of x."""
        x += k[..., None] * p
        return x

    def sum(self, z: Any, k: Any, p: Any) -> Any:
        """z + k·p, in the place of p."""
        p *= k[..., None]
        p += z
        return p


@final
class One:
    """The vectors of one system in numpy, by BLAS; their numbers are Python's."""

    def __init__(self, sp: Scipy, like: Any) -> None:
        self._scal, self._axpy, self._dot = sp.linalg.get_blas_funcs(("scal", "axpy", "dot"), (like,))

    def some(self, truth: Any) -> bool:
        """Tell if it holds."""
        return bool(truth)

    def ratio(self, a: Any, b: Any, where: Any) -> Any:
        """a / b, where b is not 0."""
        return a / b

    def dot(self, x: Any, y: Any) -> Any:
        """The inner product."""
        return self._dot(x.reshape(-1), y.reshape(-1))

    def norm(self, x: Any) -> Any:
        """The length."""
        return math.sqrt(self.dot(x, x))

    def added(self, x: Any, k: Any, p: Any) -> Any:
        """x + k·p, in the place of x."""
        return self._axpy(p.reshape(-1), x.reshape(-1), a=k).reshape(x.shape)

    def sum(self, z: Any, k: Any, p: Any) -> Any:
        """z + k·p, in the place of p."""
        return self._axpy(z.reshape(-1), self._scal(k, p.reshape(-1))).reshape(p.shape)


INSTEAD = "solve(A, b) takes any regular map"


def _require_symmetric(xp: Any, one: tuple[Any, Any], other: tuple[Any, Any], of: Any) -> None:
    """Raise SpaceError where two directions `of` some systems, with (Aq)ᵀp = 0, have another qᵀAp."""
    scales = [_scale(xp, a) for a in one]
    (q, aq), (p, ap) = [[a / scale for a, scale in zip(pair, scales, strict=True)] for pair in (one, other)]
    most = float(xp.finfo(p.dtype).eps) ** 0.5 * (_norm(xp, q) * _norm(xp, ap) + _norm(xp, aq) * _norm(xp, p))
    if bool(xp.any(of & (abs(xp.vecdot(q, ap)) > most))):
        raise SpaceError(f"cg: the map is not symmetric, as two directions show: {INSTEAD}")


def _unsolved(part: float, tolerance: float, steps: int | None) -> str:
    """The message where the residual is such a part of b; `steps` are all that there may be, if they are used up."""
    left = f"{part:.3g} of the right side, and {tolerance:.3g} is asked for"
    if steps is None:
        return f"cg: rounding leaves a residual of {left}: write a larger tolerance=…, or solve(A, b)"
    return (
        f"cg: after {steps} steps the residual is {left}: write more steps=…, another preconditioner=…, or solve(A, b)"
    )


def _norm(xp: Any, a: Any) -> Any:
    return xp.sqrt(xp.vecdot(a, a))


def _scale(xp: Any, a: Any) -> Any:
    """The power of two in the greatest entry of each system; 1 where that is 0 or not finite."""
    if a.shape[-1] == 0:
        return xp.ones_like(a[..., :1])
    most = xp.max(abs(a), axis=-1, keepdims=True)
    one = xp.ones_like(most)
    return xp.where((most > 0.0) & xp.isfinite(most), 2.0 ** xp.floor(xp.log2(xp.where(most > 0.0, most, one))), one)

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

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

import numpy as np
from attrs import frozen

from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """How to search: a preconditioner by name, the part of |b| that the residual may have, and the most steps.

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
            found = xp.isfinite(left)
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
    (x, r), one, zero, vectors = at, xp.ones_like(due), xp.zeros_like(due), Vectors(xp, at[0])
    p: Any = None
    rho, first = one, None
    is_open = _norm(xp, r) > due
    while steps < most and bool(xp.any(is_open)):
        z = r if precondition is None else precondition(r)
        last, rho = rho, xp.vecdot(r, z)
        if bool(xp.any(is_open & (rho <= 0.0))):
            raise SpaceError("cg: the preconditioner is not positive: take another one, or preconditioner=None")
        if p is None:
            p = xp.asarray(z, copy=True)
        else:
            p = vectors.sum(z, xp.where(is_open, rho / xp.where(is_open, last, one), zero), p)
        ap = apply(p)
        curvature = xp.vecdot(p, ap)
        if bool(xp.any(is_open & (curvature <= 0.0))):
            raise SpaceError(f"cg: the map is not positive, as step {steps + 1} shows: {INSTEAD}")
        if first is not None:
            _require_symmetric(xp, first, (p, ap))
        first = None if steps else (xp.asarray(p, copy=True), xp.asarray(ap, copy=True))
        alpha = xp.where(is_open, rho / xp.where(is_open, curvature, one), zero)
        x, r = vectors.added(x, alpha, p), vectors.added(r, -alpha, ap)
        is_open = _norm(xp, r) > due
        steps += 1
    return x, steps, is_open


@final
class Vectors:
    """Sums of vectors that write over one of them, where the library may; those of one long vector are BLAS's."""

    def __init__(self, xp: Any, like: Any) -> None:
        sp = scipy_of() if xp is np and like.size == like.shape[-1] else None
        self._scal: Any
        self._axpy: Any
        self._scal, self._axpy = sp.linalg.get_blas_funcs(("scal", "axpy"), (like,)) if sp else (None, None)

    def added(self, x: Any, k: Any, p: Any) -> Any:
        """x + k·p, in the place of x."""
        if self._axpy is None:
            x += k[..., None] * p
        else:
            self._axpy(p.reshape(-1), x.reshape(-1), a=k.item())
        return x

    def sum(self, z: Any, k: Any, p: Any) -> Any:
        """z + k·p, in the place of p."""
        if self._axpy is None:
            p *= k[..., None]
            p += z
        else:
            self._scal(k.item(), p.reshape(-1))
            self._axpy(z.reshape(-1), p.reshape(-1))
        return p


INSTEAD = "solve(A, b) takes any regular map"


def _require_symmetric(xp: Any, one: tuple[Any, Any], other: tuple[Any, Any]) -> None:
    """Raise SpaceError where two directions with (Aq)ᵀp = 0 have another qᵀAp."""
    (q, aq), (p, ap) = one, other
    most = float(xp.finfo(p.dtype).eps) ** 0.5 * (_norm(xp, q) * _norm(xp, ap) + _norm(xp, aq) * _norm(xp, p))
    if bool(xp.any(abs(xp.vecdot(q, ap)) > most)):
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

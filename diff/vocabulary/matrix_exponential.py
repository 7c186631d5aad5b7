"""The exponential of any square matrix: its derivative is an integral, of the exponentials of parts of the matrix.

    exp'(A)(E) = ∫₀¹ exp(sA)·E·exp((1−s)A) ds,    exp'(2A)(2E) = exp(A)·L + L·exp(A) for L = exp'(A)(E)

The first is taken at A/2^k by Gauss and Legendre, exact to the last digits there, the second k times after it. Each
factor is an exponential again, so that derivatives of all orders follow.

>>> from hilbert import Fin, R
>>> X = Fin.of(2)
>>> print(expm((R ** (X * X)).vec([[0.0, 1.0], [0.0, 0.0]])))
[[1.0, 1.0], [0.0, 1.0]] ∈ ℝ^{2×2}
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from diff.terms.untraced_functions import applied
from diff.terms.user_operation import known
from diff.vocabulary.eager import eager
from diff.vocabulary.linear_algebra import require_square
from hilbert.base.attach import overloaded

if TYPE_CHECKING:
    from diff import _calls

HALVINGS, NODES = 12, 8
"""The number of times that the matrix is halved before the integral is taken, and the number of its nodes."""
LIMIT = 1.5 * 2.0**HALVINGS
"""The norm up to which the integral is exact to rounding; the derivative above is NaN."""
DEGREE, LARGEST = 13, 5.4
"""The degree of Padé's quotient, and the norm up to which its error is below rounding (Higham 2005)."""
PADE = [
    math.factorial(2 * DEGREE - k)
    * math.factorial(DEGREE)
    / (math.factorial(2 * DEGREE) * math.factorial(k) * math.factorial(DEGREE - k))
    for k in range(DEGREE + 1)
]


def _squarings(xp: Any, a: Any) -> int:
    """The number of times that matrices are halved, by their norms; HALVINGS where nobody knows these, as under jit."""
    try:
        norm = float(xp.max(xp.sum(xp.abs(a), axis=-2))) if math.prod(a.shape) else 0.0
    except Exception:  # noqa: BLE001 - each library has its own
        return HALVINGS
    return max(0, math.ceil(math.log2(norm / LARGEST))) if LARGEST < norm < math.inf else 0


def _expm(xp: Any, a: Any) -> Any:
    """The exponential by scaling and squaring, and Padé's quotient."""
    squarings = _squarings(xp, a)
    a = a * 0.5**squarings
    eye = xp.zeros_like(a) + xp.eye(a.shape[-1], dtype=a.dtype, device=getattr(a, "device", None))
    square, even, odd, power = a @ a, PADE[0] * eye, PADE[1] * eye, eye
    for k in range(2, DEGREE, 2):
        power = power @ square
        even, odd = even + PADE[k] * power, odd + PADE[k + 1] * power
    odd = a @ odd
    made = xp.linalg.solve(even - odd, even + odd)
    for _ in range(squarings):
        made = made @ made
    return made


def _within(xp: Any, a: Any) -> Any:
    """1, or NaN where a matrix is too large."""
    size = xp.sum(xp.abs(a), axis=(-2, -1)) * 0.0 + 1.0
    if not math.prod(a.shape):
        return size
    return xp.where(xp.max(xp.sum(xp.abs(a), axis=-2), axis=-1) <= LIMIT, size, size * math.nan)


WITHIN = known("within the bounds of expm", _within, lambda _, __, da: 0.0 * da.trace())


def _tangent(a: Any, _: Any, da: Any) -> Any:
    """The derivative: the integral at A/2^k, doubled k times."""
    da = applied(WITHIN, [a.space], a.space.base)(a) * da
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    scale = 0.5**HALVINGS
    parts = [_applied(float(0.5 * (1.0 + x) * scale) * a) for x in nodes]
    made = None
    for left, right, weight in zip(parts, reversed(parts), weights, strict=True):
        term = (left @ (float(0.5 * weight * scale) * da)) @ right
        made = term if made is None else made + term
    assert made is not None  # there are nodes
    for k in range(HALVINGS):
        half = _applied(float(scale * 2.0**k) * a)
        made = half @ made + made @ half
    return made


EXPM = known("expm", _expm, _tangent)


def _applied(a: Any) -> Any:
    return applied(EXPM, [a.space], a.space)(a)


@overloaded(lambda: _calls.expm)
@eager
def expm(A: Any) -> Any:
    """The exponential Σ Aᵏ/k! of a square matrix A ∈ ℝ^{X×X}; its derivatives are NaN above a norm of 6,144."""
    require_square(A, "expm", same=True)
    return _applied(A)

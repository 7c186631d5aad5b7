"""Functions of symmetric matrices, f(A) = U·diag(f(w))·Uᵀ, with derivatives where eigenvalues are close or equal.

The derivative is f'(A)(E) = U·(F∘UᵀEU)·Uᵀ, F the divided differences f[wᵢ, wⱼ] (Daleckiĭ and Kreĭn 1965). A divided
difference is the quotient (f(wⱼ) − f(wᵢ))/(wⱼ − wᵢ); but where a Taylor polynomial at the midpoint agrees with the
quotient to all digits that the quotient has, it is the polynomial. So nothing is divided by a small gap.

For the second derivative the eigenvectors of close eigenvalues stand still: what they do not follow is a matrix Z,
which is 0 at the point and has a derivative there. To first order in Z,

    f'(A)(E) = U·(F∘E' + Σₖ f[wᵢ, wₖ, wⱼ]·(zᵢₖ·e'ₖⱼ + e'ᵢₖ·zₖⱼ))·Uᵀ,    E' = UᵀEU,

where f[wᵢ, wₖ, wⱼ] is the mean of f[wᵢ, wᵢ, wⱼ] and f[wₖ, wₖ, wⱼ] for close wᵢ and wₖ. A third derivative is NaN where
eigenvalues are close.

>>> from hilbert import Fin, R
>>> X = Fin.of(2)
>>> print(sqrtm((R ** (X * X)).vec([[4.0, 0.0], [0.0, 9.0]])))
[[2.0, 0.0], [0.0, 3.0]] ∈ ℝ^{2×2}
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from diff.derive.affine import jvp
from diff.jets.jet_programs import taylor
from diff.primitives.primitives import log, power, sqrt
from diff.terms.elementwise import Primitive
from diff.terms.lower import planned
from diff.terms.untraced_functions import applied
from diff.terms.user_operation import OperationRule, known
from diff.trace.trace import fun
from diff.vocabulary.eager import eager
from diff.vocabulary.linear_algebra import symmetric
from diff.vocabulary.operations import contract, select
from hilbert import R32, DirectSum, Field, Fin, Map, R, SpaceError
from hilbert.base.attach import overloaded
from hilbert.errors import shown
from hilbert.program.run.run import Runner

if TYPE_CHECKING:
    from diff import _calls
    from diff.trace.expr import Expr

ORDER = 8
"""The order of the Taylor polynomials."""
NEAR = 1e-6
"""The gap of two numbers, relative to them, up to half of which a polynomial is always as good as a quotient."""
CLOSE, TOGETHER, ALIKE = 1e-4, 3e-9, 1e-4
"""Eigenvalues are close if they differ by less than CLOSE of the larger of the two; or by less than TOGETHER of the
largest of all, if the second derivatives of f there differ by less than ALIKE of the larger: √ and log, which vary
between the smallest eigenvalues, have exact quotients there."""


def _pairs(xp: Any, w: Any, curvature: Any) -> tuple[Any, Any, Any]:
    """For each (i, j): wⱼ − wᵢ, whether they are close, and whether they are one."""

    def differences(a: Any) -> tuple[Any, Any]:
        size = xp.abs(a)
        return a[..., None, :] - a[..., :, None], xp.maximum(size[..., None, :], size[..., :, None])

    (gap, of_two), (change, bends) = differences(w), differences(curvature)
    largest = xp.max(of_two, axis=(-2, -1), keepdims=True)
    one = xp.zeros_like(gap) + xp.eye(w.shape[-1], dtype=w.dtype, device=getattr(w, "device", None)) == 1.0
    together = (xp.abs(gap) <= TOGETHER * largest) & ((xp.abs(change) <= ALIKE * bends) | (gap == 0.0))
    return gap, ((xp.abs(gap) <= CLOSE * of_two) | together) & ~one, one


def _gaps(xp: Any, w: Any, curvature: Any) -> tuple[Any, Any, Any]:
    """1 for close pairs; 1/(wⱼ − wᵢ) for the others; NaN for close pairs, 0 for the others."""
    if not w.shape[-1]:
        none = w[..., None] * w[..., None, :]
        return none, none, none
    gap, close, one = _pairs(xp, w, curvature)
    zeros = xp.zeros_like(gap)
    ones = zeros + 1.0
    away = xp.where(close | one, zeros, ones / xp.where(close | one, ones, gap))
    return xp.where(close, ones, zeros), away, xp.where(close, zeros + math.nan, zeros)


def _gaps_tangent(w: Any, _: Any, y: Any, dw: Any, __: Any) -> Any:
    """The slopes that follow from the reciprocals; the second derivative of a close pair is not known."""
    _, away, unknown = y.split()
    ones = w.space.ones()
    moved = contract("i,j->ij", ones, dw) - contract("i,j->ij", dw, ones)
    return 0.0 * moved, -((away * away + unknown) * moved), 0.0 * moved


def _frame(xp: Any, a: Any) -> tuple[Any, Any, Any]:
    w, u = xp.linalg.eigh(a)
    return w, u, xp.zeros_like(a)


GAPS = known("gaps", _gaps, _gaps_tangent)


@lru_cache(maxsize=256)
def _frame_rule(f: Map[Field, Field]) -> OperationRule:
    """The eigenvalues and eigenvectors of A, and Z = 0, whose derivative is the rotation that they leave out."""

    def tangent(a: Any, y: Any, da: Any) -> Any:
        w, u, _ = y.split()
        e, triple = u.T @ da @ u, DirectSum((a.space,) * 3)
        close, away, _ = applied(GAPS, [w.space, w.space], triple)(w, _on_pairs(f, w, a.space)[1].diagonal()).split()
        return e.diagonal(), u @ (e * away), close * e

    return known(f"eigenframe for {f}", _frame, tangent, made=(_frame_rule, (f,)))


def _on_pairs(f: Map[Field, Field], w: Any, M: Any) -> Any:
    """(f[wᵢ, wⱼ]) and (f[wᵢ, wᵢ, wⱼ]) as one step."""
    return applied(_differences_rule(f), [w.space], DirectSum((M, M)))(w).split()


def divided_differences(f: Map[Field, Field], w: Expr[Any]) -> tuple[Any, Any]:
    """(f[wᵢ, wⱼ]) and (f[wᵢ, wᵢ, wⱼ]), where f[wᵢ, wᵢ, wⱼ] = (f[wᵢ, wⱼ] − f'(wᵢ))/(wⱼ − wᵢ).

    Taylor polynomials at the midpoint where the gap is tiny, or where that of f[wᵢ, wⱼ] is the quotient up to rounding
    and its remainder is as small; quotients elsewhere.
    """
    X, field = w.space.index, w.space.base
    M = field ** (X * X)
    eps = float(np.finfo(field.dtype).eps)
    first, second = w.rep(M, over=1), w.rep(M, over=0)
    h, m = 0.5 * (second - first), 0.5 * (first + second)
    c = taylor(_on(f, M), m, M.ones(), ORDER)
    values, slopes = taylor(_on(f, w.space), w, w.space.ones(), 1)
    left, right = values.rep(M, over=1), values.rep(M, over=0)
    hh = h * h
    polynomial = c[1] + hh * (c[3] + hh * (c[5] + hh * c[7]))
    double = c[2] - h * (
        c[3] - h * (2.0 * c[4] - h * (2.0 * c[5] - h * (3.0 * c[6] - h * (3.0 * c[7] - 4.0 * h * c[8]))))
    )
    noise = 64.0 * eps * (abs(left) + abs(right))
    near = (abs(2.0 * h * polynomial - (right - left)) <= noise) & (abs(c[8]) * hh * hh * hh * hh <= noise)
    near = near | (abs(h) <= NEAR * (abs(first) + abs(second)))
    apart = ~near
    gap = select(apart, 2.0 * h) + near.cast(field)
    once = (right - left) / gap
    twice = (once - slopes.rep(M, over=1)) / gap
    return select(near, polynomial) + select(apart, once), select(near, double) + select(apart, twice)


def _field(xp: Any, a: Any) -> Field:
    """The field of the entries of an array."""
    return R32 if a.dtype == xp.float32 else R


def _on(f: Map[Field, Field], V: Any) -> Any:
    """The function f on each entry."""
    return fun(V)(f) if isinstance(f, Primitive) else f**V.index


@lru_cache(maxsize=64)
def _runner(f: Map[Field, Field], V: Any) -> Runner:
    """The runner of f on the entries of an array."""
    return Runner(planned(_on(f, V)).line)


@lru_cache(maxsize=64)
def _differences(f: Map[Field, Field], V: Any) -> Any:
    """The divided differences as a function of the numbers."""
    return fun(V)(lambda w: divided_differences(f, w))


@lru_cache(maxsize=64)
def _lanes(f: Map[Field, Field], V: Any, count: int) -> Runner:
    """The divided differences of so many rows of numbers."""
    return Runner(planned(_differences(f, V) ** Fin.of(count)).line)


@lru_cache(maxsize=256)
def _differences_rule(f: Map[Field, Field]) -> OperationRule:
    """The divided differences as one step."""

    def value(xp: Any, w: Any) -> Any:
        *front, n = w.shape
        rows = xp.reshape(w, (math.prod(front), n))
        return tuple(
            xp.reshape(a, (*front, n, n)) for a in _lanes(f, _field(xp, w) ** Fin.of(n), rows.shape[0]).run([rows])
        )

    def tangent(w: Any, _: Any, dw: Any) -> Any:
        return jvp(_differences(f, w.space))(w, dw)

    return known(f"divided differences of {f}", value, tangent, made=(_differences_rule, (f,)))


@lru_cache(maxsize=256)
def _rule(f: Map[Field, Field]) -> OperationRule:
    """f(A) of symmetric A."""

    def value(xp: Any, a: Any) -> Any:
        w, u = xp.linalg.eigh(a)
        (of,) = _runner(f, _field(xp, w) ** Fin.of(math.prod(w.shape))).run([xp.reshape(w, (-1,))])
        return (u * xp.reshape(of, w.shape)[..., None, :]) @ xp.matrix_transpose(u)

    def tangent(a: Any, _: Any, da: Any) -> Any:
        X, field = a.space.index.left, a.space.base
        w, u, z = applied(_frame_rule(f), [a.space], DirectSum((field**X, a.space, a.space)))(a).split()
        once, twice = _on_pairs(f, w, a.space)
        e = u.T @ da @ u
        left = twice * (z @ e) + z @ (twice * e)
        right = (e @ z) * twice.T + (e * twice.T) @ z
        return u @ (once * e + 0.5 * (left + right)) @ u.T

    return known(NAMES.get(f) or f"matrix_function({f})", value, tangent, made=(_rule, (f,)))


NAMES: dict[Any, str] = {sqrt: "sqrtm", log: "logm", power(-0.5): "inv_sqrtm"}
KNOWN = {name: _rule(f) for f, name in NAMES.items()}
"""Their rules, which are found by their names."""


def _function(f: Any, A: Any, what: str) -> Any:
    of, _, field = symmetric(A, what)
    if not isinstance(f, Primitive) and (not isinstance(f, Map) or f.dom != field or f.cod != field):
        remedy = f": write fun({field!r})(f)" if callable(f) and not isinstance(f, Map) else ""
        msg = f"{what}(f, A) for A in {A.space} takes a function f : {field} → {field}, not {shown(f)}"
        raise SpaceError(msg + remedy)
    return applied(_rule(f), [of.space], of.space)(of)


@overloaded(lambda: _calls.matrix_function)
@eager
def matrix_function(f: Any, A: Any) -> Any:
    """f(S) = U·diag(f(w))·Uᵀ for S = (A + Aᵀ)/2 = U·diag(w)·Uᵀ and a function f : ℝ → ℝ that is analytic there.

    Its first two derivatives are right where eigenvalues are close or equal; a third one is NaN there. Raises
    SpaceError for other functions and spaces.
    """
    return _function(f, A, "matrix_function")


@overloaded(lambda: _calls.sqrtm)
@eager
def sqrtm(A: Any) -> Any:
    """The square root of (A + Aᵀ)/2, where that is positive; NaN where an eigenvalue is below 0."""
    return _function(sqrt, A, "sqrtm")


@overloaded(lambda: _calls.inv_sqrtm)
@eager
def inv_sqrtm(A: Any) -> Any:
    """The inverse of the square root of (A + Aᵀ)/2, where that is positive definite."""
    return _function(power(-0.5), A, "inv_sqrtm")


@overloaded(lambda: _calls.logm)
@eager
def logm(A: Any) -> Any:
    """The logarithm of (A + Aᵀ)/2, where that is positive definite."""
    return _function(log, A, "logm")

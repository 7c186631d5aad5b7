"""Derivatives of the determinant: the adjugate, and its own derivative, at singular matrices as at others.

d det A = tr(adj(A)·dA). With P·A·Q diagonal, and C the products of all but two of its entries over det P·det Q,

    d adj(A) = Q·(diag(C·e) − C∘E)·P,    E = P·dA·Q with the diagonal e.

Where A is regular, P = A⁻¹ and Q = 1: then all entries of C are det A, and adj(A) = det A·A⁻¹. Nearly singular matrices
take the singular vectors. Further derivatives need the inverse: that of (P, Q, C) is (−P·dA·A⁻¹, 0, tr(A⁻¹dA)·C).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from diff.terms.untraced_functions import applied
from diff.terms.user_operation import known
from diff.vocabulary.operations import contract
from hilbert import DirectSum
from hilbert.arrays.systems import linear_systems
from hilbert.compiled.operations import dense_systems

INVERSE = known(
    "inverse",
    linear_systems.inverse,
    lambda _, y, da: -(y @ da @ y),
    in_text="np.linalg.inv({0})",
    loops=dense_systems.inverse,
)
FIRST, SECOND = 1.0 / 2.0, 1.0 / 3.0
"""Powers p: A is nearly singular for the first or the second derivative of det if ‖A‖·‖A⁻¹‖ > ε⁻ᵖ.

Up to there the first derivative is accurate by A⁻¹; in the second as many digits cancel as ‖A‖·‖A⁻¹‖ has.
"""


def _is_normal(xp: Any, det: Any) -> Any:
    """True where A⁻¹·det A can be formed: det A is neither subnormal nor infinite."""
    info, size = xp.finfo(det.dtype), abs(det)
    return (size >= info.smallest_normal) & (size <= info.max)


def _is_regular(xp: Any, a: Any, inverse: Any, power: float) -> Any:
    """True for each matrix with ‖A‖·‖A⁻¹‖ up to ε to minus a power."""
    return _square(xp, a) * (_square(xp, inverse) * float(xp.finfo(a.dtype).eps) ** (2.0 * power)) <= 1.0


def _square(xp: Any, a: Any) -> Any:
    """‖A‖² of the entries; what overflows makes a matrix nearly singular, which is only slower."""
    entries = xp.reshape(a, (*a.shape[:-2], a.shape[-2] * a.shape[-1]))
    return xp.vecdot(entries, entries)


def _all(xp: Any, found: Any) -> bool:
    """Tell if all entries are True; no where nobody can know, as under jit."""
    try:
        return bool(xp.all(found) if found.ndim else found)
    except Exception:  # noqa: BLE001 - each library has its own
        return False


def _chosen(xp: Any, found: Any, one: Any, other: Any) -> Any:
    """`one` for each matrix that is found, `other` for the rest."""
    return xp.where(found[..., None, None], one, other)


def _eye(xp: Any, a: Any) -> Any:
    """The identity matrix of the size of the last axis, on the device of an array."""
    return xp.eye(a.shape[-1], dtype=a.dtype, device=getattr(a, "device", None))


def _identity(xp: Any, a: Any) -> Any:
    """An identity matrix for each matrix."""
    return xp.zeros_like(a) + _eye(xp, a)


def _is_finite(xp: Any, a: Any) -> Any:
    """True for each matrix whose entries have a finite sum: others have no singular vectors to compute."""
    return xp.isfinite(xp.sum(a, axis=(-2, -1)))


def _vectors(xp: Any, a: Any) -> tuple[Any, Any, Any, Any]:
    """Uᵀ, s, V of A = U·diag s·Vᵀ, and det U·det V."""
    u, s, vt = xp.linalg.svd(a)
    sign = xp.sign(xp.linalg.det(u) * xp.linalg.det(vt))
    return xp.matrix_transpose(u), s, xp.matrix_transpose(vt), sign


def _all_but_one(xp: Any, s: Any) -> Any:
    """For each entry the product of the others."""
    return xp.prod(xp.where(_eye(xp, s) == 1.0, xp.ones_like(s)[..., None, :], s[..., None, :]), axis=-1)


def _all_but_two(xp: Any, s: Any) -> Any:
    """The products of the entries but those of two places; on the diagonal any number."""
    n = s.shape[-1]
    places = xp.arange(n, device=getattr(s, "device", None))
    left, between, made = xp.ones_like(s), xp.ones_like(s), []
    for j in range(n):  # between: the product of what lies between i and j, for each i
        made.append(xp.where(places < j, left * between * _right(xp, s, j), 0.0 * s))
        between = xp.where(places < j, between * s[..., j : j + 1], between)
        left = xp.where(places > j, left * s[..., j : j + 1], left)
    upper = xp.stack(made, axis=-1)
    return upper + xp.matrix_transpose(upper)


def _right(xp: Any, s: Any, j: int) -> Any:
    """The product of the entries behind j."""
    return xp.prod(s[..., j + 1 :], axis=-1)[..., None]


@np.errstate(all="ignore")  # of lanes that are not chosen
def _adjugate(xp: Any, a: Any, det: Any) -> Any:
    """Det A·A⁻¹, and V·diag(c)·Uᵀ of nearly singular matrices."""
    if not a.shape[-1]:
        return a
    if xp is np and a.ndim == 2:
        info, size = np.finfo(a.dtype), abs(float(det))
        if info.tiny <= size <= info.max:  # quick: one regular matrix
            inverse = np.linalg.inv(a)
            if float(np.vdot(a, a)) * float(np.vdot(inverse, inverse)) * float(info.eps) ** (2.0 * FIRST) <= 1.0:
                return det * inverse
    return _adjugates(xp, a, det)


def _adjugates(xp: Any, a: Any, det: Any) -> Any:
    """The adjugates of many matrices: those that are regular by A⁻¹, the others by singular vectors."""
    normal = _is_normal(xp, det)
    eye = None if _all(xp, normal) else _identity(xp, a)
    inverse = xp.linalg.inv(a if eye is None else _chosen(xp, normal, a, eye))
    regular, made = normal & _is_regular(xp, a, inverse, FIRST), det[..., None, None] * inverse
    if _all(xp, regular):
        return made
    near = ~regular & _is_finite(xp, a)
    ut, s, v, sign = _vectors(xp, _chosen(xp, near, a, _identity(xp, a)))
    c = sign[..., None] * _all_but_one(xp, s)
    return _chosen(xp, near, (v * c[..., None, :]) @ ut, made)


@np.errstate(all="ignore")  # of lanes that are not chosen
def _factors(xp: Any, a: Any, det: Any, adjugate: Any) -> tuple[Any, Any, Any]:
    """P, Q and C of the derivative of the adjugate (see the head of this file)."""
    if not a.shape[-1]:
        return a, a, a
    normal = _is_normal(xp, det)
    some = det if _all(xp, normal) else xp.where(normal, det, xp.ones_like(det))
    inverse, eye, c = adjugate / some[..., None, None], _identity(xp, a), det[..., None, None] + xp.zeros_like(a)
    regular = normal & _is_regular(xp, a, inverse, SECOND)
    if _all(xp, regular):
        return inverse, eye, c
    near = ~regular & _is_finite(xp, a)
    ut, s, v, sign = _vectors(xp, _chosen(xp, near, a, eye))
    pairs = sign[..., None, None] * _all_but_two(xp, s)
    return _chosen(xp, near, ut, inverse), _chosen(xp, near, v, eye), _chosen(xp, near, pairs, c)


def _adjugate_tangent(a: Any, det: Any, adjugate: Any, da: Any, _: Any) -> Any:
    """Q·(diag(C·e) − C∘E)·P; what moves det A is A, which moves all."""
    X, field = adjugate.space.index.left, adjugate.space.base
    square = field ** (X * X)
    to = DirectSum((adjugate.space, square, square))
    p, q, c = applied(FACTORS, [a.space, det.space, adjugate.space], to)(a, det, adjugate).split()
    e = p @ da @ q
    return q @ ((c @ e.diagonal()).diag() - c * e) @ p


def _factors_tangent(a: Any, _: Any, adjugate: Any, y: Any, da: Any, *__: Any) -> Any:
    """(−P·dA·A⁻¹, 0, tr(A⁻¹dA)·C)."""
    p, q, c = y.split()
    inverse = applied(INVERSE, [a.space], adjugate.space)(a)
    moved = p @ da @ inverse
    return -moved, 0.0 * (p @ da @ q), contract("ij,ji->", inverse, da) * c


def _det_tangent(a: Any, det: Any, da: Any) -> Any:
    """tr(adj(A)·dA)."""
    Y, X = a.space.index.left, a.space.index.right
    adjugate = applied(ADJUGATE, [a.space, det.space], a.space.base ** (X * Y))(a, det)
    return contract("ij,ji->", adjugate, da)


FACTORS = known("factors of the adjugate", _factors, _factors_tangent, results=("p", "q", "c"))
ADJUGATE = known("adjugate", _adjugate, _adjugate_tangent, loops=dense_systems.adjugate)
DET = known("det", lambda xp, a: xp.linalg.det(a), _det_tangent, in_text="np.linalg.det({0})", loops=dense_systems.det)

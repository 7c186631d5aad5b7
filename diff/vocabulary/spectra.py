"""Values and derivatives of `eigh` and `svd`, where eigenvalues or singular values are close, too.

Both rules divide by gaps. A first derivative takes no gap below b, which is √ε·‖A‖ for large values: closer ones are
taken to be b apart (`close_values`), and where what is divided is not 0, a warning says so, once for each step. So a
projector on close values is right, since it is divided before it cancels, and what does not cancel is large.

The second derivative of a function of the values alone, as Σ w², divides w̄ⱼ − w̄ᵢ by wⱼ − wᵢ, with w̄ its slopes at the
values that are there. So close values are moved apart, to 2b with their mean unchanged: the quotient is off by √ε.
Therefore `eigh` has more rules for one matrix (`OperationRule.again`): in a derivative another one stands for it, with
the same value, and in a second derivative one whose values are apart. The third derivative is NaN at close values.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from diff.terms.untraced_functions import applied
from diff.terms.user_operation import OperationRule, known
from diff.vocabulary.close_values import (
    all_gaps,
    all_gaps_of_pairs,
    apart,
    apart_from_0,
    gaps,
    gaps_of_pairs,
    unknown,
    unknown_of_pairs,
)
from diff.vocabulary.operations import contract
from hilbert import DirectSum
from hilbert.program.line.external import MapRule, defined
from linmap.term.nodes import Own

_told = set[tuple[str, str]]()
"""The steps that have warned."""


# --- reciprocal gaps ---


def _pairs(w: Any, v: Any, sign: float) -> Any:
    """vⱼ ± vᵢ."""
    ones = w.space.ones()
    return contract("i,j->ij", ones, v) + sign * contract("j,i->ij", ones, v)


def _moved(s: Any, ds: Any) -> tuple[Any, Any, Any]:
    """The tangents of the three kinds of gaps of `svd`."""
    return 2.0 * _pairs(s, ds, -1.0), 2.0 * _pairs(s, ds, 1.0), ds


def _followed(found: Any, moved: Any) -> tuple[Any, Any, Any]:
    """(1/d)' = −d'/d² of gaps that are not small, and of small ones."""
    away, close, near = found
    return -(away * away * moved), 0.0 * (close * moved), -(near * near * moved)


def _svd_gaps_tangent(s: Any, y: Any, ds: Any) -> Any:
    found = y.split()
    return tuple(one for k, moved in enumerate(_moved(s, ds)) for one in _followed(found[3 * k : 3 * k + 3], moved))


def _all_eigh_gaps_tangent(w: Any, f: Any, dw: Any) -> Any:
    """NaN where values were moved apart."""
    return -((f * f + applied(EIGH_UNKNOWN, [w.space], f.space)(w)) * _pairs(w, dw, -1.0))


def _all_svd_gaps_tangent(s: Any, y: Any, ds: Any) -> Any:
    """Likewise."""
    lost = applied(SVD_UNKNOWN, [s.space], y.space)(s).split()
    return tuple(-((f * f + n) * d) for f, n, d in zip(y.split(), lost, _moved(s, ds), strict=True))


EIGH_GAPS = known("gaps of eigh", gaps, lambda w, y, dw: _followed(y.split(), _pairs(w, dw, -1.0)), text="gaps")
SVD_GAPS = known("gaps of svd", gaps_of_pairs, _svd_gaps_tangent, text="gaps")
ALL_EIGH_GAPS = known("all gaps of eigh", all_gaps, _all_eigh_gaps_tangent, text="gaps")
ALL_SVD_GAPS = known("all gaps of svd", all_gaps_of_pairs, _all_svd_gaps_tangent, text="gaps")
EIGH_UNKNOWN = known("close eigenvalues", unknown, lambda w, _, dw: 0.0 * _pairs(w, dw, -1.0))
SVD_UNKNOWN = known("close singular values", unknown_of_pairs, lambda s, _, ds: tuple(0.0 * d for d in _moved(s, ds)))


# --- numerators of small gaps ---


def _observer(name: str, what: str) -> MapRule:
    """The identity on numerators of small gaps, which warns where one is not 0, once for each step."""

    def same(_: Any, a: Any) -> Any:
        return a

    def look(xp: Any, a: Any, place: str) -> Any:
        if (name, place) not in _told:
            try:
                found = bool(a.any() if xp is np else xp.any(a)) and bool(xp.any((a != 0.0) & xp.isfinite(a)))
            except Exception:  # noqa: BLE001 - nobody can know, as under jit: each library has its own
                return a
            if found:
                if place:  # without one, as in an interpreter, steps are not told apart: the filter of warnings decides
                    _told.add((name, place))
                at = f"\n  computed by {place}" if place else ""
                warnings.warn(f"{name}: {what}{at}", RuntimeWarning, stacklevel=2)
        return a

    return defined(MapRule(f"close values of {name}", same, same, looks=look))


CLOSE_EIGENVALUES = _observer(
    "eigh",
    "eigenvalues are equal or agree to half of all digits, and a derivative of their eigenvectors is divided by the "
    "gap: it is right only where the function is the same for all eigenvectors; see matrix_function",
)
CLOSE_SINGULAR_VALUES = _observer(
    "svd",
    "singular values are equal, or 0, or nearly so, and a derivative of their vectors is divided by the gap: it is "
    "right only where the function is the same for all these vectors; see inv_sqrtm(A.T @ A)",
)


def _divided(e: Any, found: Any, observer: MapRule | None) -> Any:
    """e/d entry by entry."""
    if observer is None:
        return e * found
    away, close, near = found
    return e * away + Own(observer, e.space, e.space)(e * close) * near


# --- the rules ---


def _eigh_tangent(observer: MapRule | None) -> Any:
    def tangent(a: Any, y: Any, da: Any) -> Any:
        """w' = diag UᵀA'U, U' = U·(F∘UᵀA'U) with F the reciprocal gaps."""
        w, u = y.split()
        found: Any = applied(ALL_EIGH_GAPS, [w.space], a.space)(w) if observer is None else None
        if observer is not None:
            found = applied(EIGH_GAPS, [w.space], DirectSum((a.space,) * 3))(w).split()
        return contract("ij,ij->j", u, da @ u), u @ _divided(u.T @ da @ u, found, observer)

    return tangent


def _columns(m: Any, found: Any, observer: MapRule | None) -> Any:
    """The columns of a matrix divided by numbers."""
    if observer is None:
        return contract("ij,j->ij", m, found)
    away, close, near = found
    looked = Own(observer, m.space, m.space)(contract("ij,j->ij", m, close))
    return contract("ij,j->ij", m, away) + contract("ij,j->ij", looked, near)


def _svd_tangent(observer: MapRule | None) -> Any:
    def tangent(_: Any, y: Any, da: Any) -> Any:
        """U' = U·(M + N) and V' = V·(M − N); with P = UᵀA'V, M is (P + Pᵀ)/2·(sⱼ − sᵢ) and N is (P − Pᵀ)/2·(sⱼ + sᵢ).

        The part of A' outside of the spaces of U and V is divided by s.
        """
        u, s, v = y.split()
        square = s.space.base ** (s.space.index * s.space.index)
        if observer is None:
            minus, plus, own = applied(ALL_SVD_GAPS, [s.space], DirectSum((square, square, s.space)))(s).split()
        else:
            some = applied(SVD_GAPS, [s.space], DirectSum((square,) * 6 + (s.space,) * 3))(s).split()
            minus, plus, own = some[:3], some[3:6], some[6:]
        av = da @ v
        p = u.T @ av
        m = _divided(p + p.T, minus, observer)
        n = _divided(p - p.T, plus, observer)
        du, dv = u @ (m + n), v @ (m - n)
        size = s.space.index.size
        if u.space.index.left.size > size:
            du = du + _columns(av - u @ p, own, observer)
        if v.space.index.left.size > size:
            dv = dv + _columns(da.T @ u - v @ p.T, own, observer)
        return du, contract("ij,ij->j", u, av), dv

    return tangent


def _eigh(xp: Any, a: Any) -> Any:
    return xp.linalg.eigh(a)


def _eigh_apart(xp: Any, a: Any) -> tuple[Any, Any]:
    w, u = xp.linalg.eigh(a)
    return (apart(xp, w) if a.shape[-1] else w), u


def _svd(xp: Any, a: Any) -> tuple[Any, Any, Any]:
    u, s, vt = xp.linalg.svd(a, full_matrices=False)
    return u, s, xp.matrix_transpose(vt)


def _svd_apart(xp: Any, a: Any) -> tuple[Any, Any, Any]:
    u, s, vt = xp.linalg.svd(a, full_matrices=False)
    return u, (apart_from_0(xp, s) if s.shape[-1] else s), xp.matrix_transpose(vt)


def _chain(
    name: str, value: Any, last: Any, tangent: Any, observer: MapRule, results: tuple[str, ...], in_text: str | None
) -> OperationRule:
    """The rule, and behind it those that stand for it in its first derivative, and in its second."""
    second = known(f"{name} in a second derivative", last, tangent(None), text=name, results=results)
    of_first = f"{name} in a derivative"
    first = known(of_first, value, tangent(None), text=name, again=second, in_text=in_text, results=results)
    return known(name, value, tangent(observer), again=first, in_text=in_text, results=results)


EIGH = _chain("eigh", _eigh, _eigh_apart, _eigh_tangent, CLOSE_EIGENVALUES, ("w", "u"), "np.linalg.eigh({0})")
SVD = _chain("svd", _svd, _svd_apart, _svd_tangent, CLOSE_SINGULAR_VALUES, ("u", "s", "v"), None)

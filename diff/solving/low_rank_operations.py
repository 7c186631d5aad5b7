"""log |det A| of A = S + UᵀV, with few rows of U and V, as an operation on the entries of S, and U and V.

    d log |det A| = Σ_ij (A⁻¹)_ji dS_ij + Σ (VA⁻¹)∘dU + Σ (UA⁻ᵀ)∘dV

The value and these slopes are computed with the factors that systems with A take; further derivatives take A⁻¹ in full.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from diff.solving.entry_operations import in_full, taken
from diff.terms.untraced_functions import applied
from diff.terms.user_operation import OperationRule
from diff.vocabulary.operations import contract, inner
from hilbert import DirectSum, Fin
from hilbert.arrays.systems.low_rank_systems import LowRankSystem

if TYPE_CHECKING:
    from diff.solving.entry_operations import Places


def _system(places: Places, rank: int) -> LowRankSystem | None:
    """A solver of systems whose S has entries at these places; None without scipy."""
    return None if places.system is None else LowRankSystem(places.system, rank)


def _at(rule: OperationRule, point: tuple[Any, Any, Any], to: Any) -> Any:
    """An operation on the entries of S, U and V, as an expression."""
    return applied(rule, [x.space for x in point], to)(*point)


@cache
def low_rank_logdet_of(places: Places, rank: int) -> OperationRule:
    """The operation that gives log |det(S + UᵀV)| for the entries of S, and U and V."""
    system = _system(places, rank)

    def value(xp: Any, e: Any, u: Any, v: Any) -> Any:
        if xp is np and system is not None:
            return np.asarray(system.logdet((e, u, v)), e.dtype)
        return xp.linalg.slogdet(places.in_full(xp, e) + u.T @ v)[1]

    def tangent(e: Any, u: Any, v: Any, _: Any, de: Any, du: Any, dv: Any) -> Any:
        to = DirectSum((e.space, u.space, v.space))
        near, left, right = _at(slopes_of(places, rank), (e, u, v), to).split()
        return inner(near, de) + inner(left, du) + inner(right, dv)

    made = low_rank_logdet_of, (places, rank)
    return OperationRule("logdet of low rank", value, tangent, batched=False, made=made, text="logdet")


@cache
def slopes_of(places: Places, rank: int) -> OperationRule:
    """The operation that gives (A⁻¹)_ji for each entry of S at (i, j), VA⁻¹ and UA⁻ᵀ."""
    system, n = _system(places, rank), places.size
    in_order = places.is_diagonal and np.array_equal(places.rows, np.arange(n))

    def value(xp: Any, e: Any, u: Any, v: Any) -> Any:
        if xp is np and system is not None:
            with places.refusing_singular:
                return system.slopes((e, u, v))
        undone = xp.linalg.inv(places.in_full(xp, e) + u.T @ v)
        near = xp.take(xp.reshape(undone.T, (-1,)), xp.asarray(places.flat), axis=0)
        return near, v @ undone, u @ undone.T

    def tangent(e: Any, u: Any, v: Any, y: Any, de: Any, du: Any, dv: Any) -> Any:
        """X' = −X(S' + U'ᵀV + UᵀV')X for the inverse X, at the places and from both sides."""
        field, (_, left, right) = e.space.base, y.split()
        square = field ** (Fin.of(n) * Fin.of(n))
        x = _at(low_rank_inverse_of(places, rank), (e, u, v), square)
        if in_order:  # products with a diagonal
            by_s, by_st = contract("kn,n->kn", left, de), contract("kn,n->kn", right, de)
        else:
            ds = in_full(places, de)
            by_s, by_st = left @ ds, right @ ds.T
        of_u, of_v = du @ x.T, dv @ x
        if in_order:
            near = (x * x.T) @ de + contract("kn,kn->n", of_u, left) + contract("kn,kn->n", right, of_v)
        else:
            near = taken(places, (x @ ds @ x + of_u.T @ left + right.T @ of_v).T)
        of_left = of_v - (by_s + (left @ u.T) @ dv) @ x - (left @ du.T) @ left
        of_right = of_u - (by_st + (right @ v.T) @ du) @ x.T - (right @ dv.T) @ right
        return -near, of_left, of_right

    results, made = ("near", "left", "right"), (slopes_of, (places, rank))
    return OperationRule(
        "slopes of low rank", value, tangent, batched=False, made=made, text="near_inverse", results=results
    )


@cache
def low_rank_inverse_of(places: Places, rank: int) -> OperationRule:
    """The operation that gives A⁻¹ in full."""
    system = _system(places, rank)

    def value(xp: Any, e: Any, u: Any, v: Any) -> Any:
        if xp is np and system is not None:
            with places.refusing_singular:
                return system.inverse((e, u, v))
        return xp.linalg.inv(places.in_full(xp, e) + u.T @ v)

    def tangent(_: Any, u: Any, v: Any, y: Any, de: Any, du: Any, dv: Any) -> Any:
        return -(y @ (in_full(places, de) + du.T @ v + u.T @ dv) @ y)

    made = low_rank_inverse_of, (places, rank)
    return OperationRule("inverse of low rank", value, tangent, batched=False, made=made, text="inverse")

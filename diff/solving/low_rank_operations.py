"""log |det A| of A = S + UᵀV, with few rows of U and V, as an operation on the entries of S, and U and V.

    d log |det A| = Σ_ij (A⁻¹)_ji dS_ij + Σ (VA⁻¹)∘dU + Σ (UA⁻ᵀ)∘dV

Its value and these slopes are computed with the factors that systems with A take. Further derivatives are those of the
slopes, written with S⁻¹ and K⁻¹ for the small K = id + V S⁻¹ Uᵀ, or with A⁻¹ in full where S is nearly singular.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from diff.control.branches import where
from diff.derive.affine import derivative
from diff.solving.entry_operations import Places, inverse_of, regular_of
from diff.solving.inverse_map import inverted
from diff.terms.lift import lift
from diff.terms.linearization import Linearization
from diff.terms.lower import program
from diff.terms.program import AnyProgram, Program
from diff.terms.untraced_functions import applied
from diff.terms.user_operation import OperationRule
from diff.trace.trace import fun
from diff.vocabulary.determinants import INVERSE
from diff.vocabulary.operations import contract, inner
from hilbert import Bool, Copower, DirectSum, Field, Fin
from hilbert.arrays.systems.low_rank_systems import LowRankSystem
from hilbert.index.spec import Spec
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Reduce
from hilbert.relation import function
from linmap import red, uncurry
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Arc, Net

if TYPE_CHECKING:
    from hilbert.index.leaf import Leaf


@cache
def low_rank_logdet_of(places: Places, rank: int) -> OperationRule:
    """The operation that gives log |det(S + UᵀV)| for the entries of S, and U and V."""
    system = None if places.system is None else LowRankSystem(places.system, rank)

    def value(xp: Any, e: Any, u: Any, v: Any) -> Any:
        if xp is np and system is not None:
            return np.asarray(system.logdet((e, u, v)), e.dtype)
        return xp.linalg.slogdet(places.in_full(xp, e) + u.T @ v)[1]

    def tangent(e: Any, u: Any, v: Any, _: Any, *moved: Any) -> Any:
        spaces = e.space, u.space, v.space
        slopes = applied(_slopes_of(places, rank), spaces, DirectSum(spaces))(e, u, v).split()
        return inner(slopes[0], moved[0]) + inner(slopes[1], moved[1]) + inner(slopes[2], moved[2])

    made = low_rank_logdet_of, (places, rank)
    return OperationRule("logdet of low rank", value, tangent, batched=False, made=made, text="logdet")


@cache
def _slopes_of(places: Places, rank: int) -> OperationRule:
    """The operation that gives (A⁻¹)_ji for each entry of S at (i, j), VA⁻¹ and UA⁻ᵀ."""
    system = None if places.system is None else LowRankSystem(places.system, rank)

    def value(xp: Any, e: Any, u: Any, v: Any) -> Any:
        if xp is np and system is not None:
            try:
                return system.slopes((e, u, v))
            except np.linalg.LinAlgError as error:
                raise places.singular from error
        undone = xp.linalg.inv(places.in_full(xp, e) + u.T @ v)
        near = xp.take(xp.reshape(undone.T, (-1,)), xp.asarray(places.flat), axis=0)
        return near, v @ undone, u @ undone.T

    def tangent(e: Any, u: Any, v: Any, _: Any, *moved: Any) -> Any:
        return tuple(_moved(places, rank, e.space.base)((e, u, v), moved).split())

    made = _slopes_of, (places, rank)
    results = "near", "left", "right"
    return OperationRule(
        "slopes of low rank", value, tangent, batched=False, made=made, text="near_inverse", results=results
    )


@cache
def _moved(places: Places, rank: int, field: Field) -> AnyProgram:
    """The derivative of the slopes, as a function of the point and of how this moves."""
    return derivative(_slopes(places, rank, field)).uncurried


def _slopes(places: Places, rank: int, field: Field) -> AnyProgram:
    """What `_slopes_of` computes, in the language."""
    V, R, E = Fin.of(places.size), Fin.of(rank), Fin.of(len(places.rows))
    solvers = [lift(entry_solver(p, field), R, over=(1,)) for p in (places, places.transposed)]
    one, whole = (field ** (R * R)).vec(np.eye(rank, dtype=field.dtype)), field ** (V * V)
    put = red(function(places.flat, E, Fin.of(places.size**2)), field)
    places_of_rows = [np.arange(rank)[:, None] * places.size + some for some in (places.rows, places.cols)]
    at_rows, at_cols = (red(function(p.ravel(), Fin.of(rank * E.size), Fin.of(rank * V.size)).T, field) for p in places_of_rows)

    is_whole = np.array_equal(places.rows, np.arange(places.size)) and places.is_diagonal

    def at(take: Any, x: Any) -> Any:
        """The entries of each row at the rows, or the columns, of places."""
        return x if is_whole else take(x.reshape(Fin.of(rank * V.size))).reshape(R * E)

    def slopes(e: Any, u: Any, v: Any) -> Any:
        def by_parts() -> Any:
            left, right = (uncurry((field**V) ** R)(solve(e, x.rows())) for solve, x in zip(solvers, (u, v), strict=True))
            undone = applied(INVERSE, [one.space], one.space)(one + v @ left.T)
            of_u, of_v = undone @ right, undone.T @ left
            near = applied(inverse_of(places), [e.space], e.space)(e)
            return near - contract("ke,ke->e", at(at_cols, of_v), at(at_rows, right)), of_u, of_v

        def in_full() -> Any:
            undone = applied(INVERSE, [whole], whole)(put(e).reshape(whole.index) + u.T @ v)
            near = red(function(places.flat, E, Fin.of(places.size**2)).T, field)(undone.T.reshape(Fin.of(places.size**2)))
            return near, v @ undone, u @ undone.T

        return where(applied(regular_of(places), [e.space], Bool)(e), by_parts, in_full)

    return program(fun(field**E, field ** (R * V), field ** (R * V))(slopes))


def entry_solver(places: Places, field: Field) -> AnyProgram:
    """(e, b) ↦ S⁻¹b, where S has entries e at some places."""
    V, E = Copower(field, Fin.of(places.size)), Copower(field, Fin.of(len(places.rows)))
    (v,), (e,) = V.leaves, E.leaves
    labels = Spec.pointwise(1)
    if places.is_diagonal and np.array_equal(places.rows, np.arange(places.size)):
        arcs: tuple[Arc, ...] = (Arc(wire.ContractWith(labels, 0, Ref(0, e)), 0, 1),)
        wires: tuple[Leaf, ...] = (v, v)
    else:
        of_row, of_col = (function(some, E.index, V.index) for some in (places.rows, places.cols))
        arcs, wires = (
            (
                Arc(Reduce(of_col.T, 0), 0, 1),
                Arc(wire.ContractWith(labels, 0, Ref(0, e)), 1, 2),
                Arc(Reduce(of_row, 0), 2, 3),
            ),
            (v, e, e, v),
        )
    net = Net(V, V, (0,), arcs, (len(arcs),), wires)
    return program(inverted(Linearization(Program(E, E, Line((e,), (), (0,)), ("e",)), net)).uncurried)

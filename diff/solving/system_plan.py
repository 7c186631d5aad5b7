"""The plan of a linear system: what its term proves of its matrix, and which way to solve it costs least.

>>> from diff import fun, root
>>> from hilbert import Fin, R
>>> from linmap import cost
>>> V = R ** Fin.of(1000)
>>> chain = fun(V)(lambda b: root(lambda u: 4.0 * u - u.pad(1, 0).crop(0, 1000) + u * u * u - b, b))
>>> print(str(cost(chain)).splitlines()[-1])
system root of 1000 unknowns, sparse, 1999 entries: in a band of 1 + 1 + 0 diagonals
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from diff.solving.low_rank_plan import low_rank_plan
from diff.solving.preconditioners import iterative_plan
from diff.solving.system_net import (
    SPARSE,
    TUPLE,
    TUPLES,
    is_one_sided,
    is_sparse,
    system_entries,
    system_net,
    tuples,
)
from hilbert.arrays.systems.conjugate_gradients import ConjugateGradients
from hilbert.arrays.systems.linear_systems import TRIED, has_room, no_room
from hilbert.arrays.systems.low_rank_systems import LowRankSystem
from hilbert.arrays.systems.methods import NO_SCIPY, NO_TERMS, TOO_MANY, UNKNOWN, without
from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.arrays.systems.sparse_systems import SparseSystem
from hilbert.base.once import once
from hilbert.errors import SpaceError
from hilbert.program.control.equation_step import Solve, SystemPlan
from hilbert.program.line.constant import Const
from hilbert.program.run.run import Runner
from linmap.matrices.made.dense import array_plan
from linmap.matrices.made.predicted_work import BYTE, FLOP, seconds, work
from linmap.matrices.structure.matrix_shapes import DiagonalForm, IdentityForm, ScaledForm, has_low_rank, stored
from linmap.matrices.structure.structure import structure
from linmap.term.net import elements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.systems.methods import Method
    from hilbert.arrays.systems.scipy_modules import Scipy
    from hilbert.program.line.line import Line
    from linmap.term.net import Net

PIVOT, TOGETHER = 2.5e-10, 0.15
"""Seconds for a multiplication of elimination in full, of which there are n³/3; the part of its time
alone that the line takes for each of all basis vectors, to which it is applied at once."""
VECTOR, STARTED = 4e-9, 1.5e-4
"""Seconds of GMRES for an entry of a vector that another is made orthogonal to, and for a round."""
FAR = 12
"""GMRES has a try first where the direct way takes so many times as long."""
MANY = 64
"""The unknowns from which on terms of low rank are looked for."""


@once
def plan(of: Solve) -> SystemPlan:
    """The plan of a linear system, made once; of a small system nothing is looked for."""
    n, lanes = of.sizes
    if isinstance(of.by, ConjugateGradients):
        return iterative_plan(of, of.by)
    if of.by is not None:
        return _told(of, of.by)
    full = _by_its_matrix(of)
    if of.is_small or not n * lanes:
        return full
    if n == 1:
        return _by_division(of)
    body, line = system_net(of)
    form = structure(body)
    if isinstance(form, (IdentityForm, ScaledForm, DiagonalForm)):
        return _by_division(of)
    plan, entries = full, stored(form)
    if tuples(body) <= min(TUPLES, full.seconds / TUPLE) and (is_sparse(of) or is_one_sided(of)):
        sp = scipy_of()
        found = None if sp is None else _by_entries(of, sp)
        if found is None:
            plan = evolve(plan, proved=f"sparse, {entries} entries", way=f"{plan.way}, without scipy")
        elif found.seconds <= full.seconds:
            plan = found
    if lanes == 1 and n >= MANY and not plan.division:
        plan = _by_low_rank(of, body, line, plan)
    if plan is full:
        plan = full = _made_in_full(of, full)
    if of.positive and not plan.division:
        proved = f"{plan.proved}, positive" if plan.proved else "positive"
        plan = evolve(plan, proved=proved, way=f"{plan.way}, by Cholesky's factor" if plan is full else plan.way)
    tried = TRIED * (seconds(of.line) + STARTED) + TRIED**2 * lanes * n * VECTOR
    return evolve(plan, first=True, way=f"by GMRES, or {plan.way}") if FAR * tried < plan.seconds else plan


def _told(of: Solve, how: Method) -> SystemPlan:
    """The plan by a method that the user has chosen; raises SpaceError where the structure does not allow it."""
    (n, lanes), full = of.sizes, _by_its_matrix(of)
    if how == "GMRES":
        return evolve(full, first=True, way="by GMRES")
    if how == "full" or not n * lanes:
        if not has_room(n, lanes):
            raise without(how, no_room(n, lanes))
        return full if of.is_small or not n * lanes else _made_in_full(of, full)
    (body, line), sp = system_net(of), scipy_of()
    if sp is None:
        raise without(how, NO_SCIPY)
    if not all(isinstance(d, Const) for d in elements(body)):
        raise without(how, UNKNOWN)
    if how != "low rank" and tuples(body) > TUPLES:
        raise without(how, "it has terms of low rank" if has_low_rank(structure(body)) else TOO_MANY)
    if how == "low rank":
        plan = _by_low_rank(of, body, line, evolve(full, seconds=math.inf)) if lanes == 1 else full
        found = plan if plan.entries is not None else None
    else:
        found = _by_entries(of, sp, how)
    if found is None:
        raise without(how, NO_TERMS)
    return found


def _by_division(of: Solve) -> SystemPlan:
    one, size = work(of.line), math.prod(of.sizes)
    flops, moved, largest = one.flops + size, one.bytes + 24 * size, max(one.largest, size)
    return SystemPlan("diagonal", "by division", seconds(of.line), flops, moved, largest, division=True)


def _by_its_matrix(of: Solve) -> SystemPlan:
    """Elimination in full; where there is no room for a matrix GMRES, whose time nobody knows."""
    (n, lanes), one = of.sizes, work(of.line)
    flops, largest = n * one.flops + lanes * n**3 // 3, max(n * one.largest, lanes * n * n)
    if not has_room(n, lanes):
        return SystemPlan("", "by GMRES again", math.inf, flops, n * one.bytes, largest)
    due = TOGETHER * n * (FLOP * one.flops + BYTE * one.bytes) + PIVOT * lanes * n**3 / 3
    return SystemPlan("", "by its matrix", due, flops, n * one.bytes, largest)


def _made_in_full(of: Solve, full: SystemPlan) -> SystemPlan:
    """Elimination in full, of the matrix by the quickest of its plans, made at the first run, or by the line."""
    (body, line), n = system_net(of), of.sizes[0]
    if of.sizes[1] > 1 or not has_room(n, 1) or not all(isinstance(d, Const) for d in elements(body)):
        return full
    given, due = Runner(line), full.seconds - PIVOT * n**3 / 3

    def matrix(data: Sequence[Any]) -> Any:
        made = array_plan(body)
        return made.pattern.matrix(made.at(given.run(data))) if seconds(made.parts.line) <= due else None

    return evolve(full, matrix=matrix)


def _by_entries(of: Solve, sp: Scipy, how: Method | None = None) -> SystemPlan | None:
    """Elimination of the entries that the structure leaves; None, or an error with `how`, where there is no room."""
    (n, lanes), found = of.sizes, system_entries(of)
    system = SparseSystem(found.rows, found.cols, n * lanes, n, sp, positive=of.positive, how=how)
    plan = found.plan
    if not system.has_room:
        if how is not None:
            raise without(how, system.no_room)
        return None
    made = work(plan.parts.line)
    return SystemPlan(
        f"sparse, {plan.pattern.entries} entries",
        system.way,
        seconds(plan.parts.line) + system.seconds,
        made.flops + system.flops,
        made.bytes + 16 * system.fill,
        max(made.largest, system.fill),
        entries=system,
        values=found.values,
    )


def _by_low_rank(of: Solve, body: Net, line: Line, plan: SystemPlan) -> SystemPlan:
    """Woodbury's formula, where the matrix is a sparse one and terms of low rank, and that is quicker than a plan."""
    sp, size = scipy_of(), of.sizes[0]
    found = None
    if sp is not None and all(isinstance(d, Const) for d in elements(body)):
        with suppress(SpaceError):  # a pattern with more entries than there is room for
            found = low_rank_plan(body, min(TUPLES, plan.seconds / TUPLE))
    is_thin = found is not None and SPARSE * found.base.entries <= size * size
    if found is None or sp is None or not (is_thin or plan.seconds == math.inf):
        return plan
    rows = np.repeat(np.arange(size), np.diff(found.base.indptr))
    system = LowRankSystem(SparseSystem(rows, found.base.indices, size, size, sp), found.rank)
    made = work(found.runner.line)
    due = seconds(found.runner.line) + system.seconds
    if not system.has_room or due > plan.seconds:
        return plan
    given = Runner(line)

    return SystemPlan(
        f"sparse, {found.base.entries} entries, and rank {found.rank}",
        system.way,
        due,
        made.flops + system.flops,
        made.bytes + 16 * system.fill,
        max(made.largest, system.fill),
        entries=system,
        values=lambda data: found.values(given.run(data)),
    )

"""The methods for a linear system side by side: their predicted times, or why the structure does not allow them.

>>> from diff import derivative, fun, solve
>>> from hilbert import Fin, R
>>> from linmap import explain
>>> V = R ** Fin.of(1000)
>>> chain = fun(V)(lambda x: 4.0 * x - x.pad(1, 0).crop(0, 1000))
>>> print([line.split()[0] for line in str(explain(solve(derivative(chain)))).splitlines()[1:4]])
['band', 'sparse', 'full']
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, get_args

from attrs import evolve

from diff.solving.system_net import is_one_sided, is_sparse
from diff.solving.system_plan import MANY
from hilbert.arrays.systems.conjugate_gradients import ConjugateGradients
from hilbert.arrays.systems.low_rank_systems import LowRankSystem
from hilbert.arrays.systems.methods import Method, reason
from hilbert.arrays.systems.sparse_systems import MANY as SOME
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from hilbert.program.control.equation_step import Solve, SystemPlan

Row = tuple[str, float | None, str]
"""A method, its predicted seconds, and its text."""
NOT_PREDICTED = ", in a number of rounds that nobody knows"


def compared(of: Solve) -> tuple[Row, ...]:
    """Every method for a system: the predicted time, quickest first, then those that the structure does not allow.

    Conjugate gradients, which are never chosen, stand beside no other method.
    """
    if isinstance(of.by, ConjugateGradients):
        return ()
    plan = of.plan()
    taken = of.by or _method(plan)
    rows: list[Row] = [] if taken in get_args(Method) else [(taken, plan.seconds, f"taken: {plan.way}")]
    rows += [_row(of, how, plan if how == taken else None) for how in get_args(Method)]
    return tuple(sorted(rows, key=lambda row: (row[1] is None, row[1] or 0.0, row[2].startswith("no: "))))


def _method(plan: SystemPlan) -> str:
    """The name of the method of a plan."""
    if plan.division:
        return "division"
    if plan.entries is None:
        return "GMRES" if plan.first or math.isinf(plan.seconds) else "full"
    return "low rank" if isinstance(plan.entries, LowRankSystem) else plan.entries.method


def _row(of: Solve, how: Method, taken: SystemPlan | None) -> Row:
    if taken is not None:
        return how, _known(how, taken), f"taken: {taken.way}"
    try:
        plan = evolve(of, by=how).plan()
    except SpaceError as error:
        return how, None, f"no: {reason(error, how)}"
    return how, _known(how, plan), plan.way + (NOT_PREDICTED if how == "GMRES" else _unlooked(of, how))


def _known(how: str, plan: SystemPlan) -> float | None:
    return None if how == "GMRES" or math.isinf(plan.seconds) else plan.seconds


def _unlooked(of: Solve, how: Method) -> str:
    """The rule by which a method that the structure allows is not looked for; otherwise empty."""
    n = of.sizes[0]
    if how in {"full", "GMRES"}:
        return ""
    if of.is_small:
        return "; not looked for: the system is small"
    if how == "low rank":
        return f"; not looked for: fewer than {MANY} unknowns" if n < MANY else ""
    if not (is_sparse(of) or is_one_sided(of)):
        return "; not looked for: more than a quarter of the entries are left"
    return f"; not looked for: at most {SOME} unknowns" if how == "elimination" and n <= SOME else ""

"""The diagonal of an inverse, such as variances from a precision, by the method that solves with the matrix.

The entries of the inverse at the places of the matrix, and on the diagonal, are computed from its factors: the inverse
is not made.

>>> import numpy as np
>>> from diff import derivative, fun
>>> from diff.solving.inverse_map import inverted
>>> from hilbert import Fin, R
>>> from linmap import diagonal
>>> V = R ** Fin.of(20000)
>>> f = fun(V)(lambda x: 3.0 * x - x.pad(1, 0).crop(0, 20000) - x.pad(0, 1).crop(1, 20001))
>>> found = diagonal(inverted(derivative(f).at(V.zeros())))
>>> bool(np.isclose(found.array[10000], 1.0 / np.sqrt(5.0)))
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from diff.solving.low_rank_plan import LowRankPlan, low_rank_plan
from diff.solving.system_net import SPARSE, TUPLES, tuples
from hilbert import SpaceError
from hilbert.arrays.formal.formal_kernels import dense as multiplied_out
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.arrays.systems.conjugate_gradients import ConjugateGradients
from hilbert.arrays.systems.low_rank_systems import LowRankSystem
from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.arrays.systems.sparse_systems import SparseSystem
from hilbert.base.once import once
from hilbert.program.line.constant import Const
from hilbert.program.run.run import Runner
from linmap.matrices.made.matrix_plans import sparse_plan
from linmap.matrices.structure.matrix_shapes import stored
from linmap.matrices.structure.structure import structure
from linmap.term.net import elements, refs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.systems.methods import Method
    from hilbert.arrays.systems.scipy_modules import Scipy
    from linmap.matrices.made.matrix_plans import MatrixPlan
    from linmap.matrices.made.patterns import SparsePattern
    from linmap.term.net import Inverse, Net

MANY = 64
"""The inverse of a matrix of fewer unknowns is made in full."""
FULL = {"full", "GMRES"}
"""The methods that read no entries."""


def diagonal_of_inverse(f: Inverse, given: Sequence[Any]) -> Any:
    """The diagonal of the inverse for the arrays of its datum; None where the matrix is not sparse, or is small.

    Raises SpaceError for a singular matrix.
    """
    by = f.by
    plan = None if isinstance(by, ConjugateGradients) or by in FULL else _plan(f.body, by, f.positive)
    if plan is None:
        return None
    try:
        return plan.diagonal(Runner(f.line.ending(ref.slot for ref in refs(f.body))).run(given))
    except np.linalg.LinAlgError as error:
        msg = f"diagonal: a matrix of {f.body.dom.dim} rows is singular at this point: there is no inverse"
        raise SpaceError(msg) from error


@final
class DiagonalOfInverse:
    """The entries of a matrix by a plan, and of the diagonal, those 0 among them that the plan leaves out."""

    def __init__(
        self, plan: LowRankPlan | MatrixPlan[SparsePattern], sp: Scipy, how: Method | None, *, positive: bool
    ) -> None:
        self.plan, self.rank = plan, plan.rank if isinstance(plan, LowRankPlan) else 0
        pattern = plan.base if isinstance(plan, LowRankPlan) else plan.pattern
        n = pattern.shape[0]
        rows, cols = np.repeat(np.arange(n), np.diff(pattern.indptr)), pattern.indices
        self.left_out = np.setdiff1d(np.arange(n), rows[rows == cols])
        rows, cols = (np.concatenate([some, self.left_out]) for some in (rows, cols))
        self.place = np.empty(n, np.intp)
        main = np.flatnonzero(rows == cols)
        self.place[rows[main]] = main
        how = None if isinstance(plan, LowRankPlan) else how
        self.system = SparseSystem(rows, cols, n, n, sp, positive=positive and self.rank == 0, how=how)

    def diagonal(self, data: Sequence[Any]) -> Any:
        """The diagonal of the inverse, flat; raises LinAlgError for a singular matrix."""
        if isinstance(self.plan, LowRankPlan):
            entries, u, v = self.plan.values(data)
            near = LowRankSystem(self.system, self.rank).slopes((self._with_zeros(entries), u, v))[0]
        else:
            near = self.system.near_inverse(self._with_zeros(to_numpy(multiplied_out(self.plan.at(data)[0]))))
        return near[self.place]

    def _with_zeros(self, entries: Any) -> Any:
        return np.concatenate([entries, np.zeros(len(self.left_out), entries.dtype)])


@once
def _plan(body: Net, how: Method | None, positive: bool) -> DiagonalOfInverse | None:  # noqa: FBT001 - see once
    """The plan of the diagonal, made once; None for a matrix in full, or a small one."""
    n, sp = body.dom.dim, scipy_of()
    if sp is None or n <= MANY or not all(isinstance(d, Const) for d in elements(body)):
        return None
    lemma = low_rank_plan(body, TUPLES) if how in {None, "low rank"} else None
    if lemma is not None and SPARSE * lemma.base.entries <= n * n:
        return DiagonalOfInverse(lemma, sp, None, positive=positive)
    if how == "low rank" or tuples(body) > TUPLES or SPARSE * stored(structure(body)) > n * n:
        return None
    return DiagonalOfInverse(sparse_plan(body), sp, how, positive=positive)

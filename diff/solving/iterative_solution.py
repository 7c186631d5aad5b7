"""Solutions by conjugate gradients, where the user asks for them: systems of `solve` with the method fixed.

>>> from hilbert import Fin, R
>>> from linmap import identity, rep, total
>>> X = Fin.of(3)
>>> A = 2.0 * identity(R**X) + rep(X) @ total(X)
>>> print(cg(A, (R**X).ones()).array.round(9).tolist())
[0.2, 0.2, 0.2]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from diff.solving.inverse_map import solution
from diff.terms.linearization import Linearization
from hilbert import SpaceError
from hilbert.arrays.systems.conjugate_gradients import ConjugateGradients, Preconditioner
from hilbert.base.attach import overloaded
from hilbert.errors import integer, number, shown
from linmap.term.linear_map import LinMap

if TYPE_CHECKING:
    from diff import _calls

STEPS = 10_000


@overloaded(lambda: _calls.cg)
def cg(
    A: Any,
    b: Any = None,
    *,
    preconditioner: Preconditioner | None = "diagonal",
    tolerance: float | None = None,
    steps: int = STEPS,
) -> Any:
    """A⁻¹b of a symmetric positive linear map A : V ⊸ V, by conjugate gradients: A is applied, and nothing factored.

    Of a derivative d in the point, `cg(d)` is the function (x, b) ↦ d(x)⁻¹b. The search ends where the residual is at
    most `tolerance` · |b|: 4·10⁻¹⁰ in double precision, and 7·10⁻⁵ in single precision, where nothing is said. Raises
    SpaceError where it does not end in so many steps, for other spaces, and where A turns out not to be symmetric or
    positive.
    """
    if not isinstance(A, (LinMap, Linearization)):
        msg = f"cg takes a linear map, or a derivative, not {shown(A)}: for a matrix write solve(A, b)"
        raise SpaceError(msg)
    if A.dom != A.cod:
        other = "solve(A, b)" if A.dom.dim == A.cod.dim else "lstsq(A, b)"
        raise SpaceError(
            f"cg takes a symmetric map, from a space to itself, not one from {A.dom} to {A.cod}: write {other}"
        )
    if preconditioner is not None and preconditioner not in get_args(Preconditioner):
        msg = f"preconditioner=… is 'diagonal', 'band', 'blocks' or None, not {shown(preconditioner)}"
        raise SpaceError(msg)
    part = None if tolerance is None else number(tolerance)
    if tolerance is not None and (part is None or not 0.0 < part < 1.0):
        raise SpaceError(f"tolerance=… is a part of the right side, between 0 and 1, not {shown(tolerance)}")
    most = integer(steps)
    if most is None or most < 1:
        raise SpaceError(f"steps=… is a number of steps, from 1 on, not {shown(steps)}")
    return solution(A, b, "cg", ConjugateGradients(preconditioner, part, most))

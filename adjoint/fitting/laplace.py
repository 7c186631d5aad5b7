"""Laplace's approximation of a marginal likelihood: an integral over latent variables by its mode and its curvature.

>>> import numpy as np
>>> from diff import fun
>>> from hilbert import Fin, R
>>> X = R ** Fin.of(3)
>>> f = fun(R, X)(lambda s, x: 0.5 * s * (x @ x))  # a normal density, for which the approximation is exact
>>> m = laplace(f, X.zeros())
>>> print(np.isclose(float(m(R.vec(2.0))), 1.5 * np.log(2.0) - 1.5 * np.log(2.0 * np.pi)))
True
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

from adjoint.reverse.gradient import grad
from diff.control.fixed_points import root
from diff.derive.affine import derivative
from diff.solving.log_determinant import log_determinant
from diff.terms.lower import program
from diff.trace.trace import fun
from hilbert import DirectSum, Field, Map, SpaceError, Type, Vec
from hilbert.errors import shown
from hilbert.map.map import require_map

if TYPE_CHECKING:
    from diff.terms.program import Program
    from hilbert import Scalar

P = TypeVar("P", bound=Type)
X = TypeVar("X", bound=Type)


def laplace(f: Map[DirectSum[P, X], Any], start: Vec[X], *, at_most: int = 200) -> Program[P, Scalar]:
    """θ ↦ f(θ, x̂) + ½ log |det H| − (n/2) log 2π, x̂ the mode of f(θ, ·) and H its Hessian there, n = dim X.

    f is the negative logarithm of a density of parameters and n latent variables, convex in the latter. The result
    approximates the negative logarithm of the density of the parameters alone, an integral over the latent variables.
    The mode is found by Newton's iteration from `start` on. All is solved by the structure of H, and the result has
    derivatives, which need no further search. Raises SpaceError for functions of other than two arguments, for a
    singular H, and where no mode is found.
    """
    require_map(f, "laplace")
    dom = f.dom
    if not isinstance(dom, DirectSum) or len(dom.parts) != 2 or not isinstance(f.cod, Field):
        msg = f"laplace(f, start) takes an f of parameters and latent variables into ℝ, not one from {dom} to {f.cod}"
        data = "; data are parts of the first argument: fun(direct_sum(P, D), X)(lambda q, x: f(q[0], x, q[1]))"
        raise SpaceError(msg + data * (len(dom.parts) == 3))
    theta, latent = dom.parts
    if not isinstance(start, Vec) or start.space != latent:
        msg = f"laplace(f, start): the start is a vector of {latent}, not {shown(start)}"
        raise SpaceError(msg)
    p: Any = program(f)
    slope: Any = grad(p, 1)
    curvature: Any = log_determinant(derivative(slope, wrt=1))
    less = 0.5 * latent.dim * math.log(2.0 * math.pi)

    def marginal(t: Any) -> Any:
        x = root(lambda x: slope(t, x), start, at_most=at_most)
        return p(t, x) + 0.5 * curvature(t, x) - less

    return program(fun(theta)(marginal))

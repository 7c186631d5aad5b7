"""Matrices of linear maps in the form that is proved, their structure and their costs."""

from adjoint import hessian, jacobian
from linmap import Cost, cost, diagonal, factors, gram, matrix, structure, trace

__all__ = [
    "Cost",
    "cost",
    "diagonal",
    "factors",
    "gram",
    "hessian",
    "jacobian",
    "matrix",
    "structure",
    "trace",
]

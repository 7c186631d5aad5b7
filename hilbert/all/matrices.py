"""Matrices of linear maps in the form that is proved, their structure and their costs."""

from adjoint import CompiledJacobianProgram, JacobianProgram, hessian, hessian_program, jacobian, jacobian_program
from linmap import Cost, PatternFacts, cost, diagonal, factors, gram, matrix, pattern, structure, trace

__all__ = [
    "CompiledJacobianProgram",
    "Cost",
    "JacobianProgram",
    "PatternFacts",
    "cost",
    "diagonal",
    "factors",
    "gram",
    "hessian",
    "hessian_program",
    "jacobian",
    "jacobian_program",
    "matrix",
    "pattern",
    "structure",
    "trace",
]

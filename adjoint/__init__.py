"""The adjoint calculus: adjoints, gradients, Jacobians, checks (paper §6–7)."""

from adjoint.affine import adjoint_affine, vjp
from adjoint.check import Checks, Report, check, check_adjoint, check_derivative
from adjoint.gradient import grad, hessian, jacobian, value_and_grad
from adjoint.rules import adjoint
from diff.names import NAMES

__all__ = [
    "NAMES",
    "Checks",
    "Report",
    "adjoint",
    "adjoint_affine",
    "check",
    "check_adjoint",
    "check_derivative",
    "grad",
    "hessian",
    "jacobian",
    "value_and_grad",
    "vjp",
]

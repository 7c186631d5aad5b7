"""The adjoint calculus: adjoints, gradients, Jacobians, checks (paper §6–7)."""

from adjoint.affine import adjoint_affine, vjp
from adjoint.gradient import grad, hessian, jacobian, value_and_grad
from adjoint.rules import adjoint

__all__ = ["adjoint", "adjoint_affine", "grad", "hessian", "jacobian", "value_and_grad", "vjp"]

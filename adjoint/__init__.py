"""The adjoint calculus: adjoints, gradients, Jacobians, checks (paper §6–7).

Importing it imports nothing yet: the command `hilbert`, which lies in this package, needs no library for `--help`.
"""

from typing import TYPE_CHECKING

from hilbert.base.lazy import lazy, require_own

require_own("linmap", "diff")

if TYPE_CHECKING:
    from adjoint.checks.check_derivatives import Checks, Report, check, check_adjoint, check_derivative
    from adjoint.checks.verification import Verification, verify
    from adjoint.reverse.adjoint_affine import adjoint_affine, vjp
    from adjoint.reverse.compiled import compiled
    from adjoint.reverse.gradient import grad, hvp, value_and_grad
    from adjoint.reverse.jacobian_matrix import hessian, jacobian
    from adjoint.reverse.jacobian_program import (
        CompiledJacobianProgram,
        JacobianProgram,
        hessian_program,
        jacobian_program,
    )
    from adjoint.reverse.rules import adjoint
    from diff.names import NAMES

if TYPE_CHECKING:  # what declared methods mean
    from adjoint.reverse.data_gradient import gradient_on_data as OnData__gradient

__all__ = [
    "NAMES",
    "Checks",
    "CompiledJacobianProgram",
    "JacobianProgram",
    "Report",
    "Verification",
    "adjoint",
    "adjoint_affine",
    "check",
    "check_adjoint",
    "check_derivative",
    "compiled",
    "grad",
    "hessian",
    "hessian_program",
    "hvp",
    "jacobian",
    "jacobian_program",
    "value_and_grad",
    "verify",
    "vjp",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__)

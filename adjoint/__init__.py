"""The adjoint calculus: adjoints, gradients, Jacobians, checks (paper §6–7).

Importing it imports nothing yet: the command `hilbert`, which lies in this package, needs no library for `--help`.
"""

from typing import TYPE_CHECKING

from hilbert.base.lazy import lazy, require_own

require_own("linmap", "diff")

if TYPE_CHECKING:
    from adjoint.blocks.blocked import blocked
    from adjoint.blocks.distributed import distributed
    from adjoint.bridges.as_jax import as_jax
    from adjoint.bridges.as_scipy import FlatMap, FlatObjective, as_scipy
    from adjoint.bridges.as_torch import as_torch
    from adjoint.bridges.nonlinear_program import NonlinearProgram, nlp
    from adjoint.checks.check_derivatives import Checks, Report, check, check_adjoint, check_derivative
    from adjoint.checks.verification import Verification, verify
    from adjoint.fitting.laplace import laplace
    from adjoint.fitting.least_squares import Fit, gauss_newton, levenberg_marquardt
    from adjoint.fitting.minimizer import minimizer
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
    from diff.blocks.parquet_files import parquet
    from diff.names import NAMES

if TYPE_CHECKING:  # what declared methods mean
    from adjoint.reverse.data_gradient import gradient_on_data as OnData__gradient

__all__ = [
    "NAMES",
    "Checks",
    "CompiledJacobianProgram",
    "Fit",
    "FlatMap",
    "FlatObjective",
    "JacobianProgram",
    "NonlinearProgram",
    "Report",
    "Verification",
    "adjoint",
    "adjoint_affine",
    "as_jax",
    "as_scipy",
    "as_torch",
    "blocked",
    "check",
    "check_adjoint",
    "check_derivative",
    "compiled",
    "distributed",
    "gauss_newton",
    "grad",
    "hessian",
    "hessian_program",
    "hvp",
    "jacobian",
    "jacobian_program",
    "laplace",
    "levenberg_marquardt",
    "minimizer",
    "nlp",
    "parquet",
    "value_and_grad",
    "verify",
    "vjp",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__)

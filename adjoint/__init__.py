"""The adjoint calculus: adjoints, gradients, Jacobians, checks (paper §6–7).

Importing it imports nothing yet: the command `hilbert`, which lies in this package, needs no library for `--help`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adjoint.checks.checks import Checks, Report, check, check_adjoint, check_derivative
    from adjoint.checks.verification import Verification, verify
    from adjoint.reverse.adjoint_affine import adjoint_affine, vjp
    from adjoint.reverse.gradient import grad, hessian, jacobian, value_and_grad
    from adjoint.reverse.rules import adjoint
    from diff.names import NAMES

__all__ = [
    "NAMES",
    "Checks",
    "Report",
    "Verification",
    "adjoint",
    "adjoint_affine",
    "check",
    "check_adjoint",
    "check_derivative",
    "grad",
    "hessian",
    "jacobian",
    "value_and_grad",
    "verify",
    "vjp",
]

if not TYPE_CHECKING:
    HOMES = {
        "adjoint.reverse.adjoint_affine": ("adjoint_affine", "vjp"),
        "adjoint.checks.checks": ("Checks", "Report", "check", "check_adjoint", "check_derivative"),
        "adjoint.reverse.gradient": ("grad", "hessian", "jacobian", "value_and_grad"),
        "adjoint.reverse.rules": ("adjoint",),
        "adjoint.checks.verification": ("Verification", "verify"),
        "diff.names": ("NAMES",),
    }

    def __getattr__(name: str) -> object:
        """A public name; the first one imports them all."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        for home, names in HOMES.items():
            module = import_module(home)
            globals().update({each: getattr(module, each) for each in names})
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})

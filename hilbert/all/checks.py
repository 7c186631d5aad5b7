"""Checks of adjoints, derivatives and operations by numbers, and their reports."""

from adjoint import Checks, Report, Verification, check, check_adjoint, check_derivative, verify

__all__ = [
    "Checks",
    "Report",
    "Verification",
    "check",
    "check_adjoint",
    "check_derivative",
    "verify",
]

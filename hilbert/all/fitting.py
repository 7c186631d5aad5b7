"""Points that make a function small: least squares, minimizers, modes and what follows from them."""

from adjoint import Fit, gauss_newton, laplace, levenberg_marquardt, minimizer

__all__ = [
    "Fit",
    "gauss_newton",
    "laplace",
    "levenberg_marquardt",
    "minimizer",
]

"""Derivatives of any order: jets, Taylor modes, Laplacians, differential equations."""

from diff import directional, interpolated, jet, laplacian, ode_series, ode_solve, taylor

__all__ = [
    "directional",
    "interpolated",
    "jet",
    "laplacian",
    "ode_series",
    "ode_solve",
    "taylor",
]

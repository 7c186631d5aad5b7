"""Linear algebra: systems, factorisations, determinants."""

from diff import cholesky, det, eigh, inverse, logdet, qr, solve, solve_triangular, svd

__all__ = [
    "cholesky",
    "det",
    "eigh",
    "inverse",
    "logdet",
    "qr",
    "solve",
    "solve_triangular",
    "svd",
]

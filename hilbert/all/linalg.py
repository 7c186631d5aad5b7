"""Linear algebra: systems, factorisations, determinants, functions of matrices."""

from diff import (
    cg,
    cholesky,
    det,
    eigh,
    expm,
    inv_sqrtm,
    inverse,
    logdet,
    logm,
    lstsq,
    matrix_function,
    qr,
    solve,
    solve_triangular,
    sqrtm,
    svd,
)

__all__ = [
    "cg",
    "cholesky",
    "det",
    "eigh",
    "expm",
    "inv_sqrtm",
    "inverse",
    "logdet",
    "logm",
    "lstsq",
    "matrix_function",
    "qr",
    "solve",
    "solve_triangular",
    "sqrtm",
    "svd",
]

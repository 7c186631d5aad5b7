"""The language of analytic functions: terms, tracing, primitives, differentiation, programs (paper §3.4–5)."""

from diff import equations, laws, running, simplify  # noqa: F401 - declare the laws of functions, simplify derivatives, cost
from diff.affine import Derivative, Linearization, affine, derivative, jvp
from diff.base import Fun
from diff.branches import where
from diff.convolution import conv
from diff.custom import operation
from diff.dot import dot
from diff.expr import Expr, const
from diff.higher.cases import case, folded, on
from diff.higher.data import arrow, data, sequence, variant
from diff.higher.forest import forest
from diff.higher.functions import AnyTermFunction, TermFunction
from diff.higher.surface import as_vector, term
from diff.implicit import fixed_point, root
from diff.jets import directional, interpolated, jet, taylor
from diff.lanes import batched, build, each
from diff.laplacian import laplacian
from diff.lift import lift
from diff.linear_algebra import cholesky, det, eigh, inverse, logdet, qr, solve, solve_triangular, svd
from diff.loops import again, fold, iterate, while_
from diff.lower import planned, program
from diff.maps import bilinear, constant, sparse_product
from diff.ode import ode_series, ode_solve
from diff.operations import contract, inner, kept, onehot, outer, select
from diff.pointfree import pointfree
from diff.primitives import (
    absolute,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    divide,
    erf,
    exp,
    expm1,
    gelu,
    hypot,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    maximum,
    minimum,
    pow,  # noqa: A004 - the standard name
    power,
    reciprocal,
    register,
    relu,
    sigmoid,
    sign,
    sin,
    sinh,
    softplus,
    sqrt,
    square,
    stop_gradient,
    tan,
    tanh,
)
from diff.records import entry, made
from diff.show import show
from diff.trace import fun

__all__ = [
    "AnyTermFunction",
    "Derivative",
    "Expr",
    "Fun",
    "Linearization",
    "TermFunction",
    "absolute",
    "acos",
    "acosh",
    "affine",
    "again",
    "arrow",
    "as_vector",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "batched",
    "bilinear",
    "build",
    "case",
    "cholesky",
    "const",
    "constant",
    "contract",
    "conv",
    "cos",
    "cosh",
    "data",
    "derivative",
    "det",
    "directional",
    "divide",
    "dot",
    "each",
    "eigh",
    "entry",
    "erf",
    "exp",
    "expm1",
    "fixed_point",
    "fold",
    "folded",
    "forest",
    "fun",
    "gelu",
    "hypot",
    "inner",
    "interpolated",
    "inverse",
    "iterate",
    "jet",
    "jvp",
    "kept",
    "laplacian",
    "lift",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logdet",
    "made",
    "maximum",
    "minimum",
    "ode_series",
    "ode_solve",
    "on",
    "onehot",
    "operation",
    "outer",
    "planned",
    "pointfree",
    "pow",
    "power",
    "program",
    "qr",
    "reciprocal",
    "register",
    "relu",
    "root",
    "select",
    "sequence",
    "show",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softplus",
    "solve",
    "solve_triangular",
    "sparse_product",
    "sqrt",
    "square",
    "stop_gradient",
    "svd",
    "tan",
    "tanh",
    "taylor",
    "term",
    "variant",
    "where",
    "while_",
]

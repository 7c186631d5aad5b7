"""The language of analytic functions: terms, tracing, primitives, differentiation, programs (paper §3.4–5)."""

from typing import TYPE_CHECKING

from hilbert.base.lazy import later, lazy, require_own

require_own("linmap")

if TYPE_CHECKING:
    from diff.control.branches import where
    from diff.control.fixed_points import fixed_point, root
    from diff.control.loops import again, fold, iterate, while_
    from diff.control.vectorised import batched, build, each
    from diff.datatypes.forest.forest import forest
    from diff.datatypes.kinds.data import arrow, data, sequence, variant
    from diff.datatypes.term.cases import case, folded, on
    from diff.datatypes.term.term_decorator import as_vector, term
    from diff.datatypes.term.term_functions import AnyTermFunction, TermFunction
    from diff.derive.affine import Derivative, Linearization, affine, derivative, jvp
    from diff.jets.jet_programs import directional, interpolated, jet, taylor
    from diff.jets.laplacian import laplacian
    from diff.jets.matrix_functions import inv_sqrtm, logm, matrix_function, sqrtm
    from diff.jets.ode import ode_series, ode_solve
    from diff.primitives.primitives import (
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
        exact_tanh,
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
    from diff.printing.pointfree import pointfree
    from diff.printing.show import show
    from diff.terms.constant_maps import bilinear, constant, sparse_product
    from diff.terms.function import Fun
    from diff.terms.lift import lift
    from diff.terms.lower import planned, program
    from diff.terms.user_operation import operation
    from diff.trace.expr import Expr, const
    from diff.trace.record_parts import entry, made
    from diff.trace.trace import fun
    from diff.vocabulary.convolution import conv
    from diff.vocabulary.dot import dot
    from diff.vocabulary.linear_algebra import (
        cholesky,
        det,
        eigh,
        inverse,
        logdet,
        qr,
        solve,
        solve_triangular,
        svd,
    )
    from diff.vocabulary.matrix_exponential import expm
    from diff.vocabulary.operations import contract, inner, kept, onehot, outer, select

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
    "exact_tanh",
    "exp",
    "expm",
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
    "inv_sqrtm",
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
    "logm",
    "made",
    "matrix_function",
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
    "sqrtm",
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

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__)

later("Expr", "diff.vocabulary.reductions")
later("Fun", "diff.terms.nodes", "diff.function_cost")
later("Implicit", "diff.control.fixed_points")
later("Linearization", "diff.laws.simplify")
later("Solve", "diff.derive.system_plan")
later("Values", "diff.datatypes.kinds.value_files")
later("Vec", "diff.vocabulary.eager")
later("laws", "linmap.laws.all_laws", "diff.laws.equations", "diff.laws.function_laws")
later("primitives", "diff.primitives.primitives")

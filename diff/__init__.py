"""The language of analytic functions: terms, tracing, primitives, differentiation, programs (paper §3.4–5)."""

from typing import TYPE_CHECKING

from hilbert.base.lazy import later, lazy, require_own

require_own("linmap")

if TYPE_CHECKING:
    from diff.compiled.compiled_program import CompiledProgram
    from diff.control.branches import where
    from diff.control.fixed_points import fixed_point, root
    from diff.control.loops import again, fold, iterate, while_
    from diff.control.vectorised import batched, build, each
    from diff.datatypes.forest.forest import forest
    from diff.datatypes.kinds.data import arrow, data, sequence, variant
    from diff.datatypes.term.cases import case, folded, on
    from diff.datatypes.term.term_decorator import as_vector, term
    from diff.datatypes.term.term_functions import AnyTermFunction, TermFunction
    from diff.derive.affine import affine, derivative, jvp
    from diff.diagrams.diagram import diagram
    from diff.jets.jet_programs import directional, interpolated, jet, taylor
    from diff.jets.laplacian import laplacian
    from diff.jets.matrix_functions import inv_sqrtm, logm, matrix_function, sqrtm
    from diff.jets.ode import ode_series, ode_solve
    from diff.numpy_source.numpy_module import Source, source
    from diff.primitives.primitives import (
        absolute,
        acos,
        acosh,
        asin,
        asinh,
        atan,
        atan2,
        atanh,
        betaln,
        cos,
        cosh,
        digamma,
        divide,
        entr,
        erf,
        erfc,
        erfcx,
        exact_tanh,
        exp,
        expm1,
        gelu,
        hypot,
        i0e,
        i1e,
        lgamma,
        log,
        log1p,
        log2,
        log10,
        log_ndtr,
        log_sigmoid,
        logaddexp,
        maximum,
        minimum,
        ndtri,
        polygamma,
        pow,  # noqa: A004 - the standard name
        power,
        reciprocal,
        register,
        relu,
        sigmoid,
        sign,
        sin,
        sinc,
        sinh,
        softplus,
        sqrt,
        square,
        stop_gradient,
        tan,
        tanh,
        xlogy,
    )
    from diff.printing.pointfree import pointfree
    from diff.printing.show import show
    from diff.solving.iterative_solution import cg
    from diff.terms.function import Fun
    from diff.terms.lift import lift
    from diff.terms.linearization import Derivative, Linearization
    from diff.terms.lower import planned, program
    from diff.terms.untraced_functions import bilinear, constant, operation, sparse_product
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
        lstsq,
        qr,
        solve,
        solve_triangular,
        svd,
    )
    from diff.vocabulary.matrix_exponential import expm
    from diff.vocabulary.operations import contract, inner, kept, onehot, outer, select

if TYPE_CHECKING:  # what declared methods mean
    from diff.control.fixed_points import search as Implicit_search
    from diff.datatypes.kinds.value_files import load as Values_load
    from diff.datatypes.kinds.value_files import save as Values_save
    from diff.function_cost import costed as Runs_costed
    from diff.function_cost import lines as Runs_lines
    from diff.function_cost import orders as Runs_orders
    from diff.lam.show.show import show_term as Former___str__
    from diff.lam.show.show_types import show_type as Node___str__
    from diff.lam.show.show_values import show_value as Tagged___str__
    from diff.lam.term.equality import hash_of as Former___hash__
    from diff.lam.term.equality import is_equal as Former___eq__
    from diff.lam.term.equality import pickled as Former___reduce__
    from diff.laws.simplify import simplify_linearization as Linearization_simplified
    from diff.primitives.value_ranges import proves_positive as Runs_proves_positive
    from diff.printing.function_repr import primitive as Elementwise___repr__
    from diff.printing.function_repr import spell as Fun___repr__
    from diff.printing.show import show_function as Fun___str__
    from diff.printing.show import show_linearization as Linearization___str__
    from diff.solving.compared_methods import compared as Solve_compared
    from diff.solving.inverse_diagonal import diagonal_of_inverse as Inverse_diagonal
    from diff.solving.inverse_map import fitted as Invertible_fitted
    from diff.solving.inverse_map import inverted as Invertible_inverted
    from diff.solving.inverse_map import solved as Invertible_solved
    from diff.solving.log_determinant import log_determinant as Invertible_log_determinant
    from diff.solving.system_plan import plan as Solve_plan
    from diff.terms.equal import linearization_label as Linearization_label
    from diff.terms.equal import program_label as Fun_label
    from diff.terms.nodes import composition as Fun__compose
    from diff.terms.nodes import copower as Fun__copower
    from diff.terms.nodes import fork_of as Fun__fork
    from diff.terms.nodes import multiple as Fun__scaled
    from diff.terms.nodes import parallel_of as Fun__parallel
    from diff.terms.nodes import sum_of as Fun__sum
    from diff.terms.run_program import run as Fun__runner
    from diff.vocabulary.eager import method as Vec_
    from diff.vocabulary.reductions import method as Expr_

__all__ = [
    "AnyTermFunction",
    "CompiledProgram",
    "Derivative",
    "Expr",
    "Fun",
    "Linearization",
    "Source",
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
    "betaln",
    "bilinear",
    "build",
    "case",
    "cg",
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
    "diagram",
    "digamma",
    "directional",
    "divide",
    "dot",
    "each",
    "eigh",
    "entr",
    "entry",
    "erf",
    "erfc",
    "erfcx",
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
    "i0e",
    "i1e",
    "inner",
    "interpolated",
    "inv_sqrtm",
    "inverse",
    "iterate",
    "jet",
    "jvp",
    "kept",
    "laplacian",
    "lgamma",
    "lift",
    "log",
    "log1p",
    "log2",
    "log10",
    "log_ndtr",
    "log_sigmoid",
    "logaddexp",
    "logdet",
    "logm",
    "lstsq",
    "made",
    "matrix_function",
    "maximum",
    "minimum",
    "ndtri",
    "ode_series",
    "ode_solve",
    "on",
    "onehot",
    "operation",
    "outer",
    "planned",
    "pointfree",
    "polygamma",
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
    "sinc",
    "sinh",
    "softplus",
    "solve",
    "solve_triangular",
    "source",
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
    "xlogy",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__)

later("laws", "linmap.laws.all_laws", "diff.laws.equations", "diff.laws.function_laws")
later("primitives", "diff.primitives.primitives")

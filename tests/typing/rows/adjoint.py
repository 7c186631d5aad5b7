"""Signatures of the package adjoint."""

from tests.typing.rows.control import UNTIL
from tests.typing.rows.families import parts, points

IMPORTS = """
from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, TypeVarTuple, overload

from adjoint.bridges.as_scipy import FlatMap, FlatObjective, MatrixForm
from adjoint.checks.check_derivatives import Checks, Report
from adjoint.reverse.data_gradient import DataGradient
from adjoint.reverse.jacobian_program import JacobianProgram
from diff import Expr, Linearization
from diff.datatypes.term.term_functions import TermFunction
from diff.derive.varying_parts import Wrt
from diff.terms.program import Program
from hilbert import Anonymous, DirectSum, Field, Lens, Map, Matrix, Type, Vec, Vector
from linmap import LinMap
from linmap.matrices.made.matrix import As
from linmap.matrices.made.patterns import BlocksPattern, DensePattern, SparsePattern, TensorPattern
from linmap.term.linear_map import AnyLinMap
"""
VARIABLES = {"A B C D E F G U V W": "Type", "States": "tuple[Any, ...]", "P Q": "ParamSpec", "Rest": "TypeVarTuple"}

FORM = 'wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None'
CHECK = "star: {} | None = None, samples: int = 5, seed: int = 0"

PROGRAMS = [
    ('Literal["array"] = "array"', "Matrix[Anonymous, Anonymous]", "DensePattern"),
    ('Literal["sparse"]', "Vector[Anonymous]", "SparsePattern"),
    ('Literal["blocks"]', "Any", "BlocksPattern"),
    ('Literal["tensor"]', "Any", "TensorPattern"),
    ("As", "Any", "Any"),
]
"""Forms of matrices, the space of the arrays of each, and its index data."""


def programmed(cod: str, form: str, arrays: str, pattern: str) -> str:
    """The program of a matrix of a map into a space, in one of the forms."""
    options = f"wrt: Wrt = None, *, as_: {form}, limit: int | None = None"
    return f"(f: Map[V, {cod}], {options}) -> JacobianProgram[V, {arrays}, {pattern}]"


def gradient(of: str) -> list[str]:
    """The gradient of a scalar-valued map, in the form `of`, with respect to all parts or those that are named.

    A position that is a variable is allowed from four parts on: of two or three, one that does not exist is an error.
    """

    def by(v: str, wrt: str, part: str, mark: str = "") -> str:
        return f"(f: Map[{v}, Field], wrt: {wrt}) -> Map[{v}, {of.format(part)}]{mark}"

    def first(n: int) -> str:
        return f"DirectSum[{parts(n)}, *Rest]"

    return [
        "(f: TermFunction[P, Q, Expr[Field], Any], wrt: int | None = None) -> DataGradient[P, Q]",
        f"(f: Map[V, Field]) -> Map[V, {of.format('V')}]",
        *(by(first(k + 1), f"Literal[{k}]", "ABC"[k], "  # type: ignore[overload-overlap]") for k in range(3)),
        *(
            by(first(k + 1), f"tuple[Literal[{j}], Literal[{k}]]", f"DirectSum[{'ABC'[j]}, {'ABC'[k]}]")
            for j, k in ((0, 1), (0, 2), (1, 2))
        ),
        by("V", "Lens[V, A]", "A"),
        *(by("V", f"tuple[{parts(n, 'Lens[V, {}]')}]", f"DirectSum[{parts(n)}]") for n in (2, 3)),
        by(first(4), "int", "Any"),
        by("V", "Sequence[int] | Sequence[Lens[V, Any]]", "Any"),
    ]


def flat(cod: str, made: str) -> list[str]:
    """A function into a space on flat arrays, of the space of what varies."""

    def by(v: str, part: str, wrt: str) -> str:
        return f"(f: Map[{v}, {cod}], *data: Any, wrt: {wrt}, as_: MatrixForm | None = None) -> {made}[{part}]"

    return [
        by("V", "V", "None = None"),
        *(by(f"DirectSum[{parts(k + 1)}, *Rest]", "ABC"[k], f"Literal[{k}]") for k in range(3)),
        by("V", "A", "Lens[V, A]"),
        by("V", "Any", "int | Sequence[int] | Sequence[Lens[V, Any]]"),
    ]


ROWS = {
    "adjoint.bridges.as_scipy": {"as_scipy": [*flat("Field", "FlatObjective"), *flat("Any", "FlatMap")]},
    "adjoint.checks.check_derivatives": {
        "check": [f"(f: Map[{V}, Any], {x}) -> Checks" for V, x in points("seed: int = 0")],
        "check_derivative": [f"(f: Map[{V}, Any], {x}) -> Report" for V, x in points("seed: int = 0")],
        "check_adjoint": [
            f"(f: LinMap[V, W], /, *, {CHECK.format('LinMap[W, V]')}) -> Report",
            *(f"(f: Map[{V}, Any], {x}) -> Report" for V, x in points(CHECK.format("AnyLinMap"))),
        ],
    },
    "adjoint.fitting.minimizer": {
        "minimizer": [
            f"(f: Callable[[{state}], Expr[Field]], start: {start}, {UNTIL.format(200)}) -> {start}"
            for state, start in (("Expr[V]", "Vec[V]"), ("Expr[V]", "Expr[V]"), ("States", "States"))
        ],
    },
    "adjoint.reverse.adjoint_affine": {
        "adjoint_affine": [f"(f: Map[{V}, W], {x}) -> tuple[Vec[W], LinMap[W, {V}]]" for V, x in points()],
        "vjp": [
            "(f: Map[V, W]) -> Program[DirectSum[V, W], V]",
            *(
                f"(f: Map[{V}, W], wrt: Literal[{k}]) -> Program[DirectSum[{V}, W], {part}]"
                for k, V, part in ((0, "DirectSum[A, *Rest]", "A"), (1, "DirectSum[A, B, *Rest]", "B"))
            ),
            "(f: Map[V, W], wrt: Lens[V, A]) -> Program[DirectSum[V, W], A]",
            "(f: Map[V, W], wrt: int | Sequence[int] | Sequence[Lens[V, Any]]) -> Program[DirectSum[V, W], Any]",
        ],
    },
    "adjoint.reverse.gradient": {
        "grad": gradient("{}"),
        "value_and_grad": gradient("DirectSum[Field, {}]"),
        "hvp": [
            "(f: Map[V, Field]) -> Program[DirectSum[V, V], V]",
            *(
                f"(f: Map[{V}, Field], wrt: Literal[{k}]) -> Program[DirectSum[{V}, {part}], {part}]"
                for k, V, part in ((0, "DirectSum[A, *Rest]", "A"), (1, "DirectSum[A, B, *Rest]", "B"))
            ),
            "(f: Map[V, Field], wrt: Lens[V, A]) -> Program[DirectSum[V, A], A]",
            "(f: Map[V, Field], wrt: int | Sequence[int] | Sequence[Lens[V, Any]]) -> Program[DirectSum[V, Any], Any]",
        ],
    },
    "adjoint.reverse.jacobian_matrix": {
        "jacobian": [f"(f: Map[{V}, Any], {x}) -> Any" for V, x in points(FORM)],
        "hessian": [f"(f: Map[{V}, Field], {x}) -> Any" for V, x in points(FORM)],
    },
    "adjoint.reverse.jacobian_program": {
        "JacobianProgram.matrix": [f"(self: JacobianProgram[{V}, Any, Any], {x}) -> Any" for V, x in points()],
        "jacobian_program": [programmed("Any", *kinds) for kinds in PROGRAMS],
        "hessian_program": [programmed("Field", *kinds) for kinds in PROGRAMS],
    },
    "adjoint.reverse.rules": {
        "adjoint": [
            "(f: LinMap[V, W]) -> LinMap[W, V]",
            "(f: Linearization[U, V, W]) -> Linearization[U, W, V]",
        ],
    },
}

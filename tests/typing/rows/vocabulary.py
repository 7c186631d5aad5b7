"""Signatures of the operations on vectors and expressions."""

from itertools import product

from tests.typing.rows.families import IN_EXPRESSIONS, ON_VECTORS, OPERANDS, WITH_EXPRESSIONS, of


def on(kinds: dict[str, str], a: str, b: str, to: str, options: str = "") -> str:
    """A function of two operands a and b."""
    return f"(a: {of(kinds['a'], a)}, b: {of(kinds['b'], b)}{options}) -> {of(kinds['to'], to)}"


DOT = [
    *((f"Table[{a}]", f"Table[{b}]", "Table[J, K]", "I") for a, b in product(("I, J", "J, I"), ("I, K", "K, I"))),
    *((f"Table[{a}]", "Line[I]", "Line[J]", "I") for a in ("I, J", "J, I")),
    *(("Line[I]", f"Table[{b}]", "Line[K]", "I") for b in ("I, K", "K, I")),
    ("Line[Fin[T]]", "Line[Fin[T]]", "Field", "Fin[T]"),
]
"""The shapes of both operands and of the result, and the axis that both have."""

PADDING = 'stride: Amount = 1, dilation: Amount = 1, padding: Padding | Literal["same"] = 0'
CONV = [('dilation: Amount = 1, padding: Literal["same"]', "I"), (f"{PADDING}, to: J", "J"), (PADDING, "Any")]
"""The options of a convolution, and the positions of its result."""

HOW = ", *, how: Method | None = None"
CG = ", *, preconditioner: Preconditioner | None = 'diagonal', tolerance: float | None = None, steps: int = 10_000"
MATRIX, SQUARE = "Copower[Field, Product[I, J]]", "Copower[Field, Product[I, I]]"


def of_matrix(space: str, to: str, first: str = "") -> list[str]:
    """A function of a matrix A."""
    return [f"({first}A: {kind}[{space}]) -> {kind}[{to}]" for kind in ("Vec", "Expr")]


def solve(options: str = "") -> list[str]:
    """The solution for one right side, or for a column of them."""
    return [
        f"(A: {of(k['a'], MATRIX)}, b: {of(k['b'], f'Copower[Field, {b}]')}{options})"
        f" -> {of(k['to'], f'Copower[Field, {to}]')}"
        for k in OPERANDS
        for b, to in (("I", "J"), ("Product[I, K]", "Product[J, K]"))
    ]


def contract(to: str, result: str) -> list[str]:
    """A contraction of which an operand is an expression."""
    before = ["", "a: Vec[Any], ", "a: Vec[Any], b: Vec[Any], "]
    more = "*more: Expr[Any] | Vec[Any]"
    return [
        f"(labels: str, {first}{'abc'[k]}: Expr[Any], /, {more}, to: {to}) -> Expr[{result}]"
        for k, first in enumerate(before)
    ]


SELECT = [
    ("Boolean", "X"),
    ("Copower[Boolean, I]", "Copower[X, I]"),
    ("Copower[Copower[Boolean, J], I]", "Copower[Copower[X, J], I]"),
]
"""Truth values, and what they keep or put to 0."""

ROWS = {
    "diff.jets.matrix_functions": {
        "matrix_function": of_matrix(SQUARE, SQUARE, "f: Map[Field, Field], "),
        **{name: of_matrix(SQUARE, SQUARE) for name in ("sqrtm", "inv_sqrtm", "logm")},
    },
    "diff.vocabulary.convolution": {
        "conv": [
            (
                "(x: Unknown, w: Unknown, *, stride: Amount = 1, dilation: Amount = 1, padding: Any = 0, "
                "to: Any = None) -> Any"
            ),
            *(
                f"(x: {of(k['a'], 'Image[I, H]')}, w: {of(k['b'], 'Kernel[K, H, O]')}, *, {options})"
                f" -> {of(k['to'], f'Image[{to}, O]')}"
                for k in OPERANDS
                for options, to in CONV
            ),
        ],
    },
    "diff.vocabulary.dot": {
        "dot": [
            "(a: Vec[X]) -> LinMap[X, Field]",
            "(a: Unknown, b: Unknown, *, over: Any) -> Any",
            *(on(k, a, b, to, f", *, over: {over}") for k in OPERANDS for a, b, to, over in DOT),
        ],
    },
    "diff.vocabulary.linear_algebra": {
        "solve": [
            *solve(),
            f"(A: LinMap[V, W], b: Vec[W]{HOW}) -> Vec[V]",
            f"(A: LinMap[V, W], b: Expr[W]{HOW}) -> Expr[V]",
            f"(A: Linearization[U, V, W]{HOW}) -> Program[DirectSum[U, W], V]",
        ],
        "solve_triangular": solve(", *, lower: bool = True"),
        "lstsq": [
            *solve(),
            f"(A: LinMap[V, W], b: Vec[W]{HOW}) -> Vec[V]",
            f"(A: LinMap[V, W], b: Expr[W]{HOW}) -> Expr[V]",
        ],
        "inverse": [
            *of_matrix(MATRIX, "Copower[Field, Product[J, I]]"),
            f"(A: LinMap[V, W]{HOW}) -> LinMap[W, V]",
            f"(A: Linearization[U, V, W]{HOW}) -> Linearization[U, W, V]",
        ],
        "det": of_matrix(MATRIX, "Field"),
        "logdet": [
            *of_matrix(MATRIX, "Field"),
            f"(A: LinMap[V, W]{HOW}) -> Vec[Field]",
            f"(A: Linearization[U, V, W]{HOW}) -> Program[U, Field]",
        ],
        "cholesky": of_matrix(SQUARE, SQUARE),
        "eigh": of_matrix(SQUARE, f"DirectSum[Copower[Field, I], {SQUARE}]"),
        "qr": of_matrix(MATRIX, f"DirectSum[{MATRIX}, Copower[Field, Product[J, J]]]"),
        "svd": of_matrix(
            MATRIX, "DirectSum[Copower[Field, Product[I, Any]], Copower[Field, Any], Copower[Field, Product[J, Any]]]"
        ),
    },
    "diff.solving.iterative_solution": {
        "cg": [
            f"(A: LinMap[V, V], b: Vec[V]{CG}) -> Vec[V]",
            f"(A: LinMap[V, V], b: Expr[V]{CG}) -> Expr[V]",
            f"(A: Linearization[U, V, V], b: None = None{CG}) -> Program[DirectSum[U, V], V]",
        ]
    },
    "diff.vocabulary.matrix_exponential": {"expm": of_matrix(SQUARE, SQUARE)},
    "diff.vocabulary.operations": {
        "inner": ["(a: Unknown, b: Unknown) -> Any", *(on(k, "X", "X", "Field") for k in OPERANDS)],
        "outer": ["(a: Unknown, b: Unknown) -> Any", *(on(k, "X", "Y", "TensorProduct[X, Y]") for k in OPERANDS)],
        "kept": [f"(x: {kind}[W]) -> {kind}[W]" for kind in ("Vec", "Expr")],
        "contract": [
            "(labels: str, a: Unknown, /, *more: Unknown, to: Any = None) -> Any",
            "(labels: str, /, *operands: Vec[Any], to: None = None) -> Vec[Any]",
            "(labels: str, /, *operands: Vec[Any], to: W) -> Vec[W]",
            *contract("None = None", "Any"),
            *contract("W", "W"),
        ],
        "onehot": [
            f"(x: {kind}[Elements[I]], field: Field | None = None) -> {kind}[Copower[Field, I]]"
            for kind in ("Expr", "Vec")
        ],
        "select": [
            "(c: Unknown, x: Unknown) -> Any",
            *(
                f"(c: {of(k['a'], c)}, x: {of(k['b'], x)}) -> {of(k['to'], x)}"
                for c, x in SELECT
                for k in (IN_EXPRESSIONS, WITH_EXPRESSIONS, ON_VECTORS)
            ),
        ],
    },
}

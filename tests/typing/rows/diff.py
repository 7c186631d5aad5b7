"""Signatures of the package diff."""

from itertools import combinations, product
from math import comb

from tests.typing.rows import control, methods, vocabulary
from tests.typing.rows.families import (
    EXPR,
    IN_EXPRESSIONS,
    ON_VECTORS,
    OPERANDS,
    SOME,
    SPACE,
    SPACES,
    VEC,
    choices,
    of,
    parts,
    points,
    values,
)

IMPORTS = """
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from typing import Any, ClassVar, Generic, Literal, Never, ParamSpec, TypeAlias, TypeVar, TypeVarTuple, final, overload

from diff.control.vectorised import Batched
from diff.datatypes.kinds.kinds import Data, Values
from diff.datatypes.term.term_decorator import TermMaker
from diff.derive.varying_parts import Wrt
from diff.terms.elementwise import Binary
from diff.terms.linearization import Linearization
from diff.terms.program import Program
from diff.trace.expr import Expr
from diff.trace.trace import Tracer, Tracing
from hilbert import (
    Anonymous,
    Boolean,
    Copower,
    Coproduct,
    DirectSum,
    Elements,
    Field,
    Fin,
    Index,
    Integers,
    Lens,
    Map,
    Product,
    Space,
    TensorProduct,
    Type,
    Vec,
)
from hilbert.arrays.systems.conjugate_gradients import Preconditioner
from hilbert.arrays.systems.methods import Method
from hilbert.map.map import AnyMap
from hilbert.space.linear import Linear
from hilbert.space.space import Discrete, Zero
from hilbert.space.vector import Number, Whole
from linmap import LinMap
"""
VARIABLES = {
    "A B C D E F G L M N S U V W W1 W2 W3 Z": "Type",
    "X Y": "Space",
    "H I J K O": "Index",
    "T T1 T2 T3 T4 T5": "",
    "States": "tuple[Any, ...]",
    "One": "Field | Copower[Any, Any] | TensorProduct[Any, Any] | Zero | Discrete",
    "Unknown": "Never",
    **methods.VARIABLES,
    "P Q": "ParamSpec",
    "Rest": "TypeVarTuple",
}
ALIASES = """
Kind: TypeAlias = Type | Values[Any] | tuple[Any, ...]  # a space, a set of values, or a tuple of kinds
Line: TypeAlias = Copower[Field, I]
Table: TypeAlias = Copower[Field, Product[I, J]]
Image: TypeAlias = Copower[Field, Product[I, H]]  # numbers at the positions of I, one for each channel in H
Kernel: TypeAlias = Copower[Field, Product[Product[K, H], O]]  # for each offset in K, a matrix of channels
Amount: TypeAlias = int | tuple[int, ...]
Padding: TypeAlias = int | tuple[int | tuple[int, int], ...]
Tangent: TypeAlias = Expr[W] | tuple[Expr[Any] | float, ...] | float  # of the parts; a number for 0
"""
CLASSES = methods.mixin("Expr", SOME)


# diff.datatypes


def term(kinds: tuple[bool, ...]) -> str:
    """A function on data of some kinds: a space, whose vectors are expressions inside, or a type of the user's."""
    n = len(kinds)
    names = [space if is_space else f"T{k}" for k, (is_space, space) in enumerate(zip(kinds, "ABC", strict=False), 1)]
    taken = [name if is_space else f"Values[{name}]" for name, is_space in zip(names, kinds, strict=True)]
    inside = ", ".join(f"Expr[{name}]" if is_space else name for name, is_space in zip(names, kinds, strict=True))
    outside = ", ".join(f"Vec[{name}]" if is_space else name for name, is_space in zip(names, kinds, strict=True))
    values = ", ".join(f"{'abc'[k]}: {taken[k]}" for k in range(n))
    return f"({values}, /, *, to: Kind | None = None) -> TermMaker[[{inside}], [{outside}]]"


def folded(*spaces: str) -> str:
    """A loop over a tuple of data."""
    state = of(EXPR, *spaces)
    start = "Vec[W]" if len(spaces) == 1 else of("Vec[{}] | Expr[{}]", *spaces)
    return f"(step: Callable[[T1, {state}], {state}], start: {start}, items: tuple[T1, ...]) -> {state}"


def classes(n: int) -> str:
    """A type of data with n classes."""
    taken = ", ".join(f"{'abdef'[k]}: type[T{k + 1}]" for k in range(n))
    return f"({taken}, /, **kinds: Type | Values[Any]) -> Data[{' | '.join(f'T{k + 1}' for k in range(n))}]"


# diff.derive, diff.jets, diff.terms


def copies(space: str, n: int) -> str:
    """The direct sum of a space with itself."""
    return f"DirectSum[{', '.join([space] * n)}]"


TAYLOR = (
    [
        f"(f: Map[V, W], x: {of(k['a'], 'V')}, direction: {of(k['b'], 'V')}, order: int)"
        f" -> tuple[{of(k['to'], 'W')}, ...]"
        for k in OPERANDS
    ]
    + [
        f"(f: Map[V, W], x: {of(k['a'], 'V')}, direction: {of(k['b'], 'Any')}, order: int, *, wrt: int | Sequence[int])"
        f" -> tuple[{of(k['to'], 'W')}, ...]"
        for k in (ON_VECTORS, IN_EXPRESSIONS)
    ]
    + [
        f"(f: Map[V, W], x: tuple[{x}], direction: {direction}, order: int, *, wrt: int | Sequence[int])"
        f" -> tuple[{to}[W], ...]"
        for x, direction, to in (
            ("Vec[Any], ...", "Vec[Any]", "Vec"),
            ("Expr[Any], *tuple[Expr[Any] | Vec[Any], ...]", "Expr[Any] | Vec[Any]", "Expr"),
            ("Vec[Any], Expr[Any], *tuple[Expr[Any] | Vec[Any], ...]", "Expr[Any] | Vec[Any]", "Expr"),
            ("Vec[Any], ...", "Expr[Any]", "Expr"),
        )
    ]
)


def in_lanes(n: int, over: tuple[int, ...]) -> str:
    """A function of n arguments lifted over an index set, for the arguments at the positions `over`."""
    lanes = ", ".join(f"Copower[{space}, I]" if k in over else space for k, space in enumerate(SPACES[:n]))
    at = ", ".join(f"Literal[{k}]" for k in over)
    return f"(f: Map[DirectSum[{parts(n)}], W], X: I, *, over: tuple[{at}]) -> Map[DirectSum[{lanes}], Copower[W, I]]"


ENTRIES = [{"entries": "", "E": "Fin[Anonymous]"}, {"entries": ", *, entries: K", "E": "K"}]


def operation(n: int) -> str:
    """An operation of the user's on n arguments."""
    xs, anys = parts(n, EXPR), ", ".join(["Any"] * (n + 1))
    return (
        f"(name: str, {values(n, '{}')}, /, *, to: W, value: Callable[[{anys}], Any], "
        f"tangent: Callable[[{xs}, Expr[W], {xs}], Tangent[W]] | None = None, batched: bool = True, "
        f"broadcasts: bool = False) -> Map[{'A' if n == 1 else f'DirectSum[{parts(n)}]'}, W]"
    )


# diff.trace


EXPRESSION = {
    **{name: methods.arithmetic("Expr", SOME, "o", scalar="Linear") for name in ("__add__", "__sub__", "__mul__")},
    **{name: methods.arithmetic("Expr", VEC, "o", scalar="Vec") for name in ("__radd__", "__rsub__", "__rmul__")},
    "__rtruediv__": [
        "(self: Linear[X], o: Vec[X] | Number) -> Expr[X]",
        "(self: Expr[Field], o: Vec[X]) -> Expr[X]",
    ],
    "__matmul__": methods.matmul("Expr", SOME, "o"),
    "__rmatmul__": [
        f"(self: Expr[Copower[Field, {v}]], o: Vec[Copower[Field, {a}]]) -> Expr[{to}]"
        for v, a, to in (
            ("J", "Product[I, J]", "Copower[Field, I]"),
            ("Product[J, K]", "Product[I, J]", "Copower[Field, Product[I, K]]"),
            ("Fin[T]", "Fin[T]", "Field"),
        )
    ],
    **methods.shared("Expr", SOME),
}


def tracer(n: int, space: str) -> str:
    """What traces a function of n arguments."""
    return f"Tracer[[{parts(n, EXPR)}], {space}]"


TRACE = {
    "Tracer.__call__": [
        "(self: Tracer[P, V], body: Callable[P, Expr[W]], /) -> Map[V, W]",
        *(
            f"(self: Tracer[P, V], body: Callable[P, {of(EXPR, *spaces)}], /) -> Map[V, DirectSum[{', '.join(spaces)}]]"
            for spaces in (["W", "W1"], ["W", "W1", "W2"], ["W", "W1", "W2", "W3"])
        ),
    ],
    "Tracing.__call__": [
        *(
            f"(self: Tracing, {values(n, '{}')}, /, *, planned: bool = True)"
            f" -> {tracer(n, 'A' if n == 1 else f'DirectSum[{parts(n)}]')}"
            for n in range(1, 11)
        ),
        "(self: Tracing, *spaces: Type, planned: bool = True) -> Callable[[Callable[..., Any]], AnyMap]",
    ],
    "Tracing.over": [
        *(
            f"(self: Tracing, space: DirectSum[{parts(n)}], /, *, planned: bool = True)"
            f" -> {tracer(n, f'DirectSum[{parts(n)}]')}"
            for n in range(2, 7)
        ),
        "(self: Tracing, space: One, /, *, planned: bool = True) -> Tracer[[Expr[One]], One]",
        "(self: Tracing, space: Type, /, *, planned: bool = True) -> Callable[[Callable[..., Any]], AnyMap]",
    ],
}


ROWS = {
    **control.ROWS,
    "diff.datatypes.kinds.data": {
        "data": [*map(classes, range(1, 6)), "(*classes: type[Any], **kinds: Type | Values[Any]) -> Data[Any]"],
    },
    "diff.datatypes.term.cases": {
        "folded": [
            folded("W"),
            folded("V", "W"),
            folded("U", "V", "W"),
            "(step: Callable[[T1, T], T], start: T, items: tuple[T1, ...]) -> T",
        ],
    },
    "diff.datatypes.term.term_decorator": {
        "term": [
            *(term(kinds) for n in (1, 2, 3) for kinds in product((True, False), repeat=n)),
            "(*kinds: Type | Values[Any], to: Kind | None = None) -> TermMaker[..., ...]",
        ],
    },
    "diff.derive.affine": {
        "affine": [f"(f: Map[{V}, W], {x}) -> tuple[Vec[W], LinMap[{V}, W]]" for V, x in points()],
    },
    "diff.jets.jet_programs": {
        "jet": [
            *(
                f"(f: Map[V, W], k: Literal[{k}], order: Literal[{order}])"
                f" -> Map[{copies('V', comb(k + order, k))}, {copies('W', comb(k + order, k))}]"
                for k, order in ((1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2))
            ),
            (
                "(f: Map[V, W], k: int, order: int, *, given: Iterable[Any] | None = None, "
                "wanted: Iterable[Any] | None = None, wrt: Wrt = None) -> Map[Any, Any]"
            ),
        ],
        "taylor": TAYLOR,
        "directional": [
            *(
                f"(f: Map[V, W], r: Literal[{r}], *, polarised: bool = False) -> Map[{copies('V', r + 1)}, W]"
                for r in range(1, 5)
            ),
            "(f: Map[V, W], r: int, *, polarised: bool = False) -> Map[Any, W]",
        ],
    },
    "diff.terms.elementwise": {
        "Binary.__call__": [
            "(self: Binary, x: Expr[X], y: Expr[X] | Vec[X] | float, /) -> Expr[X]",
            "(self: Binary, x: Vec[X] | float, y: Expr[X], /) -> Expr[X]",
            "(self: Binary, x: Vec[X], y: Vec[X] | float, /) -> Vec[X]",
            "(self: Binary, x: float, y: Vec[X], /) -> Vec[X]",
        ],
    },
    "diff.terms.untraced_functions": {
        "operation": [
            *map(operation, (1, 2, 3)),
            (
                "(name: str, a: Type, b: Type, c: Type, d: Type, /, *spaces: Type, to: W, value: Callable[..., Any], "
                "tangent: Callable[..., Any] | None = None, batched: bool = True, broadcasts: bool = False)"
                " -> Map[Any, W]"
            ),
        ],
        "sparse_product": choices(
            "(rows: Any, cols: Any, X: I, Y: J{V}{entries})"
            " -> Map[DirectSum[Copower[Field, {E}], Copower[{W}, I]], Copower[{W}, J]]",
            ENTRIES,
            SPACE,
        ),
    },
    "diff.terms.lift": {
        "lift": [
            "(f: Map[DirectSum[A, B], W], X: I) -> Map[DirectSum[A, Copower[B, I]], Copower[W, I]]",
            *(in_lanes(n, over) for n in (2, 3) for count in range(1, n + 1) for over in combinations(range(n), count)),
            "(f: Map[V, W], X: I, *, over: Sequence[int]) -> Map[Any, Copower[W, I]]",
        ],
    },
    "diff.terms.linearization": {
        "Linearization.at": [
            "(self: Linearization[U, V, W], x: Vec[U], /) -> LinMap[V, W]",
            *(
                f"(self: Linearization[DirectSum[{parts(n)}], V, W], {values(n)}, /) -> LinMap[V, W]"
                for n in range(2, 11)
            ),
        ],
    },
    "diff.trace.expr": methods.of_class("Expr", EXPRESSION),
    "diff.trace.trace": TRACE,
    **vocabulary.ROWS,
}

"""Signatures of the package hilbert."""

from tests.typing.rows import methods
from tests.typing.rows.families import COLUMNS, VEC, parts, values

IMPORTS = """
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, ClassVar, Generic, Literal, Never, TypeVar, TypeVarTuple, final, overload

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
    Labelled,
    Lens,
    Map,
    Product,
    Space,
    TensorProduct,
    Type,
)
from hilbert import Vec as Vec
from hilbert.map.map import Columnwise, Operand
from hilbert.space.linear import Linear
from hilbert.space.vector import Number, Whole
"""
VARIABLES = {
    "A B C D E F G L M N V W": "Type",
    "X": "Space",
    "H I J K": "Index",
    "T": "",
    "Unknown": "Never",
    "Rest": "TypeVarTuple",
    **methods.VARIABLES,
}
CLASSES = methods.mixin("Vec", VEC, own=("norm",))


def applied(kind: str, result: str) -> dict[str, list[str]]:
    """A map of vectors, or of what it applies to besides: to the parts of a point, and to parts that are pairs."""
    nested = [
        ("B, C", "Map[DirectSum[A, DirectSum[B, C]], W]"),
        ("B, C, D", "Map[DirectSum[A, DirectSum[B, C, D]], W]"),
    ]
    flat = [
        ("A, B", "C", 3),
        ("A, B, C", "D", 4),
        ("A, B", "DirectSum[C, D]", 4),
        ("A, B, C", "DirectSum[D, E, F]", 6),
    ]
    a = kind.format("A")
    return {
        "whole": [f"(self: Map[V, W], x: {kind.format('V')}, /) -> {result}"],
        "parts": [f"(self: Map[DirectSum[{parts(n)}], W], {values(n, kind)}, /) -> {result}" for n in range(2, 11)],
        "pairs": [
            f"(self: Map[DirectSum[A, B], W], x: tuple[{parts(2, kind)}], /) -> {result}",
            *(
                f"(self: {of}, a: {a}, bc: tuple[{', '.join(map(kind.format, inner.split(', ')))}], /) -> {result}"
                for inner, of in nested
            ),
            *(
                f"(self: Map[DirectSum[DirectSum[{first}], {second}], W], {values(n, kind)}, /) -> {result}"
                for first, second, n in flat
            ),
        ],
    }


VECTORS, OTHERS = applied("Vec[{}]", "Vec[W]"), applied("Operand[{}, W, T]", "T")

ELEMENTS = "Copower[Elements[Fin[T]], {}]"

ROWS = {
    "hilbert.index.index": {
        "Labelled.at": [
            f"(self: Labelled[T], column: Any, rows: None = None) -> Vec[{ELEMENTS.format('Fin[Anonymous]')}]",
            f"(self: Labelled[T], column: Any, rows: I) -> Vec[{ELEMENTS.format('I')}]",
        ],
    },
    "hilbert.space.vector": methods.of_class(
        "Vec",
        {
            **{
                name: methods.arithmetic("Vec", VEC, taken, scalar="Vec")
                for name, taken in (("__add__", "other"), ("__sub__", "other"), ("__mul__", "k"))
            },
            "__matmul__": methods.matmul("Vec", VEC, "other"),
            "norm": ["(self: Linear[X]) -> float", *methods.along("Vec", "Vec")],
            **methods.shared("Vec", VEC),
        },
    ),
    "hilbert.map.map": {
        "Map.__call__": [
            "(self: Map[V, W], x: Unknown, /, *more: Unknown) -> Any",
            *(line for kind in ("whole", "parts", "pairs") for line in VECTORS[kind]),
            *(line for kind in ("whole", "pairs", "parts") for line in OTHERS[kind]),
            *(
                f"(self: Columnwise[Copower[Field, I], {cod}], x: Vec[{table}], /) -> Vec[{made}]"
                for cod, table, made in COLUMNS  # pyright does not solve these for expressions; it does in A @ t
            ),
        ],
    },
}

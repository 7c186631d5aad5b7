"""Signatures of the package hilbert."""

from tests.typing.rows.families import parts, values

IMPORTS = """
from typing import Any, Never, TypeVar, overload

from hilbert import DirectSum, Map, Type, Vec
from hilbert.map.map import Operand
"""
VARIABLES = {"A B C D E F G L M N V W": "Type", "T": "", "Unknown": "Never"}


def applied(kind: str, result: str) -> dict[str, list[str]]:
    """A map of vectors, or of what it applies to besides: to the parts of a point, and to parts that are pairs."""
    nested = [
        ("B, C", "Map[DirectSum[A, DirectSum[B, C]], W]"),
        ("B, C, D", "Map[DirectSum[A, DirectSum[B, C, D]], W]"),
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
        ],
    }


VECTORS, OTHERS = applied("Vec[{}]", "Vec[W]"), applied("Operand[{}, W, T]", "T")

ROWS = {
    "hilbert.map.map": {
        "Map.__call__": [
            "(self: Map[V, W], x: Unknown, /, *more: Unknown) -> Any",
            *(line for kind in ("whole", "parts", "pairs") for line in VECTORS[kind]),
            *(line for kind in ("whole", "pairs", "parts") for line in OTHERS[kind]),
        ],
    },
}

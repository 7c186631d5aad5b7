"""Signatures of the package linmap."""

from tests.typing.rows.families import COLUMNS, SPACE, choices, parts

IMPORTS = """
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, TypeVarTuple, overload

from hilbert import (
    Anonymous,
    Copower,
    Coproduct,
    DirectSum,
    Elements,
    Field,
    Fin,
    Index,
    Lens,
    Map,
    Product,
    Relation,
    TensorProduct,
    Type,
    Vec,
)
from hilbert.map.map import AnyMap, Symbol
from linmap.contraction import Contraction
from linmap.term.linear_map import AnyLinMap, LinMap
"""
VARIABLES = {
    "A A1 B B1 C C1 D U V W": "Type",
    "H I J K": "Index",
    "T": "",
    "Row": "DirectSum[*tuple[Any, ...]]",
    "Many": "DirectSum[Any, Any, Any, Any, *tuple[Any, ...]]",
    "Rest": "TypeVarTuple",
}

MAPS = ["LinMap", "Map"]
FIN = "Fin[Anonymous]"
TO = [{"to": "", "also_to": "", "J": FIN}, {"to": ", *, to: J", "also_to": ", to: J", "J": "J"}]
"""The index set of the result: positions without a name where it is left out."""
ROWS_OF = [{"rows": "", "also_rows": "", "J": FIN}, {"rows": ", *, rows: J", "also_rows": ", rows: J", "J": "J"}]
"""The index set of a table's rows, likewise."""
OF = "LinMap[Copower[{W}, I], Copower[{W}, J]]"


# linmap.relational


def axis(taken: str, options: str = "", to: str = "I") -> list[str]:
    """A linear map along an axis of size X, entry by entry in a space."""
    return choices(f"(X: I{taken}{{V}}{options}) -> LinMap[Copower[{{W}}, I], Copower[{{W}}, {to}]]", SPACE)


def axis_to(taken: str, options: str = "", to: str = "{J}") -> list[str]:
    """A linear map along an axis of size X to one that may be named."""
    named = f", *{options}{{also_to}}" if options else "{to}"
    signature = f"(X: I{taken}{{V}}{named}) -> LinMap[Copower[{{W}}, I], Copower[{{W}}, {to}]]"
    return choices(signature, TO, SPACE)


SETS = [("X: I, Y: J, /", "I J", "Coproduct[I, J]"), ("X: I, Y: J, Z: H, /", "I J H", "Coproduct[Coproduct[I, J], H]")]
V_ALONE = [{"V": "", "W": "Field"}, {"V": "V: W", "W": "W"}]


def concatenated(sets: str, pieces: str, whole: str, *, to: bool) -> list[str]:
    """Vectors over several index sets as one over their coproduct, or over a set that is named."""
    found = []
    for space, W in (("", "Field"), ("V: W", "W")):
        options = ", ".join(name for name in (space, "to: K" if to else "") if name)
        sep = "" if not options else ", " if sets.startswith("*") else ", *, "
        dom = "Any" if not pieces else f"DirectSum[{', '.join(f'Copower[{W}, {X}]' for X in pieces.split())}]"
        found.append(f"({sets}{sep}{options}) -> LinMap[{dom}, Copower[{W}, {'K' if to else whole}]]")
    return found


WINDOWS = [{"to": "", "J": f"Product[{FIN}, {FIN}]"}, {"to": ", to: Product[J, K]", "J": "Product[J, K]"}]
AXIS_MAPS = {
    "cumsum": axis("", ", *, reverse: bool = ..., exclusive: bool = ..."),
    "pad": axis_to(", before: int, after: int"),
    "crop": axis_to(", start: int | None, stop: int | None", ", step: int = ..."),
    "roll": axis(", by: int"),
    "flip": axis(""),
    "reshape": axis(", Y: J", to="J"),
    "concatenate": [
        *(line for to in (False, True) for row in SETS for line in concatenated(*row, to=to)),
        *(line for to in (False, True) for line in concatenated("*sets: Index", "", "Any", to=to)),
    ],
    "windows": choices(
        "(X: I, width: int{V}, *, stride: int = ..., dilation: int = ...{to})"
        " -> LinMap[Copower[{W}, I], Copower[{W}, {J}]]",
        WINDOWS,
        SPACE,
    ),
    "pool": axis_to(", width: int", ", stride: int | None = ..."),
    "differences": axis_to(""),
}

TABLE = "indices: Relation[J, I] | Vec[Copower[Elements[I], J]]"
ANOTHER = "  # pyright: ignore[reportOverlappingOverload]  # a table of another kind may be anything"
ONLY_V = [{"V": "", "W": "Field"}, {"V": ", V: W, /", "W": "W"}]
"""The space of the entries, where no index set stands before it."""


def by_table(dom: str, cod: str) -> list[str]:
    """A linear map by a table of positions in X: a relation, a vector of elements, or an array."""
    of = f"LinMap[Copower[{{W}}, {dom}], Copower[{{W}}, {cod}]]"
    return [
        *choices(f"({TABLE}{{V}}) -> {of}", [{**row, "J": "J"} for row in ONLY_V]),
        *(line + ANOTHER for line in choices(f"({TABLE}, X: I{{V}}) -> {of}", [{**row, "J": "J"} for row in SPACE])),
        *choices(f"(indices: Any, X: I{{V}}{{rows}}) -> {of}", ROWS_OF, SPACE),
    ]


KEYS = [
    {"I": FIN, "rows": "", "also_rows": ""},
    {"I": "I", "rows": ", *, rows: I", "also_rows": ", rows: I"},
]
ENTRIES = {
    "gather": [
        *choices("(indices: Vec[Elements[I]]{V}) -> LinMap[Copower[{W}, I], {W}]", ONLY_V),
        *by_table("I", "{J}"),
    ],
    "segment_sum": by_table("{J}", "I"),
    "group_by": [
        line
        for row in KEYS
        for line in (
            *choices("(column: Any{V}{rows}) -> LinMap[Copower[{W}, {I}], Copower[{W}, " + FIN + "]]", [row], ONLY_V),
            *choices(
                "(column: Any, keys: Fin[T]{V}{rows}) -> LinMap[Copower[{W}, {I}], Copower[{W}, Fin[T]]]", [row], SPACE
            ),
        )
    ],
    "permute": choices("(order: Any, X: I{V}) -> LinMap[Copower[{W}, I], Copower[{W}, I]]", SPACE),
}


# linmap.term


def at_part(result: str) -> list[str]:
    """The map between a space and one of its parts, of which `result` says which way."""

    def between(whole: str, taken: str, part: str) -> str:
        return f"(s: {whole}, i: {taken}) -> LinMap[{result.format(whole=whole, part=part)}]"

    return [
        *(between(f"DirectSum[{parts(k + 1)}, *Rest]", f"Literal[{k}]", "ABC"[k]) for k in range(3)),
        between("Copower[V, I]", "Any", "V"),
        between("U", "Lens[U, W]", "W"),
        between("Many", "int", "Any"),
    ]


def several(kind: str, each: str, n: int, result: str) -> str:
    """A map of n maps of a kind; `each` is their type, with a place for the part."""
    maps = ", ".join(f"{name}: {kind}[{each.format(part)}]" for name, part in zip("fgh"[:n], "ABC", strict=False))
    return f"({maps}, /) -> {kind}[{result.format(f'DirectSum[{parts(n)}]')}]"


def many(of: str, result: str) -> str:
    """A map of four maps or more."""
    return f"(f: {of}, g: {of}, h: {of}, k: {of}, /, *more: {of}) -> {result}"


def beside(kind: str, n: int) -> str:
    """Maps side by side."""
    maps = ", ".join(f"{'fgh'[k]}: {kind}[{'ABC'[k]}, {'ABC'[k]}1]" for k in range(n))
    return f"({maps}, /) -> {kind}[DirectSum[{parts(n)}], DirectSum[{parts(n, '{}1')}]]"


def composed(kind: str) -> list[str]:
    """Two or three maps, one after another."""
    return [
        f"(g: {kind}[V, W], f: {kind}[U, V], /) -> {kind}[U, W]",
        f"(h: {kind}[W, A], g: {kind}[V, W], f: {kind}[U, V], /) -> {kind}[U, A]",
    ]


SCALE = [{"V": "", "W": "Field"}, {"V": ", V: U", "W": "U"}]
TERM_MAPS = {
    "scale": choices("(k: float | Vec[Field]{V}) -> LinMap[{W}, {W}]", SCALE),
    "project": at_part("{whole}, {part}"),
    "inject": at_part("{part}, {whole}"),
    "fork": [
        *(several(kind, "U, {}", n, "U, {}") for kind in MAPS for n in (2, 3)),
        *(many(f"{kind}[U, Any]", f"{kind}[U, Any]") for kind in MAPS),
    ],
    "join": [
        *(several("LinMap", "{}, W", n, "{}, W") for n in (2, 3)),
        many("LinMap[Any, W]", "LinMap[Any, W]"),
    ],
    "parallel": [
        *(beside(kind, n) for kind in MAPS for n in (2, 3)),
        *(many(f"Any{kind}", f"Any{kind}") for kind in MAPS),
    ],
    "compose": [
        *(line for kind in MAPS for line in composed(kind)),
        *(f"(fs: Sequence[{kind}[V, V]], /) -> {kind}[V, V]" for kind in MAPS),
        *(
            f"(k: {kind}[Any, W], h: Any{kind}, g: Any{kind}, f: Any{kind}, /, *more: Any{kind}) -> {kind}[Any, W]"
            for kind in MAPS
        ),
    ],
    "red": choices("(relation: Relation[I, J]{V}) -> LinMap[Copower[{W}, I], Copower[{W}, J]]", SPACE),
    "total": choices("(X: I{V}) -> LinMap[Copower[{W}, I], {W}]", SPACE),
    "rep": choices("(X: I{V}) -> LinMap[{W}, Copower[{W}, I]]", SPACE),
    "section": [
        f"(bilinear: Contraction[U, V, W], side: Literal[{side}], v: Vec[{fixed}]) -> LinMap[{free}, W]"
        for side, fixed, free in ((0, "U", "V"), (1, "V", "U"))
    ],
    "delta": [
        f"(bilinear: Contraction[U, V, W], side: Literal[{side}], family: Vec[Copower[{fixed}, I]], X: I)"
        f" -> LinMap[Copower[{free}, I], Copower[W, I]]"
        for side, fixed, free in ((0, "U", "V"), (1, "V", "U"))
    ],
}


# linmap.unitary


def unitary(dom: str, cod: str, mark: str = "") -> str:
    """A unitary operator, named by its domain."""
    return f"(V: {dom}) -> LinMap[{dom}, {cod}]{mark}"


def zipped(n: int) -> str:
    """Copowers over one index set as one of direct sums."""
    return unitary(f"DirectSum[{parts(n, 'Copower[{}, I]')}]", f"Copower[DirectSum[{parts(n)}], I]")


FACTORED, SUMMED = "TensorProduct[DirectSum[A, B], W]", "DirectSum[TensorProduct[A, W], TensorProduct[B, W]]"
UNITARY = {
    "transpose": [
        unitary("TensorProduct[A, B]", "TensorProduct[B, A]"),
        unitary("Copower[W, Product[I, J]]", "Copower[W, Product[J, I]]"),
    ],
    "bars": [
        unitary("TensorProduct[Field, U]", "U", "  # type: ignore[overload-overlap]"),
        unitary("TensorProduct[U, Field]", "U"),
    ],
    "distrib": [
        unitary("TensorProduct[Copower[A, I], W]", "Copower[TensorProduct[A, W], I]"),
        unitary(FACTORED, SUMMED),
        unitary("TensorProduct[DirectSum[*Rest], W]", "Any"),
    ],
    "undistrib": [
        unitary("Copower[TensorProduct[A, W], I]", "TensorProduct[Copower[A, I], W]"),
        unitary(SUMMED, FACTORED),
        unitary("DirectSum[*Rest]", "TensorProduct[Any, Any]"),
    ],
    "zip_parts": [
        zipped(2),
        zipped(3),
        unitary(f"DirectSum[{parts(4, 'Copower[{}, I]')}, *Rest]", "Copower[Any, I]"),
        unitary("DirectSum[DirectSum[A, B], DirectSum[C, D]]", "DirectSum[DirectSum[A, C], DirectSum[B, D]]"),
        unitary("DirectSum[Row, *Rest]", "DirectSum[*tuple[Any, ...]]"),
    ],
    "unzip_parts": [
        unitary("Copower[DirectSum[A, B], I]", "DirectSum[Copower[A, I], Copower[B, I]]"),
        unitary("U", "Any"),
    ],
    "stack": choices("(X: I{V}) -> LinMap[Any, Copower[{W}, I]]", SPACE),
    "unstack": choices("(X: I{V}) -> LinMap[Copower[{W}, I], Any]", SPACE),
}

ROWS = {
    "linmap.relational.axis_maps": AXIS_MAPS,
    "linmap.relational.entries": ENTRIES,
    "linmap.relational.weighted": {
        "sparse": choices(
            "(rows: Any, cols: Any, weights: Any, X: I, Y: J{V}) -> LinMap[Copower[{W}, I], Copower[{W}, J]]", SPACE
        ),
        "from_scipy": [
            f"(matrix: Any) -> LinMap[Copower[Field, {FIN}], Copower[Field, {FIN}]]",
            *choices("(matrix: Any, X: I, Y: J{V}) -> LinMap[Copower[{W}, I], Copower[{W}, J]]", SPACE),
        ],
    },
    "linmap.term.linear_map": {
        "LinMap.__matmul__": [
            *(f"(self: LinMap[V, W], f: {kind}[U, V]) -> {kind}[U, W]" for kind in MAPS),
            "(self: LinMap[V, W], f: Vec[V]) -> Vec[W]",
            "(self: LinMap[V, W], f: Symbol[V, W, T]) -> T",
            *(
                f"(self: LinMap[Copower[Field, I], {cod}], f: {x}) -> {to}"
                for cod, table, made in COLUMNS
                for x, to in ((f"Vec[{table}]", f"Vec[{made}]"), (f"Symbol[{table}, {made}, T]", "T"))
            ),
        ],
    },
    "linmap.term.maps": TERM_MAPS,
    "linmap.unitary": UNITARY,
}

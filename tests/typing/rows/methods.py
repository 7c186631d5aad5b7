"""Signatures of the methods that vectors and expressions both have: one table, read for either."""

from hilbert.space.vector_methods import METHODS
from tests.typing.rows.families import SPACES, of, parts

VARIABLES = {
    "Axis": "Fin[Any] | Coproduct[Any, Any]",
    "Count": "Boolean | Integers",
}

SECOND = "  # pyright: ignore[reportOverlappingOverload]"
"""Two axes may have one tag; then a position tells them apart."""
FOUND = "  # type: ignore[overload-overlap]"

TABLES = [
    ("Product[Product[I, J], K]", "I | Literal[0]", "Product[J, K]"),
    ("Product[Product[I, J], K]", "J | Literal[1]", "Product[I, K]"),
    ("Product[Product[I, J], K]", "K | Literal[2]", "Product[I, J]"),
    ("Product[I, J]", "I | Literal[0]", "J"),
    ("Product[I, J]", "J | Literal[1]", "I"),
]
"""The index set of a table, an axis of it, and what is left."""
MANY = "Product[Product[Product[Any, Any], Any], Any]"
RENAMED = [
    ("Product[Product[I, J], K]", "I | Literal[0]", "Product[Product[{}, J], K]"),
    ("Product[Product[I, J], K]", "J | Literal[1]", "Product[Product[I, {}], K]"),
    ("Product[Product[I, J], K]", "K | Literal[2]", "Product[Product[I, J], {}]"),
    ("Product[I, J]", "I | Literal[0]", "Product[{}, J]"),
    ("Product[I, J]", "J | Literal[1]", "Product[I, {}]"),
]
"""The index set of a table, an axis of it, and the index set with another one in its place."""


def along(kind: str, owner: str) -> list[str]:
    """A reduction along one axis."""
    return [
        f"(self: {owner}[Copower[W, {MANY}]], over: Index | int) -> {kind}[Any]",
        *(
            f"(self: {owner}[Copower[W, {table}]], over: {axis}) -> {kind}[Copower[W, {rest}]]"
            + (SECOND if axis[0] != "I" else "")
            for table, axis, rest in TABLES
        ),
        f"(self: {owner}[Copower[Copower[W, J], I]], over: J | Literal[1]) -> {kind}[Copower[W, I]]",
        f"(self: {owner}[Copower[W, I]], over: I | Literal[0]) -> {kind}[W]",
    ]


def finding(kind: str) -> list[str]:
    """The element at which something is found, along one axis."""
    nested = "Finding[Copower[Copower[Field, J], I]]"
    return [
        f"(self: Finding[Copower[Field, {MANY}]], over: Index | int) -> {kind}[Any]",
        *(
            f"(self: Finding[Copower[Field, {table}]], over: {axis}) -> {kind}[Copower[Elements[{axis[0]}], {rest}]]"
            + FOUND
            + (SECOND if axis[0] != "I" else "")
            for table, axis, rest in TABLES
        ),
        f"(self: {nested}, over: J | Literal[1]) -> {kind}[Copower[Elements[J], I]]",
        f"(self: {nested}, over: I | Literal[0]) -> {kind}[Copower[Elements[I], J]]",
        f"(self: Finding[Copower[Field, I]], over: I | Literal[0] | None = None) -> {kind}[Elements[I]]",
    ]


def comparing(kind: str, other: str) -> list[str]:
    """Truth values for entries of a kind, beside those of another, or beside a number."""
    entries = [("Field", " | Number"), ("Integers", " | int"), ("Boolean", ""), ("Elements[K]", " | int")]
    rows = [(entry, "Boolean", number) for entry, number in entries]
    rows += [(f"Copower[{entry}, I]", "Copower[Boolean, I]", number) for entry, number in entries]
    rows += [("Copower[Copower[Field, J], I]", "Copower[Copower[Boolean, J], I]", " | Number")]
    return [f"(self: Comparing[{v}], o: {of(other, v)}{number}) -> {kind}[{truth}]" for v, truth, number in rows]


PLACES = [
    *((f"Copower[W, {table}]", axis, f"Copower[W, {whole}]") for table, axis, whole in RENAMED),
    ("Copower[Copower[W, J], Axis]", "J | Literal[1]", "Copower[Copower[W, {}], Axis]"),
    ("Copower[W, Axis]", "Axis | Literal[0]", "Copower[W, {}]"),
]
"""The space of a vector, an axis of it, and the space with another index set in its place."""
CLASHES = ("Product[Product", "over: I", "Copower[Copower")
"""What stands in a row of `PLACES` beside which mypy sees another row: two axes may have one tag."""


def resized(owner: str, kind: str, taken: str, star: str = "") -> list[str]:
    """Another size of the one axis, or of one axis of several; `to` names the new one."""
    anonymous = "Fin[Anonymous]"
    start = f"(self: {owner}[{{}}], {taken}"
    rows = [("Copower[W, Axis]", "", "Copower[W, {}]"), *((v, f"over: {over}, ", to) for v, over, to in PLACES)]
    return [
        f"{start.format(f'Copower[W, {MANY}]')}{star}, over: Index | int, to: Index | None = None) -> {kind}[Any]",
        *(
            line
            for v, over, result in rows
            for line in (
                f"{start.format(v)}{f'{star}, {over[:-2]}' if over else ''}) -> {kind}[{result.format(anonymous)}]"
                + (FOUND if any(form in v + over for form in CLASHES) else "")
                + (SECOND if over[6:7] in {"J", "K"} else ""),
                f"{start.format(v)}{star}, {over}to: H) -> {kind}[{result.format('H')}]"
                + (SECOND if over[6:7] in {"J", "K"} else ""),
            )
        ),
    ]


def naming(kind: str) -> list[str]:
    """Other names for all axes, or for one of several."""
    start = "(self: Naming[{}], Y: H"
    return [
        f"{start.format('Copower[W, I]')}) -> {kind}[Copower[W, H]]",
        f"(self: Naming[Copower[W, {MANY}]], Y: Index, *, over: Index | int) -> {kind}[Any]",
        *(
            f"{start.format(v)}, *, over: {over}) -> {kind}[{result.format('H')}]" + (SECOND if over[0] in "JK" else "")
            for v, over, result in PLACES
        ),
    ]


def fitting(kind: str, other: str) -> list[str]:
    """A vector along the axes that it names."""
    rows = [
        (f"Copower[Field, {MANY}]", ["Any"]),
        (
            "Copower[Field, Product[Product[I, J], K]]",
            [f"Copower[Field, {X}]" for X in ("I", "J", "K", "Product[I, J]", "Product[I, K]", "Product[J, K]")],
        ),
        ("Copower[Field, Product[I, J]]", ["Copower[Field, I]", "Copower[Field, J]", "Copower[Field, Product[I, J]]"]),
        ("Copower[Copower[Field, J], I]", ["Copower[Field, I]", "Copower[Field, J]"]),
        ("Copower[Field, Axis]", ["Copower[Field, Axis]"]),
    ]
    return [f"(self: Fitting[{V}], v: {' | '.join(of(other, v) for v in taken)}) -> {kind}[{V}]" for V, taken in rows]


def along_axes(kind: str, other: str) -> dict[str, list[str]]:
    """The signatures of the methods along axes, by the class of the bound method."""
    ranked = "(self: Ranking[Copower[Field, I]], k: int"
    return {
        "Reducing": [f"(self: Reducing[V]) -> {kind}[Field]", *along(kind, "Reducing")],
        "Keeping": [f"(self: Keeping[V], over: Index | int | None = None) -> {kind}[V]"],
        "Finding": finding(kind),
        "Ordering": [
            f"(self: Ordering[Copower[Field, I]], over: I | None = None) -> {kind}[Copower[Elements[I], I]]",
            f"(self: Ordering[V], over: Index | int | None = None) -> {kind}[Any]",
        ],
        "Ranking": [
            f"{ranked}) -> {kind}[Copower[Elements[I], Fin[Anonymous]]]",
            f"{ranked}, *, to: K) -> {kind}[Copower[Elements[I], K]]",
            f"(self: Ranking[V], k: int, over: Index | int, *, to: Index | None = None) -> {kind}[Any]",
        ],
        "Comparing": comparing(kind, other),
        "Naming": naming(kind),
        "Widening": resized("Widening", kind, "before: int, after: int", ", *"),
        "Cropping": resized("Cropping", kind, "start: int | None, stop: int | None, *, step: int = ..."),
        "Fitting": fitting(kind, other),
    }


SQUARE = "Copower[W, Product[I, I]]"
KINDS = {
    "Reduction": ("Linear[X]", "Reducing[X]"),
    "Kept": ("Linear[X]", "Keeping[X]"),
    "Found": ("Linear[X]", "Finding[X]"),
    "Ordered": ("Linear[X]", "Ordering[X]"),
    "Ranked": ("Linear[X]", "Ranking[X]"),
    "Compared": ("{kind}[W]", "Comparing[W]"),
    "Diagonal": (f"{{kind}}[{SQUARE}]", "Callable[[], {kind}[Copower[W, I]]]"),
    "Trace": (f"{{kind}}[{SQUARE}]", "Callable[[], {kind}[W]]"),
    "Named": ("{kind}[W]", "Naming[W]"),
    "Padded": ("{kind}[W]", "Widening[W]"),
    "Cropped": ("{kind}[W]", "Cropping[W]"),
    "Along": ("Linear[X]", "Fitting[X]"),
    "Diag": ("{kind}[Copower[W, I]]", f"Callable[[], {{kind}}[{SQUARE}]]"),
}
"""The kinds of attributes in the table of methods: what each is an attribute of, and its value."""


def mixin(kind: str, other: str, *, own: tuple[str, ...] = ()) -> list[str]:
    """The lines of the class of methods along axes, but those that are the `own` of their class, and of their kinds."""
    lines = ['V_co = TypeVar("V_co", bound=Type, covariant=True)']
    for name, signatures in along_axes(kind, other).items():
        lines.append(f"class {name}(Generic[V_co]):")
        for signature in signatures:
            text, mark, comment = signature.partition("  #")
            lines += ["    @overload"] * (len(signatures) > 1) + [f"    def __call__{text}: ...{mark}{comment}"]
    for name, (owner, value) in KINDS.items():
        taken, given = owner.format(kind=kind), value.format(kind=kind)
        lines += ["@final", f"class {name}:", f"    def __get__(self, v: {taken}, owner: Any = ...) -> {given}: ..."]
    lines += ["class Reductions:", "    __slots__ = ()"]
    for name, method in METHODS.items():
        if name not in own:
            lines += [f"    {name}: ClassVar[{method.kind}]", f'    """{method.doc}"""']
    return lines


def ordered(kind: str, other: str) -> list[str]:
    """`<` and its like."""
    rows = [
        ("Field", "Boolean"),
        ("TensorProduct[A, B]", "Any"),
        ("Copower[Field, I]", "Copower[Boolean, I]"),
        ("Copower[Copower[Field, J], I]", "Copower[Copower[Boolean, J], I]"),
    ]
    return [f"(self: {kind}[{v}], o: {of(other, v)} | Number) -> {kind}[{truth}]" for v, truth in rows]


def split(kind: str) -> list[str]:
    """The parts of a direct sum; of a copower of direct sums, those of all elements; typed up to six."""
    seven = f"DirectSum[{parts(7)}, *Rest]"
    lanes, nested = "Copower[{}, I]", "Copower[Copower[{}, J], I]"
    return [
        *(f"(self: {kind}[DirectSum[{parts(n)}]]) -> tuple[{parts(n, f'{kind}[{{}}]')}]" for n in range(2, 7)),
        f"(self: {kind}[{seven}]) -> tuple[{kind}[Any], ...]",
        *(
            f"(self: {kind}[{lanes.format(f'DirectSum[{parts(n)}]')}]) -> tuple[{parts(n, f'{kind}[{lanes}]')}]"
            for n in range(2, 7)
        ),
        f"(self: {kind}[{lanes.format(seven)}]) -> tuple[{kind}[Copower[Any, I]], ...]",
        f"(self: {kind}[{nested.format('DirectSum[A, *Rest]')}]) -> tuple[{kind}[{nested.format('Any')}], ...]",
    ]


def getitem(kind: str, other: str) -> list[str]:
    """`v[i]`: a part, by a lens, by an element, by a position, by a slice, by a label; one for each axis."""
    rows = [
        *((f"DirectSum[{parts(k + 1)}, *Rest]", f"Literal[{k}]", SPACES[k]) for k in range(6)),
        ("DirectSum[*Rest]", "int | str", "Any"),
        ("A", "Lens[A, W]", "W"),
        ("Copower[A, I]", "Lens[A, W]", "Copower[W, I]"),
        ("Copower[Copower[A, J], I]", "Lens[A, W]", "Copower[Copower[W, J], I]"),
        ("Copower[W, I]", of(other, "Elements[I]"), "W"),
        ("Copower[W, I]", of(other, "Copower[Elements[I], J]"), "Copower[W, J]"),
        ("Copower[W, Axis]", "int", "W"),
        ("Copower[W, Axis]", "Whole", "Copower[W, Axis]"),
        ("Copower[W, Axis]", "slice", "Copower[W, Fin[Anonymous]]"),
        ("Copower[W, Fin[T]]", "str | date", "W"),
        ("Copower[W, Product[I, J]]", "tuple[int | str, Whole]", "Copower[W, J]"),
        ("Copower[W, Product[I, J]]", "tuple[Whole, int | str]", "Copower[W, I]"),
        ("Copower[W, Product[I, J]]", "tuple[int | str, int | str]", "W"),
        ("Copower[W, Product[I, J]]", "tuple[int | str | slice, ...]", "Any"),
    ]
    return [f"(self: {kind}[{v}], i: {i}) -> {kind}[{part}]" + (SECOND if i == "Whole" else "") for v, i, part in rows]


def arithmetic(kind: str, other: str, name: str, *, scalar: str) -> list[str]:
    """v + w, v − w, v·w: beside a vector of the space, a scalar or a number; a scalar beside any vector."""
    return [
        f"(self: Linear[X], {name}: {of(other, 'X')} | {of(other, 'Field')} | Number) -> {kind}[X]",
        f"(self: {kind}[Field], {name}: {scalar}[X]) -> {kind}[X]",
    ]


def shared(kind: str, other: str) -> dict[str, list[str]]:
    """The methods of an element of a space: a vector, or an expression, which meets vectors too."""
    lanes = f"{kind}[Copower[A, I]]"
    joined = f"(self: {kind}[Copower[W, I]], other: {of(other, 'Copower[W, J]')}"
    return {
        "__getitem__": getitem(kind, other),
        "replace": [
            f"(self: {kind}[A], lens: Lens[A, W], part: {of(other, 'W')}) -> {kind}[A]",
            f"(self: {lanes}, lens: Lens[A, W], part: {of(other, 'Copower[W, I]')}) -> {lanes}",
        ],
        "split": split(kind),
        "__iter__": [
            f"(self: {kind}[Copower[W, Axis]]) -> Iterator[{kind}[W]]",
            f"(self: {kind}[DirectSum[*Rest]]) -> Iterator[{kind}[Any]]",
        ],
        "cast": [
            *(
                f"(self: {kind}[{space.format('Count')}], field: Field) -> {kind}[{space.format('Field')}]"
                for space in ("Copower[Copower[{}, J], I]", "Copower[{}, I]", "{}")
            ),
            f"(self: Linear[X], field: Field) -> {kind}[X]",
        ],
        "concatenate": [
            f"{joined}) -> {kind}[Copower[W, Coproduct[I, J]]]",
            f"{joined}, *, to: K) -> {kind}[Copower[W, K]]",
        ],
        "transpose": [
            f"(self: {kind}[Copower[W, Product[I, J]]]) -> {kind}[Copower[W, Product[J, I]]]",
            f"(self: {kind}[Copower[W, I]], Y: K) -> {kind}[Copower[W, K]]",
        ],
        **{name: ordered(kind, other) for name in ("__gt__", "__ge__", "__lt__", "__le__")},
    }


def matmul(kind: str, other: str, name: str) -> list[str]:
    """A·x, A·B and x·y."""
    rows = [
        ("Product[I, J]", "Copower[Field, J]", "Copower[Field, I]"),
        ("Product[I, J]", "Copower[Field, Product[J, K]]", "Copower[Field, Product[I, K]]"),
        ("Fin[T]", "Copower[Field, Fin[T]]", "Field"),
    ]
    return [f"(self: {kind}[Copower[Field, {a}]], {name}: {of(other, b)}) -> {kind}[{to}]" for a, b, to in rows]


def of_class(name: str, rows: dict[str, list[str]]) -> dict[str, list[str]]:
    """The rows of methods, under the name of their class."""
    return {f"{name}.{method}": signatures for method, signatures in rows.items()}

"""Signatures of loops, branches, lanes and equations."""

from tests.typing.rows.families import EXPR, OPERANDS, SOME, SPACES, VEC, of, parts, values


def loop(state: str, kind: str, *out: str, item: str = "", options: str, more: str = "", mark: str = "") -> str:
    """A loop over a state (spaces by blanks, or none: any tuple), which may give values of spaces at each step."""
    spaces = state.split()
    given, start, end = (of(k, *spaces) if spaces else "States" for k in (EXPR, kind, EXPR if kind == SOME else kind))
    result = end
    xs = of(VEC if kind == VEC else SOME, "Copower[W, I]")
    taken = f", xs: {xs}{more}" if item else f", X: {'I' if out else 'Index'}"
    made = given
    if out:
        made = f"tuple[{given}, {of(EXPR, *out)}]"
        result = f"tuple[{end}, {of(VEC if kind == VEC else EXPR, *(f'Copower[{space}, I]' for space in out))}]"
    return f"(step: Callable[[{given}{item}], {made}], start: {start}{taken}, *, {options}) -> {result}{mark}"


def fold(state: str, kind: str, *out: str, mark: str = "") -> str:
    """A loop over the elements of xs."""
    options = "reverse: bool = False, checkpoint: bool | int = False"
    return loop(state, kind, *out, item=", Expr[W]", options=options, mark=mark)


def fold_two(state: str, kind: str, *out: str, mark: str = "") -> str:
    """A loop over the elements of xs and ys."""
    options = "reverse: bool = False, checkpoint: bool | int = False"
    ys = f", ys: {of(VEC if kind == VEC else SOME, 'Copower[U, I]')}"
    return loop(state, kind, *out, item=", Expr[W], Expr[U]", options=options, more=ys, mark=mark)


def iterate(state: str, kind: str, *out: str) -> str:
    """A loop of as many steps as an index set has elements."""
    return loop(state, kind, *out, options="checkpoint: bool | int = False")


OVERLAP = "  # type: ignore[overload-overlap]  # a vector is no expression"
UNTIL = "*, tolerance: float | None = None, at_most: int = {}"
LOOPS = {
    "fold": [
        fold("S", VEC, mark=OVERLAP),
        fold("S", SOME),
        fold("S", VEC, "Z", mark=OVERLAP),
        fold("S", SOME, "Z"),
        fold("A B", VEC),
        fold("A B", VEC, "Z", mark=OVERLAP),
        fold("", SOME),
        fold("", SOME, "Z"),
        fold("S", SOME, "A", "B"),
        fold("S", SOME, "A", "B", "C"),
        fold("", SOME, "A", "B"),
        fold_two("S", VEC, mark=OVERLAP),
        fold_two("S", SOME),
        fold_two("S", VEC, "Z", mark=OVERLAP),
        fold_two("S", SOME, "Z"),
    ],
    "iterate": [
        iterate("S", EXPR),
        iterate("S", VEC),
        iterate("S", VEC, "Z"),
        iterate("S", EXPR, "Z"),
        iterate("A B", VEC),
        iterate("A B", VEC, "Z"),
        iterate("", EXPR),
        iterate("", EXPR, "Z"),
        iterate("S", SOME, "A", "B"),
    ],
    "while_": [
        f"(condition: Callable[[{state}], Expr[Boolean]], step: Callable[[{state}], {state}], start: {start}, *, "
        f"at_most: Index | None = None) -> {start}"
        for state, start in (("Expr[S]", "Expr[S]"), ("Expr[S]", "Vec[S]"), ("States", "States"))
    ],
    "again": [
        *(
            f"(f: Callable[[{parts(n, EXPR)}], Expr[W]], a: Expr[A]{more}, /) -> Expr[W]"
            for n, more in enumerate(("", ", b: Expr[B] | Vec[B]", ", b: Expr[B] | Vec[B], c: Expr[C] | Vec[C]"), 1)
        ),
        *(f"(f: Callable[[{parts(n, EXPR)}], Expr[W]], {values(n)}, /) -> Vec[W]" for n in (1, 2)),
    ],
}
FIXED_POINTS = {
    "fixed_point": [
        f"(f: Callable[[{state}], {state}], start: {start}, {UNTIL.format(10000)}) -> {start}"
        for state, start in (("Expr[S]", "Vec[S]"), ("Expr[S]", "Expr[S]"), ("States", "States"))
    ],
    "root": [
        f"(f: Callable[[{state}], {value}], start: {start}, {UNTIL.format(100)}) -> {start}"
        for state, value, start in (
            ("Expr[S]", "Expr[Z]", "Vec[S]"),
            ("Expr[S]", "Expr[Z]", "Expr[S]"),
            ("States", "Expr[Any]", "States"),
            ("States", "tuple[Any, ...]", "States"),
        )
    ],
}


def delayed(condition: str, kind: str, *spaces: str, result: str) -> str:
    """A condition whose branches are functions without arguments."""
    branch = f"Callable[[], {of(kind, *spaces)}]"
    return f"(c: {of(condition, 'Boolean')}, then: {branch}, otherwise: {branch}) -> {of(result, *spaces)}"


def entrywise(condition: str, kind: str, result: str) -> list[str]:
    """A condition that picks one of two values, as a whole or entry by entry; one of them may be a number."""
    found = []
    for c, v in (("Boolean", "W"), ("Copower[Boolean, I]", "Copower[W, I]")):
        value, whole = of(kind, v), of(result, v)
        found += [f"(c: {of(condition, c)}, then: {value}, otherwise: {value} | Number) -> {whole}"]
        found += [f"(c: {of(condition, c)}, then: Number, otherwise: {value}) -> {whole}"]
    return found


WHERE = [
    *(delayed(SOME, EXPR, *spaces, result=EXPR) for spaces in ("W", "WZ", "WZU")),
    *(delayed(VEC, VEC, *spaces, result=VEC) for spaces in ("W", "WZ")),
    delayed(EXPR, SOME, "W", result=EXPR),
    *entrywise(EXPR, SOME, EXPR),
    *entrywise(VEC, VEC, VEC),
    *(
        f"(c: Vec[{c}], then: Expr[{v}], otherwise: {of(SOME, v)} | Number) -> Expr[{v}]"
        for c, v in (("Boolean", "W"), ("Copower[Boolean, I]", "Copower[W, I]"))
    ),
]


def each(kinds: list[str], *out: str) -> str:
    """A function of an element of each of some stacks."""
    n, result = len(kinds), VEC if set(kinds) == {VEC} else EXPR
    stacks = [
        f"{name}: {of(kind, f'Copower[{space}, I]')}"
        for name, kind, space in zip(("xs", "ys", "zs", "us"), kinds, SPACES, strict=False)
    ]
    lanes = of(result, *(f"Copower[{space}, I]" for space in out))
    return f"(f: Callable[[{parts(n, EXPR)}], {of(EXPR, *out)}], {', '.join(stacks)}, /) -> {lanes}"


VECTORISED = {
    "each": [
        each([EXPR], "W"),
        each([VEC], "W"),
        each([EXPR], "W", "Z"),
        *(each([kinds["a"], kinds["b"]], "W") for kinds in OPERANDS),
        *(each(kinds, "W") for kinds in ([VEC] * 3, [EXPR, SOME, SOME], [VEC, EXPR, SOME], [VEC, VEC, EXPR])),
        each([VEC] * 4, "W"),
        *(each([*[VEC] * n, EXPR, *[SOME] * (3 - n)], "W") for n in range(4)),
        *(
            f"(f: Callable[[Expr[Copower[A, J]]], Expr[{row}]], xs: {kind}[Copower[A, Product[I, J]]], /, *, over: I)"
            f" -> {kind}[{rows}]"
            for row, rows in (("Field", "Copower[Field, I]"), ("Copower[Field, H]", "Copower[Field, Product[I, H]]"))
            for kind in ("Vec", "Expr")
        ),
        "(f: Callable[[Expr[Copower[A, J]]], tuple[Any, ...]], xs: Any, /, *, over: Index) -> Any",
        "(f: Callable[..., Any], xs: Any, ys: Any, /, *zs: Any, over: Index) -> Any",
    ],
    "Batched.__call__": [
        f"(self: Batched[A, B, W, T], a: {of(k['a'], 'A')}, b: {of(k['b'], 'Copower[B, Fin[T]]')}, /)"
        f" -> {of(k['to'], 'Copower[W, Fin[T]]')}"
        for k in OPERANDS
    ],
}

ROWS = {
    "diff.control.branches": {"where": WHERE},
    "diff.control.fixed_points": FIXED_POINTS,
    "diff.control.loops": LOOPS,
    "diff.control.vectorised": VECTORISED,
}

"""Families of signatures: one for each number of parts of a direct sum, and one for each choice of some options.

>>> list(points())[:2]
[('V', 'x: Vec[V], /'), ('DirectSum[A, B]', 'a: Vec[A], b: Vec[B], /')]
>>> choices("total(X: I{V}) -> LinMap[Copower[{W}, I], {W}]", SPACE)
['total(X: I) -> LinMap[Copower[Field, I], Field]', 'total(X: I, V: W) -> LinMap[Copower[W, I], W]']
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SPACES, NAMES = "ABCDEFGLMN", "abcdeghklm"  # H to K are index sets; f is a map
VEC, EXPR, SOME = "Vec[{}]", "Expr[{}]", "Expr[{}] | Vec[{}]"

SPACE = [{"V": "", "W": "Field"}, {"V": ", V: W", "W": "W"}]
"""The space of the entries: ℝ where it is left out."""

ON_VECTORS = {"a": VEC, "b": VEC, "to": VEC}
IN_EXPRESSIONS = {"a": EXPR, "b": SOME, "to": EXPR}
WITH_EXPRESSIONS = {"a": VEC, "b": EXPR, "to": EXPR}
OPERANDS = [ON_VECTORS, IN_EXPRESSIONS, WITH_EXPRESSIONS]
"""Two operands are vectors, or one of them is an expression: the result is one, too."""


COLUMNS = [
    ("Copower[Field, J]", "Copower[Field, Product[I, K]]", "Copower[Field, Product[J, K]]"),
    ("Copower[Field, J]", "Copower[Copower[Field, K], I]", "Copower[Copower[Field, K], J]"),
    ("Field", "Copower[Field, Product[I, K]]", "Copower[Field, K]"),
    ("Field", "Copower[Copower[Field, K], I]", "Copower[Field, K]"),
]
"""The codomain of a linear map on ℝ^I, a table whose columns are in ℝ^I, and the table of the values at them."""


def parts(n: int, of: str = "{}") -> str:
    """The first n spaces: `A, B, C`, or `Vec[A], Vec[B], Vec[C]` for of = `Vec[{}]`."""
    return ", ".join(of.format(space) for space in SPACES[:n])


def values(n: int, of: str = "Vec[{}]") -> str:
    """A parameter for each of the first n spaces: `a: Vec[A], b: Vec[B]`."""
    return ", ".join(f"{name}: {of.format(space)}" for name, space in zip(NAMES[:n], SPACES, strict=False))


def points(options: str = "") -> Iterator[tuple[str, str]]:
    """A domain with the parameters of a point of it: any space, sums of 2 to 6 parts, sums of 7 parts and more."""
    more = f", *, {options}" if options else ""
    yield "V", f"x: Vec[V], /{more}"
    yield from ((f"DirectSum[{parts(n)}]", f"{values(n)}, /{more}") for n in range(2, 7))
    yield f"DirectSum[{parts(7)}, *Rest]", f"{values(7)}, /, *more: Vec[Any]" + (f", {options}" if options else "")


def choices(signature: str, *options: list[dict[str, str]]) -> list[str]:
    """The signature for each way to choose a row of each of the options, the first ones slowest."""
    rows = ({name: text for row in chosen for name, text in row.items()} for chosen in product(*options))
    return [signature.format_map(row) for row in rows]


def of(kind: str, *spaces: str) -> str:
    """A kind of values, such as `Vec[{}]`, of a space or of each of several, as a tuple."""
    every = [kind.replace("{}", space) for space in spaces]
    return every[0] if len(every) == 1 else f"tuple[{', '.join(every)}]"

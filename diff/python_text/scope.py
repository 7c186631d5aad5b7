"""Statements: values are written where they are read, or get a name in a statement of their own."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import evolve, frozen

from diff.python_text.axes import shape
from diff.python_text.line_breaks import WIDTH, broken
from diff.python_text.expressions import Node, is_light, is_number, name, put, text, weight

if TYPE_CHECKING:
    import numpy as np

    from hilbert.index.leaf import Leaf

HEAVY = 5
"""The most operations in one expression that is written within another."""


@final
@frozen(eq=False)
class Value:
    """An array as an expression; one that is not `whole` has a shape that broadcasts to that of its leaf."""

    node: Node
    leaf: Leaf
    whole: bool = True
    summed: int = 0
    """The number of entries that are summed in each of these, if the expression is their sum."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the leaf."""
        return self.leaf.shape


Values: TypeAlias = Value | tuple[Value, ...]
"""The value of a slot: of a bundle one for each array."""


@final
class Page:
    """The module that is written: its helpers, its constants, and the names that are taken."""

    def __init__(self, reserved: frozenset[str] = frozenset()) -> None:
        self.reserved = reserved
        self.taken = {"np", *reserved, *dir(builtins)}
        self.given: set[str] = set()
        self.helpers: dict[str, str] = {}
        self.imports: set[str] = set()
        self.constants: dict[str, np.ndarray[Any, Any]] = {}
        self.known: dict[Any, Node] = {}

    def end(self, before: set[str]) -> None:
        """The end of a loop: the names of its body are free again."""
        self.taken.intersection_update(before | self.helpers.keys() | self.constants.keys())

    def fresh(self, base: str) -> str:
        """A name that is not taken: the base, or with a number behind."""
        base = identifier(base)
        found, k = base, 2
        while found in self.taken:
            found = f"{base}{'_' if base[-1].isdigit() else ''}{k}"
            k += 1
        self.taken.add(found)
        return found


def identifier(base: str) -> str:
    """A name of Python that is near a word."""
    base = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", base)).strip("_") or "x"
    return f"{base}_" if keyword.iskeyword(base) else f"_{base}" if base[0].isdigit() else base


@final
class Scope:
    """The statements of a function, or of the body of a loop in it."""

    def __init__(self, page: Page, indent: str = "    ") -> None:
        self.page, self.indent = page, indent
        self.lines: list[str] = []

    def inner(self) -> Scope:
        """The scope of a body."""
        return Scope(self.page, self.indent + "    ")

    def put(self, line: str) -> None:
        """Add a statement."""
        self.lines += broken(self.indent + line)

    def mark(self) -> tuple[int, set[str]]:
        """What has been written, to come back to."""
        return len(self.lines), set(self.page.taken)

    def is_short_since(self, mark: tuple[int, set[str]]) -> bool:
        """Tell if all lines since a mark are short."""
        return all(len(line) <= WIDTH for line in self.lines[mark[0] :]) and len(self.lines) - mark[0] <= 4

    def back_to(self, mark: tuple[int, set[str]]) -> None:
        """Forget the lines and names since a mark, but those of helpers and constants."""
        del self.lines[mark[0] :]
        self.page.taken.intersection_update(mark[1] | self.page.helpers.keys() | self.page.constants.keys())

    def assign(self, value: Value, base: str) -> Value:
        """The value under a new name."""
        word = self.page.fresh(base)
        self.put(f"{word} = {text(value.node)}")
        return evolve(value, node=name(word))

    def named(self, value: Value, base: str) -> Value:
        """The value under a name, a new one unless it is a variable or a view of one."""
        return value if is_light(value.node) else self.assign(value, base)

    def light(self, value: Value, base: str, most: int = 0) -> Value:
        """The value itself, if it has at most so many operations, else under a name."""
        return value if is_light(value.node) or weight(value.node) <= most else self.assign(value, base)


def whole(value: Value) -> Node:
    """The expression of an array of the leaf's shape."""
    if value.whole:
        return value.node
    if is_number(value.node):
        return filled(text(value.node), value.leaf)
    return put(f"np.broadcast_to({{0}}, {shape(value.shape)})", value.node)


def filled(number: str, leaf: Leaf) -> Node:
    """An array with one number in every entry."""
    sizes, kind = shape(leaf.shape), dtype(leaf)
    known = {"0.0": "zeros", "1.0": "ones"}.get(number) if leaf.is_field else None
    if known:
        return put(f"np.{known}({sizes}{kind})")
    return put(f"np.full({sizes}, {number}{kind if leaf.is_field else ''})")


def zeros(sizes: tuple[int, ...], leaf: Leaf) -> str:
    """The text of zeros of a shape and of the entries of a leaf."""
    return f"np.zeros({shape(sizes)}{dtype(leaf)})"


def dtype(leaf: Leaf) -> str:
    """The argument that says the entries' type, where it is not the usual one."""
    return "" if leaf.dtype == "float64" else f", dtype={TYPES[leaf.dtype]}"


TYPES = {"float64": "float", "float32": "np.float32", "bool": "bool", "int64": "int"}

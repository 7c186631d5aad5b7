"""Statements: values are written where they are read, or get a name in a statement of their own."""

from __future__ import annotations

import builtins
import keyword
import re
import textwrap
import unicodedata
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import evolve, frozen

from diff.python_text.axis_text import shape
from diff.python_text.expressions import Node, is_light, name, put, reads_variable, text, weight
from diff.python_text.line_breaks import WIDTH, broken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hilbert.index.leaf import Leaf

MANY = 4
"""Arrays of one shape from which on they are set up together."""
NEW = re.compile(r" *(?P<word>\w+) = (?P<call>np\.(?:empty|zeros|ones))\((?P<rest>.*)\)")
HEAVY = 5
"""The most operations in one expression that is written within another."""


@final
@frozen(eq=False)
class Value:
    """An array as an expression; one that is not `whole` has a shape that broadcasts to that of its leaf."""

    node: Node
    leaf: Leaf
    have: tuple[int, ...] | None = None
    """The shape of the expression, if it is another than the leaf's."""
    summed: int = 0
    """The number of entries that are summed in each of these, if the expression is their sum."""
    parts: tuple[Part, ...] = ()
    """The parts of an array that is 0 elsewhere, instead of one expression."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the leaf."""
        return self.leaf.shape

    @property
    def whole(self) -> bool:
        """True for an expression of the leaf's shape."""
        return self.have is None

    @property
    def actual(self) -> tuple[int, ...]:
        """The shape of the expression."""
        return self.shape if self.have is None else self.have


Part: TypeAlias = tuple[tuple[str, ...], Node]
"""An index for each axis, and what stands there."""
Values: TypeAlias = Value | tuple[Value, ...]
"""The value of a slot: of a bundle one for each array."""


@final
class Page:
    """The module that is written: its helpers, its constants, and the names that are taken."""

    def __init__(self, reserved: frozenset[str] = frozenset()) -> None:
        self.reserved = reserved
        self.taken = {"np", *reserved, *dir(builtins)}
        self.is_derived = False
        self.made: list[str] = []
        self.given: set[str] = set()
        self.helpers: dict[str, str] = {}
        self.carried: dict[Any, str] = {}
        self.imports: set[str] = set()
        self.constants: dict[str, np.ndarray[Any, Any]] = {}
        self.known: dict[Any, Node] = {}

    def end(self, before: set[str]) -> None:
        """The end of a loop: the names of its body are free again."""
        self.taken.intersection_update(before | self.helpers.keys() | self.constants.keys())

    def apart(self, base: str) -> str:
        """A name that no variable has or had, for a constant of the module: a variable of that name would hide it."""
        before = set(self.given)
        while (found := self.fresh(base)) in before:
            pass
        return found

    def fresh(self, base: str) -> str:
        """A name that is not taken: the base, or with a number behind."""
        base = identifier(base)
        found, k = base, 2
        while found in self.taken:
            found = f"{base}{'_' if base[-1].isdigit() else ''}{k}"
            k += 1
        self.taken.add(found)
        self.given.add(found)
        self.made.append(found)
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

    @contextmanager
    def together(self) -> Iterator[None]:
        """Put many arrays of one shape that are set up here into one statement."""
        start = len(self.lines)
        yield
        made = self.lines[start:]
        found = [NEW.fullmatch(line) for line in made]
        counts = Counter(match["call"] + match["rest"] for match in found if match)
        del self.lines[start:]
        done = set[str]()
        for line, match in zip(made, found, strict=True):
            key = match["call"] + match["rest"] if match else ""
            if not match or counts[key] < MANY:
                self.lines.append(line)
            elif key not in done:
                done.add(key)
                words = [m["word"] for m in found if m and m["call"] + m["rest"] == key]
                self._set_up(words, match["call"], match["rest"])

    def _set_up(self, words: Sequence[str], call: str, rest: str) -> None:
        """One array whose rows are the arrays of some names."""
        sizes, _, kind = rest.partition(")") if rest.startswith("(") else rest.partition(",")
        inner = sizes.strip("(), ")
        kind = kind if rest.startswith("(") else f", {kind.strip()}" * bool(kind)
        one = f"{', '.join(words)} = {call}(({len(words)}, {inner}){kind})"
        if len(self.indent) + len(one) <= WIDTH:
            self.lines.append(self.indent + one)
            return
        more = self.indent + "    "
        body = textwrap.fill(", ".join(words), WIDTH, initial_indent=more, subsequent_indent=more)
        self.lines += [f"{self.indent}(", *body.split("\n"), f"{self.indent}) = {call}(({len(words)}, {inner}){kind})"]

    def mark(self) -> tuple[int, int]:
        """The numbers of lines and of names so far, to come back to."""
        return len(self.lines), len(self.page.made)

    def is_short_since(self, mark: tuple[int, int]) -> bool:
        """Tell if all lines since a mark are short."""
        return all(len(line) <= WIDTH for line in self.lines[mark[0] :]) and len(self.lines) - mark[0] <= 4

    def back_to(self, mark: tuple[int, int]) -> None:
        """Forget the lines and names since a mark, but those of helpers and constants."""
        del self.lines[mark[0] :]
        page = self.page
        page.taken.difference_update({*page.made[mark[1] :]} - page.helpers.keys() - page.constants.keys())

    def assign(self, value: Value, base: str) -> Value:
        """The value under a new name."""
        word = self.page.fresh(base)
        self.put(f"{word} = {text(value.node)}")
        return evolve(value, node=name(word), summed=0)

    def named(self, value: Value, base: str) -> Value:
        """The value under a name, a new one unless it is a variable or a view of one."""
        return value if is_light(value.node) else self.assign(value, base)

    def light(self, value: Value, base: str, most: int = 0) -> Value:
        """The value itself, if it has at most so many operations, else under a name."""
        return value if is_light(value.node) or weight(value.node) <= most else self.assign(value, base)


def spread(leaf: Leaf, *shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that some shapes broadcast to; None if that is the leaf's."""
    found = np.broadcast_shapes(*shapes)
    return None if found == leaf.shape else found


def placed(scope: Scope, value: Value, base: str) -> Value:
    """Parts among zeros as an array with a name; other values as they are."""
    if not value.parts:
        return value
    word = scope.page.fresh(base)
    scope.put(f"{word} = {zeros(value.shape, value.leaf)}")
    before = list[tuple[str, ...]]()
    for entries, node in value.parts:
        apart = all(_are_apart(entries, other, value.shape) for other in before)
        scope.put(f"{word}[{', '.join(_short(entries))}] {'=' if apart else '+='} {text(node)}")
        before.append(entries)
    return Value(name(word), value.leaf)


def _are_apart(one: tuple[str, ...], other: tuple[str, ...], sizes: tuple[int, ...]) -> bool:
    """Tell if two indices have no entry in common."""
    return any(not set(_places(a, n)) & set(_places(b, n)) for a, b, n in zip(one, other, sizes, strict=True))


def _places(entry: str, size: int) -> range:
    """The places along an axis that an index takes."""
    bounds = [int(k) if k else None for k in entry.split(":")]
    return range(size)[slice(*bounds)] if ":" in entry else range(int(entry), int(entry) + 1)


def _short(entries: tuple[str, ...]) -> list[str]:
    """An index without the axes behind that are taken whole."""
    found = list(entries)
    while len(found) > 1 and found[-1] == ":":
        found.pop()
    return found


def whole(value: Value) -> Node:
    """The expression of an array of the leaf's shape."""
    if value.whole:
        return value.node
    if not reads_variable(value.node):
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

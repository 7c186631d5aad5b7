"""Passes over sums (direct sums, records) within each other, however deep: no recursion; others are taken as a whole.

>>> from hilbert import R, direct_sum
>>> V = direct_sum(direct_sum(R, R), R)
>>> text(V), pack(V, iter([1, 2, 3])), rows(direct_sum(R, R))[0]
('(ℝ ⊕ ℝ) ⊕ ℝ', ((1, 2), 3), R)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.base.term import bottom_up, postorder
from hilbert.errors import is_number
from hilbert.index.index import Anonymous

FEW = 6
"""Of a larger vector, arrays of so many numbers are written."""

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def said(space: Any) -> str:
    """A space in a message; elements of an index set without a name as they are written, for 5 would be a number."""
    text = str(space)
    return text if any(map(str.isalpha, text)) or not space.leaves else repr(space)


def below(space: Any) -> list[Any]:
    """The parts of a direct sum, none of another space: for the passes of `hilbert.base.term`."""
    return list(space.parts) if space.is_sum else []


def same(a: Any, b: Any) -> bool:
    """Tell if two direct sums are equal; the second may be anything."""
    stack: list[tuple[Any, Any]] = [(a, b)]
    while stack:
        a, b = stack.pop()
        if a is b:
            continue
        sums = getattr(a, "is_sum", False), getattr(b, "is_sum", False)
        if all(sums):
            if a._form != b._form or len(a.parts) != len(b.parts) or hash(a) != hash(b):
                return False
            stack.extend(zip(a.parts, b.parts, strict=True))
        elif any(sums) or a != b:
            return False
    return True


WIDE = 60
"""Spaces are not compared by eye where a text of theirs is longer."""


def split(have: Any, want: Any) -> tuple[str, Any, Any]:
    """The path to the first parts in which two spaces differ, or two trees of spaces, and these parts."""
    path = ""
    while True:
        while hasattr(have, "base") and hasattr(want, "base") and have.index == want.index:
            have, want = have.base, want.base
        (names, parts), (others, due) = _named_parts(have), _named_parts(want)
        if names != others or not parts:
            return path.removeprefix("."), have, want
        found = next((k for k, (a, b) in enumerate(zip(parts, due, strict=True)) if a != b), None)
        if found is None:  # of two classes
            return path.removeprefix("."), have, want
        path += f".{names[found]}" if isinstance(names[found], str) else f"[{names[found]}]"
        have, want = parts[found], due[found]


def _named_parts(space: Any) -> tuple[Sequence[str | int], Sequence[Any]]:
    parts = space if isinstance(space, tuple) else space.parts if space.is_sum else ()
    return (None if isinstance(space, tuple) else space.names) or range(len(parts)), parts


def apart(have: Any, want: Any) -> str:
    """The first difference of two long spaces, for the beginning of a message: `at encoder.bias ℝ^10, not ℝ^12: `."""
    path, part, due = split(have, want)
    is_long = max(len(text(have)), len(text(want))) > WIDE
    return f"at {path} {text(part)}, not {text(due)}: " if path and is_long else ""


def pack(space: Any, flat: Iterator[Any]) -> Any:
    """The tuple tree of a flat sequence of leaves."""
    stack: list[tuple[Iterator[Any], list[Any]]] = [(iter(space.parts), [])]
    while True:
        todo, items = stack[-1]
        for part in todo:
            if part.is_sum:
                stack.append((iter(part.parts), []))
                break
            items.append(part.pack(flat))
        else:
            stack.pop()
            if not stack:
                return tuple(items)
            stack[-1][1].append(tuple(items))


def unpack(space: Any, tree: Any, items: Callable[[Any, Any, int], list[Any]]) -> list[Any]:
    """The leaves of a tuple tree; `items` gives those of a tuple of so many, or raises an error."""
    leaves: list[Any] = []
    stack: list[tuple[Any, Any]] = [(space, tree)]
    while stack:
        at, item = stack.pop()
        if at.is_sum:
            stack.extend(reversed([*zip(at.parts, items(at, item, len(at.parts)), strict=True)]))
        else:
            leaves.extend(at.unpack(item))
    return leaves


def families(space: Any) -> str:
    """The end of an error for V^X, V a sum: the items of a tuple, and the word that puts vectors side by side."""
    if not hasattr(space, "base"):
        return ""
    return f", an array for each part, axes of {space.index} first; stack(X, V)(v, w, …) has one v ∈ V for each x ∈ X"


def unflattened(space: Any, data: Any) -> str:
    """The end of an error for one flat array, or list of numbers, with all entries of V; otherwise empty."""
    shape = getattr(data, "shape", None)
    is_list = isinstance(data, (list, tuple)) and all(map(is_number, data))
    if not space.is_space or (shape != (space.dim,) and not (is_list and len(data) == space.dim)):
        return ""
    return f"; {'P' if space.names is not None else 'V'}.unflat(data) takes all {space.dim} entries in one flat array"


def as_numbers(space: Any) -> str:
    """The end of an error where the elements of a type without real entries are computed with; otherwise empty."""
    entries = {leaf.entry.dtype if leaf.entry.index is None else "an element" for leaf in space.leaves}
    hints = {
        "bool": "; c.cast(R) is 1 where the condition c holds",
        "int64": "; k.cast(R) is the integer k as a number",
        "an element": "; the number of an element x of X is const((R ** X).vec(range(X.size)))[x], a table by it",
    }
    return hints.get(entries.pop(), "") if len(entries) == 1 else ""


def rows(space: Any) -> list[Any]:
    """The distinct parts, those of a sum before it: a space, or how a sum is made and the rows of its parts."""
    numbers: dict[int, int] = {}
    found: list[Any] = []
    for part in postorder(space, below):
        numbers[id(part)] = len(found)
        found.append((part._form, *(numbers[id(p)] for p in part.parts)) if part.is_sum else part)
    return found


def built(found: list[Any]) -> Any:
    """The sum of the last row."""
    made: list[Any] = []
    for row in found:
        made.append(row[0].of_parts(tuple(made[k] for k in row[1:])) if isinstance(row, tuple) else row)
    return made[-1]


def any_item(space: Any, tree: Any, is_one: Callable[[Any], bool]) -> bool:
    """Tell if a part of a tuple tree is given as a whole; V^X has the tree of V."""
    stack: list[tuple[Any, Any]] = [(space, tree)]
    while stack:
        at, item = stack.pop()
        while hasattr(at, "base"):
            at = at.base
        if at.is_sum and isinstance(item, (tuple, list)):
            if any(map(is_one, item[: len(at.parts)])):
                return True
            stack.extend(zip(at.parts, item, strict=False))  # of another length: an error of its own
    return False


def tangent(space: Any) -> Any:
    """The sum of the parts' tangents, in the same form."""

    def step(at: Any, rec: Callable[[Any], Any]) -> Any:
        if at.is_space or not at.is_sum:
            return at if at.is_space else at.tangent
        return at._form.of_parts(tuple(map(rec, at.parts)))

    return bottom_up(space, step, below)


def text(space: Any) -> str:
    """(V ⊕ W) ⊕ U; a record by its name; a tree of spaces as a tuple of them."""
    if isinstance(space, tuple):  # a tree of spaces
        return f"({', '.join(map(text, space))})"
    found: str = bottom_up(space, _text, below)
    return found


def source(space: Any) -> str:
    """direct_sum(direct_sum(V, W), U)."""
    found: str = bottom_up(space, _source, below)
    return found


def _text(space: Any, rec: Callable[[Any], str]) -> str:
    if not space.is_sum:
        return str(space)
    if space.names is not None:
        return _called(space, type(space).__name__, ": ", rec)
    if space._index_set is not None:
        parts = [f"{label}: {rec(part)}" for label, part in zip(space._index_set.labels, space.parts, strict=True)]
        return f"⊕{'' if space._index_set.tag is Anonymous else space._index_set}({', '.join(parts)})"
    if len(space.parts) == 1:
        return f"({rec(space.parts[0])},)"
    return " ⊕ ".join(f"({rec(part)})" if is_plain(part) else rec(part) for part in space.parts) or "()"


def _source(space: Any, rec: Callable[[Any], str]) -> str:
    if not space.is_sum:
        return repr(space)
    if space._index_set is not None:
        return f"direct_sum.over({space._index_set!r}, [{', '.join(map(rec, space.parts))}])"
    if space.names is None:
        return f"direct_sum({', '.join(map(rec, space.parts))})"
    return _called(space, type(space).__qualname__, "=", rec)


def named(space: Any, tree: Any, text: Callable[[Any], str] = repr) -> str:
    """A tuple tree as text, the parts of a record with their names; V^X has the tree of V."""
    while hasattr(space, "base"):
        space = space.base
    if not isinstance(tree, tuple) or not tree:
        return text(tree)
    parts = space.parts if space.is_sum else [space] * len(tree)  # V ⊗ W has a tree of trees
    texts = [named(part, item, text) for part, item in zip(parts, tree, strict=True)]
    if space.names is not None:
        texts = [f"{name}: {text}" for name, text in zip(space.names, texts, strict=True)]
    return f"({', '.join(texts)}{',' if len(texts) == 1 and space.names is None else ''})"


def _called(space: Any, name: str, sign: str, rec: Callable[[Any], str]) -> str:
    """A record: the name of its class, and its parts by name."""
    parts = zip(space.names, space.parts, strict=True)
    return f"{name}({', '.join(f'{name}{sign}{rec(part)}' for name, part in parts)})"


def is_plain(space: Any) -> bool:
    """Tell if a space is a direct sum whose parts have neither names nor labels."""
    return bool(space.is_sum) and space.names is None and space._index_set is None


def few(leaf: Any, array: Any) -> str:
    """At most six numbers along an axis, with six digits; the shape of another array."""
    what = f"{leaf.dtype}{list(leaf.shape)}"
    if len(leaf.shape) > 1 or leaf.size > FEW:
        return what
    try:
        values = to_numpy(array).reshape(-1).tolist()
    except TypeError:  # a tracer of JAX has no entries yet
        return what
    numbers = [repr(float(f"{k:.6g}")) if isinstance(k, float) else str(k) for k in values]
    return f"[{', '.join(numbers)}]" if leaf.shape else numbers[0]

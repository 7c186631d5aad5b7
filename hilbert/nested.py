"""Passes over direct sums within each other, however deep: no recursion. Other spaces are taken as a whole.

>>> from hilbert import R, direct_sum
>>> V = direct_sum(direct_sum(R, R), R)
>>> text(V), pack(V, iter([1, 2, 3])), rows(direct_sum(R, R))
('(ℝ ⊕ ℝ) ⊕ ℝ', ((1, 2), 3), [R, (0, 0)])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert.term import bottom_up, postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def below(space: Any) -> list[Any]:
    """The parts of a direct sum, none of another space: for the passes of `hilbert.term`."""
    return list(space.parts) if space.is_sum else []


def same(a: Any, b: Any) -> bool:
    """Whether two direct sums are equal; the second may be anything."""
    stack: list[tuple[Any, Any]] = [(a, b)]
    while stack:
        a, b = stack.pop()
        if a is b:
            continue
        sums = getattr(a, "is_sum", False), getattr(b, "is_sum", False)
        if all(sums):
            if len(a.parts) != len(b.parts) or hash(a) != hash(b):
                return False
            stack.extend(zip(a.parts, b.parts, strict=True))
        elif any(sums) or a != b:
            return False
    return True


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


def rows(space: Any) -> list[Any]:
    """The distinct parts, those of a direct sum before it: a space, or the rows of the parts of a direct sum."""
    numbers: dict[int, int] = {}
    found: list[Any] = []
    for part in postorder(space, below):
        numbers[id(part)] = len(found)
        found.append(tuple(numbers[id(p)] for p in part.parts) if part.is_sum else part)
    return found


def built(found: list[Any], make: Callable[[tuple[Any, ...]], Any]) -> Any:
    """The direct sum of the last row; `make` makes one of its parts."""
    made: list[Any] = []
    for row in found:
        made.append(make(tuple(made[k] for k in row)) if isinstance(row, tuple) else row)
    return made[-1]


def any_item(space: Any, tree: Any, is_one: Callable[[Any], bool]) -> bool:
    """Whether a part of a tuple tree is given as a whole; V^X has the tree of V."""
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


def tangent(space: Any, make: Callable[[tuple[Any, ...]], Any]) -> Any:
    """The direct sum of the parts' tangents, without those of discrete parts; one alone is itself."""

    def step(at: Any, rec: Callable[[Any], Any]) -> Any:
        if at.is_space or not at.is_sum:
            return at if at.is_space else at.tangent
        kept = [rec(part) for part in at.parts if any(leaf.is_field for leaf in part.leaves)]
        return kept[0] if len(kept) == 1 else make(tuple(kept))

    return bottom_up(space, step, below)


def text(space: Any) -> str:
    """(V ⊕ W) ⊕ U."""
    found: str = bottom_up(space, _text, below)
    return found


def source(space: Any) -> str:
    """direct_sum(direct_sum(V, W), U)."""
    found: str = bottom_up(space, _source, below)
    return found


def _text(space: Any, rec: Callable[[Any], str]) -> str:
    if not space.is_sum:
        return str(space)
    if len(space.parts) == 1:
        return f"({rec(space.parts[0])},)"
    return " ⊕ ".join(f"({rec(part)})" if part.is_sum else rec(part) for part in space.parts) or "()"


def _source(space: Any, rec: Callable[[Any], str]) -> str:
    return f"direct_sum({', '.join(map(rec, space.parts))})" if space.is_sum else repr(space)

"""Vectors as tables of HTML: the space, and for each array its part, its shape and numbers, at most 200 in all."""

from __future__ import annotations

from html import escape
from math import prod
from typing import TYPE_CHECKING, Any

from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.errors import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 200
"""So many numbers of a vector are shown."""
COLUMNS = 20
"""So many numbers stand in a row."""
ARRAYS = 20
"""So many arrays of a vector are shown."""
LONG = 2000
"""A space of more characters is cut."""


def number_table(v: Any) -> str:
    """The table of a vector; of a formal one its text."""
    if v.is_formal:
        return f"<pre>{safe(str(v))}</pre>"
    text = str(v.space)
    blocks = [f"<p>∈ <code>{safe(text if len(text) <= LONG else f'{text[:LONG]}…')}</code></p>"]
    left = MOST
    for way, leaf, array in zip(_ways(v.space), v.space.leaves, v.leaves, strict=False):
        if left <= 0 or len(blocks) > ARRAYS:
            break
        rows, count = _rows(array, leaf.shape, left)
        left -= count
        blocks.append(f"<p><code>{safe(f'{way}{leaf.dtype}{list(leaf.shape)}')}</code></p>{rows}")
    if (more := len(v.leaves) - len(blocks) + 1) > 0:
        blocks.append(f"<p>… {more} more arrays</p>")
    return f"<div>{''.join(blocks)}</div>"


def safe(text: str) -> str:
    """The text without characters that HTML would read as its own, or MathJax: a dollar begins no formula."""
    return escape(visible(text)).replace("$", "<span>$</span>").replace("\\", "<span>&#92;</span>")


def _ways(space: Any) -> Iterator[str]:
    """For each array of a space what leads to it: `encoder.bias: `, or `[0].bias: `; nothing for the whole."""
    stack = [("", space)]
    while stack:
        way, part = stack.pop()
        while hasattr(part, "base"):
            part = part.base
        if part.is_sum:
            keys = [f"[{k}]" for k in range(len(part.parts))] if part.names is None else [f".{n}" for n in part.names]
            stack.extend(reversed([(way + key, inner) for key, inner in zip(keys, part.parts, strict=True)]))
        else:
            yield from [f"{way.removeprefix('.')}: " if way else ""] * len(part.leaves)


def _rows(array: Any, shape: tuple[int, ...], most: int) -> tuple[str, int]:
    """The first numbers of an array as rows of a table, and their count."""
    kept: list[int] = []  # along each axis, the last first
    for size in reversed(shape):
        limit = most if len(shape) == 1 or kept else COLUMNS
        kept.append(min(size, limit, max(1, most // max(1, prod(kept)))))
    try:
        head: Any = to_numpy(array[tuple(slice(n) for n in reversed(kept))])
    except TypeError:  # a tracer of JAX has no entries yet
        return "", 0
    numbers = head.reshape(-1).tolist()
    width = max(1, kept[0]) if len(shape) > 1 else COLUMNS
    rows = [numbers[k : k + width] for k in range(0, len(numbers), width)]
    body = "".join(f"<tr>{''.join(f'<td>{_number(k)}</td>' for k in row)}</tr>" for row in rows)
    more = prod(shape) - len(numbers)
    return f"<table>{body}</table>" + (f"<p>… {more} more numbers</p>" if more else ""), len(numbers)


def _number(k: Any) -> str:
    return f"{k:.6g}" if isinstance(k, float) else str(k)

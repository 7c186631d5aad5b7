"""A grid of blocks as a table, with the names of the parts for heads: lines of text, or HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert.display.number_table import safe
from linmap.printing.part_text import path

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, LINES, CELL = 100, 40, 30
"""The most columns of letters, the most lines, and the most letters of a cell."""


def part_names(space: Any) -> tuple[str, ...]:
    """The path to each array of a space: encoder.bias, or numbers from 1."""
    ways = path(space)
    if ways == [()]:
        return ("",)
    return tuple(".".join(key if isinstance(key, str) else str(key + 1) for key in way) or "1" for way in ways)


def is_named(space: Any) -> bool:
    """Tell if some part of a space has a name."""
    return any(isinstance(key, str) for way in path(space) for key in way)


def text_table(rows: Sequence[str], cols: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """The lines of a table; columns and rows that no page has are counted."""
    heads = [[row] if any(rows) else [] for row in ("", *rows)]
    grid = [head + list(line) for head, line in zip(heads, (cols, *cells), strict=True)]
    grid = [[one if len(one) <= CELL else f"{one[: CELL - 1]}…" for one in line] for line in grid]
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    fits = len(widths)
    while fits > 2 and sum(widths[:fits]) + 2 * (fits - 1) > WIDTH:
        fits -= 1
    shown = grid if len(grid) <= LINES - 1 else grid[: LINES - 1]
    some = widths[:fits]
    lines = ["  ".join(one.ljust(w) for one, w in zip(line, some, strict=False)).rstrip() for line in shown]
    counts = {"columns": len(widths) - fits, "rows": len(grid) - len(shown)}
    more = " and ".join(f"{n} more {what}" for what, n in counts.items() if n)
    return "\n".join([*lines, *([f"… {more}"] if more else [])])


def html_table(rows: Sequence[str], cols: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """The same in HTML, in full."""
    head = "".join(f"<th>{safe(one)}</th>" for one in ("", *cols))
    body = "".join(
        f"<tr><th>{safe(row)}</th>{''.join(f'<td>{safe(one)}</td>' for one in line)}</tr>"
        for row, line in zip(rows, cells, strict=True)
    )
    return f"<table><tr>{head}</tr>{body}</table>"

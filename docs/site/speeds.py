"""A picture of the times beside peers, drawn from the tables of docs/benchmarks.md."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[1] / "benchmarks.md"
HEADS = ("| the 21 rows |", "| beside JAX, value and gradient |", "| beside specialists |")
"""The beginnings of the tables whose rows are drawn."""
LEAST, MOST = 0.01, 30.0
LEFT, WIDTH, ROW, TOP = 330, 360, 17, 40


class Ratios(NamedTuple):
    """The times of a model, interpreted and compiled, divided by the time of its fastest peer."""

    name: str
    interpreted: float
    compiled: float


def measured(page: str) -> list[Ratios]:
    """The rows of the tables, the slowest in the interpreter first."""
    found, columns = list[Ratios](), None
    for line in page.splitlines():
        if not line.startswith("|"):
            columns = None
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith(HEADS):
            columns = cells.index("ours / best"), cells.index("compiled / best")
        elif columns is not None and not line.startswith("|---"):
            found.append(Ratios(cells[0], float(cells[columns[0]]), float(cells[columns[1]])))
    return sorted(found, key=lambda ratios: -ratios.interpreted)


def drawn(rows: list[Ratios]) -> str:
    """The SVG: a line for each row, a ring for the interpreter, a disc for machine code, to a scale of powers."""
    height = TOP + ROW * len(rows) + 30
    at = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" height="{height}" role="img">']
    at.append("<style>text{font:12px sans-serif;fill:currentColor}.g{stroke:currentColor;stroke-opacity:.2}")
    at.append(".o{stroke:currentColor}.r{fill:none;stroke:#c2410c;stroke-width:2}.d{fill:#1d4ed8}</style>")
    at.append(f'<circle class="r" cx="{LEFT}" cy="12" r="4"/><text x="{LEFT + 10}" y="16">interpreted</text>')
    at.append(f'<circle class="d" cx="{LEFT + 100}" cy="12" r="4"/><text x="{LEFT + 110}" y="16">compiled</text>')
    bottom = TOP + ROW * len(rows)
    for k in (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30):
        kind = "o" if k == 1 else "g"
        at.append(f'<line class="{kind}" x1="{_x(k)}" x2="{_x(k)}" y1="{TOP - 12}" y2="{bottom}"/>')
        at.append(f'<text x="{_x(k)}" y="{bottom + 16}" text-anchor="middle">{k}</text>')
    for place, row in enumerate(rows):
        y = TOP + ROW * place
        at.append(f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(row.name)}</text>')
        at.append(f'<line class="g" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y}" y2="{y}"/>')
        at.append(f'<circle class="r" cx="{_x(row.interpreted)}" cy="{y}" r="4"/>')
        at.append(f'<circle class="d" cx="{_x(row.compiled)}" cy="{y}" r="4"/>')
    return "\n".join([*at, "</svg>"])


def _x(ratio: float) -> float:
    """The place of a ratio, from left to right."""
    share = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return round(LEFT + WIDTH * share, 1)

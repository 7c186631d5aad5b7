"""The form of a matrix as a picture of its blocks, each drawn by its kind; needs matplotlib."""

from __future__ import annotations

import textwrap
from itertools import accumulate
from typing import Any, assert_never, cast

from hilbert import SpaceError
from hilbert.errors import require_axes
from linmap.matrices.structure.matrix_shapes import (
    BlockDiagonal,
    Blocks,
    DenseForm,
    DiagonalForm,
    Form,
    IdentityForm,
    Kronecker,
    LowRank,
    MatrixShape,
    Permutation,
    ScaledForm,
    SparseForm,
    SumForm,
    ZeroForm,
)

NAMED, TITLE = 40, 70
"""So many parts have their names beside the picture; a line of its title has so many letters."""
CELLS = 12
"""So many equal blocks of a diagonal are drawn."""


def plot(form: MatrixShape, ax: Any = None) -> Any:
    """Draw the blocks into axes of matplotlib, and give these; not to scale, and equal blocks at most 12 times.

    Dense blocks are filled, sparse ones have a square for each entry (dots where these are more than 100,000), those of
    low rank are hatched; a diagonal is a line, a permutation a dashed one. The parts of a record have their names
    beside. Raises SpaceError without matplotlib, and for other things than axes.
    """
    if ax is None:
        try:
            from matplotlib import pyplot as plt  # an extra
        except ImportError:
            msg = "structure(f).plot() needs matplotlib, an extra: pip install hilbert[plot]; str(structure(f)) is text"
            raise SpaceError(msg) from None
        ax = plt.figure().add_subplot()
    require_axes(ax, "structure(f).plot(ax)")
    drawn = cast("Form", form)
    places = form._places() if _has_sparse(drawn) else None
    _draw(ax, drawn, 0.0, 0.0, 1.0, 1.0, spied=places is not None)
    if places is not None:
        _spy(ax, drawn, *places)
    ax.set(xlim=(0, 1), ylim=(1, 0), xticks=[], yticks=[], aspect="equal")
    if isinstance(form, Blocks) and form.body is not None:
        for names, axis in zip(form.names, (ax.yaxis, ax.xaxis), strict=True):
            if len(names) <= NAMED and any(names):
                axis.set_ticks([(k + 0.5) / len(names) for k in range(len(names))], names)
        ax.tick_params(length=0)
        ax.xaxis.tick_top()
        ax.tick_params(axis="x", rotation=45 if sum(map(len, form.names[1])) > NAMED else 0)
    else:
        ax.set_title("\n".join(textwrap.wrap(form.text(), TITLE, break_on_hyphens=False)))
    return ax


def _has_sparse(form: Form) -> bool:
    return isinstance(form, SparseForm) or (
        isinstance(form, Blocks) and any(isinstance(entry, SparseForm) for _, entry in form.entries)
    )


def _spy(ax: Any, form: Form, rows: Any, cols: Any) -> None:
    """A square for each entry of the sparse blocks, at its place."""
    if isinstance(form, SparseForm):
        blocks, shape, heights, widths = [(0, 0)], (1, 1), [form.shape[0]], [form.shape[1]]
    else:
        assert isinstance(form, Blocks)
        blocks = [place for place, entry in form.entries if isinstance(entry, SparseForm)]
        shape = form.shape
        heights, widths = ([leaf.size for leaf in side.leaves] for side in (form.body.cod, form.body.dom))
    from matplotlib.collections import PolyCollection  # an extra

    tops, lefts = ([0, *accumulate(sizes)] for sizes in (heights, widths))
    for o, i in blocks:
        here = (rows >= tops[o]) & (rows < tops[o + 1]) & (cols >= lefts[i]) & (cols < lefts[i + 1])
        height, width = 1 / (shape[0] * heights[o]), 1 / (shape[1] * widths[i])
        y, x = o / shape[0] + (rows[here] - tops[o]) * height, i / shape[1] + (cols[here] - lefts[i]) * width
        ax.add_collection(
            PolyCollection(
                [[(a, b), (a + width, b), (a + width, b + height), (a, b + height)] for a, b in zip(x, y, strict=True)],
                facecolor="C0",
                linewidth=0.3,
                edgecolor="C0",
                gid="entries",
            )
        )


def _draw(ax: Any, form: Form, x: float, y: float, w: float, h: float, *, spied: bool = False) -> None:
    """A block whose upper left corner is (x, y); sparse ones are drawn elsewhere if they are `spied`."""
    match form:
        case ZeroForm():
            pass
        case IdentityForm() | ScaledForm() | DiagonalForm():
            ax.plot([x, x + w], [y, y + h], color="C0", gid="diagonal")
        case Permutation():
            ax.plot([x, x + w], [y, y + h], color="C0", linestyle="--", gid="permutation")
        case DenseForm():
            _rectangle(ax, (x, y, w, h), "dense", facecolor="C0", alpha=0.6)
        case SparseForm() if spied:
            pass
        case SparseForm():
            _rectangle(ax, (x, y, w, h), "sparse", hatch="..", facecolor="none", edgecolor="C0")
        case LowRank():
            _rectangle(ax, (x, y, w, h), "rank", hatch="//", facecolor="none", edgecolor="C1")
        case SumForm(parts):
            for part in parts:
                _draw(ax, part, x, y, w, h)
        case BlockDiagonal(count, block):
            _along(ax, min(count, CELLS), block, x, y, w, h)
        case Kronecker((IdentityForm(size) | ScaledForm(size) | DiagonalForm(size), *rest)) if rest:
            inner: Form = rest[0] if len(rest) == 1 else Kronecker(tuple(rest))
            _along(ax, min(size, CELLS), inner, x, y, w, h)
        case Kronecker():
            _rectangle(ax, (x, y, w, h), "kronecker", hatch="xx", facecolor="none", edgecolor="C2")
        case Blocks((rows, cols), entries):
            width, height = w / max(cols, 1), h / max(rows, 1)
            for (o, i), entry in entries:
                _draw(ax, entry, x + i * width, y + o * height, width, height, spied=spied)
            for k in range(1, cols):
                ax.plot([x + k * width] * 2, [y, y + h], color="0.8", linewidth=0.5, gid="grid")
            for k in range(1, rows):
                ax.plot([x, x + w], [y + k * height] * 2, color="0.8", linewidth=0.5, gid="grid")
        case never:
            assert_never(never)


def _along(ax: Any, count: int, block: Form, x: float, y: float, w: float, h: float) -> None:
    """Equal blocks along the diagonal."""
    for k in range(count):
        _draw(ax, block, x + k * w / count, y + k * h / count, w / count, h / count)


def _rectangle(ax: Any, place: tuple[float, float, float, float], gid: str, **style: Any) -> None:
    x, y, w, h = place
    ax.fill([x, x + w, x + w, x], [y, y, y + h, y + h], gid=gid, **style)

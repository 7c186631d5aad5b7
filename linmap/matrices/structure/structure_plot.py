"""The form of a matrix as a picture of its blocks, each drawn by its kind; needs matplotlib."""

from __future__ import annotations

from typing import Any, assert_never, cast

from hilbert import SpaceError
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

CELLS = 12
"""So many equal blocks of a diagonal are drawn."""


def plot(form: MatrixShape, ax: Any = None) -> Any:
    """Draw the blocks into axes of matplotlib, and give these; not to scale, and equal blocks at most 12 times.

    Dense blocks are filled, sparse ones dotted, those of low rank hatched; a diagonal is a line, a permutation a dashed
    one. Raises SpaceError without matplotlib.
    """
    if ax is None:
        try:
            from matplotlib import pyplot as plt  # an extra
        except ImportError:
            msg = "structure(f).plot() needs matplotlib, an extra: pip install hilbert[plot]; str(structure(f)) is text"
            raise SpaceError(msg) from None
        ax = plt.figure().add_subplot()
    _draw(ax, cast("Form", form), 0.0, 0.0, 1.0, 1.0)
    ax.set(xlim=(0, 1), ylim=(1, 0), xticks=[], yticks=[], aspect="equal")
    text = form.text()
    ax.set_title(text if len(text) <= 60 else f"{text[:59]}…")
    return ax


def _draw(ax: Any, form: Form, x: float, y: float, w: float, h: float) -> None:
    """A block whose upper left corner is (x, y)."""
    match form:
        case ZeroForm():
            pass
        case IdentityForm() | ScaledForm() | DiagonalForm():
            ax.plot([x, x + w], [y, y + h], color="C0", gid="diagonal")
        case Permutation():
            ax.plot([x, x + w], [y, y + h], color="C0", linestyle="--", gid="permutation")
        case DenseForm():
            _rectangle(ax, (x, y, w, h), "dense", facecolor="C0", alpha=0.6)
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
                _draw(ax, entry, x + i * width, y + o * height, width, height)
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

"""Pairs of relations counted by their kernels, none written out: degrees, and pictures in text or by matplotlib.

A picture is the matrix of red_R, a row for each y and a column for each x: red_R of runs of X counts each cell.
Attached to relations from here.

>>> from hilbert import Fin
>>> from hilbert.relation import leq
>>> print(leq(Fin.of(4)).picture())
█···
██··
███·
████
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.base.sizes import addressable, held, room
from hilbert.base.term import bottom_up
from hilbert.errors import SpaceError, integer, require_axes, shown
from hilbert.index.index import Fin
from hilbert.index.leaf import Entry, Leaf
from hilbert.relation.compound_forms import ProductRelation, SumRelation
from hilbert.relation.relation import AnyRelation

if TYPE_CHECKING:
    from collections.abc import Callable

Floats: TypeAlias = npt.NDArray[np.float64]
SHADES = "·░▒▓█"
"""The shades of a cell, from empty to full."""
AT_ONCE, FEW_AXES = 2**20, 32
"""The most numbers, and axes, with which all columns of cells are counted at once."""
SMALLER = "pairs are counted by arrays of the sizes of X and Y; the same relation on smaller sets shows what it is like"
"""The remedy in an error about sets whose arrays memory does not hold."""


def reduction(relation: AnyRelation, columns: int = 1) -> Callable[[Floats], Floats]:
    """red_R from a flat array of ℝ^X to one of ℝ^Y, or of so many columns at once."""
    several = () if columns == 1 else (Fin.of(columns),)
    sizes = tuple(axis.size for axis in several)
    kernel = NUMPY.reduce(relation, 0, Leaf(Entry("float64"), relation.dom.axes + several))
    return lambda flat: np.reshape(kernel.call(flat.reshape(relation.dom.shape + sizes)), (relation.cod.size, *sizes))


@held(SMALLER)
def degrees(relation: AnyRelation) -> npt.NDArray[np.int64]:
    """The number of y related to each x: red_{Rᵀ} of ones; part by part of sums, factor by factor of products."""
    found: npt.NDArray[np.int64] = bottom_up(relation, _degrees, _independent)
    return found


def _independent(relation: AnyRelation) -> list[AnyRelation]:
    return relation.run if isinstance(relation, (ProductRelation, SumRelation)) else []


def _degrees(relation: AnyRelation, rec: Callable[[AnyRelation], Any]) -> Any:
    match relation:
        case SumRelation():
            return np.concatenate([rec(part) for part in relation.run])
        case ProductRelation():
            addressable(relation.dom.size, "counting degrees")
            return reduce(lambda a, b: np.multiply.outer(a, b).reshape(-1), map(rec, relation.run))
        case _:  # every other form has a kernel
            ones = np.ones(addressable(relation.cod.size, "counting degrees"))
            return reduction(relation.T)(ones).astype(np.int64)


@held(SMALLER)
def filled(relation: AnyRelation, rows: int, columns: int) -> Floats:
    """The part of each cell that pairs fill, for at most so many rows and columns of cells."""
    for given, what in ((rows, "rows"), (columns, "columns")):
        if (integer(given) or 0) < 1:
            msg = f"a picture has a number of {what} from 1 on, not {shown(given)}"
            raise SpaceError(msg)
    n, m = relation.dom.size, relation.cod.size
    for size in (n, m):
        room(size, "a picture")
    xs, ys = _bounds(n, columns), _bounds(m, rows)
    cells = np.zeros((len(ys) - 1, len(xs) - 1))
    if not cells.size:
        return cells
    width = len(xs) - 1
    width = width if n * width <= AT_ONCE and len(relation.dom.axes + relation.cod.axes) <= FEW_AXES else 1
    red = reduction(relation, width)
    for at in range(0, len(xs) - 1, width):
        v = np.zeros((n, width))
        for c in range(width):
            v[xs[at + c] : xs[at + c + 1], c] = 1.0
        found = red(v).reshape(m, width)
        cells[:, at : at + width] = np.add.reduceat(found, ys[:-1], axis=0) / np.outer(
            np.diff(ys), np.diff(xs)[at : at + width]
        )
    return cells


def _bounds(n: int, cells: int) -> npt.NDArray[np.int64]:
    """The ends of at most so many runs of nearly equal length."""
    count = min(n, cells)
    return np.arange(count + 1) * n // max(count, 1)


def text(relation: AnyRelation, rows: int = 16, columns: int = 32) -> str:
    """A character for each cell: · empty, █ full, shades between where a cell stands for more than one pair."""
    cells = filled(relation, rows, columns)
    if not cells.size:
        return f"no pairs of {relation.cod.size} rows and {relation.dom.size} columns"
    shade = np.ceil(cells * (len(SHADES) - 1)).astype(int)
    return "\n".join("".join(SHADES[k] for k in row) for row in shade)


def spy(relation: AnyRelation, ax: Any = None, pixels: int = 256) -> Any:
    """The cells as an image, with the positions of X and Y on its axes."""
    if ax is None:
        try:
            from matplotlib import pyplot as plt  # an extra
        except ImportError:
            msg = "R.plot() needs matplotlib, an extra: pip install matplotlib; R.picture() is text"
            raise SpaceError(msg) from None
        ax = plt.figure().add_subplot()
        ax.locator_params(integer=True)
    require_axes(ax, "R.plot(ax)")
    n, m = relation.dom.size, relation.cod.size
    cells = filled(relation, pixels, pixels)
    around = (-0.5, n - 0.5, m - 0.5, -0.5)  # position k is the middle of its cell
    ax.imshow(np.sqrt(cells), cmap="Greys", vmin=0, vmax=1, extent=around, interpolation="nearest", aspect="auto")
    ax.set_xlabel(f"x ∈ {relation.dom}")
    ax.set_ylabel(f"y ∈ {relation.cod}")
    ax.set_title(str(relation))
    return ax

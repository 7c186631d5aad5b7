"""Facts about the places of the entries of a matrix, which methods for linear systems ask for.

>>> from hilbert import Fin, R
>>> from linmap import crop, identity, pad
>>> X = Fin.of(5)
>>> behind = crop(Fin.of(6), 0, 5) @ pad(X, 1, 0)
>>> print(pattern(2.0 * identity(R**X) + behind))
9 of 5·5 entries in a band, 1 below the diagonal and 0 above; triangular; all 5 unknowns meet
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert import SpaceError
from hilbert.displayed import Displayed
from linmap.matrices.made.matrix import needs_data
from linmap.matrices.made.matrix_plans import sparse_plan
from linmap.matrices.structure.structure import body_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.signedinteger[Any]]


@final
@frozen
class PatternFacts(Displayed):
    """The entries that may differ from 0, and how far they lie from the diagonal.

    `groups` is the number of groups of rows and columns of which no two meet in an entry, `largest` the number of
    columns of the largest one: so many blocks has the matrix after rows and columns are put in order.
    """

    shape: tuple[int, int]
    entries: int
    below: int
    above: int
    is_symmetric: bool
    groups: int
    largest: int

    @property
    def is_triangular(self) -> bool:
        """Tell if all entries lie on one side of the diagonal, or on it."""
        return not (self.below and self.above)

    @property
    def is_diagonal(self) -> bool:
        """Tell if all entries lie on the diagonal."""
        return not (self.below or self.above)

    def __str__(self) -> str:
        m, n = self.shape
        where = f"{self.below} below the diagonal and {self.above} above"
        kinds = [f"{self.entries} of {m}·{n} entries in a band, {where}"]
        if self.is_diagonal:
            kinds.append("diagonal")
        elif self.is_triangular:
            kinds.append("triangular")
        if self.is_symmetric and not self.is_diagonal:
            kinds.append("symmetric places")
        one = self.groups == 1
        kinds.append(f"all {n} unknowns meet" if one else f"{self.groups} groups, of at most {self.largest} unknowns")
        return "; ".join(kinds)


def pattern(f: Any) -> PatternFacts:
    """The facts about the places of a linear map's entries, or of those of a derivative in the point.

    The places are listed, in memory for each of them; no number is computed. Raises SpaceError for what is no linear
    map, and where the places are found at the point.
    """
    body = body_of(f, "pattern")
    if needs_data(body):
        msg = "pattern(f): which entries there are depends on the point, where f finds elements of index sets"
        raise SpaceError(msg)
    found = sparse_plan(body).pattern
    rows, cols = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr)), np.asarray(found.indices)
    apart = rows - cols
    codes = np.sort(rows * found.shape[1] + cols), np.sort(cols * found.shape[1] + rows)
    groups, largest = _groups(rows, cols, found.shape)
    return PatternFacts(
        found.shape,
        found.entries,
        max(int(apart.max(initial=0)), 0),
        max(int(-apart.min(initial=0)), 0),
        found.shape[0] == found.shape[1] and bool(np.array_equal(*codes)),
        groups,
        largest,
    )


def _groups(rows: Ints, cols: Ints, shape: tuple[int, int]) -> tuple[int, int]:
    """The number of groups of columns that meet in rows, and the size of the largest: the least label spreads."""
    m, n = shape
    label = np.arange(n)
    while True:
        least = np.full(m, n)
        np.minimum.at(least, rows, label[cols])
        made = label.copy()
        np.minimum.at(made, cols, least[rows])
        made = made[made]  # a label's own label: the number of rounds grows with the logarithm
        if np.array_equal(made, label):
            break
        label = made
    _, sizes = np.unique(label, return_counts=True)
    return len(sizes), int(sizes.max(initial=0))

"""The entries of an inverse that may differ from 0, from those of the matrix.

The inverse of a matrix with one entry in each row and column has the places turned round. The inverse of any
other matrix is a polynomial of the matrix (Cayley and Hamilton): its entries stay within groups of unknowns that meet,
and on one side of the diagonal if those of the matrix do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from hilbert.base.once import cached_property
from linmap.matrices.labelled.columns import divided
from linmap.matrices.network.loop_patterns import pairs_of
from linmap.matrices.tables.pair_sets import count, everything, flat, listed

if TYPE_CHECKING:
    from linmap.matrices.labelled.columns import Ints
    from linmap.matrices.labelled.contractor import Contractor
    from linmap.matrices.labelled.labelled_products import Blocks
    from linmap.matrices.tables.pair_sets import MaybePairs
    from linmap.term import wire

LISTED = 10**6
"""The most pairs that are listed."""


@final
class InversePattern:
    """The pairs of each block of an inverse; `products` are those of each block of the matrix."""

    def __init__(self, n: Contractor, products: Blocks, f: wire.Inverse) -> None:
        self.n, self.products, self.f = n, products, f
        self.given = np.cumsum([0, *(leaf.size for leaf in f.given.leaves)])
        self.made = np.cumsum([0, *(leaf.size for leaf in f.made.leaves)])

    def pairs(self, j: int, k: int) -> MaybePairs:
        """The pairs from array k that flows in to array j that flows out."""
        inp, out = self.f.given.leaves[k].shape, self.f.made.leaves[j].shape
        found = self._pairs
        if found is None:
            return everything(inp, out)
        rows, cols = found
        some = (rows >= self.made[j]) & (rows < self.made[j + 1]) & (cols >= self.given[k]) & (cols < self.given[k + 1])
        size = int(self.given[k + 1] - self.given[k])
        return listed(inp, out, np.sort((rows[some] - self.made[j]) * size + cols[some] - self.given[k]))

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints] | None:
        """The rows and the columns of the entries of the inverse; None for all."""
        with self.n.lock:
            found = self._of_matrix()
        if found is None:
            return None
        rows, cols = found
        size = int(self.given[-1])
        if len(rows) == size and all(np.bincount(some, minlength=size).max(initial=1) == 1 for some in found):
            return cols, rows
        order, groups = _groups(rows, cols, size)
        if sum(len(group) ** 2 for group in groups) > LISTED:
            return None
        made = [np.repeat(group, len(group)) for group in groups], [np.tile(group, len(group)) for group in groups]
        y, x = (np.concatenate([order[:0], *some]) for some in made)
        side = y >= x if np.all(rows >= cols) else y <= x if np.all(rows <= cols) else np.ones(len(y), bool)
        return y[side], x[side]

    def _of_matrix(self) -> tuple[Ints, Ints] | None:
        """The rows and the columns of the entries of the matrix; None where they are too many."""
        rows, cols = [self.given[:0]], [self.given[:0]]
        for (o, i), products in self.products.items():
            for p in products:
                pairs = pairs_of(self.n, p.but(factors=()))
                if pairs is not None and (pairs.is_all or count(pairs) > LISTED):
                    return None
                if pairs is not None:
                    y, x = divided(flat(pairs), pairs.n)
                    rows.append(y + self.given[o])
                    cols.append(x + self.made[i])
        places = np.unique(np.concatenate(rows) * self.given[-1] + np.concatenate(cols))
        return divided(places, int(self.given[-1]))


def _groups(rows: Ints, cols: Ints, size: int) -> tuple[Ints, list[Ints]]:
    """All unknowns in the order of their groups, and the groups: those of a group meet, perhaps through others."""
    label = np.arange(size)
    while True:
        made = label.copy()
        np.minimum.at(made, rows, label[cols])
        np.minimum.at(made, cols, label[rows])
        made = made[made]
        if np.array_equal(made, label):
            break
        label = made
    order = np.argsort(label, kind="stable")
    return order, np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if size else []

"""The plan of a matrix as a sparse one and a sum of few rank-one terms: what Woodbury's formula solves with."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from hilbert.arrays.formal.formal_kernels import dense as multiplied_out
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.arrays.systems.linear_systems import ENTRIES
from hilbert.base.once import once
from linmap.matrices.labelled.deferred_lines import Deferred
from linmap.matrices.made.patterns import SparsePattern
from linmap.matrices.made.sparse_pattern import offsets, pattern
from linmap.matrices.network.network import Network
from linmap.matrices.structure.entry_counts import listed_tuples
from linmap.matrices.structure.matrix_shapes import has_low_rank, stored
from linmap.matrices.structure.structure import product_form, standing, structure
from linmap.matrices.tables.low_rank_terms import PART, narrow_cut, side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linmap.matrices.labelled.labelled_products import NetworkProduct
    from linmap.term.net import Net

FEW = 4
"""A term with at most so many entries for each unknown is sparse, whatever its rank."""


@frozen
class Term:
    """A term of low rank: its rank, the first row and the first column of its entries, and those behind the last."""

    rank: int
    rows: tuple[int, int]
    cols: tuple[int, int]


@frozen
class LowRankPlan:
    """S + Σ UᵀV: the pattern of S, the terms, and the line that computes the entries of S and all U and V."""

    base: SparsePattern
    terms: tuple[Term, ...]
    runner: Deferred

    @property
    def rank(self) -> int:
        """The rank of the terms together."""
        return sum(term.rank for term in self.terms)

    def values(self, data: Sequence[Any]) -> tuple[Any, Any, Any]:
        """The entries of S, all rows of U, and those of V."""
        size, (entries, *sides) = self.base.shape[0], [to_numpy(multiplied_out(a)) for a in self.runner.run(data)]
        if len(self.terms) == 1 and all(side.size == self.rank * size for side in sides):
            return entries, sides[0].reshape(self.rank, size), sides[1].reshape(self.rank, size)
        both = np.zeros((2, self.rank, size), np.result_type(entries, *sides))
        start = 0
        for k, term in enumerate(self.terms):
            for end, (first, last) in enumerate((term.rows, term.cols)):
                both[end, start : start + term.rank, first:last] = sides[2 * k + end].reshape(term.rank, -1)
            start += term.rank
        return entries, both[0], both[1]


@once
def low_rank_plan(body: Net, most: float) -> LowRankPlan | None:
    """The plan of a square matrix, made once; None where no term has a low rank, or all are too many.

    So it is where the entries of S are summed of more tuples than `most`, and for a large matrix unless its form shows
    terms of low rank.
    """
    if body.dom.dim**2 > ENTRIES and not has_low_rank(structure(body)):
        return None
    with np.errstate(all="ignore"):
        n = Network(body)
    rows, cols = offsets(body.cod), offsets(body.dom)
    terms, outputs = list[Term](), list[int]()
    rest: dict[tuple[int, int], list[NetworkProduct]] = {}
    for (o, i), products in n.blocks.items():
        for p in standing(n, products):
            found = _sides(n, p, rows[-1])
            if found is None:
                rest.setdefault((o, i), []).append(p)
                continue
            left, right, rank = found
            terms.append(Term(rank, (rows[o], rows[o + 1]), (cols[i], cols[i + 1])))
            outputs += [left, right]
    if not terms or PART * sum(term.rank for term in terms) > rows[-1]:
        return None
    if listed_tuples(n, chain.from_iterable(rest.values())) > most:
        return None
    n.blocks = rest
    base, _, entries = pattern(n, body.cod, body.dom)
    return LowRankPlan(base, tuple(terms), n.runner([entries, *outputs]))


def _sides(n: Network, p: NetworkProduct, size: int) -> tuple[int, int, int] | None:
    """The slots of both factors of a product and its rank; None where that is not low, or the entries are few."""
    if stored(product_form(n, p)) <= FEW * size:
        return None
    cut = narrow_cut(n, p)
    rank = 0 if cut is None else n.size(cut.bond)
    if cut is None or PART * rank > size or rank >= min(n.size(p.out), n.size(p.inp)):
        return None
    return n.scaled(p.k, side(n, cut.outer, cut.bond + p.out)), side(n, cut.inner, cut.bond + p.inp), rank

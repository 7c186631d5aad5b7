"""The blocks of loops and inverses as products: images of vectors, read where entries may differ from 0."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from hilbert import Fin
from hilbert.program.line.constant import Const, filled
from linmap.matrices.labelled.columns import divided, split
from linmap.matrices.labelled.labelled_products import LabelTable, Link, NetworkFactor, NetworkProduct
from linmap.matrices.network.loop_lanes import blocks_of, runs
from linmap.matrices.tables.banded_relations import Diagonals
from linmap.matrices.tables.pair_sets import PairRelation, count, flat
from linmap.net.apply_recur import acted_on_parts
from linmap.net.loop_masks import known_mask, may_break
from linmap.net.support import Given, Part
from linmap.term import wire

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hilbert import Index
    from hilbert.index.leaf import Leaf
    from hilbert.relation.relation import AnyRelation
    from linmap.matrices.labelled.columns import Ints, Labels
    from linmap.matrices.labelled.contractor import Contractor
    from linmap.matrices.network.loop_lanes import Patterns, Run
    from linmap.matrices.tables.pair_sets import PairSet


def blocks(
    n: Contractor,
    f: wire.Recur | wire.Inverse,
    lead: Sequence[Index],
    ends: tuple[Collection[int], Collection[int]],
    patterns: Patterns,
) -> dict[tuple[int, int], NetworkProduct]:
    """The products from some arrays that flow into a loop or an inverse to some that flow out.

    The product is the same along the axes `lead` in front of the flow. The loop is a block for each place of its lanes,
    and is run on vectors for one place, in all places at once (`linmap.matrices.network.loop_lanes`).
    """
    same = tuple(map(n.label, lead))
    f = evolve(f, lead=0)
    some = (blocks_of if n.patterns else runs)(f, *ends, patterns)
    found: dict[tuple[int, int], NetworkProduct] = {}
    for forward, run in some:
        g = f if forward else f.adjoint(f.given)
        for b, p in _Images(n, g, run, forward=forward).products():
            found[(run.given, b) if forward else (b, run.given)] = p.but(out=same + p.out, inp=same + p.inp)
    return found


class _Images:
    """The images of the vectors of a run under a loop or an inverse, as products."""

    def __init__(self, n: Contractor, g: wire.Recur | wire.Inverse, run: Run, *, forward: bool) -> None:
        self.n, self.g, self.run, self.forward = n, g, run, forward
        self.leaf = g.given.leaves[run.given]
        self.given = tuple(map(n.label, self.leaf.axes))
        self.own = tuple(c for i, c in enumerate(self.given) if i not in run.lanes)

    def products(self) -> list[tuple[int, NetworkProduct]]:
        """For each array that is made the product of its block; a pattern has no vectors."""
        n, run = self.n, self.run
        if n.patterns:
            thick = [b for b, (_, pairs) in run.made.items() if pairs is None]
            some = self._made(self.own, self._ones(self.own)) if thick else {}
            thin = self._made((), self._ones(())) if len(thick) < len(run.made) else {}
            front: Labels = self.own
        elif run.colours is None:
            front, some, thin = self.own, self._made(self.own, basis_of(self.leaf, run.lanes)), {}
        else:
            front = (n.label(Fin.of(run.vectors)),)
            some, thin = self._made(front, _seeds(self.leaf, run.lanes, run.colours)), {}
        found = []
        for b, (lanes, pairs) in run.made.items():
            lane = {j: self.given[i] for j, i in zip(lanes, run.lanes, strict=True)}
            axes = self.g.made.leaves[b].axes
            made = tuple(lane[j] if j in lane else n.label(axis) for j, axis in enumerate(axes))
            rest = tuple(c for j, c in enumerate(made) if j not in lane)
            out, inp = (made, self.given) if self.forward else (self.given, made)
            if pairs is None and b in some:
                found.append((b, NetworkProduct(1.0, (NetworkFactor(some[b], front + made),), (), out, inp)))
            elif pairs is not None and n.patterns and b in thin:
                p = NetworkProduct(1.0, (NetworkFactor(thin[b], made),), (), out, inp)
                found.append((b, _related(n, p, pairs, self.own, rest)))
            elif pairs is not None and b in some:
                image = NetworkFactor(some[b], front + made)
                found.append((b, self._read(image, pairs, front, rest, NetworkProduct(1.0, (), (), out, inp))))
        return found

    def _made(self, front: Labels, vectors: Const) -> dict[int, int]:
        """The images of vectors that stand along axes in front, with supports where data may be infinite."""
        n, g = self.n, self.g
        breaks = isinstance(g, wire.Recur) and may_break(g.body)
        where = Given(known_mask(vectors.array != 0.0, vectors.leaf.axes)) if breaks and not n.patterns else None
        found = acted_on_parts(n.supports, g.lifted(len(front)), {self.run.given: Part(n.datum(vectors), where)})
        for image in found.values():
            n.note(image, breaks=breaks)
        return {b: image.base for b, image in found.items()}

    def _ones(self, front: Labels) -> Const:
        return filled(1.0, self.leaf.under(tuple(self.n.axes[c] for c in front)))

    def _read(
        self, image: NetworkFactor, pairs: PairSet, front: Labels, rest: Labels, of: NetworkProduct
    ) -> NetworkProduct:
        """Pick the entries of a block: entry (i, j) is at output i in the image of the vector that holds input j."""
        n = self.n
        ends, pairs = ((rest, self.own), pairs) if self.forward else ((self.own, rest), pairs.T)
        table = _listed(n, pairs, *ends)
        made, given = divided(flat(pairs), pairs.n)
        made, given = (made, given) if self.forward else (given, made)
        colours = self.run.colours
        positions = (given if colours is None else colours[given]) * n.size(rest) + made
        lanes = tuple(c for c in image.labels if c not in {*front, *rest})
        slot = n.arranged(image, front + rest + lanes)
        slot = n.taken(slot, n.index(front + rest), positions, n.axes[table.row])
        return of.but(factors=(NetworkFactor(slot, (table.row, *lanes)),), tables=(table,))


def _related(n: Contractor, p: NetworkProduct, pairs: PairSet, given: Labels, made: Labels) -> NetworkProduct:
    """The product, on some pairs of labels alone."""
    X, Y = n.index(given), n.index(made)
    relation: AnyRelation = PairRelation(X, Y, pairs)
    if pairs.boxes is not None and len(pairs.inp) == 1:
        relation = Diagonals(X, Y, tuple((int(d), int(a), int(b)) for d, a, b in pairs.boxes[:, :, 0]))
    return p.but(links=(Link(relation, given, made),))


def _listed(n: Contractor, pairs: PairSet, out: Labels, inp: Labels) -> LabelTable:
    """The pairs as a table of labels."""
    columns = split((*out, *inp), flat(pairs), n.sizes)
    row = n.label(Fin.of(count(pairs)))
    return LabelTable(row, tuple(c for c, _ in columns), tuple(column for _, column in columns))


def basis_of(leaf: Leaf, lanes: Collection[int] = ()) -> Const:
    """The basis vectors of what a leaf stores, along axes in front; those of one place of `lanes`, at each place."""
    own = [i for i in range(len(leaf.axes)) if i not in lanes]
    size = math.prod([leaf.shape[i] for i in own])
    return _placed(leaf, lanes, np.eye(size, dtype=leaf.dtype), tuple([leaf.axes[i] for i in own]), ("basis",))


def _seeds(leaf: Leaf, lanes: Collection[int], colours: Ints) -> Const:
    """The sums of the basis vectors of each colour."""
    number = int(colours.max(initial=-1)) + 1
    unit = np.zeros((number, len(colours)), leaf.dtype)
    unit[colours, np.arange(len(colours))] = 1.0
    return _placed(leaf, lanes, unit, (Fin.of(number),), ("colours", colours.tobytes()))


def _placed(
    leaf: Leaf, lanes: Collection[int], vectors: Ints, front: tuple[Index, ...], name: tuple[object, ...]
) -> Const:
    """Vectors for one place of lanes, at each place."""
    first = tuple([axis.size for axis in front])
    shape = first + tuple([1 if i in lanes else n for i, n in enumerate(leaf.shape)])
    array = np.broadcast_to(vectors.reshape(shape), first + leaf.shape)
    array.flags.writeable = False
    return Const(array, leaf.under(front), (*name, leaf, tuple(lanes)))

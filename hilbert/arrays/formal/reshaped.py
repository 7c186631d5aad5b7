"""The axes of a formal array regrouped in their flat order: factors that are kept, joined, or cut.

Both shapes are refined to common atoms, as 6×2 and 3×4 to 3×2×2. A new axis whose atoms lie in several factors joins
these: they are multiplied, each term by itself. A factor with atoms in two new axes that are to lie in different
factors is cut: u ∈ K^{a·b} is Σ_i e_i ⊗ u_i over the smaller of a and b.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from hilbert.arrays.formal.factors import combine, product, real
from hilbert.arrays.formal.formal_array import Block, block
from hilbert.errors import SpaceError
from hilbert.index.spec import ALPHABET
from hilbert.relation import Converse, Inclusion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hilbert.arrays.formal.factors import Factor
    from hilbert.arrays.formal.formal_array import Memo
    from hilbert.arrays.kernels.library import Library
    from hilbert.relation.relation import AnyRelation

PIECES = 64
"""The most terms that one term is cut into."""
JOINED = 10**7
"""The most entries of a factor that is made of several."""
RANK, CUTS = "α", "βγδεζηθικλμνξοπ"
"""The label of the terms, and those of the pieces that factors are cut into."""


@frozen
class Group:
    """New axes of one factor: the atoms that they are made of, in order, and their labels and sizes."""

    atoms: str
    axes: str
    shape: tuple[int, ...]


def is_reshape(relation: AnyRelation) -> bool:
    """Tell if a relation is the equality of flat positions."""
    of = relation.of if isinstance(relation, Converse) else relation
    return isinstance(of, Inclusion) and of.dom.size == of.cod.size and of.stride == 1


def reshaped(lib: Library, memo: Memo, b: Block, at: int, relation: AnyRelation, shape: tuple[int, ...]) -> Block | Any:
    """A block of an array of a shape, those of its axes from `at` on that are X's regrouped to those of Y, R ⊆ X×Y.

    Raises SpaceError where a factor would be cut into more than PIECES, or joined to more than JOINED entries.
    """
    source, target = relation.dom.shape, relation.cod.shape
    if not math.prod(source):
        return lib.xp.zeros((*shape[:at], *target, *shape[at + len(source) :]), dtype=b.arrays[0].dtype)
    letters = iter(ALPHABET)
    before = [next(letters) for _ in range(at)]
    within, groups, sizes = _refined(source, target, letters)
    after = [next(letters) for _ in range(len(shape) - at - len(source))]
    places = [*before, *within, *after]  # the labels that each old axis is made of
    factors = [_in_atoms(lib, memo, array, [places[k] for k in axes], sizes) for array, axes in _pairs(b)]
    joins = [g for g in groups if sum(bool(set(g.atoms) & set(f.labels)) for f in factors) > 1]
    work = _Reshape(lib, memo, f"reshape of axes {_text(source)} to {_text(target)}", {RANK: b.rank})
    factors = [piece for f in factors for piece in work.cut(f, joins)]
    for g in joins:
        few = [f for f in factors if set(f.labels) & set(g.atoms)]
        factors = [*(f for f in factors if not any(f is one for one in few)), work.joined(few, g)]
    factors = [work.regrouped(f, groups) for f in factors]
    factors += [real(lib.xp.ones(g.shape, dtype=factors[0].array.dtype), g.axes) for g in groups if not g.atoms]
    out = "".join([*before, *(g.axes for g in groups), *after])
    made = combine(lib, memo, b.k, factors, work.ranks, out)
    return made if isinstance(made, Block) else block(1.0, [(made[None, ...], tuple(range(len(out))))])


def _pairs(b: Block) -> list[tuple[Any, tuple[int, ...]]]:
    return list(zip(b.arrays, b.axes, strict=True))


def _text(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "1"


def _in_atoms(lib: Library, memo: Memo, array: Any, labels: list[str], sizes: dict[str, int]) -> Factor:
    """A factor whose axes have these labels, several or none for one that is made of atoms."""
    shape = [array.shape[0]]
    for have, n in zip(labels, array.shape[1:], strict=True):
        shape += [sizes.get(c, n) for c in have]
    key = ("atoms", *shape)
    return real(memo.of(key, (array,), lambda a: lib.xp.reshape(a, tuple(shape))), RANK + "".join(labels))


@final
class _Reshape:
    """The factors of one block on their way; `ranks` are the sizes of the labels that join them."""

    def __init__(self, lib: Library, memo: Memo, what: str, ranks: dict[str, int]) -> None:
        self.lib, self.memo, self.what, self.ranks = lib, memo, what, ranks
        self.pieces = 1

    def _require_few(self, count: int, most: int, unit: str) -> None:
        if count > most:
            msg = (
                f"{self.what} takes the factors of a formal tensor apart: {count} {unit}, more than {most}; write "
                "t.dense().reshape(Y) for the plain array, or reshape the vectors u and v and write u ⊗ v anew"
            )
            raise SpaceError(msg)

    def cut(self, f: Factor, joins: list[Group]) -> list[Factor]:
        """A factor as pieces of which each has atoms of one group that is joined, or none; adds to the ranks."""
        sizes = dict(zip(f.labels, f.array.shape, strict=True))
        clusters = ["".join(c for c in f.labels[1:] if c in g.atoms) for g in joins]
        clusters.append("".join(c for c in f.labels[1:] if not any(c in g.atoms for g in joins)))
        clusters = sorted(filter(None, clusters), key=lambda c: math.prod(sizes[a] for a in c))
        pieces: list[Factor] = []
        for cluster in clusters[:-1]:
            shape = tuple(sizes[c] for c in cluster)
            count = math.prod(shape)
            self.pieces *= count
            self._require_few(self.pieces, PIECES, "terms for each of its own")
            rank = CUTS[len(self.ranks) - 1]
            self.ranks[rank] = count
            eye = self.memo.of(("eye", *shape), (f.array,), partial(self._eye, shape))
            pieces.append(real(eye, rank + cluster))
            rest = "".join(c for c in f.labels if c not in cluster)
            f = self._merged(f, rest, cluster, rank, (count,))
        return [f, *pieces]

    def _eye(self, shape: tuple[int, ...], like: Any) -> Any:
        n = math.prod(shape)
        return self.lib.xp.reshape(self.lib.xp.eye(n, dtype=like.dtype), (n, *shape))

    def joined(self, few: list[Factor], g: Group) -> Factor:
        """The product of some factors, term by term."""
        open_ = "".join(c for c in self.ranks if any(c in f.labels for f in few))
        entries = math.prod(self.ranks[c] for c in open_) * math.prod(g.shape)
        self._require_few(entries, JOINED, "entries in one factor")
        labels = open_ + g.atoms
        key = ("product", labels, *(f.labels for f in few))
        return real(self.memo.of(key, [f.array for f in few], lambda *_: product(self.lib, few, labels)), labels)

    def regrouped(self, f: Factor, groups: list[Group]) -> Factor:
        """The atoms of each new axis as one axis."""
        for g in groups:
            if g.atoms and set(g.atoms) <= set(f.labels):
                rest = "".join(c for c in f.labels if c not in g.atoms)
                f = self._merged(f, rest, g.atoms, g.axes, g.shape)
        return f

    def _merged(self, f: Factor, rest: str, atoms: str, labels: str, shape: tuple[int, ...]) -> Factor:
        """The factor with some axes, in an order, at its end as others."""
        order = tuple(map(f.labels.index, rest + atoms))

        def run(array: Any) -> Any:
            array = self.lib.xp.permute_dims(array, order)
            return self.lib.xp.reshape(array, (*array.shape[: len(rest)], *shape))

        return real(self.memo.of(("merged", order, *shape), (f.array,), run), rest + labels)


def _refined(
    source: tuple[int, ...], target: tuple[int, ...], letters: Iterator[str]
) -> tuple[list[str], list[Group], dict[str, int]]:
    """The labels of the atoms of each old axis, the groups of new axes, and the sizes of atoms."""
    within: list[str] = []
    sizes: dict[str, int] = {}
    groups: list[Group] = []
    for old, new in _blocks(source, target):
        cuts = _cuts(old, new)
        if cuts is None:  # 4×3 and 6×2 have no common atoms: one group
            mine = [next(letters) for _ in old]
            sizes.update(zip(mine, old, strict=True))
            within += mine
            groups.append(Group("".join(mine), "".join(next(letters) for _ in new), new))
            continue
        atoms = [next(letters) for _ in cuts[1:]]
        sizes.update({c: high // low for c, low, high in zip(atoms, cuts[:-1], cuts[1:], strict=True)})
        within += [_between(atoms, cuts, *ends) for ends in _strides(old)]
        groups += [
            Group(_between(atoms, cuts, *ends), next(letters), (n,)) for n, ends in zip(new, _strides(new), strict=True)
        ]
    return within, groups, sizes


def _blocks(source: tuple[int, ...], target: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The blocks that two shapes fall into, ends of which are where their products from the left agree."""
    found = []
    i = j = 0
    while i < len(source) or j < len(target):
        a, b = i, j
        p = q = 1
        while (i, j) == (a, b) or p != q:
            if p <= q and i < len(source):
                p, i = p * source[i], i + 1
            else:
                q, j = q * target[j], j + 1
        found.append((source[a:i], target[b:j]))
    return found


def _strides(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """The strides of each axis and of the axis before it."""
    return [(math.prod(shape[k + 1 :]), math.prod(shape[k:])) for k in range(len(shape))]


def _cuts(old: tuple[int, ...], new: tuple[int, ...]) -> list[int] | None:
    """The strides of both shapes, each a divisor of the next; None where they are not."""
    cuts = sorted({end for shape in (old, new) for ends in _strides(shape) for end in ends})
    fit = all(high % low == 0 for low, high in pairwise(cuts))
    return cuts if fit else None


def _between(atoms: list[str], cuts: list[int], low: int, high: int) -> str:
    """The atoms of an axis, the one of the largest stride first."""
    return "".join(reversed(atoms[cuts.index(low) : cuts.index(high)]))

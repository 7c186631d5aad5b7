"""The terms of a formal tensor, collected over the leaves that share factors.

A family is Σ_x left_x ⊗ right_x for left ∈ V^X and right ∈ W^X, with a number and weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

import numpy as np
from attrs import frozen

from hilbert.arrays.formal.formal_array import Block, Formal, block, same
from hilbert.arrays.formal.formal_kernels import dense
from hilbert.arrays.kernels.library import library
from hilbert.arrays.libraries.namespace import common_namespace, freeze
from hilbert.errors import SpaceError
from hilbert.index.index import Fin, Index
from hilbert.space.space import Copower, TensorProduct, Type, atom
from hilbert.space.vector import Vec, require_vector
from hilbert.tensors.formal_tensors import empty

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from hilbert.index.leaf import Leaf

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
Factors = tuple[tuple[Any, tuple[int, ...]], ...]
"""Arrays with a rank axis in front, each with the places of its other axes."""


@final
@frozen(eq=False)
class Family(Generic[V, W]):
    """k · Σ_x weights_x · left_x ⊗ right_x for left ∈ V^X and right ∈ W^X; weights ∈ K^X, or None for 1."""

    k: Any
    weights: Vec[Any] | None
    left: Vec[Any]
    right: Vec[Any]

    @property
    def rank(self) -> int:
        """|X|, the number of terms."""
        index: Index = self.left.space.index
        return index.size


@frozen(eq=False)
class _Side:
    """A block of leaf (i, j), cut between the axes of V and of W."""

    k: Any
    weights: Any
    left: Factors
    right: Factors
    rank: int

    def fits(self, other: _Side, side: str) -> bool:
        """True if two blocks have the number, the weights and one side in common."""
        mine, yours = getattr(self, side), getattr(other, side)
        alike = len(mine) == len(yours) and all(
            x[1] == y[1] and same(x[0], y[0]) for x, y in zip(mine, yours, strict=True)
        )
        weights = self.weights is other.weights or (
            self.weights is not None and other.weights is not None and same(self.weights, other.weights)
        )
        one = self.k is other.k or (isinstance(self.k, float) and isinstance(other.k, float) and self.k == other.k)
        return alike and weights and one and self.rank == other.rank


def families(t: Vec[TensorProduct[V, W]]) -> tuple[list[Family[V, W]], Vec[TensorProduct[V, W]] | None]:
    """The terms of a tensor, collected over the leaves that share factors, and the rest, which is no sum of such terms.

    The rest holds dense parts, and blocks with a factor that has axes of both V and W; None where there is none.
    """
    space = t.space
    if not isinstance(space, TensorProduct):
        msg = f"an element of V ⊗ W has terms u ⊗ v, but not one of {space}"
        raise SpaceError(msg)
    n, m = len(space.left.leaves), len(space.right.leaves)
    todo: dict[tuple[int, int], list[_Side]] = {}
    rest: list[Any] = []
    for place, leaf in enumerate(t.leaves):
        i, j = divmod(place, m)
        todo[i, j], kept = _cut(leaf, len(space.left.leaves[i].axes))
        rest.append(kept)
    found: list[Family[V, W]] = []
    for at in list(todo):
        while todo[at]:
            found.append(_collected(space, todo, at, n, m))
    found = [f for f in found if f.rank]
    if all(leaf is None for leaf in rest):
        return found, None
    nothing = [empty(a, b) for a in space.left.leaves for b in space.right.leaves]
    return found, Vec(space, tuple(none if leaf is None else leaf for leaf, none in zip(rest, nothing, strict=True)))


def _cut(leaf: Any, p: int) -> tuple[list[_Side], Any]:
    """The blocks of a leaf with every factor on one side of axis p, and the others with the dense part."""
    if not leaf.shape:
        return _numbers(leaf)
    if not isinstance(leaf, Formal):
        return [], leaf
    sides: list[_Side] = []
    others: list[Block] = []
    q = len(leaf.shape) - p
    for b in leaf.blocks:
        factors = [(x, axes) for x, axes in zip(b.arrays, b.axes, strict=True) if axes]
        left = tuple((x, axes) for x, axes in factors if max(axes) < p)
        right = tuple((x, tuple(k - p for k in axes)) for x, axes in factors if min(axes) >= p)
        if len(left) + len(right) < len(factors):
            others.append(b)
            continue
        weights = b.weights
        if weights is not None and not (p and q):  # K ⊗ W: the weights are the factor in K
            left, right, weights = ((weights, ()),) if not p else left, right if not p else ((weights, ()),), None
        sides.append(_Side(b.k, weights, left, right, b.rank))
    if leaf.dense is None and not others:
        return sides, None
    return sides, Formal(leaf.shape, leaf.dtype, tuple(others), leaf.dense) if others else leaf.dense


def _numbers(leaf: Any) -> tuple[list[_Side], Any]:
    """The terms of an element of K ⊗ K, where a number is a term; see `_cut`."""
    sides: list[_Side] = []
    for b in leaf.blocks if isinstance(leaf, Formal) else ():
        factors: list[Factors] = [((array, ()),) for array in b.arrays]
        left, right = factors if len(factors) > 1 else (factors[0], ())
        sides.append(_Side(b.k, None, left, right, b.rank))
    number = leaf.dense if isinstance(leaf, Formal) else leaf
    if number is not None:
        sides.append(_Side(library(number).number(number), None, (), (), 1))
    return sides, None


def _collected(
    space: TensorProduct[Any, Any], todo: dict[tuple[int, int], list[_Side]], at: tuple[int, int], n: int, m: int
) -> Family[Any, Any]:
    """The first block of a leaf together with those of other leaves that share its factors; they are taken away."""
    first = todo[at][0]
    i0, j0 = at

    def matching(i: int, j: int, left: _Side, right: _Side) -> _Side | None:
        return next((s for s in todo[i, j] if s.fits(left, "left") and s.fits(right, "right")), None)

    row = {j: next((s for s in todo[i0, j] if s.fits(first, "left")), None) for j in range(m)}
    column = {i: next((s for s in todo[i, j0] if s.fits(first, "right")), None) for i in range(n)}
    row, column = {**row, j0: first}, {**column, i0: first}
    lines = {i: s for i, s in column.items() if s is not None}
    across = {j: s for j, s in row.items() if s is not None}
    grid = {(i, j): matching(i, j, s, r) for i, s in lines.items() for j, r in across.items()}
    if any(s is None for s in grid.values()):
        lines = {i0: first}
        grid = {(i0, j): s for j, s in across.items()}
    for place, side in grid.items():
        todo[place] = [s for s in todo[place] if s is not side]
    X = Fin.of(first.rank)
    left = [_side(lines[i].left if i in lines else None, leaf, X) for i, leaf in enumerate(space.left.leaves)]
    right = [_side(across[j].right if j in across else None, leaf, X) for j, leaf in enumerate(space.right.leaves)]
    base = atom(space.leaves[0].entry)
    weights = None if first.weights is None else Vec(Copower(base, X), (first.weights,))
    return Family(
        first.k, weights, Vec(Copower(space.left, X), tuple(left)), Vec(Copower(space.right, X), tuple(right))
    )


def _side(factors: Factors | None, leaf: Leaf, X: Index) -> Any:
    """A leaf of V^X from its factors: without any each entry is 1, several make a formal array."""
    shape = (X.size, *leaf.shape)
    if factors is None:
        return freeze(np.broadcast_to(np.zeros((), leaf.dtype), shape))
    if not factors:
        return freeze(np.broadcast_to(np.ones((), leaf.dtype), shape))
    xp = common_namespace([x for x, _ in factors])
    if len(factors) == 1:
        ((array, axes),) = factors
        order = (0, *(1 + axes.index(k) for k in range(len(axes))))
        return array if order == tuple(range(len(order))) else freeze(xp.permute_dims(array, order))
    identity = xp.eye(X.size, dtype=factors[0][0].dtype)
    shifted = [(array, tuple(1 + k for k in axes)) for array, axes in factors]
    return Formal(shape, leaf.dtype, (block(1.0, [(identity, (0,)), *shifted]),))


def merged(found: Sequence[Family[V, W]]) -> list[Family[V, W]]:
    """Families with plain arrays as one: their members one after the other, multiplied by their numbers."""
    plain = [f for f in found if not (f.left.is_formal or f.right.is_formal)]
    others = [f for f in found if f.left.is_formal or f.right.is_formal]
    if len(plain) < 2:
        return list(found)
    xp = common_namespace([leaf for f in plain for leaf in (*f.left.leaves, *f.right.leaves)])
    X = Fin.of(sum(f.rank for f in plain))

    def concatenated(families_: Sequence[Vec[Any]], scale: Sequence[Family[V, W] | None]) -> Vec[Any]:
        rows = xp.concat([as_rows(xp, family, f) for family, f in zip(families_, scale, strict=True)], axis=0)
        return from_rows(Copower(families_[0].space.base, X), rows)

    left = concatenated([f.left for f in plain], plain)
    right = concatenated([f.right for f in plain], [None] * len(plain))
    return [Family(1.0, None, left, right), *others]


def rank(t: Vec[Any]) -> int:
    """The number of rank-one terms of a formal tensor, a bound of its rank; the rank of 0 is 0.

    Raises SpaceError for a tensor with a dense part: `compress` it.
    """
    require_vector(t, "rank")
    found, rest = families(t)
    if rest is not None:
        msg = f"this element of {t.space} is no sum of rank-one terms: part of it is dense; see compress"
        raise SpaceError(msg)
    return sum(f.rank for f in found)


def as_rows(xp: ModuleType, family: Vec[Any], scale: Family[Any, Any] | None) -> Any:
    """The members of a family as the rows of one matrix, multiplied by the numbers of the terms."""
    n = family.space.index.size
    rows = xp.concat([xp.reshape(xp.asarray(dense(leaf)), (n, -1)) for leaf in family.leaves], axis=1)
    if scale is None:
        return rows
    rows = rows * scale.k
    return rows if scale.weights is None else rows * xp.reshape(scale.weights.leaves[0], (-1, 1))


def from_rows(space: Copower[Any, Any], rows: Any) -> Vec[Any]:
    """The family whose members are the rows of a matrix."""
    leaves, start = [], 0
    for leaf in space.base.leaves:
        xp = common_namespace([rows])
        part = xp.reshape(rows[:, start : start + leaf.size], (rows.shape[0], *leaf.shape))
        leaves.append(freeze(part))
        start += leaf.size
    return Vec(space, tuple(leaves))

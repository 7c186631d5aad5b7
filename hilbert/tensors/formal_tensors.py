"""Formal tensors: elements of V ⊗ W as sums of rank-one terms beside a dense part (paper §2.2).

An element of V ⊗ W is a vector whose arrays may be formal: factors with a common rank axis are kept instead of their
products, and the leaves (i, j) of V ⊗ W share the factors of leaf i of V and of leaf j of W. So r terms take
r·(dim V + dim W) entries, vector operations and linear maps act on the factors, and nothing of dim V·dim W entries is
made unless asked for by `.dense()`, `.array` or `.flat()`.

>>> from hilbert import Fin, R, rank
>>> V, W = R ** Fin.of(3), R ** Fin.of(2)
>>> t = V.vec([1.0, 2.0, 2.0]).tensor(W.vec([3.0, 4.0]))
>>> print(2 * t - t)
a⊗b (rank 1) ∈ ℝ^3 ⊗ ℝ^2
>>> t.norm(), t.inner(t), rank(t + t)
(15.0, 225.0, 1)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from hilbert.arrays.formal import formal_norms as size
from hilbert.arrays.formal.factors import combine, real
from hilbert.arrays.formal.formal_array import Block, Formal, Memo, add, block, scaled
from hilbert.arrays.libraries.libraries import common_library
from hilbert.arrays.libraries.namespace import added, common_namespace, freeze, to_numpy
from hilbert.errors import SpaceError, shown
from hilbert.index.index import Fin, Index
from hilbert.index.spec import ALPHABET
from hilbert.space.space import Copower, TensorProduct, Type
from hilbert.space.vector import Vec, require_vector

if TYPE_CHECKING:
    from hilbert.arrays.formal.factors import Factor
    from hilbert.arrays.kernels.library import Library
    from hilbert.index.leaf import Leaf

I = TypeVar("I", bound=Index)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
RANK = "ρσ"
"""Labels of the rank axes of two formal factors; those of a family's index set are taken from the end of `ALPHABET`."""


# --- making them ---


def tensor_product(v: Vec[V], other: Vec[W]) -> Vec[TensorProduct[V, W]]:
    """v ⊗ w, with the two as factors. Raises SpaceError for other things than vectors of two spaces over one field."""
    require_vector(v, "u ⊗ v")
    require_vector(other, "u ⊗ v")
    space = TensorProduct(v.space, other.space)
    if v.is_formal or other.is_formal:
        return Vec(space, _tensor(space, v.leaves, other.leaves, ()))
    left, right = ([a[None, ...] for a in w.leaves] for w in (v, other))
    return Vec(space, _tensor(space, left, right, (1,)))


def from_factors(left: Vec[Copower[V, I]], right: Vec[Copower[W, I]]) -> Vec[TensorProduct[V, W]]:
    """Σ_x left_x ⊗ right_x for left ∈ V^X and right ∈ W^X: a formal tensor of rank |X| that keeps the two arrays.

    Raises SpaceError unless both are families of vectors over one index set.
    """
    for family in (left, right):
        require_vector(family, "from_factors")
        if not isinstance(family.space, Copower):
            msg = f"from_factors takes left ∈ V^X and right ∈ W^X, not a vector of {family.space}"
            raise SpaceError(msg)
    if left.space.index != right.space.index:
        msg = (
            f"from_factors takes left ∈ V^X and right ∈ W^X over one index set X, not {left.space.index} and "
            f"{right.space.index}"
        )
        raise SpaceError(msg)
    space = TensorProduct(left.space.base, right.space.base)
    return Vec(space, _tensor(space, left.leaves, right.leaves, left.space.index.shape))


def formal(space: TensorProduct[V, W], pairs: Iterable[tuple[Vec[V], Vec[W]]]) -> Vec[TensorProduct[V, W]]:
    """Σ u ⊗ v over pairs of vectors, in as many rank-one terms; no pairs make the 0 of V ⊗ W.

    Raises SpaceError for a space that is no V ⊗ W, and for vectors of other spaces than V and W.
    """
    if not isinstance(space, TensorProduct):
        msg = f"formal tensors are elements of V ⊗ W, not of {shown(space)}"
        raise SpaceError(msg)
    try:
        terms = list(pairs)
    except TypeError:  # some arrays are iterable by their type only
        msg = f"a formal tensor of {space} is made of pairs (u, v), not of {shown(pairs)}"
        raise SpaceError(msg) from None
    for pair in terms:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            msg = f"a formal tensor of {space} is made of pairs (u, v), not of {shown(pair)}"
            raise SpaceError(msg)
        sides: tuple[tuple[Vec[Any], Type], ...] = ((pair[0], space.left), (pair[1], space.right))
        for vector, due in sides:
            require_vector(vector, "formal")
            if vector.space != due:
                msg = f"a formal tensor of {space} takes a vector of {due}, not one of {vector.space}"
                raise SpaceError(msg)
    if not terms:
        return Vec(space, tuple(empty(a, b) for a in space.left.leaves for b in space.right.leaves))
    if len(terms) == 1 or any(vector.is_formal for pair in terms for vector in pair):
        total = tensor_product(*terms[0])
        for u, v in terms[1:]:
            total = total + tensor_product(u, v)
        return total
    X = Fin.of(len(terms))
    return from_factors(_stacked([u for u, _ in terms], X), _stacked([v for _, v in terms], X))


def _stacked(vectors: Sequence[Vec[Any]], X: Index) -> Vec[Any]:
    columns = list(zip(*(v.leaves for v in vectors), strict=True))
    leaves = tuple(freeze(common_namespace(column).stack(column)) for column in columns)
    return Vec(Copower(vectors[0].space, X), leaves)


def empty(a: Leaf, b: Leaf) -> Formal:
    """0 ∈ K^a ⊗ K^b in no terms."""
    p, q = len(a.axes), len(b.axes)
    arrays = [np.zeros((0, *leaf.shape), leaf.dtype) for leaf in (a, b)]
    axes = [tuple(range(p)), tuple(range(p, p + q))]
    kept = [(array, places) for array, places in zip(arrays, axes, strict=True) if places or not p + q]
    return Formal(a.shape + b.shape, a.dtype, (block(1.0, kept),))


def _tensor(
    space: TensorProduct[Any, Any], left: Sequence[Any], right: Sequence[Any], shape: tuple[int, ...]
) -> tuple[Any, ...]:
    """The leaves of Σ_x left_x ⊗ right_x; plain arrays have axes of this shape in front, formal ones if it is not 1."""
    lib, memo = common_library([*left, *right]), Memo()
    return tuple(
        joined(lib, memo, (left[i], a), (right[j], b), shape)
        for i, a in enumerate(space.left.leaves)
        for j, b in enumerate(space.right.leaves)
    )


def joined(lib: Library, memo: Memo, left: tuple[Any, Leaf], right: tuple[Any, Leaf], shape: tuple[int, ...]) -> Any:
    """Σ_x left_x ⊗ right_x of two arrays with axes of this shape in front, each with the leaf of its other axes."""
    (x, a), (y, b) = left, right
    if not a.axes and not b.axes and shape and not isinstance(x, Formal) and not isinstance(y, Formal):
        lines = [(memo.of("line", (array,), lambda array: lib.xp.reshape(array, (-1,))), ()) for array in (x, y)]
        return Formal((), a.dtype, (block(1.0, lines),))
    ranks = dict(zip(reversed(ALPHABET), shape, strict=False))
    labels = ALPHABET[: len(a.axes) + len(b.axes)]
    total: Any = None
    for k, p, n in _operands(x, "".join(ranks) + labels[: len(a.axes)], RANK[0]):
        for l, q, m in _operands(y, "".join(ranks) + labels[len(a.axes) :], RANK[1]):
            piece = combine(lib, memo, k * l, [*p, *q], ranks | n | m, labels, lazy=True)
            if isinstance(piece, Block):
                piece = Formal(a.shape + b.shape, a.dtype, (piece,))
            total = piece if total is None else add(total, piece, memo)
    return freeze(total)


def _operands(a: Any, labels: str, rank: str) -> Iterator[tuple[Any, list[Factor], dict[str, int]]]:
    if not isinstance(a, Formal):
        yield 1.0, [real(a, labels)], {}
        return
    for b in a.blocks:
        pairs = zip(b.arrays, b.axes, strict=True)
        yield b.k, [real(x, rank + "".join(labels[k] for k in axes)) for x, axes in pairs], {rank: b.rank}
    if a.dense is not None:
        yield 1.0, [real(a.dense, labels)], {}


# --- the norm, and equality ---


def norm(t: Vec[Any]) -> float:
    """‖t‖ for a vector with formal arrays."""
    squares = [size.norm(leaf) ** 2 if isinstance(leaf, Formal) else size.terms_norm(leaf) ** 2 for leaf in t.leaves]
    return math.sqrt(added(squares))


def alike(s: Vec[Any], t: Vec[Any]) -> bool:
    """Tell if two vectors of one space are equal up to the tensor identities, one of them being formal.

    The vector space axioms and the bilinearity of ⊗ hold for numbers to rounding only: s and t are equal if ‖s − t‖
    is at most 64 units in the last place of the sum of the norms of their terms. NaN equals NaN in the same place.
    """
    memo = Memo()
    for a, b in zip(s.leaves, t.leaves, strict=True):
        if not (isinstance(a, Formal) or isinstance(b, Formal)):
            if not np.array_equal(to_numpy(a), to_numpy(b), equal_nan=True):
                return False
            continue
        if size.identical(a, b):
            continue
        difference = add(a, scaled(b, -1.0), memo)
        scale = size.terms_norm(a) + size.terms_norm(b)
        unit = float(np.finfo(np.dtype(difference.dtype)).eps)
        if not size.norm(difference) <= size.ROUNDING * unit * scale:
            return False
    return True

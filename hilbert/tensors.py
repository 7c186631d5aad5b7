"""Formal tensors: elements of V ⊗ W as sums of rank-one terms beside a dense part (paper §2.2).

An element of V ⊗ W is a vector whose arrays may be formal: factors with a common rank axis are kept instead of their
products, and the leaves (i, j) of V ⊗ W share the factors of leaf i of V and of leaf j of W. So r terms take
r·(dim V + dim W) entries, vector operations and linear maps act on the factors, and nothing of dim V·dim W entries is
made unless asked for by `.dense()`, `.array` or `.flat()`.

>>> from hilbert import Fin, R
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
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

import numpy as np
from attrs import frozen

from hilbert.arrays import size
from hilbert.arrays.combine import combine, real
from hilbert.arrays.formal import Block, Formal, Memo, add, block, same, scaled
from hilbert.arrays.formal_kernels import dense
from hilbert.arrays.namespace import common_namespace, freeze
from hilbert.errors import SpaceError, number, shown
from hilbert.index import Fin, Index
from hilbert.space import Copower, TensorProduct, Type
from hilbert.spec import ALPHABET
from hilbert.vector import SMALL, Vec, require_vector

if TYPE_CHECKING:
    from types import ModuleType

    from hilbert.arrays.combine import Factor
    from hilbert.space import Leaf

I = TypeVar("I", bound=Index)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
RANK = "ρσ"
"""Labels of the rank axes of two formal factors; those of a family's index set are taken from the end of `ALPHABET`."""


# --- making them ---


def tensor_product(u: Vec[V], v: Vec[W]) -> Vec[TensorProduct[V, W]]:
    """u ⊗ v, with the two as factors. Raises SpaceError for other things than vectors of two spaces over one field."""
    require_vector(u, "u ⊗ v")
    require_vector(v, "u ⊗ v")
    space = TensorProduct(u.space, v.space)
    if u.is_formal or v.is_formal:
        return Vec(space, _tensor(space, u.leaves, v.leaves, ()))
    left, right = ([a[None] for a in w.leaves] for w in (u, v))
    return Vec(space, _tensor(space, left, right, (1,)))


def from_factors(
    left: Vec[Copower[V, I]], right: Vec[Copower[W, I]]
) -> Vec[TensorProduct[V, W]]:
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
    if not isinstance(pairs, Iterable):
        msg = f"a formal tensor of {space} is made of pairs (u, v), not of {shown(pairs)}"
        raise SpaceError(msg)
    terms = list(pairs)
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
        return Vec(space, tuple(_empty(a, b) for a in space.left.leaves for b in space.right.leaves))
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


def _empty(a: Leaf, b: Leaf) -> Formal:
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
    xp, memo = common_namespace([*left, *right]), Memo()
    return tuple(
        joined(xp, memo, (left[i], a), (right[j], b), shape)
        for i, a in enumerate(space.left.leaves)
        for j, b in enumerate(space.right.leaves)
    )


def joined(xp: ModuleType, memo: Memo, left: tuple[Any, Leaf], right: tuple[Any, Leaf], shape: tuple[int, ...]) -> Any:
    """Σ_x left_x ⊗ right_x of two arrays with axes of this shape in front, each with the leaf of its other axes."""
    (x, a), (y, b) = left, right
    if not a.axes and not b.axes and shape and not isinstance(x, Formal) and not isinstance(y, Formal):
        lines = [(memo.of("line", (array,), lambda array: xp.reshape(array, (-1,))), ()) for array in (x, y)]
        return Formal((), a.dtype, (block(1.0, lines),))
    ranks = dict(zip(reversed(ALPHABET), shape, strict=False))
    labels = ALPHABET[: len(a.axes) + len(b.axes)]
    total: Any = None
    for k, p, n in _operands(x, "".join(ranks) + labels[: len(a.axes)], RANK[0]):
        for l, q, m in _operands(y, "".join(ranks) + labels[len(a.axes) :], RANK[1]):
            piece = combine(xp, memo, k * l, [*p, *q], ranks | n | m, labels, lazy=True)
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


# --- taking them apart ---


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
    left: tuple[tuple[Any, tuple[int, ...]], ...]
    right: tuple[tuple[Any, tuple[int, ...]], ...]
    rank: int

    def fits(self, other: _Side, side: str) -> bool:
        """Whether two blocks have the number, the weights and one side in common."""
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
    """The terms of a tensor, collected over the leaves that share factors, and what is no sum of such terms.

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
    empty = [_empty(a, b) for a in space.left.leaves for b in space.right.leaves]
    return found, Vec(space, tuple(e if leaf is None else leaf for leaf, e in zip(rest, empty, strict=True)))


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
    """As `_cut` for K ⊗ K, where a number is a term."""
    sides: list[_Side] = []
    for b in leaf.blocks if isinstance(leaf, Formal) else ():
        left, right = [((array, ()),) for array in b.arrays] if len(b.arrays) > 1 else (((b.arrays[0], ()),), ())
        sides.append(_Side(b.k, None, left, right, b.rank))
    number = leaf.dense if isinstance(leaf, Formal) else leaf
    if number is not None:
        k = float(number) if isinstance(number, (np.ndarray, np.generic)) else number
        sides.append(_Side(k, None, (), (), 1))
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
    base = space.leaves[0].base
    weights = None if first.weights is None else Vec(Copower(base, X), (first.weights,))
    return Family(
        first.k, weights, Vec(Copower(space.left, X), tuple(left)), Vec(Copower(space.right, X), tuple(right))
    )


def _side(factors: tuple[tuple[Any, tuple[int, ...]], ...] | None, leaf: Leaf, X: Index) -> Any:
    """A leaf of V^X from its factors: none is 1, several make a formal array."""
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
        rows = xp.concat([_flat(xp, family, f) for family, f in zip(families_, scale, strict=True)], axis=0)
        return _unflat(Copower(families_[0].space.base, X), rows)

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


# --- the norm, and equality ---


def norm(t: Vec[Any]) -> float:
    """‖t‖ for a vector with formal arrays."""
    squares = [
        size.norm(leaf) ** 2 if isinstance(leaf, Formal) else size.terms_norm(leaf) ** 2 for leaf in t.leaves
    ]
    return math.sqrt(math.fsum(squares)) if all(map(math.isfinite, squares)) else math.sqrt(sum(squares))


def alike(s: Vec[Any], t: Vec[Any]) -> bool:
    """Whether two vectors of one space are equal up to the tensor identities, one of them being formal.

    The vector space axioms and the bilinearity of ⊗ hold for numbers to rounding only: s and t are equal if ‖s − t‖
    is at most 64 units in the last place of the sum of the norms of their terms. NaN equals NaN in the same place.
    """
    memo = Memo()
    for a, b in zip(s.leaves, t.leaves, strict=True):
        if not (isinstance(a, Formal) or isinstance(b, Formal)):
            if not np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True):
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


# --- recompression ---


@final
@frozen
class Compression:
    """What a recompression did: the number of terms before and after, and ‖error‖ in the norm of V ⊗ W."""

    before: int
    after: int
    error: float
    relative: float
    dense: bool
    """Whether there was a dense part beside the terms."""

    def __str__(self) -> str:
        dense = " + dense" if self.dense else ""
        return f"rank {self.before}{dense} → {self.after}, error {self.error:.3g} (relative {self.relative:.3g})"


def compress(
    t: Vec[TensorProduct[V, W]], tolerance: float
) -> tuple[Vec[TensorProduct[V, W]], Compression]:
    """The tensor in the fewest terms with an error of at most tolerance·‖t‖, and a report.

    QR of the factors and the singular values of the small core; a dense part, which has dim V·dim W entries already,
    is decomposed whole. Terms come with orthogonal factors, the largest first. The error is that of the terms left out;
    rounding adds some units in the last place. Raises SpaceError for a tolerance that is no number ≥ 0, and for a
    tensor with factors across V and W.
    """
    bound = number(tolerance)
    if bound is None or not bound >= 0:
        msg = f"the tolerance of compress is a number ≥ 0, not {shown(tolerance)}"
        raise SpaceError(msg)
    require_vector(t, "compress")
    found, rest = families(t)
    if rest is not None and rest.is_formal and any(b.rank for x in rest.leaves for b in getattr(x, "blocks", ())):
        msg = f"this element of {t.space} has factors across both sides of ⊗: transpose it back, or call .dense() first"
        raise SpaceError(msg)
    before = sum(f.rank for f in found)
    xp = common_namespace(t.leaves)
    if rest is not None:
        left, values, right = xp.linalg.svd(_matrix(xp, t), full_matrices=False)
    elif before:
        columns = xp.concat([_flat(xp, f.left, f) for f in found], axis=0)
        rows = xp.concat([_flat(xp, f.right, None) for f in found], axis=0)
        (q, a), (p, b) = xp.linalg.qr(columns.T), xp.linalg.qr(rows.T)
        u, values, v = xp.linalg.svd(a @ b.T, full_matrices=False)
        left, right = q @ u, v @ p.T
    else:
        return t, Compression(0, 0, 0.0, 0.0, dense=False)
    squares = np.asarray(values, np.float64) ** 2
    tails = np.append(np.cumsum(squares[::-1])[::-1], 0.0)  # what is lost when the first n values are kept
    whole = float(tails[0])
    after = int(np.argmax(tails <= bound**2 * whole))
    error = math.sqrt(float(tails[after]))
    X = Fin.of(after)
    made = from_factors(
        _unflat(Copower(t.space.left, X), (left[:, :after] * values[:after]).T),
        _unflat(Copower(t.space.right, X), right[:after, :]),
    )
    relative = error / math.sqrt(whole) if whole else 0.0
    return made, Compression(before, after, error, relative, dense=rest is not None)


def _flat(xp: ModuleType, family: Vec[Any], scale: Family[Any, Any] | None) -> Any:
    """The members of a family as the rows of one matrix, multiplied by the numbers of the terms."""
    n = family.space.index.size
    rows = xp.concat([xp.reshape(xp.asarray(dense(leaf)), (n, -1)) for leaf in family.leaves], axis=1)
    if scale is None:
        return rows
    rows = rows * scale.k
    return rows if scale.weights is None else rows * xp.reshape(scale.weights.leaves[0], (-1, 1))


def _matrix(xp: ModuleType, t: Vec[Any]) -> Any:
    """The matrix of a tensor, of shape (dim V, dim W)."""
    m = len(t.space.right.leaves)
    leaves = iter(t.dense().leaves)
    blocks = [[next(leaves) for _ in range(m)] for _ in t.space.left.leaves]
    shaped = [
        [xp.reshape(x, (a.size, b.size)) for x, b in zip(row, t.space.right.leaves, strict=True)]
        for row, a in zip(blocks, t.space.left.leaves, strict=True)
    ]
    return xp.concat([xp.concat(row, axis=1) for row in shaped], axis=0)


def _unflat(space: Copower[Any, Any], rows: Any) -> Vec[Any]:
    """The family whose members are the rows of a matrix."""
    leaves, start = [], 0
    for leaf in space.base.leaves:
        xp = common_namespace([rows])
        part = xp.reshape(rows[:, start : start + leaf.size], (rows.shape[0], *leaf.shape))
        leaves.append(freeze(part))
        start += leaf.size
    return Vec(space, tuple(leaves))


# --- as text ---


LETTERS = "abcdeghpqruvwxyz"
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def text(t: Vec[Any]) -> str:
    """a⊗b + … with the number of terms; a pair of letters stands for the factors of one family."""
    if not isinstance(t.space, TensorProduct):
        return ", ".join(map(repr, t.leaves))
    found, rest = families(t)
    letters = zip(LETTERS[::2], LETTERS[1::2], strict=True)
    parts = [_sum(f, a, b) for f, (a, b) in zip(found, letters, strict=False)]
    if len(parts) < len(found):
        parts.append("…")
    if rest is not None:
        parts.append("dense")
    return f"{' + '.join(parts) or '0'} (rank {sum(f.rank for f in found)})".replace("+ −", "− ")


def _sum(f: Family[Any, Any], a: str, b: str) -> str:
    """k·(a₁⊗b₁ + … + aᵣ⊗bᵣ)."""

    def term(n: int) -> str:
        place = str(n).translate(SUBSCRIPTS)
        return f"{a}{place}⊗{b}{place}"

    terms = [term(n) for n in range(1, f.rank + 1)] if f.rank > 1 else [f"{a}⊗{b}"]
    terms = terms if len(terms) <= 3 else [terms[0], "…", terms[-1]]
    k = float(f.k)
    if k == 1.0:
        return " + ".join(terms)
    sign = f"{k:.6g}·".replace("-", "−") if k != -1.0 else "−"
    return sign + (f"({' + '.join(terms)})" if len(terms) > 1 else terms[0])


def source(t: Vec[Any]) -> str | None:
    """A Python expression for a small tensor, which evaluates to an equal one; None where it would be long."""
    if not isinstance(t.space, TensorProduct):
        return None
    found, rest = families(t)
    width = t.space.left.dim + t.space.right.dim
    if rest is not None or sum(f.rank for f in found) * width > SMALL:
        return None
    pairs = []
    for f in found:
        left, right = (_flat(common_namespace(w.leaves), w, f if w is f.left else None) for w in (f.left, f.right))
        pairs += [(t.space.left.unflat(u), t.space.right.unflat(v)) for u, v in zip(left, right, strict=True)]
    return f"formal({t.space!r}, {pairs!r})"

"""Formal arrays: a dense part and products of small factors, added up when somebody asks (paper §2.2).

A block Σ_r ⊗_f a_f[r] keeps its factors a_f, which are arrays with a common rank axis in front; different leaves of a
tensor share them. Vector operations keep, scale and join blocks. An array over all axes is made by `dense` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve, field, frozen

from hilbert.arrays.kernels.library import Compound, library
from hilbert.arrays.libraries.namespace import freeze, namespace
from hilbert.base.notarray import NotArray

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

Axes = tuple[int, ...]
MANY = 8
"""More blocks than this of one grouping are concatenated."""


@final
class Memo:
    """Results of operations by the arrays that went in: leaves that share a factor share its results."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, Any]] = {}

    def of(self, operation: Hashable, arrays: Sequence[Any], compute: Callable[..., Any]) -> Any:
        """compute(*arrays), once for these very arrays."""
        key = (operation, *map(id, arrays))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = (arrays, freeze(compute(*arrays)))  # the arrays stay alive, so their ids do
        return found[1]

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()


@final
@frozen(eq=False)
class Block:
    """k · Σ_r ⊗ arrays[f][r]. Each factor has the rank axis in front; axes[f] tells where its others lie in the whole.

    A factor without axes stands in front and holds weights, one for each r; there is at most one, but for elements of
    K ⊗ K, which have two factors without axes. The others are ordered by their first axis.
    """

    k: Any
    arrays: tuple[Any, ...]
    axes: tuple[Axes, ...]

    @property
    def rank(self) -> int:
        """The number of terms."""
        return int(self.arrays[0].shape[0])

    @property
    def weights(self) -> Any:
        """The factor without axes in front, or None."""
        return self.arrays[0] if not self.axes[0] else None

    @property
    def body(self) -> tuple[tuple[Any, Axes], ...]:
        """The other factors, each with its axes."""
        return tuple(zip(self.arrays, self.axes, strict=True))[self.weights is not None :]

    @property
    def grouping(self) -> frozenset[frozenset[int]]:
        """The sets of axes that lie in one factor."""
        return frozenset(frozenset(axes) for axes in self.axes if axes)

    def __reduce__(self) -> tuple[Any, ...]:
        return block, (self.k, list(zip(self.arrays, self.axes, strict=True)))


def block(k: Any, factors: Iterable[tuple[Any, Axes]]) -> Block:
    """A block of read-only factors, in order."""
    pairs = sorted(factors, key=lambda pair: min(pair[1], default=-1))
    return Block(k, tuple(freeze(array) for array, _ in pairs), tuple(axes for _, axes in pairs))


@final
@frozen(eq=False, repr=False)
class Formal(Compound, NotArray):
    """dense + Σ blocks, of a shape and dtype.

    `loose` marks a result of ⊗ and ∗ on plain arrays in a running program: unlike a tensor that the user gave, it
    becomes dense where an operation has no rule for formal tensors, as it would have been from the start.
    """

    instead = "ask for the dense array by v.dense()"
    shape: Axes
    dtype: str
    blocks: tuple[Block, ...]
    dense: Any = field(default=None, converter=freeze)
    loose: bool = False

    @property
    def parts(self) -> tuple[Any, ...]:
        """All its arrays."""
        factors = tuple(array for b in self.blocks for array in b.arrays)
        return factors if self.dense is None else (*factors, self.dense)

    @property
    def rank(self) -> int:
        """The number of rank-one terms beside the dense part."""
        return sum(b.rank for b in self.blocks)

    def __reduce__(self) -> tuple[Any, ...]:
        return Formal, (self.shape, self.dtype, self.blocks, self.dense, self.loose)

    def __repr__(self) -> str:
        dense = "" if self.dense is None else "dense + "
        return f"<formal array {list(self.shape)}: {dense}rank {self.rank}>"


def mapped(a: Formal, f: Callable[[Any], Any]) -> Formal:
    """The formal array with f applied to every one of its arrays."""
    blocks = tuple(evolve(b, arrays=tuple(freeze(f(array)) for array in b.arrays)) for b in a.blocks)
    return evolve(a, blocks=blocks, dense=None if a.dense is None else f(a.dense))


# --- vector operations ---


def scaled(a: Any, k: Any) -> Any:
    """k·a; the factors stay."""
    if not isinstance(a, Formal):
        return a * k
    blocks = tuple(evolve(b, k=b.k * k) for b in a.blocks)
    return evolve(a, blocks=blocks, dense=None if a.dense is None else a.dense * k)


def divided(a: Any, k: float) -> Any:
    """a/k; division by 0 is as numpy's."""
    if not isinstance(a, Formal):
        return a / k
    blocks = tuple(evolve(b, k=b.k * float(np.divide(1.0, k))) for b in a.blocks)
    return evolve(a, blocks=blocks, dense=None if a.dense is None else a.dense / k)


def add(a: Any, b: Any, memo: Memo) -> Any:
    """a + b; blocks that differ in one factor only are joined by bilinearity: v₁⊗w + v₂⊗w = (v₁+v₂)⊗w."""
    if not isinstance(a, Formal):
        if not isinstance(b, Formal):
            return a + b
        a, b = b, a
    if not isinstance(b, Formal):
        return evolve(a, dense=b if a.dense is None else a.dense + b)
    dense = a.dense if b.dense is None else b.dense if a.dense is None else a.dense + b.dense
    found = list(a.blocks)
    for new in b.blocks:
        for n, old in enumerate(found):
            joined = _joined(old, new, memo)
            if joined is not None:
                found[n] = joined
                break
        else:
            found.append(new)
    if len(found) > 1 or dense is not None:
        found = [one for one in found if one.rank] or found[: dense is None]
    return Formal(a.shape, a.dtype, tuple(_fewer(found, memo)), dense, a.loose and b.loose)


def subtract(a: Any, b: Any, memo: Memo) -> Any:
    """a − b."""
    if isinstance(a, Formal) or isinstance(b, Formal):
        return add(a, scaled(b, -1.0), memo)
    return a - b


def same(a: Any, b: Any) -> bool:
    """Tell if two read-only arrays are one: the same object, or views of the same memory."""
    return a is b or library(a).same(a, b)


def _joined(a: Block, b: Block, memo: Memo) -> Block | None:
    """a + b as one block of no larger rank, if all factors but one are the same."""
    axes = tuple(have for _, have in a.body)
    if axes != tuple(have for _, have in b.body):
        return None
    if not a.rank or not b.rank:
        return a if a.rank else b
    first, second = (tuple(array for array, _ in c.body) for c in (a, b))
    differ = [f for f, (x, y) in enumerate(zip(first, second, strict=True)) if not same(x, y)]
    if a.rank != b.rank or len(differ) > 1:
        return None
    one_weight = (a.weights is None and b.weights is None) or (
        a.weights is not None and b.weights is not None and same(a.weights, b.weights)
    )
    kept = [(a.weights, ())] if one_weight and a.weights is not None else []
    if not differ:
        if one_weight:  # a·t + b·t = (a+b)·t
            return evolve(a, k=a.k + b.k)
        return block(1.0, [(_weights(a, first) + _weights(b, second), ()), *zip(first, axes, strict=True)])
    (f,) = differ
    if not one_weight and not axes[f]:
        return None
    numbers = tuple(k for k in (a.k, b.k) if not isinstance(k, float))  # scalars of a device
    weights = () if one_weight else tuple(w for w in (a.weights, b.weights) if w is not None)
    key = ("joined", *(k if isinstance(k, float) else None for k in (a.k, b.k)), one_weight, a.weights is None)
    total = memo.of(
        key,
        (first[f], second[f], *weights, *numbers),
        lambda *_: _times(first[f], a, weighted=not one_weight) + _times(second[f], b, weighted=not one_weight),
    )
    return block(1.0, [*kept, *((total if n == f else array, axes[n]) for n, array in enumerate(first))])


def _times(array: Any, b: Block, *, weighted: bool) -> Any:
    """A factor multiplied by the number of its block, and by the weights if so."""
    if weighted and b.weights is not None:
        xp = namespace(array)
        array = array * xp.reshape(b.weights, (-1,) + (1,) * (array.ndim - 1))
    return array if _is_one(b.k) else array * b.k


def _is_one(k: Any) -> bool:
    return isinstance(k, float) and k == 1.0


def _weights(b: Block, arrays: Sequence[Any]) -> Any:
    """The weights and the number of a block as one array."""
    if b.weights is not None:
        return b.weights if _is_one(b.k) else b.weights * b.k
    xp = namespace(arrays[0])
    return xp.ones((b.rank,), dtype=arrays[0].dtype) * b.k


def _fewer(blocks: list[Block], memo: Memo) -> list[Block]:
    """Few blocks: more than MANY of one grouping are concatenated, small ones with small ones."""
    if len(blocks) <= MANY:
        return blocks
    groups: dict[frozenset[frozenset[int]], list[Block]] = {}
    for b in blocks:
        groups.setdefault(b.grouping, []).append(b)
    found: list[Block] = []
    for members in groups.values():
        kept: list[Block] = []
        for b in members:
            kept.append(b)
            while len(members) > MANY and len(kept) > 1 and kept[-2].rank <= 2 * kept[-1].rank:
                last = kept.pop()
                kept[-1] = concatenated((kept[-1], last), memo)
        found += kept
    return found


def concatenated(blocks: Sequence[Block], memo: Memo) -> Block:
    """Blocks of one grouping as one: their factors one after the other along the rank axis."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    axes = [have for _, have in first.body]
    columns = [[arranged(b, a, memo) for b in blocks] for a in axes]
    xp = namespace(first.arrays[0])
    factors = [(memo.of("concat", tuple(c), lambda *c: xp.concat(c)), a) for c, a in zip(columns, axes, strict=True)]
    if all(_is_one(b.k) and b.weights is None for b in blocks):
        return block(1.0, factors)
    weights = [_weights(b, b.arrays) for b in blocks]
    return block(1.0, [(xp.concat(weights), ()), *factors])


def arranged(b: Block, axes: Axes, memo: Memo) -> Any:
    """The factor on some axes, with its axes in this order: a view."""
    array, have = next(pair for pair in b.body if set(pair[1]) == set(axes))
    if have == axes:
        return array
    order = (0, *(1 + have.index(a) for a in axes))
    return memo.of(("order", order), (array,), lambda a: namespace(a).permute_dims(a, order))

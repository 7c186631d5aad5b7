"""Data of sections computed once: products, sums and multiples of vectors, with tokens that tell where they come from.

The same law on the same vectors gives an equal vector, in every process, so that simplified terms are equal if the
given ones are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert import Vec
from hilbert.arrays.contract import contract
from hilbert.arrays.namespace import common_namespace, freeze
from hilbert.repr_names import derived
from hilbert.space import Leaf

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.spec import Spec


def token(what: str, vectors: Iterable[Vec[Any]]) -> int:
    """The token of a vector made from others."""
    return derived(" ".join([what, *(f"{v.token:032x}" for v in vectors)]))


def scaled(k: float, v: Vec[Any]) -> Vec[Any]:
    """k·v."""
    return Vec(v.space, (k * v).leaves, token(f"{k!r} times", [v]))


def summed(terms: Sequence[tuple[float, Vec[Any]]]) -> Vec[Any]:
    """Σ k·v."""
    total: Any = None
    for k, v in terms:
        term = v if k == 1.0 else k * v
        total = term if total is None else total + term
    return Vec(total.space, total.leaves, token(f"sum of {[k for k, _ in terms]!r}", [v for _, v in terms]))


def transposed(v: Vec[Any], order: tuple[int, ...]) -> Vec[Any]:
    """The vector of one array with its axes in another order."""
    leaf = v.space.leaves[0]
    moved = Leaf(leaf.base, tuple(leaf.axes[k] for k in order))
    if order == tuple(range(len(order))) and moved.space == v.space:
        return v
    array = common_namespace(v.leaves).permute_dims(v.leaves[0], order)
    return Vec(moved.space, (freeze(array),), token(f"axes {order}", [v]))


def contracted(u: Vec[Any], v: Vec[Any], leaves: Sequence[tuple[int, int, Spec, Leaf]]) -> tuple[tuple[Any, ...], int]:
    """The arrays of the leaves (of u, of v, contraction, result), and the token of a vector made of them."""
    xp = common_namespace((*u.leaves, *v.leaves))
    arrays = []
    for i, j, spec, _ in leaves:
        kernel = contract(xp, spec, u.space.leaves[i], v.space.leaves[j])
        arrays.append(freeze(kernel.call(u.leaves[i], v.leaves[j])))
    what = "; ".join(f"{i} {j} {spec}" for i, j, spec, _ in leaves)
    return tuple(arrays), token(what, [u, v])

"""Elements of a space made of data: of arrays, nested lists and labels, of numbers, at random; attached to `Type`.

>>> from hilbert import Fin, R
>>> V = R ** Fin.of(2)
>>> print(V.vec([1.0, 2.0]), V.full(3.0), len(list(V.basis())))
[1.0, 2.0] ∈ ℝ^2 [3.0, 3.0] ∈ ℝ^2 2
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Never, TypeVar

import numpy as np

from hilbert.arrays.libraries.namespace import as_flat, as_leaf, filled, freeze, own_leaf
from hilbert.arrays.libraries.random_entries import drawn
from hilbert.base.once import once
from hilbert.base.sizes import addressable
from hilbert.errors import SpaceError, number, shown
from hilbert.index.index import Labelled
from hilbert.index.labels import in_order, is_labels, positions_of
from hilbert.index.leaf import Leaf
from hilbert.space import nested_sums
from hilbert.space.direct_sum import DirectSum
from hilbert.space.space import Atom, Copower, Type, bracketing, items, require_space, summands_of
from hilbert.space.vector import Vec
from hilbert.tracebacks import called

if TYPE_CHECKING:
    from collections.abc import Iterator

V = TypeVar("V", bound=Type)


@called
def vec(space: V, data: Any, *more: Never) -> Vec[V]:
    """The element with the given entries: an array, a nested list, or the tuple tree of a direct sum."""
    arrays = _views(space, data)  # most often
    if arrays is not None and not more:
        return Vec(space, arrays)
    if more:
        msg = f"V.vec(data) takes one argument, not {1 + len(more)}: of a direct sum a tuple, V.vec((v, w))"
        raise SpaceError(msg)
    if isinstance(data, Vec):
        if data.space != space:
            msg = f"{nested_sums.apart(data.space, space)}a vector of {data.space} is not an element of {space}"
            raise SpaceError(msg + bracketing(data.space, space))
        return data
    if nested_sums.any_item(space, data, lambda item: isinstance(item, Vec)):
        summands = summands_of(space)
        parts = zip(summands, items(space, data, len(summands)), strict=True)
        return Vec(space, tuple(a for part, item in parts for a in part.vec(item).leaves))
    return Vec(space, tuple(_read(a, leaf) for a, leaf in zip(space.unpack(data), space.leaves, strict=True)))


def unflat(space: V, array: Any) -> Vec[V]:
    """The element whose entries, in storage order, are those of one flat array; inverse of `Vec.flat`."""
    if not space.is_space:
        msg = f"{space} has a discrete part and no flat form"
        raise SpaceError(msg)
    return Vec(space, as_flat(array, space.leaves, str(space)))


def random(space: V, rng: np.random.Generator, scale: float) -> Vec[V]:
    """An element drawn from `rng`: normal with deviation `scale` ≥ 0; uniform where discrete."""
    if not isinstance(rng, np.random.Generator):
        msg = f"an element of {space} is drawn from numpy.random.default_rng(seed), not from {shown(rng)}"
        raise SpaceError(msg)
    factor = number(scale)
    if factor is None or not 0.0 <= factor < math.inf:
        msg = f"the scale of a random element of {space} is a finite number ≥ 0, not {shown(scale)}"
        raise SpaceError(msg)
    return Vec(space, tuple(own_leaf(drawn(rng, leaf.stored(), factor), leaf) for leaf in space.leaves))


def basis(space: V) -> Iterator[Vec[V]]:
    """The standard basis, in storage order; raises SpaceError for a type that is no space."""
    require_space(space, "basis")
    addressable(space.dim, "an element of ", space)
    for k in range(space.dim):
        flat = filled((space.dim,), np.result_type(*(leaf.dtype for leaf in space.leaves)))
        flat[k] = 1
        yield space.unflat(freeze(flat))


def zeros(space: V) -> Vec[V]:
    """The zero vector; raises SpaceError for a type that is no space."""
    require_space(space, "zeros")
    return Vec(space, tuple(own_leaf(filled(leaf.stored().shape, leaf.dtype), leaf) for leaf in space.leaves))


def ones(space: V) -> Vec[V]:
    """The vector with 1 in every entry; raises SpaceError for a type that is no space."""
    require_space(space, "ones")
    return space.full(1.0)


def full(space: V, k: float) -> Vec[V]:
    """The vector with the number k in every entry; raises SpaceError for a type that is no space."""
    require_space(space, "full")
    value = number(k)
    if value is None:
        msg = f"full(k) of {space} is a number in every entry, not {shown(k)}"
        raise SpaceError(msg)
    one = (filled(leaf.stored().shape, leaf.dtype, as_leaf(value, Leaf(leaf.entry))) for leaf in space.leaves)
    return Vec(space, tuple(map(own_leaf, one, space.leaves)))


def _views(space: Type, data: Any) -> tuple[Any, ...] | None:
    """Read-only views of an array, or of a flat tuple of arrays, that need no conversion; None for other data."""
    kind, due = _flat_form(space)
    if type(data) is not kind:
        return None
    given: Any = data if kind is tuple else (data,)
    if len(given) != len(due):
        return None
    made = []
    for a, (dtype, shape) in zip(given, due, strict=True):
        if type(a) is not np.ndarray or a.dtype is not dtype or a.shape != shape:
            return None
        view: Any = a.view()
        view.setflags(False)  # noqa: FBT003 - by its keyword the call takes twice as long
        made.append(view)
    return tuple(made)


@once
def _flat_form(space: Type) -> tuple[type | None, tuple[tuple[Any, tuple[int, ...]], ...]]:
    """The type of data that have no nested parts, an array or a tuple of arrays, and the dtypes and shapes of these.

    Discrete data, which are looked at, and trees of another form have none.
    """
    due = tuple((np.dtype(leaf.dtype), leaf.shape) for leaf in space.leaves if leaf.is_field)
    base = _base(space)
    if len(due) < len(space.leaves) or not isinstance(base, (Atom, DirectSum)):
        return None, ()
    if isinstance(base, Atom):
        return np.ndarray, due
    return (tuple if all(isinstance(_base(part), Atom) for part in base.parts) else None), due


def _base(space: Type) -> Type:
    """V of a copower V^X of any index sets, and of another type the type itself."""
    while isinstance(space, Copower):
        space = space.base
    return space


PLAIN = frozenset({np.ndarray, list, tuple, float, int})
"""Types of data that have no labels of their own."""


def _read(data: Any, leaf: Leaf) -> Any:
    """The array of a leaf; labels become positions."""
    index = leaf.entry.index
    if type(data) not in PLAIN:
        data = in_order(data, leaf)
    if isinstance(index, Labelled) and is_labels(data):
        data = positions_of(index, data)
    return as_leaf(data, leaf)

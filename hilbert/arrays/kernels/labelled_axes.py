"""Axes by labels: diagonals, sums, transpositions and replication along axes of one array, as einsum's ii→i."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.kernels.kernel import after, inline

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from hilbert.arrays.kernels.library import Library


def reordering(have: str, want: str) -> tuple[int, ...] | None:
    """The places of the wanted axes; None where they are in order."""
    return None if have == want else tuple(have.index(c) for c in want)


def arrange(xp: ModuleType, have: str, want: str, shape: tuple[int, ...] | None) -> Callable[[Any], Any] | None:
    """A function that puts axes in the wanted order and then reshapes; None where both change nothing."""
    order = reordering(have, want)
    if order == (1, 0) and shape is None:
        return inline("{0}.T")
    first = permuted(xp, order, None)
    last = reshaped(xp, shape)
    return last if first is None else first if last is None else after(last, first)


def reshaped(xp: ModuleType, shape: tuple[int, ...] | None) -> Callable[[Any], Any] | None:
    """A function that reshapes; None for no shape. numpy's method takes half the time of its function."""
    if shape is None:
        return None
    if xp is np:
        return inline("{0}.reshape({shape})", shape=shape)
    return inline("{f}({0}, {shape})", f=xp.reshape, shape=shape)


def permuted(
    xp: ModuleType, order: tuple[int, ...] | None, first: Callable[[Any], Any] | None
) -> Callable[[Any], Any] | None:
    """A function that puts axes in an order, after the first function; None where both are None."""
    if order is None:
        return first
    if xp is np:
        own = inline("{0}.transpose({order})", order=order)
    else:
        own = inline("{f}({0}, {order})", f=xp.permute_dims, order=order)
    return own if first is None else after(own, first)


def aligned(xp: ModuleType, have: str, over: str) -> Callable[[Any], Any]:
    """An array with labels `have` made to broadcast against labels `over`."""
    want = "".join(c for c in over if c in have)
    order = tuple(have.index(c) for c in want)
    index = tuple(slice(None) if c in have else None for c in over)
    return lambda a: xp.permute_dims(a, order)[index] if have else a


def same(a: Any) -> Any:
    """The array itself."""
    return a


def label_diagonal(xp: ModuleType, array: Any, labels: str) -> tuple[Any, str]:
    """The entries where axes of one label agree, and the labels that are left, each once."""
    while len(set(labels)) < len(labels):
        c = next(c for c in labels if labels.count(c) > 1)
        i, j = labels.index(c), labels.rindex(c)
        rest = [k for k in range(len(labels)) if k not in (i, j)]
        array = xp.linalg.diagonal(xp.permute_dims(array, (*rest, i, j)))
        labels = "".join(labels[k] for k in rest) + c
    return array, labels


def agreement(lib: Library, source: str, target: str, sizes: dict[str, int], array: Any) -> Any:
    """out[target] = Σ array[source] over the labels that the result lacks; 0 where equal labels differ."""
    xp = lib.xp
    array, labels = label_diagonal(xp, array, source)
    summed = tuple(k for k, c in enumerate(labels) if c not in target)
    array = xp.sum(array, axis=summed) if summed else array
    labels = "".join(c for c in labels if c in target)
    once = "".join(dict.fromkeys(target))
    kept = "".join(c for c in once if c in labels)
    array = xp.permute_dims(array, tuple(map(labels.index, kept)))
    array = xp.reshape(array, tuple(sizes[c] if c in labels else 1 for c in once))
    array = xp.broadcast_to(array, tuple(sizes[c] for c in once))
    if once == target:
        return array
    array = xp.reshape(array, tuple(sizes[c] if target.index(c) == k else 1 for k, c in enumerate(target)))
    for k, c in enumerate(target):
        first = target.index(c)
        if first != k:
            shape = tuple(sizes[c] if place in (first, k) else 1 for place in range(len(target)))
            device = lib.device(array)
            identity = xp.reshape(xp.eye(sizes[c], dtype=xp.bool, device=device), shape)
            array = xp.where(identity, array, xp.zeros((), dtype=array.dtype, device=device))
    return array

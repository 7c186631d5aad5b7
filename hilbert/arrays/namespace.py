"""Which library an array belongs to, and the few conversions in and out of it.

cupy, torch and JAX are never imported here: an array brings its own namespace with it.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from hilbert.errors import SpaceError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from hilbert.leaf import Leaf


NUMPY = {np.ndarray, np.float64, np.float32, np.int64, np.bool_}


class Compound:
    """What stands for an array and is made of arrays: a formal array."""

    __slots__ = ()

    @property
    def parts(self) -> tuple[Any, ...]:
        """The arrays."""
        raise TypeError(type(self).__name__)


_known: dict[type, ModuleType] = {}


def namespace(array: Any) -> ModuleType:
    """The array namespace of an array: numpy, or what array-api-compat says of it."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np
    found = _known.get(type(array))
    if found is None:
        found = _known[type(array)] = array_api_compat.array_namespace(array)
    return found


def common_namespace(arrays: Sequence[Any]) -> ModuleType:
    """The one namespace of some arrays (numpy for none), formal ones included; raises SpaceError if they mix."""
    kinds = set(map(type, arrays))
    if kinds <= NUMPY or all(issubclass(kind, (np.ndarray, np.generic)) for kind in kinds):
        return np
    plain = itertools.chain.from_iterable(a.parts if isinstance(a, Compound) else (a,) for a in arrays)
    found = {namespace(array) for array in plain} or {np}
    if len(found) > 1:
        names = ", ".join(sorted(map(library, found)))
        msg = f"the vectors of one call live in different array libraries: {names}; move them to one"
        raise SpaceError(msg)
    return found.pop()


def library(xp: ModuleType) -> str:
    """The name of an array namespace, as a user imports it."""
    return xp.__name__.removeprefix("array_api_compat.")


def dtype_name(array: Any) -> str:
    """`float64` for numpy's and for torch's float64."""
    return str(array.dtype).rpartition(".")[2]


def in_dtype(array: Any, dtype: str) -> Any:
    """The array in another dtype of its own namespace."""
    xp = namespace(array)
    return array.astype(dtype) if xp is np else xp.astype(array, getattr(xp, dtype))


def freeze(array: Any) -> Any:
    """The array, made read-only where its library can; the caller owns it."""
    if type(array) is np.ndarray:
        array.setflags(write=False)
    return array


def to_numpy(array: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """A copy or view in the memory of the host; the only way off a device, taken only when the user asks for it."""
    if array_api_compat.is_cupy_array(array) or array_api_compat.is_torch_array(array):
        array = array_api_compat.to_device(array, "cpu")
    return np.asarray(array)


def _require_elements(array: Any, leaf: Leaf) -> None:
    """Raise SpaceError if an entry is not an element of the leaf's index set."""
    index = leaf.entry.index
    if index is None or not leaf.size:
        return
    xp = namespace(array)
    low, high = int(xp.min(array)), int(xp.max(array))
    if low < 0 or high >= index.size:
        due = f"integers from 0 to {index.size - 1} would fit" if index.size else "it has none"
        msg = f"entries from {low} to {high} are not elements of {index}: {due}"
        raise SpaceError(msg)


def as_leaf(data: Any, leaf: Leaf) -> Any:
    """An array of a leaf's shape and dtype, as a read-only view where no conversion is needed.

    Arrays are converted where numpy's *safe* casting allows (integers to ℝ, single to double precision); Python
    numbers and nested lists take the dtype of the space. Everything else is refused with a SpaceError: truth values as
    numbers, numbers that are not integers as labels, single precision for double, masked and ragged data.
    """
    foreign = array_api_compat.is_array_api_obj(data) and not isinstance(data, (np.ndarray, np.generic))
    array: Any = data if foreign else _from_python(data, leaf)
    if tuple(array.shape) != leaf.shape:
        msg = f"an array of shape {tuple(array.shape)} is not an element of {leaf}: shape {leaf.shape} would fit"
        raise SpaceError(msg)
    if dtype_name(array) != leaf.dtype:
        array = _converted(array, leaf)
    elif not foreign:
        array = np.asarray(array).view()
    _require_elements(array, leaf)
    return freeze(array)


def _converted(array: Any, leaf: Leaf) -> Any:
    have, want = dtype_name(array), leaf.dtype
    if not _is_safe(have, want):
        msg = f"an array of dtype {have} is not an element of {leaf}, which holds {want}: convert it first"
        raise SpaceError(msg)
    array = in_dtype(array, want)
    if dtype_name(array) != want:  # JAX without jax_enable_x64
        msg = f"{library(namespace(array))} gives {dtype_name(array)} for {want}, so it has no element of {leaf}"
        raise SpaceError(msg)
    return array


def _is_safe(have: str, want: str) -> bool:
    try:
        return have != "bool" and np.can_cast(np.dtype(have), np.dtype(want), "safe")
    except TypeError:  # a dtype that numpy does not know
        return False


def as_flat(data: Any, leaves: Sequence[Leaf], space: str) -> tuple[Any, ...]:
    """The arrays of some leaves, one after the other in one flat array: views where the dtypes agree.

    The flat array has the dtype that holds all of them, or one that casts safely to it; each part is cast to its leaf.
    """
    due = sum(leaf.size for leaf in leaves)
    given = array_api_compat.is_array_api_obj(data)
    flat: Any = data if given else _plain(data, space, f"a flat array of {due} entries would fit")
    ends = list(itertools.accumulate((leaf.size for leaf in leaves), initial=0))
    if tuple(flat.shape) != (ends[-1],):
        have = tuple(flat.shape)
        msg = f"a flat array of shape {have} is not an element of {space}: shape ({ends[-1]},) would fit"
        raise SpaceError(msg)
    parts = [flat[start:end] for start, end in itertools.pairwise(ends)]
    dtypes = {leaf.dtype for leaf in leaves}
    if len(dtypes) > 1:
        whole = str(np.result_type(*dtypes))
        if dtype_name(flat) != whole and not _is_safe(dtype_name(flat), whole):
            msg = f"a flat array of dtype {dtype_name(flat)} is not an element of {space}, which {whole} holds"
            raise SpaceError(msg)
        parts = [in_dtype(part, leaf.dtype) for part, leaf in zip(parts, leaves, strict=True)]
    xp = namespace(flat)
    return tuple(as_leaf(xp.reshape(part, leaf.shape), leaf) for part, leaf in zip(parts, leaves, strict=True))


def _plain(data: Any, space: Any, fits: str) -> np.ndarray[Any, np.dtype[Any]]:
    try:
        return np.asarray(data)
    except (ValueError, TypeError) as error:
        msg = f"{shown(data)} is ragged, or holds what is no number, so it is not an element of {space}: {fits}"
        raise SpaceError(msg) from error


def _from_python(data: Any, leaf: Leaf) -> np.ndarray[Any, np.dtype[Any]]:
    if isinstance(data, np.ma.MaskedArray):
        msg = f"a masked array is not an element of {leaf}: fill it first"
        raise SpaceError(msg)
    if isinstance(data, (np.ndarray, np.generic)):
        return np.asarray(data)
    plain = _plain(data, leaf, f"shape {leaf.shape} would fit")
    kinds = {"b": "b", "i": "i", "f": "if"}[leaf.kind]
    if plain.size and plain.dtype.kind not in kinds:
        msg = f"{shown(data)} is not an element of {leaf}: {leaf.dtype} of shape {leaf.shape} would fit"
        raise SpaceError(msg)
    if not plain.size and plain.shape == leaf.shape[: plain.ndim]:
        plain = plain.reshape(leaf.shape)  # lists do not tell what comes after an empty axis
    return plain.astype(leaf.dtype)

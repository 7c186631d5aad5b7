"""Which library an array belongs to, and the few conversions in and out of it.

cupy, torch and JAX are never imported here: an array brings its own namespace with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from hilbert.space import Leaf


def namespace(array: Any) -> ModuleType:
    """The array namespace of an array: numpy, or what array-api-compat says of it."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np
    found: ModuleType = array_api_compat.array_namespace(array)
    return found


def common_namespace(arrays: Sequence[Any]) -> ModuleType:
    """The one namespace of some arrays (numpy for none); raises SpaceError if they mix."""
    for array in arrays:
        if not isinstance(array, (np.ndarray, np.generic)):
            break
    else:
        return np
    found = {namespace(array) for array in arrays}
    if len(found) > 1:
        names = ", ".join(sorted(xp.__name__ for xp in found))
        msg = f"the vectors of one call live in different array libraries: {names}; move them to one"
        raise SpaceError(msg)
    return found.pop()


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
        array.flags.writeable = False
    return array


def to_numpy(array: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """A copy or view in the memory of the host; the only way off a device, taken only when the user asks for it."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np.asarray(array)
    if array_api_compat.is_cupy_array(array):
        host: np.ndarray[Any, np.dtype[Any]] = array.get()
        return host
    return np.asarray(array)


def as_leaf(data: Any, leaf: Leaf) -> Any:
    """An array of a leaf's shape and dtype, as a read-only view where no conversion is needed.

    Arrays are converted where numpy's *safe* casting allows (integers to ℝ, single to double precision); Python
    numbers and nested lists take the dtype of the space. Everything else is refused with a SpaceError.
    """
    foreign = array_api_compat.is_array_api_obj(data) and not isinstance(data, (np.ndarray, np.generic))
    array = data if foreign else _from_python(data, leaf)
    if tuple(array.shape) != leaf.shape:
        msg = f"an array of shape {tuple(array.shape)} is not an element of {leaf}: shape {leaf.shape} would fit"
        raise SpaceError(msg)
    have, want = dtype_name(array), leaf.dtype
    if have != want:
        if not np.can_cast(np.dtype(have), np.dtype(want), "safe") or (have == "bool" and want != "bool"):
            msg = f"an array of dtype {have} is not an element of {leaf}, which holds {want}: convert it first"
            raise SpaceError(msg)
        array = in_dtype(array, want)
    elif not foreign:
        array = np.asarray(array).view()
    leaf.check(array)
    return freeze(array)


def _from_python(data: Any, leaf: Leaf) -> np.ndarray[Any, np.dtype[Any]]:
    if isinstance(data, (np.ndarray, np.generic)):
        return np.asarray(data)
    try:
        plain = np.asarray(data)
    except ValueError as error:
        msg = f"ragged data is not an element of {leaf}: shape {leaf.shape} would fit"
        raise SpaceError(msg) from error
    kinds = {"b": "b", "i": "bi", "f": "if"}[leaf.kind]
    if plain.size and plain.dtype.kind not in kinds:
        msg = f"{type(data).__name__} data of kind {plain.dtype} is not an element of {leaf}, which holds {leaf.dtype}"
        raise SpaceError(msg)
    if not plain.size and plain.shape == leaf.shape[: plain.ndim]:
        plain = plain.reshape(leaf.shape)  # lists do not tell what comes after an empty axis
    return plain.astype(leaf.dtype)

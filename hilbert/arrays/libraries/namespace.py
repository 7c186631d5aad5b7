"""Arrays in and out of vectors, and the few questions that all of the library asks of an array."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.kernels.library import find, freezing, library
from hilbert.arrays.libraries.libraries import common_library
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.base.notarray import NotArray
from hilbert.base.once import first
from hilbert.base.sizes import FORMULA, held
from hilbert.errors import BYTES, FROM_BYTES, SpaceError, double, is_masked, is_number, shown
from hilbert.index.labels import has_missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from hilbert.index.leaf import Leaf


MOST_AXES = 64
"""The most axes that numpy's arrays have."""


def namespace(array: Any) -> ModuleType:
    """The array namespace of an array: numpy, or that which array-api-compat gives."""
    return library(array).xp


def common_namespace(arrays: Sequence[Any]) -> ModuleType:
    """The one namespace of some arrays (numpy for none), formal ones included; raises SpaceError if they mix."""
    return common_library(arrays).xp


def in_numpy(arrays: Sequence[Any]) -> bool:
    """Tell if arrays are numpy's for sure: each of one of its usual types."""
    return NUMPY.kinds.issuperset(map(type, arrays))


def moved(array: Any, like: Any) -> Any:
    """The array where `like` is; raises SpaceError for arrays of two libraries, of which numpy is none."""
    return library(like).constant(array, like)


def dtype_name(array: Any) -> str:
    """`float64` for numpy's and for torch's float64."""
    return _name(array.dtype)


@lru_cache(maxsize=64, typed=True)  # dtypes of two libraries are not compared
def _name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


def in_dtype(array: Any, dtype: str) -> Any:
    """The array in another dtype of its own namespace."""
    return library(array).cast(dtype).call(array)


def freeze(array: Any) -> Any:
    """The array, made read-only where its library can; the caller owns it."""
    try:
        freezes = freezing[type(array)]
    except KeyError:
        found = find(array)
        freezes = first(freezing, type(array), found.freezing(type(array)) if found else None)
    return freezes(array) if freezes else array


def fresh(array: Any) -> Any:
    """The array itself, if it may be written into; a copy of one that is read-only, for others see it.

    Vectors, constants and plans hold read-only arrays in numpy; see `Library.copied` for libraries that have no
    read-only arrays.
    """
    return array.copy() if isinstance(array, np.ndarray) and not array.flags.writeable else array


def to_numpy(array: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """A copy or view in the memory of the host; the only way off a device, taken only when the user asks for it."""
    host: np.ndarray[Any, np.dtype[Any]] = library(array).to_host(array)
    return host


def require_elements(array: Any, leaf: Leaf) -> None:
    """Raise SpaceError if an entry is known, and is not an element of the leaf's index set."""
    index = leaf.entry.index
    if index is None or not leaf.size:
        return
    found = library(array).bounds(array)
    if found is None:
        return
    low, high = found
    if low < 0 or high >= index.size:
        due = f"integers from 0 to {index.size - 1} would fit" if index.size else "it has none"
        msg = f"entries from {low} to {high} are not elements of {index}: {due}"
        raise SpaceError(msg)


@held(FORMULA)
def filled(shape: tuple[int, ...], dtype: Any, value: Any = None) -> Any:
    """An array of numpy's with a value in each entry, 0 where none is given."""
    return np.zeros(shape, dtype) if value is None else np.full(shape, value, dtype)


@held(FORMULA)
def as_leaf(data: Any, leaf: Leaf) -> Any:
    """An array of a leaf's shape and dtype, as a read-only view where no conversion is needed (see `snapshot`).

    Arrays are converted where numpy's *safe* casting allows (integers to ℝ, single to double precision); Python
    numbers and nested lists take the dtype of the space. Discrete data are copied, so that they cannot change after
    they were checked. Everything else is refused with a SpaceError: truth values as numbers, numbers that are not
    integers as labels, double precision for single, finite numbers that are infinite in single precision, columns of a
    table with missing entries, masked and ragged data.
    """
    if type(data).__module__.partition(".")[0] == "dask":
        msg = "an array of Dask may be larger than the memory: give it to distributed(f, over=X) as data, or the array "
        raise SpaceError(msg + "that a.compute() makes of it")
    foreign = find(data) not in (None, NUMPY)
    array: Any = data if foreign else _from_python(data, leaf)
    if tuple(array.shape) != leaf.shape:
        msg = f"an array of shape {tuple(array.shape)} is not an element of {leaf}: shape {leaf.shape} would fit"
        if tuple(array.shape[1:]) == leaf.shape and array.shape and leaf.axes:
            msg += f"; for one in each row of the array, (V ** Fin.of({array.shape[0]})).vec(array)"
        is_flat = leaf.is_field and len(leaf.shape) > 1 and tuple(array.shape) == (math.prod(leaf.shape),)
        raise SpaceError(f"{msg}; V.unflat(array) takes the entries in one flat array" if is_flat else msg)
    if dtype_name(array) != leaf.dtype:
        array = _converted(array, leaf)
    elif not leaf.is_field:
        found = library(array)
        if found is NUMPY or found.copied():  # arrays of JAX never change
            array = found.xp.asarray(array, copy=True)
    elif isinstance(data, np.ndarray):  # another one was made here
        array = array.view()
    require_elements(array, leaf)
    return freeze(array)


def own_leaf(array: Any, leaf: Leaf) -> Any:
    """An array that was made for a leaf, and that nobody else holds."""
    return as_leaf(freeze(array), leaf)


def _converted(array: Any, leaf: Leaf) -> Any:
    have, want = dtype_name(array), leaf.dtype
    if not _is_safe(have, want):
        msg = f"an array of dtype {have} is not an element of {leaf}, which holds {want}: convert it first"
        raise SpaceError(msg)
    array = in_dtype(array, want)
    require_precision(array, leaf)
    return array


def require_precision(array: Any, leaf: Leaf) -> None:
    """Raise SpaceError for an array that has less precision than the leaf that it was made for."""
    if dtype_name(array) != leaf.dtype:  # JAX without jax_enable_x64
        msg = f"{library(array).name} gives {dtype_name(array)} for {leaf.dtype}, so it has no element of {leaf}: set "
        msg += "its jax_enable_x64, or take R32, which holds float32"
        raise SpaceError(msg)


def _is_safe(have: str, want: str) -> bool:
    try:
        return have != "bool" and np.can_cast(np.dtype(have), np.dtype(want), "safe")
    except (TypeError, ValueError):  # a dtype that numpy does not know, or one of records
        return False


def as_flat(data: Any, leaves: Sequence[Leaf], space: str) -> tuple[Any, ...]:
    """The arrays of some leaves, one after the other in one flat array: views where the dtypes agree.

    The flat array has the dtype that holds all of them, or one that casts safely to it; each part is cast to its leaf.
    """
    due = sum(leaf.size for leaf in leaves)
    given = find(data) is not None
    if not given:
        _require_plain(data, space, None)
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
    return tuple(as_leaf(xp.reshape(part, leaf.stored().shape), leaf) for part, leaf in zip(parts, leaves, strict=True))


def _plain(data: Any, space: Any, fits: str) -> np.ndarray[Any, np.dtype[Any]]:
    try:
        return np.asarray(data)
    except (ValueError, TypeError) as error:
        msg = f"{shown(data)} is ragged, or holds what is no number, so it is not an element of {space}: {fits}"
        raise SpaceError(msg) from error


def is_array(x: Any, shape: tuple[int, ...], dtype: str) -> bool:
    """Tell if a user's function gave an array of some shape and dtype; a masked one is none."""
    if getattr(x, "shape", None) != shape or not hasattr(x, "dtype") or is_masked(x):
        return False
    return dtype_name(x) == dtype


def _require_plain(data: Any, space: Any, dtype: str | None, depth: int = 0) -> None:
    """Raise SpaceError for bytes, masked arrays, vectors, columns with missing entries, and arrays dtype does not hold.

    Such may stand in a list, too; a list of numbers only is not looked at one by one.
    """
    if depth > MOST_AXES:
        msg = f"a list nested more than {MOST_AXES} deep is not an element of {space}"
        raise SpaceError(msg)
    if isinstance(data, (list, tuple)):
        for kind in set(map(type, data)) - {float, int, bool, str}:
            for item in (item for item in data if type(item) is kind):
                if isinstance(item, NotArray):
                    msg = f"{shown(data)} with {shown(item)} among it is not an element of {space}: "
                    raise SpaceError(f"{msg}stack(X, V)(v, w, …) puts vectors side by side")
                _require_plain(item, space, dtype, depth + 1)
    elif isinstance(data, NotArray):
        msg = (
            f"{shown(data)} is no array, and is not an element of {space}: the tuple (x, y) puts expressions together, "
        )
        raise SpaceError(f"{msg}pack(P)(x, y) as a record P, stack(X, V)(x, y) as a vector of V^X")
    elif isinstance(data, BYTES):
        msg = f"{shown(data)} is not an element of {space}: {FROM_BYTES}"
        raise SpaceError(msg)
    elif is_masked(data):
        msg = f"a masked array is not an element of {space}: fill it first"
        raise SpaceError(msg)
    elif isinstance(data, (np.ndarray, np.generic)):
        if dtype is not None and dtype_name(data) != dtype and not _is_safe(dtype_name(data), dtype):
            msg = f"an array of dtype {data.dtype} is not an element of {space}, which holds {dtype}: convert it first"
            raise SpaceError(msg)
    elif has_missing(data):
        msg = f"a column with missing entries (NaN, NA, null) is not an element of {space}: leave their rows out "
        if hasattr(data, "drop_nulls"):  # of polars
            raise SpaceError(f"{msg}(column.drop_nulls()), or fill them (column.fill_null(0.0))")
        raise SpaceError(f"{msg}(column.dropna()), or fill them (column.fillna(0.0)); column.to_numpy() keeps NaN")


def _odd(data: Any, at: str = "") -> str:
    """The first entry of nested lists that is no number, as text for an error; empty if there is none."""
    for k, item in enumerate(data) if isinstance(data, (list, tuple)) else ():
        if isinstance(item, (list, tuple)):
            if found := _odd(item, f"{at}[{k}]"):
                return found
        elif not is_number(item):
            return f"; entry {at}[{k}] is {shown(item)}"
    return ""


def _from_python(data: Any, leaf: Leaf) -> np.ndarray[Any, np.dtype[Any]]:
    _require_plain(data, leaf, None if isinstance(data, (np.ndarray, np.generic)) else leaf.dtype)
    if isinstance(data, (np.ndarray, np.generic)):
        return np.asarray(data)
    plain = _plain(data, leaf, f"shape {leaf.shape} would fit")
    if leaf.is_field and plain.dtype.kind == "O" and all(map(is_number, plain.flat)):  # fractions, large integers
        try:
            plain = np.array([double(k) for k in plain.flat]).reshape(plain.shape)
        except SpaceError as error:
            msg = f"{shown(data)} is not an element of {leaf}: {error}"
            raise SpaceError(msg) from None
    kinds = {"b": "b", "i": "i", "f": "iuf"}[leaf.kind]
    if plain.size and plain.dtype.kind not in kinds:
        msg = f"{shown(data)} is not an element of {leaf}: {leaf.dtype} of shape {leaf.shape} would fit"
        raise SpaceError(msg + _odd(data))
    if not plain.size and plain.shape == leaf.shape[: plain.ndim]:
        plain = plain.reshape(leaf.shape)  # lists do not tell what comes after an empty axis
    single = leaf.dtype == "float32"  # double precision holds all of Python's floats
    if single and np.any(np.isfinite(plain) & (np.abs(plain) > np.finfo(leaf.dtype).max)):
        msg = f"{shown(data)} is not an element of {leaf}: it holds numbers beyond {np.finfo(leaf.dtype).max:.2g}"
        raise SpaceError(msg)
    return plain.astype(leaf.dtype)


def added(numbers: Iterable[float]) -> float:
    """The sum, correctly rounded; ∞ or NaN where it overflows or a number is not finite."""
    terms = [float(k) for k in numbers]
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):  # too large, or ∞ − ∞
        return sum(terms)

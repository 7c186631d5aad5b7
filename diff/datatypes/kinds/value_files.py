r"""Values of data, sequences and tuples in files: the classes and lengths in them, and their vectors, stacked by space.

>>> import tempfile
>>> from pathlib import Path
>>> from hilbert import R, Scalar
>>> from diff import Expr, data, variant
>>> @variant
... class Rose:
...     label: Expr[Scalar]
...     children: "tuple[Rose, ...]"
>>> rose = data(Rose, label=R)
>>> with tempfile.TemporaryDirectory() as folder:
...     rose.save(Rose(R.vec(1.0), (Rose(R.vec(2.0), ()),)), Path(folder) / "r.npz")
...     print(rose.load(Path(folder) / "r.npz"))
Rose(label=R.vec(1.0), children=(Rose(label=R.vec(2.0), children=()),))
"""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from diff.datatypes.kinds.conversion import to_core
from diff.datatypes.kinds.kinds import Kind
from diff.datatypes.kinds.layout import Maker, reader, taken
from diff.lam.term.term_error import TermError
from hilbert import SpaceError, Type
from hilbert.arrays.libraries.namespace import freeze, require_elements, to_numpy
from hilbert.errors import shown
from hilbert.map.vector_files import arrays_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

KEY, CLASSES = "key", "classes"
"""The classes by number and the lengths, from left to right, as −1 − length; the names of the classes."""
EMPTY = 1_000_000
"""The most parts without entries, () or zero vectors, that are read: a file stores nothing that bounds their number."""


def save(kind: Kind, value: Any, file: Any) -> None:
    """Write a value into a file."""
    if not isinstance(file, (str, os.PathLike)) and not hasattr(file, "write"):
        raise TermError("type", f"{kind}.save(value, file) takes the name of a file, not {shown(file)}")
    found = taken(reader(kind), value)
    if found is None:
        to_core(kind, value)  # says what does not fit
        raise TermError("type", f"{kind}.save(value, file): {shown(value)} holds functions or expressions")
    key, vectors = found
    names = list(dict.fromkeys(part.__name__ for part in key if isinstance(part, type)))
    numbers = [-1 - part if isinstance(part, int) else names.index(part.__name__) for part in key]
    arrays: dict[str, Any] = {KEY: np.array(numbers, np.int64), CLASSES: np.array(names, np.str_)}
    for k, places in enumerate(_places([v.space for v in vectors]).values()):
        rows = [vectors[at].dense().leaves for at in places]
        for j in range(len(rows[0])):
            arrays[f"{k}.{j}"] = np.stack([to_numpy(row[j]) for row in rows])
    with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as out:
                np.lib.format.write_array(out, array, allow_pickle=False)


def load(kind: Kind, file: Any) -> Any:
    """Read the value that `save` wrote."""
    try:
        arrays = arrays_of(file, f"file that {kind}.save(value, file) wrote")
    except SpaceError as error:
        raise TermError("type", str(error)) from error
    try:
        return _made(kind, _key(arrays), arrays)
    except (ValueError, LookupError, StopIteration) as error:
        why = str(error) if isinstance(error, ValueError) else "there is less in it"
        what = file if isinstance(file, (str, os.PathLike)) else shown(file)
        raise TermError("shape", f"{what} holds no value of {kind}: {why}") from error


def _key(arrays: dict[str, npt.NDArray[Any]]) -> Iterator[Any]:
    """The names of classes and the lengths, from left to right, taken from arrays; raises ValueError or LookupError.

    A length is at most what the file has of classes, lengths and entries, and EMPTY parts that have none of them.
    """
    numbers, names = arrays.pop(KEY), arrays.pop(CLASSES)
    if numbers.dtype != np.int64 or numbers.ndim != 1 or names.dtype.kind != "U" or names.ndim != 1:
        raise ValueError(f"{KEY} is no list of integers, or {CLASSES} none of names")
    most = numbers.size + sum(array.size for array in arrays.values()) + EMPTY
    if numbers.size and int(numbers.min()) < -1 - most:
        raise ValueError(f"a length of {-1 - int(numbers.min())}, more than the file has parts")
    words = names.tolist()
    return iter([words[k] if k >= 0 else -1 - k for k in numbers.tolist()])


def _made(kind: Kind, key: Iterator[Any], arrays: dict[str, npt.NDArray[Any]]) -> Any:
    """The value of a key and of arrays; raises ValueError, LookupError or StopIteration where they do not fit."""
    maker = Maker(kind, key)
    spaces = maker.spaces
    leaves: list[tuple[Any, ...]] = [()] * len(spaces)
    for k, (space, places) in enumerate(_places(spaces).items()):
        columns = [freeze(arrays.pop(f"{k}.{j}")) for j in range(len(space.leaves))]
        _check(columns, space, len(places))
        for row, at in enumerate(places):
            leaves[at] = tuple(freeze(column[row, ...]) for column in columns)
    if arrays or next(key, None) is not None:
        raise ValueError("there is more in it")
    return maker.made(array for some in leaves for array in some)


def _places(spaces: Sequence[Type]) -> dict[Type, list[int]]:
    """The places of each space in a list."""
    found: dict[Type, list[int]] = {}
    for k, space in enumerate(spaces):
        found.setdefault(space, []).append(k)
    return found


def _check(columns: list[npt.NDArray[Any]], space: Type, count: int) -> None:
    for array, leaf in zip(columns, space.leaves, strict=True):
        if (array.shape, str(array.dtype)) != ((count, *leaf.shape), leaf.dtype):
            have, due = f"{array.dtype}{list(array.shape)}", f"{leaf.dtype}{[count, *leaf.shape]}"
            raise ValueError(f"{have} where {due}, {count} elements of {space}, are due")
        require_elements(array, leaf)

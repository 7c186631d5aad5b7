"""Vectors in files: one .npz file with an array for each leaf, under its path.

>>> import tempfile
>>> from pathlib import Path
>>> from hilbert import R, direct_sum
>>> V = direct_sum(R, R)
>>> with tempfile.TemporaryDirectory() as folder:
...     save(V.vec((1.0, 2.0)), Path(folder) / "v.npz")
...     print(load(V, Path(folder) / "v.npz"))
(1.0, 2.0) ∈ ℝ ⊕ ℝ
"""

from __future__ import annotations

import os
import zipfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hilbert.arrays.libraries.namespace import freeze, to_numpy
from hilbert.base.sizes import allocation
from hilbert.errors import SpaceError, shown
from hilbert.space.leafwise import leaf_spaces
from hilbert.space.space import Type, require_type
from hilbert.space.vector import Vec, require_vector

V = TypeVar("V", bound=Type)
ALONE = "array"
"""The key of the array of a space that has one array only, which has no path."""


def save(v: Vec[Any], file: str | os.PathLike[str]) -> None:
    """Write the arrays of a vector into a .npz file, which numpy.load reads, too; the keys are the paths of the leaves.

    Raises SpaceError for other things than vectors.
    """
    require_vector(v, "save(v, file)")
    if not isinstance(file, (str, os.PathLike)) and not hasattr(file, "write"):
        msg = f"save(v, file) takes the name of a file, not {shown(file)}"
        raise SpaceError(msg)
    with zipfile.ZipFile(file, "w", allowZip64=True) as archive:  # numpy.savez takes no key called `file`
        for (path, _), leaf in zip(leaf_spaces(v.space), v.dense().leaves, strict=True):
            with archive.open(f"{path or ALONE}.npy", "w", force_zip64=True) as out:
                np.lib.format.write_array(out, to_numpy(leaf), allow_pickle=False)


def load(space: V, file: str | os.PathLike[str]) -> Vec[V]:
    """The vector that `save` wrote, in a space whose leaves have the same paths, shapes and dtypes.

    Raises SpaceError that lists all keys that are missing, too many, or of another shape or dtype.
    """
    require_type(space, "load(V, file)")
    found = arrays_of(file, ".npz file that save(v, file) wrote")
    wrong: list[str] = []
    leaves: list[Any] = []
    for (path, at), leaf in zip(leaf_spaces(space), space.leaves, strict=True):
        name = path or ALONE
        array = found.pop(name, None)
        if array is None:
            wrong.append(f"{name} is missing")
        elif (array.shape, str(array.dtype)) != (leaf.shape, leaf.dtype):
            due = f"{leaf.dtype}{list(leaf.shape)} of {at}"
            wrong.append(f"{name} is {array.dtype}{list(array.shape)} where {due} is due")
        else:
            try:
                leaves += at.vec(freeze(array)).leaves
            except SpaceError as error:  # labels that are none of the index set
                wrong.append(f"{name}: {error}")
    wrong += [f"{name} is too many" for name in found]
    if wrong:
        msg = f"{file} is no vector of {space}: {'; '.join(wrong)}"
        raise SpaceError(msg)
    return Vec(space, tuple(leaves))


def arrays_of(file: Any, due: str) -> dict[str, Any]:
    """The arrays of a .npz file; SpaceError for a file of another kind or a damaged one, OSError where there is none.

    `due` describes the file that should be there, for the message.
    """
    named = isinstance(file, (str, os.PathLike))
    msg = f"{file if named else shown(file)} is no {due}"
    if not named and not hasattr(file, "read"):
        raise SpaceError(msg)
    try:
        opened = Path(file).open("rb") if named else nullcontext(file)  # noqa: SIM115 - it is closed below
    except ValueError as error:  # a character that no name has
        raise SpaceError(f"{msg}: {error}") from error
    with opened as stream:
        try:
            with np.load(stream, allow_pickle=False) as archive:
                found = dict(archive)
        except MemoryError as error:
            raise allocation(error) from error
        except Exception as error:  # of numpy, zipfile or zlib, according to what is wrong
            raise SpaceError(msg) from error
    if not all(isinstance(array, np.ndarray) for array in found.values()):
        raise SpaceError(msg)
    return found

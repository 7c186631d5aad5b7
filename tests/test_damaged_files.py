"""Damaged files of values and of vectors: one SpaceError, whatever is wrong with them."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hilbert.all as hb
from diff.higher import TermError
from hilbert import SpaceError
from tests.saved_values import SAVED, values, vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VECTORS, VALUES = vectors(), values()
COUNT = int(os.environ.get("DAMAGED", "40"))
"""Files for each kind of damage: `DAMAGED=2000 pytest tests/test_damaged_files.py` for more."""


def cut(raw: bytes, rng: np.random.Generator) -> bytes:
    """The beginning, or the end."""
    k = int(rng.integers(len(raw)))
    return raw[:k] if rng.random() < 0.5 else raw[k:]


def flipped(raw: bytes, rng: np.random.Generator) -> bytes:
    """A few bytes are others."""
    made = bytearray(raw)
    for k in rng.integers(len(raw), size=int(rng.integers(1, 9))):
        made[k] = int(rng.integers(256))
    return bytes(made)


def flipped_in_directories(raw: bytes, rng: np.random.Generator) -> bytes:
    """A byte of a header of the archive is another: names, methods, sizes, offsets, flags."""
    made = bytearray(raw)
    marks = [k for mark in (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"\x93NUMPY") for k in _places(raw, mark)]
    k = int(rng.choice(marks)) + int(rng.integers(46))
    made[min(k, len(raw) - 1)] = int(rng.integers(256))
    return bytes(made)


def repeated(raw: bytes, rng: np.random.Generator) -> bytes:
    """A part stands in another's place."""
    a, b, n = (int(k) for k in rng.integers(len(raw), size=3))
    return raw[:a] + raw[b : b + n] + raw[a + n :]


def _places(raw: bytes, mark: bytes) -> Iterator[int]:
    k = raw.find(mark)
    while k >= 0:
        yield k
        k = raw.find(mark, k + 1)


def other_arrays(raw: bytes, rng: np.random.Generator) -> bytes:
    """A sound archive: an array is missing, is too many, or has other entries, another type or another shape."""
    with np.load(io.BytesIO(raw)) as archive:
        arrays = dict(archive)
    name = str(rng.choice(list(arrays)))
    array = arrays.pop(name)
    changes: list[Callable[[], Any]] = [
        lambda: array[:-1] if array.ndim else array[None],
        lambda: array.astype("U") if array.dtype.kind != "U" else array.astype("S"),
        lambda: array.astype(object),
        lambda: array[..., None],
        lambda: np.array(0),
        lambda: np.asarray(rng.permutation(array) if array.ndim else array),
        lambda: array[::-1] if array.ndim else array,
        lambda: (array if array.dtype.kind == "i" else np.zeros(3, np.int64)) - int(rng.integers(1, 2**62)),
        lambda: (array if array.dtype.kind == "i" else np.zeros(3, np.int64)) + int(rng.integers(1, 9)),
        lambda: np.full(array.shape, np.iinfo(np.int64).min),
        lambda: array.astype("f4") if array.dtype.kind == "f" else array,
    ]
    k = int(rng.integers(-2, len(changes)))
    if k == -1:
        arrays["more"] = array
    if k != -2:
        arrays[name] = changes[k]() if k >= 0 else array
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive_out:
        for key, value in arrays.items():
            with archive_out.open(f"{key}.npy", "w") as member:
                np.lib.format.write_array(member, np.asanyarray(value), allow_pickle=True)
    return out.getvalue()


def of_another_kind(_: bytes, rng: np.random.Generator) -> bytes:
    """No archive: a text, a pickle, one array, nothing."""
    out = io.BytesIO()
    np.save(out, np.ones(3))
    return [b"", b"text\n", b"\x80\x04N.", out.getvalue(), bytes(rng.bytes(64))][int(rng.integers(5))]


DAMAGES = (cut, flipped, flipped_in_directories, repeated, other_arrays, of_another_kind)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of zipfile and numpy, on what they read all the same
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", [*VALUES, "elements", "record", "single"])
def test_damaged_files(name: str, damage: Callable[..., bytes], tmp_path: Path) -> None:
    """A value, where the damage is elsewhere, or an error that names the file and what would have written it."""
    rng = np.random.default_rng(len(name))
    raw, file = (SAVED / f"{name}.npz").read_bytes(), tmp_path / "damaged.npz"
    for _ in range(COUNT):
        file.write_bytes(damage(raw, rng))
        error = _refusal(name, file)
        if error is not None:
            assert str(file) in str(error)
            assert any(says in str(error) for says in ("wrote", "holds no value of", "is no vector of"))
            assert isinstance(error, TermError) == (name in VALUES)


def _refusal(name: str, file: Path) -> SpaceError | None:
    """What is said of a file; None where it is read."""
    try:
        if name in VALUES:
            VALUES[name][0].load(file)
        else:
            hb.load(VECTORS[name].space, file)
    except SpaceError as error:
        return error
    return None


def test_lengths_are_bounded(tmp_path: Path) -> None:
    """A length that the file has no parts for is refused before a list of it is made."""
    kind, file = hb.sequence(hb.direct_sum()), tmp_path / "long.npz"
    for length, fits in ((1000, True), (10**12, False), (2**63 - 1, False)):
        np.savez(file, key=np.array([-1 - length]), classes=np.array([], "U1"))
        if fits:
            assert len(kind.load(file)) == length
        else:
            with pytest.raises(TermError, match=f"a length of {length}, more than the file has parts"):
                kind.load(file)


def test_elements_are_checked(tmp_path: Path) -> None:
    """A position that is none of the index set, in a file that is sound."""
    kind, file = hb.sequence(hb.Elements(hb.Fin.of(3))), tmp_path / "elements.npz"
    arrays: dict[str, Any] = {"key": np.array([-3]), "classes": np.array([], "U1"), "0.0": np.array([2, 3])}
    np.savez(file, **arrays)
    with pytest.raises(TermError, match="entries from 2 to 3 are not elements of 3"):
        kind.load(file)


def test_names_of_no_files(tmp_path: Path) -> None:
    """Where there is no file, Python's error; a name that none can have is refused."""
    for read in (VALUES["rose"][0].load, lambda file: hb.load(hb.R, file)):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "none.npz")
        with pytest.raises(IsADirectoryError):
            read(tmp_path)
        with pytest.raises(SpaceError, match="embedded null"):
            read("a\0b")

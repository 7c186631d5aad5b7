"""Files of earlier layouts of the library are read."""

from typing import Any

import pytest

import hilbert.all as hb
from tests.saved_values import SAVED, values, vectors

VECTORS, VALUES = vectors(), values()


def test_every_file_is_read() -> None:
    """Each file in the folder belongs to one of the values."""
    assert {path.stem for path in SAVED.glob("*.npz")} == VECTORS.keys() | VALUES.keys()


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name: str) -> None:
    """`hb.load` gives the vector that was saved."""
    v = VECTORS[name]
    assert hb.equal(hb.load(v.space, SAVED / f"{name}.npz"), v)


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    """`tree.load` gives the value that was saved, by its classes and its vectors."""
    kind, value = VALUES[name]
    assert repr(shape(kind.load(SAVED / f"{name}.npz"))) == repr(shape(value))


def shape(value: Any) -> Any:
    """A value with the entries of its vectors in their places."""
    if isinstance(value, hb.Vec):
        return value.array.tolist()
    if isinstance(value, tuple):
        return [shape(part) for part in value]
    return [type(value).__name__, *(shape(getattr(value, name)) for name in value.__match_args__)]

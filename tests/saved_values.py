"""Values for files of `hb.save` and `tree.save`: `python -m tests.saved_values` writes them into tests/data/saved.

The files there were written by the library of an earlier layout and are not to be written anew: a later library has
to read them.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import hilbert.all as hb

SAVED = Path(__file__).parent / "data" / "saved"


class Pixel:
    """An axis."""


class City:
    """An axis with labels."""


pixel, city = hb.Fin(Pixel, 3), hb.Labelled(City, ("Berlin", "Hamburg", "Köln"))


class Layer(hb.Record):
    """Weights and a bias."""

    weights: hb.Part[hb.Matrix[Pixel, Pixel]]
    bias: hb.Part[hb.Vector[Pixel]]


class Model(hb.Record):
    """A record of records, and a number."""

    first: hb.Part[Layer]
    second: hb.Part[Layer]
    rate: hb.Part[hb.Scalar]


@hb.variant
class Rose:
    """A tree with any number of children."""

    label: hb.Expr[hb.Scalar]
    children: tuple[Rose, ...]


@hb.variant
class Leaf:
    """A tree of one node."""

    word: hb.Expr[hb.Vector[Pixel]]


@hb.variant
class Pair:
    """A tree of two."""

    left: Leaf | Pair
    right: Leaf | Pair
    scale: hb.Expr[hb.Scalar]


rose: Any = hb.data(Rose, label=hb.R)
binary: Any = hb.data(Leaf, Pair, word=hb.R**pixel, scale=hb.R)


def counted(space: Any) -> hb.Vec[Any]:
    """⅛, ¼, ⅜, … in each array of a vector."""
    leaves = ((np.arange(1, math.prod(leaf.shape) + 1) / 8).reshape(leaf.shape) for leaf in space.leaves)
    return hb.Vec(space, tuple(a.astype(leaf.dtype) for a, leaf in zip(leaves, space.leaves, strict=True)))


def vectors() -> dict[str, hb.Vec[Any]]:
    """Vectors of every kind of space, by the name of their file."""
    layer = Layer(weights=hb.R ** (pixel * pixel), bias=hb.R**pixel)
    model = Model(first=layer, second=layer, rate=hb.R)
    spaces: dict[str, Any] = {
        "number": hb.R,
        "single": hb.R32**pixel,
        "table": hb.R ** (pixel * city),
        "sum": hb.direct_sum(hb.R, hb.direct_sum(hb.R**pixel, hb.R32)),
        "record": model,
        "family": model ** hb.Fin.of(2),
        "nested": hb.direct_sum(hb.R, hb.R**pixel) ** city,
        "tensor": (hb.R**pixel) * (hb.R**city),
    }
    made = {name: counted(space) for name, space in spaces.items()}
    made["formal"] = (hb.R**pixel).vec([1.0, 2.0, 3.0]).tensor((hb.R**city).vec([0.5, 0.25, 2.0]))
    made["elements"] = (hb.Elements(city) ** pixel).vec([2, 0, 1])
    made["truth"] = (hb.Bool**pixel).vec([True, False, True])
    made["integers"] = (hb.Z**pixel).vec([-1, 0, 2])
    return made


def values() -> dict[str, tuple[Any, Any]]:
    """Values of data, each with its kind, by the name of their file."""
    number, word = hb.R.vec, (hb.R**pixel).vec
    leaf = Leaf(word([1.0, 2.0, 3.0]))
    pair = Pair(leaf, Pair(Leaf(word([0.0, -1.0, 0.5])), leaf, number(3.0)), number(2.0))
    bush = Rose(number(1.0), (Rose(number(2.0), ()), Rose(number(3.0), (Rose(number(4.0), ()),))))
    return {"rose": (rose, bush), "binary": (binary, pair), "sequence": (hb.sequence(binary), (leaf, pair, leaf))}


def write() -> None:
    """Write all files."""
    SAVED.mkdir(exist_ok=True)
    for name, vector in vectors().items():
        hb.save(vector, SAVED / f"{name}.npz")
    for name, (kind, value) in values().items():
        kind.save(value, SAVED / f"{name}.npz")


if __name__ == "__main__":
    write()

"""Copowers of copowers: f ** X ** Y, curry and uncurry, sums over the outer and over both index sets."""

from typing import reveal_type

import numpy as np

from diff import fun, sin
from hilbert import Fin, R
from linmap import curry, rep, total, uncurry


class Row: ...


class Column: ...


class Batch: ...


row, column, batch = Fin(Row, 2), Fin(Column, 3), Fin(Batch, 4)
X = R**column


def main() -> None:
    rng = np.random.default_rng(0)
    f = fun(X)(lambda x: x @ x)
    reveal_type(f**row)  # N: Map[Copower[Vector[Column], Fin[Row]], Vector[Row]]
    reveal_type((f**row) ** batch)  # N: Map[Copower[Copower[Vector[Column], Fin[Row]], Fin[Batch]], Copower[Vector[Row], Fin[Batch]]]
    x = ((X**row) ** batch).random(rng)
    y = ((f**row) ** batch)(x)
    reveal_type(y)  # N: Vec[Copower[Vector[Row], Fin[Batch]]]
    assert np.allclose(y.array, (x.array**2).sum(axis=-1))
    flat = uncurry((R**row) ** batch)
    reveal_type(flat)  # N: LinMap[Copower[Vector[Row], Fin[Batch]], Matrix[Batch, Row]]
    back = curry(R ** (batch * row))
    reveal_type(back)  # N: LinMap[Matrix[Batch, Row], Copower[Vector[Row], Fin[Batch]]]
    assert np.array_equal((back @ flat)(y).array, y.array)
    sums = total(batch, R**row) @ ((f**row) ** batch)
    reveal_type(sums)  # N: Map[Copower[Copower[Vector[Column], Fin[Row]], Fin[Batch]], Vector[Row]]
    linear = (total(column) ** row) ** batch
    reveal_type(linear)  # N: LinMap[Copower[Copower[Vector[Column], Fin[Row]], Fin[Batch]], Copower[Vector[Row], Fin[Batch]]]
    assert np.allclose(linear(x).array, x.array.sum(axis=-1))
    reveal_type(rep(batch, R**row))  # N: LinMap[Vector[Row], Copower[Vector[Row], Fin[Batch]]]
    waves = (sin**column) ** row
    reveal_type(waves)  # N: Map[Copower[Vector[Column], Fin[Row]], Copower[Vector[Column], Fin[Row]]]
    inside = fun((X**row) ** batch)(lambda x: (x * x).sum(batch).mean(row))
    assert np.allclose(inside(x).array, (x.array**2).sum(axis=0).mean(axis=0))

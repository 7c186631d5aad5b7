"""Fields of two precisions: the dtype is no part of the static type, cast goes between them."""

from typing import reveal_type

import numpy as np

from adjoint import adjoint
from diff import exp
from hilbert import R32, Fin, R
from linmap import cast, total


class Item: ...


item = Fin(Item, 3)
X, Y = R**item, R32**item


def main() -> None:
    reveal_type(Y)  # N: Vector[Item]
    down = cast(X, R32)
    reveal_type(down)  # N: LinMap[Vector[Item], Vector[Item]]
    assert down.cod == Y
    y = down(X.vec([1.0, 2.0, 3.0]))
    assert y.array.dtype == np.float32
    reveal_type(exp(y))  # N: Vec[Vector[Item]]
    reveal_type(adjoint(total(item, R32) @ down))  # N: LinMap[Field, Vector[Item]]
    assert adjoint(down)(y).array.dtype == np.float64

"""Axes declared in one statement, and spaces of records from their annotations: the types are those of Fin(Tag, n)."""

from __future__ import annotations

from typing import Any, TypeVar, reveal_type

import numpy as np

from adjoint import grad
from diff import Expr, fun, tanh
from hilbert import R32, Axis, Copower, Fin, Index, Labelled, Matrix, Part, R, Record, Scalar, Vec, Vector

T = TypeVar("T")


class Pixel(Axis, size=4): ...


class Hidden(Axis):
    """An axis whose size is given where it is used."""


class Batch: ...


class Layer(Record):
    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


class Net(Layer):
    stack: Part[Copower[Layer, Fin[Batch]]]
    scale: Part[Scalar]


hidden = Hidden.of(2)
L = Layer.space(Hidden=hidden)


@fun(L, R**Pixel.set)
def layer(p: Expr[Layer], x: Expr[Vector[Pixel]]) -> Expr[Vector[Hidden]]:
    return tanh(p[Layer.weights] @ x + p[Layer.bias])


def space(X: Fin[T]) -> Vector[T]:
    return R**X


def axis(tag: type[T]) -> Fin[T]:
    return Fin(tag, 3)


def anywhere(X: Index, any_axis: Fin[Any], either: Fin[Pixel] | Fin[Hidden]) -> int:
    return X.size + any_axis.size + either.size


def main() -> None:
    reveal_type(Pixel.set)  # N: Fin[Pixel]
    reveal_type(Pixel.of(100))  # N: Fin[Pixel]
    reveal_type(hidden)  # N: Fin[Hidden]
    reveal_type(R**Pixel.set)  # N: Vector[Pixel]
    reveal_type(R ** (hidden * Pixel.set))  # N: Matrix[Hidden, Pixel]
    reveal_type(space(Pixel.set))  # N: Vector[Pixel]
    reveal_type(axis(Pixel))  # N: Fin[Pixel]
    reveal_type(Labelled(Pixel, ("a", "b")))  # N: Fin[Pixel]
    reveal_type(L)  # N: Layer
    reveal_type(L.weights)  # N: Matrix[Hidden, Pixel]
    reveal_type(Layer.space(R32, Hidden=2, Pixel=7))  # N: Layer
    reveal_type(Net.space(Hidden=2, Batch=5).stack)  # N: Copower[Layer, Fin[Batch]]
    p, x = L.random(np.random.default_rng(0)), (R**Pixel.set).ones()
    reveal_type(x)  # N: Vec[Vector[Pixel]]
    reveal_type(layer(p, x))  # N: Vec[Vector[Hidden]]
    reveal_type(grad(fun(R**Pixel.set)(lambda x: x @ x))(x))  # N: Vec[Vector[Pixel]]
    kept: Vec[Vector[Pixel]] = (R**Pixel.set).zeros()
    assert anywhere(Pixel.set, Pixel.set, Pixel.set) == 12
    assert kept.space == R ** Fin(Pixel, 4)

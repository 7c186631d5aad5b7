"""Axes with other names or sizes, and vectors along the axes that they name: the types say which axis is which."""

from typing import Any, reveal_type

from diff import Expr, fun, iterate
from hilbert import Axis, Copower, Fin, Matrix, Product, R, Vec, Vector


class Pixel(Axis, size=3): ...


class Hidden(Axis, size=3): ...


class Row(Axis, size=2): ...


class Wide(Axis, size=5): ...


V, M, B = R**Pixel.set, R ** (Row.set * Pixel.set), R ** (Row.set * Row.set * Pixel.set)


@fun(M, V, R**Row.set)
def layer(A: Expr[Matrix[Row, Pixel]], v: Expr[Vector[Pixel]], w: Expr[Vector[Row]]) -> Expr[Matrix[Row, Hidden]]:
    reveal_type(A.add(v))  # N: Expr[Matrix[Row, Pixel]]
    reveal_type(A.add(w).times(v))  # N: Expr[Matrix[Row, Pixel]]
    reveal_type(v.named(Hidden.set))  # N: Expr[Vector[Hidden]]
    reveal_type(A.named(Hidden.set, over=Pixel.set))  # N: Expr[Matrix[Row, Hidden]]
    reveal_type(v.pad(1, 1, to=Wide.set))  # N: Expr[Vector[Wide]]
    return A.add(v).times(w).named(Hidden.set, over=1)


@fun(R ** (Pixel.set * Pixel.set), V)
def power(A: Expr[Matrix[Pixel, Pixel]], v: Expr[Vector[Pixel]]) -> Expr[Vector[Pixel]]:
    B = A.named(Hidden.set, over=0)
    return iterate(lambda h: (B @ h).named(Pixel.set), v, Fin.of(5))


def general(A: Vec[Copower[Vector[Pixel], Fin[Row]]], B: Vec[Any], v: Vec[Vector[Pixel]]) -> None:
    reveal_type(A.add(v))  # N: Vec[Copower[Vector[Pixel], Fin[Row]]]
    reveal_type(A.pad(1, 1))  # N: Vec[Copower[Vector[Pixel], Fin[Anonymous]]]
    reveal_type(A.pad(1, 1, over=Pixel.set))  # N: Vec[Copower[Vector[Anonymous], Fin[Row]]]
    reveal_type(A.named(Row.of(2)))  # N: Vec[Copower[Vector[Pixel], Fin[Row]]]
    B.add(v)
    B.pad(1, 1, over=0)
    B.named(Pixel.set)


def main() -> None:
    v, A, w = V.ones(), M.ones(), (R**Row.set).ones()
    reveal_type(v.named(Hidden.set))  # N: Vec[Vector[Hidden]]
    reveal_type(A.named(Row.set * Hidden.set))  # N: Vec[Matrix[Row, Hidden]]
    reveal_type(A.named(Hidden.set, over=Pixel.set))  # N: Vec[Matrix[Row, Hidden]]
    reveal_type(A.named(Hidden.set, over=1))  # N: Vec[Matrix[Row, Hidden]]
    reveal_type(A.add(v))  # N: Vec[Matrix[Row, Pixel]]
    reveal_type(A.times(w))  # N: Vec[Matrix[Row, Pixel]]
    reveal_type(v.pad(1, 1))  # N: Vec[Vector[Anonymous]]
    reveal_type(v.pad(1, 1, to=Wide.set))  # N: Vec[Vector[Wide]]
    reveal_type(A.pad(1, 1, over=Pixel.set))  # N: Vec[Matrix[Row, Anonymous]]
    reveal_type(A.pad(1, 1, over=1, to=Wide.set))  # N: Vec[Matrix[Row, Wide]]
    reveal_type(A.crop(0, 1, over=Row.set))  # N: Vec[Matrix[Anonymous, Pixel]]
    reveal_type(A.crop(0, 1, step=1, over=0, to=Row.of(1)))  # N: Vec[Matrix[Row, Pixel]]
    reveal_type(v.crop(1, None))  # N: Vec[Vector[Anonymous]]
    three = B.ones()
    reveal_type(three.named(Hidden.set, over=2))  # N: Vec[Copower[Field, Product[Product[Fin[Row], Fin[Row]], Fin[Hidden]]]]
    reveal_type(three.add(v))  # N: Vec[Copower[Field, Product[Product[Fin[Row], Fin[Row]], Fin[Pixel]]]]
    reveal_type(three.pad(0, 1, over=1))  # N: Vec[Copower[Field, Product[Product[Fin[Row], Fin[Anonymous]], Fin[Pixel]]]]
    product: Product[Fin[Row], Fin[Hidden]] = Row.set * Hidden.set
    reveal_type(layer(A, v, w))  # N: Vec[Matrix[Row, Hidden]]
    assert layer(A, v, w).space == R**product

"""Reductions, orders, products and pieces along named axes keep the tags of the axes that are left."""

from typing import reveal_type

import numpy as np

from diff import Expr, conv, dot, fun
from hilbert import Boolean, Copower, Elements, Fin, Matrix, Product, R, Scalar, Vec, Vector


class Row: ...


class Column: ...


class Channel: ...


class Out: ...


class Offset: ...


row, column, channel, out, offset = Fin(Row, 2), Fin(Column, 3), Fin(Channel, 4), Fin(Out, 5), Fin(Offset, 2)
M = R ** (row * column)
Kernel = Product[Product[Fin[Offset], Fin[Channel]], Fin[Out]]


@fun(M, R**column)
def loss(m: Expr[Matrix[Row, Column]], v: Expr[Vector[Column]]) -> Expr[Scalar]:
    reveal_type(m.max())  # N: Expr[Field]
    reveal_type(m.max(over=column))  # N: Expr[Vector[Row]]
    reveal_type(m.min(over=0))  # N: Expr[Vector[Column]]
    reveal_type(m.product(over=row))  # N: Expr[Vector[Column]]
    reveal_type(m.logsumexp(over=1))  # N: Expr[Vector[Row]]
    reveal_type(m.norm())  # N: Expr[Field]
    reveal_type(v.norm(over=column))  # N: Expr[Field]
    reveal_type(m.softmax(over=column))  # N: Expr[Matrix[Row, Column]]
    reveal_type(m.argmax(over=column))  # N: Expr[Copower[Elements[Fin[Column]], Fin[Row]]]
    reveal_type(v.argmin())  # N: Expr[Elements[Fin[Column]]]
    reveal_type(v[v.argsort()])  # N: Expr[Vector[Column]]
    reveal_type(v[v.top(2, to=row)])  # N: Expr[Vector[Row]]
    reveal_type(v.clip(0.0, 1.0))  # N: Expr[Vector[Column]]
    reveal_type(abs(v))  # N: Expr[Vector[Column]]
    reveal_type((v > 0.0).cast(R))  # N: Expr[Vector[Column]]
    reveal_type(v.equals(0.0))  # N: Expr[Copower[Boolean, Fin[Column]]]
    reveal_type(m.transpose(column * row))  # N: Expr[Matrix[Column, Row]]
    reveal_type(m.roll(1, over=column))  # N: Expr[Matrix[Row, Column]]
    reveal_type(v.crop(1, None, to=row))  # N: Expr[Vector[Row]]
    reveal_type(dot(m, v, over=column))  # N: Expr[Vector[Row]]
    reveal_type(dot(v, m, over=column))  # N: Expr[Vector[Row]]
    reveal_type(dot(m, m, over=row))  # N: Expr[Matrix[Column, Column]]
    reveal_type(dot(v, v, over=column))  # N: Expr[Field]
    return (m.softmax(over=column) @ v).logsumexp()


def on_vectors(
    m: Vec[Matrix[Row, Column]], v: Vec[Vector[Column]], i: Vec[Copower[Elements[Fin[Column]], Fin[Row]]]
) -> Vec[Vector[Row]]:
    reveal_type(m.norm())  # N: float
    reveal_type(m.norm(over=row))  # N: Vec[Vector[Column]]
    reveal_type(m.mean(over=column))  # N: Vec[Vector[Row]]
    reveal_type(m.argmin(over=row))  # N: Vec[Copower[Elements[Fin[Row]], Fin[Column]]]
    reveal_type(i.equals(0))  # N: Vec[Copower[Boolean, Fin[Row]]]
    reveal_type(i.differs(i))  # N: Vec[Copower[Boolean, Fin[Row]]]
    reveal_type(dot(m, m, over=column))  # N: Vec[Matrix[Row, Row]]
    image, kernel = (R ** (column * channel)).zeros(), (R ** (offset * channel * out)).zeros()
    reveal_type(conv(image, kernel, padding="same"))  # N: Vec[Matrix[Column, Out]]
    reveal_type(conv(image, kernel, to=row))  # N: Vec[Matrix[Row, Out]]
    cube = (R ** (row * column * channel)).zeros()
    reveal_type(cube.sum(over=column))  # N: Vec[Matrix[Row, Channel]]
    reveal_type(cube.argmax(over=channel).equals(0))  # N: Vec[Copower[Boolean, Product[Fin[Row], Fin[Column]]]]
    return dot(m, v, over=column)


def convolved(x: Expr[Matrix[Column, Channel]], w: Expr[Copower[Scalar, Kernel]]) -> None:
    image, kernel = (R ** (column * channel)).zeros(), (R ** (offset * channel * out)).zeros()
    reveal_type(conv(x, w, padding="same"))  # N: Expr[Matrix[Column, Out]]
    reveal_type(conv(x, kernel, to=row))  # N: Expr[Matrix[Row, Out]]
    reveal_type(conv(x, kernel, stride=2))  # N: Expr[Copower[Field, Product[Any, Fin[Out]]]]
    reveal_type(conv(image, w, padding="same"))  # N: Expr[Matrix[Column, Out]]
    reveal_type(conv(image, w, to=row))  # N: Expr[Matrix[Row, Out]]
    reveal_type(conv(image, w, stride=2))  # N: Expr[Copower[Field, Product[Any, Fin[Out]]]]
    reveal_type(conv(image, kernel, stride=2))  # N: Vec[Copower[Field, Product[Any, Fin[Out]]]]


def count(c: Vec[Copower[Boolean, Fin[Row]]]) -> Vec[Scalar]:
    return c.cast(R).sum()


def main() -> None:
    m, v = M.vec(np.arange(6.0).reshape(2, 3)), (R**column).ones()
    assert float(loss(m, v)) > 0.0
    assert on_vectors(m, v, (Elements(column) ** row).vec([0, 2])).array.tolist() == [3.0, 12.0]
    assert float(count(m[:, 0] > 1.0)) == 1.0

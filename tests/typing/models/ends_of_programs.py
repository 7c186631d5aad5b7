"""The ends of a function, of its derivative and of its gradients have the types of their spaces."""

from typing import reveal_type

from adjoint import grad, value_and_grad, vjp
from diff import Expr, fun, jvp, program
from hilbert import Fin, R, Scalar, Vector


class Pixel: ...


pixel = Fin(Pixel, 3)


@fun(R**pixel)
def square(x: Expr[Vector[Pixel]]) -> Expr[Scalar]:
    return x @ x


def main() -> None:
    reveal_type(square.dom)  # N: Vector[Pixel]
    reveal_type(program(square).dom)  # N: Vector[Pixel]
    reveal_type(program(square).cod)  # N: Field
    reveal_type(jvp(square).dom)  # N: DirectSum[Vector[Pixel], Vector[Pixel]]
    reveal_type(jvp(square).cod)  # N: Field
    reveal_type(vjp(square).dom)  # N: DirectSum[Vector[Pixel], Field]
    reveal_type(vjp(square).cod)  # N: Vector[Pixel]
    reveal_type(grad(square).dom)  # N: Vector[Pixel]
    reveal_type(value_and_grad(square).cod)  # N: DirectSum[Field, Vector[Pixel]]
    assert grad(square).dom == grad(square).cod == square.dom

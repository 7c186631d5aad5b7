"""The diagonal of what is not square, two numbers in `where`, parts without names."""

from diff import where
from hilbert import Fin, Part, R, Record, Vector, direct_sum


class Node: ...


class Edge: ...


class Weights(Record):
    node: Part[Vector[Node]]


node, edge = Fin(Node, 3), Fin(Edge, 2)
V, A = R**node, (R ** (node * edge)).ones()


def of_a_rectangle() -> None:
    A.trace()  # E: misc


def of_numbers() -> None:
    where(V.ones() > 0.0, 1.0, 0.0)  # E: call-overload


def of_a_direct_sum() -> None:
    direct_sum(V, V).vec(V.ones(), V.ones())  # E: arg-type


def of_a_record() -> None:
    Weights(node=V).of(V.ones())  # E: arg-type

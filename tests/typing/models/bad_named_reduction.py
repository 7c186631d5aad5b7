"""A wrong axis around a named linear function: what a gather leads to is not what it came from."""

from diff import fun
from hilbert import Elements, Fin, R
from hilbert.relation import function
from linmap import differences, gather, permute, reshape, segment_sum, total, windows


class Node: ...


class Edge: ...


class Step: ...


node, edge, step = Fin(Node, 4), Fin(Edge, 3), Fin(Step, 2)
X, E = R**node, R**edge
source = function([0, 1, 2], edge, node)


def bad_vector() -> None:
    gather(source)(E.zeros())  # E: arg-type


def bad_matrix() -> None:
    windows(node, 2, to=edge * step)((R ** (edge * step)).zeros())  # E: arg-type


def bad_nested() -> None:
    (gather(source) ** step)((E**step).zeros())  # E: arg-type


def bad_composition() -> None:
    segment_sum(source) @ segment_sum(source)  # E: arg-type


def bad_sum() -> None:
    gather(source) + differences(node, to=step)  # E: operator


def bad_found() -> None:
    gather((Elements(node) ** edge).zeros())(E.zeros())  # E: arg-type


def bad_elements() -> None:
    fun(X, Elements(node) ** edge)(lambda x, at: x[at] + x)  # E: operator


def bad_shape() -> None:
    total(node) @ reshape(node, step * step)  # E: operator


def bad_order() -> None:
    permute([2, 1, 0], edge)(X.zeros())  # E: arg-type

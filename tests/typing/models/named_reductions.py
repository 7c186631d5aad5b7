"""The named linear functions keep the tags of their axes: a gather leads from one index set to the other, and back."""

from typing import reveal_type

import numpy as np

from adjoint import adjoint, grad
from diff import Expr, fun, inner, sparse_product
from hilbert import Elements, Fin, R, Scalar, Vector
from hilbert.index import Labelled
from hilbert.relation import by_key, function, labels
from linmap import (
    concatenate,
    cumsum,
    differences,
    gather,
    group_by,
    pad,
    permute,
    pool,
    reshape,
    roll,
    scatter_add,
    segment_sum,
    slice_,
    sparse,
    windows,
)


class Node: ...


class Edge: ...


class Town: ...


class Step: ...


class Place: ...


node, edge, step = Fin(Node, 4), Fin(Edge, 3), Fin(Step, 2)
X = R**node
source, target = [0, 1, 2], [1, 2, 3]


@fun(X)
def energy(x: Expr[Vector[Node]]) -> Expr[Scalar]:
    stretch = gather(R, target, node, rows=edge)(x) - gather(R, source, node, rows=edge)(x)
    reveal_type(stretch)  # N: Expr[Vector[Edge]]
    return 0.5 * inner(stretch, stretch)


def main() -> None:
    x = X.vec([1.0, 2.0, 4.0, 8.0])
    ends = gather(R, target, node, rows=edge)
    reveal_type(ends)  # N: LinMap[Vector[Node], Vector[Edge]]
    reveal_type(gather(R, function(edge, node, source)))  # N: LinMap[Vector[Node], Vector[Edge]]
    reveal_type(gather(R, (Elements(node) ** edge).vec(source)))  # N: LinMap[Vector[Node], Vector[Edge]]
    back = segment_sum(R, target, node, rows=edge)
    reveal_type(back)  # N: LinMap[Vector[Edge], Vector[Node]]
    assert adjoint(gather(R, f := function(edge, node, source))) == segment_sum(R, f)
    reveal_type(scatter_add(R, function(edge, node, source)))  # N: LinMap[DirectSum[Vector[Node], Vector[Edge]], Vector[Node]]
    towns = labels(["Turku", "Bergen"], Town)
    reveal_type(group_by(R, ["Bergen"] * 4, towns, rows=node))  # N: LinMap[Vector[Node], Vector[Town]]
    reveal_type(gather(R, by_key(["Turku"] * 3, rows=edge, keys=towns)))  # N: LinMap[Vector[Town], Vector[Edge]]
    reveal_type(cumsum(R, node, exclusive=True) @ permute(R, [3, 2, 1, 0], node))  # N: LinMap[Vector[Node], Vector[Node]]
    reveal_type(roll(R, node, 1)(x))  # N: Vec[Vector[Node]]
    reveal_type(differences(R, node, to=edge)(x))  # N: Vec[Vector[Edge]]
    reveal_type(slice_(R, node, 1, None, to=edge))  # N: LinMap[Vector[Node], Vector[Edge]]
    reveal_type(pad(R, step, 1, 1, to=node))  # N: LinMap[Vector[Step], Vector[Node]]
    reveal_type(pool(R, node, 2, to=step)(x))  # N: Vec[Vector[Step]]
    reveal_type(windows(R, node, 2, to=edge * step))  # N: LinMap[Vector[Node], Matrix[Edge, Step]]
    reveal_type(reshape(R, node, step * step))  # N: LinMap[Vector[Node], Matrix[Step, Step]]
    reveal_type(concatenate(R, step, step, to=node))  # N: LinMap[DirectSum[Vector[Step], Vector[Step]], Vector[Node]]
    reveal_type(sparse(node, edge, [0, 1], [2, 3], [1.0, 2.0]))  # N: LinMap[Vector[Node], Vector[Edge]]
    product = sparse_product(node, edge, [0, 1], [2, 3], entries=step)
    reveal_type(product)  # N: Map[DirectSum[Vector[Step], Vector[Node]], Vector[Edge]]
    assert float(energy(x)) == 0.5 * (1.0 + 4.0 + 16.0)
    assert np.array_equal(grad(energy)(x).array, [-1.0, -1.0, -2.0, 4.0])
    assert isinstance(group_by(R, ["a", "b"]).cod.index, Labelled)

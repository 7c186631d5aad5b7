"""The named linear functions keep the tags of their axes: a gather leads from one index set to the other, and back."""

from typing import reveal_type

import numpy as np

from adjoint import adjoint, grad
from diff import Expr, fun, inner, sparse_product
from hilbert import Elements, Fin, R, Scalar, Vector
from hilbert.index.index import Labelled
from hilbert.relation import by_key, function, labels
from linmap import (
    concatenate,
    crop,
    cumsum,
    differences,
    gather,
    group_by,
    pad,
    permute,
    pool,
    reshape,
    roll,
    segment_sum,
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
    stretch = gather(target, node, rows=edge)(x) - gather(source, node, rows=edge)(x)
    reveal_type(stretch)  # N: Expr[Vector[Edge]]
    return 0.5 * inner(stretch, stretch)


def main() -> None:
    x = X.vec([1.0, 2.0, 4.0, 8.0])
    ends = gather(target, node, rows=edge)
    reveal_type(ends)  # N: LinMap[Vector[Node], Vector[Edge]]
    reveal_type(gather(function(source, edge, node)))  # N: LinMap[Vector[Node], Vector[Edge]]
    reveal_type(gather((Elements(node) ** edge).vec(source)))  # N: LinMap[Vector[Node], Vector[Edge]]
    back = segment_sum(target, node, rows=edge)
    reveal_type(back)  # N: LinMap[Vector[Edge], Vector[Node]]
    assert adjoint(gather(f := function(source, edge, node))) == segment_sum(f)
    towns = labels(["Turku", "Bergen"], Town)
    reveal_type(group_by(["Bergen"] * 4, towns, rows=node))  # N: LinMap[Vector[Node], Vector[Town]]
    reveal_type(gather(by_key(["Turku"] * 3, rows=edge, keys=towns)))  # N: LinMap[Vector[Town], Vector[Edge]]
    reveal_type(cumsum(node, exclusive=True) @ permute([3, 2, 1, 0], node))  # N: LinMap[Vector[Node], Vector[Node]]
    reveal_type(roll(node, 1)(x))  # N: Vec[Vector[Node]]
    reveal_type(differences(node, to=edge)(x))  # N: Vec[Vector[Edge]]
    reveal_type(crop(node, 1, None, to=edge))  # N: LinMap[Vector[Node], Vector[Edge]]
    reveal_type(pad(step, 1, 1, to=node))  # N: LinMap[Vector[Step], Vector[Node]]
    reveal_type(pool(node, 2, to=step)(x))  # N: Vec[Vector[Step]]
    reveal_type(windows(node, 2, to=edge * step))  # N: LinMap[Vector[Node], Matrix[Edge, Step]]
    reveal_type(reshape(node, step * step))  # N: LinMap[Vector[Node], Matrix[Step, Step]]
    reveal_type(concatenate(step, step, to=node))  # N: LinMap[DirectSum[Vector[Step], Vector[Step]], Vector[Node]]
    reveal_type(sparse([0, 1], [2, 3], [1.0, 2.0], node, edge))  # N: LinMap[Vector[Node], Vector[Edge]]
    product = sparse_product([0, 1], [2, 3], node, edge, entries=step)
    reveal_type(product)  # N: Map[DirectSum[Vector[Step], Vector[Node]], Vector[Edge]]
    assert float(energy(x)) == 0.5 * (1.0 + 4.0 + 16.0)
    assert np.array_equal(grad(energy)(x).array, [-1.0, -1.0, -2.0, 4.0])
    assert isinstance(group_by(["a", "b"]).cod.index, Labelled)

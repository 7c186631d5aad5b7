"""compose, fork, join and parallel: linear where every part is linear, a function where one is not."""

from typing import reveal_type

import numpy as np

from adjoint import adjoint
from diff import exp, fun, sin, square
from hilbert import Fin, Map, R, Scalar, direct_sum
from linmap import LinMap, compose, cumsum, fork, identity, inject, join, parallel, project, rep, scale, total, zero


class Item: ...


item = Fin(Item, 3)
X = R**item
Triple = direct_sum(X, R, X)
Four = direct_sum(X, R, X, R)

sums, copies, running = total(item), rep(item), cumsum(item)
energy = fun(X)(lambda x: x @ x)
waves = sin**item


def linear() -> None:
    reveal_type(sums @ copies)  # N: LinMap[Field, Field]
    reveal_type(running + identity(X))  # N: LinMap[Vector[Item], Vector[Item]]
    reveal_type(running - identity(X))  # N: LinMap[Vector[Item], Vector[Item]]
    reveal_type(-(2.0 * running))  # N: LinMap[Vector[Item], Vector[Item]]
    reveal_type(compose(sums, running))  # N: LinMap[Vector[Item], Field]
    reveal_type(compose(copies, sums, running))  # N: LinMap[Vector[Item], Vector[Item]]
    reveal_type(compose([running, running]))  # N: LinMap[Vector[Item], Vector[Item]]
    reveal_type(compose(sums, running, copies, sums))  # N: LinMap[Any, Field]
    reveal_type(fork(sums, running))  # N: LinMap[Vector[Item], DirectSum[Field, Vector[Item]]]
    reveal_type(fork(sums, running, sums))  # N: LinMap[Vector[Item], DirectSum[Field, Vector[Item], Field]]
    reveal_type(fork(sums, running, sums, running))  # N: LinMap[Vector[Item], Any]
    reveal_type(join(sums, identity(R)))  # N: LinMap[DirectSum[Vector[Item], Field], Field]
    reveal_type(join(sums, sums, identity(R)))  # N: LinMap[DirectSum[Vector[Item], Vector[Item], Field], Field]
    reveal_type(join(sums, sums, sums, sums))  # N: LinMap[Any, Field]
    reveal_type(parallel(sums, copies))  # N: LinMap[DirectSum[Vector[Item], Field], DirectSum[Field, Vector[Item]]]
    reveal_type(parallel(sums, copies, running))  # N: , DirectSum[Field, Vector[Item], Vector[Item]]]
    reveal_type(parallel(sums, copies, sums, copies))  # N: LinMap[Any, Any]
    assert adjoint(parallel(sums, copies, sums, copies)).dom == direct_sum(R, X, R, X)
    assert adjoint(fork(sums, running, sums, running)).cod == X
    assert adjoint(compose(sums, running, copies, sums)).dom == R


def mixed() -> None:
    reveal_type(sums @ waves)  # N: Map[Vector[Item], Field]
    reveal_type(waves @ running)  # N: Map[Vector[Item], Vector[Item]]
    reveal_type(running + waves)  # N: Map[Vector[Item], Vector[Item]]
    reveal_type(waves + running)  # N: Map[Vector[Item], Vector[Item]]
    reveal_type(running - waves)  # N: Map[Vector[Item], Vector[Item]]
    reveal_type(waves - running)  # N: Map[Vector[Item], Vector[Item]]
    reveal_type(-(2.0 * waves))  # N: Map[Vector[Item], Vector[Item]]
    reveal_type(compose(energy, running))  # N: Map[Vector[Item], Field]
    reveal_type(compose(exp, energy, running))  # N: Map[Vector[Item], Field]
    reveal_type(compose([waves, waves]))  # N: Map[Vector[Item], Vector[Item]]
    reveal_type(compose(exp, energy, waves, copies))  # N: Map[Any, Field]
    reveal_type(fork(energy, running))  # N: Map[Vector[Item], DirectSum[Field, Vector[Item]]]
    reveal_type(fork(energy, running, waves))  # N: Map[Vector[Item], DirectSum[Field, Vector[Item], Vector[Item]]]
    reveal_type(fork(energy, running, waves, sums))  # N: Map[Vector[Item], Any]
    reveal_type(parallel(energy, copies))  # N: Map[DirectSum[Vector[Item], Field], DirectSum[Field, Vector[Item]]]
    reveal_type(parallel(energy, copies, waves))  # N: , DirectSum[Field, Vector[Item], Vector[Item]]]
    reveal_type(parallel(energy, copies, sums, waves))  # N: Map[Any, Any]


def parts(i: int) -> None:
    reveal_type(project(Triple, 0))  # N: LinMap[DirectSum[Vector[Item], Field, Vector[Item]], Vector[Item]]
    reveal_type(project(Triple, 1))  # N: LinMap[DirectSum[Vector[Item], Field, Vector[Item]], Field]
    reveal_type(project(Triple, 2))  # N: LinMap[DirectSum[Vector[Item], Field, Vector[Item]], Vector[Item]]
    reveal_type(project(X, i))  # N: LinMap[Vector[Item], Field]
    reveal_type(project(Four, i))  # N: LinMap[DirectSum[Vector[Item], Field, Vector[Item], Field], Any]
    reveal_type(inject(Triple, 0))  # N: LinMap[Vector[Item], DirectSum[Vector[Item], Field, Vector[Item]]]
    reveal_type(inject(Triple, 1))  # N: LinMap[Field, DirectSum[Vector[Item], Field, Vector[Item]]]
    reveal_type(inject(Triple, 2))  # N: LinMap[Vector[Item], DirectSum[Vector[Item], Field, Vector[Item]]]
    reveal_type(inject(X, i))  # N: LinMap[Field, Vector[Item]]
    reveal_type(inject(Four, i))  # N: LinMap[Any, DirectSum[Vector[Item], Field, Vector[Item], Field]]


def chain(fs: list[Map[Scalar, Scalar]], gs: list[LinMap[Scalar, Scalar]]) -> None:
    reveal_type(compose(fs))  # N: Map[Field, Field]
    reveal_type(compose(gs))  # N: LinMap[Field, Field]
    reveal_type(fork(*gs))  # N: LinMap[Field, Any]
    reveal_type(fork(*fs))  # N: Map[Field, Any]


def main() -> None:
    linear()
    mixed()
    parts(2)
    chain([sin, square], [scale(2.0, R), zero(R, R)])
    x = X.vec([1.0, 2.0, 3.0])
    assert float(compose(exp, energy, running)(x)) == float(np.exp(1.0 + 9.0 + 36.0))

"""Adjoints of terms: of linear maps, of derivatives in the point; f** has the type of f."""

from typing import reveal_type

import numpy as np

from adjoint import adjoint
from diff import derivative, exp, fun, log, sin
from hilbert import Fin, R, direct_sum
from linmap import cumsum, dup, fork, project, simplify, total


class Step: ...


step = Fin(Step, 4)
X = R**step


def main() -> None:
    rng = np.random.default_rng(0)
    mean = 0.25 * total(step)
    reveal_type(adjoint(mean))  # N: LinMap[Field, Vector[Step]]
    reveal_type(adjoint(adjoint(mean)))  # N: LinMap[Vector[Step], Field]
    assert adjoint(adjoint(mean)) == mean
    f = fork(cumsum(step), mean)
    reveal_type(adjoint(f))  # N: LinMap[DirectSum[Vector[Step], Field], Vector[Step]]
    x, y = X.random(rng), direct_sum(X, R).random(rng)
    assert np.isclose(f(x).inner(y), x.inner(adjoint(f)(y)))
    wave = fun(X)(lambda x: exp(sin(x)))
    slope = derivative(wave)
    reveal_type(slope)  # N: Linearization[Vector[Step], Vector[Step], Vector[Step]]
    reveal_type(adjoint(slope))  # N: Linearization[Vector[Step], Vector[Step], Vector[Step]]
    assert adjoint(adjoint(slope)) == slope
    reveal_type(simplify(derivative(log @ sin)))  # N: Linearization[Field, Field, Field]
    reveal_type(simplify(log @ sin))  # N: Map[Field, Field]
    reveal_type(simplify(adjoint(dup(R)) @ dup(R)))  # N: LinMap[Field, Field]
    first = project(direct_sum(X, R), 0)
    energy = fun(X)(lambda x: x @ x) @ first
    reveal_type(adjoint(derivative(energy)))  # N: Linearization[DirectSum[Vector[Step], Field], Field, DirectSum[Vector[Step], Field]]
    assert float(adjoint(derivative(energy)).at(y)(R.vec(1.0))[1]) == 0.0

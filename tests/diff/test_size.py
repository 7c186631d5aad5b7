"""The size of f' is linear in the size of f: no expression swell."""

from typing import Any

import numpy as np
from hypothesis import given, note, settings

from adjoint import adjoint, grad
from diff import const, contract, cos, derivative, exp, fun, program, sigmoid, sin, square, tanh
from hilbert import Fin, R, direct_sum
from hilbert.program.line.operation import Contract
from linmap import compose, project
from tests.function_terms import function
from tests.strategies import Source, sources


def size(f: Any) -> int:
    """The steps of the derivative's program and the arcs of its body."""
    d = derivative(f)
    return len(d.program.steps) + len(d.body.arcs)


@settings(max_examples=100)
@given(sources(smooth=True))
def test_linear_size(s: Source) -> None:
    """A step has at most two arcs, and the partial derivatives of a primitive are at most seven steps."""
    f = function(s, 3)
    note(f)
    steps = len(program(f).steps)
    assert size(f) <= 10 * steps
    assert len(adjoint(derivative(f)).body.arcs) == len(derivative(f).body.arcs)


@given(sources(smooth=True, single=False))
def test_composition(s: Source) -> None:
    """A composition of n primitives whose derivative is one or two steps has a derivative of at most 4·n."""
    fs = [s.one_of((sin, cos, tanh, sigmoid, exp, square)) for _ in range(s.integer(1, 60))]
    f = compose(fs)
    assert size(f) <= 4 * len(program(f).steps)


def test_what_does_not_vary_has_no_arcs() -> None:
    """Of the paths between constants, and into what no result reads, nothing is kept."""
    f = fun(R)(lambda x: x + sin(const(R.vec(1.0))))
    assert len(derivative(f).body.arcs) == len(derivative(fun(R)(lambda x: x + 1.0)).body.arcs)
    V = R ** Fin.of(3)
    first = project(direct_sum(V, V), 0) @ fun(V)(lambda x: (sin(x), exp(cos(x))))
    assert len(derivative(first).body.arcs) == len(derivative(fun(V)(sin)).body.arcs)


def test_shared_factors() -> None:
    """s₊₂ = s₊₁·sin s has 4·10¹² paths after 60 rounds; its derivative and gradient have a few hundred steps."""

    def body(x: Any) -> Any:
        a, b = x, x
        for _ in range(60):
            a, b = b, b * sin(a)
        return b

    f = fun(R)(body)
    assert len(program(f).steps) <= 120
    assert len(derivative(f).body.arcs) <= 180
    assert len(program(grad(f)).steps) < 600


def test_squares_by_rows() -> None:
    """The gradient of Σ w_n·|x_n|² is 2·w_n·x_n: one product of that size, not one for each side."""
    N, D = Fin.of(5), Fin.of(3)
    w = (R**N).random(np.random.default_rng(0))
    f = fun((R**D) ** N)(lambda x: w @ contract("nd,nd->n", x, x, to=R**N))
    steps = program(grad(f)).steps
    assert sum(isinstance(step.operation, Contract) for step in steps) == 1
    x = f.dom.random(np.random.default_rng(1))
    np.testing.assert_allclose(grad(f)(x).array, 2 * w.array[:, None] * x.array)

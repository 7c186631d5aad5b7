"""Linear maps run their contractions in the order that costs least, whatever the order in which they are written."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, note, settings

from diff import derivative, fun
from hilbert import Fin, R
from hilbert.program.planning.multiplications import multiplications
from linmap import compose, cost, section
from linmap.contraction import matrix_vector
from linmap.net.apply import line, ordered
from linmap.net.lower import net, transposed
from linmap.term.linear_map import LinMap
from linmap.term.net import Closed
from tests.strategies import Source, sources


def dense(rng: np.random.Generator, cols: int, rows: int) -> LinMap[Any, Any]:
    """A random matrix."""
    X, Y = Fin.of(cols), Fin.of(rows)
    return section(matrix_vector(Y, X), 0, (R ** (Y * X)).random(rng))


@settings(max_examples=60)
@given(sources())
def test_chains_of_matrices(s: Source) -> None:
    """A chain on many vectors, and its adjoint: no more multiplications than as it is written, and the same values."""
    rng = np.random.default_rng(s.integer(0, 1000))
    sizes = [s.integer(1, 9) for _ in range(s.integer(2, 6))]
    count = s.integer(1, 40)
    note((sizes, count))
    chain = compose([dense(rng, a, b) for a, b in pairwise(sizes)][::-1])
    for one in (chain, transposed(chain)):
        f = one ** Fin.of(count)
        assert multiplications(ordered(net(f))) <= multiplications(line(net(f)))
        x = f.dom.random(rng)
        rows = [one(one.dom.vec(row)).array for row in x.array]
        assert np.allclose(f(x).array, rows, rtol=1e-12, atol=1e-12)


def test_a_waist_is_multiplied_out_once() -> None:
    """10 → 200 → 10 on a thousand vectors is one 10×10 matrix, which is made once; on one vector nothing is saved."""
    rng = np.random.default_rng(0)
    chain = dense(rng, 200, 10) @ dense(rng, 10, 200)
    assert multiplications(line(net(chain))) == multiplications(ordered(net(chain))) == 4000
    many = chain ** Fin.of(1000)
    assert multiplications(line(net(many))) == 4_000_000
    assert multiplications(ordered(net(many))) == 10 * 200 * 10 + 1000 * 10 * 10
    assert cost(many).apply.flops == 2 * 120_000


def test_derivatives_keep_the_order_of_their_function() -> None:
    """A map at a point runs as its derivative says: `planned=False` holds for it, too."""
    Z, N = Fin.of(20), Fin.of(300)
    spaces = R ** (Z * Z), R ** (Z * Z), R ** (Z * N)
    as_written = fun(*spaces, planned=False)(lambda A, B, x: A @ B @ x)
    closed = derivative(as_written).at(as_written.dom.random(np.random.default_rng(0)))
    assert isinstance(closed, Closed)
    assert ordered(closed.body) == line(closed.body)

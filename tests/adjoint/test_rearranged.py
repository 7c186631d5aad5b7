"""Unitary operators that `simplify` and `pointfree` make, which have no constructor: f* • f = id, f** = f."""

from __future__ import annotations

import pytest

from adjoint import adjoint
from hilbert import Fin, R, direct_sum
from linmap import identity, simplify
from linmap.term.nodes import Unitary
from tests.oracle import matrix

X, Y, Z = Fin.of(2), Fin.of(3), Fin.of(4)
V = R**X
MAPS = [
    Unitary("rearrange", R ** (X * Y * Z), R ** (Z * X * Y), (0,), ((2, 0, 1),)),
    Unitary("pack", direct_sum(V, direct_sum(R, V)), direct_sum(direct_sum(V, R), V), (0, 1, 2), ((0,), (), (0,))),
]


@pytest.mark.parametrize("f", MAPS)
def test_rearranged(f: Unitary) -> None:
    """The inverse is the transpose of the matrix."""
    assert (matrix(adjoint(f)) == matrix(f).T).all()
    assert adjoint(adjoint(f)) == f
    assert simplify(adjoint(f) @ f) == identity(f.dom)

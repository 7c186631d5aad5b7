"""Entries of a sparse matrix whose places are evenly spaced are added where they belong; others are put in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as library
from hilbert.relation import Graph, Inclusion
from linmap.matrices.made.matrix_plans import sparse_plan

hb: Any = library
N = 9
X = hb.Fin.of(N)
WEIGHTS = (hb.R**X).vec(np.cos(np.arange(N)))


class Column:
    """The columns of a grid."""


def chain(x: Any) -> Any:
    ahead = x[1:] - x[:-1]
    return x * x * x + hb.sinh(ahead).pad(1, 0, to=X) - hb.sinh(ahead).pad(0, 1, to=X)


def constant(x: Any) -> Any:
    """Some entries are known beforehand."""
    return WEIGHTS * x + (2.0 * x[1:]).pad(0, 1, to=X) + hb.square(x[:-1]).pad(1, 0, to=X)


def backwards(x: Any) -> Any:
    return hb.exp(x) + hb.sin(x[::-1])


def relations(f: Any) -> list[Any]:
    """The relations by which the plan of the derivative puts entries in place."""
    steps = sparse_plan(hb.derivative(f).body).runner.written.steps
    return [step.operation.relation for step in steps if hasattr(step.operation, "relation")]


@pytest.mark.parametrize(("f", "is_even"), [(chain, True), (constant, True), (backwards, False)])
@pytest.mark.parametrize("field", [hb.R, hb.R32])
def test_chains(f: Any, field: Any, is_even: bool) -> None:  # noqa: FBT001 - a row
    if field == hb.R32 and f is constant:
        f = lambda x: x + (2.0 * x[1:]).pad(0, 1, to=X) + hb.square(x[:-1]).pad(1, 0, to=X)  # noqa: E731
    V = field**X
    g = hb.fun(V)(f)
    x = V.random(np.random.default_rng(0))
    d = hb.derivative(g).at(x)
    full = hb.matrix(d, "array")
    np.testing.assert_allclose(hb.matrix(d, "sparse").toarray(), full, rtol=1e-6)
    assert np.count_nonzero(full) > N
    assert any(isinstance(r, Inclusion) and r.stride == 3 for r in relations(g)) is is_even
    assert any(isinstance(r, Graph) for r in relations(g)) is not is_even


@pytest.mark.parametrize("shape", [(1, 5), (2, 2), (4, 3)])
def test_grids_and_blocks(shape: tuple[int, int]) -> None:
    """Steps along both axes, and blocks of last axes."""
    V = hb.R ** (hb.Fin.of(shape[0]) * hb.Fin(Column, shape[1]))
    M = (hb.R ** (hb.Fin.of(3) * hb.Fin.of(3))).random(np.random.default_rng(1))
    U = (hb.R ** hb.Fin.of(3)) ** X
    spring = hb.fun(hb.R ** hb.Fin.of(3))(lambda d: hb.softplus(M @ d).sum())
    grid = hb.fun(V)(
        lambda x: hb.cosh(x[1:, :] - x[:-1, :]).sum() + hb.cosh(x[:, 1:] - x[:, :-1]).sum() + (x * x).sum()
    )
    blocks = hb.fun(U)(lambda p: (spring**X)(p).sum() + hb.square(p).sum())
    for f in (grid, blocks):
        d = hb.derivative(hb.grad(f)).at(f.dom.random(np.random.default_rng(2)))
        full = hb.matrix(d, "array").reshape(f.dom.dim, f.dom.dim)
        made = hb.matrix(d, "blocks")
        for one in (hb.matrix(d, "sparse"), made[0][0] if isinstance(made, tuple) else made):
            np.testing.assert_allclose(one.toarray(), full, rtol=1e-12, atol=1e-14)

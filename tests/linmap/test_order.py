"""The order of accumulation: the best of all pairwise orders, forward and adjoint as special cases, under a limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from diff import derivative, fun, tanh
from hilbert import Fin, R, SpaceError
from linmap import cost, matrix
from linmap.matrices.labelled.accumulation_order import Pairs, from_input, from_output, order, work
from tests.strategies import Source, sources


def orders(n: int) -> Iterator[Pairs]:
    """All pairwise orders of n factors."""
    if n == 1:
        yield ()
    for a in range(n):
        for b in range(a + 1, n):
            yield from (((a, b), *rest) for rest in orders(n - 1))


def chain(s: Source) -> tuple[list[tuple[int, ...]], tuple[int, ...], list[int]]:
    """Factors of a product of matrices, some with an axis more that the result keeps, and the sizes of the labels."""
    n = s.integer(2, 4)
    sizes = [s.integer(1, 6) for _ in range(2 * n + 1)]
    factors = [(k, k + 1, *((n + 1 + k,) if s.flag() else ())) for k in range(n)]
    extra = tuple(c for f in factors for c in f[2:])
    return factors, (0, n, *extra), sizes


@settings(max_examples=100)
@given(sources())
def test_the_best_of_all(s: Source) -> None:
    """Never more operations than forward or adjoint mode, and for chains no more than any order."""
    factors, keep, sizes = chain(s)
    found = order(factors, keep, sizes)
    assert (found.flops, found.largest) == work(found.pairs, factors, keep, sizes)
    assert found.flops == min(work(p, factors, keep, sizes)[0] for p in orders(len(factors)))
    n = len(factors)
    assert found.forward == work(from_input(n), factors, keep, sizes)[0] >= found.flops
    assert found.adjoint == work(from_output(n), factors, keep, sizes)[0] >= found.flops


@settings(max_examples=100)
@given(sources())
def test_limit(s: Source) -> None:
    """Within a limit, or an error where no order is."""
    factors, keep, sizes = chain(s)
    least = min(work(p, factors, keep, sizes)[1] for p in orders(len(factors)))
    result = math.prod(sizes[c] for c in keep)
    for limit in (least, max(least - 1, 1), s.integer(1, 50)):
        if max(limit, result) >= least:
            assert order(factors, keep, sizes, limit).largest <= max(limit, result)
        else:
            with pytest.raises(SpaceError, match=f"within {limit} entries: the smallest found needs {least}"):
                order(factors, keep, sizes, limit)


def three(a: int, b: int, c: int, d: int) -> Any:
    """The derivative of x ↦ C⋆tanh(B⋆tanh(A⋆x)) for sizes a → b → c → d, at a point."""
    rng = np.random.default_rng(0)
    sizes = [Fin.of(n) for n in (a, b, c, d)]
    matrices: Any = ((R ** (y * x)).vec(rng.standard_normal((y.size, x.size))) for x, y in pairwise(sizes))
    A, B, C = matrices
    f = fun(R ** sizes[0])(lambda x: C @ tanh(B @ tanh(A @ x)))
    return derivative(f).at(f.dom.random(rng))


def test_modes_of_derivatives() -> None:
    """Few inputs: forward; few outputs: adjoint. The array is the same in either order."""
    for sizes, mode in (((2, 30, 40, 50), "forward"), ((50, 40, 30, 2), "adjoint")):
        d = three(*sizes)
        found = cost(d, "array")
        assert mode in {o.mode for o in found.orders if len(o.factors) > 2}, str(found)
        assert f"order  {mode}: " in str(found)
        assert np.allclose(matrix(d, "array"), np.stack([d(e).array for e in d.dom.basis()], axis=1))


def test_limits_of_matrices() -> None:
    """A limit is kept, does not change the numbers, and is refused where it cannot be."""
    d = three(30, 40, 20, 2)
    due = matrix(d, "array")
    least = max(o.largest for o in cost(d, "array").orders)
    assert np.allclose(matrix(d, "array", limit=least), due)
    for call in (matrix, cost):
        with pytest.raises(SpaceError, match="no order keeps every intermediate array within 1 entries"):
            call(d, "array", limit=1)
    with pytest.raises(SpaceError, match="takes no limit"):
        matrix(d, "operator", limit=10)
    with pytest.raises(SpaceError, match="from 1 on, not 0"):
        matrix(d, limit=0)
    with pytest.raises(SpaceError, match="a matrix that is made is"):
        cost(d, "operator")


def test_work_of_one_contraction() -> None:
    """i·j·k products and as many sums of a matrix product; the products alone where nothing is summed."""
    sizes = [2, 3, 5]
    assert work(((0, 1),), [(0, 1), (1, 2)], (0, 2), sizes) == (2 * 2 * 3 * 5, 0)
    assert work(((0, 1),), [(0,), (1, 2)], (0, 1, 2), sizes) == (2 * 3 * 5, 0)


def test_writing_a_form_is_work() -> None:
    """The matrix of a diagonal in three forms: what is written is the entries of the form, 8 bytes each."""
    d = derivative(tanh ** Fin.of(100))
    sparse, dense = cost(d, "sparse").matrix, cost(d, "array").matrix
    assert dense.largest == 100 * 100
    assert dense.bytes >= 8 * 100 * 100
    assert 8 * 100 <= sparse.bytes < 8 * 100 * 10

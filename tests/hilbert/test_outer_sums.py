"""Sums of outer products as one product of matrices: the same values, and only where the rank is small."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.formal.formal_kernels import FormalKernels, dense
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.index import Fin
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.line.builder import Builder
from hilbert.program.line.line import Line
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.outer_sums import OuterSum, outer_sums
from hilbert.program.run.run import Runner

N, A, B = Fin.of(70), Fin.of(8), Fin.of(9)


def drawn(rng: np.random.Generator, dtype: str) -> Line:
    """A line of sums of outer products, of multiples of them, and of others."""
    entry = Entry(dtype)
    b = Builder([Leaf(entry, (N,)), Leaf(entry, (N,)), Leaf(entry, (A, B)), Leaf(entry, (N, A, B))])
    products: list[Callable[[], int]] = [
        lambda: b.contract(Spec("i", "jk", "ijk"), int(rng.integers(2)), 2),
        lambda: b.contract(Spec("ij", "k", "kij"), 2, int(rng.integers(2))),
        lambda: b.contract(Spec("i", "ijk", "ijk"), 0, 3),
        lambda: 3,
    ]
    total = products[int(rng.integers(2))]()
    ends = [total]
    for k in rng.integers(0, len(products), 6):
        term = products[int(k)]()
        term = b.scale(float(rng.normal()), term) if rng.integers(2) else term
        total = b.add(*((total, term) if rng.integers(2) else (term, total)))
        ends.append(total)
    return b.line([total, *(ends[:2] if rng.integers(3) == 0 else [])]).pruned()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("seed", range(40))
def test_values_are_those_of_the_line(seed: int, dtype: str) -> None:
    """A line and the line with its outer products together give the same arrays."""
    rng = np.random.default_rng(seed)
    line = drawn(rng, dtype)
    made = outer_sums(line)
    given = [rng.normal(size=leaf.shape).astype(dtype) for leaf in line.slots[: line.arity]]
    assert [made.slots[k] for k in made.outputs] == [line.slots[k] for k in line.outputs]
    for a, c in zip(BoundLine(line, NUMPY, [])(given), BoundLine(made, NUMPY, [])(given), strict=True):
        assert a.dtype == c.dtype
        assert np.allclose(a, c, rtol=1e-4 if dtype == "float32" else 1e-11, atol=1e-4 if dtype == "float32" else 1e-11)


def test_many_lines_are_changed() -> None:
    """The law above speaks of sums that are one product."""
    lines = [outer_sums(drawn(np.random.default_rng(seed), "float64")) for seed in range(40)]
    assert sum(any(isinstance(s.operation, OuterSum) for s in line.steps) for line in lines) >= 12


def test_a_hessian_of_low_rank_is_one_product() -> None:
    """A Hessian that is diagonal plus rank one k times has one product of matrices; with k near n each has its own."""
    V: Any = hb.R**N
    rng = np.random.default_rng(0)
    for k in (3, 50):
        rows = [V.vec(row) for row in rng.normal(size=(k, N.size))]
        f = hb.fun(V)(lambda x, rows=rows: hb.exp(x).sum() + sum(hb.cos(row @ x) for row in rows))
        p: Any = hb.hessian_program(f, as_="array")
        x = V.vec(rng.normal(size=N.size) * 0.1)
        a = np.array([row.array for row in rows])
        due = np.diag(np.exp(x.array)) - (a.T * np.cos(a @ x.array)) @ a
        assert np.allclose(np.reshape(p.matrix(x), due.shape), due, rtol=1e-11, atol=1e-11)
        assert any(isinstance(s.operation, OuterSum) for s in Runner(p.line).line.steps) == (k == 3)


def test_what_is_masked_is_no_outer_product() -> None:
    """Truth values choose: what is infinite where none holds is not multiplied by 0, as in a product of matrices."""
    number, truth = Leaf(Entry("float64"), (N,)), Leaf(Entry("bool"), (N,))
    b = Builder([truth, number, truth])
    line = b.line([b.add(b.contract(Spec("i", "j", "ij"), 0, 1), b.contract(Spec("i", "j", "ij"), 2, 1))])
    made = outer_sums(line)
    rng = np.random.default_rng(0)
    c, x, d = rng.random(N.size) < 0.5, rng.uniform(1.0, 2.0, N.size), rng.random(N.size) < 0.5
    x[3] = np.inf
    (found,) = BoundLine(made, NUMPY, [])([c, x, d])
    assert np.array_equal(found, np.where(c[:, None], x, 0.0) + np.where(d[:, None], x, 0.0))


def test_formal_arrays_stay_formal() -> None:
    """Of formal operands the sum is one of formal products: no array of them is made."""
    rng = np.random.default_rng(0)
    V: Any = hb.R**N
    f = hb.fun(V, V, V)(lambda a, b, c: hb.outer(a, b) + 2.0 * hb.outer(b, c) + hb.outer(c, c))
    arrays = [rng.normal(size=N.size) for _ in range(3)]
    runner = Runner(hb.program(f).line)
    assert any(isinstance(step.operation, OuterSum) for step in runner.line.steps)
    bound = BoundLine(runner.line, FormalKernels(NUMPY), arrays)
    (found,) = bound(arrays)
    a, b, c = arrays
    due = np.outer(a, b) + 2.0 * np.outer(b, c) + np.outer(c, c)
    assert isinstance(found, Formal)
    assert np.allclose(dense(found), due)

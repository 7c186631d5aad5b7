"""Arrays with their long axis last: equal values, inputs and outputs in their order, a change only where it pays."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import Fin, Unit
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.control.branch import Cond
from hilbert.program.layout.long_axes import LARGE, long_axes_inside, long_axis
from hilbert.program.layout.store import Store
from hilbert.program.line.builder import Builder
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Along, Move, Reduce
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.run import Runner
from hilbert.relation import Full, function, reversal, rotation
from hilbert.relation import run as part

N, A, B = Fin.of(LARGE // 2 + 3), Fin.of(2), Fin.of(3)
FEW, MANY = Fin.of(40), Fin.of(100)
F64 = Entry("float64")


def drawn(rng: np.random.Generator) -> Line:
    """A line on arrays of small vectors and matrices, a long axis among theirs."""
    given = [Leaf(F64, axes) for axes in ((N, B), (N, A, B), (A, N), (N,), (FEW, B), (B, A), ())]
    b = Builder(given)

    def one(*axes: Any) -> int:
        return int(rng.choice([k for k, leaf in enumerate(b.slots) if leaf.axes == axes]))

    ways: list[Any] = [
        lambda: b.add(one(N, B), one(N, B)),
        lambda: b.scale(0.5, one(N, A, B)),
        lambda: b.contract(Spec("i", "ij", "ij"), one(N), one(N, B)),
        lambda: b.contract(Spec("ij", "i", "ij"), one(N, B), one(N)),
        lambda: b.contract(Spec("ij", "ij", "i"), one(N, B), one(N, B)),
        lambda: b.contract(Spec("ijk", "ik", "ij"), one(N, A, B), one(N, B)),
        lambda: b.contract(Spec("ij", "ik", "ijk"), b.apply(Move((1, 0)), one(A, N)), one(N, B)),
        lambda: b.contract(Spec("ijk", "kj", "i"), one(N, A, B), one(B, A)),
        lambda: b.contract(Spec("ij", "ik", "jk"), one(N, B), one(N, B)),
        lambda: b.contract(Spec("ijk", "lj", "lik"), one(N, A, B), one(B, A)),
        lambda: b.contract(Spec("", "ij", "ij"), one(), one(N, B)),
        lambda: b.apply(Move((1, 0)), one(N, B)),
        lambda: b.apply(Move((1, 0)), one(A, N)),
        lambda: b.apply(Move((1, 2, 0)), one(N, A, B)),
        lambda: b.apply(Reduce(Full(B, Unit()), 1), one(N, B)),
        lambda: b.apply(Reduce(Full(N, Unit()), 0), one(N, B)),
        lambda: b.apply(Reduce(Full(Unit(), N), 0), one(B, A)),
        lambda: b.apply(Reduce(Full(Unit(), B), 1), one(N)),
        lambda: b.apply(Reduce(rotation(B, 1), 1), one(N, B)),
        lambda: b.apply(Reduce(reversal(A), 1), one(N, A, B)),
        lambda: b.apply(Reduce(part(Unit(), B, 1).T, 1), one(N, B)),
        lambda: b.apply(Reduce(rotation(N, 5), 0), one(N, B)),
        lambda: b.apply(Reduce(function(rng.integers(0, FEW.size, N.size), N, FEW).T, 0), one(FEW, B)),
        lambda: b.apply(Reduce(function(rng.integers(0, FEW.size, N.size), N, FEW), 0), one(N, B)),
        lambda: b.apply(Reduce(part(B, N, 1).T, 0), one(N, B)),
        lambda: b.apply(Reduce(function(np.full(FEW.size, 7), FEW, N).T, 0), one(N, B)),
        lambda: b.apply(Reduce(Full(B, Unit()), 2), b.apply(Reduce(Full(Unit(), MANY), 0), one(N, B))),
        lambda: b.add(
            b.apply(Reduce(Full(Unit(), MANY), 0), one(N, B)), b.apply(Reduce(Full(Unit(), MANY), 0), one(N, B))
        ),
        lambda: b.step(Along("logsumexp", B, 1), (one(N, B),)),
        lambda: b.step(Along("softmax", N, 0), (one(N, B),)),
    ]
    for k in rng.integers(0, len(ways), 14):
        ways[k]()
    ends = rng.choice(len(b.slots), 4)
    return b.line([len(b.slots) - 1, *(int(k) for k in ends)]).pruned()


@pytest.mark.parametrize("seed", range(60))
def test_values_are_those_of_the_line(seed: int) -> None:
    """A line and the line with its long axes inside give the same arrays, in the same order of axes."""
    rng = np.random.default_rng(seed)
    line = drawn(rng)
    given = [rng.normal(size=leaf.shape) for leaf in line.slots[: line.arity]]
    made = long_axes_inside(line)
    assert made.slots[: made.arity] == line.slots[: line.arity]
    assert [made.slots[k] for k in made.outputs] == [line.slots[k] for k in line.outputs]
    for a, c in zip(BoundLine(line, NUMPY, [])(given), BoundLine(made, NUMPY, [])(given), strict=True):
        assert np.allclose(a, c, rtol=1e-11, atol=1e-9)


def test_most_of_the_lines_are_changed() -> None:
    """The law above speaks of changed lines."""
    lines = [drawn(np.random.default_rng(seed)) for seed in range(60)]
    assert sum(long_axes_inside(line) is not line for line in lines) >= 30


def test_a_change_that_does_not_pay_is_none() -> None:
    """Steps entry by entry are as quick in any order, and so are short or square arrays."""
    many = Leaf(F64, (N, B))
    b = Builder([many, many])
    line = b.line([b.add(0, b.scale(2.0, 1))])
    assert long_axes_inside(line) is line
    for leaf in (Leaf(F64, (FEW, B)), Leaf(F64, (N, Fin.of(1100)))):
        b = Builder([leaf, leaf])
        line = b.line([b.contract(Spec("ij", "ij", "i"), 0, 1)])
        assert long_axis(leaf) is None
        assert long_axes_inside(line) is line


def test_residuals_are_stored_with_the_points_last() -> None:
    """A model of small vectors, lifted over many points, is run with the points last, and gives rows."""
    V = hb.R**B
    f = hb.fun(V**N, V)(lambda xs, c: hb.each(lambda x: (x @ c) * x + (c - x).norm() * c, xs))
    runner = Runner(hb.program(f).line)
    assert any(isinstance(step.operation, Store) for step in runner.line.steps)
    rng = np.random.default_rng(0)
    xs, c = rng.normal(size=(N.size, 3)), rng.normal(size=3)
    due = (xs @ c)[:, None] * xs + np.linalg.norm(c - xs, axis=1)[:, None] * c
    got = f(f.dom.vec((xs, c))).array
    assert got.shape == due.shape
    assert got.flags.c_contiguous
    assert np.allclose(got, due, rtol=1e-13)


def test_products_of_long_rows_are_not_all_made_before_they_are_added() -> None:
    """Σ over 16 rows of 10⁵ products makes one row, not sixteen."""
    leaf = Leaf(F64, (Fin.of(16), Fin.of(10**5)))
    kernel = NUMPY.contract(Spec("ij", "ij", "j"), leaf, leaf)
    a, b = np.ones(leaf.shape), np.full(leaf.shape, 2.0)
    tracemalloc.start()
    found = kernel.call(a, b)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(found, np.full(10**5, 32.0))
    assert peak < 3 * found.nbytes


@pytest.mark.parametrize("taken", ["all", "none", "some"])
def test_conditions_take_and_make_arrays_with_their_long_axes_last(taken: str) -> None:
    """A branch in each of many lanes: nothing is put in another order on the way into it, and out of it."""
    V = hb.R**B

    def body(x: Any) -> Any:
        scale = 2.0 * x.roll(1)
        y = hb.where(x[0] > 0.0, lambda: hb.sqrt(x[0]) * scale * scale.roll(1), lambda: scale + x)
        return y * y.roll(1) - (y @ y) * x

    f = hb.fun(V**N)(lambda x: hb.each(body, x))
    made = long_axes_inside(hb.program(f).line)
    branches = [step.operation for step in made.steps if isinstance(step.operation, Cond)]
    assert {leaf.axes[-1] for cond in branches for leaf in cond.then.slots[: cond.then.arity]} == {N}
    x = 1.0 + np.random.default_rng(0).random((N.size, 3))
    x[{"all": slice(0), "none": slice(None), "some": slice(None, None, 3)}[taken], 0] *= -1.0
    scale = 2.0 * np.roll(x, 1, 1)
    with np.errstate(invalid="ignore"):
        y = np.where(x[:, :1] > 0.0, np.sqrt(x[:, :1]) * scale * np.roll(scale, 1, 1), scale + x)
    due = y * np.roll(y, 1, 1) - (y * y).sum(1, keepdims=True) * x
    for _ in range(3):  # interpreted, and emitted
        np.testing.assert_allclose(f(f.dom.vec(x)).array, due, rtol=1e-12)

"""A line leaves out steps whose work nobody sees, and computes late what is read late."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from diff import exp, fun, sin
from hilbert import Fin, R, Unit
from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Library
from hilbert.index.leaf import Leaf
from hilbert.program.line.constant import filled
from hilbert.program.line.line import Line, Step
from hilbert.program.line.operation import Add, Literal
from hilbert.program.line.step_operation import Operation
from hilbert.program.run.run import Runner
from hilbert.relation import Full
from linmap.term import wire

X, Y = Fin.of(2), Fin.of(3)
INPUTS = [Leaf(R.entry), Leaf(R.entry, (X,)), Leaf(R.entry, (Y,)), Leaf(R.entry, (X, Y)), Leaf(R.entry, (X, Y))]


class Watched(Operation):
    """An operation that notes its runs in a log."""

    def __init__(self, operation: Operation, log: list[Any] | None = None) -> None:
        self.operation = operation
        self.log = [] if log is None else log

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The operation's own kernel."""
        kernel = self.operation.bind(lib, operands, result)

        def call(*args: Any) -> Any:
            self.log.append(self)
            return kernel.call(*args)

        return evolve(kernel, call=call, inplace=())


ROWS = Watched(wire.Reduce(Full(Unit(), X), 0))
ZERO: Step[Any] = Step(Literal(filled(0.0, INPUTS[4])), ())
REP: Step[Any] = Step(ROWS, (2,))
ADDED: Step[Any] = Step(Add(), (3, 5))
MOVED: Step[Any] = Step(wire.Move((1, 0)), (5,))


@pytest.mark.parametrize(
    ("outputs", "runs"),
    [((6,), 0), ((5, 6), 1), ((6, 7), 1), ((7,), 1)],
)
def test_repetition_that_only_sums_read_is_skipped(outputs: tuple[int, ...], runs: int) -> None:
    """A + rep b broadcasts: b is not repeated, unless the repetition is asked for or something else reads it."""
    leaves = (*INPUTS, Leaf(R.entry, (X, Y)), Leaf(R.entry, (X, Y)), Leaf(R.entry, (Y, X)))
    runner = Runner(Line(leaves, (ZERO, REP, ADDED, MOVED), outputs))
    ROWS.log.clear()
    for have, slot in zip(runner.run([np.full(leaf.shape, 2.0) for leaf in INPUTS[:4]]), outputs, strict=True):
        np.testing.assert_array_equal(have, np.full(leaves[slot].shape, 4.0 if slot == 6 else 2.0))
    assert len(ROWS.log) == runs


def test_steps_that_no_output_needs_are_dropped() -> None:
    """Dead code is not run."""
    dead, live = Watched(wire.Scale(2.0)), Watched(wire.Scale(3.0))
    line = Line((INPUTS[1],) * 3, (Step(dead, (0,)), Step(live, (0,))), (2,))
    Runner(line).run([np.zeros(2)])
    assert (len(dead.log), len(live.log)) == (0, 1)


def test_what_is_read_late_is_computed_late() -> None:
    """For (−2x) + 3x: 3x is computed after −2x, not beside it: two arrays at once, not three."""
    log: list[Any] = []
    double, triple, minus, add = (Watched(f, log) for f in (wire.Scale(2.0), wire.Scale(3.0), wire.Scale(-1.0), Add()))
    steps = (Step(double, (0,)), Step(triple, (0,)), Step(minus, (1,)), Step(add, (3, 2)))
    (result,) = Runner(Line((INPUTS[1],) * 5, steps, (4,))).run([np.ones(2)])
    np.testing.assert_array_equal(result, np.ones(2))
    assert log == [double, minus, triple, add]


def test_a_view_keeps_its_array_from_being_overwritten() -> None:
    """What a view shows is not overwritten by a step on the array, however many readers have gone."""
    V = R ** Fin.of(3)

    def body(x: Any) -> Any:
        s = sin(x)
        z = s[0:2]
        e = exp(s)
        return z.sum() * e.sum() + z[1]

    f = fun(V)(body)
    v = np.array([1.0, 2.0, 3.0])
    z, e = np.sin(v)[:2], np.exp(np.sin(v))
    assert float(f(V.vec(v))) == pytest.approx(z.sum() * e.sum() + z[1], abs=1e-12)

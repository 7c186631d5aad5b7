"""A tape leaves out steps whose work nobody sees, and computes late what is read late."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from hilbert import Fin, R, Unit
from hilbert.arrays.kernel import Kernel
from hilbert.arrays.tape import Instruction, Operation, Tape
from hilbert.relation import Full
from hilbert.space import Leaf
from linmap.net import wire

X, Y = Fin.of(2), Fin.of(3)
INPUTS = [Leaf(R), Leaf(R, (X,)), Leaf(R, (Y,)), Leaf(R, (X, Y)), Leaf(R, (X, Y))]


class Watched:
    """An operation that notes its runs in a log."""

    def __init__(self, operation: Operation, log: list[Any] | None = None) -> None:
        self.operation = operation
        self.log = [] if log is None else log

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The operation's own kernel."""
        kernel = self.operation.bind(xp, operands, result)

        def call(*args: Any) -> Any:
            self.log.append(self)
            return kernel.call(*args)

        return evolve(kernel, call=call, inplace=())


ROWS = Watched(wire.Reduce(Full(Unit(), X), 0))
REP = Instruction(ROWS, (2,), 5)
ADDED, MOVED = Instruction(wire.Add(), (3, 5), 6), Instruction(wire.Move((1, 0)), (5,), 7)


@pytest.mark.parametrize(
    ("code", "outputs", "runs"),
    [([REP, ADDED], [6], 0), ([REP, ADDED], [5, 6], 1), ([REP, ADDED, MOVED], [6, 7], 1), ([REP, MOVED], [7], 1)],
)
def test_repetition_that_only_sums_read_is_skipped(code: list[Instruction], outputs: list[int], runs: int) -> None:
    """A + rep b broadcasts: b is not repeated, unless the repetition is asked for or something else reads it."""
    leaves = [*INPUTS, Leaf(R, (X, Y)), Leaf(R, (X, Y)), Leaf(R, (Y, X))]
    tape = Tape(leaves, 4, {4: np.zeros((2, 3))}, code, outputs)
    ROWS.log.clear()
    for have, slot in zip(tape.run([np.full(leaf.shape, 2.0) for leaf in INPUTS[:4]]), outputs, strict=True):
        np.testing.assert_array_equal(have, np.full(leaves[slot].shape, 4.0 if slot == 6 else 2.0))
    assert len(ROWS.log) == runs


def test_steps_that_no_output_needs_are_dropped() -> None:
    """Dead code is not run."""
    dead, live = Watched(wire.Scale(2.0)), Watched(wire.Scale(3.0))
    code = [Instruction(dead, (1,), 5), Instruction(live, (1,), 6)]
    tape = Tape([*INPUTS, INPUTS[1], INPUTS[1]], 4, {4: np.zeros((2, 3))}, code, [6])
    tape.run([np.zeros(leaf.shape) for leaf in INPUTS[:4]])
    assert (len(dead.log), len(live.log)) == (0, 1)


def test_what_is_read_late_is_computed_late() -> None:
    """For (−2x) + 3x: 3x is computed after −2x, not beside it: two arrays at once, not three."""
    log: list[Any] = []
    double, triple, minus, add = (
        Watched(f, log) for f in (wire.Scale(2.0), wire.Scale(3.0), wire.Scale(-1.0), wire.Add())
    )
    code = [Instruction(double, (1,), 5), Instruction(triple, (1,), 6)]
    code += [Instruction(minus, (5,), 7), Instruction(add, (7, 6), 8)]
    tape = Tape([*INPUTS, *[INPUTS[1]] * 4], 4, {4: np.zeros((2, 3))}, code, [8])
    (result,) = tape.run([np.ones(leaf.shape) for leaf in INPUTS[:4]])
    np.testing.assert_array_equal(result, np.ones(2))
    assert log == [double, minus, triple, add]

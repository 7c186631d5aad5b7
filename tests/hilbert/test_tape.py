"""run(tape) = what its instructions say, one by one: no reuse of memory, skipped repetition or dropped step shows."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from diff.term import Primitive
from hilbert import Fin, R, Unit
from hilbert.arrays.kernel import Kernel
from hilbert.arrays.tape import Instruction, Operation, Tape
from hilbert.relation import Full
from hilbert.space import Leaf
from hilbert.spec import Spec
from linmap import wire

X, Y = Fin.of(2), Fin.of(3)
INPUTS = [Leaf(R), Leaf(R, (X,)), Leaf(R, (Y,)), Leaf(R, (X, Y)), Leaf(R, (X, Y))]
SPECS = [("ij", "j", "i"), ("ij", "i", "j"), ("i", "ij", "ij"), ("j", "ij", "ij"), ("", "i", "i"), ("i", "j", "ij")]
SPECS += [("ij", "ij", ""), ("ij", "ij", "i"), ("ij", "kj", "ik"), ("i", "i", "")]


def applicable(leaves: list[Leaf]) -> list[tuple[Any, tuple[int, ...], Leaf]]:
    """Every operation of the array layer that applies to slots of these leaves."""
    found: list[tuple[Any, tuple[int, ...], Leaf]] = []
    for a, leaf in enumerate(leaves):
        unary: list[Any] = [wire.Scale(-1.0), wire.Scale(2.0)]
        unary += [wire.Reduce(Full(Unit(), axis), at) for axis in (X, Y) for at in (0, len(leaf.axes))]
        unary += [wire.Reduce(Full(axis, Unit()), at) for at, axis in enumerate(leaf.axes)]
        unary += [wire.Move(tuple(reversed(range(len(leaf.axes)))))] if len(leaf.axes) > 1 else []
        found += [(f, (a,), wire.image(f, leaf)) for f in unary if len(wire.image(f, leaf).axes) <= 3]
        found += [(Primitive(name), (a,), leaf) for name in ("square", "tanh'", "relu")]
        for b, other in enumerate(leaves):
            if leaf == other:
                found += [(f, (a, b), leaf) for f in (wire.Add(), wire.Subtract())]
                found.append((wire.Contract(Spec.pointwise(len(leaf.axes))), (a, b), leaf))
            for labels in SPECS:
                spec = Spec.of(*labels)
                if fits(spec, leaf, other):
                    found.append((wire.Contract(spec), (a, b), wire.product(spec, leaf, other)))
    return found


def fits(spec: Spec, left: Leaf, right: Leaf) -> bool:
    """Whether the operands have the axes that the labels want."""
    if (len(spec.left), len(spec.right)) != (len(left.axes), len(right.axes)):
        return False
    pairs = [*zip(spec.left, left.axes, strict=True), *zip(spec.right, right.axes, strict=True)]
    return len({label for label, _ in pairs}) == len(set(pairs))


@st.composite
def tapes(draw: st.DrawFn) -> Tape:
    """A line of up to twelve operations, each on any earlier slots; some constants; any slots as outputs."""
    leaves = list(INPUTS)
    code = []
    for _ in range(draw(st.integers(1, 12))):
        operation, args, leaf = draw(st.sampled_from(applicable(leaves)))
        code.append(Instruction(operation, args, len(leaves)))
        leaves.append(leaf)
    outputs = draw(st.lists(st.integers(0, len(leaves) - 1), min_size=1, max_size=3))
    constants = {4: np.full((2, 3), 3.0)}
    return Tape(leaves, range(4), constants, code, outputs)


def one_by_one(tape: Tape, arrays: list[Any]) -> list[Any]:
    """Every instruction on copies of its operands."""
    slots: dict[int, Any] = dict(enumerate(arrays)) | tape.constants
    for step in tape.code:
        kernel = step.operation.bind(np, [tape.slots[k] for k in step.args], tape.slots[step.to])
        slots[step.to] = np.array(kernel.call(*(np.array(slots[k]) for k in step.args)))
    return [slots[k] for k in tape.outputs]


@given(tapes(), st.integers(0, 2**32 - 1))
def test_tape_does_what_its_instructions_say(tape: Tape, seed: int) -> None:
    """run(tape)(x) = tape's instructions in turn, twice over, and x and the constants stay as they are."""
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(rng.integers(-2, 3, leaf.shape), dtype=float) for leaf in INPUTS[:4]]
    due = one_by_one(tape, arrays)
    before = [a.copy() for a in arrays]
    for _ in range(2):
        for have, want, slot in zip(tape.run(arrays), due, tape.outputs, strict=True):
            assert np.shape(have) == tape.slots[slot].shape
            np.testing.assert_array_equal(have, want)
    for have, want in zip([*arrays, tape.constants[4]], [*before, np.full((2, 3), 3.0)], strict=True):
        np.testing.assert_array_equal(have, want)


class Watched:
    """An operation that counts how often it runs."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.runs = 0

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The operation's own kernel."""
        kernel = self.operation.bind(xp, operands, result)

        def call(*args: Any) -> Any:
            self.runs += 1
            return kernel.call(*args)

        return evolve(kernel, call=call)


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
    tape = Tape(leaves, range(4), {4: np.zeros((2, 3))}, code, outputs)
    ROWS.runs = 0
    for have, slot in zip(tape.run([np.full(leaf.shape, 2.0) for leaf in INPUTS[:4]]), outputs, strict=True):
        np.testing.assert_array_equal(have, np.full(leaves[slot].shape, 4.0 if slot == 6 else 2.0))
    assert ROWS.runs == runs


def test_steps_that_no_output_needs_are_dropped() -> None:
    """Dead code is not run."""
    dead, live = Watched(wire.Scale(2.0)), Watched(wire.Scale(3.0))
    code = [Instruction(dead, (1,), 5), Instruction(live, (1,), 6)]
    tape = Tape([*INPUTS, INPUTS[1], INPUTS[1]], range(4), {4: np.zeros((2, 3))}, code, [6])
    tape.run([np.zeros(leaf.shape) for leaf in INPUTS[:4]])
    assert (dead.runs, live.runs) == (0, 1)

"""Products of coefficients leave the rounds of linear loops: equal values to rounding, fewer calls in a round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hilbert import Fin
from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.control.distributed_loop import distributed
from hilbert.program.control.loop_coefficients import SMALL, with_coefficients
from hilbert.program.control.rounds import Rounds
from hilbert.program.line.builder import Builder
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Reduce
from hilbert.program.run.bound_line import BoundLine
from hilbert.relation import reversal

X = Fin.of(3)
LEAF = Leaf(Entry("float64"), X.axes)
ENTRIES = Spec("i", "i", "i")


def linear(rng: np.random.Generator) -> tuple[Line, int]:
    """A body that is linear in its states, drawn at random, and the number of states."""
    states, others = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    b = Builder([LEAF] * (states + others))
    fed, known = list(range(states)), list(range(states, states + others))

    def one(slots: list[int]) -> int:
        return slots[int(rng.integers(len(slots)))]

    for _ in range(int(rng.integers(3, 20))):
        match int(rng.integers(7)):
            case 0 | 1 | 2:
                pair = (one(known), one(fed))
                fed.append(b.contract(ENTRIES, *(pair if rng.integers(2) else pair[::-1])))
            case 3:
                fed.append(b.add(one(fed), one(fed)))
            case 4:
                fed.append(b.scale(float(rng.normal()), one(fed)))
            case 5:
                fed.append(b.apply(Reduce(reversal(X), 0), one(fed)))
            case _:
                known.append(b.contract(ENTRIES, one(known), one(known)))
                fed.append(b.add(one(fed), one(known)))
    return b.line([*(one(fed) for _ in range(states)), one(fed), one(known)]), states


@pytest.mark.parametrize("seed", range(150))
def test_values_are_the_same_to_rounding(seed: int) -> None:
    """A linear body and the body with coefficients apart give the same, relative to what is added up."""
    rng = np.random.default_rng(seed)
    body, states = linear(rng)
    made = with_coefficients(body, states)
    assert made is not None
    given = [rng.normal(size=3) for _ in range(body.arity)]
    size = BoundLine(body, NUMPY, [])([np.abs(a) for a in given])
    for a, c, most in zip(BoundLine(body, NUMPY, [])(given), BoundLine(made, NUMPY, [])(given), size, strict=True):
        assert np.all(np.abs(a - c) <= 1e-13 * (1.0 + np.abs(most)) * len(body.steps) ** 2)


def in_rounds(body: Line, states: int) -> int:
    """The calls of a round."""
    return sum(len(part.line.steps) for part in distributed(body, states, 0) if part.in_rounds)


def test_chains_leave_the_rounds() -> None:
    """Three products in a row, and two products with the same slot that are added, are one product of a round."""
    b = Builder([LEAF] * 4)
    chain = 0
    for c in (1, 2, 3):
        chain = b.contract(ENTRIES, c, chain)
    twice = b.add(b.contract(ENTRIES, 1, 0), b.scale(2.0, b.contract(ENTRIES, 0, 2)))
    for end in (chain, twice):
        body = b.line([end]).pruned()
        made = with_coefficients(body, 1)
        assert made is not None
        assert (in_rounds(body, 1) > 1, in_rounds(made, 1)) == (True, 1)


def test_other_bodies_are_left() -> None:
    """A body that is not linear has no coefficients, and a large coefficient stays where it is."""
    b = Builder([LEAF, LEAF])
    assert with_coefficients(b.line([b.contract(ENTRIES, 0, 0)]), 1) is None
    large: Any = Leaf(Entry("float64"), Fin.of(SMALL + 1).axes)
    b = Builder([large] * 3)
    body = b.line([b.contract(ENTRIES, 1, b.contract(ENTRIES, 2, 0))])
    assert with_coefficients(body, 1) == body


@pytest.mark.parametrize("seed", range(60))
def test_loops_of_linear_bodies_are_their_rounds(seed: int) -> None:
    """A loop in blocks of rounds, with coefficients apart, is its body round by round; so are its results."""
    rng = np.random.default_rng(seed)
    body, states = linear(rng)
    n, shared = 30, int(rng.integers(0, body.arity - states))
    given = [0.3 * rng.normal(size=3) for _ in range(states + shared)]
    stacks = [0.5 * rng.normal(size=(n, 3)) for _ in range(body.arity - states - shared)]
    reverse = bool(rng.integers(2))
    found = Rounds(body, NUMPY, (n,), states, shared, reverse=reverse)(Arrays([*given, *stacks]))
    bound, rows = BoundLine(body, NUMPY, []), [np.empty((n, 3)) for _ in body.outputs[states:]]
    now = given[:states]
    for t in reversed(range(n)) if reverse else range(n):
        made = bound([*now, *given[states:], *(stack[t] for stack in stacks)])
        now = made[:states]
        for row, value in zip(rows, made[states:], strict=True):
            row[t] = value
    size = max(float(np.max(np.abs(a))) for a in (*now, *rows))
    for a, c in zip(found, (*now, *rows), strict=True):
        assert np.allclose(a, c, rtol=1e-10, atol=1e-11 * size)

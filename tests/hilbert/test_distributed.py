"""Loops in blocks of rounds are the same loops round by round, whatever depends on what."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hilbert.all as hb
from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.index import Fin, Unit
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.control import rounds
from hilbert.program.control.distributed_loop import blocked, distributed
from hilbert.program.control.loop import Loop
from hilbert.program.control.rounds import Rounds
from hilbert.program.line.builder import Builder
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Contract, Reduce
from hilbert.program.run.constant_folding import folded
from hilbert.relation import Full
from tests.untyped import iterate

X = Fin.of(3)
NUMBER, VECTOR, MATRIX = (Leaf(Entry("float64"), (X,) * n) for n in range(3))
PRODUCTS = {
    (VECTOR, VECTOR): [Spec.pointwise(1), Spec.of("i", "i", ""), Spec.of("i", "j", "ij")],
    (MATRIX, VECTOR): [Spec.of("ij", "j", "i"), Spec.of("ij", "i", "j")],
    (NUMBER, VECTOR): [Spec.scalar(1)],
    (NUMBER, NUMBER): [Spec.scalar(0)],
}


@st.composite
def bodies(draw: st.DrawFn) -> tuple[Line, int, int]:
    """A round, its number of states and of shared arrays: products, sums, scalings, constants, in any order."""
    leaves = st.lists(st.sampled_from([NUMBER, VECTOR, MATRIX]), max_size=3)
    states, shared, slices = draw(leaves), draw(leaves), draw(leaves)
    b = Builder([*states, *shared, *slices])
    b.number(0.5, VECTOR)
    for _ in range(draw(st.integers(0, 12))):
        x, y = (draw(st.integers(0, len(b.slots) - 1)) for _ in range(2))
        specs = PRODUCTS.get((b.slots[x], b.slots[y]), [])
        match draw(st.integers(0, 3)):
            case 0 | 1 if specs:
                b.contract(draw(st.sampled_from(specs)), x, y)
            case 2 if b.slots[x] == b.slots[y]:
                b.add(x, y)
            case 3 if b.slots[x].axes:
                b.apply(Reduce(Full(X, Unit()), 0), x)
            case _:
                b.scale(-0.5, x)
    ends = []
    for k, leaf in enumerate(states):  # half of them are totals
        u = draw(st.sampled_from([slot for slot, other in enumerate(b.slots) if other == leaf]))
        ends.append(b.add(k, u) if draw(st.booleans()) else u)
    rows = draw(st.lists(st.integers(0, len(b.slots) - 1), max_size=3))
    return b.line([*ends, *rows]), len(states), len(shared)


@given(body=bodies(), n=st.integers(0, 30), size=st.integers(1, 12), reverse=st.booleans())
def test_blocks(body: tuple[Line, int, int], n: int, size: int, *, reverse: bool) -> None:
    """The last states and the stacks, for any number of rounds in a block."""
    line, states, shared = body
    rng = np.random.default_rng(0)
    leaves = line.slots[: line.arity]
    arrays = [0.3 * rng.standard_normal(leaf.shape) for leaf in leaves[: states + shared]]
    arrays += [0.3 * rng.standard_normal((n, *leaf.shape)) for leaf in leaves[states + shared :]]

    whole = folded(line)

    def found(parts: Any, per_block: int) -> Any:
        with mock.patch.object(rounds, "_parts", return_value=(whole, parts, per_block)):
            return Rounds(line, NUMPY, (n,), states, shared, reverse=reverse)(Arrays(arrays))

    with np.errstate(all="ignore"):
        due = found([], 0)
        made = found(distributed(line, states, shared), size) if n else due
    for a, b in zip(made, due, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(b), initial=0.0)))


def loops_of(f: Any) -> list[Loop]:
    """The loops of a function's program."""
    return [step.operation for step in hb.program(f).steps if isinstance(step.operation, Loop)]


def test_weights_leave_the_loop_as_one_contraction() -> None:
    """Σ_t d_t ⊗ s_t: no outer product in a round, one product of matrices for a block."""
    S, T = Fin.of(14), Fin.of(100)
    f = hb.fun(hb.R ** (S * S), hb.R**S)(lambda W, s: iterate(lambda t: hb.tanh(W @ t), s, T).sum())
    (loop,) = [loop for loop in loops_of(hb.grad(f)) if loop.reverse]
    parts = distributed(loop.body, loop.states, loop.shared)
    assert max(leaf.size for part in parts if part.in_rounds for leaf in part.line.slots[part.line.arity :]) == 14
    specs = [s.operation.spec for p in parts if p.totals for s in blocked(p, 50).steps if type(s.operation) is Contract]
    assert Spec.of("tj", "ti", "ij") in specs or Spec.of("ti", "tj", "ij") in specs


def test_a_block_is_bound_once() -> None:
    """A part is rewritten for a block of each size when the loop is first run, and not again."""
    S, T = Fin.of(4), Fin.of(100)
    f = hb.fun(hb.R**S, (hb.R**S) ** T)(lambda s, xs: hb.fold(lambda t, x: (t + x, hb.exp(x)), s, xs)[1])
    point = f.dom.random(np.random.default_rng(0))
    with mock.patch.object(rounds, "blocked", wraps=blocked) as made:
        f(point)
        times = made.call_count
        assert times
        f(point)
        assert made.call_count == times


@pytest.mark.parametrize("n", [7, 8, 1000])
def test_layers_are_one_after_the_other(n: int) -> None:
    """A recurrent layer on another: each runs alone; what lies between is one operation for a block."""
    S, T = Fin.of(4), Fin.of(n)
    V = hb.R**S

    def step(state: Any, x: Any) -> Any:
        a = hb.tanh(state[0] + hb.sin(x))
        b = hb.tanh(state[1] + hb.cos(a))
        return (a, b), hb.exp(b)

    f = hb.fun(V, V**T)(lambda s, xs: hb.fold(step, (s, s), xs)[1])
    (loop,) = loops_of(f)
    parts = distributed(loop.body, loop.states, loop.shared)
    assert [part.in_rounds for part in parts] == [False, True, False, True, False]
    point = f.dom.random(np.random.default_rng(0))
    s, xs = (leaf for leaf in point.leaves)
    a, b, due = s, s, []
    for x in xs:
        a = np.tanh(a + np.sin(x))
        b = np.tanh(b + np.cos(a))
        due.append(np.exp(b))
    np.testing.assert_allclose(f(point).array, due, rtol=1e-13)


def test_blocks_are_worth_it() -> None:
    """Where they spare a fifth of the calls: so many steps outside the rounds for 1 to 11 inside."""

    def body(inside: int, outside: int, *, shared: bool, stack: bool) -> Line:
        b = Builder([VECTOR] * (3 if shared else 2))
        state, x = 0, b.arity - 1
        for k in range(inside):
            state = b.contract(Spec.pointwise(1), state, 1 if shared and k else state)
        for _ in range(outside):
            x = b.scale(2.0, x)
        end = b.add(state, x)
        return b.line([end, end] if stack else [end])

    def least(inside: int, *, shared: bool, stack: bool) -> int:
        return next(
            n for n in range(9) if rounds._parts(body(inside, n, shared=shared, stack=stack), 1, int(shared), 99)[1]
        )

    due = [1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4]
    for stack in (False, True):
        for shared in (False, True):
            assert [least(k, shared=shared, stack=stack) for k in range(1, 12)] == due

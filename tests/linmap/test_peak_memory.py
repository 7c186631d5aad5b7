"""The memory that `cost` predicts, beside what a run takes."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.control.branch import Cond
from hilbert.program.control.loop import Loop
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.constant import Const
from hilbert.program.line.line import Line
from linmap.matrices.made.peak_memory import peak

if TYPE_CHECKING:
    from collections.abc import Callable

N, M = hb.Fin.of(400), hb.Fin.of(300)
V, W, A = hb.R**N, hb.R**M, hb.R ** (M * N)
LOOPS: Any = hb


def pairs(x: Any, y: Any) -> Any:
    """Σ exp(−(xᵢ − yⱼ)²)."""
    apart = x.rep(hb.R ** (N * M), over=1) - y.rep(hb.R ** (N * M), over=0)
    return hb.exp(-(apart * apart)).sum()


FUNCTIONS: dict[str, Callable[[], Any]] = {
    "a layer": lambda: hb.fun(A, V)(lambda a, x: hb.tanh(a @ x).sum()),
    "its gradient": lambda: hb.grad(hb.fun(A, V)(lambda a, x: hb.tanh(a @ x).sum())),
    "pairs": lambda: hb.fun(V, W)(pairs),
    "the gradient of pairs": lambda: hb.grad(hb.fun(V, W)(pairs)),
    "a chain": lambda: hb.fun(A)(lambda a: hb.sin(hb.cos(hb.sin(hb.cos(a) * a) + a) * a)),
    "a loop": lambda: hb.grad(
        hb.fun(A, V)(lambda a, x: LOOPS.iterate(lambda s: hb.tanh(a.T @ (a @ s) + x), x, hb.Fin.of(500)).sum())
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_memory_of_a_run(name: str) -> None:
    """The prediction is that of the allocator's peak, within a factor of 1.6 and a few kilobytes."""
    f = FUNCTIONS[name]()
    x = hb.initial(f.dom, np.random.default_rng(0))
    for _ in range(4):
        f(x)
    tracemalloc.start()
    try:
        f(x)
        found = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    due = hb.cost(f).run.memory
    assert due / 1.6 - 20_000 <= found <= due * 1.6 + 20_000


ROW, SINGLE, TRUTH = Leaf(Entry("float64"), (N,)), Leaf(Entry("float32"), (N,)), Leaf(Entry("bool"))
BYTES = 8 * N.size
ENTRIES = Spec("i", "i", "i")


def chain(b: Builder, slot: int, count: int) -> int:
    """x ↦ x·x so many times, each by an array of its own that is read once more."""
    for _ in range(count):
        slot = b.contract(ENTRIES, slot, 0)
    return slot


def made(leaf: Leaf, write: Callable[[Builder], int]) -> int:
    """The bytes that a line on one array takes."""
    b = Builder([leaf])
    return peak(b.line([write(b)]))


def body(count: int, given: int = 1) -> Line:
    """A line that holds so many rows at once."""
    b = Builder([ROW] * given)
    rows = [b.scale(2.0 + k, 0) for k in range(count)]
    total = rows[0]
    for row in rows[1:]:
        total = b.add(total, row)
    return b.line([total])


def held(b: Builder, flow: Any) -> int:
    """The result of a step that holds lines, on what is packed for it."""
    arrays = [0, *([b.literal(Const(np.True_, TRUTH, ("true",)))] if isinstance(flow, Cond) else [])][::-1]
    packed = b.step(Pack(), tuple(arrays))
    return b.step(Unpack(0), (b.step(flow, (packed,)),))


def test_what_counts() -> None:
    """Arrays that are made, in their precision; no arguments, no constants, nor results that fit into a dead array."""
    known = Const(np.arange(float(N.size)), ROW, ("known",))
    assert made(ROW, lambda b: chain(b, 0, 1)) == BYTES
    assert made(ROW, lambda b: chain(b, 0, 5)) == BYTES
    assert made(SINGLE, lambda b: b.scale(2.0, 0)) == BYTES // 2
    assert made(ROW, lambda b: b.add(0, b.literal(known))) == BYTES
    assert peak(body(3)) == 3 * BYTES


def test_what_nobody_reads_is_let_go() -> None:
    """A result that no step reads is made, and is not held."""
    b = Builder([ROW])
    for k in range(4):
        b.contract(Spec("i", "j", "ij"), 0, b.scale(2.0 + k, 0))
    end = b.scale(9.0, 0)
    whole = Line(tuple(b.slots), tuple(b.steps), (end,))
    assert len(whole.steps) == 9
    assert peak(whole) < 2 * N.size * BYTES


def test_what_is_inside_a_step_counts() -> None:
    """Of a loop a round, of a condition the larger branch, beside the results."""
    loop = Loop(body(4), hb.Fin.of(9), 1, 0)
    one, other = Cond(body(4), body(2)), Cond(body(4), body(4))
    assert made(ROW, lambda b: held(b, loop)) == 5 * BYTES
    assert made(ROW, lambda b: held(b, one)) == made(ROW, lambda b: held(b, other)) == 5 * BYTES


def test_what_is_taken_out_of_a_bundle_is_no_copy() -> None:
    """The last states of a loop are there once."""
    b = Builder([ROW] * 3)
    flow = Loop(Builder([ROW] * 3).line([1, 2, 0]), hb.Fin.of(9), 3, 0)
    packed = b.step(Pack(), (0, 1, 2))
    ends = b.step(flow, (packed,))
    assert peak(b.line([b.step(Unpack(k), (ends,)) for k in range(3)])) == 3 * BYTES

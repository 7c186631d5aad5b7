"""Choices, masks and elements on arrays whose long axis goes last, and stretches of lanes between other steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hilbert import Fin, Unit
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.layout.long_axes import LARGE, long_axes_inside
from hilbert.program.layout.store import ChooseInside, FillInside
from hilbert.program.line.builder import Builder
from hilbert.program.line.choice import Choose, Fill
from hilbert.program.line.constant import Const
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Along, Literal, Move, Reduce
from hilbert.program.run import lane_strips
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.fuse import fused
from hilbert.program.run.lane_strips import Lanes, in_strips_of_lanes
from hilbert.relation import Full, reversal, rotation

N, A, B = Fin.of(LARGE // 2 + 3), Fin.of(2), Fin.of(3)
F64, TRUTH, ELEMENT, LANE = Entry("float64"), Entry("bool"), Entry("int64", B), Entry("int64", N)


def numbers(rng: np.random.Generator, leaf: Leaf) -> Any:
    """An array of a leaf: one lane in three is false, elements are places."""
    if leaf.entry == TRUTH:
        return rng.random(leaf.shape) < 0.7
    if leaf.entry.index is not None:
        return rng.integers(0, leaf.entry.index.size, leaf.shape)
    return rng.normal(size=leaf.shape)


def choosing(rng: np.random.Generator) -> Line:
    """A line of choices, of fillings, of masks and of elements, between products and sums."""
    given = [Leaf(F64, axes) for axes in ((N, B), (N, A, B), (A, N), (N,), (B,))]
    given += [Leaf(TRUTH, (N,)), Leaf(TRUTH, (N, A)), Leaf(ELEMENT, (N,))]
    b = Builder(given)

    def one(*axes: Any, entry: Entry = F64) -> int:
        return int(rng.choice([k for k, leaf in enumerate(b.slots) if leaf.axes == axes and leaf.entry == entry]))

    ways: list[Any] = [
        lambda: b.step(Choose(), (one(N, entry=TRUTH), one(N, B), one(N, B))),
        lambda: b.step(Choose(), (one(N, entry=TRUTH), one(N, A, B), one(N, A, B))),
        lambda: b.step(Choose(), (one(N, entry=TRUTH), one(N), one(N))),
        lambda: b.step(Fill(0, True), (one(N, entry=TRUTH), one(N, B))),  # noqa: FBT003
        lambda: b.step(Fill(0, False), (one(N, entry=TRUTH), one(N, A, B))),  # noqa: FBT003
        lambda: b.step(Fill(1, True), (one(N, A, entry=TRUTH), one(N, A, B))),  # noqa: FBT003
        lambda: b.contract(Spec("i", "ij", "ij"), one(N, entry=TRUTH), one(N, B)),
        lambda: b.contract(Spec("ij", "ijk", "ik"), one(N, A, entry=TRUTH), one(N, A, B)),
        lambda: b.contract(Spec("ij", "ij", "i"), one(N, entry=ELEMENT), one(N, B)),
        lambda: b.contract(Spec("ij", "j", "i"), one(N, entry=ELEMENT), one(B)),
        lambda: b.contract(Spec("ij", "ij", "i"), one(N, B), one(N, B)),
        lambda: b.contract(Spec("i", "ij", "ij"), one(N), one(N, B)),
        lambda: b.apply(Reduce(Full(A, Unit()), 0), one(A, N)),
        lambda: b.apply(Reduce(Full(Unit(), A), 0), one(N)),
        lambda: b.apply(Reduce(Full(A, Unit()), 1), one(N, A, B)),
    ]
    for k in rng.integers(0, len(ways), 12):
        ways[k]()
    ends = rng.choice(len(b.slots), 3)
    return b.line([len(b.slots) - 1, *(int(k) for k in ends)]).pruned()


def check(rng: np.random.Generator, line: Line, made: Line) -> None:
    """Two lines give the same arrays."""
    given = [numbers(rng, leaf) for leaf in line.slots[: line.arity]]
    assert [made.slots[k] for k in made.outputs] == [line.slots[k] for k in line.outputs]
    for a, c in zip(BoundLine(line, NUMPY, [])(given), BoundLine(fused(made), NUMPY, [])(given), strict=True):
        assert np.shape(a) == np.shape(c)
        np.testing.assert_allclose(a, c, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_choices_are_those_of_the_line(seed: int) -> None:
    """A line and the line with its long axes inside choose, fill, mask and pick the same."""
    rng = np.random.default_rng(seed)
    line = choosing(rng)
    check(rng, line, long_axes_inside(line))


def test_many_choices_are_inside() -> None:
    """The law above speaks of choices along a last axis."""
    lines = [long_axes_inside(choosing(np.random.default_rng(seed))) for seed in range(60)]
    for kind in (ChooseInside, FillInside):
        assert sum(any(isinstance(step.operation, kind) for step in line.steps) for line in lines) >= 12


def lanes(rng: np.random.Generator) -> Line:
    """A line on arrays whose last axis has the lanes; some of its steps act along the lanes, or move them."""
    given = [Leaf(F64, axes) for axes in ((B, N), (A, B, N), (N,), (N, B), (B, A), (B,), ())]
    given += [Leaf(TRUTH, (B, N)), Leaf(ELEMENT, (N,)), Leaf(LANE, (B,))]
    b = Builder(given)

    def one(*axes: Any, entry: Entry = F64) -> int:
        return int(rng.choice([k for k, leaf in enumerate(b.slots) if leaf.axes == axes and leaf.entry == entry]))

    def known(axes: Any) -> int:
        leaf = Leaf(F64, axes)
        return b.emit(Literal(Const(rng.normal(size=leaf.shape), leaf, ("known", len(b.slots)))), (), leaf)

    ways: list[Any] = [
        lambda: b.add(one(B, N), one(B, N)),
        lambda: b.contract(Spec("ij", "ij", "ij"), one(B, N), one(B, N)),
        lambda: b.contract(Spec("ij", "j", "ij"), one(B, N), one(N)),
        lambda: b.contract(Spec("ij", "ik", "jk"), one(B, A), b.apply(Reduce(reversal(B), 0), one(B, N))),
        lambda: b.contract(Spec("ji", "kji", "ki"), one(B, N), one(A, B, N)),
        lambda: b.contract(Spec("ij", "ij", "ij"), one(B, N, entry=TRUTH), one(B, N)),
        lambda: b.contract(Spec("ij", "ji", "i"), one(N, entry=ELEMENT), one(B, N)),
        lambda: b.contract(Spec("ij", "i", "ij"), one(B, entry=LANE), one(B)),
        lambda: b.scale(0.5, one(A, B, N)),
        lambda: b.apply(Reduce(rotation(N, 5), 1), one(B, N)),
        lambda: b.apply(Reduce(reversal(N), 2), one(A, B, N)),
        lambda: b.apply(Reduce(rotation(B, 1), 0), one(B, N)),
        lambda: b.apply(Reduce(Full(B, Unit()), 0), one(B, N)),
        lambda: b.apply(Reduce(Full(Unit(), N), 1), one(B)),
        lambda: b.apply(Reduce(Full(Unit(), B), 0), one(N)),
        lambda: b.apply(Reduce(Full(N, Unit()), 1), one(B, N)),
        lambda: b.step(Along("softmax", N, 1), (one(B, N),)),
        lambda: b.step(Along("softmax", B, 0), (one(B, N),)),
        lambda: b.apply(Move((1, 0)), one(N, B)),
        lambda: b.apply(Move((1, 0, 2)), b.apply(Move((1, 0, 2)), one(A, B, N))),
        lambda: b.add(one(B, N), known((B, N))),
        lambda: b.contract(Spec("ij", "", "ij"), one(B, N), one()),
    ]
    for k in rng.integers(0, len(ways), 16):
        ways[k]()
    ends = rng.choice(len(b.slots), 3)
    return b.line([len(b.slots) - 1, *(int(k) for k in ends)]).pruned()


def patched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short stretches on few lanes are worth strips of 300, the last of which is shorter."""
    for name, value in (("LONG", 1000), ("MANY", 2), ("MADE", 0), ("CACHE", 1), ("NARROW", 300), ("WIDE", 300)):
        monkeypatch.setattr(lane_strips, name, value)


@pytest.mark.parametrize("seed", range(120))
def test_stretches_end_where_a_step_sees_other_lanes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line in strips gives the arrays of the line, whatever stands between the strips."""
    patched(monkeypatch)
    rng = np.random.default_rng(seed)
    line = lanes(rng)
    check(rng, line, in_strips_of_lanes(line))


def test_many_lines_have_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The law above speaks of lines in strips."""
    patched(monkeypatch)
    made = [in_strips_of_lanes(lanes(np.random.default_rng(seed))) for seed in range(120)]
    assert sum(any(isinstance(step.operation, Lanes) for step in line.steps) for line in made) >= 80

"""Stretches that act lane by lane, run in strips: the same values, errors at the user's line, only where worth it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.index import Fin
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.layout.long_axes import long_axes_inside
from hilbert.program.line.builder import Builder
from hilbert.program.line.line import Line
from hilbert.program.run import lane_strips
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.fuse import fused
from hilbert.program.run.lane_strips import LONG, MANY, Lanes, in_strips_of_lanes
from hilbert.program.run.run import Runner
from tests.hilbert.test_long_axes import drawn


def has_strips(line: Line) -> bool:
    """Tell if some stretch is a step."""
    return any(isinstance(step.operation, Lanes) for step in line.steps)


@pytest.mark.parametrize("seed", range(60))
def test_values_are_those_of_the_line(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line in strips, the last of which is shorter, gives the arrays of the line."""
    for name, value in (("LONG", 1000), ("MANY", 2), ("MADE", 0), ("CACHE", 1), ("NARROW", 300), ("WIDE", 300)):
        monkeypatch.setattr(lane_strips, name, value)
    rng = np.random.default_rng(seed)
    line = long_axes_inside(drawn(rng))
    given = [rng.normal(size=leaf.shape) for leaf in line.slots[: line.arity]]
    made = in_strips_of_lanes(line)
    assert [made.slots[k] for k in made.outputs] == [line.slots[k] for k in line.outputs]
    for a, c in zip(BoundLine(line, NUMPY, [])(given), BoundLine(fused(made), NUMPY, [])(given), strict=True):
        assert np.shape(a) == np.shape(c)
        assert np.allclose(a, c, rtol=1e-11, atol=1e-9)


def test_many_lines_have_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    """The law above speaks of lines in strips."""
    for name, value in (("LONG", 1000), ("MANY", 2), ("MADE", 0), ("CACHE", 1)):
        monkeypatch.setattr(lane_strips, name, value)
    lines = [in_strips_of_lanes(long_axes_inside(drawn(np.random.default_rng(seed)))) for seed in range(60)]
    assert sum(map(has_strips, lines)) >= 40


def test_short_stretches_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few steps, or few lanes, make little that could stay in the cache; few bytes stay there anyway."""
    monkeypatch.setattr(lane_strips, "CACHE", 1)
    lines = list[Line]()
    for lanes, steps, due in ((LONG, MANY, True), (LONG, MANY - 1, False), (LONG - 1, MANY, False)):
        leaf = Leaf(Entry("float64"), (Fin.of(2), Fin.of(lanes)))
        b = Builder([leaf])
        y = 0
        for k in range(steps):
            y = b.contract(Spec("ij", "ij", "ij"), y, 0) if k % 2 else b.add(y, 0)
        lines.append(b.line([y]))
        assert has_strips(in_strips_of_lanes(lines[-1])) == due
    monkeypatch.setattr(lane_strips, "CACHE", 32 * LONG * 8)
    assert not has_strips(in_strips_of_lanes(lines[0]))


def test_an_error_in_a_strip_names_the_users_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of a stretch has its own place."""
    monkeypatch.setattr(lane_strips, "CACHE", 1)
    V, N = hb.R ** hb.Fin.of(3), hb.Fin.of(LONG + 1)

    def point(x: Any) -> Any:
        for _ in range(MANY):
            x = (x @ x + 1.0) * x
        return hb.log(x @ x - 1.0)

    f = hb.fun(V**N)(lambda xs: hb.each(point, xs))
    assert has_strips(Runner(hb.program(f).line).line)
    xs = np.zeros((N.size, 3))
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError) as caught:
        f(f.dom.vec(xs))
    (note,) = caught.value.__notes__
    assert note.startswith(f"  computed by {__file__}:")

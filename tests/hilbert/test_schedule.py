"""The calls of a line: memory that is used again holds nothing that is read later, and dead arrays are let go."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from attrs import evolve

import hilbert.all as hb
from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Bundle, Entry, Leaf
from hilbert.program.calls import schedule
from hilbert.program.calls.emitted_line import PART
from hilbert.program.calls.schedule import calls, late, without_repetition
from hilbert.program.line.line import Line, Step
from hilbert.program.line.operation import Add, Scale
from hilbert.program.run.bound_line import FEW, BoundLine
from hilbert.program.run.constant_folding import folded
from hilbert.program.run.fuse import fused
from tests.hilbert.test_emitted import bits
from tests.programs import PROGRAMS, point

ROW = Leaf(Entry("float64"), (hb.Fin.of(3),))


@pytest.mark.parametrize("name", PROGRAMS)
def test_memory_is_used_again_without_a_trace(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every array that dies may be overwritten, results are to the bit those of arrays that all stay."""
    f = hb.program(PROGRAMS[name])
    line = fused(folded(f.line.pruned()))
    given = [np.asarray(a) for a in point(name, f).leaves]
    before = bits(given)
    found = []
    for most in (1 << 62, -1):
        monkeypatch.setattr(schedule, "SMALL", most)
        with np.errstate(all="ignore"):
            found.append(bits(BoundLine(line, NUMPY, [])(given)))
    assert found[0] == found[1]
    assert bits(given) == before


def overwritten(*dtypes: str, fresh: bool = True) -> bool:
    """Tell if the last of three steps, a → b → c → d, overwrites c; the second one is fresh or a view of b."""
    size = hb.Fin.of(schedule.SMALL + 1)
    slots = [Leaf(Entry(dtype), (size,)) for dtype in dtypes]
    one, other = Kernel(lambda a: a), Kernel(lambda a: a, fresh=fresh)
    last = Kernel(lambda a: a, inplace=(lambda a: a,))
    code: Any = [(one, (0,), 1), (other, (1,), 2), (last, (2,), 3)]
    return calls(code, slots, {3})[0][-1][0] is last.inplace[0]


def test_what_is_overwritten() -> None:
    """An array of its own in the space of the result; no view, nor one of another precision."""
    assert overwritten("float64", "float64", "float64", "float64")
    assert not overwritten("float64", "float64", "float32", "float64")
    assert not overwritten("float64", "float64", "float64", "float64", fresh=False)


def test_an_array_with_a_view_is_not_overwritten() -> None:
    """Of b and a view c of b, b is not overwritten while c is read later."""
    slots = [Leaf(Entry("float64"), (hb.Fin.of(schedule.SMALL + 1),))] * 6
    made, view = Kernel(lambda a: a), Kernel(lambda a: a, fresh=False)
    last = Kernel(lambda a: a, inplace=(lambda a: a,))
    code: Any = [(made, (0,), 1), (view, (1,), 2), (last, (1,), 3), (made, (2,), 4), (made, (3,), 5)]
    steps, owned = calls(code, slots, {4, 5})
    assert steps[2][0] is last.call
    assert not owned & {1, 2}


def test_bundles_die_as_arrays_do() -> None:
    """What is packed for a loop is let go behind the loop; numbers stay."""
    number, bundle = Leaf(Entry("float64")), Bundle((ROW, ROW))
    slots = [bundle, number, Leaf(Entry("float64"), (hb.Fin.of(schedule.SMALL + 1),))]
    steps, _ = calls([(Kernel(lambda a, _: a), (0, 1), 2)], slots, {2})
    assert steps[0][3] == (0,)


def test_two_repetitions_have_no_whole_operand() -> None:
    """Of two operands that are both only repeated one is spread out: the result has no other array of its shape."""
    wide = ROW.under((hb.Fin.of(4),))
    again = Kernel(lambda a: np.broadcast_to(a, (4, 3)), repeats=True)
    code: Any = [(again, (0,), 1), (again, (0,), 2), (Kernel(np.add, broadcasts=True), (1, 2), 3)]
    found = without_repetition(code, [ROW, wide, wide, wide], [3])
    env: list[Any] = [np.arange(3.0), None, None, None]
    for kernel, args, to in found:
        env[to] = kernel.call(*[env[k] for k in args])
    assert np.array_equal(env[3], 2.0 * np.broadcast_to(np.arange(3.0), (4, 3)))


def test_a_kernel_with_effects_is_called_in_its_place() -> None:
    """Others are called just before what reads them first."""
    first, other, last = (Kernel(lambda *_, k=k: k) for k in range(3))
    for kernel, order in ((first, [2, 1, 3]), (evolve(first, pure=False), [1, 2, 3])):
        code: Any = [(kernel, (0,), 1), (other, (0,), 2), (last, (1,), 3)]
        assert [to for _, _, to in late(code, {0, 2, 3})] == order


@pytest.mark.parametrize("times", [1, FEW + 2])
def test_a_line_of_parts_lets_go(times: int) -> None:
    """What a part reads last is let go there: twice as many arrays, half of them at a time, take no more memory."""
    leaf, up = Leaf(Entry("float64"), (hb.Fin.of(2000),)), PART - 100

    def peak(rounds: int) -> int:
        steps, top = list[Step[Any]](), 0
        for _ in range(rounds):
            chain = [top]
            for _ in range(up):
                steps.append(Step(Scale(1.5), (chain[-1],)))
                chain.append(len(steps))
            for k in reversed(chain[:-1]):
                steps.append(Step(Add(), (len(steps), k)))
            top = len(steps)
        line = Line((leaf,) * (len(steps) + 1), tuple(steps), (top,))
        bound = BoundLine(line, NUMPY, [])
        given = [np.zeros(leaf.shape)]
        for _ in range(times - 1):
            bound(given)
        tracemalloc.start()
        try:
            bound(given)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    one, two = peak(1), peak(2)
    assert one > up * leaf.size * 8
    assert two < 1.3 * one

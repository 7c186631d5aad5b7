"""Blocks of lines: the catalogue lifted over X with its totals, as it stands, and generated lines; right or refused.

The golden file `refusals.txt` has the programs of the catalogue that do not run in blocks along their first axis, with
the reason; `python -m tests.blocks.test_blocks_of_lines` writes the file as things are now.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diff.terms.lower import planned
from hilbert import SpaceError
from hilbert.index.index import Fin, Unit
from hilbert.program.blocks.passes import in_passes, joined
from hilbert.program.blocks.run_blocks import BlockRunner
from hilbert.program.line.builder import Builder
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Reduce
from hilbert.program.run.run import Runner
from hilbert.program.transform.lifted_line import lifted_on
from hilbert.relation import Full
from tests.compiled.generated_lines import generated
from tests.programs import PROGRAMS, point

FILE = Path(__file__).with_name("refusals.txt")
N = 23
X = Fin.of(N)
ONE = Fin.of(1)
LINES = 60
"""Lines that are generated."""


class Alone:
    """The name of another set of one element."""


def with_totals(line: Line, index: Any) -> Line:
    """The line that ends in its results and in their sums over X."""
    b = Builder(line.slots[: line.arity], fixed=line.fixed)
    where = b.inline(line, range(line.arity))
    ends = [where[k] for k in line.outputs]
    for k in list(ends):
        leaf = b.slots[k]
        if leaf.is_field:
            ends.append(b.apply(Reduce(Full(index, Unit()), leaf.axes.index(index)), k))
    return b.line(ends)


def lifted(name: str, index: Any = X) -> tuple[Line, list[Any]]:
    """A program of the catalogue for each element of X, and arrays that differ along X."""
    f = PROGRAMS[name]
    line = planned(f).line
    rng = np.random.default_rng(1)
    arrays = [np.stack([np.asarray(leaf)] * index.size) for leaf in point(name, f).leaves]
    moved = [a * (1 + 0.01 * rng.random(a.shape)).astype(a.dtype) if a.dtype.kind == "f" else a for a in arrays]
    return with_totals(lifted_on(line, (index,), [True] * line.arity), index), moved


def agree(line: Line, index: Any, arrays: Sequence[Any], size: int, *, far: bool = False, threads: int = 1) -> None:
    """The line in blocks gives what the line gives, to rounding."""
    passes = in_passes(line, index, far=far)
    if far:
        passes = joined(passes, size)
    with np.errstate(all="ignore"):
        want = Runner(line).run(arrays)
        found = BlockRunner(passes, size, threads).run(arrays)
    for a, b in zip(want, found, strict=True):
        a, b = np.asarray(a), np.asarray(b)  # noqa: PLW2901 - numbers as arrays
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        scale = np.max(np.abs(a), where=np.isfinite(a), initial=1.0) if a.dtype.kind == "f" else 1.0
        eps = (1e-4 if a.dtype == np.float32 else 1e-9) * scale
        np.testing.assert_allclose(b, a, rtol=1e-4 if a.dtype == np.float32 else 1e-9, atol=eps)


@pytest.mark.parametrize("name", PROGRAMS)
def test_lifted(name: str) -> None:
    line, arrays = lifted(name)
    for size, threads in ((1, 1), (7, 2), (N, 1), (N + 1, 1)):
        agree(line, X, arrays, size, threads=threads)
    agree(line, X, arrays, 10, far=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_lifted_over_one_element(name: str) -> None:
    """Whatever other axes of one element there are: a slice of one row, the real part of a transform."""
    for index in (ONE, Fin(Alone, 1)):
        line, arrays = lifted(name, index)
        for size in (1, 2):
            agree(line, index, arrays, size)
        agree(line, index, arrays, 1, far=True)


def first_axis(line: Line) -> Any:
    """The first axis of the inputs."""
    return next((axis for leaf in line.slots[: line.arity] for axis in leaf.axes), None)


def refusals() -> dict[str, str]:
    """The programs of the catalogue that do not run in blocks along their first axis, and why."""
    found = dict[str, str]()
    for name, f in PROGRAMS.items():
        line = planned(f).line
        index = first_axis(line)
        if index is None:
            continue
        try:
            in_passes(line, index)
        except SpaceError as error:
            found[name] = str(error)
    return found


def test_as_they_stand() -> None:
    """Refused as the file says; all others are right."""
    known = dict(row.split(" | ", 1) for row in FILE.read_text("utf-8").splitlines())
    found = refusals()
    assert found == known
    for name, f in PROGRAMS.items():
        line = planned(f).line
        index = first_axis(line)
        if index is not None and name not in found:
            agree(line, index, [np.asarray(leaf) for leaf in point(name, f).leaves], 2)


def test_generated_lines() -> None:
    """Refused along an axis, or right; a good part of them is accepted."""
    tried = right = 0
    for seed in range(LINES):
        line, arrays, _ = generated(seed, 12)
        for index in dict.fromkeys(axis for leaf in line.slots[: line.arity] for axis in leaf.axes):
            tried += 1
            try:
                in_passes(line, index)
            except SpaceError:
                continue
            agree(line, index, arrays, max(1, index.size // 2))
            agree(line, index, arrays, 1, far=True)
            right += 1
    assert 4 * right >= tried, (right, tried)


if __name__ == "__main__":
    FILE.write_text("".join(f"{name} | {why}\n" for name, why in refusals().items()), "utf-8")

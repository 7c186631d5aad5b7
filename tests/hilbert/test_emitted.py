"""Lines as functions of Python: the same bits as call by call, and errors that name their step."""

from __future__ import annotations

import gc
import linecache
import os
import subprocess
import sys
import traceback
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert.arrays.kernels.kernel import after, chained, flipped, inline, inlined
from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.program.calls.emitted_line import PART
from hilbert.program.control.loop import Loop
from hilbert.program.control.rounds import Rounds
from hilbert.program.line.line import Line, Step
from hilbert.program.line.operation import Add, Scale
from hilbert.program.run.bound_line import FEW, BoundLine
from hilbert.program.run.constant_folding import folded
from hilbert.program.run.fuse import fused
from tests.programs import PROGRAMS, point

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def bits(arrays: Sequence[Any]) -> list[Any]:
    """Types, shapes and bytes of arrays."""
    return [(np.asarray(a).dtype, np.shape(a), np.asarray(a).tobytes()) for a in Arrays(arrays).parts]


@pytest.mark.parametrize("name", PROGRAMS)
def test_emitted_lines_have_the_same_bits(name: str) -> None:
    """The function that is emitted gives what the calls give one by one, to the last bit."""
    f = hb.program(PROGRAMS[name])
    bound = BoundLine(fused(folded(f.line.pruned())), NUMPY, [])
    given = [np.asarray(a) for a in point(name, f).leaves]
    with np.errstate(all="ignore"):
        due = bits(bound(given))
        for _ in range(FEW):
            assert bits(bound(given)) == due


def loops(line: Line) -> Iterator[Loop]:
    """The loops among the steps of a line."""
    return (step.operation for step in line.steps if isinstance(step.operation, Loop))


def by_hand(loop: Loop, given: Sequence[Any]) -> list[Any]:
    """The results of a loop, whose body is interpreted round by round."""
    n, c = loop.index.size, loop.states
    whole, axes = c + loop.shared, len(loop.index.shape)
    states, shared = list(given[:c]), list(given[c:whole])
    stacks = [np.reshape(a, (n, *a.shape[axes:])) for a in given[whole:]]
    ends = [loop.body.slots[k] for k in loop.body.outputs[c:]]
    rows = [np.empty((n, *leaf.shape), leaf.dtype) for leaf in ends]
    for t in reversed(range(n)) if loop.reverse else range(n):
        made = BoundLine(loop.body, NUMPY, [])([*states, *shared, *(stack[t] for stack in stacks)])
        states = made[:c]
        for row, value in zip(rows, made[c:], strict=True):
            row[t] = value
    return [*states, *(row.reshape(*loop.index.shape, *row.shape[1:]) for row in rows)]


def looped(rng: np.random.Generator, *, long: bool = False) -> Any:
    """A function with a loop of small steps, drawn at random; of a long one the body has more calls than a part."""
    X = hb.Fin.of(int(rng.integers(1, 4)))
    T = hb.Fin.of(int(rng.integers(1, 7)))
    V = hb.R**X
    ways: list[Any] = [lambda s, x: s + x, lambda s, x: s * x, lambda s, x: hb.sin(s) - x, lambda s, _: 0.5 * s]
    ways += [lambda s, x: x.sum() * s, lambda s, x: hb.tanh(x) * hb.inner(s, x)]
    many = PART + 20 if long else int(rng.integers(1, 8))
    picked = [ways[k] for k in rng.integers(0, len(ways), many)]

    def step(s: Any, x: Any) -> Any:
        for way in picked:
            s = hb.tanh(way(s, x))
        return s

    loops: Any = hb
    return hb.fun(V, V**T)(lambda s, xs: loops.fold(step, s, xs).sum())


@pytest.mark.parametrize("seed", range(40))
def test_emitted_rounds_are_rounds(seed: int) -> None:
    """The rounds of a loop and of its derivative are those of its body, one after the other."""
    rng = np.random.default_rng(seed)
    f = looped(rng, long=seed < 2)
    program = hb.program(hb.value_and_grad(f) if seed % 2 else f)
    for loop in loops(program.line):
        given = [rng.normal(size=leaf.shape) for leaf in loop.given.leaves]
        sizes = loop.index.shape, loop.states, loop.shared
        found = Rounds(loop.body, NUMPY, *sizes, reverse=loop.reverse)(Arrays(given))
        due = by_hand(loop, given)
        assert len(found) == len(due)
        for a, b in zip(found, due, strict=True):
            assert np.allclose(a, b, rtol=1e-12, atol=1e-300)


def test_long_lines_are_cut() -> None:
    """A line of many parts is right, and lets go of arrays at their last use."""
    leaf = hb.R.leaves[0].under((hb.Fin.of(3000),)) if hasattr(hb.R.leaves[0], "under") else hb.R.leaves[0]
    n = 3 * PART + 7
    steps = tuple(Step(Scale(1.0 + k % 3) if k % 2 else Add(), (k,) if k % 2 else (k, max(k - 3, 0))) for k in range(n))
    line = Line((leaf,) * (n + 1), steps, (n, n - 1, 2 * PART, n // 2))
    bound = BoundLine(line, NUMPY, [])
    given = [np.full(leaf.shape, 1e-300)]
    with np.errstate(all="ignore"):
        due = bits(bound(given))
        assert [bits(bound(given)) for _ in range(FEW + 1)] == [due] * (FEW + 1)


def test_an_error_names_the_line_of_its_step() -> None:
    """In a traceback the line of an emitted function is the step, and the note is the user's line."""
    f = hb.fun(hb.R)(lambda x: 2.0 * hb.log(x + 1.0) * x)
    x = hb.R.vec(-1.0)
    with np.errstate(divide="raise"):
        for _ in range(FEW + 2):
            with pytest.raises(FloatingPointError) as caught:
                f(x)
            assert sum("computed by" in note for note in caught.value.__notes__) == 1
            assert "test_emitted.py" in caught.value.__notes__[0]
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    linecache.checkcache(last.filename)
    assert last.line is not None
    assert linecache.getline(last.filename, 1) == "def line(v0):\n"
    assert last.line.startswith("v3 = log")
    assert last.filename.startswith("<hilbert line ")  # tools that read the files of code leave it alone


def test_an_error_in_a_round_names_the_users_line() -> None:
    """So does one in the body of a loop, of a body of more calls than a part too."""
    loops: Any = hb
    for many in (1, PART + 5):

        def step(s: Any, many: int = many) -> Any:
            for _ in range(many):
                s = 0.5 * s
            return hb.log(s - s)  # the line

        f = loops.fun(hb.R)(lambda s, step=step: loops.iterate(step, s, hb.Fin.of(9)))
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError) as caught:
            f(hb.R.vec(0.5))
        assert "in step" in caught.value.__notes__[0]


def test_texts_of_kernels() -> None:
    """A text is a function, and texts within texts are one."""
    minus = inline("{0} - {k} * {1}", k=2.0)
    assert minus(5.0, 1.0) == 3.0
    assert flipped(minus)(1.0, 5.0) == 3.0
    whole = chained(minus, abs, inline("{0} / {k}", k=4.0), inline("-{0}"))
    assert whole(-5.0, 8.0) == -1.0
    assert after(inline("{0} + {k}", k=1), inline("{0} * {k}", k=3))(2) == 7
    found = inlined(whole)
    assert found is not None
    assert "k" not in found[1]
    assert inlined(abs) is None
    assert inlined(lambda a: a) is None


@pytest.mark.parametrize("n", [3, PART + 3])
def test_emitted_lines_are_no_cycles(n: int) -> None:
    """A bound line, and its constants, go with the last reference to the line."""
    leaf = hb.R.leaves[0]
    line = Line((leaf,) * (n + 1), tuple(Step(Add(), (k, k)) for k in range(n)), (n,))
    bound = BoundLine(line, NUMPY, [])
    for _ in range(FEW + 1):
        bound([np.float64(0.0)])
    emitted = bound._emitted
    assert emitted is not None
    gone = weakref.ref(emitted.call)
    gc.collect()
    gc.disable()
    try:
        del bound, emitted
        assert gone() is None
    finally:
        gc.enable()


def test_names_that_python_writes_otherwise() -> None:
    """A primitive of the user's may have any name: that of a step in the text is plain."""
    bell = hb.register("𝜎 of x", lambda xp, x: xp.exp(-x * x), lambda x, y: -2.0 * x * y)
    curve = hb.register("𝜎", lambda xp, x: xp.exp(-x * x), lambda x, y: -2.0 * x * y)
    loops: Any = hb
    for p in (bell, curve):
        f = loops.fun(hb.R)(lambda x, p=p: loops.iterate(p, x, hb.Fin.of(1)))
        assert float(f(hb.R.vec(0.3)).array) == np.exp(-0.09)


def test_last_states_hold_no_rows() -> None:
    """A last state is an array of its own, also one that was a row a round ago."""
    V, loops = hb.R ** hb.Fin.of(3), hb
    f: Any = getattr(loops, "fun")(V, V, V ** hb.Fin.of(200))(  # noqa: B009 - without types
        lambda s, t, xs: hb.fold(lambda st, x: ((st[0] + x, st[0]), st[0] + x), (s, t), xs)
    )
    rng = np.random.default_rng(0)
    out = f(f.dom.vec((rng.normal(size=3), rng.normal(size=3), rng.normal(size=(200, 3)))))
    arrays = [np.asarray(a) for a in out.leaves]
    for a in arrays:
        assert a.base is None or a.base.size <= a.size
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def test_measuring_coverage_meets_no_file(tmp_path: Path) -> None:
    """A user's report of coverage does not ask for the source of emitted lines."""
    model = "f = hb.fun(hb.R)(lambda x: hb.sin(x) * x)", "for _ in range(5):", "    f(hb.R.vec(1.0))"
    (tmp_path / "model.py").write_text("\n".join(["import hilbert.all as hb", *model, ""]), "utf-8")
    for command in (["run", "--source=.", "model.py"], ["report"]):
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "coverage", *command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(hb.__file__).parents[2])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.filterwarnings("error")
def test_extremes_are_written_where_they_are_wanted() -> None:
    """numpy takes the outputs of maximum and minimum by name: in strips, in loops and in their gradients."""
    V, T = hb.R ** hb.Fin.of(200_000), hb.Fin.of(5)
    f = hb.fun(V)(lambda x: hb.sin(hb.maximum(hb.minimum(hb.exp(x), x + 1.0), x * 2.0)))
    g = hb.fun(V)(lambda x: hb.iterate(lambda s: hb.maximum(s * x, s) * hb.minimum(s, x), x, T).sum())
    x = V.vec(np.linspace(0.0, 1.0, 200_000))
    for _ in range(4):
        assert np.allclose(f(x).array, np.sin(np.maximum(np.minimum(np.exp(x.array), x.array + 1.0), x.array * 2.0)))
        hb.grad(g)(x)

"""Lines as machine code beside the interpreter: the catalogue of programs, generated lines, defects that were found."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from adjoint import grad
from diff import exp, fun, lift
from diff.primitives import primitives
from diff.terms.lower import planned
from hilbert import R32, Fin, R, SpaceError, Unit
from hilbert.compiled.machine.compiled_line import CompiledLine
from hilbert.compiled.merge import buffer_axes
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.control.loop import Loop
from hilbert.program.line.builder import Builder
from hilbert.program.line.constant import filled
from hilbert.program.line.operation import Add, Contract, Literal, Reduce, Scale
from hilbert.program.run.run import Runner
from hilbert.relation import function, leq, reversal, rotation, run
from tests import programs
from tests.compiled import generated_lines
from tests.untyped import root, where

CALLS: dict[str, tuple[str, ...]] = {
    "expm": ("within the bounds of expm", "expm"),
    "sqrtm": ("eigenframe for √", "divided differences of √"),
    "eigh": ("eigh", "gaps", "close values of eigh*"),
    "qr": ("qr",),
    "svd": ("svd", "gaps", "close values of svd*"),
    "an operation": ("hyperbola of the programs",),
    "an operation, lifted": ("hyperbola of the programs",),
    "an operation, one by one": ("hyperbola of the programs, one by one",),
    "an operation, of none": ("hyperbola of the programs, one by one",),
    "a linear map": ("backwards, of the programs*",),
    "a linear map, one by one": ("doubled, of the programs",),
    "a linear map, of none": ("doubled, of the programs",),
    "argsort": ("argsort",),
    "argsort of a pair": ("argsort",),
    "top": ("argsort",),
    "gradient of sort": ("argsort",),
    "root of many unknowns": ("implicit with solve",),
    "ndtri": ("ndtri",),
    "lgamma": ("lgamma", "digamma"),
    "digamma": ("digamma", "polygamma"),
    "i0e": ("i0e", "i1e"),
    "i1e": ("i1e", "i0e", "i1e/x"),
    "betaln": ("betaln", "digamma"),
}
"""The kernels of the interpreter that programs of the catalogue call; all others are whole loops.

The last six are functions of scipy; programs that are written in the library's own operations join no more.
"""
TANH = next(f for f in primitives.PRIMITIVES if f.name == "tanh")
SEEDS = 24
"""Generated lines in a run of the tests; `python -m tests.compiled.generated_lines SEED COUNT` runs more."""


def line_of(*operations: Any, leaf: Leaf) -> Any:
    """The line of operations on one array, one after the other."""
    b = Builder([leaf])
    slot = 0
    for operation in operations:
        slot = b.step(operation, (slot,))
    return b.line([slot])


def real(*sizes: int) -> Leaf:
    """Numbers along axes."""
    return Leaf(Entry("float64"), tuple(map(Fin.of, sizes)))


def is_right(line: Any, *arrays: Any) -> bool:
    """Whether the machine code of a line gives what the interpreter gives."""
    return not generated_lines.wrong(line, [np.asarray(a) for a in arrays])


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_a_program_is_its_machine_code(name: str) -> None:
    """CompiledLine(f)(x) = f(x), and only the kernels named in CALLS are called."""
    f = programs.PROGRAMS[name]
    line = planned(f).line
    arrays = [np.array(a, order="C") for a in programs.point(name, f).leaves]
    compiled = CompiledLine(line)
    want, got = Runner(line).run(arrays), compiled(arrays)
    single = any(dtype == "float32" for dtype in generated_lines.dtypes(line))
    assert not generated_lines.agree(want, got, eps=1e-4 if single else 1e-10)
    assert tuple(dict.fromkeys(compiled.report.calls)) == CALLS.get(name, ())


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_generated_line_is_its_machine_code(seed: int) -> None:
    """The same of generated lines; every fourth in every way to compile."""
    line, arrays, _ = generated_lines.generated(seed)
    for way in generated_lines.ways() if seed % 12 == 0 else generated_lines.ways()[:1]:
        bad = generated_lines.wrong(line, arrays, **way.options)
        assert not bad, f"{way.name}: {generated_lines.culprit(line, arrays, **way.options)}"


# --- defects that were found ---


@pytest.mark.parametrize("n", [5, 20])
def test_composite_ends_where_it_is_wanted(n: int) -> None:
    """The reduction by R is not stored where that by S ∘ R is wanted and read in another order."""
    X = Fin.of(n)
    moved = function(np.random.default_rng(1).permutation(n), X, X).T
    x = np.random.default_rng(0).normal(size=(n, n))
    assert is_right(line_of(Reduce(moved @ leq(X), 0), leaf=real(n)), x[0])
    assert is_right(line_of(Reduce(leq(X) * moved, 0), leaf=real(n, n)), x)


@pytest.mark.parametrize(("to", "offset", "stride"), [(Unit(), 0, 1), (Fin.of(100), 100, -1), (Fin.of(100), 0, 2)])
def test_inclusion_of_nothing(to: Any, offset: int, stride: int) -> None:
    """Zeros, and nothing is written beside the array."""
    line = line_of(Reduce(run(Fin.of(0), to, offset, stride), 1), leaf=real(3, 0, 200))
    assert is_right(line, np.zeros((3, 0, 200)))


def test_constant_without_entries() -> None:
    """A number along an axis without elements."""
    b = Builder([real(0)])
    assert is_right(b.line([b.step(Literal(filled(1.0, real(0))), ())]), np.zeros(0))


def test_division_by_small_powers_of_two() -> None:
    """x/2⁻¹⁰³⁰ is not x·2¹⁰³⁰, which is ∞."""
    X = Fin.of(2)
    assert is_right(planned(fun(R**X)(lambda x: x / 2.0**-1030)).line, [0.0, 1e-320])
    x = np.array([0.0, 1e-40], np.float32)
    assert is_right(planned(fun(R32**X)(lambda x: x / 2.0**-130)).line, x)


def test_kernels_in_lanes_see_lanes_that_take_them() -> None:
    """An equation in a branch is not solved in lanes without a solution; lifted twice, and its derivative too."""
    f = fun(R, R)(lambda k, a: where(a > 0.0, lambda: root(lambda x: exp(x) - a, a), lambda: k * a))
    lanes, more = Fin.of(4), Fin.of(3)
    a = np.array([[1.0, -2.0, 3.0, -1.0], [-1.0, -2.0, -3.0, -4.0], [-1.0, -1.0, -0.5, 2.0]])
    assert is_right(planned(lift(f, lanes)).line, 2.0, a[0])
    assert is_right(planned(lift(lift(f, lanes), more)).line, 2.0, a)
    assert is_right(planned(lift(grad(f), lanes)).line, 2.0, a[0])


def test_long_chains_of_views() -> None:
    """Gathers of gathers: neither exponential nor too deep."""
    X = Fin.of(30)
    mixed = function(np.random.default_rng(0).permutation(30), X, X).T
    b = Builder([real(30)])
    slot = 0
    for _ in range(300):
        slot = b.emit(Reduce(mixed, 0), (slot,), b.slots[slot])
    assert is_right(b.line([slot]), np.arange(30.0))


def test_local_buffers_are_bounded() -> None:
    """They stand on the stack, which is small in a thread."""
    X = Fin.of(64)
    operations = [op for _ in range(200) for op in (Reduce(leq(X), 0), Scale(0.01))]
    compiled = CompiledLine(line_of(*operations, leaf=real(64)), level=0)
    assert 0 < compiled.text.count("alloca [64 x double]") <= buffer_axes.MOST // 64 + 1


@pytest.mark.parametrize("n", [4, 20])
@pytest.mark.parametrize("reverse", [False, True])
def test_states_are_read_before_they_are_written(n: int, *, reverse: bool) -> None:
    """Nothing that reads a state stands behind the loop that writes the next one, whichever loops are merged."""
    X = Fin.of(n)
    b = Builder([real(n), real(n), real(n)])
    s, t, x = range(3)
    new = b.step(TANH, (b.step(Add(), (s, x)),))
    turned = b.step(Reduce(reversal(X), 0), (s,))
    moved = b.step(Reduce(rotation(X, 1), 0), (t,))
    summed = b.step(Reduce(leq(X), 0), (b.step(Add(), (s, t)),))
    body = b.line([b.step(Add(), (new, moved)), s, summed, turned, new, moved])
    loop = Loop(body, Fin.of(5), 2, 0, reverse)
    outer = Builder([real(n), real(n), real(5, n)])
    line = outer.line(outer.unpack(outer.step(loop, (outer.pack([0, 1, 2]),))))
    rng = np.random.default_rng(0)
    assert is_right(line, *(rng.uniform(-1.0, 1.0, leaf.shape) for leaf in line.slots[:3]))


@pytest.mark.parametrize("n", [4, 40])
def test_other_inputs(n: int) -> None:
    """Arrays that lie otherwise in memory are read as they are; other shapes and numbers of arrays are refused."""
    b = Builder([real(n, n), real(n)])
    line = b.line([b.step(Contract(Spec.of("ij", "j", "i")), (0, 1)), b.step(Reduce(rotation(Fin.of(n), 1), 0), (1,))])
    compiled = CompiledLine(line)
    a, x = np.random.default_rng(0).normal(size=(n, n)), np.arange(float(n))
    want = Runner(line).run([a, x])
    memory = np.zeros(a.nbytes + 1, np.uint8)
    beside = np.frombuffer(memory.data, a.dtype, a.size, 1).reshape(n, n)
    beside[...] = a
    fixed = a.copy()
    fixed.flags.writeable = False
    for given in (
        np.asfortranarray(a),
        np.repeat(a, 2, 1)[:, ::2],
        a[::-1].copy()[::-1],
        beside,
        fixed,
        a.astype(">f8"),
    ):
        assert not generated_lines.agree(want, compiled([given, x]))
    same = np.broadcast_to(np.array(0.5), (n, n))
    assert not generated_lines.agree(Runner(line).run([same, x]), compiled([same, x]))
    for arrays in ([a], [a, x, x]):
        with pytest.raises(SpaceError, match="2 inputs"):
            compiled(arrays)
    with pytest.raises((SpaceError, ValueError), match="shape"):
        compiled([a[:3], x])


def test_calls_side_by_side() -> None:
    """Threads on one compiled line do not meet."""
    f = programs.PROGRAMS["gradient of fold, lifted"]
    line = planned(f).line
    compiled, runner = CompiledLine(line), Runner(line)
    rng = np.random.default_rng(0)
    points = [[rng.uniform(0.1, 0.9, leaf.shape) for leaf in f.dom.leaves] for _ in range(4)]
    wants = [runner.run(point) for point in points]
    bad: list[int] = []

    def work(k: int) -> None:
        bad.extend(k for _ in range(50) if generated_lines.agree(wants[k], compiled(points[k])))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bad


def test_an_array_of_another_shape_is_refused() -> None:
    """The code would read beside the array; one of another type, or order, is copied."""
    code = CompiledLine(planned(fun(R ** (Fin.of(2) * Fin.of(3)))(exp)).line)
    for array in (np.ones((2, 3), "f4"), np.ones((3, 2)).T):
        assert np.array_equal(code.fit(0, array), np.ones((2, 3)))
    for shape in ((3, 2), (6,), (2, 3, 1), ()):
        with pytest.raises(SpaceError, match=r"input 0 of a compiled line has the shape \(2, 3\), not"):
            code.fit(0, np.ones(shape))

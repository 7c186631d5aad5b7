"""Programs as C with sanitizers: all accesses stay within buffers and their axes, in both orders of parallel loops.

    python -m tests.compiled.test_sanitizers SEED COUNT

runs generated lines of so many seeds; the sanitizer says in which one it stopped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from attrs import frozen

import hilbert.all as hb
from diff.terms.lower import planned
from hilbert.compiled.machine.compiled_line import FOLDED
from hilbert.compiled.machine.lowered_line import lowered
from hilbert.compiled.tree.arrays import Loops
from hilbert.compiled.tree.buffers import Buffer
from hilbert.compiled.tree.places import Place, Variable
from hilbert.compiled.tree.statements import Called, For, Store
from hilbert.program.run.constant_folding import folded
from hilbert.program.run.run import Runner
from tests import programs
from tests.compiled import generated_lines, test_small_systems
from tests.compiled.c_printer import printed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COMPILER = shutil.which("gcc") or shutil.which("clang")
OPTIONS = [
    "-O1",
    "-ffp-contract=off",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover",
    "-w",
    f"-I{Path(__file__).parent}",
]
FILES = 8
"""The compiler's time grows faster than a file does, and two files are compiled at a time."""


@frozen
class Case:
    """A program in C: its name, what it reads and writes, and whose values it should have."""

    name: str
    text: str
    takes: list[Any]
    gives: list[Any]
    line: Any
    arrays: list[Any]


def case(name: str, line: Any, arrays: Sequence[Any]) -> Case | None:
    """The program of a line at given arrays; None where it calls kernels of the interpreter."""
    made = lowered(folded(line, FOLDED))
    inputs, outputs, parts = made.inputs, made.outputs, [part.statements for part in made.parts]
    statements = [statement for part in parts for statement in part]
    if any(isinstance(statement, Called) for statement in statements):
        return None
    constants = [*made.constants]
    gives = [*outputs, *([] if made.doubted is None else [made.doubted])]
    text = printed(name, statements, [*inputs, *constants], gives)
    held = [np.ascontiguousarray(a, b.dtype) for a, b in zip(arrays, inputs, strict=True)]
    return Case(name, text, [*held, *(b.values for b in constants)], gives, line, [*arrays])


def run(cases: Sequence[Case]) -> str:
    """What the sanitizers say, or the cases whose values are not the interpreter's; nothing if all is well."""
    assert COMPILER is not None
    with tempfile.TemporaryDirectory() as folder:
        parts = [cases[k::FILES] for k in range(FILES)]
        files = []
        for k, part in enumerate(parts):
            files.append(Path(folder, f"part{k}.c"))
            files[-1].write_text('#include "c_printer.h"\n' + "".join(c.text for c in part), "utf-8")
        files.append(Path(folder, "main.c"))
        declared = "".join(f"void {c.name}(void);\n" for c in cases)
        called = "".join(f"{c.name}();\n" for c in cases)
        files[-1].write_text(f"int backwards;\n{declared}int main(int n) {{\nbackwards = n > 1;\n{called}}}\n", "utf-8")
        with ThreadPoolExecutor(2) as pool:
            for ran in pool.map(lambda file: _ran([COMPILER, *OPTIONS, "-c", file, "-o", f"{file}.o"]), files):
                if ran.returncode:
                    return ran.stderr.decode()
        program = Path(folder, "program")
        linked = _ran([COMPILER, *OPTIONS, *(f"{file}.o" for file in files), "-lm", "-o", program])
        if linked.returncode:
            return linked.stderr.decode()
        given = b"".join(a.tobytes() for c in cases for a in c.takes)
        for way in ([], ["backwards"]):
            ran = _ran([program, *way], given)
            bad = _wrong(cases, ran.stdout) if not ran.returncode else []
            if ran.returncode or bad:
                return f"{' '.join(bad)} {ran.returncode} {ran.stderr.decode()}"
    return ""


def _ran(command: Sequence[Any], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
    return subprocess.run(command, input=given, capture_output=True, check=False, env=environment)  # noqa: S603 - ours


def _wrong(cases: Iterable[Case], made: bytes) -> list[str]:
    """The names of the cases whose values are not the interpreter's; those in doubt are not asked."""
    at, bad = 0, []
    for c in cases:
        got = []
        for buffer in c.gives:
            array = np.frombuffer(made, buffer.dtype, buffer.size, at).reshape(buffer.shape)
            at += array.nbytes
            got.append(array)
        if c.line is None or (len(got) > len(c.line.outputs) and got.pop()):
            continue
        want = Runner(c.line).run([a.copy() for a in c.arrays])
        eps = 2e-4 if any(dtype == "float32" for dtype in generated_lines.dtypes(c.line)) else 1e-9
        if generated_lines.agree(want, got, eps=eps) and generated_lines.agree(
            want, got, generated_lines.beside(c.line, c.arrays, eps), eps
        ):
            bad.append(c.name)
    return bad


@pytest.fixture(scope="module", autouse=True)
def _sanitizers() -> None:
    if COMPILER is None or run([]):
        pytest.skip("no compiler of C with sanitizers")


def test_programs_stay_within_their_buffers() -> None:
    """All programs of the catalogue that are loops alone."""
    cases = []
    for k, (name, f) in enumerate(programs.PROGRAMS.items()):
        found = case(f"program{k}", planned(f).line, programs.point(name, f).leaves)
        cases += [] if found is None else [found]
    assert not run(cases)


def test_large_systems_stay_within_their_buffers() -> None:
    """Those that LAPACK is called for, under an axis."""
    cases = []
    functions = [test_small_systems.function(name, 7) for name in test_small_systems.OPERATIONS]
    functions.append(hb.fun(functions[2].dom)(lambda a: hb.inverse(hb.cholesky(a @ a.T)).T @ a))
    for k, f in enumerate(functions):
        g: Any = hb.lift(f, hb.Fin.of(3), over=(0,)) if len(f.dom.leaves) > 1 else f ** hb.Fin.of(3)
        found = case(f"large{k}", planned(g).line, test_small_systems.drawn(g))
        assert found is not None
        cases.append(found)
    assert not run(cases)


def test_a_place_outside_is_found() -> None:
    """A place behind the last one of an axis is found, though it stands in the buffer."""
    to = Loops()
    buffer = Buffer("t", (3, 4), "float64")
    i = Variable("i", 3)
    for k, due in ((1, False), (2, True)):
        statements: list[Any] = [For(i, [Store(buffer, (Place(0), Place.of(i) + k), to.number(1.0, "float64"))])]
        one = Case("one", printed("one", statements, [], []), [], [], None, [])
        assert ("out of bounds" in run([one])) == due


def main(seed: int, count: int) -> int:
    """Run generated lines; 1 if something is wrong."""
    drawn = [(k, generated_lines.generated(k)) for k in range(seed, seed + count)]
    found = [case(f"seed_{k}", line, arrays) for k, (line, arrays, _) in drawn]
    cases = [c for c in found if c is not None]
    said = run(cases)
    print(f"{len(cases)} lines; wrong: {said or 'none'}")  # noqa: T201
    return int(bool(said))


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), int(sys.argv[2])))

"""Mutate the laws and the adjoint rules; the tests of meaning must notice.

    make mutation [ARGS="--laws 200 --engine 40 --seed 0"]

Every mutant is a module of laws with one change. The tests that run the changed line, most special first, are run on it
in a forked process; those that look at the text of terms, or at times, are not among them. A mutant is *killed* if the
meaning of a term changes, a rule enlarges a term, or an error is raised; it *fires less* if all that is noticed is that
a rule was found less than twenty times; otherwise it *survives*. `explained.txt` says of survivors why nothing can be
noticed. Hypothesis is derandomised, the sample is fixed by the
seed, so that a run can be repeated.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.abc
import importlib.util
import inspect
import io
import os
import pickle
import random
import re
import select
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.internal.conjecture.engine
import hypothesis.strategies
import numpy as np
import opt_einsum
import pytest
import scipy.sparse

from tests.mutation.mutants import Mutant, mutants, source

ROOT = Path(__file__).parents[2]
LOADED = (np, opt_einsum, scipy.sparse, pytest)  # before the processes are forked
LAWS = (
    *(f"linmap/laws/laws/{name}.py" for name in ("atoms", "biproduct", "category", "equations", "graph", "nets")),
    *(f"linmap/laws/laws/{name}.py" for name in ("relation_laws", "sections", "unitary", "wires")),
    *(f"linmap/laws/engine/{name}.py" for name in ("section_data", "computed_vectors", "section_labels")),
    "diff/laws/function_laws.py",
    "diff/laws/equations.py",
    "adjoint/reverse/rules.py",
)
ENGINE = tuple(
    f"linmap/laws/engine/{name}.py" for name in ("engine", "measure", "rule", "sequence", "shared_term", "row_weight")
)
TESTS = (
    "tests.linmap.test_laws",
    "tests.linmap.test_laws_apply",
    "tests.linmap.test_laws_equations",
    "tests.linmap.test_laws_nets",
    "tests.linmap.test_laws_relations",
    "tests.linmap.test_simplify",
    "tests.diff.test_laws",
    "tests.diff.test_laws_equations",
    "tests.adjoint.test_dagger",
    "tests.adjoint.test_defining_equation",
    "tests.adjoint.test_unitary",
    "tests.adjoint.test_rearranged",
)
GOLDEN = {"test_a_difference_of_equals", "test_low_rank_stays", "test_many_paths", "test_nothing_to_do"}
EXPLAINED = Path(__file__).with_name("explained.txt")
WIDE = {"test_no_redex", "test_simplify", "test_derivatives", "test_data_are_told_apart"}
WIDE |= {"test_the_size_is_kept", "test_what_the_measure_counts", "test_data_that_are_used_once_are_computed"}
FEW, MANY = (6, 30), (40, 90)
"""How many tests a mutant is given, and seconds: at first, and if it survives these."""


@dataclass(frozen=True)
class Test:
    """A test function, or one of its cases."""

    module: str
    function: str
    case: int | None
    label: str

    def run(self) -> None:
        """Call it; an exception is a failure."""
        f = getattr(importlib.import_module(self.module), self.function)
        f() if self.case is None else f(_cases(f)[self.case])


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: which test failed first, and how."""

    mutant: Mutant
    kind: str
    why: str
    seconds: float


def _cases(f: Callable[..., Any]) -> list[Any]:
    marks = [mark for mark in getattr(f, "pytestmark", []) if mark.name == "parametrize"]
    return list(marks[0].args[1]) if marks else []


def all_tests() -> Iterator[Test]:
    """The tests of meaning; those that need a fixture are left out."""
    for module in TESTS:
        for name, f in vars(importlib.import_module(module)).items():
            if not name.startswith("test_") or name in GOLDEN:
                continue
            cases = _cases(f)
            needed = [p for p in inspect.signature(f).parameters.values() if p.default is p.empty]
            if len(needed) == bool(cases):
                yield from (Test(module, name, k, str(case)) for k, case in enumerate(cases))
                if not cases:
                    yield Test(module, name, None, "")


def forked(work: Callable[[], Any], seconds: float) -> tuple[int, int]:
    """A process that does some work and writes the pickled result to a pipe: its id, and the pipe."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of its own time: the same verdict on a busy machine
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - whatever it is, it ends this process
            result = error if isinstance(error, Exception) and not error.args else RuntimeError(repr(error)[:300])
    with os.fdopen(writing, "wb") as pipe:
        pickle.dump(result, pipe)
    os._exit(0)


def result_of(child: int, pipe: int) -> Any:
    """What a forked process has written; None if it was ended by the time limit."""
    with os.fdopen(pipe, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a source that is given."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    def find_spec(self, name: str, *_: Any) -> Any:
        """Only for the module."""
        if name != self.path.removesuffix(".py").replace("/", "."):
            return None
        return importlib.util.spec_from_loader(name, self, origin=str(ROOT / self.path))

    def exec_module(self, module: Any) -> None:
        """Run the given source, as a file of the library: what stands elsewhere is taken for a user's."""
        file = str(ROOT / self.path)
        exec(compile(self.text, file, "exec"), vars(module))  # noqa: S102 - it is the source of the library


# --- which tests run which lines ---


def recorded(share: int, shares: int) -> tuple[dict[Test, float], dict[tuple[str, int], list[Test]]]:
    """The time of every test of a share, and for each file and line of the laws the tests that run it."""
    import coverage

    files = [*LAWS, *ENGINE]
    cover = coverage.Coverage(data_file=None, config_file=False, include=[str(ROOT / path) for path in files])
    cover.start()
    tests = list(all_tests())[share::shares]
    times = {}
    for k, test in enumerate(tests):
        cover.switch_context(str(k))
        start = time.process_time()
        test.run()
        times[test] = time.process_time() - start
    cover.stop()
    data = cover.get_data()
    lines: dict[tuple[str, int], list[Test]] = {}
    for path in files:
        for line, contexts in data.contexts_by_lineno(str(ROOT / path)).items():
            lines[path, line] = [tests[int(k)] for k in contexts if k]
    return times, lines


def chosen(mutant: Mutant, lines: dict[tuple[str, int], list[Test]], times: dict[Test, float], most: int) -> list[Test]:
    """Tests that run the line: that of the rule, the whole of `simplify`, then those that run few other lines.

    If there may be many, all near misses come before the others.
    """
    counts = Counter(test for tests in lines.values() for test in tests)
    covering = lines.get((mutant.path, mutant.line)) or _of_table(mutant, lines) or list(times)
    body = lines.get((mutant.path, mutant.line + 1), ())
    name = mutant.function.replace("_", " ").strip()
    ranked = sorted(covering, key=lambda t: (t.label != name, t not in body, counts[t], t.label))
    if mutant.path.endswith("rules.py"):
        ranked.sort(key=lambda t: "adjoint" not in t.module)
    if most > FEW[0]:
        ranked.sort(key=lambda t: t.function not in WIDE)
        return ranked[:most]
    general = [t for t in ranked[most - 1 :] if t.function == "test_simplify"]
    return [*ranked[: most - 1], *general]


def _of_table(mutant: Mutant, lines: dict[tuple[str, int], list[Test]]) -> list[Test]:
    """For a line of a table of the module those that run a line where the table's name is written."""
    text = (ROOT / mutant.path).read_text("utf-8").splitlines()
    names = [line.split(":")[0].split(" ")[0] for line in text[: mutant.line] if line[:1].isupper() or line[:1] == "_"]
    users = [k for k, line in enumerate(text, 1) if names and re.search(rf"\b{names[-1]}\b", line)]
    return list(dict.fromkeys(t for k in users for t in lines.get((mutant.path, k), ())))


# --- one mutant ---


def judged(mutant: Mutant, tests: Sequence[Test]) -> tuple[str, str]:
    """Run the tests on the mutant: its fate, and why."""
    sys.meta_path.insert(0, Changed(mutant.path, source(ROOT, mutant)))
    rarely = ""
    for test in tests:
        try:
            test.run()
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - any failure counts
            text = f"{test.function}[{test.label}]: {type(error).__name__} {error}".splitlines()[0][:160]
            if " was found " not in text:
                return "killed", text
            rarely = rarely or text
    return ("fires less", rarely) if rarely else ("survives", "")


def run(todo: list[Mutant], lines: Any, times: Any, processes: int, limits: tuple[int, int]) -> Iterator[Verdict]:
    """The verdicts on mutants, some at a time."""
    waiting = todo[::-1]
    running: dict[int, tuple[int, Mutant, float]] = {}
    while waiting or running:
        while waiting and len(running) < processes:
            mutant = waiting.pop()
            tests = chosen(mutant, lines, times, limits[0])
            child, pipe = forked(partial(judged, mutant, tests), limits[1])
            running[pipe] = child, mutant, time.monotonic()
        for pipe in select.select(list(running), [], [])[0]:
            child, mutant, start = running.pop(pipe)
            found = result_of(child, pipe)
            if isinstance(found, Exception):
                found = "killed", f"import: {found}"
            kind, why = found or ("killed", "time limit")
            yield Verdict(mutant, kind, why, time.monotonic() - start)


def explained() -> dict[str, str]:
    """Why mutants survive: the lines of the file that are no headings, by what stands before their last bar."""
    lines = [line for line in EXPLAINED.read_text("utf-8").splitlines() if line.count(" | ") >= 4]
    return dict(line.rsplit(" | ", 1) for line in lines)


def report(name: str, verdicts: list[Verdict], reasons: dict[str, str]) -> None:
    """One table, and the survivors that nothing explains."""
    kinds = ("killed", "fires less", "explained", "survives")
    table: dict[str, Counter[str]] = defaultdict(Counter)
    why = Counter[str]()
    for v in verdicts:
        reason = reasons.get(v.mutant.key) if v.kind == "survives" else None
        for row in (v.mutant.path, name):
            table[row]["explained" if reason else v.kind] += 1
        if reason:
            why[reason] += 1
    for path, counts in sorted(table.items(), key=lambda item: (item[0] == name, item[0])):
        cells = "  ".join(f"{kind} {counts[kind]:4}" for kind in kinds)
        wrong = counts.total() - counts["explained"]
        killed = 100 * (counts["killed"] + counts["fires less"]) / wrong if wrong else 100.0
        print(f"{path:28} mutants {counts.total():4}  {cells}  of those not explained {killed:5.1f} %")
    for reason, count in why.most_common():
        print(f"{count:4} {reason}")
    for v in verdicts:
        if v.kind == "survives" and v.mutant.key not in reasons:
            print(v.mutant)


def main() -> None:
    """Record, sample, run, report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--laws", type=int, default=200, help="how many mutants of the laws")
    parser.add_argument("--engine", type=int, default=40, help="how many of what applies them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="a part of a file's path or a function's name")
    parser.add_argument("--verbose", action="store_true", help="every verdict")
    args = parser.parse_args()
    os.nice(10)
    phases = [hypothesis.Phase.generate]
    checks = list(hypothesis.HealthCheck)
    hypothesis.settings.register_profile(
        "mutation", derandomize=True, database=None, deadline=None, phases=phases, suppress_health_check=checks
    )
    hypothesis.settings.load_profile("mutation")
    start = time.monotonic()
    times: dict[Test, float] = {}
    lines: dict[tuple[str, int], list[Test]] = defaultdict(list)
    shares = [forked(partial(recorded, k, args.processes), 1800) for k in range(args.processes)]
    for found in [result_of(*share) for share in shares]:
        if not isinstance(found, tuple):
            sys.exit(f"a test fails without a mutant: {found}")
        times |= found[0]
        for line, tests in found[1].items():
            lines[line] += tests
    print(f"{len(times)} tests of meaning, {sum(times.values()):.0f} s", flush=True)
    reasons = explained()
    for name, files, count in (("laws", LAWS, args.laws), ("engine", ENGINE, args.engine)):
        every = [m for path in files for m in mutants(ROOT, path)]
        every = [m for m in every if args.only in f"{m.path} {m.function}"]
        todo = random.Random(args.seed).sample(every, min(count, len(every)))
        verdicts: dict[Mutant, Verdict] = {}
        for limits in (FEW, MANY):
            for v in run(todo, lines, times, args.processes, limits):
                verdicts[v.mutant] = v
                if args.verbose:
                    print(f"{v.kind} {v.seconds:.1f} s {v.mutant}\n    {v.why}", flush=True)
            todo = [m for m in todo if verdicts[m].kind == "survives" and m.key not in reasons]
        print(f"{name}: {len(verdicts)} of {len(every)} mutants, {time.monotonic() - start:.0f} s")
        if verdicts:
            report(name, list(verdicts.values()), reasons)


if __name__ == "__main__":
    main()

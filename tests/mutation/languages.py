"""Mutate the passes and the tables of the languages, and the rules of models; their tests must notice.

    make language-mutants [ARGS="--each 56 --seed 0 --group nabla --verbose"]
    make higher-mutants [ARGS="--each 32 --seed 0 --group jets --verbose"]
    make model-mutants [ARGS="--each 24 --seed 0 --group loops --verbose"]

The groups of KS-Lisp and Caddie are ∇, ⊙ and ⊙R, CL, the other passes of the notes, the tables of types and both
parsers, and what a name means; those of functions of functions the macro, the rules of pullbacks, transposition, jets,
the evaluator and the checker; those of models what docs/control-flow.md, records.md, vocabulary.md and operations.md
speak of. Of each so many mutants are drawn by the seed. The tests that run the changed line, quick ones that run few
other lines first, are run on the mutant in a forked process: some, and many if it survives these.
`explained.txt` says of survivors why nothing can be noticed. Limits, and how many near names a message has, are not
changed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import re
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pytest

from tests.mutation.mutants import Mutant, mutants, source
from tests.mutation.run import ROOT, Changed, Verdict, explained, forked, report, result_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


def files(room: str, *names: str) -> dict[str, str]:
    """Files of a room, all of their functions."""
    return {f"{room}/{name}.py": "" for name in names}


Groups = dict[str, dict[str, str]]
"""Files, and which of their functions."""
LANGUAGES: Groups = {
    "nabla": {
        **files("adjoint/languages/ks/notes/jacobian", "nabla"),
        "adjoint/languages/ks/builtin/scalars.py": "$",  # the table, with the partial derivatives
    },
    "application": files("adjoint/languages/ks/notes/reverse", "application", "cotangents"),
    "categorical": files("adjoint/languages/ks/notes/categories", "categorical", "cl", "combinators"),
    "notes": {
        **files(
            "adjoint/languages/ks/notes/reverse",
            "anf",
            "dead_code",
            "optimise",
            "pass_scopes",
            "splitting",
            "tupling",
            "written_builds",
        ),
        **files("adjoint/languages/ks/notes/jacobian", "numbering"),
        **files("adjoint/languages/ks/notes", "pipeline"),
    },
    "tables": {
        **files("adjoint/languages/ks/text", "signatures", "parser", "text_scope"),
        **files("adjoint/languages/ks/builtin", "type_rules"),
        **files("adjoint/languages/caddie", "types", "parser"),
    },
    "resolution": files("adjoint/languages/ks/text", "resolution"),
}
HIGHER: Groups = {
    "macro": files("diff/lam/run", "taylor_macro", "taylor_slots", "scalar_partials", "faa_di_bruno"),
    "rules": {
        **files("adjoint/higher/term", "jacobian", "steps", "redexes", "anormal"),
        **files("adjoint/higher/value", "moving_levels", "product_components"),
        **files("adjoint/higher/machine", "forward_values", "derivative_series"),
    },
    "transposition": {
        **files("adjoint/higher/machine", "transpose", "pairing", "pushforward", "primitive_adjoints", "machine"),
        **files("adjoint/higher/value", "normal_forms", "stored_types", "pullback_values"),
    },
    "jets": files(
        "diff/jets",
        "jet_programs",
        "multiindex",
        "series",
        "series_of_control",
        "series_rules",
        "series_families",
        "series_orders",
    ),
    "evaluator": {
        **files("diff/lam/run", "evaluate", "folding", "matching", "translate"),
        **files("diff/lam/term", "lam_values"),
    },
    "checker": files("diff/lam/check", "check", "typing_rules"),
}
MODELS: Groups = {
    "loops": {
        **files("diff/control", "loops"),
        **files("diff/derive", "loop_derivative"),
        **files("hilbert/program/control", "loop", "while_loop", "rounds"),
        **files("hilbert/program/transform", "emit_loop", "checkpoints"),
    },
    "branches": {
        **files("diff/control", "bodies", "branches", "vectorised"),
        **files("diff/terms", "lift"),
        **files("diff/derive", "branch_derivative"),
        **files("hilbert/program/control", "branch"),
        **files("hilbert/program/line", "lift_step"),
        **files("hilbert/program/transform", "lifted_line"),
    },
    "records": {
        **files("hilbert/space", "leafwise"),
        **files("hilbert/index", "lens"),
        **files("hilbert/map", "record", "vector_files"),
        **files("diff/trace", "record_parts"),
        **files("hilbert/program/line", "bundle"),
    },
    "vocabulary": {
        **files("diff/derive", "axis_derivative"),
        **files("diff/trace", "axes"),
        **files("diff/vocabulary", "convolution", "dot", "operations", "axis_products", "reductions"),
    },
    "operations": {
        **files("diff/terms", "user_operation"),
        **files("diff/derive", "user_operation_derivative"),
        **files("linmap/term", "user_maps"),
        **files("hilbert/program/line", "external"),
    },
    "algebra": {
        **files("diff/control", "fixed_points"),
        **files("diff/vocabulary", "linear_algebra"),
        **files("diff/derive", "equation_derivative"),
        **files("hilbert/program/control", "equation_step"),
        **files("hilbert/program/transform", "run_linear_system"),
        **files(
            "hilbert/arrays/systems", "linear_systems", "sparse_systems", "banded", "triangles", "low_rank_systems"
        ),
        **files("hilbert/arrays/elimination", "common_unknowns", "kept_factors", "selected_inverse", "sparse_lu"),
    },
}


@dataclass(frozen=True)
class Suite:
    """What is changed, the tests that must notice, which of them, and what is imported before processes are forked.

    Of some groups there are tests of their own. What is changed is not among the imported.
    """

    groups: Groups
    tests: tuple[str, ...]
    which: str
    imported: tuple[str, ...]
    own: dict[str, tuple[str, ...]] = field(default_factory=dict)


SUITES = {
    "languages": Suite(
        LANGUAGES,
        ("tests/adjoint/languages", "tests/command/test_sessions.py"),
        "not (deep or large or double or calls_stay)",
        ("adjoint.checks.check_derivatives", "adjoint.checks.verification", "scipy.special", "hypothesis", "jax"),
    ),
    "higher": Suite(
        HIGHER,
        (
            "tests/diff/higher",
            "tests/adjoint/higher",
            *(f"tests/diff/test_{name}.py" for name in ("jets", "jets_bad_input", "jets_of_loops", "jets_of_rules")),
            *(f"tests/diff/test_{name}.py" for name in ("taylor_cases", "laplacian", "ode")),
        ),
        "not (deep or long_ or too_many_brackets or sums_that_are_too_many or false_claims)",
        ("linmap", "scipy.sparse", "jax"),
    ),
    "models": Suite(
        MODELS,
        (
            *(f"tests/test_{name}.py" for name in ("claims_of_models", "edges", "errors", "mistakes", "refusals")),
            "tests/diff/test_planned.py",
        ),
        "not deep",
        ("scipy.sparse", "jax"),
        {
            "loops": (
                *(f"tests/diff/test_{name}.py" for name in ("bodies", "implicit", "jets_of_loops", "loops")),
                "tests/adjoint/test_loop_lanes.py",
                "tests/hilbert/test_distributed.py",
                "tests/hilbert/test_steps.py",
            ),
            "branches": (
                *(f"tests/diff/test_{name}.py" for name in ("bodies", "branches", "copower", "implicit")),
                "tests/adjoint/test_loop_lanes.py",
            ),
            "records": (
                "tests/hilbert/test_records.py",
                "tests/diff/test_bodies.py",
                "tests/adjoint/test_records.py",
                "tests/models/test_saved.py",
                "tests/test_claims_of_structure_and_data.py",
            ),
            "vocabulary": (
                *(f"tests/diff/test_{name}.py" for name in ("along", "elements", "vocabulary")),
                "tests/hilbert/test_products.py",
                "tests/test_from_numpy.py",
                "tests/test_claims_of_operations.py",
            ),
            "operations": (
                "tests/diff/test_custom.py",
                "tests/linmap/test_own.py",
                "tests/test_claims_of_operations.py",
            ),
            "algebra": (
                "tests/diff/test_implicit.py",
                "tests/diff/test_sparse_systems.py",
                "tests/diff/test_linear_algebra.py",
                "tests/test_claims_of_operations.py",
                "tests/test_claims_of_equations_and_jets.py",
            ),
        },
    ),
}
REWRITTEN = "ignore::pytest.PytestAssertRewriteWarning"
NOT_CHANGED = re.compile(r"get_close_matches|\[:\d+\]|^(LONGEST|DEEPEST|WIDEST|LARGEST) =|> (LONGEST|DEEPEST|WIDEST)")
FEW, MANY = (8, 60), (800, 240)
"""How many tests a mutant is given, and seconds: at first, and if it survives these."""


class Recorded:
    """A plug-in of pytest: which tests run which lines of the files, and how long each takes."""

    def __init__(self, files: Sequence[str]) -> None:
        import coverage

        self.files = files
        self.cover = coverage.Coverage(data_file=None, config_file=False, include=[str(ROOT / path) for path in files])
        self.times: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """One test."""
        self.cover.switch_context(item.nodeid)
        start = time.process_time()
        result = yield
        self.times[item.nodeid] = time.process_time() - start
        self.cover.switch_context("")
        return result

    def lines(self) -> dict[tuple[str, int], list[str]]:
        """The tests that run a line."""
        data = self.cover.get_data()
        found: dict[tuple[str, int], list[str]] = {}
        for path in self.files:
            for line, contexts in data.contexts_by_lineno(str(ROOT / path)).items():
                found[path, line] = sorted(filter(None, contexts))
        return found


class Failure:
    """A plug-in that keeps the first failure."""

    def __init__(self) -> None:
        self.what = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Of a test."""
        if report.failed and not self.what:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.what = f"{report.nodeid}: {crash.message if crash else report.longrepr}"

    def pytest_collectreport(self, report: Any) -> None:
        """Of a module that cannot be imported."""
        if report.failed and not self.what:
            self.what = f"{report.nodeid}: {str(report.longrepr).splitlines()[-1]}"


def tested(tests: Sequence[str], which: str, *plugins: object) -> int:
    """Run tests of pytest in this process."""
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"
    return int(
        pytest.main(
            ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", REWRITTEN, "-k", which, *tests],
            plugins=list(plugins),
        )
    )


def recorded(suite: Suite, groups: Sequence[str]) -> tuple[dict[str, float], dict[tuple[str, int], list[str]]]:
    """The time of every test of some groups, and for each line the tests that run it."""
    plugin = Recorded([path for group in groups for path in suite.groups[group]])
    tests = dict.fromkeys([*suite.tests, *(path for group in groups for path in suite.own.get(group, ()))])
    failure = Failure()
    plugin.cover.start()
    if code := tested([str(ROOT / path) for path in tests], suite.which, plugin, failure):
        msg = f"the tests fail without a mutant: pytest exits with {code}; {failure.what}"
        raise RuntimeError(msg)
    plugin.cover.stop()
    return plugin.times, plugin.lines()


def chosen(
    mutant: Mutant,
    lines: dict[tuple[str, int], list[str]],
    times: dict[str, float],
    weight: Counter[str],
    most: int,
    seconds: float,
) -> list[str]:
    """Tests that run the line: first those of its branch, then the special and quick ones, one of each function.

    Together they take less than a third of the time: a mutant is not ended because its tests are many.
    """
    covering = lines.get((mutant.path, mutant.line)) or _near(mutant, lines) or list(times)
    body = lines.get((mutant.path, mutant.line + 1), ())

    def rank(test: str) -> tuple[bool, bool, float, str]:
        return "test_sessions" in test, test not in body, weight[test] * (0.05 + times[test]), test

    ranked = sorted(covering, key=rank)
    seen: Counter[str] = Counter()
    rounds: dict[str, int] = {}
    for test in ranked:
        name = test.partition("[")[0]
        rounds[test] = seen[name]
        seen[name] += 1
    ranked.sort(key=rounds.__getitem__)
    ends = accumulate(times[test] for test in ranked[:most])
    return [test for k, (test, end) in enumerate(zip(ranked, ends, strict=False)) if not k or end < seconds / 3]


def _near(mutant: Mutant, lines: dict[tuple[str, int], list[str]]) -> list[str]:
    """For a line that is run by the import alone the tests that run a line of the module."""
    return sorted({test for (path, _), tests in lines.items() if path == mutant.path for test in tests})


def judged(mutant: Mutant, tests: Sequence[str], which: str) -> tuple[str, str]:
    """Run the tests on the mutant: its fate, and why."""
    sys.meta_path.insert(0, Changed(mutant.path, source(ROOT, mutant)))
    failure = Failure()
    return ("killed", failure.what[:200]) if tested(tests, which, failure) else ("survives", "")


def drawn(files: dict[str, str], each: int, seed: int) -> tuple[list[Mutant], int]:
    """So many mutants of a group, and how many there are."""
    every = [
        mutant
        for path, functions in files.items()
        for mutant in mutants(ROOT, path)
        if re.match(functions, mutant.function) and not NOT_CHANGED.search(mutant.text)
    ]
    return random.Random(seed).sample(every, min(each, len(every))), len(every)


def main() -> None:
    """Record, draw, run, report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--of", choices=list(SUITES), default="languages", help="what is changed")
    parser.add_argument("--each", type=int, default=56, help="how many mutants of each group")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--group", choices=[*LANGUAGES, *HIGHER, *MODELS], action="append", help="one of the groups")
    parser.add_argument("--verbose", action="store_true", help="every verdict")
    args = parser.parse_args()
    suite = SUITES[args.of]
    groups = args.group or list(suite.groups)
    for name in suite.imported:
        importlib.import_module(name)
    os.chdir(ROOT)
    os.nice(10)
    start = time.monotonic()
    found = result_of(*forked(partial(recorded, suite, groups), 1800))
    if not isinstance(found, tuple):
        sys.exit(str(found))
    times, lines = found
    weight = Counter(test for tests in lines.values() for test in tests)
    print(f"{len(times)} tests, {sum(times.values()):.0f} s", flush=True)
    reasons, all_verdicts = explained(), defaultdict[str, list[Verdict]](list)
    for group in groups:
        todo, count = drawn(suite.groups[group], args.each, args.seed)
        for mutant in todo:
            began, kind, why = time.monotonic(), "survives", ""
            for most, seconds in (FEW, MANY):
                tests = chosen(mutant, lines, times, weight, most, seconds)
                verdict = result_of(*forked(partial(judged, mutant, tests, suite.which), seconds))
                if isinstance(verdict, Exception):
                    verdict = "killed", f"import: {verdict}"
                kind, why = verdict or ("killed", "time limit")
                if kind == "killed" or mutant.key in reasons:
                    break
            all_verdicts[group].append(Verdict(mutant, kind, why, time.monotonic() - began))
            if args.verbose:
                print(f"{kind} {time.monotonic() - began:.1f} s {mutant}\n    {why}", flush=True)
        print(f"{group}: {len(todo)} of {count} mutants, {time.monotonic() - start:.0f} s", flush=True)
        report(group, all_verdicts[group], reasons)
    if len(all_verdicts) > 1:
        every = [v for verdicts in all_verdicts.values() for v in verdicts]
        print(f"all: {len(every)} mutants, {sum(v.kind == 'killed' for v in every)} killed")


if __name__ == "__main__":
    main()

"""Mutants of the paper's statements: each row of docs/traceability.md cites tests that fail when it is broken.

A mutant changes one place of the code that a row cites; the tests that the row cites are run on a copy of the library
with that change, and one of them must fail. A row whose tests pass cites the wrong tests.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIED = ("hilbert", "linmap", "diff", "adjoint", "tests", "docs", "pyproject.toml", "README.md")


@dataclass(frozen=True)
class Statement:
    """A row of the table, what breaks it, and the test that must see it."""

    row: str
    path: str
    before: str
    after: str
    test: str


STATEMENTS = (
    Statement("Def. 1.1", "diff/primitives.py", "_unary(\"sin\", lambda x, _: cos(x))", "_unary(\"sin\", lambda x, _: 1.01 * cos(x))",
              "tests/test_statements.py::test_frechet_derivative"),
    Statement("§2.1", "hilbert/index.py", "self.left.position(element[0]) * self.right.size",
              "self.left.position(element[0]) * self.left.size", "tests/test_statements.py::test_index_sets"),
    Statement("§2.1", "hilbert/index.py", "return self.left.size + self.right.size", "return self.left.size",
              "tests/test_statements.py::test_index_sets"),
    Statement("§3.1", "hilbert/spec.py", "return _spec(self.left, self.out, self.right)",
              "return _spec(self.left, self.right, self.out)", "tests/adjoint/test_defining_equation.py"),
    Statement("Thm 4.1 (1)", "diff/affine.py", "Arc(wire.Section(spec, 0, Ref(d, b.slots[d])), k, y)",
              "Arc(wire.Section(spec, 0, Ref(d, b.slots[d])), k if k < b.arity else 0, y)", "tests/diff/test_chain_rule.py"),
    Statement("Thm 4.1 (2)", "diff/affine.py", "pass\n            case Contract", "arcs.append(Arc(wire.Same(), 0, y)) if b.arity and b.slots[0] == b.slots[y] else None\n            case Contract",
              "tests/test_statements.py::test_constants"),
    Statement("Thm 4.1 (3)", "diff/affine.py", "arcs += [Arc(wire.Same(), k, y) for k in args]",
              "arcs += [Arc(wire.Same(), k, y) for k in args[:1]]", "tests/diff/test_linear_derivative.py"),
    Statement("Thm 4.1 (4)", "diff/affine.py", "                if b.slots[u].is_field:", "                if u != v and b.slots[u].is_field and u > 0:",
              "tests/diff/test_product_rule.py"),
    Statement("Thm 4.1 (5)", "diff/lift.py", "spec.lifted(n, left=up[left], right=up[right])",
              "spec.lifted(n, left=up[right], right=up[left])", "tests/test_statements.py::test_parallel_composition"),
    Statement("Fig. 1, Prop. 5.1", "diff/affine.py", "return d.run(argument(f, x))",
              "return d.run(2.0 * argument(f, x) if argument(f, x).space.is_space else argument(f, x))",
              "tests/test_statements.py::test_fig_1"),
    Statement("Def. 6.1", "linmap/net/reverse.py", "a.map.adjoint(f.wires[a.src])", "a.map",
              "tests/test_statements.py::test_adjoint_by_covectors"),
    Statement("Prop. 6.2", "linmap/net/reverse.py", "reversed(f.arcs)", "reversed(f.arcs[:1])",
              "tests/test_statements.py::test_the_adjoint_is_unique"),
    Statement("Thm 6.5", "adjoint/rules.py", "reversed(list(parts))", "list(parts)", "tests/adjoint/test_dagger.py"),
    Statement("§6, duals", "linmap/term/maps.py", "Section(contraction.inner(v.space), 1, v)",
              "Section(contraction.inner(v.space), 1, 2.0 * v)", "tests/test_statements.py::test_duals"),
    Statement("A.4, A.5", "diff/affine.py", "where = b.inline(self.program.line, range(n))\n        outputs",
              "where = b.inline(self.program.line, range(n, 2 * n) if self.dom == self.point else range(n))\n        outputs",
              "tests/test_statements.py::test_gateaux"),
    Statement("§3.4, partial", "diff/primitives.py", 'log: Primitive = _unary("log", lambda x, _: reciprocal(x)',
              'log: Primitive = _unary("log", value=lambda xp, x: xp.log(xp.abs(x)), derivative=lambda x, _: reciprocal(x)',
              "tests/test_statements.py::test_partial_primitives"),
)  # fmt: skip


def judged(statement: Statement) -> tuple[Statement, bool]:
    """Whether the test of a statement fails on its mutant."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place)
        for name in COPIED:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
        path = copy / statement.path
        text = path.read_text("utf-8")
        assert text.count(statement.before) == 1, f"{statement.row}: {statement.before!r} stands not once"
        path.write_text(text.replace(statement.before, statement.after), "utf-8")
        run = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", statement.test]
        done = subprocess.run(run, cwd=copy, env=os.environ | {"PYTHONPATH": place}, capture_output=True, check=False)  # noqa: S603 - our own tests
    return statement, done.returncode == 1


def main() -> None:
    """Judge all, say which survive."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="a part of a row's name")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    chosen = [s for s in STATEMENTS if args.only in s.row]
    with ThreadPoolExecutor(args.processes) as pool:
        verdicts = list(pool.map(judged, chosen))
    for statement, killed in verdicts:
        print(f"{'killed  ' if killed else 'SURVIVES'} {statement.row:20} {statement.path:24} {statement.test}")
    sys.exit(not all(killed for _, killed in verdicts))


if __name__ == "__main__":
    main()

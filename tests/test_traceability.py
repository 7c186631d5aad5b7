"""Each row of docs/traceability.md cites files that there are, and has a mutant that its tests are run on."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.mutation.broken import STATEMENTS, Statement

ROOT = Path(__file__).parents[1]
TABLE = (ROOT / "docs/traceability.md").read_text("utf-8").splitlines()
HEADS = ("| paper |", "| what |", "| statement |")


WITHOUT = ("## The notes on linear-map differentiation", "## caddie")


def rows() -> tuple[list[str], list[str]]:
    """The rows of the tables that have mutants, and of the two documents that have none yet."""
    found: tuple[list[str], list[str]] = [], []
    here = found[0]
    for line in TABLE:
        if line.startswith("## "):
            here = found[line in WITHOUT]
        elif line.startswith("| ") and not line.startswith(HEADS):
            here.append(line[2:])
    return found


ROWS, OTHERS = rows()


@pytest.mark.parametrize("row", OTHERS, ids=lambda row: row.split(" | ")[0])
def test_rows_of_the_other_documents(row: str) -> None:
    cited = re.findall(r"`((?:hilbert|linmap|diff|adjoint|tests|docs)/[\w/.]*)`", row)
    assert cited
    assert all((ROOT / path).exists() for path in cited)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split(" | ")[0])
def test_rows(row: str) -> None:
    cited = re.findall(r"`((?:hilbert|linmap|diff|adjoint|tests|docs)/[\w/.]*)`", row)
    assert cited
    assert all((ROOT / path).exists() for path in cited)
    assert any(row.startswith(s.row) for s in STATEMENTS), "write a mutant in tests/mutation/broken.py"


@pytest.mark.parametrize("s", STATEMENTS, ids=lambda s: f"{s.row} in {s.path}")
def test_mutants(s: Statement) -> None:
    """What `make statements` changes stands once in the code; the test that must notice is one that the row cites."""
    (row,) = [row for row in ROWS if row.startswith(s.row)] or [row for row in OTHERS if row.startswith(s.row)]
    path, _, name = s.test.partition("::")
    assert f"`{path}`" in row.split(" | ")[-1]
    assert not name or f"def {name}(" in (ROOT / path).read_text("utf-8")
    text = (ROOT / s.path).read_text("utf-8")
    assert text.count(s.before) == 1
    assert s.before != s.after
    ast.parse(text.replace(s.before, s.after))

"""The page docs/models.md: every example of a model has a row, and the lines are counted."""

from __future__ import annotations

import ast
import re
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = re.findall(
    r"^\| \[.*?\]\(examples/(\w+)\.py\) \| .*? \| (.*?) \| (\d+) \| (\d+) \| (\d+) \|$",
    (ROOT / "docs" / "models.md").read_text("utf-8"),
    re.MULTILINE,
)
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def lines(source: str, nodes: Iterable[ast.stmt]) -> int:
    """The lines of definitions, but blank ones, comments and docstrings."""
    found = set[int]()
    for node in nodes:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        found |= set(range(first, (node.end_lineno or node.lineno) + 1))
        for part in ast.walk(node):
            if isinstance(part, DEFINITIONS) and ast.get_docstring(part) is not None:
                text = part.body[0]
                found -= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    text_lines = source.splitlines()
    return sum(bool(text_lines[k - 1].strip()) and not text_lines[k - 1].lstrip().startswith("#") for k in found)


def counted(example: str, functions: str) -> tuple[int, int, int]:
    """Lines of the functions, of the declarations, and of the peers."""
    names = re.findall(r"`(\w+)`", functions)
    source = (ROOT / "docs" / "examples" / f"{example}.py").read_text("utf-8")
    body = ast.parse(source).body
    chosen = [node for node in body if isinstance(node, ast.FunctionDef) and node.name in names]
    assert [node.name for node in chosen] == names
    declared = [node for node in body if isinstance(node, (ast.ClassDef, ast.Assign, ast.AnnAssign))]
    peers = (ROOT / "tests" / "models" / "peers.py").read_text("utf-8")
    theirs = [
        node
        for node in ast.parse(peers).body
        if isinstance(node, ast.FunctionDef) and f"docs/examples/{example}.py" in (ast.get_docstring(node) or "")
    ]
    assert theirs
    return lines(source, chosen), lines(source, declared), lines(peers, theirs)


def test_every_model_has_a_row() -> None:
    """All examples but the demos, the pattern of bundle adjustment and sparse programs, which stand on other pages."""
    files = {path.stem for path in (ROOT / "docs" / "examples").glob("*.py")}
    assert {row[0] for row in ROWS} == files - {"digits", "bundle", "sparse_programs", "mixture_on_dask"}


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_lines(row: tuple[str, str, str, str, str]) -> None:
    """The numbers of the page."""
    example, functions, *numbers = row
    assert counted(example, functions) == tuple(map(int, numbers))


def test_a_transformer_in_25_lines() -> None:
    """None of them curry, uncurry or reshape."""
    functions = next(row[1] for row in ROWS if row[0] == "transformer")
    assert counted("transformer", functions)[0] <= 25
    source = (ROOT / "docs" / "examples" / "transformer.py").read_text("utf-8")
    assert not re.search(r"curry|reshape", source)


@pytest.mark.parametrize("example", [row[0] for row in ROWS])
def test_runs_by_itself(example: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without arguments: on data of the repository, or on what it draws."""
    path = ROOT / "docs" / "examples" / f"{example}.py"
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out

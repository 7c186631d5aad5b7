"""Every `match` of the library ends in `assert_never`, so that mypy lists what a new class lacks, or says why not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import adjoint
import diff
import hilbert
import linmap

ROOT = Path(hilbert.__file__).parent.parent
FILES = [file for package in (hilbert, linmap, diff, adjoint) for file in Path(package.__file__).parent.rglob("*.py")]  # type: ignore[arg-type]


def matches() -> list[tuple[str, ast.match_case, str]]:
    """The last case of each `match`: where it stands, and the text of its line."""
    found = []
    for file in FILES:
        text = file.read_text()
        if " match " not in text:
            continue
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Match):
                last = node.cases[-1]
                found.append((f"{file.relative_to(ROOT)}:{node.lineno}", last, lines[last.pattern.lineno - 1]))
    return found


@pytest.mark.parametrize(("place", "last", "line"), [pytest.param(*found, id=found[0]) for found in matches()])
def test_closed(place: str, last: ast.match_case, line: str) -> None:
    """`case _: assert_never(…)`, or a case for everything else with a comment that says why."""
    never = ast.unparse(last.body[0]).startswith("assert_never(")
    assert never or ("#" in line and len(line.split("#")[1]) > 8), f"{place}: {line.strip()}"

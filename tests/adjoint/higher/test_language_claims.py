"""Claims over the whole language, written from its grammar alone; their numbers come from plain Python programs."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from adjoint.higher import run
from diff.lam.files.claims import Result

HERE = Path(__file__).parent
KIND = re.compile(r"^(value|type|taylor|reduce|pair|grad|error) ", re.MULTILINE)
TEXTS = {file: (HERE / f"{file}.lam").read_text("utf-8") for file in ("language", "grammar", "by_hand", "refused")}
LINES = {file: [k for k, line in enumerate(text.splitlines(), 1) if KIND.match(line)] for file, text in TEXTS.items()}
TEXT = TEXTS["language"]


@cache
def results(file: str) -> dict[int, Result]:
    """What is found of each claim of a text, by its line."""
    return {one.line: one for one in run(TEXTS[file], f"{file}.lam").results}


@pytest.mark.parametrize(("file", "line"), [(file, line) for file, lines in LINES.items() for line in lines])
def test_claims(file: str, line: int) -> None:
    result = results(file)[line]
    assert result.found is None, result


@pytest.mark.parametrize("file", TEXTS)
def test_every_claim_has_a_result(file: str) -> None:
    assert [*results(file)] == LINES[file]


def test_every_kind_of_claim() -> None:
    """All seven kinds, and the codes of what is refused."""
    kinds = Counter(KIND.findall(TEXT))
    assert kinds.total() == len(results("language"))
    assert len(kinds) == 7
    assert kinds["error"] >= 15


def test_false_claims() -> None:
    """A claim with another last number, and a refusal with another code, fail."""
    false = re.sub(
        r"^((?:value|taylor|reduce|pair|grad) .*?)([\d.]+)([^\d.\n]*)$", r"\g<1>77.7\3", TEXT, flags=re.MULTILINE
    )
    false = re.sub(r"^error \w+", "error tag", false, flags=re.MULTILINE)
    report = run(false, "false.lam")
    holds = [r.line for r in report.results if r.found is None]
    assert [line for line in holds if not TEXT.splitlines()[line - 1].startswith("type")] == []

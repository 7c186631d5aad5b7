"""Claims over the whole language, written from its grammar alone; their numbers come from plain Python programs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from adjoint.higher import run

HERE = Path(__file__).parent
TEXT = (HERE / "language.lam").read_text("utf-8")
REPORT = run(TEXT, "language.lam")
OTHERS = [run((HERE / file).read_text("utf-8"), file) for file in ("grammar.lam", "by_hand.lam", "refused.lam")]


@pytest.mark.parametrize(
    "result", [one for report in (REPORT, *OTHERS) for one in report.results], ids=lambda r: f"{r.file}:{r.line}"
)
def test_claims(result: Any) -> None:
    assert result.found is None, result


def test_every_kind_of_claim() -> None:
    """All seven kinds, and the codes of what is refused."""
    kinds = Counter(re.findall(r"^(value|type|taylor|reduce|pair|grad|error) ", TEXT, re.MULTILINE))
    assert kinds.total() == len(REPORT.results)
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

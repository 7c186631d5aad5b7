"""The table of docs/records.md: each wrong line is refused when it runs, and each right one runs."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

from hilbert import SpaceError

PAGE = (Path(__file__).parents[1] / "docs/records.md").read_text("utf-8")
TABLE = PAGE.partition("| wrong | right | rule |\n|---|---|---|\n")[2].partition("\n\n")[0].splitlines()
ROWS = [[cell.strip("`") for cell in line.strip("| ").split(" | ")] for line in TABLE]
FOR_CHECKERS = 4


def run(text: str, names: dict[str, Any]) -> None:
    """Run a text of the page in its names."""
    exec(compile(text, "records.md", "exec", dont_inherit=True), names)  # noqa: S102


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """The names of the page after its last block, and those that the text above the table says."""
    found: dict[str, Any] = {"__name__": __name__}
    blocks = [example.source for example in doctest.DocTestParser().get_examples(PAGE)]
    for text in blocks:
        if not text.startswith(("print", "refused", "with")):
            run(text, found)
    (declared,) = (text for text in blocks if text.startswith("class Layer(Record)"))
    run(declared.replace("Layer", "Other"), found)
    L, D, batch = (found[name] for name in ("L", "D", "Sample"))
    assert found["Other"].space().parts == L.parts
    data = (D**batch.set).random(found["np"].random.default_rng(0))
    found |= {"W": L.weights, "H": L.bias, "w": L.weights.zeros(), "b": L.bias.zeros()}
    return found | {"data": data, "stack": (L**batch.set).zeros()}


@pytest.mark.parametrize(("wrong", "right"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_lines(names: dict[str, Any], wrong: str, right: str) -> None:
    run(right, dict(names))
    if [wrong, right] not in [row[:2] for row in ROWS[-FOR_CHECKERS:]]:
        with pytest.raises((SpaceError, TypeError)):
            run(wrong, dict(names))

"""Pages of the documentation as modules, for type checkers.

Each page is one module: names carry over from block to block, and a variable may be used again for something else. What
a page shows to be refused (it ends in a traceback, stands in a `try`, or calls `refused`) may be a type error.
"""

from __future__ import annotations

import doctest
from pathlib import Path

from tests.typing.verdict import ROOT, Place

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/tutorials").glob("*.md"))]
REDEFINE = "# mypy: allow-redefinition"
UNTYPED = ", ".join(f"reportUnknown{kind}Type=false" for kind in ("Member", "Lambda", "Argument", "Variable"))
HEADERS = dict.fromkeys(
    ("arrays", "compiled", "solving", "data-models", "linear-maps", "operations", "spaces", "zeros"), UNTYPED
)
HEADERS |= dict.fromkeys(
    ("optimise", "blocks", "bundle-adjustment", "cart-pole", "large-data", "many-machines"),
    f"{UNTYPED}, reportArgumentType=false",
)
HEADERS |= dict.fromkeys(("for-jax-users", "regression", "eight-schools"), UNTYPED)
HEADERS["display"] = "reportPrivateUsage=false"  # what notebooks call
"""What pyright is not asked of a page: types of JAX, autograd, scipy, scikit-learn and of labels are not all known.

It takes the default of an argument of scipy, "2-point", for its type.
"""


def module(page: Path) -> tuple[str, set[int]]:
    """The code of a page on the lines where it stands, and the lines that are shown to be refused."""
    text = page.read_text("utf-8")
    lines = [""] * len(text.splitlines())
    refused: set[int] = set()
    for example in doctest.DocTestParser().get_examples(text):
        source = example.source.rstrip("\n").split("\n")
        span = range(example.lineno, example.lineno + len(source))
        lines[span.start : span.stop] = source
        if example.exc_msg or source[0].startswith(("refused(", "try:")):
            refused |= {number + 1 for number in span}
    lines[0] = f"# pyright: strict, {HEADERS.get(page.stem, '')}".rstrip(", ")
    assert not text.splitlines()[1]  # below the title
    lines[1] = REDEFINE
    return "\n".join(lines) + "\n", refused


def written(folder: Path) -> tuple[list[Path], set[Place]]:
    """The modules of the pages that have code, written into a folder, and their lines that are shown to be refused."""
    refused: set[Place] = set()
    paths = []
    for page in PAGES:
        text, lines = module(page)
        if any(line and not line.startswith("#") for line in text.splitlines()):
            path = folder / f"{page.stem.lower().replace('-', '_')}_page.py"
            path.write_text(text, "utf-8")
            paths.append(path)
            refused |= {(path.name, line) for line in lines}
    return paths, refused

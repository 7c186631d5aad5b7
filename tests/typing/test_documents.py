"""mypy and pyright (strict) accept the examples of the documentation, and the library in pyright's standard mode.

Each page is one module: names carry over from block to block, and a variable may be used again for something else. What
a page shows to be refused (it ends in a traceback, stands in a `try`, or calls `refused`) may be a type error, to both
alike.
"""

import doctest
from pathlib import Path

import pytest

from tests.typing.verdict import ROOT, Place, begun, check, check_by_pyright

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
REDEFINE = "# mypy: allow-redefinition"
UNTYPED = ", ".join(f"reportUnknown{kind}Type=false" for kind in ("Member", "Lambda", "Argument", "Variable"))
HEADERS = dict.fromkeys(("arrays", "data-models", "linear-maps", "operations"), UNTYPED)
"""What pyright is not asked of a page: the types of JAX, autograd, scipy and scikit-learn are not all known."""


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


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], set[Place]]:
    folder = tmp_path_factory.mktemp("pages")
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


def test_pages(pages: tuple[list[Path], set[Place]], tmp_path: Path) -> None:
    paths, refused = pages
    assert len(paths) >= 10
    mypy = check(ROOT, begun(tmp_path), paths)
    pyright = check_by_pyright(paths)
    for found in (mypy, pyright):
        assert not {place: codes for place, codes in found.errors.items() if place not in refused}
    assert mypy.errors.keys() == pyright.errors.keys()


def test_library_and_examples() -> None:
    """Standard mode for the library, strict for docs/examples, as pyproject.toml says."""
    assert not check_by_pyright([]).errors

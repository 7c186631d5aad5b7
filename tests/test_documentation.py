"""What the documentation points at exists: files, names in files, links and their anchors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/tutorials").glob("*.md")),
]
PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)+)`")
NAMED = re.compile(r"((?:`\w+`(?:, )?)+) in `([\w./]+\.py)`")
LINK = re.compile(r"\[[^\]]+\]\((https?:[^)]*|[\w./-]+\.\w+|LICENSE|(?=#))(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchor(heading: str) -> str:
    """The anchor of a heading: lower case, without punctuation, words joined by hyphens."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_traceability() -> None:
    """Every file of the table is there, and every name stands in the file that it is said to be in."""
    text = (ROOT / "docs" / "traceability.md").read_text(encoding="utf-8")
    paths = PATH.findall(text)
    assert len(paths) > 50
    assert [path for path in paths if not (ROOT / path).exists()] == []
    named = [(name, path) for names, path in NAMED.findall(text) for name in re.findall(r"`(\w+)`", names)]
    assert len(named) > 10
    missing = [
        (name, path)
        for name, path in named
        if not re.search(rf"^\s*(?:def|class) {name}\b", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page: Path) -> None:
    """Every relative link leads to a file, and to a heading of it."""
    for target, place in LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        found = (page.parent / target).resolve() if target else page
        assert found.exists(), f"{page.name}: {target}"
        if place:
            headings = {anchor(heading) for heading in HEADING.findall(found.read_text(encoding="utf-8"))}
            assert place in headings, f"{page.name}: {target}#{place}"


def test_every_page_is_in_the_index() -> None:
    """docs/index.md links to every page."""
    linked = {target for target, _ in LINK.findall((ROOT / "docs" / "index.md").read_text(encoding="utf-8"))}
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert pages - {"index.md"} <= linked

"""The site: it builds without a warning, asks no other host, and has a heading for each public name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import hilbert.all as hb
from docs.site.examples_in_docstrings import fenced
from docs.site.hooks import modules, on_page_markdown
from docs.site.pictures import FOLDER, blocks, pictures, plot
from docs.site.tutorials import alike

ROOT = Path(__file__).parents[1]
ASKED = re.compile(
    r"""<(?:script|img|iframe|link)[^>]*?(?:src|href)=["'](?:https?:)?//[^"']+|url\((?:["']?https?:)?//"""
)
LARGEST = 15e6


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a warning of mkdocs is an error here."""
    to = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "-d", str(to)]
    done = subprocess.run(  # noqa: S603 - ours
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return to


def test_the_site(site: Path) -> None:
    """No page asks another host for a script, a style, a font or a picture; no example became a quotation."""
    pages = {file: file.read_text() for file in [*site.rglob("*.html"), *site.rglob("site/*.css")]}
    asked = {str(file): found[0] for file, text in pages.items() if (found := ASKED.search(text))}
    assert not asked
    assert not [str(file) for file, text in pages.items() if "<blockquote>" in text]
    assert sum(file.stat().st_size for file in site.rglob("*")) < LARGEST
    written = " ".join(text for file, text in pages.items() if file.parent.name == "api")
    missing = [name for names in modules().values() for name in names if f"hb.{name}" not in written]
    assert not missing
    assert "(W⋆x+b)" in pages[site / "readme.html"]
    assert 'src="pictures/layer.svg"' in pages[site / "readme.html"]
    assert {file.name for file in (site / "pictures").glob("*.svg")} == set(pictures())


def test_pictures() -> None:
    """The pictures are what the library draws: `python -m docs.site.pictures` writes them."""
    assert {file.name: file.read_text("utf-8") for file in FOLDER.glob("*.svg")} == pictures()


def test_modules() -> None:
    """Every name that models are written with stands on a page, unless the name is that of a module."""
    on_pages = {name for names in modules().values() for name in names}
    missing = {name for name in dir(hb) if name[0] != "_"} - on_pages
    assert all(isinstance(getattr(hb, name), ModuleType) for name in missing), missing


def test_links_and_examples() -> None:
    """Links to files lead to pages; an example in a docstring is a block of code."""
    page = on_page_markdown("[a](examples/gmm.py), [b](../README.md#why)\n```python\n>>> 1\n1\n```", *[None] * 3)  # type: ignore[arg-type]
    assert page == "[a](examples/gmm.md), [b](readme.md#why)\n```pycon\n>>> 1\n1\n```"
    assert fenced("One.\n\n>>> 1\n1\n\nTwo.") == "One.\n\n\n```pycon\n>>> 1\n1\n```\n\n\nTwo."


def test_plot(tmp_path: Path) -> None:
    """The plot of a structure in blocks looks like the one that the page shows."""
    plot(tmp_path / "structure.png")
    assert alike(tmp_path / "structure.png", FOLDER / "structure.png")
    found = blocks()
    assert str(found).splitlines()[1].split() == ["field", "sparse", "34", "of", "12·12", "dense", "12×1"]

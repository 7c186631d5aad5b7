"""Tutorials: pages that are notebooks. Their examples run as those of every page do; the notebooks are tested here."""

from __future__ import annotations

import ast
import doctest
from pathlib import Path

import nbformat
import numpy as np
import pytest
from matplotlib.image import imsave

from docs.site.tutorials import PAGES, PICTURES, alike, notebook

WORDS, BYTES = 1200, 100_000
PAGE = """# Title

See [there](there.md) and [that](https://that.org).

```python
>>> n, m = 3, 4  # in the notebook: 30, 40
>>> for k in range(n):
...     print(k)
0
1
2
>>> print(n)
3
>>> print(f"{m}")
4
>>> figure = m

```

![Alt](../pictures/title.png)

The end.
"""


def test_a_page_becomes_cells() -> None:
    """Text without links and pictures, a cell for each answer, full sizes, and a last `print(x)` is x."""
    cells = notebook(PAGE).cells
    assert [(cell.cell_type, cell.source) for cell in cells] == [
        ("markdown", "# Title\n\nSee there and [that](https://that.org)."),
        ("code", "n, m = 30, 40\nfor k in range(n):\n    print(k)"),
        ("code", "n"),
        ("code", 'print(f"{m}")'),
        ("code", "figure = m"),
        ("markdown", "The end."),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages(page: Path) -> None:
    """Each is short, is a notebook with all of its examples, has a full size, and ends in the picture that it shows."""
    text = page.read_text("utf-8")
    book = notebook(text)
    nbformat.validate(book)
    code = "\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
    examples = doctest.DocTestParser().get_examples(text)
    assert len(ast.parse(code).body) == sum(len(ast.parse(example.source).body) for example in examples)
    assert "# in the notebook:" not in code
    assert "# in the notebook:" in text
    assert "figure, " in book.cells[-2].source
    assert f"](../pictures/{page.stem}.png)" in text
    assert len(text.split()) <= WORDS
    assert (PICTURES / f"{page.stem}.png").stat().st_size <= BYTES


def test_pictures_that_look_the_same(tmp_path: Path) -> None:
    """A picture is alike to one with a faint mark more, and to none of another size or of other colours."""
    grey = np.full((40, 60, 3), 0.5)
    marked, other = grey.copy(), grey + 0.1
    marked[3, 4] = 1.0
    for name, picture in {"grey": grey, "marked": marked, "other": other, "small": grey[1:]}.items():
        imsave(tmp_path / f"{name}.png", picture)
    seen = {
        name: alike(tmp_path / "grey.png", tmp_path / f"{name}.png") for name in ("grey", "marked", "other", "small")
    }
    assert seen == {"grey": True, "marked": True, "other": False, "small": False}

"""The tutorials as notebooks: made of their pages, run at full size, and their pictures.

A page of `docs/tutorials` is Markdown with examples. An assignment that ends in a comment `# in the notebook: VALUE`
takes that value in the notebook, so that the page runs as a test in a few seconds. The last cell makes a `figure`, a
picture beside the notebook. With `--pictures` it takes the place of the page's, in `docs/pictures`, if the two look
different.

    python -m docs.site.tutorials [--pictures] [NAME …]
"""

from __future__ import annotations

import ast
import doctest
import os
import re
import shutil
import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.image import imread
from nbclient import NotebookClient
from nbformat import NotebookNode, v4, write

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs/tutorials").glob("*.md"))
PICTURES, NOTEBOOKS = ROOT / "docs/pictures", ROOT / "build/tutorials"
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
FULL = re.compile(r"^( *[\w, ]+ = ).*  # in the notebook: (.+)$", re.MULTILINE)
PICTURE = re.compile(r"^!\[.*\]\(.*\)\n", re.MULTILINE)
ALIKE = 0.01  # pictures whose colours, from 0 to 1, differ by less on average look the same
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")


def notebook(page: str) -> NotebookNode:
    """The notebook of a page's text: a cell for each paragraph between blocks, and for each example with its answer."""
    parts = BLOCK.split(page)  # text, block, text, …
    cells = []
    for text, block in zip(parts[::2], [*parts[1::2], ""], strict=True):
        words = LINK.sub(r"\1", PICTURE.sub("", text)).strip()
        cells += [v4.new_markdown_cell(words)] if words else []
        cells += [v4.new_code_cell(code) for code in _cells(block)]
    book: NotebookNode = v4.new_notebook(cells=cells)
    return book


def _cells(block: str) -> list[str]:
    """The code of a block in pieces, each of which ends where an answer is due."""
    pieces = [""]
    for example in doctest.DocTestParser().get_examples(block):
        pieces[-1] += FULL.sub(r"\1\2", example.source)
        if example.want:
            pieces.append("")
    return [_shown(piece).strip() for piece in pieces if piece]


def _shown(code: str) -> str:
    """The code with the last `print(x)` as the expression x, which a notebook shows as a formula, a table or a text."""
    match ast.parse(code).body:
        case [*_, ast.Expr(ast.Call(ast.Name("print"), [ast.expr() as one], [])) as last] if not _is_text(one):
            lines = code.splitlines()[: last.lineno - 1]
            return "\n".join([*lines, ast.unparse(one)])
    return code


def _is_text(node: ast.expr) -> bool:
    """Tell if an expression is a literal text, which a notebook would show in quotes."""
    return isinstance(node, ast.JoinedStr | ast.Constant)


def run(page: Path, *, is_shown: bool) -> float:
    """Run a page's notebook, write it and its picture, and give the seconds that this took.

    The picture is shown on the page from then on, if so.
    """
    book = notebook(page.read_text("utf-8"))
    picture, shown = NOTEBOOKS / f"{page.stem}.png", PICTURES / f"{page.stem}.png"
    tail = f"figure.savefig({str(picture)!r}, bbox_inches='tight', dpi=110, metadata={{'Software': None}})"
    book.cells.append(v4.new_code_cell(tail))
    start = time.perf_counter()
    NotebookClient(book, timeout=600, kernel_name="python3").execute()
    book.cells.pop()
    if is_shown and not (shown.exists() and alike(picture, shown)):
        shutil.copy(picture, shown)
    write(book, NOTEBOOKS / f"{page.stem}.ipynb")
    return time.perf_counter() - start


def alike(one: Path, other: Path) -> bool:
    """Tell if two pictures have the same size and look the same."""
    a, b = imread(one), imread(other)
    return a.shape == b.shape and float(np.abs(a - b).mean()) < ALIKE


def main() -> None:
    """Run the tutorials with these names, or all."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    os.environ |= {"PYTHONPATH": path, "JUPYTER_PLATFORM_DIRS": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    for folder in (PICTURES, NOTEBOOKS):
        folder.mkdir(parents=True, exist_ok=True)
    is_shown, names = "--pictures" in sys.argv, {*sys.argv[1:]} - {"--pictures"}
    for page in PAGES:
        if not names or page.stem in names:
            print(f"{page.stem}: {run(page, is_shown=is_shown):.0f} s, {NOTEBOOKS.relative_to(ROOT)}/{page.stem}.ipynb")


if __name__ == "__main__":
    main()

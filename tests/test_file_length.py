"""A file fits into a reader's head: at most 400 lines, lists of overloads not counted; with a figure at most 250."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = [
    path for package in ("hilbert", "linmap", "diff", "adjoint") for path in sorted((ROOT / package).rglob("*.py"))
]
MOST = 400
LONGER = {
    "hilbert/space/space.py": 650,  # types, spaces and their storage: one family of classes that know each other
    "hilbert/space/vector.py": 632,  # one class: what diff attaches is declared here with its documentation
    "diff/trace/expr.py": 652,  # one class: every operation of an expression
}
"""Files that are longer, for a reason; they may not grow."""
FIGURES, OF_A_FIGURE = ("diff/lam/", "adjoint/higher/"), 250
"""Where the figures of the papers on functions of functions stand, and the most lines of a file there."""
NO_FIGURES = {"diff/lam/term/terms.py", "diff/lam/term/lam_values.py", "diff/lam/files/module.py"}
"""Files there that hold none: the grammar of terms, whose classes have each other as parts, values, and what names of
texts stand for."""


def overloads(tree: ast.AST) -> int:
    """The lines of signatures that only type checkers read."""
    return sum(
        (node.end_lineno or 0) - node.decorator_list[0].lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list)
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_long_files(path: Path) -> None:
    """What does not fit is two things."""
    source = path.read_text("utf-8")
    name = path.relative_to(ROOT).as_posix()
    most = OF_A_FIGURE if name.startswith(FIGURES) and name not in NO_FIGURES else LONGER.get(name, MOST)
    assert source.count("\n") - overloads(ast.parse(source)) <= most

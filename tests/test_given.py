"""Property tests can be replayed: `@given` stands on functions of a module, never on one inside another."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = sorted(Path(__file__).parent.rglob("test_*.py"))


def is_given(node: ast.expr) -> bool:
    """Whether a decorator is `given(…)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "given"


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_given_stands_on_functions_of_the_module(path: Path) -> None:
    """A failure inside another function has no name that Hypothesis could find again."""
    for outer in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(outer, (ast.FunctionDef, ast.Lambda)):
            inside = (node for node in ast.walk(outer) if isinstance(node, ast.FunctionDef) and node is not outer)
            assert not [node.name for node in inside if any(map(is_given, node.decorator_list))]

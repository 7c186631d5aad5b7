r"""The line where a name of a user's function got its value, as far as the source tells without running.

>>> text = "def f(x):\n    pairs = [x, x]\n    return [a for a in pairs]\n"
>>> line_bound("a", ast.parse(text), 3), line_bound("pairs", ast.parse(text), 3), line_bound("x", ast.parse(text), 3)
(2, 2, None)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def line_bound(name: str, tree: ast.AST, line: int) -> int | None:
    """The line that binds a name in the functions around a line; None where several do, or it is a parameter.

    A name that runs through a sequence on that very line has the line where the sequence is bound.
    """
    bound = _bound(name, tree, line)
    if bound is None or bound[0] != line or bound[1] is None:
        return bound and bound[0]
    found = {one[0] for one in (_bound(other, tree, line) for other in _names(bound[1])) if one and one[0] != line}
    return found.pop() if len(found) == 1 else None


def _bound(name: str, tree: ast.AST, line: int) -> tuple[int, ast.expr | None] | None:
    """The line of the one binding of a name around a line, and what it runs through."""
    around = [node for node in ast.walk(tree) if isinstance(node, Function) and _is_on(node, line)]
    for function in sorted(around, key=lambda node: node.lineno, reverse=True):
        if name in {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}:
            return None
        found = [(target.lineno, of) for target, of in _bindings(function) if name in _names(target)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _is_on(node: Function, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _bindings(function: Function) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The targets that a function binds, functions in it left out, and the sequences that they run through."""
    ahead: list[ast.AST] = [*function.body] if isinstance(function.body, list) else [function.body]
    while ahead:
        node = ahead.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                continue
            case ast.Assign(targets=targets):
                yield from ((target, None) for target in targets)
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.NamedExpr(target=target):
                yield target, None
            case ast.For(target=target, iter=of) | ast.comprehension(target=target, iter=of):
                yield target, of
            case _:  # nothing else binds what expressions are made of
                pass
        ahead += ast.iter_child_nodes(node)


def _names(node: ast.expr) -> set[str]:
    """The names in an expression, those of what it calls left out."""
    called = {one.func for one in ast.walk(node) if isinstance(one, ast.Call)}
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and one not in called}

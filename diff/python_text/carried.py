"""Functions of the library that a text carries along: their own text, with numpy in place of any array library.

The functions that a function calls, and the constants that it reads, come along. Types of arguments are left out.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from diff.python_text.line_breaks import broken
from hilbert import SpaceError

if TYPE_CHECKING:
    from diff.python_text.scope import Page

MATH = {"inf": "inf", "nan": "nan", "prod": "prod", "log2": "log2", "sqrt": "sqrt", "pi": "pi"}


@cache
def _functions(module: str) -> dict[str, ast.FunctionDef]:
    """The functions of a module by their names."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def carried(page: Page, function: Any) -> str:
    """The name of a function in the text, which is added to the text with all that the function needs."""
    function = inspect.unwrap(function)
    if function in page.carried:
        return page.carried[function]
    word = page.carried[function] = _named(page, function.__name__)  # before what it calls: helpers may call each other
    page.taken.add(word)
    tree = _functions(function.__module__).get(function.__name__)
    if tree is None:
        raise SpaceError(f"{function.__name__} has no text of its own")
    made = _Plain(page, function).visit(_copy(tree))
    made.name = word
    page.helpers[word] = _written(made)
    return word


def _named(page: Page, word: str) -> str:
    """A name that no other helper has."""
    taken = {*page.helpers, *page.carried.values()}
    return next(name for name in (word, *(f"{word}{k}" for k in range(2, len(taken) + 3))) if name not in taken)


def _copy(tree: ast.FunctionDef) -> ast.FunctionDef:
    found = ast.parse(ast.unparse(tree)).body[0]
    assert isinstance(found, ast.FunctionDef)
    return found


def _written(tree: ast.FunctionDef) -> str:
    lines = ast.unparse(ast.fix_missing_locations(tree)).replace(" ** ", "**").split("\n")
    lines = [line if '"' in line else line.replace("'", '"') for line in lines]
    return "\n".join(part for line in lines for part in broken(line))


def _constant(word: str, value: Any) -> str:
    """A constant of a module, on several lines if it is long."""
    one = f"{word} = {value!r}"
    if len(one) <= 88:
        return one
    first, *entries, last = list(repr(value))
    body = textwrap.fill("".join(entries), 84, initial_indent="    ", subsequent_indent="    ", break_long_words=False)
    return f"{word} = {first}\n{body},\n{last}"


def _number(node: ast.expr) -> ast.expr | None:
    """The number that an expression repeats in the shape of an array."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("np"), "full_like"), [_, ast.Constant() as number]):
            return number
        case ast.Call(ast.Attribute(ast.Name("np"), "zeros_like" | "ones_like" as word)):
            return ast.Constant(0.0 if word == "zeros_like" else 1.0)
        case _:  # an array that varies
            return None


class _Plain(ast.NodeTransformer):
    """Writes np for xp, and follows what is called."""

    def __init__(self, page: Page, function: FunctionType) -> None:
        self.page, self.scope = page, function.__globals__
        self.local = set(function.__code__.co_varnames) | set(function.__code__.co_cellvars)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """The arguments without types, and without the array library."""
        node.returns = None
        node.args.args = [ast.arg(arg.arg) for arg in node.args.args if arg.arg != "xp"]
        node.args.kwonlyargs = [ast.arg(arg.arg) for arg in node.args.kwonlyargs]
        node.decorator_list = [
            d for d in node.decorator_list if isinstance(d, ast.Call) and "errstate" in ast.unparse(d)
        ]
        self.generic_visit(node)
        note = ast.get_docstring(node)
        if note:
            node.body[0] = ast.Expr(ast.Constant(note.partition("\n")[0]))
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """A variable without its type."""
        assert node.value is not None
        return self.visit(ast.Assign([node.target], node.value, lineno=0))  # type: ignore[no-any-return]

    def visit_If(self, node: ast.If) -> Any:
        """A branch for numpy alone is taken."""
        if ast.unparse(node.test) == "xp is np":
            return [self.visit(line) for line in node.body]
        self.generic_visit(node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """A condition without the question whether the library is numpy."""
        node.values = [value for value in node.values if ast.unparse(value) != "xp is np"]
        self.generic_visit(node)
        return node.values[0] if len(node.values) == 1 else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call without the array library and without a device; scipy's function for a special one."""
        match node:
            case ast.Call(ast.Name("special"), [_, ast.Constant(str(word))]):
                return ast.parse(f"scipy.special.{word}", mode="eval").body
            case _:  # any other call
                pass
        node.args = [arg for arg in node.args if not (isinstance(arg, ast.Name) and arg.id in {"xp", "np"})]
        node.keywords = [keyword for keyword in node.keywords if keyword.arg != "device"]
        self.generic_visit(node)
        if ast.unparse(node.func) in {"np.minimum", "np.maximum"}:
            node.args = [_number(arg) or arg for arg in node.args]
        if ast.unparse(node.func) == "np.ceil":
            return ast.Call(ast.Name("int"), [node], [])
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """numpy's functions, also for those of `math`."""
        of = node.value
        if isinstance(of, ast.Name) and of.id == "math" and "math" in self.scope:
            return ast.Attribute(ast.Name("np"), MATH.get(node.attr, node.attr))
        if isinstance(of, ast.Name) and inspect.ismodule(self.scope.get(of.id)) and self.scope[of.id] is not np:
            return ast.Name(self._needed(getattr(self.scope[of.id], node.attr), node.attr))
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name of the module comes along."""
        if node.id == "xp":
            return ast.Name("np")
        if node.id in self.local or node.id not in self.scope or node.id == "np":
            return node
        if isinstance(self.scope[node.id], float):
            return ast.Constant(self.scope[node.id])
        return ast.Name(self._needed(self.scope[node.id], node.id))

    def _needed(self, value: Any, word: str) -> str:
        if callable(value):
            return word if getattr(builtins, word, None) is value else carried(self.page, value)
        key = word, repr(value)
        if key not in self.page.carried:
            word = self.page.carried[key] = _named(self.page, word)
            self.page.taken.add(word)
            self.page.helpers[word] = _constant(word, value)
        return self.page.carried[key]

"""Expressions of Python as trees: templates in which operands are put, and their text with as few brackets as it takes.

>>> text(put("{0} * {1}", put("a + b"), put("c.T")))
'(a + b) * c.T'
>>> text(added(put("a"), negated(put("2.0 * b"))))
'a - 2.0 * b'
"""

from __future__ import annotations

import ast
import math
import re
from functools import cache
from typing import Any, TypeAlias

Node: TypeAlias = ast.expr
HOLE = re.compile(r"\{(\d+)\}")


@cache
def _parsed(template: str) -> Node:
    return ast.parse(HOLE.sub(r"_\1", template), mode="eval").body


def put(template: str, *operands: Node) -> Node:
    """The expression that a template says, in which {0}, {1}, … stand for the operands."""
    return _filled(_parsed(template), {f"_{k}": operand for k, operand in enumerate(operands)})


def _filled(node: Node, operands: dict[str, Node]) -> Node:
    if isinstance(node, ast.Name):
        return operands.get(node.id, node)
    fields: dict[str, Any] = {name: _put_in(value, operands) for name, value in ast.iter_fields(node)}
    of = fields.get("value")
    match node:
        case ast.Attribute(_, "T" | "mT" as turn) if isinstance(of, ast.Attribute) and of.attr == turn:
            return of.value  # Aᵀᵀ = A
        case _:  # anything else
            pass
    return type(node)(**fields)


def _put_in(value: object, operands: dict[str, Node]) -> object:
    if isinstance(value, list):
        return [_put_in(one, operands) for one in value]
    if isinstance(value, ast.expr):
        return _filled(value, operands)
    if isinstance(value, ast.keyword):
        return ast.keyword(value.arg, _filled(value.value, operands))
    return value


def holes(template: str) -> list[int]:
    """The operands that a template reads, as often as it does."""
    return [int(k) for k in HOLE.findall(template)]


def text(node: Node) -> str:
    """The text of an expression."""
    return ast.unparse(ast.fix_missing_locations(ast.Expression(node))).replace("'", '"').replace(" ** ", "**")


def name(word: str) -> Node:
    """A variable."""
    return ast.Name(word)


def constant(value: object) -> Node:
    """A number, a truth value or None; what has no literal is written as numpy's."""
    if isinstance(value, float) and math.isnan(value):
        return put("np.nan")
    if isinstance(value, float) and value in {float("inf"), -float("inf")}:
        return put("np.inf" if value > 0 else "-np.inf")
    return put(repr(value))


def is_number(node: Node) -> bool:
    """True for a literal number, with or without a sign."""
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def is_light(node: Node) -> bool:
    """True for what costs nothing to write twice: a variable, a number, a view of a variable."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.UnaryOp(ast.USub(), ast.Constant()):
            return True
        case ast.Attribute(of, _) | ast.Subscript(of, _):
            return is_light(of) and all(_is_place(part) for part in _parts(node))
        case _:  # something is computed
            return False


def _parts(node: Node) -> list[Node]:
    if not isinstance(node, ast.Subscript):
        return []
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _is_place(node: Node) -> bool:
    return isinstance(node, ast.Slice | ast.Constant) or (isinstance(node, ast.Name) and len(node.id) == 1)


def reads_variable(node: Node) -> bool:
    """Tell if an expression reads anything but numbers."""
    return any(isinstance(part, ast.Name) and part.id != "np" for part in ast.walk(node))


COMPUTED = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Compare)


def weight(node: Node) -> int:
    """The number of operations in an expression."""
    return sum(isinstance(part, COMPUTED) and not is_number_part(part) for part in ast.walk(node))


def is_number_part(node: ast.AST) -> bool:
    """True for a number with a sign, which is no operation."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


# --- sums and products ---


def negated(a: Node) -> Node:
    """−a."""
    match a:
        case ast.UnaryOp(ast.USub(), operand):
            return operand
        case ast.BinOp(left, ast.Mult() | ast.Div() | ast.MatMult() as op, right) if _is_negative(left):
            return ast.BinOp(negated(left), op, right)
        case _:  # has no sign in front
            return ast.UnaryOp(ast.USub(), a)


def _number(a: Node) -> float:
    found: float = ast.literal_eval(a)
    return found


def _is_negative(a: Node) -> bool:
    match a:
        case ast.UnaryOp(ast.USub(), _):
            return True
        case ast.BinOp(left, ast.Mult() | ast.Div() | ast.MatMult(), _):
            return _is_negative(left)
        case _:  # has no sign in front
            return False


def added(a: Node, b: Node) -> Node:
    """a + b, or a difference where one has a sign in front."""
    if is_number(a) and is_number(b):
        return constant(_number(a) + _number(b))
    if is_number(a):
        a, b = b, a
    if text(b) == "-0.0":  # x + −0 = x
        return a
    if _is_negative(b):
        return ast.BinOp(a, ast.Sub(), negated(b))
    if _is_negative(a):
        return ast.BinOp(b, ast.Sub(), negated(a))
    return ast.BinOp(a, ast.Add(), b)


def times(a: Node, b: Node) -> Node:
    """a · b entry by entry."""
    if is_number(a) and is_number(b):
        return constant(_number(a) * _number(b))
    if is_number(b):
        a, b = b, a
    match a, b:
        case ast.Constant(1.0), _:
            return b
        case ast.UnaryOp(ast.USub(), ast.Constant(1.0)), _:
            return negated(b)
        case _, ast.BinOp(ast.Constant(1.0), ast.Div(), of):
            return ast.BinOp(a, ast.Div(), of)
        case ast.BinOp(ast.Constant(1.0), ast.Div(), of), _:
            return ast.BinOp(b, ast.Div(), of)
        case ast.UnaryOp(ast.USub(), of), _ if not is_number(a):
            return negated(times(of, b))
        case _, ast.UnaryOp(ast.USub(), of):
            return negated(times(a, of))
        case _, ast.BinOp(left, ast.Mult(), right):
            return times(times(a, left), right)
        case _ if isinstance(a, ast.Name) and isinstance(b, ast.Name) and a.id == b.id:
            return put("{0} ** 2", a)
        case _:  # any two others
            return ast.BinOp(a, ast.Mult(), b)

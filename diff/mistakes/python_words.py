"""Remedies for Python's own words for conditions and numbers, which ask for a value that an expression has not.

The words are read in the user's line; where its source is not known, all remedies are given.

>>> from hilbert import R, SpaceError
>>> from diff import fun
>>> try:
...     fun(R)(lambda x: x if 0.0 < x < 1.0 else -x)
... except SpaceError as error:
...     print(str(error).splitlines()[0].partition("; ")[2])
write (a < x) & (x < b) for `a < x < b`, where(c, lambda: x, lambda: y) for an `if`
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from diff.mistakes.other_libraries import STORED, is_stored, of_function
from diff.mistakes.user_source import span_of
from hilbert.errors import as_float, is_complex, is_number
from hilbert.tracebacks import is_users

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from hilbert.index.leaf import Leaf

CONDITION = "x > 0.0 or another condition"
IF = "where(c, lambda: x, lambda: y) for an `if`"
IF_IN_EACH = "where(c, x, y) for an `if` in each entry, or each(f, xs) with the `if` in f as a where"
WHILE = "while_(lambda s: c, step, start, at_most=X) for a `while`"
ASSERT = "the `assert` of a value, f(v), outside the function"
LOGIC = {"and": "c & d for `c and d`", "or": "c | d for `c or d`", "not": "~c for `not c`"}
BETWEEN = "(a < x) & (x < b) for `a < x < b`"
LARGEST = {
    "max": "maximum(x, y) for the larger of two, x.max() for the largest entry",
    "min": "minimum(x, y) for the smaller of two, x.min() for the smallest entry",
    "sorted": "x.sort()",
    "any": "c | d, or c.cast(R).max() > 0.0 for an array of conditions",
    "all": "c & d, or c.cast(R).min() > 0.0 for an array of conditions",
    "bool": "c itself, it is a condition already",
}


def of_truth(leaves: Sequence[Leaf], asking: FrameType) -> str:
    """The remedy where Python asks in a frame whether an expression of some leaves is true."""
    branch = IF_IN_EACH if any(leaf.axes for leaf in leaves) else IF
    path = _path(asking)
    found = [] if all(leaf.kind == "b" for leaf in leaves) else [CONDITION]
    match path[:1]:
        case [ast.Call(ast.Name("bool"))] if found:
            return ", ".join(found)
        case [ast.Call(ast.Name(name))] if name in LARGEST:
            return LARGEST[name]
        case _:  # a condition, by what stands around it
            pass
    for node in path:
        match node:
            case ast.BoolOp(op):
                found.append(LOGIC["and" if isinstance(op, ast.And) else "or"])
            case ast.UnaryOp(ast.Not()):
                found.append(LOGIC["not"])
            case ast.Compare(_, ops):
                found += [BETWEEN] if len(ops) > 1 else []
            case ast.If() | ast.IfExp():
                return ", ".join([*found, branch])
            case ast.While():
                return ", ".join([*found, WHILE])
            case ast.Assert():
                return ", ".join([*found, ASSERT])
            case _ if node is not path[0]:
                break
            case _:  # what is asked: a name, a call
                pass
    named = [text for text in found if text != CONDITION]
    return ", ".join(found if named else [*found, branch, WHILE, *LOGIC.values()])


def of_number(asking: FrameType) -> str:
    """The remedy where Python asks in a frame for the number that an expression is."""
    if is_stored(asking):
        return STORED
    match _path(asking)[:1]:
        case [ast.Call(ast.Name("float"))]:
            return "write x itself, for an expression of ℝ is a number, and float(f(v)) of the result"
        case [ast.Call(ast.Attribute(ast.Name("math"), name))]:
            return of_function(name)
        case [ast.BinOp(ast.Constant(str()), ast.Mod())]:
            return "write the text of the result, f(v), outside the function"
        case _:  # another function
            return "use functions of hb, not math's"


def of_operand(sign: str, value: Any) -> str:
    """The remedy where the other operand of a sign is no vector."""
    if sign in {"&", "|"} and is_number(value):
        return f"{sign} binds before comparisons, write (x > k) {sign} (x < l)"
    if sign == "f(…)" and is_number(value):
        return "a vector would fit, as const(V.full(k)) for a number"
    if sign == "concatenate" and is_number(value):
        return "write x.concatenate((R ** Fin.of(1)).full(k)) for a number k"
    if is_complex(value):
        return "numbers are real, a complex one is two of them"
    if hasattr(value, "tocoo"):
        return "write from_scipy(D)(x) for D x, D a sparse matrix, or from_scipy(D, X, Y)(x) for axes with names"
    if hasattr(value, "dtype"):
        return "a plain array has no space: write const(V.vec(array))"
    return "a vector would fit" + (as_float(value) if sign in {"+", "-", "*", "/"} else "")


def _path(frame: FrameType) -> list[ast.AST]:
    """The node that the frame's instruction was compiled from, and those around it, the innermost first."""
    if not is_users(frame.f_code.co_filename):
        return []
    span = span_of(frame.f_code, frame.f_lasti, frame.f_lineno)
    tree = span.module()
    return [*reversed([*span.around(tree)]), tree]

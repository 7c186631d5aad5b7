"""The operands of an expression that failed, in the words of the user's line: their spaces, and where they were made.

Operands are found by their places in the source; their values are the arguments of the library's function that the
line called.
"""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import TYPE_CHECKING, Any

from diff.mistakes.bindings import line_bound
from diff.mistakes.words_of_users import OneOf, may_stand_for, names_at
from diff.trace.expr import Expr
from hilbert import Map, Vec
from hilbert.base.notarray import Applicable
from hilbert.errors import shown
from hilbert.program.line.source_line import line_of

if TYPE_CHECKING:
    from types import FrameType

    from diff.mistakes.user_source import Span
    from diff.mistakes.words_of_users import Names

WIDTH = 40
"""The most characters of an operand's source that are quoted."""
REFLECTED = {"__gt__": ast.Lt, "__ge__": ast.LtE, "__lt__": ast.Gt, "__le__": ast.GtE}
"""Comparisons that the right side answers: of `a < b` the method `b.__gt__(a)`."""


def operands(span: Span, frame: FrameType, called: FrameType) -> list[str]:
    """The operands of the expression as they are written, each with its space; without source the arguments alone."""
    segment = span.segment()
    given = [value for _, value in _arguments(called)]
    if segment is None:
        return [shown(value) for value in given if _has_space(value)]
    try:
        node = ast.parse(f"({segment})", mode="eval").body
    except SyntaxError:  # no expression: a statement such as an assignment to a component
        return []
    names = names_at(span, frame)
    pairs = _paired(node, called, names)
    if not all(_agree(part, value, names) for part, value in pairs):
        return []
    texts = (
        _said(_short(ast.get_source_segment(f"({segment})", part) or ""), part, value, span) for part, value in pairs
    )
    return list(dict.fromkeys(text for text in texts if text))


def owner(span: Span, value: Any) -> list[str]:
    """The object that lacks an attribute, if the line has a name for it: its space, and the line where it was made."""
    try:
        node = ast.parse(f"({span.segment()})", mode="eval").body
    except SyntaxError:
        return []
    match node:
        case ast.Attribute(ast.Name() as part):
            said = _said(part.id, part, value, span)
            return [said] if said else []
        case _:  # what has no name
            return []


def _short(source: str) -> str:
    """The source on one line, its end left out where it is long."""
    source = " ".join(source.split())
    return source if len(source) <= WIDTH else f"{source[: WIDTH - 1]}…"


def _has_space(value: Any) -> bool:
    return isinstance(value, (Vec, Applicable, Map))


def _said(source: str, part: ast.expr, value: Any, span: Span) -> str | None:
    if isinstance(value, Map):
        return f"{source} : {value.dom} → {value.cod}"
    if _has_space(value):
        is_given = isinstance(value, Expr) and bool(value.slots) and value.slots[0] < value.builder.arity
        made, bound = _made(value, span), _bound(part, span)  # a name of what a body is given stands nearer
        return f"{source} ∈ {value.space}{(bound or made) if is_given else (made or bound)}"
    if isinstance(part, ast.Constant) or callable(value):
        return None
    return f"{source} is {shown(value)}{_bound(part, span)}"


def _bound(part: ast.expr, span: Span) -> str:
    """The line that binds a name, as text; empty for the line of the error itself."""
    line = line_bound(part.id, span.module(), span.line) if isinstance(part, ast.Name) else None
    return "" if line is None or span.line <= line <= span.end else f" (of line {line})"


def _made(value: Any, span: Span) -> str:
    """The line of the same file where an expression was made, as text; empty for the line of the error itself."""
    if not isinstance(value, Expr) or not value.slots:
        return ""
    place = value.builder.made(value.slots[0])
    if place is None or isinstance(place, str) or place[0].co_filename != span.file:
        return ""
    line = line_of(place)
    return "" if span.line <= line <= span.end else f" (of line {line})"


def _arguments(called: FrameType) -> list[tuple[str, Any]]:
    """The arguments of a call, by name: those by position, of *args one by one without names, and then the others."""
    code, values = called.f_code, called.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    positional, named, rest = (
        code.co_varnames[a:b] for a, b in ((0, code.co_argcount), (code.co_argcount, count), (count, None))
    )
    found = [(name, values[name]) for name in positional if name in values]
    if code.co_flags & inspect.CO_VARARGS:
        found += [("", value) for value in values.get(rest[0], ())]
        rest = rest[1:]
    found += [(name, values[name]) for name in named if name in values]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        found += list(values.get(rest[0], {}).items())
    return found


def _by_position(called: FrameType) -> list[Any]:
    """The arguments that may be given by position."""
    code = called.f_code
    own = [called.f_locals[name] for name in code.co_varnames[: code.co_argcount] if name in called.f_locals]
    first = code.co_argcount + code.co_kwonlyargcount
    return [*own, *called.f_locals.get(code.co_varnames[first], ())] if code.co_flags & inspect.CO_VARARGS else own


def _paired(node: ast.expr, called: FrameType, names: Names) -> list[tuple[ast.expr, Any]]:
    """The parts of an expression with their values, where the call that it made tells them."""
    values, name = _by_position(called), called.f_code.co_name
    if name == "__get__":  # of what is lacking: its own self is no value of the user's
        values = values[1:]
    elif name == "__array_ufunc__":  # an operator whose left side is numpy's
        values = list(called.f_locals.get("inputs", ()))
    parts: list[ast.expr]
    if name == "__bool__":
        return [(part, values[0]) for part in _condition(node)]
    match node:
        case ast.BinOp(left, _, right):
            parts = [right, left] if name.startswith("__r") and name != "__round__" else [left, right]
        case ast.Compare(left, [op], [right]):
            parts = [right, left] if isinstance(op, REFLECTED.get(name, ())) else [left, right]
        case ast.UnaryOp(_, operand) | ast.Attribute(operand):
            parts = [operand]
        case ast.Subscript(of, key):
            parts = [key] if name == "__index__" else [of, key]
        case ast.Call(function, args, keywords):
            named = dict(_arguments(called))
            given = [(key.value, named[key.arg]) for key in keywords if key.arg in named]
            if name == "__array_ufunc__":
                return list(zip(args, values, strict=False))
            if not isinstance(function, (ast.Name, ast.Attribute)) and name != "__call__":
                return []  # what a computed function was given before is not written here
            own = function  # a callable object, or what has the method that was called
            if isinstance(function, ast.Attribute) and name != "__call__" and len(values) > len(args):
                own = function.value
            ways = called.f_code.co_varnames[: called.f_code.co_argcount]
            written = len(args) + sum(key.arg in ways for key in keywords)
            receiver = [own] if len(values) > written and not _is_function(function, name, names) else []
            return [*zip([*receiver, *args], values, strict=False), *given]
        case _:  # other expressions call nothing
            return []
    pairs = zip(parts, values, strict=False)
    return sorted(pairs, key=lambda pair: (pair[0].lineno, pair[0].col_offset))


def _is_function(called: ast.expr, name: str, names: Names) -> bool:
    """Tell if a function is called, by its name or as one of a module: no method, and no callable object."""
    of = called.value if isinstance(called, ast.Attribute) else None
    return name != "__call__" and (of is None or any(isinstance(one, ModuleType) for one in may_stand_for(of, names)))


def _condition(node: ast.expr) -> list[ast.expr]:
    """The condition in an expression that Python asks for, if it is written: `max(a, b)` compares inside."""
    match node:
        case ast.UnaryOp(ast.Not(), x) | ast.Call(ast.Name("bool"), [x]):
            return [x]
        case ast.Call() | ast.BoolOp() | ast.Compare(_, [_, _, *_]):
            return []
        case _:  # the condition itself
            return [node]


def _agree(part: ast.expr, value: Any, names: Names) -> bool:
    """Tell if a name or a number stands for a value, as far as can be seen without computing anything."""
    match part:
        case ast.Name():
            found = may_stand_for(part, names)
            others = type(found) is OneOf and (not found or any(one is None for one in found))
            return any(one is value for one in found) or (others and _has_space(value))
        case ast.Constant(constant):
            return type(value) is type(constant) and bool(value == constant)
        case ast.List() | ast.Tuple() | ast.Dict() | ast.Set() | ast.Lambda():
            return not _has_space(value)
        case _:  # what is computed is not computed again
            return True

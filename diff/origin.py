r"""Where an error arises in a user's function: its file, line and name, the expression that fails, and its operands.

The expression is found by the positions that the compiler keeps with each instruction; its operands by their places in
its source, their values as arguments of the library's function that the user's line called.

>>> from hilbert import Fin, R, SpaceError
>>> from diff import fun
>>> class Pixel: ...
>>> def layer(W, b):
...     return W @ b
>>> try:
...     fun(R ** (Fin.of(2) * Fin(Pixel, 3)), R ** Fin.of(2))(layer)
... except SpaceError as error:
...     print("\n".join(str(error).splitlines()[2:]))
    return W @ b
           ^^^^^
    W ∈ ℝ^{2×Pixel3}, b ∈ ℝ^2
"""

from __future__ import annotations

import ast
import difflib
import inspect
import itertools
import linecache
import re
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from diff.elementwise import RULES
from hilbert import Map, Vec
from hilbert.errors import shown
from hilbert.notarray import Applicable, NotArray, PartName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType, TracebackType

    from hilbert.program.written import Place

HERE = tuple(str(Path(__file__).parent.parent / name / "_")[:-1] for name in ("hilbert", "linmap", "diff", "adjoint"))
NUMPY = str(Path(np.__file__).parent / "_")[:-1]
STANDARD = str(Path(sysconfig.get_paths()["stdlib"]) / "_")[:-1]
INSTALLED = ("site-packages", "dist-packages")
LINES = 5
"""So many lines of an expression are quoted."""
COLUMNS = 100
"""So much of a line is quoted."""
WIDTH = 40
"""So much of an operand's source is quoted."""
REFLECTED = {"__gt__": ast.Lt, "__ge__": ast.LtE, "__lt__": ast.Gt, "__le__": ast.GtE}
"""Comparisons that the right side answers: of `a < b` the method `b.__gt__(a)`."""


@cache
def is_users(file: str) -> bool:
    """Whether a file is none of this library, of numpy or of Python itself."""
    if file.startswith((*HERE, NUMPY, "<attrs generated", "<frozen")):
        return False
    return not file.startswith(STANDARD) or any(name in file for name in INSTALLED)


@final
@frozen
class Span:
    """A part of a file: from a column of one line to a column of another; all of its lines where columns are None."""

    file: str
    line: int
    end: int
    column: int | None = None
    end_column: int | None = None

    def lines(self) -> list[str]:
        """The lines of the source; none where it is not known, as in a session without a file."""
        found = [linecache.getline(self.file, k).rstrip("\n") for k in range(self.line, self.end + 1)]
        return found if all(found) else []

    def segment(self) -> str | None:
        """The source of the part."""
        lines = self.lines()
        if not lines or self.column is None or self.end_column is None:
            return None
        lines[-1] = _first(lines[-1], self.end_column)
        lines[0] = lines[0][len(_first(lines[0], self.column)) :]
        return "\n".join(lines)

    def marked(self) -> Iterator[str]:
        """The lines, each with carets under what belongs to the part; indented as little as they allow."""
        lines = self.lines()
        margin = min((len(text) - len(text.lstrip()) for text in lines), default=0)
        for k, text in enumerate(lines[:LINES]):
            start, stop = len(text) - len(text.lstrip()), len(text)
            if self.column is not None and k == 0:
                start = len(_first(text, self.column))
            if self.end_column is not None and k == len(lines) - 1:
                stop = len(_first(text, self.end_column))
            left = margin if stop - margin <= COLUMNS else max(margin, min(start - 8, stop - COLUMNS))
            stop = min(stop, left + COLUMNS)
            before, after = "…" if left > margin else "", "…" if len(text) > left + COLUMNS else ""
            yield f"{before}{text[left : left + COLUMNS]}{after}"
            if self.column is not None:
                yield " " * (start - left + len(before)) + "^" * (stop - start)
        if len(lines) > LINES:
            yield f"… {len(lines) - LINES} more lines"


def _first(text: str, column: int) -> str:
    """The text before a column, which compilers count in bytes."""
    return text.encode()[:column].decode(errors="replace")


class _Known(dict[str, bool]):
    def __missing__(self, file: str) -> bool:
        found = self[file] = is_users(file)
        return found


_known = _Known()


def here() -> Place | None:
    """The user's instruction that a step is made by."""
    known = _known
    frame: FrameType | None = sys._getframe(3)  # behind the builder
    while frame is not None:
        code = frame.f_code
        if known[code.co_filename]:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def origin(error: BaseException, body: Any) -> str:
    """The place of an error that arose while a body was traced; its first line where it came from its result."""
    found = found_at(error, is_users)
    if found is None:
        code = getattr(inspect.unwrap(body), "__code__", None) if callable(body) else None
        return _text(Span(code.co_filename, code.co_firstlineno, code.co_firstlineno), code.co_name, []) if code else ""
    return _text(*found)


def found_at(
    error: BaseException, accepts: Callable[[str], bool], *, modules: bool = False
) -> tuple[Span, str, list[str]] | None:
    """What of a file that is accepted raised an error, last: its place, the function's name, the operands in its words.

    None where there is no such file, or, but for `modules`, where that is at the level of a module.
    """
    entry: TracebackType | None = None
    for found in _entries(error.__traceback__):
        if accepts(found.tb_frame.f_code.co_filename):
            entry = found
    if entry is None or (not modules and entry.tb_frame.f_code.co_name == "<module>"):
        return None
    frame = entry.tb_frame
    span = _span(frame.f_code, entry.tb_lasti, entry.tb_lineno)
    called = entry.tb_next.tb_frame if entry.tb_next else None
    return span, frame.f_code.co_name, _operands(span, frame, called) if called else []


def understood(error: TypeError | AttributeError) -> str | None:
    """What to say of Python's own error where a user's line asks for what this library does not have; else None.

    That is an operator, attribute or call that expressions have not, or other arguments than a function of ours takes.
    """
    if isinstance(error, AttributeError):
        ours = isinstance(error.obj, NotArray) or _is_ours(error.obj)
        there = [name for name in dir(error.obj) if not isinstance(vars(NotArray).get(name), PartName)]
        near = difflib.get_close_matches(error.name or "", there, n=3) if ours else []
        hint = f"; it has {', '.join(near)}" if near else ""
        if isinstance(error.obj, NotArray) and error.name in RULES:
            hint = f": write {error.name}(x)"
        text = f"{shown(error.obj)} has no .{error.name}" if isinstance(error.obj, NotArray) else str(error)
        return f"{text}{hint}" if ours else None
    entries = list(_entries(error.__traceback__))
    users = [entry for entry in entries if is_users(entry.tb_frame.f_code.co_filename)]
    if not users or entries.index(users[-1]) < len(entries) - 2:  # what a function of ours calls is right
        return None
    text = re.sub(r"'Expr' object|'Expr'", "an expression", str(error)).replace("Expr.", ".")
    return text if text != str(error) or _calls_ours(users[-1]) else None


def _calls_ours(entry: TracebackType) -> bool:
    segment = _span(entry.tb_frame.f_code, entry.tb_lasti, entry.tb_lineno).segment()
    try:
        node = ast.parse(f"({segment})", mode="eval").body
    except SyntaxError:
        return False
    return isinstance(node, ast.Call) and _is_ours(_found(node.func, entry.tb_frame))


def _found(node: ast.expr, frame: FrameType) -> Any:
    """What a name or an attribute of a name stands for, as far as looking it up computes nothing; else None."""
    match node:
        case ast.Name(name):
            return {**frame.f_builtins, **frame.f_globals, **frame.f_locals}.get(name)
        case ast.Attribute(of, name):
            owner = _found(of, frame)
            return vars(owner).get(name) if isinstance(owner, ModuleType) else inspect.getattr_static(owner, name, None)
        case _:  # a value that would have to be computed
            return None


def _is_ours(value: Any) -> bool:
    """Whether a function, a class or a module is of this library."""
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return str(module).partition(".")[0] in {"hilbert", "linmap", "diff", "adjoint"}


def _entries(entry: TracebackType | None) -> Iterator[TracebackType]:
    while entry is not None:
        yield entry
        entry = entry.tb_next


def _span(code: CodeType, instruction: int, line: int) -> Span:
    """What an instruction was compiled from."""
    found = next(itertools.islice(code.co_positions(), instruction // 2, None), (None, None, None, None))
    start, end, column, end_column = found
    if start is None or end is None or start > line:
        return Span(code.co_filename, line, line)
    return Span(code.co_filename, start, end, column, end_column)


def _text(span: Span, name: str, operands: list[str]) -> str:
    where = f" in {name}" if name.isidentifier() else ""
    lines = [f"  at {span.file}:{span.line}{where}"]
    marked = list(span.marked())
    lines += [f"    {text}" for text in marked] or ["    (the source of this line is not known)"]
    if operands:
        lines.append(f"    {', '.join(operands)}")
    return "".join(f"\n{text}" for text in lines)


# --- operands ---


def _operands(span: Span, frame: FrameType, called: FrameType) -> list[str]:
    """What stands in the expression, in the user's words, and where it lives; the arguments alone without source."""
    segment = span.segment()
    given = [value for _, value in _arguments(called)]
    if segment is None:
        return [shown(value) for value in given if _has_space(value)]
    try:
        node = ast.parse(f"({segment})", mode="eval").body
    except SyntaxError:  # no expression: a statement such as an assignment to a component
        return []
    pairs = _paired(node, called)
    if not all(_agree(part, value, frame) for part, value in pairs):
        return []
    texts = (_said(_short(ast.get_source_segment(f"({segment})", part) or ""), part, value) for part, value in pairs)
    return list(dict.fromkeys(text for text in texts if text))


def _short(source: str) -> str:
    """The source on one line, its end left out where it is long."""
    source = " ".join(source.split())
    return source if len(source) <= WIDTH else f"{source[: WIDTH - 1]}…"


def _has_space(value: Any) -> bool:
    return isinstance(value, (Vec, Applicable, Map))


def _said(source: str, part: ast.expr, value: Any) -> str | None:
    if isinstance(value, Map):
        return f"{source} : {value.dom} → {value.cod}"
    if _has_space(value):
        return f"{source} ∈ {value.space}"
    if isinstance(part, ast.Constant) or callable(value):
        return None
    return f"{source} is {shown(value)}"


def _arguments(called: FrameType) -> list[tuple[str, Any]]:
    """The arguments of a call, by name; those of *args one by one, without names."""
    code, values = called.f_code, called.f_locals
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found = [(name, values[name]) for name in names if name in values]
    rest = code.co_varnames[len(names) :]
    if code.co_flags & inspect.CO_VARARGS:
        found += [("", value) for value in values.get(rest[0], ())]
        rest = rest[1:]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        found += list(values.get(rest[0], {}).items())
    return found


def _paired(node: ast.expr, called: FrameType) -> list[tuple[ast.expr, Any]]:
    """The parts of an expression with their values, where the call that it made tells them."""
    found = _arguments(called)
    values, name = [value for _, value in found], called.f_code.co_name
    parts: list[ast.expr]
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
            named = dict(found)
            given = [(key.value, named[key.arg]) for key in keywords if key.arg in named]
            if name == "__array_ufunc__":
                return list(zip(args, called.f_locals.get("inputs", ()), strict=False))
            own = function.value if isinstance(function, ast.Attribute) and len(values) > len(args) else function
            receiver = [own] if len(values) - len(given) > len(args) else []
            return [*zip([*receiver, *args], values, strict=False), *given]
        case _:  # other expressions call nothing
            return []
    pairs = zip(parts, values, strict=False)
    return sorted(pairs, key=lambda pair: (pair[0].lineno, pair[0].col_offset))


def _agree(part: ast.expr, value: Any, frame: FrameType) -> bool:
    """Whether a name or a number stands for a value, as far as that can be seen without computing anything."""
    match part:
        case ast.Name():
            return _found(part, frame) is value
        case ast.Constant(constant):
            return type(value) is type(constant) and bool(value == constant)
        case ast.List() | ast.Tuple() | ast.Dict() | ast.Set() | ast.Lambda():
            return not _has_space(value)
        case _:  # what is computed is not computed again
            return True

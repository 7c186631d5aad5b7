r"""The place of an error in a user's function: file, line and name, the expression that fails, and its operands.

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
           ^^^^^  W ∈ ℝ^{2×Pixel3}, b ∈ ℝ^2
"""

from __future__ import annotations

import ast
import difflib
import dis
import inspect
import re
import sys
from typing import TYPE_CHECKING, Any

from diff.mistakes.axis_hints import its_call, without_guess
from diff.mistakes.other_libraries import call_at, foreign, foreign_module, is_ours, of_function, of_keyword
from diff.mistakes.user_source import Span, span_of
from diff.mistakes.words_of_users import may_stand_for, names_at, names_of, stands_for
from diff.terms.elementwise import rules
from diff.trace.expr import Expr
from diff.trace.failed_operands import operands, owner
from hilbert import SpaceError
from hilbert.base.notarray import Applicable, Missing, NotArray, PartName
from hilbert.errors import shown
from hilbert.program.line.source_line import name_of
from hilbert.tracebacks import is_users, without_frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType, TracebackType

    from diff.mistakes.words_of_users import Names
    from hilbert.program.line.source_line import Place

ENTERED = {"RESUME", "COPY_FREE_VARS", "MAKE_CELL"}
"""The instructions of a function before its body."""
RETURNS = {"RETURN_VALUE", "RETURN_CONST"}
WIDE = 120
"""Operands stand behind the carets where the line has fewer columns."""
CALLS = 3
"""The most calls, of those that lead to the line, that are quoted."""
OWN_NAMES = {"apply_map", "builder", "home", "slots", "token", *vars(Applicable), *vars(NotArray)}
"""Attributes of vectors and expressions that are the library's, not its users'."""


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
    """The place of an error that arose while a body was traced, and the calls of the user's functions that led there.

    For an error in the result of the body, the place where the body returns.
    """
    found = found_at(error, is_users)
    if found is not None:
        return _text(*found) + _calls(error, found[0])
    code = _code(body)
    if code is None:
        return ""
    spans = _returns(code)
    start = Span(code.co_filename, code.co_firstlineno, code.co_firstlineno)
    return _text(spans[0] if len(spans) == 1 else start, name_of(code), [])


def _calls(error: BaseException, shown_span: Span) -> str:
    """The calls before an error's place, the last first; not those that are written around what is quoted already."""
    users = [entry for entry in _entries(error.__traceback__) if is_users(entry.tb_frame.f_code.co_filename)]
    inner, texts = shown_span, list[str]()
    for entry in reversed(users[:-1]):
        span = span_of(entry.tb_frame.f_code, entry.tb_lasti, entry.tb_lineno)
        if not span.contains(inner) and len(texts) < CALLS:
            texts.append(_text(span.first_line(), name_of(entry.tb_frame.f_code), [], "called at"))
        inner = span
    return "".join(texts)


def returned(body: Any) -> str:
    """The place where a user's function returns a wrong result, if that is a `def` with one place of return."""
    code = _code(body)
    if code is None or not code.co_name.isidentifier() or not is_users(code.co_filename):
        return ""
    spans = _returns(code)
    return _text(spans[0], code.co_name, [], "returned at") if len(spans) == 1 else ""


def _code(body: Any) -> CodeType | None:
    return getattr(inspect.unwrap(body), "__code__", None) if callable(body) else None


def _returns(code: CodeType) -> list[Span]:
    """The places where a function returns."""
    steps = [(step.opname, at) for step in dis.get_instructions(code) if (at := step.positions) and at.lineno]
    if code.co_name != "<lambda>":
        steps = [step for step in steps if step[0] in RETURNS]
    lines = {(at.lineno or 0, at.end_lineno or at.lineno or 0) for name, at in steps if name not in ENTERED}
    if code.co_name == "<lambda>" and lines:  # what a lambda returns is all that it does
        lines = {(min(lines)[0], max(end for _, end in lines))}
    return [Span(code.co_filename, *pair) for pair in sorted(lines)]


def found_at(
    error: BaseException, accepts: Callable[[str], bool], *, modules: bool = False
) -> tuple[Span, str, list[str]] | None:
    """The last place in an accepted file that an error came through, its function's name, and its operands.

    None if the error came through no such file, or, without `modules`, if the place is at the level of a module.
    """
    entry: TracebackType | None = None
    for found in _entries(error.__traceback__):
        if accepts(found.tb_frame.f_code.co_filename):
            entry = found
    if entry is None:
        return None
    frame, name = entry.tb_frame, name_of(entry.tb_frame.f_code)
    if name == "<module>" and not modules:
        return None
    span = span_of(frame.f_code, entry.tb_lasti, entry.tb_lineno)
    called = entry.tb_next or without_frames(error)
    if called is None:
        return span, name, owner(span, error.obj) if isinstance(error, AttributeError) else []
    return span, name, operands(span, frame, called.tb_frame)


def understood(error: TypeError | AttributeError | ValueError, body: Any = None) -> str | None:
    """The text for Python's own error where a user's line asks for something that this library lacks; else None.

    Understood are an operator, attribute or call that expressions have not, other arguments than a function of ours
    takes, a tuple of expressions with another number of names, an error of ours that numpy gives as the cause of its
    own, and a body that is a function of another library.
    """
    if isinstance(error, ValueError):
        return stored(error) or _unpacked(error)
    if isinstance(error, AttributeError):
        ours = isinstance(error.obj, NotArray) or is_ours(error.obj)
        there = [name for name in dir(error.obj) if _is_public(error.obj, name)]
        near = difflib.get_close_matches(error.name or "", there, n=3) if ours else []
        hint = f"; it has {', '.join(near)}" if near else ""
        if isinstance(error.obj, NotArray) and error.name in rules():
            hint = f": {of_function(error.name)}"
        text = f"{shown(error.obj)} has no .{error.name}" if isinstance(error.obj, NotArray) else str(error)
        return (text if ": write " in text else f"{text}{hint}") if ours else None
    entries = list(_entries(error.__traceback__))
    users = [entry for entry in entries if is_users(entry.tb_frame.f_code.co_filename)]
    if re.search(r"\bExpr\b", str(error)):
        if users and (said := _foreign(entries[entries.index(users[-1]) :])):
            return said
        if module := foreign_module(body):
            name = getattr(body, "__name__", "the function")
            return f"{module}.{name} does not apply to an expression: {of_function(name)}"
    if not users or entries.index(users[-1]) < len(entries) - 2:  # what a function of ours calls is right
        return None
    said = without_guess(str(error))
    text = re.sub(r"'Expr' object|'Expr'", "an expression", said).replace("Expr.", ".").replace("Vec.", ".")
    text += its_call(text)
    if text.startswith("unhashable"):
        text += "; a table by an element x of X is a vector of ℝ^X, const((R ** X).vec(table))[x]"
    called = _called(users[-1])
    text += of_keyword(text, called)
    return text if text != said or called is not None else None


def stored(error: ValueError) -> str:
    """The text of our error that numpy gives as the cause of its own, where an entry of an array is set; else empty."""
    is_ours = isinstance(error.__cause__, SpaceError) and str(error).startswith("setting an array element")
    return str(error.__cause__) if is_ours else ""


def _unpacked(error: ValueError) -> str | None:
    """The text for a line that gives the items of a tuple of expressions another number of names; None for others."""
    last = list(_entries(error.__traceback__))[-1]
    if "values to unpack" not in str(error) or not is_users(last.tb_frame.f_code.co_filename):
        return None
    span = span_of(last.tb_frame.f_code, last.tb_lasti, last.tb_lineno)
    for node in ast.walk(span.module()):
        match node:
            case ast.Assign([ast.Tuple(elts) as names], ast.Name(name) as value) if names.lineno == span.line:
                items = stands_for(value, names_of(last.tb_frame))
                if isinstance(items, tuple) and any(isinstance(item, Expr) for item in items):
                    spaces = ", ".join(str(item.space) if isinstance(item, Expr) else shown(item) for item in items)
                    return f"{name} is a tuple of {len(items)}, ({spaces}), and {len(elts)} names are given for it"
            case ast.Assign([ast.Tuple(elts) as names], ast.Call(called)) if names.lineno == span.line:
                function = stands_for(called, names_of(last.tb_frame))
                if is_ours(function):
                    name, loops = getattr(function, "__name__", "the call"), ("fold", "iterate", "while_")
                    hint = "; a loop gives its last state alone where the step does: " if name in loops else ""
                    hint += "let the step return (state, output) for both" if hint else ""
                    return f"{name} gives a tuple of another length here than the {len(elts)} names for it{hint}"
            case _:  # no assignment of what has a name, or is called
                pass
    return None


def _is_public(owner: Any, name: str) -> bool:
    """Tell if an attribute is for users: neither the library's own, nor one that only raises an error with a remedy."""
    if name.startswith("_") or name in OWN_NAMES:
        return False
    return not isinstance(inspect.getattr_static(owner, name, None), (Missing, PartName))


def _call(entry: TracebackType) -> tuple[ast.Call | None, Names]:
    """The call where an error arose, as it is written, and the values of its names."""
    span = span_of(entry.tb_frame.f_code, entry.tb_lasti, entry.tb_lineno)
    return call_at(span.segment()), names_at(span, entry.tb_frame)


def _called(entry: TracebackType) -> Any:
    """The function of ours that a user's line calls; else None."""
    call, names = _call(entry)
    return None if call is None else next(filter(is_ours, may_stand_for(call.func, names)), None)


def _foreign(entries: list[TracebackType]) -> str | None:
    """The text for a line of the user, the first entry, that calls another library's function with expressions."""
    call, names = _call(entries[0])
    found = None if call is None else foreign(call, names)
    if call is None or found is None:
        return None
    values = [value for part in call.args for value in may_stand_for(part, names)]
    values += [value for entry in entries[1:] for value in entry.tb_frame.f_locals.values()]
    given = next((shown(value) for value in values if isinstance(value, Expr)), "an expression")
    written, name = found
    return f"{written} does not apply to {given}: {of_function(name, written.rpartition('.')[2])}"


def _entries(entry: TracebackType | None) -> Iterator[TracebackType]:
    while entry is not None:
        yield entry
        entry = entry.tb_next


def _text(span: Span, name: str, operands: list[str], said: str = "at") -> str:
    where = f" in {name}" if name.isidentifier() else ""
    lines = [f"  {said} {span.file}:{span.line}{where}"]
    marked = list(span.marked())
    lines += [f"    {text}" for text in marked] or ["    (the source of this line is not known)"]
    if operands:
        values = ", ".join(operands)
        if lines[-1].endswith("^") and len(lines[-1]) + len(values) < WIDE:
            lines[-1] += f"  {values}"
        else:
            lines.append(f"    {values}")
    return "".join(f"\n{text}" for text in lines)

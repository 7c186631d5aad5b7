"""Errors as `FILE:LINE:COLUMN: message`, with the line and carets; what the command was asked wrongly is told apart."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, final

from attrs import evolve, frozen

from diff.lam.term.term_error import TermError
from diff.mistakes.user_source import Span, span_of
from diff.trace.error_place import found_at
from hilbert import SpaceError
from hilbert.base.escaped_text import in_line, put
from hilbert.errors import CONTROL, raised_for, visible
from hilbert.program.line.source_line import line_of, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ENDS = re.compile("\r\n|\r|\n")
WIDEST = 160
"""The characters of a line that are shown."""
RED, BOLD, PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"


class UsageError(Exception):
    """The command cannot be followed: an option, a file, a name or an argument that is none. The exit status is 2."""


@final
@frozen
class TextSpan:
    """A place in a text: its line, and its first and last column, counted from 1 in code points."""

    file: str
    text: str
    line: int
    column: int
    end: int | None = None

    @property
    def source(self) -> str:
        """Its line."""
        lines = ENDS.split(self.text, self.line)
        return lines[self.line - 1] if 0 < self.line <= len(lines) else ""

    def of(self, span: Span) -> TextSpan:
        """The place of a span, whose columns are counted in bytes."""
        line = evolve(self, line=span.line, column=1, end=None)
        raw = line.source.encode()
        if span.column is None:
            return line
        start = len(raw[: span.column].decode(errors="replace"))
        end = raw[: span.end_column] if span.end == span.line else raw
        return evolve(line, column=start + 1, end=len(end.decode(errors="replace")) + 1)


class TextError(Exception):
    """Something is wrong in a text, or with running it. The exit status is 1."""

    def __init__(self, place: TextSpan, message: str) -> None:
        super().__init__(message)
        self.place = place

    @classmethod
    def of(cls, error: TermError, texts: Mapping[str, str]) -> TextError:
        """A mistake in one of some texts."""
        where = error.place
        if where is None:
            return cls(TextSpan(next(iter(texts), ""), "", 1, 1), error.message)
        return cls(TextSpan(where.file, texts.get(where.file, ""), where.line, where.column), error.message)

    def report(self) -> str:
        """FILE:LINE:COLUMN: message, the line, and carets; what more the message says stands below."""
        p, (first, *more) = self.place, visible(str(self)).splitlines() or [""]
        start = len(p.source) - len(p.source.lstrip())
        margin = max(min(start, p.column - 1), p.column - WIDEST)
        red, bold, plain = (RED, BOLD, PLAIN) if _colours() else ("", "", "")
        lines = [f"{bold}{in_line(p.file)}:{p.line}:{p.column}:{plain} {first}"]
        if p.text:
            carets = "^" * min(max(1, (p.end or p.column + 1) - p.column), WIDEST)
            blank = "".join("\t" if c == "\t" else " " for c in p.source[margin : p.column - 1])
            shown = CONTROL.sub("\N{REPLACEMENT CHARACTER}", p.source[margin : p.column + WIDEST])
            lines += [f"    {shown}", f"    {blank}{red}{carets}{plain}"]
        return "\n".join([*lines, *(f"    {line.strip()}" for line in more)])


def say(text: str) -> None:
    """A result."""
    put(f"{text}\n")


def complain(text: str) -> None:
    """An error or a warning, after what was said before it."""
    complain_at(visible(text))


def complain_at(report: str) -> None:
    """An error at its place, which may have colours."""
    sys.stdout.flush()
    sys.stderr.write(f"{report}\n")


def _colours() -> bool:
    """Tell if errors may be coloured."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def located(place: TextSpan) -> Iterator[None]:
    """Errors inside become TextError: at the line of the text that raised them, else at the place."""
    try:
        yield
    except (TextError, UsageError):
        raise
    except SyntaxError as error:
        if error.filename != place.file or error.lineno is None:
            raise TextError(place, f"{type(error).__name__}: {error}") from error
        at = evolve(place, line=max(1, error.lineno))  # of nothing it is 0
        at = evolve(at, column=error.offset or len(at.source) + 1)
        ends = error.end_lineno == error.lineno and (error.end_offset or 0) > at.column
        raise TextError(
            evolve(at, end=error.end_offset if ends else None), f"{type(error).__name__}: {error.msg}"
        ) from error
    except (Exception, SystemExit) as error:
        raise _text_error(error, place) from error


def _text_error(error: BaseException, place: TextSpan) -> TextError:
    """The place of the line that raised an error, or its cause, with the operands."""
    cause: BaseException | None = error
    best: tuple[Span, str, list[str]] | None = None
    while cause is not None:
        best = found_at(cause, lambda file: file == place.file, modules=True) or best
        cause = raised_for(cause)
    message = str(error).partition("\n  at ")[0] if isinstance(error, SpaceError) else _python(error)
    if best is None:
        step = written(error)
        if step is None or isinstance(step, str) or step[0].co_filename != place.file:
            return TextError(place, message)
        return TextError(place.of(span_of(*step[:2], line_of(step))), message)
    span, _, operands = best
    return TextError(place.of(span), "\n".join([message, *filter(None, [", ".join(operands)])]))


def _python(error: Any) -> str:
    if isinstance(error, RecursionError):
        return "RecursionError: nested too deep"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__

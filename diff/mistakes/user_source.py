"""Parts of users' files, as messages quote them: the files that are theirs, and the source of an instruction."""

from __future__ import annotations

import ast
import dis
import itertools
import linecache
from functools import lru_cache
from typing import TYPE_CHECKING, final

from attrs import evolve, frozen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

LINES = 5
"""The most lines of an expression that are quoted."""
COLUMNS = 100
"""The most columns of a line that are quoted."""


STEPS = {"GET_ITER", "FOR_ITER", "SET_ADD", "MAP_ADD"}
"""Instructions of loops and of comprehensions, beside jumps."""
Made = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


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

    def module(self) -> ast.Module:
        """The whole file; an empty one where it is not known."""
        return _parsed("".join(linecache.getlines(self.file)))

    def contains(self, other: Span) -> bool:
        """Tell if all lines of another part are among the lines of this one."""
        return self.file == other.file and self.line <= other.line and other.end <= self.end

    def of(self, node: ast.expr | ast.stmt | ast.keyword) -> Span:
        """The part of the file that a node of its tree was read from."""
        end = node.end_lineno or node.lineno
        return Span(self.file, node.lineno, end, node.col_offset, node.end_col_offset)

    def lies_in(self, node: ast.expr | ast.stmt | ast.keyword) -> bool:
        """Tell if this part lies in the one that a node of the file's tree was read from."""
        if node.end_lineno is None or self.column is None:
            return False
        start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        return start <= (self.line, self.column) and (self.end, self.end_column) <= end

    def around(self, tree: ast.AST) -> Iterator[ast.expr | ast.stmt | ast.keyword]:
        """The nodes of the file's tree that this part lies in, the outermost first."""
        ahead = [tree]
        while ahead:
            for part in ast.iter_child_nodes(ahead.pop()):
                if not isinstance(part, ast.expr | ast.stmt | ast.keyword):
                    ahead.append(part)  # it has no place of its own, as the sequence of a comprehension
                elif self.lies_in(part):
                    yield part
                    ahead.append(part)

    def first_line(self) -> Span:
        """The beginning of the part, on its first line."""
        return self if self.end == self.line else Span(self.file, self.line, self.line, self.column)

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


@lru_cache(maxsize=2)
def _parsed(source: str) -> ast.Module:
    """The tree of a source, kept for the next error in the same file."""
    try:
        return ast.parse(source)
    except SyntaxError:  # what a session has been told last
        return ast.Module([], [])


def _first(text: str, column: int) -> str:
    """The text before a column, which compilers count in bytes."""
    return text.encode()[:column].decode(errors="replace")


def span_of(code: CodeType, instruction: int, line: int) -> Span:
    """The part of a file that an instruction was compiled from."""
    found = next(itertools.islice(code.co_positions(), instruction // 2, None), (None, None, None, None))
    start, end, column, end_column = found
    if start is None or end is None or start > line:
        return Span(code.co_filename, line, line)
    span = Span(code.co_filename, start, end, column, end_column)
    return _asked(span, dis.opname[code.co_code[instruction]]) or span


def _asked(span: Span, step: str) -> Span | None:
    """The part of a statement or comprehension that an instruction is about; Python before 3.13 tells only the whole.

    That part is the condition of a jump, the sequence of a loop, or the item that a set or a table is to hold.
    """
    if step not in STEPS and "JUMP" not in step:
        return None
    for node in span.around(span.module()):
        if span.of(node) != span:
            continue
        match step, node:
            case ("GET_ITER" | "FOR_ITER", ast.For(iter=part)):
                return span.of(part)
            case ("GET_ITER" | "FOR_ITER", _) if isinstance(node, Made) and len(node.generators) == 1:
                return span.of(node.generators[0].iter)
            case ("SET_ADD", ast.SetComp(elt=part)):
                return span.of(part)
            case ("MAP_ADD", ast.DictComp(key=key, value=value)):
                entry = span.of(value)
                return evolve(entry, line=key.lineno, column=key.col_offset)
            case (_, ast.If(test=part) | ast.While(test=part) | ast.Assert(test=part) | ast.IfExp(test=part)):
                return span.of(_condition(part))
            case _ if isinstance(node, Made) and "JUMP" in step:
                conditions = [one for run in node.generators for one in run.ifs]
                return span.of(_condition(conditions[0])) if len(conditions) == 1 else None
            case _:  # another node that is written there
                pass
    return None


def _condition(node: ast.expr) -> ast.expr:
    """The condition inside of `not`, whose value Python asks for."""
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node = node.operand
    return node

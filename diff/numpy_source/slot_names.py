"""Names of slots: the user's variables, where a step is the whole of what an assignment of the user's computes.

A step has its place in the user's code, an instruction with the columns that it was compiled from.
"""

from __future__ import annotations

import ast
import itertools
import linecache
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

    from hilbert.program.line.line import Line, Step

Columns: TypeAlias = tuple[int, int, int, int]
"""The first and the last line of an expression, and its first and last column."""
FEW = 2
"""The most steps that are one operation of a user's for sure."""


def assigned(step: Step[Any]) -> tuple[str, ...]:
    """The names that a user's assignment gives the results of a step; none if the step is a part of a value."""
    place = step.place
    if not isinstance(place, tuple) or len(place) != 2:
        return ()
    code, instruction = place
    found = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
    if found is None or None in found:
        return ()
    return _targets(code).get((found[0], found[1], found[2], found[3]), ())  # type: ignore[arg-type]


def user_names(line: Line) -> dict[int, tuple[str, ...]]:
    """The slots of a line that have names of the user's.

    Of the steps of one operation of the user's the one that his others read is the value; those that follow are of its
    derivative, unless they are the same again, as in a loop of Python.
    """
    place = {k: step.place for k, step in enumerate(line.steps, line.arity)}
    if len(line.steps) > FEW and len(set(place.values())) == 1:  # a text of another language, read in one line
        return {}
    read = set(line.outputs)
    for k, step in enumerate(line.steps, line.arity):
        if step.place is not None:
            read |= {a for a in step.args if a in place and place[a] != place[k]}
    found = {k: assigned(step) for k, step in enumerate(line.steps, line.arity) if k in read and step.place is not None}
    first = dict[Any, Any]()
    for k in found:
        step = line.steps[k - line.arity]
        first.setdefault(step.place, step.operation)
    return {k: names for k, names in found.items() if names and first[place[k]] == line.steps[k - line.arity].operation}


@lru_cache(256)
def _targets(code: CodeType) -> dict[Columns, tuple[str, ...]]:
    """The names that are assigned in the file of some code, by where the values stand."""
    lines = linecache.getlines(code.co_filename)
    if not lines:
        return {}
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return {}
    return dict(_found(tree))


def _found(tree: ast.AST) -> Iterator[tuple[Columns, tuple[str, ...]]]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign([target], value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from _pairs(target, value)
            case ast.NamedExpr(target, value):
                yield from _pairs(target, value)
            case _:  # assigns nothing
                pass


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[Columns, tuple[str, ...]]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, part in zip(target.elts, value.elts, strict=True):
            yield from _pairs(one, part)
        return
    names = [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]
    if names and value.end_lineno is not None and value.end_col_offset is not None:
        yield (value.lineno, value.end_lineno, value.col_offset, value.end_col_offset), tuple(names)

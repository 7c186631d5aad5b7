r"""The values of names in a user's line, looked up in its frame as far as this computes nothing.

Since Python 3.12 a comprehension is run in the frame of the function around it, which forgets the names of the
comprehension when an error leaves it. Such a name then stood for one of the items that it ran through.

>>> from diff.mistakes.user_source import Span
>>> text = "[f(x) for f in (abs, len)]"
>>> call = Span("", 1, 1, 1, 5)
>>> left(call, ast.parse(text), {"abs": abs, "len": len, "x": 3})
{'f': (<built-in function abs>, <built-in function len>)}
"""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, final

from hilbert.program.line.source_line import MADE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from diff.mistakes.user_source import Span

Names: TypeAlias = "Mapping[str, Any]"
"""Values by name."""
Made = ast.ListComp | ast.SetComp | ast.DictComp
OwnFrame = ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.GeneratorExp


@final
class OneOf(tuple[Any, ...]):
    """The values that a name may have had, in this order; some may be missing."""

    __slots__ = ()


def names_of(frame: FrameType) -> dict[str, Any]:
    """The values of the names of a frame."""
    return {**frame.f_builtins, **frame.f_globals, **frame.f_locals}


def names_at(span: Span, frame: FrameType) -> dict[str, Any]:
    """The values that the names of a frame had in a part of its source that an error has left."""
    names = names_of(frame)
    return names if frame.f_code.co_name in MADE else names | left(span, span.module(), names)


def stands_for(node: ast.expr, names: Names) -> Any:
    """The value of a name or of an attribute of a name, as far as the look-up computes nothing; else None."""
    match node:
        case ast.Name(name):
            return names.get(name)
        case ast.Attribute(of, name):
            owner = stands_for(of, names)
            return OneOf(_attribute(one, name) for one in owner) if type(owner) is OneOf else _attribute(owner, name)
        case _:  # a value that would have to be computed
            return None


def may_stand_for(node: ast.expr, names: Names) -> tuple[Any, ...]:
    """The one value that `stands_for` finds, or all the values that the name may have had."""
    found = stands_for(node, names)
    return found if type(found) is OneOf else (found,)


def _attribute(owner: Any, name: str) -> Any:
    return vars(owner).get(name) if isinstance(owner, ModuleType) else inspect.getattr_static(owner, name, None)


def left(span: Span, tree: ast.AST, names: Names) -> dict[str, OneOf]:
    """The names of the comprehensions around a part of a source that are run in the frame of the part."""
    found: dict[str, OneOf] = {}
    for node in span.around(tree):
        if not isinstance(node, OwnFrame | Made) or not _is_inside_loop_or_body(node, span):
            continue
        if not isinstance(node, Made):
            found = {}  # those are in a frame around
            continue
        for run in node.generators:
            found |= _bound(run.target, _items(run.iter, {**names, **found}))
    return found


def _is_inside_loop_or_body(node: ast.Lambda | ast.stmt | ast.expr, span: Span) -> bool:
    """Tell if a part of a source is run for each item of a comprehension, or lies in a function or a class."""
    match node:
        case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part):
            parts = [part]
        case ast.DictComp(key=key, value=value):
            parts = [key, value]
        case _:  # a function or a class: all of it
            return span.lies_in(node)
    first, *others = node.generators  # the sequence of the first `for` is computed before any name is bound
    parts += [*first.ifs, *(part for one in others for part in (one.iter, *one.ifs))]
    return any(span.lies_in(part) for part in parts)


def _bound(target: ast.expr, items: OneOf) -> dict[str, OneOf]:
    match target:
        case ast.Name(name):
            return {name: items}
        case ast.Tuple(parts) | ast.List(parts) if not any(isinstance(part, ast.Starred) for part in parts):
            rows = [item for item in items if isinstance(item, tuple | list) and len(item) == len(parts)]
            columns = [_bound(part, OneOf(row[k] for row in rows)) for k, part in enumerate(parts)]
            return {name: values for column in columns for name, values in column.items()}
        case _:  # *rest, an entry of a list
            return {node.id: OneOf() for node in ast.walk(target) if isinstance(node, ast.Name)}


def _items(node: ast.expr, names: Names) -> OneOf:
    """The items of an expression that a comprehension runs through, as far as they are known."""
    match node:
        case ast.Tuple() | ast.List():
            return OneOf(_value(node, names))
        case ast.Call(ast.Name("enumerate"), [of]):
            return OneOf(enumerate(_items(of, names)))
        case ast.Call(ast.Name("zip"), parts):
            return OneOf(zip(*(_items(part, names) for part in parts), strict=False))
        case ast.Call(ast.Attribute(of, "items" | "values" as view), []):
            table = stands_for(of, names)
            return OneOf(getattr(table, view)() if type(table) is dict else ())
        case _:  # a name or an attribute, if anything is known
            found = may_stand_for(node, names)
            return OneOf(item for one in found if type(one) in {tuple, list, dict} for item in one)


def _value(node: ast.expr, names: Names) -> Any:
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_value(part, names) for part in node.elts)
    found = may_stand_for(node, names)
    return found[0] if len(found) == 1 else None

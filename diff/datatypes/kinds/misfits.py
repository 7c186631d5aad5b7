"""The place where a value is not of its kind: the way from the root to the part that does not fit, `t.left.right.word`.

The place is searched for once a value has been refused, so that the pass that takes values apart stays quick.
"""

from __future__ import annotations

from collections.abc import Sequence as Several
from itertools import chain
from typing import Any, TypeAlias

from diff.datatypes.kinds.conversion import fault
from diff.datatypes.kinds.kinds import Data, Kind, Sequence, attributes
from diff.datatypes.kinds.layout import cycle
from diff.lam.term.term_error import TermError

Way: TypeAlias = "tuple[Way | None, str]"
"""The way to a part's owner, and the last step."""
SHOWN = 6
"""The number of steps that are shown at each end of a longer way."""


def misfit(kinds: Several[Kind], values: Several[Any], names: Several[str]) -> tuple[int, TermError] | None:
    """The first value that is not of its kind: its position, and the error, with the place if a part of it is wrong.

    Data that are shared are looked into once.
    """
    for k, (kind, value, name) in enumerate(zip(kinds, values, names, strict=True)):
        found = _first(kind, value, name)
        if found is not None:
            return k, found
    return None


def _first(of: Kind, whole: Any, name: str) -> TermError | None:
    seen: set[int] = set()
    above: set[int] = set()
    stack: list[tuple[Kind | None, Any, Way, str]] = [(of, whole, (None, name), "")]
    while stack:
        kind, value, way, owner = stack.pop()
        if kind is None:  # all that is in the value has been looked into
            above.remove(id(value))
            continue
        wrong = cycle(type(value).__name__) if id(value) in above else fault(kind, value)
        if wrong is not None:
            return TermError(wrong.code, f"{_text(way)}{owner}: {wrong.message}") if way[0] else wrong
        if isinstance(kind, Data) and id(value) not in seen:
            seen.add(id(value))
            above.add(id(value))
            stack.append((None, value, way, owner))
            cls = type(value)
            fields = [
                (one, getattr(value, field), (way, f".{field}"), f" ({cls.__name__}.{field})")
                for field, one in attributes(kind, cls)
            ]
            stack += reversed(fields)
        elif isinstance(kind, (Sequence, tuple)):
            kinds = kind if isinstance(kind, tuple) else [kind.of] * len(value)
            pairs = enumerate(zip(kinds, value, strict=True))
            items = [(one, item, (way, f"[{k}]"), owner) for k, (one, item) in pairs]
            stack += reversed(items)
    return None


def _text(way: Way) -> str:
    steps: list[str] = []
    at: Way | None = way
    while at is not None:
        at, step = at
        steps.append(step)
    steps.reverse()
    if len(steps) > 2 * SHOWN:
        between = len(steps) - 2 * SHOWN
        steps = list(chain(steps[:SHOWN], [f" …({between} steps)… "], steps[-SHOWN:]))
    return "".join(steps)


def nothing(name: str, kinds: Several[Kind], cls: type[Any] | None) -> TermError:
    """The error where a function gives None, for values of a class."""
    if cls is None:
        return TermError("type", f"{name} gives None: let it return its result")
    if not any(isinstance(kind, Data) and cls in kind.classes for kind in kinds):
        return TermError("type", f"{name} is given a value of type {cls.__name__}, which is no class of its data")
    message = f"{name} gives None for {cls.__name__}: write case {cls.__name__}(…), which returns its result"
    return TermError("branches", message)

"""What errors of expressions say of their axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert.errors import SpaceError, shown

if TYPE_CHECKING:
    from diff.expr import Expr


def no_options(a: Expr[Any], name: str, options: dict[str, Any]) -> None:
    """Raise SpaceError for options that numpy's method of that name has."""
    if options:
        given = ", ".join(f"{key}={shown(value)}" for key, value in options.items())
        msg = f".{name}(X) of {shown(a)} takes the index set of an axis, not {given}: {its_axes(a)}"
        raise SpaceError(msg)


def its_axes(a: Expr[Any]) -> str:
    """The axes of an expression."""
    axes = dict.fromkeys(str(axis) for leaf in a.space.leaves for axis in leaf.axes)
    return f"its axes are {', '.join(axes)}" if axes else "it has none"

"""Parts of messages about expressions and their axes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hilbert.base.numpy_names import of_leaves
from hilbert.errors import SpaceError, shown
from hilbert.program.control.loop import Loop
from hilbert.program.line.bundle import Unpack

if TYPE_CHECKING:
    from diff.mistakes.traced import Traced
    from hilbert.index.index import Index


CALLS = {
    "reshape": "write x.reshape(X), X an index set such as Fin.of(n) or Fin.of(n) * Fin.of(m)",
    "concatenate": (
        "write x.concatenate(y); a table A above a table B is, with v = A.rows().concatenate(B.rows()), "
        "uncurry(v.space)(v), and the two side by side are the transpose of that of A.T and B.T"
    ),
}
"""Remedies for calls of numpy's methods, by the names of the methods."""


def its_call(text: str) -> str:
    """The call to write where Python says that a method was given other arguments than it takes; else nothing."""
    found = re.match(r"\.(\w+)\(\) (takes|got|missing)", text)
    return f": {CALLS[found[1]]}" if found and found[1] in CALLS else ""


def without_guess(text: str) -> str:
    """Python's message about an argument that is not due, without the guess at its name that it has since 3.13."""
    return re.sub(r"(unexpected keyword argument '\w+')\. Did you mean '\w+'\?", r"\1", text)


def no_options(a: Traced, name: str, options: dict[str, Any]) -> None:
    """Raise SpaceError for options that numpy's method of that name has."""
    if options:
        given = ", ".join(f"{key}={shown(value)}" for key, value in options.items())
        msg = f".{name}(X) of {shown(a)} takes the index set of an axis, not {given}: {its_axes(a)}"
        raise SpaceError(msg)


def one_axis(a: Traced, name: str, X: Index, at: int = 0) -> Index:
    """The index set from position `at` on, if it is one axis; SpaceError for several, of which `over` says one."""
    if len(X.axes) == 1:
        return X
    ways = " or ".join(f"over={at + k}" for k in range(len(X.axes)))
    msg = f".{name}() of {shown(a)} is along one axis, and {X} has {len(X.axes)}: say which by "
    raise SpaceError(f"{msg}its index set, over=X, or by its position, {ways}")


def its_axes(a: Traced) -> str:
    """The axes of an expression."""
    axes = dict.fromkeys(str(axis) for leaf in a.space.leaves for axis in leaf.axes)
    return f"its axes are {', '.join(axes)}" if axes else "it has none"


def its_remedy(a: Traced, name: str) -> str:
    """The remedy where Python asks an expression for a method that only some might be expected to have."""
    match name:
        case "__iter__" if _is_state(a):
            return (
                "; a loop gives its last state alone where the step does: let the step return (state, output) for both"
            )
        case "__index__" | "__array__" if a.space.leaves and all(leaf.entry.index for leaf in a.space.leaves):
            return "a table by an element x of X is a vector of ℝ^X: const((R ** X).vec(table))[x]"
        case "item":
            return "x itself: an expression of ℝ is a number; float(f(v)) is that of the result"
        case _:  # the same as of a vector
            return of_leaves(a.space, "x.space", name)


def _is_state(a: Traced) -> bool:
    """Tell if an expression is the result of a loop, or a part of one."""
    b, slots = a.home
    return bool(slots) and all(_loop(b, k) for k in slots)


def _loop(b: Any, slot: int) -> bool:
    if isinstance(b.operation(slot), Unpack):
        (slot,) = b.steps[slot - b.arity].args
    return isinstance(b.operation(slot), Loop)

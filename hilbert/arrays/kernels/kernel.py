"""Kernels: array operations bound to a library and to shapes, chosen when a program is built.

The class of a library says how each operation is done: see `hilbert.arrays.kernels.library`.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType


Function: TypeAlias = "Callable[..., Any]"


@frozen
class Kernel:
    """An array operation, bound to a library and to shapes.

    `inplace[k]` is a form that overwrites operand k; `scalar` is a quicker form for numpy's scalars; `fresh` says that
    the result shares no memory with an operand. `broadcasts`: an operand may be smaller and broadcast to the result;
    `repeats`: the result is the operand repeated along new axes in front, so that an operation that broadcasts may
    read the operand itself; `narrow` is a form of a repetition along any axes that leaves them at length 1, for the
    same. `into(a, out)` writes the result into an array, where a reduction can; there the axes of the relation's
    codomain are one axis. A kernel that is not `pure` is called in its place among the steps. `onto(places)` is a form
    that writes its results of these numbers into arrays, given behind the operands, and gives these arrays where it
    could; of a kernel of one result the number is 0. A kernel that takes out one of several results says its number in
    `part`.
    """

    call: Callable[..., Any]
    inplace: tuple[Callable[..., Any] | None, ...] = ()
    fresh: bool = True
    scalar: Callable[..., Any] | None = None
    broadcasts: bool = False
    repeats: bool = False
    narrow: Callable[..., Any] | None = None
    into: Callable[[Any, Any], Any] | None = None
    pure: bool = True
    onto: Callable[[tuple[int, ...]], Callable[..., Any]] | None = None
    part: int | None = None

    @property
    def writing(self) -> Callable[[tuple[int, ...]], Callable[..., Any]] | None:
        """`onto`, which a ufunc of numpy has of itself."""
        ufunc = self.call
        if self.onto is not None or type(ufunc) is not np.ufunc:
            return self.onto
        return lambda _: (lambda *of: ufunc(*of[:-1], out=of[-1])) if output(ufunc) else ufunc


def output(ufunc: Any) -> str:
    """The text before the output of a ufunc of numpy: numpy asks two of them for the name, which costs time."""
    return "out=" if ufunc in {np.maximum, np.minimum} else ""


def inline(text: str, **values: Any) -> Callable[..., Any]:
    """The function of one or two operands, {0} and {1}, that a text of Python says, in which `values` are named.

    Where the function is called in an emitted line, the text stands instead of the call.

    >>> inline("{0} * {k}", k=3.0)(2.0)
    6.0
    """
    return FunctionType(_code(text, (*values,)), values)


def inlined(function: Function) -> tuple[str, dict[str, Any]] | None:
    """The text of a function made by `inline`, and the values named in the text; None for other functions."""
    found = _texts.get(function.__code__) if type(function) is FunctionType else None
    return None if found is None else (found[0], {name: function.__globals__[name] for name in found[1]})


def chained(call: Function, left: Function | None, right: Function | None, finish: Function | None) -> Function:
    """(a, b) ↦ finish(call(left(a), right(b))) as one text, without the functions that are None.

    >>> chained(lambda a, b: a - b, None, abs, None)(3.0, -2.0)
    1.0
    """
    values: dict[str, Any] = {}
    first, second = _text(values, "left", left, "{0}"), _text(values, "right", right, "{1}")
    return inline(_text(values, "end", finish, _text(values, "f", call, first, second)), **values)


def after(outer: Function, inner: Function) -> Function:
    """a ↦ outer(inner(a)) as one text."""
    values: dict[str, Any] = {}
    return inline(_text(values, "g", outer, _text(values, "f", inner, "{0}")), **values)


def _text(values: dict[str, Any], tag: str, f: Function | None, *operands: str) -> str:
    """The text of a call of a function, whose values are added with the tag in front; None gives the operand itself."""
    if f is None:
        return operands[0]
    found = inlined(f)
    if found is None or any(found[0].count(f"{{{k}}}") > 1 for k in range(len(operands))):  # computed once
        values[tag] = f
        return f"{{{tag}}}({', '.join(operands)})"
    text, own = found
    values |= {f"{tag}_{name}": value for name, value in own.items()}
    atoms = [text if _is_atom(text) else f"({text})" for text in operands]
    return text.format(*atoms, **{name: f"{{{tag}_{name}}}" for name in own})


def _is_atom(text: str) -> bool:
    """Tell if a text of an expression has no operator outside of parentheses."""
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if not depth and c in " -":
            return False
    return True


def flipped(call: Function) -> Function:
    """(a, b) ↦ call(b, a) as one text."""
    values: dict[str, Any] = {}
    return inline(_text(values, "f", call, "{1}", "{0}"), **values)


_texts: dict[CodeType, tuple[str, tuple[str, ...]]] = {}


@cache
def _code(text: str, names: tuple[str, ...]) -> CodeType:
    args = "a, b" if "{1}" in text else "a"
    made = eval(f"lambda {args}: {text.format('a', 'b', **{name: name for name in names})}")  # noqa: S307 - our texts
    code: CodeType = made.__code__
    _texts[code] = text, names
    return code


class PrimitiveRow(Protocol):
    """A function that applies entry by entry, as a library needs it: a row of the table in `diff.terms.nodes`."""

    @property
    def name(self) -> str:
        """The function's name in the table."""
        ...

    @property
    def arity(self) -> int:
        """The number of arrays that the function takes."""
        ...

    @property
    def value(self) -> Callable[..., Any]:
        """value(xp, params, *arrays), in any array namespace."""
        ...

    @property
    def ufunc(self) -> str | None:
        """The name of the same function in numpy, which can also write into an operand."""
        ...

    @property
    def in_numpy(self) -> Callable[[tuple[float, ...]], Kernel] | None:
        """params ↦ a kernel for numpy that was written by hand."""
        ...

    @property
    def fresh(self) -> bool:
        """True if the value never is a view of an argument."""
        ...

    @property
    def is_discrete(self) -> bool:
        """True if the result holds truth values."""
        ...

"""Names and signs of texts as maps of the library, at the spaces of their arguments.

A sum, a difference and a multiple is a linear map, a product a bilinear one; the macro reads that off the map.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from diff.lam.term.term_error import TermError
from diff.primitives.primitives import divide, power
from diff.terms.elementwise import Binary, Primitive, rules
from diff.terms.untraced_functions import bilinear
from diff.trace.trace import fun
from hilbert import R, SpaceError, Type
from linmap import add, identity, join, scale
from linmap.contraction import hadamard, inner, scalar

if TYPE_CHECKING:
    from hilbert.map.map import AnyMap

_HIDDEN = {"length", "polygamma", "power", "quotient"}
_COMPARISONS: dict[str, Any] = {
    "less": lambda x, y: x < y,
    "equal": lambda x, y: (x <= y) & (x >= y),
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "not": lambda x: ~x,
}
LOGICAL = {"and", "or", "not"}
"""The primitives that take truth values."""


def arity(name: str) -> int | None:
    """The number of arguments of a primitive of the language; None where the name is none."""
    if name in _COMPARISONS:
        return 1 if name == "not" else 2
    if name == "inner":
        return 2
    rule = rules().get(name)
    if rule is None or rule.is_discrete or name in _HIDDEN or not name.isidentifier():
        return None
    return rule.arity


def names() -> list[str]:
    """All primitives of the language, each once."""
    return [name for name in dict.fromkeys((*_COMPARISONS, "inner", *rules())) if arity(name)]


@cache
def primitive(name: str, space: Type) -> AnyMap:
    """The primitive of a name on vectors of a space; raises SpaceError where it does not apply to them."""
    if name in _COMPARISONS:
        return fun(*(space,) * (arity(name) or 1))(_COMPARISONS[name])
    if name == "inner":
        return bilinear(inner(space))
    p: Any = Primitive(name) if arity(name) == 1 else Binary(name)
    return _everywhere(p, space, arity(name) or 1)


def _everywhere(p: Any, space: Type, count: int) -> AnyMap:
    lifted: AnyMap = p if space == R else fun(*(space,) * count)(p)
    return lifted


@cache
def sign(text: str, *spaces: Type) -> AnyMap:
    """The map of an operator at the spaces of its arguments; raises TermError `type` where there is none."""
    first = spaces[0]
    same = all(space == first for space in spaces)
    if text.startswith("^"):
        return _everywhere(power(float(text[1:])), first, 1)
    match text, len(spaces):
        case "-", 1:
            return scale(-1.0, first)
        case "+", _ if same:
            return add(first)
        case "-", _ if same:
            return join(identity(first), scale(-1.0, first))
        case "*", _ if first == R:
            return bilinear(scalar(spaces[1]))
        case "*", _ if same:
            return bilinear(hadamard(first))
        case "/", _ if same:
            return _everywhere(divide, first, 2)
        case _:  # what Python's operator is for expressions of these spaces
            return _traced(text, *spaces)


def _traced(text: str, *spaces: Type) -> AnyMap:
    body: dict[str, Any] = {"*": lambda x, y: x * y, "/": lambda x, y: x / y, "@": lambda x, y: x @ y}
    try:
        return fun(*spaces)(body[text])
    except (SpaceError, KeyError):
        what = " and ".join(map(str, spaces))
        raise TermError("type", f"{text} does not apply to {what}") from None

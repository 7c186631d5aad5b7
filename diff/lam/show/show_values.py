"""Values as text, which the parser reads but for functions."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, assert_never, cast

from diff.lam.show.show import Shower
from diff.lam.show.show_levels import ATOM, TERM
from diff.lam.show.show_types import vector_text
from diff.lam.term.binding import Pass
from diff.lam.term.lam_values import Closure, Native, Stack, Tagged, Value
from diff.lam.term.term_error import TermError
from hilbert import Vec, Zero
from hilbert.base.notarray import Applicable
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diff.lam.term.lam_values import ValueForm

MOST = 1_000_000
"""The parts of a value that is written, one that stands in several places counted in each."""


def show_value(value: Value) -> str:
    """The text of a value; functions are shown as their λ. Raises TermError `limit` for a long one."""
    shower = Shower()
    driven(_value(shower, value, TERM, count(1)))
    return "".join(shower.out)


def _value(shower: Shower, value: Value, level: int, written: Iterator[int]) -> Pass:
    """A value where one of this level is due; `written` counts the parts."""
    if next(written) > MOST:
        raise TermError("limit", f"a value of more than {MOST} parts")
    form = cast("ValueForm", value)
    match form:
        case tuple():
            shower.write("⟨" if value else "(")
            for k, part in enumerate(value):
                shower.write(", " if k else "")
                yield _value(shower, part, TERM, written)
            shower.write("⟩" if value else ")")
        case Tagged("Nil" | "Cons"):
            shower.write("[")
            first = True
            while value.label == "Cons":
                shower.write("" if first else ", ")
                first = False
                yield _value(shower, value.payload[0], TERM, written)
                value = value.payload[1]
            shower.write("]")
        case Tagged(label, payload):
            bare = payload == ()
            shower.write("(" if level > TERM and not bare else "", label)
            if not bare:
                shower.write(" ")
                yield _value(shower, payload, ATOM, written)
            shower.write(")" if level > TERM and not bare else "")
        case Closure(lam, _):
            yield shower.term(lam, level)
        case Native():
            shower.write("a function")
        case int():
            shower.write(str(value))
        case Vec(space=Zero()):  # a tangent of what is discrete
            shower.write("()")
        case Vec():
            text = vector_text(value)
            shower.write(f"({text})" if level > TERM and text.startswith("-") else text)
        case Applicable() | Stack():  # it says its own text
            shower.write(str(value))
        case _:
            assert_never(form)

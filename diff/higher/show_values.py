"""Values as text, which the parser reads but for functions."""

from __future__ import annotations

from diff.higher.binding import Pass
from diff.higher.show import Shower
from diff.higher.show_levels import ATOM, TERM
from diff.higher.show_types import vector_text
from diff.higher.values import Closure, Native, Tagged, Value
from hilbert import Vec, Zero
from hilbert.term import driven


def show_value(value: Value) -> str:
    """The text of a value; functions are shown as their λ."""
    shower = Shower()
    driven(_value(shower, value, TERM))
    return "".join(shower.out)


def _value(shower: Shower, value: Value, level: int) -> Pass:
    """A value where one of this level is due."""
    match value:
        case tuple():
            shower.write("⟨" if value else "(")
            for k, part in enumerate(value):
                shower.write(", " if k else "")
                yield _value(shower, part, TERM)
            shower.write("⟩" if value else ")")
        case Tagged("Nil" | "Cons"):
            shower.write("[")
            first = True
            while value.label == "Cons":
                shower.write("" if first else ", ")
                first = False
                yield _value(shower, value.payload[0], TERM)
                value = value.payload[1]
            shower.write("]")
        case Tagged(label, payload):
            bare = payload == ()
            shower.write("(" if level > TERM and not bare else "", label)
            if not bare:
                shower.write(" ")
                yield _value(shower, payload, ATOM)
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
        case _:  # whatever else maps apply to
            shower.write(str(value))

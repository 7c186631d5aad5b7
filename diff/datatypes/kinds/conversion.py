"""Values of Python as those of the evaluator, and back: by their kind, one is checked and taken to the other."""

from __future__ import annotations

from typing import Any, assert_never

from diff.datatypes.kinds.kinds import Data, Function, Itself, Kind, Sequence, attributes
from diff.datatypes.kinds.layout import cycle
from diff.lam.run.evaluate import call
from diff.lam.term.binding import Pass, each
from diff.lam.term.lam_values import Native, Tagged, Value, nested
from diff.lam.term.term_error import TermError
from diff.trace.expr import Expr, literal
from hilbert import Type, Vec
from hilbert.base.term import driven
from hilbert.errors import shown
from hilbert.space.direct_sum import DirectSum


def to_core(kind: Kind, value: Any) -> Value:
    """A value of Python as one of the evaluator.

    Raises TermError `type` or `shape` for one of another kind, and `infinite` for data that hold themselves. What a
    function gives is looked at when it is called.
    """
    return driven(_to_core(kind, value, set()))


def fault(kind: Kind, value: Any) -> TermError | None:
    """The error of a value that is not of a kind, without a look at its parts; None if there is none."""
    match kind:
        case tuple():
            is_one = isinstance(value, tuple) and len(value) == len(kind)
            return None if is_one else _misfit(value, f"a tuple of {len(kind)}")
        case Data():
            return None if type(value) in kind.classes else _misfit(value, f"a value of {kind}")
        case Sequence(of):
            return None if isinstance(value, tuple) else _misfit(value, f"a tuple of values of {of}")
        case Function():
            return None if callable(value) else _misfit(value, "a function")
        case Type():
            if not isinstance(value, (Vec, Expr)):
                return _misfit(value, f"a vector of {kind}", ": make it by V.vec(data)")
            due = f"a vector of {value.space} where one of {kind} is due"
            return None if value.space == kind else TermError("shape", due)
        case Itself():  # where a field recurs it is closed
            raise TypeError(kind)
        case never:
            assert_never(never)


def _to_core(kind: Kind, value: Any, above: set[int]) -> Pass:
    """The value; `above` are the data that hold it, by their identities."""
    wrong = fault(kind, value)
    if wrong is not None:
        raise wrong
    match kind:
        case tuple():
            pairs = zip(kind, value, strict=True)
            return tuple((yield each(lambda pair: _to_core(pair[0], pair[1], above), pairs)))
        case Data():
            if id(value) in above:
                raise cycle(type(value).__name__)
            above.add(id(value))
            fields = [(of, getattr(value, name)) for name, of in attributes(kind, type(value))]
            parts = yield each(lambda pair: _to_core(pair[0], pair[1], above), fields)
            above.remove(id(value))
            return Tagged(type(value).__name__, parts[0] if len(parts) == 1 else tuple(parts))
        case Sequence(of):
            made = Tagged("Nil", ())
            for item in reversed(value):
                one = yield _to_core(of, item, above)
                made = Tagged("Cons", (one, made))
            return made
        case Function(takes, gives):

            def run(arg: Value) -> Pass:
                args = [from_core(takes[0], arg)] if len(takes) == 1 else from_core(takes, arg)
                return (yield _to_core(gives, value(*args), set()))

            return Native(run)
        case Type():
            return nested(kind, value)
        case Itself():  # where a field recurs it is closed
            raise TypeError(kind)
        case never:
            assert_never(never)


def _misfit(value: Any, due: str, remedy: str = "") -> TermError:
    return TermError("type", f"{shown(value)} where {due} is due{remedy}")


def from_core(kind: Kind, value: Value) -> Any:
    """A value of the evaluator as one of Python."""
    return driven(_from_core(kind, value))


def _from_core(kind: Kind, value: Value) -> Pass:
    match kind:
        case tuple():
            return tuple((yield each(lambda pair: _from_core(*pair), zip(kind, value, strict=True))))
        case Data():
            fields = kind.at(value.label)
            payload = (value.payload,) if len(fields) == 1 else value.payload
            pairs = [(of, one) for (_, of), one in zip(fields, payload, strict=True)]
            parts = yield each(lambda pair: _from_core(*pair), pairs)
            return kind.named(value.label)(**dict(zip([name for name, _ in fields], parts, strict=True)))
        case Sequence(of):
            items = []
            while value.label == "Cons":
                one = yield _from_core(of, value.payload[0])
                items.append(one)
                value = value.payload[1]
            return tuple(items)
        case Function(takes, gives):

            def run(*args: Any) -> Any:
                given = to_core(takes, args)
                return from_core(gives, call(value, given[0] if len(takes) == 1 else given))

            return run
        case Type():
            return joined(kind, value)
        case Itself():  # where a field recurs it is closed
            raise TypeError(kind)
        case never:
            assert_never(never)


def joined(space: Type, value: Value) -> Any:
    """The vector or expression of a space whose parts, if it is a direct sum, are these: the inverse of `nested`."""
    if not isinstance(space, DirectSum):
        return value
    parts = [joined(part, one) for part, one in zip(space.parts, value, strict=True)]
    if all(isinstance(part, Vec) for part in parts):
        return Vec(space, tuple(leaf for part in parts for leaf in part.leaves))
    builder = next(part.builder for part in parts if isinstance(part, Expr))
    slots = [k for part in parts for k in (literal(builder, part) if isinstance(part, Vec) else part).slots]
    return Expr(builder, space, tuple(slots))

r"""Functions that users call with terms and values: `evaluate`, `call` and `program`, which check their arguments.

>>> from diff.lam.files.module import Module
>>> double = Module().term(r"\x. x + x")
>>> evaluate(double)
Traceback (most recent call last):
    ...
diff.higher.TermError: evaluate(t) takes a term, not the pair of a term and its type: write [0] after the pair
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from diff.jets.multiindex import count
from diff.lam.files.type_of_term import free_variables, type_of
from diff.lam.run.evaluate import STEPS
from diff.lam.run.evaluate import call as called
from diff.lam.run.evaluate import evaluate as evaluated
from diff.lam.run.translate import program as translated
from diff.lam.term.former import Former
from diff.lam.term.inductive import payload
from diff.lam.term.lam_values import Closure, Native, Stack, Tagged, Value, is_ground
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, pattern_type, require_term
from diff.lam.term.types import Arrow, DataType, Ground, Int, Lin, Param, SelfType, TupleType, Ty, Unknown
from hilbert import DirectSum, Vec
from hilbert.errors import is_number, shown

if TYPE_CHECKING:
    from diff.terms.program import AnyProgram


def evaluate(term: AnyTerm, values: dict[int, Value] | None = None, steps: int = STEPS) -> Value:
    """The value of a term whose free variables, by number, have these values.

    Raises TermError: `limit` after so many steps, `tag` where data would decide what is discrete, `type` for what is
    no term and values of other types.
    """
    require_term(term, "evaluate(t)")
    if values is not None:
        if not isinstance(values, dict):
            raise TermError("type", f"evaluate(t, values) takes a dict of values by numbers, not {shown(values)}")
        for x, _ in free_variables(term).values():
            if x.number in values:
                require_value(values[x.number], x.type, f"the value of {x.name}")
    return evaluated(term, values, count(steps, "evaluate(t, steps=…)"))


def call(function: Value, *args: Value, steps: int = STEPS) -> Value:
    """A function's value at arguments, one after the other. Raises TermError as `evaluate` does."""
    count(steps, "call(f, v, steps=…)")
    for k, arg in enumerate(args):
        _require_function(function, k)
        what = f"argument {k + 1} of call(f, …)"
        takes = function.takes if isinstance(function, Native) else pattern_type(function.lam.pattern)
        if takes is None:
            _require_some(arg, what)
        else:
            require_value(arg, takes, what)
        function = called(function, arg, steps=steps)
    if not args:
        _require_function(function, 0)
    return function


def program(term: AnyTerm, at: Value) -> AnyProgram:
    """The program of a closed function on the leaves of its argument, for all arguments of the shape of `at`.

    Its domain is the direct sum of the spaces of the leaves (that space, if there is one), its codomain of those of the
    result. The vectors of a list whose elements have one shape are one leaf, and a fold over it is a loop. Made once
    for each shape. Raises TermError `type` for what is no function, for an argument without leaves or of another type,
    and for results with functions.
    """
    require_term(term, "program(t, at=v)")
    ty = type_of(term)
    if not isinstance(ty, Arrow):
        raise TermError("type", f"program(t, at=v) takes a function, and t is of type {ty}", term.place)
    require_value(at, ty.dom, "program(t, at=v)")
    return translated(term, at)


def require_value(value: Value, ty: Ty, what: str) -> None:
    """Raise TermError, `shape` for a vector of another space and else `type`, unless a value is of a type.

    The results of functions, and their linearity, are not checked.
    """
    stack: list[tuple[Any, Ty]] = [(value, ty)]
    while stack:
        one, due = stack.pop()
        match due:
            case Ground(space) if is_ground(one):
                if one.space != space:
                    raise TermError("shape", f"{what}: {_misfit(one, due)}")
            case TupleType(parts) if isinstance(one, tuple) and len(one) == len(parts):
                stack += zip(reversed(one), reversed(parts), strict=True)
            case DataType(declaration) if isinstance(one, Tagged) and one.label in declaration.fields:
                stack.append((one.payload, payload(due, one.label)))
            case Arrow(dom) if isinstance(one, Closure):
                if pattern_type(one.lam.pattern) is not dom:
                    found = f"a function of {pattern_type(one.lam.pattern)} where one of type {due} is due"
                    raise TermError("type", f"{what}: {found}")
            case Int() if isinstance(one, int) and not isinstance(one, bool):
                pass
            case Arrow() | Lin() if isinstance(one, Native):
                pass
            case DataType() if isinstance(one, Stack):
                pass
            case Ground() | Int() | TupleType() | Arrow() | Lin() | DataType() | Param() | SelfType() | Unknown():
                raise TermError("type", f"{what}: {_misfit(one, due)}")
            case _:
                assert_never(due)


def _misfit(value: Any, due: Ty) -> str:
    """The text of an error: the value, the type that is due, and the remedy."""
    if isinstance(value, Former) or (isinstance(value, tuple) and value and isinstance(value[0], Former)):
        given, remedy = "a term", ": evaluate(t) is the value of a term t"
    else:
        given, remedy = shown(value), ": evaluate(Module().term(text)[0]) is that of a text"
    if isinstance(due, Ground):
        made = "" if is_ground(value) else ": make it by V.vec(data)"
        return f"{given} where a vector of {due.space} is due{remedy if given == 'a term' else made}"
    if isinstance(value, Vec) and isinstance(value.space, DirectSum) and isinstance(due, TupleType):
        remedy = ": v.split() is the tuple of its parts"
    return f"{given} where a value of type {due} is due{remedy}"


def _require_function(value: Any, k: int) -> None:
    """Raise TermError `type` unless a value is a function, after so many arguments."""
    if isinstance(value, (Closure, Native)):
        return
    if k:
        more = "" if k == 1 else "s"
        raise TermError("type", f"call(f, …): f takes {k} argument{more}, and more are given")
    if isinstance(value, (Former, tuple, str)):
        require_term(value[0] if isinstance(value, tuple) and value else value, "evaluate(t), which gives call its f,")
        raise TermError("type", "call(f, …) takes the value of a term, not a term: call(evaluate(t), …)")
    raise TermError("type", f"call(f, …) takes a function, as evaluate(t) gives, not {shown(value)}")


def _require_some(value: Any, what: str) -> None:
    """Raise TermError `type` for what is no value, where its type is not known."""
    some = (int, tuple, Tagged, Closure, Native, Stack)
    if not is_ground(value) and not isinstance(value, some):
        made = "V.vec(data)" if is_number(value) else "evaluate(t)"
        raise TermError("type", f"{what}: {shown(value)} is no value: make it by {made}")

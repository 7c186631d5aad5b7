"""Pointful functions: `fun(V, W, …)(body)` runs a Python function once on expressions and keeps what it did.

>>> from hilbert import Fin, R
>>> from diff import fun, tanh
>>> X, Y = Fin.of(3), Fin.of(2)
>>> layer = fun(R ** (Y * X), R ** X, R ** Y)(lambda W, x, b: tanh(W @ x + b))
>>> print(layer.dom, "→", layer.cod)
ℝ^{2×3} ⊕ ℝ^3 ⊕ ℝ^2 → ℝ^2
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, final, get_origin

from diff.mistakes.escaped_expressions import TwoFunctionsError, leaked
from diff.mistakes.wrong_results import instead_of_result
from diff.terms.program import Program
from diff.trace.error_place import here, origin, understood
from diff.trace.expr import Expr
from hilbert import DirectSum, Index, SpaceError, Type
from hilbert.base.attach import overloaded
from hilbert.base.tag_classes import index_set_of
from hilbert.errors import shown
from hilbert.program.line.builder import Builder
from hilbert.program.transform.lanes_of_steps import in_lanes_of_steps
from hilbert.tracebacks import shortened, tracing

if TYPE_CHECKING:
    from diff import _calls

Ps = ParamSpec("Ps")
V = TypeVar("V", bound=Type)


@final
class Tracer(Generic[Ps, V]):
    """The result of `fun(…)`: a function to apply to the body, or a decorator."""

    __slots__ = ("_arguments", "_dom", "_fixed")

    def __init__(self, arguments: tuple[Type, ...], dom: V, *, fixed: bool) -> None:
        """Made by `fun`."""
        self._arguments, self._dom, self._fixed = arguments, dom, fixed

    @overloaded(lambda: _calls.Tracer___call__)
    @shortened
    def __call__(self: Tracer[Ps, V], body: Any, /) -> Any:
        """Trace the body once; raises SpaceError, with the line of the body, for expressions that do not fit."""
        names = _parameters(body, self._arguments)
        builder = Builder(self._dom.leaves, fixed=self._fixed)
        builder.watch = here
        slots = iter(range(builder.arity))
        arguments = [Expr(builder, space, tuple(next(slots) for _ in space.leaves)) for space in self._arguments]
        outer = tracing.set((*tracing.get(), builder))
        try:
            result = body(*arguments)
            value = _result(builder, result, body)
        except SpaceError as error:
            raise _placed(error, origin(error, body)) from error
        except (TypeError, AttributeError, ValueError) as error:
            if text := understood(error, body):
                raise SpaceError(f"{text}{origin(error, body)}") from error
            raise
        finally:
            tracing.reset(outer)
            builder.traced, builder.watch = True, None
        return Program(self._dom, value.space, in_lanes_of_steps(builder.line(value.slots)), names)


def _placed(error: SpaceError, place: str) -> SpaceError:
    """The error with a place behind its text, and with its notes."""
    placed = SpaceError(f"{error}{place}")
    for note in getattr(error, "__notes__", ()):
        placed.add_note(note)
    return placed


def _parameters(body: Any, spaces: tuple[Type, ...]) -> tuple[str, ...]:
    """The names of a body's arguments, if each has one; raises SpaceError for a body that does not take so many."""
    count = len(spaces)
    if not callable(body):
        msg = f"fun(V, W)(body) takes a Python function of expressions, not {shown(body)}"
        raise SpaceError(msg)
    try:
        signature = inspect.signature(body)
    except (TypeError, ValueError):  # a builtin that does not tell
        return ()
    try:
        signature.bind(*range(count))
    except TypeError as error:
        given = "one argument" if count == 1 else f"{count} arguments"
        msg = f"fun of {'one space' if count == 1 else f'{count} spaces'} gives {given} to its body, whose parameters "
        msg += f"are {signature}"
        if count == 1 and len(spaces[0].parts) == len(signature.parameters) > 1:
            msg += ": fun.over(V) gives an argument for each part of V"
        raise SpaceError(msg) from error
    parameters = signature.parameters.values()
    names = tuple([p.name for p in parameters if p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD}])
    return names if len(names) == count else ()


def _result(builder: Builder, result: Any, body: Any) -> Expr[Any]:
    if isinstance(result, Expr):
        if result.builder is not builder:
            msg = f"the body returns {shown(result)} of another function: pass it as an argument"
            raise TwoFunctionsError(msg + leaked(result))
        return result
    if isinstance(result, tuple):
        parts = [_result(builder, part, body) for part in result]
        space = DirectSum(tuple(part.space for part in parts))
        return Expr(builder, space, tuple(slot for part in parts for slot in part.slots))
    msg = f"the body of a traced function returns expressions, not {shown(result)}: write "
    raise SpaceError(msg + instead_of_result(result, body))


@final
class Tracing:
    """fun(V, W, …)(body): the function V ⊕ W ⊕ … → … that a Python function of expressions computes.

    The body may return a tuple. What Python evaluates once is one slot; Python control flow is run at tracing time.
    `fun.over(V)(body)` takes a direct sum apart: the body has an argument for each of its parts. With `planned=False`
    the contractions of the function, and of what is derived or made of it, run in the order in which they are written.
    """

    __slots__ = ()

    @overloaded(lambda: _calls.Tracing___call__)
    def __call__(self: Tracing, *spaces: Any, planned: bool = True, **named: Any) -> Any:
        """The tracer of a function on these spaces, to apply to a body; raises SpaceError for what is no space."""
        if named:
            names = ", ".join(named)
            msg = f"fun takes spaces by position, not by the names {names}: write fun(V)(lambda {names}: …)"
            raise SpaceError(msg)
        if not spaces:
            msg = "fun needs at least one space: fun(V, W)(lambda v, w: …)"
            raise SpaceError(msg)
        for space in spaces:
            _known(space, "fun takes spaces", "fun(V)(body)")
        return Tracer(spaces, spaces[0] if len(spaces) == 1 else DirectSum(spaces), fixed=_fixed(planned))

    @overloaded(lambda: _calls.Tracing_over)
    def over(self: Tracing, space: Any, /, *, planned: bool = True) -> Any:
        """As fun(*space.parts), typed for up to six parts; a space that is no direct sum is one part.

        Raises SpaceError for what is no space, and for the empty direct sum.
        """
        _known(space, "fun.over takes a space", "fun.over(V)(body)")
        if not space.parts:
            msg = "fun.over needs at least one part, and the empty direct sum has none"
            raise SpaceError(msg)
        return Tracer(space.parts, space, fixed=_fixed(planned))

    def __repr__(self) -> str:
        return "fun"


def _fixed(planned: Any) -> bool:
    """True if contractions stay in their order; raises SpaceError unless `planned` is True or False."""
    if not isinstance(planned, bool):
        msg = f"fun(V, planned={shown(planned)})(body): planned is True, or False for the order that is written"
        raise SpaceError(msg)
    return not planned


def _known(space: Any, what: str, remedy: str) -> None:
    if not isinstance(space, Type):
        hint = f"; apply it to the body as in {remedy}" if callable(space) else ""
        if get_origin(space) is not None:
            hint = ", which is for type checkers: write the space, such as R ** X"
        elif isinstance(space, Index):
            hint = ": write R ** X for vectors over X, Elements(X) for its elements"
        elif isinstance(space, type) and issubclass(space, Type):
            hint = f": {space.__name__}{'.space()' if hasattr(space, 'lenses') else '(…)'} makes one"
        elif isinstance(space, type) and space not in {int, float, bool, complex, str}:
            hint = f": a class names an axis, write R ** {index_set_of(space, '')}"
        msg = f"{what}, not {shown(space)}{hint}"
        raise SpaceError(msg)


fun = Tracing()

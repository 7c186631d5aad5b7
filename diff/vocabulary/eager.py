"""Operations on vectors: each is the operation on expressions, traced once for the spaces of its operands.

So the result, the errors, formal tensors and arrays of other libraries are those of a traced function. An argument that
is no vector, such as the exponent of v ** 2, is a part of the traced operation; numbers that stand for vectors are not.

>>> from hilbert import Fin, R
>>> v = (R ** Fin.of(3)).vec([1.0, 2.0, 3.0])
>>> print(v * v, v**2 > 3.0, v.sum())
[1.0, 4.0, 9.0] ∈ ℝ^3 [False, True, True] ∈ Bool^3 6.0 ∈ ℝ
"""

from __future__ import annotations

from functools import cache, lru_cache, partial, wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

from diff.mistakes.axis_hints import its_call, without_guess
from diff.mistakes.escaped_expressions import TwoFunctionsError, leaked
from diff.mistakes.other_libraries import of_keyword
from diff.trace.expr import Expr, OnVectors, literal
from hilbert import Elements, Index, Relation, SpaceError, Type, Vec
from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.attach import attached
from hilbert.base.notarray import Applicable
from hilbert.base.once import once, while_alive
from hilbert.errors import number
from hilbert.program.planning.contraction_plan import planned
from hilbert.program.run.run import Runner
from hilbert.space.space import Atom
from hilbert.tracebacks import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

F = TypeVar("F", bound="Callable[..., Any]")
Form = tuple[tuple[type, Any], ...]
"""For each argument `Vec`, or its type and its value."""
SIZE = 256
"""The number of traced operations that are kept with each space."""


def eager(operation: F) -> F:
    """An operation on expressions that takes vectors, too: where all its operands are vectors, the result is one."""

    @wraps(operation)
    def applied(*args: Any, **options: Any) -> Any:
        given = (*args, *options.values())
        kinds = set(map(type, given))
        if Expr in kinds:
            found = _constants(given)
            return operation(*found[: len(args)], **dict(zip(options, found[len(args) :], strict=True)))
        if Vec not in kinds:
            return operation(*args, **options)
        form = tuple((Vec, None) if type(a) is Vec else (type(a), a) for a in given)
        spaces = [a.space for a in given if type(a) is Vec]
        try:
            run, cod = _table(spaces, form)(operation, form, tuple(options))
        except (TypeError, ValueError) as error:  # an argument that cannot be a key
            if isinstance(error, SpaceError):
                cut(error)
                raise
            run, cod = _traced(tuple(spaces), operation, form, tuple(options))
        space = spaces[cod] if isinstance(cod, int) else cod
        return Vec(space, tuple(map(freeze, run([leaf for a in given if type(a) is Vec for leaf in a.leaves]))))

    return cast("F", applied)


def _constants(given: tuple[Any, ...]) -> list[Any]:
    """Vectors as constants of the program that the first expression belongs to."""
    exprs: list[Any] = [a for a in given if type(a) is Expr]
    builder, *others = [a.builder for a in exprs]
    if any(other is not builder for other in others):
        msg = "an operation on expressions of two functions: pass one function's value to the other as an argument"
        raise TwoFunctionsError(msg + leaked(*exprs))
    return [literal(builder, a) if type(a) is Vec else a for a in given]


Result = tuple["Callable[[Any], list[Any]]", "Type | int"]
"""A function that runs an operation on leaves of operands, and the result's space, or the operand that has the same."""


def _traced(spaces: tuple[Type, ...], operation: Any, form: Form, names: tuple[str, ...]) -> Result:
    """The operation on vectors of these spaces."""
    b = OnVectors([leaf for space in spaces for leaf in space.leaves])
    slots, left = iter(range(b.arity)), iter(spaces)
    given = [_operand(b, next(left), slots) if kind is Vec else v for kind, v in form]
    count = len(given) - len(names)
    try:
        value = operation(*given[:count], **dict(zip(names, given[count:], strict=True)))
    except TypeError as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # of the operation itself
            raise
        msg = without_guess(str(error)).replace("Expr.", ".")
        msg += its_call(msg) or of_keyword(msg, operation)
        code = getattr(
            operation, "__code__", None
        )  # the annotations of an attached method are those of its declaration
        if code and "over" in code.co_varnames[: code.co_argcount] and "positional" in msg:
            msg += ": one axis at a time, over=X and then over=Y"
        raise SpaceError(msg) from None
    same = next((k for k, space in enumerate(spaces) if space is value.space), None)
    return Runner(planned(b.line(value.slots))).run, value.space if same is None else same


def _operand(b: OnVectors, space: Type, slots: Iterator[int]) -> Expr[Any]:
    return Expr(b, space, tuple(islice(slots, len(space.leaves))))


def _table(spaces: list[Any], form: Form) -> Callable[..., Result]:
    """`_traced` on these spaces, with a cache that is kept with the spaces, and gone when one of them is."""
    first = spaces[0]
    if all(isinstance(space, Atom) and not isinstance(space, Elements) for space in spaces):  # they live on
        held = any(isinstance(v, (Index, Type, Relation)) for _, v in form)
        return partial(_traced, tuple(spaces)) if held else _of_numbers(*spaces)
    return _of_one(first, len(spaces)) if all(space is first for space in spaces) else _of_several(*spaces)


@once
def _of_one(space: Type, count: int) -> Callable[..., Result]:
    return lru_cache(maxsize=SIZE)(partial(_traced, (space,) * count))


@while_alive(Type)
def _of_several(*spaces: Type) -> Callable[..., Result]:
    """`_traced` with a cache on several spaces; its results hold copies of the spaces, so that they keep none alive."""
    return lru_cache(maxsize=SIZE)(partial(_traced, tuple(map(_another, spaces))))


def _another(space: Type) -> Type:
    """An equal space that is another object."""
    made, parts = space.__reduce__()
    return cast("Type", made(*parts))


_of_numbers = cache(lambda *spaces: lru_cache(maxsize=SIZE)(partial(_traced, spaces)))
MEANING = {"_multiplied": "__mul__", "_divided": "__truediv__", "_component": "__getitem__", "_normed": "norm"}
"""The operators of expressions that methods of vectors leave a part of their work to."""
REFLECTED = {"__gt__", "__ge__", "__lt__", "__le__", "__and__", "__or__"}
"""The operators that an expression on the right side answers for."""


def method(name: str) -> Callable[..., Any]:
    """The meaning of a declared method of vectors: that of expressions, on vectors."""
    operation: Callable[..., Any] = eager(attached(Expr, MEANING.get(name, name)))
    if name not in REFLECTED and name != "__rtruediv__":
        return operation

    def operator(v: Vec[Any], o: Any) -> Any:
        if isinstance(o, Applicable):
            return NotImplemented
        k = None if type(o) is Vec else number(o)
        try:
            return operation(v, o if k is None else v.filled(k))
        except SpaceError as error:
            cut(error)
            raise

    return operator

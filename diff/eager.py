"""Operations on vectors: each is the operation on expressions, traced once for the spaces of its operands.

So the result, the errors, formal tensors and arrays of other libraries are those of a traced function. What is no
vector, such as the exponent of v ** 2, is part of what is traced; numbers that stand for vectors are not.

>>> from hilbert import Fin, R
>>> v = (R ** Fin.of(3)).vec([1.0, 2.0, 3.0])
>>> print(v * v, v**2 > 3.0, v.sum())
[1.0, 4.0, 9.0] ∈ ℝ^3 [False, True, True] ∈ Bool^3 6.0 ∈ ℝ
"""

from __future__ import annotations

from functools import lru_cache, wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

from diff.expr import Expr, OnVectors, literal
from hilbert import Type, Vec
from hilbert.arrays.namespace import freeze
from hilbert.attach import attach, unattached
from hilbert.errors import number
from hilbert.notarray import Applicable
from hilbert.program.plan import planned
from hilbert.program.run import Runner

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")
Form = tuple[tuple[type, Any], ...]
"""For each argument `Vec` and its space, or its type and its value."""
SIZE = 1024
"""So many traced operations are kept."""


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
        form = tuple((Vec, a.space) if type(a) is Vec else (type(a), a) for a in given)
        try:
            run, cod = _kept(operation, form, tuple(options))
        except TypeError:  # an argument that cannot be a key
            run, cod = _traced(operation, form, tuple(options))
        return Vec(cod, tuple(map(freeze, run([leaf for a in given if type(a) is Vec for leaf in a.leaves]))))

    return cast("F", applied)


def _constants(given: tuple[Any, ...]) -> list[Any]:
    """Vectors as constants of the program that the first expression belongs to."""
    builder = next(a.builder for a in given if type(a) is Expr)
    return [literal(builder, a) if type(a) is Vec else a for a in given]


def _traced(operation: Any, form: Form, names: tuple[str, ...]) -> tuple[Callable[[Any], list[Any]], Type]:
    """What runs the operation on the leaves of its operands, and the space of the result."""
    spaces = tuple(value for kind, value in form if kind is Vec)
    b = OnVectors([leaf for space in spaces for leaf in space.leaves])
    slots = iter(range(b.arity))
    given = [Expr(b, v, tuple(islice(slots, len(v.leaves)))) if kind is Vec else v for kind, v in form]
    count = len(given) - len(names)
    value = operation(*given[:count], **dict(zip(names, given[count:], strict=True)))
    return Runner(planned(b.line(value.slots))).run, value.space


_kept = lru_cache(maxsize=SIZE)(_traced)
MEANING = {"_multiplied": "__mul__", "_divided": "__truediv__", "_component": "__getitem__"}
"""The operators of expressions that methods of vectors leave a part of their work to."""
REFLECTED = {"__gt__", "__ge__", "__lt__", "__le__", "__and__", "__or__"}
"""The operators that an expression on the right side answers for."""


def _method(name: str) -> Callable[..., Any]:
    operation: Callable[..., Any] = eager(getattr(Expr, MEANING.get(name, name)))
    if name not in REFLECTED and name != "__rtruediv__":
        return operation

    def operator(v: Vec[Any], other: Any) -> Any:
        if isinstance(other, Applicable):
            return NotImplemented
        k = None if type(other) is Vec else number(other)
        return operation(v, other if k is None else v.filled(k))

    return operator


for _name in unattached(Vec):
    attach(Vec, _name, _method(_name))

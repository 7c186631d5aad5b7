"""Kinds as users write them: `variant`, `data`, `sequence` and `arrow`.

>>> from hilbert import R, Scalar
>>> from diff import Expr
>>> @variant
... class Nothing:
...     pass
>>> @variant
... class Just:
...     value: Expr[Scalar]
>>> maybe = data(Nothing, Just, value=R)
>>> maybe
data(Nothing, Just, value=R)
>>> maybe.core.declaration.cases
(('Nothing', <type unit>), ('Just', <type real>))

A field of which `data` is told nothing recurs: it holds one of the classes, or a tuple of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform, overload

import attrs

from diff.datatypes.kinds.annotations import annotation, without_operators
from diff.datatypes.kinds.kinds import Data, Function, Itself, Kind, Sequence, Values, type_of
from diff.lam.term.inductive import declared
from diff.lam.term.term_error import TermError
from diff.lam.term.types import UNIT, DataType, TupleType, Ty
from diff.trace.expr import Expr
from hilbert import Type
from hilbert.base.attach import overloaded
from hilbert.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff import _calls

A = TypeVar("A")
T = TypeVar("T")
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


@dataclass_transform(frozen_default=True)
def variant(cls: type[T]) -> type[T]:
    """The class as one of frozen attrs classes, of which `data` makes a type.

    A field that is annotated `Expr[V]` is given as an expression or as a vector. Raises TermError for what is no class.
    """
    if not isinstance(cls, type):
        raise TermError("type", f"@variant stands before a class, not before {shown(cls)}")
    try:
        return without_operators(attrs.frozen(cls))
    except ValueError as error:
        raise TermError("type", f"@variant makes a class frozen, which {cls.__name__} cannot be: {error}") from None


@overloaded(lambda: _calls.data)
def data(*classes: type[Any], **kinds: Any) -> Data[Any]:
    """The type of values of some attrs classes; `kinds` are the spaces of their fields, by the names of these.

    A field may also be of other data, of a sequence or a function. One without a kind recurs. Raises TermError: `type`
    for what is no such class, for a field without a space and for a kind without a field; `branches` for two classes of
    one name; `positive` where the data themselves stand left of an arrow.
    """
    for cls in classes:
        if not (isinstance(cls, type) and attrs.has(cls)):
            raise TermError("type", f"data(…) takes attrs classes, such as those under @variant, not {shown(cls)}")
    labels = [cls.__name__ for cls in classes]
    if not labels or len(set(labels)) < len(labels):
        raise TermError("branches", f"data({', '.join(labels)}) takes one class or more, each of another name")
    for name, kind in kinds.items():
        _known(kind, f"data(…, {name}=…)")
    fields = tuple(
        tuple((f.alias or f.name, _field(cls, f, classes, kinds)) for f in attrs.fields(cls) if f.init)
        for cls in classes
    )
    unknown = kinds.keys() - {name for some in fields for name, _ in some}
    if unknown:
        there = ", ".join(sorted({name for some in fields for name, _ in some})) or "none"
        raise TermError("type", f"data(…, {min(unknown)}=…): no class has such a field; there are {there}")
    cases = [(label, _payload([type_of(kind) for _, kind in some])) for label, some in zip(labels, fields, strict=True)]
    made = DataType(declared("|".join(labels), 0, cases), ())
    return Data(classes, fields, tuple(kinds.items()), made)


@overload
def sequence(of: Values[A]) -> Sequence[A]: ...
@overload
def sequence(of: V) -> Sequence[Expr[V]]: ...
def sequence(of: Any) -> Sequence[Any]:
    """Tuples of any length of vectors of a space, or of values of one kind."""
    _known(of, "sequence(…)")
    return Sequence(of)


@overload
def arrow(a: V, to: W, /) -> Function[Callable[[Expr[V]], Expr[W]]]: ...
@overload
def arrow(a: Any, b: Any, /, *more: Any) -> Function[Any]: ...
def arrow(*kinds: Any) -> Function[Any]:
    """arrow(V, W): functions from vectors of V to those of W; the last kind is that of the result."""
    if len(kinds) < 2:
        raise TermError("type", "arrow(V, W) takes the kinds of the arguments and that of the result")
    for kind in kinds:
        _known(kind, "arrow(…)")
    return Function(kinds[:-1], kinds[-1])


def _known(kind: Any, what: str) -> None:
    if not isinstance(kind, (Type, Values)):
        more = ": tuples of vectors are those of direct_sum(V, W)" if isinstance(kind, tuple) else ""
        raise TermError("type", f"{what} takes a space, data(…), sequence(…) or arrow(…), not {shown(kind)}{more}")


def _field(cls: type[Any], f: attrs.Attribute[Any], classes: tuple[type[Any], ...], kinds: dict[str, Kind]) -> Kind:
    name, said = f.alias or f.name, annotation(cls, f, classes)
    kind = kinds.get(name)
    wrong = said.untold(name) if kind is None else said.told(name, kind, is_space=isinstance(kind, Type))
    if wrong is not None:
        raise TermError("type", wrong)
    if kind is not None:
        return kind
    return Sequence(Itself()) if said.form == "tuple" else Itself()


def _payload(types: list[Ty]) -> Ty:
    return types[0] if len(types) == 1 else TupleType(tuple(types)) if types else UNIT

"""The types of the λ-language: σ ::= V | ℤ | σ × … × σ | σ → τ | σ ⊸ τ | T σ … σ, V a space of the library.

`Data` is the one former for labelled sums and for μX.F(X): its declaration lists labelled fields that speak of its
parameters (`Param`) and of itself (`Recur`, the X). Options are declarations without X; lists, numbers, trees and rose
trees have it, also inside another type. A direct sum is the product of its parts, so ℝ ⊕ ℝ and ℝ × ℝ are one type.

Types are hash-consed: equal types are one object. A pass over types visits shared parts once.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, final
from weakref import WeakValueDictionary

from attrs import Factory, field, frozen

from diff.lam.term.term_error import TermError
from hilbert import DirectSum, Type
from hilbert import R as REALS
from hilbert.base import attach
from hilbert.base.once import kept, known, once
from hilbert.base.term import Term, bottom_up, children, postorder
from hilbert.displayed import DisplayedAsFormula
from hilbert.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_KNOWN: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


class Interned(type):
    """The class of classes whose equal instances are one object."""

    if not TYPE_CHECKING:  # checkers read the constructors

        def __call__(cls, *args: Any, **named: Any) -> Any:
            """The instance that is known, or a new one; parts are interned, so that their identities are the key."""
            key = (cls, *args, *named.values())
            known = _KNOWN.get(key)
            return _KNOWN.setdefault(key, super().__call__(*args, **named)) if known is None else known


class Node(DisplayedAsFormula, Term, metaclass=Interned):
    """A type; equality is identity."""

    __slots__ = ()

    if not TYPE_CHECKING:  # of C, which a dictionary of types calls without Python
        __eq__ = object.__eq__
        __hash__ = object.__hash__

    @attach.declared
    def __str__(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<type {self}>"


class LeafType(Node):
    """A type without parts."""

    __slots__ = ()


class TypeVariable(LeafType):
    """A type that stands for another: checked terms have none."""

    __slots__ = ()


@final
@frozen(eq=False, repr=False)
class Ground(LeafType):
    """A type of the library that is no direct sum: see `ground`."""

    space: Type


@final
@frozen(eq=False, repr=False)
class Int(LeafType):
    """ℤ: numbers that are fixed when a term becomes a program."""


@final
@frozen(eq=False, repr=False)
class TupleType(Node):
    """σ₁ × … × σₙ; for n = 0 the unit."""

    parts: tuple[Ty, ...]


@final
@frozen(eq=False, repr=False)
class Arrow(Node):
    """σ → τ."""

    dom: Ty
    cod: Ty


@final
@frozen(eq=False, repr=False)
class Lin(Node):
    """σ ⊸ τ; the dual σ* is σ ⊸ ℝ."""

    dom: Ty
    cod: Ty


@final
@frozen(eq=False)
class Declaration(metaclass=Interned):
    """data T a₁ … aₙ = ℓ₁ τ₁ | … : a field speaks of the parameters and of T a₁ … aₙ itself, which is `Recur`."""

    name: str
    arity: int
    cases: tuple[tuple[str, Ty], ...]
    fields: Mapping[str, Ty] = field(init=False, default=Factory(lambda d: dict(d.cases), takes_self=True))
    """The types that the constructors take, in terms of `Param` and `SelfType`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Declaration, (self.name, self.arity, self.cases)

    @property
    def labels(self) -> tuple[str, ...]:
        """The constructors, in order."""
        return tuple(self.fields)


@final
@frozen(eq=False, repr=False)
class DataType(Node):
    """T σ₁ … σₙ."""

    declaration: Declaration
    args: tuple[Ty, ...]


@final
@frozen(eq=False, repr=False)
class Param(TypeVariable):
    """A type variable: of a declaration, or of a definition that is used at several types."""

    index: int


@final
@frozen(eq=False, repr=False)
class SelfType(TypeVariable):
    """The declared type itself, in its own fields."""


_numbers = count()


@final
@frozen(eq=False, repr=False)
class Unknown(TypeVariable):
    """A type that is to be found."""

    number: int


Ty: TypeAlias = Ground | Int | TupleType | Arrow | Lin | DataType | Param | SelfType | Unknown
"""The closed union of types."""


def unknown() -> Unknown:
    """An unknown that occurs nowhere else."""
    return Unknown(next(_numbers))


REAL = Ground(REALS)
INT = Int()
UNIT = TupleType(())
RECUR = SelfType()


@once
def ground(space: Type) -> Ty:
    """The type of the values of a space: a direct sum is the product of its parts."""
    return TupleType(tuple(map(ground, space.parts))) if isinstance(space, DirectSum) else Ground(space)


def space_of(ty: Ty) -> Type | None:
    """The space of a first-order type without data: the inverse of `ground`."""

    def step(node: Ty, rec: Callable[[Ty], Type | None]) -> Type | None:
        match node:
            case Ground(space):
                return space
            case TupleType(parts):
                spaces = [space for space in map(rec, parts) if space is not None]
                return DirectSum(tuple(spaces)) if len(spaces) == len(parts) else None
            case Int() | Arrow() | Lin() | DataType() | TypeVariable():
                return None
            case _:
                assert_never(node)

    space: Type | None = bottom_up(ty, step)
    return space


def require_ty(value: Any, what: str) -> None:
    """Raise TermError `type` unless a value is a type; `what` is the call that takes it."""
    if not isinstance(value, Node):
        raise TermError("type", f"{what} takes a type, such as Module().term(text)[1], not {shown(value)}")


def dual(ty: Ty) -> Lin:
    """σ* = σ ⊸ ℝ."""
    return Lin(ty, REAL)


def mentions(ty: Ty, kind: type[Ty]) -> bool:
    """Tell if a type of a class occurs in another."""
    return type(ty) is kind or kind in _formers(ty)


@once
def _formers(ty: Ty) -> frozenset[type[Ty]]:
    """The classes of a type and of all types in it; found for its parts, too, so that these are not entered again."""

    def formers(node: Any) -> frozenset[type[Ty]]:
        parts: list[Any] = children(node)
        return frozenset({type(node)}).union(*map(_formers, parts))

    for node in postorder(ty, lambda node: children(node) if kept(_formers, node) is None else []):
        if node is not ty:
            known(_formers, node, formers(node))
    return formers(ty)

"""The types of KS-Lisp, as those of the core: tensors, truth values and texts are declared types.

>>> print(text(TupleType((REAL, tensor(1, INT)))), "|", text(tangent(TupleType((REAL, tensor(1, INT))))))
(Tuple Float (Vec Integer)) | (Tuple Float (Vec (Tuple)))
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeGuard, assert_never

from diff.lam.term.inductive import declared
from diff.lam.term.term_error import TermError
from diff.lam.term.types import (
    INT,
    REAL,
    UNIT,
    Arrow,
    DataType,
    Declaration,
    Ground,
    Int,
    LeafType,
    Lin,
    TupleType,
    Ty,
)
from hilbert.base.once import once
from hilbert.base.term import bottom_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.lam.term.term_error import Place

BOOL = DataType(declared("Bool", 0, (("Bool", UNIT),)), ())
STRING = DataType(declared("String", 0, (("String", UNIT),)), ())
INTEGER = INT
FLOAT = REAL
ATOMS: dict[str, Ty] = {"Float": REAL, "Integer": INT, "Bool": BOOL, "String": STRING, "Tuple": UNIT}
LONGEST = 100_000
"""The characters of a type that is printed."""


@cache
def _tensor(order: int) -> Declaration:
    return declared(f"Tensor {order}", 1, (("Tensor", UNIT),))


def tensor(order: int, of: Ty) -> DataType:
    """(Tensor n t); (Vec t) is (Tensor 1 t)."""
    return DataType(_tensor(order), (of,))


def vec(of: Ty) -> DataType:
    """(Vec t)."""
    return tensor(1, of)


def order(ty: Ty) -> int:
    """The number of indices of a tensor; 0 of any other type."""
    name = ty.declaration.name if isinstance(ty, DataType) else ""
    return int(name.partition(" ")[2]) if name.startswith("Tensor ") else 0


def element(ty: Ty) -> Ty:
    """The type of the elements of a tensor."""
    assert isinstance(ty, DataType)
    return ty.args[0]


def index_of(n: int) -> Ty:
    """The type of an index of (Tensor n t)."""
    return INT if n == 1 else TupleType((INT,) * n)


def rank(index: Ty) -> int:
    """The order of the tensors that a type is the index of; 0 where it is no index."""
    match index:
        case Int():
            return 1
        case TupleType(parts) if len(parts) > 1 and all(part is INT for part in parts):
            return len(parts)
        case _:  # one question: no other type is an index
            return 0


def record(name: str, of: Ty) -> DataType:
    """The type of the record that `suffwdpass` of a function on a type keeps for `sufrevpass`."""
    return DataType(declared(f"Record {name}", 1, (("Record", UNIT),)), (of,))


def is_record(ty: Ty | None) -> TypeGuard[DataType]:
    """Tell if a type is that of such a record."""
    return isinstance(ty, DataType) and ty.declaration.name.startswith("Record")


def arguments(types: tuple[Ty, ...]) -> Ty:
    """The type of the argument of a function that is given so many: itself, or a tuple."""
    return types[0] if len(types) == 1 else TupleType(types)


@once
def tangent(ty: Ty) -> Ty:
    """δ: of a real it is a real, of what is discrete nothing."""

    def step(node: Ty, rec: Any) -> Ty:
        match node:
            case Ground():
                return node
            case TupleType(parts):
                return TupleType(tuple(map(rec, parts)))
            case DataType() if order(node):
                return DataType(node.declaration, tuple(map(rec, node.args)))
            case Lin(dom, cod):
                return Lin(dom, rec(cod))
            case LeafType() | DataType() | Arrow():  # discrete
                return UNIT
            case _:
                assert_never(node)

    made: Ty = bottom_up(ty, step)
    return made


@once
def shape_type(ty: Ty) -> Ty:
    """The type of the compressed shape: nothing of a scalar, the size of a tensor of scalars, else part by part."""

    def step(node: Ty, rec: Any) -> Ty:
        match node:
            case TupleType(parts):
                return TupleType(tuple(map(rec, parts)))
            case DataType() if order(node):
                inner = rec(node.args[0])
                return index_of(order(node)) if inner is UNIT else DataType(node.declaration, (inner,))
            case LeafType() | DataType() | Arrow() | Lin():  # a scalar
                return UNIT
            case _:
                assert_never(node)

    made: Ty = bottom_up(ty, step)
    return made


def is_shape(shape: Ty, of: Ty) -> bool:
    """Tell if a type is one of shapes of a type: of a tensor a tensor of shapes, or the size where that says all."""
    if isinstance(of, TupleType):
        parts = shape.parts if isinstance(shape, TupleType) else ()
        return len(parts) == len(of.parts) and all(map(is_shape, parts, of.parts))
    if not order(of):
        return shape is UNIT
    if order(shape) == order(of):
        return is_shape(element(shape), element(of))
    return shape is index_of(order(of)) and shape_type(element(of)) is UNIT


def _folded(ty: Ty, combined: Callable[[list[int]], int]) -> int:
    """0 of an atom, and of a type with parts what those are combined to."""

    def step(node: Ty, rec: Any) -> int:
        match node:
            case TupleType(inner) | DataType(_, inner):
                return combined([rec(part) for part in inner])
            case Arrow(dom, cod) | Lin(dom, cod):
                return combined([rec(dom), rec(cod)])
            case LeafType():
                return 0
            case _:
                assert_never(node)

    found: int = bottom_up(ty, step)
    return found


@once
def depth(ty: Ty) -> int:
    """The depth of tuples and tensors in a type."""
    return _folded(ty, lambda inner: 1 + max(inner, default=0))


@once
def parts(ty: Ty) -> int:
    """The atoms of a type, and its tuples, tensors and functions, each where it stands."""
    return _folded(ty, lambda inner: len(inner) + sum(inner))


@once
def indices(ty: Ty) -> int:
    """The most indices that an element in a value of a type has."""

    def step(node: Ty, rec: Any) -> int:
        match node:
            case TupleType(parts):
                return max(map(rec, parts), default=0)
            case DataType(_, parts):
                return order(node) + max(map(rec, parts), default=0)
            case LeafType() | Arrow() | Lin():
                return 0
            case _:
                assert_never(node)

    found: int = bottom_up(ty, step)
    return found


def is_real(ty: Ty) -> bool:
    """Tell if a real is in a type."""

    def step(node: Ty, rec: Any) -> bool:
        match node:
            case Ground():
                return True
            case TupleType(parts):
                return any(map(rec, parts))
            case DataType(_, args) if order(node):
                return any(map(rec, args))
            case LeafType() | DataType() | Arrow() | Lin():
                return False
            case _:
                assert_never(node)

    found: bool = bottom_up(ty, step)
    return found


def has_maps(ty: Ty, *, linear: bool = False) -> bool:
    """Tell if functions or linear maps are in a type; or only whether linear ones are."""

    def step(node: Ty, rec: Any) -> bool:
        match node:
            case Lin():
                return True
            case Arrow():
                return not linear
            case TupleType(parts) | DataType(_, parts):
                return any(map(rec, parts))
            case LeafType():
                return False
            case _:
                assert_never(node)

    found: bool = bottom_up(ty, step)
    return found


@once
def is_apart(ty: Ty) -> bool:
    """Tell if the elements of a tensor are computed one by one: functions, linear maps and texts are in no array."""

    def step(node: Ty, rec: Any) -> bool:
        match node:
            case Lin() | Arrow():
                return True
            case TupleType(parts) | DataType(_, parts):
                return node is STRING or any(map(rec, parts))
            case LeafType():
                return False
            case _:
                assert_never(node)

    found: bool = bottom_up(ty, step)
    return found


def has_records(ty: Ty) -> bool:
    """Tell if what a `suffwdpass` keeps is in a type."""

    def step(node: Ty, rec: Any) -> bool:
        match node:
            case DataType() if is_record(node):
                return True
            case TupleType(parts) | DataType(_, parts):
                return any(map(rec, parts))
            case LeafType() | Arrow() | Lin():
                return False
            case _:
                assert_never(node)

    found: bool = bottom_up(ty, step)
    return found


def text(ty: Ty) -> str:
    """A type as it is written, from the left to the right; what is longer than any text of a user ends with `…`."""
    made: list[str] = []
    length = 0
    stack: list[Any] = [ty]
    while stack:
        node = stack.pop()
        word, parts = (node, ()) if isinstance(node, str) else _written(node)
        made.append(word)
        length += len(word)
        if length > LONGEST:
            return "".join([*made, "…"])
        if parts:
            stack.append(")")
            for part in reversed(parts):
                stack += [part, " "]
    return "".join(made)


def _written(ty: Ty) -> tuple[str, tuple[Ty, ...]]:
    """The text of a type before its parts, and these."""
    match ty:
        case Ground():
            return "Float", ()
        case Int():
            return "Integer", ()
        case TupleType(parts):
            return "(Tuple" if parts else "(Tuple)", parts
        case Arrow(dom, cod):
            return "(Lam", (dom, cod)
        case Lin(dom, cod):
            return "(LM", (dom, cod)
        case DataType(Declaration(name), ()):
            return str(name), ()
        case DataType(Declaration(name), parts):
            return "(Vec" if name == "Tensor 1" else f"({name}", parts
        case LeafType():  # a text of this language has none
            return str(ty), ()
        case _:
            assert_never(ty)


def applied_type(function: Ty, arg: Ty, place: Place | None) -> Ty:
    """The type of f x; raises TermError where f is no function, or takes another type."""
    if not isinstance(function, Arrow):
        raise TermError("type", f"a value of type {text(function)} is applied, and is no function", place)
    if function.dom is not arg:
        raise TermError("type", f"the function takes {text(function.dom)}, not {text(arg)}", place)
    return function.cod


def component(name: str, ty: Ty, place: Place | None) -> Ty:
    """The type that get$i$n takes from a tuple, counted from 1; raises TermError where there is none."""
    i, _, n = name.removeprefix("get$").partition("$")
    if not (i.isdigit() and n.isdigit() and len(i) + len(n) < 12 and 1 <= int(i) <= int(n)):
        raise TermError("syntax", f"{name} is no selection: get$i$n takes component i of n, counted from 1", place)
    if not isinstance(ty, TupleType) or len(ty.parts) != int(n):
        raise TermError("type", f"{name} takes a tuple of {int(n)}, not {text(ty)}", place)
    return ty.parts[int(i) - 1]

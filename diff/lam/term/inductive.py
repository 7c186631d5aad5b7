"""Inductive types μX.F(X): declarations, what their constructors take, and lists.

A type may stand in its own fields, but not left of an arrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diff.lam.term.term_error import TermError
from diff.lam.term.types import (
    RECUR,
    UNIT,
    Arrow,
    DataType,
    Declaration,
    Lin,
    Param,
    SelfType,
    TupleType,
    Ty,
    mentions,
    rebuilt,
)
from hilbert.base.once import once

if TYPE_CHECKING:
    from collections.abc import Sequence


def instance(ty: Ty, args: Sequence[Ty], recur: Ty = RECUR) -> Ty:
    """The type with arguments for its parameters, and `recur` for X."""
    if isinstance(ty, Param):
        return args[ty.index]
    if not mentions(ty, Param) and not mentions(ty, SelfType):
        return ty

    def leaf(node: Ty) -> Ty:
        if isinstance(node, Param):
            return args[node.index]
        return recur if isinstance(node, SelfType) else node

    return rebuilt(ty, leaf)


@once
def payload(data: DataType, label: str, recur: Ty | None = None) -> Ty:
    """What the constructor of this label takes: F(recur) at the label; T σ₁ … σₙ itself for `recur` unless given."""
    return instance(data.declaration.fields[label], data.args, data if recur is None else recur)


def made_of(ty: Ty) -> set[Ty]:
    """A type, the types that it is made of, and those in the fields of what is declared."""
    seen: set[Ty] = set()
    declarations: set[Declaration] = set()
    stack: list[Any] = [ty]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        match node:
            case TupleType(parts):
                stack.extend(parts)
            case Arrow(dom, cod) | Lin(dom, cod):
                stack += [dom, cod]
            case DataType(declaration, args):
                stack.extend(args)
                if declaration not in declarations:
                    declarations.add(declaration)
                    stack.extend(declaration.fields.values())
            case _:  # a leaf has no parts
                pass
    return seen


def is_first_order(ty: Ty) -> bool:
    """Whether no function is in it, nor in the fields of what is declared."""
    return not any(isinstance(one, (Arrow, Lin)) for one in made_of(ty))


def declared(name: str, arity: int, cases: Sequence[tuple[str, Ty]]) -> Declaration:
    """A declaration; raises TermError `positive` where the type itself stands left of an arrow."""
    for label, given in cases:
        stack: list[tuple[Any, bool]] = [(given, True)]
        while stack:
            ty, positive = stack.pop()
            match ty:
                case SelfType() if not positive:
                    what = f"{label} of {name} takes a function of {name}: a type may not recur left of an arrow"
                    raise TermError("positive", what)
                case Arrow(dom, cod) | Lin(dom, cod):
                    stack += [(dom, False), (cod, positive)]
                case TupleType(parts):
                    stack += [(part, positive) for part in parts]
                case DataType(inner, args):
                    stack += [(arg, positive and is_positive(inner, k)) for k, arg in enumerate(args)]
                case _:  # a leaf has no parts
                    pass
    return Declaration(name, arity, tuple(cases))


def is_positive(declaration: Declaration, parameter: int) -> bool:
    """Whether a parameter stands left of no arrow."""
    if parameter >= declaration.arity:
        return True
    stack: list[tuple[Any, bool]] = [(ty, True) for _, ty in declaration.cases]
    while stack:
        ty, positive = stack.pop()
        match ty:
            case Param(index) if index == parameter and not positive:
                return False
            case Arrow(dom, cod) | Lin(dom, cod):
                stack += [(dom, False), (cod, positive)]
            case TupleType(parts):
                stack += [(part, positive) for part in parts]
            case DataType(inner, args):
                stack += [(arg, positive and is_positive(inner, k)) for k, arg in enumerate(args)]
            case _:  # a leaf has no parts
                pass
    return True


LIST = declared("list", 1, (("Nil", UNIT), ("Cons", TupleType((Param(0), RECUR)))))
"""Lists are a declaration like any other; [a, b] and a :: l are notation."""


def list_of(ty: Ty) -> DataType:
    """list σ."""
    return DataType(LIST, (ty,))

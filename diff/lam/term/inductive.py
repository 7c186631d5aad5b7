"""Inductive types μX.F(X): declarations, what their constructors take, and lists.

A type may stand in its own fields, but not left of an arrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from diff.lam.term.term_error import Place, TermError
from diff.lam.term.terms import AnyTerm, Con, Tuple
from diff.lam.term.type_parts import parts_of, rebuilt
from diff.lam.term.types import (
    RECUR,
    UNIT,
    Arrow,
    DataType,
    Declaration,
    LeafType,
    Lin,
    Param,
    SelfType,
    TupleType,
    Ty,
    mentions,
)
from hilbert.base.once import once

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


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
    """The type that the constructor of a label takes: F(recur) at the label; `recur` is T σ₁ … σₙ unless given."""
    return instance(data.declaration.fields[label], data.args, data if recur is None else recur)


def made_of(ty: Ty) -> set[Ty]:
    """A type, the types that it is made of, and the types in the fields of declarations among these."""
    seen: set[Ty] = set()
    declarations: set[Declaration] = set()
    stack = [ty]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        stack.extend(parts_of(node))
        if isinstance(node, DataType) and node.declaration not in declarations:
            declarations.add(node.declaration)
            stack.extend(node.declaration.fields.values())
    return seen


def is_first_order(ty: Ty) -> bool:
    """Tell if no function is in a type, nor in the fields of the declarations in it."""
    return not any(isinstance(one, (Arrow, Lin)) for one in made_of(ty))


def declared(name: str, arity: int, cases: Sequence[tuple[str, Ty]]) -> Declaration:
    """A declaration; raises TermError `positive` where the type itself stands left of an arrow."""
    for label, given in cases:
        if any(isinstance(leaf, SelfType) for leaf in _left_of_arrows([given])):
            what = f"{label} of {name} takes a function of {name}: a type may not recur left of an arrow"
            raise TermError("positive", what)
    return Declaration(name, arity, tuple(cases))


def is_positive(declaration: Declaration, parameter: int) -> bool:
    """Tell if a parameter stands left of no arrow."""
    fields = [ty for _, ty in declaration.cases]
    return parameter >= declaration.arity or Param(parameter) not in _left_of_arrows(fields)


def _left_of_arrows(types: Sequence[Ty]) -> Iterator[LeafType]:
    """The leaves of types that stand left of an arrow, also by way of a declaration that has an argument there."""
    stack = [(ty, True) for ty in types]
    while stack:
        ty, positive = stack.pop()
        match ty:
            case LeafType():
                if not positive:
                    yield ty
            case Arrow(dom, cod) | Lin(dom, cod):
                stack += [(dom, False), (cod, positive)]
            case TupleType(parts):
                stack += [(part, positive) for part in parts]
            case DataType(inner, args):
                stack += [(arg, positive and is_positive(inner, k)) for k, arg in enumerate(args)]
            case _:
                assert_never(ty)


LIST = declared("list", 1, (("Nil", UNIT), ("Cons", TupleType((Param(0), RECUR)))))
"""Lists are a declaration like any other; [a, b] and a :: l are notation."""


def list_of(ty: Ty) -> DataType:
    """list σ."""
    return DataType(LIST, (ty,))


def list_term(
    items: Iterable[AnyTerm], ty: DataType, place: Place | None = None, end: AnyTerm | None = None
) -> AnyTerm:
    """[t₁, …, tₙ], of a type of lists, or t₁ :: … :: end."""
    rest: AnyTerm = Con("Nil", ty, Tuple(()), place=place) if end is None else end
    for item in reversed(list(items)):
        rest = Con("Cons", ty, Tuple((item, rest)), place=item.place)
    return rest

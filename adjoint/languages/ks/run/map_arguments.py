"""Messages on linear maps among the arguments of a function: the arguments, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from adjoint.languages.ks.value.types import has_maps, has_records, is_real, order, parts, text
from diff.lam.term.types import Arrow, DataType, Ground, Int, LeafType, Lin, TupleType

if TYPE_CHECKING:
    from adjoint.languages.ks.text.function_names import Callee
    from diff.lam.term.types import Ty

MOST = 50
"""The atoms of a type of which an example is written."""


def which(callee: Callee, *, linear: bool = True) -> str:
    """The arguments that hold linear maps; or those that hold any functions."""
    if not isinstance(callee.arg, TupleType):
        return f"the argument of {callee.key}, {text(callee.arg)}"
    some = [(k, ty) for k, ty in enumerate(callee.arg.parts, 1) if has_maps(ty, linear=linear)]
    numbers, types = " and ".join(str(k) for k, _ in some), " and ".join(text(ty) for _, ty in some)
    return f"argument{'s' * (len(some) > 1)} {numbers} of {callee.key}, {types}"


def of_reals(callee: Callee) -> str:
    """The remedy: a caller of the function, which has all derivatives."""
    return f"derive a function that makes the map of reals of its own, as (lmScale 1.0 k), and calls {callee.key}"


def no_cotangent(callee: Callee) -> str:
    """The message that a linear map has no cotangent, with the ones that there are."""
    says = f"the cotangent of {which(callee)}, is not computed: a linear map has no numbers of its own; "
    if isinstance(callee.arg, TupleType):
        n = len(callee.arg.parts)
        others = [k for k, ty in enumerate(callee.arg.parts, 1) if is_real(ty) and not has_maps(ty, linear=True)]
        says += "".join(f"that of argument {k} is (get${k}${n} ([rev {callee.key}] …)); " for k in others[:1])
    return f"{says}for that of the reals that the map is made of, {of_reals(callee)}"


def not_derived(callee: Callee) -> str:
    """The message that there is no derivative by the data of linear maps."""
    says = f"{which(callee)}, depends on what is derived here, and linear maps that are given do not"
    return f"{says}: {of_reals(callee)}"


def not_given(callee: Callee) -> str:
    """The remedy for arguments that no value of a command is."""
    says = f"{which(callee, linear=False)}, cannot be given as a value: write an expression, hilbert run FILE -e"
    if has_records(callee.arg) or parts(callee.arg) > MOST:
        return f"{says} '({callee.key} …)'"
    inner = callee.arg.parts if isinstance(callee.arg, TupleType) else (callee.arg,)
    return f"{says} '({' '.join([callee.key, *map(_example, inner)])})'"


def _example(ty: Ty) -> str:
    """An expression of a type."""
    match ty:
        case Ground():
            return "1.0"
        case Int():
            return "2"
        case TupleType(inner):
            return f"({' '.join(['tuple', *map(_example, inner)])})"
        case Lin(dom, cod) if dom is cod:
            return f"(lmScale {_example(dom)} 2.0)"
        case Lin(dom, cod):
            return f"(lmZero {_example(dom)} {_example(cod)})"
        case Arrow(dom, cod):
            return f"(lam (a : {text(dom)}) {_example(cod)})"
        case DataType(_, (inner,)) if n := order(ty):
            return f"(constVec {_example(TupleType((Int(),) * n) if n > 1 else Int())} {_example(inner)})"
        case DataType(declaration):
            return "true" if declaration.name == "Bool" else '"text"'
        case LeafType():  # a text of this language has none
            return "…"
        case _:
            assert_never(ty)

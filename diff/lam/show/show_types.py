"""Types and vectors as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from diff.lam.term.binding import Pass
from diff.lam.term.types import (
    Arrow,
    DataType,
    Ground,
    Int,
    LeafType,
    Lin,
    Param,
    SelfType,
    TupleType,
    Ty,
    TypeVariable,
    Unknown,
)
from diff.lam.term.unify import require_short
from hilbert import R, Type, Vec
from hilbert.base.term import bottom_up, driven
from hilbert.space.space import Copower, Field

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTION, TIMES, STARRED, BASIC = range(4)


def show_type(ty: Ty) -> str:
    """The text of a type; raises TermError `limit` for a long one."""
    require_short(ty)
    out: list[str] = []
    driven(_type(ty, FUNCTION, out))
    return "".join(out)


def _type(ty: Ty, level: int, out: list[str]) -> Pass:
    mine = _level(ty)
    if mine < level:
        out.append("(")
    match ty:
        case Ground(space):
            out.append(space_text(space))
        case Int():
            out.append("int")
        case TupleType(()):
            out.append("unit")
        case TupleType(parts):
            for k, part in enumerate(parts):
                out.append(" * " if k else "")
                yield _type(part, STARRED, out)
        case Lin(dom, cod) if _is_real(cod):
            yield _type(dom, BASIC, out)
            out.append("^*")
        case Arrow(dom, cod) | Lin(dom, cod):
            yield _type(dom, TIMES, out)
            out.append(" → " if isinstance(ty, Arrow) else " ⊸ ")
            yield _type(cod, FUNCTION, out)
        case DataType(declaration, args):
            out.append(declaration.name)
            for arg in args:
                out.append(" ")
                yield _type(arg, BASIC + 1 if isinstance(arg, DataType) and arg.args else BASIC, out)
        case Param(index):
            out.append(chr(ord("a") + index) if index < 26 else f"a{index}")
        case SelfType():
            out.append("X")
        case Unknown(number):
            out.append(f"?{number}")
        case _:
            assert_never(ty)
    if mine < level:
        out.append(")")


def _is_real(ty: Ty) -> bool:
    return isinstance(ty, Ground) and ty.space == R


def _level(ty: Ty) -> int:
    match ty:
        case Lin(_, cod) if _is_real(cod):
            return STARRED
        case Arrow() | Lin():
            return FUNCTION
        case TupleType(parts) if parts:
            return TIMES if len(parts) > 1 else BASIC
        case TupleType() | DataType() | LeafType():
            return BASIC
        case _:
            assert_never(ty)


def space_text(space: Type) -> str:
    """real, bool, R^3, R^(Pixel:3 x 2); what the grammar has no words for, as the library writes it."""
    if isinstance(space, Field):
        return "real" if space == R else str(space)
    if isinstance(space, Copower) and space.base == R:
        axes = [_axis(axis) for axis in space.index.axes]
        return f"R^{axes[0]}" if len(axes) == 1 and axes[0].isdigit() else f"R^({' x '.join(axes)})"
    return str(space).lower() if str(space) == "Bool" else str(space)


def _axis(axis: Any) -> str:
    name = getattr(getattr(axis, "tag", None), "__name__", "Anonymous")
    return str(axis.size) if name == "Anonymous" else f"{name}:{axis.size}"


def is_plain(ty: Ty) -> bool:
    """Tell if inference finds the type again where nothing is annotated: no space but ℝ and Bool, no integer."""

    def step(node: Ty, rec: Callable[[Any], bool]) -> bool:
        match node:
            case Ground(space):
                return space_text(space) in {"real", "bool"}
            case Int():
                return False
            case TupleType(parts):
                return all(map(rec, parts))
            case Arrow(dom, cod) | Lin(dom, cod):
                return rec(dom) and rec(cod)
            case DataType(_, args):
                return all(map(rec, args))
            case TypeVariable():
                return True
            case _:
                assert_never(node)

    is_found: bool = bottom_up(ty, step)
    return is_found


def number_text(value: Any) -> str:
    """A real in the fewest digits that read back."""
    number = float(value.array)
    if number != number:  # noqa: PLR0124 - NaN
        return "(1e999 - 1e999)"
    if number in {float("inf"), float("-inf")}:
        return "1e999" if number > 0 else "-1e999"
    return repr(int(number)) if number.is_integer() and abs(number) < 1e16 and str(number) != "-0.0" else repr(number)


def vector_text(value: Vec[Any]) -> str:
    """A number, a truth value, or [|…|] nested by axis."""
    if value.space.leaves and not value.space.leaves[0].axes and len(value.space.leaves) == 1:
        return number_text(value) if value.space.is_space else str(bool(value.array)).lower()
    return f"[|{_rows(value.array.tolist())}|]"


def _rows(rows: list[Any]) -> str:
    return ", ".join(f"[{_rows(row)}]" if isinstance(row, list) else repr(row) for row in rows)

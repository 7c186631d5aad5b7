"""Questions of the strategy of `steps` about a redex: its normal form, the ⟨y, E⟩ of rule 8, what a pattern binds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from attrs import evolve

from adjoint.higher.machine.machine import reduce
from adjoint.higher.term.anormal import is_elementary
from adjoint.higher.term.jacobian import Moved, bind
from adjoint.higher.value.product_components import component
from diff.lam.files.type_of_term import type_of
from diff.lam.term.binding import Pass, each, renamed, substitute
from diff.lam.term.inductive import instance, is_first_order, payload
from diff.lam.term.terms import AnyTerm, App, Con, Cov, Dual, Fold, Lam, Pattern, Point, Tuple, Var, Zero, fresh
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
    Unknown,
    mentions,
)
from hilbert.base.term import bottom_up

if TYPE_CHECKING:
    from collections.abc import Callable


def is_open(term: Dual) -> bool:
    """Tell if a dual map stays before a neutral covector."""
    return has_normal(term) and not isinstance(reduce(term), (Cov, Zero, Point))  # not 0


def has_normal(term: AnyTerm) -> bool:
    """Tell if covectors of this type have normal forms: those on data that hold functions have none."""
    stack: list[Ty] = [type_of(term)]
    while stack:
        match ty := stack.pop():
            case DataType() if not is_first_order(ty):
                return False
            case TupleType(parts):
                stack.extend(parts)
            case Arrow(_, of) | Lin(of):
                stack.append(of)
            case DataType() | LeafType():
                pass
            case _:
                assert_never(ty)
    return True


def last_of(pattern: Pattern, body: AnyTerm) -> AnyTerm | None:
    """The E of ⟨y, E⟩, which rule 8 makes."""
    match body:
        case Tuple((*first, last)) if not isinstance(last, Var) and is_elementary(last):
            parts = pattern.parts if isinstance(pattern, Tuple) else ()
            return last if tuple(first) in {(pattern,), parts} else None
        case _:  # rule 8 makes nothing but such tuples
            return None


def joined(first: AnyTerm, last: AnyTerm, *, is_flat: bool) -> Tuple:
    """⟨y, t⟩, flat where y is a tuple that rule 8 has made."""
    return Tuple((*first.parts, last) if is_flat and isinstance(first, Tuple) else (first, last))


def is_longer(pattern: Pattern, than: Pattern) -> bool:
    """Tell if a pattern is another one and one part more."""
    if not (isinstance(pattern, Tuple) and isinstance(than, Tuple)) or len(than.parts) == 1:
        return False
    return len(pattern.parts) == len(than.parts) + 1


def spread(term: AnyTerm, ty: Ty) -> AnyTerm:
    """A term as the tuple of its components, as the machine writes what it stops at."""
    if not isinstance(ty, TupleType):
        return term
    return Tuple(tuple(spread(component(term, k), part) for k, part in enumerate(ty.parts)))


def mirrored(pattern: Pattern) -> Pattern:
    """Fresh variables for a pattern: v for y."""

    def step(node: Any, rec: Callable[[Any], Pattern]) -> Pattern:
        return fresh("v", node.type) if isinstance(node, Var) else Tuple(tuple(map(rec, node.parts)))

    fresh_pattern: Pattern = bottom_up(pattern, step, lambda node: [] if isinstance(node, Var) else list(node.parts))
    return fresh_pattern


def matched(pattern: Pattern, value: AnyTerm, body: AnyTerm) -> AnyTerm:
    """S[V/p]."""
    moved: Moved = {}
    bind(pattern, value, value, moved)
    return substitute(body, {k: one for k, (one, _) in moved.items()})


def folded(fold: Fold, ty: Ty, value: AnyTerm) -> Pass:
    """Put the fold on each part of a value V that stands where F(X) has X (`SelfType`): the term F(fold)(V).

    `yield` hands a recursive call to `driven`, which needs no stack of Python's.
    """
    match ty, value:
        case SelfType(), _:
            return renamed(evolve(fold, of=value))  # each copy of the fold binds variables of its own
        case TupleType(parts), _ if mentions(ty, SelfType):
            folds = yield each(lambda pair: folded(fold, pair[1], component(value, pair[0])), list(enumerate(parts)))
            return Tuple(tuple(folds))
        case DataType(), Con(label, _, arg) if mentions(ty, SelfType):
            arg = yield folded(fold, payload(ty, label), arg)
            # X becomes the type of the results; `fields` has put in the arguments, so that there are none here
            return Con(label, instance(ty, (), type_of(fold)), arg)
        case Arrow(dom, cod), _ if mentions(cod, SelfType):
            x = fresh("x", dom)
            body = yield folded(fold, cod, App(value, x))
            return Lam(x, body)
        case ((TupleType() | DataType() | Arrow() | Lin() | Ground() | Int() | Param() | Unknown()), _):
            return value  # X does not occur
        case _:
            assert_never(ty)

r"""Claims of a text: those of `diff.higher`, and `reduce` and `pair`.

>>> print(run(r'''
... prim g <x, y> = <x + 1, 2*x + y^2>
... reduce pull(\<x, y>. (\<a, b>. (a*b)^2) (g <x, y>), cov(1)) <1, 3> = cov(660, 528)
... pair pull(\h. h (h 2), cov(1)) (\a. a*a) with \a. a + 1 = 28
... ''', "page.lam"))
page.lam:3: ok
page.lam:4: fails: found 29
1 of 2 claims hold
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjoint.higher.machine.machine import reduce
from adjoint.higher.machine.pairing import pairing
from diff.lam.files import claims
from diff.lam.files.claims import ClaimsReport, moves, shown
from diff.lam.run.closeness import are_close
from diff.lam.run.evaluate import evaluate
from diff.lam.term.binding import Pass, binder
from diff.lam.term.equality import data_and_parts
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Cov,
    Let,
    Lit,
    Number,
    Plus,
    Prim,
    Pull,
    Tuple,
    Var,
    Zero,
    fresh,
    variables,
)
from diff.lam.term.types import REAL, Arrow, Lin, dual
from hilbert import Vec
from hilbert.base.term import driven

if TYPE_CHECKING:
    from diff.lam.files.module import Module
    from diff.lam.text.items import Claim


def run(text: str, file: str = "<text>") -> ClaimsReport:
    """The claims of a text, those of pullbacks among them. Raises TermError for a mistake outside of them."""
    return claims.run(text, file, RULES)


def _reduce(module: Module, claim: Claim) -> str | None:
    """reduce t = s: the normal forms are equal up to names, numbers up to rounding, sums up to order."""
    left, right = claim.terms
    term, ty = module.checked(left)
    due, _ = module.checked(right, ty)
    return _compared(term, due)


def _compared(term: AnyTerm, due: AnyTerm) -> str | None:
    found = reduce(term)
    return None if same(found, reduce(due)) else str(found)


def _value(module: Module, claim: Claim) -> str | None:
    """value t = s; where a pullback stands in one of them the value is the normal form."""
    left, right = claim.terms
    term, ty = module.checked(left)
    due, _ = module.checked(right, ty)
    return _compared(term, due) if moves(term) or moves(due) else claims.RULES["value"](module, claim)


def _grad(module: Module, claim: Claim) -> str | None:
    """grad t at v = w; where a pullback stands in t it is (Ω t)·[1] v = [w]*."""
    function, at, due = claim.terms
    term, ty = module.checked(function)
    if not moves(term) or not isinstance(ty, Arrow) or ty.cod is not REAL:
        return claims.RULES["grad"](module, claim)
    x = fresh("x", ty.dom)
    pulled = App(Pull(x, App(term, x), Cov(Number("1"))), module.checked(at, ty.dom)[0])
    return _compared(module.checked(pulled)[0], module.checked(Cov(due), dual(ty.dom))[0])


def _pair(module: Module, claim: Claim) -> str | None:
    """pair c with d = r: ⟪c, d⟫."""
    left, along, right = claim.terms
    covector, ty = module.checked(left)
    if not isinstance(ty, Lin):
        raise TermError("type", f"a covector is paired with a direction, not a term of type {ty}", left.place)
    direction, _ = module.checked(along, ty.dom)
    due, _ = module.checked(right, ty.cod)
    return claims._compared(pairing(covector, direction), evaluate(due))


def _error(module: Module, claim: Claim) -> str | None:
    """error CODE : t; where a pullback stands in t it is reduced."""
    return claims.refused(module, claim, lambda term: str(reduce(term)) if moves(term) else shown(term))


RULES = {**claims.RULES, "value": _value, "grad": _grad, "error": _error, "reduce": _reduce, "pair": _pair}
"""All claims."""


# --- equality of normal forms ---


def same(a: AnyTerm, b: AnyTerm) -> bool:
    """Tell if two normal forms are equal up to names, to the order of sums, and numbers up to rounding."""
    found: bool = driven(_same(a, b, {}, {}))
    return found


def _same(a: Any, b: Any, names: dict[int, Any], lets: dict[int, Any]) -> Pass:
    """`names` are the bound variables of b that those of a stand for; `lets` have the values of let variables."""
    while _is_let(a, lets):
        a = _unfolded(a, lets)
    while _is_let(b, lets):
        b = _unfolded(b, lets)
    if isinstance(a, Var) and isinstance(b, Var):
        return names.get(a.number, a.number) == b.number
    if _summands(a) is not None or _summands(b) is not None:
        return (yield _same_sums(_flat_sum(a), _flat_sum(b), names, lets))
    if isinstance(a, Lit) and isinstance(b, Lit):
        x, y = a.value, b.value
        return are_close(x, y) if isinstance(x, Vec) and isinstance(y, Vec) else bool(x == y)
    if type(a) is not type(b):
        return False
    (data, mine), (other_data, yours) = data_and_parts(a), data_and_parts(b)
    if data != other_data or len(mine) != len(yours):
        return False
    pattern, other = binder(a), binder(b)
    if pattern is not None and other is not None:
        first, second = variables(pattern), variables(other)
        if len(first) != len(second):
            return False
        names.update({x.number: y.number for x, y in zip(first, second, strict=True)})
    for x, y in zip(mine, yours, strict=True):
        if not (yield _same(x, y, names, lets)):
            return False
    return True


def _is_let(term: Any, lets: dict[int, Any]) -> bool:
    return term.number in lets if isinstance(term, Var) else isinstance(term, Let) and isinstance(term.pattern, Var)


def _unfolded(term: Any, lets: dict[int, Any]) -> Any:
    if isinstance(term, Var):
        return lets[term.number]
    lets[term.pattern.number] = term.value
    return term.body


def _summands(term: Any) -> tuple[Any, Any] | None:
    match term:
        case Plus(left, right) | Prim(_, Tuple((left, right)), "+"):
            return left, right
        case _:  # the one question is whether a term is a sum
            return None


def _flat_sum(term: Any) -> list[Any]:
    found, stack = [], [term]
    while stack:
        one = stack.pop()
        parts = _summands(one)
        if parts is None:
            found += [] if isinstance(one, Zero) else [one]
        else:
            stack.extend(reversed(parts))
    return found


def _same_sums(left: list[Any], right: list[Any], names: dict[int, Any], lets: dict[int, Any]) -> Pass:
    if len(left) != len(right):
        return False
    rest = list(right)
    for one in left:
        for k, other in enumerate(rest):
            if (yield _same(one, other, dict(names), lets)):
                del rest[k]
                break
        else:
            return False
    return True

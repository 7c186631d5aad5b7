"""Lin(X; t): t is linear in the variables X jointly (the language of pullbacks, §5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from diff.lam.term.binding import Pass
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Branch,
    Case,
    Con,
    Cov,
    Diff,
    Dual,
    Dv,
    Ev,
    Fix,
    Fold,
    If,
    Jac,
    Lam,
    Let,
    Lit,
    Name,
    Number,
    Plus,
    Point,
    Prim,
    Proj,
    Pull,
    Sharp,
    Sign,
    Tuple,
    Typed,
    Var,
    Zero,
    below,
    variables,
)
from diff.terms.nodes import Bilinear
from hilbert import Vec
from hilbert.base.term import driven
from linmap import LinMap

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


def occurs(numbers: AbstractSet[int], *terms: Any) -> bool:
    """Tell if one of these variables occurs in one of the terms."""
    stack: list[Any] = list(terms)
    while stack:
        node = stack.pop()
        if isinstance(node, Var):
            if node.number in numbers:
                return True
        else:
            stack.extend(below(node))
    return False


def is_linear(term: AnyTerm, numbers: AbstractSet[int]) -> bool:
    """Lin(X; t), X by numbers of variables."""
    result: bool = driven(_lin(term, frozenset(numbers)))
    return result


def _lin(term: AnyTerm | Branch, X: frozenset[int]) -> Pass:
    match term:
        case Var():
            return term.number in X
        case Zero():
            return True
        case Lit(value):  # 0 : ℝ is the number 0
            return isinstance(value, Vec) and value.space.is_space and not value.flat().any()
        case Plus() | Tuple() | Proj() | Typed() | Sharp() | Cov() | Point() | Jac():
            for part in below(term):
                if not (yield _lin(part, X)):
                    return False
            return True
        case Lam(_, body):
            return (yield _lin(body, X))
        case Let(pattern, value, body) | App(Lam(pattern, body), value):  # Lin(X; let x = E in L), also as (λx. L) E
            inner = X | {x.number for x in variables(pattern)}
            if not occurs(X, value):
                return (yield _lin(body, X))
            return (yield _lin(value, X)) and (yield _lin(body, inner))
        case App(function, arg):
            return not occurs(X, arg) and (yield _lin(function, X))
        case Dual(_, body, covector):
            if not occurs(X, covector):
                return (yield _lin(body, X))
            return not occurs(X, body) and (yield _lin(covector, X))
        case Prim(op, arg):  # a primitive that is known to be linear; one that is bilinear is, in one of its arguments
            if isinstance(op, LinMap):
                return (yield _lin(arg, X))
            if (isinstance(op, Bilinear) or term.name == "*") and isinstance(arg, Tuple):
                left, right = arg.parts
                if not occurs(X, left):
                    return (yield _lin(right, X))
                return not occurs(X, right) and (yield _lin(left, X))
            return False
        case Diff(function, point, direction):  # 𝒟F(a)(u) is linear in F and in u
            if occurs(X, point):
                return False
            if not occurs(X, direction):
                return (yield _lin(function, X))
            return not occurs(X, function) and (yield _lin(direction, X))
        case Ev(at, covector):
            return not occurs(X, at) and (yield _lin(covector, X))
        case Dv(at, along, covector):
            return not occurs(X, at, along) and (yield _lin(covector, X))
        case Pull() | If() | Con() | Case() | Fold() | Fix() | Name() | Number() | Sign() | Branch():
            return False
        case _:
            assert_never(term)

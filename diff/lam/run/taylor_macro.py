"""The macro D_(k,R) of the Taylor paper (§§6, 8) on types and terms: one `match` is its figure.

Only ℝ, constants and primitives depend on (k, R): a real becomes the tuple of its partial derivatives ∂^α, not divided
by α!, in lexicographic order. All else is structure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, final

from attrs import evolve

from diff.lam.run.faa_di_bruno import all_orders, down_closed
from diff.lam.run.taylor_slots import jet, primitive
from diff.lam.term.binding import Pass, over_parts
from diff.lam.term.former import OpenFormer, PullbackFormer
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Branch,
    Case,
    Con,
    Fix,
    Fold,
    If,
    Lam,
    Let,
    Lit,
    Plus,
    Prim,
    Proj,
    Tuple,
    Var,
    Zero,
    require_term,
)
from diff.lam.term.type_parts import rebuilt
from diff.lam.term.types import Declaration, Ground, TupleType, Ty, require_ty
from hilbert import Vec
from hilbert.base.lazy import uncollected
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Iterable

    from diff.jets.multiindex import Alpha


@final
class Taylor:
    """D_(k,R), or D for any down-closed set of multi-indices."""

    def __init__(self, orders: Iterable[Alpha]) -> None:
        self.orders = down_closed(orders)
        self._declared: dict[Declaration, Declaration] = {}

    @staticmethod
    def of(k: int, order: int) -> Taylor:
        """D_(k,R)."""
        return Taylor(all_orders(k, order))

    # --- types ---

    def type(self, ty: Ty) -> Ty:
        """D(V) = V^N for N multi-indices, and D commutes with all formers of types; discrete types stay as they are."""
        require_ty(ty, "Taylor(…).type(ty)")
        return rebuilt(ty, self._leaf, self._declaration)

    def _leaf(self, ty: Ty) -> Ty:
        if isinstance(ty, Ground) and ty.space.is_space and len(self.orders) > 1:
            return TupleType((ty,) * len(self.orders))
        return ty

    def _declaration(self, declaration: Declaration) -> Declaration:
        """D of the fields: the declaration itself where they hold no space, as those of lists."""
        if declaration not in self._declared:
            cases = tuple((label, self.type(field)) for label, field in declaration.cases)
            new = Declaration(f"{declaration.name}'", declaration.arity, cases)
            self._declared[declaration] = declaration if cases == declaration.cases else new
        return self._declared[declaration]

    # --- terms ---

    def term(self, term: AnyTerm) -> AnyTerm:
        """D(t); raises TermError `type` for terms of the language of pullbacks."""
        require_term(term, "Taylor(…).term(t)")
        with uncollected():
            result: AnyTerm = driven(self._term(term))
        return result

    def _term(self, term: AnyTerm | Branch) -> Pass:
        match term:
            case Lit(Vec() as vector) if vector.space.is_space:  # D(c) = ⟨c, 0, …, 0⟩
                return jet(self.orders, Lit(vector), lambda _: Lit(vector.space.zeros()))
            case Lit():
                return term
            case Prim(op, arg, name):
                arg = yield self._term(arg)
                try:
                    jets = primitive(self.orders, op, name, arg)
                except TermError as error:
                    raise error.at(term.place) from None
                return evolve(jets, place=term.place)
            case Var() | Lam() | App() | Let() | Tuple() | Proj() | If() | Con() | Branch() | Case() | Fold() | Fix():
                # D(x) = x, D(λp. t) = λD(p). D(t), D(t s) = D(t) D(s), D(τ.ℓ t) = D(τ).ℓ D(t), and so on
                return (yield from over_parts(term, self._term, self.type))
            case Zero() | Plus():  # sums are linear
                return (yield from over_parts(term, self._term, self.type))
            case PullbackFormer():
                message = "D_(k,R) is defined on the functional language: reduce the pullback first"
                raise TermError("type", message, term.place)
            case OpenFormer():
                raise TermError("unbound", "the term is open: check it before D_(k,R)", term.place)
            case _:
                assert_never(term)

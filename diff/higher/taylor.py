"""The macro D_(k,R) of the Taylor paper (§§6, 8) on types and terms: one `match` is its figure.

Only ℝ, constants and primitives depend on (k, R): a real becomes the tuple of its partial derivatives ∂^α, not divided
by α!, in lexicographic order. All else is structure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, final

from attrs import evolve

from diff.higher.binding import Pass, each
from diff.higher.errors import TermError
from diff.higher.orders import all_orders, below, binomial, down_closed, tables
from diff.higher.partials import constant_of, is_scalar, partial
from diff.higher.terms import (
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
    fresh,
    real,
)
from diff.higher.types import Declaration, Ground, TupleType, Ty, ground, rebuilt
from diff.jets import directional
from diff.maps import bilinear
from diff.multiindex import Alpha
from diff.nodes import Bilinear
from hilbert import DirectSum, R, Type, Vec
from hilbert.term import driven, uncollected
from linmap import LinMap, add
from linmap.contraction import scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hilbert.map import AnyMap

MULTIPLY = bilinear(scalar(R))


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
        """D(V) = V^N, and D commutes with all formers of types; discrete types have no derivatives."""
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
        with uncollected():
            made: AnyTerm = driven(self._term(term))
        return made

    def _term(self, term: AnyTerm | Branch) -> Pass:
        match term:
            case Var(_, _, ty):  # D(x) = x
                return evolve(term, type=self.type(ty))
            case Lit(Vec() as vector) if vector.space.is_space:  # D(c) = ⟨c, 0, …, 0⟩
                return self.jet(Lit(vector), lambda _: Lit(vector.space.zeros()))
            case Lit():
                return term
            case Prim(op, arg, name):
                arg = yield self._term(arg)
                return evolve(self.primitive(op, name, arg), place=term.place)
            case Lam(pattern, body):  # D(λx. t) = λx. D(t)
                pattern = yield self._term(pattern)
                body = yield self._term(body)
                return evolve(term, pattern=pattern, body=body)
            case App(function, arg):  # D(t s) = D(t) D(s)
                function = yield self._term(function)
                arg = yield self._term(arg)
                return evolve(term, function=function, arg=arg)
            case Let(pattern, value, body):  # D(case t of p → s) = case D(t) of p → D(s)
                pattern = yield self._term(pattern)
                value = yield self._term(value)
                body = yield self._term(body)
                return evolve(term, pattern=pattern, value=value, body=body)
            case Tuple(parts):  # D(⟨t₁, …, tₙ⟩) = ⟨D(t₁), …, D(tₙ)⟩
                made = yield each(self._term, parts)
                return evolve(term, parts=made)
            case Proj(_, of):
                of = yield self._term(of)
                return evolve(term, of=of)
            case If(condition, then, otherwise):  # on the value alone: truth values are discrete
                condition = yield self._term(condition)
                then = yield self._term(then)
                otherwise = yield self._term(otherwise)
                return evolve(term, condition=condition, then=then, otherwise=otherwise)
            case Con(_, ty, arg):  # D(τ.ℓ t) = D(τ).ℓ D(t)
                arg = yield self._term(arg)
                return evolve(term, type=self.type(ty), arg=arg)
            case Branch(_, pattern, body):
                pattern = yield self._term(pattern)
                body = yield self._term(body)
                return evolve(term, pattern=pattern, body=body)
            case Case(of, branches):  # D(case t of {ℓ x → s}) = case D(t) of {ℓ x → D(s)}
                of = yield self._term(of)
                made = yield each(self._term, branches)
                return evolve(term, of=of, branches=made)
            case Fold(ty, of, branches):  # D(fold t of {ℓ x → s}) = fold D(t) of {ℓ x → D(s)}
                of = yield self._term(of)
                made = yield each(self._term, branches)
                return evolve(term, type=self.type(ty), of=of, branches=made)
            case Fix(var, body):
                var = yield self._term(var)
                body = yield self._term(body)
                return evolve(term, var=var, body=body)
            case Zero(ty):
                return evolve(term, type=self.type(ty))
            case Plus(left, right):  # sums are linear
                left = yield self._term(left)
                right = yield self._term(right)
                return evolve(term, left=left, right=right)
            case Pull() | Dual() | Jac() | Cov() | Diff() | Sharp() | Point() | Ev() | Dv():
                message = "D_(k,R) is defined on the functional language: reduce the pullback first"
                raise TermError("type", message, term.place)
            case Name() | Number() | Sign() | Typed():
                raise TermError("unbound", "the term is open: check it before D_(k,R)", term.place)
            case _:
                assert_never(term)

    def jet(self, value: AnyTerm, slot: Callable[[Alpha], AnyTerm]) -> AnyTerm:
        """⟨v, …, slot(α), …⟩; v alone where the value is the only slot."""
        if len(self.orders) == 1:
            return value
        return Tuple((value, *(slot(alpha) for alpha in self.orders[1:])))

    # --- primitives ---

    def primitive(self, op: AnyMap, name: str, arg: AnyTerm) -> AnyTerm:
        """D(op(t)) = case D(t) of ⟨x_α⟩ → ⟨D^α op⟩."""
        jets = _Jets(self, op.dom)
        if not op.cod.is_space:  # what is discrete has no derivatives
            return Let(jets.pattern, arg, Prim(op, jets.slice(self.orders[0]), name))
        lets: list[tuple[Var, AnyTerm]] = []
        slots = [self._slot(op, name, alpha, jets, lets) for alpha in self.orders]
        body = self._collected(op.cod, slots)
        for x, value in reversed(lets):
            body = Let(x, value, body)
        return Let(jets.pattern, arg, body)

    def _slot(self, op: AnyMap, name: str, alpha: Alpha, jets: _Jets, lets: list[tuple[Var, AnyTerm]]) -> AnyTerm:
        """D^α op."""
        if not any(alpha):
            return Prim(op, jets.slice(alpha), name)
        if isinstance(op, LinMap):  # A u_α
            return Prim(op, jets.slice(alpha), name)
        if isinstance(op, Bilinear):  # Σ binom(α, γ) B(u_γ, w_{α−γ})
            return _sum(
                op.cod,
                [
                    (binomial(alpha, gamma), Prim(op, jets.pair(gamma, _minus(alpha, gamma)), name))
                    for gamma in below(alpha)
                ],
            )
        point = jets.slice(self.orders[0])
        if is_scalar(op):  # α! Σ_e (∂_β op) Π (1/e!) (x_γ / γ!)^e
            terms = []
            for coefficient, beta, factors in tables(alpha, len(jets.leaves)):
                made = partial(op, beta)
                k = constant_of(made)
                if k == 0.0:
                    continue
                product = [jets.leaves[j][gamma] for gamma, j, e in factors for _ in range(e)]
                if k is None:
                    product.append(_shared(made, f"∂{''.join(map(str, beta))} {name}", point, lets))
                terms.append((coefficient * (1.0 if k is None else k), _product(product)))
            return _sum(op.cod, terms)
        terms = []  # Σ_e coefficient · D^m op(x)[u_γ, …]
        for coefficient, (m,), factors in tables(alpha, 1):
            along = [jets.slice(gamma) for gamma, _, e in factors for _ in range(e)]
            terms.append((coefficient, Prim(directional(op, m), Tuple((point, *along)), f"D{m} {name}")))
        return _sum(op.cod, terms)

    def _collected(self, cod: Type, slots: list[AnyTerm]) -> AnyTerm:
        """D(W) from the slots in W: a tuple of them, part by part where W is a direct sum."""
        if not isinstance(cod, DirectSum) or len(slots) == 1:
            return self.jet(slots[0], dict(zip(self.orders, slots, strict=True)).__getitem__)
        jets = _Jets(self, cod)
        body: AnyTerm = jets.pattern
        for alpha, slot in reversed(list(zip(self.orders, slots, strict=True))):
            body = Let(jets.slice(alpha), slot, body)
        return body


@final
class _Jets:
    """Fresh variables x_α for each part of a space, as a pattern of D(V)."""

    def __init__(self, taylor: Taylor, space: Type) -> None:
        self.leaves: list[dict[Alpha, Var]] = []
        self._space = space
        self._taylor = taylor
        self.pattern: Any = self._tree(space)

    def _tree(self, space: Type) -> AnyTerm:
        if isinstance(space, DirectSum):
            return Tuple(tuple(map(self._tree, space.parts)))
        j = len(self.leaves)
        orders = self._taylor.orders if space.is_space else self._taylor.orders[:1]
        found = {alpha: fresh(f"x{j}_{''.join(map(str, alpha))}", ground(space)) for alpha in orders}
        self.leaves.append(found)
        made = tuple(found.values())
        return made[0] if len(made) == 1 else Tuple(made)

    def slice(self, alpha: Alpha) -> Any:
        """x_α as an element of the space."""
        leaves = iter(self.leaves)
        return self._sliced(self._space, lambda: _at(next(leaves), alpha))

    def pair(self, alpha: Alpha, beta: Alpha) -> AnyTerm:
        """(x_α, y_β) for a space of two parts."""
        left, right = self._space.parts
        leaves = iter(self.leaves)
        first = self._sliced(left, lambda: _at(next(leaves), alpha))
        return Tuple((first, self._sliced(right, lambda: _at(next(leaves), beta))))

    def _sliced(self, space: Type, leaf: Callable[[], AnyTerm]) -> AnyTerm:
        return Tuple([self._sliced(part, leaf) for part in space.parts]) if isinstance(space, DirectSum) else leaf()


def _at(jet: dict[Alpha, Var], alpha: Alpha) -> Var:
    if alpha not in jet and any(alpha):
        message = "a primitive with discrete and real arguments has no D_(k,R)"
        raise TermError("type", message)
    return jet[alpha]


def _minus(alpha: Alpha, gamma: Alpha) -> Alpha:
    return tuple(a - g for a, g in zip(alpha, gamma, strict=True))


def _shared(op: AnyMap, name: str, point: AnyTerm, lets: list[tuple[Var, AnyTerm]]) -> Var:
    """The variable of op(point), bound once."""
    for x, value in lets:
        if isinstance(value, Prim) and value.op is op:
            return x
    x = fresh("d", ground(op.cod))
    lets.append((x, Prim(op, point, name)))
    return x


def _product(factors: list[Any]) -> AnyTerm:
    """The product of numbers, at least one."""
    made: AnyTerm = factors[0]
    for factor in factors[1:]:
        made = Prim(MULTIPLY, Tuple((made, factor)), "*")
    return made


def _sum(space: Type, terms: list[tuple[float, AnyTerm]]) -> AnyTerm:
    """Σ k t, 0 for none."""
    made: AnyTerm | None = None
    for k, term in terms:
        one = term if k == 1.0 else Prim(bilinear(scalar(space)), Tuple((real(k), term)), "*")
        made = one if made is None else Prim(add(space), Tuple((made, one)), "+")
    return Lit(space.zeros()) if made is None else made

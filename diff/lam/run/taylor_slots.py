"""D_(k,R) of a primitive: what stands in each slot α, ⟨D^α op⟩ (§6 of the Taylor paper)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, final

from diff.jets.jet_programs import directional
from diff.lam.run.faa_di_bruno import below, binomial, require_few_terms, tables
from diff.lam.run.scalar_partials import is_scalar, partial, vanishes
from diff.lam.term.lam_values import summands
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, Let, Lit, Prim, Tuple, Var, fresh, real
from diff.lam.term.types import ground
from diff.terms.nodes import Bilinear
from diff.terms.untraced_functions import bilinear
from hilbert import DirectSum, R, Type
from linmap import LinMap, add
from linmap.contraction import scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from diff.jets.multiindex import Alpha
    from hilbert.map.map import AnyMap

MULTIPLY = bilinear(scalar(R))


def jet(orders: tuple[Alpha, ...], value: AnyTerm, slot: Callable[[Alpha], AnyTerm]) -> AnyTerm:
    """⟨v, …, slot(α), …⟩; v alone where the value is the only slot."""
    if len(orders) == 1:
        return value
    return Tuple((value, *(slot(alpha) for alpha in orders[1:])))


def primitive(orders: tuple[Alpha, ...], op: AnyMap, name: str, arg: AnyTerm) -> AnyTerm:
    """D(op(t)) = case D(t) of ⟨x_α⟩ → ⟨D^α op⟩; raises TermError `limit` where these are sums of too many terms."""
    if op.cod.is_space:
        require_few_terms(orders, name, lambda alpha: _terms(op, alpha))
    jets = _Jets(orders, op.dom)
    if not op.cod.is_space:  # what is discrete has no derivatives
        return Let(jets.pattern, arg, Prim(op, jets.slice(orders[0]), name))
    lets: list[tuple[Var, Prim]] = []
    slots = [_slot(orders, op, name, alpha, jets, lets) for alpha in orders]
    body = _collected(orders, op.cod, slots)
    for x, value in reversed(lets):
        body = Let(x, value, body)
    return Let(jets.pattern, arg, body)


def _terms(op: AnyMap, alpha: Alpha) -> int:
    """The number of terms of D^α op."""
    if isinstance(op, LinMap):
        return 1
    if isinstance(op, Bilinear):
        return prod(a + 1 for a in alpha)
    return len(tables(alpha, len(summands(op.dom)) if is_scalar(op) else 1))


def _slot(
    orders: tuple[Alpha, ...], op: AnyMap, name: str, alpha: Alpha, jets: _Jets, lets: list[tuple[Var, Prim]]
) -> AnyTerm:
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
    point = jets.slice(orders[0])
    if is_scalar(op):  # α! Σ_e (∂_β op) Π (1/e!) (x_γ / γ!)^e
        terms = []
        for coefficient, beta, factors in tables(alpha, len(jets.leaves)):
            slope = partial(op, beta)
            if vanishes(slope):
                continue
            product = [jets.leaves[j][gamma] for gamma, j, e in factors for _ in range(e)]
            product.append(_shared(slope, f"∂{''.join(map(str, beta))} {name}", point, lets))
            terms.append((coefficient, _product(product)))
        return _sum(op.cod, terms)
    terms = []  # Σ_e coefficient · D^m op(x)[u_γ, …]
    for coefficient, (m,), factors in tables(alpha, 1):
        along = [jets.slice(gamma) for gamma, _, e in factors for _ in range(e)]
        terms.append((coefficient, Prim(directional(op, m), Tuple((point, *along)), f"D{m} {name}")))
    return _sum(op.cod, terms)


def _collected(orders: tuple[Alpha, ...], cod: Type, slots: list[AnyTerm]) -> AnyTerm:
    """D(W) from the slots in W: a tuple of them, part by part where W is a direct sum."""
    if not isinstance(cod, DirectSum) or len(slots) == 1:
        return jet(orders, slots[0], dict(zip(orders, slots, strict=True)).__getitem__)
    jets = _Jets(orders, cod)
    body: AnyTerm = jets.pattern
    for alpha, slot in reversed(list(zip(orders, slots, strict=True))):
        body = Let(jets.slice(alpha), slot, body)
    return body


@final
class _Jets:
    """Fresh variables x_α for each part of a space, as a pattern of D(V)."""

    def __init__(self, orders: tuple[Alpha, ...], space: Type) -> None:
        self.leaves: list[dict[Alpha, Var]] = []
        self._space = space
        self._orders = orders
        self.pattern: Any = self._tree(space)

    def _tree(self, space: Type) -> AnyTerm:
        if isinstance(space, DirectSum):
            return Tuple(tuple(map(self._tree, space.parts)))
        j = len(self.leaves)
        orders = self._orders if space.is_space else self._orders[:1]
        jet = {alpha: fresh(f"x{j}_{''.join(map(str, alpha))}", ground(space)) for alpha in orders}
        self.leaves.append(jet)
        slots = tuple(jet.values())
        return slots[0] if len(slots) == 1 else Tuple(slots)

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
    if alpha not in jet:
        message = "a primitive with discrete and real arguments has no D_(k,R)"
        raise TermError("type", message)
    return jet[alpha]


def _minus(alpha: Alpha, gamma: Alpha) -> Alpha:
    return tuple(a - g for a, g in zip(alpha, gamma, strict=True))


def _shared(op: AnyMap, name: str, point: AnyTerm, lets: list[tuple[Var, Prim]]) -> Var:
    """The variable of op(point), bound once."""
    for x, value in lets:
        if value.op is op:
            return x
    x = fresh("d", ground(op.cod))
    lets.append((x, Prim(op, point, name)))
    return x


def _product(factors: list[Any]) -> AnyTerm:
    """The product of numbers, at least one."""
    product: AnyTerm = factors[0]
    for factor in factors[1:]:
        product = Prim(MULTIPLY, Tuple((product, factor)), "*")
    return product


def _sum(space: Type, terms: Sequence[tuple[float, AnyTerm]]) -> AnyTerm:
    """Σ k t, 0 for none."""
    total: AnyTerm | None = None
    for k, term in terms:
        summand = term if k == 1.0 else Prim(bilinear(scalar(space)), Tuple((real(k), term)), "*")
        total = summand if total is None else Prim(add(space), Tuple((total, summand)), "+")
    return Lit(space.zeros()) if total is None else total

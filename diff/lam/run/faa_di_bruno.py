"""The sum of Faà di Bruno over multi-indices (the Taylor paper, §3), and their sets with the errors of terms."""

from __future__ import annotations

from functools import cache
from itertools import accumulate, product
from math import comb, factorial, prod
from operator import index
from typing import TYPE_CHECKING, TypeAlias

from diff.jets.multiindex import Alpha, count, index_set, indices, require_down_closed
from diff.lam.term.term_error import TermError
from hilbert import SpaceError
from hilbert.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def all_orders(k: int, order: int) -> tuple[Alpha, ...]:
    """I(k, R) in lexicographic order; raises TermError `order` below 0 or, for too many, `limit`."""
    try:
        k, order = count(k, "the number k of parameters of a jet"), count(order, "the order of a jet")
    except SpaceError as error:
        raise TermError("order", str(error)) from None
    try:
        return indices(k, order)
    except SpaceError as error:
        raise TermError("limit", str(error)) from None


def down_closed(listed: Iterable[Alpha]) -> tuple[Alpha, ...]:
    """These multi-indices in order; raises TermError `order` unless all below each are among them."""
    try:
        orders = [tuple(map(index, one)) for one in listed]
    except TypeError:
        message = f"Taylor(orders) takes multi-indices, such as [(0,), (1,)], not {shown(listed)}"
        raise TermError("order", f"{message}; Taylor.of(k, R) has all up to order R") from None
    try:
        closed = index_set(orders, len(orders[0]) if orders else 0, max(map(sum, orders), default=0), "a set of orders")
        require_down_closed(closed, "a set of orders")
    except SpaceError as error:
        raise TermError("order", str(error)) from None
    return closed


def below(alpha: Alpha) -> Iterator[Alpha]:
    """All γ ≤ α, in lexicographic order."""
    return product(*(range(a + 1) for a in alpha))


def binomial(alpha: Alpha, gamma: Alpha) -> int:
    """Π binom(αᵢ, γᵢ)."""
    return prod(map(comb, alpha, gamma))


TERMS = 2_000
"""The most summands of a coefficient: at one parameter they are the partitions of its order, 1,958 at order 25."""
ALL_TERMS = 50_000
"""The most summands of all coefficients of a primitive."""
Factors: TypeAlias = tuple[tuple[Alpha, int, int], ...]
"""(γ, j, e): the e-th power of ∂^γ f_j."""


@cache
def tables(alpha: Alpha, components: int) -> tuple[tuple[int, Alpha, Factors], ...]:
    """Form A of Faà di Bruno for ∂^α(f; g), f of so many components: (coefficient, β, factors) of each summand.

    A summand is coefficient · ∂_β g · Π (∂^γ f_j)^e, where Σ e·γ = α and β_j = Σ e; the coefficient is the integer
    α! / Π e! (γ!)^e.
    """
    cells = [(gamma, j) for gamma in below(alpha) if any(gamma) for j in range(components)]
    rows: list[tuple[int, Alpha, Factors]] = []
    stack: list[tuple[int, Alpha, Factors]] = [(0, alpha, ())]
    while stack:
        k, rest, chosen = stack.pop()
        if not any(rest):
            beta = tuple(sum(e for _, j, e in chosen if j == i) for i in range(components))
            parts = prod(factorial(e) * _factorial(gamma) ** e for gamma, _, e in chosen)
            rows.append((_factorial(alpha) // parts, beta, chosen))
            if len(rows) > TERMS:
                why = f"∂^{alpha} of a primitive, written out, is a sum of more than {TERMS} terms"
                raise TermError("limit", f"{why}; the jets of `diff.jet` need no such sum")
        elif k < len(cells):
            gamma, j = cells[k]
            most = min(r // g for r, g in zip(rest, gamma, strict=True) if g)
            for e in range(most, -1, -1):
                left = tuple(r - e * g for r, g in zip(rest, gamma, strict=True))
                stack.append((k + 1, left, (*chosen, (gamma, j, e)) if e else chosen))
    return tuple(rows)


def require_few_terms(orders: Iterable[Alpha], name: str, terms: Callable[[Alpha], int]) -> None:
    """Raise TermError `limit` where the coefficients of a primitive have too many summands, all together."""
    if any(total > ALL_TERMS for total in accumulate(map(terms, orders))):
        why = f"the coefficients of {name or 'a primitive'}, written out, have more than {ALL_TERMS} terms"
        raise TermError("limit", f"{why}; the jets of `diff.jet` need no such sum")


def _factorial(alpha: Alpha) -> int:
    return prod(map(factorial, alpha))

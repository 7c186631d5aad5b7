"""Multi-indices: down-closed sets of them, and the sum of Faà di Bruno over them (the Taylor paper, §§1, 3)."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import comb, factorial, prod
from typing import TYPE_CHECKING, TypeAlias

from diff.higher.errors import TermError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Alpha: TypeAlias = tuple[int, ...]
MOST = 100_000
"""So many slots are the most that are made."""


@cache
def all_orders(k: int, order: int) -> tuple[Alpha, ...]:
    """I(k, R) = {α ∈ ℕ^k : |α| ≤ R}, in lexicographic order; raises TermError `order` or, for too many, `limit`."""
    if k < 0 or order < 0:
        raise TermError("order", f"a jet has k ≥ 0 parameters and an order R ≥ 0, not ({k}, {order})")
    size = comb(order + k, k)
    if size > MOST:
        raise TermError("limit", f"jets of ({k}, {order}) have {size} slots; at most {MOST} are made")
    return tuple(_bounded(k, order))


def _bounded(k: int, order: int) -> Iterator[Alpha]:
    alpha, total = [0] * k, 0
    while True:
        yield tuple(alpha)
        if k and total < order:
            alpha[-1] += 1
            total += 1
            continue
        last = max((i for i, a in enumerate(alpha) if a), default=0)
        if not last:
            return
        total -= alpha[last] - 1
        alpha[last] = 0
        alpha[last - 1] += 1


def down_closed(indices: Iterable[Alpha]) -> tuple[Alpha, ...]:
    """These multi-indices in order; raises TermError `order` unless all below each are among them."""
    found = sorted(set(indices))
    known = set(found)
    if not found:
        raise TermError("order", "a jet has at least the slot of its value")
    for alpha in found:
        if len(alpha) != len(found[0]):
            raise TermError("order", f"{_digits(alpha)} and {_digits(found[0])} have unequal lengths")
        for i, a in enumerate(alpha):
            below = (*alpha[:i], a - 1, *alpha[i + 1 :])
            if a and below not in known:
                raise TermError("order", f"{_digits(alpha)} is wanted, but {_digits(below)} below it is not")
    return tuple(found)


def _digits(alpha: Alpha) -> str:
    return "".join(map(str, alpha)) or "()"


def below(alpha: Alpha) -> Iterator[Alpha]:
    """All γ ≤ α, in lexicographic order."""
    return product(*(range(a + 1) for a in alpha))


def binomial(alpha: Alpha, gamma: Alpha) -> int:
    """Π binom(αᵢ, γᵢ)."""
    return prod(map(comb, alpha, gamma))


Factors: TypeAlias = tuple[tuple[Alpha, int, int], ...]
"""(γ, j, e): the e-th power of ∂^γ f_j."""


@cache
def tables(alpha: Alpha, count: int) -> tuple[tuple[int, Alpha, Factors], ...]:
    """Form A of Faà di Bruno for ∂^α(f; g), f of `count` components: (coefficient, β, factors) of each summand.

    A summand is coefficient · ∂_β g · Π (∂^γ f_j)^e, where Σ e·γ = α and β_j = Σ e; the coefficient is the integer
    α! / Π e! (γ!)^e.
    """
    cells = [(gamma, j) for gamma in below(alpha) if any(gamma) for j in range(count)]
    found: list[tuple[int, Alpha, Factors]] = []
    stack: list[tuple[int, Alpha, Factors]] = [(0, alpha, ())]
    while stack:
        k, rest, chosen = stack.pop()
        if not any(rest):
            beta = tuple(sum(e for _, j, e in chosen if j == i) for i in range(count))
            parts = prod(factorial(e) * _factorial(gamma) ** e for gamma, _, e in chosen)
            found.append((_factorial(alpha) // parts, beta, chosen))
            if len(found) > MOST:
                raise TermError("limit", f"∂^{_digits(alpha)} of a primitive is a sum of more than {MOST} terms")
        elif k < len(cells):
            gamma, j = cells[k]
            most = min(r // g for r, g in zip(rest, gamma, strict=True) if g)
            for e in range(most, -1, -1):
                left = tuple(r - e * g for r, g in zip(rest, gamma, strict=True))
                stack.append((k + 1, left, (*chosen, (gamma, j, e)) if e else chosen))
    return tuple(found)


def _factorial(alpha: Alpha) -> int:
    return prod(map(factorial, alpha))

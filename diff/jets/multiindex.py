"""Multi-indices α ∈ ℕᵏ, the sets of them that jets are indexed by, and mixed partials from directions, in rationals.

Huot, Staton, Vákár, §2; Griewank, Utke, Walther, for directions.

A set is down-closed if γ ≤ α ∈ L implies γ ∈ L; all sets are in lexicographic
order, so that α = 0, the value, comes first.

>>> indices(2, 2)
((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0))
>>> [str(c) for c in interpolation(2, 2)[1, 1]]  # ∂₁∂₂ from the directions (0,2), (1,1), (2,0)
['-1/4', '1', '-1/4']
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import islice, product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hilbert import SpaceError
from hilbert.errors import integer, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

Alpha: TypeAlias = tuple[int, ...]
"""A multi-index."""
MOST = 100_000
"""The most slots of a jet."""


def count(value: Any, what: str) -> int:
    """A whole number from 0 on; raises SpaceError for anything else."""
    n = integer(value)
    if n is None or n < 0:
        msg = f"{what} is a whole number from 0 on, not {shown(value)}"
        raise SpaceError(msg)
    return n


def indices(k: int, order: int) -> tuple[Alpha, ...]:
    """I(k, R) = {α ∈ ℕᵏ : |α| ≤ R}, binom(R+k, k) of them; raises SpaceError for more than 10⁵."""
    _few(k, order)
    return _indices(k, order)


@cache
def _indices(k: int, order: int) -> tuple[Alpha, ...]:
    return tuple(_ascending(k, order))


def _ascending(k: int, order: int) -> Iterator[Alpha]:
    """In lexicographic order: the last place grows; at |α| = R the last that is not 0 carries into the one before."""
    alpha, size = [0] * k, 0
    while True:
        yield tuple(alpha)
        if k and size < order:
            alpha[-1] += 1
            size += 1
            continue
        last = next((i for i in reversed(range(k)) if alpha[i]), 0)
        if last == 0:
            return
        size += 1 - alpha[last]
        alpha[last] = 0
        alpha[last - 1] += 1


def _few(k: int, order: int) -> None:
    """Raise SpaceError where I(k, R) has more than 10⁵ elements."""
    if min(k, order) > 1000:  # the number itself would fill the memory
        n, m = float(min(k, 10**300)), float(min(order, 10**300))
        log = n * math.log1p(m / n) + m * math.log1p(n / m) - math.log(2.0 * math.pi / (1.0 / n + 1.0 / m)) / 2.0
        many = f"about 10^{round(log / math.log(10.0)):.9g}"  # Stirling's formula
    else:
        size = math.comb(k + order, min(k, order))
        if size <= MOST and size * k <= 100 * MOST:
            return
        many = str(size) if size < 10**40 else f"about 10^{int(size.bit_length() * math.log10(2.0))}"
    msg = f"a jet of order {shown(order)} in {shown(k)} parameters has N = {many} slots, and {MOST} are the most: "
    raise SpaceError(msg + "take fewer parameters, a lower order or a smaller set wanted=…; see laplacian")


def index_set(given: Iterable[Any], k: int, order: int, what: str) -> tuple[Alpha, ...]:
    """A set of multi-indices of I(k, R), in lexicographic order; of one parameter, n stands for (n,).

    Raises SpaceError for other things, and for more than 10⁵.
    """
    try:
        items = list(islice(given, MOST + 1))
    except TypeError:
        msg = f"{what} is a set of multi-indices in {k} parameters, not {shown(given)}"
        raise SpaceError(msg) from None
    if len(items) > MOST:
        msg = f"{what} has N > {MOST} slots, and {MOST} are the most"
        raise SpaceError(msg)
    return tuple(sorted({_index(item, k, order, what) for item in items}))


def _index(item: Any, k: int, order: int, what: str) -> Alpha:
    n = integer(item) if k == 1 else None
    parts: Any = (n,) if n is not None else item
    numbers = [integer(part) for part in parts] if isinstance(parts, (tuple, list)) else []
    alpha = tuple(n for n in numbers if n is not None and n >= 0)
    if not isinstance(parts, (tuple, list)) or len(alpha) != len(parts) or len(alpha) != k:
        due = "whole number" if k == 1 else f"tuple of {k} whole numbers"
        msg = f"{what}: a multi-index in {k} parameters is a {due} from 0 on, not {item if alpha else shown(item)}"
        raise SpaceError(msg)
    if sum(alpha) > order:
        msg = f"{what}: {alpha} has order {sum(alpha)}, above order={order}: give order={sum(alpha)}"
        raise SpaceError(msg)
    return alpha


def require_down_closed(alphas: tuple[Alpha, ...], what: str) -> None:
    """Raise SpaceError unless γ ≤ α ∈ L implies γ ∈ L, and L is not empty."""
    known = set(alphas)
    for alpha in alphas:
        for i, n in enumerate(alpha):
            below = (*alpha[:i], n - 1, *alpha[i + 1 :])
            if n and below not in known:
                msg = f"{what} is not down-closed: it has {alpha} and lacks {below}; a coefficient needs all below it"
                raise SpaceError(msg)
    if not alphas:
        msg = f"{what} is empty: the value, α = 0, is in every set of indices"
        raise SpaceError(msg)


def pairs(alpha: Alpha) -> Iterator[tuple[Alpha, Alpha]]:
    """The (γ, α − γ) for all γ ≤ α, in lexicographic order of γ."""
    for gamma in product(*(range(n + 1) for n in alpha)):
        yield gamma, tuple([n - m for n, m in zip(alpha, gamma, strict=True)])


def factorial(alpha: Alpha) -> float:
    """α! = Π αᵢ!; raises SpaceError beyond double precision."""
    exact = math.prod(map(math.factorial, alpha))
    try:
        return float(exact)
    except OverflowError:
        msg = f"α! for α = {alpha} is beyond double precision: the entries of a jet are not divided by it; see taylor, "
        raise SpaceError(msg + "whose coefficients are") from None


# --- mixed partials from Taylor coefficients c_r(v) of s ↦ f(a + s·v) (Griewank, Utke, Walther) ---


@cache
def polarisation(r: int) -> tuple[tuple[Fraction, Alpha], ...]:
    """Dʳf(a)[v₁, …, vᵣ] = Σ weight · c_r(Σ εᵢvᵢ) over the 2^{r−1} signs ε with ε₁ = 1."""
    signs = product((1,), *([(1, -1)] * (r - 1))) if r else [()]
    return tuple((Fraction(math.prod(epsilon), 2 ** max(r - 1, 0)), epsilon) for epsilon in signs)


@cache
def directions(k: int, order: int) -> tuple[Alpha, ...]:
    """The j ∈ ℕᵏ with |j| = R, binom(k+R−1, R) of them."""
    return tuple(j for j in indices(k, order) if sum(j) == order)


def require_few_weights(k: int, order: int) -> None:
    """Raise SpaceError where the G(α, j) are too many, or sums of too many terms."""
    family = math.comb(k + order - 1, order) if k else 0
    weights = math.comb(k + order, k) * family
    terms = math.comb(2 * k + order, order) * family // math.factorial(k)  # G is symmetric
    if weights > 200 * MOST or terms > 100 * MOST:
        msg = f"interpolated(f, {k}, {order}) has {weights} weights, sums of some {terms} rationals in all, and "
        msg += f"{200 * MOST} and {100 * MOST} are the most: take a lower order, or jet with a set wanted=…"
        raise SpaceError(msg)


@cache
def interpolation(k: int, order: int) -> dict[Alpha, list[Fraction]]:
    """G with ∂^α f(a) = Σ_{|j| = R} G(α, j)·c_{|α|}(j) for all α₁ ≥ … ≥ α_k ≥ 1 with |α| ≤ R; `placed` has the others.

    G(α, j) = Σ_{0 ≠ μ ≤ α} (−1)^{|α|−|μ|} binom(α, μ) binom(Rμ/|μ|, j) (|μ|/R)^{|α|}, here over one denominator.
    """
    along = np.array(directions(k, order), np.intp).reshape(-1, k)
    common = math.lcm(*range(1, order + 1))
    ends = [alpha for alpha in indices(k, order) if all(alpha) and list(alpha) == sorted(alpha, reverse=True)]
    uses: dict[Alpha, list[tuple[int, int]]] = {}
    for n, alpha in enumerate(ends):
        for mu, rest in pairs(alpha):
            size = sum(mu)
            if size:
                weight = (-1) ** sum(rest) * math.prod(map(math.comb, alpha, mu))
                uses.setdefault(mu, []).append((n, weight * (common // size) ** (order - sum(alpha))))
    above = np.zeros((len(ends), len(along)), object)
    for mu, several in uses.items():
        falling = [np.array([_falling(sum(mu), order * m, n) for n in range(order + 1)], object) for m in mu]
        powers = math.prod(table[along[:, i]] for i, table in enumerate(falling))  # |μ|^R · j! · binom(Rμ/|μ|, j)
        above[[n for n, _ in several]] += np.multiply.outer(np.array([w for _, w in several], object), powers)
    below = [math.prod(map(math.factorial, j)) for j in directions(k, order)]
    found: dict[Alpha, list[Fraction]] = {}
    for alpha, row in zip(ends, above, strict=True):
        whole = common ** (order - sum(alpha)) * order ** sum(alpha)
        found[alpha] = [Fraction(a, whole * n) for a, n in zip(row, below, strict=True)]
    return found


def placed(alpha: Alpha, order: int) -> tuple[Alpha, NDArray[np.intp]]:
    """The entries of α ≠ 0 that are not 0, largest first, as β, and which directions of α have the G(β, j).

    G is symmetric, and 0 for a j that is not 0 where α is 0.
    """
    k = len(alpha)
    support = sorted((i for i in range(k) if alpha[i]), key=lambda i: -alpha[i])
    places = sorted(range(len(support)), key=support.__getitem__)
    beta = tuple(alpha[i] for i in support)
    left = np.full(math.comb(len(beta) + order - 1, order), order)
    found = np.zeros(len(left), np.intp)
    along = np.array(directions(len(beta), order), np.intp)
    for n in places:  # those before j in lexicographic order
        later = k - support[n] - 1
        before = np.array([math.comb(r + later, later) for r in range(order + 1)], np.intp)
        found += before[left]
        left = left - along[:, n]
        found -= before[left]
    return beta, found


def _falling(step: int, z: int, count: int) -> int:
    """z (z − s) (z − 2s) …, so many factors."""
    return math.prod(z - step * n for n in range(count))

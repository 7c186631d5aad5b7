"""Multi-indices α ∈ ℕᵏ, the sets of them that jets are indexed by, and mixed partials from directions, in rationals.

Huot, Staton, Vákár, §2; Griewank, Utke, Walther, for directions.

A set is down-closed if γ ≤ α ∈ L implies γ ∈ L; all sets are in lexicographic
order, so that α = 0, the value, comes first.

>>> indices(2, 2)
((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0))
>>> [str(c) for c in interpolation(2, 2)[1, 1].values()]  # ∂₁∂₂ from the directions (0,2), (1,1), (2,0)
['-1/4', '1', '-1/4']
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import islice, product
from typing import TYPE_CHECKING, Any, TypeAlias

from hilbert import SpaceError
from hilbert.errors import integer, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Alpha: TypeAlias = tuple[int, ...]
"""A multi-index."""
MOST = 100_000
"""No jet has more slots."""


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
        n = float(max(k, order)) if max(k, order) < 10**300 else 1e300
        m = float(min(k, order)) if min(k, order) < 10**300 else 1e300
        digits = (math.lgamma(n + m + 1.0) - math.lgamma(n + 1.0) - math.lgamma(m + 1.0)) / math.log(10.0)
        many = f"about 10^{digits:.0f}"
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


@cache
def interpolation(k: int, order: int) -> dict[Alpha, dict[Alpha, Fraction]]:
    """G with ∂^α f(a) = Σ_{|j| = R} G(α, j)·c_{|α|}(j) for all 1 ≤ |α| ≤ R.

    G(α, j) = Σ_{0 ≠ μ ≤ α} (−1)^{|α|−|μ|} binom(α, μ) binom(Rμ/|μ|, j) (|μ|/R)^{|α|}, here over one denominator.
    """
    along = directions(k, order)
    common = math.lcm(*range(1, order + 1))
    below = [math.prod(map(math.factorial, j)) for j in along]
    found: dict[Alpha, dict[Alpha, Fraction]] = {}
    powers: dict[Alpha, list[int]] = {}  # |μ|^R · j! · binom(Rμ/|μ|, j) for all j
    for alpha in indices(k, order):
        length = sum(alpha)
        above = [0] * len(along)
        for mu, rest in pairs(alpha):
            size = sum(mu)
            if not size:
                continue
            if mu not in powers:
                steps = [(size, order * m) for m in mu]
                powers[mu] = [math.prod(_falling(*s, i) for s, i in zip(steps, j, strict=True)) for j in along]
            weight = (-1) ** sum(rest) * math.prod(map(math.comb, alpha, mu)) * (common // size) ** (order - length)
            above = [a + weight * p for a, p in zip(above, powers[mu], strict=True)]
        if length:
            whole = common ** (order - length) * order**length
            found[alpha] = {j: Fraction(a, whole * n) for j, a, n in zip(along, above, below, strict=True)}
    return found


def _falling(step: int, z: int, count: int) -> int:
    """z (z − s) (z − 2s) …, so many factors."""
    return math.prod(z - step * n for n in range(count))

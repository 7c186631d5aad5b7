"""The search for an order: no more than any order where all are tried, bounded where too many sets are connected."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings

from hilbert.arrays.libraries import contraction_order
from hilbert.arrays.libraries.contraction_order import Labels, Pairs, best, from_first, from_last, numbered, steps
from tests.strategies import Source, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

Network = tuple[tuple[Labels, ...], Labels, tuple[int, ...]]


def orders(ids: frozenset[int], made: int) -> Iterator[Pairs]:
    """All pairwise orders."""
    if len(ids) == 1:
        yield ()
    for a, b in combinations(sorted(ids), 2):
        yield from (((a, b), *rest) for rest in orders((ids - {a, b}) | {made}, made + 1))


def cost(pairs: Pairs, network: Network) -> tuple[int, int]:
    """Work and the largest intermediate array, by the definition."""
    factors, keep, sizes = network
    labels = [frozenset(f) for f in factors]
    live = set(range(len(factors)))
    work, largest = 0, 0
    for k, (a, b) in enumerate(pairs):
        live -= {a, b}
        both = labels[a] | labels[b]
        left = both & frozenset(keep).union(*(labels[j] for j in live))
        work += math.prod(sizes[c] for c in both) * (1 if left == both else 2)
        if k < len(pairs) - 1:
            largest = max(largest, math.prod(sizes[c] for c in left))
        live.add(len(labels))
        labels.append(left)
    return work, largest


def network(s: Source, most: int) -> Network:
    """Some factors of up to three labels."""
    labels = list(range(5))
    factors = [tuple(c for c in labels if s.integer(0, 2) == 2)[:3] for _ in range(s.integer(2, most))]
    return numbered(factors, tuple(c for c in labels if any(c in f for f in factors) and s.flag()), [1, 2, 3, 4, 5])


@settings(max_examples=60, deadline=None)
@given(sources())
def test_the_best_of_all_orders(s: Source) -> None:
    """The least work; the least largest array; the least work within a limit, or none."""
    given_network = network(s, 5)
    factors, keep, sizes = given_network
    n = len(factors)
    found = [cost(pairs, given_network) for pairs in orders(frozenset(range(n)), n)]
    pairs = best(factors, keep, sizes)
    assert pairs is not None
    assert cost(pairs, given_network)[0] == min(work for work, _ in found)
    pairs = best(factors, keep, sizes, least="largest")
    assert pairs is not None
    assert cost(pairs, given_network)[::-1] == min((largest, work) for work, largest in found)
    limit = s.integer(1, 40)
    within = [work for work, largest in found if largest <= limit]
    pairs = best(factors, keep, sizes, limit)
    assert (None if pairs is None else cost(pairs, given_network)[0]) == min(within, default=None)


@settings(max_examples=60, deadline=None)
@given(sources())
def test_connected_sets(s: Source) -> None:
    """Each split once, its halves made before; without outer products never better than with them."""
    given_network = network(s, 6)
    factors, keep, sizes = given_network
    splits = contraction_order._connected_splits(contraction_order._neighbours(factors))
    assert splits is not None
    assert len({frozenset(split) for split in splits}) == len(splits)
    last = {a | b: k for k, (a, b) in enumerate(splits)}
    for k, (a, b) in enumerate(splits):
        assert a & b == 0
        assert all(last.get(half, -1) < k for half in (a, b))
    pairs = contraction_order._Search(factors, keep, sizes, None, "work").best(splits)
    whole = best(factors, keep, sizes)
    assert pairs is not None
    assert whole is not None
    assert cost(pairs, given_network)[0] >= cost(whole, given_network)[0]


@pytest.mark.parametrize("n", [2, 6, 7, 20, 40])
def test_chains_by_dynamic_programming(n: int) -> None:
    """As the textbook's cubic recursion for chains of matrices (Cormen et al., ch. 14.2)."""
    sizes = tuple(int(k) for k in np.random.default_rng(n).integers(1, 300, n + 1))
    least = {(i, i): 0 for i in range(n)}
    for width in range(1, n):
        for i in range(n - width):
            j = i + width
            least[i, j] = min(
                least[i, k] + least[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)
            )
    pairs = best(tuple((k, k + 1) for k in range(n)), (0, n), sizes)
    assert pairs is not None
    factors = tuple((k, k + 1) for k in range(n))
    assert sum(work for work, _ in steps(pairs, factors, (0, n), sizes)) == least[0, n - 1]


def tied(s: Source, n: int, more: int) -> Network:
    """n factors that a tree of summed labels connects, with `more` summed labels between some of them, and two kept."""
    factors: list[list[int]] = [[] for _ in range(n)]
    ends = [{k, s.integer(0, k - 1)} for k in range(1, n)]
    ends += [{(first := s.integer(0, n - 1)), (first + 1 + s.integer(0, n - 2)) % n} for _ in range(more)]
    ends += [{0, 1, 2}, *({s.integer(0, n - 1)} for _ in range(2))]
    for c, some in enumerate(ends):
        for k in some:
            factors[k].append(c)
    keep = (len(ends) - 2, len(ends) - 1)
    return tuple(map(tuple, factors)), keep, tuple(s.integer(1, 9) for _ in ends)


@settings(max_examples=15, deadline=None)
@given(sources())
def test_connected_networks_are_those_of_opt_einsum(s: Source) -> None:
    """Its order of 7 to 12 factors multiplies no more than the best without outer products; one within a limit is kept.

    It counts multiplications only: where axes have one place another may have an addition or two less.
    """
    given_network = tied(s, s.integer(7, 12), s.integer(0, 2))
    factors, keep, sizes = given_network
    splits = contraction_order._connected_splits(contraction_order._neighbours(factors))
    pairs = best(factors, keep, sizes)
    assert pairs is not None
    assert pairs == contraction_order._dynamic(factors, keep, sizes)
    if splits is not None:
        ours = contraction_order._Search(factors, keep, sizes, None, "work").best(splits)
        assert ours is not None
        counts = [sum(work for work, _ in steps(order, *given_network)) for order in (pairs, ours)]
        assert counts[0] <= counts[1]
    limit = cost(pairs, given_network)[1]
    assert best(factors, keep, sizes, limit) == pairs
    less = best(factors, keep, sizes, limit - 1)
    assert less is None or cost(less, given_network)[1] < limit


def test_networks_that_are_connected_in_many_ways() -> None:
    """Of 14 factors with 30 labels there are too many connected sets for us; opt_einsum's order costs far less."""
    rng = np.random.default_rng(0)
    ends = [(int(rng.integers(k)), k) for k in range(1, 14)] + [
        tuple(rng.choice(14, 2, replace=False)) for _ in range(17)
    ]
    factors = tuple(tuple(c for c, some in enumerate(ends) if k in some) for k in range(14))
    given_network = factors, (), tuple(map(int, rng.integers(2, 9, len(ends))))
    assert contraction_order._connected_splits(contraction_order._neighbours(factors)) is None
    pairs = best(*given_network)
    assert pairs is not None
    others = cost(from_first(14), given_network), cost(from_last(14), given_network)
    assert 3 * cost(pairs, given_network)[0] < min(work for work, _ in others)


@pytest.mark.parametrize("n", [6, 7, 16])
def test_which_networks_are_not_for_opt_einsum(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to six factors, chains, those with a part by itself, or with a label in one factor that is summed."""
    monkeypatch.setattr(contraction_order, "DynamicProgramming", None)
    sizes = (3,) * (n + 1)
    some = tuple((k, k + 1) for k in range(n))
    for factors in (some, (*some[:-1], (n,)), tuple((0,) if k % 2 else (1,) for k in range(n))):
        assert best.__wrapped__(factors, (0, n), sizes) is not None
    if n == 6:
        assert best.__wrapped__(tuple((k, (k + 1) % n) for k in range(n)), (), sizes) is not None


def test_too_many_connected_sets() -> None:
    """A hub connects 2^39 sets: the search gives up after so many, and takes the best of three orders."""
    star = tuple((0, k) for k in range(1, 40))
    assert contraction_order._connected_splits(contraction_order._neighbours(star)) is None
    pairs = best(star, (0,), (30,) * 40)
    assert pairs is not None
    assert len(pairs) == 38


def test_long_chains() -> None:
    """Above 40 factors the order from the vector's side is among those tried."""
    n = 60
    factors = (*((k, k + 1) for k in range(n)), (n,))
    pairs = best(factors, (0,), (20,) * (n + 1))
    assert pairs == from_last(n + 1)
    flipped = tuple(reversed(factors))
    assert best(flipped, (0,), (20,) * (n + 1)) == from_first(n + 1)
    assert best(factors, (0,), (20,) * (n + 1), 3) is None

"""The one search for an order of contraction: which two factors of a network are contracted first, which two then.

A network is a list of labels for each factor, and the labels that its result keeps. A step costs the product of the
sizes of the labels that it runs over, twice that where it also adds. Up to 6 factors all orders are tried. The order of
7 to 16 that summed labels connect, and that are no chain, is that of opt_einsum's dynamic programming. Of others up to
40 all orders without outer products are tried, by dynamic programming over connected sets of factors (Moerkotte and
Neumann, Analysis of two existing and one new dynamic programming algorithm, VLDB 2006). Above, and where too many sets
are connected for all to be looked at, the best of some is taken: opt_einsum's greedy search, from the first factor on,
from the last, and its dynamic programming where that is defined.

>>> best(((0, 1), (1, 2), (2,)), (0,), (50, 60, 70))
((1, 2), (0, 3))
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from opt_einsum import DynamicProgramming, get_symbol
from opt_einsum.paths import linear_to_ssa, ssa_greedy_optimize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Labels: TypeAlias = tuple[int, ...]
Pairs: TypeAlias = tuple[tuple[int, int], ...]
"""The two factors that each step contracts: the result of step k of a network of n factors has the number n + k."""
Least: TypeAlias = Literal["work", "largest"]
ALL, CONNECTED = 6, 40
"""The most factors that are searched through with outer products, and without them."""
DYNAMIC = 16
"""Connected networks of more factors than are searched through, and at most so many, are opt_einsum's."""
LOOKS = 12_000
"""The most pairs of connected sets that are looked at: a chain of 40 factors has 10,660."""
KEPT = 4096
"""The most networks that are remembered with their orders: numbers only, no index sets."""


@lru_cache(maxsize=KEPT)
def best(
    factors: tuple[Labels, ...], keep: Labels, sizes: tuple[int, ...], limit: int | None = None, least: Least = "work"
) -> Pairs | None:
    """The order of the least work, or of the least largest array and then work; None if none is found in the limit.

    The limit is on the entries of each intermediate array.
    """
    n = len(factors)
    if n < 2:
        return ()
    others: list[Pairs] = []
    if ALL < n <= DYNAMIC and least == "work" and _is_tied(factors, keep):
        others.append(_dynamic(factors, keep, sizes))
        if all(sum(c in f for f in factors) == 1 for c in keep) and _is_within(limit, others[0], factors, keep, sizes):
            return others[0]
    if n <= CONNECTED:
        splits = _all_splits(n) if n <= ALL else _connected_splits(_neighbours(factors))
        if splits is not None:
            return _Search(factors, keep, sizes, limit, least).best(splits)
    letters = [get_symbol(c) for c in range(len(sizes))]
    lists = [frozenset(letters[c] for c in have) for have in (*factors, keep)]
    path = ssa_greedy_optimize(lists[:-1], lists[-1], dict(zip(letters, sizes, strict=True)))
    found: list[tuple[int, int, Pairs]] = []
    for pairs in (tuple((min(pair), max(pair)) for pair in path), from_first(n), from_last(n), *others):
        made = steps(pairs, factors, keep, sizes)
        largest = max(entries for _, entries in made[:-1])
        if limit is None or largest <= limit:
            found.append((largest if least == "largest" else 0, sum(work for work, _ in made), pairs))
    return min(found)[2] if found else None


def _is_tied(factors: tuple[Labels, ...], keep: Labels) -> bool:
    """True if summed labels, each in two factors or more, connect all factors, and not as a chain."""
    summed = [tuple(c for c in f if c not in keep) for f in factors]
    near = _neighbours(tuple(summed))
    is_chain = sum(map(int.bit_count, near)) == 2 * len(near) - 2 and max(map(int.bit_count, near)) == 2
    return min(Counter(chain(*summed)).values(), default=0) > 1 and len(_components(near)) == 1 and not is_chain


def _is_within(
    limit: int | None, pairs: Pairs, factors: tuple[Labels, ...], keep: Labels, sizes: tuple[int, ...]
) -> bool:
    """Tell if an order keeps to a limit."""
    return limit is None or max(entries for _, entries in steps(pairs, factors, keep, sizes)[:-1]) <= limit


def _dynamic(factors: tuple[Labels, ...], keep: Labels, sizes: tuple[int, ...]) -> Pairs:
    """Find an order by opt_einsum's dynamic programming, which mostly takes less time than `_Search` (measured).

    Products over kept labels alone come late there: `best` asks `_Search` where a kept label is in several factors.
    Labels are integers, because strings hash otherwise in each process, and the order would not be the same each time.
    """
    search: Any = DynamicProgramming(minimize="flops")
    path = search([frozenset(f) for f in factors], frozenset(keep), dict(enumerate(sizes)))
    return tuple((min(pair), max(pair)) for pair in linear_to_ssa(path))  # step k makes number n + k


def from_first(n: int) -> Pairs:
    """The first two factors, then each next one with the product so far."""
    return tuple((k + 1 if k else 0, n + k - 1 if k else 1) for k in range(n - 1))


def from_last(n: int) -> Pairs:
    """The last two factors, then each one before them."""
    return tuple((n - 2 - k, n + k - 1 if k else n - 1) for k in range(n - 1))


def numbered(
    factors: Sequence[Labels], keep: Labels, sizes: Sequence[int]
) -> tuple[tuple[Labels, ...], Labels, tuple[int, ...]]:
    """The network with labels 0, 1, … in the order in which they occur: like networks are searched through once."""
    number = {c: k for k, c in enumerate(dict.fromkeys(c for f in (*factors, keep) for c in f))}
    renamed = tuple(tuple(number[c] for c in f) for f in factors)
    return renamed, tuple(number[c] for c in keep), tuple(sizes[c] for c in number)


def places(pairs: Pairs, n: int) -> Pairs:
    """The same pairs, by places in a list: both are taken out, and the result goes to the end."""
    todo = list(range(n))
    found = []
    for k, (a, b) in enumerate(pairs, n):
        first, second = sorted((todo.index(a), todo.index(b)))
        found.append((first, second))
        del todo[second], todo[first]
        todo.append(k)
    return tuple(found)


def steps(pairs: Pairs, factors: tuple[Labels, ...], keep: Labels, sizes: tuple[int, ...]) -> list[tuple[int, int]]:
    """The multiplications of each step of an order, and the entries of its result."""
    labels = [frozenset(f) for f in factors]
    holders = [0] * len(sizes)  # how many arrays have a label, the result among them
    for have in (*labels, frozenset(keep)):
        for c in have:
            holders[c] += 1
    found = []
    for a, b in pairs:
        both = labels[a] | labels[b]
        for c in labels[a] & labels[b]:
            holders[c] -= 1
        labels.append(frozenset(c for c in both if holders[c] > 1))
        found.append((math.prod(sizes[c] for c in both), math.prod(sizes[c] for c in labels[-1])))
    return found


Split: TypeAlias = tuple[int, int]
"""Two disjoint sets of factors, as bits."""


def _all_splits(n: int) -> Iterator[Split]:
    """Every set of factors in two, subsets before sets; that into all but the last factor and the last comes first."""
    for whole in range(3, 1 << n):
        rest = whole ^ 1 << (whole.bit_length() - 1)
        part = rest
        while part:
            yield part, whole ^ part
            part = (part - 1) & rest


def _neighbours(factors: tuple[Labels, ...]) -> list[int]:
    """The other factors that share a label with each factor, as bits."""
    holders: dict[int, int] = {}
    for k, f in enumerate(factors):
        for c in f:
            holders[c] = holders.get(c, 0) | 1 << k
    found = []
    for k, f in enumerate(factors):
        near = 0
        for c in f:
            near |= holders[c]
        found.append(near & ~(1 << k))
    return found


def _connected_splits(near: list[int]) -> list[Split] | None:
    """Every connected set in two connected ones, smaller sets first, then components; None if there are too many."""
    found: list[Split] = []
    for first in _connected_sets(near):
        low = first & -first
        outside = first | (low - 1)
        around = _around(near, first) & ~outside
        for k in reversed(_members(around)):
            start = 1 << k
            hidden = outside | (around & (start - 1))
            for second in chain((start,), _grown(near, start, hidden | start)):
                if len(found) == LOOKS:
                    return None
                found.append((first, second))
    whole, parts = 0, _components(near)
    for part in parts:
        if whole:
            found.append((whole, part))
        whole |= part
    return found


def _connected_sets(near: list[int]) -> Iterator[int]:
    """Every connected set of factors once: those of later factors first, subsets before sets."""
    for k in reversed(range(len(near))):
        start = 1 << k
        yield start
        yield from _grown(near, start, (start << 1) - 1)


def _grown(near: list[int], inside: int, hidden: int) -> Iterator[int]:
    """The connected sets that a set grows to without hidden factors."""
    around = _around(near, inside) & ~hidden
    more = around & -around
    while more:
        yield inside | more
        more = (more - around) & around
    more = around & -around
    while more:
        yield from _grown(near, inside | more, hidden | around)
        more = (more - around) & around


def _around(near: list[int], inside: int) -> int:
    """The neighbours of a set."""
    found = 0
    for k in _members(inside):
        found |= near[k]
    return found & ~inside


def _members(bits: int) -> list[int]:
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def _components(near: list[int]) -> list[int]:
    """The connected components."""
    left, found = (1 << len(near)) - 1, []
    while left:
        part = left & -left
        while more := _around(near, part):
            part |= more
        found.append(part)
        left &= ~part
    return found


@final
class _Search:
    """Dynamic programming: for each set of factors the best order, its two halves, its labels."""

    def __init__(
        self, factors: tuple[Labels, ...], keep: Labels, sizes: tuple[int, ...], limit: int | None, least: Least
    ) -> None:
        self.n, self.sizes, self.limit, self.least = len(factors), sizes, limit, least
        self.keep = _bits(keep)
        self.holders = [_bits(k for k, f in enumerate(factors) if c in f) for c in range(len(sizes))]
        self.labels = {1 << k: _bits(f) for k, f in enumerate(factors)}
        self.cost: dict[int, tuple[int, int]] = dict.fromkeys(self.labels, (0, 0))
        self.halves: dict[int, Split] = {}
        self.entries: dict[int, int] = {}

    def best(self, splits: Iterable[Split]) -> Pairs | None:
        """The order of the whole network; None if no set of these splits leads to it."""
        whole, cost = (1 << self.n) - 1, self.cost
        for a, b in splits:
            if a not in cost or b not in cost:
                continue  # a half that is over the limit
            both = a | b
            union = self.labels[a] | self.labels[b]
            left = self.labels.get(both)
            if left is None:
                left = self.labels[both] = self._left(union, both)
            made = self._product(left)
            if both == whole:
                made = 0  # the result is not in question
            elif self.limit is not None and made > self.limit:
                continue
            work = self._product(union) * (1 if left == union else 2) + cost[a][1] + cost[b][1]
            largest = max(made, cost[a][0], cost[b][0]) if self.least == "largest" else 0
            if both not in cost or (largest, work) < cost[both]:
                cost[both] = largest, work
                self.halves[both] = a, b
        return self._pairs(whole) if whole in cost else None

    def _left(self, union: int, inside: int) -> int:
        """The labels that the product of a set of factors keeps."""
        left = union & self.keep
        for c in _members(union & ~left):
            if self.holders[c] & ~inside:
                left |= 1 << c
        return left

    def _product(self, labels: int) -> int:
        """The entries of an array with these labels."""
        found = self.entries.get(labels)
        if found is None:
            found = self.entries[labels] = math.prod(self.sizes[c] for c in _members(labels))
        return found

    def _pairs(self, whole: int) -> Pairs:
        """The halves in an order in which each is made before it is read."""
        todo, order = [whole], []
        while todo:
            both = todo.pop()
            if both in self.halves:
                order.append(both)
                todo.extend(self.halves[both])
        number = {1 << k: k for k in range(self.n)}
        pairs: list[tuple[int, int]] = []
        for both in reversed(order):
            a, b = (number[half] for half in self.halves[both])
            number[both] = self.n + len(pairs)
            pairs.append((min(a, b), max(a, b)))
        return tuple(pairs)


def _bits(members: Iterable[int]) -> int:
    found = 0
    for k in members:
        found |= 1 << k
    return found

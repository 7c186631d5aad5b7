"""The order of accumulation: how a network of factors is contracted (theory §9).

Forward mode contracts from the input's side, adjoint mode from the output's; the one search of the library looks
among all pairwise orders, under a limit on the size of intermediate arrays.

>>> print(order([(0, 1), (1, 2), (2, 3)], (0, 3), [9, 8, 2, 7]))
forward: 0·1, 0·1; 540 flops (forward 540, adjoint 1232), largest intermediate 18
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias, final

from attrs import frozen

from hilbert import SpaceError
from hilbert.arrays.libraries.contraction_order import best, numbered, places
from hilbert.displayed import Displayed

if TYPE_CHECKING:
    from collections.abc import Sequence

Labels: TypeAlias = tuple[int, ...]
Pairs: TypeAlias = tuple[tuple[int, int], ...]


@final
@frozen
class Accumulation(Displayed):
    """Pairs of factors to contract (the result goes to the end of the list), and what that costs.

    Factors are numbered from the input's side. `forward` and `adjoint` are the operations of those two special cases.
    """

    pairs: Pairs
    flops: float
    largest: int
    forward: float
    adjoint: float
    factors: tuple[Labels, ...]

    @property
    def mode(self) -> str:
        """`forward` or `adjoint` if the order is one of them, `only` if there is one order, otherwise `mixed`."""
        n = len(self.factors)
        if n <= 2:
            return "only"
        cases = {"forward": from_input(n), "adjoint": from_output(n)}
        return next((name for name, pairs in cases.items() if pairs == self.pairs), "mixed")

    def __str__(self) -> str:
        if not self.pairs:
            return "nothing to contract"
        steps = ", ".join(f"{a}·{b}" for a, b in self.pairs)
        compared = f"(forward {self.forward:.4g}, adjoint {self.adjoint:.4g})"
        return f"{self.mode}: {steps}; {self.flops:.4g} flops {compared}, largest intermediate {self.largest}"


def from_input(n: int) -> Pairs:
    """The order from the input's side: factors 0 and 1, then each next one with the last result, at the end."""
    return tuple((0, 1 if k == 0 else n - 1 - k) for k in range(n - 1))


def from_output(n: int) -> Pairs:
    """The order from the output's side: the last two factors, then each one before with the last result."""
    return tuple((n - 2 - k, n - 1 - k) for k in range(n - 1))


def order(factors: Sequence[Labels], keep: Labels, sizes: Sequence[int], limit: int | None = None) -> Accumulation:
    """The order with the fewest operations to contract factors with these labels into one with the labels `keep`.

    With a limit on the entries of intermediate arrays (the result is none), the best within it; SpaceError if none is.
    """
    n = len(factors)
    if n == 1:
        return Accumulation((), 0.0, 0, 0.0, 0.0, tuple(factors))
    if n == 2:
        flops, largest = work(((0, 1),), factors, keep, sizes)
        return Accumulation(((0, 1),), flops, largest, flops, flops, tuple(factors))
    network = numbered(factors, keep, sizes)
    allowed = None if limit is None else max(limit, math.prod(sizes[c] for c in keep))
    pairs = places(best(*network, limit=allowed) or best(*network, least="largest") or (), n)
    flops, largest = work(pairs, factors, keep, sizes)
    if allowed is not None and largest > allowed:
        raise SpaceError(beyond(limit, largest))
    modes = [work(case(n), factors, keep, sizes)[0] for case in (from_input, from_output)]
    return Accumulation(pairs, flops, largest, modes[0], modes[1], tuple(factors))


def beyond(limit: int | None, largest: int) -> str:
    """The text of the error for a limit that no order keeps."""
    return f"no order keeps every intermediate array within {limit} entries: the smallest found needs {largest}"


def work(pairs: Pairs, factors: Sequence[Labels], keep: Labels, sizes: Sequence[int]) -> tuple[float, int]:
    """Operations of an order, and the entries of its largest intermediate array."""
    todo = [frozenset(labels) for labels in factors]
    flops, largest = 0.0, 0
    for a, b in pairs:
        both = todo[a] | todo[b]
        todo = [labels for k, labels in enumerate(todo) if k not in {a, b}]
        left = both & frozenset(keep).union(*todo)
        flops += math.prod(sizes[c] for c in both) * (1 if left == both else 2)
        todo.append(left)
        if len(todo) > 1:
            largest = max(largest, math.prod(sizes[c] for c in left))
    return flops, largest

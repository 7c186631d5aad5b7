"""The order of accumulation: how a network of factors is contracted (theory §9).

Forward mode contracts from the input's side, adjoint mode from the output's; the path search of opt_einsum looks among
all pairwise orders, under a limit on the size of intermediate arrays.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, final

import opt_einsum
from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence


@final
@frozen
class Order:
    """Pairs of factors to contract (the result goes to the end of the list), and what that costs."""

    pairs: tuple[tuple[int, int], ...]
    flops: float
    largest: int
    labels: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        steps = ", ".join(f"{a}·{b}" for a, b in self.pairs) or "nothing to contract"
        return f"{steps}: {self.flops:.3g} flops, largest intermediate {self.largest}"


def order(
    factors: Sequence[tuple[int, ...]],
    keep: tuple[int, ...],
    sizes: Sequence[int],
    limit: int | None = None,
) -> Order:
    """The best order to contract factors with these labels into one with the labels `keep`."""
    if len(factors) == 1:
        return Order((), 0.0, 0, tuple(factors))
    names = {c: opt_einsum.get_symbol(i) for i, c in enumerate(dict.fromkeys(c for f in factors for c in f))}
    lists = ["".join(names[c] for c in labels) for labels in (*factors, keep)]
    shapes = [tuple(sizes[c] for c in labels) for labels in factors]
    path, flops, largest = _path(f"{','.join(lists[:-1])}->{lists[-1]}", tuple(shapes), limit)
    pairs: list[tuple[int, int]] = []
    count = len(factors)
    for step in path:
        if len(step) == 1:
            continue
        todo = sorted(step)
        pairs.append((todo[0], todo[1]))
        count -= 1
        for extra in todo[2:]:  # more than two at once: one after the other
            pairs.append((extra - 2, count - 1))
            count -= 1
    return Order(tuple(pairs), flops, largest, tuple(factors))


@cache
def _path(
    equation: str, shapes: tuple[tuple[int, ...], ...], limit: int | None
) -> tuple[tuple[tuple[int, ...], ...], float, int]:
    """opt_einsum's path (exhaustive for a few factors, greedy for many), its operations and largest intermediate."""
    path, info = opt_einsum.contract_path(equation, *shapes, shapes=True, optimize="auto", memory_limit=limit)
    return tuple(map(tuple, path)), float(info.opt_cost), int(info.largest_intermediate)

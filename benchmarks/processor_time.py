"""Processor time side by side, with one thread: calls take turns, and the least time of each counts."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from benchmarks.timing import Line, agree

TOLERANCE = 1e-10
"""The largest difference of two results, relative to the largest entry."""
CALLS = 20
"""The most calls of a candidate in one turn."""
TURN = 0.05
"""Seconds after which a turn ends."""
Calls: TypeAlias = "dict[str, Callable[[], Sequence[Any]]]"


def minima(calls: Calls, rounds: int) -> dict[str, float]:
    """The least seconds of each call: in each round every candidate has a turn of one or more calls."""
    least = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for who, call in calls.items():
            gc.collect()
            until = time.process_time() + TURN
            for _ in range(CALLS):
                start = time.process_time()
                call()
                end = time.process_time()
                least[who] = min(least[who], end - start)
                if end > until:
                    break
    return least


def table(
    what: str, calls: Calls, rounds: int, limits: Sequence[tuple[str, str, float]], base: str, loose: float = TOLERANCE
) -> Iterator[Line]:
    """A line for each call, with its ratio to one of them; a limit is that of the ratio to another call."""
    agree(what, {who: call() for who, call in calls.items()}, loose)
    found = minima(calls, rounds)
    for who, seconds in found.items():
        yield Line(what, who, seconds, seconds / found[base])
    for who, other, limit in limits:
        if other in found:
            yield Line(f"{what}: to {other}", who, found[who], found[who] / found[other], limit)


POINTS = 16
"""More points than the library keeps factors of."""


def leaves(f: Any, *at: Any) -> Callable[[], Sequence[Any]]:
    """A call that gives the arrays of the value, at points in turn that differ in the last digits: factors are kept."""
    points, turn = [at], itertools.count()

    def call() -> Sequence[Any]:
        k = next(turn)
        if 0 < k < POINTS:
            points.append(tuple([(1.0 + 1e-15 * k) * x for x in at]))
        found: Sequence[Any] = f(*points[k % POINTS]).leaves
        return found

    return call

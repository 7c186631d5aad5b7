"""Fifty random systems by their structure: the method that is found beside the matrix in full and all other methods.

python -m benchmarks.random_systems [SEED] [SIZE …]
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from typing import Any, get_args

import numpy as np

import hilbert.all as hb
from benchmarks.processor_time import minima
from hilbert.arrays.systems.methods import Method
from tests.structured_maps import pieces, summed

COUNT, LEAST = 50, 1e-3
"""The number of systems of a size, and the seconds of the matrix in full from which on a system counts."""
FIXED = frozenset({"sums", "blocks"})
CHANGING: list[Any] = [lambda p, x: 0.1 * p * x]
"""Pieces that are the same at all points, so that factors would be kept, and what changes their sum."""
FAR = 5
"""A method is left out after a first look where it takes so many times as long as another one."""
FULL, BEST = 1.2, 2.0
"""The most that the method found may take of the matrix in full, and of the best method that is sure to end."""


def systems(n: int, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    """Random sums of pieces, and squares of sums."""
    for _ in range(COUNT):
        every = pieces(n, rng)
        names: list[str] = [str(name) for name in rng.choice(list(every), rng.integers(1, 4), replace=False)]
        is_squared = bool(rng.random() < 0.3)
        yield (
            f"{' + '.join(names)}{' squared' * is_squared}",
            summed(
                n, [*(every[k] for k in names), *(CHANGING if FIXED.issuperset(names) else ())], is_squared=is_squared
            ),
        )


def methods(f: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Solutions at a new point with each call, by the method that is found and by all that are sure to end.

    One that takes a lot longer than another at a first look is left out.
    """
    V, d, least = f.cod, hb.derivative(f, wrt=1), np.inf
    some, b, zero = [V.random(rng) for _ in range(7)], V.random(rng), V.zeros()
    calls: dict[str, Any] = {}
    for how in (None, *(how for how in get_args(Method) if how != "GMRES")):
        solve: Any = hb.solve(d, how=how)
        points = itertools.cycle(some)  # of each method alone: at the point of its last call, factors are kept

        def call(solve: Any = solve, points: Any = points) -> Any:
            return solve(next(points), zero, b)

        try:
            _, seconds = _seconds(call), _seconds(call)
        except hb.SpaceError:  # the structure does not allow the method
            continue
        least = min(least, seconds)
        if how in {None, "full"} or seconds <= FAR * least:
            calls[how or "found"] = call
    return calls


def _seconds(call: Any) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def ratios(calls: dict[str, Any]) -> tuple[float, float, str]:
    """The time of the method that is found, by that of the matrix in full and by that of the best; its name.

    A ratio that is too large is measured twice more: noise only adds to times.
    """
    found = dict.fromkeys(calls, np.inf)
    for _ in range(3):
        found = {who: min(found[who], seconds) for who, seconds in minima(calls, 3).items()}
        best = min(found, key=lambda who: found[who])
        of_full, of_best = found["found"] / found["full"], found["found"] / found[best]
        if found["full"] < LEAST or (of_full <= FULL and of_best <= BEST):
            break
    return of_full, of_best, best if found["full"] >= LEAST else ""


def main(seed: int = 0, *sizes: int) -> None:
    """Print the systems whose method is too slow, and how many count."""
    for n in sizes or (300, 1000):
        rng, count, slow, worst = np.random.default_rng(seed), 0, 0, [0.0, 0.0]
        for name, f in systems(n, rng):
            of_full, of_best, best = ratios(methods(f, rng))
            if not best:
                continue
            count, worst = count + 1, [max(worst[0], of_full), max(worst[1], of_best)]
            if of_full > FULL or of_best > BEST:
                slow += 1
                way = str(hb.cost(hb.solve(hb.derivative(f, wrt=1)))).splitlines()[-1].rpartition(": ")[2]
                print(f"{n}, {name}: {way}, {of_full:.2f} of full, {of_best:.2f} of {best}", flush=True)
        most = f"at most {worst[0]:.2f} of full, {worst[1]:.2f} of the best"
        print(f"n = {n}: {count} systems count, {slow} too slow; {most}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""Fifty random systems by their structure: the method that is found beside the matrix in full and all other methods.

python -m benchmarks.random_systems [SEED] [SIZE …]
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Any, get_args

import numpy as np

import hilbert.all as hb
from benchmarks.processor_time import minima
from hilbert.arrays.systems.methods import Method
from tests.structured_maps import pieces, summed

COUNT, LEAST = 50, 1e-3
"""The number of systems of a size, and the seconds of the matrix in full from which on a system counts."""
FULL, BEST = 1.2, 2.0
"""The most that the method found may take of the matrix in full, and of the best method that is sure to end."""


def systems(n: int, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    """Random sums of pieces, and squares of sums."""
    for _ in range(COUNT):
        every = pieces(n, rng)
        names = [str(name) for name in rng.choice(list(every), rng.integers(1, 4), replace=False)]
        is_squared = bool(rng.random() < 0.3)
        yield (
            f"{' + '.join(names)}{' squared' * is_squared}",
            summed(n, [every[k] for k in names], is_squared=is_squared),
        )


def times(f: Any, rng: np.random.Generator, rounds: int = 3) -> dict[str, float]:
    """The seconds of a solution at a point, by the method that is found and by all that the structure allows."""
    V, d = f.cod, hb.derivative(f, wrt=1)
    points, b, zero = itertools.cycle([V.random(rng) for _ in range(7)]), V.random(rng), V.zeros()
    calls: dict[str, Any] = {}
    for how in (None, *get_args(Method)):
        solve: Any = hb.solve(d, how=how)
        try:
            solve(next(points), zero, b)
        except hb.SpaceError:  # the structure does not allow the method, or it does not converge
            continue
        calls[how or "found"] = lambda solve=solve: solve(next(points), zero, b)  # at a new point: factors are kept
    return minima(calls, rounds)


def main(seed: int = 0, *sizes: int) -> None:
    """Print the systems whose method is too slow, and how many count."""
    for n in sizes or (300, 1000):
        rng, count, slow, worst = np.random.default_rng(seed), 0, 0, [0.0, 0.0]
        for name, f in systems(n, rng):
            found = times(f, rng)
            of_full = found["found"] / found["full"]
            best = min((seconds, who) for who, seconds in found.items() if who != "GMRES")
            of_best = found["found"] / best[0]
            if found["full"] < LEAST:
                continue
            count, worst = count + 1, [max(worst[0], of_full), max(worst[1], of_best)]
            if of_full > FULL or of_best > BEST:
                slow += 1
                way = str(hb.cost(hb.solve(hb.derivative(f, wrt=1)))).splitlines()[-1].rpartition(": ")[2]
                print(f"{n}, {name}: {way}, {of_full:.2f} of full, {of_best:.2f} of {best[1]}", flush=True)
        most = f"at most {worst[0]:.2f} of full, {worst[1]:.2f} of the best"
        print(f"n = {n}: {count} systems count, {slow} too slow; {most}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

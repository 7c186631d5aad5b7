"""The modules of rows, in the order of the tables."""

from __future__ import annotations

MODULES = tuple(
    f"benchmarks.peers.{name}"
    for name in (
        "arrays.mlp",
        "loops.pendulum",
    )
)

"""The modules of rows, in the order of the tables."""

from __future__ import annotations

MODULES = tuple(
    f"benchmarks.peers.{name}"
    for name in (
        "arrays.mlp",
        "arrays.mixture",
        "arrays.bundle",
        "loops.lstm",
        "arrays.taylor",
        "arrays.segments",
        "arrays.rank_one",
        "arrays.hessian_product",
        "loops.pendulum",
        "loops.lotka_volterra",
        "loops.hidden_markov",
        "loops.garch",
        "loops.kalman",
        "loops.neural_ode",
        "loops.recurrent",
        "loops.heat",
        "loops.equations",
        "models.examples",
        "models.hierarchical",
        "models.specialists",
        "models.calls",
    )
)

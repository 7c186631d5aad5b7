"""The memory that `cost` predicts, beside what a run takes."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hilbert.all as hb

if TYPE_CHECKING:
    from collections.abc import Callable

N, M = hb.Fin.of(400), hb.Fin.of(300)
V, W, A = hb.R**N, hb.R**M, hb.R ** (M * N)
LOOPS: Any = hb


def pairs(x: Any, y: Any) -> Any:
    """Σ exp(−(xᵢ − yⱼ)²)."""
    apart = x.rep(hb.R ** (N * M), over=1) - y.rep(hb.R ** (N * M), over=0)
    return hb.exp(-(apart * apart)).sum()


FUNCTIONS: dict[str, Callable[[], Any]] = {
    "a layer": lambda: hb.fun(A, V)(lambda a, x: hb.tanh(a @ x).sum()),
    "its gradient": lambda: hb.grad(hb.fun(A, V)(lambda a, x: hb.tanh(a @ x).sum())),
    "pairs": lambda: hb.fun(V, W)(pairs),
    "the gradient of pairs": lambda: hb.grad(hb.fun(V, W)(pairs)),
    "a chain": lambda: hb.fun(A)(lambda a: hb.sin(hb.cos(hb.sin(hb.cos(a) * a) + a) * a)),
    "a loop": lambda: hb.grad(
        hb.fun(A, V)(lambda a, x: LOOPS.iterate(lambda s: hb.tanh(a.T @ (a @ s) + x), x, hb.Fin.of(500)).sum())
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_memory_of_a_run(name: str) -> None:
    """The prediction is that of the allocator's peak, within a factor of 1.6 and a few kilobytes."""
    f = FUNCTIONS[name]()
    x = hb.initial(f.dom, np.random.default_rng(0))
    for _ in range(4):
        f(x)
    tracemalloc.start()
    try:
        f(x)
        found = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    due = hb.cost(f).run.memory
    assert due / 1.6 - 20_000 <= found <= due * 1.6 + 20_000

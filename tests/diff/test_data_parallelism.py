"""f^X and lift, nested too, for |X| = 10 and |X| = 10⁶: terms of one size, and no Python loop over elements."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings

from adjoint import adjoint
from diff import derivative, fun, inner, lift, log, onehot, program, select, sin, sqrt, tanh
from hilbert import DirectSum, Elements, Fin, R, Vec
from hilbert.program.calls.cache_strips import STRIP
from hilbert.relation import band, function, leq, rotation, window
from hilbert.relation import partial as masked
from linmap import measure, red
from tests.function_terms import function as function_term
from tests.strategies import Source, sources

FEW, MANY = 10, 10**6
SLACK = 200
"""Python calls by which the choice of a kernel may differ between sizes; a loop over elements would make 10⁶.

What runs strip by strip calls its kernels once for each strip.
"""

i, j, k = Fin.of(2), Fin.of(3), Fin.of(2)
V, W, M, N = R**i, R**j, R ** (i * j), R ** (j * k)
matrix = (R ** (j * i)).vec([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]])
relation = function([0, 1, 1], j, i)

FUNCTIONS: dict[str, Any] = {
    "element-wise": fun(V)(lambda x: sin(x) * tanh(x) / (x * x + 2.0)),
    "matrix and vector": fun(M, W)(lambda m, x: tanh(m @ x)),
    "matrices": fun(M, N)(lambda m, n: (m @ n) * (m @ n)),
    "inner products": fun(W, W)(lambda x, y: inner(x, y) * x + y),
    "norm": fun(W)(lambda x: sqrt(x @ x + 1.0)),
    "sum": fun(V, V)(lambda x, y: (log(x * x + 1.0).sum(), x + y)),
    "shared constant": fun(V)(lambda x: sin(matrix @ x)),
    "gather": fun(V)(lambda x: sin(red(relation.T, R)(x))),
    "segment sum": fun(W)(lambda x: red(relation, R)(x * x)),
    "cumulative sum": fun(W)(lambda x: tanh(red(leq(j), R)(x))),
    "mask": fun(W)(lambda x: sin(red(masked([True, False, True], j), R)(x))),
    "band": fun(W)(lambda x: sin(red(band(j, 1, 0), R)(x))),
    "rotation": fun(W)(lambda x: x * red(rotation(j, 1), R)(x)),
    "windows": fun(W)(lambda x: red(window(j, 2), R)(x * x)),
    "selection": fun(V)(lambda x: select(x > 0.5, sin(x))),
    "indices": fun(Elements(j), W)(lambda at, x: sin(x)[at] * x + onehot(at)),
}


@settings(max_examples=60)
@given(sources(smooth=True))
def test_sizes_of_terms(s: Source) -> None:
    """(f^X)^Y, its derivative and the adjoint have one size for |X| = 10 and |X| = 10⁶: nothing has 10⁶ entries."""
    f = function_term(s)
    note(f)
    sizes = []
    for n in (FEW, MANY):
        g = (f ** Fin.of(n)) ** Fin.of(3)
        d = derivative(g)
        back = adjoint(d)
        sizes.append(
            (
                len(program(g).steps),
                len(d.program.steps),
                len(d.body.arcs),
                len(back.program.steps),
                len(back.body.arcs),
                measure(d),
                measure(back),
            )
        )
    assert sizes[0] == sizes[1]


def calls(run: Callable[[], Any]) -> int:
    """How many functions Python calls, those written in C included."""
    count = 0

    def event(_frame: Any, kind: str, _argument: Any) -> None:
        nonlocal count
        count += kind in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(event)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def arguments(f: Any) -> tuple[Any, ...]:
    """The types of a function's arguments."""
    return f.dom.parts if isinstance(f.dom, DirectSum) else (f.dom,)


def points(f: Any, seed: int) -> list[Vec[Any]]:
    """Arguments for a function, with entries of single digits and elements of index sets."""
    rng = np.random.default_rng(seed)
    return [
        part.random(rng) if part.is_space else part.vec(rng.integers(0, j.size, part.leaves[0].shape))
        for part in arguments(f)
    ]


def lifted(name: str, n: int, *, nested: bool) -> Any:
    """The function on n elements, or on n/2 pairs of elements."""
    f, X = FUNCTIONS[name], Fin.of(n)
    if len(arguments(f)) < 2:
        return (f ** Fin.of(2)) ** Fin.of(n // 2) if nested else f**X
    over = (0,) if name == "indices" else range(len(arguments(f)))
    if nested:
        return lift(lift(f, Fin.of(2), over=over), Fin.of(n // 2), over=over)
    return lift(f, X, over=over)


@pytest.mark.parametrize("nested", [False, True], ids=["X", "X×Y"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_calls_of_python(name: str, *, nested: bool) -> None:
    """The value, the derivative at a point and its adjoint take as many calls for 10 elements as for 10⁶."""
    counts = []
    for n in (FEW, MANY):
        g = lifted(name, n, nested=nested)
        x = points(g, 0)
        linear = derivative(g).at(*x)
        back = adjoint(linear)
        dx, dy = linear.dom.random(np.random.default_rng(1)), back.dom.random(np.random.default_rng(2))
        runs: dict[str, Callable[[], Any]] = {
            "value": partial(g, *x),
            "derivative": partial(linear, dx),
            "adjoint": partial(back, dy),
        }
        for run in runs.values():
            run()  # bind the kernels
        counts.append({what: calls(run) for what, run in runs.items()})
    few, many = counts
    for what, count in many.items():
        most = few[what] + SLACK + 2 * few[what] * (MANY // STRIP)
        assert count <= most, f"{what}: {few[what]} calls for 10 elements, {count} for 10⁶"


def test_a_loop_is_noticed() -> None:
    """A Python loop over elements has a call for each."""
    assert calls(lambda: [abs(x) for x in range(5000)]) >= 5000

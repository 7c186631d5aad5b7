"""Long axes inside a program: conditions over two axes, and constants that are computed in two passes."""

from __future__ import annotations

from typing import Any

import numpy as np

import hilbert.all as hb


def test_conditions_over_two_axes_with_a_long_one() -> None:
    """`each` in `each` with a `where` in it, over many rows, is that of each row."""
    n, a, b = 5000, 3, 3
    W = hb.R ** hb.Fin.of(b)

    def one(v: Any) -> Any:
        return hb.where(v.sum() > 0.0, lambda: hb.sin(v) * v.sum(), lambda: v * (v @ v) + (v @ v) * hb.cos(v))

    f: Any = hb.fun((W ** hb.Fin.of(a)) ** hb.Fin.of(n))(lambda x: hb.each(lambda row: hb.each(one, row), x))
    x = np.random.default_rng(0).normal(size=(n, a, b))
    g: Any = hb.fun(W)(one)
    due = [[g(W.vec(v)).array for v in row] for row in x[:20]]
    assert np.allclose(f(f.dom.vec(x)).array[:20], due)


def test_constants_of_two_passes_differ() -> None:
    """A constant folded before long axes go inside is not one that is folded behind."""
    n, b = 9000, 3
    N, C = hb.Fin.of(n), hb.Fin.of(b)
    U, W = hb.R ** (N * C), hb.R ** (C * N)
    rng = np.random.default_rng(0)
    d = W.vec(rng.normal(size=(b, n)))
    for many in range(1, 9):
        rows = [U.vec(rng.normal(size=(n, b))) for _ in range(many)]

        def body(x: Any, y: Any, rows: Any = rows) -> Any:
            s = x
            for c in rows:
                s = hb.sin(s * c) + x * x.norm(over=C).rep(U)
            return s.norm(over=C), (y * hb.sin(hb.const(d))).sum(over=C)

        f: Any = hb.fun(U, W)(body)
        x, y = rng.normal(size=(n, b)), rng.normal(size=(b, n))
        assert np.allclose(f(f.dom.vec((x, y)))[1].array, (y * np.sin(d.array)).sum(0))

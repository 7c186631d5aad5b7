"""Sums over X before products with what is the same for all of X: the same values, with less to do for each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from diff.blocks.early_sums import with_early_sums
from hilbert.program.line.line import Line
from hilbert.program.run.run import Runner
from tests.blocks.test_blocks_of_lines import X, lifted
from tests.programs import PROGRAMS

N = 90
ROWS, D, H = hb.Fin.of(N), hb.Fin.of(3), hb.Fin.of(4)
W, S, Y = hb.R ** (H * D), (hb.R**D) ** ROWS, hb.R**ROWS


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str) -> None:
    """The catalogue for each element of X, with its totals."""
    line, arrays = lifted(name)
    other = with_early_sums(line, [X])
    with np.errstate(all="ignore"):
        pairs = zip(Runner(line).run(arrays), Runner(other).run(arrays), strict=True)
        for a, b in pairs:
            eps = 1e-4 if np.asarray(a).dtype == np.float32 else 1e-10
            scale = np.max(np.abs(np.where(np.isfinite(a), a, 0)), initial=1.0)
            np.testing.assert_allclose(b, a, rtol=eps, atol=eps * scale)


def block(f: Any) -> Line:
    (part,) = hb.blocked(f, over=ROWS, size=10).passes.passes
    return part.line


def test_a_sum_comes_before_products_and_sums() -> None:
    """Σ (W x + 2 y c) is W Σ x + 2 Σ y c: no step of a block has an entry for each row."""
    f: Any = hb.fun(W, hb.R**H, S, Y)(
        lambda w, c, xs, ys: hb.each(lambda x, y: w @ x + 2.0 * y * c, xs, ys).sum(over=ROWS)
    )
    line = block(f)
    assert not any(ROWS in leaf.axes for leaf in line.slots[line.arity :])
    assert [str(line.slots[k]) for k in line.outputs] == ["ℝ^3", "ℝ"]
    x = f.dom.random(np.random.default_rng(0))
    np.testing.assert_allclose(hb.blocked(f, over=ROWS, size=10)(x).array, f(x).array, rtol=1e-12)


def test_what_else_is_read_stays() -> None:
    """Products that a function reads are computed for each row, and summed."""
    f: Any = hb.fun(W, S)(lambda w, xs: (h := hb.each(lambda x: w @ x, xs)).sum(over=ROWS) + hb.exp(h).sum(over=ROWS))
    line = block(f)
    assert [str(line.slots[k]) for k in line.outputs] == ["ℝ^4"] * 2
    x = f.dom.random(np.random.default_rng(0))
    np.testing.assert_allclose(hb.blocked(f, over=ROWS, size=10)(x).array, f(x).array, rtol=1e-12)


def test_weights_of_the_rows_stay() -> None:
    f: Any = hb.fun(S, Y)(lambda xs, ys: hb.each(lambda x, y: y * x, xs, ys).sum(over=ROWS))
    x = f.dom.random(np.random.default_rng(0))
    np.testing.assert_allclose(hb.blocked(f, over=ROWS, size=10)(x).array, f(x).array, rtol=1e-12)

"""Products of matrices by BLAS: their operands and results in other orders, in batches, and beside other outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as hb

A, B, C = hb.Fin.of(40), hb.Fin.of(41), hb.Fin.of(42)
LONG, FEW = hb.Fin.of(50), hb.Fin.of(3)


def agrees(f: Any) -> None:
    """Compiled, a function has the interpreter's numbers."""
    x = f.dom.random(np.random.default_rng(0))
    for found, right in zip(hb.compiled(f)(x).leaves, f(x).leaves, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "body",
    [
        lambda x, y: ((x @ y).T, 2.0 * (x @ y).T),
        lambda x, y: (2.0 * (x @ y), (x @ y).T),
        lambda x, y: ((x @ y).T, (x @ y)[0, :], (x @ y).T[1:, :]),
        lambda x, y: ((x @ y).T, (x @ y).T),
    ],
)
def test_a_product_that_several_outputs_read_is_made_for_all(body: Any) -> None:
    f = hb.fun(hb.R ** (A * B), hb.R ** (B * C))(body)
    agrees(f)


@pytest.mark.parametrize(
    "body",
    [
        lambda x, y: x[:, :40] @ y[:40, :],
        lambda x, y: y.T @ x[:, :41].T,
        lambda x, y: (x[:41, :].T @ y[:, :42].T[:41, :]).T,
        lambda x, y: hb.tanh(x)[:, :40] @ y[:40, :42],
    ],
)
def test_a_product_of_a_corner_reads_the_rows_of_the_whole(body: Any) -> None:
    f = hb.fun(hb.R ** (LONG * LONG), hb.R ** (B * C))(body)
    agrees(f)


@pytest.mark.parametrize("inner", [lambda x: x, hb.tanh])
@pytest.mark.parametrize("few", [FEW, hb.Fin.of(20)])
def test_products_of_corners_in_a_batch(inner: Any, few: Any) -> None:
    f = hb.fun(hb.R ** (LONG * A * LONG), hb.R ** (few * B * C))(
        lambda x, y: hb.contract("bij,bjk->kbi", inner(x)[: few.size, :, :41], inner(y)) + inner(x)[0, 0, 0]
    )
    agrees(f)


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("abj,jc->acb", A * B * C, C * A),
        ("ajb,jc->cab", A * C * B, C * A),
        ("naj,njc->can", FEW * A * C, FEW * C * A),
        ("ajn,cjn->nac", A * C * FEW, B * C * FEW),
        ("naj,njc->nac", hb.Fin.of(0) * A * B, hb.Fin.of(0) * B * C),
    ],
)
def test_axes_that_do_not_lie_side_by_side_are_copied(text: str, left: Any, right: Any) -> None:
    """Operands and results are copied where rows or columns are no single axis; there may be no products at all."""
    agrees(hb.fun(hb.R**left, hb.R**right)(lambda x, y: hb.contract(text, x, y)))

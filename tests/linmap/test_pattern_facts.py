"""Facts about the places of entries, beside those of the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import hilbert.all as hb
from hilbert import SpaceError

N = 60
V = hb.R ** hb.Fin.of(N)
ORDER = hb.Fin.of(N).at(np.random.default_rng(0).permutation(N), hb.Fin.of(N))
MAPS: dict[str, Any] = {
    "diagonal": lambda x: x * x,
    "lower": lambda x: x - x.pad(1, 0).crop(0, N),
    "band": lambda x: hb.exp(x) - x.pad(2, 0).crop(0, N) + x.pad(0, 1).crop(1, N + 1),
    "ring": lambda x: x.roll(1) * x,
    "order": lambda x: x[ORDER],
    "blocks": lambda x: (
        x.reshape(hb.Fin.of(12) * hb.Fin.of(5)).sum(over=1).rep(hb.R ** (hb.Fin.of(12) * hb.Fin.of(5)), over=1)
    ).reshape(hb.Fin.of(N)),
    "sums": lambda x: x.cumsum(),
    "zero": lambda x: 0.0 * x,
}


@pytest.mark.parametrize("name", MAPS)
def test_facts(name: str) -> None:
    d = hb.derivative(hb.fun(V)(MAPS[name]))
    found = hb.pattern(d)
    full = np.abs(hb.matrix(d.at(V.vec(1.0 + np.arange(N) / N)), "sparse").toarray()) > 0
    if name == "zero":
        assert found.entries == 0
        return
    rows, cols = np.nonzero(full)
    assert found.entries == len(rows)
    assert (found.below, found.above) == (max((rows - cols).max(), 0), max((cols - rows).max(), 0))
    assert found.is_symmetric == np.array_equal(full, full.T)
    both = np.block([[np.zeros((N, N)), full], [full.T, np.zeros((N, N))]])
    count, labels = connected_components(both)
    assert found.groups == len(set(labels[N:]))
    assert count >= found.groups
    assert found.largest == np.bincount(labels[N:]).max()
    assert found.is_triangular == (name in {"diagonal", "lower", "sums"})


def test_long_chains_and_texts() -> None:
    n = 100_000
    W = hb.R ** hb.Fin.of(n)
    f = hb.fun(W)(lambda x: x - x.pad(1, 0).crop(0, n))
    assert str(hb.pattern(hb.derivative(f))) == (
        "199999 of 100000·100000 entries in a band, 1 below the diagonal and 0 above; triangular; "
        "all 100000 unknowns meet"
    )
    assert str(hb.pattern(hb.derivative(hb.fun(V)(lambda x: x * x)))).endswith(
        "diagonal; 60 groups, of at most 1 unknowns"
    )
    with pytest.raises(SpaceError, match="pattern takes a linear map or a derivative, not 3"):
        hb.pattern(3)

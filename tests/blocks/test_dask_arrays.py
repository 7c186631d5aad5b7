"""Arrays of Dask are no vectors: they may be larger than the memory."""

from __future__ import annotations

import pytest

import hilbert.all as hb
from hilbert import SpaceError


def test_an_array_of_dask_is_refused() -> None:
    da = pytest.importorskip("dask.array")
    with pytest.raises(
        SpaceError, match=r"give it to distributed\(f, over=X\) as data, or the array that a\.compute\(\)"
    ):
        (hb.R ** hb.Fin.of(5)).vec(da.ones(5))

"""The rows beside peers: all formulations agree at a tiny size, and which run counts, on made numbers."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from benchmarks.peers.row import OURS, Row, agree
from benchmarks.peers.rows import MODULES

ROWS: list[Row] = [row for module in MODULES for row in importlib.import_module(module).ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_agree(row: Row) -> None:
    """Each formulation whose library is installed computes the same, as finite numbers."""
    results: dict[str, dict[str, list[Any]]] = {}
    for who in row.installed():
        for label, call in row.peers[who](row.small()).items():
            results.setdefault(label, {})[who] = call.numbers(call.run())
    for label, found in results.items():
        assert agree(label, found, row.tolerance) == []
        assert next(iter(found)) == OURS

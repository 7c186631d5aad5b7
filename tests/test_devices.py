"""The benchmark of devices runs here on small sizes, with the results of JAX."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")
pytest.importorskip("scipy")

import jax

from benchmarks import devices

jax.config.update("jax_enable_x64", val=True)


@pytest.mark.parametrize("name", ["jax", "numpy"])
@pytest.mark.parametrize("what", ["MLP 784-512-256-10, batch 8, float32", "bundle adjustment, 60 observations"])
def test_results_are_those_of_jax(what: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours, in JAX and in numpy, beside JAX by hand."""
    make = devices.programs(small=True)[what]
    monkeypatch.setattr(devices, "CALLS", 1)
    monkeypatch.setattr(devices, "programs", lambda **_: {what: make})
    head, theirs, ours = devices.lines([name], small=True)
    assert head.split()[0] == "program"
    assert theirs.split()[-1] == "0.0e+00"
    assert ours.startswith(what)
    assert f"ours, {name}" in ours
    assert float(ours.split()[-1]) < 1e-5

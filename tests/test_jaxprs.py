"""Programs under `jax.jit` run where JAX runs them: their traces call nothing on the host."""

from __future__ import annotations

from typing import Any

import pytest

from hilbert import SpaceError, Vec
from tests.programs import ASKING, PROGRAMS, point

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", val=True)
CALLS = ("pure_callback", "io_callback", "debug_callback", "host_callback")
ASKED = frozenset(ASKING)
"""Programs that ask for values while they run, such as a loop without a bound on its rounds."""


def trace(name: str) -> str | None:
    """The trace of a program; None where it is refused under `jit`, with its reason."""
    f = PROGRAMS[name]

    def run(*leaves: Any) -> Any:
        return f(Vec(f.dom, leaves)).leaves

    try:
        return str(jax.make_jaxpr(run)(*[jax.numpy.asarray(a) for a in point(name, f).dense().leaves]))
    except SpaceError:
        return None


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - ASKED))
def test_no_call_of_the_host(name: str) -> None:
    found = trace(name)
    assert found is None or not any(call in found for call in CALLS)


def test_few_are_refused() -> None:
    names = sorted(set(PROGRAMS) - ASKED)
    assert sum(trace(name) is None for name in names[::10]) <= 2

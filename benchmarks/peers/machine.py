"""The machine, versions, and the vector instructions that numpy, its BLAS and XLA use.

    python -m benchmarks.peers.machine

The driver asks for these lines in a process with the variables of the workers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from benchmarks import timing

CAPS = (
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "MKL_DEBUG_CPU_TYPE",
    "MKL_ENABLE_INSTRUCTIONS",
    "NPY_DISABLE_CPU_FEATURES",
    "NPY_ENABLE_CPU_FEATURES",
    "XLA_FLAGS",
)
"""Variables that hold one library, and not the others, to some instructions or forms."""


def lines() -> Iterator[str]:
    """The lines of `timing.machine`, and the vector sets."""
    yield from timing.machine()
    found = np.show_config(mode="dicts")["SIMD Extensions"]
    yield f"numpy's vectors: {', '.join([*found['baseline'], *found['found']])}"
    yield f"XLA's vectors: {xla() or 'JAX is not installed'}"


def xla() -> str:
    """The features that a function compiled by XLA says that it was compiled for; empty without JAX."""
    found = timing.jax()
    if found is None:
        return ""
    compiled = found.jit(found.numpy.sin).lower(found.numpy.ones(8)).compile().runtime_executable()
    text = bytes(
        found.devices()[0].client.serialize_executable(compiled)
        if hasattr(found.devices()[0].client, "serialize_executable")
        else compiled.serialize()
    )
    return ", ".join(sorted({name.decode()[1:] for name in re.findall(rb"\+(?:avx|sse4|fma|neon|sve)\w*", text)}))


if __name__ == "__main__":
    print("\n".join(lines()))

"""What all tests share: the Hypothesis profiles and the marker `gpu`."""

import gc
import importlib
import os
import sys
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import HealthCheck, Phase, settings

from diff.terms.elementwise import RULES

SLOW = [HealthCheck.too_slow]  # a machine that others use too may be slow for a while
settings.register_profile("fuzz", deadline=None, max_examples=60, print_blob=True, suppress_health_check=SLOW)
settings.register_profile("same", settings.get_profile("fuzz"), derandomize=True, database=None)
FIRST = [Phase.explicit, Phase.generate]  # that it fails is enough: nothing is made smaller or explained
settings.register_profile("mutants", settings.get_profile("same"), phases=FIRST)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))  # `make fuzz` draws others at each run

# JAX compiles each operation at each shape, and most are run once: what is compiled is not made fast. JAX reads this
# when it is imported, as it is by tests only.
QUICK = ("cpu_use_fusion_emitters=false", "backend_optimization_level=0", "cpu_parallel_codegen_split_count=1")
os.environ.setdefault("XLA_FLAGS", " ".join(f"--xla_{option}" for option in QUICK))


def why_no_gpu() -> str | None:
    """Why the tests marked `gpu` cannot run here; None where they can."""
    try:
        devices = importlib.import_module("cupy").cuda.runtime.getDeviceCount()
    except (ImportError, RuntimeError) as error:  # without a driver cupy raises a RuntimeError
        return f"no cupy with a device: {error}"
    return None if devices else "no cupy with a device: 0 devices"


@pytest.fixture(scope="module", autouse=True)
def contexts_are_shared() -> None:
    """What JAX compiles for a file of tests is written in one context of MLIR: making a new one is a third of the time.

    The name is JAX's own, of the version that constraints.txt has; without it the tests take longer, and no more.
    """
    if (lowering := sys.modules.get("jax._src.interpreters.mlir")) and hasattr(lowering, "make_ir_context"):
        made = getattr(lowering.make_ir_context, "__wrapped__", lowering.make_ir_context)
        lowering.make_ir_context = cache(made)  # type: ignore[attr-defined]


@pytest.fixture(scope="module", autouse=True)
def what_is_there_stays() -> None:
    """What a file of tests finds in memory is not gone through again when garbage is looked for: JAX's traces, say."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def table_of_primitives() -> Iterator[None]:
    """After each test the table of primitives is what it was: no test reads what another registers."""
    before = dict(RULES)
    yield
    if before != RULES:
        RULES.clear()
        RULES.update(before)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked `gpu` where there is none; cupy is imported only if there are such tests.

    What type checkers say of all models at once comes first: it would be the last that runs, with nothing beside it.
    """
    items.sort(key=lambda item: "typing" not in item.path.parts)
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and (reason := why_no_gpu()):
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))

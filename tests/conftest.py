"""What all tests share: the Hypothesis profiles and the marker `gpu`."""

import importlib
import os

import pytest
from hypothesis import HealthCheck, settings

SLOW = [HealthCheck.too_slow]  # a machine that others use too may be slow for a while
settings.register_profile("dev", deadline=None, max_examples=60, suppress_health_check=SLOW)
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def why_no_gpu() -> str | None:
    """Why the tests marked `gpu` cannot run here; None where they can."""
    try:
        devices = importlib.import_module("cupy").cuda.runtime.getDeviceCount()
    except (ImportError, RuntimeError) as error:  # without a driver cupy raises a RuntimeError
        return f"no cupy with a device: {error}"
    return None if devices else "no cupy with a device: 0 devices"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked `gpu` where there is none; cupy is imported only if there are such tests."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and (reason := why_no_gpu()):
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))

"""What type checkers say is asked once."""

import pytest

from tests.typing.verdicts import Verdicts


@pytest.fixture(scope="session")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    """Made by the first test that asks, in the worker that has the tests of types."""
    return Verdicts(tmp_path_factory.mktemp("pages"), tmp_path_factory.mktemp("cache"))

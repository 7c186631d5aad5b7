"""What mypy says, the run says too: good models run, each marked mistake is a SpaceError."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from hilbert import SpaceError
from tests.typing.verdict import BAD, GOOD

SILENT = {"bad_annotation", "bad_record_types"}
"""The kinds of mistake that mean nothing at run time."""
UNCALLED = {"bad_data"}
"""Functions whose parameters are the mistake; `tests/diff/higher/test_functions_on_data.py` has what the run says."""


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mistakes(path: Path) -> list[str]:
    lines = path.read_text("utf-8").splitlines()
    return [line.removeprefix("def ").split("(")[0] for line in lines if line.startswith("def bad_")]


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_models_run(path: Path) -> None:
    loaded(path).main()


@pytest.mark.parametrize(
    ("path", "name"),
    [(path, name) for path in BAD if path.stem not in UNCALLED for name in mistakes(path)],
    ids=lambda part: getattr(part, "stem", part),
)
def test_mistakes_are_errors_at_run_time(path: Path, name: str) -> None:
    run = getattr(loaded(path), name)
    if path.stem in SILENT:
        run()
    else:
        with pytest.raises(AttributeError if name == "bad_no_part" else SpaceError):  # a class has what Python gives it
            run()

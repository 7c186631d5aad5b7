"""The contracts of import-linter notice what they forbid: an upward import, and any import of the door."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("hilbert", "linmap", "diff", "adjoint")
LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
LAYERS, DOOR = "a package imports only from the packages below it", "nothing imports hilbert.all"


def broken(root: Path) -> set[str]:
    """The contracts that the packages under a folder break."""
    ran = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", LINT],
        cwd=root,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    kept = {name for name in (LAYERS, DOOR) if f"{name} KEPT" in ran.stdout}
    found = {name for name in (LAYERS, DOOR) if f"{name} BROKEN" in ran.stdout}
    assert kept | found == {LAYERS, DOOR}, ran.stdout + ran.stderr
    assert ran.returncode == bool(found)
    return found


@pytest.mark.parametrize(
    ("file", "line", "contracts"),
    [
        ("hilbert/index/index.py", "", set()),
        ("hilbert/index/index.py", "import linmap", {LAYERS}),
        ("hilbert/__init__.py", "from diff import sin", {LAYERS}),
        ("linmap/matrices/made/cost.py", "import adjoint", {LAYERS}),
        ("hilbert/index/index.py", "import hilbert.all", {DOOR}),
        ("hilbert/__init__.py", "from hilbert.all import fun", {DOOR}),
        ("linmap/matrices/made/cost.py", "import hilbert.all as hb", {DOOR}),
        ("diff/terms/untraced_functions.py", "from hilbert import all as hb", {DOOR}),
        ("adjoint/checks/check_derivatives.py", "import hilbert.all", {DOOR}),
    ],
)
def test_an_import_that_is_forbidden(file: str, line: str, contracts: set[str], tmp_path: Path) -> None:
    """Each line breaks the contract that is about it, and no other; without a line both are kept."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / file).open("a", encoding="utf-8") as source:
        source.write(f"{line}\n")
    assert broken(tmp_path) == contracts

"""One distribution ships four typed packages, which import only what it requires."""

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

PACKAGES = ("hilbert", "linmap", "diff", "adjoint")


def folder(package: str) -> Path:
    """Where an import package lies."""
    file = importlib.import_module(package).__file__
    assert file is not None
    return Path(file).parent


def imported(node: ast.AST) -> Iterator[str]:
    """The top-level modules that importing the module `node` imports: not those inside functions or TYPE_CHECKING."""
    match node:
        case ast.Import(names):
            yield from (alias.name.partition(".")[0] for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            yield module.partition(".")[0]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.If(test=ast.Name("TYPE_CHECKING")):
            pass
        case _:
            for child in ast.iter_child_nodes(node):
                yield from imported(child)


@pytest.mark.parametrize("package", PACKAGES)
def test_package_is_typed(package: str) -> None:
    """py.typed ∈ package, so that a user's mypy reads its annotations."""
    assert (folder(package) / "py.typed").is_file()


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_are_required(package: str) -> None:
    """imports(package) ⊆ standard library ∪ the four packages ∪ required dependencies."""
    required = {re.split(r"[^\w.-]", line)[0] for line in requires("hilbert") or [] if "extra ==" not in line}
    normal = {re.sub(r"[-_.]+", "-", name).lower() for name in required}
    ours = {
        module
        for module, names in packages_distributions().items()
        if normal & {re.sub(r"[-_.]+", "-", name).lower() for name in names}
    }
    assert "numpy" in ours
    for file in folder(package).rglob("*.py"):
        undeclared = set(imported(ast.parse(file.read_text("utf-8")))) - ours - sys.stdlib_module_names - set(PACKAGES)
        assert not undeclared, f"{file.name} imports {undeclared}: add it to [project] dependencies"

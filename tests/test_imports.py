"""The files of the library import each other in one direction only, and at their top."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.rooms import circles

PACKAGES = ("hilbert", "linmap", "diff", "adjoint")
ROOT = Path(__file__).parent.parent
OPTIONAL = {"duckdb", "jax", "matplotlib", "pyarrow", "scipy", "threadpoolctl", "torch"}

FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if path.parent != ROOT / "hilbert" / "all"  # the door stands above all layers
}


def imports(node: ast.AST, function: str | None = None) -> Iterator[tuple[str | None, str]]:
    """What is imported, each with the function that it is imported in; not what only type checkers see."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=rest):
                for other in rest:
                    yield from imports(other, function)
            case ast.Import(names):
                yield from ((function, alias.name) for alias in names)
            case ast.ImportFrom(module, names) if module:
                for alias in names:
                    whole = f"{module}.{alias.name}"
                    yield function, whole if whole in FILES else module
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield from imports(child, name)
            case _:
                yield from imports(child, function)


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(FILES[name].read_text())


@cache
def found(name: str) -> list[tuple[str | None, str]]:
    """What a file imports."""
    return list(imports(tree(name)))


def test_the_files_are_found() -> None:
    """The library has more than a hundred files, and each imports something or is imported."""
    assert len(FILES) > 100
    assert sum(len(found(name)) for name in FILES) > 500


@pytest.mark.parametrize("name", FILES)
def test_no_late_imports(name: str) -> None:
    """No import stands inside a function, but of optional packages."""
    late = {(function, what) for function, what in found(name) if function and what.split(".")[0] not in OPTIONAL}
    assert not late


def test_no_circles() -> None:
    """No module leads back to itself, hints for type checkers included; the lists of names in `__init__` apart."""
    assert circles(ROOT) == []


def test_no_circles_when_they_run() -> None:
    """Whatever imports a file is not imported by it, by way of others and of packages either."""
    above = {name: {what for _, what in found(name) if what in FILES} for name in FILES}
    while free := [name for name, below in above.items() if not below & above.keys()]:
        for name in free:
            del above[name]
    assert not above, f"circles among {sorted(above)}"


@pytest.mark.parametrize("name", FILES)
def test_no_package_names_a_higher_one(name: str) -> None:
    """Not for type checking either."""
    package = name.split(".", maxsplit=1)[0]
    higher = set(PACKAGES[PACKAGES.index(package) + 1 :])
    named = {
        module.split(".")[0]
        for node in ast.walk(tree(name))
        for module in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [])
        + ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [])
    }
    assert not named & higher


def test_one_file_alone() -> None:
    """pytest runs the examples of one file of a package on the classes that the package has."""
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "diff/terms/untraced_functions.py"]
    made = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - its own text
    assert made.returncode == 0, made.stdout

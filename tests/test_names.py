"""A public name means one thing: it is in one package, not in `hilbert.relation` too, and hides none of Python."""

import ast
import builtins
import importlib
import inspect
import keyword
import re
from pathlib import Path

import pytest

import hilbert.all as hb
import linmap.unitary

ROOT = Path(__file__).parents[1]
PACKAGES = ("hilbert", "linmap", "diff", "adjoint")
NAMES = {name: importlib.import_module(name).__all__ for name in (*PACKAGES, "hilbert.relation")}
STANDARD = {"pow"}
"""What has the name of its counterpart in numpy and in Python."""


@pytest.mark.parametrize("module", NAMES)
def test_no_name_is_in_two_modules(module: str) -> None:
    """m ≠ n ⇒ names(m) ∩ names(n) = ∅."""
    assert len(NAMES[module]) == len(set(NAMES[module]))
    for other in NAMES.keys() - {module}:
        assert not set(NAMES[module]) & set(NAMES[other]), other


@pytest.mark.parametrize("module", NAMES)
def test_no_name_hides_one_of_python(module: str) -> None:
    """names(m) ∩ builtins ⊆ {pow}, and no name is a Python name with a dash."""
    assert set(NAMES[module]) & set(dir(builtins)) <= STANDARD
    assert not [name for name in NAMES[module] if name.endswith("_") and not keyword.iskeyword(name[:-1])]


def test_the_door_has_every_name() -> None:
    """names(hilbert.all) = ⋃ names(p) over the four packages p, each the same object."""
    assert len(hb.__all__) == len(set(hb.__all__))
    assert set(hb.__all__) == {name for package in PACKAGES for name in NAMES[package]}
    for package in PACKAGES:
        module = importlib.import_module(package)
        assert all(getattr(hb, name) is getattr(module, name) for name in module.__all__)


def test_the_unitary_operators_in_front_are_those_of_their_module() -> None:
    """f ∈ names(linmap) ∩ names(linmap.unitary) ⇒ one function."""
    front = set(NAMES["linmap"]) & set(linmap.unitary.__all__)
    assert {name for name in front if getattr(linmap, name) is not getattr(linmap.unitary, name)} == set()
    assert front == {
        *("curry", "pack", "split", "stack", "transpose", "uncurry", "unpack", "unstack", "unzip_parts", "zip_parts")
    }


def test_linmap_does_not_know_expressions() -> None:
    """`linmap` and `hilbert` name no Expr, not even for a type checker: a map is made, and applied."""
    sources = [path for package in ("hilbert", "linmap") for path in (ROOT / package).rglob("*.py")]
    assert len(sources) > 50
    said = {path for path in sources if re.search(r"\bExpr\b", path.read_text("utf-8"))}
    assert not said


def test_the_space_stands_last() -> None:
    """In a constructor of linear maps, V is the last of the arguments that are no keywords, and may be left out."""
    last = {}
    for name in NAMES["linmap"]:
        value = getattr(linmap, name)
        if inspect.isfunction(value):
            parameters = [p for p in inspect.signature(value).parameters.values() if p.kind is not p.KEYWORD_ONLY]
            if len(parameters) > 1 and "V" in [p.name for p in parameters[1:]]:
                last[name] = parameters[-1].name == "V" and parameters[-1].default is not inspect.Parameter.empty
    assert last
    assert all(last.values()), last
    assert {"red", "total", "rep", "scale", "roll", "crop", "gather", "sparse", "stack"} <= last.keys()


def test_names_that_are_imported_late_are_those_that_type_checkers_see() -> None:
    """HOMES of adjoint = its imports under TYPE_CHECKING, and gives names(adjoint); dir has them."""
    module = importlib.import_module("adjoint")
    tree = ast.parse((ROOT / "adjoint" / "__init__.py").read_text("utf-8"))
    seen = {
        node.module: tuple(a.name for a in node.names) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }
    del seen["importlib"], seen["typing"]
    assert seen == vars(module)["HOMES"]
    assert sorted(name for names in seen.values() for name in names) == sorted(module.__all__)
    for home, names in seen.items():
        assert all(getattr(module, name) is getattr(importlib.import_module(str(home)), name) for name in names)
    assert set(module.__all__) <= set(dir(module))
    with pytest.raises(AttributeError, match="module 'adjoint' has no attribute 'gradd'"):
        _ = module.gradd

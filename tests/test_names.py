"""A public name means one thing: it is in one package, not in `hilbert.relation` too, and hides none of Python."""

import ast
import builtins
import importlib
import inspect
import keyword
import os
import py_compile
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import hilbert.all as hb
import linmap.unitary
from hilbert.base.lazy import homes, require_own
from tests.public import PUBLIC

ROOT = Path(__file__).parents[1]
PACKAGES = ("hilbert", "linmap", "diff", "adjoint")
NAMES = {name: importlib.import_module(name).__all__ for name in (*PACKAGES, "hilbert.relation")}
STANDARD = {"pow"}
"""What has the name of its counterpart in numpy and in Python."""


def runtime_all() -> list[str]:
    """`__all__` of the door, which is longer for type checkers."""
    return list(vars(hb)["__all__"])


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
    """Each public name p.n of the four packages is the object hb.n."""
    for package in PACKAGES:
        module = importlib.import_module(package)
        assert all(getattr(hb, name) is getattr(module, name) for name in module.__all__)
    assert hb.__version__ == version("hilbert")


def test_what_the_door_shows() -> None:
    """hb.__all__ has doors and some 130 names; every other name is listed by a door; dir and * show hb.__all__."""
    shown: list[str] = runtime_all()
    doors = {name for name in shown if isinstance(getattr(hb, name), ModuleType)}
    listed = {name for door in doors for name in getattr(hb, door).__all__}
    assert doors == {path.stem for path in (ROOT / "hilbert" / "all").glob("[a-z]*.py")}
    assert len(shown) == len(set(shown))
    assert len(shown) - len(doors) < 140
    assert set(PUBLIC) - set(shown) <= listed
    assert set(shown) - doors <= set(PUBLIC)
    assert set(shown) <= set(dir(hb))
    assert {name for name in dir(hb) if not name.startswith("_")} == set(shown)
    star: dict[str, object] = {}
    exec("from hilbert.all import *", star)  # noqa: S102 - what a user writes
    assert set(shown) == star.keys() - {"__builtins__"}


@pytest.mark.parametrize(
    "door",
    [
        "bridges",
        "checks",
        "fitting",
        "datatypes",
        "jets",
        "laws",
        "linalg",
        "matrices",
        "relations",
        "special",
        "tensors",
        "terms",
    ],
)
def test_doors_are_modules(door: str) -> None:
    """hb.door is the module hilbert.all.door, with the objects of the packages, in order."""
    module = importlib.import_module(f"hilbert.all.{door}")
    assert getattr(hb, door) is module
    assert len(module.__all__) == len(set(module.__all__))
    for name in set(module.__all__) & set(PUBLIC):
        assert getattr(module, name) is getattr(hb, name)


LATE = ("diff.lam", "diff.datatypes", "diff.jets", "diff.laws", "linmap.laws", "linmap.matrices", "matplotlib", "scipy")
"""What neither the door nor a first gradient imports."""
FIRST = """
import sys, hilbert.all as hb
print(sorted(sys.modules))
f = hb.fun(hb.R ** hb.Fin.of(3))(lambda x: hb.sin(x) @ x)
g = hb.grad(f)
print(g, g(f.dom.zeros()))
print(sorted(sys.modules))
"""


def test_what_is_imported_when() -> None:
    """The door imports no room; a first gradient, printed, imports none of λ, series, laws, matrices and plots."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, env=env, check=True)  # noqa: S603
    door, *_, first = ([*ast.literal_eval(line)] for line in run.stdout.splitlines() if line.startswith("["))
    rooms = [name for name in door if name.split(".")[0] in PACKAGES and name.count(".") > 1]
    assert rooms == ["hilbert.base.lazy"]
    assert not [name for name in first if name.startswith(LATE)]


def test_the_unitary_operators_in_front_are_those_of_their_module() -> None:
    """f ∈ names(linmap) ∩ names(linmap.unitary) ⇒ one function."""
    front = set(NAMES["linmap"]) & set(linmap.unitary.__all__)
    assert {name for name in front if getattr(linmap, name) is not getattr(linmap.unitary, name)} == set()
    assert front == {
        *("curry", "pack", "split", "stack", "transpose", "uncurry", "unpack", "unstack", "unzip_parts", "zip_parts")
    }


def test_linmap_does_not_know_expressions() -> None:
    """`linmap` and `hilbert` name no Expr, not even for a type checker: a map is made, and applied."""
    door = ROOT / "hilbert" / "all"
    files = [path for package in ("hilbert", "linmap") for path in (ROOT / package).rglob("*.py")]
    sources = [path for path in files if path.parent != door]
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


@pytest.mark.parametrize("package", [*PACKAGES, "linmap.laws"])
def test_names_that_are_imported_late_are_those_that_type_checkers_see(package: str) -> None:
    """The imports under TYPE_CHECKING give names(p), and no other; dir has them, and no module hides one of them."""
    module = importlib.import_module(package)
    public = {name: home for name, home in homes(package).items() if name == home.name}
    assert sorted(public) == sorted(module.__all__)
    for name, home in public.items():
        assert getattr(module, name) is getattr(importlib.import_module(home.module), name)
    assert set(module.__all__) <= set(dir(module))
    assert not {path.stem for path in (ROOT / package.replace(".", "/")).iterdir()} & set(module.__all__)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'gradd'"):
        _ = module.gradd


def test_a_package_without_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are read from the text of `__init__.py`; without it the error says what is missing."""
    monkeypatch.setattr(importlib.import_module("diff"), "__loader__", None)
    with pytest.raises(ImportError, match=r"diff needs its file __init__\.py"):
        homes("diff")


@pytest.mark.parametrize("name", ["linmap", "diff", "adjoint"])
@pytest.mark.parametrize("file", ["{}.py", "{}/__init__.py", "{}.pyc"])
@pytest.mark.parametrize("entrance", ["import hilbert.all", "from adjoint import grad"])
def test_a_file_that_hides_a_package(name: str, file: str, entrance: str, tmp_path: Path) -> None:
    """One sentence that names the file of the user's and says what to do; the file is not run."""
    path = tmp_path / file.format(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text("print('it is run')\nimport hilbert.all\n")
    if path.suffix == ".pyc":
        py_compile.compile(str(path), str(path), doraise=True)
    if name == "adjoint" and "adjoint" in entrance:
        return
    (tmp_path / "model.py").write_text(f"{entrance}\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, str(tmp_path / "model.py")], capture_output=True, text=True, env=env, check=False
    )
    what = path.parent if path.name == "__init__.py" else path
    assert run.stdout == ""
    assert run.stderr.splitlines()[-1] == f"ImportError: {what} hides the package {name} of hilbert: rename it"


def test_a_loaded_module_that_hides_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module without a specification, of a file or of none, is told as well."""
    module = ModuleType("linmap")
    monkeypatch.setitem(sys.modules, "linmap", module)
    with pytest.raises(ImportError, match="a module linmap that is loaded, and of no file, hides the package linmap"):
        require_own("linmap")
    module.__file__ = "/home/me/linmap.py"
    with pytest.raises(ImportError, match=r"^/home/me/linmap.py hides the package linmap of hilbert: rename it"):
        require_own("linmap")
    monkeypatch.setitem(sys.modules, "linmap", None)  # one that is not to be imported
    require_own("linmap")

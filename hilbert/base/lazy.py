"""Modules that are imported when they are needed: for a public name (PEP 562), a method, or the rows of a table.

The `__init__` of the package imports its names for type checkers only, under `if TYPE_CHECKING:`. These lines are read
as text once, so that a name stands in one place, and followed by `__getattr__` when a name is asked for. A line
`from module import function as Class_method` there gives a declared method its meaning (`hilbert.base.attach`).
"""

from __future__ import annotations

import ast
import gc
import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType


class Home(NamedTuple):
    """The module of an object, and its name there."""

    module: str
    name: str

    def imported(self) -> Any:
        """The object."""
        return getattr(imported(self.module), self.name)


def homes(package: str) -> dict[str, Home]:
    """The home of each name that a top-level `if` of the package imports; ImportError without its file as text."""
    loader: Any = sys.modules[package].__loader__
    source = loader.get_source(package) if hasattr(loader, "get_source") else None
    if source is None:
        raise ImportError(f"the package {package} needs its file __init__.py as text: install it from the wheel")
    blocks = (node for node in ast.parse(source).body if isinstance(node, ast.If))
    imports = (line for node in blocks for line in node.body if isinstance(line, ast.ImportFrom))
    return {a.asname or a.name: Home(line.module, a.name) for line in imports for a in line.names if line.module}


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the search for cyclic garbage: it would visit all that a long pass has made, again and again, for nothing.

    Reference counting goes on as always. After the last such pass of any thread, the search is on if it was before.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def imported(module: str) -> ModuleType:
    """The module, after its packages: a thread that waits for a package holds none of its modules."""
    names = module.split(".")
    with uncollected():  # modules live on: a search for garbage takes longer than an import
        for k in range(1, len(names)):
            import_module(".".join(names[:k]))
        return import_module(module)


def lazy(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose names are imported when they are asked for."""
    packages.add(package)
    module, found = sys.modules[package], homes(package)
    public = {name: home for name, home in found.items() if name == home.name}
    methods.update((name, home) for name, home in found.items() if name != home.name)

    def attribute(name: str) -> object:
        if name not in public:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=module)
        value: object = public[name].imported()
        setattr(module, name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(module), *public})

    return attribute, names


packages: set[str] = set()
"""The packages whose names are imported when they are asked for: their classes have the declared methods."""
methods: dict[str, Home] = {}
"""The functions that declared methods stand for, under `Class_method`, from the packages that are imported."""
_modules: dict[str, tuple[str, ...]] = {}
"""The modules that fill each table, by the table's name."""


def later(table: str, *modules: str) -> None:
    """Register modules to import when a table is first read."""
    _modules[table] = tuple(dict.fromkeys((*_modules.get(table, ()), *modules)))


def load(table: str) -> None:
    """Import the modules that fill the table, in order."""
    for module in _modules.get(table, ()):
        imported(module)


def require_own(*packages: str) -> None:
    """Raise ImportError if a module of the user's has the name of one of these packages, installed side by side."""
    beside = Path(__file__).parents[2]
    for name in packages:
        module = sys.modules.get(name)
        spec = getattr(module, "__spec__", None) if module else find_spec(name)
        place = getattr(spec, "origin", None) or getattr(module, "__file__", None)
        found = Path(place) if place else None
        if (found or module) and found != beside / name / "__init__.py":
            what: Path | str = f"a module {name} that is loaded, and of no file,"
            if found:
                what = found.parent if found.stem == "__init__" else found
            raise ImportError(f"{what} hides the package {name} of hilbert: rename it", name=name, path=place)

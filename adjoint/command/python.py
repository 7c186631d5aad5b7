r"""Python files: their functions of the library, in the order of the text; the file is executed once.

>>> from adjoint.languages.source_text import Source
>>> loaded = load([Source("model.py", "import hilbert.all as hb\nf = hb.fun(hb.R)(lambda x: x * x)\n")])
>>> f = loaded.definitions["f"]
>>> f.signature, f.value([3])
('ℝ -> ℝ', 9.0)
>>> f.differential([3], [2], reverse=False)
12.0
"""

from __future__ import annotations

import ast
import importlib
import linecache
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from adjoint.command.definition import MapDefinition
from adjoint.command.on_data import DataDefinition
from adjoint.command.report import TextError, TextSpan, located
from adjoint.languages.stages import STAGES, in_numpy
from adjoint.languages.value_spaces import value_of_python
from diff import AnyTermFunction, TermFunction
from hilbert import Map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from adjoint.languages.source_text import Source
    from hilbert.map.map import AnyMap

LONGEST = 4_000_000
"""The characters of a file of Python, whose syntax tree takes some 400 bytes for each."""


@final
@frozen
class Loaded:
    """The functions that files define."""

    definitions: dict[str, MapDefinition | DataDefinition]
    namespace: dict[str, Any]

    @property
    def listed(self) -> Iterable[MapDefinition | DataDefinition]:
        """The functions in the order of the text."""
        return self.definitions.values()

    def expression(self, source: str) -> str:
        """The value of an expression, as text. `hb` is the library, unless the file says otherwise."""
        where = TextSpan("-e", source, 1, 1)
        known = {"hb": importlib.import_module("hilbert.all")} | self.namespace
        with located(where):
            found = eval(compile(source.strip(), "-e", "eval", dont_inherit=True), known)  # noqa: S307 - the user's
            return value_of_python(found)


def loader(_: str) -> Callable[[Sequence[Source]], Loaded]:
    """The loader of the files of the language."""
    return load


def load(sources: Sequence[Source]) -> Loaded:
    """Execute files in their order, in one namespace; raises TextError where one cannot be."""
    name = Path(sources[0].name).stem
    module = ModuleType(name if name.isidentifier() and name not in sys.modules else f"_{name}")
    sys.modules[module.__name__] = module
    names: dict[str, TextSpan] = {}
    for source in sources:
        names |= _executed(source, module)
    found = {k: (module.__dict__.get(k), place) for k, place in names.items()}
    of = {k: _definition(k, f, place) for k, (f, place) in found.items() if isinstance(f, (Map, TermFunction))}
    return Loaded(of, module.__dict__)


def _definition(name: str, f: AnyMap | AnyTermFunction, place: TextSpan) -> MapDefinition | DataDefinition:
    if isinstance(f, TermFunction):
        return DataDefinition(name, place, f)
    stages = {k: lambda _, x, of=of: of(f, x) for k, of in STAGES.items()}
    stages |= {"python": lambda *_: in_numpy(f, name)}
    return MapDefinition(name, f"{f.dom} -> {f.cod}", place, lambda _: f, stages)


def _executed(source: Source, module: ModuleType) -> dict[str, TextSpan]:
    """Execute a file; the places of the names that it defines."""
    file, text = source.name, source.text
    if len(text) > LONGEST:
        what = f"a file of {len(text)} characters, more than {LONGEST}: Python would need gigabytes for its statements"
        raise TextError(TextSpan(file, "", 1, 1), what)
    folder = str(Path(file).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module.__file__ = file
    with located(TextSpan(file, text, 1, 1)), _arguments(file):
        tree = ast.parse(text, file)
        exec(compile(tree, file, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - that is what a model is
    return {name: TextSpan(file, text, node.lineno, node.col_offset + 1) for name, node in _defined(tree.body)}


@contextmanager
def _arguments(file: str) -> Iterator[None]:
    """A file sees its own name among the arguments of the process, and not those of the command."""
    before, sys.argv = sys.argv, [file]
    try:
        yield
    finally:
        sys.argv = before


def _defined(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """The names that statements give a value, imports left out."""
    for node in body:
        match node:
            case ast.FunctionDef(name):
                yield name, node
            case ast.Assign(targets):
                yield from ((n.id, node) for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
            case ast.AnnAssign(ast.Name(name)):
                yield name, node
            case ast.If() | ast.For() | ast.While() | ast.With() | ast.Try():
                for part in ("body", "handlers", "orelse", "finalbody"):
                    for inner in getattr(node, part, ()):
                        yield from _defined(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])
            case _:  # others define no function of the library
                pass

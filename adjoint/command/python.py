r"""Python files: their functions of the library, in the order of the text; the file is executed once.

>>> from adjoint.command.report import Source
>>> loaded = load([Source("model.py", "import hilbert.all as hb\nf = hb.fun(hb.R)(lambda x: x * x)\n")])
>>> f = loaded.definitions["f"]
>>> f.signature, f.value([3])
('ℝ -> ℝ', 9.0)
>>> f.differential([3], [2], reverse=False)
12.0
"""

from __future__ import annotations

import ast
import linecache
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from adjoint.check import check
from adjoint.command.report import Place, UsageError, located
from adjoint.command.spaces import point, value_of, value_of_python
from adjoint.command.stages import STAGES
from adjoint.rules import adjoint
from diff import derivative
from hilbert import Field, Map, SpaceError, Type, Vec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjoint.command.report import Source
    from adjoint.command.values import Value
    from hilbert.map import AnyMap

SEED = 0
"""Points that are not given are drawn with this seed."""


@final
@frozen
class Definition:
    """A function of the library that a file defines; its arguments are one tuple where there are several."""

    name: str
    map: AnyMap
    place: Place

    @property
    def signature(self) -> str:
        """ARGUMENT -> RESULT."""
        return f"{self.map.dom} -> {self.map.cod}"

    def value(self, args: Sequence[Value]) -> Value:
        """The value at the arguments; raises UsageError where they do not fit, TextError where it is not computed."""
        x = point(args, self.map.dom, self.name)
        with located(self.place):
            return value_of(self.map(x))

    def differential(self, at: Sequence[Value], along: Sequence[Value] | None, *, reverse: bool) -> Value:
        """The derivative at a point along a tangent; its adjoint at a cotangent in reverse, by default 1.0 of ℝ."""
        f, x = self.map, point(at, self.map.dom, self.name)
        with located(self.place):
            linear = derivative(f)(x)
            linear = adjoint(linear) if reverse else linear
        what = "cotangent" if reverse else "tangent"
        if along is None and reverse and isinstance(linear.dom, Field):
            along = [1.0]
        if along is None and linear.dom.leaves:
            raise UsageError(f"along which {what} of {self.name}? write --along with an element of {linear.dom}")
        dx = point(along or (), linear.dom, f"the {what} of {self.name}")
        with located(self.place):
            return value_of(linear(dx))

    def stage(self, name: str, at: Sequence[Value] | None) -> str:
        """A stage as text."""
        x = None if at is None else point(at, self.map.dom, self.name)
        with located(self.place):
            return STAGES[name](self.map, x)

    def verified(self, at: Sequence[Value] | None) -> str | None:
        """What is wrong with the derivative or its adjoint at a point, or at one that is drawn; None if nothing is."""
        with located(self.place):
            x = self._drawn() if at is None else None
        x = point(at or (), self.map.dom, self.name) if x is None else x
        with located(self.place):
            report = check(self.map, x)
        return "\n".join(str(part) for part in report if not part) or None

    def _drawn(self) -> Vec[Any]:
        """A point where the value is finite."""
        rng, space = np.random.default_rng(SEED), self.map.dom
        with np.errstate(all="ignore"):
            for tried in (space.random(rng), _positive(space, rng)):
                if all(np.isfinite(a).all() for a in self.map(tried).leaves):
                    return tried
        raise SpaceError(f"{self.name} is not finite where it was tried: give a point by --at")


def _positive(space: Type, rng: np.random.Generator) -> Vec[Any]:
    """A point whose real entries are between 0 and 1."""
    pairs = zip(space.random(rng).leaves, space.leaves, strict=True)
    return Vec(space, tuple(abs(np.tanh(a)) if leaf.is_field else a for a, leaf in pairs))


@final
@frozen
class Loaded:
    """What files define."""

    definitions: dict[str, Definition]
    namespace: dict[str, Any]

    def expression(self, source: str) -> str:
        """The value of an expression, as text; a function as it prints."""
        where = Place("-e", source, 1, 1)
        with located(where):
            found = eval(compile(source.strip(), "-e", "eval", dont_inherit=True), self.namespace)  # noqa: S307 - the user's
            return value_of_python(found)


def load(sources: Sequence[Source]) -> Loaded:
    """Execute files in their order, in one namespace; raises TextError where one cannot be."""
    name = Path(sources[0].name).stem
    module = ModuleType(name if name.isidentifier() and name not in sys.modules else f"_{name}")
    sys.modules[module.__name__] = module
    names: dict[str, Place] = {}
    for source in sources:
        names |= _executed(source, module)
    found = {k: (module.__dict__.get(k), place) for k, place in names.items()}
    return Loaded(
        {k: Definition(k, f, place) for k, (f, place) in found.items() if isinstance(f, Map)}, module.__dict__
    )


def _executed(source: Source, module: ModuleType) -> dict[str, Place]:
    """Where the names stand that a file defines, when it was executed."""
    file, text = source.name, source.text
    folder = str(Path(file).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module.__file__ = file
    with located(Place(file, text, 1, 1)):
        tree = ast.parse(text, file)
        exec(compile(tree, file, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - that is what a model is
    return {name: Place(file, text, node.lineno, node.col_offset + 1) for name, node in _defined(tree.body)}


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

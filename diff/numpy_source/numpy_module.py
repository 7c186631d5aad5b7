"""`source(f)`: a module of numpy that computes f, readable and without this library."""

from __future__ import annotations

import keyword
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import field, frozen

from diff.numpy_source.body import Body
from diff.numpy_source.flow_text import flow
from diff.printing.program_names import leaf_names
from diff.python_text.constants import SMALL, written
from diff.python_text.expressions import is_number, text
from diff.python_text.expressions import name as variable
from diff.python_text.line_breaks import GLUE, WIDTH, broken
from diff.python_text.scope import Page, Scope, Value, whole
from diff.terms.lower import program
from diff.terms.planned_program import reordered
from diff.terms.program import Program
from hilbert import SpaceError
from hilbert.displayed import Displayed
from hilbert.errors import path_of, shown
from hilbert.index.leaf import Leaf
from hilbert.program.line.operation import Literal
from hilbert.program.run.constant_folding import folded

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from diff.terms.program import AnyProgram
    from hilbert.map.map import AnyMap
    from hilbert.program.line.line import Line, Step

FILE = "constants.npz"
"""The name of the file of constants beside the module."""


@final
@frozen
class Source(Displayed):
    """A module of numpy with one function, and the constants that are too large for its text."""

    name: str
    imports: tuple[str, ...] = field(repr=False)
    body: str = field(repr=False)
    constants: Mapping[str, np.ndarray[Any, Any]] = field(repr=False, eq=False)

    @property
    def text(self) -> str:
        """The text of the module."""
        return "\n".join(
            [*self.imports, *self._loaded(), *[""] * (2 if self.body.startswith("def ") else 1), *self.body.split("\n")]
        )

    def _loaded(self) -> list[str]:
        """The statements that read the constants from the file beside the module."""
        if not self.constants:
            return []
        each = [f'    {word} = constants["{self.name}.{word}"]' for word in self.constants]
        return ["", f'with np.load(__file__.removesuffix("{self.name}.py") + "{FILE}") as constants:', *each]

    def __str__(self) -> str:
        return self.text

    def function(self) -> Callable[..., Any]:
        """The function, of arrays in the order of the text, as Python makes it of the text."""
        scope: dict[str, Any] = {"__name__": self.name, **self.constants}
        exec(compile("\n".join([*self.imports, self.body]), f"{self.name}.py", "exec", dont_inherit=True), scope)  # noqa: S102 - a text made here
        found: Callable[..., Any] = scope[self.name]
        return found

    def write(self, folder: str | os.PathLike[str]) -> Path:
        """Write the module into a folder, and its constants beside it; the path of the module.

        A file of constants that is there keeps those of other modules. Raises SpaceError for what names no folder.
        """
        path = path_of(folder, "source(f).write(folder)") / f"{self.name}.py"
        if self.constants:
            file = path.with_name(FILE)
            kept = _read(file) if file.exists() else {}
            kept = {key: array for key, array in kept.items() if not key.startswith(f"{self.name}.")}
            own = {f"{self.name}.{word}": array for word, array in self.constants.items()}
            np.savez(file, **kept, **own)  # type: ignore[arg-type]
        path.write_text(self.text, "utf-8")
        return path


def _read(file: Path) -> dict[str, np.ndarray[Any, Any]]:
    with np.load(file, allow_pickle=False) as archive:
        return dict(archive)


def source(f: AnyMap, *, name: str = "f") -> Source:
    """The text of f as a module of numpy, which needs nothing else: a function of the arrays of its argument.

    Arguments stand in the order of the leaves of the domain, results in that of the codomain. Constants of more than 64
    entries are in a file beside the module. Raises SpaceError for an operation, primitive or linear map of a user's
    own, which has no text, and for a name that is none.
    """
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise SpaceError(f"source(f, name=…) takes a name of Python, not {shown(name)}")
    p = reordered(program(f))
    is_derived = isinstance(f, Program)
    page = Page(frozenset({name, "constants"}))
    lines = _function(p, name, page, is_derived=is_derived)
    if page.helpers.keys() & page.given:  # a variable has the name of a helper
        page = Page(frozenset({name, "constants", *page.helpers}))
        lines = _function(p, name, page, is_derived=is_derived)
    small = {word: array for word, array in page.constants.items() if array.size <= SMALL}
    large = {word: np.array(array) for word, array in page.constants.items() if array.size > SMALL}
    blocks = [written(word, array) for word, array in small.items()]
    parts = ["\n".join(blocks)] if blocks else []
    parts += _spaced(page.helpers)
    imports = ("import numpy as np", *sorted(page.imports))
    return Source(name, imports, "\n\n\n".join([*parts, "\n".join(lines)]).lstrip("\n") + "\n", large)


def _spaced(helpers: Mapping[str, str]) -> list[str]:
    return list(helpers.values())


def _function(p: AnyProgram, name: str, page: Page, *, is_derived: bool) -> list[str]:
    line = folded(p.line.pruned())
    args = [page.fresh(word) for word in _short(leaf_names(p))]
    page.is_derived = is_derived
    scope = Scope(page)
    inputs = [Value(variable(word), leaf) for word, leaf in zip(args, line.slots, strict=False)]
    words = _gradient_words(p, line, args) if is_derived else {}
    body = Body(scope, line, inputs, flow, words, is_whole=True)
    made = body.run()
    head = [*_head(name, args), *_documented(p), *_shapes(args, line.slots)]
    return [*head, *scope.lines, *_returned(scope, made, words, line)]


def _short(words: list[str]) -> list[str]:
    """The names of leaves; parts of records without that of the record, where no two would have one name."""
    short = [word.partition(".")[2] or word for word in words]
    return short if len(set(short)) == len(words) else words


def _gradient_words(p: AnyProgram, line: Line, args: list[str]) -> dict[int, str]:
    """Names of the results of derivatives: d_w for the one in w."""
    leaves, outputs = line.slots[: line.arity], line.outputs
    if len(outputs) < 2:
        return {}
    derived = [k >= line.arity and _is_derived(line.steps[k - line.arity]) for k in outputs]
    first = derived.index(True) if True in derived else 0
    for start in {0, 1 if first else 0}:  # the value comes first in value_and_grad
        tail = outputs[start:]
        ends = [line.slots[k] for k in tail]
        fits = [at for at in range(line.arity - len(tail) + 1) if list(leaves[at : at + len(tail)]) == ends]
        if (
            tail
            and (len(fits) == 1 or fits[:1] == [0])
            and (len(fits) == 1 or len(tail) > 1 or p.names[-1:] == ("dy",))
        ):
            words = {k: f"d_{args[fits[0] + j]}" for j, k in reversed(list(enumerate(tail)))}
            return {k: word for k, word in words.items() if derived[outputs.index(k)]}
    return {}


def _is_derived(step: Step[Any]) -> bool:
    """Tell if a step was not written by a user."""
    return step.place is None and not isinstance(step.operation, Literal)


def _head(name: str, args: list[str]) -> list[str]:
    one = f"def {name}({', '.join(args)}):"
    if len(one) <= WIDTH:
        return [one]
    body = textwrap.fill(", ".join(args), WIDTH, initial_indent="    ", subsequent_indent="    ")
    return [f"def {name}(", f"{body}", "):"]


def _documented(p: AnyProgram) -> list[str]:
    whole_type = f"{p.dom} → {p.cod}"
    lines = textwrap.wrap(whole_type, WIDTH - 10, break_long_words=False)
    if len(lines) == 1:
        return [f'    """{lines[0]}"""']
    return [f'    """{lines[0]}', *(f"    {line}" for line in lines[1:]), '    """']


def _shapes(args: list[str], leaves: tuple[Leaf, ...]) -> list[str]:
    """A comment with the shapes of the arguments."""
    known = [f"{word}: {_shape(leaf)}".replace(" ", GLUE) for word, leaf in zip(args, leaves, strict=False)]
    lines = textwrap.wrap(", ".join(known), WIDTH, initial_indent="    # ", subsequent_indent="    # ") if known else []
    return [line.replace(GLUE, " ") for line in lines]


def _shape(leaf: Leaf) -> str:
    kind = {"float64": "", "float32": "float32 ", "bool": "bool ", "int64": "int "}[leaf.dtype]
    return f"{kind}{leaf.shape}" if leaf.shape else f"{kind}number" if not kind else kind.strip()


def _returned(scope: Scope, made: list[Value], words: Mapping[int, str], line: Any) -> list[str]:
    before = len(scope.lines)
    parts = [_end(value) for value in made]
    one = f"    return {', '.join(parts) if parts else '()'}"
    if len(one) > WIDTH and len(parts) > 1:
        parts = [
            part if len(part) < 20 else _under_name(scope, part, words.get(k, "y"))
            for part, k in zip(parts, line.outputs, strict=True)
        ]
        one = f"    return {', '.join(parts)}"
    added = scope.lines[before:]
    del scope.lines[before:]
    return [*added, *broken(one)]


def _end(value: Value) -> str:
    """The text of a result."""
    node = whole(value)
    found = text(node)
    if not value.shape and value.leaf.dtype == "float32" and is_number(node):
        return f"np.float32({found})"
    return found


def _under_name(scope: Scope, part: str, base: str) -> str:
    word = scope.page.fresh(base)
    scope.put(f"{word} = {part}")
    return word

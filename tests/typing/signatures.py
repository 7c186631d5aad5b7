"""The signatures of overloaded functions, made from rows: `python -m tests.typing.signatures` writes them into stubs.

Each package has a file `_calls.pyi` that no module stands behind: type checkers read there what a function of the
package accepts and gives. In its module a function stands once, with its body, under
`@overloaded(lambda: _calls.grad)`. The rows are in `tests/typing/rows`, a file a package: for each module its functions
and methods with their signatures, as text; families of signatures are comprehensions.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tests.typing.rows import adjoint, diff, hilbert, linmap
from tests.typing.verdict import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

PACKAGES: dict[str, ModuleType] = {"hilbert": hilbert, "linmap": linmap, "diff": diff, "adjoint": adjoint}
"""The rows of each package."""

HEAD = """\
# Written by `make signatures` from tests/typing/rows/{package}.py: change the rows there, not this file.
# No module stands behind it: the functions are in the modules that the comments name.
"""


class Call(NamedTuple):
    """A function or method of a module, by its name there, and its signatures."""

    module: str
    name: str
    signatures: list[str]

    @property
    def stub(self) -> str:
        """Its name in the stub: that of a method begins with its class."""
        return self.name.replace(".", "_")

    @property
    def line(self) -> str:
        """The first line of its docstring, which editors show."""
        return documented(self.module).get(self.name, "")


def calls(package: str) -> Iterator[Call]:
    """The overloaded functions and methods of a package."""
    for module, rows in PACKAGES[package].ROWS.items():
        for name, signatures in rows.items():
            yield Call(module, name, signatures)


@cache
def documented(module: str) -> dict[str, str]:
    """The first line of the docstring of each function and method of a module that has one."""
    tree = ast.parse((ROOT / module.replace(".", "/")).with_suffix(".py").read_text("utf-8"))
    owners = [("", tree.body), *((f"{node.name}.", node.body) for node in tree.body if isinstance(node, ast.ClassDef))]
    found = [(owner + f.name, f) for owner, body in owners for f in body if isinstance(f, ast.FunctionDef)]
    return {name: doc.splitlines()[0] for name, f in found if (doc := ast.get_docstring(f))}


def variables(package: str) -> Iterator[str]:
    """The type variables of a package, each on a line; a kind is a bound, or a class of variables."""
    for names, kind in PACKAGES[package].VARIABLES.items():
        for name in names.split():
            if kind in {"ParamSpec", "TypeVarTuple"}:
                yield f'{name} = {kind}("{name}")'
            else:
                yield f'{name} = TypeVar("{name}"{f", bound={kind}" if kind else ""})'


def stub(package: str) -> str:
    """The text of the stub of a package."""
    lines = [HEAD.format(package=package) + PACKAGES[package].IMPORTS, *variables(package)]
    lines.append(getattr(PACKAGES[package], "ALIASES", ""))
    if classes := getattr(PACKAGES[package], "CLASSES", None):
        lines += ["\n# the methods along axes, from hilbert.space.vector_methods", *classes]
    module = ""
    for call in calls(package):
        if call.module != module:
            module = call.module
            lines.append(f"\n# {module}")
        for k, signature in enumerate(call.signatures):
            text, mark, comment = signature.partition("  #")
            body = f'{mark}{comment}\n    """{call.line}"""' if k == 0 and call.line else f" ...{mark}{comment}"
            mark_of_many = "@overload\n" if len(call.signatures) > 1 else ""
            lines.append(f"{mark_of_many}def {call.stub}{text}:{body}")
    return "\n".join(lines) + "\n"


def path(package: str) -> Path:
    """The file of the stub of a package."""
    return ROOT / package / "_calls.pyi"


def main() -> None:
    """Write the stubs."""
    for package in PACKAGES:
        path(package).write_text(stub(package), "utf-8")


if __name__ == "__main__":
    main()

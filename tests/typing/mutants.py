"""Remove each typed overload of the packages in turn: some model must then get another verdict, of mypy or pyright.

    make typing-mutants [ARGS="part of a file's path or of a function's name …"]

The packages are copied to a temporary folder; an overload is blanked there and one model after another is checked, with
a copy of mypy's cache, until an error or a revealed type of its is no longer what it was. A model that noticed the
overload before is asked first, then those that write the function's name or sign most often. Where mypy says the same
of all models, pyright is asked: operands of unknown type are Any to mypy, whatever the overloads are.
"""

import ast
import functools
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.typing.verdict import FOLDER, MODELS, ROOT, Place, Verdict, check, check_by_pyright

PACKAGES = ("hilbert", "linmap", "diff", "adjoint")
QUIET = ["--follow-imports=silent"]  # of the packages only the signatures matter here
SINGLY = 3  # models that are asked one by one before all others are asked together
SIGNS = {
    "__call__": "(",
    "__getitem__": "[",
    "over": "fun.over(",
    "at": ".at(",
    "__add__": " + ",
    "__sub__": " - ",
    "__mul__": " * ",
    "__rmul__": " * ",
    "__rtruediv__": " / ",
    "__matmul__": " @ ",
    "__rmatmul__": " @ ",
    "__gt__": " > ",
    "__ge__": " >= ",
    "__lt__": " < ",
    "__le__": " <= ",
}


@dataclass
class Overload:
    """One signature of a function, and the lines that it stands on."""

    path: Path
    node: ast.FunctionDef

    @property
    def name(self) -> str:
        return f"{self.path}:{self.node.lineno} {self.node.name}"

    @property
    def signature(self) -> str:
        result = ast.unparse(self.node.returns) if self.node.returns else ""
        return f"({ast.unparse(self.node.args)}) -> {result}"

    def blanked(self, source: str) -> str:
        """The source without this signature, its other lines in their places."""
        lines = source.splitlines(keepends=True)
        first = min(decorator.lineno for decorator in self.node.decorator_list)
        last = self.node.end_lineno or self.node.lineno
        return "".join("\n" if first <= k <= last else line for k, line in enumerate(lines, 1))


def overloads(root: Path) -> Iterator[Overload]:
    """Every @overload of the packages."""
    for path in sorted(path for package in PACKAGES for path in (root / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "overload" for d in node.decorator_list):
                yield Overload(path.relative_to(root), node)


def changed(before: Verdict, after: Verdict, models: list[Path]) -> list[Place]:
    """The lines of models of which a type checker says something else."""
    names = {path.name for path in models}
    places = {place for verdict in (before, after) for place in [*verdict.errors, *verdict.notes] if place[0] in names}
    return sorted(
        place
        for place in places
        if before.errors.get(place) != after.errors.get(place) or before.notes.get(place) != after.notes.get(place)
    )


class Laboratory:
    """A copy of the packages and the models, what mypy says of it, and the model that noticed the last overload."""

    def __init__(self, folder: Path) -> None:
        self.root, self.cache, self.scratch = folder / "root", folder / "cache", folder / "scratch"
        leave = shutil.ignore_patterns("__pycache__")
        for package in PACKAGES:
            shutil.copytree(ROOT / package, self.root / package, ignore=leave)
        shutil.copytree(FOLDER, self.root / FOLDER.relative_to(ROOT), ignore=leave)
        shutil.copy(ROOT / "pyproject.toml", self.root)
        self.before = check(self.root, self.cache, options=QUIET)
        self.witness: Path | None = None

    def says(self, models: list[Path]) -> list[Place]:
        """The lines whose verdict changes in a copy of the cache, so that each mutant starts from the same state."""
        shutil.copytree(self.cache, self.scratch)
        after = check(self.root, self.scratch, models, QUIET)
        shutil.rmtree(self.scratch)
        return changed(self.before, after, models)

    def order(self, name: str) -> list[Path]:
        """The models, those first that are likely to use a function."""
        sign = SIGNS.get(name, f"{name}(")
        return sorted(MODELS, key=lambda path: (path != self.witness, -path.read_text("utf-8").count(sign)))

    def noticed(self, overload: Overload) -> list[Place]:
        """The lines of models, of the first one if it is one of the likely, that notice that an overload is missing."""
        file = self.root / overload.path
        source = file.read_text("utf-8")
        file.write_text(overload.blanked(source), "utf-8")
        order = self.order(overload.node.name)
        try:
            for models in [*([model] for model in order[:SINGLY]), order[SINGLY:]]:
                if lines := self.says(models):
                    self.witness = FOLDER / lines[0][0]
                    return lines
            by_pyright = check_by_pyright(MODELS, self.root)
        finally:
            file.write_text(source, "utf-8")
        return changed(self.unchanged_by_pyright, by_pyright, MODELS)

    @functools.cached_property
    def unchanged_by_pyright(self) -> Verdict:
        """What pyright says of the models and the packages as they are."""
        return check_by_pyright(MODELS, self.root)


def main(parts: list[str]) -> int:
    """Print a line for each overload; 1 if one can go without any model noticing."""
    start = time.monotonic()
    unnoticed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(Path(folder))
        for overload in overloads(laboratory.root):
            if parts and not any(part in overload.name for part in parts):
                continue
            lines = laboratory.noticed(overload)
            count += 1
            unnoticed += not lines
            witness = f"{lines[0][0]}:{lines[0][1]}" if lines else f"UNNOTICED {overload.signature}"
            print(f"{overload.name:<40} {witness}", flush=True)
    print(f"{count} overloads, {unnoticed} unnoticed, {time.monotonic() - start:.0f} s")
    return int(unnoticed > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

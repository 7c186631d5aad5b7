"""Remove each overload of the packages in turn: some model must then get another verdict, of mypy or pyright.

    make typing-mutants [ARGS="part of a file's path or of a function's name …"]

The packages are copied to a temporary folder, their signatures only: what models are told does not depend on bodies,
and without them mypy has little to look at again. An overload is blanked there and one model after another is checked,
with a copy of mypy's cache, until an error or a revealed type of its is no longer what it was. Models that noticed an
overload of the function are asked first, then those that write its name or sign most often. Pyright is asked, too, of
one model early, since operands of unknown type are Any to mypy, whatever the overloads are; of all at the end.
"""

import ast
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.typing.verdict import FOLDER, MODELS, ROOT, Place, Verdict, check, check_by_pyright, marks

PACKAGES = ("hilbert", "linmap", "diff", "adjoint")
QUIET = ["--follow-imports=silent"]  # of the packages only the signatures matter here
SINGLY = 3  # models that are asked one by one before others are asked 2, 4, 8, … together
UNKNOWN = [FOLDER / "unknown.py"]
SIGNS = {
    "__call__": "(",
    "__getitem__": "[",
    "over": "fun.over(",
    "at": ".at(",
    "__add__": " + ",
    "__sub__": " - ",
    "__mul__": " * ",
    "__rmul__": " * ",
    "__truediv__": " / ",
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
    def called(self) -> str:
        """The name of the function or method; in a stub that of a method stands behind its class."""
        owner, _, method = self.node.name.partition("_")
        return method if owner[:1].isupper() else self.node.name

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
    files = (path for package in PACKAGES for path in (root / package).rglob("*") if path.suffix in {".py", ".pyi"})
    for path in sorted(files):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "overload" for d in node.decorator_list):
                yield Overload(path.relative_to(root), node)


def signatures(source: str) -> str:
    """A module without the bodies of its functions: those that say what they return and set no attribute."""
    lines = source.splitlines(keepends=True)
    todo: list[ast.AST] = [ast.parse(source)]
    while todo:
        node = todo.pop()
        if not isinstance(node, ast.FunctionDef):
            todo += ast.iter_child_nodes(node)
        elif node.returns and not any(isinstance(n, ast.Attribute) and _is_set(n) for n in ast.walk(node)):
            first, last = node.body[0], node.end_lineno or node.lineno
            start = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
            if not lines[start - 1][: first.col_offset].strip():  # it stands on lines of its own
                lines[start - 1 : last] = [" " * first.col_offset + "raise AssertionError\n", *["\n"] * (last - start)]
    return "".join(lines)


def _is_set(attribute: ast.Attribute) -> bool:
    return isinstance(attribute.ctx, ast.Store)


def batches(models: list[Path]) -> Iterator[list[Path]]:
    """One model, some times, then 2, 4, 8, …"""
    size, rest = 1, models[SINGLY:]
    yield from ([model] for model in models[:SINGLY])
    while rest:
        size *= 2
        yield rest[:size]
        rest = rest[size:]


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
    """A copy of the signatures and the models, what mypy says of it, and for each function the models that noticed."""

    def __init__(self, folder: Path) -> None:
        self.root, self.cache, self.scratch = folder / "root", folder / "cache", folder / "scratch"
        leave = shutil.ignore_patterns("__pycache__")
        for package in PACKAGES:
            shutil.copytree(ROOT / package, self.root / package, ignore=leave)
            for path in (self.root / package).rglob("*.py"):
                path.write_text(signatures(path.read_text("utf-8")), "utf-8")
        shutil.copytree(FOLDER, self.root / FOLDER.relative_to(ROOT), ignore=leave)
        shutil.copy(ROOT / "pyproject.toml", self.root)
        self.before = check(self.root, self.cache, options=QUIET)
        self.plain = shutil.copytree(self.root, folder / "plain")
        self.unchanged: dict[tuple[Path, ...], Verdict] = {}  # what pyright says of models as they are
        self.witnesses: dict[str, list[Path]] = defaultdict(list)
        if self.before.errors != marks().errors:
            places = [f"{name}:{line}" for name, line in changed(self.before, marks(), MODELS)]
            msg = f"without bodies mypy says something else, first of {places[0]}"
            raise RuntimeError(msg)

    def by_mypy(self, models: list[Path]) -> list[Place]:
        """The lines whose verdict changes in a copy of the cache, so that each mutant starts from the same state."""
        shutil.copytree(self.cache, self.scratch)
        after = check(self.root, self.scratch, models, QUIET)
        shutil.rmtree(self.scratch)
        return changed(self.before, after, models)

    def by_pyright(self, models: list[Path]) -> list[Place]:
        """The lines of which pyright says something else."""
        after, asked = check_by_pyright(models, self.root), tuple(models)
        if asked not in self.unchanged:
            self.unchanged[asked] = check_by_pyright(models, self.plain)
        return changed(self.unchanged[asked], after, models)

    def order(self, name: str) -> list[Path]:
        """The models, those first that noticed an overload of a function, then those that are likely to use it."""
        sign, known = SIGNS.get(name, f"{name}("), self.witnesses[name]
        others = [path for path in MODELS if path not in known]
        return [*known, *sorted(others, key=lambda path: -path.read_text("utf-8").count(sign))]

    def noticed(self, overload: Overload) -> list[Place]:
        """The lines of models, of the first one if it is one of the likely, that notice that an overload is missing."""
        file = self.root / overload.path
        source = file.read_text("utf-8")
        file.write_text(overload.blanked(source), "utf-8")
        known = self.witnesses[overload.called]
        asked = [(self.by_mypy, models) for models in batches(self.order(overload.called))]
        asked[SINGLY:SINGLY] = [(self.by_pyright, UNKNOWN)]
        try:
            for says, models in [*asked, (self.by_pyright, MODELS)]:
                if lines := says(models):
                    witness = FOLDER / lines[0][0]
                    known[:] = [witness, *(path for path in known if path != witness)]
                    return lines
        finally:
            file.write_text(source, "utf-8")
        return []


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

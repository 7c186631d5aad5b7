"""The rooms of the library in numbers: `python -m tests.rooms` prints modules, doubled names and imports between rooms.

A room is a folder with the modules in it; a hint is an import that only type checkers see. Upward means against the
order of import-linter's contracts; a circle is a set of modules each of which leads to each other by imports of any
kind. `python -m tests.rooms DIR` counts another checkout.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = ("hilbert", "linmap", "diff", "adjoint")
ROOT = Path(__file__).parents[1]


class Arrow(NamedTuple):
    """An import of one module by another; `kind` is run, late (in a function) or hint."""

    source: str
    target: str
    kind: str


def modules(root: Path) -> dict[str, Path]:
    """The modules of the four packages by their dotted names; a folder stands for its `__init__`."""
    files = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def imports(node: ast.AST, known: dict[str, Path], kind: str = "run") -> Iterator[tuple[str, str]]:
    """The modules that a file imports, each with the kind of the import."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=rest):
                for statement in body:
                    yield from imports(ast.Module([statement], []), known, "hint")
                for statement in rest:
                    yield from imports(ast.Module([statement], []), known, kind)
            case ast.Import(names):
                yield from ((alias.name, kind) for alias in names)
            case ast.ImportFrom(module, names) if module:
                for alias in names:
                    whole = f"{module}.{alias.name}"
                    yield (whole if whole in known else module), kind
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from imports(child, known, "late" if kind == "run" else kind)
            case _:
                yield from imports(child, known, kind)


def arrows(root: Path) -> list[Arrow]:
    """Every import of a module of the library by another, once for each kind; the door's are left out."""
    known = modules(root)
    found = {
        Arrow(name, target, kind)
        for name, path in known.items()
        if not name.startswith("hilbert.all")
        for target, kind in imports(ast.parse(path.read_text("utf-8")), known)
        if target in known
    }
    return sorted(found)


def room(module: str, known: dict[str, Path]) -> str:
    """The folder that a module stands in."""
    return module if known[module].name == "__init__.py" else module.rpartition(".")[0]


def sizes(root: Path) -> Counter[str]:
    """The modules of each room, `__init__` not counted."""
    known = modules(root)
    return Counter(room(name, known) for name, path in known.items() if path.name != "__init__.py")


def doubled(root: Path) -> dict[str, list[str]]:
    """Names of files that stand in more than one room, with these rooms."""
    known, found = modules(root), defaultdict[str, list[str]](list)
    for name, path in known.items():
        if not path.name.startswith("__"):
            found[path.name].append(room(name, known))
    return {name: rooms for name, rooms in sorted(found.items()) if len(rooms) > 1}


def contracts(root: Path) -> list[dict[str, int]]:
    """The height of each layer, for each contract about rooms."""
    found = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    rows = [contract["layers"][::-1] for contract in found if contract["name"].startswith("the rooms")]
    return [
        {layer.strip(): height for height, row in enumerate(layers) for layer in row.replace(":", "|").split("|")}
        for layers in rows
    ]


def upward(root: Path) -> list[Arrow]:
    """Imports from a layer of a contract into a higher one."""

    def height(module: str, heights: dict[str, int]) -> int | None:
        names = module.split(".")
        prefixes = (".".join(names[:k]) for k in range(len(names), 0, -1))
        return next((heights[prefix] for prefix in prefixes if prefix in heights), None)

    def is_up(arrow: Arrow, heights: dict[str, int]) -> bool:
        low, high = height(arrow.source, heights), height(arrow.target, heights)
        return low is not None and high is not None and low < high

    every = contracts(root)
    return [arrow for arrow in arrows(root) if any(is_up(arrow, heights) for heights in every)]


def circles(root: Path) -> list[list[str]]:
    """Sets of modules that lead to each other by imports of any kind; the lists of names in `__init__` apart."""
    known = modules(root)
    below = defaultdict[str, set[str]](set)
    for arrow in arrows(root):
        if arrow.target != arrow.source and known[arrow.source].name != "__init__.py":
            below[arrow.source].add(arrow.target)
    above = defaultdict[str, set[str]](set)
    for source, targets in below.items():
        for target in targets:
            above[target].add(source)
    found = {frozenset(reached(name, below) & reached(name, above)) for name in sorted(below)}
    return sorted(sorted(circle) for circle in found if len(circle) > 1)


def reached(start: str, arrows_from: dict[str, set[str]]) -> set[str]:
    """The modules that arrows lead to from one module, in any number of steps, and the module."""
    seen, todo = {start}, [start]
    while todo:
        new = arrows_from.get(todo.pop(), set()) - seen
        seen |= new
        todo += new
    return seen


def table(root: Path) -> str:
    """The numbers as text."""
    count, names, known, every = sizes(root), doubled(root), modules(root), arrows(root)
    lines = [f"{len(known)} files, {len(count)} rooms, at most {max(count.values())} modules in a room"]
    lines += [f"  {n:3} {name}" for name, n in count.most_common() if n > 12]
    lines += [f"{len(names)} names of files stand twice or more: {', '.join(names)}"]
    for package in PACKAGES:
        between = Counter[str]()
        for arrow in every:
            ends = room(arrow.source, known), room(arrow.target, known)
            if ends[0] != ends[1] and all(end.split(".")[0] == package for end in ends):
                between[arrow.kind] += 1
        lines.append(
            f"imports between rooms of {package}: " + ", ".join(f"{n} {k}" for k, n in sorted(between.items()))
        )
    up = upward(root)
    lines.append(f"upward: {dict(Counter(arrow.kind for arrow in up))}")
    lines += [f"  {arrow.kind:4} {arrow.source} → {arrow.target}" for arrow in up]
    rings = circles(root)
    lines.append(f"circles: {len(rings)}, with {sum(map(len, rings))} modules")
    lines += [f"  {len(circle)} {', '.join(circle)}" for circle in rings]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT) + "\n")

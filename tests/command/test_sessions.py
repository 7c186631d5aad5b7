"""The command as it is used: files, command lines, and what they print, to the letter; lines of stderr begin with !.

`python -m tests.command.test_sessions` writes the expected lines anew: read the difference.
"""

import os
import re
import shlex
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from adjoint.command import main
from adjoint.command.help import HELP

SESSIONS = Path(__file__).parent / "sessions.txt"


def read() -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The files by name, and the command lines with what they print."""
    head, _, tail = SESSIONS.read_text("utf-8").partition("---\n$ ")
    parts = re.split(r"^--- (.*)\n", head, flags=re.MULTILINE)[1:]
    commands = [command.partition("\n") for command in f"\n$ {tail}".split("\n$ ")[1:]]
    return dict(zip(parts[::2], parts[1::2], strict=True)), [
        (line, printed.strip("\n")) for line, _, printed in commands
    ]


FILES, COMMANDS = read()


def make(folder: Path) -> None:
    """Write the files, and the data."""
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "notes.txt").write_text("f = 1 +\n", "utf-8")
    (folder / "w.json").write_text("[1.0, 2]", "utf-8")
    (folder / "half.json").write_text("0.5", "utf-8")
    np.save(folder / "w.npy", [1, 2])
    np.save(folder / "three.npy", [1.0, 2.0, 3.0])
    np.save(folder / "objects.npy", np.array([1, "a"], object))
    np.savez(folder / "wx.npz", w=[1.0, 2.0], x=[0.5, -0.5])


def printed(line: str) -> str:
    """What a command line prints, and its exit status where that is not 0."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(shlex.split(line)[1:])
    lines = [*out.getvalue().splitlines(), *(f"! {text}".rstrip() for text in err.getvalue().splitlines())]
    return "\n".join([*lines, *([f"[{status}]"] if status else [])])


@pytest.fixture(scope="module")
def folder() -> Path:
    """Where the files are."""
    made = Path(tempfile.mkdtemp())
    make(made)
    return made


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("line", "expected"), COMMANDS, ids=[line for line, _ in COMMANDS])
def test_session(line: str, expected: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Output, errors and status."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert printed(line) == expected


def test_examples_of_help() -> None:
    """Each example of each --help is one of the command lines."""
    examples = [line.strip() for text in HELP.values() for line in text.splitlines() if "model.py" in line]
    assert len(examples) >= 8
    assert set(examples) <= {line for line, _ in COMMANDS}


def test_examples_of_the_page() -> None:
    """Each command line of docs/command.md prints what the page says."""
    page = (Path(__file__).parent.parent.parent / "docs" / "command.md").read_text("utf-8")
    examples = [e.split("\n", 1) for e in re.findall(r"^    \$ ((?:.*\n)(?:    (?!\$).*\n)*)", page, re.MULTILINE)]
    plain = {line: re.sub(r"^! |\n\[1\]$", "", printed, flags=re.MULTILINE) for line, printed in COMMANDS}
    assert len(examples) >= 8
    for line, shown in examples:
        assert plain[line] == re.sub("^    ", "", shown, flags=re.MULTILINE).strip("\n"), line


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        make(Path(name))
        head = SESSIONS.read_text("utf-8").partition("---\n$ ")[0]
        lines = [f"$ {line}\n{printed(line)}\n" for line, _ in COMMANDS]
        SESSIONS.write_text(f"{head}---\n{''.join(lines)}", "utf-8")

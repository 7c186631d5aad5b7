"""The command as it is used: files, command lines, and what they print, to the letter; lines of stderr begin with !.

`python -m tests.command.test_sessions` writes the expected lines anew: read the difference. A file that registers
something, such as a primitive, is named by one command only.
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
from adjoint.languages.stages import STAGES

SESSIONS = [Path(__file__).parent / f"{name}.txt" for name in ("sessions", "caddie", "lambda", "ks", "contract")]


def read(path: Path) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The files by name, and the command lines with what they print."""
    head, _, tail = path.read_text("utf-8").partition("---\n$ ")
    parts = re.split(r"^--- (.*)\n", head, flags=re.MULTILINE)[1:]
    commands = [command.partition("\n") for command in f"\n$ {tail}".split("\n$ ")[1:]]
    return dict(zip(parts[::2], parts[1::2], strict=True)), [
        (line, printed.strip("\n")) for line, _, printed in commands
    ]


READ = {path.stem: read(path) for path in SESSIONS}
COMMANDS = [command for _, commands in READ.values() for command in commands]


def make(folder: Path, files: dict[str, str]) -> None:
    """Write the files, and the data."""
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "notes.txt").write_text("f = 1 +\n", "utf-8")
    (folder / "w.json").write_text("[1.0, 2]", "utf-8")
    (folder / "half.json").write_text("0.5", "utf-8")
    (folder / "bom.ks").write_bytes(
        b"\xef\xbb\xbf(def f Float (x : Float) (mul x x))\r\n(def g Float (x : Float)\r\n  (mul x y))\r\n"
    )
    (folder / "nul.ks").write_bytes(b"(def f Float (x : Float) (mul x \0 y))\r")
    (folder / "bad8.ks").write_bytes(b'(def f Float (x : Float)\r(mul x "\xff"))\r')
    for name, text in {"mixed": "[1, 2.5, true]", "jag": "[[1, 2], [3]]", "d": '{"a": 1}', "bad": "[1,"}.items():
        (folder / f"{name}.json").write_text(text, "utf-8")
    (folder / "printed.txt").write_text("((1.0, 2.5), [3])\n", "utf-8")
    (folder / "itself.txt").write_text("[@itself.txt]", "utf-8")
    (folder / "nested.json").write_text("[[1, 2.5], [3]]", "utf-8")
    (folder / "pairs.json").write_text("[[1, 2.5], [3, 4]]", "utf-8")
    np.save(folder / "pairs.npy", [[1.0, 2.5], [3.0, 4.0]])
    (folder / "mark.json").write_bytes(b"\xef\xbb\xbf[1.5, 2]")
    for name, raw in {"text.npy": b"1 2 3", "empty.npy": b"", "part.npz": b"PK\x03\x04", "text.npz": b"1 2"}.items():
        (folder / name).write_bytes(raw)
    np.save(folder / "truths.npy", [True, False])
    np.save(folder / "texts.npy", ["a", "b"])
    np.save(folder / "i.npy", [1, 2])
    np.save(folder / "b.npy", [True])
    np.save(folder / "s.npy", 2.5)
    np.save(folder / "complex.npy", [1j])
    np.savez(folder / "z.npz", a=[1.0], b=2.0)
    raw = (folder / "z.npz").read_bytes()
    (folder / "changed.npz").write_bytes(raw.replace(np.float64(1.0).tobytes(), np.float64(3.0).tobytes(), 1))
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


def alone(line: str, folder: Path) -> str:
    """The text that a command line prints; modules loaded from its folder are forgotten, as in a process of its own."""
    before = set(sys.modules)
    text = printed(line)
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or ".").resolve().parent == folder.resolve():
            del sys.modules[name]
    return text


@pytest.fixture(scope="module")
def folders() -> dict[str, Path]:
    """Where the files of each session are."""
    made = {name: Path(tempfile.mkdtemp()) for name in READ}
    for name, folder in made.items():
        make(folder, READ[name][0])
    return made


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("session", "line", "expected"),
    [pytest.param(name, *command, id=command[0]) for name, (_, commands) in READ.items() for command in commands],
)
def test_session(
    session: str, line: str, expected: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Output, errors and status."""
    monkeypatch.chdir(folders[session])
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert alone(line, folders[session]) == expected


def test_examples_of_help() -> None:
    """Each example of each --help is one of the command lines."""
    lines = [line for text in HELP.values() for line in text.splitlines()]
    examples = [line.strip() for line in lines if re.match(r"  hilbert .*(model\.py|lesson\.cad|notes\.ks)", line)]
    assert len(examples) >= 8
    assert set(examples) <= {line for line, _ in COMMANDS}


def test_stages_are_documented() -> None:
    """Each stage of `hilbert show` stands in its help and on the page of the command."""
    page = (Path(__file__).parent.parent.parent / "docs" / "command.md").read_text("utf-8")
    assert [name for name in STAGES if f"`{name}`" not in page] == []
    assert [name for name in STAGES if not re.search(rf"\b{name}\b", HELP["show"])] == []


@pytest.mark.parametrize(("name", "least"), [("README.md", 1), ("docs/command.md", 8)])
def test_examples_of_the_page(name: str, least: int) -> None:
    """Each command line of a page prints what the page says."""
    page = (Path(__file__).parent.parent.parent / name).read_text("utf-8")
    examples = [e.split("\n", 1) for e in re.findall(r"^    \$ ((?:.*\n)(?:    (?!\$).*\n)*)", page, re.MULTILINE)]
    plain = {line: re.sub(r"^! |\n\[1\]$", "", printed, flags=re.MULTILINE) for line, printed in COMMANDS}
    assert len(examples) >= least
    for line, shown in examples:
        assert plain[line] == re.sub("^    ", "", shown, flags=re.MULTILINE).strip("\n"), line


if __name__ == "__main__":
    for path in SESSIONS:
        files, commands = READ[path.stem]
        with tempfile.TemporaryDirectory() as name:
            os.chdir(name)
            make(Path(name), files)
            head = path.read_text("utf-8").partition("---\n$ ")[0]
            lines = [f"$ {line}\n{alone(line, Path(name))}\n" for line, _ in commands]
            path.write_text(f"{head}---\n{''.join(lines)}", "utf-8")

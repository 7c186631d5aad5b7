"""The command as a process of its own: the installed script, pipes, files that it writes, and colours."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from adjoint.command import main

MODEL = "import hilbert.all as hb\nf = hb.fun(hb.R)(lambda x: x * x)\ng = hb.fun(hb.R)(lambda x: hb.sin(x) @ 2)\n"
ROOT = Path(__file__).parent.parent.parent


def process(*words: str, given: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **more}
    command = [sys.executable, "-m", "adjoint.command", *words]
    return subprocess.run(command, input=given, capture_output=True, text=True, env=env, check=False)  # noqa: S603


def test_standard_input() -> None:
    """`-` is the standard input."""
    done = process("run", "-", "f", "3", "--lang", "py", given=MODEL.partition("g =")[0])
    assert (done.stdout, done.stderr, done.returncode) == ("9.0\n", "", 0)
    done = process("check", "-", "--lang", "py", given=MODEL)
    assert done.stderr.startswith("-:3:28: ")
    assert done.returncode == 1


def test_standard_input_among_files(tmp_path: Path) -> None:
    """`-` may have a name behind it, and stand among files; where there is none, that is said."""
    (tmp_path / "m.cad").write_text("fun f x = x * x\n", "utf-8")
    done = process("run", "-:g", "3", "--lang", "cad", given="fun g x = x + x\n")
    assert (done.stdout, done.stderr, done.returncode) == ("6.0\n", "", 0)
    done = process("check", f"-,{tmp_path}/m.cad", "--lang", "cad", given="fun g x = x + x\n")
    assert (done.stdout, done.stderr) == ("g : real -> real\nf : real -> real\n", "")
    command = f"{sys.executable} -m adjoint.command check - --lang cad <&-"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    closed = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, env=env, check=False)  # noqa: S603
    assert (closed.stderr, closed.returncode) == ("hilbert: cannot read -: there is no standard input\n", 2)


def test_an_output_that_has_not_all_characters(tmp_path: Path) -> None:
    """What it has no characters for is escaped, and so are halves of characters."""
    (tmp_path / "m.ks").write_text("(def s String (x : String) x)\n", "utf-8")
    for encoding, due in (("latin-1", b'"\\u211d\xe9\\ud800"\n'), ("utf-8", b'"\xe2\x84\x9d\xc3\xa9\\ud800"\n')):
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
        command = [sys.executable, "-m", "adjoint.command", "run", f"{tmp_path}/m.ks", "s", r'"\u211dé\ud800"']
        done = subprocess.run(command, capture_output=True, env=env, check=False)  # noqa: S603
        assert (done.stdout, done.stderr, done.returncode) == (due, b"", 0)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_ends_quietly(tmp_path: Path, unbuffered: str) -> None:
    """As `head` closes it, in the middle of a line; the status is that of a program that the signal ends."""
    (tmp_path / "m.py").write_text("import hilbert.all as hb\nbig = (hb.R ** hb.Fin.of(10**5)).ones()\n", "utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-m", "adjoint.command", "run", f"{tmp_path}/m.py", "-e", "big"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as running:  # noqa: S603
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.read(20) == b"[1.0, 1.0, 1.0, 1.0,"
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 141


def test_an_interrupt_ends_quietly(tmp_path: Path) -> None:
    """Ctrl-C while a file is executed: no traceback, and the status that shells expect."""
    (tmp_path / "m.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(60)\n", "utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "adjoint.command", "check", f"{tmp_path}/m.py"]
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a child of a job in the background ignores it otherwise
    try:
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)  # noqa: S603
    finally:
        signal.signal(signal.SIGINT, before)
    with running:
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        running.send_signal(signal.SIGINT)
        said = running.communicate(timeout=30)
    assert said == ("", "")
    assert running.returncode == 130


@pytest.mark.parametrize("words", ["--help", "run m.py f 3"])
@pytest.mark.parametrize(
    ("to", "says", "status"), [(">&-", "", 0), (">/dev/full", "hilbert: cannot write the result: ", 1)]
)
def test_nowhere_to_write(words: str, to: str, says: str, status: int, tmp_path: Path) -> None:
    """A closed output takes nothing; a full one is one line of an error."""
    (tmp_path / "m.py").write_text(MODEL.partition("g =")[0], "utf-8")
    line = f"{sys.executable} -m adjoint.command {words} {to}"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, env=env, check=False)  # noqa: S602
    assert done.stderr.startswith(says)
    assert (done.stderr.count("\n"), done.returncode) == (status, status)


def test_output_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """-o writes what would be printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "m.py").write_text(MODEL.partition("g =")[0], "utf-8")
    assert main(["show", "m.py", "f", "--stage", "text", "-o", "out.txt"]) == 0
    assert (tmp_path / "out.txt").read_text("utf-8") == "x ↦ x·x\n"
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "raw", [b"\xff", b"f = 1\n\xe9", b"f = '\0'", b"(" * 10**5, b"-" * 10**5, b"f = 1\r\n)\r\n", b"a = 1;" * 10**6]
)
def test_bytes_that_are_no_text(raw: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are refused with a place."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "m.py").write_bytes(raw)
    done = process("check", str(tmp_path / "m.py"))
    assert done.stderr.startswith(f"{tmp_path}/m.py:")
    assert "Traceback" not in done.stderr
    assert done.returncode == 1


def test_byte_order_mark(tmp_path: Path) -> None:
    """It is no part of the text."""
    (tmp_path / "m.py").write_bytes(b"\xef\xbb\xbf" + MODEL.partition("g =")[0].replace("\n", "\r\n").encode())
    done = process("check", str(tmp_path / "m.py"))
    assert (done.stdout, done.stderr) == ("f : ℝ -> ℝ\n", "")


def test_help_needs_no_library() -> None:
    """`hilbert --help` imports neither numpy nor the library, nor does `import adjoint`; a sub-command does."""
    code = """
import sys
from adjoint.command import main
def foreign(): return sorted({'numpy', 'attr', 'hilbert.errors', 'linmap', 'diff', 'opt_einsum'} & sys.modules.keys())
for words in (['--help'], ['--help', 'run'], ['check', '--help'], ['verify', 'f.py', '-h'], ['--version']):
    assert main(words) == 0 and not foreign(), words
assert main(['check', 'no.py']) == 2 and len(foreign()) == 6
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("hilbert: functions in a file")


@pytest.mark.parametrize(("set_", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_on_a_terminal_only(set_: dict[str, str], tmp_path: Path, *, coloured: bool) -> None:
    """An error has colours on a terminal, unless NO_COLOR is set or the terminal has none; in a pipe it has none."""
    (tmp_path / "m.cad").write_text("fun f (x : real) = x * y\n", "utf-8")
    assert "\x1b[" not in process("check", f"{tmp_path}/m.cad").stderr
    ours, theirs = os.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"PYTHONPATH": str(ROOT), "TERM": "xterm", **set_}
    command = [sys.executable, "-m", "adjoint.command", "check", f"{tmp_path}/m.cad"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=theirs, env=env, check=False)  # noqa: S603
    os.close(theirs)
    said = os.read(ours, 10_000).decode()
    os.close(ours)
    assert done.returncode == 1
    assert "m.cad:1:" in said.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert ("\x1b[" in said) == coloured


def test_the_stream_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that calls the command with an output that is not buffered writes on to it afterwards."""
    file = tmp_path / "out.txt"
    with file.open("wb", buffering=0) as raw:
        out = io.TextIOWrapper(cast("Any", raw), encoding="utf-8", write_through=True)
        monkeypatch.setattr(sys, "stdout", out)
        assert main(["--version"]) == 0
        assert sys.stdout is out
        out.write("after")
        out.flush()
    assert file.read_text(encoding="utf-8").endswith("\nafter")

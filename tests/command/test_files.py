"""Files that the command writes and reads, and what a terminal is shown: nothing is lost, nothing read in secret."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from adjoint.command import main
from adjoint.languages.value_text import ValueTextError, parse
from diff.higher.__main__ import main as claims
from hilbert import R, SpaceError
from hilbert.map.vector_files import load

MODEL = "import hilbert.all as hb\nfrom beside_it import two\nf = hb.fun(hb.R)(lambda x: x * two)\n"
SHOW = ["show", "m.py:f", "--stage", "text"]
CONTROL = [chr(k) for k in (*range(32), *range(0x7F, 0xA0))]
"""All characters that a terminal may obey."""
SOME = "\0\1\7\b\t\n\v\f\r\x1b\x1c\x1f\x7f\x80\x85\x9b\x9f"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model, the module that it imports, and other files; where the command runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    (tmp_path / "m.py").write_text(MODEL, "utf-8")
    (tmp_path / "beside_it.py").write_text("two = 2.0\n", "utf-8")
    (tmp_path / "more.py").write_text("g = 1\n", "utf-8")
    (tmp_path / "point.txt").write_text("3.0\n", "utf-8")
    (tmp_path / "notes.md").write_text("notes\n", "utf-8")
    (tmp_path / "old.txt").write_text("old\n", "utf-8")
    (tmp_path / "soft.txt").symlink_to("m.py")
    (tmp_path / "hard.txt").hardlink_to(tmp_path / "beside_it.py")
    (tmp_path / "linked.txt").symlink_to("notes.md")
    (tmp_path / "sub").mkdir()
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder, as they are."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize(
    "out", ["m.py", "./m.py", "sub/../m.py", "soft.txt", "beside_it.py", "hard.txt", "more.py", "point.txt", "{}/m.py"]
)
def test_what_is_read_is_never_overwritten(
    out: str, force: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a text nor an imported module nor the file of a value, under whatever name, with --force neither."""
    before, out = contents(folder), out.format(folder)
    words = ["show", "m.py,more.py", "f", "--stage", "derivative", "--at", "@point.txt", "-o", out, *force]
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"hilbert: cannot write {out}: it is the ")
    assert said.err.endswith("; give -o another name\n")
    assert contents(folder) == before


@pytest.mark.parametrize("out", ["notes.md", "linked.txt"])
def test_other_files_are_replaced_when_that_is_asked_for(
    out: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that end as files of stages do, and with --force the others; the end of a link is that of its file."""
    before = contents(folder)
    assert main([*SHOW, "-o", out]) == 2
    said = capsys.readouterr().err
    why = "it exists, and only files that end in .txt are replaced"
    assert said == f"hilbert: cannot write {out}: {why}; give -o another name, or write --force\n"
    assert contents(folder) == before
    assert main([*SHOW, "-o", out, "--force"]) == 0
    assert Path(out).read_text("utf-8") == "x ↦ 2·x\n"


@pytest.mark.parametrize("out", ["old.txt", "new.txt", "new.py", "new"])
def test_other_files_are_written(out: str, folder: Path) -> None:
    """A file of a stage is replaced, and any name is good for a new one."""
    assert main([*SHOW, "-o", out]) == 0
    assert (folder / out).read_text("utf-8") == "x ↦ 2·x\n"


def test_no_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A device takes anything, a folder nothing; no name has a NUL; --force alone is a mistake."""
    assert main([*SHOW, "-o", os.devnull]) == 0
    for out, why in (("sub", "Is a directory"), ("no/x.txt", "No such file or directory"), ("a\0b", "embedded null")):
        assert main([*SHOW, "-o", out]) == 2
        assert why in capsys.readouterr().err
    assert main([*SHOW, "--force"]) == 2
    assert capsys.readouterr().err.startswith("hilbert: show: --force is about the file of -o\n")
    assert (folder / "m.py").read_text("utf-8") == MODEL


def test_the_file_of_the_standard_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is read as well: `hilbert show - f … -o m.cad < m.cad`."""
    file = folder / "m.cad"
    file.write_text("fun f x = x * x\n", "utf-8")
    with file.open(encoding="utf-8") as given:
        monkeypatch.setattr(sys, "stdin", given)
        assert main(["show", "-", "f", "--lang", "cad", "--stage", "text", "--force", "-o", "m.cad"]) == 2
    assert capsys.readouterr().err.startswith("hilbert: cannot write m.cad: it is the file - that is read")
    assert file.read_text("utf-8") == "fun f x = x * x\n"


@pytest.mark.parametrize(
    "text", ["@secret.txt", "(1, @secret.txt)", '["@a", [@secret.txt]]', "@x.npz:k", " @secret.txt"]
)
def test_value_files_refer_to_no_others(text: str, folder: Path) -> None:
    """What a value file may be given by somebody else: it reads no other path, and no lines that double 26 times."""
    (folder / "secret.txt").write_text("42\n", "utf-8")
    (folder / "v.txt").write_text(text, "utf-8")
    with pytest.raises(ValueTextError, match=r'column 1: @v.txt: column \d+: "@.*" refers to another file: write the'):
        parse("@v.txt")
    assert parse("(@secret.txt, 1)") == (42, 1)  # on the command line
    (folder / "v.json").write_text('["@secret.txt", 1]', "utf-8")
    assert parse("@v.json") == ["@secret.txt", 1]  # texts


def test_no_billion_laughs(folder: Path) -> None:
    """Each file twice in the next one."""
    (folder / "l0.txt").write_text("1", "utf-8")
    for k in range(1, 27):
        (folder / f"l{k}.txt").write_text(f"(@l{k - 1}.txt, @l{k - 1}.txt)", "utf-8")
    with pytest.raises(ValueTextError, match="refers to another file"):
        parse("@l26.txt")


@pytest.mark.parametrize("c", SOME, ids=lambda c: f"{ord(c):04x}")
def test_messages_have_no_control_characters(c: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of names, texts and words; only ends of lines, and tabs in a line that is quoted."""
    name = f"m{c}[2Jx.cad"
    with pytest.raises(SpaceError) as caught:
        load(R, folder / "m.py") if c == "\0" else load(R, _copied(folder, c))
    said = [str(caught.value)]
    main(["check", name])
    main(["run", "m.py", f"n{c}[2J"])
    main([f"n{c}[2J"])
    main(["run", "m.py", "f", f"{c}[2J"])
    main(["run", "m.py", "-e", f"'{c}[2J' + f"])
    if c not in "\0\n\r":
        Path(name).write_text(f"fun f (x : real) = x * y # {c}\n", "utf-8")
        main(["check", name])
        Path(name).write_text(f'claim "{c}', "utf-8")
        claims([name])
    said += capsys.readouterr()
    assert not {c for text in said for c in text} & {*CONTROL} - {"\n", "\t"}


def _copied(folder: Path, c: str) -> Path:
    file = folder / f"v{c}.npz"
    file.write_bytes(b"no archive")
    return file


class Terminal(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.mark.parametrize(
    ("words", "shown", "raw"),
    [
        (["m.ks"], "a\\u001b[2J\\u009b", "a\x1b[2J\x9b"),
        (["m.ks", "s", "@v.json"], '"\\u001b[2J\\u009b\\u007f"\n', '"\\u001b[2J\x9b\x7f"\n'),
    ],
)
def test_output_on_a_terminal(
    words: list[str], shown: str, raw: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control characters are escaped there, such that values read back; elsewhere what is printed is what is."""
    (folder / "m.ks").write_text(
        '(def main Integer () (print "a\\u001b[2J\\u009b"))\n(def s String (x : String) x)\n', "utf-8"
    )
    (folder / "v.json").write_text('"\\u001b[2J\\u009b\\u007f"', "utf-8")
    for stream, due in ((Terminal(), shown), (io.StringIO(), raw)):
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["run", *words]) == 0
        assert stream.getvalue() == due
    if len(words) > 1:
        assert parse(shown) == parse(raw) == "\x1b[2J\x9b\x7f"

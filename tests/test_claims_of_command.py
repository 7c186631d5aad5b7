"""Claims of docs/command.md and docs/operations.md that no test held to: each failed on a mutant behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjoint.command import main
from diff import (
    fun,
    operation,
)
from hilbert import Fin, R

X, Y = Fin.of(4), Fin.of(3)
MODEL = """import hilbert.all as hb
f, g = hb.fun(hb.R)(lambda x: x * x), hb.fun(hb.R)(lambda x: 3.0 * x)
try:
    h = 2.0 * hb.identity(hb.R)
except ImportError:
    pass
"""


def test_arguments_of_an_operation_are_read_only() -> None:
    """No side effects: a value that writes into its argument is an error, for what was computed before it, too."""

    def value(_: Any, x: Any) -> Any:
        x += 1.0
        return x

    f = operation("writes", R**X, to=R**X, value=value)
    with pytest.raises(ValueError, match="read-only"):
        fun(R**X)(lambda x: f(2.0 * x))((R**X).ones())


def test_a_tangent_is_never_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the result is one real the *cotangent* is 1.0 if it is left out; a tangent is asked for."""
    file = tmp_path / "model.py"
    file.write_text(MODEL)
    assert main(["diff", str(file), "f", "--at", "2", "--reverse"]) == 0
    assert capsys.readouterr().out == "4.0\n"
    assert main(["diff", str(file), "f", "--at", "2"]) == 2
    assert "along which tangent of f?" in capsys.readouterr().err


def test_all_variables_of_a_module_are_its_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Variables are functions of the library if they are maps: those of a tuple and of a `try`, too."""
    file = tmp_path / "model.py"
    file.write_text(MODEL)
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out == "f : ℝ -> ℝ\ng : ℝ -> ℝ\nh : ℝ -> ℝ\n"


def test_a_file_with_a_colon_in_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`FILE:NAME` stands for `FILE NAME`, unless there is a file of that name."""
    file = tmp_path / "model.py:f.py"
    file.write_text(MODEL)
    (tmp_path / "model.py").write_text("")
    assert main(["run", str(file), "g", "2"]) == 0
    assert capsys.readouterr().out == "6.0\n"


def test_files_hold_entries_of_the_kind_that_is_due(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Truth values in a file are no reals, as `true` is none."""
    text = "import hilbert.all as hb\nf = hb.fun(hb.R ** hb.Fin.of(2))(lambda x: x.sum())\n"
    (tmp_path / "model.py").write_text(text)
    for name, entries, status in (("x", [1, 2], 0), ("b", [True, False], 2)):
        np.save(tmp_path / f"{name}.npy", np.array(entries))
        assert main(["run", str(tmp_path / "model.py"), "f", f"@{tmp_path / name}.npy"]) == status
    assert "is no element of ℝ^2" in capsys.readouterr().err


def test_a_point_is_drawn_where_the_value_is_finite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`verify` draws a point where the function has a value: of a logarithm a positive one."""
    file = tmp_path / "model.py"
    file.write_text("import hilbert.all as hb\nf = hb.fun(hb.R ** hb.Fin.of(8))(lambda x: hb.log(x).sum())\n")
    assert main(["verify", str(file)]) == 0
    assert capsys.readouterr().out == "f : verified\n"


def test_an_error_of_a_run_is_at_its_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An error while a function runs is reported at its place: the line of the step, not that of the `def`."""
    file = tmp_path / "model.py"
    file.write_text(
        "import hilbert.all as hb\nX = hb.Fin.of(2)\n@hb.fun(hb.R ** (X * X), hb.R**X)\ndef solved(A, b):\n"
        "    c = 2.0 * b\n    return hb.solve(A, c)\n"
    )
    assert main(["run", str(file), "solved", "[[0,0],[0,0]]", "[1,2]"]) == 1
    assert capsys.readouterr().err.startswith(f"{file}:6:12: operation solve: ")

"""Claims of docs/command.md, and what errors and steps say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hilbert.all
import hilbert.all as hb
from adjoint.command import main
from adjoint.higher import steps
from diff import const, fun
from diff.higher import Module
from hilbert import R32, Fin, R, SpaceError

# --- docs/command.md ---


MODEL = """from typing import Any
import hilbert.all as hb
X = hb.Fin.of(3)
f: Any = hb.fun(hb.R)(lambda x: x * x)
g = hb.fun(hb.Elements(X))(lambda i: i)
m = hb.fun(hb.R ** X)(lambda x: hb.tanh(x) @ x)
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A file of functions."""
    (tmp_path / "model.py").write_text(MODEL, "utf-8")
    return str(tmp_path / "model.py")


def test_a_closed_pipe_is_status_141(model: str) -> None:
    """A closed pipe ends the command with status 141, without a word."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "adjoint.command", "check", model]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as running:  # noqa: S603
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(timeout=60) == 141


def test_a_file_that_is_missing_is_status_2_before_an_error_in_a_text(tmp_path: Path) -> None:
    """The status is 2 where the command line cannot be followed, also if there is an error in a text, too."""
    wrong, missing = tmp_path / "wrong.py", str(tmp_path / "missing.py")
    wrong.write_text("import hilbert.all as hb\nf = hb.fun(hb.R)(lambda x: x @ 2)\n", "utf-8")
    given = (missing, str(wrong)), (str(wrong), missing), (str(wrong),)
    assert [main(["check", *files]) for files in given] == [2, 2, 1]


def test_a_file_has_at_most_four_million_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of Python has at most 4,000,000 characters."""
    file = tmp_path / "long.py"
    for count, status in ((4_000_000, 0), (4_000_001, 1)):
        file.write_text("#" * count, "utf-8")
        assert main(["check", str(file)]) == status
    assert "a file of 4000001 characters, more than 4000000" in capsys.readouterr().err


def test_variables_with_a_type_are_functions(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Variables of a module are functions of the library if they are maps, in the order of the text."""
    assert main(["check", model]) == 0
    assert capsys.readouterr().out == "f : ℝ -> ℝ\ng : 3 -> 3\nm : ℝ^3 -> ℝ\n"


def test_a_truth_value_is_no_position(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An element of an index set is its position: `true` is none, and the error says so."""
    assert main(["run", model, "g", "true"]) == 2
    assert capsys.readouterr().err == "hilbert: g: true is no element of 3\n"


def test_no_arguments_are_not_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --at real arguments are 0; --at without arguments is none of them."""
    file = tmp_path / "claims.lam"
    file.write_text("def f x = x*x\n", "utf-8")
    assert main(["show", str(file), "f", "--stage", "adjoint"]) == 0
    assert capsys.readouterr().out == "(·x) + (x·)\n"
    assert main(["show", str(file), "f", "--stage", "adjoint", "--at"]) == 2
    assert capsys.readouterr() == ("", "hilbert: f is no function of arguments: it has no derivative\n")


def test_a_cost_at_a_point_is_that_of_the_derivative(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`cost` is what a call costs; with `--at`, what the derivative there costs."""
    assert main(["show", model, "m", "--stage", "cost"]) == 0
    assert capsys.readouterr().out.split()[0] == "written"
    assert main(["show", model, "m", "--stage", "cost", "--at", "[1, 2, 3]"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()][:3] == ["apply", "adjoint", "matrix"]


# --- docs/mistakes.md: what errors say ---

A, B, C = Fin.of(2), Fin.of(3), Fin.of(4)
DOOR: Any = hb  # what is written wrong on purpose has no type


def ones(*axes: Any) -> Any:
    """A vector or a matrix of ones."""
    return (R ** (axes[0] * axes[1] if len(axes) == 2 else axes[0])).ones()


@pytest.mark.parametrize(
    ("a", "b", "hint"),
    [
        (ones(A, B), ones(C, B), "; transpose the right side: a @ b.T"),
        (ones(A), ones(B, A), "; a vector stands on the right of a matrix: b @ a"),
        (ones(A), ones(A, B), "; a vector stands on the right of a matrix: b.T @ a"),
    ],
)
def test_a_product_says_what_would_fit(a: Any, b: Any, hint: str) -> None:
    """A product whose inner axes differ says which side to transpose, if that makes it one."""
    with pytest.raises(SpaceError) as raised:
        a @ b
    assert str(raised.value).endswith(hint)


def test_an_empty_set_has_no_position() -> None:
    """A position that does not exist is an error that says which there are."""
    with pytest.raises(SpaceError, match="0 has 0 elements, it has none"):
        (R ** Fin.of(0)).zeros()[0]


def test_a_scalar_of_another_precision_is_cast() -> None:
    """A scalar of another precision is not to be repeated, but to be cast."""
    with pytest.raises(SpaceError, match=r"; the precisions differ: k\.cast\(F\) is k in the field F$"):
        ones(A) + R32.vec(1.0)


def test_no_rule_names_an_axis_twice() -> None:
    """A rule of `contract` names each index set by a letter: where one is there twice, none is proposed."""
    with pytest.raises(SpaceError) as raised:
        (R ** (A * A * B)).ones() + ones(B)
    assert str(raised.value).endswith("both must be in one space")


def test_only_axes_that_fit_are_proposed() -> None:
    """`rep` along one of two equal axes proposes those places only that leave the axes of the vector."""
    with pytest.raises(SpaceError, match=r"repeats x, along one\b"):
        fun(R**A)(lambda x: x.rep(R ** (A * B * A)))
    with pytest.raises(SpaceError, match=r"over=0 along axis 0, over=1 along axis 1"):
        fun(R**A)(lambda x: x.rep(R ** (A * A)))


def test_arguments_in_another_order_say_where_they_fit() -> None:
    """An argument that is due elsewhere says where; spaces are equal if they are made alike."""
    f = fun(R**A, R**B)(lambda x, y: (x @ x) * y)
    with pytest.raises(SpaceError, match=r"is due \(it would fit as argument 2\): f : "):
        f((R ** Fin.of(3)).ones(), (R ** Fin.of(2)).ones())


# --- adjoint.higher.steps ---


def texts_of_steps(text: str) -> list[str]:
    """The terms of all steps."""
    module = Module()
    assert not list(module.read("data Maybe a = Nothing | Just a\n"))
    return [str(step.term) for step in steps(module.term(text)[0])]


def test_elements_of_sets_without_names() -> None:
    """5 would be a number: they are written as in a program."""
    X = Fin.of(5)
    element: Any = hilbert.all.Elements(X)
    with pytest.raises(SpaceError, match=r"argument 2 is a vector of Elements\(Fin.of\(5\)\) where one of ℝ is due"):
        fun(R**X, R)(lambda v, x: x * v)((R**X).ones(), element.vec(3))
    with pytest.raises(SpaceError, match=r"needs a vector space, but Elements\(Fin.of\(5\)\) has a discrete part"):
        fun(element)(lambda x: x + 1)


def test_a_zero_of_a_variant_has_its_tags() -> None:
    """0 among the tangents at a value: of a variant, with its tags."""
    body = r"(\<a, b>. case a of {Just c -> c*b | Nothing -> b}) p"
    found = texts_of_steps(rf"pull(\x. \y. (let p = <Just y, x> in {body}), ev(2; cov(1))) 5")
    assert any("let d = ⟨Just zero, v⟩ in" in step for step in found)
    assert found[-1] == "cov(2)"


def test_a_tangent_is_named_once() -> None:
    """A tangent that has a name is given no other."""
    found = texts_of_steps(r"pull(\x. \y. (let z = x + y in z*z), ev(2; cov(1))) 5")
    assert any("λy. let d = ⟨v, v⟩ in let d1 = jac(*, d) " in step for step in found)
    assert found[-1] == "cov(14)"


def test_relation_is_a_room_of_hilbert() -> None:
    """The door has no `relation`, and says what to write."""
    with pytest.raises(AttributeError, match="write from hilbert import relation"):
        _ = hilbert.all.relation  # type: ignore[attr-defined]


def test_what_is_said_of_tables_works() -> None:
    """What stands in refusals of `over=` for pad and concatenate, of lists of positions, and of `None` in a key."""
    M = (R ** (A * B)).ones()
    v = M.rows().pad(1, 1)
    assert hb.uncurry(v.space)(v).space == R ** (Fin.of(4) * B)
    w = M.T.rows().pad(1, 1)
    assert hb.uncurry(w.space)(w).T.space == R ** (A * Fin.of(5))
    both = M.rows().concatenate(M.rows())
    assert hb.uncurry(both.space)(both).space == R ** ((A + A) * B)
    x = (hb.Elements(A) ** C).vec([0, 1, 1, 0])
    assert M.rows()[x].space == (R**B) ** C
    assert (M * (R**A).ones().rep(M.space)).space == M.space
    assert (R ** Fin.of(8)).ones().reshape(Fin.of(2) * Fin.of(4)).space == R ** (Fin.of(2) * Fin.of(4))


def test_what_is_said_of_families_works() -> None:
    """Vectors of a direct sum side by side, pairs for a loop, and the index of a round."""
    V: Any = hb.direct_sum(R**A, R)
    s = V.vec(([1.0, 2.0], 3.0))
    assert hb.stack(B, V)(s, s, s).space == V**B
    assert (V**B).vec((np.zeros((3, 2)), np.zeros(3))).space == V**B
    x, y = ((R**A) ** B).ones(), (R**B).ones()
    pairs: Any = hb.zip_parts(hb.direct_sum(x.space, y.space))(x, y)
    assert hb.fold(lambda s, z: s + z[1] * z[0], (R**A).zeros(), pairs).array.tolist() == [3.0, 3.0]
    rounds = (hb.Elements(B) ** B).vec(range(B.size))
    weights = (R**B).vec([1.0, 2.0, 4.0])
    assert float(hb.fold(lambda s, i: s + const(weights)[i], R.zeros(), rounds)) == 7.0


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: DOOR.zip_parts(ones(A), ones(A)), "write zip_parts(direct_sum(x.space, y.space))(x, y)"),
        (lambda: DOOR.stack(A)([R.ones(), R.ones()]), "write f(v, w), not f([v, w])"),
        (lambda: np.gradient(ones(A)), "write differences(X)(x) for those of neighbours"),
        (lambda: np.trapezoid(ones(A)), "write 0.5 * h * (x[1:] + x[:-1]).sum() for values h apart"),
    ],
)
def test_calls_as_those_of_other_libraries(call: Any, text: str) -> None:
    """They are refused with what to write."""
    with pytest.raises(SpaceError) as raised:
        call()
    assert text in str(raised.value)


@pytest.mark.parametrize("name", ["cross", "gradient", "least_squares", "solve_ivp", "trapz"])
def test_names_of_other_libraries(name: str) -> None:
    """The door has a remedy for names that are looked for."""
    with pytest.raises(AttributeError, match=f"hilbert has no {name}: write "):
        getattr(hb, name)

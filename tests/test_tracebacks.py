"""A mistake in a function is few lines: the frames of the user's callers, and the message with its place."""

import os
import pickle
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

import hilbert.all as hb
from hilbert import R, SpaceError
from hilbert.errors import raised_for
from tests.rooms import ROOT

V, W = R ** hb.Fin.of(3), R ** hb.Fin.of(2)

SCRIPTS = {
    "spaces": "def layer(W, b):\n    return W @ b\nf = hb.fun(hb.R ** (hb.Fin.of(2) * hb.Fin.of(4)), V)(layer)",
    "attribute": "@hb.fun(V)\ndef f(x):\n    return x.foo",
    "operand": "@hb.fun(V)\ndef f(x):\n    return x + hb.const((hb.R ** hb.Fin.of(2)).ones())",
    "no result": "@hb.fun(V)\ndef f(x):\n    x + x",
    "arguments": "@hb.fun(V)\ndef f(x, y):\n    return x",
    "numpy": "import numpy as np\n@hb.fun(V)\ndef f(x):\n    return np.tanh(x)",
    "truth": "@hb.fun(V)\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x",
    "loop": "f = hb.fun(V)(lambda x: hb.fold(lambda s, k: s + x, hb.const(hb.R.vec(0.0)), x))",
}


def told(body: str, folder: Path, **env: str) -> list[str]:
    """The lines that a script ends with."""
    script = folder / "model.py"
    script.write_text(f"import hilbert.all as hb\nV = hb.R ** hb.Fin.of(3)\n{body}\n", "utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HILBERT_TRACEBACK": "", "NO_COLOR": "1", **env}
    run = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, check=False)  # noqa: S603
    assert run.returncode == 1
    return run.stderr.splitlines()


CALLS = {
    "a record": "class P(hb.Record):\n    w: hb.Part[hb.Vector[int]]\nP(w=V).of(w=[1.0])",
    "data": "V.vec([1.0])",
    "a lens": "class P(hb.Record):\n    w: hb.Part[hb.Vector[int]]\nf = hb.fun(P(w=V), V)(lambda p, x: x @ x)\n"
    "hb.grad(f, P.w)",
    "no number": "hb.value_and_grad(hb.fun(V)(hb.sin))",
    "a method": "V.ones().roll(0.5)",
    "an argument": "hb.fun(V)(hb.sin)((hb.R ** hb.Fin.of(2)).ones())",
    "no vector": "hb.fun(V)(hb.sin)(3.0)",
    "at run time": "hb.fun(V)(lambda x: hb.root(lambda p: p.sum() * x - x, x))(V.ones())",
    "at the third call": "f = hb.fun(V)(lambda x: hb.root(lambda p: p.sum() * x - x, x))\nimport contextlib\n"
    "for k in range(3):\n    with contextlib.suppress(hb.SpaceError):\n        f(V.ones())\nf(V.ones())",
}
SCRIPTS |= CALLS
OPERATORS = {
    "v + w": 3, "w - v": 3, "v * w": 3, "v / w": 3, "v @ w": 3, "v > w": 3, "v < w": 3, "v.inner(w)": 3, "-(v > 0)": 3,
    "v + 'a'": 3, "'a' + v": 3, "'a' - v": 3, "'a' * v": 3, "v / 'a'": 3, "v @ 'a'": 3, "'a' @ v": 3, "v ** 'a'": 3,
    "(v > 0) & (w > 0)": 3, "v[7]": 3, "v['a']": 3,
}  # fmt: skip
"""Operators on vectors, and how often each is tried: methods that are declared are attached by the first call."""


@pytest.mark.parametrize("text", OPERATORS)
def test_operators_of_vectors(text: str) -> None:
    """An operator that does not fit has the frames of its callers, at the first call and at later ones."""
    for _ in range(OPERATORS[text]):
        with pytest.raises(SpaceError) as caught:
            eval(text, {"v": V.ones(), "w": W.ones()})  # noqa: S307 - our own texts
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert names == ["test_operators_of_vectors", "<module>"]
        assert caught.value.__context__ is not None


def test_an_operator_in_a_users_function_has_its_frames() -> None:
    """Frames of a function of a user's, in which two vectors do not fit, stay."""

    def added(v: Any) -> Any:
        return v + W.ones()

    with pytest.raises(SpaceError) as caught:
        added(V.ones())
    assert [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][1:] == ["added"]


def test_frames_of_a_users_function_in_a_call_stay(tmp_path: Path) -> None:
    """An operation of a user's that raises a SpaceError at run time has its frames."""
    body = "def own(xp, x):\n    return V.vec([1.0])\nhb.linear_map('own', V, V, own, own)(V.ones())"
    assert any("model.py" in line and line.endswith("in own") for line in told(body, tmp_path))


def test_debuggers_find_the_frames_of_a_call() -> None:
    """The error with the library's frames is the context."""
    with pytest.raises(SpaceError) as caught:
        hb.fun(V)(hb.sin)(W.ones())
    error = caught.value
    assert [frame.name for frame in traceback.extract_tb(error.__traceback__)] == [
        "test_debuggers_find_the_frames_of_a_call"
    ]
    assert error.__suppress_context__
    assert error.__context__ is not None
    assert "argument" in [frame.name for frame in traceback.extract_tb(error.__context__.__traceback__)]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_mistake_is_eight_lines(name: str, tmp_path: Path) -> None:
    """One traceback, without a frame of the library."""
    lines = told(SCRIPTS[name], tmp_path)
    assert len(lines) <= 8
    assert sum(line.startswith("Traceback") for line in lines) == 1
    files = [line for line in lines if line.startswith("  File ")]
    assert len(files) == 1
    assert "model.py" in files[0]
    assert any(line.startswith("hilbert.errors.SpaceError: ") for line in lines)


def test_all_frames_on_demand(tmp_path: Path) -> None:
    """HILBERT_TRACEBACK=full: the library's frames, and the error that came first."""
    lines = told(SCRIPTS["spaces"], tmp_path, HILBERT_TRACEBACK="full")
    assert sum(line.startswith("Traceback") for line in lines) == 2
    assert any("trace.py" in line for line in lines)
    assert any('model.py", line 4, in layer' in line for line in lines)


def test_frames_of_callers_stay(tmp_path: Path) -> None:
    """Functions of the user around `fun` have their frames; those inside of the body are in the message."""
    body = "def inner(x):\n    return x.foo\ndef made(k):\n    return hb.fun(V)(lambda x: inner(x))\nmade(1)"
    lines = told(body, tmp_path)
    assert [line.rpartition(" ")[2] for line in lines if line.startswith("  File ")] == ["<module>", "made"]
    assert any(line.endswith("model.py:4 in inner") for line in lines)
    assert any("called at" in line for line in lines)


def test_other_errors_are_not_cut(tmp_path: Path) -> None:
    """A mistake that is none of spaces has all frames."""
    lines = told("@hb.fun(V)\ndef f(x):\n    return x * (1 / 0)", tmp_path)
    assert lines[-1].startswith("ZeroDivisionError")
    assert any("trace.py" in line for line in lines)
    assert any(line.endswith("in f") for line in lines)


def wrong(x: Any) -> Any:
    """A body with a mistake."""
    return x + hb.const(W.ones())


def test_debuggers_find_the_frames() -> None:
    """The error that came first is the context, with its traceback down to the line."""
    with pytest.raises(SpaceError) as caught:
        hb.fun(V)(wrong)
    error = caught.value
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert [frame.name for frame in traceback.extract_tb(error.__traceback__)] == ["test_debuggers_find_the_frames"]
    assert error.__context__ is not None
    names = [frame.name for frame in traceback.extract_tb(error.__context__.__traceback__)]
    assert "wrong" in names
    assert raised_for(error) is error.__context__
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    context = raised_for(again)  # Dask, once imported, lets contexts travel, too
    assert context is None or str(context) == str(raised_for(error))


def test_functions_in_each_other() -> None:
    """A function that is traced inside of another's body: each place once."""
    with pytest.raises(SpaceError) as caught:
        hb.fun(V)(lambda x: 2 * hb.fun(V)(wrong)(x))
    assert str(caught.value).count("in wrong") == 1
    assert len(traceback.extract_tb(caught.value.__traceback__)) == 1


def test_in_pytest(tmp_path: Path) -> None:
    """pytest shows the test and the message, no frame of the library."""
    test = tmp_path / "test_model.py"
    test.write_text(
        "import hilbert.all as hb\n\n\ndef test_model():\n    hb.fun(hb.R)(lambda x: x.foo)\n", encoding="utf-8"
    )
    for full in ("", "full"):
        run = subprocess.run(  # noqa: S603
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "-c",
                os.devnull,
                "--rootdir",
                tmp_path,
                test,
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT), "HILBERT_TRACEBACK": full},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ("tracebacks.py" in run.stdout, "trace.py" in run.stdout) == (False, bool(full))
        assert "an expression of ℝ has no .foo" in run.stdout


def test_data_functions() -> None:
    """A function under `term` is traced when its gradient is asked for: one traceback, the place in the message."""

    class Word: ...

    word = hb.Fin(Word, 2)
    leaf: Any = hb.variant(type("Leaf", (), {"__annotations__": {"word": hb.Expr}, "__module__": __name__}))
    tree: Any = hb.data(leaf, word=R**word)

    def encode(p: Any, t: Any) -> Any:
        return p + t.word

    encoded: Any = hb.term(V, tree)(encode)
    with pytest.raises(SpaceError, match="in encode") as caught:
        hb.grad(encoded)(V.ones(), leaf((R**word).ones()))
    assert caught.value.__suppress_context__
    assert "encode" not in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]

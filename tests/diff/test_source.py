"""Sources: modules of numpy that compute a function, with the user's names, and without this library."""

from __future__ import annotations

import ast
import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hilbert.all as hb
from docs.examples import convolutional, digits, gmm, heat, kalman, lstm, transformer
from tests.programs import PROGRAMS
from tests.programs import point as defined
from tests.source_values import point, same

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSED = {
    "sqrtm",
    "an operation",
    "an operation, lifted",
    "an operation, one by one",
    "an operation, of none",
    "a linear map",
    "a linear map, one by one",
    "a linear map, of none",
}
"""Programs with a function of Python in them: operations and linear maps of users, functions of matrices."""


class Pixel:
    """An axis."""


class Hidden:
    """An axis."""


p, h = hb.Fin(Pixel, 4), hb.Fin(Hidden, 3)


@hb.fun(hb.R ** (h * p), hb.R**h, hb.R**p, hb.R**h)
def loss(w: Any, b: Any, x: Any, y: Any) -> Any:
    """A layer's squared error."""
    hidden = hb.tanh(w @ x + b)
    error = hidden - y
    return error @ error


@hb.fun(hb.R ** (h * h), hb.R**h, (hb.R**h) ** p)
def rounds(w: Any, s: Any, xs: Any) -> Any:
    """A recurrent layer."""
    last, ys = hb.fold(lambda s, x: (hb.tanh(w @ s + x), s @ x), s, xs)
    return last, ys


# --- every program ---

CALLED = {"lgamma", "digamma", "betaln", "ndtri", "i0e", "i1e"}
"""Primitives that are functions of scipy."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in REFUSED])
def test_every_program(name: str) -> None:
    """source(f)(x) = f(x), by numpy alone and scipy's special functions, in lines of 88 characters."""
    f = PROGRAMS[name]
    source = hb.source(f)
    x = defined(name, f)
    assert same(source, x, f(x))
    lines = source.text.split("\n")
    assert max(map(len, lines)) <= 88
    assert _imported(source.text) <= {
        "numpy",
        "numpy.lib.stride_tricks",
        *(["scipy.special"] if CALLED & {name} else []),
    }


def _imported(text: str) -> set[str]:
    """The modules that a text imports."""
    found = set[str]()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module):
                found.add(str(module))
            case _:
                pass
    return found


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_functions_of_python_are_refused(name: str) -> None:
    """The error names the operation, and says what to do."""
    with pytest.raises(hb.SpaceError, match=r"source\(f\): the .* is a function of Python, .*: write what it computes"):
        hb.source(PROGRAMS[name])


def test_a_primitive_of_a_user_is_refused() -> None:
    """The error has its name."""
    own = hb.register("halved, for source", lambda _, x: 0.5 * x, lambda _, __: 0.5)
    with pytest.raises(hb.SpaceError, match="the primitive 'halved, for source' is a function of Python"):
        hb.source(own)


MODELS: dict[str, Callable[[], Any]] = {
    "mixture": lambda: hb.value_and_grad(gmm.objective(3, 4, 7, 1.3, 2), 0),
    "filter": lambda: hb.value_and_grad(kalman.log_likelihood(9), 0),
    "heat": lambda: hb.vjp(heat.observed),
    "transformer": lambda: hb.value_and_grad(transformer.loss, 0),
    "convolutions": lambda: hb.value_and_grad(convolutional.loss, 0),
    "digits": lambda: hb.value_and_grad(digits.loss, 0),
    "recurrent": lambda: hb.value_and_grad(lstm.loss(2, 5, 9), 0),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    """The gradients of the example models, too."""
    f = MODELS[name]()
    x = point(f, np.random.default_rng(0))
    assert same(hb.source(f), x, f(x), 1e-10)


# --- texts ---

LOSS = '''
import numpy as np


def loss(w, b, x, y):
    """ℝ^{Hidden3×Pixel4} ⊕ ℝ^Hidden3 ⊕ ℝ^Pixel4 ⊕ ℝ^Hidden3 → ℝ"""
    # w: (3, 4), b: (3,), x: (4,), y: (3,)
    hidden = np.tanh(w @ x + b)
    error = hidden - y
    return error @ error
'''
GRADIENT = '''
import numpy as np


def slopes(w, b, x, y):
    """ℝ^{Hidden3×Pixel4} ⊕ ℝ^Hidden3 ⊕ ℝ^Pixel4 ⊕ ℝ^Hidden3 → ℝ^{Hidden3×Pixel4} ⊕
    ℝ^Hidden3
    """
    # w: (3, 4), b: (3,), x: (4,), y: (3,)
    hidden = np.tanh(w @ x + b)
    d_b = 2.0 * (1.0 - hidden**2) * (hidden - y)
    d_w = np.outer(d_b, x)
    return d_w, d_b
'''
ROUNDS = '''
import numpy as np


def rounds(w, s, xs):
    """ℝ^{Hidden3×Hidden3} ⊕ ℝ^Hidden3 ⊕ (ℝ^Hidden3)^Pixel4 → ℝ^Hidden3 ⊕ ℝ^Pixel4"""
    # w: (3, 3), s: (3,), xs: (4, 3)
    ys = np.empty(4)
    for t in range(4):
        x = xs[t]
        ys[t] = s @ x
        s = np.tanh(w @ s + x)
    return s, ys
'''


@pytest.mark.parametrize(
    ("f", "name", "due"),
    [(loss, "loss", LOSS), (hb.grad(loss, (0, 1)), "slopes", GRADIENT), (rounds, "rounds", ROUNDS)],
)
def test_texts(f: Any, name: str, due: str) -> None:
    """The whole text, to the letter."""
    assert hb.source(f, name=name).text == due.lstrip("\n")
    assert str(hb.source(f, name=name)) == due.lstrip("\n")


def test_names_of_a_user_and_of_helpers() -> None:
    """A variable of the user's that has the name of a helper, of numpy or of Python gets another one."""
    body = hb.fun(hb.R**p, hb.R**p, hb.R**p)(lambda softmax, np, range: softmax.softmax() * np + range)  # noqa: A006
    source = hb.source(body)
    x = point(body, np.random.default_rng(0))
    assert same(source, x, body(x))
    assert "def f(softmax2, np2, range2):" in source.text or "def f(softmax_" in source.text


def test_names_of_a_user_within() -> None:
    """Variables of the user's that have the names of a helper, and of the rounds of a text."""

    @hb.fun(hb.R**p, hb.R**p)
    def body(k: Any, t: Any) -> Any:
        softmax = k.softmax()
        windows = hb.red(hb.relations.window(p, 3, stride=2, to=hb.Fin.of(2)))
        spread = hb.red(hb.relations.window(p, 3, stride=2, to=hb.Fin.of(2)).T)(windows(k))
        return hb.iterate(lambda s: s.softmax() * t, softmax * spread * k, h)

    for f in (body, hb.vjp(body)):
        x = point(f, np.random.default_rng(0))
        assert same(hb.source(f), x, f(x))


def test_helpers_of_one_name() -> None:
    """Two functions of the library that have one name come along as two."""
    f = hb.fun(hb.R ** (p * p))(lambda a: hb.det(a @ a.T) + hb.eigh(a @ a.T).split()[0].product())
    g = hb.jvp(hb.grad(f))
    x = point(g, np.random.default_rng(0))
    assert same(hb.source(g), x, g(x), 1e-9)


def test_linear_maps() -> None:
    """A derivative at a point and its adjoint; no result is named as a slope."""
    at = loss.dom.ones()
    for f in (hb.derivative(loss)(at), hb.adjoint(hb.derivative(loss)(at))):
        x = point(f, np.random.default_rng(0))
        assert same(hb.source(f), x, f(x))
        assert "d_" not in hb.source(f).text


def test_records_are_arguments_by_their_parts() -> None:
    """The parts of a record in the order of its leaves."""
    assert "def step(layer1_weights, layer1_bias, " in hb.source(digits.loss, name="step").text.replace("(\n    ", "(")


def test_a_lambda_and_numbers() -> None:
    """Numbers are exact, and what is no number has numpy's name."""
    f = hb.fun(hb.R)(lambda x: 0.1 * x + float("inf"))
    assert "0.1 * x + np.inf" in hb.source(f).text
    assert hb.source(f).function()(1.0) == float("inf")


# --- files ---


def test_constants_are_in_a_file_beside_the_module(tmp_path: Path) -> None:
    """Up to 64 entries stand in the text, others in constants.npz; two modules share the file."""
    rng = np.random.default_rng(0)
    X, Y = hb.Fin.of(64), hb.Fin.of(65)
    small, large = ((hb.R**Z).vec(rng.standard_normal(Z.size)) for Z in (X, Y))
    inline, outside = hb.fun(hb.R**X)(lambda x: x * hb.const(small)), hb.fun(hb.R**Y)(lambda x: x * hb.const(large))
    assert not hb.source(inline).constants
    source = hb.source(outside, name="outside")
    assert list(source.constants) == ["C"]
    assert source.function()(np.ones(65)).tolist() == large.array.tolist()
    hb.source(inline, name="inline").write(tmp_path)
    hb.source(hb.fun(hb.R**Y)(lambda x: x + hb.const(large)), name="other").write(tmp_path)
    path = source.write(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["constants.npz", "inline.py", "other.py", "outside.py"]
    spec = importlib.util.spec_from_file_location("outside", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.outside(np.ones(65)).tolist() == large.array.tolist()


def test_a_module_runs_without_the_library(tmp_path: Path) -> None:
    """A process that imports the module imports nothing of the library."""
    path = hb.source(loss, name="loss").write(tmp_path)
    code = "import sys, numpy, loss; print(loss.loss(numpy.ones((3, 4)), numpy.ones(3), numpy.ones(4), numpy.ones(3)))"
    code += "; assert not {'hilbert', 'diff', 'adjoint'} & set(sys.modules)"
    done = subprocess.run(  # noqa: S603 - this test's own text
        [sys.executable, "-c", code], cwd=path.parent, capture_output=True, text=True, check=True
    )
    ones = [np.ones(shape) for shape in ((3, 4), 3, 4, 3)]
    assert float(done.stdout) == pytest.approx(float(hb.source(loss).function()(*ones)), rel=1e-12)


def test_a_source_is_shown_and_pickled() -> None:
    """A value with a short repr."""
    source = hb.source(loss, name="loss")
    assert pickle.loads(pickle.dumps(source)) == source
    assert repr(source) == "Source(name='loss')"


def test_a_name_is_one_of_python() -> None:
    """The name of the function."""
    for name in ("", "two words", 3, "lambda"):
        with pytest.raises(hb.SpaceError, match="takes a name of Python"):
            hb.source(loss, name=name)  # type: ignore[arg-type]


# --- precision, and files of several modules ---

SINGLE: Any = hb.R32 ** hb.Fin.of(4)
SHORT: Any = hb.R32 ** hb.Fin.of(2)
SINGLES: dict[str, Callable[[], Any]] = {
    "sums of segments": lambda: hb.fun(SINGLE)(hb.segment_sum([0, 1, 0, 1], hb.Fin.of(2), hb.R32)),
    "one of two numbers": lambda: hb.fun(SINGLE)(lambda x: hb.where(x > 1.0, SINGLE.full(2.0), SINGLE.full(3.0))),
    "a number where a condition holds": lambda: hb.fun(SINGLE)(lambda x: hb.select(x > 1.0, SINGLE.full(2.0))),
    "a function of a number": lambda: hb.fun(SINGLE)(lambda x: x * hb.exp(hb.const(SINGLE.full(0.3)))),
    "such a function alone": lambda: hb.fun(SHORT)(lambda _: hb.exp(hb.const(SHORT.full(0.3)))),
}


@pytest.mark.parametrize("name", SINGLES)
def test_single_precision_stays(name: str) -> None:
    """The text gives entries of 32 bits where the function does."""
    f = SINGLES[name]()
    for g in (f, hb.program(hb.vjp(f))):
        x = point(g, np.random.default_rng(0))
        assert same(hb.source(g), x, g(x))


def test_a_module_that_is_written_again_leaves_no_constants(tmp_path: Path) -> None:
    """The file has the constants of all modules beside it: of one that is written again only the new ones."""
    V: Any = hb.R ** hb.Fin.of(99)
    a, b = (V.vec(np.random.default_rng(k).normal(size=99)) for k in range(2))
    two, one = hb.fun(V)(lambda x: a * hb.sin(b * x)), hb.fun(V)(lambda x: b * x)
    hb.source(two, name="f").write(tmp_path)
    hb.source(two, name="f2").write(tmp_path)
    hb.source(one, name="f").write(tmp_path)
    with np.load(tmp_path / "constants.npz") as kept:
        assert sorted(kept) == ["f.C", "f2.C", "f2.C2"]
        assert np.array_equal(kept["f.C"], b.array)

"""What a function of numpy, scipy, JAX or math says of an expression: each remedy is a program, and does the same."""

import ast
import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import hilbert.all as hb
from hilbert.base.numpy_names import FUNCTIONS
from tests.public import PUBLIC

X = hb.Fin.of(3)
V, M = hb.R**X, hb.R ** (X * X)
POSITIVE = np.array([0.3, 0.7, 0.5])
MATRIX = np.array([[2.0, 0.5, 0.1], [0.5, 1.5, 0.2], [0.1, 0.2, 1.2]])
NAMES: dict[str, Any] = {name: getattr(hb, name) for name in PUBLIC} | {"math": math, "X": X, "V": V}
fun: Any = hb.fun
FOREIGN: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in (
        "exp", "log", "log1p", "expm1", "sqrt", "square", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sign", "abs",
        "max", "min", "sum", "mean", "cumsum", "cumprod", "diff", "argmax", "argmin", "argsort", "sort", "prod", "std",
        "var", "flip", "zeros_like", "ones_like", "arcsin", "arccos", "arctan", "arcsinh", "arctanh", "exp2", "cbrt",
        "isnan", "negative", "reciprocal", "absolute", "fabs", "diag",
    )},
    **{name: getattr(np, name) for name in (
        "maximum", "minimum", "hypot", "arctan2", "add", "subtract", "multiply", "divide", "greater", "less",
        "greater_equal", "less_equal", "equal", "not_equal", "outer", "dot", "vdot", "inner", "logaddexp",
        "cross",
    )},
    **{name: getattr(np.linalg, name) for name in ("norm", "inv", "det", "solve", "cholesky", "pinv")},
    **{name: getattr(np, name) for name in ("trace", "transpose", "diagonal", "matmul")},
    **{name: getattr(scipy.special, name) for name in (
        "expit", "logit", "log_expit", "erf", "erfc", "erfcx", "log_ndtr", "ndtri", "gammaln", "psi", "digamma",
        "i0e", "i1e", "entr", "xlogy", "betaln", "logsumexp", "softmax", "log_softmax",
    )},
}  # fmt: skip
"""Functions of other libraries, of one or two vectors or matrices."""
OF_MATRICES = {"inv", "det", "cholesky", "pinv", "trace", "transpose", "diagonal"}
OF_BOTH = {"solve", "matmul"}
OF_TWO = {name for name, f in FOREIGN.items() if isinstance(f, np.ufunc) and f.nin == 2} | {
    "outer", "dot", "vdot", "inner", "cross",
}  # fmt: skip


def _remedy(text: str) -> str:
    """The longest beginning of a text that is one expression of Python."""
    words = text.split(" ")
    for n in range(len(words), 0, -1):
        code = " ".join(words[:n]).rstrip(",:;")
        try:
            node = ast.parse(code, mode="eval").body
        except SyntaxError:
            continue
        if not isinstance(node, ast.Tuple):
            return code
    raise AssertionError(text)


@pytest.mark.parametrize("name", FOREIGN)
def test_the_remedy_does_the_same(name: str) -> None:
    """np.f(x) is refused with what to write; that gives numpy's values."""
    f, x = FOREIGN[name], POSITIVE
    y = x[::-1].copy()
    given = [MATRIX] if name in OF_MATRICES else [MATRIX, x] if name in OF_BOTH else [x, y] if name in OF_TWO else [x]
    spaces = [V if a.ndim == 1 else M for a in given]
    with pytest.raises(hb.SpaceError, match=r"does not apply to an expression of .*: write ") as error:
        fun(*spaces)(lambda *args: (f(*args),))
    code = _remedy(str(error.value).splitlines()[0].partition(": write ")[2].removeprefix("hb."))

    def body(*args: Any) -> Any:
        values: dict[str, Any] = dict(zip("xy", args, strict=False)) | {"A": args[0], "b": args[-1], "v": args[0]}
        if name in {"std", "var"}:
            values["m"] = args[0].mean().rep(V)
        return eval(code, NAMES | values)  # noqa: S307 - a text of ours

    got = fun(*spaces)(body)(*(W.vec(a) for W, a in zip(spaces, given, strict=True)))
    assert np.asarray(got.array) == pytest.approx(f(*given), rel=1e-12)


def test_remedies_are_in_names_that_there_are() -> None:
    """Each remedy begins with an expression in names of the library, of Python, or of what a user has."""
    used: set[str] = set()
    for remedy in FUNCTIONS.values():
        node = ast.parse(_remedy(remedy.replace("…", "k")), mode="eval")
        used |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    used -= {*PUBLIC, *dir(builtins), "math", "numpy", "scipy"}
    assert used == {
        *("A", "P", "V", "X", "Y", "a", "b", "c", "d", "f", "k", "m", "n", "v", "w", "x", "y", "ids", "xs"),
        *("args", "condition", "h", "t", "labels", "name", "positions", "start", "step", "value"),
    }


@pytest.mark.parametrize("word", ["cross", "repeats", "shapes", "sum_", "softmx", "logsumexps", "real_", "matmuls"])
def test_what_it_has_may_be_asked_for(word: str) -> None:
    """x.f is refused with the names that come near; none of them is refused in turn, or the library's own."""
    with pytest.raises(hb.SpaceError) as error:
        fun(V)(lambda x: getattr(x, word))
    near = str(error.value).splitlines()[0].partition("; it has ")[2]
    for name in near.split(", ") if near else []:
        assert not name.startswith("_")

        def body(x: Any, name: str = name) -> Any:
            return (getattr(x, name), x)[1]

        fun(V)(body)
    assert near or word in {"real_", "matmuls"}


def test_under_another_name() -> None:
    """A function is known by its own name where a line calls it by another."""
    largest = np.max
    with pytest.raises(hb.SpaceError, match=r"numpy's max does not apply to an expression of ℝ\^3: write x.max\(\)"):
        fun(V)(lambda x: (largest(x),))
    total = scipy.special.logsumexp
    with pytest.raises(hb.SpaceError, match=r"total does not apply to an expression of ℝ\^3: write x.logsumexp\(\)"):
        fun(V)(lambda x: (total(x),))
    with pytest.raises(hb.SpaceError, match=r"logm does not apply .*: there is none of that name here; write register"):
        fun(M)(lambda x: (scipy.linalg.logm(x),))


def test_a_record_with_such_a_name() -> None:
    """A part of a record stands before what arrays have of its name."""

    class Table(hb.Record):
        values: hb.Part[hb.Vector[Any]]

    with pytest.raises(hb.SpaceError, match=r"has no .values: write p\[Table.values\]"):
        fun(Table(values=V))(lambda x: x.values)


def test_a_function_of_another_library_as_the_body() -> None:
    """fun(V)(f) for f of JAX says what to write, too."""
    jnp = pytest.importorskip("jax.numpy")
    with pytest.raises(hb.SpaceError, match=r"jax.numpy.sin does not apply to an expression: write hb.sin\(x\)"):
        fun(V)(jnp.sin)

"""tests/remedies.txt: the advice of a message, followed, runs.

A row is `wrong line | piece of the message | line after the advice | space or type that it gives`, with `\\|` for a bar
in code. The first line raises an error with that piece; the second runs and gives that space. The text of an error
that names an expression as its advice has a row here, so that an advice which does not run is found.
"""

import inspect
import linecache
import math
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import spsolve

import hilbert.all as hb
from tests.public import PUBLIC

mpl.use("agg")

FILE = Path(__file__).with_name("remedies.txt")
LEAST = 558
"""The number of rows: more may come, none may go."""


class Xs:
    """An axis."""


class Ys:
    """An axis."""


class Days(hb.Axis, size=7):
    """An axis with a size."""


class Layer(hb.Record):
    """A record."""

    weights: hb.Part[hb.Matrix[Ys, Xs]]
    bias: hb.Part[hb.Vector[Ys]]


class Model:
    """What is called on an expression, as a module of other libraries is."""

    def __init__(self, x: Any) -> None:
        self.x = x


X, Y = hb.Fin(Xs, 3), hb.Fin(Ys, 2)
R: Any = hb.R
V, W, S = R**X, R**Y, hb.direct_sum(R**X, R**Y)
P: Any = Layer(weights=R ** (Y * X), bias=W)
v, u = V.vec([1.0, 2.0, 3.0]), W.vec([0.5, -1.0])
L: Any = hb.cumsum(X)
f, h = hb.fun(V)(hb.sin), hb.fun(V)(lambda x: x @ x)


async def awaited(x: Any) -> Any:
    """A body that is asynchronous."""
    return x


def yields(x: Any) -> Any:
    """A body that is a generator."""
    yield x


NAMES: dict[str, Any] = {name: getattr(hb, name) for name in PUBLIC} | {
    "hb": hb, "np": np, "math": math, "Decimal": Decimal, "Xs": Xs, "Ys": Ys, "Layer": Layer, "Model": Model,
    "Days": Days,
    "X": X, "Y": Y, "V": V, "W": W, "S": S, "P": P, "v": v, "u": u, "k": R.vec(2.0), "k32": hb.R32.vec(2.0),
    "A": (R ** (Y * X)).vec([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "c": v > 1.5, "s": S.zeros(),
    "C": (R ** (X * X)).vec([[4.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 2.0]]), "L": L, "f": f, "h": h,
    "g": hb.fun(V, V)(lambda a, b: a * b), "d": hb.derivative(f), "i": hb.Elements(X).vec(1),
    "ids": (hb.Elements(X) ** Y).vec([2, 0]), "r": P.of(weights=[[1.0] * 3] * 2, bias=[0.0, 1.0]),
    "big": (R ** hb.Fin.of(65)).ones(), "column": (R ** (X * hb.Fin.of(1))).ones(), "six": (R ** hb.Fin.of(6)).ones(),
    "rng": np.random.default_rng(0), "awaited": awaited, "yields": yields, "array": np.ones(3),
    "square": (R ** (hb.Fin.of(3) * hb.Fin.of(3))).ones(), "D": csr_array(np.eye(3)), "spsolve": spsolve,
    "loss": hb.fun(P, W)(lambda p, y: p[Layer.bias] @ y),
    "t": hb.fun(W, S)(lambda a, x: (3.0 * x[0], hb.exp(a) * x[1] + x[0][0:2].named(Y))),
    "fr": hb.fun(P)(lambda p: p[Layer.bias].sum()), "ks": hb.Z.vec(3),
}  # fmt: skip


def rows() -> list[tuple[str, ...]]:
    """The rows of the file."""
    lines = [line for line in FILE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return [tuple(part.strip().replace("\\|", "|") for part in re.split(r"(?<!\\)\|", line)) for line in lines]


def made(text: str) -> Any:
    """The value of a line."""
    file = f"<{text}>"
    linecache.cache[file] = (len(text), None, [text], file)  # as a file of a user's
    return eval(compile(text, file, "eval"), dict(NAMES))  # noqa: S307 - our own file


def kind(value: Any) -> str:
    """The space of a vector, the spaces of a map, the shape of an array; of other values the type."""
    match value:
        case hb.Vec():
            return str(value.space)
        case hb.Map():
            return f"{value.dom} → {value.cod}"
        case hb.Linearization():
            return f"{value.dom} ⊸ {value.cod} in {value.point}"
        case hb.Type() | hb.Index():
            return f"{type(value).__name__} {value}"
        case np.ndarray():
            return f"array {value.shape}"
        case _:  # Python's own
            return type(value).__name__


def test_the_number_of_rows() -> None:
    """It does not fall, and no wrong line stands twice."""
    assert len({row[0] for row in rows()}) == len(rows()) >= LEAST


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:50])
def test_a_remedy(row: tuple[str, ...]) -> None:
    """The line is refused with the advice; the line that follows the advice runs."""
    wrong, piece, right, space = row
    with pytest.raises((hb.SpaceError, AttributeError)) as caught:  # the door has no names of other libraries
        made(wrong)
    assert piece in str(caught.value)
    assert kind(made(right)) == space


@pytest.mark.parametrize("name", ["shape", "dtype", "array", "T", "grad", "adjoint", "dim", "n"])
def test_what_is_lacking(name: str) -> None:
    """`hasattr` is False for what is refused; the errors are Python's, too; what has no length is true."""
    values: list[Any] = [V, S, P, X, X * Y, f, L, hb.derivative(f)]
    for value in values:
        lacks = inspect.getattr_static(value, name, None)
        if type(lacks).__name__ == "Missing":
            assert not hasattr(value, name)
            with pytest.raises(AttributeError):
                getattr(value, name)
        assert bool(value)
        with pytest.raises(TypeError):
            len(value)


def test_a_part_may_have_a_name_that_spaces_lack() -> None:
    """The part is found under its name."""

    class Picture(hb.Record):
        shape: hb.Part[hb.Vector[Xs]]
        dtype: hb.Part[hb.Scalar]

    space: Any = Picture(shape=V, dtype=R)
    assert (space.shape, space.dtype) == (V, R)
    with pytest.raises(hb.SpaceError, match=r"has no .shape: write p\[Picture.shape\]"):
        _ = space.zeros().shape

"""What one gets wrong in the first hour: each mistake is a SpaceError whose text says what to write instead.

The texts in `first_hour.txt` are golden: they are what a newcomer reads. Each mistake is made with vectors, and in a
traced function, where it can be made in both; the remedies are then tried.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from adjoint import adjoint, grad, jacobian
from diff import absolute, contract, derivative, fun, jvp, lift, maximum, select, show, sqrt, where
from hilbert import Elements, Fin, Part, R, Record, SpaceError, Vec, Vector, direct_sum
from linmap import cumsum, matrix, trace


class Pixel:
    """The tag of an axis."""


class Hidden:
    """The tag of another."""


class Layer(Record):
    """A record."""

    bias: Part[Vector[Pixel]]


class Again:
    """The same names once more, as when a notebook cell is run again."""

    class Pixel:
        """Another tag of that name."""

    class Layer(Record):
        """Another record of that name."""

        bias: Part[Vector[Pixel]]


Again.Pixel.__qualname__, Again.Layer.__qualname__ = "Pixel", "Layer"
fin: Any = Fin
pixel, hidden, many = Fin(Pixel, 3), Fin(Hidden, 2), Fin.of(65)
V, M = R**pixel, R ** (hidden * pixel)
W: Any = R**hidden
v, m, big = V.vec([1.0, -2.0, 3.0]), M.vec([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), (R**many).ones()
A: Any = cumsum(pixel)
P = Layer(bias=V)
other: Any = (R ** Fin(Again.Pixel, 3)).ones()
again: Any = Again
f: Any = fun(V)(lambda x: x * x)
df: Any = derivative(f)

BOTH: dict[str, tuple[Callable[[Any], Any], Vec[Any]]] = {
    "shape": (lambda x: x.shape, v),
    "np.max": (np.max, v),
    "np.exp": (np.exp, v),
    "np.sum": (np.sum, v),
    "the remainder": (lambda x: x % 2.0, v),
    "if": (lambda x: x if x > 0.0 else -x, v),
    "for over many": (list, big),
    "for over a matrix": (list, m),
    "A[0] of a matrix": (lambda x: x[0], m),
    "a list of positions": (lambda x: x[[0, 2]], v),
    "a mask": (lambda x: x[x > 0.0], v),
    "a plain array": (lambda x: x + np.ones(3), v),
    "a function times a vector": (lambda x: f @ x, v),
    "a vector times a map": (lambda x: x @ A, v),
    "a missing transpose": (lambda x: x @ W.ones(), m),
    "the number of an axis": (lambda x: x.sum(axis=0), v),
    "k ** v": (lambda x: 2.0**x, v),
}
ONCE: dict[str, Callable[[], Any]] = {
    "A.T of a map": lambda: A.T,
    "A.H of a map": lambda: A.H,
    "V + W": lambda: V + W,
    "Fin(4)": lambda: fin(4),
    "Fin(Pixel)": lambda: fin(Pixel),
    "R ** 3": lambda: R**3,
    "matrix of a function": lambda: matrix(f),
    "the derivative at an expression": lambda: fun(V)(lambda x: df(x)(x)),
    "the gradient of a vector": lambda: grad(f),
    "the truth of a vector": lambda: bool(v),
    "parts without names": lambda: cast("Any", P.of)(v),
    "the parts of a direct sum": lambda: cast("Any", direct_sum(V, W).vec)(v, W.ones()),
    "a string in a list": lambda: V.vec([1.0, 2.0, "x"]),
    "an index set made again": lambda: m @ other,
    "a sum over one": lambda: m.sum(over=fin(again.Pixel, 3)),
    "an argument over one": lambda: fun(V, V)(lambda x, y: x + y)(v, other),
    "a record made again": lambda: P.of(bias=v)[again.Layer.bias],
    "the trace of a vector": lambda: trace(cast("Any", m)),
    "the diagonal by labels": lambda: contract("ii->i", m @ m.T),
    "the way of repetition": lambda: W.ones().rep(R ** (hidden * hidden)),
}


def golden() -> dict[str, list[str]]:
    """The texts of each mistake: with vectors, and in a traced function."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in (Path(__file__).parent / "first_hour.txt").read_text("utf-8").splitlines():
        if line.startswith("    "):
            found[name].append(line.strip())
        else:
            name = line
            found[name] = []
    return found


TEXTS = golden()


def answer(mistake: Callable[[], Any]) -> str:
    with pytest.raises(SpaceError) as error:
        mistake()
    return str(error.value).splitlines()[0]


@pytest.mark.parametrize("name", BOTH)
def test_with_vectors_and_in_functions(name: str) -> None:
    """What a vector answers, and what an expression."""
    mistake, x = BOTH[name]
    assert [answer(lambda: mistake(x)), answer(lambda: fun(x.space)(mistake))] == TEXTS[name]


@pytest.mark.parametrize("name", ONCE)
def test_elsewhere(name: str) -> None:
    """What spaces, index sets and maps answer."""
    assert [answer(ONCE[name])] == TEXTS[name]


def test_every_text_has_a_mistake() -> None:
    """Nothing is golden that nobody makes; there are more than fifteen."""
    assert set(TEXTS) == set(BOTH) | set(ONCE)
    assert len(TEXTS) > 15


def test_the_remedies() -> None:
    """What the texts say to write does what was meant."""
    assert v.space.index.shape == v.array.shape == (3,)
    assert v.array.max() == 3.0
    assert maximum(v, 0.0).array.tolist() == [1.0, 0.0, 3.0]
    assert absolute(v).array.tolist() == np.abs(v.array).tolist()
    assert float(sqrt(v @ v)) == v.norm()
    assert select(v > 0.0, v).array.tolist() == [1.0, 0.0, 3.0]
    assert (v > 0.0).array.any()
    assert lift(fun(R, R)(lambda k, x: k * x), many)(R.vec(2.0), big).array.sum() == 130.0
    assert m[0, :].array.tolist() == m.array[0].tolist()
    assert v[(Elements(pixel) ** hidden).vec([0, 2])].array.tolist() == [1.0, 3.0]
    assert A(v).array.tolist() == (A @ v).array.tolist() == np.cumsum(v.array).tolist()
    assert adjoint(A)(v).array.tolist() == [2.0, 1.0, 3.0]
    assert (A / 2)(v).array.tolist() == (np.cumsum(v.array) / 2).tolist()
    assert direct_sum(V, W).vec((v, W.ones()))[0].array.tolist() == P.of(bias=v)[Layer.bias].array.tolist()
    assert (R ** (hidden * hidden)).ones().trace().array == 2.0
    assert v.diag().diagonal().array.tolist() == v.array.tolist() == np.diag(np.diag(v.array)).tolist()
    assert W.vec([1.0, 2.0]).rep(R ** (hidden * hidden), over=0).array.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert where(v > 0.0, v, 0).array.tolist() == where(v > 0.0, v, 0.0 * v).array.tolist() == [1.0, 0.0, 3.0]
    assert fun(V)(lambda x: where(x > 0.0, 1, x))(v).array.tolist() == [1.0, -2.0, 1.0]
    assert show(v / 3.0, digits=3) == "[0.333, -0.667, 1.0] ∈ ℝ^Pixel3"
    assert show(P.of(bias=v / 3.0), digits=1) == "(bias: [0.3, -0.7, 1.0]) ∈ Layer(bias: ℝ^Pixel3)"
    assert len(show(big)) > 65 * 4
    assert direct_sum(V, W).dim == Fin.of(5).size
    assert v.sum(pixel).array.tolist() == v.array.sum()
    due = np.diag(2 * v.array).tolist()
    assert matrix(derivative(f).at(v), as_="array").tolist() == due
    assert matrix(derivative(f)(v), as_="array").tolist() == due == jacobian(f, v).tolist()
    assert fun(V)(lambda x: jvp(f)(x, x))(v).array.tolist() == (2 * v.array**2).tolist()
    assert contract("ij,ij->i", m, m).array.tolist() == (m * m).sum(pixel).array.tolist()

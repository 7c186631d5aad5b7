"""Axes of one element, and tables of which several sides coincide: each side of a matrix has each of its axes once."""

from __future__ import annotations

from functools import reduce
from itertools import product
from operator import add, mul
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hilbert.all as hb
from adjoint import adjoint, hessian
from diff import Expr, conv, fun, inner, sin
from hilbert import Fin, R
from hilbert.relation import shift
from linmap import gather, matrix, red, sparse, structure
from tests.oracle import matrix as due_matrix
from tests.untyped import each, root, where

if TYPE_CHECKING:
    from collections.abc import Callable

ONE = Fin.of(1)
POINT = R**ONE


@pytest.mark.parametrize("window", [(2, 4), (4, 1), (2, 2)])
@pytest.mark.parametrize(("stride", "dilation"), [((2, 1), (1, 2)), (1, 1)])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("beside", ["nothing", "image", "shift"])
def test_a_convolution_of_one_pixel(
    window: tuple[int, int], stride: int | tuple[int, int], dilation: int | tuple[int, int], channels: int, beside: str
) -> None:
    """Its second derivative, by image, scale and weights, is the same listed and whole."""
    W = R ** (Fin.of(window[0]) * Fin.of(window[1]) * ONE * Fin.of(channels))

    @fun(POINT, R, W)
    def loss(x: Expr[Any], s: Expr[Any], w: Expr[Any]) -> Expr[Any]:
        image = (s * x).reshape(ONE * ONE * ONE)
        y = conv(image, w, stride=stride, dilation=dilation, padding="same").reshape(Fin.of(channels))
        y = gather([channels - 1], Fin.of(channels))(y)
        if beside != "nothing":
            y = y + (x if beside == "image" else red(shift(ONE, -1))(x))
        return inner(POINT.vec([0.7]), sin(y))

    rng = np.random.default_rng(0)
    at = [space.random(rng) for space in loss.dom.parts]
    whole = np.asarray(hessian(loss, *at))
    np.testing.assert_allclose(hessian(loss, *at, as_="sparse").toarray(), whole, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("out", "inp"), [*product([1, 2, 3], repeat=2)])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_tables_of_which_many_sides_coincide(out: int, inp: int, n: int) -> None:
    """(i, …, i) by (i, …, i), summed until they are merged, as array and as sparse matrix, both ways."""
    X = Fin.of(n)
    cod, dom = (reduce(mul, [X] * k) for k in (out, inp))
    rows, columns = (np.arange(n) * sum(n**j for j in range(k)) for k in (out, inp))
    rng = np.random.default_rng(n)
    f = reduce(add, [sparse(rows, columns, rng.normal(size=n), dom, cod) for _ in range(8)])
    back = adjoint(f)
    for g in (f, back, f @ back, back @ f):
        due = due_matrix(g)
        np.testing.assert_allclose(matrix(g, as_="array"), due, atol=1e-12)
        np.testing.assert_allclose(matrix(g, as_="sparse").toarray(), due, atol=1e-12)
        assert str(structure(g))


def in_rows(A: Any) -> Any:
    """Each entry times the first of its row where it is larger than that, and its sine elsewhere."""

    def row(r: Any) -> Any:
        return each(lambda e: where(e > r[0], lambda: e * r[0], lambda: hb.sin(e)), r)

    return hb.uncurry(PAIR ** Fin.of(2))(each(row, hb.curry(SQUARE)(A)))


PAIR = R ** Fin.of(2)
SQUARE = R ** (Fin.of(2) * Fin.of(2))
ENDS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda y: y,
    "in lanes": lambda y: each(lambda e: where(e > 0.1, lambda: root(lambda z: z * z * z + z - e, e), lambda: e), y),
    "beside": lambda y: (y, y + y.roll(1)),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("over", [0, 1])
@pytest.mark.parametrize("entries", [*product([-1.5, 0.2], repeat=2)])
def test_the_largest_of_what_rows_give(end: str, over: int, entries: tuple[float, float]) -> None:
    """Matrices, diagonals and Gram maps where an order that is known at the point meets identities along rows."""
    a, b = entries
    A = SQUARE.vec([[0.5, a], [b, -0.3]])
    linear: Any = hb.derivative(hb.fun(SQUARE)(lambda A: ENDS[end](in_rows(A).max(over=over)))).at(A)
    due = np.stack([np.ravel(linear(e).flat()) for e in SQUARE.basis()], axis=1)
    for f, made in ((linear, due), (hb.gram(linear), due.T @ due)):
        np.testing.assert_allclose(matrix(f, as_="array"), made, atol=1e-12)
        np.testing.assert_allclose(matrix(f, as_="sparse").toarray(), made, atol=1e-12)
    np.testing.assert_allclose(hb.trace(hb.gram(linear)), np.trace(due.T @ due))
    np.testing.assert_allclose(hb.diagonal(hb.gram(linear)).flat(), np.diag(due.T @ due), atol=1e-12)

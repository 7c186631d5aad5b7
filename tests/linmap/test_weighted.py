"""Sparse matrices as linear maps, against dense products; their weights as an argument of a function."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from adjoint import adjoint, grad
from diff import affine, fun, inner, lift, program, sin, sparse_product
from hilbert import R32, Copower, Fin, Index, R, SpaceError, Vec, direct_sum
from hilbert.index.index import Labelled
from hilbert.program.line.line import Line
from hilbert.program.run.run import Runner
from linmap import cost, from_scipy, identity, matrix, sparse, structure
from linmap.net.apply import line
from linmap.net.lower import net
from linmap.term.nodes import Lifted
from tests.strategies import Source, close, elements, gathered, of_leaves, same, sources

scipy_sparse = pytest.importorskip("scipy.sparse")


class Pattern:
    """Places of entries, some of them twice."""

    def __init__(self, s: Source) -> None:
        self.X, self.Y = s.index(4), s.index(4)
        count = s.size(9) if self.X.size and self.Y.size else 0
        self.rows = s.rng().integers(0, max(self.Y.size, 1), count)
        self.cols = s.rng().integers(0, max(self.X.size, 1), count)

    def dense(self, weights: Any) -> np.ndarray[Any, Any]:
        """The matrix that these weights make."""
        array = np.zeros((self.Y.size, self.X.size))
        np.add.at(array, (self.rows, self.cols), weights)
        return array


def product(array: np.ndarray[Any, Any], v: Vec[Copower[Any, Any]], Y: Index) -> Vec[Any]:
    """A v for a vector of V^X, leaf by leaf."""
    space = v.space.base**Y
    made = []
    for a, part, due in zip(v.leaves, v.space.base.leaves, space.leaves, strict=True):
        rows = a.reshape(array.shape[1], *part.shape)
        made.append(np.tensordot(array.astype(a.dtype), rows, 1).reshape(due.shape))
    return of_leaves(space, made)


@given(sources())
def test_product(s: Source) -> None:
    """f(v) = A v on any space, f*(w) = Aᵀ w, f** = f; and for every element under a copower."""
    p, V, Z = Pattern(s), s.space(4), s.index(3)
    weights = s.rng().integers(-3, 4, p.rows.size)
    f = sparse(p.rows, p.cols, weights, p.X, p.Y, V)
    star = adjoint(f)
    v, w = s.vector(f.dom), s.vector(f.cod)
    assert same(f(v), product(p.dense(weights), v, p.Y))
    assert same(star(w), product(p.dense(weights).T, w, p.X))
    assert adjoint(star) == f
    lifted = Lifted(f, Z)
    vs = s.vector(lifted.dom)
    assert same(lifted(vs), gathered(lifted.cod, [f(part) for part in elements(vs)]))


@given(sources(single=False))
def test_matrix(s: Source) -> None:
    """The matrix has the proven pattern, each place once; `structure` says that it is sparse."""
    p = Pattern(s)
    weights = s.rng().integers(1, 4, p.rows.size)
    f = sparse(p.rows, p.cols, weights, p.X, p.Y)
    made = matrix(f, as_="sparse")
    places = set(zip(p.rows.tolist(), p.cols.tolist(), strict=True))
    assert made.nnz == len(places)
    assert np.array_equal(made.toarray(), p.dense(weights))
    assert np.array_equal(matrix(f, as_="array"), p.dense(weights))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dok", "bsr"])
def test_from_scipy(form: str) -> None:
    """Any format of scipy gives the same map, with the index sets that are given."""
    rng = np.random.default_rng(0)
    A = scipy_sparse.random_array((5, 7), density=0.4, rng=rng).asformat(form)
    f = from_scipy(A)
    x = rng.standard_normal(7)
    assert np.allclose(f(f.dom.vec(x)).array, A.toarray() @ x)
    towns = Labelled.of("abcdefg")
    assert from_scipy(A, towns, Fin.of(5)).dom == R**towns
    assert f.cod == R ** Fin.of(5)
    assert (matrix(f, as_="sparse") != scipy_sparse.csr_array(A)).nnz == 0


def test_structure() -> None:
    """A sparse matrix is no larger than its entries: beside an identity, too."""
    X = Fin.of(1000)
    f = sparse(np.arange(999), np.arange(1, 1000), np.ones(999), X, X)
    assert str(structure(f)) == "sparse, 999 of 1000·1000 entries"
    assert matrix(f + identity(R**X), as_="sparse").nnz == 1999


def test_labels() -> None:
    """Rows and columns may be labels: strings, or what `at` finds; integers are positions."""
    towns, years = Labelled.of(["Turku", "Bergen"]), Labelled.of([2021, 2022, 2023])
    f = sparse(["Bergen", "Turku"], years.at([2022, 2023]), [2.0, 3.0], years, towns)
    assert matrix(f, as_="array").tolist() == [[0.0, 0.0, 3.0], [0.0, 2.0, 0.0]]
    by_position = sparse([1, 0], [1, 2], [2.0, 3.0], years, towns)
    assert np.array_equal(matrix(by_position, as_="array"), matrix(f, as_="array"))


@given(sources())
def test_weights_as_an_argument(s: Source) -> None:
    """(w, v) ↦ A(w) v is bilinear: derivatives and adjoints in both."""
    p, V = Pattern(s), s.space(3)
    K = Fin.of(p.rows.size)
    f = sparse_product(p.rows, p.cols, p.X, p.Y, V, entries=K)
    w, v = s.vector(f.dom.parts[0]), s.vector(f.dom.parts[1])
    dw, dv = s.vector(f.dom.parts[0]), s.vector(f.dom.parts[1])
    value, linear = affine(f, w, v)
    assert same(value, product(p.dense(w.array), v, p.Y))
    due = product(p.dense(dw.array), v, p.Y) + product(p.dense(w.array), dv, p.Y)
    assert same(linear(dw, dv), due)
    y = s.vector(f.cod)
    assert linear(dw, dv).inner(y) == adjoint(linear)(y).inner(of_leaves(linear.dom, [*dw.leaves, *dv.leaves]))


@given(sources(smooth=True, single=False))
def test_gradient_in_the_weights(s: Source) -> None:
    """∇_w of Σ sin(A(w) v) is cos((A v)_{rows[k]})·v_{cols[k]}; lifted over vectors, the weights are shared."""
    p = Pattern(s)
    f = sparse_product(p.rows, p.cols, p.X, p.Y)
    W, V = f.dom.parts
    loss = fun(W, V)(lambda w, v: inner(sin(f(w, v)), (f.cod).vec(np.ones(p.Y.shape))))
    w, v = s.vector(W), s.vector(V)
    sums = np.cos(p.dense(w.array) @ v.array.reshape(-1))
    assert close(grad(loss, wrt=0)(w, v), W.vec(sums[p.rows] * v.array.reshape(-1)[p.cols]))
    Z = s.index(3)
    vs = s.vector(V**Z)
    assert close(lift(f, Z)(w, vs), gathered(f.cod**Z, [f(w, part) for part in elements(vs)]))


def many(order: str, count: int = 6000) -> tuple[Any, Any, Any]:
    """Rows below 40, columns below 30 and weights, in the order of rows, of columns or none."""
    rng = np.random.default_rng(1)
    rows, cols = rng.integers(0, 40, count), rng.integers(0, 30, count)
    places = {"rows": np.argsort(rows), "columns": np.argsort(cols), "none": np.arange(count)}[order]
    return rows[places], cols[places], rng.integers(-3, 4, count).astype(float)


def steps(line: Line) -> list[str]:
    """The operations that run, in order."""
    return [type(step.operation).__name__ for step in Runner(line).line.steps if step.args]


@pytest.mark.parametrize("order", ["rows", "columns", "none"])
@pytest.mark.parametrize("width", [(), (2,)])
def test_many_entries(order: str, width: tuple[int, ...]) -> None:
    """Many entries in the order of rows or columns are one product with a sparse matrix; the result is the same."""
    rows, cols, weights = many(order)
    X, Y, K = Fin.of(30), Fin.of(40), Fin.of(rows.size)
    V: Any = R ** Fin.of(*width) if width else R
    f = program(sparse_product(rows, cols, X, Y, V, entries=K))
    rng = np.random.default_rng(2)
    w, v = f.dom.parts[0].vec(weights), f.dom.parts[1].vec(rng.integers(-3, 4, (30, *width)).astype(float))
    dense = np.zeros((40, 30))
    np.add.at(dense, (rows, cols), weights)
    assert np.array_equal(f(w, v).array, dense @ v.array)
    assert steps(f.line) == (["Reduce", "Contract", "Reduce"] if order == "none" else ["Weighted"])


def test_a_constant_matrix_with_many_entries() -> None:
    """A sparse matrix and its adjoint are one step each; a NaN reaches what it is connected to."""
    rows, cols, weights = many("none")
    f = sparse(rows, cols, weights + 4, Fin.of(30), Fin.of(40))
    big = sparse(np.arange(12000) % 4000, np.arange(12000) % 3000, np.ones(12000), Fin.of(3000), Fin.of(4000))
    for g in (f, big):
        for h in (g, adjoint(g)):
            v = np.random.default_rng(3).integers(-3, 4, h.dom.index.size).astype(float)
            found = h(h.dom.vec(v)).array
            assert np.array_equal(found, matrix(h, as_="sparse") @ v)
            v[0] = np.nan
            spoilt = np.isnan(h(h.dom.vec(v)).array)
            assert np.array_equal(spoilt, matrix(h, as_="array")[:, 0] != 0)
    assert steps(line(net(big))) == steps(line(net(adjoint(big)))) == ["Weighted"]
    assert cost(big).apply.flops == 24000


def test_in_another_namespace() -> None:
    """On arrays of JAX the three steps are taken one after the other."""
    jax_numpy = pytest.importorskip("jax.numpy")
    rows, cols, weights = many("rows")
    f = sparse(rows, cols, weights.astype(np.float32), Fin.of(30), Fin.of(40), R32)
    v = np.arange(30, dtype=np.float32)
    found = f(f.dom.vec(jax_numpy.asarray(v))).array
    assert isinstance(found, jax_numpy.ndarray)
    assert np.array_equal(np.asarray(found), f(f.dom.vec(v)).array)


X, Y = Fin.of(3), Fin.of(2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sparse([2], [0], [1.0], X, Y), "does not lie in 2"),
        (lambda: sparse([0], [3], [1.0], X, Y), "does not lie in 3"),
        (lambda: sparse([0], [1], [1.0, 2.0], X, Y), "as many rows as columns and weights of entries, not 1, 1 and 2"),
        (lambda: sparse([0], [1], ["a"], X, Y), "a one-dimensional array of numbers"),
        (lambda: sparse([0], [1], 1.0, X, Y), "a one-dimensional array of numbers"),
        (
            lambda: sparse([0, 1], [1, 1], np.array([True, 2], object), X, Y),
            "dtype object .* float64: convert it first",
        ),
        (lambda: from_scipy(np.zeros((2, 3))), "takes a sparse matrix of scipy, not an array"),
        (lambda: from_scipy(scipy_sparse.csr_array((2, 3)), Y, X), "of 2 rows and 3 columns does not map"),
        (lambda: sparse_product([0], [1, 2], X, Y), "has 1 entries, not 2"),
        (lambda: sparse_product([0], [1], X, Y, direct_sum(R, R), entries=Y), "has 2 entries, not 1"),
    ],
)
def test_errors(call: Any, message: str) -> None:
    """What does not fit is refused when the map is made."""
    with pytest.raises(SpaceError, match=message):
        call()

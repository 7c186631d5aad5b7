"""Jacobians by eliminating wires: right where sums compose, exact patterns, and plans that grow as the net does."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, note, settings

from adjoint import grad, hessian
from diff import const, cos, derivative, exp, fun, inner, lift, log, sin, tanh
from hilbert import Elements, Fin, R, SpaceError, Unit
from hilbert.relation import band, equality, function, pairs, rotation, shift
from linmap import (
    compose,
    cost,
    cumsum,
    curry,
    diagonal,
    differences,
    factors,
    from_scipy,
    gather,
    gram,
    identity,
    matrix,
    red,
    rep,
    section,
    segment_sum,
    structure,
    total,
    trace,
    transpose,
    uncurry,
)
from linmap.contraction import basis_vector, hadamard, matrix_vector
from linmap.matrices.made.dense import chosen, on_basis
from linmap.matrices.made.matrix_plans import data_of
from linmap.matrices.network import elimination
from linmap.matrices.network.elimination import ArcsLeft
from linmap.matrices.network.network import Network, network
from linmap.matrices.structure.matrix_shapes import (
    Blocks,
    DenseForm,
    DiagonalForm,
    IdentityForm,
    LowRank,
    Permutation,
    SparseForm,
    SumForm,
)
from linmap.matrices.structure.structure import body_of
from linmap.net.lower import net, transposed
from linmap.term.linear_map import LinMap
from linmap.term.net import turned
from linmap.term.nodes import Compose, Fork, Join, Parallel, Sum
from tests.linear_terms import between, is_exact
from tests.oracle import matrix as due_matrix
from tests.strategies import Source, sources
from tests.untyped import each, fold, iterate, root

if TYPE_CHECKING:
    from hilbert.relation.relation import AnyRelation


def braid(s: Source) -> LinMap[Any, Any]:
    """Sums of compositions of sums: each step adds two maps of what the step before has added."""
    spaces = [s.space(6, 1) for _ in range(s.integer(2, 4))]
    steps: list[LinMap[Any, Any]] = []
    for V, W in pairwise(spaces):
        parts = tuple(between(s, V, W, s.integer(0, 2)) for _ in range(s.integer(2, 4)))
        if s.flag():
            steps.append(Sum(parts))
        else:
            steps.append(Compose([Fork(parts), Join(tuple(between(s, W, W, 1) for _ in parts))]))
    return Compose(steps)


@settings(max_examples=120)
@given(sources())
def test_sums_that_compose(s: Source) -> None:
    """matrix(f) is the matrix of f in every form, for nets where flow parts and meets again and again."""
    f = braid(s)
    note(f)
    due = due_matrix(f)
    close = (1e-9 if is_exact(f) else 1e-3) * max(1.0, float(np.max(np.abs(due), initial=0.0)))
    assert np.allclose(matrix(f, "array"), due, rtol=0, atol=close)
    sparse = matrix(f, "sparse")
    assert np.allclose(sparse.toarray(), due, rtol=0, atol=close)
    assert sum(block.nnz for row in matrix(f, "blocks") for block in row if block is not None) == sparse.nnz
    form = structure(f)
    if isinstance(form, LowRank):
        left, right = factors(f)
        assert np.linalg.matrix_rank(due) <= form.rank == left.space.index.size == right.space.index.size


@settings(max_examples=60)
@given(sources())
def test_diagonals_and_gram_maps_of_sums(s: Source) -> None:
    """diagonal(f* • f) is the squares of the columns of f, and its trace their sum."""
    f = braid(s)
    note(f)
    due = due_matrix(f)
    size = max(1.0, float(np.max(np.abs(due), initial=0.0)) ** 2 * max(due.shape))
    close = (1e-9 if is_exact(f) else 1e-3) * size
    assert np.allclose(diagonal(gram(f)).flat(), (due * due).sum(axis=0), rtol=0, atol=close)
    assert abs(trace(gram(f)) - (due * due).sum()) <= close * max(1, due.shape[1])


# --- patterns ---


X = Fin.of(12)
V = R**X
RNG = np.random.default_rng(0)


def boolean(relations: list[AnyRelation]) -> Any:
    """The union of some relations on X as a matrix of truth values."""
    made = np.zeros((12, 12), bool)
    for r in relations:
        x, y = r.holds()
        made[y, x] = True
    return made


@settings(max_examples=60)
@given(sources())
def test_patterns_are_boolean_products(s: Source) -> None:
    """The entries of a composition of sums of relations are those of the Boolean product, no more and no fewer."""

    def relation() -> AnyRelation:
        kind = s.integer(0, 3)
        if kind == 0:
            return shift(X, s.integer(-3, 3))
        if kind == 1:
            return rotation(X, s.integer(0, 5))
        if kind == 2:
            return function([s.integer(0, 11) for _ in range(12)], X, X)
        return function([s.integer(0, 11) for _ in range(12)], X, X).T

    groups = [[relation() for _ in range(s.integer(1, 3))] for _ in range(s.integer(1, 3))]
    weights = [section(hadamard(V), 0, V.random(RNG)) for _ in groups]
    steps: list[LinMap[Any, Any]] = []
    due = np.eye(12, dtype=bool)
    for group, weight in zip(groups, weights, strict=True):
        steps += [Sum(tuple(red(r) for r in group)), weight]
        due = boolean(group).astype(int) @ due.astype(int) > 0
    f = Compose(steps)
    form = structure(f)
    assert form.text() != "zero" or not due.any()
    if isinstance(form, SparseForm):
        assert form.exact
        assert form.entries == due.sum()
    if isinstance(form, DenseForm):
        assert 3 * due.sum() > due.size
    else:
        found = matrix(f, "sparse")
        pattern = sp.csr_array((np.ones(found.nnz), found.indices, found.indptr), shape=found.shape).toarray() > 0
        assert np.array_equal(pattern, due)


def heat(n: int) -> LinMap[Any, Any]:
    """A step of the heat equation on a square."""
    x, y = Fin.of(n), Fin.of(n)
    space = R ** (x * y)
    moved = [red(shift(x, k) * equality(y)) for k in (-1, 1)] + [red(equality(x) * shift(y, k)) for k in (-1, 1)]
    return identity(space) + 0.1 * (Sum(tuple(moved)) - 4 * identity(space))


@pytest.mark.parametrize("products", ["scipy's", "listed"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_heat(k: int, products: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """k steps of the heat equation: the entries and the pattern of the k-th power, also without products of scipy's."""
    if products == "listed":
        monkeypatch.setattr("linmap.matrices.tables.constant_tables.sparse", lambda: None)
    n = 16
    f = compose([heat(n)] * k)
    line, one = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1]), sp.eye_array(n)
    step = sp.csr_array(sp.eye_array(n * n) + 0.1 * (sp.kron(line, one) + sp.kron(one, line) - 4 * sp.eye_array(n * n)))
    due = step
    for _ in range(k - 1):
        due = due @ step
    found = matrix(f, "sparse")
    assert found.nnz == due.nnz
    assert abs(found - due).max() < 1e-15
    form = structure(f)
    assert isinstance(form, SparseForm)
    assert (form.entries, form.exact) == (due.nnz, True)


# --- size ---


def rolled(n: int, depth: int) -> Any:
    """y ← tanh(roll(y)) + y, again and again."""
    Y = Fin.of(n)
    roll = red(rotation(Y, 1))

    def body(y: Any) -> Any:
        for _ in range(depth):
            y = tanh(roll(y)) + y
        return y

    return fun(R**Y)(body)


@pytest.mark.parametrize("n", [6, 60])
def test_plans_grow_as_nets_do(n: int) -> None:
    """The steps of a plan are at most so many times the arcs, at depth 10, 100 and 1,000; paths double with each."""
    for depth in (10, 100, 1000):
        f = rolled(n, depth)
        d = derivative(f)
        plan = network(d.body)
        assert len(plan.builder.steps) <= 8 * len(d.body.arcs) + 200
        x = f.dom.random(np.random.default_rng(depth))
        found = matrix(d.at(x), "array")
        y, due = x.array, np.eye(n)
        for _ in range(depth):
            moved = np.roll(y, 1)
            due = (1 - np.tanh(moved) ** 2)[:, None] * np.roll(due, 1, axis=0) + due
            y = np.tanh(moved) + y
        assert np.max(np.abs(found - due)) <= 1e-12 * np.max(np.abs(due))
    assert structure(derivative(rolled(60, 10))) == SparseForm(60 * 11, (60, 60))


def test_costs_of_powers() -> None:
    """cost and structure of a composition of many sums end, and their numbers are those of the sizes."""
    many = compose([heat(8)] * 40)
    assert isinstance(structure(many), DenseForm)
    found = cost(many, "array")
    assert found.matrix.flops < 40 * 30 * 64**2
    power = np.linalg.matrix_power(matrix(heat(8), "array"), 40)
    assert np.allclose(matrix(many, "array"), power, rtol=0, atol=1e-14)


@pytest.mark.parametrize("n", [50, 20000])
def test_sparse_products_make_no_outer_products(n: int) -> None:
    """D•T•D, T*•D•T and T•T•T for a tridiagonal T have scipy's entries; every array is as small as the result."""
    rng = np.random.default_rng(0)
    Y = Fin.of(n)
    T_ = sp.csr_array(
        sp.diags_array(
            [rng.standard_normal(n - 1), rng.standard_normal(n), rng.standard_normal(n - 1)], offsets=[-1, 0, 1]
        )
    )
    T, d = from_scipy(T_, Y, Y), (R**Y).random(rng)
    D, D_ = section(hadamard(R**Y), 0, d), sp.diags_array(d.array)
    for f, due in ((D @ T @ D, D_ @ T_ @ D_), (transposed(T) @ D @ T, T_.T @ D_ @ T_), (T @ T @ T, T_ @ T_ @ T_)):
        found = matrix(f, "sparse")
        assert found.nnz == due.nnz
        assert abs(found - due).max() < 1e-12
        assert cost(f, "sparse").matrix.largest <= 4 * due.nnz
        assert np.allclose(diagonal(f).array, due.diagonal())
    g = fun(R**Y)(lambda x: sin(T(x)) @ sin(T(x)))
    x = (R**Y).random(rng)
    h = derivative(grad(g)).at(x)
    due = T_.T @ sp.diags_array(2 * np.cos(2 * (T_ @ x.array))) @ T_
    assert abs(matrix(h, "sparse") - due).max() < 1e-12
    assert np.allclose(diagonal(h).array, due.diagonal())
    assert structure(h) == SparseForm(due.nnz, (n, n))


# --- what is proved ---


def dense_map(rows: Any, cols: Any) -> LinMap[Any, Any]:
    """A matrix as a linear map."""
    return section(matrix_vector(rows, cols), 0, (R ** (rows * cols)).random(RNG))


def test_what_sums_prove() -> None:
    """A − A is zero; U•Q₁ + U•Q₂ has the rank of U; a wire that all flow passes bounds the rank; A⊗1 + 1⊗B stays."""
    narrow = Fin.of(2)
    U, Q, P = dense_map(X, narrow), dense_map(narrow, X), dense_map(narrow, X)
    assert str(structure(Sum((dense := dense_map(X, X), -1 * dense)))) == "zero"
    assert str(structure(U @ Q + U @ P)) == "rank 2"
    assert str(structure(U @ Q + dense_map(X, narrow) @ Q)) == "rank 2"
    assert str(structure(U @ Q + dense_map(X, narrow) @ P)) == "rank 4"
    both = Sum((U, dense_map(X, narrow) @ dense_map(narrow, narrow))) @ Sum((Q, P))
    assert str(structure(both)) == "rank 2"
    A, B = dense_map(X, X), dense_map(X, X)
    left = uncurry(V**X) @ A**X @ curry(R ** (X * X))
    right = transpose(R ** (X * X)) @ uncurry(V**X) @ B**X @ curry(R ** (X * X)) @ transpose(R ** (X * X))
    assert str(structure(left + right)) == "identity ⊗ dense 12×12 + dense 12×12 ⊗ identity"


def test_permutations_and_diagonals() -> None:
    """A permutation says so, and its product with its adjoint is the identity; a grouped Hessian is diagonal."""
    order = function(RNG.permutation(12), X, X)
    assert structure(red(order)) == Permutation(12, weighted=False)
    weighted = section(hadamard(V), 0, V.random(RNG)) @ red(order)
    assert structure(weighted) == Permutation(12, weighted=True)
    assert str(structure(transposed(red(order)) @ red(order))) == "identity"
    rows, groups = Fin.of(1000), Fin.of(30)
    key = RNG.integers(0, 30, 1000)
    loss = fun(R**groups)(lambda v: sin(gather(function(key, rows, groups))(v)).sum())
    h = derivative(grad(loss))
    assert structure(h) == DiagonalForm(30)
    x = (R**groups).random(RNG)
    due = -np.bincount(key, np.sin(x.array[key]), 30)
    assert np.allclose(hessian(loss, x), np.diag(due))
    found = matrix(h.at(x))
    assert found.nnz == 30
    assert np.allclose(diagonal(h.at(x)).array, due)


def test_cumulative_sums_are_never_listed() -> None:
    """cumsum on a million elements is counted by formula, and so is its diagonal."""
    many = Fin.of(10**6)
    n = many.size
    assert structure(cumsum(many)) == SparseForm(n * (n + 1) // 2, (n, n))
    assert trace(cumsum(many)) == n
    both = structure(cumsum(many) + identity(R**many))
    assert isinstance(both, SumForm)
    assert both.parts[1] == IdentityForm(n) or both.parts[0] == IdentityForm(n)


def test_dynamic_patterns() -> None:
    """A relation that is known at the point only counts as a table; the sparse matrix has the entries of the point."""
    rows = Fin.of(5)
    d = derivative(fun(Elements(X) ** rows, V)(lambda ids, v: v[ids]))
    assert structure(d) == SparseForm(5, (5, 12))
    for ids in ([0, 3, 3, 11, 5], [1, 1, 1, 1, 1]):
        closed = d.at((Elements(X) ** rows).vec(ids), V.random(RNG))
        found = matrix(closed, "sparse")
        due = np.zeros((5, 12))
        due[np.arange(5), ids] = 1.0
        assert np.array_equal(found.toarray(), due)
        assert np.array_equal(matrix(closed, "array"), due)


def test_the_one_element() -> None:
    """An element of 𝟏 restricts nothing: its basis vector is 1."""
    f = section(basis_vector(Unit(), R), 1, Elements(Unit()).vec(0))
    for form in ("array", "sparse"):
        assert np.asarray(matrix(f, form) @ np.ones(1)).tolist() == [1.0]


def test_texts_fit_a_screen() -> None:
    """str(structure(f)) has at most 40 lines of at most 100 columns."""
    many = 60
    f = Fork(tuple(Sum((red(shift(X, k % 5)), (k + 1) * identity(V))) for k in range(many)))
    wide = Join(tuple(f for _ in range(many)))
    form = structure(wide)
    assert isinstance(form, Blocks)
    text = str(form)
    assert len(text.splitlines()) == 40
    assert max(map(len, text.splitlines())) <= 100


def test_an_identity_that_all_have_stays_one() -> None:
    """Sums on a narrow wire are one product: what all of them leave alone is listed in no table."""
    points, springs, place = Fin.of(6), Fin.of(5), R ** Fin.of(3)
    start, end = (gather(ends, points, place) for ends in (range(5), range(1, 6)))
    change = end - start
    stiffness = transposed(change) @ dense_map(place.index, place.index) ** springs @ change
    for f, size in ((stiffness, (3, 3)), (transposed(change) @ change, (1, 1))):
        ((found,),) = matrix(f, "blocks")
        assert found.blocksize == size
        assert np.allclose(found.toarray(), due_matrix(f))
    laplacian = structure(transposed(change) @ change)
    assert str(laplacian) == "(sparse, 16 of 6·6 entries) ⊗ identity"
    for count, full in ((12, "dense 12×12"), (40, "(sparse, 280 of 40·40 entries)")):
        ring = Fin.of(count)
        many = Sum([gather(rotation(ring, k).T, place) for k in range(7)])
        assert str(structure(many)) == f"{full} ⊗ identity"
        assert np.allclose(matrix(many, "array", limit=10**6), due_matrix(many))
    ring = Fin.of(8)
    weights = [(place**ring).random(np.random.default_rng(k)) for k in range(7)]
    weighted = Sum(
        [section(hadamard(w.space), 0, w) @ gather(rotation(ring, k).T, place) for k, w in enumerate(weights)]
    )
    assert np.allclose(matrix(weighted, "sparse").toarray(), due_matrix(weighted))
    assert str(structure(weighted)) == "3 blocks, each dense 8×8"


@pytest.mark.parametrize("count", [30, 300])
def test_blocks_that_are_zero_take_no_time(count: int) -> None:
    """Of maps side by side: a form, a place in the pattern and a block for each of them, and none for the others."""
    f = Parallel([cumsum(X) for _ in range(count)])
    form = structure(f)
    assert isinstance(form, Blocks)
    assert [place for place, _ in form.entries] == [(k, k) for k in range(count)]
    assert len(Network(net(f)).blocks) == count
    found = matrix(f, "blocks")
    assert sum(cell is not None for row in found for cell in row) == count
    assert str(form).startswith(f"{count} of {count}·{count} blocks [1,1: sparse, ")


def test_limits_hold_in_every_form() -> None:
    """No array on the way is larger than the limit or the result; otherwise an error, before it is made."""
    U, Q = dense_map(X, X), dense_map(X, X)
    f = rep(X) @ total(X) @ (U @ Q + Q @ U)
    for form in ("array", "sparse", "blocks"):
        with pytest.raises(SpaceError, match="no order keeps every intermediate array within 1 entries"):
            matrix(total(X) @ Sum((U @ Q, Q @ U)), form, limit=1)
        assert matrix(f, form, limit=144) is not None


def test_identities_lie_in_blocks() -> None:
    """A ridge is written into the blocks that are there, and makes others; not where most of these would be empty."""
    points, place = Fin.of(20), R ** Fin.of(5)
    A = dense_map(place.index, place.index) ** points
    ridge = 0.5 * identity(place**points)
    one_pair = pairs([(0, 1)], points, points)
    for relation, size in ((band(points, 1, 1), (5, 5)), (shift(points, 1), (5, 5)), (one_pair, (1, 1))):
        f = A @ red(relation, place) + ridge
        ((found,),) = matrix(f, "blocks")
        assert found.blocksize == size
        assert abs(found - matrix(f, "sparse")).max() == 0
        assert np.allclose(found.toarray(), due_matrix(f))


@settings(max_examples=40)
@given(sources(single=False))
def test_three_plans_of_a_dense_matrix(s: Source) -> None:
    """Elimination, the map on all basis vectors and its adjoint on all give one matrix; the quickest is predicted."""
    f = braid(s)
    note(f)
    body, data = body_of(f, "matrix"), data_of(f, "matrix")
    due = due_matrix(f)
    close = (1e-9 if is_exact(f) else 1e-3) * max(1.0, float(np.max(np.abs(due), initial=0.0)))
    by_elimination = matrix(f, "array", limit=10**9)
    assert np.allclose(by_elimination, due, rtol=0, atol=close)
    times = dict(cost(f, "array").seconds)
    if "forward" in times:
        assert np.allclose(on_basis(body).at(data)[0].T, due, rtol=0, atol=close)
        assert np.allclose(on_basis(turned(body)).at(data)[0], due, rtol=0, atol=close)
        assert set(times) == {"elimination", "forward", "adjoint"}
        assert min(times.values()) > 0 or times["elimination"] == 0
    matrix(f, "array")[...] = np.nan  # what is returned is nobody else's
    assert np.allclose(matrix(f, "array"), due, rtol=0, atol=close)
    matrix(f, "sparse").data[...] = np.nan
    assert np.allclose(matrix(f, "sparse").toarray(), due, rtol=0, atol=close)


def test_the_quickest_plan_counts_steps() -> None:
    """Many small arcs are run all at once; a bow tie of a wide matrix is eliminated."""
    many = derivative(rolled(6, 30))
    assert chosen(many.body) in {"forward", "adjoint"}
    wide, waist = Fin.of(300), Fin.of(2)
    U, W = dense_map(wide, waist), dense_map(waist, wide)
    assert chosen(body_of(U @ W, "matrix")) == "elimination"


def test_plans_of_maps_through_bundles() -> None:
    """A loop, a branch or an equation does not hide the lifted passes: their bundles are read as what is in them."""
    V = R ** Fin.of(5)
    x = V.vec([0.1, 0.2, 0.3, 0.4, 0.5])
    looped = fun(V)(lambda v: iterate(lambda s: tanh(s + v), v, Fin.of(3)))
    solved = fun(V)(lambda v: root(lambda u: u + u * u * u - v, v))
    summed = fun(V)(lambda v: solved(v).sum())
    for f in (derivative(looped).at(x), derivative(solved).at(x), derivative(grad(summed)).at(x)):
        body, data = body_of(f, "matrix"), data_of(f, "matrix")
        assert set(dict(cost(f, "array").seconds)) == {"elimination", "forward", "adjoint"}
        due = matrix(f, "array")
        np.testing.assert_allclose(on_basis(body).at(data)[0].T, due, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(on_basis(turned(body)).at(data)[0], due, rtol=1e-12, atol=1e-12)


def test_a_hessian_through_an_equation_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bars between neighbours in equilibrium: elimination would make arrays with seven axes, and is not planned."""
    node, free = Fin.of(40), Fin.of(39)
    P = R ** Fin.of(2)
    placed = segment_sum(np.arange(1, 40), node, P, rows=free)
    along = differences(node, P)
    rest = (P**node).vec(np.stack([np.arange(40), 0.1 * np.arange(40)], 1))
    load: Any = (P**free).full(0.02)

    def energy(a: Any, u: Any) -> Any:
        e = along(rest + placed(u))
        stretch = log((e * e).sum(over=P.index))
        return 0.5 * (a @ (stretch * stretch)) + 0.5 * inner(u, u)

    force: Any = grad(fun(R**free, P**free)(energy), 1)
    compliance = fun(R**free)(lambda a: inner(load, root(lambda u: force(a, u) - load, load)))
    a = (R**free).ones()
    by_columns: Any = derivative(grad(compliance)).at(a)
    due = np.stack([by_columns(e).array for e in (R**free).basis()], axis=1)
    monkeypatch.setattr("linmap.matrices.made.dense.dense_plan", lambda *_: pytest.fail("elimination is planned"))
    np.testing.assert_allclose(hessian(compliance, a), due, rtol=1e-9, atol=1e-15)


def test_a_loop_is_not_run_on_more_vectors_than_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hessian of a likelihood of many series in two parameters: a pass has two vectors, each loop hundreds."""
    lanes, times, state = Fin.of(5), Fin.of(20), Fin.of(2)

    def likelihood(p: Any, seen: Any) -> Any:
        return fold(lambda a, x: tanh(a * p) + x, const((R**state).zeros()), each(lambda x: x * p, seen)).sum()

    one = fun(R**state, (R**state) ** times)(likelihood)
    many: Any = lift(one, lanes, over=(1,))
    total: Any = fun.over(many.dom)(lambda p, seen: many(p, seen).sum())
    rng = np.random.default_rng(0)
    p, seen = (R**state).random(rng), many.dom.parts[1].random(rng)
    monkeypatch.setattr("linmap.matrices.made.dense.dense_plan", lambda *_: pytest.fail("elimination is planned"))
    monkeypatch.setattr("linmap.matrices.made.dense.THROUGH", 0.0)  # however quick a pass is
    found = hessian(total, p, seen, wrt=0)
    h = 1e-5
    slopes = [
        (grad(total, 0)(p + h * e, seen) - grad(total, 0)(p - h * e, seen)).array / (2 * h) for e in (R**state).basis()
    ]
    np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-8)


def test_each_order_is_right() -> None:
    """Networks of a map and of its adjoint are eliminated from other ends, and agree."""
    f = derivative(rolled(8, 6))
    at = f.at(f.dom.random(RNG))
    assert np.allclose(matrix(transposed(at), "array"), matrix(at, "array").T, rtol=1e-13)
    assert Network(net(heat(4))).blocks


@settings(max_examples=60)
@given(sources())
def test_cheapest_first_alone_is_right(s: Source) -> None:
    """Where the net is too large for other orders, the wires that join the smallest ends go first: the same matrix."""
    f = braid(s)
    note(f)
    due = due_matrix(f)
    close = (1e-9 if is_exact(f) else 1e-3) * max(1.0, float(np.max(np.abs(due), initial=0.0)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "TRIED", 0)
        assert np.allclose(matrix(f, "array", limit=10**9), due, rtol=0, atol=close)
        assert np.allclose(matrix(f, "sparse").toarray(), due, rtol=0, atol=close)


@settings(max_examples=60)
@given(sources())
def test_cheapest_first(s: Source) -> None:
    """Each wire goes once, when no other one has a smaller product of the sizes before it and after it."""
    graph = ArcsLeft(Network(net(braid(s))))
    wires = graph.wires()
    gone = []
    for w in graph.cheapest_first(wires):
        sizes = [
            sum(graph.sizes[v] for v in graph.into.get(x, ())) * sum(graph.sizes[v] for v in graph.out_of.get(x, ()))
            for x in (w, *(x for x in wires if x not in gone and x != w))
        ]
        assert sizes[0] == min(sizes)
        graph.eliminate(w)
        gone.append(w)
    assert sorted(gone) == sorted(wires)


def test_wires_that_only_pass_on_are_gone() -> None:
    """Inputs, results, one arc in and one out, a sum that is only scaled or turned: no order is needed for those."""
    X = Fin.of(3)
    turned: Any = transpose(R ** (X * X))
    for f in (
        derivative(fun(R**X)(lambda x: sin(x) * x + cos(x))),
        derivative(fun(R**X, R**X)(lambda x, y: 2.0 * (sin(x) + y) + cos(y))),
        derivative(fun(R ** (X * X))(lambda A: turned(sin(A) + turned(A)) + A)),
    ):
        assert ArcsLeft(Network(body_of(f, "structure"))).wires() == []
    inner = fun(R**X)(lambda x: sin(x) + x.roll(1))
    mixed = fun(R**X)(lambda y: sin(y) + cos(y)) @ inner
    assert len(ArcsLeft(Network(derivative(mixed).body)).wires()) == 1


def test_long_nets_take_few_steps() -> None:
    """Twenty steps of Runge and Kutta's method on a pendulum: the plan has at most three steps for an arc."""

    def rates(angle: Any, speed: Any) -> tuple[Any, Any]:
        return speed, -9.81 * sin(angle) - 0.1 * speed * speed

    def body(angle: Any, speed: Any) -> Any:
        h = 0.1
        for _ in range(20):
            a1, b1 = rates(angle, speed)
            a2, b2 = rates(angle + h / 2 * a1, speed + h / 2 * b1)
            a3, b3 = rates(angle + h / 2 * a2, speed + h / 2 * b2)
            a4, b4 = rates(angle + h * a3, speed + h * b3)
            angle = angle + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            speed = speed + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        return (angle * angle + speed).sum()

    f = fun(R ** Fin.of(7), R ** Fin.of(7))(body)
    d = derivative(grad(f))
    assert structure(d).text().count("diagonal") == 4
    assert len(network(d.body).builder.steps) <= 3 * len(d.body.arcs)
    x = f.dom.random(np.random.default_rng(0))
    found = matrix(d.at(x), "sparse").toarray()
    assert np.allclose(found, found.T, rtol=1e-9)
    assert np.allclose(found, hessian(f, x), rtol=1e-9)


def test_the_diagonal_of_many_maps_of_low_rank() -> None:
    """Arrays with a long axis are put into another order, and so is the diagonal of a table."""
    X, Y = Fin.of(200), Fin.of(3)
    V, a = R**X, const((R ** (Y * X)).random(RNG))

    def energy(p: Any, x: Any) -> Any:
        steps = x[1:] - x[:-1]
        return inner(a @ x, a @ x) + x.sum() ** 2 + inner(steps, steps) + inner(exp(p) * x, x)

    slope = grad(fun(V, V)(energy), 1)
    many = fun(V**Y, V**Y)(lambda p, x: each(slope, p, x))
    f = derivative(many, wrt=1).at((V**Y).random(RNG), (V**Y).random(RNG))
    assert np.allclose(diagonal(f).flat(), np.diag(matrix(f, "array")))

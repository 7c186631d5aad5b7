"""The forms of a matrix agree with the map: dense, sparse as proven, low rank, diagonal, trace, Gram map."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pytest
import scipy.sparse as scipy_sparse
from attrs import evolve
from hypothesis import assume, given, note, settings

from adjoint import adjoint
from diff import derivative, dot, fun, select
from hilbert import Copower, Elements, Fin, R, SpaceError, Unit, Vec, Zero, direct_sum
from hilbert.relation import full, function, pairs
from linmap import (
    cost,
    cumsum,
    curry,
    diagonal,
    factors,
    from_scipy,
    gather,
    gram,
    linear,
    matrix,
    parallel,
    project,
    red,
    rep,
    scale,
    section,
    segment_sum,
    structure,
    total,
    trace,
    transpose,
    uncurry,
    zero,
)
from linmap.contraction import hadamard, matrix_vector, scalar
from linmap.matrices.structure.structure import DiagonalForm, IdentityForm, LowRank, ScaledForm, SparseForm, ZeroForm
from linmap.net.lower import net
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.linear_map import LinMap
from linmap.term.net import Net
from tests.linear_terms import NODES, is_exact, linear_map
from tests.oracle import matrix as due_matrix
from tests.relation_forms import ALL
from tests.strategies import Source, sources


def tolerance(f: LinMap[Any, Any], due: Any) -> float:
    """Contractions may be made in another order than application: rounding differs where numbers are not small."""
    scale_ = max(1.0, float(np.max(np.abs(due), initial=0.0)))
    return (1e-9 if is_exact(f) else 1e-3) * scale_


def flat_family(v: Vec[Any]) -> Any:
    """The rows of an element of V^r."""
    rank = v.space.index.size
    rows = [np.reshape(a, (rank, leaf.size)) for a, leaf in zip(v.leaves, v.space.base.leaves, strict=True)]
    return np.concatenate(rows or [np.zeros((rank, 0))], axis=1)


def check(f: LinMap[Any, Any]) -> None:
    """Every form that the structure allows is the matrix of f; the pattern holds every entry that is not 0."""
    note(f)
    agree(f)


def agree(f: LinMap[Any, Any]) -> None:
    """The same, of a map that Hypothesis has not drawn."""
    due = due_matrix(f)
    close = tolerance(f, due)
    dense = matrix(f, as_="array")
    assert dense.shape == due.shape
    assert np.allclose(dense, due, rtol=0, atol=close)
    sparse = matrix(f, as_="sparse")
    assert sparse.shape == due.shape
    assert np.allclose(sparse.toarray(), due, rtol=0, atol=close)
    check_blocks(f, sparse)
    cheapest = matrix(f)
    cheapest = matrix(linear(cheapest), as_="array") if isinstance(cheapest, Vec) else cheapest
    found = cheapest.toarray() if hasattr(cheapest, "toarray") else cheapest
    assert np.allclose(found, due, rtol=0, atol=close)
    form = structure(f)
    if isinstance(form, ZeroForm):
        assert not due.any()
    if isinstance(form, (IdentityForm, ScaledForm, DiagonalForm)):
        assert sparse.nnz <= min(due.shape)
        assert np.allclose(due, np.diag(np.diag(due)), rtol=0, atol=close)
    if isinstance(form, IdentityForm):
        assert np.allclose(due, np.eye(len(due)), rtol=0, atol=close)
    if isinstance(form, DiagonalForm):
        assert sparse.nnz <= form.stored
    if isinstance(form, SparseForm):
        assert sparse.nnz <= form.entries
    if isinstance(form, LowRank):
        assert np.linalg.matrix_rank(due) <= form.rank
        left, right = factors(f)
        assert left.space.index.size == form.rank
        assert np.allclose(flat_family(left).T @ flat_family(right), due, rtol=0, atol=close)
    if f.dom == f.cod and not _found(f):
        assert np.allclose(diagonal(f).flat(), np.diag(due), rtol=0, atol=close)
        assert abs(trace(f) - np.trace(due)) <= close * max(1, len(due))


def check_blocks(f: LinMap[Any, Any], sparse: Any) -> None:
    """Block layout has the same entries in the same places; it stores zeros where an identity lies in blocks."""
    rows = [0, *accumulate(leaf.size for leaf in f.cod.leaves)]
    cols = [0, *accumulate(leaf.size for leaf in f.dom.leaves)]
    for o, row in enumerate(matrix(f, as_="blocks")):
        for i, found in enumerate(row):
            due = sparse[rows[o] : rows[o + 1], cols[i] : cols[i + 1]]
            assert due.nnz <= (0 if found is None else found.nnz) <= 3 * due.nnz
            if found is not None:
                assert np.array_equal(found.toarray(), due.toarray(), equal_nan=True)


def _found(f: LinMap[Any, Any]) -> bool:
    """Whether a relation of f is dynamic: then the diagonal is refused."""
    return any(not d.leaf.is_field and d.leaf.kind == "i" for a in net(f).arcs if (d := getattr(a.map, "datum", None)))


@pytest.mark.parametrize("cls", NODES)
@settings(max_examples=40)
@given(s=sources())
def test_every_node_class(cls: type, s: Source) -> None:
    """matrix(f) is the matrix of f, for a term with each node class at its root."""
    check(NODES[cls](s, 2))


@settings(max_examples=150)
@given(sources())
def test_terms(s: Source) -> None:
    """matrix(f) is the matrix of f, for deeper terms and copowers."""
    check(linear_map(s, 3))


def test_low_rank_beside_relations() -> None:
    """What only one side of a product sees is applied to it: sums, gathers and elements leave a product of rank 1."""
    X, Y, long = Fin.of(5), Fin.of(4), Fin.of(20_000)
    w, u = (R**X).vec([1.0, -2.0, 3.0, 0.5, 1.5]), (R**Y).vec([2.0, 1.0, -1.0, 3.0])
    both = rep(X) @ total(Y)
    for f in (
        cumsum(X) @ both @ cumsum(Y),
        red(full(X, X)) @ cumsum(X),
        cumsum(X) @ section(scalar(R**X), 1, w) @ dot(u) @ cumsum(Y),
        gather([0, 1, 1], X) @ both @ gather([1, 2, 3, 0], Y),
    ):
        assert str(structure(f)) == "rank 1"
        agree(f)
    at_element = derivative(fun(R**X, Elements(X))(lambda v, i: v[i] * w)).at(w, Elements(X).vec(2))
    assert "sparse, 1 of 1·5 entries" in str(structure(at_element))
    assert np.allclose(matrix(at_element).toarray(), due_matrix(at_element))
    ends = cumsum(long) @ rep(long) @ total(long) @ cumsum(long)  # whose pairs are not listed
    assert str(structure(ends)) == "rank 1"
    assert matrix(ends).is_formal


@settings(max_examples=60)
@given(sources())
def test_gram(s: Source) -> None:
    """gram(f) = f* • f has the matrix AᵀA."""
    f = linear_map(s, 2)
    note(f)
    due = due_matrix(f)
    for form in ("array", "sparse"):
        made = matrix(gram(f), as_=form)
        found = made.toarray() if form == "sparse" else made
        assert np.allclose(found, due.T @ due, rtol=0, atol=100 * tolerance(f, due.T @ due))


def summed(f: LinMap[Any, Any]) -> LinMap[Any, Any]:
    """What f makes of a vector with one number in every entry, summed."""
    while isinstance(f.dom, Copower):
        f = f @ rep(f.dom.index, f.dom.base)
    while isinstance(f.cod, Copower):
        f = total(f.cod.index, f.cod.base) @ f
    return f


@pytest.mark.parametrize("form", sorted(ALL))
@settings(max_examples=10)
@given(s=sources())
def test_relations_between_sums(form: str, s: Source) -> None:
    """A relation between axes that are summed counts each of its pairs once, with and without weights, and its Gram."""
    relation = ALL[form](s)
    assume(Unit() not in (relation.dom, relation.cod))  # ℝ^𝟏 is not ℝ
    f = red(relation, R)
    check(summed(f))
    check(gram(f @ rep(relation.dom)))
    check(summed(adjoint(f) @ section(hadamard(R**relation.cod), 0, s.vector(R**relation.cod)) @ f))


@settings(max_examples=150)
@given(sources())
def test_terms_between_sums(s: Source) -> None:
    """The same of what any term makes."""
    check(summed(linear_map(s, 2)))


@settings(max_examples=150)
@given(sources())
def test_constants_are_symbols(s: Source) -> None:
    """structure(f) is the same when every vector constant is replaced by a reference to a point."""
    f = net(linear_map(s, 3))
    note(f)
    slots: dict[Any, int] = {}
    arcs = []
    for arc in f.arcs:
        symbol = arc.map
        if isinstance(symbol, wire.ContractWith):
            ref = Ref(slots.setdefault(symbol.datum, len(slots)), symbol.datum.leaf)
            symbol = evolve(symbol, datum=ref)
        arcs.append(evolve(arc, map=symbol))
    symbolic = Net(f.dom, f.cod, f.inputs, tuple(arcs), f.outputs, f.wires)
    assert structure(symbolic) == structure(f)


class Row:
    """An axis."""


class Col:
    """Another axis."""


n, m = Fin(Row, 7), Fin(Col, 4)
V, W = R**n, R**m
RNG = np.random.default_rng(0)


def diag() -> LinMap[Any, Any]:
    """A diagonal map of V."""
    return section(hadamard(V), 0, V.random(RNG))


def dense_map(rows: Any, cols: Any) -> LinMap[Any, Any]:
    """A matrix as a linear map."""
    return section(matrix_vector(rows, cols), 0, (R ** (rows * cols)).random(RNG))


def test_named_structures() -> None:
    """Structure through composition: what theory §9 and the paper's examples promise."""
    narrow = Fin(Col, 2)
    assert str(structure(diag() @ dense_map(n, n) @ diag())) == "dense 7×7"
    assert str(structure(diag() @ diag() + 2 * diag())) == "diagonal"
    assert str(structure(diag() ** m)) == "diagonal"
    assert str(structure(dense_map(n, narrow) @ dense_map(narrow, n))) == "rank 2"
    low = dense_map(n, narrow) @ dense_map(narrow, n)
    assert str(structure(low + diag() @ low)) == "rank 2"  # U•V + D•U•V is (U + D•U)•V
    other = dense_map(n, narrow) @ dense_map(narrow, n)
    assert str(structure(low + diag() @ other)) == "rank 4"
    assert str(structure(rep(n) @ total(n))) == "rank 1"
    assert str(structure(dense_map(n, m) ** Fin.of(5))) == "identity ⊗ dense 7×4"
    assert str(structure(gram(dense_map(m, n)))) == "rank 4"
    assert str(structure(project(direct_sum(V, W), 0))) == "[identity, zero]"
    assert isinstance(structure(cumsum(n)), SparseForm)
    graph = red(function([0, 1, 2, 3, 3, 0, 1], n, m), R)
    assert str(structure(graph)) == "sparse, 7 of 4·7 entries"
    assert str(structure(scale(2.0, V))) == "scaled"


def test_structure_inside_copowers() -> None:
    """A diagonal inside a block inside a copower; A ⊗ B by currying and transposing; the matrix agrees."""
    X = Fin.of(5)
    both = parallel(diag(), dense_map(m, n))
    assert str(structure(both)) == "[diagonal, zero; zero, dense 4×7]"
    assert str(structure(both**X)) == "[diagonal, zero; zero, identity ⊗ dense 4×7]"
    a, b = dense_map(m, m), dense_map(n, n)
    rows = uncurry(V**m) @ b**m @ curry(R ** (m * n))
    cols = uncurry(W**n) @ a**n @ curry(R ** (n * m))
    assert str(structure(rows)) == "identity ⊗ dense 7×7"
    f = rows @ transpose(R ** (n * m)) @ cols @ transpose(R ** (m * n))
    assert str(structure(f)) == "dense 4×4 ⊗ dense 7×7"
    assert np.allclose(matrix(f, as_="array"), np.kron(matrix(a), matrix(b)))


def test_sparse_pattern_is_exact() -> None:
    """The CSR array has an entry for each pair of the relation, also where its value is 0, and no other."""
    relation = pairs([(0, 0), (1, 2), (6, 3), (2, 2)], n, m)
    weights = section(hadamard(W), 0, W.vec([0.0, 1.0, 2.0, 3.0]))
    found = matrix(weights @ red(relation, R), as_="sparse")
    cols, rows = relation.holds()
    coordinates = found.tocoo()
    here = set(zip(coordinates.row.tolist(), coordinates.col.tolist(), strict=True))
    assert here == set(zip(rows.tolist(), cols.tolist(), strict=True))
    assert found.nnz == 4


def test_a_sum_over_an_element_found_at_the_point() -> None:
    """w • Σ • e_x: the label of the element is in no other factor."""
    X, Y, one = Fin.of(3), Fin.of(2), Fin.of(1)
    element = segment_sum((Elements(X) ** one).vec([1]))
    f = section(scalar(R**Y), 1, (R**Y).vec([2.0, 5.0])) @ total(X) @ element @ rep(one)
    assert matrix(f, as_="array").tolist() == [[2.0], [5.0]] == matrix(f, as_="sparse").toarray().tolist()


def test_what_is_refused() -> None:
    """An axis that input and output share has no low-rank form; an open map has no matrix; a wrong form is named."""
    with pytest.raises(SpaceError, match="proves no low rank"):
        factors(diag())
    with pytest.raises(SpaceError, match="forms are"):
        matrix(diag(), as_="csr")  # type: ignore[arg-type]
    with pytest.raises(SpaceError, match="V ⊸ V"):
        diagonal(dense_map(n, m))


def test_operator() -> None:
    """The operator applies the map and its adjoint to flat arrays, and knows its spaces."""
    f = dense_map(n, m)
    found = matrix(f, as_="operator")
    x, y = RNG.standard_normal(4), RNG.standard_normal(7)
    a = matrix(f, as_="array")
    assert np.allclose(found @ x, a @ x)
    assert np.allclose(found.rmatvec(y), a.T @ y)
    assert (found.dom, found.cod) == (W, V)


def test_factors_live_in_copowers() -> None:
    """factors(f) are elements of W^r and V^r."""
    left, right = factors(dense_map(n, Fin(Col, 2)) @ dense_map(Fin(Col, 2), n))
    assert left.space == Copower(V, Fin.of(2)) == right.space


@pytest.mark.parametrize("k", [1.0, 2.0, -1.0])
def test_a_selection_as_a_tensor(k: float) -> None:
    """What is found at the point, a condition, is made a number."""
    at = derivative(fun(R)(lambda x: k * select(x > 0.1, x))).at(R.vec(1.0))
    assert matrix(at, as_="tensor").array.tolist() == k
    negative = derivative(fun(R)(lambda x: -select(x > 0.1, x))).at(R.vec(1.0))
    assert matrix(negative, as_="tensor").array.tolist() == -1.0


def test_operators_of_spaces_without_arrays() -> None:
    """They are of size 0."""
    for f in (zero(Zero(), R), zero(R ** Fin.of(3), Zero())):
        A = matrix(f, as_="operator")
        assert (A @ np.zeros(f.dom.dim)).tolist() == [0.0] * f.cod.dim
        assert (A.T @ np.zeros(f.cod.dim)).tolist() == [0.0] * f.dom.dim


def test_a_dense_matrix_of_pairs_takes_the_memory_of_its_result() -> None:
    """Pairs that no factor can be summed over are listed, not made arrays of 0 and 1."""
    k, rows, cols = 3000, 40, 50
    rng = np.random.default_rng(0)
    A = scipy_sparse.csr_array((np.ones(k), (rng.integers(0, rows, k), rng.integers(0, cols, k))), shape=(rows, cols))
    f = from_scipy(A, Fin.of(cols), Fin.of(rows))
    for g, due in ((f, A.toarray()), (gram(f), (A.T @ A).toarray())):
        assert cost(g, "array").matrix.largest <= max(due.size, 2 * k)
        assert np.allclose(matrix(g, as_="array"), due)

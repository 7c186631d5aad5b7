"""Structure from both sides: what is proved is as small as it can be for generic data, and never smaller."""

from __future__ import annotations

from functools import partial as partial_of
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from adjoint import grad, hessian
from diff import Expr, conv, derivative, dot, each, exp, fun, inner, sqrt
from hilbert import Fin, R, direct_sum
from hilbert.relation import band, equality, function, leq, pairs, partial, rotation, shift, window
from linmap import (
    LinMap,
    compose,
    cumsum,
    equal,
    factors,
    flip,
    gather,
    identity,
    inject,
    matrix,
    pad,
    parallel,
    permute,
    project,
    red,
    rep,
    scale,
    section,
    sparse,
    structure,
    total,
    transpose,
    uncurry,
    zero,
)  # fmt: skip
from linmap.contraction import hadamard, matrix_vector, scalar
from linmap.matrices.network import elimination
from linmap.matrices.network.network import network
from linmap.matrices.structure import entry_counts
from linmap.matrices.structure.structure import (
    Blocks,
    DenseForm,
    DiagonalForm,
    IdentityForm,
    LowRank,
    Permutation,
    ScaledForm,
    SparseForm,
    ZeroForm,
)  # fmt: skip
from linmap.matrices.tables import constant_tables, table_builder, tables
from linmap.net.lower import net
from tests.oracle import matrix as due_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

X, Y = Fin.of(5), Fin.of(4)
V, W, M = R**X, R**Y, R ** (Y * X)
RNG = np.random.default_rng(0)
v, w, A = V.random(RNG), W.random(RNG), M.random(RNG)
D, B = section(hadamard(V), 0, v), section(matrix_vector(Y, X), 0, A)
TRIDIAGONAL = sparse([0, 0, 1, 2, 3, 4], [0, 1, 2, 2, 4, 0], [1.5, 2.5, 0.5, 3.5, -1.5, 2.0], X, X)

FORMS: dict[str, tuple[Any, type | tuple[type, ...]]] = {
    "id": (identity(V), IdentityForm),
    "0": (zero(V, W), ZeroForm),
    "2 id": (scale(2.0, V), ScaledForm),
    "diagonal": (D, DiagonalForm),
    "diagonal of diagonals": (D @ D, DiagonalForm),
    "matrix": (B, DenseForm),
    "scan": (cumsum(X), SparseForm),
    "permutation": (permute([1, 0, 2, 4, 3], X), (SparseForm, Permutation)),
    "flip": (flip(X), (SparseForm, Permutation)),
    "band": (red(band(X, 1, 1)), SparseForm),
    "pairs": (red(pairs([[0, 1], [2, 3], [4, 3]], X, Y)), SparseForm),
    "D band": (D @ red(band(X, 1, 1)), SparseForm),
    "D sparse": (D @ TRIDIAGONAL, SparseForm),
    "≤": (red(leq(X)), SparseForm),
    "π": (project(direct_sum(V, W), 1), Blocks),
    "ι": (inject(direct_sum(V, W), 0), Blocks),
    "rank 1": (section(scalar(W), 1, w) @ dot(v), LowRank),
    "Σ then rep": (rep(Y) @ total(X), LowRank),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_form_is_proved(name: str) -> None:
    """No term of the table is called dense unless its matrix is, and none is called more than it is."""
    f, form = FORMS[name]
    assert isinstance(structure(f), form)


@pytest.mark.parametrize("name", [name for name, (_, form) in FORMS.items() if form is not LowRank])
def test_the_pattern_is_exact(name: str) -> None:
    """The entries that a sparse matrix stores are those that are not 0 for generic data."""
    f, form = FORMS[name]
    found: Any = structure(f)
    due = due_matrix(f)
    stored = matrix(f, as_="sparse")
    assert stored.nnz == np.count_nonzero(due)
    assert np.allclose(stored.toarray(), due)
    if form is SparseForm:
        assert found.entries == np.count_nonzero(due)


@pytest.mark.parametrize("name", [name for name, (_, form) in FORMS.items() if form is LowRank])
def test_the_rank_is_exact(name: str) -> None:
    """The rank that is proved is the rank of the matrix, and `factors` gives that many terms."""
    f, _ = FORMS[name]
    found: Any = structure(f)
    due = due_matrix(f)
    left, right = factors(f)
    assert found.rank == np.linalg.matrix_rank(due) == left.space.index.size == right.space.index.size
    flat = [np.reshape(part.array, (part.space.index.size, -1)) for part in (left, right)]
    assert np.allclose(flat[0].T @ flat[1], due)


def test_what_is_not_listed_is_a_bound() -> None:
    """Two stencils with gaps, backwards between: counted exactly where pairs are listed, and otherwise bounded."""

    def found(n: int) -> Any:
        Z = Fin.of(n)
        one, other = (red(window(Z, w, offset=1 - w, dilation=2, to=Z)) for w in (3, 5))
        return structure(one @ flip(Z) @ other)

    small, large = found(100), found(entry_counts.PATTERN)
    assert small.exact
    assert small.entries == 7 * 100 - 4 * (1 + 2 + 3)
    assert not large.exact
    assert large.entries >= 7 * entry_counts.PATTERN - 4 * (1 + 2 + 3)
    assert str(large).startswith("sparse, at most ")


def blurred(n: int, width: int) -> tuple[Any, Callable[[Expr[Any]], Expr[Any]], int]:
    """A squared blur of an image, in which no entry of the kernel is 0, and how many pairs of pixels meet in it."""
    row, col, window, one = Fin.of(n), Fin.of(n), Fin.of(width), Fin.of(1)
    V = R ** (row * col)
    kernel = (R ** (window * window * one * one)).ones()

    def energy(x: Expr[Any]) -> Expr[Any]:
        y = conv(x.reshape(row * col * one), kernel, padding="same")
        return inner(y, y)

    reach = range(1 - width, width)
    return V, energy, sum(n - abs(d) for d in reach) ** 2


def edges(x: Expr[Any]) -> Expr[Any]:
    """The smoothed total variation of an image."""
    right, down = x.roll(-1, over=0) - x, x.roll(-1, over=1) - x
    return sqrt(right * right + down * down + 0.01).sum()


@pytest.mark.parametrize("n", [32, 48])
def test_many_ways_to_a_pair(n: int) -> None:
    """Two blurs by 7×7 have millions of ways from pixel to pixel; the pattern is that of the pairs, in a sum too."""
    V, energy, pairs_ = blurred(n, 7)
    f = fun(V)(energy)
    found: Any = structure(derivative(grad(f)))
    assert isinstance(found, SparseForm)
    assert (found.entries, found.exact) == (pairs_, True)
    g = fun(V)(lambda x: edges(x) + energy(x))
    made = hessian(g, V.random(RNG), as_="sparse")
    found = structure(derivative(grad(g)))
    assert found.entries == made.nnz == np.count_nonzero(made.data)


@pytest.mark.parametrize("listed", [400, 4000, 40000])
@pytest.mark.parametrize("pattern", [40, 4000, 40000])
def test_patterns_beside_what_is_not_listed(monkeypatch: pytest.MonkeyPatch, listed: int, pattern: int) -> None:
    """Whatever is listed or not, a matrix has its values, a sparse one no entry too many, and a bound is one."""
    monkeypatch.setattr(tables, "LISTED", listed)
    monkeypatch.setattr(tables, "LONGEST", listed)
    monkeypatch.setattr(entry_counts, "PATTERN", pattern)
    V, energy, _ = blurred(12, 3)

    def several(x: Expr[Any]) -> Expr[Any]:
        many = edges(x)
        for k in range(4):
            many = many + exp(x.roll(k, over=0) * x).sum()
        return many + energy(x) + energy(x.roll(1, over=1) * x)

    g = fun(V)(several)
    x = V.random(RNG, scale=0.4)
    due = np.reshape(hessian(g, x), (144, 144))
    made = hessian(g, x, as_="sparse")
    h, basis = 1e-5, np.eye(144).reshape(144, 12, 12)
    rows = [np.reshape((grad(g)(x + h * e) - grad(g)(x - h * e)).array, 144) / (2 * h) for e in map(V.vec, basis)]
    assert np.allclose(due, rows, rtol=1e-5, atol=1e-5)
    assert np.allclose(made.toarray(), due, rtol=1e-12, atol=1e-12)
    assert made.nnz == np.count_nonzero(due)
    found: Any = structure(derivative(grad(g)))
    if isinstance(found, SparseForm):
        assert found.entries == made.nnz if found.exact else found.entries >= made.nnz


@pytest.mark.parametrize("steps", [2, 6, 12])
def test_powers_beyond_what_is_listed(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """k steps of heat on a square: a table while few tuples are left, then a whole block; no power before is kept."""
    for module, name, value in (
        (table_builder, "KEPT", 300),
        (tables, "LISTED", 300),
        (constant_tables, "WORTH", 64),
        (elimination, "LONG", 64),
    ):
        monkeypatch.setattr(module, name, value)
    x, y = Fin.of(9), Fin.of(8)
    near = [red(shift(x, k) * equality(y)) for k in (-1, 1)] + [red(equality(x) * shift(y, k)) for k in (-1, 1)]
    step = identity(near[0].dom) + 0.1 * (sum(near[1:], near[0]) - 4 * identity(near[0].dom))
    f, one = compose([step] * steps), due_matrix(step)
    due = np.linalg.matrix_power(one, steps)
    count = np.count_nonzero(np.linalg.matrix_power(np.abs(one), steps))
    size = len(due) ** 2
    assert str(structure(f)) == (f"sparse, {count} of 72·72 entries" if 3 * count <= size else "dense 72×72")
    np.testing.assert_allclose(matrix(f, "array"), due, atol=1e-14)
    np.testing.assert_allclose(matrix(f, "sparse").toarray(), due, atol=1e-14)
    n = network(net(f))
    assert sum(len(n.known(k).reshape(-1)) for k in range(len(n.slots)) if n.known(k) is not None) < 6 * size


def test_terms_of_one_matrix() -> None:
    """What only re-brackets stores an entry for each row; blocks side by side store theirs."""
    for f in (transpose(V * W), uncurry(V**Y), parallel(D, red(band(X, 1, 1)))):
        assert matrix(f, as_="sparse").nnz == np.count_nonzero(due_matrix(f))
    assert equal(D, D)


@pytest.mark.parametrize(("ridge", "lonely"), [(False, False), (True, False), (True, True)])
def test_blocks_of_a_pair_potential(*, ridge: bool, lonely: bool) -> None:
    """A Hessian of forces between pairs has blocks of 3×3, and no entries are listed for its identities.

    A lonely atom has nothing but its ridge: 3 entries of the sparse matrix, in a block of 9.
    """
    n, near, place = 60, Fin.of(80), R ** Fin.of(3)
    atom = Fin.of(n)
    ends = RNG.integers(0, n - lonely, near.size)
    others = (ends + RNG.integers(1, n - lonely, near.size)) % (n - lonely)
    first, second = (gather(function(k, near, atom), place) for k in (ends, others))

    def energy(q: Expr[Any]) -> Expr[Any]:
        d = second(q) - first(q)
        repelled = exp(-each(lambda d: sqrt(d @ d), d)).sum()
        return repelled + 0.5 * inner(q, q) if ridge else repelled

    q = (place**atom).random(RNG)
    f = fun(place**atom)(energy)
    ((found,),) = hessian(f, q, as_="blocks")
    sparse_ = hessian(f, q, as_="sparse")
    near_pairs = {*zip(ends, others, strict=True), *zip(others, ends, strict=True)}
    own = {(k, k) for k in {*ends, *others}}
    alone = {(k, k) for k in range(n)} - own if ridge else set()
    assert found.blocksize == (3, 3)
    assert len(found.indices) == len(near_pairs | own | alone)
    assert sparse_.nnz == 9 * len(found.indices) - 6 * len(alone)
    dense = np.reshape(hessian(f, q), (3 * n, 3 * n))
    assert np.allclose(found.toarray(), dense, rtol=0, atol=1e-12)
    assert np.allclose(sparse_.toarray(), dense, rtol=0, atol=1e-12)


@pytest.mark.parametrize("outside", [False, True])
def test_relations_that_do_not_meet_between_dense_maps(*, outside: bool) -> None:
    """A padded entry that a scan and a gather read is 0, whatever is multiplied on both sides."""
    X, Z, T = Fin.of(2), Fin.of(8), Fin.of(3)
    one = Fin.of(1)
    first, last = (R ** (one * X)).random(RNG), (R ** (T * Z)).random(RNG)
    read = gather([0] * 8, Fin.of(4)) @ cumsum(Fin.of(4)) @ pad(one, 1, 2)
    f = section(matrix_vector(T, Z), 0, last) @ read @ section(matrix_vector(one, X), 0, first)
    f = sparse([0, 1, 3, 5], [0, 1, 2, 2], [1.0, 2.0, 3.0, 1.0], T, Z) @ f if outside else f
    assert isinstance(structure(f), ZeroForm)
    assert not due_matrix(f).any()
    assert matrix(f, as_="sparse").nnz == 0


RELATIONS = {
    "all": partial([True] * 5, X),
    "some": partial([True, False, True, True, False], X),
    "cyclic": function([1, 2, 0, 4, 3], X, X),
    "rotation": rotation(X, 2),
    "shift": shift(X, 1),
    "band": band(X, 1, 1),
}


@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("base", [R, R**Y, (R**Y) ** Fin.of(2)], ids=str)
def test_rows_with_weights(name: str, base: Any) -> None:
    """Weights of every entry leave the rows that a relation moves what they are: as strong a form as of base ℝ."""
    family, relation = base**X, RELATIONS[name]
    g, back = red(relation, base), red(relation.T, base)
    h = section(hadamard(family), 0, family.random(RNG))
    for f in (h @ g, g @ h, h @ g @ h, g @ h @ g, back @ h @ g, h @ g @ h @ g @ h):
        due = due_matrix(f)
        found, count = structure(f), np.count_nonzero(due)
        on_diagonal = np.count_nonzero(np.diag(due)) == count
        of_permutation = not on_diagonal and all((np.count_nonzero(due, axis) == 1).all() for axis in (0, 1))
        if isinstance(found, DiagonalForm):
            assert on_diagonal
            assert (found.entries or found.size) == count
        elif isinstance(found, Permutation):
            assert found.weighted
            assert of_permutation
        else:
            assert isinstance(found, SparseForm)
            assert not on_diagonal
            assert not of_permutation
            assert found == SparseForm(int(count), due.shape)


def test_rows_with_matrices() -> None:
    """A matrix for each row is no weight: relations of rows beside it make no diagonal, and no permutation."""
    one, square = RELATIONS["cyclic"], R ** (X * X)
    a, h = ((R ** (X * X)) ** X).random(RNG), section(hadamard(square), 0, square.random(RNG))
    g = red(equality(X) * one)

    def moved(u: Expr[Any], before: LinMap[Any, Any]) -> Expr[Any]:
        return uncurry(V**X)(each(lambda A, v: A @ v, a, before(u).T.rows())).T

    for before in (h @ g, g @ h @ g):
        f = derivative(fun(square)(partial_of(moved, before=before)))(square.zeros())
        assert structure(f) == SparseForm(125, (25, 25))
        assert np.count_nonzero(due_matrix(f)) == 125


def test_tables_that_keep_an_axis() -> None:
    """(x, y) ↦ (x, y + x) is a permutation, with weights too; a table of distinct elements of a larger set is none."""
    flat = np.arange(20)
    turn = function(flat // 4 * 4 + (flat % 4 + flat // 4) % 4, X * Y, X * Y)
    h = section(hadamard(R ** (X * Y)), 0, (R ** (X * Y)).random(RNG))
    assert structure(red(turn) @ h @ red(turn)) == Permutation(20, weighted=True)
    some = gather([3, 0, 1], X) @ D @ red(RELATIONS["cyclic"])
    assert structure(some) == SparseForm(3, (3, 5))


@pytest.mark.parametrize("many", [60, 150])
def test_tuples_that_are_kept(monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    """KEPT tuples are left when equal ones are summed, or a third of all: beyond, they are a whole block."""
    first, second = Fin.of(30), Fin.of(29)
    rng = np.random.default_rng(0)
    one, other = ((rng.permutation(30 * n) < many).reshape(30, n) for n in (30, 29))
    count, third = np.count_nonzero(one @ other), 30 * 29 // 3
    assert (count > third) == (many == 150)
    for kept in (10**6, count, count - 1, 0):
        monkeypatch.setattr(table_builder, "KEPT", kept)
        f = red(pairs(np.argwhere(other), first, second)) @ red(pairs(np.argwhere(one), first, first))
        is_listed = count <= max(kept, third)
        assert structure(f) == (SparseForm(int(count), (29, 30)) if is_listed else DenseForm((29, 30)))
        assert matrix(f, as_="sparse").nnz == count

"""Claims of docs/structure.md: what is counted, added and kept, form by form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diff import const, derivative, exp, fun, outer, tanh
from hilbert import R32, Elements, Fin, R, SpaceError
from hilbert.relation import band, equality, function, leq, pairs, partial, rotation
from linmap import (
    diagonal,
    from_scipy,
    gather,
    identity,
    matrix,
    parallel,
    red,
    rep,
    section,
    structure,
    total,
    trace,
)
from linmap.contraction import hadamard, matrix_vector
from linmap.net.lower import transposed
from linmap.term.linear_map import LinMap

sp = pytest.importorskip("scipy.sparse")


def tri(n: int) -> Any:
    """≤ as a list of pairs."""
    Z = Fin.of(n)
    return red(pairs(np.stack(np.tril_indices(n), axis=1), Z, Z))


def turned(points: Any, place: Any, k: int, by: int) -> Any:
    """A block for each point, of its own, of the vector at another point."""
    W = R**place
    M: Any = (R ** (place * place)).random(np.random.default_rng(k))
    at: Any = (W**points).random(np.random.default_rng(k))
    blocks: Any = derivative(fun(W)(lambda d: const(M) @ tanh(d)) ** points).at(at)
    return blocks @ gather(rotation(points, by), W)


def added(parts: list[Any]) -> Any:
    """The sum of some maps."""
    made = parts[0]
    for f in parts[1:]:
        made = made + f
    return made


# --- parts of a diagonal ---

X = Fin.of(5)
V = R**X
P, Q = (partial(np.isin(np.arange(5), places), X) for places in ([0, 2, 3], [2, 3, 4]))
WEIGHTS: Any = section(hadamard(V), 0, V.random(np.random.default_rng(0)))
TALL: Any = section(matrix_vector(Fin.of(3), Fin.of(2)), 0, (R ** (Fin.of(3) * Fin.of(2))).ones())
ROWS = P * equality(X)
SELECTED: dict[str, tuple[Any, str, int]] = {
    "a selection": (red(P), "diagonal, 3 of 5 entries", 3),
    "with weights": (2.0 * WEIGHTS @ red(P), "diagonal, 3 of 5 entries", 3),
    "of a selection": (red(P) @ red(Q), "diagonal, 2 of 5 entries", 2),
    "composed relations": (red(P @ Q), "diagonal, 2 of 5 entries", 2),
    "a sum": (red(P) + red(Q), "diagonal, 4 of 5 entries", 4),
    "beside an identity": (red(P) + identity(V), "diagonal", 5),
    "of two axes": (red(P * Q), "diagonal, 9 of 25 entries", 9),
    "of each": (red(P) ** Fin.of(3), "diagonal, 9 of 15 entries", 9),
    "of a disjoint union": (red(P + Q), "diagonal, 6 of 10 entries", 6),
    "direct sum": (parallel(red(P), identity(R)), "diagonal, 4 of 6 entries", 4),
    "pairs of equals": (red(pairs([(0, 0), (2, 2)], X, X)), "diagonal, 2 of 5 entries", 2),
    "other pairs": (red(pairs([(0, 0), (2, 1)], X, X)), "sparse, 2 of 5·5 entries", 2),
    "of all": (red(partial(np.ones(5, bool), X)), "identity", 5),
    "twice all": (2.0 * red(partial(np.ones(5, bool), X)), "scaled", 5),
    "of rows of blocks": (TALL**X @ red(P, TALL.dom), "(diagonal, 3 of 5 entries) ⊗ dense 3×2", 18),
    "of columns": (derivative(fun(R ** (X * X))(lambda a: red(ROWS)(a.T).T)), "diagonal, 15 of 25 entries", 15),
    "before a transposition": (
        derivative(fun(R ** (X * X))(lambda a: red(ROWS)(a).T)),
        "sparse, 15 of 25·25 entries",
        15,
    ),
}


@pytest.mark.parametrize("name", SELECTED)
def test_a_selection_is_a_part_of_the_diagonal(name: str) -> None:
    """Relations of elements with themselves: as many entries as pairs, and the matrix has no others."""
    f, text, entries = SELECTED[name]
    assert str(structure(f)) == text
    f = f if isinstance(f, LinMap) else f.at(f.dom.zeros())
    made = matrix(f, "sparse")
    assert made.nnz == entries
    if text.startswith("diagonal"):
        assert np.array_equal(made.toarray(), np.diag(diagonal(f).flat()))


# --- what is counted ---


def test_patterns_of_millions_are_counted() -> None:
    """Patterns are counted exactly where they have at most 4·10⁶ entries."""
    Z = Fin.of(100_000)
    found: Any = structure(red(band(Z, 7, 7)) @ red(band(Z, 7, 7)))
    assert (found.entries, found.exact) == (29 * 100_000 - 14 * 15, True)
    assert str(structure(red(band(Z, 7, 7)) + red(rotation(Z, 50)))) == "sparse, 1599944 of 100000·100000 entries"


def test_millions_of_ways_between_two_labels_are_counted() -> None:
    """Patterns are counted where there are at most 6·10⁷ ways between two labels: here 2·10⁷."""
    assert str(structure(tri(500) @ tri(500))) == "sparse, 125250 of 500·500 entries"


def test_too_many_ways_between_two_labels_are_not_counted() -> None:
    """Beyond 6·10⁷ ways, here 1.2·10⁸, the text is `at most N`, or dense where N is the whole block."""
    assert str(structure(tri(900) @ tri(900))) == "dense 900×900"


def test_a_pattern_has_the_axes_that_no_relation_restricts() -> None:
    """A sum has the entries of the union, each with the whole block beside it."""
    points, place = Fin.of(40), Fin.of(3)
    f = added([turned(points, place, k, k) for k in range(4)])
    assert str(structure(f)) == "sparse, 1440 of 120·120 entries"
    assert matrix(f, "sparse").nnz == 1440


@pytest.mark.parametrize(("count", "found"), [(7, "sparse, 210"), (10, "sparse, 300"), (11, "dense"), (14, "dense")])
def test_a_pattern_over_a_third_full_is_dense(count: int, found: str) -> None:
    """A pattern that is over a third full becomes dense where six products are made one."""
    ring = Fin.of(30)
    text = str(structure(added([gather(rotation(ring, k)) for k in range(count)])))
    assert text == (f"{found} of 30·30 entries" if found != "dense" else "dense 30×30")


def long_relations(count: int, place: Any = None) -> str:
    """The form of a sum of products of the relation ≤ of 5000 that is not listed, with two factors each."""
    Z = Fin.of(5000)
    V: Any = R**Z if place is None else (R**place) ** Z
    before = red(leq(Z)) if place is None else red(leq(Z), R**place)
    f: Any = fun(V)(lambda x: added([tanh((k + 1.0) * before(tanh((k + 0.5) * x))) for k in range(count)]))
    return " ".join(str(structure(derivative(f))).split())


def test_long_relations_beside_each_other_are_dense() -> None:
    """One product of a relation of too many tuples to be listed stays; several become one array."""
    assert long_relations(1) == "sparse, 12502500 of 5000·5000 entries"
    assert {long_relations(count) for count in (2, 6, 7)} == {"dense 5000×5000"}


def test_an_identity_beside_long_relations_stays_one() -> None:
    """What becomes one array stays beside the identity that all of its products have."""
    assert long_relations(7, Fin.of(2)) == "2 blocks, each dense 5000×5000"


def test_a_selection_that_all_have_restricts_them() -> None:
    """An identity that all products of a sum have stays one only where nothing else restricts it."""
    A, S, B = Fin.of(9), Fin.of(3), Fin.of(40)
    W = R**B
    parts: list[Any] = []
    for j in range(3):
        chosen = gather(function([0, 2, 5 + j], S, A), W)
        at = (W**A).random(np.random.default_rng(j))
        turns = added([transposed(chosen) @ red(rotation(B, k)) ** S @ chosen for k in range(7 * j, 7 * j + 8)])
        parts.append(turns @ derivative(fun(W**A)(tanh)).at(at))
    f = added(parts)
    assert str(structure(f)) == "sparse, 2720 of 360·360 entries"
    basis = [f(f.dom.unflat(row)).flat() for row in np.eye(360)[:50]]
    assert np.allclose(matrix(f, "sparse").toarray()[:, :50], np.stack(basis).T)


def test_relations_known_at_a_point_are_an_array_in_a_long_sum() -> None:
    """Seven products of relations of which a point says the elements are one array."""
    X, E = Fin.of(12), Elements(Fin.of(12)) ** Fin.of(8)
    f: Any = fun(R**X, *[E] * 7)(lambda v, *i: added([tanh(red(band(X, k, k))(v)[i[k]]) for k in range(7)]))
    assert str(structure(derivative(f))) == "dense 8×12"


def test_an_identity_is_written_into_blocks_that_have_a_place_for_it() -> None:
    """An identity beside blocks keeps a pattern of its own where they have no place for all of it."""
    points, place = Fin.of(40), Fin.of(3)
    blocks = added([turned(points, place, k, k) for k in range(7)])
    beside, inside = (blocks + gather(rotation(points, k), R**place) for k in (9, 5))
    assert str(structure(beside)) == "permutation ⊗ identity + sparse, 2520 of 120·120 entries"
    assert matrix(beside, "sparse").nnz == 2520 + 120
    assert str(structure(inside)) == "sparse, 2520 of 120·120 entries"


# --- numbers ---


def test_numbers_of_ways_multiply() -> None:
    """A trace through two sums over relations is the product of the numbers of their pairs."""
    X, Y = Fin.of(5), Fin.of(6)
    three = total(X) @ red(pairs([(0, 1), (1, 2), (1, 1)], X, X)) @ rep(X)
    two = total(Y) @ red(pairs([(0, 1), (1, 2)], Y, Y)) @ rep(Y)
    assert (trace(three @ two), trace(two @ three)) == (6.0, 6.0)


def test_relations_without_a_path_are_no_blocks() -> None:
    """In block layout an array is None where the term proves 0."""
    X = Fin.of(12)
    f = red(pairs([(0, 1)], X, X)) @ red(pairs([(2, 3)], X, X))
    assert str(structure(f)) == "zero"
    assert matrix(f, "blocks") == ((None,),)


def test_a_diagonal_has_the_pairs_of_equals() -> None:
    """The diagonal of a relation is 1 where an element is related to itself."""
    X = Fin.of(5)
    assert diagonal(red(pairs([(0, 1), (1, 1), (3, 4)], X, X))).array.tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]


def test_three_relations_have_as_many_ways_as_paths() -> None:
    """An entry of a product of relations is the number of paths, which scipy's product counts where there are many."""
    Z = Fin.of(300)
    rng = np.random.default_rng(0)
    made: Any = None
    due: Any = None
    for _ in range(3):
        has = rng.random((300, 300)) < 0.04
        f = red(pairs(np.argwhere(has), Z, Z))
        made, due = (f, has.T * 1.0) if made is None else (made @ f, due @ has.T)
    assert matrix(made, "sparse").nnz == np.count_nonzero(due)
    assert np.array_equal(matrix(made, "sparse").toarray(), due)


def test_numbers_that_cancel_stay_in_the_pattern() -> None:
    """A sparse matrix has exactly the entries of the pattern, that of the Boolean product, whatever the values are."""
    Z = Fin.of(300)
    rng = np.random.default_rng(0)
    A, B = (sp.csr_array(np.where(rng.random((300, 300)) < 0.06, rng.choice([-1.0, 1.0], (300, 300)), 0)) for _ in "ab")
    f = from_scipy(A, Z, Z) @ from_scipy(B, Z, Z)
    found, entries = matrix(f, "sparse"), np.count_nonzero((abs(A) @ abs(B)).toarray())
    assert np.count_nonzero((A @ B).toarray()) < entries
    assert str(structure(f)) == f"sparse, {entries} of 300·300 entries"
    assert found.nnz == entries
    assert np.array_equal(found.toarray(), (A @ B).toarray())


# --- forms ---


def test_a_sum_of_diagonals_and_permutations_is_a_sum() -> None:
    """A + B is a sum: its parts stay what they are where they have an entry for each row."""
    X = Fin.of(6)
    f = fun(R**X)(lambda x: tanh(x) + red(rotation(X, 1))(x))
    assert str(structure(derivative(f))) == "diagonal + permutation"
    assert str(structure(red(rotation(X, 2)) + red(rotation(X, 1)))) == "permutation + permutation"


def test_a_sum_with_a_part_that_is_full_is_an_array() -> None:
    """Without as_ a matrix is sparse where some block has few entries: a sum with a part of low rank has none."""
    X = Fin.of(4)
    for f in (red(rotation(X, 1)), red(leq(X))):
        assert isinstance(matrix(f + rep(X) @ total(X)), np.ndarray)
        assert isinstance(matrix(f), sp.csr_array)


def test_sparse_matrices_share_only_what_is_read_only() -> None:
    """A sparse matrix has values of its own, also in blocks; index arrays may be shared, and are read-only."""
    X = Fin.of(6)
    at = derivative(fun(R**X)(tanh)).at((R**X).zeros())
    for f in (at, at @ red(leq(X)), from_scipy(sp.csr_array(np.eye(6)), X, X)):
        for form in ("sparse", "blocks"):
            found, again = (m if form == "sparse" else m[0][0] for m in (matrix(f, form), matrix(f, form)))
            found.data[:] = 7.0
            assert (again.data == 1.0).all()
            assert (matrix(f, "sparse").data == 1.0).all()
            assert not any(part.flags.writeable for part in (found.indices, found.indptr))


def test_a_matrix_at_other_elements_has_a_plan_of_its_own() -> None:
    """Where a relation is found at a point, the sparse matrix plans for each table of positions."""
    X, Q = Fin.of(5), Fin.of(3)
    f = derivative(fun(R**X, Elements(X) ** Q)(lambda v, i: v[i]))
    for positions in ([0, 1, 2], [4, 3, 2], [0, 1, 2], [1, 1, 0]):
        at = f.at((R**X).zeros(), (Elements(X) ** Q).vec(positions))
        assert matrix(at, "sparse").indices.tolist() == positions
        assert np.array_equal(matrix(at, "sparse").toarray(), np.eye(5)[positions])


@pytest.mark.parametrize("form", ["sparse", "array", "blocks"])
def test_a_limit_holds_where_elements_are_found_at_the_point(form: Any) -> None:
    """A limit that no order keeps is an error, also after a matrix was made without one."""
    X, Q = Fin.of(40), Fin.of(30)
    U: Any = (R ** (X * X)).random(np.random.default_rng(0))
    f = derivative(fun(R**X, Elements(X) ** Q)(lambda v, i: (const(U) @ tanh(const(U) @ v))[i].sum()))
    at = f.at((R**X).zeros(), (Elements(X) ** Q).vec(np.arange(30)))
    assert matrix(at, form) is not None
    with pytest.raises(SpaceError, match="no order keeps every intermediate array within 3 entries"):
        matrix(at, form, limit=3)


def test_an_operator_of_single_precision() -> None:
    """scipy's operator applies the map and its adjoint to flat arrays, in the precision of its spaces."""
    V = R32 ** Fin.of(5)
    made = matrix(derivative(fun(V)(tanh)).at(V.zeros()), "operator")
    assert made.matvec(np.ones(5)).tolist() == made.rmatvec(np.ones(5)).tolist() == [1.0] * 5


def test_elements_of_elements_are_bounded_from_either_end() -> None:
    """Where a relation is found at a point, structure bounds the entries: of v[i][j] those that j asks for."""
    P, Q, S = Fin.of(50), Fin.of(20), Fin.of(10)
    f = derivative(fun(R**P, Elements(P) ** Q, Elements(Q) ** S)(lambda v, i, j: v[i][j]))
    assert str(structure(f)) == "sparse, at most 10 of 10·50 entries"
    some: Any = red(pairs([(0, 1), (1, 1), (4, 5), (5, 6)], Q, S))
    g = derivative(fun(R**P, Elements(P) ** Q)(lambda v, i: some(tanh(v[i]))))
    assert str(structure(g)) == "sparse, at most 4 of 10·50 entries"


# --- values, and what is added ---


def test_a_table_behind_a_relation_that_is_not_listed() -> None:
    """Where a table of all would be too long, tables and relations are arrays, and each factor is used once."""
    Z, X = Fin.of(2500), Fin.of(10)
    ends = [np.random.default_rng(k).integers(0, 2500, 10) for k in range(7)]
    at = [(R**X).random(np.random.default_rng(k)) for k in range(7)]
    T = added([derivative(fun(R**X)(tanh)).at(x) @ gather(function(e, X, Z)) for x, e in zip(at, ends, strict=True)])
    due = np.zeros((10, 2500))
    for x, e in zip(at, ends, strict=True):
        due[np.arange(10), e] += 1.0 - np.tanh(x.array) ** 2
    due = due @ np.tril(np.ones((2500, 2500)))
    assert np.allclose(matrix(T @ red(leq(Z)), "array", limit=10**9), due)
    assert np.allclose(matrix(T @ red(leq(Z)), "sparse").toarray(), due)


def test_a_relation_that_leaves_some_out_keeps_its_zeros() -> None:
    """A dense matrix behind a relation has no entry where an element is related to none, in a sum, too."""
    some, none, many = Fin.of(4), Fin.of(6), Fin.of(5)
    M, N = ((R ** (many * none)).random(np.random.default_rng(k)) for k in range(2))
    r: Any
    s: Any
    r, s = (red(pairs([(0, 1), (1, 2), (3, k)], some, none)) for k in (1, 5))
    f = derivative(fun(R**some)(lambda x: tanh(const(M) @ r(x)) + tanh(const(N) @ s(x))))
    assert str(structure(f)) == "sparse, 15 of 5·4 entries"
    assert matrix(f.at((R**some).zeros()), "sparse").nnz == 15


def test_outer_products_beside_an_identity_are_added() -> None:
    """Products of one pattern are one where no array gets larger than a side."""
    A, B = Fin.of(5), Fin.of(3)
    v, w = ((R**B).random(np.random.default_rng(k)) for k in range(2))
    f = fun(R**A)(lambda x: outer(tanh(x), const(v)) + outer(exp(x), const(w)))
    assert str(structure(derivative(f))) == "5 blocks, each dense 3×1"


def test_diagonals_of_tables_off_the_diagonal() -> None:
    """Diagonals and traces are read off products: of a table of many pairs, of those that are equal."""
    Z = Fin.of(40)
    at = [(R**Z).random(np.random.default_rng(k)) for k in range(8)]
    T = added([derivative(fun(R**Z)(tanh)).at(x) @ gather(rotation(Z, k)) for k, x in enumerate(at)])
    assert str(structure(T)) == "sparse, 320 of 40·40 entries"
    due = 1.0 - np.tanh(at[0].array) ** 2
    assert np.allclose(diagonal(T).array, due)
    assert np.isclose(trace(T), due.sum())

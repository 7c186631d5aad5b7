"""Claims of the pages that no test held to: each failed on a mutant of the code behind it, and passes without."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from adjoint import adjoint, grad
from diff import const, cos, derivative, fun, jet, lift, operation, sin, softplus, tanh
from hilbert import R32, Fin, R, SpaceError, direct_sum
from hilbert.relation import band, function, geq, leq, less, pairs
from linmap import (
    cost,
    cumsum,
    curry,
    diagonal,
    factors,
    gather,
    identity,
    matrix,
    parallel,
    red,
    structure,
    trace,
    transpose,
    uncurry,
    zero,
)
from linmap.matrices.labelled.accumulation_order import order
from tests.untyped import each, fixed_point, iterate, where

X, Y = Fin.of(4), Fin.of(3)


# --- docs/structure.md ---


def test_blocks_of_which_some_are_0_are_sparse() -> None:
    """Without `as_` the form with the least storage: dense blocks beside blocks of 0 are no array."""
    A: Any = (R ** (X * X)).random(np.random.default_rng(0))
    f = derivative(fun(R**X)(lambda x: const(A) @ x)).at((R**X).zeros())
    assert type(matrix(parallel(f, f))).__name__ == "csr_array"


def test_a_truth_value_is_no_limit() -> None:
    """`limit` is a whole number, from 1 on."""
    with pytest.raises(SpaceError, match="limit is the number of entries"):
        matrix(identity(R**X), "array", limit=True)


def test_an_axis_of_one_element_restricts_nothing() -> None:
    """A map of low rank may share an axis of one element: it is a short sum of rank-one terms."""
    left, right = factors(identity(R ** Fin.of(1)))
    assert left.array.tolist() == right.array.tolist() == [[1.0]]


def test_two_factors_have_one_order() -> None:
    """The mode is `only` where there is one order."""
    assert str(order([(0, 1), (1, 2)], (0, 2), [2, 3, 4])).startswith("only: 0·1; ")


def test_ranks_that_add_up_to_the_size_prove_nothing() -> None:
    """A sum of low-rank maps has the sum of their ranks; where that is the size, it is dense."""
    V = R ** Fin.of(2)
    a, b = V.vec([1.0, 2.0]), V.vec([3.0, 5.0])
    f = fun(V)(lambda x: sin(const(a) @ x) * b + cos(const(b) @ x) * a)
    assert str(structure(derivative(f))) == "dense 2×2"


def test_relations_that_have_all_pairs_together_are_dense() -> None:
    """A pattern is the union of those of a sum: of ≤ and ≥ it is all pairs."""
    assert str(structure(red(leq(X)) + red(geq(X)))) == "dense 4×4"


def test_a_bound_is_at_most_all_entries() -> None:
    """`at most N` is never more than there are entries: then nothing is proved."""
    Z = Fin.of(3000)
    assert str(structure(red(leq(Z)) @ red(geq(Z)))) == "dense 3000×3000"


def test_a_bound_goes_along_relations_in_their_direction() -> None:
    """A function behind a band of three has at most as many entries as the band has pairs."""
    n = 1_400_000
    Z = Fin.of(n)
    f: Any = structure(red(function(np.arange(n) // 100, Z, Z)) @ red(band(Z, 1, 1)))
    assert (f.exact, f.entries) == (False, 3 * n - 2)


def test_a_bound_along_a_huge_relation() -> None:
    """An order of more than 10⁹ pairs relates each element to at most as many as there are."""
    Z, A = Fin.of(50_000), Fin.of(1000)
    first = pairs(np.stack([np.arange(100), np.arange(100)], axis=1), A, Z)
    assert str(structure(red(leq(Z)) @ red(first))) == "sparse, at most 5000000 of 50000·1000 entries"


def test_a_function_that_is_not_one_to_one_is_no_permutation() -> None:
    """A permutation has one entry in each row and in each column."""
    assert str(structure(gather(function([0, 0, 1, 2], X, X)))) == "sparse, 4 of 4·4 entries"


def test_an_identity_of_one_element_is_not_written() -> None:
    """`identity ⊗ B` is one block B repeated; of one copy it is B."""
    M: Any = (R ** (Y * Y)).random(np.random.default_rng(0))
    f = derivative(fun(R ** (Fin.of(1) * Y))(lambda x: x @ const(M)))
    g = derivative(fun(R ** (X * Y))(lambda x: x @ const(M)))
    assert (str(structure(f)), str(structure(g))) == ("dense 3×3", "identity ⊗ dense 3×3")


def test_a_large_grid_without_zeros_is_written_row_by_row() -> None:
    """Only of a large grid that is mostly 0 are the places written."""
    V = direct_sum(*[R] * 9)
    f: Any = fun.over(V)(lambda *p: tuple(sin(sum(p[1:], p[0])) for _ in range(9)))
    head, *rows = str(structure(derivative(f))).splitlines()
    assert head.split() == [str(k) for k in range(1, 10)]
    assert [row.split() for row in rows] == [[str(k), *["number"] * 9] for k in range(1, 10)]


def test_a_long_text_says_how_many_lines_are_cut() -> None:
    """Text is cut at 40 lines: 39 of them, and how many more there are."""
    V = direct_sum(*[R**X] * 150)
    f: Any = fun.over(V)(lambda *p: tuple(x.sum() * sin(p[0].sum()) for x in p))
    s = structure(derivative(f))
    lines, whole = str(s).splitlines(), textwrap.wrap(s.text(), 100, break_on_hyphens=False)
    assert len(lines) == 40
    assert lines[-1] == f"… and {len(whole) - 39} more lines"


def test_a_sparse_part_of_a_product_stands_in_brackets() -> None:
    """What is a factor of ⊗ is told from what follows."""
    assert str(structure(red(leq(X)) ** Y)) == "identity ⊗ (sparse, 10 of 4·4 entries)"


def test_a_ridge_beside_few_blocks_is_written_by_entries() -> None:
    """An identity beside blocks is written as blocks only if enough of them are full."""
    place, point, here = Fin.of(5), Fin.of(100), Fin.of(1)
    V, one = (R**place) ** point, gather(function([7], here, point), R**place)
    M: Any = (R ** (place * place)).random(np.random.default_rng(0))
    block: Any = fun(R**place)(lambda d: const(M) @ d) ** here
    f = identity(V) + adjoint(one) @ derivative(block).at(block.dom.zeros()) @ one
    ((found,),) = matrix(f, as_="blocks")
    assert found.blocksize == (1, 1)
    assert np.allclose(found.toarray(), matrix(f, as_="array"))


def test_blocks_beside_a_relation_along_their_axes() -> None:
    """The last axes are a block as far as no relation restricts them."""
    V = R ** (X * Y)
    M: Any = (R ** (Y * Y)).random(np.random.default_rng(0))
    f = derivative(fun(V)(lambda x: x @ const(M))).at(V.zeros())
    g = f + uncurry((R**Y) ** X) @ cumsum(Y) ** X @ curry(V)
    ((found,),) = matrix(g, as_="blocks")
    assert np.allclose(found.toarray(), matrix(g, as_="array"))


def test_with_a_limit_there_is_one_plan() -> None:
    """A dense matrix is made by the quickest of three plans, with a limit by elimination."""
    assert len(cost(2 * identity(R**X), "array").seconds) == 3
    assert cost(2 * identity(R**X), "array", limit=100).seconds == ()


def test_nothing_is_less_than_itself() -> None:
    """Diagonals and traces are read off products of relations: that of < is 0, that of ≤ is 1."""
    assert diagonal(red(less(X))).array.tolist() == [0.0] * 4
    assert (trace(red(less(X))), trace(red(leq(X)))) == (0.0, 4.0)


def test_at_most_six_products_are_kept() -> None:
    """Of a sum of more than six products those of low rank are one, up to a quarter of the rows, and the others are."""

    def hessian_of(n: int, size: int) -> str:
        V = R ** Fin.of(size)
        sides = [V.random(np.random.default_rng(k)) for k in range(n)]
        f = fun(V)(lambda x: sum((cos(const(a) @ x) for a in sides), softplus(x).sum()))
        return str(structure(derivative(grad(f))))

    assert [hessian_of(n, 20) for n in (5, 6)] == ["diagonal + rank 5", "dense 20×20"]
    assert [hessian_of(n, 40) for n in (9, 10, 11)] == ["diagonal + rank 9", "diagonal + rank 10", "dense 40×40"]


def test_a_condition_costs_its_dearer_branch() -> None:
    """What a condition costs does not depend on which of its branches stands first."""
    A: Any = (R ** (X * X)).random(np.random.default_rng(0))

    def flops(*, first: bool) -> int:
        def body(x: Any) -> Any:
            dear, cheap = (lambda: const(A) @ (const(A) @ x)), (lambda: 2.0 * x)
            return where(x.sum() > 0.0, dear if first else cheap, cheap if first else dear)

        found: Any = cost(fun(R**X)(body))
        return int(found.run.flops)

    assert flops(first=True) == flops(first=False)


def test_rounds_are_counted_in_the_predicted_time() -> None:
    """The prediction counts the steps that are started: those of each round of a loop."""

    def elimination(n: int) -> float:
        f = fun(R)(lambda w: iterate(lambda s: tanh(w * s), w, Fin.of(n)))
        return dict(cost(derivative(f), "array").seconds)["elimination"]

    assert elimination(1000) > 20.0 * elimination(10)


def test_a_sparse_matrix_has_no_more_rows_than_memory_addresses() -> None:
    """An array of 2⁶⁰ entries or more is a SpaceError."""
    with pytest.raises(SpaceError, match="a column of a sparse matrix"):
        matrix(zero(R, R ** Fin.of(2**61)), as_="sparse")


def test_a_diagonal_is_of_one_space() -> None:
    """Spaces of one dimension are not one space."""
    turned: Any = curry(R ** (X * Y))
    with pytest.raises(SpaceError, match="is of a map V ⊸ V"):
        diagonal(transpose((R**X) * (R**Y)))
    with pytest.raises(SpaceError, match="is of a map V ⊸ V"):
        trace(turned)


def test_factors_have_the_precision_of_their_spaces() -> None:
    """The sides of a map on a direct sum over ℝ₃₂ are in single precision, where they are 0, too."""
    V = R32**X
    a = V.vec(np.array([1.0, 2.0, 3.0, 4.0], np.float32))
    f: Any = fun(V, V)(lambda x, y: (x @ const(a) + y @ const(a)) * const(a))
    left, right = factors(derivative(f).at(a, a))
    assert {str(leaf.dtype) for leaf in (*left.leaves, *right.leaves)} == {"float32"}


# --- docs/control-flow.md ---


def test_no_segments_are_no_checkpoints() -> None:
    """`checkpoint` is True, or a number of segments from 1 on."""
    with pytest.raises(SpaceError, match="a number of segments from 1 on"):
        fun(R)(lambda w: iterate(lambda s: tanh(w * s), w, Fin.of(5), checkpoint=0))


def test_a_search_ends_where_a_step_is_at_most_the_tolerance() -> None:
    """A step of ½ from x = 1 is at most ¼·(1 + |x|): the search ends behind it."""
    found = fixed_point(lambda x: 0.5 * x, R.vec(1.0), tolerance=0.25)
    assert float(found) == 0.5


def test_no_tolerance_is_0() -> None:
    """A tolerance is a number above 0."""
    with pytest.raises(SpaceError, match=r"tolerance=0.0: a number above 0"):
        fixed_point(lambda x: 0.5 * x, R.vec(1.0), tolerance=0.0)


def test_a_lane_that_is_found_is_not_far_away() -> None:
    """How far away a search is, is told of the lanes that have failed."""
    two = R ** Fin.of(2)
    factors_, starts = two.vec([0.8, -1.0]), two.vec([100.0, 1.0])
    with pytest.raises(SpaceError, match="not found in 5 rounds; the last residual is 2: "):
        each(lambda a, s: fixed_point(lambda x: a * x, s, tolerance=0.25, at_most=5), factors_, starts)


def test_rows_of_a_table_beside_the_elements_of_a_vector() -> None:
    """`each(f, A, v, over=X)` takes the rows of A ∈ ℝ^{X×Y} and the elements of v ∈ ℝ^X."""
    A, v = (R ** (X * Y)).ones(), (R**X).vec([1.0, 2.0, 3.0, 4.0])
    assert each(lambda row, s: row * s, A, v, over=X).array.tolist() == [[k] * 3 for k in (1.0, 2.0, 3.0, 4.0)]


def test_a_mask_is_over_the_index_set_of_its_values() -> None:
    """A condition for each element of X chooses between values over X."""
    with pytest.raises(SpaceError, match="its index set must come first"):
        fun(R**X, R**Y)(lambda x, y: where(x > 0.0, y, y))


# --- docs/operations.md ---


def test_an_operation_element_by_element_gets_no_axes_in_front() -> None:
    """With `batched=False` value is called without axes in front: shared arguments may have axes of size 1 or not."""
    V = R**X
    f = operation("scaled_by", R, V, to=V, value=lambda _, a, x: a * x, batched=False, broadcasts=True)
    found: Any = lift(f, Fin.of(2), over=(1,))(R.vec(2.0), (V ** Fin.of(2)).ones())
    assert found.array.tolist() == [[2.0] * 4] * 2


# --- docs/taylor.md ---


def test_the_slots_of_a_jet_stand_in_lexicographic_order() -> None:
    """In whatever order the multi-indices are named: the value, ∂y, ∂x."""
    g = fun(R, R)(lambda x, y: x * x * y)
    some = [(1, 0), (0, 0), (0, 1)]
    G = jet(g, 2, 1, given=some, wanted=some)
    at, e1, e2 = g.dom.vec((2.0, 3.0)), g.dom.vec((1.0, 0.0)), g.dom.vec((0.0, 1.0))
    assert [float(d) for d in G(at, e2, e1).split()] == [12.0, 4.0, 12.0]
    assert [float(d) for d in G(at, e1, e2).split()] == [12.0, 12.0, 4.0]


# --- docs/limits.md, docs/command.md, docs/higher.md ---

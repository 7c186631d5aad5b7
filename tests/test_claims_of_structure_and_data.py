"""Claims of the pages on records, linear algebra, jets, relations, tensors and structure, each with a test."""

from __future__ import annotations

import math
import operator
from functools import reduce as reduced
from typing import Any

import array_api_strict as strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adjoint import grad
from adjoint.higher import differential, pairing, reduce
from diff import (
    const,
    contract,
    cos,
    derivative,
    directional,
    entry,
    fun,
    logdet,
    made,
    ode_solve,
    program,
    qr,
    sin,
    softplus,
    solve,
    svd,
    tanh,
)
from diff.higher import Module, TermError, call, evaluate, run
from hilbert import R32, Elements, Fin, Part, R, Record, Scalar, SpaceError, Vector, direct_sum
from hilbert.relation import agreement, function, geq, leq, partial, relation_operators
from hilbert.relation.relation import table
from linmap import cost, identity, matrix, parallel, permute, red, scale, sparse, structure, total, windows
from linmap.matrices.made import dense, matrix_plans
from linmap.matrices.network import elimination
from linmap.unitary import tensor_matrix

X, Y = Fin.of(4), Fin.of(3)
MATRICES = R ** (X * X)


class Unit:
    """A tag."""


unit = Fin(Unit, 2)


class Layer(Record):
    """Two parts of one size."""

    bias: Part[Vector[Unit]]
    gain: Part[Vector[Unit]]


class Net(Record):
    """A record in a record."""

    layer: Part[Layer]
    scale: Part[Scalar]


L = Layer(bias=R**unit, gain=R**unit)
N = Net(layer=L, scale=R)


def a_term(text: str) -> Any:
    return Module().term(text)[0]


# --- docs/records.md ---


def test_entries_that_overlap_are_given_twice() -> None:
    """Together the entries give each array once, also where one is a part of another."""
    b: Any = (R**unit).ones()
    with pytest.raises(SpaceError, match="given twice"):
        made(N, entry(Net.layer / Layer.bias, b), entry(Net.layer, L.ones()), entry(Net.scale, R.ones()))


def test_all_that_is_missing_is_listed() -> None:
    """`made` lists what is missing, each array by its path."""
    with pytest.raises(SpaceError, match=r"layer.gain, scale missing"):
        made(N, entry(Net.layer / Layer.bias, (R**unit).ones()))


def test_an_entry_is_in_the_space_of_its_part() -> None:
    """A value of another space of as many dimensions is refused."""
    with pytest.raises(SpaceError, match=r"Layer.bias is in ℝ\^Unit2, not in ℝ\^2"):
        made(L, entry(Layer.bias, (R ** Fin.of(2)).ones()), entry(Layer.gain, L.gain.ones()))  # type: ignore[misc]


# --- docs/operations.md: linear algebra ---


def test_the_logarithm_of_a_large_determinant() -> None:
    """logdet is finite where the determinant is not."""
    for k in (1e3, 1e-3):
        A: Any = (R ** (Fin.of(200) * Fin.of(200))).vec(k * np.eye(200))
        assert float(logdet(A)) == pytest.approx(200 * math.log(k))


def test_the_factors_of_a_matrix_that_is_not_of_full_rank() -> None:
    """Q is orthonormal and QR is A where R has a 0 on its diagonal."""
    A: Any = MATRICES.vec(np.diag([2.0, 0.0, 3.0, 0.0]))
    q, r = qr(A).split()
    np.testing.assert_allclose(q.array.T @ q.array, np.eye(4), atol=1e-14)
    np.testing.assert_allclose((q @ r).array, A.array, atol=1e-14)


def test_right_sides_have_the_rows_of_the_matrix() -> None:
    """solve(A, B): as many rows under another name are others."""
    A, B = (R ** (unit * unit)).vec(np.eye(2)), (R ** (Fin.of(2) * Y)).ones()
    with pytest.raises(SpaceError, match="takes b in"):
        solve(A, B)  # type: ignore[misc]


def test_solutions_are_over_the_columns() -> None:
    """solve(A, B) ∈ ℝ^{X×Z} for A ∈ ℝ^{Y×X}."""
    A: Any = (R ** (unit * Fin.of(2))).vec(np.eye(2))
    assert solve(A, (R ** (unit * Y)).ones()).space == R ** (Fin.of(2) * Y)


def test_factorizations_of_single_precision() -> None:
    """The derivatives of qr and svd stay single."""
    V = R32 ** (Y * Fin.of(2))
    a = V.vec(np.array([[1, 2], [3, 4], [5, 7]], np.float32))
    first, second = fun(V)(lambda a: qr(a).split()[1].sum()), fun(V)(lambda a: svd(a).split()[1].sum())
    for f in (first, second):
        assert grad(f)(a).array.dtype == np.float32


# --- docs/taylor.md ---


def test_the_tolerance_is_of_the_largest_entry() -> None:
    """One component of many moves: it is as exact as if it were alone."""
    V = R ** Fin.of(1000)
    moves = const_of(V, 0)
    found = ode_solve(fun(V)(lambda x: const(moves) * sin(3.0 * x)), V.ones(), 2.0, 1e-6)
    assert float(found.array[0]) == pytest.approx(2 / 3 * math.atan(math.tan(1.5) * math.exp(6.0)), abs=1e-7)


def const_of(V: Any, k: int) -> Any:
    """A vector of the standard basis."""
    return V.vec(np.eye(1, V.dim, k)[0])


def test_polarised_derivatives_take_fewer_steps() -> None:
    """polarised=True takes its directions at once; without, orders above 16 have too many slots."""
    f = fun(R**X)(lambda x: tanh(x).sum())
    assert len(program(directional(f, 5, polarised=True)).steps) < len(program(directional(f, 5)).steps)
    with pytest.raises(SpaceError, match="has N = 2\\^17 slots"):
        directional(f, 17)


# --- docs/pullbacks.md ---


def test_representers_of_derivatives_at_a_point() -> None:
    """Of h ↦ 𝒟h(a)(u) it is the derivative of the kernel in its first argument; of 0 it is 0."""
    kernel = a_term(r"\a y. exp (a*y)")
    d = differential(a_term(r"\f. sharp (pull(\x. f x, cov(1)) 2)"), a_term(r"\x. x*x"))
    assert str(d) == "dv(2, 1; cov(1))"
    assert call_of(d.representer(kernel), 0.5) == pytest.approx(0.5 * math.exp(1.0))
    assert call_of(differential(a_term(r"\(f : real -> real). 3"), a_term(r"\x. x")).representer(kernel), 0.5) == 0.0
    along_3 = differential(a_term(r"\f. diff(f, 2, 3)"), a_term(r"\x. x"))
    assert call_of(along_3.representer(kernel), 0.5) == pytest.approx(3.0 * 0.5 * math.exp(1.0))


def call_of(f: Any, x: float) -> float:
    """A function of numbers at one."""
    return float(call(evaluate(f), R.vec(x)))


def test_what_is_no_kernel_and_no_functional() -> None:
    """A kernel is of type σ → σ → real, a functional of functions, a representer of functions into ℝ."""
    at_1, identity_ = a_term(r"\f. f 1"), a_term(r"\x. x")
    with pytest.raises(TermError, match="a kernel is of type"):
        differential(at_1, identity_).representer(a_term(r"\x. \y. <x, y>"))
    with pytest.raises(TermError, match="a functional is of type"):
        differential(a_term(r"\x. x*x"), a_term("2"))
    pairs = differential(a_term(r"\f. (\<a, b>. a + b) (f 1)"), a_term(r"\x. <x, x>"))
    with pytest.raises(TermError, match="functions whose values are numbers"):
        pairs.representer(a_term(r"\a y. exp (a*y)"))


def test_covectors_of_variants_have_their_tags() -> None:
    """They are neither paired nor added where the tags differ."""
    module = Module()
    list(module.read("data E = A real | B real\n"))
    at = r"pull(\e. case e of {A x -> x*x | B y -> y}, cov(1))"
    found = reduce(module.term(f"{at} (A 3)")[0])
    assert float(pairing(found, module.term("A 1")[0])) == 6.0
    with pytest.raises(TermError, match="a covector at A is paired with a direction at B"):
        pairing(found, module.term("B 1")[0])
    with pytest.raises(TermError, match="A and B are not added"):
        reduce(module.term(f"{at} (A 3) + {at} (B 3)")[0])


# --- docs/higher.md ---


def test_numbers_in_claims() -> None:
    """|found − expected| ≤ 1e-10 · max(1, |expected|): relative for large numbers, absolute for small ones."""
    pairs = ((10**6, "1000000.00005"), (0, "5e-11"), (10**6, "1000000.0002"), (0, "2e-10"))
    report = run("".join(f"value {found} = {due}\n" for found, due in pairs))
    assert [one.found is None for one in report.results] == [True, True, False, False]


# --- docs/relations.md ---


def test_what_preparing_a_relation_took_is_known_of_what_is_made_of_it() -> None:
    """A table is looked at once; the time is kept; a composition tells what its parts have prepared."""
    r = function([0, 2, 1, 0], X, Y)
    both = leq(Y) @ r
    for _ in range(2):
        red(both)((R**X).ones())
    found = both.prepared
    assert found == r.prepared
    assert [one.what for one in found] == ["profile", "places of all"]
    assert all(one.seconds > 0.0 for one in found)


def test_a_table_is_looked_at_once() -> None:
    """What is prepared of it is kept with it."""
    made: list[int] = []
    entries = table([0, 2, 1])
    for _ in range(2):
        entries.prepare("order", lambda: made.append(1))
    assert len(made) == 1


def test_labels_are_of_one_index_set() -> None:
    """`agreement`: a label stands for one axis, not for two of one size."""
    with pytest.raises(SpaceError, match="i is both 2 and Unit2"):
        agreement("ii->i", Fin.of(2) * unit, Fin.of(2))


def test_compositions_that_are_symbolic() -> None:
    """≥ ∘ ≥ is ≥; what is written out has some 10⁸ paths at most, and no fewer."""
    assert geq(X) @ geq(X) == geq(X)
    assert relation_operators.PATHS > 10**8


def test_orders_that_are_none() -> None:
    """permute(order, X) has every element of X once."""
    with pytest.raises(SpaceError, match="every element of 3 once"):
        permute([0, 0, 1], Y)


def test_windows_are_a_view() -> None:
    """All windows side by side move nothing in numpy."""
    v = (R**X).vec([1.0, 2.0, 3.0, 4.0])
    assert np.shares_memory(windows(X, 3)(v).array, v.array)


def test_what_is_not_selected_does_not_pass_in_other_libraries() -> None:
    """red of `partial`: a NaN that is left out is 0."""
    v = (R**Y).vec(strict.asarray([1.0, math.nan, 2.0]))
    assert np.asarray(red(partial([True, False, True], Y))(v).array).tolist() == [1.0, 0.0, 2.0]


def test_weights_of_single_precision() -> None:
    """Numbers in double precision are no weights of a matrix over ℝ₃₂."""
    with pytest.raises(SpaceError, match="float64 is not an element of"):
        sparse([0], [0], np.array([1.0]), Y, Y, R32)


# --- docs/structure.md ---


def test_diagonal_blocks_are_a_diagonal() -> None:
    """Blocks on a diagonal that make one form together are that form."""
    V = R**Y
    assert str(structure(parallel(2 * identity(V), identity(R)))) == "diagonal, positive"
    assert str(structure(parallel(identity(V), identity(R)))) == "identity"


def test_a_diagonal_and_a_low_rank_make_a_dense_matrix() -> None:
    """Without `as_` the form with the least storage: of a sum with a dense part an array, of a thin product a CSR."""
    a = (R**X).vec([1.0, 2.0, 3.0, 4.0])
    H = derivative(grad(fun(R**X)(lambda x: softplus(x).sum() + cos(const(a) @ x)))).at(a)
    assert (str(structure(H)), type(matrix(H))) == ("diagonal + rank 1", np.ndarray)
    A: Any = (R ** (Y * Y)).vec(np.arange(9.0).reshape(3, 3))
    B = fun(R ** (Y * X))(lambda x: const(A) @ x)
    assert type(matrix(derivative(B).at((R ** (Y * X)).zeros()))).__name__ == "csr_array"


def test_sparse_matrices_share_their_pattern_and_nothing_else() -> None:
    """The index arrays are shared and read-only; the values may be written into."""
    f = 3 * identity(R**Y)
    S, T = matrix(f, as_="sparse"), matrix(f, as_="sparse")
    S.data[:] = 7.0
    assert T.data.tolist() == matrix(f, as_="sparse").data.tolist() == [3.0] * 3
    assert not S.indices.flags.writeable
    assert not S.indptr.flags.writeable


def test_weighted_permutations_say_so() -> None:
    """A transposition is a permutation, a multiple of one a weighted one."""
    V = R ** (Y * X)
    turned, doubled = fun(V)(lambda x: x.T), fun(V)(lambda x: 2.0 * x.T)
    assert str(structure(derivative(turned))) == "permutation"
    assert str(structure(derivative(doubled))) == "weighted permutation"


def test_a_large_grid_that_is_mostly_0_shows_its_places() -> None:
    """`k of m·n blocks [1,1: A; …]`."""
    text = str(structure(parallel(*[scale(2.0)] * 2, *[total(Fin.of(2))] * 9)))
    assert text.startswith("11 of 11·11 blocks [1,1: scaled; 2,2: scaled; 3,3: dense 1×2; ")


def test_a_plan_for_elements_is_kept_for_points_with_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a relation is found at a point, the sparse matrix plans once for each table of positions in a row."""
    made: list[Any] = []
    build = matrix_plans._sparse_plan

    def counted(n: Any) -> Any:
        made.append(n)
        return build(n)

    monkeypatch.setattr(matrix_plans, "_sparse_plan", counted)
    E = Elements(Y) ** X
    d = derivative(fun(R**Y, E)(lambda v, x: sin(v[x])))
    for positions in ([0, 2, 1, 0], [0, 2, 1, 0], [0, 0, 0, 0]):
        matrix(d.at((R**Y).random(np.random.default_rng(0)), E.vec(positions)), as_="sparse")
    assert len(made) == 2


def test_small_nets_are_eliminated_from_both_ends() -> None:
    """Of the three orders the one is taken whose result stores the fewest numbers; here Markowitz's takes more work."""
    rng, sizes = np.random.default_rng(0), [Fin.of(n) for n in (9, 2, 3, 5)]
    A, B, C, D, E = ((R ** (sizes[k] * sizes[j])).random(rng) for j, k in ((0, 1), (1, 2), (2, 3), (0, 2), (1, 3)))

    def flops(tried: int) -> float:
        def body(x: Any) -> Any:
            y = tanh(A @ x)
            return tanh(E @ y + C @ tanh(D @ x + B @ y))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(elimination, "TRIED", tried)
            return cost(derivative(fun(R ** sizes[0])(body)), "array").matrix.flops

    assert flops(elimination.TRIED) < flops(0)


def test_a_quick_pass_is_run_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a pass takes less than a quarter of the time of a search no elimination is planned."""
    monkeypatch.setattr(dense, "dense_plan", None)
    f = fun(R**X)(lambda x: sin(cos(x)))
    np.testing.assert_allclose(np.diag(matrix(derivative(f).at((R**X).zeros()), as_="array")), 0.0)


# --- docs/tensors.md ---


def test_a_given_tensor_is_never_multiplied_out() -> None:
    """Nor is its sum with one that a function makes: a primitive of it is refused."""
    a, b = (R**Y).ones(), (R**unit).ones()
    t = tensor_matrix((R**Y) * (R**unit))(a.tensor(b))
    f = fun(t.space, R**Y, R**unit)(lambda m, x, y: tanh(m + contract("i,j->ij", x, y)))
    with pytest.raises(SpaceError, match="tanh has no rule for formal tensors"):
        f(t, a, b)


def test_leaves_share_what_becomes_of_their_factors() -> None:
    """(u + w) ⊗ v is joined once, not for each leaf."""
    V = direct_sum(R**Y, R**X)
    v = V.ones()
    t = V.ones().tensor(v) + (2.0 * V.ones()).tensor(v)
    arrays = [x for leaf in t.leaves for block in leaf.blocks for x in block.arrays]
    assert (len(arrays), len({id(x) for x in arrays})) == (8, 4)


# --- docs/limits.md ---


def test_arrays_have_at_most_64_axes() -> None:
    """65 are an error that says so."""
    sets = [reduced(operator.mul, [Fin.of(1)] * n) for n in (64, 65)]
    assert (R ** sets[0]).zeros().array.shape == (1,) * 64
    with pytest.raises(SpaceError, match="has 65 axes"):
        (R ** sets[1]).zeros()


# --- docs/arrays.md ---


def test_a_constant_of_a_program_that_first_runs_inside_jit() -> None:
    """The plan keeps an array, no tracer: the program runs outside, too."""
    V = R32**Y
    c = V.vec(np.array([1.0, 2.0, 3.0], np.float32))
    f = fun(V)(lambda x: (x * const(c)) @ x)
    ones = jnp.ones(3, jnp.float32)
    assert float(jax.jit(lambda a: f(V.vec(a)).array)(ones)) == 6.0
    assert float(jax.jit(lambda a: 2.0 * f(V.vec(a)).array)(ones)) == 12.0
    assert float(f(V.vec(ones))) == 6.0


def test_labels_outside_an_axis_are_told_in_jax() -> None:
    """Where they are known they are looked at."""
    with jax.enable_x64(new_val=True), pytest.raises(SpaceError, match="element"):
        (Elements(Y) ** X).vec(jnp.asarray([0, 5, 1, 2], dtype="int64"))

"""Contractions are planned before anything is derived, and what is derived is planned again."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import array_api_compat.numpy as xp
import numpy as np
import pytest

from adjoint import adjoint, check, grad, jacobian, value_and_grad, vjp
from diff import (
    const,
    contract,
    derivative,
    directional,
    fun,
    interpolated,
    jet,
    jvp,
    kept,
    laplacian,
    lift,
    ode_series,
    planned,
    program,
    register,
    select,
    tanh,
)
from diff.derive.affine import linearized
from diff.derive.partial_derivative import restricted
from hilbert import Bool, Fin, R, Unit
from hilbert.arrays.libraries.contraction_order import CONNECTED, best, steps
from hilbert.arrays.libraries.libraries import Cupy
from hilbert.program.planning.contraction_plan import WORTH
from hilbert.program.planning.multiplications import largest, multiplications
from hilbert.program.run.bound_line import BoundLine
from hilbert.relation import full
from linmap import cost, equal, explain, red
from tests.contraction_programs import Dice, recipe
from tests.untyped import fixed_point, iterate, root, where, while_

N = 20
X, L, MANY = Fin.of(N), Fin.of(1000), Fin.of(7)
M, V = R ** (X * X), R**X
RNG = np.random.default_rng(0)
W = M.random(RNG)
SUMMED = fun(M, M, M, V)(lambda A, B, C, x: (A @ B @ C @ x).sum())
AGAINST = fun(M, M, M, V, V)(lambda A, B, C, x, y: y @ (A @ B @ C @ x))
CHAIN = fun(M, M, M, V)(lambda A, B, C, x: A @ B @ C @ x)


def count(f: Any) -> int:
    """The multiplications of a call."""
    return multiplications(planned(f).line)


def test_the_chain() -> None:
    """A @ B @ C @ x: value 3 n², with the gradient in all four 9 n², Hessian products 23 n², lifted N times that."""
    n = N * N
    assert count(fun(M, M, M, V, planned=False)(lambda A, B, C, x: A @ B @ C @ x)) == 2 * N * n + n
    assert count(CHAIN) == 3 * n
    assert count(vjp(CHAIN)) <= 9 * n
    assert count(jvp(CHAIN)) <= 9 * n
    assert count(value_and_grad(SUMMED)) <= 9 * n
    assert count(jvp(grad(SUMMED))) <= 23 * n
    assert count(vjp(grad(SUMMED))) <= 23 * n
    for over in ((0, 1, 2, 3), (3,)):
        assert count(lift(grad(SUMMED), MANY, over=over)) <= 9 * MANY.size * n
    small = N + 1  # the inner product with y, and its derivatives
    assert count(value_and_grad(AGAINST)) <= 9 * n + 3 * small
    assert count(jvp(grad(AGAINST))) <= 23 * n + 9 * small


def step(A: Any, s: Any) -> Any:
    """Twice a matrix times a vector, or a product of matrices first."""
    return tanh(A * s.sum()) @ A @ s


BODIES: dict[str, Callable[[Any, Any], Any]] = {
    "loop": lambda A, x: iterate(lambda s: step(A, s), x, MANY),
    "branch": lambda A, x: where(x.sum() > 0, lambda: x, lambda: step(A, x)),
    "other branch": lambda A, x: where(x.sum() > 0, lambda: step(A, x), lambda: x),
    "while": lambda A, x: while_(lambda s: s.sum() > 0, lambda s: step(A, s), x),
    "fixed point": lambda A, x: fixed_point(lambda s: 0.1 * step(A, s), x),
    "root": lambda A, x: root(lambda s: s - 0.1 * step(A, s), x),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_are_planned(name: str) -> None:
    """The bodies of loops, branches and equations are run in the order that costs least, too."""
    f: Any = fun(M, V)(BODIES[name])
    assert 4 * count(f) < multiplications(program(f).line)
    as_written: Any = fun(M, V, planned=False)(BODIES[name])
    x = V.vec(0.1 * RNG.random(N))
    np.testing.assert_allclose(f(W, -x).array, as_written(W, -x).array, atol=1e-9)


def test_text_is_what_was_written() -> None:
    """str(f) shows what was written; planned(f), explain and cost what runs."""
    assert str(CHAIN) == "(A, B, C, x) ↦ ((A∗B)∗C)⋆x"
    assert str(planned(CHAIN)) == "(A, B, C, x) ↦ A⋆(B⋆(C⋆x))"
    assert str(explain(CHAIN)).splitlines()[1:] == [
        "order  16400 → 1200 multiplications:",
        "    (A, B, C, x) ↦ ((A∗B)∗C)⋆x",
        "    (A, B, C, x) ↦ A⋆(B⋆(C⋆x))",
    ]
    found: Any = cost(CHAIN)
    assert (found.written.flops, found.run.flops) == (2 * 16400, 2 * 1200)
    assert len(found.orders) == 1
    gradient: Any = grad(SUMMED)
    (whole,) = cost(gradient).orders
    assert multiplications(whole.run.line) < multiplications(whole.written.line)
    assert explain(fun(V)(tanh)).orders == ()


def read_twice(A: Any, B: Any, x: Any) -> Any:
    """The product is read by two steps."""
    P = A @ B
    return P @ x, P.sum()


def a_result(A: Any, B: Any, x: Any) -> Any:
    """The product is a result, too."""
    P = A @ B
    return P @ x, P


UNCHANGED: dict[str, Any] = {
    "nothing to save": fun(M, M, V)(lambda A, B, x: A @ (B @ x)),
    "a barrier": fun(M, M, V)(lambda A, B, x: kept(A @ B) @ x),
    "switched off": fun(M, M, V, planned=False)(lambda A, B, x: A @ B @ x),
    "a sum": fun(M, M, V)(lambda A, B, x: (A @ B + A) @ x),
    "a primitive": fun(M, M, V)(lambda A, B, x: tanh(A @ B) @ x),
    "a mask": fun(M, M, V, Bool**X)(lambda A, B, x, c: contract("i,ij->ij", c, A @ B) @ x),
    "read twice": fun(M, M, V)(read_twice),
    "a result": fun(M, M, V)(a_result),
    "numbers": fun(R, R)(lambda x, y: -2.0 * (2.0 * x) * (2.0 * y)),
    "constants": fun(V)(lambda x: (const(W) @ const(W)) @ x),
    "nothing": fun(V)(lambda x: x),
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_otherwise_the_steps_stay(name: str) -> None:
    """What saves nothing, or must not be crossed, is the same program."""
    f = UNCHANGED[name]
    assert planned(f) is program(f)
    assert planned(f) == f


def test_an_order_needs_no_larger_array() -> None:
    """An order that takes a fifth of the products, by an array twice as large as any as written, is not taken."""
    size = dict(zip("abcde", (30, 2, 100, 100, 8), strict=True))
    axes = {c: Fin.of(n) for c, n in size.items()}
    factors = ("abc", "bce", "cde", "bde")
    spaces = [R ** (axes[u] * axes[v] * axes[w]) for u, v, w in map(tuple, factors)]
    f = fun(*spaces)(lambda *args: contract("abc,bce,cde,bde->ad", *args))
    number = {c: k for k, c in enumerate("abcde")}
    lists = tuple(tuple(number[c] for c in one) for one in factors)
    pairs = best(lists, (number["a"], number["d"]), tuple(size.values()))
    assert pairs is not None
    made = steps(pairs, lists, (number["a"], number["d"]), tuple(size.values()))
    assert 5 * sum(work for work, _ in made) < multiplications(program(f).line)
    assert max(entries for _, entries in made) == 2 * largest(program(f).line)
    assert planned(f) is program(f)


def test_a_cheaper_order_within_the_largest_array_is_taken() -> None:
    """The cheapest order makes an array twice as large; the best of the others saves enough beside it."""
    axes = {c: Fin.of(n) for c, n in zip("abcde", (30, 2, 100, 100, 8), strict=True)}
    spaces = [R ** (axes[u] * axes[v] * axes[w]) for u, v, w in map(tuple, ("abc", "bce", "cde", "bde"))]
    Y = Fin.of(200)
    square, line = R ** (Y * Y), R**Y

    def body(p: Any, q: Any, r: Any, s: Any, A: Any, B: Any, x: Any) -> Any:
        return (x @ (A @ B @ x)) * contract("abc,bce,cde,bde->ad", p, q, r, s)

    f = fun(*spaces, square, square, line)(body)
    assert multiplications(program(f).line) > 12_000_000
    assert count(f) < 5_000_000
    assert largest(planned(f).line) == largest(program(f).line)


def test_a_label_of_three_factors_is_summed_in_one_product() -> None:
    """Σ_i A_ij u_i w_i: u·w is made first, so that A is read once and not twice."""
    few = Fin.of(4)
    f = fun(R ** (L * few), R**L, R**L)(lambda A, u, w: contract("ij,i->j", contract("ij,i->ij", A, u), w))
    assert multiplications(program(f).line) == 2 * 4 * 1000
    assert count(f) == 4 * 1000 + 1000


def test_numbers_without_a_finite_product_stay_where_they_are() -> None:
    """10³⁰⁰·(10³⁰⁰·10⁻³⁰⁰) is no ∞; neither is an infinite number moved to where no 0 meets it."""
    f = fun(M, M, V)(lambda A, B, x: (1e300 * (1e300 * A)) @ B @ x)
    unit = M.vec(np.eye(N))
    assert planned(f) is program(f)
    np.testing.assert_allclose(f(1e-300 * unit, unit, V.ones()).array, 1e300)
    g = fun(M, M, V)(lambda A, B, x: (float("inf") * A) @ B @ x)
    with np.errstate(invalid="ignore"):
        assert np.isnan(g(unit, unit, V.ones()).array).all()


def test_sums_count_as_well() -> None:
    """Σ_j A_ij x_i takes a product for each entry of A; to sum the rows first reads as many numbers."""
    f = fun(R ** (L * X), R**L)(lambda A, x: contract("ij,ij->i", A, x.rep(A.space, over=1)))
    assert planned(f) is program(f)


def test_a_quarter_must_be_saved() -> None:
    """5% less is not worth another rounding, nor 22% with the products by numbers."""
    h = fun(R ** (Fin.of(2) * Fin.of(6)), R ** Fin.of(2))(lambda A, x: 2.0 * (A.T @ x))
    assert multiplications(program(h).line) == 2 * 6 + 6
    assert planned(h) is program(h)  # 2 products by 2 and 2·6 others
    P, Q = Fin.of(10), Fin.of(9)
    f = fun(R ** (P * P), R ** (P * P), R ** (P * Q))(lambda A, B, C: A @ B @ C)
    assert multiplications(program(f).line) == 1900
    assert 2 * 10 * 10 * 9 == 1800
    assert planned(f) is program(f)
    g = fun(R ** (P * P), R ** (P * P), R ** (P * Fin.of(5)))(lambda A, B, C: A @ B @ C)
    assert (multiplications(program(g).line), count(g)) == (1500, 1000)


def test_a_lift_starts_from_what_was_written() -> None:
    """For more elements than rows A @ B is made once for all; the plan for one element would take N products with B."""
    f = fun(M, M, V)(lambda A, B, x: A @ B @ x)
    assert count(f) == 2 * N * N
    for n in (N + 4, 5 * N):
        lifted = lift(planned(f), Fin.of(n), over=(2,))
        assert count(lifted) == N**3 + n * N * N
    assert count(lift(planned(f), Fin.of(3), over=(2,))) == 3 * 2 * N * N


def test_a_step_more_must_be_worth_it() -> None:
    """Σ_j before a product takes a step more; it is taken where it saves as much as starting a step."""

    def summed(n: int) -> Any:
        Y = Fin.of(n)
        return fun(R ** (Y * Y), R ** (Y * Y))(lambda A, B: (A @ B).sum())

    few = summed(4)
    assert planned(few) is program(few)
    assert 4**3 < WORTH < 20**3
    assert count(summed(20)) == 20


def test_numbers_go_to_the_smallest_array() -> None:
    """k·(u⊗v) scales a vector; a scalar factor too."""
    f = fun(V, R**L, R)(lambda u, v, k: contract("i,j->ij", u, v) * 2.0 * k)
    written = program(f)
    assert multiplications(written.line) == 3 * N * 1000
    assert count(f) == N * 1000 + N + 1
    x = f.dom.random(RNG)
    assert np.allclose(f(x).array, 2.0 * float(x[2]) * np.outer(x[0].array, x[1].array))


def test_repetitions_are_not_multiplied() -> None:
    """What is repeated and summed again is a multiple; a gradient of a sum has its product once."""
    f = fun(M, V)(lambda A, x: (A @ x).sum())
    assert count(grad(f, 0)) == 0
    assert count(value_and_grad(f)) <= 2 * N * N
    x = f.dom.random(RNG)
    assert np.allclose(grad(f, 0)(x).array, np.broadcast_to(x[1].array, (N, N)))
    twice: Any = red(full(MANY, Unit()), V) @ red(full(Unit(), MANY), V)
    again = fun(M, M, V)(lambda A, B, x: twice(A @ B @ x))
    assert count(again) <= 2 * N * N + N
    y = again.dom.random(RNG)
    assert np.allclose(again(y).array, MANY.size * (y[0].array @ y[1].array @ y[2].array))


def test_a_nan_behind_a_mask_stays_there() -> None:
    """Selection is crossed by nothing: what is not selected does not spread through a reordered product."""
    f = fun(M, M, V, Bool**X)(lambda A, B, x, c: A @ B @ select(c, x))
    assert planned(f) is not program(f)
    x = RNG.standard_normal(N)
    x[3] = np.nan
    c = np.ones(N, bool)
    c[3] = False
    A, B = M.random(RNG), M.random(RNG)
    value = f(A, B, V.vec(x), (Bool**X).vec(c)).array
    assert np.allclose(value, A.array @ B.array @ np.where(c, x, 0.0))


@pytest.mark.parametrize(("seed", "wrt"), [(366, 1), (261, 1), (179, 0)])
def test_some_operands_only(seed: int, wrt: int) -> None:
    """A gradient in some operands costs less without planning the value: the cheaper of both is taken."""
    f = recipe(Dice(seed), contractions=3).traced(planned=True)

    def pulled_back(p: Any) -> int:
        return count(adjoint(restricted(linearized(p), wrt)).uncurried)

    assert pulled_back(f) < pulled_back(planned(f))
    assert count(vjp(f, wrt)) == pulled_back(f)


def test_planned_once_and_carried_along() -> None:
    """planned(planned f) is planned f; a pickle runs, and derives, as the program does."""
    assert planned(CHAIN) is planned(CHAIN)
    assert planned(planned(CHAIN)) is planned(CHAIN)
    assert planned(grad(SUMMED)) is grad(SUMMED)
    double = 2.0 * CHAIN
    assert planned(double) is planned(double)
    assert count(double) == 3 * N * N + N
    copy = pickle.loads(pickle.dumps(grad(SUMMED)))
    assert copy == grad(SUMMED)
    assert multiplications(jvp(copy).line) == multiplications(jvp(grad(SUMMED)).line)


def test_the_switch_holds_for_what_is_made() -> None:
    """planned=False: derivatives, lifts and functions that contain it run as they are written."""
    f = fun(M, M, V, planned=False)(lambda A, B, x: (A @ B @ x).sum())
    g = fun(M, M, V)(lambda A, B, x: 3.0 * f(A, B, x))
    over = fun.over(f.dom, planned=False)(lambda A, B, x: A @ B @ x)
    made: list[Any] = [f, g, over, 2.0 * f, grad(f), vjp(f), jvp(f), lift(f, MANY, over=(2,)), derivative(f).program]
    made += [jet(f, 2, 2), interpolated(f, 2, 2), directional(f, 2), directional(f, 2, polarised=True), laplacian(f, 2)]
    made += [ode_series(fun(V, planned=False)(lambda x: const(W) @ const(W) @ x), 3)]
    for h in made:
        assert program(h).line.fixed
        assert planned(h) is program(h)
    assert "fixed=True" in repr(f)
    assert f != fun(M, M, V)(lambda A, B, x: (A @ B @ x).sum())
    assert equal(f, fun(M, M, V)(lambda A, B, x: (A @ B @ x).sum()))


def test_derivatives_that_are_numbers() -> None:
    """0 lets no flow through; 1 and k are the identity and a scaling: no array is filled."""
    bodies: dict[str, Callable[[Any, Any], Any]] = {
        "stop": lambda *_: 0.0,
        "stop, written out": lambda x, _: 0.0 * x,
        "one": lambda *_: 1,
        "twice": lambda *_: 2.0,
        "twice, written out": lambda x, _: 0.0 * x + 2.0,
    }
    found = {}
    for name, derive in bodies.items():
        p = register(f"planned test's {name}", lambda _, x: 1.0 * x, derive)
        gradient: Any = grad(stopped_product(p))
        found[name] = str(derivative(p)), len(gradient.steps)
    texts = {name: text for name, (text, _) in found.items()}
    assert texts == {
        "stop": "0",
        "stop, written out": "0",
        "one": "id",
        "twice": "(2 ·)",
        "twice, written out": "(2 ·)",
    }
    assert found["stop"][1] == found["stop, written out"][1] == 2  # tanh and its stopped value, no backward pass


def stopped_product(p: Any) -> Any:
    """x ↦ Σ p(tanh x)·x."""
    return fun(V)(lambda x: (p(tanh(x)) * x).sum())


@pytest.mark.parametrize("operands", [1, 2, 3, 5])
def test_contractions_of_any_number_of_operands(operands: int) -> None:
    """As numpy's einsum; on vectors alone, too."""
    labels = {1: "ij->ji", 2: "ij,jk->ki", 3: "ij,jk,k->i", 5: "ij,jk,k,il,l->i"}[operands]
    spaces = [V if len(one) == 1 else M for one in labels.split("->")[0].split(",")]
    xs = [space.random(RNG) for space in spaces]
    due = np.einsum(labels, *(x.array for x in xs))
    assert np.allclose(contract(labels, *xs).array, due)
    f = fun(*spaces)(lambda *args: contract(labels, *args))
    assert np.allclose(f(*xs).array, due)
    assert check(f, *xs)


def test_masks_among_operands() -> None:
    """Two masks have no product: they select one after the other."""
    B = Bool**X
    f = fun(B, B, V)(lambda c, d, x: contract("i,i,i->i", c, d, x))
    c, d, x = B.vec(np.arange(N) % 2 == 0), B.vec(np.arange(N) % 3 == 0), V.random(RNG)
    assert np.allclose(f(c, d, x).array, np.where(np.arange(N) % 6 == 0, x.array, 0.0))


def test_long_chains_are_planned() -> None:
    """More factors than are searched exhaustively."""
    n = CONNECTED + 10
    Y = Fin.of(4)
    f = fun(*[R ** (Y * Y)] * n, R**Y)(lambda *args: contract_left(args))
    assert count(f) == n * 16


def contract_left(args: tuple[Any, ...]) -> Any:
    """((A B) C) … x."""
    product = args[0]
    for a in args[1:]:
        product = product @ a
    return product


def test_jacobians_agree() -> None:
    """Matrices of planned functions are those of the written ones."""
    f = fun(V)(lambda x: contract("i,j->ij", x, x) @ x)
    g = fun(V, planned=False)(lambda x: contract("i,j->ij", x, x) @ x)
    assert planned(f) is not program(f)
    x = V.random(RNG)
    assert np.allclose(jacobian(f, x), jacobian(g, x))
    assert check(f, x)


def test_arrays_that_say_they_are_cupys() -> None:
    """A planned line runs by cupy's class on what is cupy's as far as it goes: numpy's functions."""
    p = planned(vjp(CHAIN))
    arrays = [RNG.standard_normal(leaf.shape) for leaf in p.slots[: p.arity]]
    got = BoundLine(p.line, Cupy(xp), arrays)(arrays)
    A, B, C, x, y = arrays
    assert np.allclose(got[0], np.outer(y, B @ C @ x))
    assert np.allclose(got[3], (A @ B @ C).T @ y)


def test_numbers_in_a_tree_that_is_reordered() -> None:
    """A number in every entry is no factor; the order as it is written has it nevertheless."""
    none = Fin.of(0)
    f = fun(R ** Fin.of(2), R ** (none * Fin.of(2)))(lambda a, c: c.product(over=none) * a)
    assert "a ↦ 1·a\n    a ↦ a" in str(cost(f))
    assert "2 → 0 multiplications" in str(explain(f))

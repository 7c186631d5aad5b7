"""Numbers and conditions that the docs state, each at its edge: one step within, one step beyond."""

from __future__ import annotations

from typing import Any
from unittest import mock

import array_api_strict as strict
import numpy as np
import pytest

import hilbert.all as hb
from adjoint.command.main import main
from diff.vocabulary.close_values import apart
from hilbert import R32, Fin, R, SpaceError
from hilbert.arrays.libraries import contraction_order
from hilbert.relation import function
from linmap import stack, structure
from linmap.matrices.made import dense
from linmap.matrices.made.dense import chosen
from linmap.matrices.structure.structure import body_of

V = R ** Fin.of(3)
X = V.vec([0.0, 4.0, 9.0])
pytestmark = pytest.mark.filterwarnings("ignore")


def test_places_are_followed_for_sixteen_rounds() -> None:
    """What a loop carries moves on by one place in each round; the last place is never read."""
    cycle = hb.red(function([*range(1, 19), 0, 19], Fin.of(20), Fin.of(20)))
    x = (R ** Fin.of(20)).vec([1.0] * 19 + [0.0])

    def last(rounds: int) -> Any:
        f = hb.fun(x.space)(lambda x: hb.iterate(lambda s: cycle(s**0.5), x, Fin.of(rounds))[18])
        return hb.grad(f)(x).array[19]

    assert last(16) == 0.0
    assert np.isnan(last(17))


def test_powers_that_are_not_whole_have_infinite_slopes() -> None:
    """What is not read of x^(1/4), and of (x^(3/2))', has no slope."""
    near = np.testing.assert_allclose
    near(hb.grad(hb.fun(V)(lambda x: (x**0.25)[1]))(X).array, [0.0, 0.25 * 4**-0.75, 0.0])
    f = hb.grad(hb.fun(V)(lambda x: (x**1.5)[1:].sum()))
    near(hb.jvp(f)(X, V.ones()).array, [0.0, 0.375, 0.25])


def test_a_primitive_of_ones_own_may_have_infinite_slopes() -> None:
    """What is not read of it has no slope."""
    p: Any = hb.register("a root of ones own", lambda xp, x: xp.sqrt(x), lambda _, y: 0.5 / y)
    assert hb.grad(hb.fun(V)(lambda x: p(x)[1]))(X).array.tolist() == [0.0, 0.25, 0.0]


@pytest.mark.parametrize("n", [15, 16])
def test_sixteen_steps_are_lanes(n: int) -> None:
    """Fewer stay as they are written."""
    f = hb.fun(R ** Fin.of(40))(lambda x: stack(Fin.of(n), R)(*[hb.sin(x[i]) for i in range(n)]))
    sines = [step for step in hb.program(f).steps if repr(step.operation) == "sin"]
    assert len(sines) == (15 if n == 15 else 1)


def test_what_is_written_at_two_places_is_two_steps() -> None:
    """One operation on two lines."""

    def body(x: Any) -> Any:
        a = [hb.sin(x[i]) for i in range(20)]
        b = [hb.sin(x[i]) for i in range(20, 40)]
        return stack(Fin.of(40), R)(*a, *b)

    assert [repr(s.operation) for s in hb.program(hb.fun(R ** Fin.of(40))(body)).steps].count("sin") == 2


def test_unplanned_stays_as_it_is_written() -> None:
    """Step by step."""
    f = hb.fun(R ** Fin.of(20), planned=False)(lambda x: sum((hb.sin(x[i]) for i in range(20)), hb.const(R.vec(0.0))))
    assert [repr(s.operation) for s in hb.program(f).steps].count("sin") == 20


def test_a_root_is_searched_for_a_hundred_rounds() -> None:
    """Newton's steps for e^x = 0 have the length 1."""
    with pytest.raises(SpaceError, match="not found in 100 rounds"):
        hb.root(hb.exp, R.vec(0.0))


def test_a_row_that_is_infinite_is_left_out_where_no_lane_reads_it() -> None:
    """Lanes read other entries of 1/w: the first is read by none, the second by one."""
    W: Any = R ** (Fin.of(2) * Fin.of(3))
    f = hb.fun(W)(lambda A: hb.contract("j,ij->i", 1.0 / hb.const(X), hb.select(A > 0.5, A)))
    A = W.vec([[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    assert hb.jvp(f)(A, W.ones()).array.round(3).tolist() == [0.361, 0.111]


def test_eigenvalues_are_moved_apart_with_the_same_mean() -> None:
    """Those that agree to seven digits are 3e-8 apart."""
    w = np.array([1.0, 1.0, 1.0, 2.0])
    moved = apart(np, w) - w
    np.testing.assert_allclose(moved[1:], [0.0, -moved[0], 0.0])
    assert 2e-8 < moved[2] < 6e-8


def test_expm_has_derivatives_up_to_norm_6144() -> None:
    """Above they are NaN."""
    V = R ** (Fin.of(1) * Fin.of(1))
    slope = hb.grad(hb.fun(V)(lambda A: hb.expm(A).trace()))
    found = [slope(V.vec([[-a]])).array.item() for a in (6144.0, 6144.5)]
    np.testing.assert_equal(found, [0.0, np.nan])


def test_where_data_may_be_infinite_it_is_elimination() -> None:
    """The least predicted time is that of a pass on all basis vectors."""
    for f, due in (hb.sin, "forward"), (hb.sqrt, "elimination"):
        assert chosen(body_of(hb.derivative(hb.fun(V)(f)).at(X), "matrix")) == due


def test_a_dynamic_order_of_up_to_sixteen_factors() -> None:
    """Networks that summed labels connect, in rings, are opt_einsum's up to 16 factors."""
    for n, due in (16, True), (17, False):
        ring = tuple((k, (k + 1) % n) for k in range(n))
        with mock.patch.object(contraction_order, "_dynamic", wraps=contraction_order._dynamic) as search:
            contraction_order.best.__wrapped__(ring, (), (3,) * n)
        assert search.called == due


def test_a_sum_has_at_most_a_thousand_parts() -> None:
    """Over one index set."""
    assert len(hb.direct_sum.over(Fin.of(1000), [R] * 1000).parts) == 1000


def test_a_number_goes_with_any_library() -> None:
    """An array of numpy's without axes."""
    f = hb.fun(R, V)(lambda k, x: k * x)
    assert np.asarray(f(R.vec(2.0), V.vec(strict.ones(3))).array).tolist() == [2.0, 2.0, 2.0]


def test_a_file_inside_brackets_is_read(tmp_path: Any, monkeypatch: Any) -> None:
    """So it is not overwritten."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.cad").write_text("fun f x = x * x\n")
    (tmp_path / "point.txt").write_text("2.0\n")
    assert main(["show", "m.cad", "f", "--stage", "derivative", "--at", "(@point.txt)", "-o", "point.txt"]) == 2
    assert (tmp_path / "point.txt").read_text() == "2.0\n"


def test_minus_0_is_another_entry() -> None:
    """An owner has written it into an array of zeros: the next function has another copy."""
    a = strict.zeros(3)
    v, x = V.vec(a), V.vec(strict.ones(3))
    found = []
    for entry in (0.0, -0.0):
        a[0] = entry
        found.append(float(hb.fun(V)(lambda x: x / v)(x).array[0]))
    assert found == [np.inf, -np.inf]


def test_second_derivatives_of_lengths_stay_nan() -> None:
    """Also of one entry, whose length is √ of a number."""
    for f in (lambda x: x[0:1].norm(), lambda x: (x - x.roll(1)).norm(), lambda x: hb.hypot(x[0], x[1])):
        assert np.isnan(hb.hessian(hb.fun(V)(f), V.zeros())[0, 0])


def test_a_loop_on_more_vectors_than_inputs_is_no_elimination() -> None:
    """The one input is one vector, the state has thirty places."""
    W, S = hb.const((R ** (Fin.of(30) * Fin.of(30))).full(1.0)), R ** Fin.of(30)
    f = hb.fun(R)(lambda k: hb.iterate(lambda s: hb.sqrt(W @ s), k * hb.const(S.ones()), Fin.of(5)))
    assert chosen(body_of(hb.derivative(f).at(R.vec(1.0)), "matrix")) == "forward"


def test_through_a_loop_a_pass_is_run_without_a_search() -> None:
    """One that takes more than a pass through plain arcs may."""
    S = R ** Fin.of(60)
    W = hb.const((R ** (S.index * S.index)).full(0.01))
    f = hb.fun(S)(lambda x: hb.iterate(lambda s: hb.tanh(W @ s), x, Fin.of(5)))
    with mock.patch.object(dense, "dense_plan", wraps=dense.dense_plan) as search:
        assert chosen(body_of(hb.derivative(f).at(S.ones()), "matrix")) == "forward"
    assert not search.called


def test_close_values_in_single_precision() -> None:
    """√ε is 3e-4 there: a smaller gap warns."""
    S = R32 ** (Fin.of(2) * Fin.of(2))
    f = hb.fun(S)(lambda A: hb.eigh(A)[1][0, :] @ (5.0 * hb.eigh(A)[0]))  # no other program: it has not warned
    with pytest.warns(RuntimeWarning, match="half of all digits"):
        hb.grad(f)(S.vec([[1.0, 1e-5], [1e-5, 1.0001]]))


@pytest.mark.parametrize(
    ("n", "due"), [(10**4, "sparse, 9999 of 10000·10000 entries"), (10**4 + 1, "dense 10001×10001")]
)
def test_what_each_of_ten_thousand_rounds_is_given_is_followed(n: int, due: str) -> None:
    """Of more rounds a block between stacks is dense."""
    V = R ** Fin.of(n)
    f = hb.fun(V)(lambda xs: hb.fold(lambda s, x: (hb.sin(x), s * s), R.vec(0.0), xs)[1])
    assert str(structure(hb.derivative(f))) == due


@pytest.mark.parametrize(("n", "due"), [(16, "weighted permutation"), (17, "dense 17×17")])
def test_single_numbers_that_change_places(n: int, due: str) -> None:
    """Of at most sixteen states each has come from one."""
    V = R ** Fin.of(n)

    def turn(s: Any) -> Any:
        return (*s[1:], hb.sin(s[0]))

    f = hb.fun(V)(lambda x: stack(Fin.of(n), R)(*hb.iterate(turn, tuple(x[i] for i in range(n)), Fin.of(3))))
    assert str(structure(hb.derivative(f))) == due

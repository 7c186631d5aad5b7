"""Claims of the pages on control flow, records, vocabulary, operations, data: each with a test that fails without."""

from __future__ import annotations

import functools
import gc
import math
import pickle
import warnings
from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attrs import evolve

from adjoint import check_derivative, grad, jacobian, value_and_grad
from diff import (
    Expr,
    again,
    contract,
    conv,
    cos,
    data,
    derivative,
    exp,
    folded,
    fun,
    inner,
    jet,
    jvp,
    kept,
    lift,
    log,
    operation,
    program,
    register,
    sin,
    square,
    stop_gradient,
    tanh,
    term,
    variant,
)
from diff.derive.loop_derivative import LoopDerivative
from diff.terms.elementwise import Elementwise
from hilbert import R32, Bool, Elements, Fin, Part, R, Record, Scalar, SpaceError, Z, direct_sum
from hilbert.arrays.systems import linear_systems
from hilbert.program.control.equation_step import Solve
from hilbert.program.control.loop import Loop
from hilbert.program.line.external import External
from hilbert.program.run.run import Runner
from linmap import equal, fft, ifft, linear_map
from tests.message_lines import apart
from tests.untyped import batched, each, fixed_point, fold, iterate, root, where, while_


class Tag:
    """An axis."""


X, Y = Fin.of(3), Fin.of(2)
V, M = R**X, R ** (X * X)
RNG = np.random.default_rng(0)


def loops(f: Any) -> list[Loop]:
    return [step.operation for step in program(f).steps if isinstance(step.operation, Loop)]


def elementwise(line: Any) -> list[str]:
    """The names of the primitives in a line, in the bodies of its loops, too."""
    found = [step.operation.name for step in line.steps if isinstance(step.operation, Elementwise)]
    inner = [step.operation.body for step in line.steps if isinstance(step.operation, Loop)]
    return found + [name for body in inner for name in elementwise(body)]


# --- docs/control-flow.md ---


def test_a_state_that_no_round_changes_is_read_outside() -> None:
    """What does not depend on the round is computed once, outside."""
    f = fun(R, R)(lambda s, c: iterate(lambda t: (t[0] * exp(t[1]), t[1]), (s, c), Fin.of(9))[0])
    (loop,) = loops(f)
    assert elementwise(loop.body) == []
    assert (loop.states, loop.shared) == (1, 1)  # exp c is given, and c is not


def test_sums_and_products_of_what_is_kept_are_not_kept() -> None:
    """For the derivative a loop keeps what cannot be had more cheaply."""
    f = fun(V)(lambda s: iterate(lambda t: t * (t + 1.0), s, Fin.of(9)))
    g = fun(V)(lambda s: iterate(lambda t: (t * t) * sin(t), s, Fin.of(9)))
    squares = fun(V)(lambda s: iterate(lambda t: square(t) * t, s, Fin.of(9)))
    kept = [len(loop.body.outputs) - loop.states for h in (f, g, squares) for loop in loops(derivative(h).program)]
    assert kept == [1, 3, 1]  # t; t·t·… : t, sin t, cos t; t, and not t²


def test_what_takes_time_is_kept() -> None:
    """For the derivative a loop keeps what cannot be had more cheaply: no primitive is computed again."""
    f = fun(V)(lambda s: iterate(lambda t: t * t + cos(t), s, Fin.of(9)).sum())
    back = [loop for loop in loops(grad(f)) if loop.reverse]
    assert [elementwise(loop.body) for loop in back] == [[]]


def test_a_loop_runs_in_blocks() -> None:
    """What does not depend on its own past leaves the rounds: it runs for a block of rounds at once."""
    calls: list[int] = []

    def counted(xp: Any, x: Any) -> Any:
        calls.append(1)
        return xp.tanh(x)

    p = register("counted_in_blocks", counted, lambda _x, y: 1.0 - y * y)
    f = fun(V, V ** Fin.of(1000))(lambda s, xs: fold(lambda s, x: tanh(s) + p(x), s, xs))
    start, stack = f.dom.random(RNG).split()
    due = f((start, stack))
    assert len(calls) <= 2
    calls.clear()
    elsewhere = [v.space.vec(array_api_strict.asarray(np.asarray(v.array))) for v in (start, stack)]
    np.testing.assert_allclose(np.asarray(f(tuple(elsewhere)).array), due.array)
    assert len(calls) == 1000  # blocks are numpy's only


def test_a_block_of_rounds_makes_a_megabyte() -> None:
    """As many rounds are a block as make 2²⁰ bytes: the slice, what is computed of it, and that as a slice."""
    rounds: list[int] = []

    def seen(xp: Any, x: Any) -> Any:
        rounds.append(len(x))
        return xp.tanh(x)

    p = register("seen_in_blocks", seen, lambda _x, y: 1.0 - y * y)
    W = R ** Fin.of(1000)
    f = fun(W, W ** Fin.of(200))(lambda s, xs: fold(lambda s, x: tanh(s) + p(x), s, xs))
    f(f.dom.zeros())
    assert max(rounds) * 3 * 1000 * 8 <= 2**20 < (max(rounds) + 1) * 3 * 1000 * 8


def test_what_follows_from_a_slice_is_not_kept() -> None:
    """For the derivative a loop keeps what cannot be had more cheaply: no slice, and no sum of one with a constant."""
    f = fun(V, V ** Fin.of(9))(lambda s, xs: fold(lambda t, x: t * (x + 1.0), s, xs))
    (loop,) = loops(derivative(f).program)
    assert len(loop.body.outputs) - loop.states == 1  # t; not x, not x + 1


def test_again_computes_again() -> None:
    """`again(f, x)`: its arguments are kept, the rest is computed again."""
    f = fun(V)(lambda x: again(lambda x: exp(sin(cos(x))), x).sum())
    once, twice = ["exp", "sin", "cos"], ["exp", "sin", "cos", "cos", "sin"]  # the value; that again, and its slopes
    assert sorted(elementwise(program(value_and_grad(f)))) == sorted(once + twice)


def test_segments_are_computed_again_in_derivatives_of_derivatives() -> None:
    """With `checkpoint=True` a loop keeps the states between segments: so do its derivative, and that one's."""
    f = fun(V)(lambda s: iterate(lambda t: sin(t) * t, s, Fin.of(9), checkpoint=True).sum())
    assert sorted(elementwise(program(grad(f)))) == ["cos", "sin", "sin"]
    assert [loop.again for loop in loops(value_and_grad(f))] == [True, True]


def test_rounds_that_are_left_cost_one_test() -> None:
    """`while_` with `at_most` stops when the condition does not hold any more: no step is computed after that."""
    calls: list[int] = []

    def halved(_xp: Any, x: Any) -> Any:
        calls.append(1)
        return x / 2.0

    p: Any = register("halved_while", halved, lambda x, _: 0.0 * x + 0.5)
    f = fun(R)(lambda x: while_(lambda s: s > 1.0, p, x, at_most=Fin.of(64)))
    assert float(f(R.vec(10.0))) == 0.625
    assert len(calls) == 4


def test_the_tolerance_is_relative_for_large_solutions_and_absolute_for_small_ones() -> None:
    """The search ends where a step is at most `tolerance`·(1 + |x|)."""
    f = fun(R)(lambda a: fixed_point(lambda x: 0.5 * x + a, a, tolerance=1e-3))
    assert 1e2 < abs(float(f(R.vec(1e6))) - 2e6) < 4e3
    assert 1e-4 < float(fixed_point(lambda x: 0.5 * x, R.vec(1.0), tolerance=1e-3)) < 2e-3
    double = fun(R)(lambda a: root(lambda x: (x - a) * (x - a), 0.0 * a, tolerance=1e-3))  # the error is the last step
    assert 1e2 < abs(float(double(R.vec(1e6))) - 1e6) < 1e3


@pytest.mark.parametrize("field", [R, R32])
def test_the_tolerance_where_none_is_given(field: Any) -> None:
    """It is ε^(2/3): the first step that is so short is the last one."""
    due = float(np.finfo(field.dtype).eps) ** (2 / 3)
    x = float(fixed_point(lambda x: 0.5 * x, field.vec(1.0)))  # as long as the last step
    assert x <= due * (1.0 + 2.0 * x)
    assert 2.0 * x > due * (1.0 + 4.0 * x)


def test_a_fixed_point_may_take_ten_thousand_rounds() -> None:
    """After `at_most` rounds, 10,000 where no number is given, it has failed."""
    slow = fixed_point(lambda x: 0.995 * x + 0.005, R.vec(0.0))
    assert abs(float(slow) - 1.0) < 1e-7
    with pytest.raises(SpaceError, match="is not found in 10000 rounds"):
        fixed_point(lambda x: x + 1.0, R.vec(0.0))
    with pytest.raises(SpaceError, match="is not found in 100 rounds"):
        root(exp, R.vec(0.0))


def test_how_far_away_a_root_is() -> None:
    """The root is not found in so many rounds, and the message says how far away: |f(x)|."""
    with pytest.raises(SpaceError, match=r"root is not found in 3 rounds; the last residual is 0\.135"):
        root(exp, R.vec(0.0), at_most=3)  # x = 0, −1, −2, −3: each step has the length 1
    f = fun(R, R)(lambda a, x: fixed_point(lambda y: 0.5 * y + a, x, at_most=3))
    with pytest.raises(SpaceError, match=r"the last residual is 0\.125"):  # not the 0.5 of the lane that is found
        lift(f, X, over=(0, 1))((R**X).vec([0.0, 1e15, 1.0]), (R**X).vec([1.0, 2e15 + 1.0, 2.0]))


def test_gmres_goes_on_to_its_tolerance() -> None:
    """A system of more unknowns is solved by GMRES to ε^(3/4)."""
    a = np.diag(np.linspace(1.0, 100.0, 300))
    b = RNG.standard_normal((1, 300))
    x, _ = linear_systems.gmres(np, lambda v: v @ a.T, b)
    assert np.linalg.norm(x @ a.T - b) <= np.finfo(float).eps ** 0.75 * np.linalg.norm(b)


def test_gmres_starts_again() -> None:
    """It keeps 80 vectors and starts again 40 times: some times for a large condition, to the end for no solution."""
    calls: list[int] = []

    def solved(d: Any) -> float:
        calls.append(0)

        def apply(v: Any) -> Any:
            calls[-1] += 1
            return d * v

        return linear_systems.gmres(np, apply, np.ones((1, 100)))[1]

    assert solved(np.logspace(0.0, 5.0, 100)) == 0.0
    assert solved(np.arange(100.0) / 100.0) > 0.01
    assert 3 * 81 < calls[0] < 20 * 81
    assert calls[1] == 40 * 81 + 1


def test_gmres_orthogonalises_twice() -> None:
    """So n vectors are enough for n unknowns, though rounding spoils what is orthogonalised once."""
    rng = np.random.default_rng(0)
    q = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    a = (q * np.logspace(0.0, 12.0, 20)) @ q.T
    calls: list[int] = []

    def apply(v: Any) -> Any:
        calls.append(1)
        return v @ a.T

    _, left = linear_systems.gmres(np, apply, rng.standard_normal((1, 20)) @ a.T)
    assert (left, len(calls)) == (0.0, 22)  # one for each vector, and two for what is left


def test_where_all_right_sides_are_0_the_solution_is_0() -> None:
    """Whatever the matrix is: what flows back into a lane that nothing is asked of."""
    f: Any = fun(V, V)(lambda c, xs: c @ each(lambda x: root(lambda y: y * y * y - x, x), xs))
    point = V.vec([0.0, 1.0, 8.0])
    np.testing.assert_allclose(grad(f, 1)(V.vec([0.0, 1.0, 1.0]), point).array, [0.0, 1.0 / 3.0, 1.0 / 12.0])
    a = np.stack([np.zeros((2, 2)), 2.0 * np.eye(2)])
    b = np.array([[[0.0, 0.0], [2.0, 4.0]]])
    assert linear_systems.direct(np, a, b, "singular").tolist() == [[[0.0, 0.0], [1.0, 2.0]]]
    with pytest.raises(SpaceError, match="singular"):
        linear_systems.direct(np, a, b[:, ::-1], "singular")


@pytest.mark.parametrize(("largest", "found", "most"), [(2.3, True, 22), (1e3, False, 8)])
def test_gmres_is_tried_with_twenty_vectors(largest: float, most: int, *, found: bool) -> None:
    """20 vectors suffice for eigenvalues near each other; else the try ends early, and the residual is told."""
    d, calls = np.linspace(1.0, largest, 100), list[int]()

    def apply(v: Any) -> Any:
        calls.append(1)
        return d * v

    left = linear_systems.gmres(np, apply, RNG.standard_normal((1, 100)), once=True)[1]
    assert (left == 0.0) is found
    assert len(calls) <= most


def test_a_search_ends_at_an_infinite_number_that_goes_nowhere() -> None:
    """The search ends where a residual is NaN, as ∞ − ∞ is: long before the last of 10,000 rounds."""
    calls: list[int] = []

    def grown(_xp: Any, x: Any) -> Any:
        calls.append(1)
        return 1.5 * x

    p: Any = register("grown_in_a_search", grown, lambda x, _: 0.0 * x + 1.5)
    f = fun(R)(lambda a: fixed_point(lambda x: p(x) + a, a))
    with np.errstate(all="ignore"), pytest.raises(SpaceError, match="not found: a residual is NaN"):
        f(R.vec(3.0))
    assert len(calls) < 2000


def test_lanes_of_one_system_are_right_sides() -> None:
    """Where the data do not vary over lanes, it is one system with many right sides."""
    T = Fin.of(5)
    f = jvp(fun(V)(lambda a: root(lambda x: x * x * x + x - a, a)))
    (solve,) = [s.operation for s in program(lift(f, T, over=(1,))).steps if isinstance(s.operation, Solve)]
    assert (solve.many, solve.lanes) == ((T,), 0)


def test_an_equation_without_a_derivative_is_singular() -> None:
    """Where no residual depends on an unknown, or one of several does not, Newton's iteration has no next step."""
    one = fun(R)(lambda a: root(lambda x: stop_gradient(x) - a, a + 1.0))
    two = fun(R)(lambda a: root(lambda s: (s[0] - a, stop_gradient(s[1]) - a), (a, a + 1.0))[1])
    for f in (one, two):
        with pytest.raises(SpaceError, match="is singular at this point"):
            f(R.vec(1.0))


def test_a_direction_that_lanes_share() -> None:
    """Where the data vary over lanes and the right side does not, there is a system for each lane."""
    slope = jvp(fun(V)(lambda a: root(lambda x: x * x * x + x - a, a)))
    points, direction = (V**Y).random(RNG), V.random(RNG)
    due = [slope(V.vec(row), direction).array for row in points.array]
    np.testing.assert_allclose(lift(slope, Y, over=(0,))(points, direction).array, due, atol=1e-12)
    table, two = (V ** (Y * X)).random(RNG), (V**Y).random(RNG)
    many: Any = lift(lift(slope, Y, over=(1,)), Y * X, over=(0,))  # two axes of data, one of right sides
    due = [[slope(V.vec(row), V.vec(d)).array for d in two.array] for row in table.array.reshape(6, 3)]
    np.testing.assert_allclose(many(table, two).array.reshape(6, 2, 3), due, atol=1e-12)


def test_a_lane_that_searches_nothing_has_no_singular_system() -> None:
    """The data of the branch that is not taken are 0, and no derivative is computed outside of its domain."""

    def lane(x: Any) -> Any:
        return where(x > 0, lambda: root(lambda y: exp(y) - x, x), lambda: x)

    f: Any = fun(V)(lambda xs: each(lane, xs).sum())
    np.testing.assert_allclose(grad(f)(V.vec([-2.0, -1.0, -0.5])).array, [1.0, 1.0, 1.0])


def test_nothing_flows_through_a_branch_that_is_not_taken() -> None:
    """The derivative is that of the branch that is taken: no system of the other one is solved, no ∞ met by a 0."""
    solved: Any = fun(R)(lambda x: where(x > 0, lambda: root(lambda y: y * y - x, x), lambda: 3.0 * x))
    assert float(derivative(solved).at(R.vec(-1.0))(R.vec(1.0))) == float(grad(solved)(R.vec(-1.0))) == 3.0
    infinite: Any = fun(V)(lambda xs: each(lambda x: where(x > 0, lambda: x * math.inf, lambda: x * x), xs).sum())
    alone: Any = fun(R)(lambda x: where(x > 0, lambda: x * math.inf, lambda: x * x))
    with np.errstate(invalid="ignore"):
        assert float(grad(alone)(R.vec(-1.0))) == float(jvp(alone)(R.vec(-1.0), R.vec(1.0))) == -2.0
        assert grad(infinite)(V.vec([-1.0, 1.0, -2.0])).array.tolist() == [-2.0, math.inf, -4.0]


def test_inside_jit_a_loop_is_a_scan() -> None:
    """Inside `jax.jit` a condition is `lax.cond`, a loop `lax.scan`."""
    f = fun(R)(lambda x: iterate(sin, where(x > 0, lambda: x, lambda: -x), Fin.of(50)))
    with jax.enable_x64(True):  # noqa: FBT003
        text = str(jax.make_jaxpr(lambda a: f(R.vec(a)).array)(jnp.asarray(1.0)))
    assert text.count("sin") == 1
    assert (text.count("scan["), text.count("cond[")) == (1, 1)


def test_rows_of_several_results_make_tables_again() -> None:
    """`each(f, A, over=X)` takes the rows of a table, and rows that f gives make a table again."""

    def rows(A: Any) -> Any:
        return each(lambda row: (row * row, row.sum()), A, over=X)

    f: Any = fun(R ** (X * Y))(rows)
    assert f.cod == direct_sum(R ** (X * Y), R**X)


def test_the_elements_of_a_table_are_its_entries() -> None:
    """The elements of a table in ℝ^{X×Y} are its entries; `each(f, A, over=X)` takes its rows: an error says so."""
    table: Any = (R ** (X * Y)).ones()
    with pytest.raises(SpaceError) as caught:
        each(lambda row: row[0], table)
    assert caught.value.__notes__ == ["  the elements of a table are its entries; over=3 goes over the rows of a table"]


def test_rows_of_three_axes() -> None:
    """`each(f, A, over=X)` goes over rows of V^{X×Y}: of (X×Y)×Z an error says how, where X comes first."""
    A: Any = (R ** (X * Y * Fin.of(4))).ones()
    for over, told in ((X, True), (Y, False)):
        with pytest.raises(SpaceError, match="goes over rows of tables") as caught:
            each(lambda row: row, A, over=over)
        assert ("has the rows over X" in str(caught.value)) is told


def test_batches_of_a_size_are_lifted_once() -> None:
    """`batched`: a lift for each size that is met, kept."""
    f = batched(fun(V, V)(lambda w, x: w * x), Tag)
    assert f.of(3) is f.of(3)
    assert f.of(3) is not f.of(4)
    assert [f.of(n).dom for n in (0, 3)] == [direct_sum(V, V ** Fin(Tag, n)) for n in (0, 3)]


def test_each_goes_over_one_index_set() -> None:
    """`each(f, xs, ys)` takes two over one index set: not over two of one size."""

    class Other: ...

    other: Any = (R ** Fin(Other, 3)).ones()
    with pytest.raises(SpaceError, match="goes over one index set"):
        each(lambda x, y: x * y, V.ones(), other)


def test_lanes_are_filled_with_the_first_one_that_takes_the_branch() -> None:
    """Lanes that do not take a branch are filled with the arguments of the first one that does."""
    seen: list[list[float]] = []

    def value(_xp: Any, x: Any) -> Any:
        seen.append(x.tolist())
        return x * 1.0

    p: Any = register("seen_in_lanes", value, lambda x, _: 0.0 * x + 1.0)
    each(lambda x: where(x > 0, lambda: p(x), lambda: x), V.vec([-1.0, 2.0, 3.0]))
    assert seen == [[2.0, 2.0, 3.0]]


def test_a_number_beside_a_value_fills_its_space() -> None:
    """`where(mask, a, b)` with values chooses entry by entry; a number beside a value is one in every entry."""
    x = V.vec([1.0, -2.0, 3.0])
    assert where(x > 0, x, 7.0).array.tolist() == [1.0, 7.0, 3.0]
    assert fun(V)(lambda x: where(x > 0, 0.5, x))(x).array.tolist() == [0.5, -2.0, 0.5]


# --- docs/taylor.md, loops and branches ---


def test_a_state_that_does_not_depend_on_the_argument_stays_one_array() -> None:
    """In the loop of a jet each coefficient of a state is one more state, but for a state that does not vary."""
    one = R.vec(1.0)
    f = fun(V)(lambda x: fold(lambda s, e: (s[0] * e * s[1], s[1] * 0.5), (x @ x, one), x)[0])
    assert [loop.states for loop in loops(jet(f, 1, 2))] == [3 + 1]


def test_jets_of_loops_with_checkpoints_have_checkpoints() -> None:
    """`again` and `checkpoint=` have jets, too, whose derivative computes again what they compute again."""
    f = fun(V)(lambda s: iterate(lambda t: sin(t) * t, s, Fin.of(9), checkpoint=True).sum())
    assert [loop.again for loop in loops(jet(f, 1, 2))] == [True]


# --- docs/vocabulary.md ---


@pytest.mark.parametrize("shape", [(7,), (36,), (40,), (37,), (72,), (4, 3), (2, 40), (3, 1, 2)])
@pytest.mark.parametrize("field", [R, R32])
def test_fourier_transforms_of_every_size(shape: tuple[int, ...], field: Any) -> None:
    """`fft(X)` is the Fourier transform of pairs, unitary, along each axis of X; `ifft(X)` its inverse."""
    index: Any = math.prod([Fin.of(n) for n in shape[1:]], start=Fin.of(shape[0]))
    z = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    pair = (z.real.astype(field.dtype), z.imag.astype(field.dtype))
    for f, due in (
        (fft(index, field), np.fft.fftn(z, norm="ortho")),
        (ifft(index, field), np.fft.ifftn(z, norm="ortho")),
    ):
        re, im = (part.array for part in f(f.dom.vec(pair)).split())
        assert re.dtype == field.dtype
        np.testing.assert_allclose(re + 1j * im, due, atol=1e-12 if field is R else 1e-5)


def test_a_fourier_transform_is_of_small_ones() -> None:
    """A transform of n = p·q numbers takes n·(p + q) products, not n²."""
    assert all(leaf.size <= 4 * 1024 for leaf in program(fft(Fin.of(1024))).slots)
    assert all(leaf.size <= 37 * 37 for leaf in program(fft(Fin.of(37))).slots)


CONVOLUTIONS = [
    {"stride": 2, "padding": (1, (2, 0))},
    {"stride": (1, 3), "dilation": (2, 1)},
    {"dilation": 2, "padding": "same"},
    {"stride": (3, 2), "padding": "same"},
    {"stride": 2, "dilation": (1, 2), "padding": "same"},
]


@pytest.mark.parametrize("options", CONVOLUTIONS, ids=str)
def test_convolutions_as_they_are_defined(options: Any) -> None:
    """`conv`: strides, dilations, zeros around, in any number of axes, as jax.lax.conv_general_dilated."""
    y, x, c, o, k, j = (Fin.of(n) for n in (7, 8, 2, 3, 2, 3))
    image, w = (R ** (y * x * c)).random(RNG), (R ** (k * j * c * o)).random(RNG)
    pairs = {"stride": 1, "dilation": 1, "padding": 0} | options
    stride, dilation = (pairs[n] if isinstance(pairs[n], tuple) else (pairs[n],) * 2 for n in ("stride", "dilation"))
    pad: Any = pairs["padding"] if isinstance(pairs["padding"], (str, tuple)) else (pairs["padding"],) * 2
    pad = pad.upper() if isinstance(pad, str) else [p if isinstance(p, tuple) else (p, p) for p in pad]
    with jax.enable_x64(True):  # noqa: FBT003
        form: Any = {"rhs_dilation": dilation, "dimension_numbers": ("NHWC", "HWIO", "NHWC")}
        due = jax.lax.conv_general_dilated(image.array[None], w.array, stride, pad, **form)[0]
    np.testing.assert_allclose(conv(image, w, **options).array, due, atol=1e-12)


def test_axes_whose_places_stay_keep_their_index_set() -> None:
    """The axes of a convolution keep their index sets where their places stay, as with padding="same"."""

    class Pixel: ...

    pixel, c, o, k = Fin(Pixel, 5), Fin.of(2), Fin.of(4), Fin.of(3)
    x, w = (R ** (pixel * c)).ones(), (R ** (k * c * o)).ones()
    assert conv(x, w, padding="same").space == conv(x, w, padding=1).space == R ** (pixel * o)
    assert conv(x, w).space == R ** (Fin.of(3) * o)
    assert conv(x, w, stride=2, padding=3).space == R ** (pixel * o)


@pytest.mark.parametrize("size", [6, 7, 12])
def test_a_kernel_that_is_larger_than_the_image_has_no_place(size: int) -> None:
    """`conv` without zeros around: the kernel fits nowhere."""
    c, o = Fin.of(2), Fin.of(4)
    x, w = (R ** (Fin.of(5) * c)).ones(), (R ** (Fin.of(size) * c * o)).ones()
    assert conv(x, w).space == conv(x, w, stride=3).space == R ** (Fin.of(0) * o)


def test_nothing_overflows_in_other_libraries() -> None:
    """`x.logsumexp()` does not overflow, nor does softmax: in JAX, too, and with infinite entries."""
    with jax.enable_x64(True):  # noqa: FBT003
        large, infinite = (V.vec(jnp.asarray(a)) for a in ([1e3, 1e3, -np.inf], [-np.inf, 3.0, -np.inf]))
        assert float(large.logsumexp()) == pytest.approx(1e3 + math.log(2.0))
        assert large.softmax().array.tolist() == [0.5, 0.5, 0.0]
        assert float(infinite.logsumexp()) == 3.0


def test_extremes_and_sums_of_direct_sums_are_those_of_all_parts() -> None:
    """Of all entries, also of all parts of a direct sum: max, min, logsumexp, product, where a later part decides."""
    S = direct_sum(V, R**Y)
    v = S.vec(([1.0, 2.0, 3.0], [5.0, -4.0]))
    found = [float(x) for x in (v.max(), v.min(), v.product(), v.logsumexp())]
    assert found == pytest.approx([5.0, -4.0, -120.0, math.log(sum(math.exp(x) for x in v.flat()))])
    assert grad(fun.over(S)(made_of))(v)[1].array.tolist() == [1.0, 0.0]


def test_of_equal_extremes_the_first_has_the_derivative() -> None:
    """`x.max()` and `x.min()` give the derivative to the first of equal entries, in all parts of a direct sum."""
    S = direct_sum(V, V)
    f: Any = fun(S)(lambda p: p.max())
    g: Any = fun(S)(lambda p: p.min())
    v = S.vec(([2.0, 0.0, 2.0], [2.0, 0.0, 0.0]))
    assert [part.array.tolist() for part in grad(f)(v).split()] == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert [part.array.tolist() for part in grad(g)(v).split()] == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]


def made_of(x: Any, y: Any) -> Any:
    """The largest entry of (x, y), by a function of a direct sum."""
    f: Any = fun(direct_sum(V, R**Y))(lambda p: p.max())
    return f((x, y))


def test_the_logarithm_of_a_softmax() -> None:
    """`A.log_softmax(over=Y)`: of no quotient that is 0; as exact as the largest entry."""
    assert V.vec([1000.0, 0.0, 0.0]).log_softmax().array.tolist() == [0.0, -1000.0, -1000.0]
    for m in (1e3, 1e6, 1e12):
        offset = V.vec([m, m, m]).log_softmax().array
        np.testing.assert_allclose(offset, -np.log(3.0), atol=2.0 * np.spacing(m))


def test_steps_on_other_axes_or_arrays_share_nothing() -> None:
    """log Σ exp beside a softmax is one step with it only where both are of one array, along the same axes."""
    A: Any = (R ** (X * X)).random(RNG)
    one: Any = fun(A.space)(lambda a: a.logsumexp(over=1) @ (a.softmax(over=1) @ a[0, :]))
    other = fun(A.space)(lambda a: a.logsumexp(over=1) @ (a.softmax(over=0) @ a[0, :]))
    second = fun(A.space)(lambda a: a.logsumexp(over=1) @ ((2.0 * a).softmax(over=1) @ a[0, :]))
    made = [
        sum("Exponentials" in repr(s.operation) for s in Runner(program(f).line).line.steps)
        for f in (one, other, second)
    ]
    assert made == [1, 0, 0]


@pytest.mark.parametrize("wrong", [3, "xy", R, (1, 0)])
def test_the_order_of_axes_is_an_index_set(wrong: Any) -> None:
    """`A.transpose(Y * X)`: the axes in another order, by their names, not by their positions."""
    A: Any = (R ** (X * Y)).ones()
    traced: Any = fun(R ** (X * Y))
    calls: list[Any] = [lambda: A.transpose(wrong), lambda: traced(lambda a: a.transpose(wrong))]
    for call in calls:
        with pytest.raises(SpaceError, match=r"^\.transpose\(Y\) takes an index set, not "):
            call()


def test_an_axis_that_is_printed_alike() -> None:
    """An axis of another class of one name is none: the message says so, and of an axis of another name it does not."""

    def axis() -> Any:
        class Row: ...

        return Fin(Row, 3)

    first, second = axis(), axis()
    A: Any = (R ** (Y * first)).ones()
    for over, alike in ((second, True), (Fin.of(4), False)):
        with pytest.raises(SpaceError, match="is no factor of its index sets") as caught:
            A.sum(over=over)
        assert ("printed alike" in str(caught.value)) is alike


ALONG: dict[str, Any] = {
    "sum": lambda a: a.sum(0),
    "product": lambda a: a.prod(0),
    "max": lambda a: a.max(0),
    "logsumexp": lambda a: np.log(np.exp(a).sum(0)),
    "cumsum": lambda a: a.cumsum(0),
    "cumprod": lambda a: a.cumprod(0),
    "softmax": lambda a: np.exp(a) / np.exp(a).sum(0),
    "sort": lambda a: np.sort(a, 0),
}


@pytest.mark.parametrize("name", ALONG)
def test_along_several_axes(name: str) -> None:
    """`over=` may be a product of index sets: the axes as one."""
    A: Any = (R ** (X * Y * Fin.of(4))).vec(RNG.permutation(24).reshape(3, 2, 4) - 12.0)
    due = ALONG[name](A.array.reshape(6, 4))
    found: Any = fun(A.space)(lambda a: getattr(a, name)(over=X * Y))
    np.testing.assert_allclose(found(A).array.reshape(due.shape), due, atol=1e-12)
    assert check_derivative(found, A)


def test_the_largest_few_along_an_axis() -> None:
    """`x.top(k)`: where the largest few are, of equal entries the first; along an axis by `over=`, indexed by `to=`."""
    A = (R ** (X * X)).vec([[3.0, 1.0, 3.0], [0.0, 2.0, 1.0], [5.0, 5.0, 5.0]])
    assert A.top(2, over=1, to=Y).array.tolist() == [[0, 2], [1, 2], [0, 1]]
    assert A.top(2, over=0, to=Y).space == Elements(X) ** (Y * X)


# --- docs/operations.md and docs/linear-maps.md ---


def test_a_linear_map_of_ones_own_writes_into_nothing() -> None:
    """No side effects: what a function of a user's is given is read-only, intermediate results, too."""

    def writing(_xp: Any, a: Any) -> Any:
        a += 1.0
        return a

    A = linear_map("writing into", V, V, writing, writing)
    f: Any = fun(V)(lambda x: A(2.0 * x) + 2.0 * x)
    with pytest.raises(ValueError, match="read-only"):
        f(V.ones())


@pytest.mark.parametrize("broadcasts", [False, True])
def test_an_operation_writes_into_nothing(*, broadcasts: bool) -> None:
    """No side effects: arguments are read-only, also lifted."""

    def writing(_xp: Any, a: Any) -> Any:
        a += 1.0
        return a

    f = operation("writing", V, to=V, value=writing, broadcasts=broadcasts)
    both: list[Any] = [fun(V)(lambda x: f(2.0 * x)), fun(V**Y)(lambda x: (f**Y)(2.0 * x))]
    for doubled in both:
        with pytest.raises(ValueError, match="read-only"):
            doubled(doubled.dom.ones())


def test_what_an_operation_gives_is_copied() -> None:
    """What `value` gives is copied: it may keep it and write into it later."""
    store = np.zeros(3)

    def value(_xp: Any, a: Any) -> Any:
        store[:] = 2.0 * a
        return store

    f = operation("storing", V, to=V, value=value)
    first = f(V.ones())
    assert fun(V)(lambda x: f(x) + f(10.0 * x))(V.ones()).array.tolist() == [22.0] * 3
    assert first.array.tolist() == [2.0] * 3


def test_an_operation_that_is_not_there() -> None:
    """It is pickled by its name: define it in every process."""
    data = pickle.dumps(operation("gone", V, to=V, value=lambda _xp, a: a))
    gc.collect()
    with pytest.raises(SpaceError, match="'gone' is not there: define it before it is unpickled"):
        pickle.loads(data)


def test_barriers_and_casts_are_linear_in_a_tangent() -> None:
    """A rule's step that depends on a tangent may be a linear operation: a barrier and a cast are."""
    rounded = operation(
        "rounded",
        V,
        to=R32**X,
        value=lambda _xp, a: (2.0 * a).astype("float32"),
        tangent=lambda _a, _y, da: kept(2.0 * da).cast(R32),
    )
    assert np.allclose(jacobian(rounded, V.ones()), 2.0 * np.eye(3))


def test_two_results_of_one_tangent() -> None:
    """The rule of a result in a direct sum gives a tuple of expressions: of one expression twice, too."""

    def value(_xp: Any, a: Any) -> Any:
        return 2.0 * a, 2.0 * a + 1.0

    def tangent(_a: Any, _y: Any, da: Any) -> Any:
        return (dy := 2.0 * da), dy

    f = operation("two of one", V, to=direct_sum(V, V), value=value, tangent=tangent)
    assert np.allclose(jacobian(f, V.ones()), 2.0 * np.concatenate([np.eye(3), np.eye(3)]))


# --- docs/records.md ---


def test_a_class_that_was_defined_again() -> None:
    """A lens is of a part that there is: of a class that was defined again, the message says so."""

    def layer() -> Any:
        class Layer(Record):
            bias: Part[Scalar]

        return Layer

    first, second = layer(), layer()
    with pytest.raises(SpaceError, match="of another class Layer than the record: it was defined again"):
        second(bias=R).zeros()[first.bias]


# --- docs/spaces.md ---


@pytest.mark.parametrize("space", [Bool, Z, Elements(Fin.of(7))])
def test_discrete_data_are_copied(space: Any) -> None:
    """Truth values, integers and elements are copied: they were checked, and stay what was checked."""
    array = np.asarray([1, 0, 1], dtype=(space**X).leaves[0].dtype)
    v = (space**X).vec(array)
    array[:] = 0
    assert v.array.tolist() == [1, 0, 1]


# --- docs/data.md ---


@variant
class Rose:
    label: Expr[Scalar]
    children: tuple[Rose, ...]


rose = data(Rose, label=R)


def test_arguments_by_name() -> None:
    """On data a function is the Python function itself: its arguments may be given by name, in any order."""

    @term(R, rose, to=R)
    def scaled(k: Expr[Scalar], t: Rose) -> Expr[Scalar]:
        return folded(lambda c, a: scaled(k, c) + a, k * t.label, t.children)

    r, k = Rose(R.vec(2.0), (Rose(R.vec(3.0), ()),)), R.vec(5.0)
    by_name: Any = scaled
    slope: Any = grad(scaled, 0)
    assert float(by_name(t=r, k=k)) == float(scaled(k, r)) == 25.0
    assert float(slope(t=r, k=k)) == 5.0
    assert by_name.at(t=r, k=k).program is scaled.at(k, r).program


def test_a_loop_over_parts_says_folded() -> None:
    """What is refused: the items of a sequence of parts; write `folded` for a sequence."""

    @term(rose, to=R)
    def items(t: Rose) -> Expr[Scalar]:
        for child in t.children:
            return child.label
        return t.label

    with pytest.raises(SpaceError, match=r"folded\(step, start, items\) goes over the items of a sequence"):
        program(items, at=Rose(R.vec(2.0), ()))


# --- docs/limits.md and docs/functions.md: lines and operands in errors ---


@pytest.mark.parametrize("n", [5, 50])
@pytest.mark.parametrize("lanes", [False, True])
def test_lines_of_steps_in_blocks_and_lanes(n: int, *, lanes: bool) -> None:
    """An error names the line that a step was written on, and so does a warning that is an error."""

    def step(s: Any, x: Any) -> Any:
        return tanh(s) + log(x)

    one = fun(V, V ** Fin.of(n))(lambda s, xs: fold(step, s, xs))
    f: Any = lift(one, Y, over=(1,)) if lanes else one
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning) as caught:
            f(f.dom.zeros())
    assert f"{__file__}:{step.__code__.co_firstlineno + 1} in step" in caught.value.__notes__[0]


def test_operands_of_several_tables() -> None:
    """What is given by position is told from what is given by name, and from what is not given at all."""

    def over(A: Any) -> Any:
        return each(lambda row: row.sum(), A.T, over=P)

    def rows(A: Any) -> Any:
        return each(lambda x, y: x + y, A.rows())

    P, Q = Fin.of(4), Fin.of(2)
    for f, due in ((over, "A.T ∈ ℝ^{2×4}, P is the index set 4"), (rows, "A.rows() ∈ (ℝ^2)^4")):
        with pytest.raises(SpaceError) as told:
            fun(R ** (P * Q))(f)
        assert due in str(told.value).splitlines()[-1]


def test_a_last_state_of_several_parts() -> None:
    """A loop without outputs is told from one with them, where names for both stand before it."""

    def f(x: Any) -> Any:
        last, out = fold(lambda s, a: (s[0] * a, s[1], s[0]), (x[0], x[1], x[0]), x)
        return last + out

    with pytest.raises(SpaceError, match=r"fold gives a tuple of another .*let the step return \(state, output\)"):
        fun(R ** Fin.of(2))(f)


def test_operands_that_are_named_or_stand_twice() -> None:
    """An error lists the operands as they are written, each with its space: once each, keywords, too."""
    W = R**Y
    with pytest.raises(SpaceError) as caught:
        fun(V, W)(lambda x, y: where(x > 0, y, otherwise=x))
    assert apart(caught.value).splitlines()[-1] == "    x > 0 ∈ Bool^3, y ∈ ℝ^2, x ∈ ℝ^3"
    with pytest.raises(SpaceError) as caught:
        fun(V)(lambda x: contract("ij,j->i", x, x))
    assert apart(caught.value).splitlines()[-1] == "    x ∈ ℝ^3"


def test_what_a_wrapper_changes_is_not_told() -> None:
    """The operands are those in the expression: where others were given to the operation, none is listed."""

    def body(x: Any, y: Any) -> Any:
        with_x = functools.partial(inner, x)
        return with_x(y)

    with pytest.raises(SpaceError) as caught:
        fun(V, R**Y)(body)
    assert str(caught.value).splitlines()[-1].strip() == "^" * len("with_x(y)")


def test_what_a_loop_needs_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops within loops are asked by every line around them."""
    f = fun(R**X)(lambda x: iterate(lambda s: tanh(s) * x, x, X))
    (loop,) = (step.operation for step in program(f).line.steps if isinstance(step.operation, Loop))
    asked: list[Any] = []
    found = Loop._needed

    def counted(self: Any, wanted: set[int]) -> Any:
        asked.append(wanted)
        return found(self, wanted)

    monkeypatch.setattr(Loop, "_needed", counted)
    loop = evolve(loop, names=())
    assert loop.needed({0}) == loop.needed({0})
    assert len(asked) == 1


def test_rows_are_those_of_a_product_of_index_sets() -> None:
    """A sum of index sets has two sides, too, and no rows; over all of X, each is that of the entries."""
    v: Any = (R ** (X + Y)).ones()
    with pytest.raises(SpaceError, match="goes over rows of tables"):
        each(tanh, v, over=X)
    w = (R**X).ones()
    assert equal(each(tanh, w, over=X), (tanh**X)(w))


def test_a_linear_map_of_a_user_applies_to_its_space_only() -> None:
    """Where a line is built by hand, too."""
    f = linear_map("claimed double", V, V, lambda _, a: 2.0 * a, lambda _, b: 2.0 * b)
    (own,) = (step.operation for step in program(fun(V)(f)).line.steps if isinstance(step.operation, External))
    assert own.image(V.leaves[0]) == V.leaves[0]
    for other in (R.leaves[0], (R32**X).leaves[0]):
        with pytest.raises(SpaceError, match="the linear map claimed double applies to"):
            own.image(other)


def test_what_follows_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A derivative of a loop that reads many sums, each a part of the next one, takes steps of their number."""
    asked: list[int] = []
    found = LoopDerivative._is_there

    def counted(self: Any, slot: int) -> bool:
        asked.append(slot)
        return found(self, slot)

    def body(state: Any) -> Any:
        sums = [state]
        for k in range(100):
            sums.append(sums[-1] + float(k))
        return functools.reduce(lambda x, y: x * y, sums)

    monkeypatch.setattr(LoopDerivative, "_is_there", counted)
    derivative(fun(R)(lambda x: iterate(body, x, X)))
    assert 100 < len(asked) < 2000


def test_products_are_written_in_the_order_of_their_factors() -> None:
    """As they were written, though v ⊙ w is w ⊙ v."""
    assert str(fun(V, V)(lambda x, y: inner(x, y))) == "(x, y) ↦ x⊙y"  # noqa: PLW0108
    assert str(fun(V, V)(lambda x, y: inner(y, x))) == "(x, y) ↦ y⊙x"


def test_a_vector_of_equations_that_read_nothing_around_them() -> None:
    """The unknown is one vector, the equations are numbers, and their derivative in it is constant."""
    f = fun(R)(lambda a: root(lambda x: (x.sum() - a, 2.0 * x[0] - a), a.rep(R**Y)))
    assert f(R.vec(2.0)).array.tolist() == [1.0, 1.0]
    np.testing.assert_allclose(jacobian(f, R.vec(2.0)), [[0.5], [0.5]])


# --- what is refused ---


def _leaked() -> Any:
    """An expression of a function that is complete."""
    kept: list[Any] = []

    def body(x: Any) -> Any:
        kept.append(x)
        return x

    fun(R)(body)
    return kept[0]


T3: Any = Fin(Tag, 3)
REFUSED: list[tuple[Any, str]] = [
    (
        lambda: contract("ij,j->i", M.ones(), V.ones(), to=R**T3),
        r"contraction ij,j->i of .* is in ℝ\^3, not in ℝ\^Tag3",
    ),
    (lambda: fun(R)(lambda x: iterate(lambda _: _leaked(), x, X)), "belongs to another function, or to a body that is"),
    (lambda: fun(R)(lambda x: where(x > 0, _leaked(), x)), "belongs to another function, or to a body that is"),
    (lambda: Elements(X).vec(1).equals(3), "3 is not an element of 3: positions from 0 to 2 would fit"),
    (lambda: Elements(X).vec(1).equals(-1), "-1 is not an element of 3: positions from 0 to 2 would fit"),
    (lambda: Elements(X).vec(1).differs(3), "3 is not an element of 3: positions from 0 to 2 would fit"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refused(call: Any, message: str) -> None:
    """What is wrong in one operand, argument or bound is said, each by itself."""
    with pytest.raises(SpaceError, match=message):
        call()

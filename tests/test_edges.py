"""The rules of models where they meet: one round, no lanes, no data, what does not vary, what is given twice."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import hilbert.all as hb
from adjoint import NAMES, check_derivative, grad, jacobian
from diff import again, conv, derivative, exp, fun, jvp, lift, onehot, operation, program, register, sin, tanh
from diff.terms import user_operation
from hilbert import R32, Elements, Fin, R, SpaceError, direct_sum
from hilbert.arrays.systems import linear_systems
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line import external
from hilbert.program.run.bound_line import BoundLine
from linmap import linear_map
from linmap.term.wire import Recur
from tests.bad_input import first_line
from tests.untyped import batched, build, each, fixed_point, fold, iterate, root, where, while_


class Tag:
    """An axis."""


X, Y, NONE = Fin.of(3), Fin.of(2), Fin.of(0)
V, M, E = R**X, R ** (Y * X), Elements(X)
RNG = np.random.default_rng(0)
v, a = V.vec([0.5, -1.0, 2.0]), M.random(RNG)


def close(x: Any, y: Any) -> None:
    np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-10, atol=1e-12)


# --- lanes ---


def test_rows_to_numbers_and_to_rows() -> None:
    """One result is one table, several a tuple of tables."""
    close(each(lambda r: r.sum(), a, over=Y).array, a.array.sum(axis=1))
    close(each(lambda r: r * r, a, over=Y).array, a.array**2)
    one, two = each(lambda r: (r * r, r.sum()), a, over=Y)
    close(one.array, a.array**2)
    close(two.array, a.array.sum(axis=1))


def test_what_does_not_vary_is_there_in_each_lane() -> None:
    """In a table by a rule, a body that does not read its argument, a lift of a constant."""
    assert build(lambda _: R.vec(2.0), X).array.tolist() == [2.0, 2.0, 2.0]
    assert fun(R, V)(lambda c, xs: each(lambda _: c, xs))(R.vec(2.0), v).array.tolist() == [2.0, 2.0, 2.0]
    f = fun(V, R)(lambda w, _x: w.sum())
    assert lift(f, X, over=(1,))(v, v).array.tolist() == [1.5, 1.5, 1.5]


def test_batches_of_the_first_argument() -> None:
    """`over` names the position that varies."""
    f: Any = batched(fun(V, V)(lambda x, w: x @ w), Tag, over=(0,))
    xs = (V ** Fin(Tag, 2)).vec(a.array)
    close(f(xs, v).array, a.array @ v.array)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_no_lanes(shape: tuple[int, ...]) -> None:
    """A branch that no lane takes, on no lanes, behind or before others."""
    f: Any = fun(R)(lambda x: where(x > 0, lambda: sin(x), lambda: root(lambda y: y * y * y - x, x)))
    for n in reversed(shape):
        f = f ** Fin.of(n)
    assert f(f.dom.zeros()).array.shape == shape
    assert grad(fun.over(f.dom)(lambda x: f(x).sum()))(f.dom.zeros()).array.shape == shape


# --- loops ---


def test_states_that_do_not_vary_over_lanes() -> None:
    """A loop whose condition all lanes share: each lane makes all rounds, and only what varies has lanes."""

    def counted(n: Any, x: Any, c: Any) -> Any:
        last = while_(lambda s: s[0] > 0, lambda s: (s[0] - 1.0, s[1] * c, s[2]), (n, x, c))
        return last[1] + last[2]

    f: Any = fun(R, R, R)(counted)
    n, c = R.vec(3.0), R.vec(2.0)
    assert lift(f, X, over=(1,))(n, v, c).array.tolist() == (8.0 * v.array + 2.0).tolist()
    assert lift(f, X, over=(0,))(V.vec([0.0, 1.0, 3.0]), c, c).array.tolist() == [4.0, 6.0, 18.0]
    assert lift(f, X, over=(2,))(n, c, v).array.tolist() == (2.0 * v.array**3 + v.array).tolist()
    for over, states in (((1,), [(), (), (3,), ()]), ((0,), [(3,)] * 4)):
        (loop,) = (step.operation for step in program(lift(f, X, over=over)).steps if isinstance(step.operation, While))
        assert [leaf.shape for leaf in loop.made.leaves] == states

    def replaced(n: Any, x: Any, c: Any) -> Any:
        return while_(lambda s: s[0] > 0, lambda s: (s[0] - 1.0, c), (n, x))[1]

    g: Any = fun(R, R, R)(replaced)
    assert lift(g, X, over=(1,))(n, v, c).array.tolist() == [2.0, 2.0, 2.0]
    assert lift(g, X, over=(1,))(R.vec(0.0), v, c).array.tolist() == v.array.tolist()


@pytest.mark.parametrize("size", [0, 1, 5])
def test_loops_of_some_rounds_inside_jit(size: int) -> None:
    """No round is no scan: the start, and stacks without rows."""
    f: Any = fun(R, R ** Fin.of(size))(lambda s, xs: fold(lambda s, x: (s + x, s * x), s, xs))
    with jax.enable_x64(True):  # noqa: FBT003
        xs = np.arange(1.0, size + 1.0)
        last, rows = jax.jit(lambda s, xs: [y.array for y in f(R.vec(s), f.dom.parts[1].vec(xs)).split()])(0.5, xs)
    due = f(R.vec(0.5), f.dom.parts[1].vec(xs)).split()
    close(last, due[0].array)
    close(rows, due[1].array)


def test_wide_rounds_are_no_blocks() -> None:
    """Where not even eight rounds have room in a quarter of a megabyte, the loop runs round by round."""
    calls: list[int] = []

    def counted(xp: Any, x: Any) -> Any:
        calls.append(x.ndim)
        return xp.tanh(x)

    p = register("counted_in_wide_rounds", counted, lambda _x, y: 1.0 - y * y)
    W = R ** Fin.of(1 << 13)
    f = fun(W, W ** Fin.of(9))(lambda s, xs: fold(lambda s, x: tanh(s) + p(x), s, xs))
    f(f.dom.zeros())
    assert calls == [1] * 9
    for n, due in ((7, [0] * 7), (8, [1])):  # fewer than eight rounds are not worth a block
        few = fun(R, R ** Fin.of(n))(lambda s, xs: fold(lambda s, x: tanh(s) + p(x), s, xs))
        calls.clear()
        few(few.dom.zeros())
        assert calls == due


def test_what_is_computed_again_in_each_round() -> None:
    """`again` of the state, first of all that a round does: the state alone is kept."""
    f: Any = fun(V)(lambda x: iterate(lambda s: again(lambda t: sin(t) * t, s), x, X).sum())
    assert check_derivative(f, v)
    (loop,) = (step.operation for step in derivative(f).program.steps if isinstance(step.operation, Loop))
    assert len(loop.body.outputs) - loop.states == 1


KEPT: dict[str, tuple[Any, tuple[int, ...]]] = {
    "a square": (lambda s, _x, _a: s * s, (1, 0, 1, 0, 0)),
    "a product with a slice": (lambda s, x, _a: s * x, (1, 0, 2, 0, 0)),
    "a product with what is shared": (lambda s, _x, a: s * a, (1, 1, 2, 1, 0)),
    "a product with both": (lambda s, x, a: s * (x * a), (1, 1, 3, 1, 1)),
    "what is computed outside": (lambda s, _x, a: s * exp(a), (1, 1, 2, 1, 0)),
    "a sum": (lambda s, x, _a: (s + x) * (s + x), (1, 0, 1, 0, 0)),
    "a function": (lambda s, x, a: sin(s) * a + x, (2, 1, 3, 1, 0)),
    "a function of a slice": (lambda s, x, _a: s * sin(x), (3, 0, 3, 0, 0)),
    "a linear step": (lambda s, x, _a: s * 2.0 + x, (0, 0, 0, 0, 0)),
    "what is computed again": (lambda s, _x, a: again(lambda s, a: sin(s * a) * s, s, a), (1, 1, 2, 1, 1)),
    "a loop": (lambda s, _x, a: iterate(lambda t: t * s * a, s, X), (2, 1, 3, 1, 1)),
}
"""The body of a loop, and of its derivative: the arrays that the loop keeps and shares, those that the linear loop is
given, those among them that all rounds share, and the steps of each of its rounds that compute a datum."""


@pytest.mark.parametrize("what", KEPT)
def test_what_a_loop_keeps(what: str) -> None:
    """Nothing that is there already, or follows by arithmetic; and the derivative is right."""
    body, due = KEPT[what]
    f: Any = fun(V, V ** Fin.of(4), V)(lambda s, xs, a: fold(lambda s, x: body(s, x, a), s, xs))
    d = derivative(f)
    (loop,) = (step.operation for step in d.program.steps if isinstance(step.operation, Loop))
    (linear,) = (arc.map for arc in d.body.arcs if isinstance(arc.map, Recur))
    kept = len(loop.body.outputs) - loop.states
    assert (kept, loop.shared, linear.line.arity, linear.fixed, len(linear.line.steps)) == due
    assert check_derivative(f, v, f.dom.parts[1].random(RNG), 0.5 * v)


BODIES: dict[str, tuple[str, Any]] = {
    "a loop": ("control.rounds", lambda x: iterate(sin, x, X)),
    "a loop without a bound": ("control.while_loop", lambda x: while_(lambda s: s > 0.1, lambda s: s * 0.5, x)),
    "a branch": ("control.branch", lambda x: where(x > 0, lambda: sin(x), lambda: x)),
    "a search": ("control.equation_step", lambda x: fixed_point(lambda y: sin(y) * 0.5 + x, x)),
    "a system": ("transform.run_linear_system", lambda x: root(lambda y: y * y * y + y - x, x)),
}


@pytest.mark.parametrize("what", BODIES)
def test_bodies_are_bound_once(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs a body is made in the first call, and kept; of a branch, when it is first taken."""
    module, body = BODIES[what]
    made: list[int] = []

    def counted(*given: Any) -> Any:
        made.append(1)
        return BoundLine(*given)

    monkeypatch.setattr(f"hilbert.program.{module}.BoundLine", counted)
    f: Any = fun(R)(body)
    for x in (1.0, 1.0, 2.0):
        f(R.vec(x))
        assert len(made) == 1
    f(R.vec(-1.0))
    assert len(made) == (2 if what == "a branch" else 1)


# --- branches and equations ---


def test_a_branch_reads_what_has_no_tangent() -> None:
    """An element of an index set that both branches capture."""
    f: Any = fun(E, V)(lambda i, xs: where(xs[i] > 0, lambda: xs[i] * xs[i], lambda: 3.0 * xs[i]))
    assert jacobian(f, E.vec(2), v).tolist() == [[0.0, 0.0, 4.0]]
    assert jacobian(f, E.vec(1), v).tolist() == [[0.0, 3.0, 0.0]]


@pytest.mark.parametrize("solved", ["numbers", "vector", "two", "read"])
def test_systems_in_branches(solved: str) -> None:
    """The derivative of an equation that reads no data, or some, in a branch that is taken, or not; in each lane."""
    bodies: dict[str, Any] = {
        "numbers": lambda x: root(lambda y: 2.0 * y - x, x),
        "vector": lambda x: root(lambda y: (y.sum() - x, 4.0 * y[0] - x), x.rep(R**Y)).sum() * 0.5,
        "read": lambda x: root(lambda y: (y.sum() * x - x * x, 4.0 * y[0] - x), x.rep(R**Y)).sum() * 0.5,
        "two": lambda x: root(lambda s: (s[0] - 0.5 * x, s[1] - 1.0), (x, x))[0],
    }
    f: Any = fun(R)(lambda x: where(x > 0, lambda: bodies[solved](x), lambda: x * x))
    assert [float(f(R.vec(x))) for x in (3.0, -3.0)] == [1.5, 9.0]
    assert [float(grad(f)(R.vec(x))) for x in (3.0, -3.0)] == [0.5, -6.0]
    lanes: Any = fun(V)(lambda xs: each(f, xs).sum())
    close(grad(lanes)(v).array, [0.5, -2.0, 0.5])


def test_an_equation_that_a_parameter_does_not_change() -> None:
    """Of two equations one reads the parameter, and of three unknowns all or one."""
    f: Any = fun(R)(lambda c: root(lambda s: (s[0] - c, s[1] - 1.0), (c, c)))
    close(jacobian(f, R.vec(2.0)), [[1.0], [0.0]])
    g: Any = fun(R)(lambda c: root(lambda s: (s[0] - c * s[1], s[1] - 1.0), (c, c)))
    close(jacobian(g, R.vec(2.0)), [[1.0], [0.0]])


def test_equations_that_no_unknown_changes() -> None:
    """They are singular in each lane, though all lanes share them; a fixed point is what they say."""
    constant: Any = fun(R, R)(lambda c, x: fixed_point(lambda _: c, x))
    assert lift(constant, X, over=(1,))(R.vec(2.0), v).array.tolist() == [2.0, 2.0, 2.0]
    close(jacobian(lift(constant, X, over=(1,)), R.vec(2.0), v), np.hstack([np.ones((3, 1)), np.zeros((3, 3))]))
    f: Any = fun(R, R)(lambda c, x: root(lambda _: c, x))
    for over in ((0,), (1,), (0, 1)):
        g: Any = lift(f, X, over=over)
        with pytest.raises(SpaceError, match="singular at this point"):
            g(g.dom.ones())


def test_derivatives_of_systems_with_many_right_sides() -> None:
    """The slope in many directions at one point, derived in the point and in the directions."""
    slope: Any = jvp(fun(V)(lambda u: root(lambda x: x * x * x + x * x.sum() + 3.0 * x - u, u)))
    many: Any = lift(slope, Y, over=(1,))
    directions = (V**Y).random(RNG)
    due = [jacobian(slope, v, V.vec(d)) for d in directions.array]
    found = jacobian(many, v, directions)
    close(found[:, :3], np.vstack([one[:, :3] for one in due]))
    close(found[:3, 3:6], due[0][:, 3:])
    close(found[3:, 3:6], np.zeros((3, 3)))


def test_one_round() -> None:
    """At most one round finds what is there already."""
    assert float(fixed_point(lambda y: y, R.vec(2.0), at_most=1)) == 2.0
    assert float(root(lambda y: y - 3.0 + 1.0, R.vec(2.0), at_most=1)) == 2.0


def test_many_unknowns_without_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where GMRES gets there in its first try no matrix is made: in a value, a slope and a gradient, and in lanes."""

    def made(*_: Any) -> Any:
        return pytest.fail("a matrix is made")

    monkeypatch.setattr("hilbert.program.transform.run_linear_system.direct", made)
    monkeypatch.setattr("diff.solving.system_plan.scipy_of", lambda: None)
    monkeypatch.setattr("diff.solving.system_plan.FAR", 0)
    n = 514
    W = R ** Fin.of(n)
    f: Any = fun(W)(lambda u: root(lambda w: w + 0.1 * w.roll(1) - u, u))
    u, matrix = W.random(RNG), np.eye(n) + 0.1 * np.roll(np.eye(n), 1, 0)
    np.testing.assert_allclose(f(u).array, np.linalg.solve(matrix, u.array), atol=1e-9)
    slope = grad(fun(W)(lambda w: f(w) @ f(w)))(u).array
    np.testing.assert_allclose(slope, 2.0 * np.linalg.solve(matrix.T, np.linalg.solve(matrix, u.array)), atol=1e-9)
    varied: Any = fun(W, W)(lambda c, u: root(lambda w: w + 0.1 * c * w.roll(1) - u, u))
    cs = (W**Y).random(RNG, scale=0.5)
    due = [np.linalg.solve(np.eye(n) + 0.1 * np.diag(c) @ np.roll(np.eye(n), 1, 0), u.array) for c in cs.array]
    np.testing.assert_allclose(lift(varied, Y, over=(0,))(cs, u).array, due, atol=1e-9)
    half = R ** Fin.of(n // 2 + 1)  # two arrays of unknowns
    two: Any = fun(half)(lambda u: root(lambda s: (s[0] + 0.1 * s[1] - u, s[1] + 0.1 * s[0].roll(1)), (u, u)))
    h = half.random(RNG)
    x, y = (part.array for part in two(h).split())
    np.testing.assert_allclose(x + 0.1 * y, h.array, atol=1e-9)
    np.testing.assert_allclose(y, -0.1 * np.roll(x, 1), atol=1e-9)
    us = (W**Y).random(RNG)
    np.testing.assert_allclose((f**Y)(us).array, np.linalg.solve(matrix, us.array.T).T, atol=1e-9)


@pytest.mark.parametrize("n", [1, 4, 5, 7, 80, 81])
def test_gmres_of_any_size(n: int) -> None:
    """n vectors are enough, where n is below its width and no multiple of how often it looks."""
    calls: list[int] = []
    d = np.linspace(1.0, 2.0, n)

    def apply(x: Any) -> Any:
        calls.append(1)
        return d * x

    b = np.ones((2, n))
    b[1] = 0.0
    x, left = linear_systems.gmres(np, apply, b)
    close(x, b / d)
    assert left == 0.0
    assert len(calls) <= min(n, 25) + 2


# --- the vocabulary ---


def test_softmax_and_its_logarithm_in_one_function() -> None:
    """In both orders; their sums share a wire, and what flows through it is counted once."""
    for body in (
        lambda x: x.softmax() @ x.log_softmax(),
        lambda x: x.log_softmax() @ x.softmax(),
        lambda x: x.softmax() @ x.softmax() + x.log_softmax().sum() * x.softmax().max(),
    ):
        f: Any = fun(V)(body)
        assert check_derivative(f, v)
    p = np.exp(v.array) / np.exp(v.array).sum()
    entropy: Any = fun(V)(lambda x: x.softmax() @ x.log_softmax())
    close(grad(entropy)(v).array, p * (np.log(p) - p @ np.log(p)))


def test_all_of_an_axis_and_none() -> None:
    """As many of the largest as there are; nothing to add is 0."""
    assert v.top(3).array.tolist() == [2, 0, 1]
    assert v.top(0).array.tolist() == []
    assert float(direct_sum().zeros().sum()) == 0.0
    assert float(direct_sum().zeros().product()) == 1.0


def test_the_places_of_a_convolution_have_a_name() -> None:
    """`to` names them, if there are as many."""
    to: Any = Fin(Tag, 2) * Fin(Tag, 2)
    image, kernel = (R ** (X * X * Y)).ones(), (R ** (Y * Y * Y * X)).ones()
    made: Any = conv(image, kernel, to=to)
    assert made.space == R ** (to * X)
    assert made.array.tolist() == conv(image, kernel).array.tolist()


@pytest.mark.parametrize(("size", "kernel", "stride"), [(4, 1, 1), (4, 1, 2), (5, 2, 3), (5, 3, 1), (6, 3, 2)])
def test_as_many_places_as_strides(size: int, kernel: int, stride: int) -> None:
    """With padding "same"; where strides are longer than the kernel nothing is added."""
    x, w = (R ** (Fin.of(size) * Y)).random(RNG), (R ** (Fin.of(kernel) * Y * X)).random(RNG)
    found: Any = conv(x, w, stride=stride, padding="same")
    places = -(-size // stride)
    missing = max((places - 1) * stride + kernel - size, 0)
    padded = np.pad(x.array, ((missing // 2, missing - missing // 2), (0, 0)))
    due = [np.einsum("kc,kco->o", padded[k * stride : k * stride + kernel], w.array) for k in range(places)]
    close(found.array, due)


def test_numbers_beside_entries() -> None:
    """A number is one in each entry, for numbers and for elements; the first and the last element are elements."""
    assert v.equals(2.0).array.tolist() == [False, False, True]
    assert v.differs(2.0).array.tolist() == [True, True, False]
    ids = (E**X).vec(np.array([0, 2, 1]))
    assert [ids.equals(k).array.tolist() for k in (0, 2)] == [[True, False, False], [False, True, False]]


def test_single_precision_unit_vectors() -> None:
    """`onehot(x, R32)` is in single precision."""
    assert onehot(E.vec(1), R32).space == R32**X
    assert onehot(E.vec(1)).space == V


# --- operations of users ---


def test_quotients_of_tangents() -> None:
    """A tangent over what is no tangent is linear in it; over a tangent it is not."""
    quotient: Any = operation(
        "quotient",
        V,
        V,
        to=V,
        value=lambda _xp, x, y: x / y,
        tangent=lambda x, y, _q, dx, dy: dx / y - x * dy / (y * y),
    )
    assert check_derivative(quotient, v, 2.0 + v)
    wrong: Any = operation("inverted", V, to=V, value=lambda _xp, x: x, tangent=lambda x, _y, dx: x / dx)
    with pytest.raises(SpaceError, match="the tangent of operation inverted is not linear in the tangents"):
        derivative(wrong)


REFUSED: dict[str, tuple[Any, str]] = {
    "a constant": (
        lambda _x, _y, dx: dx + 1.0,
        "not linear in the tangents: a constant of ℝ^3, which does not depend on them, is added",
    ),
    "an argument": (lambda x, _y, dx: dx + x, "an argument of ℝ^3, which does not depend on them, is added"),
    "the value": (lambda _x, y, dx: dx + y, "an argument of ℝ^3, which does not depend on them, is added"),
    "a result": (lambda x, _y, dx: dx + sin(x), "the result of sin in ℝ^3, which does not depend on them, is added"),
    "a function": (lambda _x, _y, dx: tanh(dx), "tanh is applied to one"),
    "a quotient": (lambda x, _y, dx: x / dx, "divide is applied to one"),
    "a product": (lambda _x, _y, dx: dx * dx, "two of them are multiplied"),
    "a loop": (
        lambda _x, _y, dx: iterate(sin, dx, X),
        "a loop, a condition or an equation takes one, of which that is not known",
    ),
    "no tangent": (lambda x, _y, _dx: x, "does not depend on the tangents, and is not 0"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_tangents_that_are_not_linear(what: str) -> None:
    """The message says what is wrong."""
    tangent, message = REFUSED[what]
    f: Any = operation("wrong", V, to=V, value=lambda _xp, x: x, tangent=tangent)
    with pytest.raises(SpaceError) as caught:
        derivative(f)
    assert first_line(caught.value).endswith(message)


def test_tangents_of_another_function() -> None:
    """An expression that a rule has kept from its last call, alone or in a tuple."""
    kept: list[Any] = []

    def stale(_x: Any, _y: Any, dx: Any) -> Any:
        kept.append(dx)
        return kept[0]

    f: Any = operation("stale", V, to=V, value=lambda _xp, x: x, tangent=stale)
    derivative(f)
    with pytest.raises(SpaceError, match=r"the tangent of operation stale is .* where an expression of ℝ.3 is due"):
        derivative(operation("stale", V, to=V, value=lambda _xp, x: x, tangent=stale))
    two: Any = operation(
        "stale pair",
        V,
        to=direct_sum(V, V),
        value=lambda _xp, x: (x, x),
        tangent=lambda x, y, dx: (dx, stale(x, y, dx)),
    )
    with pytest.raises(SpaceError, match="the tangent of operation stale pair is"):
        derivative(two)


def test_a_result_without_a_tangent_in_lanes() -> None:
    """Of two results one does not move; of a discrete argument alone nothing does."""
    f: Any = operation(
        "one moves",
        R,
        to=direct_sum(R, R),
        value=lambda xp, x: (x * x, xp.ones_like(x)),
        tangent=lambda x, _y, dx: (2.0 * x * dx, 0.0 * dx),
    )
    lanes: Any = fun(V)(lambda xs: each(lambda x: f(x)[0] + f(x)[1], xs))
    close(jacobian(lanes, v), np.diag(2.0 * v.array))
    both: Any = operation(
        "each by itself",
        R,
        R,
        to=direct_sum(R, R),
        value=lambda _, x, k: (x * x, 3.0 * k),
        tangent=lambda x, _k, _y, dx, dk: (2.0 * x * dx, 3.0 * dk),
    )
    shared: Any = lift(fun(R, R)(lambda x, k: both(x, k)[0] * both(x, k)[1]), X, over=(0,))
    close(jacobian(shared, v, R.vec(2.0)), np.hstack([np.diag(12.0 * v.array), 3.0 * v.array[:, None] ** 2]))
    look: Any = operation("looked up", E, to=R, value=lambda xp, i: xp.astype(i, xp.float64), tangent=None)
    h: Any = fun(E, V)(lambda i, x: look(i) * x.sum())
    assert grad(h, 1)(E.vec(2), v).array.tolist() == [2.0, 2.0, 2.0]


def test_an_operation_applies_to_its_spaces_in_its_lanes() -> None:
    """Where a line is built by hand, too; its text says all of it."""
    f: Any = operation("in lanes", V, R, to=V, value=lambda _xp, x, k: x * k[..., None])
    (step,) = (one.operation for one in program(f).steps if isinstance(one.operation, user_operation.Custom))
    lifted = step.partly(1, (True, False)).partly(1, (True, True))
    x, k = V.leaves[0], R.leaves[0]
    assert lifted.image(x.under((Y, X)), k.under((Y,))) == x.under((Y, X))
    assert eval(repr(lifted), dict(NAMES)) == lifted  # noqa: S307 - ours
    assert repr(lifted) != repr(step)
    for wrong, message in (
        ((x.under((Y, X)), (R32**Y).leaves[0]), "takes ℝ, not ℝ₃₂"),
        ((k.under((Y, X)), k.under((Y,))), r"takes ℝ\^3, not"),
        ((x.under((Y, X)), k.under((X,))), "is lifted over 2, not over 3"),
    ):
        with pytest.raises(SpaceError, match=message):
            lifted.image(*wrong)


def test_linear_maps_element_by_element_of_none() -> None:
    """A map of a user's that takes one element at a time, lifted over none and over some."""
    f = linear_map("one at a time", V, V, lambda _, x: 2.0 * x, lambda _, y: 2.0 * y, batched=False)
    assert (f**NONE)((V**NONE).zeros()).array.shape == (0, 3)
    close((f**Y)((V**Y).vec(a.array)).array, 2.0 * a.array)
    with pytest.raises(SpaceError, match="the linear map 'nothing of this name' is not there: define it before"):
        external.rule_named("nothing of this name")


def test_where_a_part_of_a_wrong_state_was_made() -> None:
    """The message of a state of several parts has the line of the part that is wrong."""

    def step(s: Any) -> Any:
        grown = s[0] * s[1]
        return grown, s[1]

    with pytest.raises(SpaceError) as caught:
        fun(R, V)(lambda k, x: iterate(step, (k, x), X)[0])
    assert f"a part of it made at {__file__}:{step.__code__.co_firstlineno + 1}" in str(caught.value)
    with pytest.raises(SpaceError, match="a part of it made at"):  # the other part has no arrays
        fun(R, V)(lambda k, x: iterate(lambda s: (s[0] * x, s[1]), (k, direct_sum().zeros()), X)[0])

    def nested(s: Any) -> Any:
        other = s[1] * 2.0
        grown = s[0][0] * s[0][1]
        return (grown, s[0][1]), other

    with pytest.raises(SpaceError) as caught:
        fun(R, V)(lambda k, x: iterate(nested, ((k, x), k), X)[1])
    told = [
        int(line.rpartition(":")[2].split()[0])
        for line in str(caught.value).splitlines()
        if "a part of it made" in line
    ]
    assert told == [nested.__code__.co_firstlineno + 2]  # and not where the other part was made
    with pytest.raises(SpaceError, match="the step of iterate takes a state in"):  # a vector is made nowhere
        fun(R)(lambda k: iterate(lambda s: (v, s[1]), (k, k), X)[1])


def test_a_value_may_stand_for_a_branch() -> None:
    """Beside a function, an expression is what it is."""
    f: Any = fun(R)(lambda x: where(x > 0, lambda: exp(x), x))
    assert [float(f(R.vec(x))) for x in (0.0, -2.0)] == [0.0, -2.0]


def test_rows_of_windows_that_elements_choose_have_a_gradient() -> None:
    """A product of windows with elements is no product of numbers: nothing is cut from it."""
    places = (hb.Elements(hb.Fin.of(4)) ** hb.Fin.of(4)).vec([0, 1, 1, 3])
    f: Any = hb.fun(hb.R ** hb.Fin.of(5))(lambda x: hb.windows(hb.Fin.of(5), 2)(x).rows()[places])
    assert hb.vjp(f)(f.dom.ones(), f.cod.ones()).array.tolist() == [1.0, 3.0, 2.0, 1.0, 1.0]

"""Conditions and lanes: of a scalar condition one branch is run; lifted, each lane has what it has alone."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import itertools
import math
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adjoint import adjoint, grad, hessian, jacobian
from diff import (
    again,
    derivative,
    exp,
    fun,
    inner,
    jvp,
    lift,
    log,
    pointfree,
    program,
    register,
    select,
    sin,
    solve,
    sqrt,
)
from diff.names import NAMES
from hilbert import R32, Bool, Elements, Fin, R, SpaceError, Vec, direct_sum
from hilbert.program.control.branch import Cond
from linmap import cost, equal, explain, matrix, scale, simplify, structure
from tests.oracle import value
from tests.untyped import batched, build, each, fold, iterate, where, while_

jax.config.update("jax_enable_x64", val=True)
X, Y = Fin.of(6), Fin.of(2)
HARD = [2.0, 0.0, -0.0, -3.0, np.nan, 5.0]
NONE = [-1.0, 0.0, -0.0, -3.0, np.nan, -np.inf]
POINTS = [HARD, NONE, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], HARD[::-1], [-1.0, -2.0, 0.5, -np.inf, 1.5, -0.0]]


@pytest.fixture(autouse=True)
def _errors() -> Any:
    """No step is computed outside of its domain: numpy would warn."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


def guarded(w: Any, x: Any) -> Any:
    return where(x > 0, lambda: w * log(x), lambda: 0.5 * x)


def nested(w: Any, x: Any) -> Any:
    def positive() -> Any:
        return where(x > 1.0, lambda: sqrt(x - 1.0) * w, lambda: log(x) * x)

    return where(x > 0, positive, lambda: w * w)


def looped(w: Any, x: Any) -> Any:
    def taken() -> Any:
        return iterate(lambda s: log(s + x) * w + s, x, Fin.of(3))

    return where(x > 0, taken, lambda: w)


def inside(w: Any, x: Any) -> Any:
    def step(s: Any) -> Any:
        return s + where(x > 0, lambda: log(x) * s * w, lambda: w)

    return again(lambda w: iterate(step, w, Fin.of(3)), w)


def solved(w: Any, x: Any) -> Any:
    return where(x > 0, lambda: RIGHT @ solve(x * EYE, RIGHT) * w, lambda: 0.5 * x)


ONE = fun(R, R)
EYE, RIGHT = (R ** (Y * Y)).vec(np.eye(2)), (R**Y).vec([1.0, 3.0])
SCALARS: dict[str, Any] = {f.__name__: ONE(f) for f in (guarded, nested, looped, inside, solved)}
ALL = pytest.mark.parametrize(("name", "entries"), list(itertools.product(SCALARS, POINTS)))


def same(have: Any, want: Any) -> None:
    np.testing.assert_allclose(have, want, rtol=2e-15, atol=0)


def lane_by_lane(f: Any, w: float, entries: list[float]) -> list[np.ndarray[Any, Any]]:
    """The leaves of f's results, lane by lane."""
    found = [f(R.vec(w), R.vec(x)) for x in entries]
    return [np.stack([np.asarray(y.leaves[k]) for y in found]) for k in range(len(found[0].leaves))]


@ALL
def test_lanes(name: str, entries: list[float]) -> None:
    """Value, gradient and second derivative of every lane, w shared: those of the lane alone."""
    f = SCALARS[name]
    w, xs = R.vec(1.5), (R**X).vec(entries)
    for h in (f, grad(f), grad(fun(R, R)(lambda w, x: grad(f)(w, x)[1]))):
        made = lift(h, X)(w, xs)
        for have, want in zip(made.leaves, lane_by_lane(h, 1.5, entries), strict=True):
            same(have, want)
    direct = fun(R, R**X)(lambda w, xs: each(lambda x: f(w, x), xs))
    same(direct(w, xs).array, lane_by_lane(f, 1.5, entries)[0])
    g, per = grad(fun(R, R**X)(lambda w, xs: direct(w, xs).sum()))(w, xs), lane_by_lane(grad(f), 1.5, entries)
    same(g[1].array, per[1])
    np.testing.assert_allclose(g[0].array, per[0].sum(), rtol=1e-14)


@pytest.mark.parametrize("body", [guarded, nested, looped, inside])
@pytest.mark.parametrize("entries", POINTS)
def test_lanes_in_single_precision(body: Any, entries: list[float]) -> None:
    """Value and gradient of every lane to two units in the last place."""
    f = fun(R32, R32)(body)
    w, xs = R32.vec(1.5), (R32**X).vec(np.array(entries, "float32"))
    for h in (f, grad(f)):
        lanes = [h(w, R32.vec(np.float32(x))) for x in entries]
        for k, have in enumerate(lift(h, X)(w, xs).leaves):
            assert have.dtype == np.float32
            np.testing.assert_allclose(have, [y.leaves[k] for y in lanes], rtol=2.4e-7, atol=0)


LIBRARIES = [name for name in ("jax.numpy", "torch") if importlib.util.find_spec(name.partition(".")[0])]


@pytest.mark.parametrize("library", LIBRARIES)
@ALL
def test_lanes_on_arrays_of_other_libraries(name: str, entries: list[float], library: str) -> None:
    """As on numpy's: beside the same function on the lanes one by one."""

    def array(value: Any) -> Any:
        made: Any = importlib.import_module(library).asarray(np.asarray(value, "float64"))
        return made

    f = SCALARS[name]
    w, xs = R.vec(array(1.5)), (R**X).vec(array(entries))
    for h in (f, grad(f)):
        made = lift(h, X)(w, xs)
        lanes = [h(w, R.vec(array(x))) for x in entries]
        for k, have in enumerate(made.leaves):
            assert isinstance(have, type(array(0.0)))
            same(np.asarray(have), np.stack([np.asarray(y.leaves[k]) for y in lanes]))


@ALL
def test_two_and_three_lifts(name: str, entries: list[float]) -> None:
    """The condition varies along either axis, or both."""
    f = SCALARS[name]
    ws = (R**Y).vec([1.5, 0.5])
    xs = (R**X).vec(entries)
    for h in (f, grad(f)):
        made = lift(lift(h, X), Y, over=(0,))(ws, xs)
        want = [lane_by_lane(h, w, entries) for w in (1.5, 0.5)]
        for k, have in enumerate(made.leaves):
            same(have, np.stack([row[k] for row in want]))
        whole = lift(lift(lift(h, X), Y, over=(0,)), Y, over=(1,))
        shifted = [entries, [*entries[1:], entries[0]]]
        both = whole(ws, ((R**X) ** Y).vec(shifted))
        for k, have in enumerate(both.leaves):
            same(have, np.stack([np.stack([lane_by_lane(h, w, row)[k] for w in (1.5, 0.5)]) for row in shifted]))


@pytest.mark.parametrize("name", sorted(SCALARS.keys() - {"solved"}))  # the oracle has no operations of users
def test_passes(name: str) -> None:
    """Oracle, text, repr, pickle, equality, matrices, laws."""
    f = SCALARS[name]
    lifted = lift(f, X)
    for h in (f, lifted, program(lifted)):
        x = h.dom.vec((1.5, 2.0)) if h is f else h.dom.vec((1.5, np.array([2.0, 0.5, -1.0, -2.0, 3.0, 1.5])))
        same(np.asarray(h(x).array), np.asarray(value(h, x).array))
        d = derivative(h)
        dx = h.dom.random(np.random.default_rng(0))
        dy = h.cod.random(np.random.default_rng(1))
        assert str(h)
        assert str(d)
        assert pickle.loads(pickle.dumps(d)) == d
        assert eval(repr(d), dict(NAMES)) == d  # noqa: S307 - that is what a repr is for
        assert equal(program(h), pickle.loads(pickle.dumps(program(h))))
        np.testing.assert_allclose(d.at(x)(dx).array, value(d.at(x), dx).array, atol=1e-12)
        star = adjoint(d.at(x))(dy)
        for have, want in zip(star.leaves, value(adjoint(d.at(x)), dy).leaves, strict=True):
            np.testing.assert_allclose(have, want, atol=1e-12)
        np.testing.assert_allclose(simplify(d).at(x)(dx).array, d.at(x)(dx).array, atol=1e-12)
        np.testing.assert_allclose(jvp(h)(x, dx).array, d.at(x)(dx).array, atol=1e-12)
        np.testing.assert_allclose(pointfree(h)(x).array, h(x).array)
        assert str(explain(d))
        assert str(cost(h))
        assert str(cost(d.at(x)))
        dense = jacobian(h, x)
        np.testing.assert_allclose(matrix(d.at(x), "array", limit=10**6), dense, atol=1e-12)
        np.testing.assert_allclose(matrix(d.at(x), "sparse").toarray(), dense, atol=1e-12)


def test_guarded_jacobian_is_sparse() -> None:
    """Elimination looks into a branch: the Jacobian of guarded lanes is diagonal."""

    def lane(x: Any) -> Any:
        return where(x > 0, lambda: log(x), lambda: 0.0 * x)

    f = fun(R**X)(lambda xs: each(lane, xs))
    d = derivative(f).at((R**X).vec(HARD))
    assert str(structure(d)) == "diagonal"
    assert matrix(d).nnz <= 6


def test_only_the_taken_branch_runs() -> None:
    """Counted by a primitive: once where it is taken, never where it is not."""
    calls: list[int] = []

    def counted(_: Any, x: Any) -> Any:
        calls.append(1)
        return x * 2.0

    p = register("counted_branch", counted, lambda x, y: 2.0 + 0.0 * (x + y))
    f = fun(R)(lambda x: where(x > 0, lambda: p(x), lambda: x))
    f(R.vec(-1.0))
    grad(f)(R.vec(-1.0))
    assert not calls
    f(R.vec(1.0))
    assert len(calls) == 1
    calls.clear()
    lift(fun(R, R)(lambda w, x: f(x) + w), X)(R.vec(0.0), (R**X).vec([-1.0] * 6))
    assert not calls


def test_infinite_derivative() -> None:
    """A taken lane with an infinite derivative leaves the gradients of all others finite."""

    def lane(x: Any) -> Any:
        return where(x >= 0, lambda: sqrt(x), lambda: x * x)

    f: Any = fun(R**X)(lambda xs: each(lane, xs).sum())
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        found = grad(f)((R**X).vec([0.0, -1.0, 4.0, -3.0, 1.0, -0.5])).array
    np.testing.assert_array_equal(found, [np.inf, -2.0, 0.25, -6.0, 0.5, -1.0])


def test_by_values() -> None:
    """where(mask, a, b) chooses entry by entry; both are there."""
    V = R**X
    f = fun(V, V)(lambda x, y: where(x > y, x * x, y))
    x, y = V.vec([1.0, 2.0, 3.0, -4.0, 5.0, 6.0]), V.vec([0.0, 3.0, 1.0, 1.0, 9.0, 2.0])
    np.testing.assert_array_equal(f(x, y).array, np.where(x.array > y.array, x.array**2, y.array))
    g = grad(fun(V, V)(lambda x, y: f(x, y).sum()))(x, y)
    np.testing.assert_array_equal(g[0].array, np.where(x.array > y.array, 2 * x.array, 0.0))
    np.testing.assert_array_equal(g[1].array, np.where(x.array > y.array, 0.0, 1.0))
    np.testing.assert_array_equal(where(x > 2.0, x, y).array, np.where(x.array > 2, x.array, y.array))
    whole = lift(f, Y, over=(0,))
    z = whole.dom.random(np.random.default_rng(0))
    np.testing.assert_array_equal(whole(z).array, np.where(z[0].array > z[1].array, z[0].array ** 2, z[1].array))
    labels = Elements(X)
    h = fun(R, labels, labels)(lambda c, i, j: where(c > 0, i, j))
    assert int(h(R.vec(1.0), labels.vec(3), labels.vec(4)).array) == 3


def test_a_value_beside_a_function() -> None:
    """Only the function is run where it is taken: the value is there."""
    f: Any = fun(R)(lambda x: where(x > 0, lambda: log(x), x))
    g: Any = fun(R)(lambda x: where(x > 0, x, lambda: log(-x)))
    for h, at, due, slope in (
        (f, -2.0, -2.0, 1.0),
        (f, 1.0, 0.0, 1.0),
        (g, 2.0, 2.0, 1.0),
        (g, -2.0, math.log(2.0), -0.5),
    ):
        assert float(h(R.vec(at))) == due
        assert float(grad(h)(R.vec(at))) == slope


def test_discrete_results_and_tuples() -> None:
    """A branch may give elements, truth values and several vectors."""
    labels = Elements(X)
    V = R**X
    f = fun(R, V, labels)(lambda c, v, i: where(c > 0, lambda: (v[i], i), lambda: (c, i)))
    out = f(R.vec(-2.0), V.vec(np.arange(6.0)), labels.vec(3))
    assert float(out[0].array) == -2.0
    many = lift(f, Y, over=(0, 2))((R**Y).vec([1.0, -1.0]), V.vec(np.arange(6.0)), (labels**Y).vec([3, 5]))
    np.testing.assert_array_equal(many.leaves[0], [3.0, -1.0])
    np.testing.assert_array_equal(many.leaves[1], [3, 5])


def test_under_jit() -> None:
    """Inside jax.jit a scalar condition is lax.cond, a loop lax.scan."""
    f = fun(R, R)(lambda w, x: where(x > 0, lambda: w * log(x), lambda: iterate(lambda s: s * w, x, Fin.of(3))))
    g = program(grad(f))

    @jax.jit
    def run(w: Any, x: Any) -> Any:
        return g(Vec(R, (w,)), Vec(R, (x,))).leaves

    for x in (2.0, -1.5):
        for have, want in zip(run(jnp.asarray(1.5), jnp.asarray(x)), g(R.vec(1.5), R.vec(x)).leaves, strict=True):
            np.testing.assert_allclose(have, want, rtol=1e-12)


def test_each_and_build() -> None:
    """each(f, xs)_x = f(xs_x), captures shared; build(f, X)_x = f(x)."""
    W, V = R ** (Y * X), R**X
    Z = Fin.of(4)
    f = fun(W, V**Z, V**Z)(lambda w, xs, ys: each(lambda x, y: w @ (x * y), xs, ys))
    x = f.dom.random(np.random.default_rng(0))
    np.testing.assert_allclose(f(x).array, np.einsum("ij,zj,zj->zi", *(part.array for part in x)))
    g = fun(V**Y)(lambda w: build(lambda k: w[k] * 2.0, Y))
    rows = (V**Y).vec(x[0].array)
    np.testing.assert_array_equal(g(rows).array, 2.0 * rows.array)
    first = each(lambda x: inner(x, x), x[1])
    np.testing.assert_allclose(first.array, (x[1].array ** 2).sum(1))
    pair = fun(V**Z)(lambda xs: each(lambda x: (x.sum(), x * x), xs))
    assert pair.cod == direct_sum(R**Z, V**Z)


def test_batched() -> None:
    """Batches of any size, a lift kept for each."""

    class Batch: ...

    f = fun(R**X, R**X)(inner)
    g = batched(f, Batch)
    w = (R**X).random(np.random.default_rng(0))
    for n in (4, 1, 0, 4):
        xs = ((R**X) ** Fin(Batch, n)).random(np.random.default_rng(1))
        np.testing.assert_allclose(g(w, xs).array, xs.array @ w.array)
    assert g.of(4) is g.of(4)
    other: Any = ((R**X) ** Fin.of(3)).zeros()
    with pytest.raises(SpaceError, match="over Fin\\(Batch, n\\)"):
        g(w, other)


def test_bodies_of_all_kinds() -> None:
    """A library's function, a partial one and an object are bodies like any other."""
    V = R**X
    Z = Fin.of(3)

    class Step:
        def __call__(self, s: Any, x: Any) -> Any:
            return s + x

    def three(k: float, s: Any, x: Any) -> Any:
        return k * (s + x)

    plus = fun(V, V)(lambda s, x: s + x)
    bodies: list[Callable[..., Any]] = [plus, Step(), functools.partial(three, 1.0)]
    s, xs = V.random(np.random.default_rng(0)), (V**Z).random(np.random.default_rng(1))
    for body in bodies:
        np.testing.assert_allclose(fold(body, s, xs).array, s.array + xs.array.sum(0))

        def folded(s: Any, xs: Any, body: Any = body) -> Any:
            return fold(body, s, xs)

        f: Any = fun.over(direct_sum(V, V**Z))(folded)
        np.testing.assert_allclose(f(s, xs).array, s.array + xs.array.sum(0))
    np.testing.assert_allclose(iterate(scale(2.0, V), s, Z).array, 8 * s.array)
    np.testing.assert_allclose(each(exp, xs).array, np.exp(xs.array))


def test_several_conditions_are_none() -> None:
    """A direct sum of truth values decides nothing."""
    with pytest.raises(SpaceError, match="where takes a condition, such as x > 0, not an expression of Bool ⊕ Bool"):
        fun(direct_sum(Bool, Bool), R)(lambda c, x: where(c, lambda: x, lambda: -x))


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (
            "where(x > 0, lambda: x, lambda: x.sum())",
            "gives ℝ\\^6 if the condition holds and ℝ if not|takes one condition",
        ),
        ("where(x > 0, lambda: x, lambda: x)", "takes one condition, not one in Bool\\^6: each"),
        ("where(x, x, x)", "takes a condition, such as x > 0"),
        ("where(x.sum() > 0, lambda y: y, lambda: x)", "whose parameters are \\(y\\)"),
        ("where(x.sum() > 0, lambda: x, lambda: x.sum())", "gives ℝ\\^6 if the condition holds and ℝ if not"),
        ("each(lambda y: y, x.sum())", "takes xs ∈ V\\^X"),
        ("each(lambda y, z: y, x, x[1:3])", "goes over one index set"),
        ("build(lambda y: x[y], 6)", "index set"),
        ("select(x > 0, lambda: x)", "vector"),
    ],
)
def test_errors(body: str, what: str) -> None:
    """Mistakes are SpaceErrors at the user's line."""
    given: Any = eval(compile(f"lambda x: {body}", "model.py", "eval"), globals())  # noqa: S307 - many mistakes
    with pytest.raises(SpaceError, match=what) as caught:
        fun(R**X)(given)
    assert "model.py:1" in str(caught.value)


def test_while() -> None:
    """Each lane stops by itself; the derivative is that of the rounds that were made."""

    def halved(w: Any, x: Any) -> Any:
        return while_(lambda s: s > 1.0, lambda s: s * w, x, at_most=Fin.of(8))

    f = fun(R, R)(halved)
    w, xs = R.vec(0.5), (R**X).vec([8.0, 1.5, 0.25, -3.0, 100.0, 1.0])
    whole = lift(f, X)(w, xs)
    np.testing.assert_array_equal(whole.array, [1.0, 0.75, 0.25, -3.0, 100.0 / 128, 1.0])
    rounds = np.array([3.0, 1.0, 0.0, 0.0, 7.0, 0.0])
    gradients = lift(grad(f), X)(w, xs)
    np.testing.assert_allclose(gradients.leaves[1], 0.5**rounds)
    np.testing.assert_allclose(gradients.leaves[0], rounds * 0.5 ** (rounds - 1) * xs.array)
    loop: Any = while_
    last, count = loop(
        lambda s: s[0] > 1.0, lambda s: (s[0] * 0.5, s[1] + 1.0), (R.vec(10.0), R.vec(0.0)), at_most=Fin.of(20)
    )
    assert (float(last.array), float(count.array)) == (0.625, 4.0)


def test_conditions_are_steps() -> None:
    """A condition is one step, its branches are not traced into the function."""
    p = program(SCALARS["guarded"])
    assert sum(isinstance(step.operation, Cond) for step in p.steps) == 1
    assert select is not None
    assert hessian(SCALARS["guarded"], R.vec(2.0), R.vec(3.0)).shape == (2, 2)


def test_each_over_as_many_elements_of_another_set() -> None:
    """The error says how the one becomes a vector over the other, and that works."""
    X, Y = Fin.of(4), Fin(Interval, 4)
    f = fun(R**X, R**Y)
    with pytest.raises(SpaceError, match=r"of as many elements, ys\.crop\(0, 4, to=X\) is ys over X"):
        f(lambda x, y: each(lambda a, b: a * b, x, y))
    made = f(lambda x, y: each(lambda a, b: a * b, x.crop(0, 4, to=Y), y))
    assert made((R**X).vec([1.0, 2.0, 3.0, 4.0]), (R**Y).vec([2.0] * 4)).array.tolist() == [2.0, 4.0, 6.0, 8.0]
    with pytest.raises(SpaceError) as raised:
        each(lambda a, b: a * b, (R**X).ones(), (R ** Fin.of(3)).ones())
    assert "as many" not in str(raised.value)


class Interval:
    """A name of an axis."""


LANES: dict[str, Any] = {
    "each": each,
    "build": lambda f, xs: build(lambda i: f(xs[i]), Fin.of(1)),
}


@pytest.mark.parametrize("kind", LANES)
@pytest.mark.parametrize("loop", [False, True])
def test_lanes_and_conditions_in_each_other(kind: str, *, loop: bool) -> None:
    """The size of n of them in each other is a power of n: what computes nothing in a branch is not asked for again."""
    X, lanes = Fin.of(1), LANES[kind]

    def nested(n: int, y: Any) -> Any:
        if n == 0:
            return sin(y)

        def inner(s: Any) -> Any:
            return nested(n - 1, y * s).sum()

        if loop:
            return lanes(lambda s: while_(lambda t: t > 9.0, lambda t: inner(s) + t, s, at_most=X), y)
        return lanes(lambda s: where(s > 0, lambda: inner(s), lambda: s), y)

    sizes = [len(pickle.dumps(fun(R**X)(functools.partial(nested, n)))) for n in (3, 6, 12)]
    assert sizes[2] / sizes[1] < 8
    assert sizes[1] / sizes[0] < 5


def test_numbers_beyond_floats() -> None:
    x = (R**X).ones()
    for chosen in (lambda: where(x > 0, 10**400, x), lambda: fun(R**X)(lambda x: where(x > 0, x, -(10**400)))):
        with pytest.raises(SpaceError, match="an integer of 1329 bits is beyond the numbers of double precision"):
            chosen()


def test_a_branch_is_not_asked_for_its_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take longer than the branch itself, and there may be thousands."""
    found: list[Any] = []
    of = inspect.signature

    def signature(f: Any) -> inspect.Signature:
        found.append(f)
        return of(f)

    def asked(n: int) -> int:
        def body(x: Any) -> Any:
            for _ in range(n):
                x = where(x > 0, lambda: 2.0 * x, lambda: 1.0 - x)  # noqa: B023 - it is called here
            return x

        found.clear()
        fun(R)(body)
        return len(found)

    monkeypatch.setattr(inspect, "signature", signature)
    assert asked(20) == asked(1)


@pytest.mark.parametrize(("rows", "lanes"), [(0, 2), (2, 0)])
def test_no_lanes(rows: int, lanes: int) -> None:
    """No lane takes a branch, and there is none to fill others with."""
    V = (R ** Fin.of(lanes)) ** Fin.of(rows)
    f = fun(V)(
        lambda v: each(lambda r: each(lambda x: where(x > 0.0, lambda: log(x), lambda: x * x), r).sum(), v).sum()
    )
    assert f(V.zeros()).array == 0.0
    assert grad(f)(V.zeros()).array.shape == (rows, lanes)

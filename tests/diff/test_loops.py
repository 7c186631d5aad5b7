"""Loops: a body that is traced once means what its rounds written out mean, in every pass."""

from __future__ import annotations

import itertools
import math
import pickle
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adjoint import adjoint, check_derivative, grad, hessian, jacobian, vjp
from diff import again, cos, derivative, exp, fun, inner, jvp, lift, pointfree, program, register, show, sin, tanh
from diff.names import NAMES
from diff.terms.program import Program
from hilbert import Copower, DirectSum, Fin, R, SpaceError, Unit, direct_sum
from hilbert.program.control.loop import Loop
from hilbert.relation import full
from linmap import cost, dup, equal, explain, matrix, parallel, red, simplify, structure
from tests.loop_programs import PAIRS, Pair
from tests.oracle import value
from tests.untyped import fold, iterate

jax.config.update("jax_enable_x64", val=True)
ROUNDS = [0, 1, 4]
ALL = pytest.mark.parametrize(("name", "n"), list(itertools.product(PAIRS, ROUNDS)))
SOME = pytest.mark.parametrize(("name", "n"), [*((name, 2) for name in PAIRS), ("outputs", 0), ("nested", 1)])
RNG = np.random.default_rng


def close(a: Any, b: Any, tolerance: float = 1e-10) -> None:
    assert a.space == b.space
    for x, y in zip(a.leaves, b.leaves, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=tolerance, atol=tolerance)


def point(f: Any, seed: int = 0) -> Any:
    return f.dom.random(RNG(seed))


def total(f: Any) -> Any:
    """The square of the result: a scalar function."""

    def body(*x: Any) -> Any:
        y = f(*x)
        return inner(y, y)

    return fun.over(f.dom)(body)


def loops(p: Program[Any, Any]) -> int:
    return sum(isinstance(step.operation, Loop) for step in p.steps)


@ALL
def test_value(name: str, n: int) -> None:
    """fold(step, s, xs) = step(… step(s, x₀) …, x_{n−1}), beside the rounds written out and the oracle."""
    f, g = PAIRS[name](n)
    x = point(f)
    close(f(x), g(x))
    close(f(x), value(f, x))
    assert loops(program(f)) > 0


@ALL
def test_derivative_and_adjoint(name: str, n: int) -> None:
    """f'(x) and f'(x)*, on a value and on a symbol."""
    f, g = PAIRS[name](n)
    x, dx = point(f), f.dom.tangent.random(RNG(1))
    dy = f.cod.random(RNG(2))
    df, dg = derivative(f).at(x), derivative(g).at(x)
    close(df(dx), dg(dx))
    close(adjoint(df)(dy), adjoint(dg)(dy))
    assert adjoint(adjoint(df)) == df
    close(jvp(f)(x, dx), jvp(g)(x, dx))
    close(vjp(f)(x, dy), vjp(g)(x, dy))
    close(df(dx), value(df, dx))
    close(adjoint(df)(dy), value(adjoint(df), dy))


@ALL
def test_second_derivative(name: str, n: int) -> None:
    """∇∇, forward over reverse, reverse over forward, and mixed."""
    f, g = (total(h) for h in PAIRS[name](n))
    x, dx = point(f), f.dom.tangent.random(RNG(1))
    close(grad(f)(x), grad(g)(x))
    if name == "elements":  # jvp of a function with discrete arguments takes a tangent of the others
        return
    close(jvp(grad(f))(x, dx), jvp(grad(g))(x, dx))
    close(grad(total(grad(f)))(x), grad(total(grad(g)))(x))
    np.testing.assert_allclose(hessian(f, x), hessian(g, x), atol=1e-9)


@SOME
def test_lifted_in_every_choice(name: str, n: int) -> None:
    """lift(f, X, over) under one and two lifts, with the gradient of it, and the gradient lifted."""
    f, g = PAIRS[name](n)
    X, Y = Fin.of(2), Fin.of(3)
    count = len(f.dom.parts)
    for size in range(1, count + 1):
        for over in itertools.combinations(range(count), size):
            a, b = (lift(h, X, over=over) for h in (f, g))
            x = point(a)
            close(a(x), b(x))
            close(grad(total(a))(x), grad(total(b))(x))
            c, d = (lift(grad(total(h)), X, over=over) for h in (f, g))
            close(c(x), d(x))
            e, k = (lift(h, Y, over=(over[0],)) for h in (a, b))
            close(e(point(e)), k(point(e)))


@SOME
def test_matrices(name: str, n: int) -> None:
    """Dense by every plan, structure, cost."""
    f, g = PAIRS[name](n)
    x = point(f)
    np.testing.assert_allclose(jacobian(f, x), jacobian(g, x), atol=1e-10)
    df = derivative(f).at(x)
    np.testing.assert_allclose(matrix(df, "array", limit=10**6), jacobian(g, x), atol=1e-10)
    np.testing.assert_allclose(matrix(adjoint(df), "array", limit=10**6), jacobian(g, x).T, atol=1e-10)
    assert str(structure(df))
    assert str(cost(f))
    assert str(cost(df))


@SOME
def test_other_passes(name: str, n: int) -> None:
    """Text, repr, pickle, equality, simplification and the point-free form."""
    f, _ = PAIRS[name](n)
    again = PAIRS[name](n).loop
    x = point(f)
    for h in (f, grad(total(f))):
        assert str(h)
        assert eval(repr(h), dict(NAMES)) == h  # noqa: S307 - that is what a repr is for
        assert pickle.loads(pickle.dumps(h)) == h
    d = derivative(f)
    assert str(d)
    assert str(adjoint(d))
    assert pickle.loads(pickle.dumps(d)) == d
    assert eval(repr(d), dict(NAMES)) == d  # noqa: S307 - that is what a repr is for
    assert equal(f, again)
    assert equal(d, derivative(again))
    assert equal(d.at(x), pickle.loads(pickle.dumps(d.at(x))))
    assert str(explain(d))
    dx = f.dom.tangent.random(RNG(1))
    close(simplify(d).at(x)(dx), d.at(x)(dx))
    close(simplify(d.at(x))(dx), d.at(x)(dx))
    if name != "elements":
        close(pointfree(f)(x), f(x))


def test_different_bodies_differ() -> None:
    """equal compares bodies by contents, up to the order of steps."""
    X, V = Fin.of(3), R ** Fin.of(2)
    f = fun(V)(lambda s: iterate(lambda t: tanh(t) + 2.0 * t, s, X))
    g = fun(V)(lambda s: iterate(lambda t: 2.0 * t + tanh(t), s, X))
    h = fun(V)(lambda s: iterate(lambda t: 3.0 * t + tanh(t), s, X))
    assert f != g
    assert equal(f, g)
    assert not equal(f, h)
    assert not equal(f, fun(V)(lambda s: iterate(lambda t: tanh(t) + 2.0 * t, s, Fin.of(4))))


def test_checked_by_differences() -> None:
    """check_derivative of a loop, and of its gradient."""
    f, _ = PAIRS["outputs"](4)
    check_derivative(total(f), point(f))
    check_derivative(grad(total(f)), point(f))


def test_against_jax() -> None:
    """The gradient and the Hessian's product beside JAX's scan."""
    n, S = 20, Fin.of(4)
    V, W = R**S, R ** (S * S)

    def body(w: Any, s: Any, xs: Any) -> Any:
        def step(t: Any, x: Any) -> Any:
            return tanh(w @ t + x), t * x

        return inner(*(fold(step, s, xs)[0],) * 2) + fold(step, s, xs)[1].sum()

    f: Any = fun(W, V, V ** Fin.of(n))(body)

    def peer(w: Any, s: Any, xs: Any) -> Any:
        last, ys = jax.lax.scan(lambda t, x: (jnp.tanh(w @ t + x), t * x), s, xs)
        return last @ last + ys.sum()

    x = point(f)
    dx = f.dom.random(RNG(1))
    arrays, tangents = (tuple(map(jnp.asarray, v.leaves)) for v in (x, dx))
    gradient = jax.grad(peer, (0, 1, 2))
    due, product = jax.jit(lambda a, da: jax.jvp(gradient, a, da))(arrays, tangents)
    for have, want in zip(grad(f)(x).leaves, due, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-10)
    for have, want in zip(jvp(grad(f))(x, dx).leaves, product, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-8)
    assert loops(program(f)) == 1  # the same loop twice is one


def test_traced_once() -> None:
    """The body runs once; the steps of the gradient and the size of the pickle do not depend on n."""
    sizes = set[tuple[int, int]]()
    for n in (10**3, 10**4, 10**5):
        calls: list[int] = []

        def step(w: Any, s: Any, calls: list[int] = calls) -> Any:
            calls.append(1)
            return tanh(w @ s + s)

        S, X = Fin.of(14), Fin.of(n)

        def body(w: Any, s: Any, step: Any = step, X: Any = X) -> Any:
            def one(t: Any) -> Any:
                return step(w, t)

            return iterate(one, s, X).sum()

        f = fun(R ** (S * S), R**S)(body)
        df = program(grad(f))
        assert calls == [1]
        sizes.add((len(df.steps), len(pickle.dumps(df))))
    steps, bytes_ = zip(*sizes, strict=True)
    assert len(set(steps)) == 1
    assert max(bytes_) - min(bytes_) <= 16  # the digits of n


def test_memory() -> None:
    """Two arrays are kept for each round, and nothing else grows with n."""
    n, S = 20_000, Fin.of(14)
    f = fun(R ** (S * S), R**S)(lambda w, s: iterate(lambda t: tanh(w @ t + t), s, Fin.of(n)).sum())
    df = grad(f)
    x = 0.1 * point(f)
    df(x)
    tracemalloc.start()
    try:
        df(x)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= 1.1 * 2 * 14 * 8 * n + 500_000


def segments(s: Any, X: Any, checkpoint: Any) -> Any:
    """s ↦ s·tanh s, as often as X has elements."""
    return iterate(lambda s: tanh(s) * s, s, X, checkpoint=checkpoint)


@pytest.mark.parametrize("n", [1, 2, 10, 100, 10_007])
def test_segments(n: int) -> None:
    """`checkpoint=True` makes √n segments, rounded down, and a number as many; a last one has the rounds left over."""
    for given, count in ((True, math.isqrt(n)), (1, 1), (7, min(7, n))):
        f = fun(R)(partial(segments, X=Fin.of(n), checkpoint=given))
        loops = [step.operation for step in program(f).steps if isinstance(step.operation, Loop)]
        assert [loop.index.size for loop in loops] == [count, 1][: 1 + (n % count > 0)]
        rounds = [
            step.operation.index.size for loop in loops for step in loop.body.steps if isinstance(step.operation, Loop)
        ]
        assert rounds == [n // count, n % count][: len(loops)]


def test_what_does_not_vary_is_outside() -> None:
    """w @ w is computed once, x * x of a slice nobody reads not at all, an input is not kept twice."""
    S, X = Fin.of(3), Fin.of(5)
    V, W = R**S, R ** (S * S)
    f = program(fun(W, V, V**X)(lambda w, s, xs: fold(lambda t, x: ((w @ w) @ t, x * x), s, xs)[0]))
    (loop,) = [step.operation for step in f.steps if isinstance(step.operation, Loop)]
    assert loop.shared == 1
    assert len(loop.body.steps) == 1
    assert loop.body.arity == 2
    g = fun(V, V**X)(lambda s, xs: fold(lambda t, x: t * x, s, xs))
    (kept,) = [step.operation for step in derivative(g).program.steps if isinstance(step.operation, Loop)]
    assert len(kept.body.outputs) == 2  # the state; the slices of xs are there


def test_on_vectors() -> None:
    """Where all operands are vectors, the loop is run."""
    X, V = Fin.of(4), R ** Fin.of(3)
    s, xs = V.random(RNG(0)), (V**X).random(RNG(1))
    last, ys = fold(lambda t, x: (t * x, t + x), s, xs)
    expected = s.array * np.prod(xs.array, axis=0)
    np.testing.assert_allclose(last.array, expected, rtol=1e-14)
    assert ys.space == Copower(V, X)
    w = V.random(RNG(2))
    np.testing.assert_allclose(iterate(lambda t: t + w, s, X).array, s.array + 4 * w.array)


def test_over_a_product() -> None:
    """The elements of X × Y in their flat order."""
    X, Y = Fin.of(2), Fin.of(3)
    f = fun(R, R ** (X * Y))(lambda s, xs: fold(lambda t, x: (t * 2.0 + x, t), s, xs)[1])
    x = point(f)
    t, out = float(x[0].array), []
    for entry in x[1].array.reshape(-1):
        out.append(t)
        t = t * 2.0 + entry
    np.testing.assert_allclose(f(x).array.reshape(-1), out)
    check_derivative(f, x)
    check_derivative(lift(f, Fin.of(2), over=(1,)), point(lift(f, Fin.of(2), over=(1,))))


PAIR = fun(R ** Fin.of(3), R)(lambda x, t: (2.0 * x, t + 1.0))


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("fold(lambda t, x: (t @ t) @ x, s, xs)", "ℝ @ ℝ\\^3"),
        ("fold(lambda t, x: t.sum(), s, xs)", "the step of fold takes a state in ℝ\\^3 and gives ℝ:"),
        ("fold(lambda t: t, s, xs)", "fold gives 2 arguments to its function, whose parameters are"),
        ("fold(lambda t, x: 3.0, s, xs)", "is a vector, or a tuple of vectors, not 3.0"),
        ("fold(lambda t, x: t, s, s.sum())", "goes over xs ∈ W\\^X"),
        ("fold(lambda t, x: t, [s], xs)", "the start of fold is a vector"),
        ("iterate(lambda t: t, s, 5)", "Fin.of\\(n\\)"),
        ("iterate(lambda t: PAIR(*t), (s, s.sum()), Fin.of(3))", "of the direct sum return s.split\\(\\)"),
        ("iterate(s, s, Fin.of(3))", "takes a function of expressions"),
    ],
)
def test_errors(body: str, what: str) -> None:
    """A mistake in the body, or of the loop itself, is a SpaceError at the user's line."""
    V = R ** Fin.of(3)
    given: Any = eval(compile(f"lambda s, xs: {body}", "model.py", "eval"), globals())  # noqa: S307 - many mistakes
    with pytest.raises(SpaceError, match=what) as caught:
        fun(V, V ** Fin.of(2))(given)
    assert "model.py:1" in str(caught.value)


def test_leaks() -> None:
    """An expression of the body is not used outside of it, nor one of a function inside another."""
    V = R ** Fin.of(3)
    kept: list[Any] = []

    def step(s: Any) -> Any:
        kept.append(s * 2.0)
        return s

    def outside(how: Callable[[Any, Any], Any]) -> str:
        """The message: of a use of what a body computed, behind the loop."""

        def body(s: Any) -> Any:
            last = iterate(step, s, Fin.of(3))
            return how(last, kept[-1])

        with pytest.raises(SpaceError) as caught:
            fun(V)(body)
        return str(caught.value)

    computed = step.__code__.co_firstlineno + 1
    uses: list[Callable[[Any, Any], Any]] = [
        lambda last, leak: last + leak,
        inner,
        lambda _, leak: leak,
        lambda last, leak: iterate(lambda t: t + leak, last, Fin.of(2)),
    ]
    for how in uses:
        said = outside(how)
        assert f"was computed at {__file__}:{computed} in step, in a body that is complete" in said
        assert said.count("test_loops.py") >= 2  # and where it is used
    with pytest.raises(SpaceError, match="two functions"):
        fun(V)(lambda s: inner(s, kept[0]))


def test_pair_is_typed() -> None:
    """The space of a function with loops is that of the rounds written out."""
    for make in PAIRS.values():
        f, g = make(3)
        assert isinstance(Pair(f, g), tuple)
        assert (f.dom, f.cod) == (g.dom, g.cod)
        assert isinstance(f.dom, DirectSum)
        assert direct_sum(*f.dom.parts) == f.dom


def test_the_jacobian_of_a_linear_loop_with_two_states() -> None:
    """What a loop makes is a bundle of arrays: it is no constant, also where all that it takes is."""
    Y = Fin.of(2)
    V = R**Y
    sums = red(full(Y, Unit()))
    f = fun(V)(lambda x: again(parallel(sums, sums), dup(V)(x)))
    assert jacobian(f, V.ones()).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_the_text_of_a_point_free_loop() -> None:
    """It evaluates to the same term."""
    p = pointfree(fun(R)(lambda x: iterate(sin, x, Fin.of(2))))
    assert eval(repr(p), dict(NAMES)) == p  # noqa: S307 - ours


def test_memory_with_checkpoints() -> None:
    """At 10⁵ rounds a hundredth of what is kept without them."""
    n, S = 100_000, Fin.of(14)
    f = fun(R ** (S * S), R**S)(lambda w, s: iterate(lambda t: tanh(w @ t + t), s, Fin.of(n), checkpoint=True).sum())
    df = grad(f)
    x = 0.05 * point(f)
    df(x)
    tracemalloc.start()
    try:
        df(x)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= 0.01 * 1.1 * 2 * 14 * 8 * n


def test_definitions_of_bodies_say_whose_parameters_they_mean() -> None:
    """A long part of a body has a line of its own: of the body's x, not of the function's, nor of another body's."""
    V = R ** Fin.of(3)
    T = V ** Fin.of(5)

    def long(x: Any) -> Any:
        return tanh(sin(x) + cos(x) * 3.0 + exp(x) * x)

    def inner(x: Any, xs: Any) -> Any:
        return fold(lambda s, x: s * long(x) + long(x) + x, x, xs)

    def outer(x: Any, xs: Any) -> Any:
        found = long(x)
        return fold(lambda s, x: s * found + found + x, x, xs)

    def twice(x: Any, xs: Any) -> Any:
        return fold(lambda s, y: s * long(y) + y, x, xs) + fold(lambda s, y: s * long(y) - y, x, xs)

    texts = [show(fun(V, T)(f)) for f in (inner, outer, twice)]
    part = "tanh(sin {0}+3·cos {0}+(exp {0})·{0})"
    assert f"  where f₁ = (s, x) ↦ s·u₁+u₁+x\n    where u₁ = {part.format('x')}" in texts[0]
    assert f"fold[5]((s, x) ↦ s·u₁+u₁+x, x, xs)\n  where u₁ = {part.format('x')}" in texts[1]
    assert f"  where f₁ = (s, y) ↦ s·u₁+y\n    where u₁ = {part.format('y')}" in texts[2]
    assert f"  where f₂ = (s, y) ↦ s·u₂−y\n    where u₂ = {part.format('y')}" in texts[2]


@pytest.mark.parametrize("n", [100, 1_000, 10_007])
def test_how_often_a_body_with_checkpoints_is_run(n: int) -> None:
    """For a gradient, each round at most twice, and √n rounds on each side once more: counted by a primitive."""
    calls: list[int] = []

    def counted(xp: Any, x: Any) -> Any:
        calls.append(1)
        return xp.tanh(x)

    p = register(f"counted_in_{n}_rounds", counted, lambda _, y: 1.0 - y * y)
    df = grad(fun(R ** Fin.of(3))(lambda s: iterate(p, s, Fin.of(n), checkpoint=True).sum()))
    df(df.dom.ones())
    calls.clear()
    df(df.dom.ones())
    assert 2 * n - math.isqrt(n) <= len(calls) <= 2 * n + 2 * math.sqrt(n)


def test_over_the_rows_of_a_table() -> None:
    """Σ_t a^{n−t}·A[t, :] for A ∈ ℝ^{X×Y}: a fold over the rows, its gradient by numpy."""
    V = R ** (Fin.of(5) * Fin.of(3))
    f = fun(V)(lambda A: fold(lambda s, row: 0.5 * s + sin(row), (R ** Fin.of(3)).zeros(), A.rows()))
    A = V.random(RNG(0))
    w = 0.5 ** np.arange(4, -1, -1.0)
    np.testing.assert_allclose(f(A).array, w @ np.sin(A.array), rtol=1e-14)
    due = w[:, None] * np.cos(A.array)
    np.testing.assert_allclose(grad(fun(V)(lambda A: f(A).sum()))(A).array, due, rtol=1e-14)
    with pytest.raises(SpaceError, match=r"\.rows\(\) is of a table in V\^\{X×Y\}, not of"):
        fun(R ** Fin.of(3))(lambda v: v.rows())  # type: ignore[misc]


def test_a_state_that_another_needs_is_kept() -> None:
    """Of two states one is the input, the other is not asked for: what is asked for does not read itself."""
    T = Fin.of(4)
    last = fun(R, R**T)(lambda s, xs: fold(lambda t, x: (x, t[1] + x * t[0]), (s, s), xs)[0] * 2.0)
    xs = (R**T).vec([1.0, 2.0, 3.0, 4.0])
    assert float(last(R.vec(5.0), xs)) == 8.0
    assert grad(last)(R.vec(5.0), xs)[1].array.tolist() == [0.0, 0.0, 0.0, 2.0]

"""Functions written entry by entry, x[i] in Python's loops, are what they are along the axis; with planned=False they
stay as they are written, which is what lanes are compared with here."""

from __future__ import annotations

import itertools
import math
import pickle
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings

from adjoint import grad, hessian, jacobian
from diff import const, cos, derivative, exp, fun, iterate, log, program, sin, sqrt, tanh, where
from hilbert import Fin, R, SpaceError
from hilbert.program.transform.alike_steps import FEWEST
from linmap import equal, stack
from tests.strategies import Source, sources

if TYPE_CHECKING:
    from collections.abc import Callable


class Cell: ...


class Row: ...


PRIMITIVES: list[Callable[[Any], Any]] = [
    sin,
    tanh,
    lambda t: t * t,
    lambda t: -t,
    lambda t: 3.0 * t,
    lambda t: t + 1.0,
    lambda t: (0.1 * t) ** 3,
]


def steps(f: Any) -> int:
    return len(program(f).steps)


def sequence(entries: list[Any]) -> Any:
    return stack(Fin.of(len(entries)), R)(*entries)


def drawn(s: Source) -> tuple[tuple[Any, ...], Callable[..., Any]]:
    """The spaces and the body of a function of a vector, a matrix and a number, by entries at all kinds of places."""
    n, m = s.integer(FEWEST + 1, 20), s.one_of((3, FEWEST + 1))
    rng = np.random.default_rng(s.integer(0, 10**6))
    numbers, order = rng.uniform(-1.0, 1.0, (2, n)), rng.permutation(n).tolist()
    depth, skips = s.integer(1, 2), s.flag()
    apply = [s.one_of(PRIMITIVES) for _ in range(8)]
    signs = [s.one_of("+-*/") for _ in range(8)]
    read = [s.one_of(range(10)) for _ in range(8)]
    end = s.one_of(range(8))

    def leaf(x: Any, A: Any, p: Any, i: int, k: int) -> Any:
        kinds: list[Callable[[], Any]] = [
            lambda: x[i],
            lambda: x[min(i + 1, n - 1)],
            lambda: x[n - 1 - i],
            lambda: x[(i + 3) % n],
            lambda: x[order[i]] * numbers[0][i] + numbers[1][i],
            lambda: p,
            lambda: sin(x[0]),
            lambda: A[i % m, i % 3],
            lambda: A[i % m, (7 * i) % n],
            lambda: A[i % m, :] @ x,
        ]
        return kinds[read[k % 8]]()

    def entry(x: Any, A: Any, p: Any, i: int, level: int, k: int) -> Any:
        if not level:
            return leaf(x, A, p, i, k)
        a, b = (entry(x, A, p, i, level - 1, 2 * k + side) for side in (0, 1))
        made = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / (2.0 + b * b)}
        return 0.3 * apply[(k + level) % 8](made[signs[k % 8]]())

    def table(A: Any, es: list[Any]) -> Any:
        rows = [sequence([sin(A[i, j]) * es[j % len(es)] + A[i, 0] for j in range(n)]) for i in range(m)]
        return stack(Fin(Row, m), R ** Fin.of(n))(*rows)

    def ended(A: Any, p: Any, es: list[Any]) -> Any:
        partial = itertools.accumulate
        ends: list[Callable[[], Any]] = [
            lambda: sum(es) + p,
            lambda: sequence(es),
            lambda: (sum(es) * p, sequence(es)),
            lambda: sum(cos(a) for a in partial([p, *es])),
            lambda: sequence([a * sin(a) for a in partial([t * t for t in partial(es)])]),
            lambda: sequence([sum(sin(A[i, j]) * e for j, e in enumerate(es)) for i in range(m)]),
            lambda: sequence([sum(a * b for a, b in zip(es, es[k:], strict=False)) for k in range(3)]),
            lambda: table(A, es),
        ]
        return ends[end]()

    def body(x: Any, A: Any, p: Any) -> Any:
        return ended(A, p, [entry(x, A, p, i, depth, 1) for i in range(n) if not (skips and i == 7)])

    return (R ** Fin(Cell, n), R ** (Fin(Row, m) * Fin(Cell, n)), R), body


@settings(max_examples=6)
@given(sources(single=False))
def test_as_it_is_written(s: Source) -> None:
    """Value, sparse Jacobian, gradient and sparse Hessian."""
    spaces, body = drawn(s)
    f, g = fun(*spaces)(body), fun(*spaces, planned=False)(body)
    rng = np.random.default_rng(0)
    x = [V.vec(rng.uniform(-1.0, 1.0, tuple(V.leaves[0].shape))) for V in spaces]
    assert steps(f) <= steps(g)
    np.testing.assert_allclose(f(*x).flat(), g(*x).flat(), rtol=1e-11, atol=1e-12)
    due = jacobian(g, *x)
    np.testing.assert_allclose(jacobian(f, *x, as_="sparse").toarray(), due, rtol=1e-10, atol=1e-11)
    if f.cod == R:
        np.testing.assert_allclose(grad(f)(*x).flat(), due[0], rtol=1e-10, atol=1e-11)


def neighbours(n: int) -> Any:
    return fun(R ** Fin(Cell, n))(lambda x: sequence([sin(x[i - 1] * x[i]) - x[i + 1] for i in range(1, n - 1)]))


FORMS: dict[str, tuple[Callable[[Any, int], Any], Callable[[Any, int], Any]]] = {
    "Rosenbrock": (
        lambda x, n: sum((1 - x[i]) ** 2 + 100 * (x[i + 1] - x[i] ** 2) ** 2 for i in range(n - 1)),
        lambda x, n: ((1 - x.crop(0, n - 1)) ** 2 + 100 * (x.crop(1, n) - x.crop(0, n - 1) ** 2) ** 2).sum(),
    ),
    "tridiagonal": (
        lambda x, n: sequence([x[i - 1] + x[i + 1] - 2 * x[i] - exp(x[i]) for i in range(1, n - 1)]),
        lambda x, n: x.crop(0, n - 2) + x.crop(2, n) - 2 * x.crop(1, n - 1) - exp(x.crop(1, n - 1)),
    ),
    "ring": (
        lambda x, n: sequence([x[i] * (x[(i + 1) % n] - x[i - 2]) - x[i] + 8.0 for i in range(n)]),
        lambda x, n: (x * (x.roll(-1) - x.roll(2)) - x + 8.0).reshape(Fin.of(n)),
    ),
    "kinematic chain": (
        lambda x, n: sum(0.1 * cos(a) for a in itertools.accumulate(x[i] for i in range(n))),
        lambda x, _: (0.1 * cos(x.cumsum())).sum(),
    ),
    "data": (
        lambda x, n: sum((math.sin(i) * x[i] - math.cos(i)) ** 2 for i in range(n)),
        lambda x, _: ((wave(x, np.sin) * x - wave(x, np.cos)) ** 2).sum(),
    ),
    "choice": (
        lambda x, n: sequence([where(x[i] > 0.5, sqrt(x[i]), x[i] * x[i]) for i in range(n)]),
        lambda x, n: where(x > 0.5, sqrt(x), x * x).reshape(Fin.of(n)),
    ),
}


def wave(x: Any, f: Callable[[Any], Any]) -> Any:
    return const(x.space.vec(f(np.arange(x.space.dim))))


@pytest.mark.parametrize("name", FORMS)
def test_along_the_axis(name: str) -> None:
    """As it is written without loops, in as many steps for any number of entries."""
    entries, whole = FORMS[name]
    assert steps(fun(R ** Fin(Cell, 30))(lambda x: entries(x, 30))) < 25
    assert steps(fun(R ** Fin(Cell, 60))(lambda x: entries(x, 60))) < 25
    V = R ** Fin(Cell, 30)
    f, g = fun(V)(lambda x: entries(x, 30)), fun(V)(lambda x: whole(x, 30))
    x = V.vec(np.linspace(0.1, 0.9, 30))
    np.testing.assert_allclose(f(x).flat(), g(x).flat(), rtol=1e-12)
    have, due = (jacobian(h, x, as_="sparse") for h in (f, g))
    assert (have != 0).nnz == (due != 0).nnz
    np.testing.assert_allclose(have.toarray(), due.toarray(), rtol=1e-11, atol=1e-12)
    if f.cod == R:
        second, due = (hessian(h, x, as_="sparse").toarray() for h in (f, g))
        np.testing.assert_allclose(second, due, rtol=1e-10, atol=1e-10)


def test_few_steps_stay() -> None:
    """Below the number that is worth it a function is the one that was written, step by step."""
    V = R ** Fin(Cell, 40)
    few = FEWEST - 1
    f, g = (fun(V, planned=p)(lambda x: sequence([sin(x[i]) for i in range(few)])) for p in (True, False))
    assert program(f).steps == program(g).steps
    one = fun(R)(lambda x: [x := sin(x) for _ in range(40)][-1])
    assert steps(one) == 40  # each depends on the one before


def test_the_same_again() -> None:
    """Tables and constants are those of equal entries: traced twice a function is one, pickled too."""
    turned, numbers = np.random.default_rng(0).permutation(30).tolist(), np.linspace(0.0, 1.0, 30).tolist()

    def traced() -> Any:
        V: Any = R ** Fin.of(30)
        return fun(V)(lambda x: sum(numbers[i] * sin(x[k]) * x[i] for i, k in enumerate(turned)))

    f = traced()
    assert f == traced()
    assert equal(derivative(f), derivative(traced()))
    assert pickle.loads(pickle.dumps(f)) == f
    numbers[3] = 0.25
    assert f != traced()


def test_in_bodies() -> None:
    """The step of a loop is a function, too."""
    V = R ** Fin.of(40)

    def euler(x: Any) -> Any:
        return sequence([x[i] + 0.1 * (x[(i + 1) % 40] - x[i]) for i in range(40)])

    f = fun(V)(lambda x: iterate(euler, x, Fin.of(5)))
    x = V.vec(np.linspace(0.0, 1.0, 40))
    due = x.array
    for _ in range(5):
        due = due + 0.1 * (np.roll(due, -1) - due)
    np.testing.assert_allclose(f(x).array, due, rtol=1e-12)
    assert len(repr(program(f))) < 4000


def test_zeros_are_what_they_were() -> None:
    """0 as a factor is structure; what a sum does not read has no slope."""
    V: Any = R ** Fin.of(40)
    f: Any = fun(V)(lambda x: sum(float(i % 2) * sqrt(x[i]) for i in range(40)))
    x = V.vec(np.arange(40) % 2 * 4.0)
    with np.errstate(divide="ignore"):
        assert grad(f)(x).array.tolist() == [0.25 * (i % 2) for i in range(40)]
        assert jacobian(f, x, as_="sparse").nnz == 20


def test_lines_of_users() -> None:
    """A step names its line, in lanes too; what is written on two lines is two steps."""

    def body(x: Any) -> Any:
        roots = [sqrt(x[i]) for i in range(20)]
        logarithms = [log(x[i]) for i in range(20)]
        return sum(a + b for a, b in zip(roots, logarithms, strict=True))

    f = fun(R ** Fin.of(20))(body)
    first = body.__code__.co_firstlineno
    named = {repr(step.operation): str(step.place) for step in pickle.loads(pickle.dumps(program(f))).steps}
    assert named["sqrt"].endswith(f":{first + 1} in body")
    assert named["log"].endswith(f":{first + 2} in body")
    with warnings.catch_warnings(), np.errstate(invalid="warn"):
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning) as raised:
            f(f.dom.vec(np.full(20, -1.0)))
    assert f":{first + 1} in body" in "".join(raised.value.__notes__)
    V: Any = R ** Fin.of(20)
    with pytest.raises(SpaceError, match=r"sum\(sin\(x\[i\] \+ x\)"):
        fun(V)(lambda x: sum(sin(x[i] + x) @ x[i] for i in range(20)))


@settings(max_examples=5)
@given(sources(single=False))
def test_neighbours_of_any_number(s: Source) -> None:
    """The Jacobian has the entries of its three diagonals, and no others."""
    n = s.integer(20, 200)
    f = neighbours(n)
    x = f.dom.vec(np.random.default_rng(n).uniform(0.5, 1.0, n))
    assert steps(f) < 12
    assert jacobian(f, x, as_="sparse").nnz == 3 * (n - 2)

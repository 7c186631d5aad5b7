"""Generated programs of all operations, loops, branches and equations go through every pass: a result, or a SpaceError.

A program is a chain of pieces V → V, each of two orders of all of them: results of the passes agree with one another.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest

from adjoint import adjoint, check_derivative, grad, jacobian
from diff import (
    again,
    derivative,
    entry,
    exp,
    fun,
    jvp,
    kept,
    lift,
    log,
    made,
    operation,
    pointfree,
    program,
    select,
    solve,
    stop_gradient,
    tanh,
)
from diff.names import NAMES
from diff.terms.elementwise import Elementwise
from diff.terms.user_operation import Custom
from hilbert import Fin, Part, R, Record, Scalar, Vector
from hilbert.program.control.flows import Flow
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.operation import Add, Along, Contract, Keep, Literal
from linmap import cost, equal, explain, matrix, roll, simplify, structure
from tests.programs import operations
from tests.untyped import each, fixed_point, fold, iterate, root, where, while_


class Place:
    """An axis."""


X, T, L = Fin(Place, 3), Fin.of(3), Fin.of(2)
V = R**X
A = (R ** (X * X)).vec(np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.1, 0.5, 2.5]]))


class Pair(Record):
    """What a piece makes and takes apart."""

    whole: Part[Vector[Place]]
    size: Part[Scalar]


P = Pair(whole=V, size=R)
hyperbola = operation(
    "hyperbola of every pass", V, to=V, value=lambda xp, x: xp.sqrt(x * x + 1.0), tangent=lambda x, y, dx: x / y * dx
)


def bounded(x: Any) -> Any:
    """A while with a bound has a derivative."""
    return while_(lambda s: s.sum() > 1.0, lambda s: 0.5 * s, x, at_most=T)


def guarded(x: Any) -> Any:
    """A branch in each lane."""
    return each(lambda u: where(u > 0.1, lambda: log(u) * u, lambda: u * u), x)


def recorded(x: Any) -> Any:
    """A record made, changed and taken apart."""
    p = made(P, entry(Pair.whole, x), entry(Pair.size, x.sum()))
    return p.replace(Pair.size, p[Pair.size] * 0.5)[Pair.size] * p[Pair.whole]


PIECES: dict[str, Callable[[Any], Any]] = {
    "iterate": lambda x: iterate(lambda s: tanh(A @ s) + 0.1 * s, x, T),
    "fold": lambda x: fold(lambda s, u: (s * u, s + u), x.sum(), x)[1],
    "backwards": lambda x: fold(lambda s, u: (s + u * u, s), x.sum(), x, reverse=True)[1],
    "checkpoints": lambda x: iterate(lambda s: tanh(s) * x, x, T, checkpoint=True),
    "again": lambda x: again(lambda y: tanh(A @ y), x),
    "each": guarded,
    "where": lambda x: where(x.sum() > 0.0, lambda: exp(-x * x), lambda: x * x),
    "entries": lambda x: where(x > 0.2, x * x, 0.2 * x) + select(x < 0.0, x),
    "while": bounded,
    "unbounded": lambda x: x * stop_gradient(while_(lambda s: s > 1.0, lambda s: 0.5 * s, (x > 0.1).cast(R).sum())),
    "fixed point": lambda x: fixed_point(lambda y: 0.2 * tanh(A @ y) + x, x),
    "root": lambda x: root(lambda y: y * y * y + y - x, x),
    "solve": lambda x: solve(A + 0.1 * x.diag(), x),
    "custom": hyperbola,
    "along": lambda x: x.softmax() + x.sort() + 0.1 * x.logsumexp() * x,
    "discrete": lambda x: x[x.argsort()] + x.max() * x,
    "moved": lambda x: x.roll(1) - roll(X, 1)(x).flip(),
    "kept": lambda x: kept(A @ x),
    "record": recorded,
}


def chain(seed: int) -> Any:
    """The pieces in a random order, each pulled back near 1."""
    order = np.random.default_rng(seed).permutation(sorted(PIECES))

    def body(x: Any) -> Any:
        for name in order:
            x = 0.5 + tanh(PIECES[str(name)](x))
        return x

    return fun(V)(body)


def test_no_operation_is_missing() -> None:
    """The programs, their derivatives and lifts have all operations of the union."""
    f = chain(0)
    found = {one for g in (f, jvp(f), f**L, lift(jvp(f), L, over=(0, 1))) for one in operations(program(g).line)}
    due = {*get_args(Flow), Pack, Unpack, Choose, AnyLane, Fill, Custom, Along, Keep, Contract, Add, Literal}
    assert due <= found
    assert any(issubclass(one, Elementwise) for one in found)


def close(have: Any, want: Any) -> None:
    np.testing.assert_allclose(have, want, rtol=1e-9, atol=1e-11)


SEEDS = pytest.mark.parametrize("seed", range(6))


@SEEDS
def test_values(seed: int) -> None:
    """Derivative, adjoint, lift, matrices, simplification and the point-free form agree with one another."""
    f, rng = chain(seed), np.random.default_rng(seed)
    x, dx, dy = (V.vec(rng.uniform(0.2, 1.0, 3)) for _ in range(3))
    d = derivative(f)
    linear = d.at(x)
    assert check_derivative(f, x)
    close(jvp(f)(x, dx).array, linear(dx).array)
    close(linear(dx).inner(dy), dx.inner(adjoint(d).at(x)(dy)))
    columns = np.stack([linear(e).array for e in V.basis()], axis=1)
    close(jacobian(f, x), columns)
    close(matrix(adjoint(d).at(x), "array"), columns.T)
    close(grad(fun(V)(lambda x: f(x) @ dy))(x).array, columns.T @ dy.array)
    xs = (V**L).vec(rng.uniform(0.2, 1.0, (2, 3)))
    close((f**L)(xs).array, [f(row).array for row in xs])
    close(lift(jvp(f), L, over=(0, 1))(xs, xs).array, [jvp(f)(row, row).array for row in xs])
    close(simplify(d).at(x)(dx).array, columns @ dx.array)
    close(simplify(linear)(dx).array, columns @ dx.array)
    close(pointfree(f)(x).array, f(x).array)
    close(program(pointfree(f))(x).array, f(x).array)


@SEEDS
def test_texts(seed: int) -> None:
    """Text, repr, pickle, equality, structure, cost and explanation, of derivative, adjoint and lift too."""
    f, x = chain(seed), V.vec([0.3, 0.6, 0.9])
    d = derivative(f)
    names = NAMES | {"Place": Place, "Pair": Pair}
    for h in (f, grad(fun(V)(lambda x: f(x).sum())), f**L, d, adjoint(d), pointfree(f)):
        assert str(h)
        assert eval(repr(h), dict(names)) == h  # noqa: S307 - that is what a repr is for
        back = pickle.loads(pickle.dumps(h))
        assert back == h
        assert equal(h, back)
        assert str(cost(h))
    assert str(structure(d.at(x)))
    assert str(structure(d))
    assert str(explain(d))

"""Plans that are made before anything is run: dense Jacobians, products of sparse matrices, contractions.

Rows: the Jacobian of y = tanh(roll(y)) + y, again and again, which has a path for each subset of the steps, and the
Hessian of a pendulum in its controls, beside the lifted forward pass on all basis vectors; matrices and derivatives
whose factors are tridiagonal, beside scipy's products; A·B·C·x and its gradient, beside numpy in the best order. A
line "first" builds the function, its derivative and the plan anew at each call.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np

import hilbert.all as hb
from benchmarks.timing import HAND, OURS, Line, Options, agree, compare, optional

PEER, LIFTED, FIRST = "scipy.sparse", "lifted pass", f"{OURS}, first"
Call: TypeAlias = Callable[[], Any]


def lines(options: Options) -> Iterator[Line | str]:
    """All rows."""
    rounds = Options(min(options.rounds, 15), options.quick, options.clock)
    for n, depth in itertools.product((6, 200), (10, 100) if options.quick else (10, 100, 1000)):
        yield from beside_lifted(f"tanh(roll(y)) + y, ℝ^{n}, depth {depth:,}", partial(rolled, n, depth), rounds)
    for n in (50,) if options.quick else (50, 200):
        yield from beside_lifted(f"Hessian of a pendulum, {n} controls", partial(pushed, n), rounds)
    if optional("scipy.sparse") is not None:
        for n in (4000,) if options.quick else (4000, 100_000):
            yield from tridiagonal(n, rounds)
    yield from contractions(200, options)


# --- dense, beside the lifted pass ---


def rolled(n: int, depth: int) -> Any:
    """y ← tanh(roll(y)) + y, again and again."""

    def body(y: Any) -> Any:
        for _ in range(depth):
            y = hb.tanh(y.roll(1)) + y
        return y

    return hb.fun(hb.R ** hb.Fin.of(n))(body)


def pushed(n: int) -> Any:
    """The gradient, in n controls, of what they cost and of where the pendulum ends."""

    def body(u: Any) -> Any:
        angle, speed = hb.const(hb.R.vec(0.1)), hb.const(hb.R.vec(0.0))
        for k in range(n):
            angle, speed = angle + 0.05 * speed, speed + 0.05 * (u[k] - 9.81 * hb.sin(angle))
        return 0.01 * (u @ u) + angle**2 + speed**2

    return hb.grad(hb.fun(hb.R ** hb.Fin.of(n))(body))


def beside_lifted(what: str, make: Callable[[], Any], options: Options) -> Iterator[Line]:
    """The Jacobian of a function at a point."""
    f = make()
    index = f.dom.index
    point = f.dom.random(np.random.default_rng(0))
    basis = (f.dom**index).vec(np.eye(index.size))

    def lifted(f: Any) -> Any:
        return hb.lift(hb.jvp(f), index, over=(1,))

    forward = lifted(f)
    jacobian = hb.jacobian(f, point)
    agree(what, {OURS: [jacobian], LIFTED: [forward(point, basis).array.reshape(jacobian.shape).T]}, 1e-12)
    rows: dict[str, Call] = {LIFTED: lambda: forward(point, basis), OURS: lambda: hb.jacobian(f, point)}
    yield from compare(what, rows, options, baseline=LIFTED, limit=2.0)
    first: dict[str, Call] = {
        LIFTED: lambda: lifted(make())(point, basis),
        OURS: lambda: hb.jacobian(make(), point),
    }
    yield from compare(f"{what}, first", first, options, baseline=LIFTED, limit=5.0)


# --- sparse, beside scipy's products ---


def tridiagonal(n: int, options: Options) -> Iterator[Line]:
    """Products of tridiagonal matrices and diagonal ones, and derivatives that are such products."""
    sp = optional("scipy.sparse")
    rng = np.random.default_rng(0)
    t = sp.csr_array(sp.diags_array([rng.standard_normal(n - abs(k)) for k in (-1, 0, 1)], offsets=[-1, 0, 1]))
    d = sp.csr_array(sp.diags_array(rng.standard_normal(n)))
    x = rng.standard_normal(n)
    space = hb.Fin.of(n)
    point = (hb.R**space).vec(x)

    def linear(build: Callable[[Any, Any], Any]) -> Callable[[], Call]:
        def plan() -> Call:
            f = build(hb.from_scipy(t, space, space), hb.from_scipy(d, space, space))
            return lambda: hb.matrix(f, "sparse")

        return plan

    def jacobian() -> Call:
        T = hb.from_scipy(t, space, space)
        f = hb.fun(T.dom)(lambda x: T(hb.sin(T(x))))
        return lambda: hb.jacobian(f, point, as_="sparse")

    def hessian() -> Call:
        T: Any = hb.from_scipy(t, space, space)
        f = hb.fun(T.dom)(lambda x: hb.inner(hb.sin(T(x)), hb.sin(T(x))))
        return lambda: hb.hessian(f, point, as_="sparse")

    def scaled(c: Any) -> Any:
        return t.T @ (sp.diags_array(c) @ t)

    cases: dict[str, tuple[Callable[[], Call], Call]] = {
        "D·T·D": (linear(lambda T, D: D @ T @ D), lambda: d @ t @ d),
        "T*·D·T": (linear(lambda T, D: hb.adjoint(T) @ D @ T), lambda: t.T @ (d @ t)),
        "Jacobian of T sin(Tx)": (jacobian, lambda: t @ (sp.diags_array(np.cos(t @ x)) @ t)),
        "Hessian of ‖sin(Tx)‖²": (hessian, lambda: scaled(2 * np.cos(2 * (t @ x)))),
    }
    for name, (plan, due) in cases.items():
        call = plan()
        error = float(abs(call() - due()).max() / abs(due()).max())
        agree(name, {OURS: [1.0 + error], PEER: [1.0]}, 1e-12)
        rows: dict[str, Call] = {PEER: due, FIRST: partial(called, plan), OURS: call}
        yield from compare(f"{name}, n = {n:,}", rows, options, baseline=PEER, limit=5.0)


def called(plan: Callable[[], Call]) -> Any:
    """Run once what is planned."""
    return plan()()


# --- contractions ---


def contractions(n: int, options: Options) -> Iterator[Line]:
    """A·B·C·x, written from left to right, and the gradient of its sum in A, B, C and x."""
    rng = np.random.default_rng(0)
    M = hb.R ** (hb.Fin.of(n) * hb.Fin.of(n))
    V = hb.R ** hb.Fin.of(n)
    f = hb.fun(M, M, M, V)(lambda a, b, c, x: (a @ b @ c @ x).sum())
    g = hb.value_and_grad(f)
    point = f.dom.random(rng)
    a, b, c, x = (leaf for leaf in point.leaves)

    def value() -> Any:
        return (a @ (b @ (c @ x))).sum()

    def gradient() -> Any:
        cx = c @ x
        bcx = b @ cx
        ones = np.ones(n)
        at = ones @ a
        bt = at @ b
        return (ones @ (a @ bcx), np.outer(ones, bcx), np.outer(at, cx), np.outer(bt, x), bt @ c)

    agree("A·B·C·x", {OURS: [f(point).array], HAND: [value()]}, 1e-10)
    agree("its gradient", {OURS: list(g(point).leaves), HAND: list(gradient())}, 1e-10)
    rows: dict[str, Call] = {HAND: value, OURS: lambda: f(point)}
    yield from compare(f"A·B·C·x, n = {n}", rows, options)
    rows = {HAND: gradient, OURS: lambda: g(point)}
    yield from compare(f"A·B·C·x, n = {n}, with its gradient", rows, options)

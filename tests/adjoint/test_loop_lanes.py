"""Lanes of a loop: an axis that all rounds only carry along makes its Jacobian a block for each place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diff
from adjoint import adjoint, grad, hessian, jacobian
from diff import const, derivative, each, fold, fun, inner, iterate, lift, sin, tanh
from hilbert import Fin, R
from linmap import matrix, roll, structure
from tests.loop_programs import PAIRS

X, Y, T = Fin.of(5), Fin.of(3), Fin.of(3)
V = R**Y
RNG = np.random.default_rng
W = const((R ** (Y * Y)).random(RNG(1)))


def vector(space: Any, leaves: list[Any]) -> Any:
    """The vector with these arrays; spaces without an array have 0."""
    taken = iter(leaves)
    return space.vec(tuple(part.vec(next(taken)) if part.leaves else part.zeros() for part in space.parts))


def columns(f: Any) -> Any:
    """The matrix of a linear map from its values on basis vectors."""
    images = []
    ends = np.cumsum([leaf.size for leaf in f.dom.leaves])[:-1]
    for unit in np.eye(f.dom.dim):
        parts = [a.reshape(leaf.shape) for a, leaf in zip(np.split(unit, ends), f.dom.leaves, strict=True)]
        image = f(f.dom.vec(*parts) if len(parts) == 1 else vector(f.dom, parts))
        images.append(np.concatenate([np.ravel(np.asarray(leaf)) for leaf in image.leaves]))
    return np.array(images).T


@pytest.mark.parametrize("name", PAIRS)
def test_lifted(name: str) -> None:
    """The derivative of f^X is a block for each place of X, no larger than those of f in full."""
    f, _ = PAIRS[name](2)
    g = lift(f, X, over=tuple(range(len(f.dom.parts))))
    d = derivative(g).at(g.dom.random(RNG(0)))
    made = matrix(d, "sparse")
    np.testing.assert_allclose(made.toarray(), columns(d), rtol=1e-12, atol=1e-12)
    blocks = matrix(derivative(f).at(f.dom.random(RNG(0))), "blocks")
    assert made.nnz <= X.size * sum(b.shape[0] * b.shape[1] for row in blocks for b in row if b is not None)
    np.testing.assert_allclose(matrix(d, "array"), made.toarray(), rtol=1e-12, atol=1e-12)


D: Any = diff
"""Without types: mypy would read each function once for every overload of those around it."""


def shared(x: Any) -> Any:
    return D.each(lambda s: D.iterate(lambda t: tanh(W @ t), s, T), x)


LANES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "each of iterate": (shared, "5 blocks, each dense 3×3"),
    "iterate of each": (
        lambda x: D.iterate(lambda s: D.each(lambda t: tanh(W @ t), s), x, T),
        "5 blocks, each dense 3×3",
    ),
    "each of fold": (
        lambda x: D.each(lambda s: D.fold(lambda t, a: sin(W @ t) + a * t, s, const((R**T).ones())), x),
        "5 blocks, each dense 3×3",
    ),
    "entries": (lambda x: D.iterate(lambda s: sin(s) * s, x, T), "diagonal"),
    "each of while_": (
        lambda x: D.each(lambda s: D.while_(lambda t: t @ t > 0.5, lambda t: 0.5 * t, s, at_most=T), x),
        "diagonal",
    ),
    "a loop in a loop": (
        lambda x: D.each(lambda s: D.iterate(lambda t: D.iterate(lambda u: sin(W @ u) + t, t, T), s, T), x),
        "5 blocks, each dense 3×3",
    ),
    "a loop and a root": (
        lambda x: D.iterate(lambda s: D.each(lambda t: D.root(lambda u: u + 0.1 * (W @ u) - t, t), s), x, T),
        "5 blocks, each dense 3×3",
    ),
    "lanes meet": (lambda x: D.iterate(lambda s: sin(s) + s.sum(over=0).rep(V**X), x, T), "3 blocks, each dense 5×5"),
    "all meet": (lambda x: D.iterate(lambda s: sin(s) * inner(s, s), x, T), "dense 15×15"),
}


@pytest.mark.parametrize("name", LANES)
def test_lanes(name: str) -> None:
    """What `structure` says, and that the sparse Jacobian has these entries and no others."""
    body, text = LANES[name]
    f = fun(V**X)(body)
    x = 0.3 + 0.1 * (V**X).random(RNG(0))
    assert text in str(structure(derivative(f)))
    d = derivative(f).at(x)
    made, due = matrix(d, "sparse"), columns(d)
    np.testing.assert_allclose(made.toarray(), due, rtol=1e-10, atol=1e-12)
    assert made.nnz == np.count_nonzero(due)


Step = Callable[[Any], Any]
STEPS: dict[str, Step] = {
    "entry by entry": tanh,
    "data": lambda s: s * const((V**X).random(RNG(2))),
    "a product in each lane": lambda s: each(lambda t: W @ t, s),
    "a turn in each lane": lambda s: each(roll(Y, 1), s),
    "a turn of the lanes": roll(X, 1, V),
    "the sum of the lanes": lambda s: s + s.sum(over=0).rep(V**X),
    "all": lambda s: s * sin(inner(s, s)),
}


@given(
    st.lists(st.sampled_from(list(STEPS)), min_size=1, max_size=3),
    st.lists(st.sampled_from(list(STEPS)), min_size=1, max_size=3),
    st.booleans(),
    st.booleans(),
)
def test_generated_rounds(first: list[str], second: list[str], exchanged: bool, stacked: bool) -> None:  # noqa: FBT001
    """A round of two states: lanes, turns and sums have exactly the entries that are not 0."""

    def after(names: list[str], s: Any) -> Any:
        for name in names:
            s = STEPS[name](s)
        return s

    def step(state: Any) -> Any:
        s, t = state
        u, v = after(first, s), after(second, t) + s
        state = (v, u) if exchanged else (u, v)
        return state, u

    def body(s: Any, t: Any) -> Any:
        (a, b), history = iterate(step, (s, t), T)
        return (a, b, history) if stacked else (a, b)

    f = fun(V**X, V**X)(body)
    x = f.dom.random(RNG(0))
    d = derivative(f).at(x)
    made, due = matrix(d, "sparse"), columns(d)
    np.testing.assert_allclose(made.toarray(), due, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(matrix(d, "array"), due, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(matrix(adjoint(d), "sparse").toarray(), due.T, rtol=1e-10, atol=1e-12)
    assert made.nnz == np.count_nonzero(due)


def test_shared_and_separate_weights() -> None:
    """Weights that lanes share meet all lanes, weights of a lane its own; states that are stacked are in lanes too."""
    M = R ** (Y * Y)

    def history(w: Any, s: Any, xs: Any) -> Any:
        return fold(lambda t, x: (tanh(w @ t) + x, w @ t), s, xs)[1]

    f = fun(M**X, M, V**X, (V**T) ** X)(
        lambda own, w, s, xs: each(lambda o, t, x: history(o + w, t, x), own, s, xs),
    )
    x = f.dom.random(RNG(0))
    d = derivative(f).at(x)
    made, due = matrix(d, "sparse"), columns(d)
    np.testing.assert_allclose(made.toarray(), due, rtol=1e-10, atol=1e-12)
    assert made.nnz == np.count_nonzero(due)


def test_hessian_of_many_short_trajectories() -> None:
    """Multiple shooting: what is summed over pieces has a Hessian of a block for each piece."""
    f = fun(V**X)(lambda x: inner(shared(x), shared(x)))
    x = (V**X).random(RNG(0))
    made = hessian(f, x, as_="sparse")
    np.testing.assert_allclose(made.toarray(), jacobian(grad(f), x), rtol=1e-10, atol=1e-12)
    assert made.nnz == X.size * Y.size**2


NONE = Fin.of(0)
WITHOUT_ROUNDS: dict[str, Any] = {
    "a step that forgets its state": fun(V)(lambda s: iterate(lambda _: const(V.zeros()), s, NONE)),
    "a step of what is outside": fun(V)(lambda s: iterate(lambda _: 2.0 * s, s, NONE)),
    "a pair": fun(V, V)(lambda a, b: iterate(lambda p: (p[1], p[1]), (a, b), NONE)),
    "no elements": fun(V, V**NONE)(lambda s, xs: fold(lambda _, x: x, s, xs)),
    "with an output": fun(V)(lambda s: iterate(lambda t: (sin(s), t * s), s, NONE)[0]),
}


WITHOUT_ROUNDS |= {f"{name}, in lanes": f**X for name, f in WITHOUT_ROUNDS.items() if f.dom == V}


@pytest.mark.parametrize("name", WITHOUT_ROUNDS)
def test_without_rounds_a_state_is_what_it_was(name: str) -> None:
    """Whatever a round would make of it: no way through a round leads anywhere."""
    f = WITHOUT_ROUNDS[name]
    d = derivative(f).at(f.dom.random(RNG(0)))
    for linear in (d, adjoint(d)):
        due = columns(linear)
        assert np.array_equal(np.asarray(matrix(linear, as_="array")), due)
        assert np.array_equal(matrix(linear, as_="sparse").toarray(), due)
        assert "zero" not in str(structure(linear)) or name == "no elements"

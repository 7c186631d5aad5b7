"""Blocks along two sets: no array of all pairs is made; softmax along the rows in passes."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import SpaceError
from tests.blocks.test_blocked import agree


class First(hb.Axis, size=61): ...


class Second(hb.Axis, size=47): ...


class Both(hb.Axis, size=3): ...


A, B = (hb.R**Both.set) ** First.set, (hb.R**Both.set) ** Second.set
SETS = First.set, Second.set


@hb.fun(A, B)
def energy(a: Any, b: Any) -> Any:
    """The sum of a kernel over all pairs of points."""
    return hb.each(lambda x: hb.each(lambda y: hb.exp(-hb.square(x - y).sum()), b).sum(), a).sum()


@hb.fun(A, B)
def soft(a: Any, b: Any) -> Any:
    """The logarithms of sums over the second points, as in soft assignments."""
    return hb.each(lambda x: hb.each(lambda y: -hb.square(x - y).sum(), b).logsumexp(), a).sum()


@pytest.mark.parametrize("size", [(1, 1), (7, 5), (61, 5), (100, 100), 8, None, (16, None)])
@pytest.mark.parametrize("f", [energy, soft])
def test_pairs(f: Any, size: Any) -> None:
    for g in (f, hb.grad(f), hb.grad(f, 0), hb.value_and_grad(f, 1), hb.hvp(f, 0)):
        for over in (SETS, SETS[::-1]):
            agree(g, hb.blocked(g, over=over, size=size))


def test_pairs_derive_pickle_and_run_at_once() -> None:
    g = hb.blocked(energy, over=SETS, size=(16, 16), threads=2)
    assert hb.grad(g, 0) is hb.blocked(hb.grad(energy, 0), over=SETS, size=(16, 16), threads=2)
    assert pickle.loads(pickle.dumps(g)) == g
    assert str(g.report).startswith(
        "blocks of 16 of the 61 elements of First61, and of 16 of the 47 elements of Second47, 2 threads\n"
    )
    x = energy.dom.random(np.random.default_rng(0))
    assert np.array_equal(g(x).array, hb.blocked(energy, over=SETS, size=(16, 16))(x).array)


def test_machine_code_of_pairs() -> None:
    for f in (hb.grad(energy), hb.grad(soft)):
        g: Any = hb.compiled(hb.blocked(f, over=SETS, size=(16, 9)))
        assert g.is_compiled
        agree(f, g)


def test_sets_of_the_size_of_a_block() -> None:
    """Axes without a name that are as long as a block are not taken for those of the block."""
    n, m = hb.Fin.of(40), hb.Fin.of(8)
    f = hb.fun(hb.R**n, hb.R**m)(lambda x, y: hb.each(lambda a: hb.tanh(a * y).sum(), x).sum())
    for size in ((8, 8), (8, 3), (5, 8)):
        agree(hb.grad(f), hb.blocked(hb.grad(f), over=(n, m), size=size))
        agree(hb.grad(f), hb.blocked(hb.grad(f), over=(m, n), size=size))


def test_no_array_of_all_pairs() -> None:
    n, m = hb.Fin.of(3001), hb.Fin.of(3000)
    f = hb.fun(hb.R**n, hb.R**m)(lambda x, y: hb.each(lambda a: hb.tanh(a * y).sum(), x).sum())
    g = hb.blocked(hb.grad(f), over=(n, m), size=200)
    x = f.dom.random(np.random.default_rng(0))
    g(x)
    tracemalloc.start()
    g(x)
    assert tracemalloc.get_traced_memory()[1] < 200 * 200 * 8 * 8
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("over", "size", "text"),
    [
        ((), None, r"over=a tuple of 0\): give an index set, or some that are different"),
        ((First.set, First.set), None, "give an index set, or some that are different"),
        ((First.set, 3), None, "takes an index set, not 3"),
        (SETS, (3,), "a number ≥ 1, one for each index set"),
        (SETS, (3, 0), "a number ≥ 1, one for each index set"),
        (SETS, "large", "a number ≥ 1, one for each index set"),
        ((First.set, hb.Fin.of(5)), None, "no blocks along 5: no array of the function has this axis"),
    ],
)
def test_what_is_refused(over: Any, size: Any, text: str) -> None:
    with pytest.raises(SpaceError, match=text):
        hb.blocked(energy, over=over, size=size)


def test_a_step_of_the_second_set_is_refused() -> None:
    f = hb.fun(A, B)(lambda a, b: hb.each(lambda x: (hb.uncurry(B)(b) @ x).cumsum().sum(), a).sum())
    with pytest.raises(SpaceError, match="no blocks along Second47: it relates elements"):
        hb.blocked(f, over=SETS)


@pytest.mark.parametrize("size", [1, 7, 61, None])
def test_softmax_in_passes(size: int | None) -> None:
    y = hb.R**First.set
    for f in (
        hb.fun(y)(lambda v: (v.softmax() * v).sum()),
        hb.fun(y)(lambda v: (v.log_softmax() * v).sum()),
        hb.fun(A, y)(lambda a, v: hb.square(hb.uncurry(A)(a.softmax(over=First.set)).T @ v).sum()),
        hb.fun(A)(lambda a: hb.square(a.logsumexp(over=First.set)).sum()),
    ):
        for g in (f, hb.grad(f), hb.hvp(f)):
            agree(g, hb.blocked(g, over=First.set, size=size))
    assert len(hb.blocked(hb.fun(y)(lambda v: v.softmax()), over=First.set).report.passes) == 3


@pytest.mark.parametrize("far", [1e7, 1e16, -1e16])
def test_softmax_of_large_numbers(far: float) -> None:
    y = hb.R**First.set
    f = hb.fun(y)(lambda v: (v.softmax(), v.log_softmax()))
    x = y.vec(far + np.linspace(-1.0, 1.0, 61))
    for a, b in zip(f(x).leaves, hb.blocked(f, over=First.set, size=7)(x).leaves, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9)


def test_branches_of_each_element_and_their_derivatives() -> None:
    y = hb.R**First.set
    f = hb.fun(y)(lambda v: hb.each(lambda t: hb.where(t > 0.2, lambda: hb.exp(-t), lambda: hb.sin(t)), v).sum())
    for g in (f, hb.grad(f), hb.hvp(f), hb.value_and_grad(f)):
        for size in (1, 7, 61):
            agree(g, hb.blocked(g, over=First.set, size=size))


def test_threads_have_the_errstate_of_the_caller() -> None:
    y = hb.R**First.set
    g = hb.blocked(hb.fun(y)(lambda v: hb.log(v).sum()), over=First.set, size=7, threads=2)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        g(y.zeros())


ZERO = hb.const(hb.R.vec(0.0))
BRANCHES: list[Any] = [
    lambda p, q: hb.where((p - q) @ (p - q) > 0.5, lambda: ((p - q) @ (p - q)) ** -0.5, lambda: ZERO),
    lambda p, q: hb.where(p[0] > 0.0, lambda: p @ q, lambda: ZERO),
    lambda p, q: hb.where(p @ q > 0.2, lambda: hb.where(q[1] > 0.5, lambda: p @ p, lambda: ZERO), lambda: q[0]),
]


@pytest.mark.parametrize("inner", BRANCHES)
def test_branches_of_pairs(inner: Any) -> None:
    """A branch reads a point of the one set that is the same for all points of the other one."""
    f = hb.fun(A, B)(lambda a, b: hb.each(lambda p: hb.each(lambda q: inner(p, q), b).sum(), a).sum())
    for g in (f, hb.grad(f, 0), hb.grad(f, 1), hb.value_and_grad(f)):
        for over in (First.set, Second.set, SETS[::-1]):
            agree(g, hb.blocked(g, over=over, size=25))
    agree(hb.grad(f, 1), hb.compiled(hb.blocked(hb.grad(f, 1), over=SETS, size=61)))


def test_a_branch_that_few_blocks_take() -> None:
    """The gradient reads what all elements share only in blocks in which some element takes the branch."""
    w = hb.R**Both.set
    f = hb.fun(w, A)(lambda w, a: hb.each(lambda p: hb.where(p[0] > 0.0, lambda: w @ p, lambda: ZERO), a).sum())
    points = -np.ones((61, 3))
    points[17, 0] = 2.0
    at, g = (w.vec([1.0, 2.0, 3.0]), A.vec(points)), hb.grad(f, 1)
    for h in (hb.blocked(g, over=First.set, size=5), hb.compiled(hb.blocked(g, over=First.set, size=5))):
        assert np.allclose(h(*at).array, g(*at).array)
    with pytest.raises(SpaceError, match=r"depends on all of First61 if this branch is taken: write where"):
        hb.distributed(hb.grad(f, 0), over=First.set)


def test_pairs_of_one_set() -> None:
    f = hb.fun(A)(lambda a: hb.each(lambda p: hb.each(lambda q: hb.square(p - q).sum(), a).sum(), a).sum())
    with pytest.raises(SpaceError, match="it puts each element of First61 beside each other one: name one set apart"):
        hb.blocked(f, over=First.set)

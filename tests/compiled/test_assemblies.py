"""Arrays that are put together from pieces between constant numbers: each piece is stored at its places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import hilbert.all as hb
from diff.terms.lower import planned
from hilbert.compiled.lower.assembled import assemblies
from hilbert.relation import Inclusion, function
from linmap import gather

N = 7
V, W = hb.R ** hb.Fin.of(N), hb.R ** hb.Fin.of(3 * N)
RNG = np.random.default_rng(0)
NONE, DRAWN = np.zeros(N), RNG.standard_normal(N)
ALL = hb.Fin.of(3 * N)
MOVED = gather(function(RNG.permutation(3 * N), ALL, ALL))


@pytest.mark.parametrize("is_moved", [False, True])
@pytest.mark.parametrize(
    ("numbers", "is_assembled"),
    [
        ([NONE, DRAWN, NONE], True),
        ([NONE, np.full(N, 2.0), NONE], True),
        ([NONE, NONE, NONE], True),
        ([NONE, DRAWN, np.eye(N)[0]], False),  # a number where a piece is
        ([NONE + 1.0, DRAWN, NONE], False),
    ],
)
def test_numbers_between_pieces(numbers: Any, is_assembled: object, is_moved: object) -> None:
    """The result is that of the interpreter; it is put together where the numbers stand beside the pieces."""
    base = hb.const(W.vec(np.concatenate(numbers)))

    def f(x: Any) -> Any:
        whole = base + hb.sin(x).pad(0, 2 * N) + hb.square(x).pad(2 * N, 0)
        return MOVED(whole) if is_moved else whole

    made = hb.fun(V)(f)
    code, x = hb.compiled(made), V.random(np.random.default_rng(1))
    assert np.allclose(code(x).array, made(x).array, rtol=1e-14, atol=0.0)
    assert bool(assemblies(planned(made).line)[0]) is is_assembled


@pytest.mark.parametrize(
    ("numbers", "is_assembled"),
    [(np.eye(3)[1], True), (np.zeros(3), True), (np.ones(3), False)],
    ids=["between", "zeros", "where pieces are"],
)
def test_pieces_that_alternate(numbers: Any, is_assembled: object) -> None:
    """Entries of one piece stand between those of the other, and numbers between both."""
    base = hb.const(W.vec(np.tile(numbers, N)))
    first, last = (hb.red(Inclusion(hb.Fin.of(N), ALL, k, 3)) for k in (0, 2))
    made = hb.fun(V)(lambda x: first(hb.sin(x)) + base + last(hb.square(x)))
    code, x = hb.compiled(made), V.random(np.random.default_rng(1))
    assert np.allclose(code(x).array, made(x).array, rtol=1e-14, atol=0.0)
    assert bool(assemblies(planned(made).line)[0]) is is_assembled


def wholes(shift: int) -> Any:
    """Two pieces between zeros, of which the second begins so many places behind the first."""
    zeros = hb.const(W.zeros())
    return lambda x: zeros + hb.sin(x).pad(0, 2 * N) + hb.square(x).pad(shift, 2 * N - shift)


OTHERS: dict[str, tuple[Any, bool]] = {
    "pieces that meet": (wholes(N - 1), False),
    "pieces that do not": (wholes(N + 1), True),
    "entries that are read twice": (lambda x: gather(function(np.arange(3 * N) // 2, ALL, ALL))(wholes(N)(x)), False),
    "a whole that is moved and read": (lambda x: (MOVED(whole := wholes(N)(x)), whole), True),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_put_together(name: str) -> None:
    """Pieces that have places of their own, in an order that is a permutation, which nothing else reads."""
    f, is_assembled = OTHERS[name]
    made = hb.fun(V)(f)
    x = V.random(np.random.default_rng(1))
    for found, due in zip(hb.compiled(made)(x).leaves, made(x).leaves, strict=True):
        np.testing.assert_allclose(found, due, rtol=1e-14)
    line = planned(made).line
    assert all(k not in assemblies(line)[1] for k in line.outputs)
    assert (name != "pieces that meet") or not assemblies(line)[0]
    assert bool(assemblies(line)[0]) >= is_assembled


def test_pieces_of_matrices() -> None:
    """Rows of zeros, between which the rows of two matrices stand, are no flat array."""
    M = hb.R ** (hb.Fin.of(N) * hb.Fin.of(4))
    zeros = hb.const((hb.R ** (ALL * hb.Fin.of(4))).zeros())
    made = hb.fun(M)(lambda x: zeros + hb.sin(x).pad(0, 2 * N, over=0) + hb.square(x).pad(N, N, over=0))
    x = M.random(np.random.default_rng(1))
    np.testing.assert_allclose(hb.compiled(made)(x).array, made(x).array, rtol=1e-14)


def test_single_precision() -> None:
    """Numbers between pieces are of the precision of the pieces."""
    short, whole = hb.R32 ** hb.Fin.of(N), hb.R32**ALL
    base = hb.const(whole.vec(np.concatenate([NONE, DRAWN, NONE]).astype(np.float32)))
    made = hb.fun(short)(lambda x: base + hb.sin(x).pad(0, 2 * N) + hb.square(x).pad(2 * N, 0))
    assert assemblies(planned(made).line)[0]
    x = short.vec(DRAWN.astype(np.float32))
    np.testing.assert_allclose(hb.compiled(made)(x).array, made(x).array, rtol=1e-6)

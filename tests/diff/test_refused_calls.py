"""What is refused where a function, a position or an array is given, in words that say what would fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert.all import Fin, R, SpaceError
from tests.untyped import while_

X, Y = Fin.of(3), Fin.of(2)
V, M = R**X, R ** (X * X)
A, v = M.random(np.random.default_rng(0)), V.ones()
pair: Any = hb.fun(V, V)(lambda a, b: a * b)
of: Any = hb
shared: Any = hb.fun(V, V, V)(lambda a, b, c: a * b + c)


class Batch:
    """The tag of batches."""


def identity(_: Any, a: Any) -> Any:
    return a


def leaves_by(f: Any) -> Any:
    """An expression's leaves by a function."""
    return hb.fun(V)(lambda a: a.map_leaves(f))


CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "a condition of two": (
        lambda: while_(lambda a, b: a.sum() < b, lambda a: a, v),
        "argument to its condition",
    ),
    "a step of none": (lambda: while_(lambda a: a.sum() < 0.0, lambda: v, v), "gives one argument to its step"),
    "forward of one": (lambda: of.linear_map("f1", V, V, lambda a: a, identity), "takes (xp, a), not (a)"),
    "adjoint of one": (lambda: of.linear_map("f2", V, V, identity, lambda a: a), "takes (xp, b), not (a)"),
    "leaves without paths": (lambda: v.map_leaves(lambda w: w), "takes (path, v), not (w)"),  # type: ignore[arg-type, misc]
    "leaves without paths, traced": (lambda: leaves_by(lambda w: w), "takes (path, v), not (w)"),
    "leaves by no function, traced": (lambda: leaves_by(3), "takes a function of path and leaf, not 3"),
    "a rule of one": (
        lambda: of.initial(V, np.random.default_rng(0), lambda s: s),
        "(path, space, rng), not (s)",
    ),
    "over a word": (lambda: of.batched(pair, Batch, over="x"), "does not name parts"),
    "over a number": (lambda: of.batched(pair, Batch, over=1.5), "does not name parts"),
    "over twice": (lambda: of.lift(shared, Y, over=(0, 0)), "does not name parts"),
    "over an array": (lambda: of.lift(shared, Y, over=np.zeros(3, int)), "does not name parts"),
    "batched of no truth": (lambda: of.operation("f3", V, to=V, value=identity, batched="yes"), "batched=…"),
    "broadcasts of no truth": (lambda: of.operation("f4", V, to=V, value=identity, broadcasts=2), "broadcasts=…"),
    "a list": (lambda: hb.fun(V)(lambda a: [a]), "write a tuple"),  # type: ignore[arg-type, return-value]
    "no axis": (lambda: v.rep(R ** (Y * Y)), f"{X} is no axis of"),
    "a right side first": (lambda: of.solve(v, A), "the arguments 2, 1, in this order, would fit"),
    "one position": (lambda: of.gather([0, 3], X), "position 3 does not lie in"),
    "a huge position": (lambda: v[10**400], "an integer of 1329 bits"),
    "a tensor for a matrix": (lambda: of.solve(of.outer(v, v), v), 'contract("i,j->ij", v, w, to=R ** (X * Y))'),
    "a tensor transposed": (lambda: of.outer(v, v).T, 'contract("i,j->ij"'),
    "a tensor in a product": (lambda: of.outer(v, v) @ v, 'contract("i,j->ij"'),
    "a tensor's diagonal": (lambda: of.outer(v, v).diagonal(), 'contract("i,j->ij"'),
    "a tensor in a sum": (lambda: of.outer(v, v) + A, 'contract("i,j->ij"'),
}


@pytest.mark.parametrize("name", CALLS)
def test_refused(name: str) -> None:
    call, due = CALLS[name]
    with pytest.raises(SpaceError) as caught:
        call()
    assert due in str(caught.value)
    assert len(str(caught.value)) < 500


def test_in_the_other_order_too_where_neither_fits() -> None:
    """Then nothing is said of the order."""
    with pytest.raises(SpaceError) as caught:
        of.solve(v, v)
    assert "order" not in str(caught.value)


@pytest.mark.parametrize("batched", [False, True])
def test_an_array_that_a_function_keeps_stays_its_own(*, batched: bool) -> None:
    """It may be written to, and no result changes by that."""
    kept = np.ones(3)
    one: Any = of.operation("keeps", V, to=V, value=lambda _, __: kept, batched=batched)
    linear: Any = of.linear_map("keeps", V, V, lambda _, __: kept, lambda _, __: kept, batched=batched)
    for f in (one, linear):
        kept[:] = 1.0
        made = f(v)
        kept[:] = 7.0
        assert np.array_equal(made.array, np.ones(3))

"""Entrances that are rarely used: what does not fit is refused, what never changes is not copied, at any depth."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from diff import directional, fun, sin
from hilbert import Fin, R, SpaceError, Vec, Zero, direct_sum, fan_in
from hilbert.relation import equality, leq
from linmap import identity, matrix, red

X = Fin.of(3)
V = R**X
RNG = np.random.default_rng(0)
DEEP: Any = V
for _ in range(70):
    DEEP **= Fin.of(1)
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "an order without end": (lambda: directional(fun(V)(lambda x: sin(x) @ x), 10**12), "100000 are the most"),
    "a slice by an array": (lambda: V.ones()[np.array([0, 1]) :], "the bounds of a slice"),
    "an initial value of no array": (lambda: fan_in("a", Zero(), RNG), "fan_in draws one array"),
    "an initial value of two arrays": (lambda: fan_in("a", direct_sum(V, V), RNG), "and .* has 2"),
    "an initial value of no space": (lambda: fan_in("a", 3, RNG), "fan_in"),  # type: ignore[arg-type]
    "a picture of −1 rows": (lambda: leq(X).picture(rows=-1), "a number of rows from 1 on, not -1"),
    "a picture of None columns": (lambda: leq(X).picture(columns=None), "of columns"),  # type: ignore[arg-type]
    "a vector of 71 axes": (lambda: DEEP.zeros(), "71 axes, and arrays have at most 64"),  # noqa: PLW0108
    "a flat vector of 71 axes": (lambda: DEEP.unflat([1.0, 2.0, 3.0]), "71 axes"),
    "a matrix of a map of 71 axes": (lambda: matrix(identity(DEEP), as_="array"), "axes, and arrays"),
    "a vector of a list": (lambda: Vec(V, [1, 2, 3]), "is made by V.vec"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    """By a SpaceError that names it."""
    given, message = REFUSED[name]
    with pytest.raises(SpaceError, match=message):
        given()


def test_copies_at_any_depth() -> None:
    """Index sets, relations, spaces, maps and functions never change: a copy is the object itself."""
    index: Any = X
    relation: Any = leq(X)
    space: Any = direct_sum(V, V)
    for _ in range(300):
        index, relation, space = index * Fin.of(1), relation * equality(Fin.of(1)), direct_sum(space, R)
    for a in (index, relation, R**index, red(relation), space, 2 * identity(space), fun(V)(sin)):
        assert copy.deepcopy(a) is copy.copy(a) is a
        assert pickle.loads(pickle.dumps(a)) == a

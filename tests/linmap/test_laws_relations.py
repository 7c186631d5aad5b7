"""Which relations compose to one: the number of ways from x to z is that of the result, a whole number of times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hilbert import Fin, Unit
from hilbert.relation import equality, full, function, geq, greater, leq, pairs, partial, rotation, run, sliding, window
from linmap.laws.laws.relation_laws import is_empty, is_identity, one_relation

X, Y, Z, L = Fin.of(2), Fin.of(3), Fin.of(4), Fin.of(7)
f, g = function([2, 0], X, Y), function([3, 3, 1], Y, Z)
turn = function([2, 0, 1], Y, Y)
some, other = partial(np.array([True, False, True]), Y), partial(np.array([True, True, False]), Y)
CASES: dict[str, tuple[Any, Any]] = {
    "id after": (equality(Y), f),
    "id before": (f, equality(X)),
    "full after full": (full(Y, Z), full(X, Y)),
    "full after full on one element": (full(Y, Unit()), full(Unit(), Y)),
    "full after a function": (full(Y, Z), f),
    "full after a run": (full(Z, X), run(Y, Z, 1)),
    "full after windows": (full(Z, X), sliding(Z, 2)),
    "full after a rotation": (full(Y, Z), rotation(Y, 2)),
    "gather after full": (f.T, full(Z, Y)),
    "slice after full": (run(Y, Z, 1).T, full(X, Z)),
    "windows after full": (sliding(Z, 2).T, full(X, Z)),
    "rotation after full": (rotation(Y, 1), full(Z, Y)),
    "rotations": (rotation(Y, 2), rotation(Y, 2)),
    "rotations of nothing": (rotation(Fin.of(0), 0), rotation(Fin.of(0), 0)),
    "masks": (some, other),
    "functions": (g, f),
    "gathers": (f.T, g.T),
    "back from an injective function": (f.T, f),
    "a permutation, back and there": (turn, turn.T),
    "a run of all elements, back and there": (run(Y, Y, 2, -1), run(Y, Y, 2, -1).T),
    "run after a function": (run(Y, L, 5, -2), f),
    "function after a run": (g, run(X, Y, 1)),
    "runs": (run(Y, L, 6, -3), run(X, Y, 2, -2)),
    "slices": (run(X, Y, 2, -2).T, run(Y, L, 6, -3).T),
    "back from a run": (run(Y, L, 6, -3).T, run(Y, L, 6, -3)),
    "run inside a longer one": (run(Z, L, 2).T, run(X, L, 3)),
    "run at the start of a longer one": (run(Z, L, 2).T, run(X, L, 2)),
    "run at the end of a longer one": (run(Z, L, 2).T, run(X, L, 4)),
    "run round a shorter one": (run(X, L, 3).T, run(Z, L, 2)),
    "run round one at its end": (run(X, L, 4).T, run(Z, L, 2)),
    "runs that overlap": (run(Z, L, 3).T, run(Y, L, 1)),
    "runs that overlap the other way": (run(Y, L, 1).T, run(Z, L, 3)),
    "runs apart": (run(X, L, 0).T, run(Y, L, 4)),
    "runs apart the other way": (run(X, L, 5).T, run(Y, L, 0)),
    "products": (full(Y, Z) * rotation(X, 1), full(X, Y) * rotation(X, 1)),
    "products with counts": (full(Y, Z) * full(Z, X), full(X, Y) * full(Y, Z)),
    "sums": (g + rotation(X, 1), f + rotation(X, 1)),
    "sums with counts": (full(Y, Z) + full(Y, X), full(X, Y) + full(Z, Y)),
}
APART: dict[str, tuple[Any, Any]] = {
    "a run of some elements, back and there": (run(Y, Z, 0), run(Y, Z, 0).T),
    "back from a function": (function([0, 0, 1, 2], Z, Y).T, f),
    "after the converse of a function": (f, f.T),
    "orders": (leq(Y), leq(Y)),
    "steps that differ": (run(Y, L, 0, 3).T, run(Z, L, 0, 2)),
    "full after the converse of a function": (full(X, Z), f.T),
    "pairs": (pairs([(0, 1), (2, 1)], Y, Z), pairs([(0, 0), (0, 2)], X, Y)),
    "windows": (window(Z, 2), window(L, 3)),
    "windows after the converse of a function": (sliding(Z, 2).T, function([1, 0, 1, 2], Z, Y).T),
    "sums of unequal counts": (full(Y, Z) + full(X, X), full(X, Y) + full(Z, X)),
    "products of other sets": (full(Y, X) * full(X, Y), equality(Y) * leq(X)),
    "products of which one does not compose": (leq(Y) * full(X, Z), leq(Y) * full(Y, X)),
    "sums of which one does not compose": (leq(Y) + rotation(X, 1), leq(Y) + rotation(X, 1)),
}


def truth(R: Any) -> Any:
    """R as a matrix of zeros and ones, x by y."""
    matrix = np.zeros((R.dom.size, R.cod.size))
    np.add.at(matrix, R.holds(), 1.0)
    return matrix


@pytest.mark.parametrize("name", CASES)
def test_composed(name: str) -> None:
    """red_S • red_R = k·red_{S∘R}; the same table has the same token when it is made again."""
    S, R = CASES[name]
    found = one_relation(S, R)
    assert found is not None
    k, relation = found
    assert (relation.dom, relation.cod) == (R.dom, S.cod)
    assert (k * truth(relation) == truth(R) @ truth(S)).all()
    assert one_relation(S, R) == found


def test_one_run_inside_another() -> None:
    """Where one of two runs lies in the other, what they share is a run, or the converse of one."""
    assert one_relation(run(Z, L, 2).T, run(X, L, 3)) == (1, run(X, Z, 1))
    assert one_relation(run(X, L, 3).T, run(Z, L, 2)) == (1, run(X, Z, 1).T)


@pytest.mark.parametrize("name", APART)
def test_apart(name: str) -> None:
    """No one form says it, or the ways are not equally many."""
    assert one_relation(*APART[name]) is None


def test_tables_are_told_apart() -> None:
    """Composites of different tables are different."""
    h = function([1, 1], X, Y)
    composites = [(g, f), (g, h), (function([0, 1, 2], Y, Z), f), (g, run(X, Y, 1)), (g, run(X, Y, 0))]
    found = [one_relation(*pair) for pair in composites]
    assert len({relation.positions.token for _, relation in found}) == len(found)  # type: ignore[misc, union-attr]
    masks = [one_relation(some, other), one_relation(some, some), one_relation(other, other)]
    assert len({relation.keep.token for _, relation in masks}) == len(masks)  # type: ignore[misc, union-attr]


RELATIONS = [
    *(relation for pair in (CASES | APART).values() for relation in pair),
    *(run(Y, Y, 0), run(Y, Y, 2, -1), run(Y, Y, 2, -1).T, run(Unit(), Unit(), 0), run(Fin.of(1), Fin.of(1), 0, 2).T),
    *(full(Unit(), Unit()), full(Y, Y), leq(Fin.of(1)), geq(Fin.of(1)), greater(Fin.of(1)), leq(Fin.of(0))),
    *(partial(np.ones(3, dtype=bool), Y), partial(np.zeros(3, dtype=bool), Y), pairs([], X, Y), full(X, Fin.of(0))),
    *(equality(X) * equality(Y), equality(X) * rotation(Y, 1), equality(X) + equality(Y), leq(X) + equality(Y)),
    *(
        pairs([], X, Y) * f,
        f * pairs([], X, Y),
        pairs([], X, Y) + pairs([], Y, X),
        pairs([], X, Y) + f,
        f + pairs([], X, Y),
    ),
    *(rotation(Y, 0), rotation(Y, 1), equality(Fin.of(0)), full(Fin.of(0), X)),
]


def test_identities() -> None:
    """What shows as an identity is one; the forms above that are one show it."""
    shown = [R for R in RELATIONS if is_identity(R)]
    assert all(R.dom == R.cod and (truth(R) == np.eye(R.dom.size)).all() for R in shown)
    assert len(set(shown)) == 14


def test_empty() -> None:
    """What shows as empty is so; the forms above that are show it."""
    shown = [R for R in RELATIONS if is_empty(R)]
    assert not any(truth(R).any() for R in shown)
    assert [R for R in RELATIONS if not truth(R).any() and R not in shown] == [greater(Fin.of(1))]

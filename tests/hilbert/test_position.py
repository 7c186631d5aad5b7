"""v[k] is π_k for vectors and expressions alike: numpy's indexing, with index sets that are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diff import fun
from hilbert import R32, Bool, Elements, Fin, Labelled, R, SpaceError, Unit, Vec, Zero, direct_sum
from linmap import equal, inject, project, rep


class Row:
    """An axis."""


class Column:
    """Another."""


class City:
    """An axis with labels."""


row, column, city = Fin(Row, 3), Fin(Column, 4), Labelled(City, ("Bergen", "Turku"))
RNG = np.random.default_rng(0)
vector, matrix = (R**column).random(RNG), (R ** (row * column)).random(RNG)
cube = (R ** (row * column * city)).random(RNG)
nested = ((R**column) ** row).random(RNG)
pairs = (direct_sum(R, R**column) ** row).random(RNG)
labels = (Elements(column) ** row).random(RNG)
truths = (Bool ** (row * column)).random(RNG)
table = (R**city).random(RNG)
S = np.s_
CASES: list[tuple[Vec[Any], Any, Any]] = [
    *((vector, key, R) for key in (0, 3, -1, -4, np.int64(2))),
    (vector, S[1:3], R ** Fin.of(2)),
    (vector, S[:], R**column),
    (vector, S[3:0:-2], R ** Fin.of(2)),
    (vector, S[::-1], R ** Fin.of(4)),
    *((vector, key, R ** Fin.of(0)) for key in (S[-6::-1], S[-5::-1], S[9:], S[2:1], S[1:3:-1])),
    (matrix, S[-4::-1, :], R ** (Fin.of(0) * column)),
    (vector, S[2:2], R ** Fin.of(0)),
    (vector, S[-2:], R ** Fin.of(2)),
    (matrix, S[1, 2], R),
    (matrix, S[-1, -1], R),
    (matrix, S[0, :], R**column),
    (matrix, S[:, 1], R**row),
    (matrix, S[:, :], R ** (row * column)),
    (matrix, S[:, 1:3], R ** (row * Fin.of(2))),
    (matrix, S[::-1, 1:3], R ** (Fin.of(3) * Fin.of(2))),
    (matrix, S[1, ::2], R ** Fin.of(2)),
    (cube, S[1, :, 0], R**column),
    (cube, S[:, 2, :], R ** (row * city)),
    (nested, S[1], R**column),
    (nested, S[0:2], (R**column) ** Fin.of(2)),
    (labels, S[1], Elements(column)),
    (labels, S[1:], Elements(column) ** Fin.of(2)),
    (truths, S[:, 0], Bool**row),
    (table, S[1], R),
]


def on_expression(v: Vec[Any], key: Any) -> Vec[Any]:
    found: Vec[Any] = fun(v.space)(lambda x: x[key])(v)
    return found


@pytest.mark.parametrize(("v", "key", "space"), CASES)
def test_as_numpy(v: Vec[Any], key: Any, space: Any) -> None:
    """The entries are numpy's, the space is named; on vectors and on expressions."""
    for found in (v[key], on_expression(v, key)):
        assert found.space == space
        np.testing.assert_array_equal(found.array, v.array[key])


def test_parts_of_components() -> None:
    """(V ⊕ W)^X is stored as two arrays; a component has both."""
    assert pairs[1].space == direct_sum(R, R**column)
    for found in (pairs[1], on_expression(pairs, 1)):
        np.testing.assert_array_equal(found.array[1], pairs.array[1][1])


def test_labels() -> None:
    """A string is a label, an integer a position; labels that are tuples are no positions along two axes."""
    for found in (table["Turku"], table[1], table[-1], on_expression(table, "Turku")):
        assert float(found) == table.array[1]
    assert float(cube[0, 1, "Turku"]) == cube.array[0, 1, 1]
    with pytest.raises(SpaceError, match="'Oslo' is not a label of City2"):
        table["Oslo"]
    numbers = (R ** Labelled.of([5, 3])).vec([1.0, 2.0])
    assert float(numbers[0]) == 1.0
    days: Any = (R ** Labelled.of([(2024, 1), (2024, 2)])).vec([1.0, 2.0])
    assert float(days[2024, 2]) == 2.0


def test_projection() -> None:
    """v[k] is π_k(v)."""
    for k in range(4):
        assert equal(vector[k], project(R**column, k)(vector))


FAMILIES = [vector, nested, labels, pairs, table, direct_sum(R, R**row, R).ones(), (R ** Fin.of(0)).zeros()]


@pytest.mark.parametrize("v", FAMILIES, ids=lambda v: str(v.space))
def test_loops(v: Vec[Any]) -> None:
    """len counts parts or components, a loop visits them, unpacking takes them apart: as v[k] does."""
    found = list(v)
    assert len(found) == len(v)
    for k, part in enumerate(found):
        assert equal(part, v[k])
    traced: Any = fun(v.space)(lambda x: tuple(x) if len(x) == len(found) else x)
    for part, other in zip(found, traced(v), strict=True):
        assert equal(part, other)


def test_up_to_64() -> None:
    """64 components are iterated, 65 are not; parts are, any number."""
    assert len(list((R ** Fin.of(64)).ones())) == 64
    assert len(list(direct_sum(*[R] * 100).ones())) == 100
    with pytest.raises(SpaceError, match=r"65 components .* lift\(f, X\) .* \.array"):
        list((R ** Fin.of(65)).ones())
    assert len(matrix) == 12
    assert len((R ** Fin.of(65)).ones()) == 65


@pytest.mark.parametrize("v", [matrix, cube])
def test_no_loop_over_several_axes(v: Vec[Any]) -> None:
    """V^{X×Y} is not iterated: along which axis is not said."""
    with pytest.raises(SpaceError, match=r"has several axes: write A\[i, :"):
        list(v)
    with pytest.raises(SpaceError, match=r"does not say along which axis: write A\[0, :"):
        v[0]


@pytest.mark.parametrize("v", [R.vec(1.0), Bool.vec(data=True), vector.tensor(vector)])
def test_no_components(v: Vec[Any]) -> None:
    """Numbers, truth values and tensors have no components."""
    for refused in (lambda: len(v), lambda: list(v)):
        with pytest.raises(SpaceError, match="has no parts and no components"):
            refused()
    with pytest.raises(SpaceError, match="has no components, so"):
        v[0]


def test_the_unit() -> None:
    """V^𝟏 has one component, for no positions at all."""
    one: Any = (R ** Unit()).vec(2.0)
    assert float(one[()]) == 2.0
    assert len(one) == 1


def test_formal_components() -> None:
    """A component of a family of formal tensors is formal."""
    t = nested[0].tensor(vector)
    family = rep(Fin.of(2), t.space)(t)
    assert family.is_formal
    assert family[1].is_formal
    np.testing.assert_allclose(family[1].array, t.array)
    np.testing.assert_allclose(family[0:1].array[0], t.array)


def test_filled() -> None:
    """V.ones(), V.full(k) and V.random(rng, scale=s)."""
    space = direct_sum(R**row, R)
    assert space.ones().array[0].tolist() == [1.0, 1.0, 1.0]
    assert float(space.full(2.5)[1]) == 2.5
    plain, scaled = (space.random(np.random.default_rng(1), scale=s) for s in (1.0, 0.1))
    np.testing.assert_allclose(scaled.flat(), 0.1 * plain.flat(), rtol=1e-15)
    assert direct_sum(R, Elements(row)).random(RNG, scale=0.1)[1].space == Elements(row)
    wrong: Any = None
    truth: Any = Bool
    for refused in (lambda: truth.full(1.0), lambda: R.full(wrong), lambda: R.random(RNG, scale=wrong)):
        with pytest.raises(SpaceError):
            refused()


def test_projections_take_positions_and_labels() -> None:
    """On labels that are integers, an integer is a position for v[k], π_k and ι_k alike."""
    X = Labelled.of([2, 0, 1])
    v = (R**X).vec([10.0, 20.0, 30.0])
    assert float(v[0]) == float(project(R**X, 0)(v)) == 10.0
    assert inject(R**X, 0)(R.vec(1.0)).array.tolist() == [1.0, 0.0, 0.0]
    with pytest.raises(SpaceError, match="3 is not an element"):
        project(R**X, 3)


@pytest.mark.parametrize("labels", [{"a", "b"}, frozenset("ab"), {"a": 1}, b"ab"])
def test_labels_stand_in_an_order(labels: Any) -> None:
    """Sets, in no lasting order, and bytes are no labels."""
    with pytest.raises(SpaceError, match="a sequence in a fixed order"):
        Labelled.of(labels)


def test_pairs_of_vectors() -> None:
    """An element of a direct sum is made of arrays, or of vectors of its parts."""
    V = R ** Fin.of(2)
    u = V.vec([1.0, 2.0])
    assert direct_sum(V, R).vec((u, R.vec(3.0))).flat().tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(SpaceError, match="is not an element of"):
        direct_sum(V, R).vec((R.vec(3.0), u))


def test_parts_given_as_vectors() -> None:
    """Where a tuple is read a part may be a vector: also of 0, of W^X in (V ⊕ W)^X, and formal ones stay formal."""
    V, W, X = R ** Fin.of(3), R ** Fin.of(2), Fin.of(4)
    S = direct_sum(V, W)
    v, w = V.random(RNG), W.random(RNG)
    assert equal(S.vec((v, w))[0], v)
    nested = direct_sum(S, Zero(), V).vec(((v, [1.0, 2.0]), Zero().zeros(), v))
    assert [a.tolist() for a in nested.leaves] == [v.array.tolist(), [1.0, 2.0], v.array.tolist()]
    Y = Fin.of(5)
    rows = (V**X).random(RNG), (W**X).random(RNG)
    assert all(map(equal, (S**X).vec(rows).split(), rows))
    tables = ((V**X) ** Y).random(RNG), ((W**X) ** Y).random(RNG)
    assert all(map(equal, ((S**X) ** Y).vec(tables).split(), tables))
    u = v.tensor(w)
    assert direct_sum(u.space, V).vec((u, v)).is_formal
    wrong: list[Any] = [(w, v), (v,), (v, w, w), (v, (R32 ** Fin.of(2)).zeros())]
    for given in wrong:
        with pytest.raises(SpaceError):
            S.vec(given)


def test_labels_are_found_by_hashing() -> None:
    """A label is looked up, not searched for: labels that are tuples, and what is no label or cannot be hashed."""

    class Compared(tuple[int, ...]):
        """A label that counts how often it is compared."""

        __slots__ = ()
        asked = 0

        def __eq__(self, other: object) -> bool:
            Compared.asked += 1
            return tuple.__eq__(self, other)

        __hash__ = tuple.__hash__

    X = Labelled(City, [Compared((k, 0)) for k in range(1000)])
    v: Any = (R**X).vec(np.arange(1000.0))
    Compared.asked = 0
    assert [float(v[k, 0]) for k in range(0, 1000, 100)] == list(range(0, 1000, 100))
    assert Compared.asked <= 40
    assert (999, 0) in X
    assert (1000, 0) not in X
    assert [0] not in X  # which cannot be hashed
    assert 2 in row
    assert 3 not in row


def test_positions_are_not_searched_for() -> None:
    """A position that is numpy's integer is found at once, and so is that there is none."""
    X = Fin.of(10**12)
    assert np.int64(10**11) in X
    assert np.int64(-1) not in X
    assert "a" not in X

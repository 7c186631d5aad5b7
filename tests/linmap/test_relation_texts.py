"""The text of a relation says which it is: reductions of one type with one full text are equal, in every form."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from diff import conv, fun, show
from hilbert import Fin, R, Relation, Unit
from hilbert.relation import (
    Window,
    agreement,
    equality,
    full,
    function,
    geq,
    greater,
    leq,
    less,
    pairs,
    partial,
    reversal,
    rotation,
    run,
    sliding,
)
from linmap import equal, red
from linmap.printing.relation_text import reduction
from linmap.printing.text_names import Names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

A, B, C = Fin.of(2), Fin.of(3), Fin.of(4)
SETS = (A, B, C, A * A)
Rel = Relation[Any, Any]


def on_one(X: Any) -> Iterator[Rel]:
    """Of X to itself: orders, rotations and subsets."""
    yield from (equality(X), leq(X), geq(X), less(X), greater(X), reversal(X))
    yield from (rotation(X, by) for by in range(1, X.size))
    yield from (partial(np.arange(X.size) % 2 == k, X) for k in (0, 1))


def between(X: Any, Y: Any) -> Iterator[Rel]:
    """Of X to Y: everything, two tables of each kind, runs, windows of all geometries."""
    yield full(X, Y)
    yield from (function((np.arange(X.size) + k) % Y.size, X, Y) for k in (0, 1))
    yield from (pairs([(0, k), (1, 1)], X, Y) for k in (0, 1))
    for offset, stride in product(range(Y.size), (-2, -1, 1, 2)):
        if 0 <= offset + stride * (X.size - 1) < Y.size:
            yield run(X, Y, offset, stride)
    for width, stride, offset, dilation in product((1, 2), (1, 2), (-1, 0, 1), (1, 2)):
        yield Window(X, Y, width, stride, offset, dilation)


def side_by_side() -> Iterator[Rel]:
    """Windows as a table, of all geometries that lie inside."""
    for X, width, stride, offset, dilation in product((*SETS, Fin.of(7)), (1, 2), (1, 2, 3), (0, 1), (1, 2)):
        yield sliding(X, width, stride=stride, offset=offset, dilation=dilation)


def simple() -> list[Rel]:
    """The forms that are not made of others, and their transposes."""
    found = [r for X in SETS for r in on_one(X)] + [r for X, Y in product(SETS, SETS) for r in between(X, Y)]
    found += [*side_by_side(), *(run(Unit(), X, k) for X in SETS for k in range(X.size)), full(C, Unit())]
    labels = ["".join(p) for n in (1, 2, 3) for p in product("ij", repeat=n)]
    made = {(s, t): (math(s), math(t)) for s, t in product(labels, labels)}
    found += [agreement(f"{s}->{t}", X, Y) for (s, t), (X, Y) in made.items()]
    return [r for relation in found for r in (relation, relation.T)]


def math(labels: str) -> Any:
    """A × A × … for each label."""
    X: Any = A
    for _ in labels[1:]:
        X = X * A
    return X


def compound(some: Sequence[Rel]) -> Iterator[Rel]:
    """Products, sums and compositions of two; transposes of these."""
    for r, s in product(some, some):
        yield from (r * s, r + s, (r + s).T)
        if r.cod == s.dom and r.is_partial_function:
            yield from (s @ r, (s @ r).T)


def checked(relations: list[Rel]) -> int:
    """How many pairs share type, text and data; all of them are equal."""
    known: dict[Any, Rel] = {}
    shared = 0
    for relation in relations:
        names = Names()
        text = reduction(relation, names)
        key = relation.dom, relation.cod, text, tuple(names.names.items()), tuple(names.lines)
        before = known.setdefault(key, relation)
        if before is not relation:
            shared += 1
            assert equal(red(before), red(relation)), f"{text}: {relation.dom} → {relation.cod}"
    return shared


def test_simple_relations() -> None:
    """Each text is that of one relation."""
    relations = simple()
    assert len(relations) > 1000
    assert checked(relations) > 100


def test_compound_relations() -> None:
    """And of products, sums and compositions of two, tables among them; of windows between all sets."""
    rng = np.random.default_rng(0)
    relations = simple()
    some = [relations[k] for k in rng.permutation(len(relations))[:50]]
    windows = [Window(X, Y, width, 2, 0, width) for X, Y, width in product(SETS, SETS, (1, 2))]
    assert checked([*compound(some), *compound(windows)]) > 50


def test_windows_say_their_steps() -> None:
    """Stride and dilation tell functions of one type apart; what is 1, or an offset of 0, is not written."""
    V: Any = R ** (C * Fin.of(1))
    w = (R ** (A * Fin.of(1) * Fin.of(1))).vec([[[1.0]], [[2.0]]])
    strided, dilated = (
        fun(V)(lambda x, steps=steps: conv(x, w, **steps)) for steps in ({"stride": 2}, {"dilation": 2})
    )
    assert (strided.dom, strided.cod) == (dilated.dom, dilated.cod)
    assert show(strided) != show(dilated)
    assert str(red(sliding(C, 2, stride=2))) == "red[windows(2×2→4, stride 2)]"
    assert str(red(sliding(C, 2))) == "red[windows(3×2→4)]"
    assert str(red(sliding(C, 2, offset=1).T)) == "red[(windows(2×2→4, offset 1))ᵀ]"


def test_tables_inside_have_names() -> None:
    """A table in a product or a sum is named, and a subset of the elements."""
    table = function([0, 1, 0, 1], C, A)
    assert str(red(table * equality(A))).splitlines() == ["red[a × id]", "  where a : 4→2"]
    assert str(red(table.T + equality(A))).splitlines() == ["red[aᵀ + id]", "  where a : 4→2"]
    assert str(red(partial([True, False], A))).splitlines() == ["red[id on a]", "  where a ⊆ 2"]

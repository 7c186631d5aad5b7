"""The named linear functions against numpy: on any space, under copowers, with their adjoints, in traced functions."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings

from adjoint import adjoint, grad
from diff import fun, inner
from hilbert import DirectSum, Elements, Fin, Index, R, SpaceError, Unit, Vec
from hilbert.index.index import Labelled
from hilbert.relation import by_key, function, geq, leq
from linmap import (
    concatenate,
    crop,
    cumsum,
    differences,
    flip,
    gather,
    group_by,
    pad,
    permute,
    pool,
    red,
    reshape,
    roll,
    segment_sum,
    split,
    total,
    windows,
)
from linmap.term.nodes import Lifted
from tests.strategies import Source, close, elements, gathered, of_leaves, same, sources

Array: TypeAlias = Any
Case: TypeAlias = tuple[Any, Callable[..., Array]]
"""A map from V^X, or from a direct sum of copowers of V, and what numpy does with arrays whose first axis is X."""


def some(s: Source, *, empty: bool = True) -> Index:
    return s.index(empty=empty)


def table(s: Source) -> tuple[Index, Index, Array]:
    """X, Y and positions in X for each y ∈ Y."""
    Y = some(s)
    X = some(s, empty=not Y.size)
    return X, Y, s.rng().integers(0, max(X.size, 1), Y.shape)


def summed(x: Array, size: int, v: Array) -> Array:
    out = np.zeros((size, *v.shape[1:]), v.dtype)
    np.add.at(out, x.reshape(-1), v)
    return out


def of_gather(s: Source, V: Any) -> Case:
    X, Y, x = table(s)
    forms = [
        lambda: gather(x, X, V, rows=Y),
        lambda: gather(x.reshape(-1).tolist(), X, V, rows=Y),
        lambda: gather(function(x.reshape(-1), Y, X), V),
        lambda: gather((Elements(X) ** Y).vec(x), V),
    ]
    return s.one_of(forms)(), lambda v: v[x.reshape(-1)]


def of_segment_sum(s: Source, V: Any) -> Case:
    X, Y, x = table(s)
    forms = [
        lambda: segment_sum(x, X, V, rows=Y),
        lambda: segment_sum(function(x.reshape(-1), Y, X), V),
        lambda: segment_sum((Elements(X) ** Y).vec(x), V),
    ]
    return s.one_of(forms)(), lambda v: summed(x, X.size, v)


def of_group_by(s: Source, V: Any) -> Case:
    column = s.rng().choice(list("abc"), s.size(6))
    keys = list(dict.fromkeys(column.tolist()))
    places = np.array([keys.index(key) for key in column], dtype=int)
    return group_by(column, V), lambda v: summed(places, len(keys), v)


def of_permute(s: Source, V: Any) -> Case:
    X = some(s)
    order = s.rng().permutation(X.size)
    return permute(order, X, V), lambda v: v[order]


def of_cumsum(s: Source, V: Any) -> Case:
    X, reverse, exclusive = some(s), s.flag(), s.flag()

    def sums(v: Array) -> Array:
        v = v[::-1] if reverse else v
        v = np.cumsum(v, axis=0) - (v if exclusive else 0)
        return v[::-1] if reverse else v

    return cumsum(X, V, reverse=reverse, exclusive=exclusive), sums


def of_pad(s: Source, V: Any) -> Case:
    X, before, after = some(s), s.integer(0, 3), s.integer(0, 3)
    to = s.one_of([None, Fin.of(before + X.size + after)])
    return pad(X, before, after, V, to=to), lambda v: np.pad(v, ((before, after), *((0, 0),) * (v.ndim - 1)))


def of_crop(s: Source, V: Any) -> Case:
    X = some(s)
    start, stop = (s.one_of([None, *range(-7, 8)]) for _ in range(2))
    step = s.one_of([-3, -2, -1, 1, 2, 3])
    return crop(X, start, stop, V, step=step), lambda v: v[start:stop:step]


def of_roll(s: Source, V: Any) -> Case:
    X, by = some(s), s.integer(-6, 6)
    return roll(X, by, V), lambda v: np.roll(v, by, axis=0)


def of_flip(s: Source, V: Any) -> Case:
    return flip(some(s), V), lambda v: v[::-1]


def of_reshape(s: Source, V: Any) -> Case:
    X, Y = Fin.of(s.size(3)), Fin.of(s.size(4))
    here, there = s.one_of([(X * Y, Y * X), (X * Y, Fin.of(X.size * Y.size)), (Fin.of(X.size * Y.size), X * Y)])
    return reshape(here, there, V), lambda v: v


def of_concatenate(s: Source, V: Any) -> Case:
    sets = [some(s) for _ in range(s.size(4, 1))]
    to = s.one_of([None, Fin.of(sum(X.size for X in sets))])
    return concatenate(*sets, V=V, to=to), lambda *parts: np.concatenate(parts)


def of_windows(s: Source, V: Any) -> Case:
    X, width, stride, dilation = some(s), s.integer(1, 3), s.integer(1, 3), s.integer(1, 2)
    starts = np.arange(0, X.size - dilation * (width - 1), stride)
    places = (starts[:, None] + dilation * np.arange(width)).reshape(-1)
    return windows(X, width, V, stride=stride, dilation=dilation), lambda v: v[places]


def of_pool(s: Source, V: Any) -> Case:
    X, width = some(s), s.integer(1, 3)
    stride = s.one_of([None, 1, 2, 3])
    starts = range(0, X.size - width + 1, stride or width)
    return pool(X, width, V, stride=stride), lambda v: rows([v[k : k + width].sum(axis=0) for k in starts], v)


def rows(parts: list[Array], like: Array) -> Array:
    return np.stack(parts) if parts else like[:0]


def of_differences(s: Source, V: Any) -> Case:
    return differences(some(s), V), lambda v: np.diff(v, axis=0)


CASES: dict[str, Callable[[Source, Any], Case]] = {
    "gather": of_gather,
    "segment_sum": of_segment_sum,
    "group_by": of_group_by,
    "permute": of_permute,
    "cumsum": of_cumsum,
    "pad": of_pad,
    "crop": of_crop,
    "roll": of_roll,
    "flip": of_flip,
    "reshape": of_reshape,
    "concatenate": of_concatenate,
    "windows": of_windows,
    "pool": of_pool,
    "differences": of_differences,
}


def by_numpy(f: Any, V: Any, reference: Callable[..., Array], v: Vec[Any]) -> Vec[Any]:
    """The reference, for every array of V by itself."""
    parts = f.dom.parts if isinstance(f.dom, DirectSum) else (f.dom,)
    made = []
    for k, leaf in enumerate(V.leaves):
        arrays = [v.leaves[i * len(V.leaves) + k].reshape(part.index.size, *leaf.shape) for i, part in enumerate(parts)]
        result = reference(*arrays)
        assert result.shape == (f.cod.index.size, *leaf.shape)
        made.append(result.reshape(f.cod.leaves[k].shape))
    return of_leaves(f.cod, made)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=40)
@given(s=sources())
def test_numpy(name: str, s: Source) -> None:
    """f(v) is what numpy computes."""
    V = s.space(6)
    f, reference = CASES[name](s, V)
    v = s.vector(f.dom)
    assert same(f(v), by_numpy(f, V, reference, v))


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=10)
@given(s=sources())
def test_under_a_copower(name: str, s: Source) -> None:
    """f ** Z applies f to every element of Z."""
    f, _ = CASES[name](s, s.space(4))
    lifted = Lifted(f, s.index(3))
    v = s.vector(lifted.dom)
    assert same(lifted(v), gathered(lifted.cod, [f(part) for part in elements(v)]))


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=15)
@given(s=sources())
def test_adjoint(name: str, s: Source) -> None:
    """f(v) ⊙ w = v ⊙ f*(w), f** = f."""
    f, _ = CASES[name](s, R if s.flag() else R ** s.index(3))
    star = adjoint(f)
    v, w = s.vector(f.dom), s.vector(f.cod)
    assert f(v).inner(w) == v.inner(star(w))
    assert adjoint(star) == f


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=10)
@given(s=sources(single=False))
def test_in_a_traced_function(name: str, s: Source) -> None:
    """∇(½ f(x) ⊙ f(x)) = f*(f(x))."""
    f, _ = CASES[name](s, R)
    square = fun(f.dom)(lambda x: 0.5 * inner(f(x), f(x)))
    x = s.vector(f.dom)
    assert close(grad(square)(x), adjoint(f)(f(x)))


@given(sources())
def test_of_other_names(s: Source) -> None:
    """cumsum = red of ≤ or ≥, concatenate = split* for two, segment_sum = gather*; reshape may lead to 𝟏."""
    V, X, Y = s.space(4), some(s), some(s)
    assert cumsum(X, V) == red(leq(X), V)
    assert cumsum(X, V, reverse=True) == red(geq(X), V)
    assert concatenate(X, Y, V=V) == adjoint(split(V ** (X + Y)))
    x = function([X.size] * Y.size, Y, X + Unit())
    assert segment_sum(x, V) == red(x, V) == adjoint(gather(x, V))
    v = s.vector(V ** Fin.of(1))
    made = reshape(Fin.of(1), Unit(), V)(v)
    assert all(map(np.array_equal, made.leaves, total(Fin.of(1), V)(v).leaves))


def test_by_labels() -> None:
    """An index set with labels is indexed by them."""
    towns = Labelled.of(["Turku", "Bergen", "Aarhus"])
    v = (R**towns).vec([1.0, 2.0, 4.0])
    assert gather(["Aarhus", "Turku"], towns)(v).array.tolist() == [4.0, 1.0]
    w = (R ** Fin.of(3)).vec([1.0, 2.0, 4.0])
    assert segment_sum(["Aarhus", "Turku", "Aarhus"], towns)(w).array.tolist() == [2.0, 0.0, 5.0]
    assert group_by(["Aarhus", "Turku", "Aarhus"], towns).cod == R**towns
    assert permute(["Bergen", "Aarhus", "Turku"], towns)(v).array.tolist() == [2.0, 4.0, 1.0]
    assert gather(by_key(["Turku", "Turku"], keys=towns))(v).array.tolist() == [1.0, 1.0]


def test_other_sets_beside_a_relation() -> None:
    """A relation has its own index sets; one that is given beside it is the same, or an error."""
    X, Y = Fin.of(3), Fin.of(2)
    x = function([0, 2], Y, X)
    assert gather(x, X, rows=Y) == gather(x)
    with pytest.raises(SpaceError, match="leave it out"):
        gather(x, Y)
    with pytest.raises(SpaceError, match="takes the relation of a function"):
        gather(leq(X))

"""Conversions to and from arrays, nested tuples and one flat array are inverse to each other; none is writeable."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import hilbert
from hilbert import R32, Bool, DirectSum, Elements, R, SpaceError, direct_sum
from tests.strategies import Hidden, Pixel, Source, elements, gathered, same, sources

NAMES = vars(hilbert) | {"Pixel": Pixel, "Hidden": Hidden}


@given(sources())
def test_vec_and_array(s: Source) -> None:
    """V.vec(v.array) = v."""
    V = s.space()
    v = s.vector(V)
    assert same(V.vec(v.array), v)


@given(sources())
def test_nested_lists(s: Source) -> None:
    """V.vec of the nested lists of v is v, and lists of integers are taken where they are exact."""
    V = s.space()
    v = s.vector(V)
    assert same(V.vec(V.pack(iter([leaf.tolist() for leaf in v.leaves]))), v)
    assert same(V.vec(V.pack(iter([leaf.astype(int).tolist() for leaf in v.leaves]))), v)


@given(sources())
def test_repr(s: Source) -> None:
    """repr(v) evaluates back to the entries of a small vector."""
    v = s.vector(s.space())
    assert same(eval(repr(v), NAMES), v)  # noqa: S307 - what repr is for


@given(sources())
def test_flat_and_unflat(s: Source) -> None:
    """V.unflat(v.flat()) = v, and v.flat() has dim V entries."""
    V = s.space()
    v = s.vector(V)
    assert v.flat().shape == (V.dim,)
    assert same(V.unflat(v.flat()), v)


@given(sources(single=False))
def test_flat_of_a_space_that_mixes_fields(s: Source) -> None:
    """V.unflat(v.flat()) = v for V = U ⊕ W in single and double precision, in either order."""
    single = Source(s.draw, R32)
    parts = [s.space(8), single.space(8)]
    V: Any = direct_sum(*(reversed(parts) if s.flag() else parts))
    v = s.vector(V)
    assert same(V.unflat(v.flat()), v)


@given(sources())
def test_basis(s: Source) -> None:
    """v = Σ_i (v ⊙ e_i)·e_i, and e_i ⊙ e_j = δ_ij."""
    V = s.space(8)
    v, basis = s.vector(V), list(V.basis())
    assert len(basis) == V.dim
    total = V.zeros()
    for e in basis:
        total += v.inner(e) * e
    assert same(total, v)
    assert [e.inner(f) for e in basis for f in basis] == np.eye(V.dim).ravel().tolist()


def test_basis_of_mixed_fields() -> None:
    """The basis of ℝ ⊕ ℝ₃₂ is in its space."""
    V = direct_sum(R, R32)
    assert [e.array for e in V.basis()] == [(1.0, 0.0), (0.0, 1.0)]


@given(sources())
def test_components(s: Source) -> None:
    """A vector of V₁ ⊕ … ⊕ Vₙ is made of its components, and one of V^X of its elements."""
    V, W = s.sum(), s.copower()
    v, w = s.vector(V), s.vector(W)
    assert same(V.vec(tuple(v[k].array for k in range(len(V.parts)))), v)
    assert same(gathered(W, elements(w)), w)


@given(sources())
def test_discrete_values(s: Source) -> None:
    """Truth values and elements of index sets go in and out as arrays, also beside vectors, and have no flat form."""
    X = Elements(s.index(empty=False))
    V: Any = DirectSum((Bool, s.space(8), X ** s.index(), Bool ** s.index()))
    v = s.vector(V)
    assert same(V.vec(v.array), v)
    assert same(pickle.loads(pickle.dumps(v)), v)
    with pytest.raises(SpaceError, match="discrete"):
        v.flat()


@given(sources())
def test_pickle(s: Source) -> None:
    """loads(dumps(v)) = v, by == and in every entry; another vector with the same entries is not ==."""
    V = s.space()
    v = s.vector(V)
    found = pickle.loads(pickle.dumps(v))
    assert found == v
    assert hash(found) == hash(v)
    assert same(found, v)
    assert pickle.loads(pickle.dumps(V)) == V
    assert V.vec(v.array) != v


@given(sources())
def test_given_arrays_stay_the_users(s: Source) -> None:
    """V.vec(a) neither freezes a nor lets it be written through the vector; zeros, random, unflat are read-only too."""
    V = s.space()
    arrays = [np.ones(leaf.shape, leaf.dtype) for leaf in V.leaves]
    v = V.vec(V.pack(iter(arrays)))
    flat = np.zeros(V.dim, s.field.dtype)
    made = [v, V.zeros(), V.random(s.rng()), V.unflat(flat), v + v]
    for vector in made:
        for leaf in vector.leaves:
            assert not leaf.flags.writeable
    assert all(array.flags.writeable for array in arrays)
    assert flat.flags.writeable


@given(sources())
def test_dtypes(s: Source) -> None:
    """Integers go into ℝ, single precision into double, and nothing that would lose precision goes in."""
    X = s.index()
    ones = np.ones(X.shape)
    assert same((R**X).vec(ones.astype(np.int32)), (R**X).vec(ones))
    assert same((R**X).vec(ones.astype(np.float32)), (R**X).vec(ones))
    for space, array in ((R32**X, ones), (R**X, ones.astype(bool)), (R**X, ones.astype(complex))):
        with pytest.raises(SpaceError, match="dtype"):
            space.vec(array)


@pytest.mark.parametrize("space", [R, R ** hilbert.Fin.of(3)], ids=str)
def test_plots(space: Any) -> None:
    """matplotlib, which drops a ValueError of ours, shows a TypeError that says what to give it; it plots the array."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    v = space.ones()
    _, axes = pyplot.subplots()
    with pytest.raises(TypeError, match=r"matplotlib does not plot a vector of .*: write v.array of a vector v"):
        axes.plot(v)
    with pytest.raises(SpaceError, match=r"v\.array of a vector v is an array of numpy"):
        axes.hist(v)
    with pytest.raises(SpaceError, match="numpy's atleast_1d does not apply to a vector"):
        np.atleast_1d(v)
    axes.plot(v.array)
    pyplot.close()

"""red_R against its definition: every form, both directions, any base space, under copowers, in each namespace."""

import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from adjoint import adjoint
from hilbert import R32, Copower, Fin, R, Relation, Vec, direct_sum
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Leaf
from linmap.term.nodes import Lifted, Reduce
from tests.relation_forms import ALL, dense
from tests.strategies import Source, close, elements, gathered, same, sources


def by_definition(relation: Relation[Any, Any], v: Vec[Any], f: Reduce) -> Vec[Any]:
    """Σ over the pairs of the relation, one after the other."""
    given_parts = elements(v) if relation.dom.axes else [v]
    parts = [f.base.zeros() for _ in range(relation.cod.size)]
    for x, y in zip(*(side.tolist() for side in relation.holds()), strict=True):
        parts[y] += given_parts[x]
    return gathered(f.cod, parts) if relation.cod.axes else parts[0]


@pytest.mark.parametrize("form", ALL)
@settings(max_examples=30)
@given(s=sources())
def test_definition(form: str, s: Source) -> None:
    """(red_R v)_y = Σ_{(x,y)∈R} v_x, and so for Rᵀ."""
    relation, V = ALL[form](s), s.space(6)
    for r in (relation, relation.T):
        f = Reduce(r, V)
        v = s.vector(f.dom)
        assert same(f(v), by_definition(r, v, f))
    assert s.unchanged()


@pytest.mark.parametrize("form", ALL)
@settings(max_examples=15)
@given(s=sources())
def test_under_a_copower(form: str, s: Source) -> None:
    """(red_R)^Z applies red_R to every element of Z."""
    relation, V = ALL[form](s), s.space(4)
    for r in (relation, relation.T):
        f = Reduce(r, V)
        lifted = Lifted(f, s.index(3))
        v = s.vector(lifted.dom)
        assert same(lifted(v), gathered(lifted.cod, [by_definition(r, part, f) for part in elements(v)]))


@pytest.mark.parametrize("form", ALL)
@settings(max_examples=15)
@given(s=sources())
def test_fresh_memory(form: str, s: Source) -> None:
    """A kernel that says its result is nobody else's hands out memory that can be written, and shared with nothing."""
    relation = ALL[form](s)
    for r in (relation, relation.T):
        leaf = Leaf(R.entry, (Fin.of(4), *r.dom.axes))
        kernel = NUMPY.reduce(r, 1, leaf)
        a = np.ones(leaf.shape)
        found = kernel.call(a)
        if kernel.fresh:
            assert not np.shares_memory(a, found)
            found += 1.0  # raises if it is read-only


@pytest.mark.parametrize("form", ALL)
@settings(max_examples=8)
@given(s=sources(single=False))
def test_on_a_direct_sum(form: str, s: Source) -> None:
    """red_R on (U ⊕ V)^X is red_R on each part, in either precision."""
    relation = ALL[form](s)
    f = Reduce(relation, direct_sum(R, R32, R**relation.dom) if relation.dom.axes else direct_sum(R, R32))
    v = s.vector(f.dom)
    assert same(f(v), by_definition(relation, v, f))


@pytest.mark.parametrize("form", ALL)
@settings(max_examples=8)
@given(s=sources())
def test_adjoint(form: str, s: Source) -> None:
    """red_R* = red_{Rᵀ}, red_R v ⊙ w = v ⊙ red_R* w, red_R** = red_R by ==."""
    f = Reduce(ALL[form](s), s.space(6))
    star = adjoint(f)
    v, w = s.vector(f.dom), s.vector(f.cod)
    if f.base.leaves:
        assert f(v).inner(w) == v.inner(star(w))
    assert adjoint(star) == f


@pytest.mark.parametrize("form", ALL)
@settings(max_examples=12)
@given(s=sources(single=False))
def test_is_linear_in_real_numbers(form: str, s: Source) -> None:
    """red_R is its 0-1 matrix times v, to rounding."""
    relation = ALL[form](s)
    f = Reduce(relation, R)
    x = s.rng().standard_normal(relation.dom.shape)
    expected = (dense(relation).T.astype(float) @ x.reshape(-1)).reshape(relation.cod.shape)
    assert close(f(f.dom.vec(x)), f.cod.vec(expected))


@pytest.mark.parametrize("name", ["jax.numpy", "array_api_strict"])
@pytest.mark.parametrize("form", ALL)
@settings(max_examples=3)
@given(s=sources(single=False))
def test_in_another_namespace(form: str, name: str, s: Source) -> None:
    """The kernels of another namespace agree with numpy's, and what they make stays in it."""
    xp = importlib.import_module(name)
    relation, V = ALL[form](s), Copower(R32, s.index(2)) if s.flag() else R32
    for r in (relation, relation.T):
        f = Reduce(r, V) ** s.index(2)
        v = s.vector(f.dom)
        foreign = f.dom.vec(xp.asarray(v.array))
        if name == "array_api_strict" and scatters(r):
            continue  # the standard has no scatter
        found = f(foreign).array
        assert type(found) is type(xp.asarray(v.array))
        assert np.array_equal(np.asarray(found), f(v).array)


def scatters(relation: Any) -> bool:
    """Whether a relation is made of one that adds by a table."""
    if type(relation).__name__ in ("Graph", "Pairs"):
        return True
    below = [getattr(relation, side, None) for side in ("left", "right", "outer", "inner")]
    return any(scatters(part) for part in below if isinstance(part, Relation))

"""Gather and segment sum by elements that are arguments: values, derivatives, adjoints, lifted, as maps of linmap."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from adjoint import adjoint, grad
from diff import affine, bilinear, fun, inner, lift, sin
from hilbert import Elements, Fin, Index, R, SpaceError, Type, Vec
from linmap import contraction, gather, segment_sum
from tests.strategies import Source, close, elements, gathered, of_leaves, same, sources


def sets(s: Source) -> tuple[Index, Index]:
    """X and Y, where there are functions Y → X."""
    Y = s.index(4)
    return s.index(4, empty=not Y.size), Y


def found(s: Source, X: Index, *sets: Index) -> Vec[Any]:
    """An element of X for each element of the sets."""
    space: Type = Elements(X)
    for index in sets:
        space = space**index
    return s.vector(space)


def by_definition(X: Index, x: Vec[Any], v: Vec[Any]) -> Vec[Any]:
    """Σ_y v_y e_{x(y)}, one after the other."""
    V = v.space.base
    parts = [V.zeros() for _ in range(X.size)]
    for place, part in zip(np.ravel(x.array).tolist(), elements(v), strict=True):
        parts[place] += part
    return gathered(V**X, parts)


@given(sources())
def test_pick(s: Source) -> None:
    """v[x] = (v_{x(y)})_y is the gather; its derivative in v is itself, the adjoint of that the segment sum."""
    (X, Y), V = sets(s), s.space(4)
    v, x = s.vector(V**X), found(s, X, Y)
    f = fun(V**X, Elements(X) ** Y)(lambda v, x: v[x])
    value, linear = affine(f, v, x)
    assert same(value, gathered(V**Y, [elements(v)[k] for k in np.ravel(x.array).tolist()]))
    assert same(gather(x, V)(v), value)
    assert same(linear(of_leaves(linear.dom, v.leaves)), value)
    w = s.vector(V**Y)
    back = adjoint(linear)(w)
    assert same(of_leaves(V**X, back.leaves), by_definition(X, x, w))
    assert same(adjoint(gather(x, V))(w), segment_sum(x, V)(w))


@given(sources())
def test_scatter(s: Source) -> None:
    """v.scatter(x) = Σ_y v_y e_{x(y)} is the segment sum; the adjoint of its derivative in v is the gather."""
    (X, Y), V = sets(s), s.space(4)
    v, x = s.vector(V**Y), found(s, X, Y)
    f = fun(V**Y, Elements(X) ** Y)(lambda v, x: v.scatter(x))
    value, linear = affine(f, v, x)
    assert same(value, by_definition(X, x, v))
    assert same(segment_sum(x, V)(v), value)
    assert same(linear(of_leaves(linear.dom, v.leaves)), value)
    w = s.vector(V**X)
    assert same(of_leaves(V**Y, adjoint(linear)(w).leaves), gather(x, V)(w))


@given(sources())
def test_lifted(s: Source) -> None:
    """v shared and x varying over Z, and both varying: what the function does for each z."""
    (X, Y), V, Z = sets(s), s.space(3), s.index(3)
    for f in (fun(V**X, Elements(X) ** Y)(lambda v, x: v[x]), fun(V**Y, Elements(X) ** Y)(lambda v, x: v.scatter(x))):
        U = f.dom.parts[0]
        v, vs, xs = s.vector(U), s.vector(U**Z), found(s, X, Y, Z)
        each = [affine(f, v, x)[0] for x in elements(xs)]
        assert same(lift(f, Z)(v, xs), gathered(f.cod**Z, each))
        both = [affine(f, u, x)[0] for u, x in zip(elements(vs), elements(xs), strict=True)]
        assert same(lift(f, Z, over=(0, 1))(vs, xs), gathered(f.cod**Z, both))


@given(sources(smooth=True, single=False))
def test_gradient(s: Source) -> None:
    """∇ of Σ sin(Σ_y v_y² e_{x(y)}) · w is 2·v_y·cos(…)_{x(y)}·w_{x(y)}, one derivative and one gather."""
    X, Y = sets(s)
    v, w, x = s.vector(R**Y), s.vector(R**X), found(s, X, Y)
    f = fun(R**Y, R**X, Elements(X) ** Y)(lambda v, w, x: inner(sin((v * v).scatter(x)), w))
    sums = by_definition(X, x, (R**Y).vec(v.array**2)).array
    due = 2 * v.array * np.ravel(np.cos(sums) * w.array)[x.array]
    assert close(grad(f, wrt=0)(v, w, x), (R**Y).vec(due))


@given(sources())
def test_as_bilinear_maps(s: Source) -> None:
    """The contractions are the same functions."""
    (X, Y), V = sets(s), s.space(3)
    v, w, x = s.vector(V**X), s.vector(V**Y), found(s, X, Y)
    assert same(bilinear(contraction.gather(X, Y, V))(v, x), gather(x, V)(v))
    assert same(bilinear(contraction.segment_sum(X, Y, V))(w, x), segment_sum(x, V)(w))


X, Y = Fin.of(3), Fin.of(2)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            lambda v, x: v.scatter(x),
            "scatter takes v ∈ V^Y and an element of X for each y ∈ Y, not v in ℝ^3 and x in 3^2",
        ),
        (lambda v, x: x.scatter(v), "scatter takes v ∈ V^Y"),
        (lambda v, x: v[x][x], "v[x] takes v ∈ V^X and an element x of X, or one for each y ∈ Y, not v in ℝ^2"),
        (lambda v, x: x[v], "v[x] takes v ∈ V^X"),
    ],
)
def test_errors(body: Any, message: str) -> None:
    """What does not fit is refused while the function is traced."""
    with pytest.raises(SpaceError, match=re.escape(message)):
        fun(R**X, Elements(X) ** Y)(body)

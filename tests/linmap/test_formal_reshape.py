"""Formal tensors under π, ι and reshape across their factors: the entries of the dense form, and formal again."""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from adjoint import adjoint
from hilbert import Copower, Fin, Index, R, SpaceError, Vec, rank
from linmap import inject, project, reshape
from linmap.unitary import tensor_matrix
from tests.formal_vectors import formal_array
from tests.strategies import Source, same, sources


def index_of(shape: list[int]) -> Index:
    """n₁ × n₂ × …."""
    factors: list[Index] = [Fin.of(n) for n in shape]
    return reduce(lambda X, Y: X * Y, factors)


def shapes(s: Source) -> tuple[list[int], list[int]]:
    """Two shapes of as many elements: the prime factors in two orders, in groups, with ones between."""
    primes = [s.one_of((2, 3)) for _ in range(s.integer(1, 5))]
    return grouped(s, primes), grouped(
        s, primes if s.flag() else [primes.pop(s.integer(0, len(primes) - 1)) for _ in [*primes]]
    )


def grouped(s: Source, primes: list[int]) -> list[int]:
    groups: list[list[int]] = [[]]
    for p in primes:
        if s.flag():
            groups.append([])
        groups[-1].append(p)
    found = [prod(group) for group in groups]
    return [0, *found[1:]] if s.integer(0, 19) == 19 else found


@settings(max_examples=30)
@given(s=sources())
def test_reshape(s: Source) -> None:
    """reshape(X, Y)(t) has the entries of the dense form and is formal, beside other axes; f* is the way back."""
    source, target = shapes(s)
    if prod(source) != prod(target):
        target = source
    X, Y = index_of(source), index_of(target)
    Z = Fin.of(s.integer(1, 3))
    f: Any = s.one_of([reshape(X, Y), reshape(X, Y, R**Z), reshape(X, Y) ** Z])
    t = formal_array(s, f.dom)
    found = f(t)
    assert same(found.dense(), f(t.dense()))
    assert found.is_formal == t.is_formal or not prod(source)
    u = formal_array(s, f.cod)
    assert found.inner(u) == t.inner(adjoint(f)(u))


@settings(max_examples=25)
@given(s=sources())
def test_elements_at_axes_of_several_factors(s: Source) -> None:
    """π_x and ι_x for x ∈ X₁ × … × Xₙ, of elements that are formal in other axes, too."""
    shape = [s.integer(1, 3) for _ in range(s.integer(2, 3))]
    X, V = index_of(shape), (R ** Fin.of(s.integer(1, 3))) ** Fin.of(2)
    x: Any = s.integer(0, shape[0] - 1)
    for n in shape[1:]:
        x = x, s.integer(0, n - 1)
    space = s.one_of([R, V])
    t, v = formal_array(s, Copower(space, X)), formal_array(s, space)
    pi, iota = project(Copower(space, X), x), inject(Copower(space, X), x)
    assert same(pi(t).dense(), pi(t.dense()))
    assert same(iota(v).dense(), iota(v.dense()))
    assert iota(v).is_formal == v.is_formal
    assert pi(t).inner(v) == t.inner(iota(v))


def matrix(*sizes: int) -> Vec[Any]:
    """u ⊗ v as a matrix."""
    rng = np.random.default_rng(0)
    spaces = [R ** Fin.of(n) for n in sizes]
    u, v = (V.vec(rng.integers(-3, 4, V.dim).astype(float)) for V in spaces)
    return tensor_matrix(spaces[0] * spaces[1])(u.tensor(v))


def terms(t: Any) -> int:
    """How many terms an array has."""
    return sum(b.rank for b in t.leaves[0].blocks)


@pytest.mark.parametrize(("a", "b"), [(2, 3), (3, 2), (64, 70), (70, 64), (1, 5)])
def test_a_factor_that_is_cut(a: int, b: int) -> None:
    """u ⊗ v, u of a·b, to a × b·c: min(a, b) terms for each."""
    t = matrix(a * b, 3)
    found = t.reshape(Fin.of(a) * Fin.of(3 * b))
    assert found.is_formal
    assert terms(found) <= min(a, b)
    assert same(found.dense(), t.dense().reshape(Fin.of(a) * Fin.of(3 * b)))


def test_what_is_refused() -> None:
    """More than 64 terms for each, more than 10⁷ entries in a factor: both ways to write it; nothing is made before."""
    for t, Y in (
        (matrix(65 * 65, 3), Fin.of(65) * Fin.of(65 * 3)),
        (matrix(10**6, 2), Fin.of(10**3) * Fin.of(2 * 10**3)),
        (matrix(10**4, 10**4), Fin.of(10**8)),
    ):
        with pytest.raises(
            SpaceError, match=r"write t\.dense\(\)\.reshape\(Y\) .*, or reshape the vectors u and v"
        ) as caught:
            t.reshape(Y)
        assert "more than" in str(caught.value)


def test_large_factors_that_are_kept() -> None:
    """10⁵ × 10⁵ entries that nobody makes: split, joined with one element, π and ι."""
    t = matrix(10**5, 10**5)
    Y = Fin.of(10) * Fin.of(10**4) * Fin.of(1) * Fin.of(10**5)
    found = t.reshape(Y)
    assert found.is_formal
    assert terms(found) == 1
    assert found.norm() == pytest.approx(t.norm(), rel=1e-12)
    at = (123, 4567)
    assert float(project(t.space, at)(t).array) == float(found.leaves[0].blocks[0].arrays[0].reshape(-1)[123]) * float(
        found.leaves[0].blocks[0].arrays[-1].reshape(-1)[4567]
    )


def test_three_factors() -> None:
    """u ⊗ v ⊗ w: two of three joined, the third as it was."""
    spaces = [R ** Fin.of(n) for n in (2, 3, 4)]
    u, v, w = (V.vec(np.arange(1.0, V.dim + 1)) for V in spaces)
    uv = tensor_matrix(spaces[0] * spaces[1])(u.tensor(v))
    t = tensor_matrix(uv.space * spaces[2])(uv.tensor(w))
    assert rank(uv.tensor(w)) == 1
    found = t.reshape(Fin.of(6) * Fin.of(4))
    assert [b.axes for b in found.leaves[0].blocks] == [((0,), (1,))]
    assert same(found.dense(), t.dense().reshape(Fin.of(6) * Fin.of(4)))

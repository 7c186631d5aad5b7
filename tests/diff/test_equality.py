"""Equality of functions is structural and agrees with hash."""

import math
import pickle
from typing import Any

import numpy as np
from hypothesis import given, note

from diff import atan2, cos, dot, fun, lift, pointfree, program, sin
from diff.terms.nodes import Compose, Constant
from hilbert import Fin, R, direct_sum
from hilbert.base.term import packed, rebuild
from linmap import compose, equal, fork, parallel
from tests.function_terms import between, function
from tests.strategies import Source, sources


@given(sources(smooth=True))
def test_structural(s: Source) -> None:
    """The term that its table makes is equal; f = g implies hash f = hash g."""
    f, g = function(s), function(s)
    note((f, g))
    found = rebuild(packed(f))
    assert found == f
    assert hash(found) == hash(f)
    assert (f == g) == (g == f)
    assert f != g or hash(f) == hash(g)


@given(sources(smooth=True))
def test_composition_is_associative(s: Source) -> None:
    """(h ∘ g) ∘ f = h ∘ (g ∘ f), also by `compose` of a sequence, and (f + g) + h = f + (g + h)."""
    V = s.space(8)
    f, g, h = (between(s, V, V, 1) for _ in range(3))
    assert (h @ g) @ f == h @ (g @ f)
    assert compose([h, g, f]) == compose(h, g, f) == h @ g @ f
    assert (f + g) + h == f + (g + h)
    assert hash((h @ g) @ f) == hash(h @ (g @ f))


def test_different_functions_differ() -> None:
    """Another primitive, space, order, number or program is another function."""
    X = Fin.of(2)
    pair = direct_sum(R, R)
    pairs: list[tuple[Any, Any]] = [
        (sin, cos),
        (sin**X, cos**X),
        (sin**X, sin ** Fin.of(3)),
        (sin @ cos, cos @ sin),
        (2 * sin, 3 * sin),
        (sin + cos, cos + sin),
        (fork(sin, cos), fork(cos, sin)),
        (parallel(sin, cos), parallel(cos, sin)),
        (fun(R)(sin), fun(R)(cos)),
        (fun(R)(lambda x: x * 2.0), fun(R)(lambda x: x * 3.0)),
        (lift(parallel(sin, cos), X), lift(parallel(sin, cos), X, over=(0,))),
        (Constant(R, R.vec(1.0)), Constant(R, R.vec(1.0))),
        (Compose([sin]), sin),
        (fun(pair)(lambda p: p[0]), fun(pair)(lambda p: p[1])),
    ]
    for a, b in pairs:
        assert a != b
        assert a == a  # noqa: PLR0124 - reflexive


def test_names_of_arguments_do_not_count() -> None:
    """fun(R)(λx. sin x) = fun(R)(λy. sin y), and program(f) is one object for each term."""
    f, g = fun(R)(lambda x: sin(x)), fun(R)(lambda y: sin(y))  # noqa: PLW0108 - the names matter
    assert f == g
    assert hash(f) == hash(g)
    assert program(f) is f


def test_the_sign_of_zero_is_told() -> None:
    """0.0 and −0.0 are two constants and two factors: atan2 and 1/x tell them apart."""
    zero, one = R.vec(0.0), R.vec(1.0)
    up, down = fun(R)(lambda x: atan2(x, 0.0)), fun(R)(lambda x: atan2(x, -0.0))
    assert up == fun(R)(lambda x: atan2(x, 0.0))
    assert up != down
    assert not equal(up, down)
    assert equal(down, fun(R)(lambda x: atan2(x, -0.0)))
    assert [float(y) for y in fork(up, down)(zero)] == [0.0, math.pi]
    assert float((down - up)(zero)) == math.pi
    assert [float(y) for y in fun(R)(lambda x: (atan2(x, 0.0), atan2(x, -0.0)))(zero)] == [0.0, math.pi]
    with np.errstate(divide="ignore"):
        assert [float(y) for y in fun(R)(lambda x: (1 / (x * 0.0), 1 / (x * -0.0)))(one)] == [math.inf, -math.inf]
    assert equal(zero, -zero)  # as numbers


def test_a_filled_constant_is_equal_however_it_is_stored() -> None:
    """One number in every entry is one constant, whether it is stored once or, after pickling, in every entry."""
    V = R ** Fin.of(3)
    f = pointfree(fun(V)(lambda x: x + 0.3))
    again = pickle.loads(pickle.dumps(f))
    assert f == again
    assert equal(f, again)
    assert equal(f, pointfree(fun(V)(lambda x: x + V.vec([0.3, 0.3, 0.3]))))
    assert not equal(f, pointfree(fun(V)(lambda x: x + V.vec([0.3, 0.3, 0.4]))))

    def turned(k: float) -> Any:
        return pointfree(fun(V)(lambda x: atan2(V.vec([k, k, k]), x)))

    assert equal(turned(0.0), turned(0.0))
    assert not equal(turned(0.0), turned(-0.0))


def test_contractions_of_moved_axes() -> None:
    """Aᵀ⋆A is one contraction, whether the axes are moved for it or its labels say so; another is not."""
    X, Y = Fin.of(3), Fin.of(4)
    M = R ** (X * Y)
    moved = fun(M)(lambda m: m.T @ m)
    assert equal(moved, fun(M)(lambda m: dot(m, m, over=X)))
    assert equal(fun(M, M)(lambda m, n: m.T @ n), fun(M, M)(lambda m, n: dot(m, n, over=X)))
    assert not equal(fun(M, M)(lambda m, n: m.T @ n), fun(M, M)(lambda m, n: n.T @ m))
    assert not equal(fun(R ** (X * X))(lambda m: m.T @ m), fun(R ** (X * X))(lambda m: m @ m))
    assert not equal(fun(R ** (X * X))(lambda m: m.T @ m), fun(R ** (X * X))(lambda m: m @ m.T))

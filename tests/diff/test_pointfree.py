"""pointfree: every program in double precision is a term of combinators, which computes what the program does."""

from typing import Any

import numpy as np
from hypothesis import given, settings

from diff import fun, pointfree, program, sin, tanh
from diff.terms.program import Program
from hilbert import Bool, Fin, R, direct_sum
from hilbert.base.term import postorder
from linmap import zero
from tests.function_terms import function
from tests.strategies import Source, sources


@settings(max_examples=200)
@given(sources(single=False))
def test_the_same_values(s: Source) -> None:
    """Also of its program, and of the term's program; only truth values and labels are left to programs."""
    f = function(s, 3)
    g = pointfree(f)
    assert (g.dom, g.cod) == (f.dom, f.cod)
    for part in postorder(g):
        if isinstance(part, Program):
            assert not any(part.slots[k].is_field for k in range(part.arity, len(part.slots)))
    x = s.vector(f.dom)
    with np.errstate(all="ignore"):
        for h in (g, program(g), pointfree(program(f))):
            for have, want in zip(h(x).leaves, f(x).leaves, strict=True):
                np.testing.assert_allclose(have, want, rtol=1e-9, atol=1e-9)


def test_three_axes() -> None:
    """However the index set is bracketed."""
    X, Y, Z = Fin.of(2), Fin.of(3), Fin.of(4)
    for index in (X * Y * Z, X * (Y * Z)):
        f = fun(R**index)(lambda x: sin(x) * x + tanh(x))
        x = f.dom.random(np.random.default_rng(0))
        np.testing.assert_allclose(pointfree(f)(x).array, f(x).array)


def test_nothing_and_truth_values() -> None:
    """Results without leaves, and nested results that are no vectors."""
    X, Y = Fin.of(2), Fin.of(3)
    empty: Any = zero(R**X, direct_sum())
    assert pointfree(empty)(empty.dom.zeros()).array == ()
    f = fun((R**Y) ** X)(lambda x: x > 0.0)
    assert f.cod == (Bool**Y) ** X
    x = f.dom.random(np.random.default_rng(0))
    assert np.array_equal(pointfree(f)(x).array, f(x).array)

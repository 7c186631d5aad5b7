"""Bodies of control flow at their edges: what needs nothing of what it is given, and what is said of wrong bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb

X, T = hb.Fin.of(2), hb.Fin.of(3)
c = (hb.R**X).vec([1.0, 2.0])
NOTHING: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "fold": (lambda p: hb.again(lambda _: hb.fold(lambda s, x: s + x, hb.R.vec(0.0), hb.const(c)), p), 3.0),
    "constant state": (lambda p: hb.again(lambda p: hb.fold(lambda *_: hb.const(c), hb.const(c), p), p), c.array),
    "iterate": (lambda p: hb.again(lambda _: hb.iterate(lambda s: s * 2.0, hb.const(c), X), p), 4.0 * c.array),
    "one of two states": (lambda p: hb.iterate(lambda s: (s[0] * 2.0, hb.const(c)), (p, hb.const(c)), X)[1], c.array),
    "nested": (lambda p: hb.iterate(lambda s: hb.iterate(lambda s: (s[0], hb.const(c)), (p, s), X)[1], c, X), c.array),
}


@pytest.mark.parametrize("name", NOTHING)
def test_a_loop_that_needs_nothing_of_what_it_is_given(name: str) -> None:
    """Its result is a constant, and the derivative 0."""
    body, due = NOTHING[name]
    f, x = hb.fun(hb.R**T)(body), (hb.R**T).ones()
    assert np.array_equal(f(x).array, due)
    assert not hb.jacobian(f, x, as_="array").any()
    assert hb.equal(f, hb.fun(hb.R**T)(body))


def test_notes_of_an_error_are_kept_in_a_body() -> None:
    """What is said of elements of a table is said in a traced function, too."""
    A = (hb.R ** (T * X)).ones()

    def first(table: Any) -> Any:
        return hb.each(lambda row: row[0], table)

    for go in (lambda: first(A), lambda: hb.fun(A.space)(first)):
        with pytest.raises(hb.SpaceError) as caught:
            go()
        (note,) = caught.value.__notes__
        assert "over=3 goes over the rows" in note

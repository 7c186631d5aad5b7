"""`str` is a page, and says how to see the rest; `show` is the whole text, or as much of it as was asked for."""

from __future__ import annotations

import re
from typing import Any

import pytest

from adjoint import adjoint, grad
from diff import cos, derivative, fun, program, show, sin
from hilbert import Fin, R
from linmap import compose, cumsum, scale


def recurrence(x: Any) -> Any:
    s, t = x, sin(x)
    for _ in range(120):
        s, t = t, t * sin(s)
    return t


X = Fin.of(3)
LONG: dict[str, Any] = {
    "chain": compose([sin, cos] * 300),
    "program": program(fun(R)(recurrence)),
    "derivative": derivative(fun(R)(recurrence)),
    "adjoint": adjoint(derivative(compose([sin, cos] * 300))),
    "gradient": grad(fun(R)(recurrence)),
    "linear": compose([cumsum(X), scale(0.5, R**X)] * 100),
    "sum": sum((scale(float(k), R) for k in range(1, 100)), scale(0.5, R)),
}


@pytest.mark.parametrize("name", LONG)
def test_what_is_cut_says_how_to_see_it(name: str) -> None:
    """At most 40 lines of 100 columns; the last one names show(f, lines=None), which leaves nothing out."""
    page, whole = str(LONG[name]).splitlines(), show(LONG[name]).splitlines()
    assert len(page) <= 40
    assert page[-1].endswith("show(f, lines=None) has them")
    assert max(map(len, [*page, *whole])) <= 100
    assert "…" not in "".join(whole)
    assert len("".join(whole)) > len("".join(page[:-1]))


@pytest.mark.parametrize("lines", [1, 2, 7, 39])
@pytest.mark.parametrize("name", LONG)
def test_so_many_lines(name: str, lines: int) -> None:
    """No more lines than asked for, with 100 columns each; the count of what is missing is right."""
    page = show(LONG[name], lines=lines).splitlines()
    assert len(page) <= lines
    assert max(map(len, page)) <= 100
    assert re.search(r"… \d+ (more lines|parts are left out)", page[-1])


def test_short_texts_are_the_same() -> None:
    """Nothing is cut, so that nothing is said."""
    for f in (sin, fun(R)(lambda x: x * sin(x)), derivative(sin), cumsum(X)):
        assert show(f) == show(f, lines=40, digits=6) == str(f)


def test_digits() -> None:
    """Six digits in a page, all in full, or as many as asked for."""
    third = scale(1 / 3, R)
    assert str(third) == "(0.333333 ·)"
    assert show(third) == "(0.3333333333333333 ·)"
    assert show(third, digits=2) == "(0.33 ·)"
    assert show(scale(-2.0, R)) == str(scale(-2.0, R)) == "(−2 ·)"
    assert show(fun(R)(lambda x: 0.1234567891 * x)) == "x ↦ 0.1234567891·x"
    assert show(derivative(fun(R)(lambda x: x**2.123456789)), digits=3) == "(2.12·x^1.12 ·)"

"""Products and powers as text: one number in front, brackets where they are needed and nowhere twice."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import hilbert.all as hb
from adjoint import grad
from diff import cos, derivative, exp, fun, sin, square
from diff.printing.slot_text import bracketed
from hilbert import Fin, R
from tests.untyped import each, iterate

TWO_NUMBERS = re.compile(r"\d·−?\d|\d·\(−[^()]*\)(?![²^])|−\(?−")
RAISED_TWICE = re.compile(r"²²|²\^|\^[\d.]+[²^]")
DOUBLE = re.compile(r"\(\([^()]*\)\)")


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["half", "double", "minus", "sin", "square", "cube", "times", "over"]), max_size=6))
def test_numbers_are_one(moves: list[str]) -> None:
    """Constants, signs, powers and quotients in every order."""
    steps: dict[str, Any] = {
        "half": lambda x, _: 0.5 * x, "double": lambda x, _: x * 2.0, "minus": lambda x, _: -x,
        "sin": lambda x, _: sin(x), "square": lambda x, _: square(x), "cube": lambda x, _: x**3,
        "times": lambda x, y: x * (0.25 * y), "over": lambda x, y: x / exp(y),
    }  # fmt: skip

    def body(x: Any, y: Any) -> Any:
        for move in moves:
            x = steps[move](x, y)
        return x

    f = fun(R, R)(body)
    for term in (f, grad(f, 0), derivative(f)):
        text = str(term)
        for wrong in (TWO_NUMBERS, RAISED_TWICE, DOUBLE):
            assert not wrong.search(text), text


def test_powers_of_powers() -> None:
    """(‖x‖²)² has brackets."""
    f = fun((R ** Fin.of(2)) ** Fin.of(5))(lambda xs: each(lambda p: (p @ p) ** 2, xs))
    assert str(f) == "xs ↦ [i] ↦ (‖xs[i]‖²)²"
    assert str(fun(R)(lambda x: (x**3) ** 2 + (x**2) ** 2 + (x**2) ** 3)) == "x ↦ (x^3)² + (x²)² + (x²)^3"
    assert str(fun(R)(lambda x: exp(x) ** 2 + abs(x) ** 2)) == "x ↦ (exp x)² + |x|²"


def test_constants_are_multiplied() -> None:
    """−2·0.5·x is −x, where the number is no longer than the factors; else the factors stay."""
    assert str(grad(fun(R)(lambda x: -0.5 * (x - 1) ** 2 + 3))) == "x ↦ −(x−1)"
    assert str(fun(R)(lambda x: 0.5 * (sin(x) * 2))) == "x ↦ sin x"
    assert str(fun(R)(lambda x: (3 * cos(x)) * (4 * x))) == "x ↦ 12·(cos x)·x"
    assert hb.show(fun(R)(lambda x: 0.1 * (3 * x))) == "x ↦ 0.1·3·x"


def test_brackets() -> None:
    """One pair is enough."""
    assert bracketed("(a+b)") == "(a+b)"
    assert bracketed("(a)·(b)") == "((a)·(b))"
    assert bracketed("a") == "(a)"
    assert str(fun(R, R)(lambda s, r: -(1 / exp(s)) * r)) == "(s, r) ↦ −(1/exp s)·r"


def test_a_part_has_one_spelling() -> None:
    """w1 of a record is p.w1 inside and outside of a body, and what a body captures has no needless brackets."""

    class M(hb.Record):
        w1: hb.Part[hb.Scalar]

    f = fun(M.space(), R)(lambda p, x0: iterate(lambda x: sin(p[M.w1] * x), x0, Fin.of(3)))
    assert str(f) == "(p, x₀) ↦ iterate[3](x ↦ sin(p.w1·x), x₀)"
    assert "p.w₁" not in str(derivative(f))
    g = fun(R, R)(lambda m, s: iterate(lambda x: sin(x - m), s, Fin.of(3)))
    assert str(g) == "(m, s) ↦ iterate[3](x ↦ sin(x−m), s)"

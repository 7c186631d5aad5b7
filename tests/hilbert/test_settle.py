"""What depends on constants alone is made once, at binding, if it is no larger than its operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from diff import Expr, const, fun, outer, program, sin, tanh
from hilbert import Fin, R
from hilbert.program.line.operation import Literal
from hilbert.program.run.run import Runner

X, Y = Fin.of(3), Fin.of(4)
RNG = np.random.default_rng(0)
A, B, w = (R ** (X * Y)).random(RNG), (R ** (Y * X)).random(RNG), (R**Y).random(RNG)


def steps(f: Any) -> list[str]:
    """The steps that a call runs."""
    return [
        type(s.operation).__name__ for s in Runner(program(f).line).line.steps if not isinstance(s.operation, Literal)
    ]


def test_made_once() -> None:
    """A product of constants, a primitive of it, a multiple: one constant."""
    f = fun(R**X)(lambda x: tanh(2.0 * (const(A) @ const(B))) @ x)
    assert steps(f) == ["Contract"]
    x = f.dom.random(RNG)
    assert np.allclose(f(x).array, np.tanh(2.0 * (A.array @ B.array)) @ x.array)


def test_nothing_grows() -> None:
    """What is larger than its operands is made at each call: a plan holds no more than it was given."""
    f = fun(R**Y)(lambda y: outer(const(w), const(w)) + outer(y, y))
    assert steps(f) == ["Contract", "Contract", "Add"]
    g = fun(R**X)(lambda x: const(A).T @ x)  # no larger: a view, made once
    assert steps(g) == ["Contract"]


def test_filled_constants_stay_small() -> None:
    """A constant that repeats one number counts as that number: what it makes is not spread out in memory."""

    def body(m: Any) -> Any:
        (leaf,) = m.space.leaves
        return m + sin(Expr(m.builder, m.space, (m.builder.number(2.0, leaf),)))

    assert steps(fun(R ** (X * Y))(body)) == ["Primitive", "Add"]
    assert steps(fun(R)(body)) == ["Add"]


def test_what_is_made_is_read_only() -> None:
    """A result that is constant cannot be written into."""
    f = fun(R**X)(lambda x: (x, const(A) @ const(w)))
    value = f(f.dom.random(RNG))[1].array
    assert not value.flags.writeable
    assert np.allclose(value, A.array @ w.array)

"""Modules of numpy: constants are told apart, and no variable hides one."""

from __future__ import annotations

from typing import Any

import numpy as np

import hilbert.all as hb

X = hb.Fin.of(2)
V, M = hb.R**X, hb.R ** (X * X)
A, B = M.vec([[0.1, 0.2], [0.3, 0.4]]), M.vec([[1.0, 2.0], [3.0, 4.0]])


def agrees(f: Any, *arrays: Any) -> bool:
    """The text of f computes f."""
    due = f(f.dom.vec(arrays[0] if len(arrays) == 1 else arrays)).array
    return bool(np.allclose(hb.source(f).function()(*map(np.array, arrays)), due))


def test_constants_of_two_branches_differ_in_a_text() -> None:
    """Each branch has its own."""
    a, b = V.vec([1.0, 2.0]), V.vec([4.0, 5.0])
    f = hb.fun(V)(lambda x: hb.where(x.sum() > 0.0, lambda: x * hb.sin(hb.const(a)), lambda: x * hb.sin(hb.const(b))))
    assert agrees(f, [1.0, 1.0])
    assert agrees(f, [-1.0, -1.0])


def test_a_variable_of_a_loop_hides_no_constant_in_a_text() -> None:
    """The loop has a variable C; the constant that is read behind the loop has another name."""

    def step(s: Any) -> Any:
        C = A @ s
        return hb.tanh(C) * C

    assert agrees(hb.fun(V)(lambda x: B @ hb.iterate(step, x, hb.Fin.of(3))), [1.0, 2.0])


def test_a_sum_and_its_mean_in_a_text() -> None:
    """The sum has a name, and the mean is a multiple of it."""
    assert agrees(hb.fun(V)(lambda x: hb.sin(x.sum()) + x.mean()), [1.0, 2.0])
    assert agrees(hb.fun(V)(lambda x: ((x - x.mean()) ** 2).mean() + x.sum() * x.sum()), [1.0, 2.0])

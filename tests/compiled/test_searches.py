"""Searches in machine code: loops that end where a condition fails, equations, small systems of derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as library
from hilbert.program.control import while_loop

pytest.importorskip("llvmlite")

hb: Any = library
V = hb.R ** hb.Fin.of(3)
A = np.random.default_rng(0).normal(size=(3, 3))
W = hb.const((hb.R ** (hb.Fin.of(3) * hb.Fin.of(3))).vec(A))


def settled(a: Any) -> Any:
    """A fixed point."""
    return hb.fixed_point(lambda x: 0.2 * hb.tanh(W @ x) + a, a)


def solved(a: Any) -> Any:
    """A root, which backtracks at first."""
    return hb.root(lambda x: hb.atan(3.0 * x) - 0.2 * a, 2.0 * a)


def least(a: Any) -> Any:
    """A minimizer."""
    return hb.minimizer(lambda x: hb.cosh(x).sum() + 0.5 * hb.square(W @ x - a).sum(), a)


def within(a: Any) -> Any:
    """A root in the function of a root."""
    return hb.root(lambda x: x + 0.1 * hb.tanh(x) - hb.root(lambda y: y + y**3 - 0.5 * x - a, a), a)


def pair(a: Any) -> Any:
    """Unknowns of two spaces."""
    x, t = hb.root(lambda s: (s[0] + 0.1 * s[1] * hb.sin(s[0]) - a, s[1] - hb.cos(s[0]).sum()), (a, a.sum()))
    return t * x


def halved(a: Any) -> Any:
    """A loop that ends by its condition."""
    return hb.while_(lambda s: (s @ s) > 1e-3, lambda s: s / 2.0, a)


@pytest.mark.parametrize("body", [settled, solved, least, within, pair, halved])
def test_values_and_slopes(body: Any) -> None:
    """The numbers are the interpreter's, with derivatives of both orders and in lanes, and no kernel is called."""
    f = hb.fun(V)(body)
    v, lanes = V.vec([0.3, -0.2, 0.5]), (V ** hb.Fin.of(4)).random(np.random.default_rng(1))
    asked: list[tuple[Any, tuple[Any, ...]]] = [(f, (v,)), (f ** hb.Fin.of(4), (lanes,))]
    if body is not halved:
        total = hb.fun(V)(lambda a: body(a) @ body(a))
        asked += [(hb.value_and_grad(total), (v,)), (hb.hvp(total), (v, V.ones()))]
        asked += [(hb.grad(total) ** hb.Fin.of(4), (lanes,))]
    for g, at in asked:
        code = hb.compiled(g)
        assert code.report.calls == ()
        for want, got in zip(g(*at).leaves, code(*at).leaves, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-10)
        assert code.reruns == 0


def test_a_search_that_fails_says_so() -> None:
    """After too many rounds, at a number that is none, at a singular slope: the interpreter's words."""
    for body, at in (
        (lambda x: hb.root(lambda y: hb.square(y) + x, x), 1.0),
        (lambda x: hb.root(lambda y: hb.log(y) - x, -x), 1.0),
        (lambda x: hb.root(lambda y: hb.square(y) - x, 0.0 * x), 1.0),
        (lambda x: hb.fixed_point(lambda y: 2.0 * y + x, x, at_most=50), 1.0),
    ):
        f = hb.fun(hb.R)(body)
        with pytest.raises(hb.SpaceError) as said:
            f(hb.R.vec(at))
        with pytest.raises(hb.SpaceError) as found:
            hb.compiled(f)(hb.R.vec(at))
        assert str(found.value) == str(said.value)


def test_more_rounds_than_machine_code_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop without a bound goes on by the interpreter."""
    monkeypatch.setattr(while_loop, "MANY", 5)
    f = hb.fun(hb.R)(lambda x: hb.while_(lambda s: s > 1.0, lambda s: s / 2.0, x))
    g = hb.compiled(f)
    for at in (20.0, 1e6):
        assert float(g(hb.R.vec(at))) == float(f(hb.R.vec(at)))
    assert g.report.calls == ()


def test_a_loop_is_left_where_its_condition_fails() -> None:
    """Ten million rounds that do nothing are not run."""
    f = hb.compiled(hb.fun(hb.R)(lambda x: hb.fixed_point(lambda y: 0.1 * y + x, x, at_most=10**9)))
    assert float(f(hb.R.vec(0.9))) == pytest.approx(1.0)

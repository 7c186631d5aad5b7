"""`wrt` takes some parts of the domain: gradients, Jacobians and Hessians there are those blocks of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjoint import grad, hessian, jacobian, value_and_grad, vjp
from diff import fun, inner, sin, tanh
from hilbert import DirectSum, Elements, Fin, R, SpaceError, Zero, direct_sum
from linmap import equal

X, Y = Fin.of(3), Fin.of(2)
f: Any = fun(R**X, R**Y, R, Elements(X))(lambda x, y, k, i: k * inner(sin(x), x) * inner(y, y) + x[i])
g: Any = fun(R**X, R**Y, R)(lambda x, y, k: (tanh(x) * k, y * inner(x, x)))
POINT = f.dom.random(np.random.default_rng(0))
AT = direct_sum(R**X, R**Y, R).random(np.random.default_rng(1))
ENDS = [0, 3, 5, 6]
CHOICES: list[Any] = [0, 1, 2, (0,), (0, 1), (2, 0), [1, 2], (2, 1, 0)]


def columns(wrt: Any) -> list[int]:
    places = wrt if isinstance(wrt, (tuple, list)) else (wrt,)
    return [c for k in places for c in range(ENDS[k], ENDS[k + 1])]


def chosen(wrt: Any) -> Any:
    if isinstance(wrt, (tuple, list)):
        return DirectSum(tuple(f.dom.parts[k] for k in wrt))
    return f.dom.parts[wrt]


@pytest.mark.parametrize("wrt", CHOICES)
def test_blocks_of_the_whole(wrt: Any) -> None:
    """∇_w f, f' and f″ in w are the rows and columns of w; the space is the direct sum of the parts if w is several."""
    kept = columns(wrt)
    whole = grad(f)(POINT).flat()
    space = chosen(wrt)
    gradient = grad(f, wrt)(POINT)
    assert gradient.space == space
    np.testing.assert_allclose(gradient.flat(), whole[kept], rtol=1e-12)
    value, again = value_and_grad(f, wrt)(POINT)
    assert float(value) == pytest.approx(float(f(POINT)))
    assert equal(again, gradient)
    np.testing.assert_allclose(jacobian(g, AT, wrt=wrt), jacobian(g, AT)[:, kept], rtol=1e-12)
    np.testing.assert_allclose(hessian(f, POINT, wrt=wrt), hessian(f, POINT)[np.ix_(kept, kept)], atol=1e-12)
    dy = g.cod.random(np.random.default_rng(2))
    back = vjp(g, wrt)(AT, dy)
    assert back.space == space
    np.testing.assert_allclose(back.flat(), vjp(g)(AT, dy).flat()[kept], rtol=1e-12)


def test_in_every_form() -> None:
    """`as_` says how the matrix is stored, in some arguments too; pairs of leaves are cut out of a dense one only."""
    dense = hessian(f, POINT, wrt=(0, 1))
    stored = hessian(f, POINT, wrt=(0, 1), as_="sparse")
    assert stored.format == "csr"
    np.testing.assert_allclose(stored.toarray(), dense, atol=1e-15)
    np.testing.assert_allclose(jacobian(g, AT, wrt=0, as_="sparse").toarray(), jacobian(g, AT, wrt=0), atol=1e-15)
    assert len(jacobian(g, AT, wrt=0, as_="blocks")) == len(g.cod.leaves)
    assert jacobian(g, AT, as_="operator").shape == (g.cod.dim, g.dom.dim)
    with pytest.raises(SpaceError, match="blocks=True cuts a dense array"):
        jacobian(g, AT, blocks=True, as_="sparse")
    wrong: Any = "spare"
    with pytest.raises(SpaceError, match="'sparse'"):
        jacobian(g, AT, as_=wrong)


def test_a_discrete_part_has_the_gradient_0_in_its_place() -> None:
    """The tangent of a label is 0, also among several parts."""
    assert grad(f).cod == direct_sum(R**X, R**Y, R, Zero())
    assert grad(f, (0, 3)).cod == direct_sum(R**X, Zero())
    assert grad(f, (3, 1, 2)).cod == direct_sum(Zero(), R**Y, R)
    assert grad(f, 3).cod == Zero()

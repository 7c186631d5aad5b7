"""Numbers that permutations and conditions carry: found by generated programs against dense matrices."""

from typing import Any

import numpy as np

import hilbert.all as hb
from hilbert.relation import less, reversal, shift
from linmap.contraction import hadamard


def test_a_multiple_of_a_permutation_is_weighted() -> None:
    """As a multiple of the identity is scaled, alone and beside identities."""
    X = hb.Fin.of(4)
    turned = hb.red(reversal(X))
    for f in (-turned, 2.0 * turned, hb.zero(turned.dom, turned.dom) - turned, 2.0 * (turned ** hb.Fin.of(3))):
        assert "weighted permutation" in str(hb.structure(f))
    for f in (turned, turned ** hb.Fin.of(3), 1.0 * turned):
        assert "weighted" not in str(hb.structure(f))
        assert "permutation" in str(hb.structure(f))


def test_truth_values_are_summed_as_numbers() -> None:
    """A relation that is applied to a condition counts where it holds."""
    X = hb.Fin.of(3)
    V = hb.R**X
    before, one = hb.red(less(X)), V.ones()

    def chosen(x: Any) -> Any:
        return (hb.adjoint(before)(hb.select(hb.cumsum(X)(x) > 0.0, hb.cumsum(X)(x)).sum() * one) @ x) * one

    f = hb.fun(V)(chosen)
    for entries in ([1.0, 1.5, 2.0], [-1.0, 2.0, 0.5], [1.0, -3.0, 1.0], [-1.0, -1.0, -1.0]):
        x = V.vec(entries)
        dense = hb.jacobian(f, x)
        np.testing.assert_allclose(hb.jacobian(f, x, as_="sparse").toarray(), dense, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(hb.diagonal(hb.derivative(f).at(x)).array, np.diag(dense), rtol=1e-14, atol=1e-14)
        assert np.isclose(hb.trace(hb.derivative(f).at(x)), np.trace(dense), rtol=1e-14, atol=1e-14)


def test_thousands_of_factors_in_one_sum() -> None:
    """What is made of many data has a short name; the names of many in a text are found at once."""
    V = hb.R ** hb.Fin.of(3)
    rng = np.random.default_rng(0)
    given = [V.random(rng) for _ in range(3000)]
    f = hb.section(hadamard(V), 0, given[0])
    for v in given[1:]:
        f = f + hb.section(hadamard(V), 0, v)
    made = hb.simplify(f)
    assert str(made) == "(a·)\n  where a ∈ ℝ^3"
    np.testing.assert_allclose(made(V.ones()).array, sum(v.array for v in given), rtol=1e-12, atol=1e-12)
    assert hb.show(f).count("where ") == 3000


def test_low_rank_beside_what_vanishes() -> None:
    """A summand whose relations meet in no pair has no rank: the rest is given as a tensor."""
    X, Y = hb.Fin.of(4), hb.Fin.of(2)
    V = hb.R**X
    a, B = V.vec([1.0, 2.0, -1.0, 0.5]), (hb.R ** (Y * X)).vec(np.arange(8.0).reshape(2, 4))
    moved = hb.red(shift(X, 3))
    f = hb.derivative(hb.fun(V)(lambda x: B @ moved(hb.tanh(a @ x) * moved(x)))).at(V.ones())
    assert str(hb.structure(f)) == "rank 1"
    (left, right), dense = hb.factors(f), hb.matrix(f, "array")
    assert left.space.dim == 2
    assert right.space.dim == 4
    np.testing.assert_allclose(np.outer(left.array, right.array), dense, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(hb.matrix(f).dense().array, dense, rtol=1e-14, atol=1e-14)
    assert str(hb.structure(moved @ moved)) == "zero"
    hb.matrix(moved @ moved)

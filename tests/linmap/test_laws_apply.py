"""Laws apply on each side and under each condition that they state: a rule that is found less often is noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diff import bilinear, constant, fun, sin, tanh
from diff.nodes import Bilinear
from hilbert import DirectSum, Elements, Fin, R
from hilbert.leaf import Leaf
from hilbert.program.constant import Const, filled
from hilbert.relation import leq
from linmap import (
    add,
    compose,
    cumsum,
    explain,
    fork,
    identity,
    inject,
    matrix,
    scale,
    section,
    simplify,
    uncurry,
    zero,
)
from linmap.contraction import hadamard, matrix_vector
from linmap.laws.bench import Constants
from linmap.laws.graph import rows_net
from linmap.net.lower import net
from linmap.term import wire

X, Y = Fin.of(2), Fin.of(3)
V, W = R**X, R**Y
MIXED = DirectSum((V, Elements(Y)))
RNG = np.random.default_rng(0)


def laws(f: Any) -> list[str]:
    return [step.law for step in explain(f)]


@pytest.mark.parametrize("case", [(0, V), (1, V), (0, MIXED), (1, MIXED)])
def test_bilinear_of_a_constant(case: tuple[int, Any]) -> None:
    """⋄ ∘ ⟨K_u, f⟩ and ⋄ ∘ ⟨f, K_v⟩, on a space and on a type with a discrete part."""
    side, dom = case
    f: Any = fun(dom)(sin) if dom is V else fun(*dom.parts)(lambda v, _: sin(v))
    k = constant(V.random(RNG), dom)
    g = bilinear(hadamard(V)) @ fork(*((k, f) if side == 0 else (f, k)))
    assert "bilinear of a constant" in laws(g)
    assert not any(isinstance(part, Bilinear) for part in getattr(simplify(g), "parts", ()))


@pytest.mark.parametrize("zeros", [(True, False), (False, True)])
def test_bilinear_of_zero(zeros: tuple[bool, bool]) -> None:
    """⋄ ∘ ⟨0, f⟩ = ⋄ ∘ ⟨f, 0⟩ = 0, and ⋄ ∘ ι_i = 0."""
    twice: Any = DirectSum((V, V))
    f = fork(*(zero(V, V) if z else cumsum(X) for z in zeros))
    assert "bilinear of zero" in laws(bilinear(hadamard(V)) @ f)
    assert "bilinear of zero" in laws(bilinear(hadamard(V)) @ inject(twice, zeros.index(True)))


def test_common_ends_that_are_no_spaces() -> None:
    """⟨f∘h, g∘h⟩ and f∘h + g∘h, where h goes into a type with a discrete part: h is computed once."""
    h: Any = fun(*MIXED.parts)(lambda v, y: (tanh(v), y))
    h = h @ h
    f, g = (fun(*MIXED.parts)(body) for body in (lambda v, _: sin(v), lambda v, _: tanh(v * v)))
    assert "common start of a fork" in laws(fork(f @ h, g @ h))
    assert "common start of a sum" in laws(f @ h + g @ h)


def test_common_end_of_a_sum_on_what_is_no_space() -> None:
    """k∘f + k∘g = k∘(f + g) for a linear k, where f and g start at a type with a discrete part."""
    f, g = (fun(*MIXED.parts)(body) for body in (lambda v, _: sin(v), lambda v, _: tanh(v * v)))
    k: Any = cumsum(X)
    assert "common end of a sum" in laws(k @ f + k @ g)


def test_uncurry_after_copowers() -> None:
    """uncurry • (f^Y)^X = f^{X×Y} • uncurry, for two sets of different sizes."""
    f = cumsum(X) @ section(matrix_vector(X, X), 0, (R ** (X * X)).random(RNG))
    term = uncurry((V**Y) ** X) @ (f**Y) ** X
    assert "uncurry after copowers" in laws(term)
    assert np.array_equal(matrix(simplify(term), as_="array"), matrix(term, as_="array"))


def test_numbers_along_a_row() -> None:
    """(k ·) • f • (l ·) = f • (kl ·), also where three numbers stand in the row."""
    f, g = cumsum(X), cumsum(X, reverse=True)
    for row in (compose(2.0 * f, g, 3.0 * f), compose(2.0 * identity(V), f, 3.0 * identity(V), g, 5.0 * f)):
        body: Any = simplify(net(row))
        assert sum(isinstance(arc.map, wire.Scale) for arc in body.arcs) == 1
        assert "numbers along a row" in laws(net(row))
        assert np.array_equal(matrix(body, as_="array"), matrix(row, as_="array"))


def test_one_arc_changes() -> None:
    """A net of a single arc: its law is kept, though no arc goes."""
    body = net(scale(R.vec(3.0), V))
    found: Any = simplify(body)
    (before,), (after,) = body.arcs, found.arcs
    assert isinstance(before.map, wire.ContractWith)
    assert after.map == wire.Scale(3.0)


def test_what_is_recorded_of_nets() -> None:
    """Rows of arcs side by side are a net: the sum of their compositions; a step has two sides that differ."""
    leaf = V.leaves[0]
    double, runs = wire.Scale(2.0), wire.Reduce(leq(X), 0)
    made = rows_net(leaf, leaf, [[double, runs], [], [runs]])
    due = 3.0 * cumsum(X) + identity(V)
    assert np.array_equal(matrix(made, as_="array"), matrix(due, as_="array"))
    for step in explain(net(scale(R.vec(3.0), V) + scale(R.vec(4.0), V))):
        assert step.before != step.after
        assert matrix(step.before, as_="array").any()


def test_filled_data_stay_filled() -> None:
    """k times an array of one number is one: the number is known still."""
    made = Constants().scaled(2.0, filled(3.0, Leaf(R.entry, (X,))))
    assert isinstance(made, Const)
    assert made.number == 6.0


def test_sums_of_pairs() -> None:
    """(+) • ⟨f, g⟩ = f + g."""
    f, g = cumsum(X), section(hadamard(V), 0, V.random(RNG))
    assert np.allclose(matrix(simplify(add(V) @ fork(f, g)), as_="array"), matrix(f + g, as_="array"))

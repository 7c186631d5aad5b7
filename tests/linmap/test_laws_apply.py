"""Laws apply on each side and under each condition that they state: a rule that is found less often is noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjoint import adjoint
from diff import bilinear, constant, fun, sin, tanh
from diff.terms.nodes import Bilinear
from hilbert import R32, DirectSum, Elements, Fin, R, TensorProduct
from hilbert.index.leaf import Leaf
from hilbert.index.spec import Spec
from hilbert.program.line.constant import Const, filled
from hilbert.relation import function, leq, run
from linmap import (
    add,
    cast,
    compose,
    cumsum,
    curry,
    explain,
    fork,
    identity,
    inject,
    join,
    matrix,
    project,
    red,
    scale,
    section,
    simplify,
    total,
    uncurry,
    zero,
)
from linmap.contraction import Contraction, hadamard, matrix_vector, tensor_contraction
from linmap.laws.engine.section_data import Constants
from linmap.laws.laws.graph import rows_net
from linmap.net.lower import net
from linmap.term import wire
from linmap.term.nodes import Reduce, Section, Unitary

X, Y = Fin.of(2), Fin.of(3)
V, W = R**X, R**Y
MIXED = DirectSum((V, Elements(Y)))
RNG = np.random.default_rng(0)
SQUARE = TensorProduct(V, V)


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


def test_copowers_beside_other_unitaries() -> None:
    """What turns the two axes is no uncurry; curry^Z keeps its name, and (f^X)^Z after it is no f^Z."""
    f = cumsum(X) @ section(matrix_vector(X, X), 0, (R ** (X * X)).random(RNG))
    turned = Unitary("rearrange", (V**X) ** X, V ** (X * X), (0,), ((1, 0, 2),))
    kept(turned @ (f**X) ** X)
    kept((f**X) ** (X * Y) @ curry(R ** (X * X)) ** (X * Y))


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


def kept(f: Any) -> Any:
    """The simplified map, which is one between the same spaces with the same matrix."""
    g = simplify(f)
    assert (f.dom, f.cod) == (g.dom, g.cod)
    assert np.allclose(matrix(g, as_="array"), matrix(f, as_="array"), rtol=0, atol=1e-12)
    return g


def by_matrix(labels: str, datum: Any) -> Section:
    """(A⋆) for labels ij, (Aᵀ⋆) for labels ji."""
    return Section(Contraction(datum.space, V, V, ((0, 0, 0, Spec.of(labels, "j", "i")),)), 0, datum)


def test_sums_with_transposed_data() -> None:
    """(A⋆) + (Bᵀ⋆) = ((A + Bᵀ)⋆)."""
    A, B = (SQUARE.random(RNG) for _ in range(2))
    for f in (by_matrix("ij", A) + by_matrix("ji", B), by_matrix("ji", B) + by_matrix("ij", A)):
        assert isinstance(kept(f), Section)


def test_sums_with_formal_data() -> None:
    """(s⋆) + (t⋆) is a section by a formal tensor; transposed ones are not added, nor are any in a net."""
    s, t = (V.random(RNG).tensor(V.random(RNG)) for _ in range(2))
    f, g = (section(tensor_contraction(V, V, R), 0, u) for u in (s, t))
    made = kept(f + g)
    assert isinstance(made, Section)
    assert made.datum.is_formal
    for h in (by_matrix("ij", s) + by_matrix("ji", t), net(f + g), net(by_matrix("ij", s) + by_matrix("ji", t))):
        assert kept(h) is h


def test_sums_over_what_is_moved() -> None:
    """Σ • red_f = Σ for a permutation f: one reduction, into V and no copower of it."""
    assert isinstance(kept(total(Y, V) @ red(function([2, 0, 1], Y, Y), V)), Reduce)


def test_casts_of_some_parts() -> None:
    """Casts in a row are one, from where the first starts."""
    mixed = DirectSum((R32**X, V))
    both = cast(DirectSum((V, V)), R32) @ cast(mixed, R)
    assert kept(both) == cast(mixed, R32)


def test_parts_of_rows_backwards() -> None:
    """[f, g] • ⟨f*, g*⟩ = id, and apart, where rows are counted down, or are tables; not where two share a place."""
    L = Fin.of(5)
    down, rest, low = (red(places, V) for places in (run(Y, L, 2, -1), run(X, L, 3), run(X, L, 0)))
    odd, even = (red(function(places, Fin.of(len(places)), L), V) for places in ([3, 1], [4, 0, 2]))
    for f, g in ((down, rest), (odd, even)):
        together, apart = join(f, g), fork(adjoint(f), adjoint(g))
        assert kept(together @ apart) == identity(together.cod)
        assert kept(apart @ together) == identity(together.dom)
    assert kept(fork(adjoint(down), adjoint(low)) @ join(down, low)) != identity(DirectSum((V**Y, V**X)))


def test_a_projection_beside_another_map() -> None:
    """f•π₁ + g is no join where g starts with no projection."""
    kept(cumsum(X) @ project(DirectSum((V, V)), 0) + add(V))

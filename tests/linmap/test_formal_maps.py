"""Linear maps applied to formal tensors: what they do to the dense form, by way of the factors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import event, given, settings

from hilbert import Copower, Fin, R, SpaceError, TensorProduct, Unit, Vec
from hilbert.arrays.formal.formal_array import Formal, block
from hilbert.relation import pairs
from linmap import section
from linmap.contraction import (
    Contraction,
    contraction_over,
    hadamard,
    inner,
    outer,
    pick,
    scalar,
    tensor_contraction,
)
from linmap.term.nodes import Lifted, Reduce
from tests.formal_vectors import formal_array, formal_vector
from tests.linear_terms import CONTRACTIONS, UNITARIES, between, linear_map
from tests.strategies import Source, close, same, sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from linmap import LinMap


def image(f: LinMap[Any, Any], t: Any) -> Any:
    """f(t); None where f says that it has no rule, which it says only of tensors that are formal."""
    try:
        return f(t)
    except SpaceError as error:
        if not t.is_formal or "call .dense() first" not in str(error):
            raise
        event(f"no rule: {type(f).__name__}")
        return None


@pytest.mark.parametrize("name", UNITARIES)
@settings(max_examples=25)
@given(s=sources())
def test_unitary_operators(name: str, s: Source) -> None:
    """f(t) has the entries of f(dense t), and f(s) ⊙ f(t) = s ⊙ t; every unitary operator has a rule."""
    f = UNITARIES[name](s)
    t, u = formal_vector(s, f.dom), formal_vector(s, f.dom)
    assert same(f(t).dense(), f(t.dense()))
    assert f(t).inner(f(u)) == t.inner(u)


@settings(max_examples=200)
@given(s=sources())
def test_all_maps(s: Source) -> None:
    """f(t) has the entries of f(dense t), for terms of every kind."""
    f = linear_map(s, 2)
    t = formal_vector(s, f.dom)
    found = image(f, t)
    assert found is None or close(found.dense(), f(t.dense()))


@settings(max_examples=200)
@given(s=sources())
def test_maps_of_tensors(s: Source) -> None:
    """f(t) has the entries of f(dense t), for terms on V ⊗ W."""
    f = between(s, s.tensor(), s.space(8, 1), 3)
    t = formal_vector(s, f.dom)
    found = image(f, t)
    assert found is None or close(found.dense(), f(t.dense()))


BILINEAR: dict[str, Callable[[Source], Contraction[Any, Any, Any]]] = {
    "inner": lambda s: inner(s.tensor()),
    "scalar": lambda s: scalar(s.tensor()),
    "hadamard": lambda s: hadamard(s.tensor()),
    "outer": lambda s: outer(s.tensor(9), s.space(4, 1)),
    "outer on the right": lambda s: outer(s.space(4, 1), s.tensor(9)),
    "tensor contraction": lambda s: tensor_contraction(s.space(4), s.space(4), s.space(4)),
    "matrix times vector": lambda s: _matrix_vector(s.field ** s.index(), s.field ** s.index()),
    "pick": lambda s: pick(s.index(empty=False), s.tensor(9)),
}


def _matrix_vector(V: Any, W: Any) -> Contraction[Any, Any, Any]:
    return contraction_over(TensorProduct(V, W), W, len(W.index.axes), V)


@pytest.mark.parametrize("name", BILINEAR)
@settings(max_examples=40)
@given(s=sources())
def test_sections(name: str, s: Source) -> None:
    """(u⋄)(v) and (⋄v)(u) for formal and dense u, v, and under a copower."""
    c = BILINEAR[name](s)
    if s.flag():
        c = c.lifted(s.index(3))
    u, v = formal_vector(s, c.left), formal_vector(s, c.right)
    expected = section(c, 1, v.dense())(u.dense())
    for a in (u, u.dense()):
        for b in (v, v.dense()):
            if c.left.is_space:
                assert close(section(c, 1, b)(a).dense(), expected)
            if c.right.is_space:
                assert close(section(c, 0, a)(b).dense(), expected)


@pytest.mark.parametrize("name", [name for name in CONTRACTIONS if name.startswith("labels")])
@settings(max_examples=100)
@given(s=sources())
def test_labelled_contractions(name: str, s: Source) -> None:
    """Σ a[l]·b[r] for arrays with factors on any groups of axes; one of them may be discrete."""
    c = CONTRACTIONS[name](s)
    u, v = ((formal_array(s, V) if V.is_space else s.vector(V)) for V in (c.left, c.right))
    if c.right.is_space:
        f = section(c, 0, u)
        assert close(f(v).dense(), section(c, 0, u.dense())(v.dense()))
    if c.left.is_space:
        f = section(c, 1, v)
        assert close(f(u).dense(), section(c, 1, v.dense())(u.dense()))


def test_weights_of_both_operands() -> None:
    """Σ_r w_r a_r ⊗ b_r times Σ_s z_s c_s ⊗ d_s, entry by entry: the ranks multiply, and so do the weights."""
    rng = np.random.default_rng(0)
    V = R ** (Fin.of(3) * Fin.of(4))

    def tensor(blocks: int) -> Vec[Any]:
        shapes: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ()), ((3,), (0,)), ((4,), (1,))]
        made = [block(1.0, [(rng.standard_normal((2, *n)), axes) for n, axes in shapes]) for _ in range(blocks)]
        return Vec(V, (Formal((3, 4), "float64", tuple(made)),))

    s, t = tensor(3), tensor(4)
    assert close(section(hadamard(V), 0, s)(t).dense(), section(hadamard(V), 0, s.dense())(t.dense()))


@settings(max_examples=100)
@given(s=sources())
def test_reductions(s: Source) -> None:
    """red_R where the axes of R lie in one factor, in several, or in none."""
    relation, V = s.relation(), s.space(6, 1)
    f = Reduce(relation, V)
    t = formal_array(s, f.dom)
    found = image(f, t)
    assert found is None or close(found.dense(), f(t.dense()))


def test_pairs_on_one_element() -> None:
    """red_∅ = 0 and red_{(0,0)} = id for ∅, {(0, 0)} ⊆ 𝟏×𝟏, which have no axes."""
    t = Vec(R ** Fin.of(1), (Formal((1,), "float64", (block(1.0, [(np.full((1, 1), 2.0), (0,))]),)),))
    for entries, want in (([], 0.0), ([(0, 0)], 2.0)):
        f = Lifted(Reduce(pairs(entries, Unit(), Unit()), R), Fin.of(1))
        assert float(f(t).dense().array[0]) == want


@given(sources())
def test_products_of_relations(s: Source) -> None:
    """red_{R×S}(u ⊗ v) = red_R(u) ⊗ red_S(v): R × S splits up between the factors, and so does Rᵀ × Sᵀ."""
    r, q = s.relation(), s.relation()
    V, W = (Copower(s.field, x) for x in (r.dom, q.dom))
    t = s.vector(V).tensor(s.vector(W)) + s.vector(V).tensor(s.vector(W))
    f, back = Reduce(r * q, s.field), Reduce((r * q).T, s.field)
    matrix = Vec(f.dom, t.leaves)
    reduced = image(f, matrix)
    assert reduced is None or close(reduced.dense(), f(matrix.dense()))
    again = None if reduced is None else image(back, reduced)
    assert again is None or close(again.dense(), back(reduced.dense()))


@given(sources())
def test_under_a_copower(s: Source) -> None:
    """f^X on (V ⊗ W)^X."""
    f = UNITARIES["transpose"](s)
    X = s.index(3)
    t = formal_vector(s, Copower(f.dom, X))
    assert same(Lifted(f, X)(t).dense(), Lifted(f, X)(t.dense()))

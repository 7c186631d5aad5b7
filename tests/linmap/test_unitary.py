"""Unitary operators preserve the inner product, and act on elementary tensors as §3.2 says."""

from typing import Any

import pytest
from hypothesis import given, settings

from hilbert import Copower, Coproduct, DirectSum, Fin, R, SpaceError, TensorProduct, Vec, direct_sum
from linmap import concatenate, curry, split, stack, transpose, uncurry, unstack, unzip_parts, zip_parts
from linmap.contraction import outer
from linmap.term.nodes import Section, Unitary
from linmap.unitary import assoc, bars, bra, distrib, ket, tensor_copower, tensor_matrix
from tests.linear_terms import UNITARIES
from tests.strategies import Source, elements, gathered, same, sources


def tensor(v: Vec[Any], w: Vec[Any]) -> Vec[Any]:
    """v ⊗ w."""
    return Section(outer(v.space, w.space), 1, w)(v)


@pytest.mark.parametrize("name", UNITARIES)
@settings(max_examples=10)
@given(s=sources())
def test_preserve_the_inner_product(name: str, s: Source) -> None:
    """f(v) ⊙ f(w) = v ⊙ w, and dim W = dim V."""
    f = UNITARIES[name](s)
    v, w = s.vector(f.dom), s.vector(f.dom)
    assert f(v).inner(f(w)) == v.inner(w)
    assert f.cod.dim == f.dom.dim


@pytest.mark.parametrize("name", UNITARIES)
@settings(max_examples=10)
@given(s=sources())
def test_onto_another_space(name: str, s: Source) -> None:
    """A unitary operator whose codomain has other leaves than those of the domain, moved, is refused."""
    f = UNITARIES[name](s)
    order = tuple(tuple(range(len(leaf.axes))) for leaf in f.dom.leaves)
    stays = tuple(range(len(order)))
    assert Unitary("same", f.dom, f.dom, stays, order).cod == f.dom
    with pytest.raises(SpaceError, match="same does not map"):
        Unitary("same", f.dom, direct_sum(f.dom, s.field), stays, order)


@pytest.mark.parametrize("make", [stack, unstack])
def test_stacks_of_many(make: Any) -> None:
    """A stack is a term with a part for each element: of 10⁵ at most."""
    with pytest.raises(SpaceError, match="it takes 100000 at most"):
        make(Fin.of(10**5 + 1), R)


@given(sources())
def test_on_elementary_tensors(s: Source) -> None:
    """(v⊗w)ᵀ = w⊗v, ⟨v = 1⊗v, v⟩ = v⊗1, |k⊗v| = k·v = |v⊗k|, assoc((u⊗v)⊗w) = u⊗(v⊗w)."""
    U, V, W = s.space(3, 1), s.space(3, 1), s.space(3, 1)
    u, v, w = s.vector(U), s.vector(V), s.vector(W)
    k = s.vector(s.field)
    one = s.field.vec(1.0)
    assert same(transpose(TensorProduct(V, W))(tensor(v, w)), tensor(w, v))
    assert same(assoc(TensorProduct(TensorProduct(U, V), W))(tensor(tensor(u, v), w)), tensor(u, tensor(v, w)))
    assert same(bars(TensorProduct(s.field, V))(tensor(k, v)), float(k) * v)
    assert same(bars(TensorProduct(V, s.field))(tensor(v, k)), float(k) * v)
    if V.leaves:  # the space 0 has no field of its own
        assert same(bra(V)(v), tensor(one, v))
        assert same(ket(V)(v), tensor(v, one))


@given(sources())
def test_transpose_of_sums(s: Source) -> None:
    """((v₁, …, vₙ) ⊗ (w₁, …, wₘ))ᵀ has the part w_j⊗v_i at (j, i), also where all parts are alike."""
    V: Any = DirectSum((s.space(3, 1),) * s.integer(2, 3))
    W: Any = V if s.flag() else s.sum(6, least=2)
    v, w = s.vector(V), s.vector(W)
    assert same(transpose(TensorProduct(V, W))(tensor(v, w)), tensor(w, v))


@given(sources())
def test_distrib(s: Source) -> None:
    """distrib((v₁, …, vₙ) ⊗ w) = (v₁⊗w, …, vₙ⊗w), for a direct sum and for a copower."""
    V, U, W = s.sum(8), s.copower(8), s.space(4, 1)
    v, u, w = s.vector(V), s.vector(U), s.vector(W)
    found = distrib(TensorProduct(V, W))(tensor(v, w))
    assert all(same(found[k], tensor(v[k], w)) for k in range(len(V.parts)))
    f = distrib(TensorProduct(U, W))
    assert same(f(tensor(u, w)), gathered(f.cod, [tensor(part, w) for part in elements(u)]))


@given(sources())
def test_zip(s: Source) -> None:
    """zip(v, w)_x = (v_x, w_x), and unzip is its inverse."""
    X, V, W = s.index(), s.space(6), s.space(6)
    v, w = s.vector(V**X), s.vector(W**X)
    pair = direct_sum(V, W)
    f = zip_parts(direct_sum(V**X, W**X))
    rows = [pair.vec((a.array, b.array)) for a, b in zip(elements(v), elements(w), strict=True)]
    assert same(f(v, w), gathered(pair**X, rows))
    assert same(unzip_parts(pair**X)(f(v, w)), f.dom.vec((v.array, w.array)))


@given(sources())
def test_products_of_index_sets(s: Source) -> None:
    """(curry v)_x,y = v_(x,y), (vᵀ)_(y,x) = v_(x,y), (v⊗w)_(x,y) = v_x⊗w_y."""
    X, Y, V, W = s.index(), s.index(), s.space(4, 1), s.space(3, 1)
    v = s.vector(V ** (X * Y))
    rows = curry(v.space)(v)
    assert same(gathered(v.space, [part for row in elements(rows) for part in elements(row)]), v)
    assert same(uncurry(rows.space)(rows), v)
    turned = transpose(V ** (X * Y))(v)
    columns = zip(*(elements(row) for row in elements(rows)), strict=True) if X.size else [()] * Y.size
    assert same(turned, gathered(turned.space, [part for column in columns for part in column]))
    a, b = s.vector(Copower(V, X)), s.vector(Copower(W, Y))
    product = tensor_copower(TensorProduct(a.space, b.space))
    parts = [tensor(p, q) for p in elements(a) for q in elements(b)]
    assert same(product(tensor(a, b)), gathered(product.cod, parts))
    p, q = s.vector(s.field**X), s.vector(s.field**Y)
    matrix = tensor_matrix(TensorProduct(p.space, q.space))(tensor(p, q))
    assert matrix.flat().tolist() == [i * j for i in p.flat() for j in q.flat()]


@given(sources())
def test_stack_and_split(s: Source) -> None:
    """stack and concatenate put parts side by side, unstack and split are their inverses; both are unitary."""
    X, Y, V = s.index(empty=False), s.index(), s.space(6)
    parts = [s.vector(V) for _ in range(X.size)]
    family = direct_sum(*[V] * X.size).vec(tuple(part.array for part in parts))
    assert same(stack(X, V)(family), gathered(V**X, parts))
    assert same(unstack(X, V)(stack(X, V)(family)), family)
    v = s.vector(Copower(V, Coproduct(X, Y)))
    halves = split(v.space)(v)
    assert same(gathered(v.space, elements(halves[0]) + elements(halves[1])), v)
    assert same(concatenate(X, Y, V=V)(halves), v)
    assert halves.inner(halves) == v.inner(v)

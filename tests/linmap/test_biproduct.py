"""⊕ is a biproduct: π_i • ι_i = id, π_j • ι_i = 0, Σ ι_i • π_i = id, and ⟨⟩, [] and × are made of them."""

from typing import Any

from hypothesis import given

from hilbert import Index, Product
from linmap import add, dup, fork, identity, inject, join, parallel, project
from tests.linear_terms import between
from tests.strategies import Source, same, sources


@given(sources(single=False))
def test_projection_of_injection(s: Source) -> None:
    """π_j(ι_i(v)) = v if i = j, else 0."""
    V = s.sum(least=1)
    i, j = s.integer(0, len(V.parts) - 1), s.integer(0, len(V.parts) - 1)
    v = s.vector(V.parts[i])
    found = (project(V, j) @ inject(V, i))(v)
    assert same(found, v if i == j else V.parts[j].zeros())


@given(sources(single=False))
def test_sum_of_the_parts(s: Source) -> None:
    """Σ_i ι_i(π_i(v)) = v, for a direct sum and for a copower."""
    V = s.sum(least=1)
    v = s.vector(V)
    total = V.zeros()
    for k in range(len(V.parts)):
        total += (inject(V, k) @ project(V, k))(v)
    assert same(total, v)


@given(sources(single=False))
def test_copower(s: Source) -> None:
    """π_y(ι_x(v)) = δ_xy·v and Σ_x ι_x(π_x(v)) = v in V^X."""
    V = s.copower()
    v, total = s.vector(V), V.zeros()
    for x in members(V.index):
        total += inject(V, x)(project(V, x)(v))
    assert same(total, v)
    if V.index.size:
        x, y = s.one_of(members(V.index)), s.one_of(members(V.index))
        u = s.vector(V.base)
        assert same(project(V, y)(inject(V, x)(u)), u if x == y else V.base.zeros())


@given(sources(single=False))
def test_fork(s: Source) -> None:
    """π_i • ⟨f₁, …, fₙ⟩ = f_i, and ⟨π₁, …, πₙ⟩ = id."""
    U, V = s.space(), s.sum(8, least=1)
    u, v = s.vector(U), s.vector(V)
    parts = [between(s, U, part, 1) for part in V.parts]
    for k, f in enumerate(parts):
        assert same(project(V, k)(fork(*parts)(u)), f(u))
    assert same(fork(*(project(V, k) for k in range(len(V.parts))))(v), v)


@given(sources(single=False))
def test_join(s: Source) -> None:
    """[g₁, …, gₙ] • ι_i = g_i, and [ι₁, …, ιₙ] = id."""
    V, W = s.sum(8, least=1), s.space()
    parts = [between(s, part, W, 1) for part in V.parts]
    for k, g in enumerate(parts):
        v = s.vector(V.parts[k])
        assert same(join(*parts)(inject(V, k)(v)), g(v))
    v = s.vector(V)
    assert same(join(*(inject(V, k) for k in range(len(V.parts))))(v), v)


@given(sources(single=False))
def test_fork_is_parallel_after_dup(s: Source) -> None:
    """⟨f, g⟩ = (f × g) • dup, [f, g] = (+) • (f × g), (f × g)(v, w) = (f v, g w)."""
    U, V, W = s.space(), s.space(), s.space()
    f, g = between(s, U, V, 1), between(s, U, V, 1)
    h = between(s, W, V, 1)
    u, w = s.vector(U), s.vector(W)
    assert same(fork(f, g)(u), (parallel(f, g) @ dup(U))(u))
    assert same(join(f, h)(u, w), (add(V) @ parallel(f, h))(u, w))
    both = parallel(f, h)(u, w)
    assert same(both[0], f(u))
    assert same(both[1], h(w))
    assert same((f + g)(u), (join(identity(V), identity(V)) @ fork(f, g))(u))


def members(index: Index) -> list[Any]:
    """The elements of an index set in the form that π_x takes: integers, and pairs for X × Y."""
    match index:
        case Product(left, right):
            return [(x, y) for x in members(left) for y in members(right)]
        case _:
            return list(range(index.size))

"""(g ∘ f)'(v) = g'(f v) • f'(v), Thm 4.1 (1)."""

from hypothesis import given, note, settings

from diff import affine
from tests.function_terms import between
from tests.strategies import Source, close, elements, gathered, sources
from tests.tangents import central


@settings(max_examples=100)
@given(sources(smooth=True))
def test_chain_rule(s: Source) -> None:
    """The derivative of a composition is the composition of the derivatives, at the value of the inner function."""
    U, V, W = s.space(8), s.space(8), s.space(8)
    f, g = between(s, U, V, 2, kinks=True), between(s, V, W, 2, kinks=True)
    note((f, g))
    x, dx = s.vector(U), s.vector(U)
    y, df = affine(f, x)
    z, dg = affine(g, y)
    found, linear = affine(g @ f, x)
    assert close(found, z)
    assert close(linear(dx), dg(df(dx)))
    assert close(linear(dx), (dg @ df)(dx))


@given(sources(smooth=True, single=False))
def test_chain_rule_by_differences(s: Source) -> None:
    """(g ∘ f)'(v)(dv) = g'(f v)(f'(v)(dv)), the right side by differences of f and of g alone."""
    U, V, W = s.space(8), s.space(8), s.space(8)
    f, g = between(s, U, V, 2), between(s, V, W, 2)
    note((f, g))
    x, dx = s.vector(U), s.vector(U)
    due = central(g, f(x), central(f, x, dx))
    assert close(affine(g @ f, x)[1](dx), due, 1e-5)
    assert close(affine(g, f(x))[1](affine(f, x)[1](dx)), due, 1e-5)


@given(sources(smooth=True))
def test_sum_and_scaling(s: Source) -> None:
    """(f + g)' = f' + g' and (k·f)' = k·f'."""
    V, W = s.space(8), s.space(8)
    f, g = between(s, V, W, 2), between(s, V, W, 2)
    note((f, g))
    x, dx = s.vector(V), s.vector(V)
    due = affine(f, x)[1](dx) + affine(g, x)[1](dx)
    assert close(affine(f + g, x)[1](dx), due)
    assert close(affine(-2.5 * f, x)[1](dx), -2.5 * affine(f, x)[1](dx))
    assert close(affine(f - g, x)[1](dx), affine(f, x)[1](dx) - affine(g, x)[1](dx))


@given(sources(smooth=True))
def test_copower(s: Source) -> None:
    """(f^X)'(v) = Δ(f'^X v): element x of (f^X)'(v)(dv) is f'(v_x)(dv_x)."""
    f = between(s, s.space(6), s.space(6), 2, kinks=True)
    note(f)
    g = f ** s.index(3)
    x, dx = s.vector(g.dom), s.vector(g.dom)
    lanes = zip(elements(x), elements(dx), strict=True)
    due = [affine(f, point)[1](step) for point, step in lanes]
    assert close(affine(g, x)[1](dx), gathered(g.cod, due))

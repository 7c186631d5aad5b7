"""f^X is f on every element: (f^X v)_x = f(v_x); copowers commute with the other constructions."""

from hypothesis import given, note, settings

from hilbert import Fin
from linmap import identity, parallel, zip_
from linmap.net.evaluate import tape
from linmap.net.lower import net
from tests.linear_terms import between, linear_map
from tests.strategies import Source, close, elements, gathered, same, sources


@settings(max_examples=150)
@given(sources())
def test_element_by_element(s: Source) -> None:
    """f^X equals a loop over X, and (f^X)^Y one over Y and X."""
    f = linear_map(s)
    note(f)
    X, Y = s.index(3), s.index(3)
    g = f**X
    v, w = s.vector(g.dom), s.vector((g**Y).dom)
    assert close(g(v), gathered(g.cod, [f(part) for part in elements(v)]))
    looped = [gathered(g.cod, [f(part) for part in elements(row)]) for row in elements(w)]
    assert close((g**Y)(w), gathered((g**Y).cod, looped))


@given(sources(single=False))
def test_functor(s: Source) -> None:
    """(g • f)^X = g^X • f^X, id^X = id, (f + g)^X = f^X + g^X, (k·f)^X = k·f^X as maps."""
    U, V, W, X = s.space(8), s.space(8), s.space(8), s.index()
    f, g, h = between(s, U, V, 2), between(s, V, W, 2), between(s, U, V, 2)
    v = s.vector(U**X)
    assert same(((g @ f) ** X)(v), (g**X @ f**X)(v))
    assert same((identity(U) ** X)(v), v)
    assert same(((f + h) ** X)(v), (f**X + h**X)(v))
    assert same(((3 * f) ** X)(v), (3 * f**X)(v))


@given(sources(single=False))
def test_direct_sum(s: Source) -> None:
    """zip • (f^X × g^X) = (f × g)^X • zip."""
    X = s.index()
    f, g = (between(s, s.space(6), s.space(6), 1) for _ in range(2))
    both = parallel(f**X, g**X)
    v = s.vector(both.dom)
    assert same((zip_(both.cod) @ both)(v), (parallel(f, g) ** X @ zip_(both.dom))(v))


@given(sources(single=False))
def test_size_does_not_depend_on_the_index_set(s: Source) -> None:
    """f^X has as many array operations as f, for |X| = 3 and |X| = 300: there is no loop over X."""
    f = linear_map(s)
    due = len(tape(net(f)).code)
    for n in (3, 300):
        assert len(tape(net(f ** Fin.of(n))).code) == due

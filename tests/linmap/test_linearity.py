"""Every linear term is linear: f(j·v + k·w) = j·f(v) + k·f(w), exactly on small integers."""

from hypothesis import given, note, settings

from tests.linear_terms import SCALARS, is_exact, linear_map
from tests.strategies import Source, close, same, sources


@settings(max_examples=200)
@given(sources())
def test_every_term_is_linear(s: Source) -> None:
    """f(j·v + k·w) = j·f(v) + k·f(w) and f(0) = 0; no argument changes, no result can be written into."""
    f = linear_map(s, 3)
    note(f)
    v, w = s.vector(f.dom), s.vector(f.dom)
    j, k = s.one_of(SCALARS), s.one_of(SCALARS)
    found, due = f(j * v + k * w), j * f(v) + k * f(w)
    assert same(found, due) if is_exact(f) else close(found, due)
    assert same(f(f.dom.zeros()), f.cod.zeros())
    assert all(not leaf.flags.writeable for leaf in found.leaves)
    assert s.unchanged()

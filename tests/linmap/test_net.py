"""Nets: the same language with sharing; a subterm that several parents use is one set of arcs."""

from typing import Any

from hypothesis import given, note

from hilbert import Fin, R
from linmap import cumsum, total
from linmap.net.lower import net
from linmap.term.linear_map import LinMap
from linmap.term.net import Net
from tests.linear_terms import linear_map
from tests.strategies import Source, same, sources


@given(sources())
def test_meaning(s: Source) -> None:
    """net(f)(v) = f(v), net(net(f)) = net(f), and f, net(f) and a net inside a term compose alike."""
    f = linear_map(s)
    note(f)
    v = s.vector(f.dom)
    body = net(f)
    assert isinstance(body, Net)
    assert same(body(v), f(v))
    assert net(body) == body
    assert same((body + f)(v), (f + f)(v))
    assert same((2 * body)(v), 2 * f(v))


@given(sources())
def test_arcs_are_in_topological_order(s: Source) -> None:
    """No arc adds into a wire that an earlier arc has read."""
    f = linear_map(s, 3)
    note(f)
    body = net(f)
    read = set[int]()
    for arc in body.arcs:
        read.add(arc.src)
        assert arc.dst not in read
        assert arc.dst not in body.inputs
    assert not read & set(body.outputs)


def test_shared_terms_are_lowered_once() -> None:
    """f ↦ f • (f + scan) has as many arcs as nodes, where its tree has 2⁴⁰ leaves."""
    X = Fin.of(3)
    f: LinMap[Any, Any] = cumsum(X)
    for _ in range(40):
        f = 0.5 * (f + f)
    assert len(net(f).arcs) < 250
    v = (R**X).vec([1.0, 2.0, 4.0])
    assert same(f(v), cumsum(X)(v))
    assert len(net(total(X)).arcs) == 1

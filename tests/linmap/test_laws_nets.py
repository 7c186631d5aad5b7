"""Laws of the wires of nets, on nets written by hand: what is merged, what is not, and what is computed of data."""

from __future__ import annotations

from typing import Any

from hilbert import DirectSum, Fin, R
from hilbert.index.leaf import Bundle
from hilbert.relation import geq, greater, leq, less, rotation
from linmap import section, simplify
from linmap.contraction import hadamard
from linmap.net.lower import net
from linmap.term import wire
from linmap.term.net import Arc, Net
from tests.oracle import matrix

X = Fin.of(3)
V = R**X
(LEAF,) = V.leaves
FORWARD, BACK = (wire.Reduce(relation, 0) for relation in (leq(X), geq(X)))


def simplified(f: Net) -> Any:
    """The net after the laws, which has the same matrix."""
    g = simplify(f)
    assert (matrix(f) == matrix(g)).all()
    return g


def test_a_wire_that_many_read() -> None:
    """⟨f₁, …, f₇⟩ • id: the input becomes the wire that seven arcs read, not each of these an arc out of the input."""
    relations = (leq(X), geq(X), less(X), greater(X), rotation(X, 1), rotation(X, 2))
    rows: list[wire.Wire] = [wire.Scale(2.0), *(wire.Reduce(relation, 0) for relation in relations)]
    arcs = (Arc(wire.Same(), 0, 1), *(Arc(row, 1, k) for k, row in enumerate(rows, 2)))
    ends = tuple(range(2, 2 + len(rows)))
    f = Net(V, DirectSum((V,) * len(rows)), (0,), arcs, ends, (LEAF,) * (2 + len(rows)))
    assert [arc.map for arc in simplified(f).arcs] == rows


def test_a_wire_that_only_leads_on() -> None:
    """id • f + g = f + g: what leads to a wire that is no input leads to the next one."""
    arcs = (Arc(FORWARD, 0, 1), Arc(wire.Same(), 1, 2), Arc(BACK, 0, 2))
    f = Net(V, V, (0,), arcs, (2,), (LEAF,) * 3)
    assert [arc.map for arc in simplified(f).arcs] == [FORWARD, BACK]


def test_an_input_that_leads_on() -> None:
    """[id, f]: an input that an arc carries into a sum stays an input of its own."""
    arcs = (Arc(wire.Same(), 0, 2), Arc(FORWARD, 1, 2))
    f = Net(DirectSum((V, V)), V, (0, 1), arcs, (2,), (LEAF,) * 3)
    assert [arc.map for arc in simplified(f).arcs] == [wire.Same(), FORWARD]


def test_first_parts_of_two_bundles() -> None:
    """π₁ • ι₁ + π₁ • ι₁ of a bundle of two and one of one: two arcs out of two wires, which are not one."""
    two, one = Bundle((LEAF, LEAF)), Bundle((LEAF,))
    arcs = (
        *(Arc(wire.Into(0, two), 0, 2), Arc(wire.Into(1, two), 1, 2), Arc(wire.Into(0, one), 1, 3)),
        *(Arc(wire.OutOf(0), 2, 4), Arc(wire.OutOf(0), 3, 4)),
    )
    f = Net(DirectSum((V, V)), V, (0, 1), arcs, (4,), (LEAF, LEAF, two, one, LEAF))
    assert len(simplified(f).arcs) == len(arcs)


def test_computed_data_are_named() -> None:
    """Sums, multiples and products of data are constants whose names tell them apart."""
    u, v = (section(hadamard(V), 0, V.vec(entries)) for entries in ([1.0, 2.0, 3.0], [2.0, 1.0, 1.0]))
    found = [simplified(net(f)) for f in (u, u + v, v + u + u, 2.0 * u, 3.0 * u, u @ v)]
    assert [len(f.arcs) for f in found] == [1] * len(found)
    assert len({repr(f) for f in found}) == len(found)

"""The size of one row of a shared term, and its weight, which is compared where sizes are equal.

Rows are the distinct subterms, the vectors in them, and inside nets and programs the wires, arcs and steps. The size of
a term is the number of its rows plus the number of references between them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from hilbert.base.term import parts
from hilbert.map.combine import Addition, Composition, ElementByElement, Multiple, Pairing, SideBySide
from hilbert.program.line.constant import Const
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Closed, Net
from linmap.term.nodes import Cast, Identity, Inject, Join, Own, Project, Reduce, Section, Unitary, ZeroMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.base.term import Term

WEIGHTS: dict[type, int] = {
    ZeroMap: 0,
    Identity: 1,
    Composition: 1,
    Addition: 1,
    Pairing: 1,
    Join: 1,
    SideBySide: 1,
    Multiple: 2,
    ElementByElement: 2,
    Project: 2,
    Inject: 2,
    Net: 2,
    Closed: 2,
    Reduce: 3,
    Unitary: 3,
    Cast: 3,
    Own: 4,
    Section: 4,
}
"""Of two terms of one size the one of less weight is simpler: 0, then id, then what moves, then what computes."""

WIRES: dict[type, int] = {
    wire.Same: 0,
    wire.Scale: 1,
    wire.ContractWith: 3,
}
"""The same for the arcs of a net; 2 for others."""

INNER: dict[type, Callable[[Any], tuple[int, int]]] = {}
"""Size and weight inside a node that is flat, beside its own row: of programs, added by `diff`."""


def data(node: Term) -> list[Any]:
    """The vectors that a node refers to, once for each reference."""
    found = DATA.get(type(node))
    return found(node) if found else []


def _constants(f: Net) -> list[Any]:
    found = (wire.datum_of(arc.map) for arc in f.arcs)
    return [datum for datum in found if isinstance(datum, Const)]


DATA: dict[type, Callable[[Any], list[Any]]] = {
    Net: _constants,
    Closed: lambda f: [*f.data, *_constants(f.body)],
    Section: lambda f: [f.datum],
}
"""For each class with vectors in it, those of a node; `diff` adds its own."""


def _net(f: Net) -> tuple[int, int]:
    """Wires are rows; an arc is a row that refers to two wires, and perhaps to a slot."""
    slots = sum(isinstance(wire.datum_of(a.map), Ref) for a in f.arcs)
    return len(f.wires) + 3 * len(f.arcs) + slots, sum(WIRES.get(type(a.map), 2) for a in f.arcs)


def _closed(f: Closed) -> tuple[int, int]:
    size, weight = _net(f.body)
    return size + 1, weight


INNER |= {Net: _net, Closed: _closed}


@cache
def weight_of(cls: type) -> int:
    """The weight of a class, or that of the first base class that has one."""
    return next((WEIGHTS[base] for base in cls.__mro__ if base in WEIGHTS), 1)


def row_size(node: Term) -> tuple[int, int]:
    """Size and weight of one row: 1, its references, and the inside of a flat node; not the rows that it refers to."""
    cls: type = type(node)
    references = len(parts(node)) + len(data(node))
    inner = INNER.get(cls)
    size, weight = inner(node) if inner else (0, 0)
    return 1 + references + size, weight_of(cls) + weight

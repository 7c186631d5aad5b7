"""Sections (u⋄), (⋄v) in copowers and compositions (paper §3.1, §3.3); alone and in a row see `linmap.laws.wires`."""

from __future__ import annotations

from typing import Any

from hilbert import Copower
from linmap.contraction import Contraction
from linmap.laws.engine.computed_vectors import scaled
from linmap.laws.engine.rule import NODE, rule
from linmap.term.nodes import Compose, Lifted, Scaled, Section, ZeroMap


@rule(NODE, "(u⋄) = 0 for a contraction without terms", "paper §3.1", Section)
def section_of_nothing(f: Section) -> Any:
    return None if f.contraction.terms else ZeroMap(f.dom, f.cod)


@rule(NODE, "(u⋄)^X = (u ⋄^X) with u shared by all of X", "paper §4", Lifted)
def copower_of_a_section(f: Lifted) -> Any:
    s = f.of
    if not isinstance(s, Section):
        return None
    c, n = s.contraction, len(f.index.axes)
    terms = tuple((i, j, k, spec.lifted(n, left=s.side == 1, right=s.side == 0)) for i, j, k, spec in c.terms)
    flow = Copower(s.dom, f.index)
    left, right = (c.left, flow) if s.side == 0 else (flow, c.right)
    return Section(Contraction(left, right, f.cod, terms), s.side, s.datum)


@rule(NODE, "k·(g • (u⋄) • f) = g • (ku ⋄) • f", "paper §3.1", Scaled, late=True)
def scaling_into_a_composition(f: Scaled) -> Any:
    if not isinstance(f.of, Compose):
        return None
    sizes = {
        n: part.datum.space.dim
        for n, part in enumerate(f.of.parts)
        if isinstance(part, Section) and part.datum.space.is_space
    }
    if not sizes:
        return None
    n = min(sizes, key=sizes.__getitem__)
    parts: list[Any] = list(f.of.parts)
    parts[n] = Section(parts[n].contraction, parts[n].side, scaled(f.k, parts[n].datum))
    return Compose(parts)

"""Sections (u⋄), (⋄v): bilinear maps with one operand fixed (paper §3.1, §3.3).

A section of a labelled contraction is closed under everything that permutes axes. Two in a row are one, whose datum is
contracted from theirs: that is done where it is no larger than both, so that low rank stays low.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert import Copower, DirectSum, Vec
from hilbert.spec import ALPHABET, Spec
from linmap.contraction import Contraction
from linmap.laws.category import split
from linmap.laws.data import contracted, scaled, summed, transposed
from linmap.laws.rule import LIKE, NODE, PAIR, PART, rule
from linmap.net import wire
from linmap.term.nodes import Compose, Identity, Lifted, Scaled, Section, Unitary, Zero

if TYPE_CHECKING:
    from hilbert import Type
    from hilbert.space import Leaf

Term = tuple[int, int, int, Spec]


def number(f: Section) -> float | None:
    """k for a section that is (k ·) on every leaf; None for another."""
    fixed = f.datum.space.leaves
    if not f.datum.space.is_space or len(fixed) != 1 or fixed[0].axes or f.datum.is_formal:
        return None
    terms = f.contraction.terms
    flows = [(j, k) if f.side == 0 else (i, k) for i, j, k, _ in terms]
    if sorted(flows) != [(k, k) for k in range(len(f.dom.leaves))]:
        return None
    specs = [spec for *_, spec in terms]
    if any((spec.right if f.side == 0 else spec.left) != spec.out for spec in specs):
        return None
    return float(f.datum.leaves[0])


@rule(NODE, "(k ·) = k·id for a scalar k", "paper §3.1", Section)
def section_by_a_scalar(f: Section) -> Any:
    k = number(f) if f.dom == f.cod else None
    return None if k is None else Scaled(k, Identity(f.dom))


@rule(PART, "g • (k ·) • f = k·(g • f) for a scalar k", "paper §3.1", Section)
def section_by_a_scalar_in_a_composition(f: Section) -> tuple[float | None, list[Any]] | None:
    k = number(f) if f.dom == f.cod else None
    return None if k is None else (k, [])


@rule(NODE, "(u⋄) = 0 for a contraction without terms", "paper §3.1", Section)
def section_of_nothing(f: Section) -> Any:
    return None if f.contraction.terms else Zero(f.dom, f.cod)


# --- copowers and unitary operators ---


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


@rule(PAIR, "(u⋄) • v = (u ⋄') with the labels in another order", "paper §3.2", Section, Unitary)
def section_after_a_unitary(g: Section, f: Unitary) -> Any:
    c = g.contraction
    terms: list[Term] = []
    for i, j, k, spec in c.terms:
        leaf = j if g.side == 0 else i
        at, labels = f.source[leaf], spec.right if g.side == 0 else spec.left
        before = unmoved(labels, f.order[leaf])
        if g.side == 0:
            terms.append((i, at, k, Spec.of(spec.left, before, spec.out)))
        else:
            terms.append((at, j, k, Spec.of(before, spec.right, spec.out)))
    left, right = (c.left, f.dom) if g.side == 0 else (f.dom, c.right)
    return Section(Contraction(left, right, c.cod, tuple(terms)), g.side, g.datum)


def unmoved(labels: str, order: tuple[int, ...]) -> str:
    """The labels before axes were put into this order."""
    before = [""] * len(labels)
    for label, axis in zip(labels, order, strict=True):
        before[axis] = label
    return "".join(before)


@rule(PAIR, "v • (u⋄) = (u ⋄') with the labels in another order", "paper §3.2", Unitary, Section)
def unitary_after_a_section(g: Unitary, f: Section) -> Any:
    c = f.contraction
    place = {leaf: k for k, leaf in enumerate(g.source)}
    terms = tuple(
        (i, j, place[k], Spec.of(spec.left, spec.right, "".join(spec.out[a] for a in g.order[place[k]])))
        for i, j, k, spec in c.terms
    )
    return Section(Contraction(c.left, c.right, g.cod, terms), f.side, f.datum)


# --- with the data ---


@rule(NODE, "k·(u⋄) = (ku ⋄)", "paper §3.1", Scaled, late=True)
def scaling_into_a_section(f: Scaled) -> Any:
    if not isinstance(f.of, Section) or not f.of.datum.space.is_space:
        return None
    return Section(f.of.contraction, f.of.side, scaled(f.k, f.of.datum))


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


def _fixed(spec: Spec, side: int) -> tuple[str, str, str]:
    """The labels of the datum, of the flow and of the result."""
    return (spec.left, spec.right, spec.out) if side == 0 else (spec.right, spec.left, spec.out)


def normal(spec: Spec, side: int) -> tuple[Spec, tuple[int, ...]]:
    """The same section with its datum on side 0 and the axes of the datum in the order of the result, then the flow.

    The second is the order to put the axes of the datum in.
    """
    datum, flow, out = _fixed(spec, side)
    labels = "".join(c for c in dict.fromkeys(out + flow) if c in datum)
    return Spec.of(labels, flow, out), tuple(datum.index(c) for c in labels)


def _alike(f: Any) -> Any:
    """What sections have in common that differ in their data only, with a number in front perhaps."""
    _, of = split(f)
    if not isinstance(of, Section) or not of.datum.space.is_space:
        return None
    if len(of.contraction.terms) != 1:
        return of.contraction, of.side
    i, j, k, spec = of.contraction.terms[0]
    flow = j if of.side == 0 else i
    return of.dom, of.cod, flow, k, normal(spec, of.side)[0]


@rule(LIKE, "k·(u⋄) + l·(v⋄) = (ku + lv ⋄)", "paper §3.1", late=True, key=_alike)
def sum_of_sections(terms: list[Any]) -> Any:
    pairs = [split(f) for f in terms]
    first = pairs[0][1]
    if all((s.contraction, s.side) == (first.contraction, first.side) for _, s in pairs):
        return Section(first.contraction, first.side, summed([(k, s.datum) for k, s in pairs]))
    if any(s.datum.is_formal or len(s.datum.leaves) != 1 for _, s in pairs):
        return None
    i, j, k, spec = first.contraction.terms[0]
    both, _ = normal(spec, first.side)
    data = [(a, transposed(s.datum, normal(s.contraction.terms[0][3], s.side)[1])) for a, s in pairs]
    w = summed(data)
    flow = j if first.side == 0 else i
    return Section(Contraction(w.space, first.dom, first.cod, ((0, flow, k, both),)), 0, w)


@rule(PAIR, "(u⋄) • (v⋄') = (w⋄'') with w contracted from u and v", "paper §3.1", Section, Section, late=True)
def composition_of_sections(g: Section, f: Section) -> Any:
    u, v = g.datum, f.datum
    if not (u.space.is_space and v.space.is_space) or u.is_formal or v.is_formal:
        return None
    made = joined(g, f)
    if made is None:
        return None
    leaves, terms = made
    space: Type = leaves[0][3].space if len(leaves) == 1 else DirectSum(tuple(leaf.space for *_, leaf in leaves))
    if space.dim > max(u.space.dim, v.space.dim):
        return None
    w = Vec(space, *contracted(u, v, [(i, j, spec, leaf) for i, j, spec, leaf in leaves]))
    return Section(Contraction(space, f.dom, g.cod, terms), 0, w)


Made = tuple[int, int, Spec, "Leaf"]


def joined(g: Section, f: Section) -> tuple[list[Made], tuple[Term, ...]] | None:
    """What (u⋄) • (v⋄') is made of: leaves (of u, of v, contraction) of the new datum, and the terms that use them."""
    leaves: list[Made] = []
    terms: list[Term] = []
    for i2, j2, k2, inner in f.contraction.terms:
        v, x = (i2, j2) if f.side == 0 else (j2, i2)
        for i1, j1, k1, outer in g.contraction.terms:
            u, y = (i1, j1) if g.side == 0 else (j1, i1)
            if y != k2:
                continue
            both = product(outer, g.side, inner, f.side)
            if both is None:
                return None
            spec, result = both
            leaf = _leaf(spec, g.datum.space.leaves[u], f.datum.space.leaves[v])
            made = (u, v, spec, leaf)
            if made not in leaves:
                leaves.append(made)
            terms.append((leaves.index(made), x, k1, result))
    return (leaves, tuple(terms)) if leaves else None


def _leaf(spec: Spec, left: Leaf, right: Leaf) -> Leaf:
    return wire.product(spec, left, right)


def product(outer: Spec, outer_side: int, inner: Spec, inner_side: int) -> tuple[Spec, Spec] | None:
    """For x ↦ u ⋄ (v ⋄' x): the contraction of u with v to w, and that of w with x.

    The labels of w are those of u and v that x or the result has; what only u and v have is summed.
    """
    u, y = (outer.left, outer.right) if outer_side == 0 else (outer.right, outer.left)
    v, x = (inner.left, inner.right) if inner_side == 0 else (inner.right, inner.left)
    names: dict[str, str] = dict(zip(y, inner.out, strict=True))
    free = iter(c for c in ALPHABET if c not in v + x)
    try:
        for c in outer.left + outer.right:
            if c not in names:
                names[c] = next(free)
    except StopIteration:  # more labels than letters
        return None
    u, out = ("".join(names[c] for c in labels) for labels in (u, outer.out))
    w = "".join(dict.fromkeys(c for c in u + v if c in x + out))
    return Spec.of(u, v, w), Spec.of(w, x, out)

"""The laws of arcs: what the arcs of a net do alone, in a row, and side by side (paper §2.1, §3, §6 on single arrays).

An arc is a linear map between two leaves. Two arcs are in a row where the wire between them has no other arc. The
atoms of terms are arcs, too: their laws are these, derived in `linmap.laws.laws.atoms`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from hilbert.index.spec import Spec
from linmap.laws.engine.section_labels import normal, product, unmoved
from linmap.laws.laws.atoms import Row, alone, beside, neighbours
from linmap.laws.laws.relation_laws import is_empty, is_identity, one_relation
from linmap.term import wire

if TYPE_CHECKING:
    from hilbert.index.leaf import Leaf
    from linmap.laws.engine.section_data import Bench

Leaves: TypeAlias = "tuple[Leaf, Leaf, Leaf]"
EVERY = (wire.Same, wire.Scale, wire.ContractWith, wire.Reduce, wire.Move, wire.Cast, wire.External)

# --- alone ---


@alone("f = 0 for f : 0 ⊸ V and f : V ⊸ 0", "paper §2.2", *EVERY)
def trivial_space(f: wire.Wire, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return None if src.size and dst.size else 0


@alone("(0 ·) = 0", "paper §2.2", wire.Scale)
def arc_by_zero(f: wire.Scale, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return 0 if f.k == 0.0 else None


@alone("(1 ·) = id", "paper §2.2", wire.Scale)
def arc_by_one(f: wire.Scale, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return [] if f.k == 1.0 else None


@alone("(k ·) = k·id for a known number k", "paper §3.1", wire.ContractWith, scales=True)
def section_by_a_scalar(f: wire.ContractWith, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    k = bench.number(f.datum) if f.datum.leaf.is_field else None
    flow = f.spec.right if f.side == 0 else f.spec.left
    return None if k is None or flow != f.spec.out or f.spec.contracted else [wire.Scale(k)]


@alone("red_id = id", "paper §2.1", wire.Reduce)
def reduction_by_the_identity(f: wire.Reduce, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return [] if is_identity(f.relation) else None


@alone("red_∅ = 0", "paper §2.1", wire.Reduce)
def reduction_by_nothing(f: wire.Reduce, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return 0 if is_empty(f.relation) else None


@alone("u = id where u moves nothing", "paper §3.2", wire.Move)
def unitary_that_moves_nothing(f: wire.Move, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return [] if f.order == tuple(range(len(f.order))) else None


@alone("cast = id into the same field", "", wire.Cast)
def cast_to_the_same(f: wire.Cast, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return [] if src == dst else None


# --- in a row ---


@neighbours("(k ·) • (l ·) = (kl ·)", "notes §3", wire.Scale, wire.Scale)
def arcs_by_numbers(g: wire.Scale, f: wire.Scale, leaves: Leaves, bench: Bench) -> Row:
    return [wire.Scale(g.k * f.k)]


@neighbours("u* • u = id, v • u is unitary", "paper §3.2, Thm 6.5", wire.Move, wire.Move)
def composition_of_unitaries(g: wire.Move, f: wire.Move, leaves: Leaves, bench: Bench) -> Row:
    return [wire.Move(tuple(f.order[k] for k in g.order))]


@neighbours("cast • cast = cast where the middle loses nothing", "", wire.Cast, wire.Cast)
def composition_of_casts(g: wire.Cast, f: wire.Cast, leaves: Leaves, bench: Bench) -> Row:
    a, b, c = leaves
    return [g] if b.dtype in {"float64", a.dtype, c.dtype} else None


@neighbours("red_S • red_R = k·red_{S∘R}, Σ • rep = |X|·id", "paper §2.1", wire.Reduce, wire.Reduce)
def composition_of_reductions(g: wire.Reduce, f: wire.Reduce, leaves: Leaves, bench: Bench) -> Row:
    found = one_relation(g.relation, f.relation) if (g.at, g.relation.dom) == (f.at, f.relation.cod) else None
    if found is None:
        return None
    both = wire.Reduce(found[1], f.at)
    return [both] if found[0] == 1 else [both, wire.Scale(float(found[0]))]


@neighbours("(u⋄) • v = (u ⋄') with the labels in another order", "paper §3.2", wire.ContractWith, wire.Move)
def section_after_a_unitary(g: wire.ContractWith, f: wire.Move, leaves: Leaves, bench: Bench) -> Row:
    if g.side == 0:
        return [wire.ContractWith(Spec.of(g.spec.left, unmoved(g.spec.right, f.order), g.spec.out), 0, g.datum)]
    return [wire.ContractWith(Spec.of(unmoved(g.spec.left, f.order), g.spec.right, g.spec.out), 1, g.datum)]


@neighbours("v • (u⋄) = (u ⋄') with the labels in another order", "paper §3.2", wire.Move, wire.ContractWith)
def unitary_after_a_section(g: wire.Move, f: wire.ContractWith, leaves: Leaves, bench: Bench) -> Row:
    out = "".join(f.spec.out[k] for k in g.order)
    return [wire.ContractWith(Spec.of(f.spec.left, f.spec.right, out), f.side, f.datum)]


@neighbours(
    "(u⋄) • (v⋄') = (w⋄'') with w contracted from u and v",
    "paper §3.1",
    wire.ContractWith,
    wire.ContractWith,
    late=True,
)
def composition_of_sections(g: wire.ContractWith, f: wire.ContractWith, leaves: Leaves, bench: Bench) -> Row:
    if not (g.datum.leaf.is_field and f.datum.leaf.is_field):
        return None
    both = product(g.spec, g.side, f.spec, f.side)
    w = bench.product(both[0], g.datum, f.datum, leaves[1]) if both else None
    return [wire.ContractWith(both[1], 0, w)] if both and w else None


@neighbours("k·(u⋄) = (ku ⋄)", "paper §3.1", wire.Scale, wire.ContractWith, late=True)
def scaling_into_a_section(g: wire.Scale, f: wire.ContractWith, leaves: Leaves, bench: Bench) -> Row:
    w = bench.scaled(g.k, f.datum)
    return [wire.ContractWith(f.spec, f.side, w)] if w else None


@neighbours("(u⋄) • (k ·) = (ku ⋄)", "paper §3.1", wire.ContractWith, wire.Scale, late=True)
def section_after_a_scaling(g: wire.ContractWith, f: wire.Scale, leaves: Leaves, bench: Bench) -> Row:
    return scaling_into_a_section(f, g, leaves, bench)


# --- side by side ---


def weight(f: wire.Same | wire.Scale) -> float:
    """k for k·id."""
    return f.k if isinstance(f, wire.Scale) else 1.0


@beside("k·id + l·id = (k + l)·id", "notes §3", wire.Same, wire.Scale)
def numbers_side_by_side(g: wire.Same | wire.Scale, f: wire.Same | wire.Scale, bench: Bench) -> wire.Wire | None:
    return wire.Scale(weight(f) + weight(g))


@beside("k·(u⋄) + l·(v⋄) = (ku + lv ⋄)", "paper §3.1", wire.ContractWith, late=True)
def sum_of_sections(g: wire.ContractWith, f: wire.ContractWith, bench: Bench) -> wire.Wire | None:
    (spec, order), (other, other_order) = normal(f.spec, f.side), normal(g.spec, g.side)
    if spec != other or not (f.datum.leaf.is_field and f.datum.leaf.entry == g.datum.leaf.entry):
        return None
    if (g.spec, g.side) == (f.spec, f.side):
        w = bench.total(f.datum, g.datum)
        return wire.ContractWith(f.spec, f.side, w) if w else None
    w = bench.total(f.datum, g.datum, order, other_order)
    return wire.ContractWith(spec, 0, w) if w else None

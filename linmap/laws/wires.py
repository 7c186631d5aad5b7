"""The laws of nets: what the arcs of a net do alone, in a row, and side by side (paper §3, §6 on single arrays).

An arc is a linear map between two leaves. Two arcs are in a row where the wire between them has no other arc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from hilbert.spec import Spec
from linmap.laws.relations import composed, is_empty, is_identity
from linmap.laws.rule import WIRE, WIRES, rule
from linmap.laws.sections import normal, product, unmoved
from linmap.net import wire

if TYPE_CHECKING:
    from hilbert.space import Leaf
    from linmap.term.datum import Datum

Row: TypeAlias = "list[wire.Wire] | Literal[0] | None"
"""What replaces one or two arcs in a row, in the order of the flow: nothing for the identity, 0 for no arc at all."""


class Bench:
    """Where data of sections are computed with: what a rule may know of them, and the product of two."""

    def number(self, datum: Datum) -> float | None:
        """The number that stands in every entry, if that is known."""
        raise TypeError(type(self).__name__)

    def product(self, spec: Spec, u: Datum, v: Datum, flow: Leaf) -> Datum | None:
        """The contraction of two data as a datum, where it is worth its while on a wire of leaf `flow`."""
        raise TypeError(type(self).__name__)

    def scaled(self, k: float, datum: Datum) -> Datum | None:
        """k times a datum."""
        raise TypeError(type(self).__name__)

    def total(self, u: Datum, v: Datum, *orders: tuple[int, ...]) -> Datum | None:
        """The sum of two data, their axes put into these orders first."""
        raise TypeError(type(self).__name__)


# --- alone ---


@rule(WIRE, "an arc from or to an empty array is 0", "paper §2.2")
def arc_of_nothing(f: wire.Wire, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return None if src.size and dst.size else 0


@rule(WIRE, "(0 ·) = 0", "paper §2.2")
def arc_by_zero(f: wire.Wire, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return 0 if f == wire.Scale(0.0) else None


@rule(WIRE, "(1 ·) = id", "paper §2.2")
def arc_by_one(f: wire.Wire, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return [] if f == wire.Scale(1.0) else None


@rule(WIRE, "(k ·) = k·id for a known number k", "paper §3.1")
def arc_by_a_number(f: wire.Wire, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    if not isinstance(f, wire.Section):
        return None
    k = bench.number(f.datum) if f.datum.leaf.is_field else None
    flow = f.spec.right if f.side == 0 else f.spec.left
    if k is None or flow != f.spec.out or f.spec.contracted:
        return None
    return [wire.Scale(k)]


@rule(WIRE, "red_id = id", "paper §2.1")
def arc_by_the_identity(f: wire.Wire, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return [] if isinstance(f, wire.Reduce) and is_identity(f.relation) else None


@rule(WIRE, "red_∅ = 0", "paper §2.1")
def arc_by_the_empty_relation(f: wire.Wire, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return 0 if isinstance(f, wire.Reduce) and is_empty(f.relation) else None


@rule(WIRE, "a transposition that moves nothing is id", "paper §3.2")
def arc_that_moves_nothing(f: wire.Wire, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return [] if isinstance(f, wire.Move) and f.order == tuple(range(len(f.order))) else None


@rule(WIRE, "cast = id into the same field", "")
def arc_into_the_same_field(f: wire.Wire, src: Leaf, dst: Leaf, bench: Bench) -> Row:
    return [] if isinstance(f, wire.Cast) and src == dst else None


# --- in a row ---


@rule(WIRES, "(k ·) • (l ·) = (kl ·)", "notes §3")
def arcs_by_numbers(g: wire.Wire, f: wire.Wire, leaves: tuple[Leaf, Leaf, Leaf], bench: Bench) -> Row:
    return [wire.Scale(g.k * f.k)] if isinstance(g, wire.Scale) and isinstance(f, wire.Scale) else None


@rule(WIRES, "_ᵀ • _ᵀ is a transposition", "paper §3.2")
def arcs_that_move(g: wire.Wire, f: wire.Wire, leaves: tuple[Leaf, Leaf, Leaf], bench: Bench) -> Row:
    if isinstance(g, wire.Move) and isinstance(f, wire.Move):
        return [wire.Move(tuple(f.order[k] for k in g.order))]
    return None


@rule(WIRES, "cast • cast = cast where the middle loses nothing", "")
def arcs_that_cast(g: wire.Wire, f: wire.Wire, leaves: tuple[Leaf, Leaf, Leaf], bench: Bench) -> Row:
    a, b, c = leaves
    if not (isinstance(g, wire.Cast) and isinstance(f, wire.Cast)):
        return None
    return [g] if b.dtype in {"float64", a.dtype, c.dtype} else None


@rule(WIRES, "red_S • red_R = k·red_{S∘R}", "paper §2.1")
def arcs_that_reduce(g: wire.Wire, f: wire.Wire, leaves: tuple[Leaf, Leaf, Leaf], bench: Bench) -> Row:
    if not (isinstance(g, wire.Reduce) and isinstance(f, wire.Reduce)):
        return None
    found = composed(g.relation, f.relation) if (g.at, g.relation.dom) == (f.at, f.relation.cod) else None
    if found is None:
        return None
    both = wire.Reduce(found[1], f.at)
    return [both] if found[0] == 1 else [both, wire.Scale(float(found[0]))]


@rule(WIRES, "(u⋄) • _ᵀ = (u ⋄')", "paper §3.2")
def section_after_a_move(g: wire.Wire, f: wire.Wire, leaves: tuple[Leaf, Leaf, Leaf], bench: Bench) -> Row:
    if not (isinstance(g, wire.Section) and isinstance(f, wire.Move)):
        return None
    if g.side == 0:
        return [wire.Section(Spec.of(g.spec.left, unmoved(g.spec.right, f.order), g.spec.out), 0, g.datum)]
    return [wire.Section(Spec.of(unmoved(g.spec.left, f.order), g.spec.right, g.spec.out), 1, g.datum)]


@rule(WIRES, "_ᵀ • (u⋄) = (u ⋄')", "paper §3.2")
def move_after_a_section(g: wire.Wire, f: wire.Wire, leaves: tuple[Leaf, Leaf, Leaf], bench: Bench) -> Row:
    if not (isinstance(g, wire.Move) and isinstance(f, wire.Section)):
        return None
    out = "".join(f.spec.out[k] for k in g.order)
    return [wire.Section(Spec.of(f.spec.left, f.spec.right, out), f.side, f.datum)]


@rule(WIRES, "(a ·) • (b ·) = (a·b ·), (u⋄) • (v⋄') = (w⋄'')", "paper §3.1")
def sections_in_a_row(g: wire.Wire, f: wire.Wire, leaves: tuple[Leaf, Leaf, Leaf], bench: Bench) -> Row:
    if not (isinstance(g, wire.Section) and isinstance(f, wire.Section)):
        return None
    if not (g.datum.leaf.is_field and f.datum.leaf.is_field):
        return None
    both = product(g.spec, g.side, f.spec, f.side)
    w = bench.product(both[0], g.datum, f.datum, leaves[1]) if both else None
    return [wire.Section(both[1], 0, w)] if both and w else None


@rule(WIRES, "k·(u⋄) = (ku ⋄)", "paper §3.1", late=True)
def number_into_a_section(g: wire.Wire, f: wire.Wire, leaves: tuple[Leaf, Leaf, Leaf], bench: Bench) -> Row:
    scale, section = (g, f) if isinstance(g, wire.Scale) else (f, g)
    if not (isinstance(scale, wire.Scale) and isinstance(section, wire.Section)):
        return None
    w = bench.scaled(scale.k, section.datum)
    return [wire.Section(section.spec, section.side, w)] if w else None


# --- side by side ---


def weight(f: wire.Wire) -> float | None:
    """k for k·id."""
    return 1.0 if isinstance(f, wire.Same) else f.k if isinstance(f, wire.Scale) else None


def side_by_side(g: wire.Wire, f: wire.Wire, bench: Bench, *, late: bool) -> wire.Wire | None:
    """g + f as one arc."""
    a, b = weight(g), weight(f)
    if a is not None and b is not None:
        return wire.Scale(a + b)
    if not (late and isinstance(g, wire.Section) and isinstance(f, wire.Section)):
        return None
    (spec, order), (other, other_order) = normal(f.spec, f.side), normal(g.spec, g.side)
    if spec != other or not (f.datum.leaf.is_field and f.datum.leaf.base == g.datum.leaf.base):
        return None
    if (g.spec, g.side) == (f.spec, f.side):
        w = bench.total(f.datum, g.datum)
        return wire.Section(f.spec, f.side, w) if w else None
    w = bench.total(f.datum, g.datum, order, other_order)
    return wire.Section(spec, 0, w) if w else None

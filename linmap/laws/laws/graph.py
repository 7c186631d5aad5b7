"""A net while it is rewritten, and the laws of its wires: dead arcs, arcs that only carry on, arcs that are equal.

Arcs keep their order. An arc that is moved to another wire stays in its place: a wire that is read has been added into
before, so that what leads to a wire may lead to the next one, and what reads a wire may read the one before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

from hilbert.space.space import type_of
from linmap.laws.engine.rule import ARC, ARCS, BESIDE, NET, rule, rules
from linmap.laws.laws.atoms import alike
from linmap.term import wire
from linmap.term.net import Arc, Net

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hilbert.index.leaf import Leaf
    from linmap.laws.engine.section_data import Bench

Note: TypeAlias = "Callable[[str, int, Net, Net], None]"


MANY = 4


@final
class NetUnderRewriting:
    """Arcs by their place in the order; for each wire the places of the arcs into it and out of it."""

    def __init__(self, f: Net, bench: Bench, note: Note | None) -> None:
        self.f, self.bench, self._note = f, bench, note
        self.late = False
        self.changed = False
        self.arcs: dict[int, Arc] = dict(enumerate(f.arcs))
        self.inputs, self.outputs = list(f.inputs), list(f.outputs)
        self.wires: list[Leaf] = list(f.wires)
        self.into: dict[int, dict[int, None]] = {}  # places in the order in which arcs were put there
        self.out: dict[int, dict[int, None]] = {}
        for k, arc in self.arcs.items():
            self.into.setdefault(arc.dst, {})[k] = None
            self.out.setdefault(arc.src, {})[k] = None
        self.fed, self.read = set(f.inputs), set(f.outputs)
        used = {*self.fed, *self.read, *self.into, *self.out}
        self.idle = [w for w in range(len(f.wires)) if w not in used]

    def remove(self, k: int) -> None:
        """Take an arc away."""
        arc = self.arcs.pop(k)
        del self.into[arc.dst][k]
        del self.out[arc.src][k]
        self.changed = True

    def put(self, k: int, f: wire.Wire, src: int, dst: int) -> None:
        """Put an arc at place k of the order, instead of the arc there."""
        if k in self.arcs:
            self.remove(k)
        self.arcs[k] = Arc(f, src, dst)
        self.into.setdefault(dst, {})[k] = None
        self.out.setdefault(src, {})[k] = None
        self.changed = True

    def before(self, w: int) -> int | None:
        """The one arc into a wire that is no input."""
        into = self.into.get(w, ())
        return next(iter(into)) if len(into) == 1 and w not in self.fed else None

    def after(self, w: int) -> int | None:
        """The one arc out of a wire that is no output."""
        out = self.out.get(w, ())
        return next(iter(out)) if len(out) == 1 and w not in self.read else None

    def join(self, old: int, new: int) -> None:
        """Let all arcs into and out of a wire, and the net's ends there, use another wire instead."""
        for k in list(self.into.get(old, ())):
            self.put(k, self.arcs[k].map, self.arcs[k].src, new)
        for k in list(self.out.get(old, ())):
            self.put(k, self.arcs[k].map, new, self.arcs[k].dst)
        if old in self.fed:
            self.inputs = [new if w == old else w for w in self.inputs]
            self.fed = set(self.inputs)
        if old in self.read:
            self.outputs = [new if w == old else w for w in self.outputs]
            self.read = set(self.outputs)

    def merge(self, old: int, new: int) -> None:
        """As `join`, or the other way round where that moves far fewer arcs."""
        if self._degree(old) > MANY * self._degree(new) + MANY:
            old, new = new, old
        self.join(old, new)

    def _degree(self, w: int) -> int:
        return len(self.into.get(w, ())) + len(self.out.get(w, ()))

    def net(self) -> Net:
        """The net as it is now, its wires renumbered; the given one if nothing changed."""
        if not self.changed:
            return self.f
        ends = dict.fromkeys([*self.inputs, *self.outputs, *self.idle])
        used = dict.fromkeys(w for arc in self.arcs.values() for w in (arc.src, arc.dst)) | ends
        number = {w: k for k, w in enumerate(sorted(used))}
        arcs = tuple(Arc(a.map, number[a.src], number[a.dst]) for _, a in sorted(self.arcs.items()))
        inputs, outputs = ([number[w] for w in some] for some in (self.inputs, self.outputs))
        return Net(self.f.dom, self.f.cod, tuple(inputs), arcs, tuple(outputs), tuple(self.wires[w] for w in number))

    def note(self, law: str, w: int, leaves: Sequence[Leaf], before: Rows, after: Rows) -> None:
        """Record a law on the arcs between two leaves: rows side by side, each a list of arcs in the order of flow."""
        if self._note is not None:
            self._note(law, w, rows_net(leaves[0], leaves[-1], before), rows_net(leaves[0], leaves[-1], after))

    def noted(self, law: str, before: Net | None) -> bool:
        """Record a law on the whole net, `before` and now, if steps are recorded; True, for a law that applied."""
        if self._note is not None and before is not None:
            self._note(law, -1, before, self.net())
        return True

    def whole(self) -> Net | None:
        """The net as it is now, only to be recorded."""
        return self.net() if self._note is not None else None


Rows: TypeAlias = "Iterable[Sequence[wire.Wire]]"


def rows_net(src: Leaf, dst: Leaf, rows: Rows) -> Net:
    """A net of one input and one output: rows of arcs side by side."""
    wires, arcs = [src, dst], list[Arc]()
    for row in rows:
        at = 0
        for k, f in enumerate(row or [wire.Same()]):
            to = 1
            if k + 1 < len(row):
                wires.append(wire.image(f, wires[at]))
                to = len(wires) - 1
            arcs.append(Arc(f, at, to))
            at = to
    first = [a for a in arcs if a.dst != 1]
    last = [a for a in arcs if a.dst == 1]
    return Net(type_of(src), type_of(dst), (0,), (*first, *last), (1,), tuple(wires))


# --- laws ---


@rule(NET, "an arc that no input reaches, or that reaches no output, is 0", "notes §3")
def dead_arcs(g: NetUnderRewriting) -> bool:
    alive, dead = set(g.inputs), list[int]()
    for k in sorted(g.arcs):
        arc = g.arcs[k]
        if arc.src in alive:
            alive.add(arc.dst)
        else:
            dead.append(k)
    needed, gone = set(g.outputs), set(dead)
    for k in sorted(g.arcs, reverse=True):
        if k not in gone and g.arcs[k].dst in needed:
            needed.add(g.arcs[k].src)
        elif k not in gone:
            dead.append(k)
    if not dead:
        return False
    before = g.whole()
    for k in dead:
        g.remove(k)
    return g.noted("dead arcs", before)


@rule(NET, "a wire without arcs that is no input and no output holds nothing", "notes §3")
def dead_wires(g: NetUnderRewriting) -> bool:
    if not g.idle:
        return False
    before = g.whole()
    g.idle, g.changed = [], True
    return g.noted("dead wires", before)


@rule(NET, "id • (f + g) = f + g, ⟨f, g⟩ • id = ⟨f, g⟩", "notes §3")
def arcs_that_carry_on(g: NetUnderRewriting) -> bool:
    before, changed = g.whole(), False
    for k in sorted(g.arcs):
        arc = g.arcs.get(k)
        if arc is None or not isinstance(arc.map, wire.Same):
            continue
        s, d = arc.src, arc.dst
        if g.before(d) == k and s != d:  # what reads d may read s
            g.remove(k)
            g.merge(d, s)
        elif g.after(s) == k and s not in g.fed:  # what leads to s may lead to d
            g.remove(k)
            g.merge(s, d)
        else:
            continue
        changed = True
    return changed and g.noted("arcs that carry on", before)


def arcs_in_a_row(g: NetUnderRewriting) -> bool:
    """Apply the laws of one arc, and of arcs in a row; True if one applied."""
    changed = False
    for k in sorted(g.arcs):
        while k in g.arcs and (_alone(g, k) or _row(g, k)):
            changed = True
    return changed


def _alone(g: NetUnderRewriting, k: int) -> bool:
    arc = g.arcs[k]
    src, dst = g.wires[arc.src], g.wires[arc.dst]
    for law in rules(ARC, type(arc.map), late=g.late):
        made = law.function(arc.map, src, dst, g.bench)
        if made is None:
            continue
        if made == 0:
            g.remove(k)
        else:
            g.put(k, made[0] if made else wire.Same(), arc.src, arc.dst)
        g.note(law.name, arc.dst, (src, dst), [[arc.map]], [made] if made != 0 else [])
        return True
    return False


def _row(g: NetUnderRewriting, k: int) -> bool:
    outer = g.arcs[k]
    j, middle = g.before(outer.src), outer.src
    if j is None or g.after(middle) != k:
        return False
    inner = g.arcs[j]
    leaves = (g.wires[inner.src], g.wires[middle], g.wires[outer.dst])
    for law in rules(ARCS, type(outer.map), type(inner.map), late=g.late):
        made = law.function(outer.map, inner.map, leaves, g.bench)
        if made is None:
            continue
        g.remove(j)
        if len(made) > 1:
            g.wires[middle] = wire.image(made[0], leaves[0])
            g.put(j, made[0], inner.src, middle)
            g.put(k, made[1], middle, outer.dst)
        else:
            g.put(k, made[0], inner.src, outer.dst)
        g.note(law.name, outer.dst, leaves, [[inner.map, outer.map]], [made])
        return True
    return False


def arcs_side_by_side(g: NetUnderRewriting) -> bool:
    """Apply the laws of arcs side by side; True if one applied."""
    changed = False
    seen: dict[tuple[int, int, Any], int] = {}
    for k in sorted(g.arcs):
        arc = g.arcs[k]
        first = seen.setdefault((arc.src, arc.dst, alike(arc.map)), k)
        other = g.arcs[first].map
        laws = rules(BESIDE, type(arc.map), type(other), late=g.late) if first != k else ()
        for law in laws:
            made = law.function(arc.map, other, g.bench)
            if made is not None:
                g.note(law.name, arc.dst, (g.wires[arc.src], g.wires[arc.dst]), [[other], [arc.map]], [[made]])
                g.remove(k)
                g.put(first, made, arc.src, arc.dst)
                changed = True
                break
    return changed


@rule(NET, "⟨h•f, k•f⟩ = ⟨h, k⟩ • f", "notes §3")
def equal_arcs_out_of_a_wire(g: NetUnderRewriting) -> bool:
    before, changed = g.whole(), False
    known: dict[Any, int] = {}
    for k in sorted(g.arcs):
        arc = g.arcs.get(k)
        if arc is None or g.before(arc.dst) != k:
            continue
        first = known.setdefault((arc.map, arc.src, g.wires[arc.dst]), arc.dst)
        if first != arc.dst and first not in g.fed:
            g.remove(k)
            g.join(arc.dst, first)
            changed = True
    return changed and g.noted("equal arcs out of a wire", before)


@rule(NET, "[f•h, f•k] = f • [h, k], f•h + f•k = f • (h + k)", "notes §3")
def equal_arcs_into_a_wire(g: NetUnderRewriting) -> bool:
    before, changed = g.whole(), False
    known: dict[Any, int] = {}
    for k in sorted(g.arcs, reverse=True):
        arc = g.arcs.get(k)
        if arc is None or g.after(arc.src) != k:
            continue
        first = known.setdefault((arc.map, arc.dst, g.wires[arc.src]), arc.src)  # π₁ of two bundles is not one arc
        if first != arc.src and first not in g.read:
            g.remove(k)
            g.join(arc.src, first)
            changed = True
    return changed and g.noted("equal arcs into a wire", before)


@rule(NET, "(k ·) • f • (l ·) = f • (kl ·) along a row", "notes §3")
def numbers_along_a_row(g: NetUnderRewriting) -> bool:
    before, changed = g.whole(), False
    scale: dict[int, int] = {}  # wire → the arc by a number on the row that leads to it
    for k in sorted(g.arcs):
        arc = g.arcs[k]
        inside = g.before(arc.src) is not None and g.after(arc.src) == k
        earlier = scale.get(arc.src) if inside else None
        if isinstance(arc.map, wire.Scale) and earlier is not None:
            a = g.arcs[earlier]
            g.put(earlier, wire.Scale(a.map.k * arc.map.k), a.src, a.dst)  # type: ignore[union-attr]
            g.put(k, wire.Same(), arc.src, arc.dst)
            scale[arc.dst] = earlier
            changed = True
        elif isinstance(arc.map, wire.Scale):
            scale[arc.dst] = k
        elif earlier is not None:
            scale[arc.dst] = earlier
    return changed and g.noted("numbers along a row", before)

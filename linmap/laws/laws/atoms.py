"""Laws that are stated for arcs are laws of the atoms of terms: derived here, for all of them.

An atom is a node without parts. It is an arc for each array: the same reduction or cast of all of them, a transposition
of each, a section for each term of its contraction. So a law applies to atoms where it applies to each of their arcs,
and what it makes of these is one atom again, perhaps with a number in front, or nothing is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, assert_never

from attrs import evolve

from hilbert import DirectSum, Unit, Vec
from hilbert.base.once import once
from hilbert.base.repr_names import derived_token
from hilbert.program.line.constant import Const
from hilbert.space.space import type_of
from linmap.contraction import Contraction
from linmap.laws.engine.rule import ARC, ARCS, BESIDE, LIKE, NODE, PAIR, PART, Classes, Rule, declare, named
from linmap.laws.engine.section_data import Vectors
from linmap.laws.engine.section_labels import normal
from linmap.laws.laws.category import split
from linmap.laws.laws.unitary import unitary
from linmap.term import wire
from linmap.term.datum import constants
from linmap.term.net import Arc
from linmap.term.nodes import Cast, Identity, Inject, Own, Project, Reduce, Scaled, Section, Unitary, ZeroMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.index.leaf import Leaf
    from linmap.term.datum import Datum

F = TypeVar("F", bound="Callable[..., Any]")
Atom: TypeAlias = Identity | Project | Inject | Section | Reduce | Unitary | Cast | Own | Scaled
Row: TypeAlias = "Sequence[wire.Wire] | Literal[0] | None"
"""The arcs that replace one or two arcs in a row, in the order of the flow: none for the identity, 0 for the zero map;
None where the law does not apply."""
Replaced: TypeAlias = "tuple[int, Row, int]"
"""A row between a leaf of the domain and one of the codomain."""

NODES: dict[type, tuple[type, ...]] = {
    wire.Same: (Identity, Project, Inject),
    wire.ContractWith: (Section,),
    wire.Reduce: (Reduce,),
    wire.Move: (Unitary,),
    wire.Cast: (Cast,),
    wire.External: (Own,),
}
"""The atoms that consist of arcs of a class."""
BENCH = Vectors()


@once
def arcs(f: Atom) -> list[Arc]:
    """The arcs of an atom, from the leaves of its domain to those of its codomain."""
    match f:
        case Section(contraction, side, datum):
            fixed = constants(datum)
            return [
                Arc(wire.ContractWith(spec, 0, fixed[i]), j, k)
                if side == 0
                else Arc(wire.ContractWith(spec, 1, fixed[j]), i, k)
                for i, j, k, spec in contraction.terms
            ]
        case Unitary(_, _, _, source, order):
            return [Arc(wire.Move(axes), s, k) for k, (s, axes) in enumerate(zip(source, order, strict=True))]
        case Reduce(relation, _):
            return [Arc(wire.Reduce(relation, 0), k, k) for k in range(len(f.dom.leaves))]
        case Cast(_, cod):
            return [Arc(wire.Cast(leaf.entry), k, k) for k, leaf in enumerate(cod.leaves)]
        case Own():
            return [Arc(f.operation, 0, 0)]
        case Project(space, position):
            first = sum(len(part.leaves) for part in space.parts[:position])
            return [Arc(wire.Same(), first + k, k) for k in range(len(f.cod.leaves))]
        case Inject(space, position):
            first = sum(len(part.leaves) for part in space.parts[:position])
            return [Arc(wire.Same(), k, first + k) for k in range(len(f.dom.leaves))]
        case Scaled(k, of):  # the number only, which comes after `of`
            return [Arc(wire.Scale(k), j, j) for j in range(len(of.cod.leaves))]
        case Identity(space):
            return [Arc(wire.Same(), k, k) for k in range(len(space.leaves))]
        case _:
            assert_never(f)


# --- from arcs to an atom ---


def atom(dom: Any, cod: Any, rows: Sequence[Replaced], given: Sequence[Any]) -> Any:
    """The atom that some rows are together, with a number in front if they have it in common; None if there is none.

    `given` are the atoms that the rows were made of: their vectors stay whole where they can.
    """
    alive = [(src, _factor(row), _rest(row), dst) for src, row, dst in rows if isinstance(row, Sequence)]
    if not alive:
        return ZeroMap(dom, cod)
    numbers, kinds = {k for _, k, _, _ in alive}, {tuple(map(type, rest)) for _, _, rest, _ in alive}
    if len(numbers) > 1 or len(kinds) > 1:
        return None
    (k,), (kind,) = numbers, kinds
    made: Any = None
    if not kind:
        made = Identity(dom) if dom == cod and _in_place([(s, d) for s, _, _, d in alive], dom) else None
    elif len(kind) == 1:
        made = _of_one_class(dom, cod, [Arc(rest[0], s, d) for s, _, rest, d in alive], given)
    return made if made is None or k == 1.0 else k * made


def _factor(row: Sequence[wire.Wire]) -> float:
    k = 1.0
    for f in row:
        k *= f.k if isinstance(f, wire.Scale) else 1.0
    return k


def _rest(row: Sequence[wire.Wire]) -> list[wire.Wire]:
    return [f for f in row if not isinstance(f, (wire.Scale, wire.Same))]


def _in_place(ends: Sequence[tuple[int, int]], space: Any) -> bool:
    """Tell if each leaf goes to the leaf in its place."""
    return sorted(ends) == [(k, k) for k in range(len(space.leaves))]


def _of_one_class(dom: Any, cod: Any, found: list[Arc], given: Sequence[Any]) -> Any:
    """The atom with these arcs, which are of one class; None where there is none."""
    first = found[0].map
    in_place = _in_place([(a.src, a.dst) for a in found], dom)
    match first:
        case wire.ContractWith():
            return _section(dom, cod, found, given)
        case wire.Reduce(relation):
            base = dom if isinstance(relation.dom, Unit) else dom.base
            return Reduce(relation, base) if in_place and all(a.map == first for a in found) else None
        case wire.Cast():
            return Cast(dom, cod) if in_place else None
        case wire.Move():
            into = sorted(found, key=lambda a: a.dst)
            source, ends = tuple(a.src for a in into), [a.dst for a in into]
            if sorted(source) != ends or ends != list(range(len(cod.leaves))):
                return None
            return unitary(dom, cod, source, tuple(a.map.order for a in into if isinstance(a.map, wire.Move)))
        case wire.External(rule, back=back, n=n):
            return Own(rule, dom, cod, back) if in_place and n == 0 else None
        case wire.Same() | wire.Scale():  # these are numbers in front
            return None
        case wire.Into() | wire.OutOf() | wire.Recur() | wire.Inverse():  # no atom has bundles
            return None
        case _:
            assert_never(first)


def _section(dom: Any, cod: Any, found: list[Arc], given: Sequence[Any]) -> Section | None:
    """The section with these arcs, whose data are no more numbers than those of a given one."""
    maps = [a.map for a in found if isinstance(a.map, wire.ContractWith)]
    sides = {f.side for f in maps}
    data = list(dict.fromkeys([f.datum for f in maps if isinstance(f.datum, Const)]))
    vectors = [s.datum for s in given if isinstance(s, Section)]
    if len(sides) > 1 or _entries([d.leaf for d in data]) > max([_entries(v.space.leaves) for v in vectors]):
        return None
    v, fixed = _vector(data, vectors)
    (side,) = sides
    place: dict[Datum, int] = {d: k for k, d in enumerate(fixed)}
    ends = [(place[f.datum], a.src, a.dst, f.spec) for a, f in zip(found, maps, strict=True)]
    if side == 0:
        return Section(Contraction(v.space, dom, cod, tuple(ends)), 0, v)
    return Section(Contraction(dom, v.space, cod, tuple((j, i, k, spec) for i, j, k, spec in ends)), 1, v)


def _entries(leaves: Iterable[Leaf]) -> int:
    return sum([leaf.size for leaf in leaves])


def _vector(data: list[Const], given: Sequence[Vec[Any]]) -> tuple[Vec[Any], Sequence[Const]]:
    """The vector with these leaves: a given one that has them, or a new one, in the space of a given one that fits."""
    sources = {d.key[0] for d in data}
    for v in given:
        if sources == {v.token}:
            return v, constants(v)
    leaves = tuple([d.leaf for d in data])
    fit = [v.space for v in given if v.space.leaves == leaves]
    space = fit[0] if fit else type_of(leaves[0]) if len(leaves) == 1 else DirectSum(tuple(map(type_of, leaves)))
    token = derived_token("; ".join(repr(d.key) for d in data))
    return Vec(space, tuple([d.array for d in data]), token), data


# --- a law on all arcs of an atom ---


@once
def _alone(f: Any, law: Callable[..., Row]) -> Any:
    """The law on each arc of an atom."""
    rows: list[Replaced] = []
    for a in arcs(f):
        made = law(a.map, f.dom.leaves[a.src], f.cod.leaves[a.dst], BENCH)
        if made is None:
            return None
        rows.append((a.src, made, a.dst))
    if not rows and f.dom.dim and f.cod.dim:  # a section without terms: it has a law of its own
        return None
    return atom(f.dom, f.cod, rows, [f])


def _neighbours(law: Callable[..., Row], g: Any, f: Any) -> Any:
    """The law on each pair of arcs that meet in a leaf between g and f."""
    after: dict[int, list[Arc]] = {}
    for b in arcs(g):
        after.setdefault(b.src, []).append(b)
    rows: list[Replaced] = []
    for a in arcs(f):
        for b in after.get(a.dst, ()):
            leaves = f.dom.leaves[a.src], f.cod.leaves[a.dst], g.cod.leaves[b.dst]
            made = law(b.map, a.map, leaves, BENCH)
            if made is None:
                return None
            rows.append((a.src, made, b.dst))
    return atom(f.dom, g.cod, rows, [g, f]) if rows else None


def _scaled(law: Callable[..., Row], f: Scaled, of: tuple[type, ...]) -> Any:
    """The law on a multiple of one of these atoms: the number comes after its arcs."""
    return _neighbours(law, f, f.of) if isinstance(f.of, of) else None


def _sum(law: Callable[..., wire.Wire | None], terms: Sequence[Any]) -> Any:
    """The law on the arcs side by side, with the numbers in front multiplied into their data."""
    pairs = [split(f) for f in terms]
    rows: list[Replaced] = []
    for together in zip(*(arcs(of) for _, of in pairs), strict=True):
        total: wire.Wire | None = None
        for (k, _), a in zip(pairs, together, strict=True):
            f = _times(k, a.map)
            total = f if total is None or f is None else law(f, total, BENCH)
            if total is None:
                return None
        rows.append((together[0].src, [total] if total else None, together[0].dst))
    return atom(terms[0].dom, terms[0].cod, rows, [of for _, of in pairs])


def _times(k: float, f: wire.Wire) -> wire.Wire | None:
    if k == 1.0 or not isinstance(f, wire.ContractWith):
        return f
    datum = BENCH.scaled(k, f.datum)
    return wire.ContractWith(f.spec, f.side, datum) if datum else None


def _as(
    law: Rule, kind: str, function: Callable[..., Any], *on: Classes, key: Callable[[Any], Any] | None = None
) -> Rule:
    """The law as it stands in terms."""
    return Rule(law.name, law.formula, law.source, kind, function, law.late, key=key, on=on)


def alone(formula: str, source: str, *on: type, late: bool = False, scales: bool = False) -> Callable[[F], F]:
    """Declare a law of one arc, and of atoms; one that `scales` may give k·id, whose number leaves a composition."""

    def declared(function: F) -> F:
        law = Rule(named(function), formula, source, ARC, function, late, on=(on,))
        nodes = tuple(node for cls in on for node in NODES.get(cls, ()))
        if nodes:
            law.derived.append(_as(law, NODE, lambda f: _alone(f, function), nodes))
        if scales:
            number = _as(law, PART, lambda f: _number(_alone(f, function)), nodes)
            law.derived.append(evolve(number, name=f"{law.name} in a composition"))
        declare(law)
        return function

    return declared


def _number(made: Any) -> tuple[float, list[Any]] | None:
    """k and no parts, for k·id."""
    return (made.k, []) if isinstance(made, Scaled) and isinstance(made.of, Identity) else None


def neighbours(formula: str, source: str, g: type, f: type, *, late: bool = False) -> Callable[[F], F]:
    """Declare a law of two arcs in a row, and of atoms: of (u⋄) • v, of k·(u⋄)."""

    def declared(function: F) -> F:
        law = Rule(named(function), formula, source, ARCS, function, late, on=(g, f))
        inner = NODES.get(f, ())
        if g in NODES and inner:
            law.derived.append(_as(law, PAIR, lambda b, a: _neighbours(function, b, a), NODES[g], inner))
        elif g is wire.Scale and inner:
            law.derived.append(_as(law, NODE, lambda b: _scaled(function, b, inner), Scaled))
        declare(law)
        return function

    return declared


def beside(formula: str, source: str, *on: type, late: bool = False) -> Callable[[F], F]:
    """Declare a law of two arcs side by side, and of the atoms in a sum that are alike."""

    def declared(function: F) -> F:
        law = Rule(named(function), formula, source, BESIDE, function, late, on=(on, on))

        def key(f: Any) -> Any:
            _, of = split(f)
            if not isinstance(of, Section):
                return None
            return f.dom, f.cod, tuple((a.src, alike(a.map), a.dst) for a in arcs(of))

        if wire.ContractWith in on:  # multiples of the identity are like terms
            law.derived.append(_as(law, LIKE, lambda terms: _sum(function, terms), key=key))
        declare(law)
        return function

    return declared


def alike(f: wire.Wire) -> Any:
    """The key of arcs side by side that may be added into one: a section but for its datum; None for others."""
    return normal(f.spec, f.side)[0] if isinstance(f, wire.ContractWith) else None

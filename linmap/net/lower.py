"""Trees to nets: a linear map as arcs between the leaves of its spaces, under any nesting of copowers.

Every construct is wiring; only sections, reductions, scalings, transpositions and casts make arcs that compute.
A lifted map is lowered with more axes `lead` in front of every wire, so that f^X has the arcs of f.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from typing import TYPE_CHECKING, Any, assert_never, cast

from hilbert.base.once import once
from hilbert.base.term import parts, postorder, shared_terms
from hilbert.index.index import Index
from linmap.term import wire
from linmap.term.datum import Datum, constants
from linmap.term.linear_map import AnyLinMap
from linmap.term.net import Arc, Closed, Net, refs, turned
from linmap.term.nodes import (
    Cast,
    Compose,
    Fork,
    Identity,
    Inject,
    Join,
    Lifted,
    Node,
    Own,
    Parallel,
    Project,
    Reduce,
    Scaled,
    Section,
    Sum,
    Unitary,
    ZeroMap,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from hilbert import Type
    from hilbert.index.leaf import Leaf

Axes = tuple[Index, ...]
Ends = tuple[int, ...]
Task = tuple[Any, Ends, Ends, Axes]
ARCS = 8
"""A net with more arcs than so many for each part of the term is tried from the other side."""


class Wiring:
    """A net under construction."""

    backward = False

    def __init__(self) -> None:
        self.wires: list[Leaf] = []
        self.arcs: list[Arc] = []

    def values(self, ends: Ends) -> tuple[Hashable, ...]:
        """Keys for the values of complete wires, equal for equal values: here each wire has a value of its own."""
        return ends

    def ends(self, space: Type, lead: Axes = ()) -> Ends:
        """Fresh wires for the leaves of a space."""
        first = len(self.wires)
        self.wires.extend(leaf.under(lead) for leaf in space.leaves)
        return tuple(range(first, len(self.wires)))

    def arc(self, f: wire.Wire, src: int, dst: int) -> None:
        """wires[dst] += f(wires[src])."""
        self.arcs.append(Arc(f, src, dst))

    def each(self, f: wire.Wire, src: Ends, dst: Ends) -> None:
        """Add an arc of the same map for every leaf."""
        for s, d in zip(src, dst, strict=True):
            self.arc(f, s, d)


class TooManyArcsError(Exception):
    """A net would have more arcs than are allowed."""


class Numbered(Wiring):
    """A net under construction that tells which wires have one value: where the same arcs lead from the same values.

    Arcs come in topological order, so that a wire is complete when the first arc leaves it. `backward` they come from
    the outputs on, and a wire's value is that of the adjoint. Raises TooManyArcsError where there are more than `most`.
    """

    def __init__(self, most: int, *, backward: bool) -> None:
        super().__init__()
        self.most, self.backward = most, backward
        self._into: dict[int, list[int]] = {}  # for each wire the numbers of what is added into it
        self._value: dict[int, int] = {}
        self._numbers: dict[Hashable, int] = {}

    def values(self, ends: Ends) -> tuple[Hashable, ...]:
        """The numbers of the wires' values."""
        return tuple(map(self._value_of, ends))

    def arc(self, f: wire.Wire, src: int, dst: int) -> None:
        """wires[dst] += f(wires[src])."""
        super().arc(f, src, dst)
        if len(self.arcs) > self.most:
            raise TooManyArcsError
        near, far = (dst, src) if self.backward else (src, dst)
        value = self._value_of(near)
        self._into.setdefault(far, []).append(value if f == wire.Same() else self._number(("arc", f, value)))

    def _value_of(self, w: int) -> int:
        """The number of a complete wire's value: equal sums have one; where nothing is added it is a new one."""
        found = self._value.get(w)
        if found is None:
            match sorted(self._into.get(w, ())):
                case []:  # an input, or 0
                    key: Hashable = ("wire", w)
                    found = self._number(key)
                case [one]:
                    found = one
                case several:  # wires that add up
                    found = self._number(("sum", *several))
            self._value[w] = found
        return found

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def net(f: AnyLinMap) -> Net:
    """The net of a linear map, made once for each term."""
    if isinstance(f, Net):
        return f
    return _lowered(f)


@once
def _lowered(f: AnyLinMap) -> Net:
    shared = shared_terms(f)
    if not shared:
        return _wired(f, Wiring(), shared)
    most = (
        ARCS * sum(1 + len(parts(node)) for node in postorder(f, parts)) * max(len(f.dom.leaves), len(f.cod.leaves), 1)
    )
    while True:  # f + f•g shares f where it starts from the output, f + g•f where it starts from the input
        for backward in (False, True):
            with suppress(TooManyArcsError):
                return _wired(f, Numbered(most, backward=backward), shared)
        most *= 4


def _wired(f: AnyLinMap, w: Wiring, shared: set[int]) -> Net:
    src, dst = w.ends(f.dom), w.ends(f.cod)
    lower(w, f, src, dst, shared)
    return Net(f.dom, f.cod, src, tuple(reversed(w.arcs) if w.backward else w.arcs), dst, tuple(w.wires))


def lower(w: Wiring, f: AnyLinMap, src: Ends, dst: Ends, shared: set[int]) -> None:
    """Emit arcs such that wires[dst] += f(wires[src]); iterative, in topological order, or in the opposite one.

    A shared subterm is wired once for each value that it starts from: at its input, or, backward, at its output.
    """
    done: dict[tuple[int, tuple[Hashable, ...], Axes], Ends] = {}
    tasks: list[Task] = [(f, src, dst, ())]
    while tasks:
        g, s, d, lead = tasks.pop()
        below: list[Task] = []
        if id(g) in shared and not isinstance(g, (Identity, Project, Inject, ZeroMap)):
            key = (id(g), w.values(d if w.backward else s), lead)
            known = done.get(key)
            middle = w.ends(g.dom if w.backward else g.cod, lead) if known is None else known
            same = (Identity(g.dom), s, middle, lead) if w.backward else (Identity(g.cod), middle, d, lead)
            tasks.append(same)
            if known is not None:
                continue
            done[key] = middle
            s, d = (middle, d) if w.backward else (s, middle)
        _step(w, cast("Node", g), s, d, lead, shared, below)
        tasks.extend(below if w.backward else reversed(below))


def _step(w: Wiring, f: Node, src: Ends, dst: Ends, lead: Axes, shared: set[int], below: list[Task]) -> None:
    """Lower one node: emit arcs of its own, and append tasks for its parts to `below`, in the order of the flow."""
    n = len(lead)
    match f:
        case Identity():
            w.each(wire.Same(), src, dst)
        case ZeroMap():
            pass
        case Compose():
            parts = _joined(f)
            ends, last = src, len(parts) - 1
            for k, part in enumerate(parts):
                out = dst if k == last else w.ends(part.cod, lead)
                below.append((part, ends, out, lead))
                ends = out
        case Sum(parts):
            below.extend((part, src, dst, lead) for part in parts)
        case Scaled(k, Identity()):
            w.each(wire.Scale(k), src, dst)
        case Scaled(k, of) if id(of) in shared or of.cod.dim <= of.dom.dim:
            # The scalar goes where the arrays are smaller, but not in front of what others use on the same values.
            middle = w.ends(of.cod, lead)
            below += [(of, src, middle, lead), (Scaled(k, Identity(of.cod)), middle, dst, lead)]
        case Scaled(k, of):
            middle = w.ends(of.dom, lead)
            below += [(Scaled(k, Identity(of.dom)), src, middle, lead), (of, middle, dst, lead)]
        case Section(contraction, side, datum):
            fixed = constants(datum)
            for i, j, k, spec in contraction.terms:
                data, flow = (fixed[i], src[j]) if side == 0 else (fixed[j], src[i])
                w.arc(wire.lifted(wire.ContractWith(spec, side, data), n), flow, dst[k])
        case Project(space, position):
            start = sum(len(part.leaves) for part in space.parts[:position])
            w.each(wire.Same(), src[start : start + len(dst)], dst)
        case Inject(space, position):
            start = sum(len(part.leaves) for part in space.parts[:position])
            w.each(wire.Same(), src, dst[start : start + len(src)])
        case Fork(parts):
            start = 0
            for part in parts:
                stop = start + len(part.cod.leaves)
                below.append((part, src, dst[start:stop], lead))
                start = stop
        case Join(parts):
            start = 0
            groups: dict[int, list[tuple[float, AnyLinMap, Ends]]] = {}
            for part in parts:
                stop = start + len(part.dom.leaves)
                factor, of = (part.k, part.of) if isinstance(part, Scaled) else (1.0, part)
                groups.setdefault(id(of), []).append((factor, of, src[start:stop]))
                start = stop
            for group in groups.values():
                below.extend(_together(w, group, dst, lead))
        case Parallel(parts):
            a = b = 0
            for part in parts:
                a2, b2 = a + len(part.dom.leaves), b + len(part.cod.leaves)
                below.append((part, src[a:a2], dst[b:b2], lead))
                a, b = a2, b2
        case Reduce(relation, _):
            w.each(wire.Reduce(relation, n), src, dst)
        case Unitary(_, _, _, source, order):
            for k, (leaf, axes) in enumerate(zip(source, order, strict=True)):
                moved = axes != tuple(range(len(axes)))
                w.arc(wire.lifted(wire.Move(axes), n) if moved else wire.Same(), src[leaf], dst[k])
        case Lifted(of, index):
            below.append((of, src, dst, lead + index.axes))
        case Cast(_, cod):
            for s, d, leaf in zip(src, dst, cod.leaves, strict=True):
                w.arc(wire.Cast(leaf.entry), s, d)
        case Own():
            w.each(wire.lifted(f.operation, n), src, dst)
        case Net():
            inline(w, f, src, dst, lead, {})
        case Closed(body, data):
            inline(w, body, src, dst, lead, {ref.slot: d for ref, d in zip(refs(body), data, strict=True)})
        case _:
            assert_never(f)


def _together(w: Wiring, group: list[tuple[float, AnyLinMap, Ends]], dst: Ends, lead: Axes) -> list[Task]:
    """[f, k·f, …] = f • [id, k·id, …]: what is joined is added before f, which comes once."""
    of = group[0][1]
    if len(group) == 1 or not parts(of):  # one step twice is two steps, which may fuse with others
        return [(of if k == 1.0 else Scaled(k, of), ends, dst, lead) for k, of, ends in group]
    middle, same = w.ends(of.dom, lead), Identity(of.dom)
    added: list[Task] = [(same if k == 1.0 else Scaled(k, same), ends, middle, lead) for k, _, ends in group]
    return [*added, (of, middle, dst, lead)]


def _joined(f: Compose) -> list[AnyLinMap]:
    """The parts of a composition, [id, …] • (f × …) as [f, …]."""
    parts: list[AnyLinMap] = []
    for part in f.parts:
        before = parts[-1] if parts else None
        if isinstance(part, Join) and isinstance(before, Parallel) and all(isinstance(g, Identity) for g in part.parts):
            parts[-1] = Join(before.parts)
        else:
            parts.append(part)
    return parts


def inline(w: Wiring, body: Net, src: Ends, dst: Ends, lead: Axes, data: Mapping[int, Datum]) -> None:
    """Copy a net's arcs, lifted, with its references closed by `data` where that has them."""
    first, n = len(w.wires), len(lead)
    w.wires.extend(leaf.under(lead) for leaf in body.wires)
    starts = ((wire.Same(), s, first + k) for s, k in zip(src, body.inputs, strict=True))
    inner = ((wire.lifted(wire.closed(a.map, data), n), first + a.src, first + a.dst) for a in body.arcs)
    ends = ((wire.Same(), first + k, d) for k, d in zip(body.outputs, dst, strict=True))
    arcs = itertools.chain(starts, inner, ends)
    for arc in reversed(list(arcs)) if w.backward else arcs:
        w.arc(*arc)


def transposed(f: AnyLinMap) -> AnyLinMap:
    """f* as a net; `adjoint.adjoint` keeps terms as they were composed."""
    return Closed(turned(f.body), f.data) if isinstance(f, Closed) else turned(net(f))

"""Equality by contents: up to the numbering of wires and slots, the order of sums, and where vectors come from.

`==` compares terms as they were built and vectors by origin; `equal` numbers values: two wires have the same number if
the same maps lead to them from the same inputs.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import fields, has

from hilbert import Relation, SpaceError, Vec
from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.base.two_sided import TwoSided
from hilbert.errors import shown
from hilbert.program.line.constant import Const, signed
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Literal
from hilbert.relation import Converse, Inclusion, Table
from hilbert.tensors.formal_tensors import alike
from linmap.net.fold import fold
from linmap.net.lower import net
from linmap.term import wire
from linmap.term.datum import Ref, filling
from linmap.term.linear_map import LinMap
from linmap.term.net import Closed, Net, refs

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from hilbert.program.line.step_operation import Operation
    from hilbert.relation.relation import AnyRelation
    from linmap.term.datum import Datum
    from linmap.term.net import Arc


MODULUS = 2**128


class Numbering:
    """Numbers for values: the same key, the same number."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}
        self._drawn: list[int] = []
        self._moves: dict[int, tuple[tuple[int, ...], int]] = {}
        self.lines: dict[int, int] = {}  # by identity

    def of(self, key: Hashable) -> int:
        """The number of a key."""
        return self._known.setdefault(key, len(self._known))

    def drawn(self, number: int) -> int:
        """A random number of 128 bits for one: sums of such tell which numbers were added, and how often."""
        while len(self._drawn) <= number:
            self._drawn.append(secrets.randbelow(MODULUS))
        return self._drawn[number]

    def alone(self, key: Hashable) -> int:
        """The random number of a key."""
        return self.drawn(self.of(key))

    def moved(self, order: tuple[int, ...], number: int) -> int:
        """The number of a value with its axes in another order: two orders after each other are one, or none."""
        before, number = self._moves.get(number, (tuple(range(len(order))), number))
        order = tuple([before[k] for k in order])
        if order == tuple(range(len(order))):
            return number
        found = self.alone(("axes", order, number))
        found = min(found, MODULUS - found)  # without a minus: see `net_label`
        self._moves[found] = order, number
        return found


class Comparable:
    """Something other than vectors and linear maps that is compared by contents: functions and derivatives."""

    __slots__ = ()

    def label(self, numbering: Numbering) -> Hashable:
        """A key that is equal for two objects with the same contents, under one numbering."""
        raise TypeError(type(self).__name__)


def equal(a: Any, b: Any) -> bool:
    """Tell if two vectors, linear maps, functions or derivatives have the same contents; NaN equals NaN.

    Formal tensors are equal up to the tensor identities, that is to rounding (`hilbert.tensors.formal_tensors.alike`).
    Equal terms have equal values, not the other way round: no law is applied, but for the order and the brackets of
    sums and of products, and for transpositions after each other. Raises SpaceError for other things.
    """
    if isinstance(a, Vec) and isinstance(b, Vec) and (a.is_formal or b.is_formal):
        return a.space == b.space and alike(a, b)
    numbering = Numbering()
    return _label(a, numbering) == _label(b, numbering)


def _label(a: Any, numbering: Numbering) -> Hashable:
    if isinstance(a, Vec):
        return a.space, tuple(_contents(leaf, signed=False) for leaf in a.leaves)
    if isinstance(a, LinMap):
        data = {ref.slot: d for ref, d in zip(refs(a.body), a.data, strict=True)} if isinstance(a, Closed) else {}
        body = a.body if isinstance(a, Closed) else net(a)

        def datum(d: Datum) -> Hashable:
            d = data.get(d.slot, d) if isinstance(d, Ref) else d
            return const_label(d) if isinstance(d, Const) else ("slot", d.slot)

        def number_of(d: Datum) -> float | None:
            d = data.get(d.slot, d) if isinstance(d, Ref) else d
            return filling_of(d) if isinstance(d, Const) else None

        return net_label(body, numbering, datum, number_of)
    if isinstance(a, Comparable):
        return a.label(numbering)
    msg = f"equal compares vectors, linear maps, functions and derivatives, not {shown(a)}"
    raise SpaceError(msg)


def _contents(array: Any, *, signed: bool) -> Hashable:
    """The entries; 0 and −0 are two if they are `signed`, for a function such as atan2 tells them apart."""
    if isinstance(array, Arrays):
        return tuple(_contents(a, signed=signed) for a in array)
    if isinstance(array, Formal):
        blocks = tuple((float(b.k), b.axes, tuple(_contents(a, signed=signed) for a in b.arrays)) for b in array.blocks)
        return array.shape, blocks, None if array.dense is None else _contents(array.dense, signed=signed)
    host = to_numpy(array)
    entries = host if signed or host.dtype.kind != "f" else host + 0
    return host.shape, host.dtype.str, entries.tobytes()


def relation_label(relation: AnyRelation) -> Hashable:
    """The forms of a relation, with the entries of their tables instead of where these come from."""
    found: list[Hashable] = []
    waiting: list[Any] = [relation]
    while waiting:
        top = waiting.pop()
        if isinstance(top, Converse) and isinstance(top.of, Inclusion) and top.of.dom == top.of.cod:
            top = top.of  # the order, or the order backwards: the same both ways
        kind: Any = type(top)
        if isinstance(top, TwoSided):
            found.append(kind)
            waiting.extend(reversed(top.sides))
        else:
            found.append((kind, *(_field(getattr(top, field.name)) for field in fields(kind))))
    return tuple(found)


def _field(value: Any) -> Hashable:
    """A hashable value in place of a field of an arc or of a relation."""
    if isinstance(value, Relation):
        return relation_label(value)
    return _contents(value.array, signed=True) if isinstance(value, Table) else value


def const_label(c: Const) -> Hashable:
    """The contents of a constant."""
    return c.leaf, _contents(c.array, signed=True)


def filling_of(c: Const) -> float | None:
    """The number that all entries of a constant are, however it is stored."""
    if c.number is not None or not c.leaf.is_field:
        return c.number
    stored = filling(c.array)
    if stored is not None or isinstance(c.array, Formal) or not c.leaf.size:
        return stored
    entries = to_numpy(c.array).reshape(-1)
    first = entries[0]
    same = entries[-1] == first and bool(np.all((entries == first) & (np.signbit(entries) == np.signbit(first))))
    return float(first) if same else None


def net_label(
    body: Net,
    numbering: Numbering,
    datum: Callable[[Datum], Hashable],
    number_of: Callable[[Datum], float | None],
) -> Hashable:
    """The numbers of a net's outputs: a wire's value is the multiset of (map, value of its source).

    A multiset is known by the sum of what is drawn for its members, so that a sum of sums is one sum, at no cost. −f is
    the number of f with a minus, which all maps let pass. (k·) is a scaling by k, be k a number or a constant.
    """
    alone = numbering.alone

    def act(arc: Arc, total: int) -> int:
        f = arc.map
        if isinstance(f, wire.Same):
            return total
        number = f.k if isinstance(f, wire.Scale) else _scaling(f, number_of)
        if number in {1.0, -1.0}:
            return total if number == 1.0 else -total % MODULUS
        minus = total > MODULUS // 2
        plus = MODULUS - total if minus else total
        kind = arc_label(f, numbering, datum) if number is None else (wire.Scale, signed(number))
        moved = numbering.moved(f.order, plus) if isinstance(f, wire.Move) else alone((kind, plus))
        return -moved % MODULUS if minus else moved

    inputs = ((w, alone(("input", k))) for k, w in enumerate(body.inputs))
    outputs = fold(body, inputs, act, lambda a, b: (a + b) % MODULUS)
    return "linear", body.dom, body.cod, tuple(outputs)


def arc_label(f: wire.Wire, numbering: Numbering, datum: Callable[[Datum], Hashable]) -> Hashable:
    """The class and the fields of an arc; of the datum, the contents."""
    named = [field.name for field in fields(type(f)) if field.eq and field.name != "datum"]
    d = wire.datum_of(f)
    return type(f), tuple(_own(f, name, numbering) for name in named), None if d is None else datum(d)


def _own(f: wire.Wire, name: str, numbering: Numbering) -> Hashable:
    """A field of an arc; of a net its contents, its references being numbers of its own."""
    value: Hashable = getattr(f, name)
    if isinstance(value, Line):
        return _line(value, numbering)
    if not isinstance(value, Net):
        return _field(value)
    return net_label(value, numbering, _of_round, lambda d: filling_of(d) if isinstance(d, Const) else None)


def _line(line: Line, numbering: Numbering) -> int:
    """The number of a line, step by step as it is written, with the contents of its constants."""
    if id(line) not in numbering.lines:
        steps = tuple((_operation(step.operation, numbering), step.args) for step in line.steps)
        numbering.lines[id(line)] = numbering.alone((line.slots, steps, line.outputs, line.fixed))
    return numbering.lines[id(line)]


def _operation(f: Operation, numbering: Numbering) -> Hashable:
    if isinstance(f, Literal):
        return const_label(f.value)
    cls: Any = type(f)
    values = [getattr(f, field.name) for field in fields(cls) if field.eq] if has(cls) else []
    if not any(isinstance(value, Line) for value in values):
        return f
    return cls, tuple(_line(value, numbering) if isinstance(value, Line) else value for value in values)


def _of_round(d: Datum) -> Hashable:
    return const_label(d) if isinstance(d, Const) else ("slot", d.slot)


def _scaling(f: wire.Wire, number_of: Callable[[Datum], float | None]) -> float | None:
    """k of (k·) for a datum that repeats k: of a section that multiplies all entries by one number."""
    if not isinstance(f, wire.ContractWith):
        return None
    spec = f.spec
    flow = spec.right if f.side == 0 else spec.left
    return number_of(f.datum) if flow == spec.out and not spec.contracted else None

"""Constants and tables along X as inputs, so that one line serves all blocks of X.

A constant array with the axis X becomes an input, and so does the table of a function of X: a segment sum or a gather
by a table is a contraction with the elements that the table holds. A relation that is a product is split into factors.

>>> from hilbert.index.index import Fin
>>> from hilbert.program.line.builder import line_of
>>> from hilbert.relation import function
>>> X, Y = Fin.of(4), Fin.of(2)
>>> line = line_of([Leaf(Entry("float64"), (X,))], Reduce(function([0, 1, 1, 0], X, Y), 0), 0)
>>> found, arrays = opened(line, (X,))
>>> print(found.slots[found.arity - 1], arrays[0].tolist(), found.steps[0].operation.spec)
2^4 [0, 1, 1, 0] ij,i->j
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import evolve

from hilbert.index.leaf import Bundle, Entry, Leaf
from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.control.branch import Cond
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Contract, Literal, Reduce
from hilbert.relation.compound_forms import ProductRelation
from hilbert.relation.function_forms import Converse, Graph
from hilbert.relation.plain_forms import Equality, Partial

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    import numpy.typing as npt

    from hilbert.index.index import Index
    from hilbert.program.line.line import Line
    from hilbert.relation.relation import AnyRelation, Table

Family: TypeAlias = "tuple[Index, ...]"
"""X and the sets that slices of it lead to: see `hilbert.program.blocks.halos`."""
Found: TypeAlias = "dict[Hashable, tuple[Leaf, npt.NDArray[Any]]]"
"""The leaf and the array of each constant, by a key that no other constant has."""


def opened(line: Line, along: Family) -> tuple[Line, list[npt.NDArray[Any]]]:
    """The line with more inputs behind its own, one for each constant along X, and the arrays of these constants."""
    found = _constants(line, along)
    b = Builder([*line.slots[: line.arity], *(leaf for leaf, _ in found.values())], fixed=line.fixed)
    inputs = dict(zip(found, range(line.arity, b.arity), strict=True))
    return b.line(_rebuilt(b, line, along, range(line.arity), inputs)), [array for _, array in found.values()]


def _constants(line: Line, along: Family) -> Found:
    """The constants along X of a line and of the lines within it."""
    found: Found = {}
    for step in line.steps:
        match step.operation:
            case Literal(value) if _is_along(value.leaf, along) and value.number is None:
                found[value] = value.leaf, value.array
            case Reduce(relation, at) if _meets(relation, along):
                for factor, _ in factors(relation, at):
                    if (table := _table(factor, along)) is not None:
                        leaf, of = table
                        found[of] = leaf, of.array.reshape(leaf.shape)
            case Loop() | While():
                found |= _constants(step.operation.body, along)
            case Cond(then, otherwise):
                found |= _constants(then, along) | _constants(otherwise, along)
            case _:  # equations are taken as they are, and other operations hold no arrays
                pass
    return found


def _rebuilt(b: Builder, line: Line, along: Family, given: Sequence[int], inputs: dict[Hashable, int]) -> list[int]:
    """The outputs of a line, which reads its constants along X from inputs."""
    where = list(given)
    for step in line.steps:
        args, b.place = tuple([where[a] for a in step.args]), step.place
        match step.operation:
            case Literal(value) if value in inputs:
                slot = inputs[value]
            case Reduce(relation, at) if _meets(relation, along):
                (slot,) = args
                for factor, place in reversed([*factors(relation, at)]):
                    slot = _reduced(b, factor, place, along, slot, inputs)
            case (Loop() | While() | Cond()) as flow if any(_constants(part, along) for part in _lines(flow)):
                slot = _flow(b, flow, along, args[0], inputs)
            case operation:  # as it is
                slot = b.step(operation, args)
        where.append(slot)
    return [where[k] for k in line.outputs]


def _flow(b: Builder, flow: Any, along: Family, slot: int, inputs: dict[Hashable, int]) -> int:
    """A step of control flow whose lines read constants: those are operands that all rounds share."""
    keys = list(dict.fromkeys(key for line in _lines(flow) for key in _constants(line, along)))
    more = [inputs[key] for key in keys]
    leaves = [b.slots[k] for k in more]

    def changed(line: Line, whole: int) -> Line:
        inner = Builder([*line.slots[:whole], *leaves, *line.slots[whole : line.arity]], fixed=line.fixed)
        places = dict(zip(keys, range(whole, whole + len(keys)), strict=True))
        own = [*range(whole), *range(whole + len(keys), inner.arity)]
        return inner.line(_rebuilt(inner, line, along, own, places))

    given = list(b.unpack(slot))
    if isinstance(flow, Loop):
        whole = flow.states + flow.shared
        made: Any = evolve(flow, body=changed(flow.body, whole), shared=flow.shared + len(keys), names=())
        return b.step(made, (b.pack([*given[:whole], *more, *given[whole:]]),))
    if isinstance(flow, While):
        made = evolve(flow, body=changed(flow.body, flow.body.arity))
    else:
        made = Cond(*(changed(line, line.arity) for line in flow.lines))
    return b.step(made, (b.pack([*given, *more]),))


def _reduced(b: Builder, relation: AnyRelation, at: int, along: Family, slot: int, inputs: dict[Hashable, int]) -> int:
    """A reduction by one factor of a relation; by a table along X a contraction with what the table holds."""
    table = _table(relation, along)
    if isinstance(relation, Equality):
        return slot
    if table is None:
        return b.step(Reduce(relation, at), (slot,))
    if isinstance(relation, Partial):
        return b.step(Contract(_masked(b.slots[slot], at)), (inputs[table[1]], slot))
    spec = _by_table(b.slots[slot], at, table[0], back=isinstance(relation, Converse))
    return b.step(Contract(spec), (inputs[table[1]], slot))


def _table(relation: AnyRelation, along: Family) -> tuple[Leaf, Table] | None:
    """The leaf and the table of a function of X, or of a subset of X; None for relations without one."""
    match relation:
        case Graph(dom, cod, positions) | Converse(Graph(dom, cod, positions)) if any(
            axis in along for axis in dom.axes
        ):
            return Leaf(Entry("int64", cod), dom.axes), positions
        case Partial(dom, keep) if dom in along:
            return Leaf(Entry("bool"), dom.axes), keep
        case _:  # nothing that varies along X, or of which nothing is proved
            return None


def _by_table(leaf: Leaf, at: int, table: Leaf, *, back: bool) -> Spec:
    """The labels of a segment sum by the elements of a table, or of the gather back."""
    n, m = len(table.axes), len(table.entry.shape)
    rest = len(leaf.axes) - (m if back else n)
    keys, values, others = ALPHABET[:n], ALPHABET[n : n + m], ALPHABET[n + m : n + m + rest]

    def around(labels: str) -> str:
        return others[:at] + labels + others[at:]

    given, made = (values, keys) if back else (keys, values)
    return Spec.of(keys + values, around(given), around(made))


def _masked(leaf: Leaf, at: int) -> Spec:
    """The labels of a choice of entries by truth values along the axis `at`."""
    labels = ALPHABET[: len(leaf.axes)]
    return Spec.of(labels[at], labels, labels)


def factors(relation: AnyRelation, at: int) -> Iterator[tuple[AnyRelation, int]]:
    """The factors of a product of relations, and the axes of the domain at which they begin."""
    waiting: list[AnyRelation] = [relation]
    while waiting:
        top = waiting.pop()
        if isinstance(top, ProductRelation):
            waiting += [top.right, top.left]
        else:
            yield top, at
            at += len(top.dom.axes)


def _lines(flow: Loop | While | Cond) -> tuple[Line, ...]:
    return flow.lines if isinstance(flow, Cond) else (flow.body,)


def _meets(relation: AnyRelation, along: Family) -> bool:
    return any(axis in along for axis in (*relation.dom.axes, *relation.cod.axes))


def _is_along(leaf: Leaf, along: Family) -> bool:
    return not isinstance(leaf, Bundle) and any(axis in along for axis in leaf.axes)

"""Long axes inside: an array of many small vectors or matrices is stored with the long axis last.

numpy runs its innermost loop along the last axis: arrays (31843, 2, 3) that are scaled, summed or multiplied along
small axes take a loop for each few entries, some 10 ns an entry; for (2, 3, 31843) the same steps take 1 ns. Inputs and
outputs of a line keep their order, and are copied (`Store`); the order is changed only where the copies cost less than
the loops.

>>> from hilbert.index.index import Fin
>>> from hilbert.index.leaf import Entry, Leaf
>>> from hilbert.index.spec import Spec
>>> many = Leaf(Entry("float64"), (Fin.of(20000), Fin.of(3)))
>>> b = Builder([many, many])
>>> both = b.add(0, 1)
>>> scaled = b.contract(Spec("ij", "i", "ij"), both, b.contract(Spec("ij", "ij", "i"), 0, both))
>>> made = long_axes_inside(b.line([b.contract(Spec("ij", "ij", "i"), scaled, both)]))
>>> [f"{type(step.operation).__name__} {leaf}" for step, leaf in zip(made.steps, made.slots[2:])][:4]
['Store ℝ^{3×20000}', 'Store ℝ^{3×20000}', 'Add ℝ^{3×20000}', 'Contract ℝ^20000']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Bundle
from hilbert.index.spec import Spec
from hilbert.program.layout.store import ChooseInside, FillInside, Store
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import Choose, Fill
from hilbert.program.line.operation import Along, Contract, Literal, Move, Reduce
from hilbert.relation import Converse, Full, Graph, Inclusion

if TYPE_CHECKING:
    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line, Step

LARGE = 1 << 12
"""Entries from which an array is worth another order."""
LONG = 1 << 7
"""Elements from which an axis is long."""
SMALL = 1 << 10
"""Entries beside a long axis up to which loops along small axes are short."""
SHORT = 64
"""Entries of a loop up to which its start is what it costs (measured)."""
FEW = 8
"""The same in products of matrices, which BLAS makes."""
LOOP, COPY = 16.0, 3.0
"""Nanoseconds that a loop takes to start, and that a copy into another order takes for each entry (measured)."""


def long_axis(leaf: Leaf) -> int | None:
    """The place of the one long axis of an array of small ones; None for other arrays."""
    if isinstance(leaf, Bundle):
        return None
    found = [k for k, n in enumerate(leaf.shape) if n >= LONG and leaf.size <= SMALL * n]
    return found[0] if len(found) == 1 else None


def inside(count: int, long: int | None) -> tuple[int, ...]:
    """So many axes in order, the long one last."""
    return tuple([k for k in range(count) if k != long] + ([] if long is None else [long]))


def long_axes_inside(line: Line) -> Line:
    """The line with arrays in another order, where that is cheaper; else the line itself."""
    if max([leaf.size for leaf in line.slots], default=0) < LARGE:
        return line
    tall = [long_axis(leaf) for leaf in line.slots]
    if not any(k is not None and k + 1 < len(leaf.axes) for k, leaf in zip(tall, line.slots, strict=True)):
        return line
    made = _Reordering(line, tall)
    return made.line() if made.gain > 0.0 else line


@final
@frozen
class _Stored:
    """An array of the new line: its slot, and the order in which the axes of the old one lie in it."""

    slot: int
    order: tuple[int, ...]


class _Reordering:
    """The new line under construction, and the nanoseconds that it gains."""

    def __init__(self, line: Line, tall: list[int | None]) -> None:
        self.b = Builder(line.slots[: line.arity], fixed=line.fixed)
        self.of, self.tall = line, tall
        self.gain = 0.0
        self.opened: dict[int, int] = {}  # bundles whose arrays lie with their long axes last
        self.kept = _sparse_products(line)
        self.found = [[_Stored(k, tuple(range(len(_axes(line.slots[k])))))] for k in range(line.arity)]
        for slot, step in enumerate(line.steps, line.arity):
            self.b.place = step.place
            self.found.append([self._step(slot, step)])

    def line(self) -> Line:
        """The new line, whose outputs have their axes in the old order."""
        made = [self.at(k, inside(len(_axes(self.of.slots[k])), None)) for k in self.of.outputs]
        return self.b.line(made).pruned()

    def at(self, slot: int, order: tuple[int, ...]) -> int:
        """The new slot of an array with its axes in an order: copied, unless there is one."""
        there = self.found[slot]
        for one in there:
            if one.order == order:
                return one.slot
        first = there[0]
        copy = self.b.step(Store(tuple(first.order.index(k) for k in order)), (first.slot,))
        there.append(_Stored(copy, order))
        if not self._is_constant(slot):
            self.gain -= COPY * self.of.slots[slot].size
        return copy

    def _is_constant(self, slot: int) -> bool:
        k = slot - self.of.arity
        return k >= 0 and isinstance(self.of.steps[k].operation, Literal)

    def _inside(self, slot: int) -> int:
        return self.at(slot, inside(len(_axes(self.of.slots[slot])), self.tall[slot]))

    def _step(self, slot: int, step: Step[Any]) -> _Stored:
        """A step, on arrays with their long axes last where it can be."""
        leaf = self.of.slots[slot]
        order = inside(len(_axes(leaf)), self.tall[slot])
        if isinstance(leaf, Bundle) and self._bundle(slot, step, leaf):
            return _Stored(self.opened[slot], ())
        if isinstance(step.operation, Unpack) and step.args[0] in self.opened:
            return _Stored(self.b.step(step.operation, (self.opened[step.args[0]],)), order)
        if slot not in self.kept and any(self.tall[k] is not None for k in (slot, *step.args)):
            made = self._reordered(slot, step)
            if made is not None:
                return _Stored(made, order)
        natural = [self.at(k, inside(len(_axes(self.of.slots[k])), None)) for k in step.args]
        return _Stored(self.b.step(step.operation, tuple(natural)), inside(len(_axes(leaf)), None))

    def _bundle(self, slot: int, step: Step[Any], leaf: Bundle) -> bool:
        """Bind a step on a bundle that takes and makes arrays with their long axes last, if it can."""
        pack = self.of.steps[step.args[0] - self.of.arity] if step.args and step.args[0] >= self.of.arity else None
        if pack is None or not isinstance(pack.operation, Pack) or len(step.args) > 1:
            return False
        given = [inside(len(_axes(self.of.slots[k])), self.tall[k]) for k in pack.args]
        made = [inside(len(_axes(part)), long_axis(part)) for part in leaf.leaves]
        operation = step.operation.rearranged(given, made)
        if operation is None:
            return False
        self.opened[slot] = self.b.step(operation, (self.b.pack([self._inside(k) for k in pack.args]),))
        return True

    def _reordered(self, slot: int, step: Step[Any]) -> int | None:
        """The slot of a step's result with its long axis last; None for a step that keeps the order."""
        leaves = [self.of.slots[k] for k in step.args]
        match step.operation:
            case Contract(spec) if all(leaf.entry.index is None for leaf in leaves):
                return self._contract(slot, spec, step.args)
            case Reduce(relation, at):
                return self._reduce(slot, step.args[0], relation, at)
            case Along(name, index, at):
                (long,) = (self.tall[k] for k in step.args)
                if long is None or at <= long < at + len(index.axes):
                    return None
                self.gain += _loops(leaves[0])
                return self.b.step(Along(name, index, at - (long < at)), (self._inside(step.args[0]),))
            case Move(order):
                return self._move(slot, order, step.args[0])
            case (Choose() | Fill(0, _)) as choice if (
                len(leaves[0].axes) == 1 and self.tall[step.args[0]] == 0 == self.tall[slot]
            ):
                inner = FillInside(choice.when) if isinstance(choice, Fill) else ChooseInside()
                self.gain += _loops(self.of.slots[slot])
                return self.b.step(inner, tuple(self._inside(k) for k in step.args))
            case Literal():
                return None
            case operation if operation.by_entry(NUMPY, leaves) is not None:
                return self.b.step(operation, tuple(self._inside(k) for k in step.args))
            case _:  # control flow, and functions that see whole arrays
                return None

    def _contract(self, slot: int, spec: Spec, args: tuple[int, ...]) -> int:
        def labels(have: str, k: int) -> str:
            return "".join(have[a] for a in inside(len(have), self.tall[k]))

        made = Spec(labels(spec.left, args[0]), labels(spec.right, args[1]), labels(spec.out, slot))
        if not spec.is_pointwise and made != spec:
            most = SHORT if spec.shared or not spec.contracted else FEW
            self.gain += max(_loops(self.of.slots[k], most) for k in (slot, *args))
        return self.b.contract(made, *(self._inside(k) for k in args))

    def _reduce(self, slot: int, arg: int, relation: Any, at: int) -> int | None:
        made = self.tall[slot]
        d, c, count = len(relation.dom.axes), len(relation.cod.axes), len(_axes(self.of.slots[arg]))
        if made is None or at <= made < at + c:  # the relation acts along the long axis
            gone = d == 1 and not c and self.tall[arg] == at  # the long axis is summed away
            if max(d, c) > 1 or not _runs_inside(relation) or (made is None and not gone):
                return None
            order = inside(count, at if d else None)
            return self.b.step(Reduce(relation, count - d), (self.at(arg, order),))
        long = made if made < at else made - c + d
        self.gain += max(_loops(self.of.slots[k]) for k in (slot, arg))
        return self.b.step(Reduce(relation, at - (long < at)), (self.at(arg, inside(count, long)),))

    def _move(self, slot: int, order: tuple[int, ...], arg: int) -> int | None:
        long = self.tall[arg]
        if long is None:
            return None
        have = inside(len(order), long)
        want = [order[k] for k in inside(len(order), self.tall[slot])]
        way = tuple(have.index(k) for k in want)
        there = self._inside(arg)
        return there if way == tuple(range(len(way))) else self.b.step(Move(way), (there,))


def _sparse_products(line: Line) -> set[int]:
    """The gathers and products of segment sums of weighted rows: these are better one product with a sparse matrix."""

    def alone(slot: int) -> Step[Any] | None:
        return line.steps[slot - line.arity] if slot >= line.arity and line.reads[slot] == 1 else None

    found = set[int]()
    for step in line.steps:
        match step.operation:
            case Reduce(Graph(), 0):
                product = alone(step.args[0])
            case _:  # no sum over segments
                continue
        if product is not None and isinstance(product.operation, Contract):
            gathers = [a for a in product.args if (rows := alone(a)) and _is_gather(rows)]
            found |= {step.args[0], *gathers} if gathers else set()
    return found


def _is_gather(step: Step[Any]) -> bool:
    operation = step.operation
    table = operation.relation if isinstance(operation, Reduce) and operation.at == 0 else None
    return isinstance(table, Converse) and isinstance(table.of, Graph)


def _loops(leaf: Leaf, most: int = SHORT) -> float:
    """The nanoseconds that short loops along the last axis take to start; in longer ones the entries count."""
    return LOOP * leaf.size / leaf.shape[-1] if leaf.axes and 0 < leaf.shape[-1] <= most else 0.0


def _axes(leaf: Leaf) -> tuple[Any, ...]:
    return () if isinstance(leaf, Bundle) else leaf.axes


def _runs_inside(relation: Any) -> bool:
    """Tell if kernels of a relation are as quick along the last axis as along the first: no sums over segments."""
    one = relation.of if isinstance(relation, Converse) else relation
    return isinstance(one, (Full, Inclusion)) or (isinstance(relation, Converse) and isinstance(one, Graph))

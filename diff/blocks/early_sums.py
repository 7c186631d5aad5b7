"""Sums over X before products with what is the same for all of X: Σ (W x + b c) is W Σ x + b Σ c, a total each.

Products of all rows are not made then, but one of the total, after the pass.

>>> from hilbert.index.index import Fin
>>> from hilbert.index.leaf import Entry, Leaf
>>> X, D, H = Fin.of(1000), Fin.of(3), Fin.of(5)
>>> b = Builder([Leaf(Entry("float64"), (H, D)), Leaf(Entry("float64"), (X, D))])
>>> rows = b.contract(Spec.of("hd", "xd", "xh"), 0, 1)
>>> line = with_early_sums(b.line([b.apply(Reduce(Full(X, Unit()), 0), rows)]), [X])
>>> [str(line.slots[k + line.arity]) for k in range(2)]
['ℝ^3', 'ℝ^5']
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, final

from hilbert.index.index import Unit
from hilbert.index.spec import Spec
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Add, Contract, Reduce, Scale
from hilbert.relation.plain_forms import Full

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.index.index import Index
    from hilbert.program.line.line import Line


def with_early_sums(line: Line, family: Sequence[Index]) -> Line:
    """The line whose sums over X come before products that nothing else reads; the line itself where it has none."""
    early = _EarlySums(line)
    sums = [
        slot
        for slot, step in enumerate(line.steps, line.arity)
        if isinstance(step.operation, Reduce)
        and isinstance(step.operation.relation, Full)
        and isinstance(step.operation.relation.cod, Unit)
        and len(step.operation.relation.dom.axes) == 1
        and step.operation.relation.dom.axes[0] in family
        and early.gains(step.args[0], step.operation.at)
    ]
    return early.made({*sums}) if sums else line


@final
class _EarlySums:
    """The steps of a line, of which some sums are pushed to the operands of what they sum."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.reads = Counter([*line.outputs, *(a for step in line.steps for a in step.args)])
        self.b = Builder(line.slots[: line.arity], fixed=line.fixed)
        self.where = list(range(line.arity))

    def gains(self, slot: int, at: int) -> bool:
        """Tell if a sum over the axis `at` of a slot may come before a product."""
        if slot < self.line.arity or self.reads[slot] > 1:
            return False
        step = self.line.steps[slot - self.line.arity]
        match step.operation:
            case Scale():
                return True
            case Add():
                return any(self.gains(a, at) for a in step.args)
            case Contract(spec):
                return self.side(spec, step.args, at) is not None
            case _:  # not linear, or already small
                return False

    def side(self, spec: Spec, args: Sequence[int], at: int) -> int | None:
        """The operand of a product that alone has the axis `at` of the result, as numbers."""
        label = spec.out[at]
        have = [label in labels for labels in (spec.left, spec.right)]
        if all(have):
            return None
        side = have.index(True)
        return side if self.line.slots[args[side]].is_field else None

    def made(self, sums: set[int]) -> Line:
        """The line with these sums pushed."""
        for slot, step in enumerate(self.line.steps, self.line.arity):
            self.b.place = step.place
            if slot in sums:
                self.where.append(self.summed(step.args[0], step.operation.at, step.operation.relation.dom))
            else:
                self.where.append(self.b.step(step.operation, tuple([self.where[a] for a in step.args])))
        return self.b.line([self.where[k] for k in self.line.outputs])

    def summed(self, slot: int, at: int, over: Index) -> int:
        """The sum of a slot over its axis `at`."""
        if not self.gains(slot, at):
            return self.b.step(Reduce(Full(over, Unit()), at), (self.where[slot],))
        step = self.line.steps[slot - self.line.arity]
        match step.operation:
            case Contract(spec):
                side = self.side(spec, step.args, at)
                assert side is not None
                labels, label = [spec.left, spec.right], spec.out[at]
                args = [self.where[a] for a in step.args]
                args[side] = self.summed(step.args[side], labels[side].index(label), over)
                left, right, out = (of.replace(label, "") for of in (*labels, spec.out))
                return self.b.contract(Spec.of(left, right, out), *args)
            case operation:  # linear in its operands, each of which has the axis
                return self.b.step(operation, tuple([self.summed(a, at, over) for a in step.args]))

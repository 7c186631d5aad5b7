"""Sums of outer products as one product of matrices: a₁⊗b₁ + … + aₖ⊗bₖ is AᵀB with the rows aₖ and bₖ.

Each outer product of its own would be written to memory and read again by the sum.

>>> from hilbert.index.index import Fin
>>> from hilbert.index.leaf import Entry
>>> n = Leaf(Entry("float64"), (Fin.of(100),))
>>> b = Builder([n, n, n])
>>> outer = Spec("i", "j", "ij")
>>> end = b.add(b.contract(outer, 0, 1), b.scale(2.0, b.contract(outer, 2, 0)))
>>> [type(step.operation).__name__ for step in outer_sums(b.line([end])).steps]
['OuterSum']
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.index.leaf import Leaf
from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Add, Contract, Scale
from hilbert.program.line.step_operation import Operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.program.line.line import Line

LARGE = 1 << 12
"""Entries of a sum from which one product is worth it."""
Term = tuple[float, int]
"""A factor and a slot."""


@final
@frozen(repr=False)
class OuterSum(Operation):
    """(a₁, …, aₖ, b₁, …, bₖ) ↦ Σ cₖ·aₖ⊗bₖ."""

    factors: tuple[float, ...]

    def image(self, *operands: Leaf) -> Leaf:
        """The axes of a's, then those of b's."""
        return Leaf(operands[0].entry, operands[0].axes + operands[-1].axes)

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """One product of matrices, whose rows are put together before; of formal arrays the sum of the products."""
        if lib.inner is not lib:
            return self._one_by_one(lib, operands, result)
        xp, factors, shape = lib.inner.xp, self.factors, result.shape
        k = len(factors)
        plain = {1.0} >= {*factors}

        def rows(arrays: Sequence[Any]) -> Any:
            return xp.stack([xp.reshape(a, (-1,)) for a in arrays])

        def summed(*arrays: Any) -> Any:
            left = rows(arrays[:k])
            if not plain:
                left = left * xp.asarray(np.array(factors, result.dtype)[:, None], device=lib.device(left))
            return xp.reshape(xp.matmul(left.T, rows(arrays[k:])), shape)

        return Kernel(summed)

    def _one_by_one(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        k, a, b = len(self.factors), operands[0], operands[-1]
        labels = ALPHABET[: len(result.axes)]
        product = lib.contract(Spec(labels[: len(a.axes)], labels[len(a.axes) :], labels), a, b).call
        scales, add = [lib.scale(c).call for c in self.factors], lib.add().call

        def summed(*arrays: Any) -> Any:
            pairs = zip(scales, arrays[:k], arrays[k:], strict=True)
            return reduce(add, [product(scale(left), right) for scale, left, right in pairs])

        return Kernel(summed, fresh=False)


def outer_sums(line: Line) -> Line:
    """The line in which outer products of the same two spaces that are added are one product of matrices."""
    if max([leaf.size for leaf in line.slots], default=0) < LARGE:
        return line
    tops = _tops(line)
    found = {slot: _groups(line, _terms(line, slot)) for slot in tops if line.slots[slot].size >= LARGE}
    found = {slot: groups for slot, groups in found.items() if groups[1]}
    if not found:
        return line
    b = Builder(line.slots[: line.arity], fixed=line.fixed)
    where = list(range(line.arity))
    for slot, step in enumerate(line.steps, line.arity):
        b.place = step.place
        if slot in found:
            where.append(_put(b, where, *found[slot]))
        else:
            where.append(b.step(step.operation, tuple(where[a] for a in step.args)))
    return b.line(where[k] for k in line.outputs).pruned()


def _tops(line: Line) -> list[int]:
    """The sums that are no terms of other sums."""
    adds = {slot for slot, step in enumerate(line.steps, line.arity) if isinstance(step.operation, Add)}
    inner = {a for slot in adds for a in line.steps[slot - line.arity].args if line.reads[a] == 1}
    return sorted(adds - inner)


def _terms(line: Line, top: int) -> list[Term]:
    """The terms of a sum, through sums and multiples that nothing else reads."""
    found, todo = list[Term](), [(1.0, top)]
    while todo:
        k, slot = todo.pop()
        step = line.steps[slot - line.arity] if slot >= line.arity else None
        alone = slot == top or line.reads[slot] == 1
        match step.operation if step is not None and alone else None:
            case Add() if step is not None:
                todo += [(k, a) for a in reversed(step.args)]
            case Scale(c) if step is not None:
                todo.append((k * c, step.args[0]))
            case _:  # any other step is a term
                found.append((k, slot))
    return found


def _outer(line: Line, slot: int) -> tuple[int, int] | None:
    """The operands of an outer product, that of the first axes first; None for other slots, and those read twice."""
    step = line.steps[slot - line.arity] if slot >= line.arity else None
    if step is None or not isinstance(step.operation, Contract) or line.reads[slot] > 1:
        return None
    spec: Spec = step.operation.spec
    if not spec.left or not spec.right or not all(line.slots[a].is_field for a in step.args):
        return None
    if spec.out == spec.left + spec.right:
        return step.args[0], step.args[1]
    return (step.args[1], step.args[0]) if spec.out == spec.right + spec.left else None


def _groups(line: Line, terms: list[Term]) -> tuple[list[Term], dict[Any, list[tuple[float, int, int]]]]:
    """The other terms, and the outer products that are one product, by the spaces of their operands."""
    groups: dict[Any, list[tuple[float, int, int]]] = {}
    for k, slot in terms:
        pair = _outer(line, slot)
        if pair is not None:
            groups.setdefault(tuple(line.slots[a] for a in pair), []).append((k, *pair))
    kept = {of: many for of, many in groups.items() if 1 < len(many) <= min(leaf.size for leaf in of) // 2}
    rest = [(k, s) for k, s in terms if (p := _outer(line, s)) is None or tuple(line.slots[a] for a in p) not in kept]
    return rest, kept


def _put(b: Builder, where: list[int], rest: list[Term], groups: dict[Any, list[tuple[float, int, int]]]) -> int:
    """Add the products of matrices, and then the other terms."""
    made = [
        b.step(
            OuterSum(tuple(k for k, _, _ in many)),
            (*(where[left] for _, left, _ in many), *(where[right] for _, _, right in many)),
        )
        for many in groups.values()
    ]
    made += [where[slot] if k == 1.0 else b.scale(k, where[slot]) for k, slot in rest]
    total = made[0]
    for term in made[1:]:
        total = b.add(total, term)
    return total

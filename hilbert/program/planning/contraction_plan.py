"""Contractions in a cheaper order than they are written in: for each tree of them the best order is searched for.

Another order is taken if it saves a quarter of the multiplications and makes no array larger than the largest operand,
result or intermediate array as written; otherwise the steps stay as they are. Where it takes more steps, each must save
as many multiplications as its overhead is worth. So A(B(Cx)) is computed for ((AB)C)x:

>>> from hilbert.index.index import Fin
>>> from hilbert.index.leaf import Entry, Leaf
>>> from hilbert.program.line.builder import Builder
>>> from hilbert.program.planning.multiplications import multiplications
>>> from hilbert.index.spec import Spec
>>> X = Fin.of(10)
>>> real = Entry("float64")
>>> b = Builder([Leaf(real, (X, X)), Leaf(real, (X, X)), Leaf(real, (X, X)), Leaf(real, (X,))])
>>> product = b.contract(Spec.of("ij", "jk", "ik"), b.contract(Spec.of("ij", "jk", "ik"), 0, 1), 2)
>>> written = b.line([b.contract(Spec.of("ij", "j", "i"), product, 3)])
>>> multiplications(written), multiplications(planned(written))
(2100, 300)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

from attrs import evolve

from hilbert.arrays.libraries.contraction_order import Labels, Pairs, best, numbered, steps
from hilbert.index.index import Unit
from hilbert.index.leaf import Bundle
from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.control.control_flow import on_lines
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Move, Reduce
from hilbert.program.planning.contraction_tree import ContractionTree, meaning, shape, trees
from hilbert.program.planning.multiplications import products, sums
from hilbert.relation import Full

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line


WORTH = 1000
"""The multiplications that take as long as the start of one more step (measured with numpy)."""


def planned(line: Line) -> Line:
    """The line with every tree of contractions in a cheaper order; the same object where none saves enough.

    The lines that its steps hold are changed likewise.
    """
    if Bundle in set(map(type, line.slots)):
        inside = tuple(evolve(step, operation=on_lines(step.operation, planned)) for step in line.steps)
        changed = any(a.operation is not b.operation for a, b in zip(inside, line.steps, strict=True))
        line = evolve(line, steps=inside) if changed else line
    found = {tree.inner[0]: (tree, other) for tree, other in orders(line)}
    if not found:
        return line
    replaced = {slot for tree, _ in found.values() for slot in tree.inner}
    b = Builder(line.slots[: line.arity])
    where = list(range(line.arity))
    for slot, step in enumerate(line.steps, line.arity):
        if slot in found:
            tree, other = found[slot]
            made = b.inline(other, [where[k] for k in tree.factors])
            where.append(made[other.outputs[0]])
        elif slot in replaced:
            where.append(-1)  # nothing else reads it
        else:
            b.place = step.place
            where.append(b.emit(step.operation, tuple([where[a] for a in step.args]), line.slots[slot]))
    return b.line(where[k] for k in line.outputs)


def orders(line: Line) -> list[tuple[ContractionTree, Line]]:
    """The trees of a line that run in another order, first ones first, each with a line on its factors."""
    found: list[tuple[ContractionTree, Line]] = []
    stay = set[Any]()  # the shapes of trees for which no other order is worth it
    for inner in () if line.fixed else trees(line):
        like = shape(line, inner)
        if like in stay:
            continue
        tree = meaning(line, inner)
        other = None if tree is None else cheaper(tree, line.slots)
        if tree is None or other is None:
            stay.add(like)
        else:
            found.append((tree, other))
    return found[::-1]


def cheaper(tree: ContractionTree, slots: tuple[Leaf, ...]) -> Line | None:
    """An equal line on the factors with three quarters of the multiplications at most; None if there is none.

    No array of that line is larger than the largest as written, and its sums cost less than its products save.
    """
    size = tuple(axis.size for axis in tree.axes)
    if not all(size) or tree.largest == 1:
        return None  # a sum over nothing is 0, whatever it is multiplied with; numbers have no order worth a search
    written = _Written(tree)
    if 3 * tree.products <= 4 * _at_least(written.whole, size):
        return None
    pairs = best(*numbered(written.whole, written.kept, size), limit=tree.largest)
    if pairs is None:
        return None
    least = sum(work for work, _ in steps(pairs, written.whole, written.kept, size))
    if 4 * least > 3 * tree.products:
        return None
    line = _Emission(tree, written, slots, pairs).line()
    if line is None or any(leaf.size > tree.largest for leaf in line.slots):
        return None
    count = sum(products(step, line.slots) for step in line.steps)
    work = count + sum(sums(step, line.slots) for step in line.steps)
    more = max(0, len(line.steps) - len(tree.inner))
    saves = 4 * count <= 3 * tree.products and 4 * work <= 3 * tree.work
    return line if saves and more * WORTH <= tree.products - count else None


def _at_least(labels: Sequence[Labels], size: tuple[int, ...]) -> int:
    """A lower bound of the multiplications of every order; 0 where none is seen at once.

    Each factor is an operand once, and its product takes as many as it has entries; none serves two factors if no two
    of them have a product with fewer entries than both together. Factors on the same axes have one cost in all orders.
    """
    sets = list(map(frozenset, labels))
    if len(sets) < 2:
        return 0
    entries = [math.prod([size[c] for c in one]) for one in sets]
    if len(set(sets)) == 1:
        return (len(sets) - 1) * entries[0]
    holders: dict[int, list[int]] = {}
    for k, one in enumerate(sets):
        for c in one:
            holders.setdefault(c, []).append(k)
    if any(len(found) > 2 for found in holders.values()):
        return 0
    pairs = {tuple(found) for found in holders.values() if len(found) == 2}  # others have no label in common
    joint = {(a, b): math.prod([size[c] for c in sets[a] | sets[b]]) for a, b in pairs}
    return sum(entries) if all(n >= entries[a] + entries[b] for (a, b), n in joint.items()) else 0


@final
class _Written:
    """A tree reduced to pairs: without labels of one factor only, which are summed first, and without repetitions."""

    def __init__(self, tree: ContractionTree) -> None:
        self.holders = [0] * len(tree.axes)
        for labels in tree.labels:
            for c in labels:
                self.holders[c] += 1
        kept = set(tree.keep)
        self.left = [tuple(c for c in f if self.holders[c] > 1 or c in kept) for f in tree.labels]
        self.whole = tuple(f for f in self.left if f)
        self.kept = tuple(c for c in tree.keep if self.holders[c])
        self.k = tree.k
        for c, axis in enumerate(tree.axes):
            if not self.holders[c] and c not in kept:  # repeated, and then summed
                self.k *= axis.size


@final
class _Emission:
    """The steps of a tree in an order of pairs: sums, products, the numbers at the smallest array, repetitions."""

    def __init__(self, tree: ContractionTree, written: _Written, slots: tuple[Leaf, ...], pairs: Pairs) -> None:
        self.tree, self.written, self.pairs = tree, written, pairs
        self.b = Builder([slots[k] for k in tree.factors])
        self.holders = [n + (c in tree.keep) for c, n in enumerate(written.holders)]
        self.number: int | None = None  # the slot of the product of the numbers among the factors
        self.arrays: list[tuple[int, Labels]] = []

    def line(self) -> Line | None:
        """The line of the steps; None where a contraction has more labels than there are letters."""
        b, tree, size = self.b, self.tree, [axis.size for axis in self.tree.axes]
        for slot, (labels, left) in enumerate(zip(tree.labels, self.written.left, strict=True)):
            self._take(slot, labels, left)
        if not self.arrays:  # numbers only
            assert self.number is not None  # a tree has a factor
            return self._repeated(b.scale(self.written.k, self.number) if self.written.k != 1.0 else self.number)
        made = steps(self.pairs, self.written.whole, self.written.kept, tuple(size))
        entries = [b.slots[slot].size for slot, _ in self.arrays] + [n for _, n in made]
        smallest = entries.index(min(entries))
        for k in range(len(entries)):
            if k >= len(self.arrays) and not self._contract(*self.pairs[k - len(self.written.whole)]):
                return None
            if k == smallest:
                slot, labels = self.arrays[k]
                self.arrays[k] = self._scaled(slot, len(labels)), labels
        slot, labels = self.arrays[-1]
        if labels != self.written.kept:
            slot = b.apply(Move(tuple(map(labels.index, self.written.kept))), slot)
        return self._repeated(slot)

    def _take(self, slot: int, labels: Labels, left: Labels) -> None:
        """Enter a factor, summed over the labels that it alone has."""
        b = self.b
        for at in reversed(range(len(labels))):
            if labels[at] not in left:
                slot = b.apply(Reduce(Full(self.tree.axes[labels[at]], Unit()), at), slot)
        if left:
            self.arrays.append((slot, left))
        else:
            self.number = slot if self.number is None else b.contract(Spec.scalar(0), self.number, slot)

    def _scaled(self, slot: int, axes: int) -> int:
        """The slot multiplied by the numbers among the factors."""
        b, k = self.b, self.written.k
        if self.number is None:
            return b.scale(k, slot) if k != 1.0 else slot
        number = b.scale(k, self.number) if k != 1.0 else self.number
        return b.contract(Spec.scalar(axes), number, slot)

    def _contract(self, first: int, second: int) -> bool:
        """Contract a pair; axes that both have and the result keeps come first, then the first's, then the second's."""
        (a, left), (b, right) = self.arrays[first], self.arrays[second]
        shared = [c for c in left if c in right]
        for c in shared:
            self.holders[c] -= 1
        kept = [*shared, *(c for c in left if c not in shared), *(c for c in right if c not in shared)]
        out = tuple(c for c in kept if self.holders[c] > 1)
        if set(out) == set(self.written.kept):
            out = self.written.kept
        if len(kept) > len(ALPHABET):
            return False
        letter = dict(zip(kept, ALPHABET, strict=False))
        spec = Spec.of(*("".join(letter[c] for c in labels) for labels in (left, right, out)))
        self.arrays.append((self.b.contract(spec, a, b), out))
        return True

    def _repeated(self, slot: int) -> Line:
        """The result, repeated along the axes that no factor has."""
        for at, c in enumerate(self.tree.keep):
            if not self.written.holders[c]:
                slot = self.b.apply(Reduce(Full(Unit(), self.tree.axes[c]), at), slot)
        return self.b.line([slot])

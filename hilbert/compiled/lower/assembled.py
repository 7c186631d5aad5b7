"""Arrays that are put together from pieces: each piece is stored at its places, and nothing else is.

    y = red_R(a₁ at 0 + a₂ at n₁ + …)        R a permutation, or none

The entries of a sparse matrix are made so: as they are computed, and then in the order of its rows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.program.line.operation import Add, Reduce
from hilbert.relation import Converse, Graph, Inclusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.compiled.tree.arrays import Array, Loops, Places
    from hilbert.compiled.tree.values import Value
    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line


@final
@frozen(eq=False)
class Assembly:
    """The slots of the pieces and where each begins; the place in the result of each entry, if they are moved."""

    pieces: tuple[tuple[int, int], ...]
    targets: Any = None

    def loops(self, to: Loops, slots: Sequence[Array], result: Leaf) -> Array:
        """The array, piece by piece."""
        buffer = to.buffer(result.shape, result.dtype)
        for slot, start in self.pieces:
            _put(to, buffer, slots[slot], start, self.targets)
        return to.of(result, buffer)


def _put(to: Loops, buffer: Any, piece: Array, start: int, targets: Any) -> None:
    """Store a piece at its places: affine ones, if they are so, or those of a table."""
    end = start + piece.leaf.size
    places = to.table((np.arange(start, end) if targets is None else targets[start:end]).reshape(piece.shape))

    def at(own: Places) -> tuple[Places, Value]:
        return (places(own),), piece.at(own)

    to.put_into(buffer, piece.shape, at)


def assemblies(line: Line) -> tuple[dict[int, Assembly], set[int]]:
    """The assemblies of a line by their slots, and the slots that stand for steps of theirs."""
    uses = Counter(a for step in line.steps for a in step.args)
    uses.update(line.outputs)
    operations = dict(enumerate(line.steps, line.arity))
    is_sum = dict.fromkeys(range(len(line.slots)), False)
    for slot, step in operations.items():
        is_added = isinstance(step.operation, Add) and all(is_sum[a] and uses[a] == 1 for a in step.args)
        is_sum[slot] = is_added or _is_placed(line, slot)
    found: dict[int, Assembly] = {}
    gone: set[int] = set()
    for slot in reversed(operations):
        step, root, targets = operations[slot], slot, None
        if slot in gone:
            continue
        if _is_moved(step.operation) and uses[step.args[0]] == 1:
            (root,) = step.args
            targets = _inverse(step.operation.relation.of.positions.array, line.slots[root].size)
        if is_sum[root] and (root == slot or targets is not None):
            seen, pieces = _pieces(line, root)
            if len(pieces) > 1 and _fill(line, pieces, root):
                found[slot] = Assembly(tuple(pieces), targets)
                gone |= seen - {slot}
    return found, gone


def _is_placed(line: Line, slot: int) -> bool:
    """Tell if a slot is an array that is put, as it lies in memory, into a flat one of zeros."""
    step = line.steps[slot - line.arity]
    r = step.operation.relation if isinstance(step.operation, Reduce) else None
    is_alone = len(line.slots[slot].axes) == 1 and line.slots[slot].is_field
    return isinstance(r, Inclusion) and r.stride == 1 and is_alone


def _is_moved(operation: Any) -> bool:
    """Tell if a step puts the entries of a flat array in another order."""
    r = operation.relation if isinstance(operation, Reduce) else None
    return isinstance(r, Converse) and isinstance(r.of, Graph) and len(r.dom.axes) == len(r.cod.axes) == 1


def _inverse(positions: Any, size: int) -> Any:
    """The inverse of a permutation; None if the positions are none."""
    if len(positions) != size or (size and np.bincount(positions, minlength=size).max() != 1):
        return None
    made = np.empty(size, np.int64)
    made[positions] = np.arange(size)
    return made


def _pieces(line: Line, root: int) -> tuple[set[int], list[tuple[int, int]]]:
    """The slots of a sum, and the operands of its parts with their places."""
    seen: set[int] = set()
    pieces: list[tuple[int, int]] = []
    waiting = [root]
    while waiting:
        slot = waiting.pop()
        seen.add(slot)
        step = line.steps[slot - line.arity]
        if isinstance(step.operation, Add):
            waiting += reversed(step.args)
        else:
            pieces.append((step.args[0], step.operation.relation.offset))
    return seen, pieces


def _fill(line: Line, pieces: Sequence[tuple[int, int]], root: int) -> bool:
    """Tell if each place of an array is that of one piece."""
    end = 0
    for slot, start in sorted(pieces, key=lambda piece: piece[1]):
        if start != end:
            return False
        end += line.slots[slot].size
    return end == line.slots[root].size

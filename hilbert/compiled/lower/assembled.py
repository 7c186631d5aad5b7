"""Arrays that are put together from pieces: each piece is stored at its places, and nothing else is.

    y = red_R(c + a₁ at n₁ + a₂ at n₂ + …)        R a permutation, or none; c constant, 0 at the places of the pieces

The entries of a sparse matrix are made so: as they are computed, and then in the order of its rows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.program.line.operation import Add, Literal, Reduce
from hilbert.relation import Converse, Graph, Inclusion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.compiled.tree.arrays import Array, Loops, Places
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.values import Value
    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line


@final
@frozen(eq=False)
class Assembly:
    """The slots of the pieces and the numbers between them, each with its places, and each entry's place if moved."""

    pieces: tuple[tuple[int, Any], ...]
    numbers: tuple[tuple[Any, Any], ...]
    targets: Any = None

    def loops(self, to: Loops, slots: Sequence[Array], result: Leaf) -> Array:
        """The array, piece by piece."""
        buffer = to.buffer(result.shape, result.dtype)
        for slot, at in self.pieces:
            piece = slots[slot]
            self._put(to, buffer, piece.shape, at, piece.at)
        for numbers, at in self.numbers:
            self._put(to, buffer, numbers.shape, at, _entries(to, numbers))
        return to.of(result, buffer)

    def _put(self, to: Loops, buffer: Buffer, shape: tuple[int, ...], at: Any, of: Callable[[Places], Value]) -> None:
        """Store a piece at its places: affine ones, if they are so, or those of a table."""
        places = to.table((at if self.targets is None else self.targets[at]).reshape(shape))
        to.put_into(buffer, shape, lambda own: ((places(own),), of(own)))


def _entries(to: Loops, numbers: Any) -> Callable[[Places], Value]:
    """The entries of constant numbers: one number, if all are the same."""
    bits = numbers.view(np.uint8).reshape(len(numbers), -1)
    if (bits == bits[0]).all():
        return lambda _: to.number(numbers[0].item(), numbers.dtype.name)
    buffer = to.constant(numbers)
    return lambda places: to.pool.load(buffer, places)


def assemblies(line: Line) -> tuple[dict[int, Assembly], set[int]]:
    """The assemblies of a line by their slots, and the slots that stand for steps of theirs."""
    uses = Counter(a for step in line.steps for a in step.args)
    uses.update(line.outputs)
    operations = dict(enumerate(line.steps, line.arity))
    is_sum = dict.fromkeys(range(len(line.slots)), False)
    for slot, step in operations.items():
        is_added = isinstance(step.operation, Add) and all(is_sum[a] and uses[a] == 1 for a in step.args)
        is_sum[slot] = is_added or _is_part(line, slot)
    found: dict[int, Assembly] = {}
    gone: set[int] = set()
    for slot in reversed(operations):
        step, root, targets = operations[slot], slot, None
        if slot in gone:
            continue
        match step.operation:
            case Reduce(Converse(Graph(_, _, positions)) as r) if len(r.dom.axes) == len(r.cod.axes) == 1:
                if uses[step.args[0]] == 1:
                    (root,) = step.args
                    targets = _inverse(positions.array, line.slots[root].size)
            case _:  # the entries stay in their order
                pass
        if is_sum[root] and (root == slot or targets is not None):
            seen, pieces, constants = _pieces(line, root)
            numbers = _between(line, pieces, constants, root) if len(pieces) > 1 else None
            if numbers is not None:
                found[slot] = Assembly(tuple(pieces), tuple(numbers), targets)
                gone |= seen - {slot}
    return found, gone


def _is_part(line: Line, slot: int) -> bool:
    """Tell if a slot is a flat array: of constant numbers, or put, as it lies in memory, into zeros."""
    leaf = line.slots[slot]
    match line.steps[slot - line.arity].operation:
        case Literal() | Reduce(Inclusion()):
            return leaf.is_field and len(leaf.axes) == 1
        case _:  # no part of a sum
            return False


def _inverse(positions: Any, size: int) -> Any:
    """The inverse of a permutation; None if the positions are none."""
    if len(positions) != size or (size and np.bincount(positions, minlength=size).max() != 1):
        return None
    made = np.empty(size, np.int64)
    made[positions] = np.arange(size)
    return made


def _pieces(line: Line, root: int) -> tuple[set[int], list[tuple[int, Any]], list[Any]]:
    """The slots of a sum, the operands of its parts with their places, and the constant arrays that are added."""
    seen: set[int] = set()
    pieces: list[tuple[int, Any]] = []
    constants: list[Any] = []
    waiting = [root]
    while waiting:
        slot = waiting.pop()
        seen.add(slot)
        step = line.steps[slot - line.arity]
        if isinstance(step.operation, Add):
            waiting += reversed(step.args)
        elif isinstance(step.operation, Literal):
            constants.append(np.broadcast_to(step.operation.value.array, line.slots[slot].shape))
        else:
            r = step.operation.relation
            pieces.append((step.args[0], r.offset + r.stride * np.arange(r.dom.size)))
    return seen, pieces, constants


def _between(
    line: Line, pieces: Sequence[tuple[int, Any]], constants: Sequence[Any], root: int
) -> list[tuple[Any, Any]] | None:
    """The numbers between the pieces of an array, with their places; None where pieces meet, or numbers and a piece."""
    size = line.slots[root].size
    whole = sum(constants, np.zeros(size, line.slots[root].dtype))
    is_free = np.ones(size, bool)
    for _, at in pieces:
        if not is_free[at].all():
            return None
        is_free[at] = False
    free = np.flatnonzero(is_free)
    if (len(free) and not constants) or whole[~is_free].any():
        return None
    runs = np.split(free, np.flatnonzero(np.diff(free) != 1) + 1)
    return [(whole[at], at) for at in (runs if len(runs) <= len(pieces) + 1 else [free]) if len(at)]

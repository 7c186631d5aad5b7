"""The sizes of blocks: so many elements of X that the arrays of a block fit the cache, and the bytes that they take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert.index.index import Fin
from hilbert.index.leaf import Bundle
from hilbert.program.blocks.block_line import Block, resized
from hilbert.program.calls.schedule import most_held
from hilbert.program.control.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.index.index import Index
    from hilbert.program.blocks.open_constants import Family
    from hilbert.program.blocks.passes import Passes
    from hilbert.program.line.line import Line

BYTES, CODE = 5 << 19, 3 << 21
"""The bytes that the arrays of a block take at once, so that they stay in the cache: interpreted, and compiled."""
TOTALS, CODE_TOTALS, MOST = 8, 32, 8
"""Each block makes all totals, and adds them. So a block takes at least so many times the bytes of the totals, in the
interpreter and in machine code, but at most `MOST` times the bytes above (measured)."""
WIDE = 4
"""A block has at least so many times the rows that it reads beside its own."""
LEAST, SIDE = 16, 2048
"""The least elements of a block, if X has as many; and the elements that a block within a block is taken to have while
the size of the outer one is looked for."""
STEP, ENTRY, PART = 1e-6, 1e-9, 0.06
"""Seconds of a call of a step in the interpreter, and of an entry that a step makes; and the part of a block's time
that the calls are to take."""
VECTORS, MANY = 16, 128
"""Blocks of machine code have MANY elements or more, unless these take more than `MOST` times the bytes above; and a
multiple of VECTORS, so that no vector is cut."""


def block_size(found: Passes, inner: Sequence[Index] = (), *, is_compiled: bool = False) -> int:
    """The elements of a block, so many that its arrays at once fit the cache; only the last block has fewer.

    In machine code all blocks have equally many, if some multiple of VECTORS divides the size of X and lies between
    half of the elements that fit and half as many again. Blocks along further sets are taken to have SIDE elements.
    """
    n, most, enough = found.index.size, 0, 1
    size = CODE if is_compiled else BYTES
    totals = max((_bytes(found.line.slots[k] for k in part.totals) for part in found.passes), default=0)
    size = min(max(size, totals * (CODE_TOTALS if is_compiled else TOTALS)), MOST * size)
    for part in found.passes:
        line = part.line
        for axis in inner:
            line = resized(line, {axis: Fin(Block, min(SIDE, axis.size))})
        most = max(most, _held(line, found.along))
        steps, entries = _steps(line, found.along)
        enough = max(enough, round(STEP * steps / (PART * ENTRY * max(entries, 1))))
    # of wide rows, such as those of pairs, code keeps few arrays, and each block costs some time
    least = min(MANY if is_compiled else enough, MOST * (CODE if is_compiled else BYTES) // max(most, 1))
    fit = max(size // max(most, 1), least)
    wanted = max(LEAST, fit, WIDE * max((sum(part.halo) for part in found.passes), default=0))
    count = -(-n // wanted) if n else 1
    size = max(1, -(-n // max(count, 1)))
    if not is_compiled or size < MANY or count < 2:
        return size
    counts = range(2 * n // (3 * wanted) + 1, 2 * n // wanted + 1)
    alike = [n // k for k in counts if n % (k * VECTORS) == 0]  # one code: no block is shorter
    return min(alike, key=lambda k: abs(k - wanted), default=min(n, -(-size // VECTORS) * VECTORS))


def bytes_at_once(found: Passes, size: int) -> int:
    """The most bytes of arrays along X that a block of so many elements holds."""
    return max((size * _held(part.line, found.along) for part in found.passes), default=0)


def bytes_of_worker(found: Passes, size: int) -> int:
    """The most bytes that blocks of so many elements hold where they run: their arrays, what they share, and totals.

    Totals are put together in pairs and pairs of pairs, each of which is held until it has another.
    """
    slots, most = found.line.slots, 0
    pairs = 1 + max(found.index.size // max(size, 1), 1).bit_length()
    for part in found.passes:
        shared, totals = (_bytes(slots[k] for k in of) for of in (part.known, part.totals))
        most = max(most, size * _held(part.line, found.along) + shared + totals * pairs)
    return most


def _held(line: Line, along: Family) -> int:
    """The most bytes that a line holds at once for an element of X."""
    steps = [(step.args, to) for to, step in enumerate(line.steps, line.arity)]
    return most_held(range(line.arity), steps, line.outputs, lambda slot: _share(line.slots[slot], along))


def _steps(line: Line, along: Family) -> tuple[int, int]:
    """The steps that a line runs, those of rounds too, and the entries that they make for each element of X."""
    steps, bytes_made = len(line.steps), sum(_share(leaf, along) for leaf in line.slots[line.arity :])
    for step in line.steps:
        match step.operation:
            case Loop(body, index):
                inner, made = _steps(body, along)
                steps, bytes_made = steps + index.size * inner, bytes_made + index.size * 8 * made
            case _:  # one step
                pass
    return steps, bytes_made // 8


def _bytes(leaves: Iterable[Any]) -> int:
    """The bytes of some arrays."""
    return sum(leaf.size * (1 if leaf.kind == "b" else 8) for leaf in leaves)


def _share(leaf: Any, along: Family) -> int:
    """The bytes of an array for each element of X."""
    if isinstance(leaf, Bundle):
        return sum(_share(part, along) for part in leaf.leaves)
    n = along[0].size
    return leaf.size * (1 if leaf.kind == "b" else 8) // n if n and any(axis in along for axis in leaf.axes) else 0

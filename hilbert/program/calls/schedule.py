"""The order of the calls of a line, and the reuse of memory between them.

Slots are computed late and dropped at their last use; in numpy an element-wise step overwrites an operand that dies
there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from attrs import evolve

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.index.leaf import Bundle

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from hilbert.index.leaf import Leaf

KernelStep = tuple[Kernel, tuple[int, ...], int]
"""A kernel, the slots of its operands and of its result."""

SMALL = 1 << 12
"""Numbers of all steps up to which each may stay until the end of the run."""

CACHE = 1 << 22
"""Bytes that arrays take at once so that they stay in the cache (measured): strips of such arrays gain nothing."""

Call = tuple[Callable[..., Any], tuple[int, ...], int, tuple[int, ...]]
"""An array operation, the slots of its operands and of its result, and the slots that nobody reads again."""


def calls(code: list[KernelStep], slots: Sequence[Leaf], keep: Container[int]) -> tuple[list[Call], set[int]]:
    """The calls, of which those that nobody keeps die, and the slots whose arrays share memory with no others."""
    last = {slot: k for k, (_, args, _) in enumerate(code) for slot in args}
    if sum([slots[to].size for _, _, to in code]) <= SMALL:
        keep = range(len(slots))
    owned = set[int]()  # slots whose memory nobody else sees
    steps: list[Call] = []
    for k, (kernel, args, to) in enumerate(code):
        # scalars are not worth the bookkeeping, nor are small arrays
        dead = [slot for slot in {*args} if last[slot] == k and slot not in keep and is_large(slots[slot])]
        call = kernel.call
        if slots[to].axes:
            for slot, form in zip(args, kernel.inplace, strict=False):
                if form and slot in dead and slot in owned and slots[slot] == slots[to]:
                    call = form
                    break
        elif kernel.scalar and not any(slots[slot].axes for slot in args):
            call = kernel.scalar
        if kernel.fresh:
            owned.add(to)
        else:
            owned.difference_update(args)
        steps.append((call, args, to, tuple(dead)))
    return steps, owned


def onto(
    code: list[KernelStep], arrays: Mapping[int, int], slots: Sequence[Leaf], keep: Container[int]
) -> list[KernelStep]:
    """The code whose kernels write some slots into arrays, which are in other slots, where they can.

    An operand that such a kernel would overwrite is written there, too.
    """
    arrays = {**arrays}
    reads = Counter([slot for _, args, _ in code for slot in args])
    for kernel, args, to in reversed(code):
        if to in arrays and kernel.writing:
            over = [slot for slot, form in zip(args, kernel.inplace, strict=False) if form and slots[slot] == slots[to]]
            alone = next((slot for slot in over if reads[slot] == 1 and slot not in keep), None)
            if alone is not None:
                arrays[alone] = arrays[to]
    places: dict[int, dict[int, int]] = {}
    for kernel, args, to in code:
        if to in arrays:
            source, number = (to, 0) if kernel.part is None else (args[0], kernel.part)
            places.setdefault(source, {})[number] = arrays[to]
    found: list[KernelStep] = []
    for kernel, args, to in code:
        form, into = kernel.writing, places.get(to)
        if form and into:
            found.append((Kernel(form((*into,)), fresh=False), (*args, *into.values()), to))
        else:
            found.append((kernel, args, to))
    return found


def most_held(
    given: Iterable[int], steps: Sequence[tuple[Sequence[int], int]], ends: Iterable[int], weigh: Callable[[int], int]
) -> int:
    """The most that slots weigh at once: given ones always, others from their step to the last that reads them.

    A step has the slots of its operands and of its result; those of `ends` are held to the last.
    """
    last = {a: k for k, (args, _) in enumerate(steps) for a in args} | dict.fromkeys(ends, len(steps))
    dying: dict[int, int] = {}
    now = most = sum(map(weigh, given))
    for k, (_, to) in enumerate(steps):
        own, end = weigh(to), last.get(to, k)
        now += own
        dying[end] = dying.get(end, 0) + own
        most = max(most, now)
        now -= dying.get(k, 0)
    return most


def is_large(leaf: Leaf) -> bool:
    """True unless the leaf is one number."""
    return bool(leaf.axes) or isinstance(leaf, Bundle)


def without_repetition(code: list[KernelStep], slots: Sequence[Leaf], outputs: Sequence[int]) -> list[KernelStep]:
    """The code in which repetitions are not spread out, if all their readers broadcast by themselves.

    A reader needs another operand that has all the axes of the result. A step that only repeats an array along axes in
    front is left out; one that repeats it along others gives axes of length 1.
    """
    made = {to: (kernel, args[0]) for kernel, args, to in code if kernel.narrow or kernel.repeats}
    if not made:
        return code
    for to in outputs:
        made.pop(to, None)
    for kernel, args, to in code:
        for dropped in ([k for k in args if k in made and not made[k][0].repeats], args):  # of two, those in front stay
            if kernel.broadcasts and any(slot not in made and slots[slot] == slots[to] for slot in args):
                break
            for slot in dropped:
                made.pop(slot, None)
    source = {to: slot for to, (kernel, slot) in made.items() if kernel.repeats}
    found: list[KernelStep] = []
    for kernel, args, to in code:
        if to not in source:
            narrow = made[to][0].narrow if to in made else None
            kept = kernel if narrow is None else evolve(kernel, call=narrow)
            found.append((kept, tuple([source.get(slot, slot) for slot in args]), to))
    return found


def late(code: list[KernelStep], keep: Container[int]) -> list[KernelStep]:
    """Each step just before its first reader, if no operand lives longer for that: fewer arrays are alive at once."""
    place = list(range(len(code)))  # a step that moves takes the number of the step that it goes in front of
    first: dict[int, int] = {}  # slot → the places of its first and last readers
    last: dict[int, int] = {}
    for k in range(len(code) - 1, -1, -1):
        kernel, args, to = code[k]
        late = first.get(to, k) if kernel.pure else k
        for slot in args:
            if slot not in keep and last.get(slot, k) < late:
                late = k
        place[k] = late
        for slot in args:
            first[slot] = min(late, first.get(slot, late))
            last[slot] = max(late, last.get(slot, late))
    return [code[k] for k in sorted(range(len(code)), key=place.__getitem__)]

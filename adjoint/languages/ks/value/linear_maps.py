"""Linear maps that are made of others, each of which may be a part of several.

Where one is applied, a part is applied once, however many ways lead to it: what is the same for all is found once, and
what comes to it from several sides, to be added in the end, is added first.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, final

from attrs import Factory, frozen

from adjoint.languages.ks.value.ks_values import plus
from adjoint.languages.ks.value.value_classes import Add, Compose, Linear, Made, Stack, Transpose, Value
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from diff.lam.term.binding import Pass


def made(of: Made) -> Linear:
    """A linear map of its parts."""
    parts: Sequence[Linear]
    match of:
        case Compose(a, b) | Add(a, b):
            parts = a, b
        case Stack(maps):
            parts = maps
        case Transpose(m):
            parts = (m,)
        case _:
            assert_never(of)
    height = 1 + max((m.height for m in parts), default=0)
    whole = Linear(
        lambda x: driven(_Application().of(whole, x, is_back=False)),
        lambda r: driven(_Application().of(whole, r, is_back=True)),
        of,
        height,
    )
    return whole


Key: TypeAlias = tuple[int, bool]
"""A map, and whether it is its transpose that is applied."""


@final
@frozen
class _Sum:
    """Maps still to be applied, each to the sum of its arguments so far: the highest first: it gives to others."""

    waiting: dict[Key, tuple[Linear, Value]] = Factory(dict)
    heap: list[tuple[int, int, Key]] = Factory(list)
    numbers: Any = Factory(count)

    def give(self, m: Linear, x: Value, *, is_back: bool) -> None:
        """Apply m, or its transpose, to x."""
        m, is_back = _turned(m, is_back=is_back)
        key = id(m), is_back
        if key in self.waiting:
            self.waiting[key] = m, plus(self.waiting[key][1], x)
        else:
            self.waiting[key] = m, x
            heappush(self.heap, (-m.height, next(self.numbers), key))

    def take(self) -> tuple[Linear, Value, bool]:
        """The next."""
        *_, key = heappop(self.heap)
        return (*self.waiting.pop(key), key[1])


@final
class _Application:
    """A linear map at one argument, with what its parts gave."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, bool, int], tuple[Linear, Value, Value]] = {}

    def of(self, m: Linear, x: Value, *, is_back: bool) -> Pass:
        """m ⊙ x, or x ⊙R m."""
        m, is_back = _turned(m, is_back=is_back)
        at = id(m), is_back, id(x)
        if at not in self.known:
            value = yield self._summed(m, x, is_back=is_back)
            self.known[at] = m, x, value
        return self.known[at][-1]

    def _summed(self, m: Linear, x: Value, *, is_back: bool) -> Pass:
        todo = _Sum()
        found: list[Value] = []
        nothing: list[Callable[[], Value]] = []
        todo.give(m, x, is_back=is_back)
        while todo.heap:
            m, x, is_back = todo.take()
            match m.made:
                case Compose(after, first):
                    one, other = (after, first) if is_back else (first, after)
                    y = yield self.of(one, x, is_back=is_back)
                    todo.give(other, y, is_back=is_back)
                case Add(left, right):
                    todo.give(left, x, is_back=is_back)
                    todo.give(right, x, is_back=is_back)
                case Stack(maps) as stack if is_back:
                    nothing.append(stack.nothing)
                    for part, r in zip(maps, stack.spread(x), strict=True):
                        todo.give(part, r, is_back=True)
                case Stack(maps) as stack:
                    values = []
                    for part in maps:
                        value = yield self.of(part, x, is_back=False)
                        values.append(value)
                    found.append(stack.gathered(values))
                case Transpose() | None:  # of no parts, since a transpose was turned: applied at once
                    found.append(m.transposed(x) if is_back else m.apply(x))
                case _:
                    assert_never(m.made)
        if not found:
            return nothing[0]()
        total = found[0]
        for value in found[1:]:
            total = plus(total, value)
        return total


def _turned(m: Linear, *, is_back: bool) -> tuple[Linear, bool]:
    """A map that is no transpose."""
    while isinstance(m.made, Transpose):
        m, is_back = m.made.of, not is_back
    return m, is_back

"""A term under rewriting: steps that are recorded, and stand or are undone; sequences as they were at a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import frozen

from hilbert.map.combine import Composition, Multiple
from linmap.laws.engine.shared_term import Shared
from linmap.term.linear_map import LinMap
from linmap.term.protocols import Postponed, Rewriting

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from linmap.laws.engine.rule import Rule
    from linmap.laws.engine.shared_term import Mark

Path: TypeAlias = "tuple[Path, int] | None"
Work: TypeAlias = "Generator[Any, Any, Any]"
Trail: TypeAlias = "tuple[Trail, Any] | None"
"""A stack that is never changed: the stack below, and the top."""


class Stack:
    """A stack whose `trail` is a copy of its present state: each push and pop makes a new one in constant time."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self.items: list[Any] = []
        self.trail: Trail = None
        self.extend(items)

    def push(self, item: Any) -> None:
        """Put an item on top."""
        self.items.append(item)
        self.trail = (self.trail, item)

    def extend(self, items: Iterable[Any]) -> None:
        """Put some items on top, the last uppermost."""
        for item in items:
            self.push(item)

    def pop(self) -> Any:
        """Take the top off."""
        assert self.trail is not None
        self.trail = self.trail[0]
        return self.items.pop()

    def __len__(self) -> int:
        return len(self.items)


@final
@frozen
class Snapshot(Postponed):
    """A sequence as it was at a step: what was done, what stood between, what was to come; made a term on demand."""

    kind: type
    done: Trail
    between: tuple[Any, ...]
    todo: Trail
    factor: float | None
    apart: dict[int, tuple[int, list[Any]]]

    def term(self) -> Any:
        """The sequence as a term."""
        parts = [*reversed(_from_the_top(self.done)), *self.between]
        apart = dict(self.apart)
        for part in _from_the_top(self.todo):
            count, new = apart.get(id(part), (0, [part]))
            apart[id(part)] = count - 1, new
            parts += new if count > 0 else [part]
        whole = self.kind(parts)
        return whole if self.factor is None else self.factor * whole


def _from_the_top(trail: Trail) -> list[Any]:
    items = []
    while trail is not None:
        trail, item = trail
        items.append(item)
    return items


class Rewriter:
    """The shared rows of a term, and the steps that have changed them: a list, or None where nobody asks."""

    def __init__(self, steps: list[Rewriting] | None) -> None:
        self.late, self.steps = False, steps
        self.shared = Shared()

    def all(self, term: Any, path: Path) -> Work:
        """The row of a term, simplified with all that is below it and not simple yet."""
        raise NotImplementedError

    def is_taken_apart(self, part: Any, node: Any) -> bool:
        """Tell if a composition or its multiple is taken apart inside another composition, so that it is not met alone.

        Compositions nested n deep would otherwise have the parts of the innermost met n times.
        """
        shared = self.shared
        if not isinstance(node, Composition) or not shared.alone(part) or shared.is_simple(part):
            return False
        if isinstance(part, Multiple) and isinstance(node, LinMap):
            return self.is_taken_apart(shared.below(part)[0], node)
        return isinstance(part, Composition)

    # --- steps that stand or are undone ---

    def mark(self) -> tuple[Mark, int]:
        """The state before a step."""
        return self.shared.mark(), len(self.steps) if self.steps is not None else 0

    def judged(self, rule: Rule, mark: tuple[Mark, int], *, alone: bool = True) -> bool:
        """Tell if the step since the mark makes the term smaller; undo the step otherwise.

        A rule that lifts a scaling which is used nowhere else may leave the size: then the scaling stands less deep.
        """
        if self.shared.lowered(mark[0], lifts=rule.lifts and alone):
            return True
        self.shared.back(mark[0])
        if self.steps is not None:
            del self.steps[mark[1] :]
        return False

    def note(self, law: str, path: Path, before: Any, after: Any) -> None:
        """Record a step."""
        if self.steps is None:
            return
        position: list[int] = []
        while path is not None:
            path, k = path
            position.append(k)
        self.steps.append(Rewriting(law, tuple(reversed(position)), before, after))

"""The rewriting of a term: rules applied bottom-up, each result kept only where it makes the shared term smaller.

A rule's result is simplified in its turn before it is judged: ⟨f•h, g•k⟩ is larger than (f×g) • ⟨h, k⟩, until a law
applies to f•h. A step that does not make the term smaller is undone. Passes are generators that yield the passes over
parts to an explicit stack, so that deep terms do not overflow Python's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hilbert.base.term import driven
from hilbert.map.combine import Addition, Composition
from linmap.laws.engine.rewriter import Rewriter
from linmap.laws.engine.rule import NODE, rules
from linmap.laws.engine.sequence import composition, total
from linmap.laws.engine.shared_term import rebuilt

if TYPE_CHECKING:
    from linmap.laws.engine.rewriter import Path, Work
    from linmap.term.protocols import Rewriting

FLAT: dict[type, Callable[[Any, Any], Any]] = {}
"""For classes with laws of their own inside (nets), a function that simplifies a node and records its steps."""


class Simplifier(Rewriter):
    """Passes over a term, until one changes it; with a list `steps` they record what they do."""

    def __init__(self, term: Any, steps: list[Rewriting] | None = None) -> None:
        super().__init__(steps)
        self.changed = False
        self.given = term
        self.root = self.shared.intern(term)
        self.shared.acquire(self.root)

    def run(self, *, late: bool) -> Any:
        """The term after a pass; the same object if nothing was rewritten."""
        self.late = late
        self.shared.afresh()
        result = driven(self.all(self.root, None))
        self.changed = result is not self.root
        return result if self.changed else self.given

    def all(self, term: Any, path: Path) -> Work:
        """The row of a term, simplified with all that is below it and not simple yet."""
        shared = self.shared
        stack: list[tuple[Any, Path, bool]] = [(term, path, False)]
        while stack:
            node, place, ready = stack.pop()
            node = shared.find(node)
            if shared.is_simple(node):
                continue
            below = shared.parts(node)
            if below and not ready:
                stack.append((node, place, True))
                stack.extend((part, at, False) for part, at in reversed(self.before(node, place)))
                continue
            now = shared.below(node)
            if not all(map(_is, now, below)):
                new = shared.intern(rebuilt(node, now))
                shared.move(node, new)
                node = new
                if shared.is_simple(node):
                    continue
            shared.simple((yield from self.node(node, place)))
        return shared.find(term)

    def before(self, node: Any, path: Path) -> list[tuple[Any, Path]]:
        """The terms that are simplified before a node: its parts; of parts that it takes apart, their parts."""
        made: list[tuple[Any, Path]] = []
        todo = [(node, path)]
        while todo:
            at, place = todo.pop()
            if at is node or self.is_taken_apart(at, node):
                below = self.shared.below(at)
                todo.extend((below[k], (place, k)) for k in range(len(below) - 1, -1, -1))
            else:
                made.append((at, place))
        return made

    def node(self, node: Any, path: Path) -> Work:
        """Simplify a row whose parts are simple: by the first rule that makes the term smaller, and then its result."""
        shared = self.shared
        cls = type(node)
        if cls in FLAT:
            new = FLAT[cls](node, None if self.steps is None else self.inside(path))
            if new is not node:
                raw = shared.intern(new)
                shared.move(node, raw)
                return (yield self.all(raw, path))
        if isinstance(node, (Composition, Addition)) and not shared.is_scanned(node):
            shared.scanned(node)
            new = yield from (composition if isinstance(node, Composition) else total)(self, node, path)
            if new is not node:
                return new
        for rule in rules(NODE, cls, late=self.late):
            if rule.late and not any(map(shared.alone, shared.below(node))):
                continue
            made = rule.function(node)
            if made is None:
                continue
            mark = self.mark()
            self.note(rule.name, path, node, made)
            raw = shared.intern(made)
            shared.move(node, raw)
            new = yield self.all(raw, path)
            if self.judged(rule, mark):
                return new
        return node

    def inside(self, path: Path) -> Callable[[str, int, Any, Any], None]:
        """A function that records the steps inside a flat node."""
        return lambda law, k, before, after: self.note(law, path if k < 0 else (path, k), before, after)


def _is(a: object, b: object) -> bool:
    return a is b

"""Compositions and sums of many parts, rewritten part by part: nothing is copied, and the time is linear."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from hilbert.map import combine
from hilbert.map.combine import Multiple
from hilbert.map.map import AnyMap
from linmap.laws.engine.rewriter import Snapshot, Stack
from linmap.laws.engine.row_weight import WEIGHTS, row_size
from linmap.laws.engine.rule import LIKE, PAIR, PART, TERM, Rule, rules
from linmap.term.linear_map import LinMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linmap.laws.engine.rewriter import Path, Rewriter, Work

PENDING = (2, WEIGHTS[Multiple])
"""Size and weight of the scaling that a composition gets when it is closed."""


class _Open:
    """A sequence while its parts change. It counts as a row with `count` references, or as nothing for one part."""

    def __init__(self, owner: Rewriter, node: Any, path: Path, spliced: type[AnyMap]) -> None:
        self.owner, self.shared, self.node, self.path, self.spliced = owner, owner.shared, node, path, spliced
        self.count = len(node.parts)
        self.weight = row_size(node)[1]
        self.counted = (1 + self.count, self.weight)
        self.changed = False

    def whole(self, parts: Sequence[Any]) -> Any:
        """The sequence with these parts, as a term; made only to be recorded."""
        return type(self.node)(parts) if self.owner.steps is not None else None

    def replace(self, old: Sequence[Any], new: Sequence[Any]) -> None:
        """Count the uses and the size of a sequence in which other parts have taken the place of some."""
        for part in new:
            self.shared.acquire(part)
        for part in old:
            self.shared.release(part)
        self.count += len(new) - len(old)
        self._count((1 + self.count, self.weight) if self.count > 1 else (0, 0))

    def _count(self, due: tuple[int, int]) -> None:
        self.shared.adjust(due[0] - self.counted[0], due[1] - self.counted[1])
        self.counted = due

    def judged(self, rule: Rule, mark: Any, *, alone: bool = True) -> bool:
        """Tell if the step since the mark stands; undo the step otherwise."""
        inner, self_count, counted = mark
        if self.owner.judged(rule, inner, alone=alone):
            self.changed = True
            return True
        self.count, self.counted = self_count, counted
        return False

    def mark(self) -> Any:
        """The state before a step."""
        return self.owner.mark(), self.count, self.counted

    def rewritten(self, rule: Rule, old: list[Any], made: Any, place: Path) -> Work:
        """The simplified result of a rule instead of some parts; None if that is refused."""
        mark = self.mark()
        self.owner.note(rule.name, place, self.whole(old), made)
        raw = self.shared.intern(made)
        self.replace(old, [raw])
        new = yield self.owner.all(raw, place)
        if isinstance(new, self.spliced):
            self.replace([new], self.shared.below(new))
        return new if self.judged(rule, mark) else None

    def parts_of(self, new: Any) -> list[Any]:
        """The parts that a result is in the sequence: its own, where it is a sequence too."""
        return self.shared.below(new) if isinstance(new, self.spliced) else [new]

    def closed(self, parts: list[Any], made: Any, pending: tuple[int, int] = (0, 0)) -> Work:
        """The term of the sequence instead of its node, simplified as a node."""
        raw = self.shared.intern(made)
        self.shared.close(self.node, raw, parts, (self.counted[0] + pending[0], self.counted[1] + pending[1]))
        return (yield self.owner.all(raw, self.path))


class Neighbours(_Open):
    """fₙ • … • f₁ under construction: `done` are simple against each other, `todo` is still to come, f₁ first.

    Scalings leave it for the factor in front, past linear parts only.
    """

    def __init__(self, owner: Rewriter, node: Any, path: Path) -> None:
        super().__init__(owner, node, path, combine.Composition)
        self.done = Stack()
        self.todo = Stack([self.shared.find(part) for part in node.parts][::-1])
        self.factor: float | None = None
        self.curved = sum(not isinstance(part, LinMap) for part in self.todo.items)
        self.left = Counter(map(id, self.todo.items))
        self.apart: dict[int, tuple[int, list[Any]]] = {}  # parts in `todo` that are taken apart: how often, into what

    def run(self) -> Work:
        """The simplified composition; the node itself if nothing changed."""
        while self.todo:
            f = self.todo.pop()
            self.curved -= not isinstance(f, LinMap)
            self.left[id(f)] -= 1
            count, parts = self.apart.pop(id(f), (0, []))
            if count:
                self._apart(f, count - 1, parts)
                self._push(list(map(self.shared.find, parts)))
                continue
            if (yield from self._taken_apart(f)):
                continue
            if not self.shared.is_simple(f):  # it was to be taken apart, and was not
                self.changed = True
                self._push([(yield self.owner.all(f, None))])
                continue
            if self.done and (yield from self._merged(f)):
                continue
            self.done.push(f)
        if not self.changed and len(self.done) > 1:
            return self.node
        return (yield from self._closed())

    def _push(self, parts: Sequence[Any]) -> None:
        self.todo.extend(reversed(parts))
        self.left.update(map(id, parts))
        self.curved += sum(not isinstance(part, LinMap) for part in parts)

    def _apart(self, f: Any, count: int, parts: list[Any]) -> None:
        """Note that so many of the parts still to come are taken apart already."""
        if count:
            self.apart[id(f)] = count, parts

    def _now(self, *between: Any) -> Any:
        """The whole as it is now."""
        if self.owner.steps is None:
            return None
        return Snapshot(type(self.node), self.done.trail, between, self.todo.trail, self.factor, dict(self.apart))

    def _place(self) -> Path:
        return self.path if self.factor is None else (self.path, 0)

    def _taken_apart(self, f: Any) -> Work:
        """Apply the rules of single parts to an inner composition, an identity or a scaling; True if one applied.

        Equal scalings leave together: if one left alone, the others would still hold the term that is scaled.
        """
        for rule in rules(PART, type(f), late=self.owner.late):
            found = rule.function(f)
            if found is None:
                continue
            k, parts = found
            count = 1 if k is None else 1 + self.left[id(f)]
            alone = self.shared.uses(f) == count
            last = not (parts or self.done or self.todo)
            if last or (len(parts) > 1 and not alone) or (k is not None and self.curved):
                continue
            before, mark = self._now(f), self.mark()
            parts = list(map(self.shared.intern, parts))
            self.replace([f] * count, parts * count)
            for part in parts:
                if not self.owner.is_taken_apart(part, self.node):
                    yield self.owner.all(part, None)
            parts = list(map(self.shared.find, parts))
            if k is not None and self.factor is None:
                self.shared.adjust(*PENDING)
            if self.judged(rule, mark, alone=alone):
                if k is not None:
                    self.factor = math.prod([k] * count, start=1.0 if self.factor is None else self.factor)
                    self._apart(f, count - 1, parts)
                self._push(parts)
                self.owner.note(rule.name, self.path, before, self._now())
                return True
        return False

    def _merged(self, f: Any) -> Work:
        """A part against the one before it."""
        inner = self.done.items[-1]
        for rule in rules(PAIR, type(f), type(inner), late=self.owner.late):
            if rule.late and not (self.shared.alone(f) or self.shared.alone(inner)):
                continue
            made = rule.function(f, inner)
            if made is None:
                continue
            new = yield from self.rewritten(rule, [inner, f], made, (self._place(), len(self.done) - 1))
            if new is not None:
                self.done.pop()
                before = self._now(new)
                self._push(self.parts_of(new))
                if isinstance(new, self.spliced):
                    self.owner.note("associativity", self.path, before, self._now())
                return True
        return False

    def _closed(self) -> Work:
        parts = self.done.items
        made = parts[0] if len(parts) == 1 else type(self.node)(parts)
        if len(parts) == 1:
            self.owner.note("composition of one", self._place(), self.whole(parts), made)
        else:
            self.shared.scanned(self.shared.intern(made))
        if self.factor is None:
            return (yield from self.closed(parts, made))
        return (yield from self.closed(parts, self.factor * made, PENDING))


class Summands(_Open):
    """f₁ + … + fₙ under construction."""

    def __init__(self, owner: Rewriter, node: Any, path: Path) -> None:
        super().__init__(owner, node, path, combine.Addition)
        self.parts = [self.shared.find(part) for part in node.parts]

    def run(self) -> Work:
        """The simplified sum; the node itself if nothing changed."""
        while True:
            self._flatten()
            if not (yield from self._collected()):
                break
        if not self.changed and len(self.parts) > 1:
            return self.node
        made = self.parts[0] if len(self.parts) == 1 else type(self.node)(self.parts)
        if len(self.parts) == 1:
            self.owner.note("sum of one", self.path, self.whole(self.parts), made)
        else:
            self.shared.scanned(self.shared.intern(made))
        return (yield from self.closed(self.parts, made))

    def _flatten(self) -> None:
        """Terms that are sums, or 0."""
        todo, parts = Stack(self.parts[::-1]), Stack()
        while todo:
            f = todo.pop()
            terms = self._terms(f, alone=not (parts or todo))
            if terms is None:
                parts.push(f)
                continue
            name, new = terms
            before = self._now(parts, (f,), todo)
            todo.extend(reversed(new))
            self.owner.note(name, self.path, before, self._now(parts, (), todo))
        self.parts = parts.items

    def _now(self, parts: Stack, between: tuple[Any, ...], todo: Stack) -> Any:
        """The whole as it is now."""
        if self.owner.steps is None:
            return None
        return Snapshot(type(self.node), parts.trail, between, todo.trail, None, {})

    def _terms(self, f: Any, *, alone: bool) -> tuple[str, list[Any]] | None:
        for rule in rules(TERM, type(f), late=self.owner.late):
            new = rule.function(f)
            if new is None or (alone and not new) or (len(new) > 1 and not self.shared.alone(f)):
                continue
            mark = self.mark()
            self.replace([f], new)
            if self.judged(rule, mark):
                return rule.name, new
        return None

    def _collected(self) -> Work:
        """Make terms that are alike one, by the rules for them; True if any were replaced."""
        found = False
        for rule in rules(LIKE, late=self.owner.late):
            groups: dict[Any, list[int]] = {}
            instead: dict[int, tuple[Any, ...]] = {}
            for k, part in enumerate(self.parts):
                key = rule.key(part) if rule.key else None
                if key is not None:
                    groups.setdefault(key, []).append(k)
            for places in groups.values():
                terms = [self.parts[k] for k in places]
                if len(terms) < 2 or (rule.late and not any(map(self.shared.alone, terms))):
                    continue
                made = rule.function(terms)
                if made is None:
                    continue
                gone = sum(1 for k, new in instead.items() if not new and k < places[0])
                new = yield from self.rewritten(rule, terms, made, (self.path, places[0] - gone))
                if new is not None:
                    instead |= dict.fromkeys(places[1:], ()) | {places[0]: (new,)}
            if instead:
                found = True
                self._put(instead)
        return found

    def _put(self, instead: dict[int, tuple[Any, ...]]) -> None:
        """Put `instead[k]` for term k of the sum, where () drops the term; splice results that are sums themselves."""
        parts = [new for k, old in enumerate(self.parts) for new in instead.get(k, (old,))]
        self.parts = [term for part in parts for term in self.parts_of(part)]
        if self.owner.steps is not None and len(self.parts) != len(parts):
            self.owner.note("sum in a sum", self.path, self.whole(parts), self.whole(self.parts))


def composition(owner: Rewriter, node: Any, path: Path) -> Work:
    """fₙ • … • f₁: each part against its neighbour, until no rule applies."""
    return Neighbours(owner, node, path).run()


def total(owner: Rewriter, node: Any, path: Path) -> Work:
    """f₁ + … + fₙ: terms that are sums or 0, then terms that are alike."""
    return Summands(owner, node, path).run()

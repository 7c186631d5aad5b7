"""A term while it is rewritten: every distinct subterm once, with how often it is used, and the size of the whole.

Sizes are those of the *shared* term, so that a law which copies a subterm that others still use is seen to cost what
it costs. Everything that is done can be undone back to a mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import fields

from hilbert.base.lazy import load
from hilbert.base.term import Chain, Term, compared, parts
from linmap.laws.engine.row_weight import data, row_size

if TYPE_CHECKING:
    from collections.abc import Sequence

Mark: TypeAlias = tuple[int, int, int]
_MISSING: Any = object()


def _row(node: Term, below: Sequence[Term]) -> Any:
    """A key that two nodes share if they are equal; a flat node compares itself."""
    if node.is_flat:
        return node
    cls: type = type(node)
    values = [getattr(node, name) for name in compared(cls)]
    return cls, *(map(_reference, values) if below else values)


def _reference(value: Any) -> Any:
    """The entry of a field in a key: the identities of subterms, which are rows; other values as they are."""
    if isinstance(value, Term):
        return id(value)
    if isinstance(value, (tuple, Chain)) and len(value) and isinstance(value[0], Term):
        return tuple(map(id, value))
    return value


def rebuilt(node: Term, below: Sequence[Term]) -> Any:
    """The node with other parts."""
    cls: Any = type(node)
    new = iter(below)
    args: dict[str, Any] = {}
    for f in fields(cls):
        if not f.init:
            continue
        value = getattr(node, f.name)
        if isinstance(value, Term):
            value = next(new)
        elif isinstance(value, (tuple, Chain)) and len(value) and isinstance(value[0], Term):
            value = [next(new) for _ in range(len(value))]
        args[f.alias or f.name] = value
    return cls(**args)


@final
class Shared:
    """The rows of a term under construction. A row is *live* if it is used; `size` and `weight` count the live rows."""

    def __init__(self) -> None:
        load("laws")  # they say what the rows of their nodes weigh
        self.size = self.weight = 0
        self._equal: dict[Any, Term] = {}
        self._found: dict[int, Term] = {}
        self._kept: list[Term] = []  # so that an id is never that of another object
        self._uses: dict[int, int] = {}
        self._moved: dict[int, Term] = {}
        self._simple: dict[int, None] = {}
        self._scanned: dict[int, None] = {}
        self._done: list[tuple[dict[Any, Any], Any, Any]] = []
        self._costs: dict[int, tuple[int, int]] = {}
        self._data: dict[int, list[int]] = {}
        self._vectors: dict[Any, Any] = {}  # those that are equal are one
        self._parts: dict[int, list[Any]] = {}

    # --- what can be undone ---

    def mark(self) -> Mark:
        """The present state, for `back` to return to."""
        return len(self._done), self.size, self.weight

    def back(self, mark: Mark) -> None:
        """Undo everything since the mark."""
        count, self.size, self.weight = mark
        while len(self._done) > count:
            target, key, old = self._done.pop()
            if old is _MISSING:
                del target[key]
            else:
                target[key] = old

    def _set(self, target: dict[Any, Any], key: Any, value: Any) -> None:
        self._done.append((target, key, target.get(key, _MISSING)))
        target[key] = value

    def lowered(self, mark: Mark, *, lifts: bool = False) -> bool:
        """Tell if size and weight are lower than at the mark, or, for a law that lifts, the same."""
        now, then = (self.size, self.weight), mark[1:]
        return now < then or (lifts and now == then)

    # --- rows ---

    def find(self, node: Term) -> Any:
        """The row that a subterm is now, after all moves."""
        node = self._found[id(node)]
        while id(node) in self._moved:
            node = self._moved[id(node)]
        return node

    def parts(self, node: Term) -> list[Any]:
        """The parts of a row as they were when it was made."""
        return self._parts[id(node)]

    def below(self, node: Term) -> list[Any]:
        """The rows that the parts of a row are now."""
        found, moved = self._found, self._moved
        now = []
        for child in self._parts[id(node)]:
            at = found[id(child)]
            while id(at) in moved:
                at = moved[id(at)]
            now.append(at)
        return now

    def intern(self, term: Term) -> Any:
        """The row of a term, which is made if it is new, like those below it."""
        stack: list[tuple[Term, bool]] = [(term, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in self._found:
                continue
            below = parts(node)
            if not ready and below:
                stack.append((node, True))
                stack.extend((child, False) for child in below if id(child) not in self._found)
                continue
            now = [self.find(child) for child in below]
            same = all(map(_is, now, below))
            made = node if same else rebuilt(node, now)
            self._kept += (node, made)
            row = self._equal.setdefault(_row(made, now), made)
            if row is made:
                self._parts[id(made)] = below if same else parts(made)
            self._found[id(node)] = self._found[id(made)] = row
        return self.find(term)

    def uses(self, node: Term) -> int:
        """The number of times that live rows use a row."""
        return self._uses.get(id(node), 0)

    def alone(self, node: Term) -> bool:
        """Tell if a row is used once."""
        return self.uses(node) == 1

    def _cost(self, node: Term) -> tuple[int, int]:
        found = self._costs.get(id(node))
        if found is None:
            found = self._costs[id(node)] = row_size(node)
        return found

    def acquire(self, node: Term, times: int = 1) -> None:
        """Count some more uses of a row; a row that was not live becomes live, with the rows that it refers to."""
        todo = [(node, times)]
        while todo:
            at, n = todo.pop()
            old = self._uses.get(id(at), 0)
            self._set(self._uses, id(at), old + n)
            if not old:
                size, weight = self._cost(at)
                self.size += size
                self.weight += weight
                todo.extend((below, 1) for below in self.below(at))
                self._refer(at, 1)

    def release(self, node: Term, times: int = 1) -> None:
        """Count some fewer uses of a row; a row that is used no more is live no more."""
        todo = [(node, times)]
        while todo:
            at, n = todo.pop()
            left = self._uses[id(at)] - n
            self._set(self._uses, id(at), left)
            if not left:
                size, weight = self._cost(at)
                self.size -= size
                self.weight -= weight
                todo.extend((below, 1) for below in self.below(at))
                self._refer(at, -1)

    def _refer(self, node: Term, n: int) -> None:
        """Add n = 1 or −1 to the uses of each vector of a node; a vector in use is a row, of size 1 and no weight."""
        found = self._data.get(id(node))
        if found is None:  # kept also when a step is undone: the vectors of a node do not change
            same = self._vectors
            found = self._data[id(node)] = [id(same.setdefault(datum, datum)) for datum in data(node)]
        for datum in found:
            old = self._uses.get(datum, 0)
            self._set(self._uses, datum, old + n)
            if not old or not old + n:
                self.size += n

    def adjust(self, size: int, weight: int = 0) -> None:
        """Add to size and weight: for the references of a sequence while this is rewritten, and is no row yet."""
        self.size += size
        self.weight += weight

    def move(self, old: Term, new: Term) -> None:
        """Let all rows that use `old` use `new`."""
        if old is new:
            return
        times = self.uses(old)
        self.acquire(new, times)
        self._set(self._moved, id(old), new)
        self.release(old, times)

    def close(self, old: Term, new: Term, under: Sequence[Term], counted: tuple[int, int]) -> None:
        """`move` for a row whose references have been changed to `under` by hand, and `counted` by `adjust`."""
        times = self.uses(old)
        self.acquire(new, times)
        for part in under:
            self.release(part)
        self.adjust(-counted[0], -counted[1])
        self._set(self._uses, id(old), 0)
        self._set(self._moved, id(old), new)

    # --- which rows are simple ---

    def afresh(self) -> None:
        """Forget which rows are simple, and all that could be undone."""
        self._simple.clear()
        self._scanned.clear()
        self._done.clear()

    def is_simple(self, node: Term) -> bool:
        """Tell if a row has been simplified."""
        return id(node) in self._simple

    def simple(self, node: Term) -> None:
        """Note that a row has been simplified."""
        self._set(self._simple, id(node), None)

    def is_scanned(self, node: Term) -> bool:
        """Tell if the laws of neighbours and of like terms have been tried on a composition or a sum."""
        return id(node) in self._scanned

    def scanned(self, node: Term) -> None:
        """Note that the laws of neighbours and of like terms have been tried on a composition or a sum."""
        self._set(self._scanned, id(node), None)


def _is(a: object, b: object) -> bool:
    return a is b

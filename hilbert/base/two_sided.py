"""Nodes with two sides, which may have sides themselves, however deep: compared, hashed, pickled and read by loops.

X + X + … of n parts is n nodes within each other. A property is computed once for each node, lowest nodes first,
and kept there; so the chain that is longer by one answers in one step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hilbert.base.once import Remembering
from hilbert.base.term import bottom_up, postorder

if TYPE_CHECKING:
    from collections.abc import Iterable

F = TypeVar("F", bound=Callable[[Any], Any])


@cache
def _asks_sides(cls: Any, name: str) -> bool:
    if not issubclass(cls, TwoSided):
        return False
    found: Any = getattr(cls, name)
    return hasattr(found.fget, "asks_sides")


def upwards(method: F) -> F:
    """A property that is read off the same property of the sides: found once, for sides before their node.

    Write this decorator below `@property`.
    """
    name = method.__name__

    @wraps(method)
    def found(node: Any) -> Any:
        try:
            return node._memo[name]
        except (AttributeError, KeyError):
            pass  # an error of the method is not raised in the handling of this one
        first, second = node.sides
        if not (_asks_sides(first.__class__, name) or _asks_sides(second.__class__, name)):
            return node.memo().setdefault(name, method(node))
        waiting = [node]
        while waiting:
            top = waiting[-1]
            sides: tuple[Any, Any] = top.sides
            todo = [side for side in sides if _asks_sides(side.__class__, name) and name not in side.memo()]
            if todo:
                waiting.extend(todo)
            elif waiting.pop() is not node:
                getattr(top, name)
        return node.memo().setdefault(name, method(node))

    vars(found)["asks_sides"] = True
    return cast("F", found)


class TwoSided(Remembering):
    """A frozen node of two fields, its sides: equal to a node of the same class with equal sides."""

    __slots__ = ()
    __match_args__: tuple[str, str]

    @property
    def sides(self) -> tuple[Any, Any]:
        """The two fields."""
        first, second = self.__match_args__
        return getattr(self, first), getattr(self, second)

    @property
    def run(self) -> list[Any]:
        """The parts of a chain of nodes of this class, in order: [X, Y, Z] of (X + Y) + Z and of X + (Y + Z)."""
        return parts(self, type(self))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or not isinstance(other, TwoSided):
            return False
        first, second = self.sides
        if not (isinstance(first, TwoSided) or isinstance(second, TwoSided)):
            return bool((first, second) == other.sides)
        seen = set[tuple[int, int]]()
        waiting: list[tuple[Any, Any]] = [(self, other)]
        while waiting:
            a, b = waiting.pop()
            if a is b:
                continue
            if not isinstance(a, TwoSided):
                if isinstance(b, TwoSided) or a != b:
                    return False
            elif type(a) is not type(b) or a._hash != b._hash:
                return False
            elif (id(a), id(b)) not in seen:
                seen.add((id(a), id(b)))
                waiting.extend(zip(a.sides, b.sides, strict=True))
        return True

    def __hash__(self) -> int:
        return self._hash

    @property
    @upwards
    def _hash(self) -> int:
        return hash((type(self), *self.sides))

    def __reduce__(self) -> tuple[Any, ...]:
        numbers: dict[int, int] = {}
        rows: list[tuple[Any, ...]] = []
        for node in postorder(self, below):
            numbers[id(node)] = len(rows)
            has_sides = isinstance(node, TwoSided)
            rows.append((type(node), *(numbers[id(side)] for side in node.sides)) if has_sides else (None, node))
        return rebuilt, (rows,)


def below(node: Any) -> list[Any]:
    """The sides of a node, none of anything else: for the passes of `hilbert.base.term`."""
    return list(node.sides) if isinstance(node, TwoSided) else []


def rebuilt(rows: Iterable[tuple[Any, ...]]) -> Any:
    """The node of the last row; a row is a class with the rows of its sides, or None and an object without sides."""
    made: list[Any] = []
    for kind, *given in rows:
        made.append(given[0] if kind is None else kind(*[made[k] for k in given]))
    return made[-1]


def parts(node: Any, *kinds: type[Any]) -> list[Any]:
    """The parts of a tree of nodes of some classes, in order: the sides that are of none of the classes."""
    found: list[Any] = []
    waiting = [node]
    while waiting:
        top: Any = waiting.pop()
        if isinstance(top, kinds):
            waiting.extend(reversed(top.sides))
        else:
            found.append(top)
    return found


def folded(node: Any, leaf: Callable[[Any], Any], join: Callable[[Any, list[Any]], Any]) -> Any:
    """join(node, [results of the parts]) for a chain, see `run`; leaf(x) for an object without sides."""

    def step(at: Any, rec: Callable[[Any], Any]) -> Any:
        return join(at, [rec(part) for part in at.run]) if isinstance(at, TwoSided) else leaf(at)

    return bottom_up(node, step, lambda at: at.run if isinstance(at, TwoSided) else [])


def text(node: Any, pieces: Callable[[Any], Iterable[Any]], leaf: Callable[[Any], str]) -> str:
    """The text of a node from its pieces, which are texts and sides; leaf(x) for an object without sides."""
    found: list[str] = []
    waiting = [node]
    while waiting:
        top = waiting.pop()
        if isinstance(top, str):
            found.append(top)
        elif isinstance(top, TwoSided):
            waiting.extend(reversed([*pieces(top)]))
        else:
            found.append(leaf(top))
    return "".join(found)

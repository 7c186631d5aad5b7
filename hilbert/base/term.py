"""The base class of terms: equality, hashing and pickling by a flat table, and passes that never overflow the stack.

A term is a frozen attrs class whose fields are terms, tuples of terms, chains of terms, or plain data. Shared subterms
are one row of its table, so that a term is compared, hashed and pickled in time linear in its *shared* size.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, final, overload

import attrs

from hilbert.base.once import LOCK, Remembering, once
from hilbert.errors import SpaceError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping

T = TypeVar("T")
X = TypeVar("X")


@final
class Chain(Generic[X]):
    """A persistent sequence; appending and prepending are amortised O(1), so that repeated `g @ f` copies nothing.

    Versions share two growing lists, `front` (reversed) and `back`; a version that is not the newest copies first.
    """

    __slots__ = ("_back", "_front", "_m", "_n")

    def __init__(self, items: Iterable[X] = ()) -> None:
        self._front: list[X] = []
        self._back: list[X] = list(items)
        self._m = 0
        self._n = len(self._back)

    def _grown(self, *, at_front: bool, items: Iterable[X]) -> Chain[X]:
        shared, size = (self._front, self._m) if at_front else (self._back, self._n)
        fresh = list(items)
        with LOCK:
            grown = shared if len(shared) == size else shared[:size]
            grown.extend(fresh)
        result: Chain[X] = Chain.__new__(Chain)
        result._front, result._back = (grown, self._back) if at_front else (self._front, grown)
        result._m, result._n = (size + len(fresh), self._n) if at_front else (self._m, size + len(fresh))
        return result

    def appended(self, items: Chain[X]) -> Chain[X]:
        """The sequence, then the items; the longer of the two is the one that grows."""
        if len(items) > len(self):
            return items._grown(at_front=True, items=reversed(list(self)))
        return self._grown(at_front=False, items=items)

    def __len__(self) -> int:
        return self._m + self._n

    def __iter__(self) -> Iterator[X]:
        for k in range(self._m - 1, -1, -1):
            yield self._front[k]
        for k in range(self._n):
            yield self._back[k]

    @overload
    def __getitem__(self, k: int) -> X: ...
    @overload
    def __getitem__(self, k: slice) -> list[X]: ...
    def __getitem__(self, k: int | slice) -> X | list[X]:
        if isinstance(k, slice):
            return list(self)[k]
        place = k + len(self) if k < 0 else k
        return self._front[self._m - 1 - place] if place < self._m else self._back[place - self._m]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Chain) and len(self) == len(other) and all(map(_same, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Chain, (tuple(self),)

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self))}]"


def _same(a: object, b: object) -> bool:
    return a is b or a == b


def as_chain(items: Iterable[Any]) -> Chain[Any]:
    """An attrs converter; not generic, because mypy does not solve for the type variables of converters."""
    return items if isinstance(items, Chain) else Chain(as_tuple(items))


def as_tuple(items: Iterable[Any]) -> tuple[Any, ...]:
    """An attrs converter, like `as_chain`; raises SpaceError for an object that is no sequence."""
    try:
        return tuple(items)
    except TypeError:
        msg = f"a term has a sequence of parts, not {shown(items)}"
        raise SpaceError(msg) from None


def merged(cls: type[X], f: Any, g: Any) -> X:
    """cls([f, g]), flat, of terms that are known to fit: neither checked nor copied, so a repeated `@` is linear."""
    kind: Any = cls
    first, second = (part.parts if isinstance(part, kind) else Chain([part]) for part in (f, g))
    node = cls.__new__(cls)
    object.__setattr__(node, "parts", first.appended(second))
    return node


class _Child(int):
    """The number of a subterm's row, in a row of a table."""

    __slots__ = ()


class _Children(tuple[int, ...]):
    """The rows of a sequence of subterms, in a row of a table."""

    __slots__ = ()


class Term(Remembering):
    """A node of one of the languages: immutable, compared by structure."""

    __slots__ = ()
    is_flat: ClassVar[bool] = False
    """True if passes take a node as a whole, with the subterms in it."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Term) or type(self) is not type(other) or hash(self) != hash(other):
            return False
        return table(self) == table(other)

    @once
    def __hash__(self) -> int:
        return hash(table(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (packed(self),)


@cache
def compared(cls: type) -> tuple[str, ...]:
    """The fields that equality looks at."""
    return tuple(f.name for f in attrs.fields(cls) if f.eq and f.init)


@cache
def _whole(cls: type) -> dict[str, str]:
    """The fields of the constructor with their aliases: those of equality, and names for printing."""
    return {f.name: f.alias or f.name for f in attrs.fields(cls) if f.init}


def children(term: Term) -> list[Term]:
    """The direct subterms, in order."""
    found: list[Term] = []
    cls: type = type(term)
    for name in compared(cls):
        value = getattr(term, name)
        if isinstance(value, Term):
            found.append(value)
        elif isinstance(value, (tuple, Chain)) and len(value) and isinstance(value[0], Term):
            found.extend(value)
    return found


def parts(term: Term) -> list[Term]:
    """The direct subterms that passes look at; none of a flat node, which handles its own."""
    return [] if term.is_flat else children(term)


def postorder(term: T, below: Callable[[Any], list[Any]] = children) -> list[T]:
    """Every distinct subterm object once, subterms first."""
    done: dict[int, T] = {}
    order: list[T] = []
    stack: list[tuple[T, bool]] = [(term, False)]
    while stack:
        node, ready = stack.pop()
        if id(node) in done:
            continue
        now = () if ready else below(node)
        if now:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(now) if id(child) not in done)
        else:
            done[id(node)] = node
            order.append(node)
    return order


def bottom_up(
    term: Any, step: Callable[[Any, Callable[[Any], Any]], Any], below: Callable[[Any], list[Any]] = parts
) -> Any:
    """step(node, rec) for every subterm once, subterms first; `rec` looks up the result of a subterm."""
    results: dict[int, Any] = {}
    for node in postorder(term, below):
        results[id(node)] = step(node, lambda child: results[id(child)])
    return results[id(term)]


def driven(start: Generator[Any, Any, X]) -> X:
    """The result of a generator that yields generators and is sent their results: nested calls on an explicit stack."""
    above: list[Generator[Any, Any, Any]] = []
    top: Generator[Any, Any, Any] = start
    value: Any = None
    try:
        while True:
            try:
                below = top.send(value)
            except StopIteration as stop:  # how generators return
                value = stop.value
                if not above:
                    result: X = value
                    return result
                top = above.pop()
            else:
                above.append(top)
                top, value = below, None
    finally:
        above.clear()  # the traceback of an error would keep them


def shared_terms(term: Term) -> set[int]:
    """The identities of the subterms that are used more than once: by several parents, or several times by one."""
    seen, twice = set[int](), set[int]()
    for node in postorder(term, parts):
        for part in parts(node):
            (twice if id(part) in seen else seen).add(id(part))
    return twice


Table = tuple[tuple[Any, ...], ...]


def table(term: Term, *, whole: bool = False) -> Table:
    """The rows (class, fields) of all distinct subterms, subterms first and referred to by row number.

    The fields are those that equality looks at, or `whole` ones from which the term is rebuilt.
    """
    numbers: dict[int, int] = {}
    known: dict[tuple[Any, ...], int] = {}

    def encode(value: Any) -> Any:
        if isinstance(value, Term):
            return _Child(numbers[id(value)])
        if isinstance(value, (tuple, Chain)) and len(value) and isinstance(value[0], Term):
            return _Children(numbers[id(child)] for child in value)
        return value

    order = postorder(term)
    for node in order:
        cls: type = type(node)
        row = (cls, *(encode(getattr(node, name)) for name in (_whole(cls) if whole else compared(cls))))
        numbers[id(node)] = known.setdefault(row, len(known))
    return tuple(known)


def packed(term: Term, spare: Mapping[type, tuple[Any, Any]] = MappingProxyType({})) -> Table:
    """The rows of a table of whole fields, as plain tuples for a pickle: (class, marks), fields.

    A mark says what a field is: 1 a row, 2 a tuple of rows; for classes that are `spare`, which have a function to
    plain data and one back, the second. Heads that agree are one object, which a pickle has once.
    """
    marks: dict[type, Any] = {_Child: 1, _Children: 2, **{cls: back for cls, (_, back) in spare.items()}}
    plain: dict[type, Any] = {_Child: int, _Children: tuple, **{cls: to for cls, (to, _) in spare.items()}}
    heads: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    rows: list[tuple[Any, ...]] = []
    for cls, *values in table(term, whole=True):
        kinds = list(map(type, values))
        head = (cls, tuple([marks.get(kind) for kind in kinds]))
        fields = [plain[kind](v) if kind in plain else v for kind, v in zip(kinds, values, strict=True)]
        rows.append((heads.setdefault(head, head), *fields))
    return tuple(rows)


def rebuild(rows: Table) -> Any:
    """The term of a packed table."""
    built: list[Any] = []
    for (cls, marks), *values in rows:
        args: dict[str, Any] = {}
        for name, mark, value in zip(_whole(cls).values(), marks, values, strict=True):
            if mark is None:
                args[name] = value
            elif mark == 1:
                args[name] = built[value]
            else:
                args[name] = tuple([built[k] for k in value]) if mark == 2 else mark(value)
        built.append(cls(**args))
    return built[-1]

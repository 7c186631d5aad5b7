"""The accesses of statements: which entries of which buffers are read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never, final

from attrs import frozen

from hilbert.compiled.tree.statements import Called, For, If, Nest, Product, Routine, Store
from hilbert.compiled.tree.values import Value, loads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.places import Place, Variable
    from hilbert.compiled.tree.statements import Statement


@final
@frozen
class Access:
    """An entry that is read or written; places None stand for the whole buffer."""

    places: tuple[Place, ...] | None
    writes: bool


Accesses: TypeAlias = "dict[Buffer, list[Access]]"


def accesses(statement: Statement, *, constants: bool = False) -> Accesses:
    """The accesses of a statement and of those within it; without those of constants, which nobody writes."""
    found: Accesses = {}
    waiting: list[Statement] = [statement]
    while waiting:
        top = waiting.pop()
        match top:
            case For(_, body):
                waiting += body
            case If(condition, then, otherwise):
                _read(found, condition, constants)
                waiting += then + otherwise
            case Store(buffer, places, value, monoid) | Nest(_, buffer, places, value, monoid):
                _read(found, value, constants)
                for place in places:
                    for value_ in place.computed:
                        if isinstance(value_, Value):
                            _read(found, value_, constants)
                entries = found.setdefault(buffer, [])
                entries.append(Access(places, writes=True))
                if monoid is not None:
                    entries.append(Access(places, writes=False))
            case Product(a, b, c):
                for buffer in (a, b):
                    found.setdefault(buffer, []).append(Access(None, writes=False))
                found.setdefault(c, []).append(Access(None, writes=True))
            case Routine(_, _, made):
                for buffer in top.buffers:
                    found.setdefault(buffer, []).append(Access(None, writes=False))
                for buffer in made:
                    found.setdefault(buffer, []).append(Access(None, writes=True))
            case Called(_, given, made):
                for buffer in flattened(given):
                    found.setdefault(buffer, []).append(Access(None, writes=False))
                for buffer in made:
                    found.setdefault(buffer, []).append(Access(None, writes=True))
            case _:
                assert_never(top)
    return found


def flattened(given: tuple[object, ...]) -> Iterator[Buffer]:
    """The buffers of the operands of a call; some are tuples of them."""
    for part in given:
        if isinstance(part, tuple):
            yield from flattened(part)
        else:
            yield part  # type: ignore[misc]


def _read(found: Accesses, value: Value, constants: bool) -> None:  # noqa: FBT001 - handed on
    for load in loads(value):
        buffer, places = load.args
        if constants or buffer.kind != "constant":
            found.setdefault(buffer, []).append(Access(places, writes=False))


def writes(found: list[Access]) -> bool:
    """Tell if one of the accesses writes."""
    return any(access.writes for access in found)


def width(every: Iterable[tuple[Place, ...] | None], k: int, variable: Variable) -> int:
    """The width of the strip of a round along axis k, in which all places are; 0 where they are in no one strip."""
    found = {None if places is None or (strip := places[k].strip(variable)) is None else strip[0] for places in every}
    return found.pop() or 0 if len(found) == 1 else 0

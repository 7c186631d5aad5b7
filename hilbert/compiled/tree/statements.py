"""The statements of a program, and the nests of loops that they are made of.

A line is first made into nests: one for each array that is stored, with a variable for each axis, in no order. Then
the nests become loops in one order, small axes are written out, and loops are merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import define, frozen

from hilbert.compiled.tree.places import combined
from hilbert.compiled.tree.values import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.places import Place, Variable
    from hilbert.compiled.tree.values import Value

Given: TypeAlias = "str | int | float | tuple[Buffer, Place]"
"""A letter, a size, a factor, or what stands in a buffer from a place on."""
UNITS: dict[str, float | bool] = {"add": 0.0, "max": float("-inf"), "min": float("inf"), "or": False, "and": True}
"""The monoids by which values are put together, and their units."""


@final
@frozen(eq=False)
class Nest:
    """For all values of the variables, in any order: buffer[places] = value; with a monoid, value is put to the entry.

    The buffer begins with units of the monoid, unless a nest before this one has begun it.
    """

    variables: tuple[Variable, ...]
    buffer: Buffer
    places: tuple[Place, ...]
    value: Value
    monoid: str | None = None
    begins: bool = True

    @property
    def entries(self) -> list[tuple[Buffer, tuple[Place, ...]]]:
        """The entry that is written, and those that are read."""
        return [(self.buffer, self.places), *(load.args for load in loads(self.value))]


@final
@define(eq=False)
class Store:
    """buffer[places] = value; with a monoid, buffer[places] and the value put together."""

    buffer: Buffer
    places: tuple[Place, ...]
    value: Value
    monoid: str | None = None


@final
@define(eq=False)
class For:
    """A loop. Loops over `rounds` keep their order; those of a nest have one, by chance.

    The variable of a loop over `rounds` is of no other loop, so that it is not merged. The rounds of a parallel loop
    meet in `totals` only, one entry each, to which they put values.
    """

    variable: Variable
    body: list[Statement]
    rounds: bool = False
    is_parallel: bool = False
    totals: frozenset[Buffer] = frozenset()

    @property
    def is_search(self) -> bool:
        """True if a condition that is the same in all rounds ends the loop: where one does nothing, no other does."""
        match self.body:
            case [If(condition, _, [])]:
                return self.rounds and condition.name == "load" and not condition.args[1]
            case _:  # other statements
                return False


@final
@define(eq=False)
class If:
    """One of two lists of statements."""

    condition: Value
    then: list[Statement]
    otherwise: list[Statement]


@final
@define(eq=False)
class Routine:
    """A call of a function of BLAS or LAPACK on letters, sizes, factors, and buffers from a flat place on.

    The function reads all of the buffers and writes to some; so many stores as `work` says take as long as the call.
    """

    name: str
    given: tuple[Given, ...]
    made: tuple[Buffer, ...]
    work: int = 1

    @property
    def buffers(self) -> list[Buffer]:
        """The buffers that are given."""
        return [one[0] for one in self.given if isinstance(one, tuple)]

    @property
    def dtype(self) -> str:
        """The dtype of its numbers."""
        return "float32" if self.name.startswith("s") else "float64"


@final
@define(eq=False)
class Product:
    """c = a·b of matrices stored by rows, each transposed if told so; m×k by k×n.

    The rows of a, b and c lie `leads` entries apart; `starts` are the places of their first entries, 0 along axes that
    are left out. The first `rows` axes of c are its rows. The product is added to c if told so.
    """

    a: Buffer
    b: Buffer
    c: Buffer
    transposed: tuple[bool, bool]
    sizes: tuple[int, int, int]
    leads: tuple[int, int, int]
    rows: int = 1
    starts: tuple[tuple[Place, ...], ...] = ((), (), ())
    adds: bool = False

    @property
    def ends(self) -> list[tuple[Buffer, tuple[Place, ...]]]:
        """The operands and the result, each with the place of its first entry."""
        return [*zip((self.a, self.b, self.c), self.starts, strict=True)]

    @property
    def flat(self) -> list[tuple[Buffer, Place]]:
        """The same with places in memory."""
        return [(buffer, combined(zip(start, buffer.strides, strict=False))) for buffer, start in self.ends]

    @property
    def routine(self) -> Routine:
        """The call of BLAS: what is stored by rows is the transpose of what it takes."""
        (m, n, k), (ta, tb), (lda, ldb, ldc) = self.sizes, self.transposed, self.leads
        a, b, c = self.flat
        form = "T" if tb else "N", "T" if ta else "N", n, m, k
        given: tuple[Given, ...] = (*form, 1.0, b, ldb, a, lda, float(self.adds), c, ldc)
        return Routine("dgemm" if self.c.dtype == "float64" else "sgemm", given, (self.c,))


@final
@define(eq=False)
class Called:
    """A kernel of the interpreter, which reads and makes whole arrays in memory; `why` it is called."""

    kernel: Callable[..., Any]
    given: tuple[Any, ...]
    made: tuple[Buffer, ...]
    why: str

    @property
    def buffers(self) -> list[Buffer]:
        """The buffers that are given; some stand in tuples."""
        return [*_flattened(self.given)]


def _flattened(given: tuple[Any, ...]) -> Iterator[Buffer]:
    for part in given:
        if isinstance(part, tuple):
            yield from _flattened(part)
        else:
            yield part


Statement: TypeAlias = "Nest | Store | For | If | Product | Routine | Called"


def blocks(statement: Statement) -> list[list[Statement]]:
    """The lists of statements that a loop or a branch holds."""
    match statement:
        case For(_, body):
            return [body]
        case If(_, then, otherwise):
            return [then, otherwise]
        case _:  # the others hold none
            return []


def on_blocks(statement: Statement, change: Callable[[list[Statement]], list[Statement]]) -> Statement:
    """Change each list of statements that a statement holds, in place."""
    for block in blocks(statement):
        block[:] = change(block)
    return statement


def inside(statements: Iterable[Statement]) -> Iterator[Statement]:
    """All statements, outer ones first."""
    for statement in statements:
        yield statement
        for block in blocks(statement):
            yield from inside(block)

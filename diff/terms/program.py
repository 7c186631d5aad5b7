"""Programs: straight lines between spaces, the form in which functions are differentiated and run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from attrs import field, frozen

from diff.terms.function import Fun
from hilbert import Space, SpaceError, Type
from hilbert.errors import shown
from hilbert.index.leaf import Leaf
from hilbert.map.combine import (
    Selection,
)
from hilbert.program.line.builder import Builder
from hilbert.program.line.line import Line, Step
from hilbert.space.direct_sum import Biproduct, DirectSum
from hilbert.space.space import require_type, type_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from diff.terms.elementwise import AnyElementwise
    from diff.terms.user_operation import Custom
    from hilbert.program.control.flows import Flow
    from hilbert.program.line.bundle import Pack, Unpack
    from hilbert.program.line.choice import AnyLane, Choose, Fill
    from hilbert.program.line.operation import Builtin

S = TypeVar("S", bound=Space)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
Operation: TypeAlias = "AnyElementwise | Builtin | Pack | Unpack | Flow | Choose | AnyLane | Fill | Custom"
"""The operations of a program."""


@frozen(eq=False, repr=False)
class Program(Selection[V, W], Fun[V, W]):
    """A straight line between spaces: its inputs are the leaves of the argument, its outputs those of the result.

    `names` are those of the arguments, for printing only. `written` is the program that this one was planned from, or
    derived from as it is written: derivatives of both are weighed (see `diff.terms.planned_program`).
    """

    dom: V  # pyright: ignore[reportIncompatibleMethodOverride] - a field that cannot be set is read as a property is
    cod: W  # pyright: ignore[reportIncompatibleMethodOverride]
    line: Line
    names: tuple[str, ...] = field(default=(), eq=False)
    written: AnyProgram | None = field(default=None, eq=False)

    def __attrs_post_init__(self) -> None:
        for space in (self.dom, self.cod):
            require_type(space, "a program")
        if not isinstance(self.line, Line):
            msg = f"a program is a line between two spaces, not {shown(self.line)}"
            raise SpaceError(msg)
        if self.slots[: self.arity] != self.dom.leaves:
            msg = f"a program on {self.dom} does not begin with the slots of its argument"
            raise SpaceError(msg)
        have = tuple(self.slots[k] for k in self.outputs)
        if have != self.cod.leaves:
            msg = f"a program into {self.cod} ends in {', '.join(map(str, have)) or 'no slots'}"
            raise SpaceError(msg)

    @property
    def backend(self) -> str | None:
        """The name of what runs the program, if it was chosen: see `diff.compiled`."""
        return None

    def alike(self, p: AnyProgram) -> AnyProgram:
        """Another program with the runner of this one."""
        return p

    @staticmethod
    def of(b: Builder, dom: Type, outputs: Iterable[int], cod: Type, names: tuple[str, ...] = ()) -> AnyProgram:
        """The line that has been built, as a program that ends in these slots."""
        return Program(dom, cod, b.line(outputs), names)

    @property
    def slots(self) -> tuple[Leaf, ...]:
        """The leaves of the argument, then of each step's result."""
        return self.line.slots

    @property
    def steps(self) -> tuple[Step[Operation], ...]:
        """The steps, in order."""
        return self.line.steps

    @property
    def outputs(self) -> tuple[int, ...]:
        """The slots of the result."""
        return self.line.outputs

    @property
    def arity(self) -> int:
        """The number of slots that hold the argument."""
        return self.line.arity

    @property
    def is_identity(self) -> bool:
        """Tell if the program has no steps and gives its argument."""
        return not self.steps and self.dom == self.cod and self.outputs == tuple(range(self.arity))

    @property
    def part(self) -> int | None:
        """i for a program without steps that gives part i of its argument; None for another."""
        if self.steps or not isinstance(self.dom, Biproduct):
            return None
        start = 0
        for k, part in enumerate(self.dom.parts):
            stop = start + len(part.leaves)
            if part == self.cod and self.outputs == tuple(range(start, stop)):
                return k
            start = stop
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        return Program, (self.dom, self.cod, self.line, self.names, self.written)

    def __repr__(self) -> str:
        return f"Program({self.dom!r}, {self.cod!r}, {self.line!r}, {self.names!r})"


AnyProgram: TypeAlias = Program[Any, Any]
"""A program between any types."""


def as_program(line: Line, names: tuple[str, ...] = ()) -> AnyProgram:
    """A line between the direct sums of its ends: the body of a step."""
    dom = DirectSum(tuple(map(type_of, line.slots[: line.arity])))
    return Program(dom, DirectSum(tuple(type_of(line.slots[k]) for k in line.outputs)), line, names)

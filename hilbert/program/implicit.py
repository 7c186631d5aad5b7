"""What an equation defines, as one step: a fixed point, a root, the solution of a linear system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import evolve, field, frozen

from hilbert.arrays.kernel import Kernel
from hilbert.arrays.library import Arrays
from hilbert.attach import declared
from hilbert.errors import SpaceError
from hilbert.leaf import Bundle, Leaf
from hilbert.program.bind import BoundLine
from hilbert.program.fold import folded
from hilbert.program.fuse import fused
from hilbert.program.line import Line, live_parts, restricted
from hilbert.program.operation import Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.arrays.library import Library


def _apply(operation: Any, bundle: Leaf) -> Bundle:
    if bundle != operation.given:
        msg = f"an equation on {operation.given} is not one on {bundle}"
        raise SpaceError(msg)
    made: Bundle = operation.made
    return made


@final
@frozen(repr=False, cache_hash=True)
class Implicit(Operation):
    """(start, captures) ↦ the x that `search` finds, for which x = equation(x, captures), or 0 = equation(x, captures).

    It is a root, or else a fixed point. The derivative is that of the equation. The first `lanes` axes of x are those
    of lanes, each of which is an equation by itself. `names` are those of the body's arguments, for printing only.
    """

    equation: Line
    search: Line
    unknowns: int
    is_root: bool
    lanes: int = 0
    names: tuple[str, ...] = field(default=(), eq=False)

    def __attrs_post_init__(self) -> None:
        due = self.equation.slots[: self.equation.arity]
        given = self.search.slots[: self.search.arity]
        x = given[: self.unknowns]
        ends = [tuple(line.slots[k] for k in line.outputs) for line in (self.search, self.equation)]
        as_many = sum(leaf.size for leaf in ends[1]) == sum(leaf.size for leaf in x)
        if given != due or ends[0] != x or not as_many or (ends[1] != x and not self.is_root):
            msg = f"an equation for {Bundle(x)} ends in {Bundle(ends[1])}"
            raise SpaceError(msg)

    @property
    def of(self) -> str:
        """What a user called."""
        return "root" if self.is_root else "fixed_point"

    @property
    def given(self) -> Bundle:
        """What it takes."""
        return Bundle(self.search.slots[: self.search.arity])

    @property
    def made(self) -> Bundle:
        """What it gives."""
        return Bundle(self.search.slots[: self.unknowns])

    def image(self, *operands: Leaf) -> Bundle:
        """The unknowns."""
        return _apply(self, *operands)

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The search."""
        return Kernel(_Search(self.search, lib), fresh=False)

    def on_lines(self, change: Callable[[Line], Line]) -> Implicit:
        """With other lines that do the same."""
        equation, search = change(self.equation), change(self.search)
        same = equation is self.equation and search is self.search
        return self if same else evolve(self, equation=equation, search=search)

    def needed(self, wanted: set[int]) -> tuple[set[int], set[int]]:
        """All unknowns, and what either line reads."""
        given = set(range(self.unknowns))
        for line in (self.equation, self.search):
            live = live_parts(line, line.outputs)
            given |= {k for k in range(line.arity) if live[k]}
        return set(range(self.unknowns)), given

    def narrowed(self, need: set[int], given: set[int]) -> Implicit:
        """The same without captures that nothing reads."""
        kept = sorted(given)
        return evolve(self, equation=restricted(self.equation, kept), search=restricted(self.search, kept))


@final
class _Search:
    """What runs a search; it is bound when it is first run."""

    __slots__ = ("_bound", "_lib", "_line")

    def __init__(self, line: Line, lib: Library) -> None:
        self._line, self._lib = fused(folded(line)), lib
        self._bound: BoundLine | None = None

    def __call__(self, given: Arrays) -> Arrays:
        outer = self._lib
        arrays = [outer.whole(a, "an equation") for a in given]
        bound = self._bound
        if bound is None:
            bound = self._bound = BoundLine(self._line, outer.inner, Arrays(arrays).parts)
        return Arrays(bound(arrays))


@final
@frozen(repr=False, cache_hash=True)
class Solve(Operation):
    """(b, data) ↦ the x with line(x, data) = b, where the line is linear in x.

    x and b have `many` axes in front that the data have not; the next `lanes` ones are those of lanes, each of which is
    a system by itself. What it is the derivative `of`, "root" or "fixed_point", is for messages only.
    """

    line: Line
    unknowns: int
    many: tuple[Any, ...] = ()
    lanes: int = 0
    of: str = field(default="", eq=False)

    def __attrs_post_init__(self) -> None:
        line = self.line
        sizes = [
            sum(leaf.size for leaf in some)
            for some in (line.slots[: self.unknowns], [line.slots[k] for k in line.outputs])
        ]
        if sizes[0] != sizes[1] or len(line.outputs) > line.arity:
            msg = f"a linear system of {sizes[1]} equations for {sizes[0]} unknowns: there must be as many"
            raise SpaceError(msg)

    @property
    def data(self) -> tuple[Leaf, ...]:
        """The leaves of the data."""
        return self.line.slots[self.unknowns : self.line.arity]

    @property
    def given(self) -> Bundle:
        """What it takes."""
        line = self.line
        return Bundle((*(line.slots[k].under(self.many) for k in line.outputs), *self.data))

    @property
    def made(self) -> Bundle:
        """What it gives."""
        return Bundle(tuple(leaf.under(self.many) for leaf in self.line.slots[: self.unknowns]))

    def image(self, *operands: Leaf) -> Bundle:
        """The unknowns."""
        return _apply(self, *operands)

    @declared
    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """Elimination, or GMRES."""
        raise NotImplementedError

    def on_lines(self, change: Callable[[Line], Line]) -> Solve:
        """With another line that does the same."""
        line = change(self.line)
        return self if line is self.line else evolve(self, line=line)

    def needed(self, wanted: set[int]) -> tuple[set[int], set[int]]:
        """All unknowns, all right sides, and the data that the line reads."""
        live = live_parts(self.line, self.line.outputs)
        n = len(self.line.outputs)
        data = {k - self.unknowns + n for k in range(self.unknowns, self.line.arity) if live[k]}
        return set(range(self.unknowns)), {*range(n), *data}

    def narrowed(self, need: set[int], given: set[int]) -> Solve:
        """The same without data that nothing reads."""
        n = len(self.line.outputs)
        kept = [*range(self.unknowns), *(k - n + self.unknowns for k in sorted(given) if k >= n)]
        return evolve(self, line=restricted(self.line, kept))

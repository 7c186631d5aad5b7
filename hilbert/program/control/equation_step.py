"""Equations as one step: a fixed point, a root, the solution of a linear system."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve, field, frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Arrays
from hilbert.base.attach import declared
from hilbert.base.once import Remembering
from hilbert.compiled.lower.line_loops import within
from hilbert.errors import SpaceError
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.line import Line, live_parts, restricted
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.prepare import prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.arrays.systems.low_rank_systems import LowRankSystem
    from hilbert.arrays.systems.methods import By
    from hilbert.arrays.systems.sparse_systems import SparseSystem
    from hilbert.compiled.tree.arrays import Loops
    from hilbert.index.index import Index

    MakeMap = Callable[[Library, Sequence[Any], Any], Callable[[Any], Any]]
    """A map for some data, for arrays of a library, where another one lives."""


def _apply(operation: Any, bundle: Leaf) -> Bundle:
    if bundle != operation.given:
        msg = f"an equation on {operation.given} is not one on {bundle}"
        raise SpaceError(msg)
    made: Bundle = operation.made
    return made


@final
@frozen(repr=False, cache_hash=True)
class Implicit(ControlFlow, Remembering):
    """(start, captures) ↦ the x near start with x = body(x, captures), or 0 = body(x, captures) for a root.

    The search takes at most `most` rounds, to a `tolerance`. The derivative is the equation's. `lanes` are the axes,
    the first in front, along which there are many equations, each one by itself, and which captures vary along them:
    the body is that of one lane. `names` are those of its arguments, for printing only. The `signs` of the captures of
    a root are 2 where all entries are positive at any point, 1 where none is negative, and 0 elsewhere.
    """

    body: Line
    unknowns: int
    is_root: bool
    tolerance: float
    most: int
    lanes: tuple[tuple[Index, tuple[bool, ...]], ...] = ()
    names: tuple[str, ...] = field(default=(), eq=False)
    signs: tuple[int, ...] = field(default=(), eq=False)

    def __attrs_post_init__(self) -> None:
        body = self.body
        x, ends = body.slots[: self.unknowns], tuple(body.slots[k] for k in body.outputs)
        as_many = sum(leaf.size for leaf in ends) == sum(leaf.size for leaf in x)
        if not as_many or (ends != x and not self.is_root):
            msg = f"an equation for {Bundle(x)} ends in {Bundle(ends)}"
            raise SpaceError(msg)
        captured = body.arity - self.unknowns
        if any(len(varies) != captured for _, varies in self.lanes):
            msg = f"each axis of lanes says of {captured} captures whether they vary"
            raise SpaceError(msg)

    @property
    def of(self) -> str:
        """The function that a user called, by name."""
        return "root" if self.is_root else "fixed_point"

    @property
    def columns(self) -> int:
        """The number of columns of the body's derivative that a round computes: all for a step of Newton's method."""
        return sum(leaf.size for leaf in self.body.slots[: self.unknowns]) if self.is_root else 0

    @property
    def given(self) -> Bundle:
        """The bundle of the operands: a start, and the captures."""
        n, slots = self.unknowns, self.body.slots
        captures = (self._along(leaf, k) for k, leaf in enumerate(slots[n : self.body.arity]))
        return Bundle((*self.made.leaves, *captures))

    @property
    def made(self) -> Bundle:
        """The bundle of the results: the unknowns of all lanes."""
        axes = tuple(axis for axis, _ in self.lanes)
        return Bundle(tuple(leaf.under(axes) for leaf in self.body.slots[: self.unknowns]))

    def _along(self, leaf: Leaf, capture: int) -> Leaf:
        return leaf.under(tuple(axis for axis, varies in self.lanes if varies[capture]))

    def image(self, *operands: Leaf) -> Bundle:
        """The bundle of the unknowns."""
        return _apply(self, *operands)

    @declared
    def search(self) -> Line:
        """The line that finds x, on (start, captures)."""
        raise NotImplementedError

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The kernel that runs the search."""
        return Kernel(_Search(self, lib), fresh=False)

    def loops(self, to: Loops, operands: Sequence[Any], result: Leaf) -> Any:
        """The loops of the search."""
        return tuple(within(to, self.search(), operands[0]))

    def on_lines(self, change: Callable[[Line], Line]) -> Implicit:
        """The equation with another body that does the same."""
        body = change(self.body)
        return self if body is self.body else evolve(self, body=body)

    def needed(self, wanted: set[int]) -> tuple[set[int], set[int]]:
        """All unknowns, and the operands that the body reads."""
        live = live_parts(self.body, self.body.outputs)
        unknowns = set(range(self.unknowns))
        return unknowns, unknowns | {k for k in range(self.body.arity) if live[k]}

    def narrowed(self, need: set[int], given: set[int]) -> Implicit:
        """The equation without captures that nothing reads."""
        kept = sorted(given)
        captures = [k - self.unknowns for k in kept if k >= self.unknowns]
        lanes = tuple((axis, tuple(varies[k] for k in captures)) for axis, varies in self.lanes)
        signs = tuple([self.signs[k] for k in captures]) if self.signs else ()
        return evolve(self, body=restricted(self.body, kept), lanes=lanes, signs=signs)


@final
class _Search:
    """A kernel that runs a search; its line is made and bound when it is first run."""

    __slots__ = ("_bound", "_lib", "_of")

    def __init__(self, of: Implicit, lib: Library) -> None:
        self._of, self._lib = of, lib
        self._bound: BoundLine | None = None

    def __call__(self, given: Arrays) -> Arrays:
        outer = self._lib
        arrays = [outer.whole(a, "an equation") for a in given]
        bound = self._bound
        if bound is None:
            line = prepared(self._of.search())
            bound = self._bound = BoundLine(line, outer.inner, Arrays(arrays).parts)
        with np.errstate(all="ignore"):  # of points that are tried; a search that ends at no number is an error
            return Arrays(bound(arrays))


@final
@frozen(eq=False)
class SystemPlan:
    """The structure that is proved of the matrix of a linear system, the way to solve it, and its cost.

    By `division` where the matrix is diagonal; by a solver of systems with its `entries`, whose `values` are computed
    from the data; by conjugate gradients, whose `preconditioner` is made from the data, as is, for arrays of numpy, the
    `product` with the matrix where that is quicker than the line; otherwise by the matrix in full, which for arrays of
    numpy `matrix` computes from the data, or None where the line is quicker. GMRES has a try `first` where
    that is a lot quicker.
    """

    proved: str
    way: str
    seconds: float
    flops: int
    bytes: int
    largest: int
    division: bool = False
    entries: SparseSystem | LowRankSystem | None = None
    values: Callable[[Sequence[Any]], Any] | None = None
    first: bool = False
    matrix: Callable[[Sequence[Any]], Any] | None = None
    product: MakeMap | None = None
    preconditioner: MakeMap | None = None


SMALL = 2**19
"""The multiplications of elimination, with 1,000 more for each lane, up to which no structure is looked for."""


@final
@frozen(repr=False, cache_hash=True)
class Solve(ControlFlow, Remembering):
    """(b, data) ↦ the x with line(x, data) = b, where the line is linear in x.

    x and b have `many` axes in front that the data have not; the next `lanes` ones are those of lanes, each of which is
    a system by itself. The way to solve is searched for, unless it is to be `by` a method or conjugate gradients; the
    matrix is symmetric and positive where that is proved: then it is `positive`. `of` is "root" or "fixed_point" if the
    system is part of its derivative, for messages only.
    """

    line: Line
    unknowns: int
    many: tuple[Any, ...] = ()
    lanes: int = 0
    by: By | None = None
    positive: bool = field(default=False, eq=False)
    of: str = field(default="", eq=False)

    def __attrs_post_init__(self) -> None:
        line = self.line
        unknowns = sum(leaf.size for leaf in line.slots[: self.unknowns])
        equations = sum(line.slots[k].size for k in line.outputs)
        if unknowns != equations:
            msg = f"a linear system of {equations} equations for {unknowns} unknowns: there must be as many"
            raise SpaceError(msg)

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of unknowns in a lane, and the number of lanes."""
        leaves = self.line.slots[: self.unknowns]
        lanes = math.prod(leaves[0].shape[: self.lanes]) if leaves else 1
        return sum(math.prod(leaf.shape[self.lanes :]) for leaf in leaves), lanes

    @property
    def is_small(self) -> bool:
        """True if elimination in full is quick."""
        n, lanes = self.sizes
        return n > 1 and lanes * (n**3 + 1000) <= SMALL

    @declared
    def plan(self) -> SystemPlan:
        """The structure that is proved of the matrix, and the way to solve the system that costs least."""
        raise NotImplementedError

    @declared
    def compared(self) -> tuple[tuple[str, float | None, str], ...]:
        """Every method with its predicted seconds, None if nobody knows, and its text, or why it is not taken."""
        raise NotImplementedError

    @property
    def data(self) -> tuple[Leaf, ...]:
        """The leaves of the data."""
        return self.line.slots[self.unknowns : self.line.arity]

    @property
    def given(self) -> Bundle:
        """The bundle of the operands: right sides, and the data."""
        line = self.line
        return Bundle((*(line.slots[k].under(self.many) for k in line.outputs), *self.data))

    @property
    def made(self) -> Bundle:
        """The bundle of the results: the unknowns."""
        return Bundle(tuple(leaf.under(self.many) for leaf in self.line.slots[: self.unknowns]))

    def image(self, *operands: Leaf) -> Bundle:
        """The bundle of the unknowns."""
        return _apply(self, *operands)

    @declared
    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The kernel that runs the plan."""
        raise NotImplementedError

    @declared
    def loops(self, to: Loops, operands: Sequence[Any], result: Leaf) -> Any:
        """The elimination of a small matrix."""
        raise NotImplementedError

    def on_lines(self, change: Callable[[Line], Line]) -> Solve:
        """The system with another line that does the same."""
        line = change(self.line)
        return self if line is self.line else evolve(self, line=line)

    def needed(self, wanted: set[int]) -> tuple[set[int], set[int]]:
        """All unknowns, all right sides, and the data that the line reads."""
        live = live_parts(self.line, self.line.outputs)
        n = len(self.line.outputs)
        data = {k - self.unknowns + n for k in range(self.unknowns, self.line.arity) if live[k]}
        return set(range(self.unknowns)), {*range(n), *data}

    def narrowed(self, need: set[int], given: set[int]) -> Solve:
        """The system without data that nothing reads."""
        n = len(self.line.outputs)
        kept = [*range(self.unknowns), *(k - n + self.unknowns for k in sorted(given) if k >= n)]
        return evolve(self, line=restricted(self.line, kept))

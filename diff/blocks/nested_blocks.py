"""Blocks along several index sets: the line of a block along the first set runs in blocks along the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from diff.blocks.early_sums import with_early_sums
from diff.blocks.softmax_in_passes import without_softmax
from diff.compiled.compiled_program import code_of_block
from hilbert.index.leaf import Bundle
from hilbert.program.blocks.block_sizes import block_size
from hilbert.program.blocks.halos import family
from hilbert.program.blocks.passes import in_passes, joined
from hilbert.program.blocks.run_blocks import BlockRunner
from hilbert.program.blocks.tasks import interpreted
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Keep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.index.index import Index
    from hilbert.program.blocks.passes import Passes
    from hilbert.program.blocks.tasks import Run
    from hilbert.program.line.line import Line


@final
@frozen
class Nested:
    """Runs a line in blocks along some index sets, of given sizes or by default."""

    over: tuple[Index, ...]
    given: tuple[int | None, ...]
    is_compiled: bool

    def __call__(self, line: Line) -> Run:
        """The function that runs a line; sets along which it has no arrays are left out."""
        for k, index in enumerate(self.over):
            if any(_is_along(leaf, index) for leaf in line.slots):
                rest = Nested(self.over[k:], self.given[k:], self.is_compiled)
                return rest.runner(passes_of(line, rest.over, is_compiled=self.is_compiled), 1).run
        return self._make(line)

    @property
    def _make(self) -> Callable[[Line], Run]:
        return code_of_block if self.is_compiled else interpreted

    def sizes(self, found: Passes) -> tuple[int, ...]:
        """The elements of a block along each set, for the passes along the first."""
        size = self.given[0] or block_size(found, self.over[1:], is_compiled=self.is_compiled)
        if not self.over[1:]:
            return (size,)
        rest = Nested(self.over[1:], self.given[1:], self.is_compiled)
        inner = [
            rest.sizes(passes_of(line, rest.over, is_compiled=self.is_compiled)) for line in self._along(found, size)
        ]
        return size, *(min(of) for of in zip(*inner, strict=True))

    def _along(self, found: Passes, size: int) -> list[Line]:
        """The lines of blocks along the first set that have arrays along the second."""
        lines = [part.block(part.rows(0, min(size, found.index.size))) for part in found.passes]
        return [line for line in lines if any(_is_along(leaf, self.over[1]) for leaf in line.slots)]

    def runner(self, found: Passes, threads: int) -> BlockRunner:
        """The blocks of a line along the first set; machine code and further blocks are made when they run."""
        size = self.sizes(found)[0]
        found = joined(found, size) if self.is_compiled else found
        make = Nested(self.over[1:], self.given[1:], self.is_compiled) if self.over[1:] else self._make
        return BlockRunner(found, size, threads, make)


def passes_of(line: Line, over: Sequence[Index], *, is_compiled: bool) -> Passes:
    """The passes of a line along the first of some sets; raises SpaceError where the line, or a block, has none."""
    along = family(line, over[0])
    line = with_early_sums(without_softmax(_kept(line, over[0]), along), along)
    found = in_passes(line, over[0], far=is_compiled)
    if over[1:]:
        inner = [part.line for part in found.passes if any(_is_along(leaf, over[1]) for leaf in part.line.slots)]
        for block in inner or [line]:
            passes_of(block, over[1:], is_compiled=is_compiled)
    return found


def _is_along(leaf: Any, index: Index) -> bool:
    return any(_is_along(part, index) for part in leaf.leaves) if isinstance(leaf, Bundle) else index in leaf.axes


def _kept(line: Line, index: Index) -> Line:
    """The line whose results along X are made by steps: an argument that is a result is written block by block, too."""
    if not any(k < line.arity and _is_along(line.slots[k], index) for k in line.outputs):
        return line
    b = Builder(line.slots[: line.arity], fixed=line.fixed)
    where = b.inline(line, range(line.arity))
    ends = [where[k] for k in line.outputs]
    return b.line([b.step(Keep(), (k,)) if k < line.arity and _is_along(line.slots[k], index) else k for k in ends])

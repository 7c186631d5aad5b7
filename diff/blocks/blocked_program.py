"""Programs that run block by block along index sets, made by `blocked`: the same functions with another runner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
from attrs import evolve, field, frozen

from diff.blocks.engines import mapped_by
from diff.blocks.nested_blocks import Nested, passes_of
from diff.compiled.compiled_program import machine_program
from diff.compiled.own_runner import OwnRunner
from diff.terms.planned_program import reordered
from diff.terms.program import AnyProgram, Program
from hilbert import SpaceError, Type, Vec
from hilbert.arrays.kernels.library import library
from hilbert.arrays.libraries.namespace import freeze
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.base.once import once
from hilbert.map.map import argument
from hilbert.program.blocks.block_sizes import bytes_of_worker
from hilbert.program.blocks.sources import Source
from linmap.printing.notation import Listing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from diff.function_cost import Running
    from hilbert.index.index import Index
    from hilbert.map.map import OnLeaves
    from hilbert.program.blocks.passes import Pass, Passes
    from hilbert.program.blocks.run_blocks import BlockRunner, Feed, Mapped, Passed

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


@final
@frozen
class BlockReport(Listing):
    """The passes of a blocked function: steps of a block, the totals, and the results that are written by blocks."""

    over: tuple[Index, ...]
    sizes: tuple[int, ...]
    threads: int
    passes: tuple[Pass, ...]

    def __str__(self) -> str:
        return self.text()

    def text(self, lines: int | None = None) -> str:
        """A line for the blocks, and one for each pass."""
        sets = [
            f"of {min(n, x.size)} of the {x.size} elements of {x}" for n, x in zip(self.sizes, self.over, strict=True)
        ]
        made = [f"blocks {', and '.join(sets)}, {self.threads} thread{'s' * (self.threads > 1)}"]
        for k, part in enumerate(self.passes, 1):
            ends = [str(part.line.slots[slot]) for slot in part.line.outputs]
            totals, results = ends[: len(part.totals)], ends[len(part.totals) :]
            before, behind = part.halo
            text = f"pass {k}: {len(part.line.steps)} steps a block"
            text += f"; totals: {', '.join(totals)}" if totals else ""
            text += f"; results: {', '.join(results)}" if results else ""
            if before or behind:
                text += f"; reads {before} {'row' if before == 1 else 'rows'} before and {behind} behind its own"
            made.append(text)
        return "\n".join(made[:lines])


@final
@frozen(eq=False, repr=False)
class BlockedProgram(OwnRunner, Program[V, W]):
    """A function that runs block by block: see `blocked`."""

    map: AnyProgram = field(kw_only=True)
    over: tuple[Index, ...] = field(kw_only=True)
    given: tuple[int | None, ...] = field(kw_only=True)
    threads: int = field(kw_only=True)
    is_compiled: bool = field(kw_only=True)

    @property
    def backend(self) -> str:
        """The name of what runs the program."""
        return "blocks"

    @property
    @once
    def passes(self) -> Passes:
        """The passes over the first index set; raises SpaceError for a function that has none."""
        return passes_of(reordered(self.map).line, self.over, is_compiled=self.is_compiled)

    @property
    def size(self) -> int:
        """The elements of a block along the first index set, but for the last block."""
        return self.sizes[0]

    @property
    @once
    def sizes(self) -> tuple[int, ...]:
        """The elements of a block along each index set."""
        return self._nested.sizes(self.passes)

    @property
    def report(self) -> BlockReport:
        """The sizes of the blocks, and the passes over the first index set."""
        return BlockReport(self.over, self.sizes, self.threads, tuple(self.passes.passes))

    def orders(self) -> tuple[Any, ...]:
        """The contractions of the function that run in another order, and the passes."""
        return *super().orders(), self.report

    def costed(self) -> Running:
        """The cost of the function, run in these blocks."""
        cost: Running = super().costed()
        return evolve(cost, blocks=(self.report.text(), f"a block holds some {self.held} bytes"))

    @property
    def held(self) -> int:
        """The bytes that a block holds at once, with what all share and the totals; results along X come on top."""
        return bytes_of_worker(self.passes, self.size)

    def alike(self, p: AnyProgram) -> AnyProgram:
        """Another program in blocks of its own size, unless one was given."""
        return in_blocks(p, self.over, self.given, self.threads, is_compiled=self.is_compiled)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BlockedProgram) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.map, self.over, self.given, self.threads, self.is_compiled

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, self._key

    @property
    def _nested(self) -> Nested:
        return Nested(self.over, self.given, is_compiled=self.is_compiled)

    @property
    @once
    def _blocks(self) -> BlockRunner:
        return self._nested.runner(self.passes, self.threads)

    def _runner(self) -> OnLeaves:
        return lambda arrays: self._ran(arrays, None)

    def _ran(self, arrays: Sequence[Any], mapped: Mapped | None, feed: Feed | None = None) -> list[Any]:
        return [*map(_number, self._blocks.run(_in_numpy(arrays), None, mapped, feed))]

    def on(self, engine: Any) -> Callable[..., Vec[W]]:
        """The function that runs its blocks on an engine.

        An engine is an executor of `concurrent.futures`, a Dask client (`distributed.Client`), or a function like
        `map(task, rows)`, which gives the task's results in order. Tasks and rows are pickled where they go to another
        process; rows of memory-mapped files travel as places in the file.
        """
        mapped = mapped_by(engine, "g.on(engine)")

        def called(*x: Any) -> Vec[W]:
            return self.on_sources(argument(self, x).leaves, mapped)

        return called

    def on_sources(self, arrays: Sequence[Any], mapped: Mapped | None, feed: Feed | None = None) -> Vec[W]:
        """The value for arrays or their sources, with what runs the blocks, and what gives the rows of others."""
        return Vec(self.cod, tuple(map(freeze, self._ran(arrays, mapped, feed))))

    def by_passes(self, passed: Passed, arrays: Sequence[Any]) -> Vec[W]:
        """The value for arrays, None for those that nothing else reads, where `passed` gives what each pass makes."""
        return Vec(self.cod, tuple(map(freeze, map(_number, self._blocks.run_by(passed, _in_numpy(arrays))))))


def _in_numpy(arrays: Sequence[Any]) -> Sequence[Any]:
    """The arrays; raises SpaceError for one of another library."""
    other = next((a for a in arrays if type(a) not in NUMPY.kinds and not isinstance(a, Source | None)), None)
    if other is not None:
        msg = f"blocks run on numpy's arrays, not on arrays of {library(other).name}: {ELSEWHERE}"
        raise SpaceError(msg)
    return arrays


def _number(a: Any) -> Any:
    """The entry of an array without axes; another array as it is."""
    return a[()] if isinstance(a, np.ndarray) and not a.ndim else a


ELSEWHERE = "run the function itself, `.map`, on them"


def in_blocks(
    p: AnyProgram, over: tuple[Index, ...], size: tuple[int | None, ...], threads: int, *, is_compiled: bool
) -> BlockedProgram[Any, Any]:
    """The program in blocks; raises SpaceError where the program does not run in blocks, with the step."""
    if type(p) is not Program:
        if hasattr(p, "pattern"):
            msg = (
                "a matrix of derivatives, such as .hess, or .jac of residuals, does not run in blocks: make it of the "
            )
            msg += "function itself, `.map`, as_scipy(g.map) or jacobian(g.map); products with it run, .hessp and hvp"
            raise SpaceError(msg)
        msg = f"{type(p).__name__} does not run in blocks: make it of the function itself, `.map`"
        raise SpaceError(msg)
    return _made(p, over, size, threads, is_compiled)


@once
def _made(
    p: AnyProgram,
    over: tuple[Index, ...],
    size: tuple[int | None, ...],
    threads: int,
    is_compiled: bool,  # noqa: FBT001
) -> BlockedProgram[Any, Any]:
    made: BlockedProgram[Any, Any] = BlockedProgram(
        p.dom, p.cod, p.line, p.names, p.written, map=p, over=over, given=size, threads=threads, is_compiled=is_compiled
    )
    made.passes  # noqa: B018 - an error belongs to the call that makes the function
    return made


def _again(
    p: AnyProgram,
    over: tuple[Index, ...],
    size: tuple[int | None, ...],
    threads: int,
    is_compiled: bool,  # noqa: FBT001
) -> AnyProgram:
    return in_blocks(p, over, size, threads, is_compiled=is_compiled)


@machine_program.register(BlockedProgram)
def _compiled(p: BlockedProgram[Any, Any], backend: str) -> AnyProgram:
    return in_blocks(p.map, p.over, p.given, p.threads, is_compiled=backend == "llvm")

"""Functions that run block by block along an index set of data.

>>> from diff import exp, fun
>>> from hilbert import Fin, R
>>> X = Fin.of(1000)
>>> f = fun(R, R**X)(lambda a, x: exp(a * x).sum())
>>> g = blocked(f, over=X, size=128)
>>> print(g)
(a, x) ↦ Σ exp(a·x)
>>> print(round(g(R.vec(0.5), (R**X).ones()).array, 6), round(1000 * 2.718281828459045**0.5, 6))
1648.721271 1648.721271
>>> print(g.report)
blocks of 128 of the 1000 elements of 1000, 1 thread
pass 1: 3 steps a block; totals: ℝ
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from diff.blocks.blocked_program import BlockedProgram, in_blocks
from diff.compiled.compiled_program import RunsCompiled
from diff.terms.lower import program
from hilbert import Map, SpaceError, Type
from hilbert.errors import integer, shown
from hilbert.index.index import require_index
from hilbert.map.map import require_map

if TYPE_CHECKING:
    from hilbert.index.index import Index

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def blocked(
    f: Map[V, W], over: Index | tuple[Index, ...], size: int | tuple[int | None, ...] | None = None, threads: int = 1
) -> BlockedProgram[V, W]:
    """The function, run for some elements of the index set `over` at a time; it prints, pickles and derives as f does.

    Arguments with the axis `over` are cut into blocks of `size` elements, by default so many that the arrays of a block
    stay in the cache. Sums over the axis are put together from those of the blocks, and results with the axis are
    written block by block. Steps that read a sum over all elements run in a further pass. Derivatives of a blocked
    function are blocked: `grad(blocked(f, X))` is `blocked(grad(f), X)`. Results do not depend on the number of
    threads. `over=(X, Y)` with two sizes runs each block along X in blocks along Y: no array of all pairs is made.
    `.report` says what is done. Raises SpaceError for a function of which a step relates elements of `over` to
    each other otherwise, with the step.
    """
    return made_in_blocks("blocked", f, over, size, threads)


def made_in_blocks(
    name: str, f: Map[V, W], over: Index | tuple[Index, ...], size: int | tuple[int | None, ...] | None, threads: int
) -> BlockedProgram[V, W]:
    """The function in blocks; an error for what it is made of has the name of the function that was called."""
    require_map(f, name)
    sets: tuple[Any, ...] = tuple(over) if isinstance(over, (tuple, list)) else (over,)
    for index in sets:
        require_index(index, f"{name}(f, over=X)")
    if not sets or len({*sets}) < len(sets):
        msg = f"{name}(f, over={shown(over)}): give an index set, or some that are different"
        raise SpaceError(msg)
    given: tuple[Any, ...] = size if isinstance(size, tuple) else (size,) * len(sets)
    sizes, m = tuple([None if n is None else integer(n) for n in given]), integer(threads)
    if len(sizes) != len(sets) or any(
        k is not None and (n is None or n < 1) for k, n in zip(given, sizes, strict=True)
    ):
        each = "" if len(sets) == 1 else ", one for each index set"
        msg = f"{name}(f, over=X, size={shown(size)}): the elements of a block are a number ≥ 1{each}"
        raise SpaceError(msg)
    if m is None or m < 1:
        msg = f"{name}(f, over=X, threads={shown(threads)}): the number of threads is ≥ 1"
        raise SpaceError(msg)
    p: Any = program(f)
    is_compiled = isinstance(p, RunsCompiled) and p.backend == "llvm"
    if isinstance(p, RunsCompiled | BlockedProgram):
        is_compiled |= isinstance(p, BlockedProgram) and p.is_compiled
        p = p.map
    return in_blocks(p, sets, sizes, m, is_compiled=is_compiled)

"""Plans of conjugate gradients: the map is applied as it is, or by its entries; a preconditioner is made at each point.

| name | the map that undoes | needs |
|---|---|---|
| `"diagonal"` | the diagonal (Jacobi) | a diagonal without large arrays: no matrix is made |
| `"band"` | the diagonal and the entries beside it, by Cholesky's factor | few entries, at known places |
| `"blocks"` | the blocks on the diagonal, of last axes that the map treats together | the same |
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from diff.solving.system_net import SystemEntries, is_sparse, system_entries, system_net
from hilbert.arrays.formal.formal_kernels import dense as multiplied_out
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.arrays.systems.conjugate_gradients import INSTEAD
from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.errors import SpaceError
from hilbert.program.control.equation_step import SystemPlan
from hilbert.program.line.constant import Const
from hilbert.program.run.prepare import prepared
from hilbert.program.run.run import Runner
from linmap.matrices.made.diagonal_entries import diagonal_plan
from linmap.matrices.made.matrix_plans import blocks_plan
from linmap.matrices.made.predicted_work import BYTE, FLOP, Work, seconds, work
from linmap.matrices.structure.matrix_shapes import stored
from linmap.matrices.structure.structure import structure
from linmap.term.net import elements

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.arrays.systems.conjugate_gradients import ConjugateGradients
    from hilbert.program.control.equation_step import MakeMap, Solve

    Map = Callable[[Any], Any]

ROOM = 2**24
"""The entries of the largest array that a diagonal is found with, or a matrix; or 16 for each unknown."""
STARTED, STEPS = 5e-6, 100
"""Seconds to start a product with a sparse matrix, and the products that are counted for making it."""
OTHERS = "write preconditioner='diagonal', or None"


def iterative_plan(of: Solve, by: ConjugateGradients) -> SystemPlan:
    """The plan of a system that is solved by conjugate gradients; its cost is that of one step.

    Raises SpaceError where the structure has no such preconditioner.
    """
    make: MakeMap | None = None
    match by.preconditioner:
        case None:
            what = "without a preconditioner"
        case "diagonal":
            what, make = "with its diagonal", _diagonal(of)
        case "band":
            what, make = "with three of its diagonals", _band(of)
        case "blocks":
            what, make = "with its blocks", _blocks(of)
        case never:
            assert_never(never)
    one, size, entries = work(of.line), math.prod(of.sizes), _quick_entries(of)
    if entries is None:
        proved, on, due, product = "", "", seconds(of.line), None
    else:
        count = entries.plan.pattern.entries
        proved, on = f"sparse, {count} entries", "on its sparse matrix "
        due, product = _product_seconds(count, size), _product(entries)
        one = Work(2 * count, 12 * count + 16 * size, work(entries.plan.parts.line).largest)
    way = f"by conjugate gradients {on}{what}, of which a step is counted"
    moved, largest = one.bytes + 88 * size, max(one.largest, size)
    return SystemPlan(proved, way, due, one.flops + 11 * size, moved, largest, product=product, preconditioner=make)


def _product_seconds(entries: int, size: int) -> float:
    return STARTED + 2 * FLOP * entries + BYTE * (12 * entries + 16 * size)


def _quick_entries(of: Solve) -> SystemEntries | None:
    """The entries of one system for one right side, where products with them are predicted to be quicker than the line.

    None elsewhere, and without scipy.
    """
    (size, lanes), free = of.sizes, seconds(prepared(of.line))
    if of.many or lanes != 1 or scipy_of() is None or not is_sparse(of):
        return None
    most = stored(structure(system_net(of)[0]))
    if most > max(ROOM, 16 * size) or _product_seconds(most, size) > free:
        return None
    entries = system_entries(of)
    made = entries.plan.parts.line
    due = _product_seconds(entries.plan.pattern.entries, size) + seconds(made) / STEPS
    return entries if due <= free and work(made).largest <= max(ROOM, 16 * size) else None


def _product(entries: SystemEntries) -> MakeMap:
    pattern, sp = entries.plan.pattern, scipy_of()
    assert sp is not None  # that the entries are quick

    def make(lib: Library, data: Sequence[Any], like: Any) -> Map:  # noqa: ARG001 - of all that make one
        values = entries.values(data).astype(like.dtype, copy=False)
        matrix = sp.sparse.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
        return lambda x: (matrix @ x.reshape(-1)).reshape(x.shape)

    return make


def _diagonal(of: Solve) -> MakeMap:
    body, line = system_net(of)
    (n, lanes), given = of.sizes, Runner(line)
    if all(isinstance(d, Const) for d in elements(body)):
        largest = work(diagonal_plan(body).runner.written).largest
        if largest > max(ROOM, 16 * n * lanes):
            msg = f"cg: the diagonal of the map takes an array of {largest} entries: write preconditioner=None"
            raise SpaceError(msg)

    def make(lib: Library, data: Sequence[Any], like: Any) -> Map:  # noqa: ARG001 - of all that make one
        xp, found = lib.xp, given.run(data)
        arrays = [multiplied_out(a) for a in diagonal_plan(body, found).runner.run(found)]
        parts = [xp.reshape(xp.asarray(a), (lanes, -1)) for a in arrays]
        diagonal = parts[0] if len(parts) == 1 else xp.concat(parts, axis=1)
        if bool(xp.any(diagonal <= 0.0)):
            least = float(xp.min(diagonal))
            raise SpaceError(f"cg: the map is not positive: an entry of its diagonal is {least:.3g}; {INSTEAD}")
        scale = 1.0 / diagonal
        return lambda r: scale * r

    return make


def _require_sparse(of: Solve, what: str) -> None:
    """Raise SpaceError for a system of many entries, or with entries at places that depend on the point."""
    if not is_sparse(of):
        msg = f"cg: preconditioner={what!r} takes a map with few entries, at places that its structure shows: {OTHERS}"
        raise SpaceError(msg)


def _band(of: Solve) -> MakeMap:
    _require_sparse(of, "band")
    sp = scipy_of()
    if sp is None:
        msg = f"cg: preconditioner='band' needs scipy: pip install 'hilbert[sparse]', or {OTHERS}"
        raise SpaceError(msg)
    (n, lanes), entries = of.sizes, system_entries(of)
    rows, cols = entries.rows, entries.cols
    on, below = np.flatnonzero(rows == cols), np.flatnonzero(rows == cols + 1)

    def make(lib: Library, data: Sequence[Any], like: Any) -> Map:
        values = entries.values(data)
        main, beside = np.zeros(n * lanes, values.dtype), np.zeros(max(n * lanes - 1, 0), values.dtype)
        main[cols[on]], beside[cols[below]] = values[on], values[below]
        factor, solve = sp.linalg.get_lapack_funcs(("pttrf", "pttrs"), (main,))
        if not np.isfinite(main).all() or not np.isfinite(beside).all():
            return lambda r: r * lib.xp.nan
        main, beside, info = factor(main, beside)
        if info:
            msg = f"cg: the diagonal of the map and the entries beside it are no positive map: {OTHERS}"
            raise SpaceError(msg)

        def undo(r: Any) -> Any:
            found, _ = solve(main, beside, np.reshape(lib.to_host(r), (-1, n * lanes)).T)
            made = found.T.reshape(r.shape)
            return made if lib.is_host else lib.from_host(made, like)

        return undo

    return make


def _blocks(of: Solve) -> MakeMap:
    _require_sparse(of, "blocks")
    body, line = system_net(of)
    plan, (_, lanes), given = blocks_plan(body), of.sizes, Runner(line)
    leaves = of.line.slots[: of.unknowns]
    cells = {at[0]: (k, cell) for k, cell in enumerate(plan.pattern.cells) if (at := cell.at)[0] == at[1]}
    if all(cell.size[0] == 1 for _, cell in cells.values()) or any(c.size[0] != c.size[1] for _, c in cells.values()):
        msg = f"cg: the structure of the map has no blocks on the diagonal: {OTHERS}"
        raise SpaceError(msg)
    ends = np.cumsum([0, *(leaf.size // lanes for leaf in leaves)])

    def make(lib: Library, data: Sequence[Any], like: Any) -> Map:
        made, undone = plan.at(given.run(data)), list[Any]()
        for j, leaf in enumerate(leaves):
            k, cell = cells.get(j, (None, None))
            w = 1 if cell is None else cell.size[0]
            blocks = np.zeros((leaf.size // w, w, w), leaf.dtype)
            if k is not None and cell is not None:
                row = np.repeat(np.arange(len(blocks)), np.diff(cell.indptr))
                on = np.flatnonzero(row == cell.indices)
                blocks[row[on]] = to_numpy(multiplied_out(made[k])).reshape(-1, w, w)[on]
            if not np.isfinite(blocks).all():
                return lambda r: r * lib.xp.nan
            try:
                np.linalg.cholesky(blocks)
            except np.linalg.LinAlgError as error:
                raise SpaceError(f"cg: the map is not positive: a block on its diagonal is not; {INSTEAD}") from error
            inverse = np.linalg.inv(blocks)
            undone.append(inverse if lib.is_host else lib.from_host(inverse, like))

        def undo(r: Any) -> Any:
            parts = []
            for inverse, start, end in zip(undone, ends, ends[1:], strict=False):
                part = lib.xp.reshape(r[..., start:end], (-1, *inverse.shape[:2], 1))
                parts.append(lib.xp.reshape(inverse @ part, (*r.shape[:2], end - start)))
            return parts[0] if len(parts) == 1 else lib.xp.concat(parts, axis=2)

        return undo

    return make

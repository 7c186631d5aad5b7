"""The kernel of a linear system, by its plan: from the entries that its structure leaves, or by products with the line.

The matrix is the line on all basis vectors at once; for GMRES the line is applied to the vectors that it asks for.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.systems.conjugate_gradients import ConjugateGradients, conjugate_gradients
from hilbert.arrays.systems.linear_systems import direct, divided, gmres, has_room
from hilbert.arrays.systems.low_rank_systems import SingularBaseError
from hilbert.arrays.systems.methods import without
from hilbert.errors import SpaceError
from hilbert.index.index import Fin, Index
from hilbert.program.control.equation_step import Solve
from hilbert.program.line.builder import Builder
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.prepare import prepared
from hilbert.program.transform.lifted_line import lifted_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line

SINGULAR = {
    "root": "root: the derivative {} of its function is singular at this point, so that Newton's iteration has no next "
    "step, and a root there no derivative: start it elsewhere",
    "fixed_point": "fixed_point: id minus the derivative {} of its function is singular at this point, so that the "
    "fixed point has no derivative there",
    "": "a linear system {} is singular at this point: it has no solution, or many",
}
"""Messages for a singular matrix, by the name of the equation whose derivative it belongs to."""


@final
class _Solver:
    """Runs a `Solve` as it is planned; its line is bound, for each number of right sides, when it is first run.

    A small system needs no plan, nor does one unknown. GMRES goes on only where a matrix has no room.
    """

    def __init__(self, of: Solve, lib: Library) -> None:
        self.lib, self.of, line, u = lib, of, of.line, of.unknowns
        self.ends = len(line.outputs)
        self.unknowns, self.many = line.slots[:u], tuple(axis.size for axis in of.many)
        self.total, self.lanes = of.sizes
        self.sizes = [prod(leaf.shape[of.lanes :]) for leaf in self.unknowns]
        self.is_small = of.is_small
        self.bound: dict[int, BoundLine] = {}

    def __call__(self, given: Arrays) -> Arrays:
        """The arrays of the unknowns."""
        lib = self.lib.inner
        arrays = [lib.xp.asarray(self.lib.whole(a, "a linear system")) for a in given]
        xp = lib.xp
        rows, lanes = prod(self.many), self.lanes
        sides = [xp.reshape(a, (rows, lanes, -1)) for a in arrays[: self.ends]] if rows * lanes else []
        b = xp.concat(sides, axis=2) if len(sides) > 1 else sides[0] if sides else None
        if b is None or not self.total:
            shapes = ((*self.many, *leaf.shape) for leaf in self.unknowns)
            return Arrays([lib.zeros(shape, arrays[0]) for shape in shapes])
        x = self._solved(lib, arrays, b)
        return Arrays(self._parts(xp, xp.reshape(x, (rows, lanes, self.total)), self.many))

    def _solved(self, lib: Library, arrays: list[Any], b: Any) -> Any:
        """x for right sides b of shape (right sides, lanes, unknowns of a lane)."""
        by = self.of.by
        if isinstance(by, ConjugateGradients):
            return self._by_conjugate_gradients(lib, arrays, b, by)
        if by is None and self.is_small:
            return self._in_full(lib.xp, arrays, b)
        if by is None and self.total == 1:
            return self._divided(lib, arrays, b)
        plan, xp, known = self.of.plan(), lib.xp, all(map(lib.is_known, arrays))
        if by not in {None, "full"} and not known:
            raise SpaceError(f"how={by!r} reads the numbers of the system, and under jit none is known: leave how= out")
        if plan.division:
            return self._divided(lib, arrays, b)
        if plan.first and known:
            is_last = by == "GMRES" or (plan.entries is None and not self.has_room)
            x, left = self._by_gmres(xp, arrays, b, once=not is_last)
            if not left:
                return x
            if is_last:
                raise SpaceError(
                    f"a linear system of {self.total} unknowns is not solved: GMRES leaves {left:.3g} of the right side"
                )
        if plan.entries is None or plan.values is None or not known:
            made = plan.matrix(arrays[self.ends :]) if plan.matrix and known and lib.is_host else None
            if made is None:
                return self._in_full(xp, arrays, b)
            return direct(xp, made.astype(b.dtype, copy=False)[None], b, self.singular, positive=self.of.positive)
        right = lib.to_host(xp.reshape(b, (b.shape[0], -1)))
        try:
            return lib.from_host(plan.entries.solved(plan.values(arrays[self.ends :]), right, self.singular), b)
        except SingularBaseError as error:
            if by is not None:
                raise without(by, "without the terms of low rank its matrix is singular") from error
            if self.has_room:
                return self._in_full(xp, arrays, b)
            x, left = self._by_gmres(xp, arrays, b, once=False)
            if left:
                raise
            return x

    def _divided(self, lib: Library, arrays: list[Any], b: Any) -> Any:
        """Solve by division: the line applied to ones is the diagonal, for no entry is added to another."""
        ones = lib.xp.ones((1, *b.shape[1:]), dtype=b.dtype, device=getattr(b, "device", None))
        d = self._applied(lib.xp, ones, arrays)[0, :, :]
        return divided(lib.xp, d, b, self.singular, known=lib.is_known(b) and lib.is_known(d))

    @property
    def has_room(self) -> bool:
        """True if the matrix is small enough to be made."""
        return has_room(self.total, self.lanes)

    def _in_full(self, xp: Any, arrays: list[Any], b: Any) -> Any:
        """Solve by elimination: the matrix is the line on all basis vectors at once."""
        eye = xp.eye(self.total, dtype=b.dtype, device=getattr(b, "device", None))
        basis = xp.broadcast_to(eye[:, None, :], (self.total, self.lanes, self.total))
        a = xp.permute_dims(self._applied(xp, basis, arrays), (1, 2, 0))
        return direct(xp, a, b, self.singular, positive=self.of.positive)

    def _by_gmres(self, xp: Any, arrays: list[Any], b: Any, *, once: bool) -> tuple[Any, float]:
        """Solve by GMRES, which applies the line; gives x and the largest ratio of residual to b."""
        shape = b.shape

        def apply(x: Any) -> Any:
            return xp.reshape(self._applied(xp, xp.reshape(x, shape), arrays), (-1, self.total))

        return gmres(xp, apply, xp.reshape(b, (-1, self.total)), once=once)

    def _by_conjugate_gradients(self, lib: Library, arrays: list[Any], b: Any, by: ConjugateGradients) -> Any:
        """Solve by conjugate gradients, which apply the line, or the matrix as planned."""
        if not all(map(lib.is_known, arrays)):
            raise SpaceError("cg ends where the residual is small, and under jit no number is known: write solve(A, b)")
        plan, data = self.of.plan(), arrays[self.ends :]

        def apply(x: Any) -> Any:
            return self._applied(lib.xp, x, arrays)

        with np.errstate(all="ignore"):
            product = plan.product(lib, data, b) if plan.product and lib.is_host else apply
            precondition = plan.preconditioner(lib, data, b) if plan.preconditioner else None
            return conjugate_gradients(lib.xp, product, precondition, b, by)

    @cached_property
    def singular(self) -> str:
        """The message where the matrix is singular."""
        line, what = self.of.line, self.of.of
        unknowns, equations = (
            " ⊕ ".join(map(str, some)) for some in (self.unknowns, map(line.slots.__getitem__, line.outputs))
        )
        return SINGULAR[what].format(f"{unknowns} → {equations}")

    def _parts(self, xp: Any, x: Any, front: tuple[int, ...]) -> list[Any]:
        """The arrays of the unknowns, with axes in front."""
        found, start = [], 0
        for leaf, size in zip(self.unknowns, self.sizes, strict=True):
            found.append(xp.reshape(x[:, :, start : start + size], (*front, *leaf.shape)))
            start += size
        return found

    def _applied(self, xp: Any, x: Any, arrays: list[Any]) -> Any:
        """The line applied to several x, an axis of them in front."""
        n, lanes = x.shape[:2]
        front = (n,) if n > 1 else ()
        if n not in self.bound:
            line = prepared(under(self.of.line, (Fin.of(n),), self.of.unknowns) if front else self.of.line)
            self.bound[n] = BoundLine(line, self.lib.inner, Arrays(arrays).parts)
        made = self.bound[n]([*self._parts(xp, x, front), *arrays[self.ends :]])
        if len(made) == 1:
            return xp.reshape(xp.asarray(made[0]), (n, lanes, -1))
        return xp.concat([xp.reshape(xp.asarray(a), (n, lanes, -1)) for a in made], axis=2)


def under(line: Line, axes: tuple[Index, ...], unknowns: int) -> Line:
    """The line on many unknowns, the data shared."""
    up = [k < unknowns for k in range(line.arity)]
    b = Builder([leaf.under(axes) if u else leaf for leaf, u in zip(line.slots, up, strict=False)], fixed=line.fixed)
    outputs, varies = lifted_line(b, line, axes, range(b.arity), up)
    return b.line(k if v else b.rep(k, axes) for k, v in zip(outputs, varies, strict=True))


def solver(of: Solve, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:  # noqa: ARG001 - of all steps
    """The kernel of a linear system."""
    return Kernel(_Solver(of, lib), fresh=False)

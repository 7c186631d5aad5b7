"""What runs a linear system: the line on all basis vectors at once is its matrix, or it is applied as GMRES asks."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, final

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.libraries.linear_systems import direct, gmres, has_room, is_direct
from hilbert.base.attach import attach
from hilbert.errors import SpaceError
from hilbert.index.index import Fin, Index
from hilbert.program.control.equation_step import Solve
from hilbert.program.line.builder import Builder
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.constant_folding import folded
from hilbert.program.run.fuse import fused
from hilbert.program.transform.lifted_line import lifted_line

if TYPE_CHECKING:
    from hilbert.arrays.kernels.library import Library
    from hilbert.program.line.line import Line

SINGULAR = {
    "root": "root: the derivative {} of its function is singular at this point, so that Newton's iteration has no next "
    "step, and a root there no derivative: start it elsewhere",
    "fixed_point": "fixed_point: id minus the derivative {} of its function is singular at this point, so that the "
    "fixed point has no derivative there",
    "": "a linear system {} is singular at this point: it has no solution, or many",
}
"""What is said of a singular matrix, by what it is the derivative of."""


@final
class _Solver:
    """Runs a `Solve`; what applies its line to some right sides is bound when it is first run.

    Directly where there are few unknowns; else GMRES has one try, and goes on only where a matrix has no room.
    """

    def __init__(self, of: Solve, lib: Library) -> None:
        self.lib, self.of, line, u = lib, of, of.line, of.unknowns
        self.ends = len(line.outputs)
        self.unknowns, self.many = line.slots[:u], tuple(axis.size for axis in of.many)
        self.lanes = line.slots[0].shape[: of.lanes]
        self.sizes = [prod(leaf.shape[of.lanes :]) for leaf in self.unknowns]
        self.total = sum(self.sizes)
        self.is_direct, self.has_room = (f(self.total, prod(self.lanes)) for f in (is_direct, has_room))
        self.bound: dict[int, BoundLine] = {}

    def __call__(self, given: Arrays) -> Arrays:
        """The arrays of the unknowns."""
        lib = self.lib.inner
        arrays = [lib.xp.asarray(self.lib.whole(a, "a linear system")) for a in given]
        xp = lib.xp
        rows, lanes = prod(self.many), prod(self.lanes)
        b = xp.concat([xp.reshape(a, (rows, lanes, -1)) for a in arrays[: self.ends]], axis=2) if rows * lanes else None
        if b is None or not self.total:
            shapes = ((*self.many, *leaf.shape) for leaf in self.unknowns)
            return Arrays([lib.zeros(shape, arrays[0]) for shape in shapes])
        x: Any = None
        if not self.is_direct:

            def apply(x: Any) -> Any:
                made = self._applied(xp, xp.reshape(x, (rows, lanes, self.total)), arrays)
                return xp.reshape(made, (rows * lanes, self.total))

            right = xp.reshape(b, (rows * lanes, self.total))
            x, left = gmres(xp, apply, right, once=self.has_room)
            if left and not self.has_room:
                msg = (
                    f"a linear system of {self.total} unknowns is not solved: GMRES leaves {left:.3g} of the right side"
                )
                raise SpaceError(msg)
            x = None if left else x
        if x is None:
            eye = xp.eye(self.total, dtype=b.dtype, device=getattr(b, "device", None))
            basis = xp.broadcast_to(eye[:, None, :], (self.total, lanes, self.total))
            x = direct(xp, xp.permute_dims(self._applied(xp, basis, arrays), (1, 2, 0)), b, self._singular())
        return Arrays(self._parts(xp, xp.reshape(x, (rows, lanes, self.total)), self.many))

    def _singular(self) -> str:
        """What is said where the matrix is singular."""
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
        """The line on some x, one behind the other."""
        n, lanes = x.shape[:2]
        if n not in self.bound:
            line = fused(folded(under(self.of.line, (Fin.of(n),), self.of.unknowns)))
            self.bound[n] = BoundLine(line, self.lib.inner, Arrays(arrays).parts)
        made = self.bound[n]([*self._parts(xp, x, (n,)), *arrays[self.ends :]])
        return xp.concat([xp.reshape(xp.asarray(a), (n, lanes, -1)) for a in made], axis=2)


def under(line: Line, axes: tuple[Index, ...], unknowns: int) -> Line:
    """The line on many unknowns, the data shared."""
    up = [k < unknowns for k in range(line.arity)]
    b = Builder([leaf.under(axes) if u else leaf for leaf, u in zip(line.slots, up, strict=False)], fixed=line.fixed)
    outputs, varies = lifted_line(b, line, axes, range(b.arity), up)
    return b.line(k if v else b.rep(k, axes) for k, v in zip(outputs, varies, strict=True))


attach(Solve, "bind", lambda of, lib, operands, result: Kernel(_Solver(of, lib), fresh=False))  # noqa: ARG005

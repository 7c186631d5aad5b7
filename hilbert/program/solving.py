"""What runs a linear system: the line on all basis vectors at once is its matrix, or it is applied as GMRES asks."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, final

from hilbert.arrays.kernel import Kernel
from hilbert.arrays.library import Arrays
from hilbert.arrays.systems import direct, gmres, is_direct
from hilbert.attach import attach
from hilbert.index import Fin, Index
from hilbert.program.bind import BoundLine
from hilbert.program.builder import Builder
from hilbert.program.fold import folded
from hilbert.program.fuse import fused
from hilbert.program.implicit import Solve
from hilbert.program.lifted import lifted_line

if TYPE_CHECKING:
    from hilbert.arrays.library import Library
    from hilbert.program.line import Line


@final
class _Solver:
    """Runs a `Solve`; what applies its line is bound when it is first run."""

    def __init__(self, of: Solve, lib: Library) -> None:
        self.lib, line, u = lib, of.line, of.unknowns
        self.ends = len(line.outputs)
        self.unknowns, self.many = line.slots[:u], tuple(axis.size for axis in of.many)
        self.lanes = line.slots[0].shape[: of.lanes]
        self.sizes = [prod(leaf.shape[of.lanes :]) for leaf in self.unknowns]
        self.total = sum(self.sizes)
        self.is_direct = is_direct(self.total, prod(self.lanes))
        axes: tuple[Index, ...] = (Fin.of(self.total if self.is_direct else prod(self.many)),)
        self.line = fused(folded(under(line, axes, u)))
        self.bound: BoundLine | None = None

    def __call__(self, given: Arrays) -> Arrays:
        """The arrays of the unknowns."""
        lib = self.lib.inner
        arrays = [lib.xp.asarray(self.lib.whole(a, "a linear system")) for a in given]
        if self.bound is None:
            self.bound = BoundLine(self.line, lib, Arrays(arrays).parts)
        xp, data = lib.xp, arrays[self.ends :]
        rows, lanes = prod(self.many), prod(self.lanes)
        b = xp.concat([xp.reshape(a, (rows, lanes, -1)) for a in arrays[: self.ends]], axis=2) if rows * lanes else None
        if b is None or not self.total:
            shapes = ((*self.many, *leaf.shape) for leaf in self.unknowns)
            return Arrays([lib.zeros(shape, arrays[0]) for shape in shapes])
        if self.is_direct:
            eye = xp.eye(self.total, dtype=b.dtype, device=getattr(b, "device", None))
            basis = xp.broadcast_to(eye[:, None, :], (self.total, lanes, self.total))
            columns = self._applied(xp, basis, data)
            x = direct(xp, xp.permute_dims(columns, (1, 2, 0)), b)
        else:

            def apply(x: Any) -> Any:
                made = self._applied(xp, xp.reshape(x, (rows, lanes, self.total)), data)
                return xp.reshape(made, (rows * lanes, self.total))

            x = gmres(xp, apply, xp.reshape(b, (rows * lanes, self.total)))
        return Arrays(self._parts(xp, xp.reshape(x, (rows, lanes, self.total)), self.many))

    def _parts(self, xp: Any, x: Any, front: tuple[int, ...]) -> list[Any]:
        """The arrays of the unknowns, with axes in front."""
        found, start = [], 0
        for leaf, size in zip(self.unknowns, self.sizes, strict=True):
            found.append(xp.reshape(x[:, :, start : start + size], (*front, *leaf.shape)))
            start += size
        return found

    def _applied(self, xp: Any, x: Any, data: list[Any]) -> Any:
        """The line on some x, one behind the other."""
        assert self.bound is not None
        n, lanes = x.shape[:2]
        made = self.bound([*self._parts(xp, x, (n,)), *data])
        return xp.concat([xp.reshape(xp.asarray(a), (n, lanes, -1)) for a in made], axis=2)


def under(line: Line, axes: tuple[Index, ...], unknowns: int) -> Line:
    """The line on many unknowns, the data shared."""
    up = [k < unknowns for k in range(line.arity)]
    b = Builder([leaf.under(axes) if u else leaf for leaf, u in zip(line.slots, up, strict=False)], fixed=line.fixed)
    outputs, varies = lifted_line(b, line, axes, range(b.arity), up)
    return b.line(k if v else b.rep(k, axes) for k, v in zip(outputs, varies, strict=True))


attach(Solve, "bind", lambda of, lib, operands, result: Kernel(_Solver(of, lib), fresh=False))  # noqa: ARG005

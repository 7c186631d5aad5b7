"""The supports of coefficients above the value: a slot that does not vary has none (`linmap.net.support`).

The supports are those of tangents, one for all orders: a step's are the images of its arguments' under the arcs of its
derivative. Entries outside of the support are set to 0 after a product with a coefficient that may be infinite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, final

import numpy as np

from diff.derive.equation_derivative import mask
from diff.derive.finite_slopes import follow
from diff.jets.series_rules import Euler
from diff.jets.taylor_series import PartialDerivative
from diff.terms.elementwise import Elementwise
from diff.terms.user_operation import Custom
from hilbert.index.spec import Spec
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.external import External
from hilbert.program.line.operation import Add, Along, Cast, Contract, Keep, Literal, Move, Reduce, Scale
from linmap.net.loop_masks import known_mask
from linmap.net.support import Given, Part, Support, united
from linmap.net.supported_flow import Supports
from linmap.term import wire
from linmap.term.datum import Ref

if TYPE_CHECKING:
    from collections.abc import Mapping

    from diff.jets.taylor_series import TaylorSeries
    from diff.terms.program import Operation
    from hilbert.program.line.constant import Const


NOTHING: Any = object()
"""The support of a slot that does not vary."""


def is_zero(linear: Any) -> bool:
    """Tell if a step is (0 ·)."""
    return isinstance(linear, Scale) and linear.k == 0.0


@final
class SeriesSupports:
    """The supports of the slots of a series."""

    def __init__(self, series: TaylorSeries, where: Mapping[int, Support]) -> None:
        self.series = series
        self.supports = Supports(series.out, lambda d: d.slot if isinstance(d, Ref) else series.out.literal(d))
        self._where = dict(where)  # of arguments that are 0 somewhere
        self.of_results: dict[tuple[int, int], Const] = {}  # the masks of arrays that a loop gives
        self._finite: list[Any] = [True] * series.out.arity

    def kept(self, u: int, factor: int, product: int) -> int:
        """A product with a coefficient of slot u, masked by the support of u if the other factor may be infinite."""
        b = self.series.out
        where = self._support(u)
        if where is None or where is NOTHING:
            return product
        follow(self._finite, b)
        if self._finite[factor]:
            return product
        n = len(self.series.src.slots[u].axes)
        spec = Spec.pointwise(n).lifted(len(b.slots[product].axes) - n, left=False, right=True)
        for _, chosen in self.supports.selection(Part(self.series.value(u), where)):
            product = b.contract(spec, self.supports.slot(chosen), product)
        return product

    def mask(self, u: int) -> Const | int | None:
        """The mask outside of which the coefficients of a slot are 0: a constant, or a slot; None for no mask."""
        where = self._support(u)
        if where is NOTHING:
            leaf = self.series.src.slots[u]
            return known_mask(np.zeros(leaf.shape, bool), leaf.axes)
        return self.supports.mask(Part(self.series.value(u), where))

    def slot(self, mask: Const | int) -> int:
        """The slot of a mask."""
        return self.supports.slot(mask)

    def _support(self, u: int) -> Support:
        todo = [u]
        while todo:  # no recursion: a program may be long
            slot = todo[-1]
            arcs = self._arcs(slot)
            missing = [k for _, k in arcs if k not in self._where]
            if slot not in self._where and not missing:
                self._where[slot] = self._found(slot, arcs)
            if slot in self._where:
                todo.pop()
            todo += missing
        return self._where[u]

    def _found(self, slot: int, arcs: list[tuple[wire.Simple | None, int]]) -> Support:
        src = self.series.src
        step = src.steps[slot - src.arity] if slot >= src.arity else None
        if step is not None and isinstance(step.operation, Unpack):
            mask = self.of_results.get((step.args[0], step.operation.k))
            if mask is not None:
                return Given(mask)
        if step is None:
            return None if self.series.moving[slot] else NOTHING
        return self._united(arcs)

    def _united(self, arcs: list[tuple[wire.Simple | None, int]]) -> Support:
        """The union of the images under some arcs; None, everywhere, where one of them is not known."""
        found: list[Support] = []
        for f, k in arcs:
            if self._where[k] is NOTHING:
                continue
            value = self._value(k)
            if f is None or value is None:
                return None  # everywhere
            datum = self.supports.at(f.datum) if isinstance(f, wire.ContractWith) else None
            part = Part(value, self._where[k])
            found.append(part.where if isinstance(f, (wire.Same, Scale)) else self.supports.image(f, datum, part))
        total = found[0] if found else NOTHING
        for where in found[1:]:
            total = total if total is where else united(total, where)
        return total

    def _value(self, k: int) -> int | None:
        return self.series.known.get((k, (0,) * len(self.series.levels[0][0])))

    def _arcs(self, slot: int) -> list[tuple[wire.Simple | None, int]]:
        """The arcs of a step's derivative from what varies; None for one that is not known."""
        series = self.series
        if slot < series.src.arity:
            return []
        return [(f, k) for f, k in self._all_arcs(slot) if series.moving[k] and not is_zero(f)]

    def _all_arcs(self, slot: int) -> list[tuple[wire.Simple | None, int]]:
        src, out = self.series.src, self.series.out
        step, leaf = src.steps[slot - src.arity], src.slots[slot]
        if isinstance(step.operation, Unpack) and isinstance(src.operation(step.args[0]), Pack):
            return [(wire.Same(), src.steps[step.args[0] - src.arity].args[step.operation.k])]
        pointwise = Spec.pointwise(len(leaf.axes)) if leaf.is_field else None

        def by(spec: Any, side: int, datum: int) -> wire.Simple | None:
            value = self._value(datum)
            return None if value is None else wire.ContractWith(spec, side, Ref(value, out.slots[value]))

        operation: Operation | Euler = step.operation
        match operation:
            case Contract(spec):
                u, v = step.args
                sides = ((by(spec, 0, u), v), (by(spec, 1, v), u))
                return [(f, k) for f, k in sides if src.slots[k].is_field]
            case Add() | Keep():
                return [(wire.Same(), k) for k in step.args]
            case Scale() | Reduce() | Move() | Cast() | External() as linear:
                return [(linear, step.args[0])]
            case Choose() | Fill():
                c = self._value(step.args[0])
                if c is None:
                    return [(None, k) for k in step.args]
                if isinstance(operation, Fill):
                    return [(mask(out, c, leaf, when=operation.when), step.args[1])]
                return [(mask(out, c, leaf, when=k == 1), step.args[k]) for k in (1, 2)]
            case Elementwise() if slot in self.series.partials:
                found = zip(self.series.partials[slot], step.args, strict=True)
                return [
                    (by(pointwise, 0, w.slot) if isinstance(w, PartialDerivative) else wire.Scale(w), k)
                    for w, k in found
                ]
            case (
                Elementwise() | Custom() | Along() | ControlFlow() | Pack() | Unpack() | Literal() | AnyLane() | Euler()
            ):  # everywhere
                return [(None, k) for k in step.args]
            case _:
                assert_never(operation)

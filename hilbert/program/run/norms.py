"""√Σ a² at once, so that no square leaves the range of the numbers: the step that a sum of squares and its root are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.arrays.formal.formal_kernels import FormalKernels
from hilbert.arrays.kernels.kernel import Kernel
from hilbert.index.leaf import Leaf
from hilbert.program.line.line import Step
from hilbert.program.line.operation import Add, Contract
from hilbert.program.line.step_operation import Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.index.spec import Spec


@final
@frozen(repr=False)
class Norm(Operation):
    """The root of Σ a², for one or several arrays a."""

    specs: tuple[Spec, ...]
    root: Operation

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf with the axes that are not summed, which all operands have in common."""
        return Contract(self.specs[0]).image(operands[0], operands[0])

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The plain formula on numpy if its sum is of normal size; else of arrays divided by their largest entries."""
        square = [Contract(s).bind(lib, (a, a), result).call for s, a in zip(self.specs, operands, strict=True)]
        root = self.root.bind(lib, (result,), result)
        add, first, rest = lib.add().call, square[0], square[1:]

        def squared(array: Any, *arrays: Any) -> Any:
            total = first(array, array)
            if rest:
                for f, a in zip(rest, arrays, strict=True):
                    total = add(total, f(a, a))
            return total

        if isinstance(lib, FormalKernels) or not all(a.size for a in operands):
            return Kernel(lambda *arrays: root.call(squared(*arrays)))
        scaled = _scaled(lib.xp, [_summed(s) for s in self.specs], squared, root.call)
        return Kernel(_checked(result, squared, scaled, root) if lib.is_host else scaled)


def _summed(spec: Spec) -> tuple[int, ...]:
    """The axes that are added up."""
    return tuple(k for k, label in enumerate(spec.left) if label not in spec.out)


def _scaled(xp: Any, axes: Sequence[tuple[int, ...]], squared: Any, root: Any) -> Callable[..., Any]:
    def call(*arrays: Any) -> Any:
        pairs = list(zip(arrays, axes, strict=True))
        most = [xp.max(xp.abs(a), axis=at) if at else xp.abs(a) for a, at in pairs]
        scale = most[0]
        for other in most[1:]:
            scale = xp.maximum(scale, other)
        scale = xp.where((scale > 0.0) & xp.isfinite(scale), scale, xp.ones_like(scale))
        return scale * root(squared(*(a / _spread(xp, scale, at) for a, at in pairs)))

    return call


def _spread(xp: Any, scale: Any, axes: tuple[int, ...]) -> Any:
    """The array with new axes of length 1 in these places."""
    for k in axes:
        scale = xp.expand_dims(scale, axis=k)
    return scale


def _checked(result: Leaf, squared: Any, scaled: Any, root: Kernel) -> Callable[..., Any]:
    """A kernel on numpy that scales only if the sum of squares leaves the normal range; warnings may be errors."""
    info = np.finfo(result.dtype)
    least, most = float(info.tiny / info.eps), math.inf
    number, over = root.scalar or root.call, root.inplace[0] or root.call
    lowest, highest = np.minimum.reduce, np.maximum.reduce

    def of_one(*arrays: Any) -> Any:
        try:
            total = squared(*arrays)
            if least < float(total) < most:
                return number(total)
        except (RuntimeWarning, FloatingPointError):
            pass
        return scaled(*arrays)[()]

    def of_many(*arrays: Any) -> Any:
        try:
            total = squared(*arrays)
            if not total.size or (least < lowest(total, axis=None) and highest(total, axis=None) < most):
                return over(total)
        except (RuntimeWarning, FloatingPointError):
            pass
        return scaled(*arrays)

    return of_many if result.axes else of_one


def norm(step: Step[Any], before: Callable[[int], Step[Any] | None]) -> Step[Norm] | None:
    """The root of a sum of squares as one step; None for another root."""
    found: list[tuple[Spec, int]] = []
    todo = list(step.args)
    while todo:
        inner = before(todo.pop())
        match inner.operation if inner else None:
            case Add() if inner is not None:
                todo += inner.args
            case Contract(spec) if inner is not None and inner.args[0] == inner.args[1] and _adds_squares(spec):
                found.append((spec, inner.args[0]))
            case _:  # something else is under the root
                return None
    if len({spec.out for spec, _ in found}) > 1 or not any(spec.contracted for spec, _ in found):
        return None
    return Step(Norm(tuple(spec for spec, _ in found), step.operation), tuple(slot for _, slot in found), step.place)


def _adds_squares(spec: Spec) -> bool:
    """Tell if a contraction of an array with itself adds the squares of entries, along axes that go."""
    kept = [label for label in spec.left if label in spec.out]
    return spec.left == spec.right and len({*spec.left}) == len(spec.left) and kept == list(spec.out)

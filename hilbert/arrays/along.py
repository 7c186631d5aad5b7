"""Kernels of functions along axes: positions of extremes, orders, log Σ exp and softmax (see `operation.Along`).

log Σ exp x = m + log Σ exp(x − m) for the largest entry m, so that nothing overflows; an m that is infinite is not
subtracted, for ∞ − ∞ is no number. Of equal entries the first is found, and orders are stable.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.kernel import Kernel
from hilbert.arrays.library import Library
from hilbert.arrays.windows import row_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.leaf import Leaf

SHORT = 64
"""Rows of up to so many entries are turned before they are compared (measured)."""


class Axes(Library):
    """By the array API."""

    def along(self, name: str, at: int, count: int, leaf: Leaf) -> Kernel:
        """The axes as one, and the function along it."""
        shape = leaf.shape
        flat = (*shape[:at], math.prod(shape[at : at + count]), *shape[at + count :])
        xp, call = self.xp, self._along(name, at, flat)
        if count == 1:
            return Kernel(call)
        if name in {"argsort", "softmax", "softmax beside"}:
            return Kernel(lambda a, *more: xp.reshape(call(xp.reshape(a, flat), *more), shape))
        return Kernel(lambda a: call(xp.reshape(a, flat)))

    def _along(self, name: str, at: int, shape: tuple[int, ...]) -> Callable[..., Any]:
        xp = self.xp
        match name:
            case "argmax":
                return lambda a: xp.argmax(a, axis=at)
            case "argmin":
                return lambda a: xp.argmin(a, axis=at)
            case "argsort":
                return lambda a: xp.argsort(a, axis=at, stable=True)
            case "logsumexp":
                return self.logsumexp(at, shape)
            case "softmax":
                return self.softmax(at, shape)
            case "softmax beside":
                return self.softmax_beside(at, shape)
            case _:  # names are checked where they are made
                raise TypeError(name)

    def logsumexp(self, at: int, shape: tuple[int, ...]) -> Callable[[Any], Any]:
        """log Σ exp along one axis; −∞ along an empty one."""
        xp, rest = self.xp, (*shape[:at], *shape[at + 1 :])
        if not shape[at]:
            return lambda a: self.zeros(rest, a) - math.inf

        def call(a: Any) -> Any:
            m = self._finite(self._largest(a, at))
            return xp.log(xp.sum(self._shifted(a, m), axis=at)) + xp.squeeze(m, axis=at)

        return call

    def softmax(self, at: int, shape: tuple[int, ...]) -> Callable[[Any], Any]:
        """exp x / Σ exp x along one axis."""
        xp = self.xp
        if not math.prod(shape):
            return xp.exp  # type: ignore[no-any-return]
        return lambda a: self._normalised(self._shifted(a, self._finite(self._largest(a, at))), at)

    def softmax_beside(self, at: int, shape: tuple[int, ...]) -> Callable[[Any, Any], Any]:
        """softmax x, where log Σ exp x is there: no entry of x is larger, so it does for the largest."""
        xp = self.xp
        if not math.prod(shape):
            return lambda a, _: xp.exp(a)
        return lambda a, total: self._normalised(self._shifted(a, xp.expand_dims(self._finite(total), axis=at)), at)

    def _shifted(self, a: Any, m: Any) -> Any:
        """exp(a − m)."""
        return self.xp.exp(a - m)

    def _normalised(self, e: Any, at: int) -> Any:
        """Divided by the sums along an axis."""
        return e / self.xp.sum(e, axis=at, keepdims=True)

    def _largest(self, a: Any, at: int) -> Any:
        """The largest entries along an axis, which stays."""
        return self.xp.max(a, axis=at, keepdims=True)

    def _finite(self, m: Any) -> Any:
        """The entries, 0 for infinite ones."""
        return self.xp.where(self.xp.isfinite(m), m, self.zeros((), m))


class NumpyAxes(Axes):
    """In place, sums of rows by BLAS."""

    def logsumexp(self, at: int, shape: tuple[int, ...]) -> Callable[[Any], Any]:
        """Into one array."""
        if not math.prod(shape):
            return super().logsumexp(at, shape)

        def call(a: Any) -> Any:
            m = self._finite(self._largest(a, at))
            return np.log(_sums(self._shifted(a, m), at)) + m.squeeze(at)

        return call

    def _shifted(self, a: Any, m: Any) -> Any:
        """Into one array."""
        e = np.subtract(a, m)
        return np.exp(e, out=e)

    def _normalised(self, e: Any, at: int) -> Any:
        """In place."""
        e /= np.expand_dims(_sums(e, at), at)
        return e

    def _largest(self, a: Any, at: int) -> Any:
        """Short rows are made columns, which numpy compares faster."""
        if at != a.ndim - 1 or not 1 < a.shape[at] <= SHORT or a.ndim == 1:
            return np.max(a, axis=at, keepdims=True)
        return np.max(np.ascontiguousarray(np.moveaxis(a, at, 0)), axis=0)[..., None]

    def _finite(self, m: Any) -> Any:
        """The entries themselves, most often."""
        finite = np.isfinite(m)
        return m if finite.all() else np.where(finite, m, 0.0).astype(m.dtype)


def _sums(e: Any, at: int) -> Any:
    """Sums along an axis."""
    return row_sums(e) if at == e.ndim - 1 else np.add.reduce(e, axis=at)

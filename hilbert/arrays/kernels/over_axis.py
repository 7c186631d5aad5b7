"""Kernels of functions along axes: positions of extremes, orders, log Σ exp and softmax (see `operation.Along`).

log Σ exp x = m + log Σ exp(x − m) for the largest entry m, so that nothing overflows; an m that is infinite is not
subtracted, for ∞ − ∞ is no number. Of equal entries the first is found, and orders are stable.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Arrays, Library
from hilbert.arrays.kernels.windows import row_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.index.leaf import Leaf

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
        if name in {"argsort", "softmax"}:
            return Kernel(lambda a: xp.reshape(call(xp.reshape(a, flat)), shape))
        if name == "both":
            return Kernel(lambda a: _second_reshaped(xp, call(xp.reshape(a, flat)), shape))
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
            case "both":
                return self.both(at, shape)
            case _:  # names are checked where they are made
                raise TypeError(name)

    def logsumexp(self, at: int, shape: tuple[int, ...]) -> Callable[[Any], Any]:
        """log Σ exp along one axis; −∞ along an empty one."""
        xp, rest = self.xp, (*shape[:at], *shape[at + 1 :])
        if not math.prod(shape):
            return lambda a: self.zeros(rest, a) - (0.0 if shape[at] else math.inf)

        def call(a: Any) -> Any:
            m = self._finite(self._largest(a, at))
            return self._without(xp.log(self._sum(self._shifted(a, m), at)) + m, at)

        return call

    def softmax(self, at: int, shape: tuple[int, ...]) -> Callable[[Any], Any]:
        """exp x / Σ exp x along one axis."""
        if not math.prod(shape):
            return self.xp.exp  # type: ignore[no-any-return]

        def call(a: Any) -> Any:
            e = self._shifted(a, self._finite(self._largest(a, at)))
            return self._over(e, self._sum(e, at))

        return call

    def both(self, at: int, shape: tuple[int, ...]) -> Callable[[Any], Arrays]:
        """log Σ exp, and exp x / Σ exp x of the same exponentials."""
        xp = self.xp
        if not math.prod(shape):
            total, parts = self.logsumexp(at, shape), self.softmax(at, shape)
            return lambda a: Arrays((total(a), parts(a)))

        def call(a: Any) -> Arrays:
            m = self._finite(self._largest(a, at))
            e = self._shifted(a, m)
            s = self._sum(e, at)
            return Arrays((self._without(xp.log(s) + m, at), self._over(e, s)))

        return call

    def _shifted(self, a: Any, m: Any) -> Any:
        """exp(a − m)."""
        return self.xp.exp(a - m)

    def _sum(self, e: Any, at: int) -> Any:
        """The sums along an axis, which stays."""
        return self.xp.sum(e, axis=at, keepdims=True)

    def _over(self, e: Any, s: Any) -> Any:
        """e / s, where nobody else has e."""
        return e / s

    def _without(self, a: Any, at: int) -> Any:
        """Without an axis of one."""
        return self.xp.squeeze(a, axis=at)

    def _largest(self, a: Any, at: int) -> Any:
        """The largest entries along an axis, which stays."""
        return self.xp.max(a, axis=at, keepdims=True)

    def _finite(self, m: Any) -> Any:
        """The entries, 0 for infinite ones."""
        return self.xp.where(self.xp.isfinite(m), m, self.zeros((), m))


class NumpyAxes(Axes):
    """In place, sums of rows by BLAS."""

    def _shifted(self, a: Any, m: Any) -> Any:
        """Into one array."""
        e = np.subtract(a, m)
        return np.exp(e, out=e)

    def _sum(self, e: Any, at: int) -> Any:
        """Of rows by BLAS."""
        return np.expand_dims(row_sums(e), at) if at == e.ndim - 1 else np.add.reduce(e, axis=at, keepdims=True)

    def _over(self, e: Any, s: Any) -> Any:
        """In place."""
        e /= s
        return e

    def _without(self, a: Any, at: int) -> Any:
        """A scalar where no axis is left."""
        return a.squeeze(at)[()]

    def _largest(self, a: Any, at: int) -> Any:
        """Short rows are made columns, which numpy compares faster."""
        if at != a.ndim - 1 or not 1 < a.shape[at] <= SHORT or a.ndim == 1:
            return np.max(a, axis=at, keepdims=True)
        return np.max(np.ascontiguousarray(np.moveaxis(a, at, 0)), axis=0)[..., None]

    def _finite(self, m: Any) -> Any:
        """The entries themselves, most often."""
        finite = np.isfinite(m)
        return m if finite.all() else np.where(finite, m, 0.0).astype(m.dtype)


def _second_reshaped(xp: Any, made: Arrays, shape: tuple[int, ...]) -> Arrays:
    first, second = made
    return Arrays((first, xp.reshape(second, shape)))

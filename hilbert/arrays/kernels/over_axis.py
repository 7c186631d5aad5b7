"""Kernels of functions along axes: positions of extremes, orders, log Σ exp, softmax and its logarithm.

log Σ exp x = m + log Σ exp(x − m) for the largest entry m, so that nothing overflows; an m that is infinite is not
subtracted, for ∞ − ∞ is no number. Entries −∞ are numbers 0 in their logarithms: where all are, the measure is empty,
and its parts are 0. Of equal entries the first is found, and orders are stable.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Arrays, Library
from hilbert.arrays.kernels.windows import SMALL, row_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.index.leaf import Leaf

KEPT = frozenset(("argsort", "softmax", "log_softmax"))
"""The functions with a result for each entry."""
SHORT = 64
"""Rows of up to so many entries are turned before they are compared (measured)."""


class Axes(Library):
    """Functions along axes by the array API."""

    def along(self, name: str, at: int, count: int, leaf: Leaf) -> Kernel:
        """The axes as one, and the function along it; of several names, with spaces between, all their results."""
        shape = leaf.shape
        flat = (*shape[:at], math.prod(shape[at : at + count]), *shape[at + count :])
        xp, call = self.xp, self._along(name, at, flat)
        if count == 1:
            return Kernel(call)
        ends = [shape if one in KEPT else None for one in name.split()]
        if len(ends) > 1:
            return Kernel(lambda a: _reshaped(xp, call(xp.reshape(a, flat)), ends))
        if ends[0]:
            return Kernel(lambda a: xp.reshape(call(xp.reshape(a, flat)), shape))
        return Kernel(lambda a: call(xp.reshape(a, flat)))

    def _along(self, name: str, at: int, shape: tuple[int, ...]) -> Callable[..., Any]:
        """The function of this name, or of several names, along one axis of arrays of a shape."""
        xp = self.xp
        match name:
            case "argmax":
                return lambda a: xp.argmax(a, axis=at)
            case "argmin":
                return lambda a: xp.argmin(a, axis=at)
            case "argsort":
                return lambda a: xp.argsort(a, axis=at, stable=True)
            case _:  # names are checked where they are made
                return self.exponentials(tuple(name.split()), at, shape)

    def exponentials(self, names: tuple[str, ...], at: int, shape: tuple[int, ...]) -> Callable[[Any], Any]:
        """Some of log Σ exp, softmax and log softmax along one axis, of the same exponentials.

        Where all entries are −∞, and of no entries, log Σ exp is −∞, softmax 0 and log softmax −∞.
        """
        if not math.prod(shape):
            return self._of_none(names, at, shape)
        of = [getattr(self, f"_{name}") for name in names]
        shift = self._exp if "log_softmax" not in names else self.xp.exp  # which keeps a − m

        def shared(a: Any) -> tuple[Any, ...]:
            largest = self._largest(a, at)
            m = self._finite(largest)
            moved = a - m
            e = shift(moved)
            s = self._sum(e, at)
            return moved, m, e, s, s if m is largest else self._nonzero(s), at

        if len(of) == 1:
            (one,) = of
            return lambda a: one(*shared(a))

        def all_of_them(a: Any) -> Arrays:
            made = shared(a)
            return Arrays([one(*made) for one in of])

        return all_of_them

    def _of_none(self, names: tuple[str, ...], at: int, shape: tuple[int, ...]) -> Callable[[Any], Any]:
        """The results for an array without entries."""
        rest = (*shape[:at], *shape[at + 1 :])
        of = [
            self.xp.exp if name in KEPT else lambda a: self.zeros(rest, a) - (0.0 if shape[at] else math.inf)
            for name in names
        ]
        return of[0] if len(of) == 1 else lambda a: Arrays([one(a) for one in of])

    def _logsumexp(self, moved: Any, m: Any, e: Any, s: Any, positive: Any, at: int) -> Any:
        """M + log Σ exp(a − m), without the logarithm of 0."""
        del moved, e
        sums = self.xp.log(positive) + m
        return self._without(sums if positive is s else self.xp.where(s == 0.0, self.zeros((), s) - math.inf, sums), at)

    def _softmax(self, moved: Any, m: Any, e: Any, s: Any, positive: Any, at: int) -> Any:
        """exp(a − m) / Σ exp(a − m)."""
        del moved, m, s, at
        return self._over(e, positive)

    def _log_softmax(self, moved: Any, m: Any, e: Any, s: Any, positive: Any, at: int) -> Any:
        """(a − m) − log Σ exp(a − m)."""
        del m, e, s, at
        return self._minus(moved, self.xp.log(positive))

    def _nonzero(self, s: Any) -> Any:
        """The array with 1 in place of 0."""
        return self.xp.where(s == 0.0, self.zeros((), s) + 1.0, s)

    def _exp(self, a: Any) -> Any:
        """exp a, where nobody else has a."""
        return self.xp.exp(a)

    def _minus(self, a: Any, b: Any) -> Any:
        """a − b, where nobody else has a."""
        return a - b

    def _sum(self, e: Any, at: int) -> Any:
        """The sums along an axis, which stays."""
        return self.xp.sum(e, axis=at, keepdims=True)

    def _over(self, e: Any, s: Any) -> Any:
        """e / s, where nobody else has e."""
        return e / s

    def _without(self, a: Any, at: int) -> Any:
        """The array without an axis of length 1."""
        return self.xp.squeeze(a, axis=at)

    def _largest(self, a: Any, at: int) -> Any:
        """The largest entries along an axis, which stays."""
        return self.xp.max(a, axis=at, keepdims=True)

    def _finite(self, m: Any) -> Any:
        """The array with 0 in place of infinite entries."""
        return self.xp.where(self.xp.isfinite(m), m, self.zeros((), m))


class NumpyAxes(Axes):
    """Functions along axes in place, with sums of rows by BLAS."""

    def exponentials(self, names: tuple[str, ...], at: int, shape: tuple[int, ...]) -> Callable[[Any], Any]:
        """Some of log Σ exp, softmax and log softmax; of small arrays by few calls, where the largest are finite."""
        with_care = super().exponentials(names, at, shape)
        size, last = math.prod(shape), at == len(shape) - 1
        if not 0 < size <= SMALL or not (last or (at == 0 and len(shape) == 2)):
            return with_care
        n, kept, rest = shape[at], (*shape[:at], 1, *shape[at + 1 :]), (*shape[:at], *shape[at + 1 :])
        ones, singles, all_finite = np.ones(n), np.ones(n, np.float32), b"\1" * (size // n)
        largest, isfinite, exp, log = np.maximum.reduce, np.isfinite, np.exp, np.log

        def all_of_them(a: Any) -> Any:
            m = largest(a, axis=at, keepdims=True)
            if isfinite(m).tobytes() != all_finite:
                return with_care(a)
            one = ones if a.dtype == np.float64 else singles
            moved = a - m
            e = exp(moved)
            s = (e.dot(one) if last else one.dot(e)).reshape(kept)
            made: list[Any] = []
            for name in names:
                match name:
                    case "logsumexp":
                        made.append((log(s) + m).reshape(rest)[()])
                    case "softmax":
                        made.append(e / s)
                    case _:  # log softmax
                        made.append(moved - log(s))
            return made[0] if len(made) == 1 else Arrays(made)

        return all_of_them

    def _exp(self, a: Any) -> Any:
        """exp a, written into a."""
        return np.exp(a, out=a)

    def _minus(self, a: Any, b: Any) -> Any:
        """a − b, written into a."""
        a -= b
        return a

    def _sum(self, e: Any, at: int) -> Any:
        """The sums along an axis, which stays; of rows by BLAS."""
        return np.expand_dims(row_sums(e), at) if at == e.ndim - 1 else np.add.reduce(e, axis=at, keepdims=True)

    def _over(self, e: Any, s: Any) -> Any:
        """e / s, written into e."""
        e /= s
        return e

    def _without(self, a: Any, at: int) -> Any:
        """The array without an axis of length 1, or a scalar if none is left."""
        return a.squeeze(at)[()]

    def _largest(self, a: Any, at: int) -> Any:
        """The largest entries along an axis; short rows are made columns, which numpy compares faster."""
        if at != a.ndim - 1 or not 1 < a.shape[at] <= SHORT or a.ndim == 1:
            return np.maximum.reduce(a, axis=at, keepdims=True)
        return np.maximum.reduce(np.ascontiguousarray(np.moveaxis(a, at, 0)), axis=0)[..., None]

    def _finite(self, m: Any) -> Any:
        """The array with 0 in place of infinite entries; most often the array itself."""
        finite = np.isfinite(m)
        return m if np.logical_and.reduce(finite, axis=None) else np.where(finite, m, 0.0).astype(m.dtype)


def _reshaped(xp: Any, made: Arrays, shapes: Sequence[tuple[int, ...] | None]) -> Arrays:
    """Each array in its shape; None leaves it as it is."""
    return Arrays([a if shape is None else xp.reshape(a, shape) for a, shape in zip(made, shapes, strict=True)])

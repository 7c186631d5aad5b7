"""All array libraries but numpy: a class for each, with all that is particular to it.

A further one is a class here (or anywhere: it is found by being defined), with `owns` and with a method for each kernel
or service that it does otherwise than the array API; see "An array library" in CONTRIBUTING.md.
"""

from __future__ import annotations

import importlib
import itertools
import math
import sys
from typing import TYPE_CHECKING, Any, final

import array_api_compat
import numpy as np

from hilbert.arrays.kernels.library import Compound, Library, library
from hilbert.arrays.libraries.array_api import ArrayAPI
from hilbert.arrays.libraries.numpy_library import NUMPY, read_only
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@final
class Cupy(ArrayAPI):
    """Arrays on a GPU."""

    @classmethod
    def owns(cls, array: Any) -> bool:
        """True for cupy's arrays."""
        return array_api_compat.is_cupy_array(array)

    def to_host(self, array: Any) -> Any:
        """The array in numpy, copied off the device."""
        return np.asarray(array_api_compat.to_device(array, "cpu"))

    def segment_sum(self, rows: Any, targets: Any, size: int) -> Any:
        """Add by cupy's `add.at`."""
        out = self.zeros((size, rows.shape[1]), rows)
        self.xp.add.at(out, targets, rows)
        return out

    def special(self, name: str) -> Callable[..., Any]:
        """The function of cupyx.scipy."""
        return getattr(importlib.import_module("cupyx.scipy.special"), name)  # type: ignore[no-any-return]


@final
class Jax(ArrayAPI):
    """Arrays of JAX, and its tracers."""

    def guarded(self, array: Any) -> Any:
        """The array itself: JAX's arrays are never written into."""
        return array

    def unshared(self, array: Any) -> Any:
        """The array itself, which not even the user's function can write into."""
        return array

    def branch(self, condition: Any, then: Callable[[], list[Any]], otherwise: Callable[[], list[Any]]) -> list[Any]:
        """The result of one of two functions, by lax.cond if the condition is not known before the program runs."""
        jax = sys.modules["jax"]
        if not isinstance(condition, jax.core.Tracer):
            return super().branch(condition, then, otherwise)
        made: list[Any] = jax.lax.cond(
            condition, *(lambda f=f: list(map(self.xp.asarray, f())) for f in (then, otherwise))
        )
        return made

    def is_known(self, array: Any) -> bool:
        """True but for a tracer."""
        return not isinstance(array, sys.modules["jax"].core.Tracer)

    def holds(self, condition: Any) -> bool:
        """True if a condition is known to hold somewhere; False, too, if nothing is known before the program runs."""
        return self.is_known(condition) and bool(np.any(self.to_host(condition)))

    def repeat(
        self, round_: Callable[[list[Any]], list[Any]], states: list[Any], shared: list[Any], most: int
    ) -> list[Any]:
        """Run rounds by lax.while_loop under `jax.jit`; a lane in which nothing is found in so many becomes NaN."""
        jax, xp = sys.modules["jax"], self.xp
        if not isinstance(xp.any(xp.asarray(states[0])), jax.core.Tracer):  # results computed under `jit` are traced
            return super().repeat(round_, states, shared, most)

        def goes_on(carry: Any) -> Any:
            count, before = carry
            going = xp.any(before[0])
            return going & (count < most) if most else going

        def after(carry: Any) -> Any:
            count, before = carry
            return count + 1, round_([*before, *shared])

        _, last = jax.lax.while_loop(goes_on, after, (0, [xp.asarray(a) for a in states]))
        if not most:
            return list(last)
        failed = last[0] | xp.isnan(last[1])  # of a search, whose residual comes next
        masks = (xp.reshape(failed, failed.shape + (1,) * (a.ndim - failed.ndim)) for a in last)
        both = zip(masks, last, strict=True)
        return [xp.where(mask, xp.nan, a) if xp.isdtype(a.dtype, "real floating") else a for mask, a in both]

    scans = True  # so that `Rounds` calls `scan`

    def scan(
        self, round_: Any, states: list[Any], shared: list[Any], stacks: list[Any], n: int, *, reverse: bool
    ) -> list[Any]:
        """Run a loop by lax.scan: under `jax.jit` the body is compiled once, where rounds in Python would be unrolled.

        `round_` takes [*states, *shared, *a slice of each stack] and gives [*the next states, *a row of each result].
        """
        c = len(states)

        def one(before: list[Any], slices: list[Any]) -> tuple[list[Any], list[Any]]:
            after = round_([*before, *shared, *slices])
            return after[:c], after[c:]

        first = [self.xp.asarray(a) for a in states]
        last, rows = sys.modules["jax"].lax.scan(one, first, stacks, length=n, reverse=reverse)
        return [*last, *rows]

    @classmethod
    def owns(cls, array: Any) -> bool:
        """True for JAX's arrays."""
        return array_api_compat.is_jax_array(array)

    def from_host(self, array: Any, like: Any) -> Any:
        """A constant, also where a program first runs inside `jit` or `grad`: a plan that kept a tracer would run once.

        By `device_put`: inside a derivative of a `custom_jvp`, `asarray` gives a tracer even so.
        """
        jax = sys.modules["jax"]
        with jax.ensure_compile_time_eval():
            return jax.device_put(np.array(array), self.device(like))

    def copied(self) -> Callable[[Any], Any] | None:
        """None: arrays of JAX never change."""
        return None

    def bounds(self, array: Any) -> tuple[int, int] | None:
        """The least and the largest of some integers, read on the host, also inside `jax.jit`; None for a tracer."""
        if isinstance(array, sys.modules["jax"].core.Tracer):
            return None
        host = self.to_host(array)
        return int(host.min()), int(host.max())

    def special(self, name: str) -> Callable[..., Any]:
        """JAX's function."""
        return getattr(importlib.import_module("jax.scipy.special"), name)  # type: ignore[no-any-return]

    def segment_sum(self, rows: Any, targets: Any, size: int) -> Any:
        """Add by JAX's `at[].add`."""
        return self.zeros((size, rows.shape[1]), rows).at[targets].add(rows)


@final
class Torch(ArrayAPI):
    """Tensors of PyTorch."""

    @classmethod
    def owns(cls, array: Any) -> bool:
        """True for torch's tensors."""
        return array_api_compat.is_torch_array(array)

    def to_host(self, array: Any) -> Any:
        """The array in numpy, copied off the device; on the host a read-only view."""
        return read_only(np.asarray(array_api_compat.to_device(array, "cpu")).view())

    def special(self, name: str) -> Callable[..., Any]:
        """torch's function; betaln, which torch lacks, by gammaln, and polygamma, nine digits there, by zeta."""
        of = sys.modules["torch"].special
        if name == "betaln":
            return lambda x, y: of.gammaln(x) + of.gammaln(y) - of.gammaln(x + y)
        if name == "polygamma":
            return lambda n, x: (-1.0) ** (n + 1) * math.factorial(n) * of.zeta(n + 1.0, x)
        return getattr(of, name)  # type: ignore[no-any-return]

    def segment_sum(self, rows: Any, targets: Any, size: int) -> Any:
        """Add by torch's `index_add`."""
        return rows.new_zeros((size, rows.shape[1])).index_add(0, targets, rows)


def common_library(arrays: Sequence[Any]) -> Library:
    """The one library of some arrays (numpy for none), formal ones included; raises SpaceError if they mix.

    A number, stored as numpy's array without axes, goes with arrays of any library: see `together`.
    """
    if NUMPY.kinds.issuperset(map(type, arrays)):
        return NUMPY
    plain = list(itertools.chain.from_iterable(map(_parts, arrays)))
    found = {library(array) for array in plain} or {NUMPY}
    if len(found) > 1:
        found = {library(array) for array in plain if not _is_number(array)}
    if len(found) > 1:
        names = ", ".join(sorted(one.name for one in found))
        msg = f"the vectors of one call live in different array libraries: {names}; move them to one, "
        msg += "as V.vec(xp.asarray(v.array)) does for the library xp"
        raise SpaceError(msg)
    return found.pop()


def _parts(array: Any) -> tuple[Any, ...]:
    return array.parts if isinstance(array, Compound) else (array,)


def _is_number(array: Any) -> bool:
    return library(array) is NUMPY and array.shape == ()


def together(lib: Library, arrays: Sequence[Any]) -> Sequence[Any]:
    """Arrays of one library, with numbers of numpy moved to where the first of the others lives."""
    if lib is NUMPY or NUMPY.kinds.isdisjoint(map(type, arrays)):
        return arrays
    like = next(part for a in arrays for part in _parts(a) if library(part) is lib)
    return [lib.from_host(a, like) if type(a) in NUMPY.kinds else a for a in arrays]

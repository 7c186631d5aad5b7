"""All array libraries: a class for each, and everything that is particular to it.

A further one is a class here (or anywhere: it is found by being defined), with `owns` and with a method for each kernel
or service that it does otherwise than the array API; see "An array library" in CONTRIBUTING.md.
"""

from __future__ import annotations

import itertools
import operator
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, final

import array_api_compat
import numpy as np

from hilbert.arrays.kernels.contract import Contractions, NumpyContractions
from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Compound, Library, library
from hilbert.arrays.kernels.over_axis import Axes, NumpyAxes
from hilbert.arrays.kernels.reduced_axes import FRESH, amid
from hilbert.arrays.kernels.reduction import NumpyReductions, ReductionKernels
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from types import ModuleType

    from hilbert.arrays.kernels.kernel import PrimitiveRow
    from hilbert.index.leaf import Leaf


class ArrayAPI(Contractions, ReductionKernels, Axes):
    """Any library that has the array API, unknown ones too."""

    @classmethod
    def owns(cls, array: Any) -> bool:
        """What array-api-compat knows, and what has a namespace."""
        return array_api_compat.is_array_api_obj(array)


@final
class Cupy(ArrayAPI):
    """Arrays on a GPU."""

    @classmethod
    def owns(cls, array: Any) -> bool:
        """cupy's."""
        return array_api_compat.is_cupy_array(array)

    def to_host(self, array: Any) -> Any:
        """Copied off the device."""
        return np.asarray(array_api_compat.to_device(array, "cpu"))

    def segment_sum(self, rows: Any, targets: Any, size: int) -> Any:
        """add.at."""
        out = self.zeros((size, rows.shape[1]), rows)
        self.xp.add.at(out, targets, rows)
        return out


@final
class Jax(ArrayAPI):
    """Arrays of JAX, and its tracers."""

    def guarded(self, array: Any) -> Any:
        """JAX's arrays are never written into."""
        return array

    def unshared(self, array: Any) -> Any:
        """Nor is what a user's function keeps."""
        return array

    def branch(self, condition: Any, then: Callable[[], list[Any]], otherwise: Callable[[], list[Any]]) -> list[Any]:
        """lax.cond, where the condition is not known before the program runs."""
        jax = sys.modules["jax"]
        if not isinstance(condition, jax.core.Tracer):
            return super().branch(condition, then, otherwise)
        made: list[Any] = jax.lax.cond(
            condition, *(lambda f=f: list(map(self.xp.asarray, f())) for f in (then, otherwise))
        )
        return made

    def is_known(self, array: Any) -> bool:
        """Not those of a tracer."""
        return not isinstance(array, sys.modules["jax"].core.Tracer)

    def holds(self, condition: Any) -> bool:
        """False, too, where it is not known before the program runs."""
        return self.is_known(condition) and bool(np.any(self.to_host(condition)))

    def repeat(
        self, round_: Callable[[list[Any]], list[Any]], states: list[Any], shared: list[Any], most: int
    ) -> list[Any]:
        """lax.while_loop under `jax.jit`; there, the lanes in which nothing is found in so many rounds are NaN."""
        jax, xp = sys.modules["jax"], self.xp
        if not isinstance(xp.any(xp.asarray(states[0])), jax.core.Tracer):  # what is computed under `jit` is traced
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
        """lax.scan: under `jax.jit` the body is compiled once, where rounds in Python would be unrolled.

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
        """JAX's."""
        return array_api_compat.is_jax_array(array)

    def from_host(self, array: Any, like: Any) -> Any:
        """A constant, also where a program first runs inside `jax.jit`: a plan that kept a tracer would run once."""
        with sys.modules["jax"].ensure_compile_time_eval():
            return super().from_host(array, like)

    def copied(self) -> Callable[[Any], Any] | None:
        """Arrays of JAX never change."""
        return None

    def bounds(self, array: Any) -> tuple[int, int] | None:
        """Those of a tracer are not known; others are looked at on the host, also inside `jax.jit`."""
        if isinstance(array, sys.modules["jax"].core.Tracer):
            return None
        host = self.to_host(array)
        return int(host.min()), int(host.max())

    def segment_sum(self, rows: Any, targets: Any, size: int) -> Any:
        """at[].add."""
        return self.zeros((size, rows.shape[1]), rows).at[targets].add(rows)


@final
class Torch(ArrayAPI):
    """Tensors of PyTorch."""

    @classmethod
    def owns(cls, array: Any) -> bool:
        """torch's."""
        return array_api_compat.is_torch_array(array)

    def to_host(self, array: Any) -> Any:
        """Copied off the device; on the host a view, read-only."""
        return _not_writeable(np.asarray(array_api_compat.to_device(array, "cpu")).view())

    def segment_sum(self, rows: Any, targets: Any, size: int) -> Any:
        """index_add."""
        return rows.new_zeros((size, rows.shape[1])).index_add(0, targets, rows)


FEW = 1 << 16
"""So many bytes are compared as one string, sooner than as an array."""
PLAIN: dict[str, Callable[..., Any]] = {
    "divide": operator.truediv,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "logical_and": operator.and_,
    "logical_or": operator.or_,
    "absolute": abs,
}
"""What is the same on numpy's scalars, warnings too, in less time: a tenth of that of a ufunc with two operands."""


@final
class Numpy(NumpyContractions, NumpyReductions, NumpyAxes, ArrayAPI):
    """numpy: into operands that die, by strided views, and with its scalars, which are several times quicker."""

    kinds = frozenset({np.ndarray, np.float64, np.float32, np.int64, np.bool_})
    is_host = True
    has_scalars = True

    @classmethod
    def owns(cls, array: Any) -> bool:
        """Arrays and scalars."""
        return isinstance(array, (np.ndarray, np.generic))

    @classmethod
    def namespace(cls, array: Any) -> ModuleType:
        """numpy itself has the array API."""
        return np

    def device(self, array: Any) -> Any:
        """There is only one."""
        return "cpu"

    def home(self, arrays: Sequence[Any]) -> Hashable:
        """There is only one."""
        return self

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros with the dtype of an array."""
        return np.zeros(shape, like.dtype)

    def freezing(self, kind: type) -> Callable[[Any], Any] | None:
        """Not writeable; scalars are not anyway."""
        return _not_writeable if kind is np.ndarray else None

    def guarded(self, array: Any) -> Any:
        """A read-only view; scalars are read-only."""
        return _not_writeable(array.view()) if isinstance(array, np.ndarray) else array

    def unshared(self, array: Any) -> Any:
        """A copy as it lies in memory; scalars do not change."""
        return array.copy("K") if isinstance(array, np.ndarray) else array

    def snapshot(self, array: Any) -> Any:
        """A copy if an owner of the memory can write; an entry that the array repeats is stored once in the copy."""
        if not _can_be_written(array):
            return array
        once = array[tuple([slice(0, 1) if step == 0 else slice(None) for step in array.strides])]
        kept = _not_writeable(once.copy("K"))
        return kept if kept.shape == array.shape else np.broadcast_to(kept, array.shape)

    def unchanged(self, kept: Any, now: Any) -> bool:
        """Bit by bit."""
        if now.nbytes <= FEW:
            return bool(kept.tobytes() == now.tobytes())
        bits = f"i{now.itemsize}"
        return np.array_equal(kept.view(bits), now.view(bits))

    def copied(self) -> Callable[[Any], Any] | None:
        """Results are made read-only instead, like the arguments and the constants."""
        return None

    def number(self, array: Any) -> Any:
        """A number of Python."""
        return float(array)

    def move(self, order: tuple[int, ...]) -> Kernel:
        """A view, by the array's own method."""
        return Kernel(lambda a: a.transpose(order), fresh=False)

    def rows(self, n: int, leaf: Leaf, like: Any) -> Any:
        """One array, written row by row."""
        return np.empty((n, *leaf.shape), leaf.dtype)

    def stacked(self, rows: Any, leaf: Leaf, like: Any) -> Any:
        """That array."""
        return rows

    def same(self, a: Any, b: Any) -> bool:
        """By address and layout."""
        if type(a) is not np.ndarray or type(b) is not np.ndarray:
            return False
        alike = a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype
        return alike and a.ctypes.data == b.ctypes.data

    def triangle(self, array: Any) -> Any:
        """Without the orthogonal factor."""
        return np.linalg.qr(array, mode="r")

    def add(self) -> Kernel:
        """a + b."""
        return _arithmetic(np.add, operator.add)

    def subtract(self) -> Kernel:
        """a − b."""
        return _arithmetic(np.subtract, operator.sub)

    def multiply(self) -> Kernel:
        """a · b, element by element."""
        return _arithmetic(np.multiply, operator.mul)

    def scale(self, k: float) -> Kernel:
        """k · a."""
        if k == -1.0:
            return Kernel(np.negative, (lambda a: np.negative(a, out=a),), scalar=operator.neg)
        return Kernel(lambda a: a * k, (lambda a: np.multiply(a, k, out=a),), scalar=partial(operator.mul, k))

    def cast(self, dtype: str) -> Kernel:
        """The same numbers in another precision."""
        target = getattr(np, dtype)
        return Kernel(lambda a: a.astype(target))

    def elementwise(self, rule: PrimitiveRow, params: tuple[float, ...]) -> Kernel:
        """The kernel by hand, else the ufunc, also into an operand; the result of a comparison fits none."""
        if rule.in_numpy:
            return rule.in_numpy(params)
        if rule.ufunc is None:
            return super().elementwise(rule, params)
        f = getattr(np, rule.ufunc)
        plain = PLAIN.get(rule.ufunc)
        if rule.is_discrete:
            return Kernel(f, scalar=plain)
        if rule.arity == 1:
            return Kernel(f, (lambda a: f(a, out=a),), scalar=plain)
        return Kernel(f, (lambda a, b: f(a, b, out=a), lambda a, b: f(a, b, out=b)), scalar=plain)

    def diagonal(self, first: int, second: int, leaf: Any) -> Kernel:
        """A view."""
        return Kernel(lambda a: np.diagonal(a, axis1=first, axis2=second), fresh=False)

    def between(self, v: Any, at: int, low: int, high: int) -> Any:
        """Written between zeros."""
        return amid(v, at, low, high)


def _not_writeable(array: Any) -> Any:
    array.setflags(write=False)
    return array


def _can_be_written(array: Any) -> bool:
    """Whether an owner in the chain of `.base` is writeable, or one is there that does not tell."""
    if not isinstance(array, np.ndarray):  # a scalar of numpy
        return False
    owner: Any = array
    while owner is not None:
        if isinstance(owner, np.ndarray):
            if owner.flags.writeable:
                return True
        elif not hasattr(owner, "base"):  # not one of numpy's own that stand between a view and its owner
            if isinstance(owner, memoryview):  # read-only views of what can be written are among them
                owner = owner.obj
                continue
            try:
                return not memoryview(owner).readonly
            except TypeError:  # it shows its memory to numpy only
                return True
        owner = owner.base
    return False


def _arithmetic(ufunc: np.ufunc, plain: Callable[[Any, Any], Any]) -> Kernel:
    """A binary ufunc of numpy; on scalars Python's operator takes a tenth of its time."""
    overwriting = (lambda a, b: ufunc(a, b, out=a), lambda a, b: ufunc(a, b, out=b))
    return Kernel(ufunc, overwriting, scalar=plain, broadcasts=True)


NUMPY = Numpy.of(np)
"""The one object of numpy."""
np.empty(FRESH - (1 << 16), np.uint8)  # freed at once: see Note [memory between steps]


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

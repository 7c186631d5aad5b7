"""numpy as an array library: kernels that write into operands that die, and quicker ones for scalars."""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.arrays.kernels.contract import NumpyContractions
from hilbert.arrays.kernels.kernel import Kernel, inline, output
from hilbert.arrays.kernels.over_axis import NumpyAxes
from hilbert.arrays.kernels.reduced_axes import FRESH, amid
from hilbert.arrays.kernels.reduction import NumpyReductions
from hilbert.arrays.libraries.array_api import ArrayAPI
from hilbert.arrays.libraries.scipy_functions import scipy_function

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from types import ModuleType

    from hilbert.arrays.kernels.kernel import PrimitiveRow
    from hilbert.index.leaf import Leaf

FEW = 1 << 16
"""The most bytes that are compared as one string, sooner than as an array."""
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
"""Operators that do the same on numpy's scalars, warnings too, in a tenth of the time of a ufunc with two operands."""


@final
class Numpy(NumpyContractions, NumpyReductions, NumpyAxes, ArrayAPI):
    """numpy: into operands that die, by strided views, and with its scalars, which are several times quicker."""

    kinds = frozenset({np.ndarray, np.float64, np.float32, np.int64, np.bool_})
    is_host = True
    has_scalars = True

    @classmethod
    def owns(cls, array: Any) -> bool:
        """True for numpy's arrays and scalars."""
        return isinstance(array, (np.ndarray, np.generic))

    @classmethod
    def namespace(cls, array: Any) -> ModuleType:
        """numpy itself has the array API."""
        return np

    def device(self, array: Any) -> Any:
        """The one device of numpy."""
        return "cpu"

    def home(self, arrays: Sequence[Any]) -> Hashable:
        """The library alone, for there is only one device."""
        return self

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros with the dtype of an array."""
        return np.zeros(shape, like.dtype)

    def freezing(self, kind: type) -> Callable[[Any], Any] | None:
        """The function that takes the writeable flag off arrays; None for scalars, which nobody can write into."""
        return read_only if kind is np.ndarray else None

    def guarded(self, array: Any) -> Any:
        """A read-only view; scalars are read-only."""
        return read_only(array.view()) if isinstance(array, np.ndarray) else array

    def unshared(self, array: Any) -> Any:
        """A copy as it lies in memory; scalars do not change."""
        return array.copy("K") if isinstance(array, np.ndarray) else array

    def snapshot(self, array: Any) -> Any:
        """A copy if an owner of the memory can write; an entry that the array repeats is stored once in the copy."""
        if not _can_be_written(array):
            return array
        once = array[tuple([slice(0, 1) if step == 0 else slice(None) for step in array.strides])]
        kept = read_only(once.copy("K"))
        return kept if kept.shape == array.shape else np.broadcast_to(kept, array.shape)

    def unchanged(self, kept: Any, now: Any) -> bool:
        """Tell if an array still has the entries of its copy, bit by bit."""
        if now.nbytes <= FEW:
            return bool(kept.tobytes() == now.tobytes())
        bits = f"i{now.itemsize}"
        return np.array_equal(kept.view(bits), now.view(bits))

    def copied(self) -> Callable[[Any], Any] | None:
        """None: results are made read-only instead, like the arguments and the constants."""
        return None

    def number(self, array: Any) -> Any:
        """The number as one of Python."""
        return float(array)

    def move(self, order: tuple[int, ...]) -> Kernel:
        """Permute the axes as a view, by the array's own method."""
        return Kernel(inline("{0}.transpose({order})", order=order), fresh=False)

    def stored(self, order: tuple[int, ...]) -> Kernel:
        """A copy in row-major order, unless the array lies so."""
        return Kernel(inline("{copy}({0}.transpose({order}))", copy=np.ascontiguousarray, order=order), fresh=False)

    def rows(self, n: int, leaf: Leaf, like: Any) -> Any:
        """An array for the results of n rounds, written row by row."""
        return np.empty((n, *leaf.shape), leaf.dtype)

    def stacked(self, rows: Any, leaf: Leaf, like: Any) -> Any:
        """The array of the rows, which is whole already."""
        return rows

    def same(self, a: Any, b: Any) -> bool:
        """Tell if two arrays are views of the same memory, by address and layout."""
        if type(a) is not np.ndarray or type(b) is not np.ndarray:
            return False
        alike = a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype
        return alike and a.ctypes.data == b.ctypes.data

    def triangle(self, array: Any) -> Any:
        """The upper triangle of a QR decomposition, without the orthogonal factor."""
        return np.linalg.qr(array, mode="r")

    def add(self) -> Kernel:
        """a + b."""
        return _arithmetic(np.add, operator.add)

    def subtract(self) -> Kernel:
        """a − b."""
        return _arithmetic(np.subtract, operator.sub)

    def divide(self) -> Kernel | None:
        """a / b."""
        return _arithmetic(np.divide, operator.truediv)

    def multiply(self) -> Kernel:
        """a · b, element by element."""
        return _arithmetic(np.multiply, operator.mul)

    def scale(self, k: float, leaf: Leaf | None = None) -> Kernel:
        """k · a; numpy takes k as an array of the same dtype in half the time of a number of Python's."""
        if k == -1.0:
            return Kernel(np.negative, (_onto(np.negative),), scalar=operator.neg)
        number = np.array(k) if leaf is not None and leaf.axes and leaf.dtype == "float64" else k
        into = inline("{f}({0}, {k}, {0})", f=np.multiply, k=number)
        call = inline("{0} * {k}", k=number)
        return Kernel(call, (into,), scalar=partial(operator.mul, k), onto=lambda _: partial(np.multiply, number))

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
            return Kernel(f, (_onto(f),), scalar=plain)
        return Kernel(f, _onto_either(f), scalar=plain)

    def special(self, name: str) -> Callable[..., Any]:
        """scipy's function; raises SpaceError without scipy."""
        return scipy_function(name)

    def diagonal(self, first: int, second: int, leaf: Any) -> Kernel:
        """The diagonal as a view."""
        return Kernel(lambda a: np.diagonal(a, axis1=first, axis2=second), fresh=False)

    def between(self, v: Any, at: int, low: int, high: int) -> Any:
        """Write an array between zeros along an axis."""
        return amid(v, at, low, high)


def read_only(array: Any) -> Any:
    """An array of numpy's, which is not written into from now on."""
    array.setflags(write=False)
    return array


def _can_be_written(array: Any) -> bool:
    """True if an owner in the chain of `.base` is writeable, or one is there that does not tell."""
    if not isinstance(array, np.ndarray):  # a scalar of numpy
        return False
    owner: Any = array
    while owner is not None:
        if isinstance(owner, np.ndarray):
            if owner.flags.writeable:
                return True
        elif not hasattr(owner, "base"):  # not one of numpy's own that stand between a view and its owner
            if isinstance(owner, memoryview):  # a read-only view may show writeable memory
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
    return Kernel(ufunc, _onto_either(ufunc), scalar=plain, broadcasts=True)


def _onto(ufunc: np.ufunc) -> Callable[[Any], Any]:
    """The ufunc of one operand, written into the operand."""
    return inline("{f}({0}, {0})", f=ufunc)


def _onto_either(ufunc: np.ufunc) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """The ufunc of two operands, written into the first or the second."""
    first, second = (f"{{f}}({{0}}, {{1}}, {output(ufunc)}{{{k}}})" for k in range(2))
    return inline(first, f=ufunc), inline(second, f=ufunc)


NUMPY = Numpy.of(np)
"""The one object of numpy."""
np.empty(FRESH - (1 << 16), np.uint8)  # freed at once: see Note [memory between steps]

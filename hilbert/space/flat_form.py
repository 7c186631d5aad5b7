"""Flat arrays of double precision, cut into the leaves of a space, and put together from them.

>>> import numpy as np
>>> from hilbert import R, R32, Fin, direct_sum
>>> form = FlatForm(direct_sum(R ** Fin.of(2), R32))
>>> form.cut(np.array([1.0, 2.0, 3.0]))
[array([1., 2.]), array(3., dtype=float32)]
>>> form.joined(form.cut(np.array([1.0, 2.0, 3.0])))
array([1., 2., 3.])
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from hilbert.arrays.formal.formal_kernels import dense
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.errors import SpaceError, is_masked, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hilbert.space.space import Type

Flat: TypeAlias = npt.NDArray[np.float64]
"""A flat array of double precision, as scipy's solvers take and give them."""
DOUBLE, KINDS = np.dtype("float64"), NUMPY.kinds


@final
class FlatForm:
    """The leaves of a space as slices of a flat array, which is of double precision, whatever the leaves are."""

    __slots__ = ("_cuts", "_shape", "size", "space")

    def __init__(self, space: Type) -> None:
        self.space, self.size = space, space.dim
        self._shape = (space.dim,)
        ends = itertools.accumulate((leaf.size for leaf in space.leaves), initial=0)
        self._cuts = [
            (slice(*bounds), leaf.shape, None if np.dtype(leaf.dtype) == DOUBLE else np.dtype(leaf.dtype))
            for bounds, leaf in zip(itertools.pairwise(ends), space.leaves, strict=True)
        ]

    def cut(self, x: Any) -> list[Any]:
        """An array for each leaf: a view of the flat array, or a copy in single precision."""
        if type(x) is not np.ndarray or x.dtype is not DOUBLE or x.shape != self._shape:
            x = self.flat(x)
        return [
            x[at].reshape(shape) if dtype is None else x[at].reshape(shape).astype(dtype)
            for at, shape, dtype in self._cuts
        ]

    def joined(self, arrays: Iterable[Any]) -> Flat:
        """The entries of all arrays in a flat array of its own."""
        made = np.empty(self._shape)
        for (at, _, _), array in zip(self._cuts, arrays, strict=True):
            made[at] = (array if type(array) in KINDS else to_numpy(dense(array))).reshape(-1)
        return made

    def flat(self, x: Any) -> Flat:
        """A user's data as a flat array of this size; raises SpaceError for another shape, and for what is not real."""
        due = f"a flat array of {self.size} real numbers is due, for {self.space}"
        if is_masked(x):
            raise SpaceError(f"{due}, not {shown(x)}")
        try:
            made = np.asarray(x)
        except (ValueError, TypeError) as error:
            raise SpaceError(f"{due}, not {shown(x)}") from error
        if made.dtype.kind not in "fiu":
            raise SpaceError(f"{due}, not one of dtype {made.dtype}")
        if made.shape == () and self.size == 1:
            made = made.reshape(1)
        if made.shape != self._shape:
            raise SpaceError(f"{due}, not one of shape {made.shape}")
        return made.astype(DOUBLE, copy=False)


def number_of(array: Any) -> float:
    """The number that an array without axes holds."""
    return float(array if type(array) in KINDS else to_numpy(dense(array)))

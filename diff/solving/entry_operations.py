"""log |det A| of a sparse matrix as an operation on its entries, and its derivative: the inverse at the same places.

    d log |det A| = Σ_ij (A⁻¹)_ji dA_ij

The second derivative needs all of the inverse, which is then made in full, unless A is a diagonal.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from diff.terms.untraced_functions import applied
from diff.terms.user_operation import OperationRule
from diff.vocabulary.determinants import INVERSE
from diff.vocabulary.operations import inner
from hilbert import Fin, SpaceError
from hilbert.arrays.systems.linear_systems import ENTRIES, has_room
from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.arrays.systems.sparse_systems import SparseSystem
from hilbert.base.once import OfFields
from hilbert.relation import function
from linmap import red

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hilbert.arrays.systems.methods import Method
    from hilbert.arrays.systems.sparse_systems import Ints


@final
@frozen(slots=False)
class Places(OfFields):
    """The places of the entries of square matrices: their rows and columns, as bytes of 64 bit integers, which hash.

    `how` is a method for their systems, if not the quickest.
    """

    size: int
    row_bytes: bytes
    col_bytes: bytes
    how: Method | None = None

    @staticmethod
    def of(size: int, rows: Ints, cols: Ints, how: Method | None = None) -> Places:
        """The places of entries with these rows and columns."""
        return Places(size, np.asarray(rows, np.int64).tobytes(), np.asarray(cols, np.int64).tobytes(), how)

    @cached_property
    def rows(self) -> Ints:
        """The rows of the entries."""
        return np.frombuffer(self.row_bytes, np.int64)

    @cached_property
    def cols(self) -> Ints:
        """The columns of the entries."""
        return np.frombuffer(self.col_bytes, np.int64)

    @cached_property
    def flat(self) -> Ints:
        """The places in the flat matrix."""
        return self.rows * self.size + self.cols

    @cached_property
    def system(self) -> SparseSystem | None:
        """A solver of systems with these entries; None without scipy."""
        sp = scipy_of()
        return None if sp is None else SparseSystem(self.rows, self.cols, self.size, self.size, sp, how=self.how)

    @property
    def is_diagonal(self) -> bool:
        """True if all entries lie on the diagonal."""
        return self.row_bytes == self.col_bytes

    @property
    @contextmanager
    def refusing_singular(self) -> Iterator[None]:
        """Raise SpaceError in place of LinAlgError: a derivative at a singular matrix."""
        try:
            yield
        except np.linalg.LinAlgError as error:
            msg = f"logdet: a matrix of {self.size} rows is singular at this point: its logarithm has no derivative"
            raise SpaceError(msg) from error

    def in_full(self, xp: Any, entries: Any) -> Any:
        """The matrix of some entries, on any library: each is taken from its place, or 0."""
        table = np.full(self.size**2, len(self.rows))
        table[self.flat] = np.arange(len(self.rows))
        zero = xp.zeros((1,), dtype=entries.dtype)
        found = xp.take(xp.concat([entries, zero]), xp.asarray(table), axis=0)
        return xp.reshape(found, (self.size, self.size))


@cache
def logdet_of(places: Places) -> OperationRule:
    """The operation that gives log |det A| for the entries of A."""

    def value(xp: Any, e: Any) -> Any:
        if xp is np and places.system is not None:
            return np.asarray(places.system.logdet(e), e.dtype)
        return xp.linalg.slogdet(places.in_full(xp, e))[1]

    def tangent(e: Any, _: Any, de: Any) -> Any:
        return inner(applied(inverse_of(places), [e.space], e.space)(e), de)

    return OperationRule("logdet of entries", value, tangent, batched=False, made=(logdet_of, (places,)), text="logdet")


@cache
def inverse_of(places: Places) -> OperationRule:
    """The operation that gives (A⁻¹)_ji for each entry at (i, j)."""

    def value(xp: Any, e: Any) -> Any:
        if xp is np and places.system is not None:
            with places.refusing_singular:
                return places.system.near_inverse(e)
        return xp.take(xp.reshape(xp.linalg.inv(places.in_full(xp, e)).T, (-1,)), xp.asarray(places.flat), axis=0)

    def tangent(e: Any, y: Any, de: Any) -> Any:
        if places.is_diagonal:
            return -(y * y * de)
        if not has_room(places.size, 1):
            msg = f"logdet: the second derivative for a matrix of {places.size} rows makes square matrices, "
            way = "take differences of the gradient, (grad(f)(x + h * v) - grad(f)(x - h * v)) / (2.0 * h)"
            raise SpaceError(f"{msg}with more than {ENTRIES} entries: {way}")
        whole = in_full(places, e)
        full = applied(INVERSE, [whole.space], whole.space)(whole)
        return -taken(places, (full @ in_full(places, de) @ full).T)

    return OperationRule(
        "inverse of entries", value, tangent, batched=False, made=(inverse_of, (places,)), text="near_inverse"
    )


def in_full(places: Places, e: Any) -> Any:
    """The matrix of some entries, as an expression."""
    n, index = Fin.of(places.size), e.space.index
    return red(function(places.flat, index, Fin.of(places.size**2)), e.space.base)(e).reshape(n * n)


def taken(places: Places, matrix: Any) -> Any:
    """The entries of a matrix at some places, as an expression."""
    flat, index = Fin.of(places.size**2), Fin.of(len(places.rows))
    return red(function(places.flat, index, flat).T, matrix.space.base)(matrix.reshape(flat))

"""log |det A| of a sparse matrix as an operation on its entries, and its derivative: the inverse at the same places.

    d log |det A| = Σ_ij (A⁻¹)_ji dA_ij

The second derivative needs all of the inverse, which is then made in full, unless A is a diagonal.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from diff.terms.untraced_functions import applied
from diff.terms.user_operation import OperationRule
from diff.vocabulary.determinants import INVERSE
from diff.vocabulary.operations import inner
from hilbert import Fin, SpaceError
from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.arrays.systems.sparse_systems import SparseSystem
from hilbert.relation import function
from linmap import red

if TYPE_CHECKING:
    from hilbert.arrays.systems.sparse_systems import Ints


@final
@frozen(slots=False)
class Places:
    """The places of the entries of square matrices: their rows and columns, as bytes of 64 bit integers, which hash."""

    size: int
    row_bytes: bytes
    col_bytes: bytes

    @staticmethod
    def of(size: int, rows: Ints, cols: Ints) -> Places:
        """The places of entries with these rows and columns."""
        return Places(size, np.asarray(rows, np.int64).tobytes(), np.asarray(cols, np.int64).tobytes())

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
        return None if sp is None else SparseSystem(self.rows, self.cols, self.size, self.size, sp)

    @property
    def is_diagonal(self) -> bool:
        """True if all entries lie on the diagonal."""
        return self.row_bytes == self.col_bytes

    @property
    def transposed(self) -> Places:
        """The places of the transpose."""
        return Places(self.size, self.col_bytes, self.row_bytes)

    @property
    def singular(self) -> SpaceError:
        """The error of a derivative at a singular matrix."""
        return SpaceError(
            f"logdet: a matrix of {self.size} rows is singular at this point: its logarithm has no derivative"
        )

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
def regular_of(places: Places) -> OperationRule:
    """The operation that tells if the matrix of some entries is far from singular."""

    def value(xp: Any, e: Any) -> Any:
        if xp is np and places.system is not None:
            return np.asarray(places.system.is_regular(e))
        return xp.linalg.cond(places.in_full(xp, e)) <= float(xp.finfo(e.dtype).eps) ** -0.5

    return OperationRule("regular entries", value, None, batched=False, made=(regular_of, (places,)), text="is_regular")


@cache
def inverse_of(places: Places) -> OperationRule:
    """The operation that gives (A⁻¹)_ji for each entry at (i, j)."""

    def value(xp: Any, e: Any) -> Any:
        if xp is np and places.system is not None:
            try:
                return places.system.near_inverse(e)
            except np.linalg.LinAlgError as error:
                raise places.singular from error
        return xp.take(xp.reshape(xp.linalg.inv(places.in_full(xp, e)).T, (-1,)), xp.asarray(places.flat), axis=0)

    def tangent(e: Any, y: Any, de: Any) -> Any:
        if places.is_diagonal:
            return -(y * y * de)
        n, p = Fin.of(places.size), e.space.index
        place = function(places.flat, p, Fin.of(places.size**2))
        field = e.space.base
        to_full = red(place, field)
        matrix = field ** (n * n)
        full = applied(INVERSE, [matrix], matrix)(to_full(e).reshape(n * n))
        moved = full @ to_full(de).reshape(n * n) @ full
        return -red(place.T, field)(moved.T.reshape(Fin.of(places.size**2)))

    return OperationRule(
        "inverse of entries", value, tangent, batched=False, made=(inverse_of, (places,)), text="near_inverse"
    )

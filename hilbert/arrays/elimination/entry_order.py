"""The order of entries column by column, or row by row, as sparse matrices store them.

>>> found = EntryOrder.of(np.asarray([1, 0, 1]), np.asarray([1, 0, 0]), 2)
>>> found.order.tolist(), found.inner.tolist(), found.starts.tolist()
([1, 2, 0], [0, 0, 1], [0, 1, 3])
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.signedinteger[Any]]


@final
@frozen(eq=False)
class EntryOrder:
    """Entries column by column, or row by row, as a sparse matrix stores them.

    `order` are the numbers of the entries, `inner` their rows, or columns, `starts` the place where each column begins,
    or each row; entries at other places have another `digest`.
    """

    order: Ints
    inner: Ints
    starts: Ints
    digest: bytes

    @staticmethod
    def of(outer: Ints, inner: Ints, size: int) -> EntryOrder:
        """The order by `outer`, and there by `inner`; no two entries stand at one place."""
        code = outer.astype(np.int64) * size + inner
        order = np.argsort(code)
        starts = np.zeros(size + 1, np.intc)
        np.cumsum(np.bincount(outer, minlength=size), out=starts[1:])
        digest = blake2b(code[order].tobytes() + size.to_bytes(8, "little")).digest()
        return EntryOrder(order, inner[order].astype(np.intc), starts, digest)

    def matrix(self, sparse: Any, values: Any) -> Any:
        """The matrix of some entries in their given order, column by column, by scipy's module."""
        size, entries = len(self.starts) - 1, values.take(self.order, mode="clip")
        return sparse.csc_array((entries, self.inner, self.starts), shape=(size, size))

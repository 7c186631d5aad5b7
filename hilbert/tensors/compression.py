"""Recompression of formal tensors, on request only: QR of the factors and singular values of the small core.

>>> from hilbert import Fin, R
>>> V, W = R ** Fin.of(3), R ** Fin.of(2)
>>> u, v = V.vec([1.0, 2.0, 2.0]), W.vec([3.0, 4.0])
>>> t = u.tensor(v) + (2 * u).tensor(2 * v)
>>> found, report = compress(t, 1e-12)
>>> report.before, report.after
(2, 1)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
from attrs import frozen

from hilbert.arrays.libraries.namespace import common_namespace
from hilbert.displayed import Displayed
from hilbert.errors import SpaceError, number, shown
from hilbert.index.index import Fin
from hilbert.space.space import Copower, TensorProduct, Type
from hilbert.space.vector import Vec, require_vector
from hilbert.tensors.formal_tensors import from_factors
from hilbert.tensors.rank_one_sums import as_rows, families, from_rows

if TYPE_CHECKING:
    from types import ModuleType

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


@final
@frozen
class Compression(Displayed):
    """The report of a recompression: the number of terms before and after, and ‖error‖ in the norm of V ⊗ W."""

    before: int
    after: int
    error: float
    relative: float
    dense: bool
    """True if there was a dense part beside the terms."""

    def __str__(self) -> str:
        dense = " + dense" if self.dense else ""
        return f"rank {self.before}{dense} → {self.after}, error {self.error:.3g} (relative {self.relative:.3g})"


def compress(t: Vec[TensorProduct[V, W]], tolerance: float) -> tuple[Vec[TensorProduct[V, W]], Compression]:
    """The tensor in the fewest terms with an error of at most tolerance·‖t‖, and a report.

    QR of the factors and the singular values of the small core; a dense part, which has dim V·dim W entries already,
    is decomposed whole. Terms come with orthogonal factors, the largest first. The error is that of the terms left out;
    rounding adds some units in the last place. Raises SpaceError for a tolerance that is no number ≥ 0, and for a
    tensor with factors across V and W.
    """
    bound = number(tolerance)
    if bound is None or not bound >= 0:
        msg = f"the tolerance of compress is a number ≥ 0, not {shown(tolerance)}"
        raise SpaceError(msg)
    require_vector(t, "compress")
    found, rest = families(t)
    if rest is not None and rest.is_formal and any(b.rank for x in rest.leaves for b in getattr(x, "blocks", ())):
        msg = f"this element of {t.space} has factors across both sides of ⊗: transpose it back, or call .dense() first"
        raise SpaceError(msg)
    before = sum(f.rank for f in found)
    xp = common_namespace(t.leaves)
    if rest is not None:
        left, values, right = xp.linalg.svd(_matrix(xp, t), full_matrices=False)
    elif before:
        columns = xp.concat([as_rows(xp, f.left, f) for f in found], axis=0)
        rows = xp.concat([as_rows(xp, f.right, None) for f in found], axis=0)
        (q, a), (p, b) = xp.linalg.qr(columns.T), xp.linalg.qr(rows.T)
        u, values, v = xp.linalg.svd(a @ b.T, full_matrices=False)
        left, right = q @ u, v @ p.T
    else:
        return t, Compression(0, 0, 0.0, 0.0, dense=False)
    squares = np.asarray(values, np.float64) ** 2
    tails = np.append(np.cumsum(squares[::-1])[::-1], 0.0)  # the squared error when the first n values are kept
    whole = float(tails[0])
    after = int(np.argmax(tails <= bound**2 * whole))
    error = math.sqrt(float(tails[after]))
    X = Fin.of(after)
    made = from_factors(
        from_rows(Copower(t.space.left, X), (left[:, :after] * values[:after]).T),
        from_rows(Copower(t.space.right, X), right[:after, :]),
    )
    relative = error / math.sqrt(whole) if whole else 0.0
    return made, Compression(before, after, error, relative, dense=rest is not None)


def _matrix(xp: ModuleType, t: Vec[Any]) -> Any:
    """The matrix of a tensor, of shape (dim V, dim W)."""
    m = len(t.space.right.leaves)
    leaves = iter(t.dense().leaves)
    blocks = [[next(leaves) for _ in range(m)] for _ in t.space.left.leaves]
    shaped = [
        [xp.reshape(x, (a.size, b.size)) for x, b in zip(row, t.space.right.leaves, strict=True)]
        for row, a in zip(blocks, t.space.left.leaves, strict=True)
    ]
    return xp.concat([xp.concat(row, axis=1) for row in shaped], axis=0)

"""Named linear functions of index sets: red_R for the relations that users of arrays know by name (paper §2.2.3).

>>> from hilbert import Fin, R
>>> X = Fin.of(4)
>>> v = (R**X).vec([1.0, 2.0, 4.0, 8.0])
>>> gather([3, 0, 0], X)(v).array.tolist()
[8.0, 1.0, 1.0]
>>> segment_sum([0, 1, 1, 0], Fin.of(2))(v).array.tolist()
[9.0, 6.0]
>>> differences(X)(v).array.tolist()
[1.0, 2.0, 4.0]
"""

from linmap.relational.axis_maps import (
    concatenate,
    crop,
    cumsum,
    differences,
    flip,
    pad,
    pool,
    reshape,
    roll,
    windows,
)
from linmap.relational.entries import gather, group_by, permute, segment_sum
from linmap.relational.weighted import from_scipy, sparse

__all__ = [
    "concatenate",
    "crop",
    "cumsum",
    "differences",
    "flip",
    "from_scipy",
    "gather",
    "group_by",
    "pad",
    "permute",
    "pool",
    "reshape",
    "roll",
    "segment_sum",
    "sparse",
    "windows",
]

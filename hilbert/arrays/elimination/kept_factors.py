"""Factors of matrices, kept for what is asked next at a point: the adjoint system, the determinant, its gradient.

Factors are found again by the numbers of the matrix, or of its transpose, which are compared one by one with a copy.

>>> import numpy as np
>>> eye = np.eye(2)
>>> def made() -> Factors:
...     print("made")
...     return Factors(lambda b, flipped: b, lambda: 0.0, 4)
>>> for _ in range(2):
...     found, flipped = factors_of(("eye", "eye"), lambda flipped: (eye,), made)
made
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

KEEP, COUNT = 2**22, 4
"""The most entries that are kept, and the most matrices of which some are."""
FEW = 8
"""About so many numbers of an array are compared first, and all of them only where these are equal."""


@final
@frozen(eq=False)
class Factors:
    """The elimination of a matrix, made once.

    `solve` gives x with A x[k] = b[k] for rows k, or with the transpose of A where it is `flipped`; `logdet` gives
    log |det A|. Solving raises LinAlgError for a singular matrix.
    """

    solve: Callable[[Any, bool], Any]
    logdet: Callable[[], float]
    entries: int

    def permuted(self, order: Any) -> Factors:
        """The factors of a matrix whose unknowns in this order are those of the matrix here."""

        def solve(b: Any, flipped: bool) -> Any:  # noqa: FBT001 - see above
            x = np.empty_like(b)
            x[:, order] = self.solve(b[:, order], flipped)
            return x

        return Factors(solve, self.logdet, self.entries)


F = TypeVar("F")
_KEPT: tuple[tuple[Hashable, tuple[Any, ...], Any, bytes, int], ...] = ()
"""The last factors, the newest first: the kind, the numbers, the factors, a few of the numbers, how many entries.

Each thread puts a new tuple in place of the old one. If two threads do so at once, the factors of one are lost, and
made again when they are needed.
"""


def factors_of(
    names: tuple[Hashable, Hashable],
    numbers: Callable[[bool], tuple[Any, ...]],
    make: Callable[[], F],
    *,
    fresh: bool = False,
) -> tuple[F, bool]:
    """The factors of a matrix, and False; or those of its transpose, and True.

    `numbers(False)` are the arrays that the matrix is made of, `numbers(True)` those of its transpose; the two `names`
    tell how a matrix is made of them, so that equal numbers under one name are one matrix. The factors that are made
    say their number of `entries`. The numbers are copied, unless they are `fresh`: arrays that nobody else has.
    """
    global _KEPT  # noqa: PLW0603 - replaced as a whole
    for flipped, name in zip((False, True), names, strict=True):
        some = [kept for kept in _KEPT if kept[0] == name]
        if some:
            given = numbers(flipped)
            few = _few(given[0])
            for _, own, found, mark, _ in some:
                if mark == few and all(map(_same, own, given)):
                    return found, flipped
    made: Any = make()
    given = numbers(False)  # noqa: FBT003 - see `names`
    size = made.entries + sum(a.size for a in given)
    if size <= KEEP:
        own = given if fresh else tuple(map(np.array, given))
        room, kept = KEEP - size, [(names[0], own, made, _few(own[0]), size)]
        for entry in _KEPT[: COUNT - 1]:
            room -= entry[-1]
            if room < 0:
                break
            kept.append(entry)
        _KEPT = tuple(kept)
    return made, False


def _few(a: Any) -> bytes:
    """Some numbers of an array, which tell it from most others."""
    row = a[(0,) * (a.ndim - 1)]
    found: bytes = row[:: max(1, len(row) // FEW)].tobytes()
    return found


def _same(a: Any, b: Any) -> bool:
    """True for arrays of one type with equal entries."""
    return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())


def log_of(pivots: Any) -> float:
    """The sum of the logarithms of the sizes of some pivots; −∞ where one is 0."""
    with np.errstate(divide="ignore"):
        return float(np.log(np.abs(pivots)).sum())


def require_pivots(is_singular: bool) -> None:  # noqa: FBT001 - the one argument
    """Raise LinAlgError for a singular matrix."""
    if is_singular:
        raise np.linalg.LinAlgError("the matrix is singular")

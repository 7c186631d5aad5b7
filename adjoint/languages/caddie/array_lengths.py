"""Lengths for the arrays of an argument, where none are given: such that a function is evaluated to its end."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

from diff.lam.term.term_error import TermError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
TRIES = 300
"""The lengths that are tried before a function is given up."""
WORK = 30_000
"""The sum over all tries of the steps that they get, before no more are made."""


def found(
    count: int, candidates: Sequence[int], made: Callable[[Sequence[int]], T], reached: Callable[[], int]
) -> tuple[T, tuple[int, ...]]:
    """A value that is made of so many lengths, and these: all equal, or else changed such that each try gets further.

    `reached` says how far the last try got. Raises the TermError of the one that got furthest where none is found.
    """
    refused: dict[tuple[int, ...], TermError] = {}
    far: dict[tuple[int, ...], int] = {}

    def tried(lengths: tuple[int, ...]) -> T | None:
        try:
            return made(lengths)
        except TermError as error:
            refused[lengths], far[lengths] = error, reached()
            return None

    for n in candidates:
        if (value := tried((n,) * count)) is not None:
            return value, (n,) * count
    at: tuple[int, ...] | None = max(far, key=far.__getitem__)  # the first of those that got as far
    while at is not None:
        here, at = at, None
        for lengths in _changed(here, candidates):
            if lengths in far or len(far) > TRIES or sum(far.values()) > WORK:
                continue
            if (value := tried(lengths)) is not None:
                return value, lengths
            if far[lengths] > far[here]:
                at = lengths
                break
    error = refused[max(far, key=far.__getitem__)]
    if len({error.message for error in refused.values()}) == 1:  # it is not about lengths
        raise error
    message = f"{error.message} (no lengths were found that fit: give some by --at)"
    raise TermError("limit", message, error.place)


def _changed(lengths: tuple[int, ...], candidates: Sequence[int]) -> list[tuple[int, ...]]:
    """Those in which one or two are others, the same."""
    places = [where for k in (1, 2) for where in combinations(range(len(lengths)), k)]
    return [tuple(n if k in where else old for k, old in enumerate(lengths)) for where in places for n in candidates]

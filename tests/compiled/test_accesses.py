"""The tests of which rounds of a loop meet, against the entries that are touched, one by one."""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("llvmlite")

from hypothesis import given
from hypothesis import strategies as st

from hilbert.compiled.tree.accesses import Access, is_own
from hilbert.compiled.tree.places import Place, Variable

I, J = Variable("i", 5), Variable("j", 3)
PLACES = st.builds(
    lambda offset, i, j: Place(offset) + Place.of(I) * i + Place.of(J) * j,
    st.integers(0, 12),
    st.integers(-1, 4),
    st.integers(0, 2),
)
ACCESSES = st.lists(st.builds(Access, st.tuples(PLACES, PLACES), st.booleans()), min_size=1, max_size=4)


def touched(access: Access, i: int) -> set[tuple[int, ...]]:
    """The entries that an access touches in round i, whatever the round of the inner loop."""
    at = {I: i}
    places = access.places or ()
    return {
        tuple(place.over(lambda atom, j=j: (at | {J: j})[atom]).offset for place in places)  # type: ignore[misc]
        for j in range(J.size)
    }


@given(ACCESSES)
def test_rounds_that_are_told_apart_never_meet(accesses: list[Access]) -> None:
    """Where a loop's rounds are said to be their own, no round touches what another one writes."""
    if is_own(accesses, 2, I):
        for one, other in itertools.product(accesses, repeat=2):
            for i, k in itertools.permutations(range(I.size), 2):
                assert not (one.writes and touched(one, i) & touched(other, k))


@pytest.mark.parametrize(
    ("places", "own"),
    [
        ([Place.of(I), Place.of(I) + 5], True),  # one behind the other
        ([Place.of(I) * 4 + 20, Place.of(I) * 4 + 23], True),  # side by side
        ([Place.of(I) * 4 + 20, Place.of(I) * 4 + 24], False),  # the next round's
        ([Place.of(I), Place.of(I) + 1], False),
        ([Place(0)], False),
        ([Place.of(J)], False),
    ],
)
def test_places_of_rounds(places: list[Place], own: object) -> None:
    """Pieces of one array are told apart; the entry of another round and one that all share are not."""
    assert is_own([Access((place,), writes=True) for place in places], 1, I) is own

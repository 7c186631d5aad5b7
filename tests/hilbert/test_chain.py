"""A chain is a sequence: every version keeps its items, whichever version grows next, and at whichever end."""

import pickle

from hypothesis import given

from hilbert.base.term import Chain
from tests.strategies import Source, sources


@given(sources(single=False))
def test_appending_is_concatenation(s: Source) -> None:
    """list(a.appended(b)) = list(a) + list(b), and no earlier version changes."""
    versions: list[tuple[Chain[int], list[int]]] = [(Chain(range(k)), list(range(k))) for k in range(3)]
    for _ in range(s.integer(0, 12)):
        (a, first), (b, second) = s.one_of(versions), s.one_of(versions)
        versions.append((a.appended(b), first + second))
    for chain, items in versions:
        assert list(chain) == items
        assert len(chain) == len(items)
        assert [chain[k] for k in range(len(items))] == items
        assert [chain[-1 - k] for k in range(len(items))] == items[::-1]
        assert chain[1:] == items[1:]


@given(sources(single=False))
def test_equality(s: Source) -> None:
    """Chains with the same items are equal, however they were made, and so are their hashes and pickles."""
    items = [s.integer(0, 2) for _ in range(s.integer(0, 5))]
    cut = s.integer(0, len(items))
    made = Chain(items[:cut]).appended(Chain(items[cut:]))
    assert made == Chain(items)
    assert hash(made) == hash(Chain(items))
    assert pickle.loads(pickle.dumps(made)) == made
    assert made != Chain([*items, 0])

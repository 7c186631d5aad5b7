"""`equal` looks at contents: neither at how often an object is used, nor at the order of a sum, but at all the rest."""

import pickle

import pytest

import hilbert.all as hb
from hilbert.relation import function

X, Y = hb.Fin.of(3), hb.Fin.of(2)
V, W = hb.R**X, hb.R**Y
i, c = hb.identity(V), hb.cumsum(X)


def test_sharing_does_not_matter() -> None:
    """A sum of sums is one sum, whether its parts are one object or two equal ones."""
    s = hb.join(i, i)
    f, g = hb.join(c @ s, s), hb.join(c @ hb.join(i, i), hb.join(i, i))
    assert f == g
    assert hb.equal(f, g)
    assert hb.equal(g, pickle.loads(pickle.dumps(g)))


def test_sums_commute() -> None:
    """f + g is g + f."""
    assert hb.equal(c + i, i + c)


@pytest.mark.parametrize(
    ("f", "g"),
    [
        (c + c + i, c + i),
        (hb.zero(V, V), hb.zero(V, W)),
        (V.zeros(), W.zeros()),
        (hb.cumsum(X), hb.cumsum(X, reverse=True)),
        (2.0 * i, 3.0 * i),
        (hb.dot(V.ones()), hb.dot(2.0 * V.ones())),
    ],
)
def test_differences_are_seen(f: object, g: object) -> None:
    """How often a part is added, spaces, relations, numbers and data."""
    assert not hb.equal(f, g)


def test_tables_are_compared_by_their_entries() -> None:
    """Two gathers by equal tables are equal, in maps, in functions and in derivatives; by other tables they are not."""

    def made(*places: int) -> list[object]:
        weighted = hb.sparse(places, [0, 1], [1.0, 2.0], X, X)
        nested = hb.red(function(places, Y, X) * function(places, Y, X).T)
        f = hb.fun(V)(lambda v: hb.sin(hb.gather(places, X)(v)))
        return [hb.gather(places, X), hb.segment_sum(places, X), weighted, nested, f, hb.derivative(f)]

    for same, again, other in zip(made(0, 2), made(0, 2), made(0, 1), strict=True):
        assert same != again
        assert hb.equal(same, again)
        assert not hb.equal(same, other)


def test_zero_has_no_sign() -> None:
    """0 and −0 are equal numbers."""
    assert hb.equal(V.zeros(), -V.zeros())

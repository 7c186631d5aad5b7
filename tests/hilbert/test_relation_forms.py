"""What each form of relation means, by formulas on truth tables; its size, its picture, its transpose, its pickle."""

import pickle
from collections.abc import Callable
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings

from hilbert import Coproduct, Fin, Index, Relation, SpaceError
from hilbert.arrays.libraries.relation_counts import SHADES, filled
from hilbert.relation import (
    Composite,
    Window,
    agreement,
    band,
    by_key,
    columns,
    function,
    greater,
    leq,
    less,
    partial,
    reversal,
    rotation,
    run,
    shift,
    sliding,
    window,
)
from tests.relation_forms import ALL, BASIC, dense, some_set
from tests.strategies import Source, sources


def grid(X: Index, Y: Index) -> tuple[Any, Any]:
    """The flat positions x and y, to be compared."""
    return np.arange(X.size)[:, None], np.arange(Y.size)[None, :]


@pytest.mark.parametrize("form", ALL)
@settings(max_examples=15)
@given(s=sources(single=False))
def test_transpose(form: str, s: Source) -> None:
    """Rᵀ = {(y, x) : (x, y) ∈ R}, Rᵀᵀ = R by ==, loads(dumps(R)) = R."""
    relation = ALL[form](s)
    assert (relation.T.dom, relation.T.cod) == (relation.cod, relation.dom)
    assert np.array_equal(dense(relation.T), dense(relation).T)
    assert relation == relation.T.T
    found = pickle.loads(pickle.dumps(relation))
    assert found == relation
    assert hash(found) == hash(relation)
    assert np.array_equal(dense(found), dense(relation))


@pytest.mark.parametrize("form", ALL)
@settings(max_examples=15)
@given(s=sources(single=False))
def test_counts(form: str, s: Source) -> None:
    """|R|, how many y each x has, whether R is a function or a partial one."""
    for relation in (r := ALL[form](s), r.T):
        table = dense(relation)
        assert relation.size == table.sum()
        assert np.array_equal(relation.degrees(), table.sum(axis=1))
        assert relation.is_function == bool((table.sum(axis=1) == 1).all())
        assert relation.is_partial_function == bool((table.sum(axis=1) <= 1).all())


@pytest.mark.parametrize("form", ALL)
@settings(max_examples=10)
@given(s=sources(single=False))
def test_picture(form: str, s: Source) -> None:
    """A character for each pair of cells, by how much of it the pairs fill; the matrix itself where it fits."""
    relation = ALL[form](s)
    table = dense(relation).T
    lines = relation.picture(rows=100, columns=100).split("\n")
    if not table.size:
        assert lines == [f"no pairs of {table.shape[0]} rows and {table.shape[1]} columns"]
        return
    assert lines == ["".join(SHADES[-1] if full else SHADES[0] for full in row) for row in table]
    small = relation.picture(rows=2, columns=3).split("\n")
    assert len(small) == min(2, table.shape[0])
    assert {len(line) for line in small} == {min(3, table.shape[1])}
    cells = filled(relation, 2, 3)
    assert np.isclose((cells > 0).any(), table.any())
    ink = [[SHADES.index(c) for c in line] for line in small]
    assert np.array_equal(np.asarray(ink) > 0, cells > 0)


def test_cells_are_means() -> None:
    """A cell is the part of its pairs that are related."""
    R = leq(Fin.of(4))
    assert filled(R, 2, 2).tolist() == [[0.75, 0.0], [1.0, 0.75]]
    assert R.picture(2, 2) == "▓·\n█▓"


def test_plot() -> None:
    """On axes of matplotlib: the cells as an image, the positions along its sides."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    R = band(Fin.of(5), 1, 1)
    ax = R.plot()
    (image,) = ax.images
    assert np.array_equal(np.asarray(image.get_array()) > 0, dense(R).T)
    assert ax.get_title() == str(R)
    assert image.get_extent() == [-0.5, 4.5, 4.5, -0.5]
    assert all(tick == round(tick) for tick in (*ax.get_xticks(), *ax.get_yticks()))
    assert R.plot(ax) is ax
    pyplot.close("all")


@given(sources(single=False))
def test_meaning(s: Source) -> None:
    """Orders, masks, rotations and windows hold where their formulas say."""
    X, Y = some_set(s, budget=6), some_set(s, budget=6)
    x, x2 = grid(X, X)
    n, k = X.size, s.integer(-4, 4)
    keep = s.rng().integers(0, 2, n).astype(bool)
    assert np.array_equal(dense(less(X)), x < x2)
    assert np.array_equal(dense(greater(X)), x > x2)
    assert np.array_equal(dense(partial(keep, X)), (x == x2) & keep[:, None])
    assert np.array_equal(dense(reversal(X)), x + x2 == n - 1)
    assert np.array_equal(dense(rotation(X, k)), x2 == (x + k) % max(n, 1))
    assert np.array_equal(dense(shift(X, k)), x2 == x + k)
    below, above = s.integer(0, 3), s.integer(0, 3)
    assert np.array_equal(dense(band(X, below, above)), (-below <= x - x2) & (x - x2 <= above))
    w, stride, offset, d = s.integer(1, 4), s.integer(1, 3), k, s.integer(1, 3)
    x, y = grid(X, Y)
    place = x - stride * y - offset
    due = (place >= 0) & (place < d * w) & (place % d == 0)
    assert np.array_equal(dense(window(X, w, stride=stride, offset=offset, dilation=d, to=Y)), due)


@given(sources(single=False))
def test_windows_inside(s: Source) -> None:
    """Without `to` there are as many windows as lie in X; side by side, place k of window y."""
    n, w, stride, d = s.integer(0, 9), s.integer(1, 3), s.integer(1, 3), s.integer(1, 2)
    X = Fin.of(n)
    starts = [y for y in range(0, n, stride) if y + d * (w - 1) < n]
    R, S = window(X, w, stride=stride, dilation=d), sliding(X, w, stride=stride, dilation=d)
    assert R.cod == Fin.of(len(starts))
    assert S.dom == Fin.of(len(starts)) * Fin.of(w)
    due = [y + d * k for y in starts for k in range(w)]
    assert S.holds()[1].tolist() == due
    assert R.size == len(due)


@given(sources(single=False))
def test_products_and_sums(s: Source) -> None:
    """R × S by the Kronecker product, R + S block by block."""
    R, S = (BASIC[s.one_of(list(BASIC))](s) for _ in range(2))
    a, b = dense(R), dense(S)
    assert np.array_equal(dense(R * S), np.kron(a, b).astype(bool))
    assert (R * S).dom == R.dom * S.dom
    blocks = np.zeros((a.shape[0] + b.shape[0], a.shape[1] + b.shape[1]), bool)
    blocks[: a.shape[0], : a.shape[1]] = a
    blocks[a.shape[0] :, a.shape[1] :] = b
    assert np.array_equal(dense(R + S), blocks)
    assert (R + S).cod == Coproduct(R.cod, S.cod)


@settings(max_examples=100)
@given(sources(single=False))
def test_composition(s: Source) -> None:
    """S ∘ R relates x to z if some y lies between; where it stays symbolic there is one y at most."""
    R = BASIC[s.one_of(list(BASIC))](s)
    options: list[Callable[[], Relation[Any, Any]]] = [
        lambda: leq(R.cod),
        lambda: band(R.cod, 1, 1),
        lambda: R.T,
        lambda: function(s.rng().integers(0, 2, R.cod.size), R.cod, Fin.of(2)),
        lambda: function(s.rng().integers(0, max(R.cod.size, 1), 3), Fin.of(3), R.cod).T if R.cod.size else R.T,
    ]
    S: Relation[Any, Any] = s.one_of(options)()
    paths = dense(R).astype(int) @ dense(S).astype(int)
    T = S @ R
    assert np.array_equal(dense(T), paths > 0)
    if isinstance(T, Composite):
        assert paths.max(initial=0) <= 1


@pytest.mark.parametrize("n", range(6))
def test_bands_after_bands(n: int) -> None:
    """They are a band where both have the diagonal, or lie on one side of it; at an end nothing is lost then."""
    bands = [band(Fin.of(n), a, b) for a in range(-3, 4) for b in range(-a, 4)]
    forms = set()
    for S, R in product(bands, bands):
        T = S @ R
        assert np.array_equal(dense(T), dense(R).astype(int) @ dense(S).astype(int) > 0)
        ends = [(x.offset, x.offset + x.width - 1) for x in (S, R)]
        if all(a <= 0 <= b for a, b in ends) or all(a >= 0 for a, _ in ends) or all(b <= 0 for _, b in ends):
            assert (type(T), T.size) == (Window, len(T.holds()[0]))
        forms.add(type(T))
    assert Window in forms


def test_bands_after_bands_are_no_wider_than_their_set() -> None:
    """However many: 2⁴⁰ steps on three elements reach as far as three."""
    X = Fin.of(3)
    wide: Any = band(X, 1, 1)
    for _ in range(40):
        wide = wide @ wide
    assert wide == band(X, 3, 3)
    assert shift(X, 2) @ shift(X, 2) == shift(X, 4)
    assert np.array_equal(dense(wide), np.ones((3, 3)))


X: Any = Fin.of(4)
half: Any = 0.5
three: Any = 3
big = Fin.of(20_000)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: partial([True], X), "an array of 4 truth values, not bool of shape (1,)"),
        (lambda: partial([0, 1, 0, 1], X), "an array of 4 truth values, not int64"),
        (lambda: run(Fin.of(2), X, 0, 0), "the stride of an inclusion of 2 into 4 is not 0"),
        (lambda: run(Fin.of(2), X, 0, 4), "with stride 4 it covers 5 of 4 positions"),
        (lambda: run(Fin.of(2), X, 0, -1), "does not fit into 4 at position 0: give 1 to 3"),
        (lambda: rotation(X, half), "the step of a rotation is an integer, not 0.5"),
        (lambda: shift(X, X), "the step of a shift is an integer, not the index set 4"),
        (lambda: band(X, -2, -2), "a band on 4 from 2 to -2 is empty"),
        (lambda: window(X, 0), "the width of windows is an integer ≥ 1, not 0"),
        (
            lambda: window(X, 2, stride=2**47),
            "the stride of windows is 140737488355328, further than any",
        ),
        (
            lambda: sliding(X, 2, offset=10**30),
            "the offset of windows is 1000000000000000000000000000000, ",
        ),
        (lambda: window(X, 2, stride=0), "the stride of windows is an integer ≥ 1, not 0"),
        (
            lambda: sliding(X, 2, to=X * X),
            "the 3 windows of width 2 in 4 have |Y| = 3, |K| = 2 in Y×K, not",
        ),
        (lambda: sliding(X, 2, offset=-1), "windows from -1 on do not lie in 4: an offset is at least 0"),
        (lambda: columns([0, 1], [0], X, X), "as many sources as targets, not 2 and 1"),
        (lambda: agreement("ij", X * X, X), "is written as 2 labels, ->, 1 labels"),
        (lambda: leq(X) @ leq(Fin.of(3)), "3 is not 4"),
        (lambda: leq(X) @ three, "S @ R takes a relation, not 3"),
        (lambda: leq(X) * three, "the right side of R × S, R + S or S ∘ R takes a relation, not 3"),
        (lambda: band(big, 9, 9) @ leq(big), "too many to write out as pairs"),
        (lambda: by_key([1], keys=cast("Any", X * X)), "an index set with labels"),
    ],
)
def test_errors(make: Any, message: str) -> None:
    """What does not fit is refused, and the message says what would."""
    with pytest.raises(SpaceError) as caught:
        make()
    assert message in str(caught.value)

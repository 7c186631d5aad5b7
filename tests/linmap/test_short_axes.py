"""Relations on short axes beside long ones: generated functions, their Jacobians in each form against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as hb


class Row:
    """A long axis."""


class Place:
    """What is gathered."""


ROWS, PLACES = 40, 11
row, place = hb.Fin(Row, ROWS), hb.Fin(Place, PLACES)


def sides(k: int) -> tuple[Any, Any]:
    """Short axes, anonymous ones of k elements and of one more."""
    return hb.Fin.of(k), hb.Fin.of(k + 1)


def chosen(a: Any, b: Any) -> Any:
    """√a₁ · b where a₁ is positive, a turned round elsewhere."""
    return hb.where(a[0] > 0.0, lambda: hb.sqrt(a[0]) * b, lambda: a.roll(1))


def each_row(rng: np.random.Generator, k: int) -> Any:
    """A random function of vectors of k and of k + 1 coordinates into one of 2 or 3."""
    X, Y = sides(k)
    plan = rng.integers(0, 100, 40)

    def body(x: Any, y: Any) -> Any:
        draws = iter(plan)
        pool: list[Any] = [x, y.crop(0, k, to=X), y.crop(1, k + 1, to=X)]
        for _ in range(6):
            a, b = (pool[next(draws) % len(pool)] for _ in range(2))
            match next(draws) % 7:
                case 0:
                    pool.append(a.roll(1) * b)
                case 1:
                    pool.append(hb.sin(a.roll(-1)) + b)
                case 2:
                    pool.append(a[next(draws) % k] * b)
                case 3:
                    pool.append((a @ b) * a)
                case 4:
                    pool.append(a.roll(-1) * b.roll(1) - a.roll(1) * b.roll(-1))
                case 5:
                    pool.append(chosen(a, b))
                case _:
                    pool.append(a.crop(0, 1, to=hb.Fin.of(1))[0] * y.crop(0, k, to=X) + b)
        return pool[-1], pool[-2][0] * pool[-1][k - 1]

    return hb.fun(hb.R**X, hb.R**Y)(body)


def gathered(seed: int) -> tuple[Any, Any]:
    """The function of each row, on gathered vectors; and a point."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    X, Y = sides(k)
    one = each_row(rng, k)
    at, other = rng.integers(0, PLACES, ROWS), rng.integers(0, PLACES, ROWS)
    first = hb.gather(at, place, hb.R**X, rows=row)
    second = hb.gather(other, place, hb.R**Y, rows=row)
    f = hb.fun((hb.R**X) ** place, (hb.R**Y) ** place)(lambda x, y: hb.each(one, first(x), second(y)))
    return f, f.dom.vec((rng.standard_normal((PLACES, k)), rng.standard_normal((PLACES, k + 1))))


@pytest.mark.parametrize("seed", range(40))
def test_every_form_is_the_matrix_of_all_basis_vectors(seed: int) -> None:
    f, x = gathered(seed)
    d = hb.derivative(f).at(x)
    due = np.stack([d(e).flat() for e in f.dom.basis()], axis=1)
    sparse = hb.jacobian(f, x, as_="sparse")
    np.testing.assert_allclose(sparse.toarray(), due, atol=1e-9)
    np.testing.assert_allclose(hb.matrix(hb.adjoint(d), as_="sparse").toarray(), due.T, atol=1e-9)
    np.testing.assert_allclose(hb.jacobian(f, x, as_="array"), due, atol=1e-9)
    assert not ((abs(due) > 1e-12) & (sparse.toarray() == 0.0)).any()
    rows = [
        [
            np.zeros((out.size, inp.size)) if b is None else b.toarray()
            for b, inp in zip(line, f.dom.leaves, strict=True)
        ]
        for line, out in zip(hb.jacobian(f, x, as_="blocks"), f.cod.leaves, strict=True)
    ]
    np.testing.assert_allclose(np.block(rows), due, atol=1e-9)


def test_blocks_are_proved_through_crops_rolls_and_picks() -> None:
    """Bundle adjustment as the page has it: blocks of 2×3 for each observation, and no entry more than the term has."""
    from docs.examples.bundle_adjustment import residuals

    rng = np.random.default_rng(0)
    cameras, points, seen = 4, 12, 40
    at = rng.integers(0, cameras, seen), rng.integers(0, points, seen)
    f = residuals(cameras, points, *at, rng.standard_normal((seen, 2)))
    p = hb.jacobian_program(f, as_="blocks")
    sizes = {cell.at: cell.size for cell in p.pattern.cells}
    due = {0: (2, 3), 1: (2, 3), 2: (2, 1), 3: (1, 1), 4: (2, 2), 5: (2, 3), 6: (2, 1)}
    assert sizes == {**{(0, k): size for k, size in due.items()}, (1, 6): (1, 1)}
    assert len(hb.jacobian_program(f, as_="sparse").pattern.indices) == seen * (6 + 6 + 2 + 2 + 4 + 6 + 2 + 1)


X, Y = hb.Fin.of(3), hb.Fin.of(2)


def of_rows(body: Any) -> Any:
    """A function of ℝ³ for each row."""
    one = hb.fun(hb.R**X)(body)
    return hb.fun((hb.R**X) ** row)(lambda x: hb.each(one, x))


@pytest.mark.parametrize(
    ("body", "entries"),
    [
        (lambda x: x.crop(0, 2, to=Y), 2),
        (lambda x: x.roll(1) * x.roll(1), 3),
        (lambda x: x.roll(1) * x, 6),
        (lambda x: x.roll(1) * x * x.roll(-1), 9),
        (lambda x: x[2] * x.crop(0, 2, to=Y), 4),
        (lambda x: x.crop(1, 3, to=Y) * x.crop(0, 2, to=Y), 4),
        (lambda x: (x @ x) * x.crop(0, 2, to=Y), 6),
        (lambda x: (0.0 * x.crop(0, 2, to=Y).flip() + x.crop(0, 2, to=Y)).crop(1, 2), 1),
    ],
)
def test_no_entry_is_added(body: Any, entries: int) -> None:
    assert len(hb.jacobian_program(of_rows(body), as_="sparse").pattern.indices) == entries * ROWS


def test_what_is_on_two_ways_to_long_places_stays_a_relation() -> None:
    """One coordinate is read at a row, another one at the row before: together these fill no block."""
    one = hb.fun(hb.R**X, hb.R**X)(lambda x, y: x[0] + y[1] + x[2])
    f = hb.fun((hb.R**X) ** row)(lambda x: hb.each(one, x, hb.gather(np.r_[0, : ROWS - 1], row, hb.R**X, rows=row)(x)))
    assert len(hb.jacobian_program(f, as_="sparse").pattern.indices) == 3 * ROWS


@pytest.mark.parametrize("form", ["sparse", "array", "blocks"])
def test_an_infinite_slope_beside_what_is_read_makes_no_nan(form: Any) -> None:
    """√ has an infinite slope at 0: where nobody reads it, entries are what they are beside finite ones."""

    def body(x: Any) -> Any:
        y = hb.sqrt(x)
        return (x.roll(1) * x.roll(-1)).crop(0, 2, to=Y) * y[1] + y.crop(1, 3, to=Y).roll(1) * y[1]

    f = of_rows(body)
    x = 1.0 + np.random.default_rng(0).random((ROWS, 3))
    x[::3, 0] = 0.0

    def matrix(at: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = hb.jacobian(f, f.dom.vec(at), as_=form)
        found = found[0][0] if form == "blocks" else found
        return found if form == "array" else found.toarray()

    found = matrix(x)
    assert np.isfinite(found).all()
    x[::3, 0] = 1e-300
    np.testing.assert_allclose(found, matrix(x), atol=1e-12)


def test_a_sum_of_products_in_blocks_is_those_blocks() -> None:
    def body(x: Any) -> Any:
        for k in range(5):
            x = hb.sin(x.roll(1)) * x[k % 3] + x
        return x

    assert str(hb.structure(hb.derivative(of_rows(body)))) == f"{ROWS} blocks, each dense 3×3"


def test_what_has_no_elements_lies_beside_relations_of_short_axes() -> None:
    none = hb.Fin.of(0)
    one = hb.fun(hb.R**none, hb.R**X)(lambda z, y: (z.sum() * y.roll(1) * y, y.crop(0, 2) * y[2]))
    f = hb.fun((hb.R**none) ** row, (hb.R**X) ** row)(lambda z, y: hb.each(one, z, y))
    assert hb.jacobian(f, f.dom.ones(), as_="sparse").nnz == ROWS * (6 + 4)


@pytest.mark.parametrize("form", ["sparse", "array"])
def test_a_choice_of_what_is_masked_is_masked(form: Any) -> None:
    """Both sides of a condition are clipped: √ has an infinite slope there, of which nobody reads anything."""

    def body(x: Any) -> Any:
        y = (x @ x) * x
        low = y.clip(-0.5, 0.7)
        z = hb.where(low[1] > 0.05, lambda: hb.sqrt(low[1]) * low, lambda: y.roll(1))
        return hb.sqrt(z.roll(-1) * low.roll(1) - z.roll(1) * low.roll(-1))

    one, few, here = hb.fun(hb.R**X)(body), hb.Fin.of(4), hb.Fin.of(1)
    first = hb.gather([0] * 4, here, hb.R**X, rows=few)
    turned = hb.gather([1, 2, 3, 0], few, hb.R**X, rows=few)

    def summed(x: Any) -> Any:
        y = hb.each(one, first(x))
        return y + turned(y)

    f = hb.fun((hb.R**X) ** here)(summed)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = hb.jacobian(f, f.dom.full(2.0), as_=form)
    assert not (found if form == "array" else found.toarray()).any()


def chosen_again(x: Any) -> Any:
    """One of two functions of x."""
    return hb.where(x[0] > 0.0, lambda: x.roll(1) * x[1], lambda: hb.sin(x))


def test_masks_of_many_conditions_are_put_together() -> None:
    """What one condition leaves goes through the next: each mask is made part of one, not selected by anew."""

    def steps(count: int) -> int:
        def body(x: Any) -> Any:
            for _ in range(count):
                x = chosen_again(x)
            return x

        return len(hb.program(hb.jacobian_program(of_rows(body), as_="sparse")).steps)

    assert steps(24) - steps(16) <= 1.1 * (steps(16) - steps(8))


def test_relations_that_stay_are_followed_in_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each relation is tried, and what an arc makes of a small flow is worked out once."""
    from linmap.matrices.network.small_relations import _Followed

    counts: list[int] = []
    through = _Followed._through

    def counted(self: Any, *args: Any, **named: Any) -> Any:
        counts.append(1)
        return through(self, *args, **named)

    def body(x: Any) -> Any:
        for _ in range(31):
            x = hb.sin(x.roll(1)) * 0.5
        return x

    monkeypatch.setattr(_Followed, "_through", counted)
    assert str(hb.structure(hb.derivative(of_rows(body)))) == "weighted permutation"
    assert len(counts) < 5 * 93


def test_pairs_of_many_factors_are_looked_at_where_they_may_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    from linmap.matrices.network import factor_pairs

    counts: list[int] = []
    pair = factor_pairs._pair

    def counted(*args: Any, **named: Any) -> Any:
        counts.append(1)
        return pair(*args, **named)

    M = hb.const((hb.R ** (X * X)).vec(np.eye(3) + 0.5))

    def body(x: Any) -> Any:
        for _ in range(40):
            x = hb.sin(M @ x)
        return x

    monkeypatch.setattr(factor_pairs, "_pair", counted)
    assert str(hb.structure(hb.derivative(of_rows(body)))) == f"{ROWS} blocks, each dense 3×3"
    assert len(counts) < 20000


def test_masks_along_axes_that_lost_their_names() -> None:
    """Masks are joined along an axis of a name and one of its size: a rotation and a projection, with two gathers."""

    class Seen:
        """Observations."""

    X, Y = hb.Fin.of(3), hb.Fin.of(2)
    V, seen, near, far = hb.R**X, hb.Fin(Seen, 240), hb.Fin.of(4), hb.Fin.of(60)
    rng = np.random.default_rng(0)
    i = (hb.Elements(near) ** seen).vec(rng.integers(0, 4, 240))
    j = (hb.Elements(far) ** seen).vec(rng.integers(0, 60, 240))

    def one(w: Any, x: Any) -> Any:
        turned = [w[1] * x[2] - w[2] * x[1], w[2] * x[0] - w[0] * x[2], w[0] * x[1] - w[1] * x[0]]
        p = x + hb.stack(X)(*turned) + (w @ x) * w
        return hb.stack(Y)(p[0] / p[2], p[1] / p[2])

    f: Any = hb.fun(V**near, V**far)(lambda c, p: hb.each(one, c[i], p[j]))
    at = f.dom.random(rng)
    dx = f.dom.random(rng)
    matrix = hb.jacobian(f, at, as_="sparse")
    assert np.allclose(matrix @ dx.flat(), hb.derivative(f)(at)(dx).flat())

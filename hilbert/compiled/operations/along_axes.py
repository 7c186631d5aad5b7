"""Functions along axes by loops: log Σ exp, softmax, its logarithm, positions of extremes.

log Σ exp x = m + log Σ exp(x − m) for the largest entry m, if that is finite.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hilbert.compiled.tree.places import Place, flat
from hilbert.index.leaf import Leaf

if TYPE_CHECKING:
    from hilbert.compiled.tree.arrays import Array, Loops, Places
    from hilbert.compiled.tree.values import Value


def along_axes(to: Loops, name: str, at: int, count: int, array: Array, result: Leaf) -> Array | None:
    """The function of that name along `count` axes from `at` on; None for one that has no loops."""
    if name in {"argmax", "argmin"}:
        return to.aside(lambda: _extreme(to, name, at, count, array, result))
    if name in {"logsumexp", "softmax", "log_softmax"}:
        return _exponentials(to, name, at, count, array, result)
    return None  # an order is found by sorting


def _exponentials(to: Loops, name: str, at: int, count: int, array: Array, result: Leaf) -> Array:
    """The largest entry, the exponentials, their sum."""
    pool, axes = to.pool, array.leaf.axes
    rest = Leaf(array.leaf.entry, axes[:at] + axes[at + count :])
    inner = array.shape[at : at + count]

    def full(others: Places, along_: Places) -> Places:
        return (*others[:at], *along_, *others[at:])

    def others(places: Places) -> Places:
        return places[:at] + places[at + count :]

    def parts() -> tuple[Array, Array, Array]:
        largest = to.total(rest, inner, lambda o, i: array.at(full(o, i)), "max")

        def finite(places: Places) -> Value:
            m = largest.at(places)
            return abs(m).compared("lt", math.inf).where(m, 0.0)

        m = to.each(rest, finite)
        e = to.each(array.leaf, lambda places: pool.call("exp", array.at(places) - m.at(others(places))))
        return m, e, to.total(rest, inner, lambda o, i: e.at(full(o, i)))

    m, e, s = to.aside(parts)
    if name == "logsumexp":
        return to.each(result, lambda places: m.at(places) + pool.call("log", s.at(places)))

    def part(places: Places) -> Value:
        o = others(places)
        if name == "softmax":
            return s.at(o).compared("eq", 0.0).where(0.0 * e.at(places), e.at(places) / s.at(o))
        return array.at(places) - m.at(o) - pool.call("log", s.at(o).compared("eq", 0.0).where(1.0, s.at(o)))

    return to.each(result, part)


def _extreme(to: Loops, name: str, at: int, count: int, array: Array, result: Leaf) -> Array:
    """The first place at which the largest or smallest entry stands; NaN is more than both.

    The entry is found first, then its place: both are loops over vectors.
    """
    pool, inner, axes = to.pool, array.shape[at : at + count], array.leaf.axes
    rest, size, none = axes[:at] + axes[at + count :], len(axes) - count, pool.integer(Place(math.prod(inner)))

    def full(o: Places, i: Places) -> Value:
        return array.at((*o[:at], *i, *o[at:]))

    best = to.total(Leaf(array.leaf.entry, rest), inner, full, name.removeprefix("arg"))
    place = to.each(Leaf(result.entry, rest), lambda _: none)

    def put(p: Places) -> tuple[Places, Value]:
        o, i = p[:size], p[size:]
        x = full(o, i)
        found = pool.logic("or", x.compared("eq", best.at(o)), x.compared("ne", x))
        return o, pool.select(found, pool.integer(flat(i, inner)), none)

    assert place.buffer is not None
    to.put_into(place.buffer, (*(axis.size for axis in rest), *inner), put, "min")
    return place

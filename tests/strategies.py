"""What the laws are tested on: index sets, spaces, relations and vectors drawn by Hypothesis, always of the right type.

A `Source` turns Hypothesis' choices into objects. Sizes are bounded by a budget that is shared out, never by `assume`.
Sizes 0 and 1 are drawn seldom: most laws say little of them.
"""

from __future__ import annotations

import math
import operator
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, final

import hypothesis.strategies as st
import numpy as np
from hypothesis import note

from hilbert import (
    R32,
    Bool,
    Copower,
    DirectSum,
    Elements,
    Field,
    Fin,
    Index,
    Part,
    R,
    Record,
    Relation,
    Space,
    TensorProduct,
    Type,
    Unit,
    Vec,
    Zero,
    direct_sum,
)
from hilbert.arrays.libraries.random_entries import drawn
from hilbert.index.leaf import Leaf
from hilbert.index.spec import ALPHABET, Spec
from hilbert.relation import agreement, equality, full, function, geq, leq, pairs, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

T = TypeVar("T")
Draw: TypeAlias = "Callable[[st.SearchStrategy[Any]], Any]"
BUDGET = 24
"""No space that is drawn has more entries."""


class Pixel:
    """The tag of an axis."""


class Hidden:
    """The tag of another axis."""


class Empty(Record):
    """A record without parts."""


class Single(Record):
    """A record of one part."""

    first: Part[Space]


class Pair(Single):
    """A record of two parts."""

    second: Part[Space]


class Other(Record):
    """A record of the same parts by another name."""

    first: Part[Space]
    second: Part[Space]


class Triple(Pair):
    """A record of three parts."""

    third: Part[Space]


RECORDS: tuple[list[type[Record]], ...] = ([Empty], [Single], [Pair, Other], [Triple])
"""The classes of records by their numbers of parts."""


@cache
def _integers(low: int, high: int) -> st.SearchStrategy[int]:
    """Making a strategy takes longer than drawing from it."""
    return st.integers(low, high)


@final
class Source:
    """Hypothesis' choices as index sets, spaces, relations and vectors over one field.

    Vectors have small integers as entries, so that linear laws hold exactly; with `smooth` they are small real numbers,
    so that compositions of functions stay in a bounded region. A failing example prints what was drawn.
    """

    def __init__(self, draw: Draw, field: Field = R, *, smooth: bool = False) -> None:
        self.draw, self.field, self.smooth = draw, field, smooth
        self._given: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
        self._indices: list[Index] = []
        self._sizes: set[int] = set()
        self._spaces: list[Any] = []

    # --- choices ---

    def one_of(self, items: Sequence[T]) -> T:
        """One of the items; the first is the simplest."""
        return items[self.integer(0, len(items) - 1)]

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high."""
        chosen: int = self.draw(_integers(low, high))
        return chosen

    def flag(self) -> bool:
        """True or False."""
        return self.one_of([False, True])

    def size(self, most: int = 5, least: int = 0) -> int:
        """A number from `least` to `most`; 1 and 0, where they may be, are drawn one time in thirty each."""
        rare = 29 - self.integer(0, 29)
        return rare if least <= rare <= min(1, most) else self.integer(min(max(2, least), most), most)

    # --- index sets ---

    def index(self, budget: int = 6, *, empty: bool = True, unit: bool = False, depth: int = 2) -> Index:
        """𝐧, X × Y or X + Y of two to `budget` elements; seldom one that was drawn before, or of no or one element.

        None only if `empty`, 𝟏 only if `unit`. The sizes of axes differ as long as there are small numbers left.
        """
        rare = self.integer(0, 29)
        before = [X for X in self._indices if X.size <= budget] if 24 <= rare < 28 else []
        if before:
            return self.one_of(before)
        if rare == 29 and empty:
            none: list[Index] = [Fin.of(0), Fin(Pixel, 0), Fin.of(2) * Fin.of(0), Fin.of(0) * Fin(Hidden, 3)]
            return self.one_of(none)
        if rare == 28 or budget < 2:
            plain: list[Index] = [Fin.of(1), Fin(Pixel, 1), Fin.of(1) * Fin(Hidden, 1)]
            return self.one_of([*plain, Unit(), Unit() * Fin.of(1)] if unit else plain)
        X = self._several(budget, depth)
        self._indices.append(X)
        return X

    def _several(self, budget: int, depth: int) -> Index:
        """𝐧, X × Y or X + Y of at least two elements, but for the rare 0 + 1."""
        match self.one_of(["fin", "fin", *["product"] * (depth > 0 and budget >= 4), *["coproduct"] * (depth > 0)]):
            case "product":
                left = self._several(budget // 2, depth - 1)
                right = self._several(budget // left.size, depth - 1)
                products: list[Index] = [left * right, left * right, Unit() * left, left * Fin.of(1) * right]
                return self.one_of(products)
            case "coproduct":
                left = self.index(budget - 1, unit=True, depth=depth - 1)
                return left + self.index(max(budget - left.size, 2 - left.size), empty=left.size > 1, depth=depth - 1)
            case _:
                sizes = [n for n in (2, 3, 4, 5) if n <= budget]
                size = self.one_of([n for n in sizes if n not in self._sizes] or sizes)
                self._sizes.add(size)
                return Fin(self.one_of([Pixel, Hidden]), size) if self.flag() else Fin.of(size)

    # --- spaces ---

    def space(self, budget: int = BUDGET, depth: int = 2) -> Any:
        """K, ⊕ V, V^X or V ⊗ W of at most `budget` entries; seldom 0, or a space that was drawn before."""
        rare = self.integer(0, 29)
        if rare == 29:
            return Zero()
        before = [V for V in self._spaces if V.dim <= budget] if 24 <= rare < 29 else []
        space = self.one_of(before) if before else self._space(budget, depth)
        self._spaces.append(space)
        return space

    def _space(self, budget: int, depth: int) -> Any:
        kinds = ["vector", "vector", *["copower", "sum", "tensor"] * (depth > 0)]
        match self.one_of(["field", *kinds] if budget > 1 else ["field"]):
            case "field":
                return self.field
            case "vector":
                return self.field ** self.index(min(budget, 6))
            case "copower":
                return self.copower(budget, depth)
            case "sum":
                made = self.sum(budget, depth)
                return self.one_of(RECORDS[len(made.parts)]).of_parts(made.parts) if self.flag() else made
            case _:
                return self.tensor(budget, depth)

    def copower(self, budget: int = BUDGET, depth: int = 2) -> Copower[Any, Any]:
        """V^X."""
        index = self.index(min(max(budget // 2, 2), 6))
        return Copower(self.space(budget // max(index.size, 1), depth - 1), index)

    def sum(self, budget: int = BUDGET, depth: int = 2, least: int = 0) -> DirectSum[Any]:
        """V₁ ⊕ … ⊕ Vₙ, n ≤ 3, of unequal parts."""
        n = self.size(3, least)
        return direct_sum(*(self.space(budget // max(n, 1), depth - 1) for _ in range(n)))

    def tensor(self, budget: int = BUDGET, depth: int = 2) -> TensorProduct[Any, Any]:
        """V ⊗ W."""
        left = self.space(max(math.isqrt(budget), 2), depth - 1)
        return TensorProduct(left, self.space(budget // max(left.dim, 1), depth - 1))

    # --- relations ---

    def relation(self) -> Relation[Any, Any]:
        """A relation of any form between any two index sets."""
        relation = FORMS[self.one_of(list(FORMS))](self)
        note(relation)
        return relation

    # --- vectors ---

    def rng(self) -> np.random.Generator:
        """Numbers from one choice."""
        return np.random.default_rng(self.integer(0, 2**16))

    def vector(self, space: Type) -> Vec[Any]:
        """An element of a space or of a discrete type."""
        rng = self.rng()
        arrays = [self._entries(rng, leaf) for leaf in space.leaves]
        self._given += [(array, array.copy()) for array in arrays]
        vector = of_leaves(space, arrays)
        note(vector)
        return vector

    def _entries(self, rng: np.random.Generator, leaf: Any) -> np.ndarray[Any, Any]:
        if not leaf.is_field:
            return np.asarray(drawn(rng, leaf))
        if self.smooth:
            return np.asarray(rng.uniform(-1.0, 1.0, leaf.shape)).astype(leaf.dtype)
        return np.asarray(rng.integers(-2, 3, leaf.shape)).astype(leaf.dtype)

    def unchanged(self) -> bool:
        """Whether every array that was given to `V.vec` still has its entries."""
        return all(np.array_equal(array, copy) for array, copy in self._given)


def _set(s: Source, *, empty: bool = True) -> Index:
    return s.index(empty=empty, unit=True)


def _function(s: Source) -> Relation[Any, Any]:
    X, Y = _set(s), _set(s, empty=False)
    return function(s.rng().integers(0, Y.size, X.size), X, Y)


def _run(s: Source) -> Relation[Any, Any]:
    Y = _set(s)
    some = (Fin(Pixel, 2), Fin.of(3), Fin.of(1) * Fin(Hidden, 2), Fin.of(2) * Fin.of(2), Y, Unit(), Fin.of(0))
    X = s.one_of([x for x in some if x.size <= Y.size])
    return run(X, Y, s.integer(0, Y.size - X.size))


def _pairs(s: Source) -> Relation[Any, Any]:
    X, Y = _set(s), _set(s)
    n = s.size(8) if X.size and Y.size else 0
    rng = s.rng()
    return pairs(np.stack([rng.integers(0, max(Z.size, 1), n) for Z in (X, Y)], axis=1), X, Y)


def _agreement(s: Source) -> Relation[Any, Any]:
    axes = {c: Fin.of(s.size(4)) for c in "ij"}
    source, target = ("".join(s.one_of("ij") for _ in range(s.size(2))) for _ in range(2))
    X, Y = (reduce(operator.mul, (axes[c] for c in labels), Unit()) for labels in (source, target))
    return agreement(f"{source}->{target}", X, Y)


FORMS: dict[str, Callable[[Source], Relation[Any, Any]]] = {
    "full": lambda s: full(_set(s), _set(s)),
    "identity": lambda s: equality(_set(s)),
    "function": _function,
    "converse of a function": lambda s: _function(s).T,
    "inclusion": _run,
    "converse of an inclusion": lambda s: _run(s).T,
    "≤": lambda s: leq(_set(s)),
    "≥": lambda s: geq(_set(s)),
    "pairs": _pairs,
    "labels": _agreement,
}


def contraction(s: Source, kind: str = "real") -> tuple[Spec, Leaf, Leaf]:
    """A labelled contraction and its operands' leaves; the kind says what one of the operands is made of.

    Each of up to four labels stands in two or in all three of the lists, in any order. A Boolean operand selects; an
    element of an index set stands for the last labels of its operand.
    """
    places = [s.one_of(["lr", "lo", "ro", "lro"]) for _ in range(s.size(4))]
    axes = {label: Fin.of(s.size(5)) for label in ALPHABET[: len(places)]}
    lists = [[c for c, place in zip(axes, places, strict=True) if side in place] for side in "lro"]
    left, right, out = ("".join(s.draw(st.permutations(labels))) for labels in lists)
    leaves = [Leaf(s.field.entry, tuple(axes[c] for c in labels)) for labels in (left, right)]
    side = s.integer(0, 1)
    if kind == "bool":
        leaves[side] = Leaf(Bool.entry, leaves[side].axes)
    if kind == "element":
        labels = (left, right)[side]
        n = s.integer(min(1, len(labels)), len(labels))
        for c in labels[len(labels) - n :]:  # an empty set has no elements
            axes[c] = Fin.of(max(axes[c].size, 1))
        leaves = [Leaf(s.field.entry, tuple(axes[c] for c in labels)) for labels in (left, right)]
        free, hot = leaves[side].axes[: len(labels) - n], leaves[side].axes[len(labels) - n :]
        leaves[side] = Leaf(Elements(reduce(operator.mul, hot, Unit()) if len(hot) != 1 else hot[0]).entry, free)
    return Spec.of(left, right, out), leaves[0], leaves[1]


@st.composite
def sources(
    draw: Draw, *, smooth: bool = False, single: bool = True, fields: tuple[Field, ...] | None = None
) -> Source:
    """A source over ℝ, or now and then over single precision; or over one of some fields."""
    field = draw(st.sampled_from(fields or ([R, R, R, R32] if single else [R])))
    return Source(draw, field, smooth=smooth)


# --- vectors from arrays, and element by element ---


def of_leaves(space: Type, leaves: Iterable[Any]) -> Vec[Any]:
    """The element whose leaves are these arrays, in order."""
    return space.vec(space.pack(iter(leaves)))


def elements(v: Vec[Copower[Any, Any]]) -> list[Vec[Any]]:
    """The components v_x ∈ V of v ∈ V^X, in flat order."""
    base, n, axes = v.space.base, v.space.index.size, len(v.space.index.axes)
    rows = [np.reshape(a, (n, *np.shape(a)[axes:])) for a in v.leaves]
    return [of_leaves(base, [row[k] for row in rows]) for k in range(n)]


def gathered(space: Copower[Any, Any], parts: Sequence[Vec[Any]]) -> Vec[Any]:
    """The v ∈ V^X with these components; the inverse of `elements`."""
    leaves = [
        np.reshape(np.asarray([part.leaves[k] for part in parts], leaf.dtype), leaf.shape)
        for k, leaf in enumerate(space.leaves)
    ]
    return of_leaves(space, leaves)


# --- comparing ---


def same(v: Vec[Any], w: Vec[Any]) -> bool:
    """Whether two vectors have one space and exactly the same entries, NaN included."""
    return v.space == w.space and all(
        np.shape(a) == np.shape(b) == leaf.shape
        and a.dtype == b.dtype == leaf.dtype
        and np.array_equal(a, b, equal_nan=leaf.is_field)
        for a, b, leaf in zip(v.leaves, w.leaves, v.space.leaves, strict=True)
    )


def close(v: Vec[Any], w: Vec[Any], tolerance: float = 1e-9) -> bool:
    """Whether two vectors agree to a tolerance, relative to their size or to 1."""
    if v.space != w.space:
        return False
    for a, b, leaf in zip(v.leaves, w.leaves, v.space.leaves, strict=True):
        if not leaf.is_field:
            if not np.array_equal(a, b):
                return False
            continue
        scale = max(1.0, float(np.max(np.abs(a), initial=0.0)), float(np.max(np.abs(b), initial=0.0)))
        eps = tolerance if leaf.dtype == "float64" else max(tolerance, 2e-4)
        if not np.allclose(a, b, rtol=0.0, atol=eps * scale, equal_nan=True):
            return False
    return True


def agree(a: float, b: float, scale: float, *, exact: bool) -> bool:
    """Whether two numbers are the same, or the same to the rounding of single precision at this scale."""
    return a == b if exact else abs(a - b) <= 1e-4 * max(1.0, scale)

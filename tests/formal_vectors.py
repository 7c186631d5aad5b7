"""Vectors with formal arrays, of every form that the library makes, beside their dense forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
from hypothesis import note

from hilbert import Copower, DirectSum, Fin, TensorProduct, Type, Vec, formal, from_factors
from hilbert.arrays.formal.formal_array import Formal, block
from linmap import transpose
from linmap.unitary import distrib

if TYPE_CHECKING:
    from hilbert.index.leaf import Leaf
    from tests.strategies import Source


def formal_vector(s: Source, space: Type, depth: int = 2) -> Vec[Any]:
    """An element of a space; whatever is a tensor product in it is made formally, with a dense part now and then."""
    match space:
        case TensorProduct():
            t = FORMS[s.one_of(list(FORMS))](s, space, depth)
            note(f"{t!r}: {t.leaves}")
            return t
        case DirectSum(parts):
            vectors = [formal_vector(s, part, depth) for part in parts]
            return Vec(space, tuple(leaf for v in vectors for leaf in v.leaves))
        case Copower(TensorProduct(V, W), X):
            return distrib(TensorProduct(Copower(V, X), W))(formal_vector(s, TensorProduct(Copower(V, X), W), depth))
        case _:
            return s.vector(space)


def _pairs(s: Source, space: Any, depth: int) -> Vec[Any]:
    n = s.size(3)
    sides = (space.left, space.right)
    return formal(space, [tuple(formal_vector(s, side, depth - 1) for side in sides) for _ in range(n)])  # type: ignore[misc]


def _one_by_one(s: Source, space: Any, _: int) -> Vec[Any]:
    total = formal(space, [])
    for _ in range(s.size(10, 1)):
        total = total + s.vector(space.left).tensor(s.vector(space.right))
    return total


def _families(s: Source, space: Any, _: int) -> Vec[Any]:
    X = Fin.of(s.size(3)) * Fin.of(s.integer(1, 2)) if s.flag() else Fin.of(s.size(4))
    return from_factors(s.vector(Copower(space.left, X)), s.vector(Copower(space.right, X)))


def _transposed(s: Source, space: Any, depth: int) -> Vec[Any]:
    other = TensorProduct(space.right, space.left)
    return transpose(other)(formal_vector(s, other, depth - 1)) if depth else s.vector(space)


def _with_dense(s: Source, space: Any, _: int) -> Vec[Any]:
    return _pairs(s, space, 0) + s.vector(space)


def _combined(s: Source, space: Any, _: int) -> Vec[Any]:
    t = _families(s, space, 0)
    return 2.0 * t - _pairs(s, space, 0) - (-t)


def formal_array(s: Source, space: Type) -> Vec[Any]:
    """An element of any space whose arrays are blocks with factors on arbitrary groups of axes."""
    return Vec(space, tuple(_blocks(s, leaf) for leaf in space.leaves))


def _blocks(s: Source, leaf: Leaf) -> Any:
    places = s.draw(st.permutations(range(len(leaf.axes))))
    rng = s.rng()

    def array(*shape: int) -> Any:
        made = rng.integers(-2, 3, shape).astype(leaf.dtype)
        made.flags.writeable = False
        return made

    if not places:
        return array()
    blocks = []
    for _ in range(s.integer(1, 2)):
        r = s.size(3)
        cuts = sorted({s.integer(1, len(places)), s.integer(1, len(places)), len(places)})
        groups = [tuple(places[a:b]) for a, b in zip([0, *cuts], cuts, strict=False)]
        factors = [(array(r, *(leaf.shape[k] for k in group)), group) for group in groups]
        weights = [(array(r), ())] if s.flag() or not factors else []
        blocks.append(block(s.one_of((1.0, -2.0)), [*weights, *factors]))
    made = Formal(leaf.shape, leaf.dtype, tuple(blocks), array(*leaf.shape) if s.flag() else None)
    note(f"{made}: {blocks}")
    return made


FORMS = {
    "pairs": _pairs,
    "one by one": _one_by_one,
    "families": _families,
    "transposed": _transposed,
    "with a dense part": _with_dense,
    "combined": _combined,
}

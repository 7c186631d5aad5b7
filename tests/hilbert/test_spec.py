"""Labelled contractions are closed under the adjoint of their sections and under lifting."""

import itertools

import numpy as np
import pytest
from hypothesis import given

from hilbert import SpaceError
from hilbert.index.spec import Spec
from hilbert.program.line.operation import product
from hilbert.space.space import type_of
from tests.strategies import Source, contraction, sources


@given(sources())
def test_section_adjoint_is_an_involution(s: Source) -> None:
    """(u⋄)** = (u⋄) and (⋄v)** = (⋄v), up to the names of the labels, which are canonical."""
    spec, _, _ = contraction(s)
    for side in (0, 1):
        assert spec.section_adjoint(side).section_adjoint(side) == spec


def test_labels_stand_in_two_of_three_lists() -> None:
    """Of all triples of lists of two labels those are refused where one stands twice in a list, or in one list only."""
    lists = ["", "i", "j", "ij", "ji", "ii", "iji"]
    for triple in itertools.product(lists, repeat=3):
        twice = any(len(set(labels)) < len(labels) for labels in triple)
        if twice or any(sum(c in labels for labels in triple) == 1 for c in "ij"):
            with pytest.raises(SpaceError, match="stands twice in one list" if twice else "stands in one list only"):
                Spec.of(*triple)
        else:
            assert Spec.of(*triple).mirrored.mirrored == Spec.of(*triple)


@given(sources())
def test_labels_are_canonical(s: Source) -> None:
    """Renaming the labels gives an equal spec."""
    spec, _, _ = contraction(s)
    other = str.maketrans("ijklmn", "zyxwvu")
    renamed = Spec.of(spec.left.translate(other), spec.right.translate(other), spec.out.translate(other))
    assert renamed == spec
    assert hash(renamed) == hash(spec)


@given(sources())
def test_lifting_commutes_with_the_adjoint(s: Source) -> None:
    """((u⋄)^X)* = ((u⋄)*)^X, where u varies over X or is shared."""
    spec, _, _ = contraction(s)
    n, side, varies = s.integer(1, 2), s.integer(0, 1), s.flag()
    left, right = (varies, True) if side == 0 else (True, varies)
    lifted = spec.lifted(n, left=left, right=right)
    assert lifted.section_adjoint(side) == spec.section_adjoint(side).lifted(n, left=left, right=right)


@given(sources())
def test_lifting_twice(s: Source) -> None:
    """Lifting by n and then by m axes is lifting by m + n."""
    spec, _, _ = contraction(s)
    sides = s.one_of([{"left": True, "right": True}, {"left": True, "right": False}, {"left": False, "right": True}])
    assert spec.lifted(1, **sides).lifted(2, **sides) == spec.lifted(3, **sides)


@given(sources(single=False))
def test_section_adjoint(s: Source) -> None:
    """(u⋄v) ⊙ w = v ⊙ (u⋄)*(w) and (u⋄v) ⊙ w = u ⊙ (⋄v)*(w), with the labels read by einsum."""
    spec, left, right = contraction(s)
    u, v = (s.vector(type_of(leaf)).leaves[0] for leaf in (left, right))
    w = s.vector(type_of(product(spec, left, right))).leaves[0]
    due = np.sum(np.einsum(str(spec), u, v) * w)
    assert np.sum(v * np.einsum(str(spec.section_adjoint(0)), u, w)) == due
    assert np.sum(u * np.einsum(str(spec.section_adjoint(1)), w, v)) == due

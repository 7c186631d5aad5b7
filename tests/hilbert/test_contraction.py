"""The kernels of labelled contractions agree with einsum: out[o] = Σ left[l]·right[r].

A Boolean operand stands for zeros and ones, an element of X for its basis vector in ℝ^X.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from hilbert import Fin, R
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Leaf
from hilbert.index.spec import Spec
from hilbert.program.line.operation import product
from hilbert.space.space import type_of
from tests.oracle import dense
from tests.strategies import Source, contraction, sources

KINDS = ["real", "bool", "element"]


def operand(s: Source, leaf: Leaf) -> Any:
    """An array for a leaf, in row-major order, transposed in memory, or a broadcast view."""
    array = np.asarray(s.vector(type_of(leaf)).leaves[0])
    match s.one_of(["rows", "columns", "view"]):
        case "columns":
            return np.array(array, order="F")
        case "view" if array.ndim and array.shape[0]:
            return np.broadcast_to(array[:1], array.shape)
        case _:
            return array


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=250)
@given(s=sources())
def test_kernels_agree_with_einsum(kind: str, s: Source) -> None:
    """contract(spec, a, b) = einsum(spec, a, b), in shape, dtype and entries; no operand changes."""
    spec, left, right = contraction(s, kind)
    a, b = operand(s, left), operand(s, right)
    before = a.copy(), b.copy()
    kernel = NUMPY.contract(spec, left, right)
    found = kernel.call(a, b)
    due = np.einsum(str(spec), dense(a, left), dense(b, right))
    made = product(spec, left, right)
    assert np.shape(found) == made.shape
    assert found.dtype == made.dtype
    assert np.array_equal(found, due), f"{spec} of {left} and {right}"
    assert np.array_equal(a, before[0])
    assert np.array_equal(b, before[1])
    if kernel.fresh:
        assert not np.shares_memory(found, a)
        assert not np.shares_memory(found, b)


BATCHED = [
    "bij,bi->bj",
    "bij,bj->bi",
    "bi,bj->bij",
    "bi,bj->bji",
    "bij,b->bij",
    "bi,bi->b",
    "bij,bij->b",
    "bij,bij->bj",
    "bij,ki->bkj",
    "biu,ki->bku",
    "ki,bij->bkj",
    "bcij,ki->bckj",
    "bijk,hij->bhk",
    "bij,ki->bjk",
    "bij,cij->bcj",
]


@pytest.mark.parametrize("text", BATCHED)
def test_many_small_matrices(text: str) -> None:
    """Kernels that are chosen by size: 500 matrices of 2 to 4 rows and columns, in memory in both orders."""
    rng = np.random.default_rng(0)
    size = {"b": 500, "c": 5, "i": 2, "j": 3, "k": 4, "h": 2, "u": 1}
    sides, out = text.split("->")
    left, right = sides.split(",")
    leaves = [Leaf(R.entry, tuple(Fin.of(size[c]) for c in labels)) for labels in (left, right)]
    spec = Spec.of(left, right, out)
    for order in "CF":
        a, b = (np.array(rng.standard_normal(leaf.shape), order=order) for leaf in leaves)  # type: ignore[call-overload]
        found = NUMPY.contract(spec, *leaves).call(a, b)
        assert found.shape == tuple(size[c] for c in out)
        assert np.allclose(found, np.einsum(text, a, b), rtol=0, atol=1e-12)


@settings(max_examples=250)
@given(sources())
def test_overwriting_forms(s: Source) -> None:
    """Where a kernel may overwrite an operand of the result's shape, it writes the result there and nowhere else."""
    spec, left, right = contraction(s)
    kernel = NUMPY.contract(spec, left, right)
    made = product(spec, left, right)
    for k, form in enumerate(kernel.inplace):
        operands = [np.array(s.vector(type_of(leaf)).leaves[0]) for leaf in (left, right)]
        if form is None or (left, right)[k] != made or not made.axes:
            continue
        due = np.einsum(str(spec), *operands)
        other = operands[1 - k].copy()
        found = form(*operands)
        assert found is operands[k]
        assert np.array_equal(found, due), f"{spec} of {left} and {right} in operand {k}"
        assert np.array_equal(operands[1 - k], other)


@pytest.mark.parametrize("kind", ["real", "element"])
@given(s=sources(single=False))
def test_nan_passes_through(kind: str, s: Source) -> None:
    """A NaN in an operand that is read is a NaN in the result, as in einsum."""
    spec, left, right = contraction(s, kind)
    a, b = (np.array(operand(s, leaf)) for leaf in (left, right))
    for array, leaf in ((a, left), (b, right)):
        if leaf.is_field and array.size:
            array.reshape(-1)[s.integer(0, array.size - 1)] = np.nan
    found = NUMPY.contract(spec, left, right).call(a, b)
    hot = any(leaf.entry.index is not None for leaf in (left, right))
    due = np.einsum(str(spec), dense(a, left), dense(b, right))
    if hot:  # a gather reads one entry, where 0·NaN would be NaN
        assert not np.any(np.isnan(found) & ~np.isnan(due))
    else:
        assert np.array_equal(found, due, equal_nan=True)


@given(sources())
def test_selection_is_no_multiplication(s: Source) -> None:
    """Where a Boolean operand is false, a NaN of the other operand does not pass."""
    spec, left, right = contraction(s, "bool")
    a, b = (np.array(operand(s, leaf)) for leaf in (left, right))
    mask, values = (a, b) if left.kind == "b" else (b, a)
    mask[...] = False
    values[...] = np.nan
    assert not np.any(NUMPY.contract(spec, left, right).call(a, b))

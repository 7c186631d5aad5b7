"""Products of views in blocks, and places along several axes at once, are what they are one by one."""

import math
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from hilbert import Fin
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.line.builder import Builder
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Add, Reduce
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.fuse import fused
from hilbert.program.run.fused_steps import AddInto, Placed
from hilbert.program.run.run import Runner
from hilbert.relation import run

CUT, SMALL, PRIME = (64, 24), (12, 2), (997, 24)
"""Places and channels of the result: several products a block; one, as it is small; one, as nothing divides it."""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("places", "made"), [CUT, SMALL, PRIME])
@pytest.mark.parametrize("spec", ["bkpc,kco->bpo", "kco,bkpc->bpo", "bkpc,bpo->kco", "bpo,bkpc->kco"])
def test_windows_are_multiplied_block_by_block(spec: str, places: int, made: int, dtype: str) -> None:
    """Σ over labels of overlapping windows and a matrix, as by einsum, the last block shorter."""
    size = {"b": 5 if places > 900 else 137, "p": places, "k": 5, "c": 32, "o": made}
    rng = np.random.default_rng(0)
    left, right, out = spec.replace("->", ",").split(",")
    image = rng.standard_normal((size["b"], places + 4, 32)).astype(dtype)
    windows = np.moveaxis(sliding_window_view(image, 5, axis=1), -1, 1)
    plain = {have: rng.standard_normal([size[c] for c in have]).astype(dtype) for have in (left, right)}
    arrays = [windows if have == "bkpc" else plain[have] for have in (left, right)]
    leaves = [Leaf(Entry(dtype), tuple(Fin.of(size[c]) for c in have)) for have in (left, right)]
    with mock.patch.object(np, "matmul", side_effect=np.matmul) as matmul:
        found = NUMPY.contract(Spec.of(left, right, out), *leaves).call(*arrays)
    products = [call.args for call in matmul.call_args_list]
    assert len(products) > 2
    pieces = {math.prod(a.shape[:-2]) for a, _ in products}
    assert (min(pieces) > 1) == ((places, made) == CUT or (places > 900 and out == "kco"))  # its rows are k, c
    due = np.einsum(spec, *(a.astype("float64") for a in arrays), optimize=True)
    assert (found.dtype, found.shape) == (dtype, due.shape)
    np.testing.assert_allclose(found, due, rtol=0, atol=np.abs(due).max() * (1e-13 if dtype == "float64" else 1e-5))
    assert not any(np.shares_memory(found, a) for a in (image, *arrays))


@pytest.mark.parametrize("spec", ["ij,ik->jk", "ik,ij->kj", "aij,aik->jk", "aij,aij->j", "aij,aik->kj", "iaj,aik->jk"])
def test_large_arrays_are_multiplied_transposed(spec: str) -> None:
    """Σ over the first axes of two large arrays: rows and columns are single axes."""
    left, right, out = spec.replace("->", ",").split(",")
    size = {"a": 3, "i": 13_200 if "a" not in spec else 7_000, "j": 10, "k": 11}
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal([size[c] for c in have]) for have in (left, right)]
    leaves = [Leaf(Entry("float64"), tuple(Fin.of(size[c]) for c in have)) for have in (left, right)]
    found = NUMPY.contract(Spec.of(left, right, out), *leaves).call(*arrays)
    np.testing.assert_allclose(found, np.einsum(spec, *arrays), rtol=0, atol=1e-9)
    assert found.shape == tuple(size[c] for c in out)


def names(line: Line) -> list[str]:
    """What the steps do."""
    return [type(step.operation).__name__ for step in line.steps]


def between_zeros(*steps: tuple[int, int, int, int], shape: tuple[int, ...], also: bool = False) -> Line:
    """The line of inclusions (axis, length, offset, stride) one after the other; with all that lies between."""
    b = Builder([Leaf(Entry("float64"), tuple(map(Fin.of, shape)))])
    slots = [0]
    for at, length, offset, stride in steps:
        slots.append(b.apply(Reduce(run(b.slots[slots[-1]].axes[at], Fin.of(length), offset, stride), at), slots[-1]))
    return b.line(slots[1:] if also else slots[-1:])


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ([(0, 7, 1, 1), (1, 5, 0, 1)], ["Placed"]),
        ([(2, 9, 8, -3), (0, 7, 1, 2), (1, 4, 1, 1)], ["Placed"]),
        ([(1, 5, 2, 1), (1, 7, 1, 1)], ["Reduce", "Reduce"]),  # the same axis twice
        ([(0, 3, 2, -1), (1, 2, 1, -1)], ["Reduce", "Reduce"]),
        ([(0, 3, 2, -1), (1, 4, 1, 1), (2, 6, 1, 1)], ["Reduce", "Placed"]),
    ],
)
def test_places_along_several_axes(steps: list[tuple[int, int, int, int]], left: list[str]) -> None:
    """red_R then red_S for inclusions along two axes: written once, in every library; what lies between is not made."""
    line = between_zeros(*steps, shape=(3, 2, 3))
    array = np.arange(1.0, 19.0).reshape(3, 2, 3)
    (due,) = BoundLine(line, NUMPY, [array])([array])
    assert names(fused(line)) == left
    (found,) = Runner(line).run([array])
    assert np.array_equal(found, due)
    assert np.shares_memory(found, array) == ("Placed" not in left and steps[0][3] < 0)  # reversals are views
    jax = pytest.importorskip("jax")
    (there,) = Runner(line).run([jax.numpy.asarray(array)])
    assert np.array_equal(np.asarray(there), due)


def test_places_that_others_read_stay() -> None:
    """What lies between the two is a result, too; a sum with both still writes into one operand."""
    steps = [(0, 7, 1, 1), (1, 5, 0, 1)]
    line = between_zeros(*steps, shape=(3, 2, 3), also=True)
    assert names(fused(line)) == ["Reduce", "Reduce"]
    b = Builder([Leaf(Entry("float64"), tuple(map(Fin.of, shape))) for shape in ((3, 2, 3), (7, 5, 3))])
    slot = 0
    for at, length, offset, stride in steps:
        slot = b.apply(Reduce(run(b.slots[slot].axes[at], Fin.of(length), offset, stride), at), slot)
    added = b.line([b.emit(Add(), (1, slot), b.slots[1])])
    assert [type(step.operation) for step in fused(added).steps] == [Reduce, AddInto]
    rng = np.random.default_rng(0)
    arrays: list[Any] = [rng.standard_normal((3, 2, 3)), rng.standard_normal((7, 5, 3))]
    assert np.array_equal(Runner(added).run(arrays)[0], BoundLine(added, NUMPY, arrays)(arrays)[0])


def test_images_compose() -> None:
    """The leaf of places at once is that of the last of them."""
    line = between_zeros((0, 7, 1, 1), (1, 5, 0, 1), shape=(3, 2, 3))
    (step,) = fused(line).steps
    assert isinstance(step.operation, Placed)
    assert step.operation.image(line.slots[0]) == line.slots[-1]

"""Sets of pairs beside Boolean matrices: boxes, lists and all pairs, united, composed, to a power, coloured."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from linmap.matrices.tables.pair_colours import colours
from linmap.matrices.tables.pair_matrices import power
from linmap.matrices.tables.pair_sets import (
    MaybePairs,
    PairSet,
    Shape,
    after,
    boxes,
    count,
    everything,
    flat,
    identity,
    listed,
    united,
)

FEW = settings(max_examples=25)
SHAPES = st.sampled_from([(), (1,), (4,), (7,), (2, 3), (3, 2), (0,)])


def dense(p: MaybePairs, inp: Shape, out: Shape) -> Any:
    """A row for each output, a column for each input."""
    made = np.zeros(math.prod(out) * math.prod(inp), bool)
    if p is not None:
        assert (p.n, p.m) == (math.prod(inp), math.prod(out))
        made[flat(p)] = True
        assert made.sum() == count(p) == len(flat(p))
    return made.reshape(math.prod(out), math.prod(inp))


@st.composite
def sets(draw: st.DrawFn, inp: Shape, out: Shape) -> MaybePairs:
    """Pairs of two grids, in one of the three forms, or none."""
    size = math.prod(inp) * math.prod(out)
    kind = draw(st.sampled_from(["boxes", "list", "all"]))
    if kind == "boxes" and len(inp) == len(out):
        some = []
        for _ in range(draw(st.integers(0, 4))):
            shifts = [draw(st.integers(-n, m)) for n, m in zip(inp, out, strict=True)]
            first = [draw(st.integers(max(0, -d), n + 1)) for n, d in zip(inp, shifts, strict=True)]
            ends = [min(n, m - d) for n, m, d in zip(inp, out, shifts, strict=True)]
            some.append([shifts, first, ends])
        return boxes(inp, out, some) if size else None
    if kind == "all" or not size:
        return everything(inp, out)
    return listed(inp, out, np.array(sorted(draw(st.sets(st.integers(0, size - 1)))), np.int64))


@FEW
@given(st.data(), SHAPES, SHAPES, SHAPES)
def test_operations(data: st.DataObject, x: Shape, y: Shape, z: Shape) -> None:
    """Union, composition and transposition are those of Boolean matrices."""
    p, q, r = data.draw(sets(x, y)), data.draw(sets(x, y)), data.draw(sets(y, z))
    one, other, then = dense(p, x, y), dense(q, x, y), dense(r, y, z)
    assert np.array_equal(dense(united(p, q), x, y), one | other)
    assert np.array_equal(dense(after(r, p), x, z), (then.astype(int) @ one.astype(int)) > 0)
    if p is not None:
        assert np.array_equal(dense(p.T, y, x), one.T)
        assert p.widest == one.sum(1).max()
    assert np.array_equal(dense(identity(x), x, x), np.eye(math.prod(x), dtype=bool))


@FEW
@given(st.data(), st.lists(SHAPES.filter(math.prod), min_size=1, max_size=3), st.integers(1, 7))
def test_powers(data: st.DataObject, shapes: list[Shape], k: int) -> None:
    """A power of blocks is that of the whole."""
    blocks = {(j, i): data.draw(sets(a, b)) for i, a in enumerate(shapes) for j, b in enumerate(shapes)}
    grid = {i: {j: p for j in range(len(shapes)) if (p := blocks[j, i])} for i in range(len(shapes))}

    def whole(found: dict[int, dict[int, PairSet]]) -> Any:
        rows = [[dense(found.get(i, {}).get(j), a, b) for i, a in enumerate(shapes)] for j, b in enumerate(shapes)]
        return np.block(rows).astype(int)

    assert np.array_equal(whole(power(grid, k)) > 0, np.linalg.matrix_power(whole(grid), k) > 0)


@FEW
@given(st.data(), SHAPES.filter(math.prod), SHAPES.filter(math.prod), SHAPES.filter(math.prod))
def test_colours(data: st.DataObject, x: Shape, y: Shape, z: Shape) -> None:
    """Inputs of one colour share no output."""
    some = [p for p in (data.draw(sets(x, y)), data.draw(sets(x, z))) if p is not None]
    if not some:
        return
    found = colours(some)
    for p in some:
        matrix = dense(p, x, p.out)
        for colour in range(found.max() + 1):
            assert matrix[:, found == colour].sum(1).max() <= 1


def test_bands_have_few_colours() -> None:
    """As many as a row has entries."""
    band = boxes((50,), (50,), [[[-1], [1], [50]], [[0], [0], [50]], [[1], [0], [49]]])
    assert band is not None
    assert colours([band]).max() == 2

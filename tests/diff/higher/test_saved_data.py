"""Values of data in files: what is read is what was written, gradients too; other files and kinds are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjoint import grad
from diff import arrow, data, fun, sequence, variant
from diff.higher import TermError
from hilbert import R32, Fin, R, SpaceError, Zero
from tests.diff.higher.test_functions_on_data import (
    Just,
    Leaf,
    Node,
    Nothing,
    Rose,
    V,
    energy,
    maybe,
    p0,
    rose,
    tree,
    trees,
)
from tests.diff.higher.test_instances import VALUES, same


@pytest.mark.parametrize(("kind", "some"), VALUES[2:], ids=[repr(kind) for kind, _ in VALUES[2:]])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_round_trip(kind: Any, some: Any, tmp_path: Path, data: Any) -> None:
    value, file = data.draw(some), tmp_path / "value.npz"
    kind.save(value, file)
    assert same(kind.load(file), value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trees())
def test_gradients(tmp_path: Path, t: Any) -> None:
    """A gradient is a value of the same classes; a step is the same before and after."""
    _, slope = grad(energy)(p0, t)
    tree.save(slope, tmp_path / "slope.npz")
    back = tree.load(tmp_path / "slope.npz")
    assert same(back, slope)
    assert float(energy(p0, back)) == float(energy(p0, slope))


def test_long_values(tmp_path: Path) -> None:
    """10⁴ vectors are one array, and a tree of 10⁴ levels is read."""
    rows = tuple(R.vec(float(k)) for k in range(10_000))
    kind: Any = sequence(R)
    file = tmp_path / "rows.npz"
    kind.save(rows, file)
    with np.load(file) as found:
        assert sorted(found.files) == ["0.0", "classes", "key"]
    assert same(kind.load(file), rows)
    deep: Any = Leaf(V.vec([1.0, 2.0]))
    for _ in range(10_000):
        deep = Node(deep, Leaf(V.zeros()))
    tree.save(deep, file)
    back: Any = tree.load(file)
    for _ in range(10_000):
        back = back.left
    assert back.word.array.tolist() == [1.0, 2.0]


def test_spaces_without_numbers(tmp_path: Path) -> None:
    @variant
    class Mark:
        at: Any
        value: Any

    kind, file = data(Mark, at=Zero(), value=R32), tmp_path / "mark.npz"
    mark = Mark(Zero().zeros(), R32.vec(0.5))
    kind.save(mark, file)
    assert same(kind.load(file), mark)


def refused(f: Any, words: str) -> None:
    with pytest.raises(TermError, match=words):
        f()


def test_mistakes(tmp_path: Path) -> None:
    file: Any = tmp_path / "value.npz"
    refused(lambda: rose.save(Just(R.vec(1.0)), file), "where a value of data")  # type: ignore[arg-type]
    refused(lambda: arrow(R, R).save(lambda x: x, file), "holds functions or expressions")
    with pytest.raises(FileNotFoundError):
        tree.load(file)
    file.write_text("nothing")
    refused(lambda: tree.load(file), "is no file that")
    tree.save(Leaf(V.zeros()), file)
    refused(lambda: maybe.load(file), r"holds no value of data\(Nothing, Just, value=R\): Leaf is no class of")
    refused(lambda: data(Leaf, word=R ** Fin.of(3)).load(file), r"float64\[1, 2\] where float64\[1, 3\], 1 elements")
    maybe.save(Nothing(), file)
    refused(lambda: sequence(maybe).load(file), "Nothing is no length of")
    sequence(maybe).save((Nothing(), Just(R.vec(1.0))), file)
    with np.load(file) as found:
        arrays = dict(found)
    shorter: list[dict[str, Any]] = [{"key": arrays["key"][:-1]}, {"key": np.array([-1])}, {"0.0": arrays["0.0"][:0]}]
    for broken in (*shorter, {"1.0": np.ones(1)}):
        np.savez(file, **(arrays | broken))
        refused(lambda: sequence(maybe).load(file), "holds no value of")
    with pytest.raises(SpaceError, match="holds functions or expressions"):
        fun(R)(lambda x: rose.save(Rose(x, ()), file) or x)

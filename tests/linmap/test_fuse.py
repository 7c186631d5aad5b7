"""Steps done together give the same results, and only where nobody else reads what lies between."""

from typing import Any

import numpy as np
import pytest

from diff import fun, program
from diff.evaluate import tape as program_tape
from hilbert import Fin, R
from linmap import differences, fork, gather, identity, scale, section, segment_sum
from linmap.contraction import hadamard
from linmap.evaluate import tape
from linmap.lower import net

X = Fin.of(4)
V = R**X
a, b = V.vec([1.0, 2.0, 4.0, 8.0]), V.vec([3.0, 1.0, -1.0, 5.0])


def names(t: Any) -> list[str]:
    """The operations of a tape, in order."""
    return [type(step.operation).__name__ for step in t.code]


@pytest.mark.parametrize(
    ("body", "steps", "due"),
    [
        (lambda x, y: x - y, ["Subtract"], [-2.0, 1.0, 5.0, 3.0]),
        (lambda x, y: -x + y, ["Subtract"], [2.0, -1.0, -5.0, -3.0]),
        (lambda x, y: -x - y, ["Scale", "Subtract"], [-4.0, -3.0, -3.0, -13.0]),
        (lambda x, _: x - x, ["Subtract"], [0.0] * 4),
        (lambda x, y: x - 2.0 * y, ["Scale", "Subtract"], [-5.0, 0.0, 6.0, -2.0]),
    ],
)
def test_differences(body: Any, steps: list[str], due: list[float]) -> None:
    """a + (−1)·b is one subtraction."""
    f = program(fun(V, V)(body))
    assert f(a, b).array.tolist() == due
    assert names(program_tape(f, f.outputs)) == steps


def test_a_negation_that_is_read_twice() -> None:
    """−y stands where it is a result, or read by two steps."""

    def both(x: Any, y: Any) -> Any:
        z = -y
        return x + z, z

    f = program(fun(V, V)(both))
    assert f(a, b).flat().tolist() == [-2.0, 1.0, 5.0, 3.0, -3.0, -1.0, 1.0, -5.0]
    assert names(program_tape(f, f.outputs)) == ["Scale", "Add"]


def test_linear_maps() -> None:
    """The nets of linear maps, too."""
    f = differences(R, X)
    assert f(b).array.tolist() == [-2.0, -2.0, 6.0]
    assert names(tape(net(f))) == ["Reduce", "Reduce", "Subtract"]
    g = identity(V) - scale(2.0, V)
    assert g(a).array.tolist() == [-1.0, -2.0, -4.0, -8.0]


N, K, M = Fin.of(50), Fin.of(5000), Fin.of(60)
rows = np.sort(np.random.default_rng(0).integers(0, 60, 5000))
cols = np.random.default_rng(1).integers(0, 50, 5000)


def test_what_lies_between_is_read_elsewhere() -> None:
    """A gather or a product that is a result, too, is computed; and so is one with itself."""
    weights = (R**K).vec(np.arange(5000.0) % 7)
    first, product = gather(R, cols, N, rows=K), section(hadamard(R**K), 0, weights)
    last = segment_sum(R, rows, M, rows=K)
    v = (R**N).vec(np.arange(50.0))
    whole = last @ product @ first
    due = np.bincount(rows, weights.array * v.array[cols], 60)
    assert np.array_equal(whole(v).array, due)
    assert names(tape(net(whole))) == ["Weighted"]
    for middle in (first, product @ first):
        rest = last @ product if middle is first else last
        f = fork(rest, identity(middle.cod)) @ middle
        assert np.array_equal(f(v).flat(), np.concatenate([due, middle(v).array]))
        assert names(tape(net(f))) == ["Reduce", "Contract", "Reduce"]
    square = program(fun(R**N)(lambda x: last(first(x) * first(x))))
    assert np.array_equal(square(v).array, np.bincount(rows, v.array[cols] ** 2, 60))

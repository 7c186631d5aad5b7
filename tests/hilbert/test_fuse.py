"""Steps done together give the same results, and only where nobody else reads what lies between."""

from functools import reduce
from operator import mul
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from diff import fun, program
from hilbert import R32, Fin, R
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.line.builder import Builder
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Contract, Reduce
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.fuse import LONG, fused
from hilbert.program.run.fused_steps import Together
from hilbert.program.run.run import Runner
from hilbert.relation import function, run
from hilbert.relation.function_forms import sliding
from linmap import (
    concatenate,
    differences,
    fork,
    gather,
    identity,
    inject,
    join,
    parallel,
    project,
    red,
    scale,
    section,
    segment_sum,
    sparse,
    stack,
)
from linmap.contraction import hadamard
from linmap.net.apply import line
from linmap.net.lower import net
from linmap.unitary import distrib

X = Fin.of(4)
V = R**X
a, b = V.vec([1.0, 2.0, 4.0, 8.0]), V.vec([3.0, 1.0, -1.0, 5.0])


def names(line: Line) -> list[str]:
    """The operations that run, in order."""
    return [type(step.operation).__name__ for step in Runner(line).line.steps if step.args]


@pytest.mark.parametrize(
    ("body", "steps", "due"),
    [
        (lambda x, y: x - y, ["Subtract"], [-2.0, 1.0, 5.0, 3.0]),
        (lambda x, y: -x + y, ["Subtract"], [2.0, -1.0, -5.0, -3.0]),
        (lambda x, y: -x - y, ["Scale", "Subtract"], [-4.0, -3.0, -3.0, -13.0]),
        (lambda x, _: x - x, ["Subtract"], [0.0] * 4),
        (lambda x, y: x - 2.0 * y, ["Scale", "Add"], [-5.0, 0.0, 6.0, -2.0]),
    ],
)
def test_differences(body: Any, steps: list[str], due: list[float]) -> None:
    """a + (−1)·b is one subtraction."""
    f = program(fun(V, V)(body))
    assert f(a, b).array.tolist() == due
    assert names(f.line) == steps


def test_a_negation_that_is_read_twice() -> None:
    """−y stands where it is a result, or read by two steps."""

    def both(x: Any, y: Any) -> Any:
        z = -y
        return x + z, z

    f = program(fun(V, V)(both))
    assert f(a, b).flat().tolist() == [-2.0, 1.0, 5.0, 3.0, -3.0, -1.0, 1.0, -5.0]
    assert names(f.line) == ["Scale", "Add"]


def test_linear_maps() -> None:
    """The nets of linear maps, too."""
    f = differences(X)
    assert f(b).array.tolist() == [-2.0, -2.0, 6.0]
    assert names(line(net(f))) == ["Reduce", "Reduce", "Subtract"]
    g = identity(V) - scale(2.0, V)
    assert g(a).array.tolist() == [-1.0, -2.0, -4.0, -8.0]


def test_sums_with_padded_arrays() -> None:
    """Each summand after the first touches what it covers only; no argument is overwritten."""
    parts = [Fin.of(n) for n in (2, 3, 0, 1, 4)]
    f = concatenate(*parts)
    arrays = [np.arange(1.0, n.size + 1) for n in parts]
    v = f.dom.vec(tuple(arrays))
    assert np.array_equal(f(v).array, np.concatenate(arrays))
    assert names(line(net(f))) == ["Reduce", "AddInto", "AddInto", "AddInto", "AddInto"]
    g = stack(Fin.of(3), V)
    w = g.dom.vec((a.array, b.array, a.array))
    assert np.array_equal(g(w).array, np.stack([a.array, b.array, a.array]))
    assert "Add" not in names(line(net(g)))
    h = (identity(V) + inject(V, 1) @ project(V, 3)) ** Fin.of(2)
    x = h.dom.vec(np.arange(8.0).reshape(2, 4))
    assert h(x).array.tolist() == [[0.0, 4.0, 2.0, 3.0], [4.0, 12.0, 6.0, 7.0]]
    assert x.array.tolist() == np.arange(8.0).reshape(2, 4).tolist()
    assert names(line(net(h)))[-1] == "AddInto"


def test_strided_sums() -> None:
    """Every second place, backwards, of a space of several axes, by turns with a sum that stays."""
    X2 = Fin.of(3) * Fin.of(2)
    every = red(run(Fin.of(3), X2, 4, -2), R)
    f = join(identity(R**X2), every, every)
    x, y, z = (s.vec(np.arange(1.0, s.dim + 1).reshape(s.leaves[0].shape)) for s in f.dom.parts)
    due = x.array.copy().reshape(-1)
    due[[4, 2, 0]] += y.array + z.array
    assert f(x, y, z).array.reshape(-1).tolist() == due.tolist()
    assert names(line(net(f))) == ["AddInto", "AddInto"]


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums_with_scattered_entries(dtype: str, shape: tuple[int, ...]) -> None:
    """Entries among zeros, no two at one place, are added in place; two at one place, and short arrays, are summed."""
    rng, entry = np.random.default_rng(0), Entry(dtype)
    rest = tuple(Fin.of(k) for k in shape)
    for m, repeated, due in ((5000, False, True), (5000, True, False), (500, False, False)):
        places = rng.permutation(m)[: m // 2]
        places[0] = places[1] if repeated else places[0]
        n, Y = Fin.of(len(places)), Fin.of(m)
        leaves = [Leaf(entry, (Y, *rest)), Leaf(entry, (n, *rest))]
        arrays = [rng.integers(-9, 9, leaf.shape).astype(dtype) for leaf in leaves]
        given = [a.copy() for a in arrays]
        b = Builder(leaves)
        scattered = b.apply(Reduce(function(places, n, Y), 0), 1)
        last = b.line([b.add(b.add(0, scattered), scattered)])
        alone = b.line([b.add(b.add(0, 0), b.apply(Reduce(function(places[::-1].copy(), n, Y), 0), 1))])
        assert "AddInto" not in names(last)  # both sums read it
        assert ("AddInto" in names(alone)) is due
        expected = 2 * arrays[0]
        np.add.at(expected, places[::-1], arrays[1])
        for _ in range(4):
            assert np.array_equal(Runner(alone).run(arrays)[0], expected)
        assert all(np.array_equal(a, g) for a, g in zip(arrays, given, strict=True))
        front = b.line([b.add(0, b.apply(Reduce(function(places, n, Y), 0), 1))])
        np.add.at(given[0], places, given[1])
        for _ in range(4):
            assert np.array_equal(Runner(front).run(arrays)[0], given[0])
            assert not np.array_equal(arrays[0], given[0])  # an argument is not overwritten


def test_scattered_entries_between_axes() -> None:
    """The axis may be any of an array's."""
    rng, Y, n = np.random.default_rng(1), Fin.of(4096), Fin.of(100)
    places = rng.permutation(4096)[:100]
    b = Builder([Leaf(Entry("float64"), (Fin.of(2), X, Fin.of(3))) for X in (Y, n)])
    line = b.line([b.add(b.apply(Reduce(function(places, n, Y), 1), 1), 0)])
    assert names(line) == ["AddInto"]
    arrays = [rng.integers(-9, 9, leaf.shape).astype(float) for leaf in line.slots[:2]]
    expected = arrays[0].copy()
    expected[:, places] += arrays[1]
    assert np.array_equal(Runner(line).run(arrays)[0], expected)
    jax = pytest.importorskip("jax")
    assert np.array_equal(np.asarray(Runner(line).run([jax.numpy.asarray(a) for a in arrays])[0]), expected)


@pytest.mark.parametrize("name", ["jax.numpy", "array_api_strict"])
def test_in_another_namespace(name: str) -> None:
    """Elsewhere the steps are taken one after the other."""
    xp = pytest.importorskip(name)
    f = (
        concatenate(Fin.of(2), Fin.of(3), V=R32)
        - concatenate(Fin.of(2), Fin.of(3), V=R32, to=Fin.of(2) + Fin.of(3)) * 2.0
    )
    v = [np.arange(2, dtype=np.float32), np.arange(3, dtype=np.float32)]
    found = f(f.dom.vec(tuple(xp.asarray(part) for part in v))).array
    assert np.array_equal(np.asarray(found), -np.concatenate(v))


N, K, M = Fin.of(50), Fin.of(5000), Fin.of(60)
rows = np.sort(np.random.default_rng(0).integers(0, 60, 5000))
cols = np.random.default_rng(1).integers(0, 50, 5000)


def test_formal_tensors() -> None:
    """On a formal tensor the steps act on its factors."""
    Z = Fin.of(3)
    f = sparse(rows, cols, np.arange(5000.0) % 5, N, M, R * R**Z) @ distrib((R**N) * (R**Z))
    u, w = (R**N).vec(np.arange(50.0)), (R**Z).vec([1.0, -1.0, 2.0])
    formal = u.tensor(w)
    assert formal.is_formal
    due = np.outer(np.bincount(rows, (np.arange(5000.0) % 5) * u.array[cols], 60), w.array)
    assert np.allclose(f(formal).dense().array.reshape(60, 3), due)
    g = concatenate(N, M, V=R * R**Z) @ parallel(distrib((R**N) * (R**Z)), distrib((R**M) * (R**Z)))
    x = (R**M).vec(np.ones(60)).tensor(w)
    both = g(formal, x).dense().array.reshape(110, 3)
    assert np.allclose(both, np.outer(np.concatenate([u.array, np.ones(60)]), w.array))


def test_what_lies_between_is_read_elsewhere() -> None:
    """A gather or a product that is a result, too, is computed; and so is one with itself."""
    weights = (R**K).vec(np.arange(5000.0) % 7)
    first, product = gather(cols, N, rows=K), section(hadamard(R**K), 0, weights)
    last: Any = segment_sum(rows, M, rows=K)
    v = (R**N).vec(np.arange(50.0))
    whole = last @ product @ first
    due = np.bincount(rows, weights.array * v.array[cols], 60)
    assert np.array_equal(whole(v).array, due)
    assert names(line(net(whole))) == ["Weighted"]
    for middle in (first, product @ first):
        rest = last @ product if middle is first else last
        f = fork(rest, identity(middle.cod)) @ middle
        assert np.array_equal(f(v).flat(), np.concatenate([due, middle(v).array]))
        assert names(line(net(f))) == ["Reduce", "Contract", "Reduce"]
    square = program(fun(R**N)(lambda x: last(first(x) * first(x))))
    assert np.array_equal(square(v).array, np.bincount(rows, v.array[cols] ** 2, 60))


@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("padding", [0, 1, 3, "same", ((2, 0), (0, 1))])
@pytest.mark.parametrize("batch", [False, True])
def test_sums_over_windows_are_products_with_windows(*, dilation: int, padding: Any, batch: bool) -> None:
    """The gradient of a convolution in its image: no array of all products, where that costs little; the same."""
    y, x, c, o, k, offset = (Fin.of(n) for n in (7, 6, 2, 3, 3, 2))
    one = hb.fun(hb.R ** (k * offset * c * o), hb.R ** (y * x * c))(
        lambda w, image: hb.conv(image, w, padding=padding, dilation=dilation)
    )
    f: Any = hb.lift(one, Fin.of(4)) if batch else one
    line = hb.planned(hb.vjp(f, 1)).line.pruned()
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(leaf.shape) for leaf in line.slots[: line.arity]]
    (due,) = BoundLine(line, NUMPY, arrays)(arrays)
    runner = Runner(line)
    (found,) = runner.run(arrays)
    np.testing.assert_allclose(found, due, rtol=1e-12, atol=1e-12)
    together = [step for step in runner.line.steps if type(step.operation) is Together]
    places = one.cod.dim / o.size
    assert bool(together) == (y.size * x.size <= 1.3 * places)  # with few zeros around it the product is larger


@pytest.mark.parametrize(
    ("stored", "image", "window"),
    [
        ((6,), (6, 1), (3,)),
        ((6, 2), (6, 2), (3,)),
        ((12,), (4, 3, 1), (3, 3)),
        ((4, 3), (4, 3, 1), (3, 2)),
        ((1, 6), (6, 1), (3,)),
    ],
)
@pytest.mark.parametrize("padding", ["same", 0])
def test_images_that_are_stored_in_other_shapes(
    stored: tuple[int, ...], image: tuple[int, ...], window: tuple[int, ...], padding: Any
) -> None:
    """Channels and axes that are only names stay axes of the gradient, whatever comes before: it is the Jacobian's."""

    def power(shape: tuple[int, ...]) -> Any:
        return hb.R ** reduce(mul, [Fin.of(n) for n in shape])

    rng = np.random.default_rng(0)
    V, W = power(stored), power(image)
    weights = power((*window, image[-1], 1)).random(rng)
    scales = V.random(rng)
    for before in (lambda x: x, lambda x: x * scales, lambda x: x.cumsum(over=0) if len(stored) > 1 else x.cumsum()):
        f: Any = hb.fun(V)(lambda x, g=before: hb.conv(g(x).reshape(W.index), weights, padding=padding))
        energy: Any = hb.fun(V)(lambda x, f=f: 0.5 * hb.inner(f(x), f(x)))
        x = V.random(rng)
        matrix = np.stack([f(V.vec(e.reshape(V.leaves[0].shape))).array.reshape(-1) for e in np.eye(V.dim)], axis=1)
        due = matrix.T @ matrix
        slope = hb.grad(energy)(x)
        assert slope.array.shape == x.array.shape
        np.testing.assert_allclose(slope.array.reshape(-1), due @ x.array.reshape(-1), atol=1e-10)
        np.testing.assert_allclose(np.reshape(hb.hessian(energy, x), due.shape), due, atol=1e-10)


def test_windows_that_others_read_stay() -> None:
    """The products are a result, too."""
    X, K = Fin.of(6), Fin.of(3)
    b = Builder([Leaf(Entry("float64"), (X,)), Leaf(Entry("float64"), (K,))])
    products = b.contract(Spec.of("i", "j", "ij"), 0, 1)
    whole = b.apply(Reduce(sliding(Fin.of(8), 3, to=X * K), 0), products)
    cut = b.apply(Reduce(run(X, Fin.of(8), 1).T, 0), whole)
    assert [type(s.operation) for s in fused(b.line([cut])).steps] == [Together]
    assert Together not in {type(s.operation) for s in fused(b.line([cut, products])).steps}
    assert [type(s.operation) for s in fused(b.line([cut, whole])).steps] == [Contract, Reduce, Reduce]


def test_quotients_and_sums_of_squares_of_long_arrays() -> None:
    """a · (1/b) is a / b, and Σ x² is x · x; not where others read the inverse or the squares, nor of short arrays."""
    for n, due in ((LONG, True), (LONG - 1, False)):
        V = hb.R ** hb.Fin.of(n)
        functions: list[Any] = [
            hb.fun(V, V)(lambda x, y: x * hb.reciprocal(y)),
            hb.fun(V)(lambda x: hb.square(x).sum()),
            hb.fun(V)(lambda x: (x * (y := hb.reciprocal(x)) + y, hb.square(x).sum() * hb.square(x))),
        ]
        quotient, squares, both = (f.line for f in functions)
        assert (names(fused(quotient)) == ["Quotient"]) is due
        assert (names(fused(squares)) == ["Contract"]) is due
        assert names(fused(both)) == names(both)
        x, y = (np.random.default_rng(0).uniform(1.0, 2.0, n) for _ in range(2))
        assert np.allclose(Runner(quotient).run([x, y])[0], x / y, rtol=1e-15)
        assert np.allclose(Runner(squares).run([x])[0], x @ x, rtol=1e-13)
        strict = pytest.importorskip("array_api_strict")
        (found,) = Runner(quotient).run([strict.asarray(x), strict.asarray(y)])
        assert np.allclose(np.asarray(found), x / y, rtol=1e-15)

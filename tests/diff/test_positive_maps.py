"""`structure` says that a map is positive only where all of its eigenvalues are, at every point; solvers use it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import hilbert.all as library
from diff.names import NAMES
from diff.primitives.value_ranges import ranges
from hilbert import SpaceError
from hilbert.arrays.systems import linear_systems, scipy_modules
from hilbert.arrays.systems.banded import Band, BandSystem
from hilbert.arrays.systems.block_elimination import Elimination
from hilbert.arrays.systems.sparse_systems import SparseSystem
from hilbert.program.control import equation_step
from linmap.matrices.structure.structure import positive

hb: Any = library
N = 12
V = hb.R ** hb.Fin.of(N)
TABLE = (hb.R ** (hb.Fin.of(5) * V.index)).random(np.random.default_rng(3))
CURVES: dict[str, Any] = {
    "exp": hb.exp,
    "softplus": hb.softplus,
    "cosh": hb.cosh,
    "square": hb.square,
    "sin": hb.sin,
    "tanh": hb.tanh,
    "fourth": lambda x: x**4,
    "minus": lambda x: -hb.square(x),
}
PLACES: dict[str, Any] = {
    "own": lambda x: x,
    "steps": lambda x: x[1:] - 0.9 * x[:-1],
    "second": lambda x: x[2:] - 2.0 * x[1:-1] + x[:-2],
    "some": lambda x: x[3:7],
    "table": lambda x: TABLE @ x,
    "ring": lambda x: x.roll(1) + 0.5 * x,
}


def objective(rng: np.random.Generator) -> Any:
    """A sum of curves at places, with random factors of both signs."""
    terms = [
        (float(rng.choice([-1.0, 0.5, 2.0], p=[0.2, 0.4, 0.4])), rng.choice(list(CURVES)), rng.choice(list(PLACES)))
        for _ in range(rng.integers(1, 4))
    ]
    if rng.random() < 0.7:
        terms.append((1.0, "exp" if rng.random() < 0.5 else "square", "own"))
    return hb.fun(V)(lambda x: sum((k * CURVES[c](PLACES[p](x)).sum() for k, c, p in terms), 0.0 * x.sum()))


def test_no_claim_is_wrong() -> None:
    """Random sums: where the Hessian is said to be positive its least eigenvalue is, at many points."""
    rng, claimed = np.random.default_rng(0), 0
    for _ in range(120):
        d = hb.derivative(hb.grad(objective(rng)))
        said = "positive" in str(hb.structure(d))
        claimed += said
        for scale in (0.1, 1.0, 3.0) if said else ():
            h = hb.matrix(d.at(V.vec(scale * rng.standard_normal(N))), "array")
            np.testing.assert_allclose(h, h.T, rtol=1e-12, atol=1e-14 * np.max(np.abs(h)))
            least = np.linalg.eigvalsh(h)[0]
            assert least > (0.0 if scale < 1.0 else -1e-13 * np.max(np.abs(h)))
    assert 25 < claimed < 110


@pytest.mark.parametrize(
    ("f", "due"),
    [
        (lambda x: hb.exp(x).sum() + hb.cosh(x[1:] - x[:-1]).sum(), True),
        (lambda x: 0.5 * (x @ x) + hb.softplus(TABLE @ x).sum(), True),
        (lambda x: 0.5 * (x @ x) - hb.softplus(TABLE @ x).sum(), False),
        (lambda x: hb.cosh(x[1:] - x[:-1]).sum(), False),  # the mean has no slope
        (lambda x: (x[1:] * x[1:]).sum() + hb.exp(x[1:]).sum(), False),  # nor has the first one
        (lambda x: (x[1:] * x[1:]).sum() + x[0] ** 2 + x.sum() ** 2, False),  # true, and not proved: not on all at once
        (lambda x: 0.5 * (x @ x) + hb.sin(x[1:] - x[:-1]).sum(), False),
        (lambda x: 0.5 * (x @ x) + 3.0 * (x[1:] * x[:-1]).sum(), False),
        (lambda x: hb.square(x).sum() - 0.5 * hb.square(x).sum(), True),
        (lambda x: hb.square(x).sum() - 1.5 * hb.square(x).sum(), False),
        (lambda x: hb.sqrt(x).sum(), False),
    ],
)
def test_what_is_proved(f: Any, due: bool) -> None:  # noqa: FBT001 - a row
    assert hb.structure(hb.derivative(hb.grad(hb.fun(V)(f)))).is_positive is due


JOINED = hb.direct_sum(V, V, hb.R)


@pytest.mark.parametrize(
    ("f", "due"),
    [
        (lambda u, _, c: hb.exp(u + c).sum() + c * c, True),
        (lambda u, v, c: hb.exp(u + c).sum() + hb.square(v - 2.0 * u + c).sum() + hb.cosh(c), True),
        (lambda u, v, c: hb.exp(v + u[1:].sum()).sum() + hb.square(u - v.sum()).sum() + c * c, False),
        (lambda u, _, c: hb.exp(u + c).sum() + hb.square(u[1:] - u[:-1]).sum(), False),
        (lambda u, v, c: hb.exp(u + v).sum() + hb.square(u - v).sum() + c * c, False),
    ],
)
def test_common_unknowns(f: Any, due: bool) -> None:  # noqa: FBT001 - a row
    """A strictly convex function of x + C(y) proves the same of x, if it is proved of y by other terms."""
    unknowns = 1 if f.__code__.co_varnames[1] == "_" else 2
    W = JOINED if unknowns == 2 else hb.direct_sum(V, hb.R)
    g = hb.fun(W)(lambda x: f(x[0], x[1], x[2]) if unknowns == 2 else f(x[0], None, x[1]))
    assert hb.structure(hb.derivative(hb.grad(g))).is_positive == due


def test_no_claim_on_common_unknowns_is_wrong() -> None:
    """Random functions of sums of unknowns: what is said to be positive has a least eigenvalue that is."""
    rng, claimed, W = np.random.default_rng(0), 0, hb.direct_sum(V, V, V)
    for _ in range(80):
        rows = rng.choice([-1.0, 0.0, 0.0, 0.0, 1.0, 2.0], (rng.integers(2, 5), 3))
        curves = rng.choice(["exp", "square", "cosh"], len(rows))
        sums = rng.random(len(rows)) < 0.2

        def g(x: Any, some: Any = (rows, curves, sums)) -> Any:
            total = 0.0 * x[2].sum()
            for (i, j, k), curve, one in zip(*some, strict=True):
                at = i * (x[0].sum().rep(V) if one else x[0]) + j * x[1] + k * x[2]
                total = total + CURVES[curve](at).sum()
            return total

        d = hb.derivative(hb.grad(hb.fun(W)(g)))
        if hb.structure(d).is_positive:
            claimed += 1
            h = hb.matrix(d.at(W.random(rng)), "array")
            assert np.linalg.eigvalsh(h)[0] > 1e-9
    assert 5 < claimed < 60


def test_maps_in_parameters_and_without() -> None:
    weights = hb.fun(V, V)(lambda p, x: hb.exp(p) * x + TABLE.T @ (hb.sigmoid(TABLE @ p) * (TABLE @ x)))
    assert positive(hb.derivative(weights, wrt=1))
    bent = hb.fun(V, V)(lambda p, x: hb.exp(p) * x + TABLE.T @ (hb.sin(TABLE @ p) * (TABLE @ x)))
    assert not positive(hb.derivative(bent, wrt=1))
    other = (hb.R**TABLE.space.index).random(np.random.default_rng(4))
    apart = hb.fun(V, V)(lambda p, x: hb.exp(p) * x + other.T @ (hb.sigmoid(TABLE @ p) * (TABLE @ x)))
    assert not positive(hb.derivative(apart, wrt=1))
    assert not positive(hb.derivative(hb.fun(V, V)(lambda p, x: p * x), wrt=1))
    assert positive(hb.derivative(hb.fun(V, V)(lambda p, x: (1.0 + p * p) * x), wrt=1))
    assert not positive(hb.derivative(hb.fun(V, V)(lambda p, x: (p * p) * x), wrt=1))
    assert str(hb.structure(3.0 * hb.identity(V))) == "scaled"
    assert positive(3.0 * hb.identity(V))
    assert not positive(-3.0 * hb.identity(V))
    assert str(hb.structure(hb.identity(V))) == "identity"
    assert str(hb.structure(-3.0 * hb.identity(V))) == "scaled"
    assert not positive(hb.total(V.index))
    two = hb.derivative(hb.grad(hb.fun(V, V)(lambda a, b: hb.square(a - b).sum() + hb.exp(a).sum() + hb.exp(b).sum())))
    assert positive(two)
    assert str(hb.structure(two)).endswith(", positive")
    one = hb.derivative(hb.grad(hb.fun(V, V)(lambda a, b: hb.square(a - b).sum() + hb.exp(a).sum())))
    assert positive(one)
    assert not positive(hb.derivative(hb.grad(hb.fun(V, V)(lambda a, b: hb.square(a - b).sum() + hb.sin(a).sum()))))


def test_maps_at_a_point() -> None:
    """They are positive as the derivative is; those with constants for data, as after pickling, by their numbers."""
    x = V.random(np.random.default_rng(2))
    convex = hb.derivative(hb.grad(hb.fun(V)(lambda x: hb.exp(x).sum() + hb.cosh(x[1:] - x[:-1]).sum())))
    bent = hb.derivative(hb.grad(hb.fun(V)(lambda x: hb.sin(x).sum() + hb.cosh(x[1:] - x[:-1]).sum())))
    for d, due in ((convex, True), (bent, False)):
        for a in (d.at(x), 2.0 * d.at(x), hb.adjoint(d.at(x)), hb.linalg.inverse(d.at(x))):
            assert positive(a) is due
        assert ("positive" in str(hb.structure(d.at(x)))) is due
        assert not positive(-1.0 * d.at(x))
    stored = pickle.loads(pickle.dumps(convex.at(x)))
    assert positive(stored)
    b = V.random(np.random.default_rng(3))
    np.testing.assert_allclose(hb.solve(stored, b).array, hb.solve(convex)(x, b).array, rtol=1e-12)
    square = hb.derivative(hb.fun(V, V)(lambda p, x: p * x), wrt=1)
    weights = V.vec(np.r_[0.0, np.ones(N - 1)])
    assert not positive(square.at(V.ones(), x))  # proved for all points, or not at all
    assert positive(pickle.loads(pickle.dumps(square.at(V.ones(), x))))
    assert not positive(pickle.loads(pickle.dumps(square.at(weights, x))))


def systems(f: Any) -> list[str]:
    """The lines of its cost that tell of systems."""
    return [line for line in str(hb.cost(f)).splitlines() if line.startswith("system")]


def test_roots_and_minimizers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's systems are positive where the Hessian is, as are those of the derivative."""
    W = hb.R ** hb.Fin.of(60)

    def convex(p: Any, x: Any) -> Any:
        return hb.exp(p) * hb.square(x[1:] - x[:-1]).sum() + (1.0 + p * p) * (x @ x) + hb.softplus(x).sum()

    def bent(p: Any, x: Any) -> Any:
        return p * hb.square(x[1:] - x[:-1]).sum() + 0.5 * (x @ x)

    monkeypatch.setattr(equation_step, "SMALL", -1)
    start, p = W.ones(), hb.R.vec(0.3)
    for g, due in ((convex, True), (bent, False)):
        slope = hb.grad(hb.fun(hb.R, W)(g), 1)
        least = hb.fun(hb.R)(lambda p, g=g: hb.minimizer(lambda x: g(p, x) - x.sum(), start))
        zero = hb.fun(hb.R)(lambda p, s=slope: hb.root(lambda x: s(p, x) - 1.0 * W.ones(), start))
        for f in (least, zero, hb.grad(hb.fun(hb.R)(lambda p, f=least: hb.sin(f(p)).sum())), least ** hb.Fin.of(3)):
            assert systems(f)
            assert all(("positive" in text) is due for text in systems(f))
        np.testing.assert_allclose(least(p).array, zero(p).array, rtol=1e-9)
        residual = slope(p, least(p)).array - 1.0
        assert np.max(np.abs(residual)) < 1e-9
        again = eval(repr(least), dict(NAMES))  # noqa: S307 - our own text
        np.testing.assert_allclose(again(p).array, least(p).array, rtol=1e-12)
    marginal = hb.laplace(hb.fun(hb.R, W)(convex), W.zeros())
    assert all("positive" in text for text in systems(marginal))
    other = hb.fun(hb.R)(lambda p: hb.root(lambda x: hb.exp(p) * x + x.roll(1), start))
    assert systems(other)
    assert "positive" not in str(systems(other))


def test_a_band_that_is_positive_is_not_looked_at() -> None:
    """Cholesky's factor is tried at once; where there is none, LU solves."""
    sp: Any = scipy_modules.scipy_of()
    rng = np.random.default_rng(6)
    for width in (1, 2):
        n = 30
        rows, cols = np.nonzero(abs(np.subtract.outer(np.arange(n), np.arange(n))) <= width)
        one = 0.1 * rng.standard_normal((n, n))
        a = np.where(np.eye(n) > 0, 2.0, one + one.T)
        b = rng.standard_normal((2, n))
        for scale in (1.0, -1.0):
            m = a * scale * (abs(np.subtract.outer(np.arange(n), np.arange(n))) <= width)
            for proved in (True, False):
                some = BandSystem(Band.of(rows, cols, n), rows, cols, sp, positive=proved)
                np.testing.assert_allclose(some.solved(m[rows, cols], b), np.linalg.solve(m, b.T).T, rtol=1e-10)
                np.testing.assert_allclose(some.made(m[rows, cols]).logdet(), np.linalg.slogdet(m)[1], rtol=1e-10)


def test_ranges_hold() -> None:
    """Each slot of random functions has values in its range."""
    rng = np.random.default_rng(5)
    curves = [*CURVES.values(), hb.sigmoid, hb.relu, hb.sqrt, hb.reciprocal, abs, hb.erf, lambda x: hb.maximum(x, 1.0)]
    for _ in range(60):
        some = rng.choice(len(curves), 3)

        def f(x: Any, some: Any = some) -> Any:
            y = curves[some[0]](x) * curves[some[1]](x) - rng.normal() * curves[some[2]](hb.square(x) + 1.0)
            return hb.grad(hb.fun(V)(lambda z: curves[some[1]](z).sum()))(x) * y + hb.tanh(y) ** 2.0

        p = hb.fun(V)(f)
        x = V.vec(rng.uniform(-2.0, 2.0, N) + 3.0 * rng.integers(0, 2))
        slots = range(p.line.arity, len(p.line.slots))
        found: Any = ranges(p.line)
        with np.errstate(all="ignore"):
            values = p.line.ending(slots)
            arrays = hb_run(values, x)
        for k, array in zip(slots, arrays, strict=True):
            one, host = found[k], np.asarray(array)
            some_values = host[np.isfinite(host)]
            slack = 1e-12 * (1.0 + np.abs(some_values))
            assert np.all(some_values >= one.low - slack)
            assert np.all(some_values <= one.high + slack)
            assert not one.is_positive or np.all(some_values >= 0.0)


def hb_run(line: Any, x: Any) -> Any:
    from hilbert.program.run.run import Runner

    return Runner(line).run(x.leaves)


def full(n: int) -> Any:
    table = (hb.R ** (hb.Fin.of(n + 3) * hb.Fin.of(n))).random(np.random.default_rng(1))
    return hb.fun(table.space.base ** hb.Fin.of(n))(lambda x: hb.softplus(table @ x).sum() + 0.5 * (x @ x))


def test_full_matrices_have_cholesky_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    d = hb.derivative(hb.grad(full(100)))
    x, b = d.point.random(np.random.default_rng(0)), d.cod.random(np.random.default_rng(1))
    solve = hb.solve(d)
    assert str(hb.cost(solve)).endswith("system of 100 unknowns, positive: by its matrix, by Cholesky's factor")
    calls, own = list[bool](), linear_systems.factors_in_full

    def counted(sp: Any, a: Any, *, positive: bool) -> Any:
        calls.append(positive)
        return own(sp, a, positive=positive)

    monkeypatch.setattr(linear_systems, "factors_in_full", counted)
    a = hb.matrix(d.at(x), "array")
    np.testing.assert_allclose(solve(x, b).array, np.linalg.solve(a, b.array), rtol=1e-10)
    np.testing.assert_allclose(hb.vjp(solve)(x, b, b).split()[1].array, np.linalg.solve(a, b.array), rtol=1e-10)
    assert calls == [True]
    loss = hb.fun(d.point)(lambda x: hb.square(solve(x, b)).sum())
    other = hb.fun(d.point)(lambda x: hb.square(hb.cg(d, tolerance=1e-13)(x, b)).sum())
    np.testing.assert_allclose(hb.grad(loss)(x).array, hb.grad(other)(x).array, rtol=1e-8, atol=1e-11)


def test_rounding_may_make_a_positive_matrix_another_one() -> None:
    """exp(−800) is 0: there is no factor, and LU says that the matrix is singular, or solves."""
    n = 100
    W = hb.R ** hb.Fin.of(n)
    some = hb.fun(W)(lambda x: hb.exp(x).sum() + 0.5 * (x[: n - 1].sum()) ** 2 + 0.5 * x[0] ** 2)
    d = hb.derivative(hb.grad(some))
    assert positive(d)
    with pytest.raises(SpaceError, match="singular at this point"):
        hb.solve(d)(W.full(-800.0), W.ones())


def test_blocks_and_sparse_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elimination of blocks leaves a positive matrix; sparse LU exchanges no rows."""
    sp: Any = scipy_modules.scipy_of()
    n = 1000
    rows = np.concatenate([np.arange(n), np.full(n - 1, n - 1), np.arange(n - 1)])
    cols = np.concatenate([np.arange(n), np.arange(n - 1), np.full(n - 1, n - 1)])
    values = np.concatenate([np.full(n, 2.0), np.full(2 * (n - 1), 0.01)])
    of: Any = Elimination.of(rows, cols, n, sp)
    flipped = False
    b = np.random.default_rng(0).standard_normal((2, n))
    np.testing.assert_allclose(
        of.made(values, positive=True).solve(b, flipped), of.made(values).solve(b, flipped), rtol=1e-12
    )
    values[n - 1] = -1.0  # what is left is negative: LU has it
    np.testing.assert_allclose(
        of.made(values, positive=True).solve(b, flipped), of.made(values).solve(b, flipped), rtol=1e-12
    )
    n = 300  # no band, and no blocks
    pairs = {(k, (7 * k + c) % n) for k in range(n) for c in (0, 1, 40, 90)} | {(k, k) for k in range(n)}
    rows, cols = np.array(sorted(pairs | {(j, i) for i, j in pairs})).T
    values = np.where(rows == cols, 20.0, -1.0)
    some = SparseSystem(rows, cols, n, n, sp, positive=True, how="sparse")
    assert some.way == "by sparse LU"
    c = np.random.default_rng(0).standard_normal((1, n))
    np.testing.assert_allclose(some.applied(values, some.solved(values, c, "singular")), c, atol=1e-12)
    own, found = sp.factors.splu, list[Any]()

    def seen(*args: Any, **options: Any) -> Any:
        found.append(own(*args, **options))
        return found[-1]

    monkeypatch.setattr(sp.factors, "splu", seen)
    some.solved(values + 0.0 * values[0], 2.0 * c, "singular")
    assert not found  # factors are kept
    some.solved(2.0 * values, c, "singular")
    assert np.array_equal(found[0].perm_r, found[0].perm_c)  # no rows are exchanged

"""`cg`: solutions of symmetric positive systems by products alone, beside numpy; derivatives, bad input."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hilbert.all as library
from diff.names import NAMES
from hilbert import SpaceError
from hilbert.program.transform.run_linear_system import _Solver
from hilbert.relation import function
from linmap import identity, rep, total

hb: Any = library
RNG = np.random.default_rng(0)
EXACT = {"tolerance": 1e-13}


def chain(n: int) -> Any:
    """Weights between neighbours: symmetric and positive."""
    V = hb.R ** hb.Fin.of(n)

    def f(p: Any, x: Any) -> Any:
        flow = hb.exp(p[1:]) * (x[1:] - x[:-1])
        return (0.5 + hb.square(p)) * x + flow.pad(1, 0).crop(0, n) - flow.pad(0, 1).crop(0, n)

    return hb.fun(V, V)(f)


def normal(n: int) -> Any:
    """1 + FᵀWF of a full F and positive weights."""
    X, Y = hb.Fin.of(n), hb.Fin.of(n + 2)
    V, F = hb.R**X, (hb.R ** (Y * X)).random(RNG)
    return hb.fun(V, V)(lambda p, x: x + F.T @ (hb.softplus(F @ p) * (F @ x)) / n)


def low_rank(n: int) -> Any:
    V = hb.R ** hb.Fin.of(n)
    return hb.fun(V, V)(lambda p, x: hb.exp(p) * x + (p @ x) * p + x.sum().rep(V))


def springs(n: int) -> Any:
    """The forces of springs from each point to the next one in three dimensions: blocks of 3."""
    X, K, Z = hb.Fin.of(n), hb.Fin.of(n - 1), hb.Fin.of(3)
    start, end = (hb.gather(function(list(range(k, n - 1 + k)), K, X), hb.R**Z) for k in (0, 1))
    M = (hb.R ** (Z * Z)).vec([[2.0, 0.5, 0.0], [0.5, 2.0, 0.3], [0.0, 0.3, 1.0]])
    spring = hb.fun(hb.R**Z)(lambda d: 0.5 * ((M @ d) @ d) + 0.1 * (d @ d) ** 2)
    return hb.grad(hb.fun((hb.R**Z) ** X)(lambda p: (spring**K)(end(p) - start(p)).sum() + 0.5 * hb.square(p).sum()))


MAKERS = (("chain", chain), ("normal", normal), ("low rank", low_rank))
MAPS: list[tuple[str, Any]] = [(f"{name} {n}", of(n)) for n in (1, 2, 7, 65, 130) for name, of in MAKERS]


def close(a: Any, b: Any, rtol: float = 1e-8) -> None:
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * (1.0 + np.max(np.abs(b), initial=0.0)))


@pytest.mark.parametrize(("name", "f"), MAPS, ids=[name for name, _ in MAPS])
def test_against_the_matrix_in_full(name: str, f: Any) -> None:
    """cg(A)(b) = A⁻¹b, with derivatives as those of `solve`, to the second order."""
    assert name
    V = f.cod
    rng = np.random.default_rng(1)
    p, b = V.random(rng), V.random(rng)
    d = hb.derivative(f, wrt=1)
    a = hb.matrix(d.at(p, V.zeros()), "array")
    np.testing.assert_allclose(a, a.T, atol=1e-12)
    for preconditioner in ("diagonal", None):
        x = hb.cg(d.at(p, V.zeros()), b, preconditioner=preconditioner, **EXACT)
        close(x.array, np.linalg.solve(a, b.array))
    both = [of(d) for of in (lambda d: hb.cg(d, **EXACT), hb.solve)]
    slopes = []
    for solved in both:
        g = hb.fun(V, V)(lambda p, b, solved=solved: hb.sin(solved(p, V.zeros(), b)).sum())
        at = g.dom.vec((p.array, b.array))
        v = g.dom.vec((np.cos(p.array), np.sin(b.array)))
        slopes.append((g(at).array, hb.grad(g)(at).flat(), hb.hvp(g)(at, v).flat(), hb.jvp(g)(at, v).array))
    for ours, due in zip(*slopes, strict=True):
        close(ours, due)


@pytest.mark.parametrize("preconditioner", ["diagonal", "band", "blocks", None])
def test_preconditioners(preconditioner: Any) -> None:
    """The same solution with each, for one point and for many; what undoes more of the map takes fewer steps."""
    d, T = hb.derivative(springs(40)), hb.Fin.of(4)
    V = d.cod
    x, b = V.random(RNG), V.random(RNG)
    a = hb.matrix(d.at(x), "array").reshape(120, 120)
    close(hb.cg(d.at(x), b, preconditioner=preconditioner, **EXACT).array.ravel(), np.linalg.solve(a, b.array.ravel()))
    solved, due = hb.cg(d, preconditioner=preconditioner, **EXACT), hb.solve(d)
    points, sides = (V**T).random(RNG), (V**T).random(RNG)
    many = hb.lift(solved, T, over=(1,))(x, sides)
    close(many.array, [due(x, V.vec(one)).array for one in sides.array])
    lanes = hb.lift(solved, T, over=(0, 1))(points, sides)
    close(lanes.array, [due(V.vec(p), V.vec(b)).array for p, b in zip(points.array, sides.array, strict=True)])
    slopes = [
        hb.grad(hb.fun(V**T, V**T)(lambda p, b, f=f: hb.sin(hb.lift(f, T, over=(0, 1))(p, b)).sum()))(points, sides)
        for f in (solved, due)
    ]
    close(slopes[0].flat(), slopes[1].flat())


def steps_of(a: Any, b: Any, preconditioner: Any) -> int:
    """The fewest steps that are enough."""
    low, high = 0, 1024
    while high - low > 1:
        k = (low + high) // 2
        try:
            hb.cg(a, b, preconditioner=preconditioner, tolerance=1e-8, steps=k)
            high = k
        except SpaceError:
            low = k
    return high


def anisotropic(n: int) -> Any:
    """−div(k∇u) on n·n cells, with a conductivity that is large along rows and differs from cell to cell."""
    down, right = hb.Fin.of(n), hb.Fin(Column, n)
    W = hb.R ** (down * right)
    k = W.vec(np.exp(np.random.default_rng(0).standard_normal((n, n))))

    def f(u: Any) -> Any:
        below = 0.01 * (u[1:, :] - u[:-1, :])
        beside = (k[:, 1:] + k[:, :-1]) * (u[:, 1:] - u[:, :-1])
        inward = below.pad(0, 1, over=0, to=down) - below.pad(1, 0, over=0, to=down)
        return 0.01 * u - inward - (beside.pad(0, 1, over=1, to=right) - beside.pad(1, 0, over=1, to=right))

    return hb.derivative(hb.fun(W)(f)).at(W.zeros())


class Column:
    """The columns of cells."""


class Row:
    """A few columns."""


def test_a_preconditioner_that_fits_takes_fewer_steps() -> None:
    a = anisotropic(20)
    b = a.cod.random(np.random.default_rng(1))
    counts = [steps_of(a, b, preconditioner) for preconditioner in (None, "diagonal", "band")]
    assert counts[2] < 0.5 * counts[1] < 0.5 * counts[0]


def way(f: Any) -> str:
    """The last line of its cost."""
    return str(hb.cost(f)).splitlines()[-1]


def test_a_sparse_matrix_is_made_where_it_is_quicker(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few entries in a row, for one system and one right side; `cost` says so, and the numbers are the same."""
    f, T = chain(200), hb.Fin.of(3)
    V, d = f.cod, hb.derivative(f, wrt=1)
    p, b, at = V.random(RNG), V.random(RNG), V.zeros()
    solved = hb.cg(d, **EXACT)
    assert way(solved).startswith("system of 200 unknowns, sparse, 598 entries: by conjugate gradients on its sparse")
    x = solved(p, at, b)
    monkeypatch.setattr(_Solver, "_applied", lambda *_: pytest.fail("the line is applied"))
    np.testing.assert_array_equal(solved(p, at, b).array, x.array)
    monkeypatch.undo()
    sides = (V**T).vec(np.stack([b.array, 2.0 * b.array, -b.array]))
    many, lanes = (hb.lift(hb.fun(V, V)(lambda p, b: solved(p, at, b)), T, over=over) for over in ((1,), (0, 1)))
    for lifted in (many, lanes):
        assert "by conjugate gradients with its diagonal" in way(lifted)
    close(many(p, sides).array, np.outer([1.0, 2.0, -1.0], x.array))
    for made in (normal(200), low_rank(200)):
        assert "by conjugate gradients with its diagonal" in way(hb.cg(hb.derivative(made, wrt=1)))
    monkeypatch.setattr("diff.solving.preconditioners.scipy_of", lambda: None)
    assert "by conjugate gradients with its diagonal" in way(hb.cg(hb.derivative(chain(201), wrt=1)))


def test_a_matrix_with_many_entries_in_a_row_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """50 entries in a row, as a Kronecker product: its factor is quicker, and no entry is listed."""
    X, Y = hb.Fin.of(50), hb.Fin(Column, 4000)
    M = (hb.R ** (X * X)).vec(np.cos(np.subtract.outer(np.arange(50), np.arange(50))))
    U = hb.R ** (X * Y)
    d = hb.derivative(hb.fun(U, U)(lambda p, x: hb.exp(p) * x + M @ x), wrt=1)
    with monkeypatch.context() as patch:
        patch.setattr("diff.solving.preconditioners.system_entries", lambda _: pytest.fail("the entries are listed"))
        assert "by conjugate gradients with its diagonal" in way(hb.cg(d))
    small = hb.R ** (X * hb.Fin(Row, 8))
    p, b = small.random(RNG), small.random(RNG)
    few = hb.derivative(hb.fun(small, small)(lambda p, x: (60.0 + hb.exp(p)) * x + M @ x), wrt=1)
    due = hb.solve(few)(p, small.zeros(), b)
    close(hb.cg(few, **EXACT)(p, small.zeros(), b).array, due.array)


def test_the_steps_are_those_of_scipy() -> None:
    from scipy.sparse.linalg import LinearOperator
    from scipy.sparse.linalg import cg as by_scipy

    a = anisotropic(30)
    b = a.cod.random(np.random.default_rng(1))
    m, count = hb.matrix(a, "sparse"), list[int]()
    jacobi = LinearOperator(m.shape, matvec=lambda r: r / m.diagonal())
    x, _ = by_scipy(m, b.array.ravel(), rtol=1e-8, M=jacobi, callback=lambda _: count.append(1))
    assert abs(steps_of(a, b, "diagonal") - len(count)) <= 1
    np.testing.assert_allclose(hb.cg(a, b, tolerance=1e-8).array.ravel(), x, rtol=1e-9)


def test_several_arrays_and_machine_code() -> None:
    U = hb.R ** hb.Fin.of(50)
    f = hb.fun(U, U)(lambda a, b: 0.5 * hb.square(a - b).sum() + hb.cosh(a).sum() + hb.square(b).sum())
    d = hb.derivative(hb.grad(f))
    x, b = d.point.random(RNG), d.cod.random(RNG)
    due = hb.solve(d)(x, b).flat()
    for preconditioner in ("diagonal", "band", None):
        close(hb.cg(d, preconditioner=preconditioner, **EXACT)(x, b).flat(), due)
    close(hb.compiled(hb.cg(d, **EXACT))(x, b).flat(), due)


def test_nothing_is_assembled() -> None:
    """A full map of 20,000 unknowns, 3 GB as a matrix, in memory for some vectors."""
    n, rank = 20_000, 8
    X, Y = hb.Fin.of(n), hb.Fin.of(rank)
    F = (hb.R ** (Y * X)).random(RNG)
    V = hb.R**X
    d = hb.derivative(hb.fun(V, V)(lambda p, x: hb.exp(p) * x + F.T @ (F @ x)), wrt=1)
    p, b = V.random(RNG), V.random(RNG)
    solved = hb.cg(d)
    tracemalloc.start()
    x = solved(p, V.zeros(), b)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * 100
    assert np.linalg.norm(d.at(p, x)(x).array - b.array) < 1e-9 * np.linalg.norm(b.array)


def test_terms_print_pickle_and_compare() -> None:
    f = chain(5)
    V, d = f.cod, hb.derivative(f, wrt=1)
    p, b = V.random(RNG), V.random(RNG)
    solved = hb.cg(d)
    assert str(solved).startswith("(x, b) ↦ cg(f₁)(b)")
    assert "cg(" in str(hb.derivative(solved))
    again = pickle.loads(pickle.dumps(solved))
    assert again == solved
    close(again(p, V.zeros(), b).array, solved(p, V.zeros(), b).array)
    assert hb.equal(solved, hb.cg(hb.derivative(f, wrt=1)))
    assert not hb.equal(solved, hb.solve(d))
    assert not hb.equal(solved, hb.cg(d, steps=7))
    assert hb.equal(eval(repr(solved), dict(NAMES)), solved)  # noqa: S307 - our own text
    assert "by conjugate gradients with its diagonal" in str(hb.cost(solved))
    jet = hb.jvp(hb.fun(V)(lambda b: solved(p, V.zeros(), b)))(b, b)
    close(jet.array, solved(p, V.zeros(), b).array)


def test_taylor_series() -> None:
    """The coefficients are solutions of systems, too, by the same way."""
    f = chain(6)
    V, d = f.cod, hb.derivative(f, wrt=1)
    p, b = V.random(RNG), V.random(RNG)
    series = []
    for solved in (hb.cg(d, **EXACT), hb.solve(d)):
        g = hb.fun(V)(lambda p, solved=solved: solved(p, V.zeros(), b))
        series.append(hb.directional(g, 3)(p, b, b, b).array)
    close(*series)


def test_b_in_an_expression() -> None:
    a = hb.derivative(chain(6), wrt=1).at((hb.R ** hb.Fin.of(6)).ones(), (hb.R ** hb.Fin.of(6)).zeros())
    V = a.cod
    f = hb.fun(V)(lambda b: hb.cg(a, hb.sin(b)))
    b = V.random(RNG)
    close(f(b).array, hb.solve(a, V.vec(np.sin(b.array))).array)
    m = hb.matrix(a, "array")
    close(hb.vjp(f)(b, V.ones()).array, np.cos(b.array) * np.linalg.solve(m.T, np.ones(6)))


def test_single_precision() -> None:
    V = hb.R32 ** hb.Fin.of(60)
    d = hb.derivative(hb.fun(V)(lambda x: hb.exp(x) * 3.0 + x.sum().rep(V)))
    x, b = V.random(RNG), V.random(RNG)
    found = hb.cg(d)(x, b)
    assert found.array.dtype == np.float32
    np.testing.assert_allclose(found.array, hb.solve(d)(x, b).array, rtol=1e-3, atol=1e-3)


def test_no_unknowns_and_no_right_side() -> None:
    V = hb.R ** hb.Fin.of(0)
    assert hb.cg(2.0 * identity(V), V.zeros()).array.shape == (0,)
    W = hb.R ** hb.Fin.of(4)
    assert not hb.cg(2.0 * identity(W), W.zeros()).array.any()


@pytest.mark.parametrize("preconditioner", ["diagonal", None])
@pytest.mark.parametrize("single", [False, True])
def test_numbers_whose_squares_are_none(preconditioner: Any, single: bool) -> None:  # noqa: FBT001
    """Right sides, and maps, whose squares overflow or are 0."""
    V, large = (hb.R32 if single else hb.R) ** hb.Fin.of(4), 1e30 if single else 1e200
    f = hb.fun(V)(lambda x: V.vec(np.arange(1.0, 5.0).astype(V.leaves[0].dtype)) * x + x.sum().rep(V))
    due = np.linalg.solve(np.diag(np.arange(1.0, 5.0)) + 1.0, np.ones(4))
    for k, of in (large, 1.0), (1.0 / large, 1.0), (large, large), (1.0, 1e-3 / large):
        a = of * hb.derivative(f).at(V.zeros())
        found = hb.cg(a, k * V.ones(), preconditioner=preconditioner).array / np.asarray(k / of, V.leaves[0].dtype)
        np.testing.assert_allclose(found, due, rtol=1e-3 if single else 1e-9)


def test_systems_that_end_before_others() -> None:
    """A residual that is rounding says nothing of symmetry."""
    V, T = hb.R ** hb.Fin.of(3), hb.Fin.of(2)
    d = hb.derivative(hb.fun(V, V)(lambda p, x: hb.exp(p) * x + 0.3 * x.sum().rep(V)), wrt=1)
    for preconditioner in "diagonal", None:
        solved = hb.cg(d, preconditioner=preconditioner)
        many = hb.fun(V**T, V**T)(lambda p, b, solved=solved: hb.each(lambda p, b: solved(p, p, b), p, b))
        for k in range(30):
            p, b = np.stack([np.full(3, 0.1 * k), np.arange(3.0)]), np.stack([np.full(3, 0.7), np.arange(3.0)])
            found = many((V**T).vec(p), (V**T).vec(b)).array
            np.testing.assert_allclose(found[0], hb.solve(d)(V.vec(p[0]), V.zeros(), V.vec(b[0])).array, rtol=1e-9)


@pytest.mark.parametrize("small", 10.0 ** -np.arange(6, 12))
def test_nearly_a_multiple_of_the_identity(small: float) -> None:
    """The second direction is that of a residual which one step has made small."""
    V = hb.R ** hb.Fin.of(40)
    a = RNG.standard_normal((40, 40))
    m = hb.const((hb.R ** (V.index * V.index)).vec(3.0 * np.eye(40) + small * (a + a.T)))
    f = hb.derivative(hb.fun(V)(lambda x: m @ x)).at(V.zeros())
    for preconditioner in "diagonal", None:
        b = V.random(RNG)
        found = hb.cg(f, b, preconditioner=preconditioner).array
        np.testing.assert_allclose(found, np.linalg.solve(hb.matrix(f, "array"), b.array), rtol=1e-7, atol=1e-8)


def test_nan_is_not_hidden() -> None:
    """NaN where the right side or the map has one, and nowhere else."""
    V, T = hb.R ** hb.Fin.of(4), hb.Fin.of(3)
    d = hb.derivative(hb.fun(V, V)(lambda p, x: hb.exp(p) * x + x.sum().rep(V)), wrt=1)
    solved = hb.cg(d)
    wrong = V.vec([1.0, np.nan, 0.0, 1.0])
    assert np.isnan(solved(V.ones(), V.zeros(), wrong).array).all()
    assert np.isnan(solved(wrong, V.zeros(), V.ones()).array).all()
    sides = (V**T).vec(np.stack([np.ones(4), wrong.array, 2.0 * np.ones(4)]))
    found = hb.lift(hb.fun(V, V)(lambda p, b: solved(p, V.zeros(), b)), T, over=(1,))(V.ones(), sides)
    assert np.isnan(found.array).all(axis=1).tolist() == [False, True, False]
    assert np.isfinite(found.array[[0, 2]]).all()
    W = hb.R ** hb.Fin.of(30)
    chained = hb.derivative(chain(30), wrt=1)
    wrong = W.vec(np.where(np.arange(30) == 3, np.nan, 1.0))
    for preconditioner in ("diagonal", "band", None):
        assert np.isnan(hb.cg(chained, preconditioner=preconditioner)(wrong, W.zeros(), W.ones()).array).all()


def bad() -> list[tuple[Callable[[], Any], str]]:
    X = hb.Fin.of(5)
    V = hb.R**X
    a, d = 2.0 * identity(V), hb.derivative(hb.fun(V)(lambda x: x * x))
    b = V.vec([1.0, 2.0, 0.0, 1.0, -1.0])
    far = hb.derivative(hb.fun(V)(lambda x: V.vec([1e-9, 1.0, 2.0, 3.0, 1e9]) * x + x.sum().rep(V))).at(V.zeros())
    full = hb.derivative(hb.fun(V)(lambda x: (hb.R ** (X * X)).vec(np.eye(5)) @ x)).at(V.zeros())
    one = hb.derivative(hb.fun(V)(lambda x: x.roll(1))).at(V.zeros())
    skew = hb.derivative(hb.fun(V)(lambda x: 4.0 * x + x.pad(1, 0).crop(0, 5))).at(V.zeros())
    some, W = identity(V) + rep(X) @ total(X), hb.R ** hb.Fin.of(30)
    apart = hb.derivative(chain(30), wrt=1).at(W.ones(), W.zeros())
    return [
        (lambda: hb.cg(a), r"cg\(A, b\) takes the right side b, too$"),
        (lambda: hb.cg(d, V.ones()), r"cg\(d\)\(x, b\) is at the point x, or cg\(d\.at\(x\), b\)"),
        (lambda: hb.cg(total(X), V.ones()), r"from a space to itself, not one from ℝ\^5 to ℝ: write lstsq\(A, b\)"),
        (lambda: hb.cg(hb.R ** (X * X), b), r"cg takes a linear map, or a derivative, not "),
        (lambda: hb.cg((hb.R ** (X * X)).ones(), b), r"for a matrix write solve\(A, b\)"),
        (lambda: hb.cg(a, hb.R.ones()), r"cannot apply f : ℝ\^5 → ℝ\^5 to a vector of ℝ"),
        (lambda: hb.cg(a, 3), "a vector of ℝ\\^5 is due"),
        (
            lambda: hb.cg(a, b, preconditioner="ilu"),
            "preconditioner=… is 'diagonal', 'band', 'blocks' or None, not 'ilu'",
        ),
        (lambda: hb.cg(a, b, preconditioner=["diagonal"]), "preconditioner=… is 'diagonal', 'band'"),
        (lambda: hb.cg(a, b, tolerance=0.0), "tolerance=… is a part of the right side, between 0 and 1, not 0.0"),
        (lambda: hb.cg(a, b, tolerance=np.nan), "between 0 and 1, not nan"),
        (lambda: hb.cg(a, b, steps=0), "steps=… is a number of steps, from 1 on, not 0"),
        (lambda: hb.cg(a, b, steps=2.5), "steps=… is a number of steps, from 1 on, not 2.5"),
        (lambda: hb.cg(-1.0 * some, b), "the map is not positive: an entry of its diagonal is -2; solve"),
        (lambda: hb.cg(-1.0 * some, b, preconditioner=None), "the map is not positive, as step 1 shows: solve"),
        (lambda: hb.cg(one, b), "the map is not positive: an entry of its diagonal is 0"),
        (lambda: hb.cg(skew, b), r"the map is not symmetric, as two directions show: solve\(A, b\)"),
        (lambda: hb.cg(far, b, preconditioner=None, steps=3), "after 3 steps the residual is .* write more steps=…"),
        (
            lambda: hb.cg(far, b, preconditioner=None, tolerance=1e-17),
            "rounding leaves a residual of .* write a larger tolerance",
        ),
        (lambda: hb.cg(full, b, preconditioner="band"), "preconditioner='band' takes a map with few entries"),
        (lambda: hb.cg(full, b, preconditioner="blocks"), "preconditioner='blocks' takes a map with few entries"),
        (lambda: hb.cg(apart, apart.cod.ones(), preconditioner="blocks"), "has no blocks on the diagonal"),
        (lambda: hb.source(hb.cg(d)), r"cg has no text in numpy: write solve\(A, b\)"),
    ]


@pytest.mark.parametrize("k", range(len(bad())))
def test_bad_input(k: int) -> None:
    call, text = bad()[k]
    with pytest.raises(SpaceError, match=text):
        call()


def test_a_band_and_blocks_that_are_not_positive() -> None:
    n = 40
    X = hb.Fin.of(n)
    V = hb.R**X
    cyclic = hb.fun(V)(lambda x: x - 0.7 * x.roll(1) - 0.7 * x.roll(-1) + 0.4 * x.roll(2) + 0.4 * x.roll(-2))
    a = hb.derivative(cyclic).at(V.zeros())
    with pytest.raises(SpaceError, match="the diagonal of the map and the entries beside it are no positive map"):
        hb.cg(a, V.ones(), preconditioner="band")
    W = (hb.R ** hb.Fin.of(2)) ** X
    M = (hb.R ** (hb.Fin.of(2) * hb.Fin.of(2))).vec([[1.0, 2.0], [2.0, 1.0]])
    of_each = hb.fun(hb.R ** hb.Fin.of(2))(lambda x: M @ x)
    b = hb.derivative(of_each**X).at(W.zeros())
    with pytest.raises(SpaceError, match="a block on its diagonal is not"):
        hb.cg(b, W.ones(), preconditioner="blocks")


def test_a_diagonal_that_takes_large_arrays() -> None:
    """A map given by two functions shows no diagonal: the plan says so, and nothing large is made."""
    n = 6_000
    V = hb.R ** hb.Fin.of(n)
    of = lambda _, x: 2.0 * x  # noqa: E731
    own = hb.linear_map("twice", V, V, of, of)
    with pytest.raises(SpaceError, match=r"the diagonal of the map takes an array of .* preconditioner=None"):
        hb.cg(own, V.ones())
    close(hb.cg(own, V.ones(), preconditioner=None).array, np.full(n, 0.5))


def test_under_jit_nothing_is_known() -> None:
    jax = pytest.importorskip("jax")
    d = hb.derivative(chain(5), wrt=1)
    jax.config.update("jax_enable_x64", val=True)
    f = hb.as_jax(hb.cg(d))
    with pytest.raises(SpaceError, match=r"under jit no number is known: write solve\(A, b\)"):
        jax.jit(f)((np.ones(5), np.ones(5)), np.ones(5))


def test_other_libraries() -> None:
    """The products are those of the library of the arrays."""
    strict, jax = pytest.importorskip("array_api_strict"), pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", val=True)
    f = chain(30)
    d, V = hb.derivative(f, wrt=1), f.cod
    x, b = V.random(RNG), V.random(RNG)
    for preconditioner, xp in (("diagonal", strict), (None, strict), ("diagonal", jax.numpy), ("band", jax.numpy)):
        found = hb.cg(d, preconditioner=preconditioner, **EXACT)
        moved = [v.space.vec(xp.asarray(v.array)) for v in (x, V.zeros(), b)]
        close(np.asarray(found(*moved).array), hb.solve(d)(x, V.zeros(), b).array)
    W = (hb.R ** hb.Fin.of(2)) ** hb.Fin.of(15)
    of_each = hb.fun(hb.R ** hb.Fin.of(2))(lambda x: 3.0 * hb.exp(x) + x.sum().rep(x.space))
    e, y, c = hb.derivative(of_each ** hb.Fin.of(15)), W.random(RNG), W.random(RNG)
    solved = hb.cg(e, preconditioner="blocks", **EXACT)(*(W.vec(jax.numpy.asarray(v.array)) for v in (y, c)))
    close(np.asarray(solved.array), hb.solve(e)(y, c).array)

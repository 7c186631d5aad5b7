"""`solve`, `inverse`, `logdet` of linear maps by their structure: against matrices in full, and their derivatives."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import SpaceError
from linmap import identity, rep, total
from tests.structured_maps import ask, ask_more, close, drawn, pieces, summed

HB: Any = hb
RNG = np.random.default_rng(0)


def systems(n: int) -> list[tuple[str, Any]]:
    """Functions (p, x) ↦ A(p) x whose matrices are regular: each piece, sums and compositions of some."""
    every = pieces(n, RNG)
    names = list(every)
    sums = [(name,) for name in names] + [tuple(RNG.choice(names, 2, replace=False)) for _ in range(6)]
    made = []
    for some in sums:
        of = [every[name] for name in some]
        made.append((f"{n}: {' + '.join(some)}", summed(n, of)))
        made.append((f"{n}: ({' + '.join(some)})²", summed(n, of, is_squared=True)))
    return made


SYSTEMS = [one for n in (1, 2, 7, 65, 130) for one in systems(n)]


@pytest.mark.parametrize(("name", "f"), SYSTEMS, ids=[name for name, _ in SYSTEMS])
def test_against_the_matrix_in_full(name: str, f: Any) -> None:
    assert name
    ask(f, np.random.default_rng(1))


@pytest.mark.parametrize("seed", range(6))
def test_random_maps(seed: int) -> None:
    """Some of those that `python -m tests.structured_maps SEED COUNT` draws by the thousand."""
    rng = np.random.default_rng(100 + seed)
    _, f = drawn(rng)
    ask(f, rng)
    ask_more(f, rng)


@pytest.mark.parametrize("n", [5, 80])
def test_second_derivatives(n: int) -> None:
    rng = np.random.default_rng(2)
    for of in pieces(n, RNG).values():
        ask_more(summed(n, [of]), rng)


def plan(f: Any) -> str:
    """How a system is solved, as `cost` says."""
    return str(hb.cost(hb.solve(hb.derivative(f, wrt=1)))).splitlines()[-1].partition("unknowns")[2]


def test_the_way_is_read_off_the_structure() -> None:
    V, every = hb.R ** hb.Fin.of(300), pieces(300, RNG)

    def way(*names: str) -> str:
        first, *rest = (every[name] for name in names)
        return plan(hb.fun(V, V)(lambda p, x: sum((of(p, x) for of in rest), 3.0 * x + first(p, x))))

    assert way("diagonal") == ", diagonal: by division"
    assert "in a band of 1 + 1 + 1 diagonals" in way("diagonal", "band")
    assert "and rank 1: by Woodbury's formula, in a band of 0 + 1 + 0" in way("diagonal", "rank one")
    assert "and rank 2: by Woodbury's formula, in a band of 1 + 1 + 1" in way("band", "rank two")
    assert way("dense") == ": by its matrix"


def test_terms_print_pickle_and_compare() -> None:
    X = hb.Fin.of(4)
    V = hb.R**X
    a = 2.0 * identity(V) + rep(X) @ total(X)
    inverse = hb.linalg.inverse(a)
    assert str(inverse).endswith("⁻¹")
    assert pickle.loads(pickle.dumps(inverse)) == inverse
    d = hb.derivative(hb.fun(V)(lambda x: hb.exp(x) + x.sum().rep(V)))
    x, b = V.random(RNG), V.random(RNG)
    undone = hb.linalg.inverse(d)
    assert hb.equal(hb.adjoint(undone.at(x)), hb.linalg.inverse(hb.adjoint(d.at(x))))
    close(hb.linalg.inverse(undone.at(x))(b).array, d.at(x)(b).array)
    again = pickle.loads(pickle.dumps(hb.solve(d)))
    close(again(x, b).array, hb.solve(d)(x, b).array)
    assert str(hb.solve(d)).startswith("(x, b) ↦ ")
    determinant = pickle.loads(pickle.dumps(hb.linalg.logdet(hb.derivative(sparse()))))
    y = sparse().dom.ones()
    close(determinant(y).array, hb.linalg.logdet(hb.derivative(sparse()))(y).array)


def sparse() -> Any:
    n = 100
    return hb.fun(hb.R ** hb.Fin.of(n))(lambda x: 3.0 * hb.exp(x) - x.pad(1, 0).crop(0, n))


def test_columns_and_lifts() -> None:
    X, Z = hb.Fin.of(90), hb.Fin.of(3)
    V = hb.R**X
    d = hb.derivative(hb.fun(V)(lambda x: hb.exp(x) - 0.2 * x.pad(1, 0).crop(0, 90)))
    x, T = V.random(RNG), (hb.R ** (X * Z)).random(RNG)
    want = np.linalg.solve(hb.matrix(d.at(x), "array"), T.array)
    close((hb.linalg.inverse(d.at(x)) @ T).array, want)
    many = hb.lift(hb.solve(d), Z, over=(1,))
    close(many(x, (V**Z).vec(T.array.T)).array, want.T)
    points = (V**Z).random(RNG)
    each = (hb.linalg.logdet(d) ** Z)(points)
    close(each.array, [hb.linalg.logdet(d)(V.vec(row)).array for row in points.array])


def test_a_singular_base_of_a_regular_sum() -> None:
    """S is singular, S + uvᵀ is not: then the matrix is made in full."""
    X = hb.Fin.of(100)
    V = hb.R**X
    keep = V.vec((np.arange(100) > 0).astype(float))
    f = hb.fun(V)(lambda x: keep * x + x.sum().rep(V))
    a = hb.derivative(f).at(V.ones())
    b = V.random(RNG)
    close(hb.solve(a, b).array, np.linalg.solve(hb.matrix(a, "array"), b.array))


def test_single_precision() -> None:
    V = hb.R32 ** hb.Fin.of(120)
    d = hb.derivative(hb.fun(V)(lambda x: hb.exp(x) - 0.2 * x.pad(1, 0).crop(0, 120)))
    x, b = V.random(RNG), V.random(RNG)
    a = hb.matrix(d.at(x), "array")
    assert np.allclose(hb.solve(d.at(x), b).array, np.linalg.solve(a, b.array), rtol=1e-4)
    found = hb.linalg.logdet(d)(x).array
    assert found.dtype == np.float32
    assert np.isclose(found, np.linalg.slogdet(a)[1], rtol=1e-4)
    assert hb.grad(hb.linalg.logdet(d))(x).array.dtype == np.float32


def bad() -> list[tuple[Callable[[], Any], str]]:
    X = hb.Fin.of(5)
    V = hb.R**X
    a, d = 2.0 * identity(V), hb.derivative(hb.fun(V)(lambda x: x * x))
    squares = hb.derivative(hb.fun(hb.R ** hb.Fin.of(100))(lambda x: x * x))
    return [
        (lambda: HB.solve(a), r"solve\(A, b\) takes the right side b, too; inverse\(A\) is the linear map"),
        (lambda: HB.solve(d, V.ones()), r"solve\(d\)\(x, b\) is at the point x, or solve\(d\.at\(x\), b\)"),
        (lambda: HB.solve(total(X), V.ones()), r"as many equations as unknowns, not of one from ℝ\^5 to ℝ"),
        (lambda: HB.linalg.inverse(total(X)), "as many equations as unknowns"),
        (lambda: HB.linalg.logdet(total(X)), "as many equations as unknowns"),
        (lambda: HB.solve(a, hb.R.ones()), r"cannot apply f : ℝ\^5 → ℝ\^5 to a vector of ℝ"),
        (lambda: HB.solve(a, 3), "a vector of ℝ\\^5 is due"),
        (lambda: HB.solve(rep(X) @ total(X), V.ones()), "singular at this point: it has no solution, or many"),
        (lambda: HB.grad(HB.linalg.logdet(squares))(squares.point.zeros()), "is singular at this point"),
    ]


@pytest.mark.parametrize("k", range(len(bad())))
def test_bad_input(k: int) -> None:
    call, text = bad()[k]
    with pytest.raises(SpaceError, match=text):
        call()


def test_a_singular_map_has_determinant_zero() -> None:
    for n in (5, 100):
        d = hb.derivative(hb.fun(hb.R ** hb.Fin.of(n))(lambda x: x * x))
        assert hb.linalg.logdet(d)(d.point.zeros()).array == -np.inf


def test_least_squares_of_linear_maps() -> None:
    """By QR for matrices, by the structure of A* A for maps; the same point as numpy's."""
    n = 300
    V = hb.R ** hb.Fin.of(n)
    f = hb.fun(V)(lambda x: hb.exp(x).concatenate(x.crop(1, n) - x.crop(0, n - 1)))
    a = hb.derivative(f).at(V.random(RNG))
    b = f.cod.random(RNG)
    close(hb.linalg.lstsq(a, b).array, np.linalg.lstsq(hb.matrix(a, "array"), b.array)[0])
    rows, cols = hb.Fin.of(9), hb.Fin.of(4)
    A, B = (hb.R ** (rows * cols)).random(RNG), (hb.R ** (rows * hb.Fin.of(2))).random(RNG)
    close(hb.linalg.lstsq(A, B).array, np.linalg.lstsq(A.array, B.array)[0])
    both: Any = hb.fun(A.space, B.space)(lambda A, B: hb.linalg.lstsq(A, B).sum())
    slope = hb.grad(both, 1)(A, B)
    close(slope.array, np.linalg.pinv(A.array).sum(0)[:, None] @ np.ones((1, 2)))


def nearly_singular(n: int = 100) -> list[Any]:
    """Functions whose sparse part is singular, or nearly, while they are not."""
    V = hb.R ** hb.Fin.of(n)
    entries = np.linspace(1.0, 2.0, n)
    entries[3] = 1e-20
    d, p, u = V.vec(entries), V.vec(np.linspace(0.5, 1.0, n)), V.vec(np.cos(np.arange(n)))
    keep = V.vec((np.arange(n) > 0).astype(float))
    return [
        hb.fun(V)(lambda x: 2.0 * x - x.roll(1) - x.roll(-1) + x.sum().rep(V)),
        hb.fun(V)(lambda x: d * x + x.sum() * p),
        hb.fun(V)(lambda x: d * x + x.sum() * p + (u @ x) * V.ones()),
        hb.fun(V)(lambda x: keep * x + x.sum().rep(V)),
        hb.grad(hb.fun(V)(lambda x: 0.5 * hb.square(x[1:] - x[:-1]).sum() + 0.5 * x.sum() ** 2)),
    ]


@pytest.mark.parametrize("k", range(5))
def test_a_base_that_is_nearly_singular_costs_no_digits(k: int) -> None:
    f = nearly_singular()[k]
    V = f.dom
    a = hb.derivative(f).at(V.zeros())
    m, b = hb.matrix(a, "array"), V.vec(np.sin(np.arange(100)))
    x = hb.solve(a, b).array
    assert np.max(np.abs(m @ x - b.array)) < 1e-9
    np.testing.assert_allclose(
        hb.adjoint(hb.linalg.inverse(a))(b).array, np.linalg.solve(m.T, b.array), rtol=1e-6, atol=1e-9
    )
    scaled = hb.fun(hb.R, V)(lambda s, x: s * f(x))
    logdet = hb.linalg.logdet(hb.derivative(scaled, wrt=1))
    g = hb.fun(hb.R)(lambda s: logdet(s, V.zeros()))
    two = hb.R.vec(2.0)
    assert np.isclose(g(two).array, np.linalg.slogdet(2.0 * m)[1], rtol=1e-9)
    assert np.isclose(hb.grad(g)(two).array, 50.0, rtol=1e-6)
    assert np.isclose(hb.hvp(g)(two, hb.R.vec(1.0)).array, -25.0, rtol=1e-5)
    again = hb.fun(V)(lambda b: hb.root(lambda x: f(x) - b, b))
    assert np.max(np.abs(f(again(b)).array - b.array)) < 1e-8


def test_low_rank_in_single_precision() -> None:
    V = hb.R32 ** hb.Fin.of(100)
    f = hb.fun(hb.R32, V)(lambda t, x: hb.exp(t) * (x @ x) + x.logsumexp() + x.sum() ** 2)
    found = hb.laplace(f, V.zeros())(hb.R32.vec(0.3))
    assert found.array.dtype == np.float32
    assert np.isfinite(found.array)


@pytest.mark.parametrize("n", [20, 31, 48, 100])
def test_machine_code_around_a_system(n: int) -> None:
    """A number that a product of matrices makes is one for the solver, too."""
    V = hb.R ** hb.Fin.of(n)
    c = V.full(2.0)
    solved = hb.solve(hb.derivative(hb.fun(hb.R, V)(lambda p, x: p * (c * x * x.sum())), wrt=1))
    g = hb.grad(hb.fun(hb.R, V)(lambda p, b: solved(p, V.ones(), b).sum()))
    at = hb.R.vec(2.0), V.ones()
    for a, b in zip(hb.compiled(g)(*at).leaves, g(*at).leaves, strict=True):
        close(a, b)

"""Systems of equations through what their structure proves: divided, in bands, by sparse LU, beside their matrices."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import splu

from adjoint import adjoint, check_derivative, grad, jacobian
from diff import const, derivative, exp, fun, inner, jvp, lift, program, sin, tanh
from hilbert import R32, Fin, R, SpaceError
from hilbert.arrays.systems import banded, linear_systems
from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.arrays.systems.sparse_systems import SparseSystem
from hilbert.program.control import equation_step
from hilbert.relation import pairs
from linmap import cost, crop, differences, pad, red, uncurry
from linmap.matrices.made.systems import systems
from tests.untyped import each, fixed_point, root

jax.config.update("jax_enable_x64", val=True)
RNG = np.random.default_rng
PLAN = "diff.solving.system_plan"


@contextmanager
def planned(way: str) -> Iterator[None]:
    """Systems of any size are solved so: "full" by their matrices, else through their structure, by "band" or "LU"."""
    with pytest.MonkeyPatch.context() as patch:
        if way == "full":
            patch.setattr(equation_step, "SMALL", 10**30)
        else:
            patch.setattr(equation_step, "SMALL", -1)
            patch.setattr(f"{PLAN}.PIVOT", 1e9)  # elimination in full takes for ever
            patch.setattr(f"{PLAN}.FAR", 1e30)
            patch.setattr("diff.solving.system_net.SPARSE", 1)
            for name in ("ROW", "PLACE", "FILLED", "PRODUCT"):
                patch.setattr(banded, name, 1e9 if way == "LU" else 0.0)
        yield


def close(a: Any, b: Any, tolerance: float = 1e-9) -> None:
    for x, y in zip(a.leaves, b.leaves, strict=True):
        scale = 1.0 + np.abs(np.asarray(y)).max(initial=0.0)
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=tolerance, atol=tolerance * scale)


X, L = Fin.of(7), Fin.of(3)
V = R**X
MIXED = red(pairs([(0, 3), (3, 0), (2, 5), (6, 1), (1, 1)], X, X))


def shifted(u: Any, k: int) -> Any:
    """u one further or back, with zeros behind."""
    return u.pad(max(k, 0), max(-k, 0)).crop(max(-k, 0), max(-k, 0) + u.space.dim)


TERMS: dict[str, Any] = {
    "cube": lambda u, _: u * u * u,
    "varied": lambda u, c: exp(0.3 * c) * u,
    "up": lambda u, c: c * shifted(u, 1),
    "down": lambda u, _: shifted(tanh(u), -1),
    "twice": lambda u, c: shifted(u * c, 2),
    "around": lambda u, _: sin(u).roll(1),
    "pairs": lambda u, c: MIXED(u) * c,
    "flux": lambda u, c: shifted(exp(0.1 * c) * (shifted(u, 1) - u), -1),
    "back": lambda u, c: u.flip() * c,
}


def solved(names: list[str], kind: str) -> Any:
    """(a, c) ↦ x with 3 x + Σ terms = a, as a root, as a fixed point, or as one of two unknowns."""

    def small(u: Any, c: Any) -> Any:
        total = 0.1 * TERMS[names[0]](u, c)
        for name in names[1:]:
            total = total + 0.1 * TERMS[name](u, c)
        return total

    def one(a: Any, c: Any) -> Any:
        return root(lambda x: 3.0 * x + small(x, c) - a, a)

    def again(a: Any, c: Any) -> Any:
        return fixed_point(lambda x: 0.3 * (a - small(x, c)), a)

    def two(a: Any, c: Any) -> Any:
        def equations(state: Any) -> Any:
            x, y = state
            return 3.0 * y + small(x, c) - a, x - 0.5 * y + small(y, a)

        x, y = root(equations, (a, a))
        return x * y

    return fun(V, V)({"root": one, "fixed_point": again, "two unknowns": two}[kind])


def total(f: Any) -> Any:
    def body(*x: Any) -> Any:
        y = f(*x)
        return inner(y, y)

    return fun.over(f.dom)(body)


def ways(line: Any) -> set[str]:
    """How the systems of a line are solved."""
    return {text.rpartition(": ")[2].partition(" of")[0] for text in systems([line])}


EXAMPLES = int(os.environ.get("SYSTEMS", "8"))
"""A run of many, recorded: SYSTEMS=1000 and a seed for Hypothesis."""


@given(
    st.lists(st.sampled_from(sorted(TERMS)), min_size=1, max_size=4, unique=True),
    st.sampled_from(["root", "fixed_point", "two unknowns"]),
    st.sampled_from([(), (0,), (1,), (0, 1)]),
    st.sampled_from(["band", "LU"]),
    st.integers(0, 2**20),
)
@settings(max_examples=EXAMPLES)
def test_a_system_by_its_structure_is_that_by_its_matrix(
    names: list[str], kind: str, over: tuple[int, ...], way: str, seed: int
) -> None:
    """Value, gradient, and derivative in a direction are the same, in lanes too, whether data vary over them or not."""
    found = []
    for some in ("full", way):
        with planned(some):
            f = solved(names, kind)
            g = lift(f, L, over=over) if over else f
            slope = jvp(g)
            x, dx = g.dom.random(RNG(seed)), slope.dom.random(RNG(seed))
            found.append((g(x), grad(total(g))(x), slope(dx)))
            have = set.union(*(ways(program(h).line) for h in (g, slope, grad(total(g)))))
            due = (
                {"by its matrix"}
                if some == "full"
                else {"by division", "in a band" if way == "band" else "by sparse LU"}
            )
            assert have <= due, have
    for have, want in zip(found[1], found[0], strict=True):
        close(have, want)


# --- which way is taken ---


def said(f: Any) -> list[str]:
    return list(cost(f).systems)


def chain(n: int, k: float = 4.0) -> Any:
    """The solution of a tridiagonal system, and of a cube."""
    d = differences(Fin.of(n + 2)) @ pad(Fin.of(n), 1, 1)
    return fun(R ** Fin.of(n))(lambda b: root(lambda u: k * u + u * u * u + adjoint(d)(d(u)) - b, b))


def test_the_way_depends_on_the_structure() -> None:
    """Division, a band in the given order or a better one, few common unknowns, the matrix: as `cost` says."""
    n = 300
    U = R ** Fin.of(n)
    full = const((R ** (U.index * U.index)).vec(np.eye(n)))
    some = [(k, (50 * k + c) % n) for k in range(n) for c in (0, 1, 40, 90)]
    across, count = red(pairs(some, U.index, U.index)), len({*some, *((k, k) for k in range(n))})

    def of(step: Any) -> list[str]:
        return said(fun(U)(lambda b: root(lambda u: step(u) - b, b)))

    start = f"root of {n} unknowns"
    assert of(lambda u: u * u * u) == [f"{start}, diagonal: by division"]
    assert said(chain(n)) == [f"{start}, sparse, {3 * n - 2} entries, positive: in a band of 1 + 1 + 1 diagonals"]
    assert of(lambda u: u.roll(1) * u) == [f"{start}, sparse, {2 * n} entries: in a band of 2 + 1 + 2 diagonals"]
    few = "by eliminating 282 blocks of 1, then 18 unknowns in full"
    assert of(lambda u: across(u) + u * u) == [f"{start}, sparse, {count} entries: {few}"]
    assert of(lambda u: full @ (u * u)) == [f"{start}: by its matrix"]
    both = f"{n} entries, and rank 1: by Woodbury's formula, in a band of 0 + 1 + 0 diagonals"
    assert of(lambda u: u + u.sum() * u) == [f"{start}, sparse, {both}"]
    small = said(fun(R ** Fin.of(80))(lambda b: root(lambda u: u * u * u - b, b)))
    assert small == ["root of 80 unknowns: by its matrix"]
    wide = R ** Fin.of(3000)
    assert said(fun(wide)(lambda b: root(lambda u: u + u.cumsum() * u - b, b))) == [
        "root of 3000 unknowns: by GMRES, or by its matrix"
    ]
    huge = R ** Fin.of(5000)
    assert said(fun(huge)(lambda b: root(lambda u: u + u.cumsum() * u - b, b))) == [
        "root of 5000 unknowns: by GMRES, or by GMRES again"
    ]
    lanes = fun(R ** Fin.of(1000))(lambda xs: each(lambda x: root(lambda z: z * z * z + z - x, x), xs))
    assert said(lanes) == ["root of 1 unknown in each of 1000 lanes, diagonal: by division"]
    chains = chain(100) ** Fin.of(20)
    assert said(chains) == [
        "root of 100 unknowns in each of 20 lanes, sparse, 5960 entries, positive: in a band of 1 + 1 + 1 diagonals"
    ]


def test_gmres_has_a_try_before_what_costs_far_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where 20 vectors suffice it is all; where not, the entries are eliminated."""
    tried: list[float] = []

    def gmres(*args: Any, **options: Any) -> Any:
        found = linear_systems.gmres(*args, **options)
        tried.append(found[1])
        return found

    easy, stiff = chain(100, 40.0), chain(100, 0.01)
    x = easy.dom.random(RNG(0))
    due = easy(x), stiff(x)
    monkeypatch.setattr(f"{PLAN}.FAR", 0)
    monkeypatch.setattr("hilbert.program.transform.run_linear_system.gmres", gmres)
    for f, k, is_enough in zip((chain(100, 40.0), chain(100, 0.01)), due, (True, False), strict=True):
        assert said(f) == [
            "root of 100 unknowns, sparse, 298 entries, positive: by GMRES, or in a band of 1 + 1 + 1 diagonals"
        ]
        close(f(x), k, 1e-8)
        assert tried
        assert all(not left for left in tried) is is_enough
        tried.clear()


def test_without_scipy_the_matrix_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `cost` says; a diagonal needs none. The values are the same."""
    x = chain(100).dom.random(RNG(0))
    with_scipy = chain(100)(x)
    for name in [name for name in sys.modules if name.partition(".")[0] == "scipy"]:
        monkeypatch.setitem(sys.modules, name, None)
    f = chain(100)
    assert said(f) == ["root of 100 unknowns, sparse, 298 entries, positive: by its matrix, without scipy"]
    close(f(x), with_scipy)
    diagonal = fun(R ** Fin.of(100))(lambda b: root(lambda u: u * u * u + u - b, b))
    assert said(diagonal) == ["root of 100 unknowns, diagonal: by division"]


def test_what_is_made_is_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand unknowns: no array of their square, in a value, a gradient, and many right sides."""
    for name in ("direct", "gmres"):
        monkeypatch.setattr(f"hilbert.program.transform.run_linear_system.{name}", None)
    f = chain(10_000)
    x = f.dom.random(RNG(0))
    u = f(x).array
    p = np.concatenate([[0.0], u, [0.0]])
    np.testing.assert_allclose(4.0 * u + u**3 + 2.0 * u - p[:-2] - p[2:], x.array, atol=1e-8)
    assert check_derivative(total(f), x)
    slope = grad(total(f))(x).array
    lower = scipy.sparse.diags_array([6.0 + 3.0 * u * u, -np.ones(9999), -np.ones(9999)], offsets=[0, 1, -1])
    np.testing.assert_allclose(lower @ slope, 2.0 * u, atol=1e-8)
    few = derivative(f).at(x) ** Fin.of(3)
    rows = few.dom.random(RNG(1))
    np.testing.assert_allclose(lower @ few(rows).array.T, rows.array.T, atol=1e-8)


class Row: ...


class Column: ...


def test_darcy_flow() -> None:
    """The flow through a porous medium: value and gradient by the sparse Jacobian, `splu` and the transposed system."""
    n = 24
    I, J = Fin(Row, n), Fin(Column, n)
    W = R ** (I * J)
    source, data = const(W.ones()), W.random(RNG(0), scale=0.1)

    def along(k: Any, u: Any, axis: Any, across: Any) -> Any:
        """−div(k·grad u) along the first axis; k is the mean of its neighbours between two cells."""
        ends = pad(axis, 1, 1, across)
        low, high = (crop(ends.cod.index, a, a + n + 1, across) @ ends for a in (0, 1))
        flux = each(lambda a, b: a * b, (low + high)(k.rows()), (high - low)(u.rows()))
        return uncurry(across**axis)(adjoint(high - low)(flux))

    def residual(m: Any, u: Any) -> Any:
        k = 0.5 * n**2 * exp(m)
        return source - along(k, u, I, R**J) - along(k.T, u.T, J, R**I).T

    f = fun(W)(lambda m: root(lambda u: residual(m, u), source) - const(data))
    loss = total(f)
    assert said(loss) == ["root of 576 unknowns, sparse, 2784 entries: in a band of 24 + 1 + 24 diagonals"]
    r = fun(W, W)(residual)
    m = W.random(RNG(1), scale=0.3)
    lu = splu(jacobian(r, r.dom.vec((m.array, m.array)), wrt=1, as_="sparse").tocsc())
    u = W.unflat(-lu.solve(r(m, W.zeros()).flat()))
    close(f(m) + data, u)
    due = adjoint(derivative(r).at(r.dom.vec((m.array, u.array))))(W.unflat(-lu.solve(2.0 * f(m).flat(), "T")))
    close(grad(loss)(m), due.split()[0])


# --- libraries, precisions, lanes, errors ---


def places() -> Any:
    """A full diagonal and some other places, in two blocks of four."""
    r, c = (
        np.asarray(side) for side in np.transpose([*((k, k) for k in range(8)), (0, 1), (2, 1), (1, 3), (5, 4), (6, 7)])
    )
    return r, c


@pytest.mark.parametrize("way", ["band", "LU"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_systems(way: str, dtype: Any) -> None:
    """A x = b for several b; in a block 0 where b is, NaN where an entry is NaN; an error where it is singular."""
    with planned(way):
        rows, cols = places()
        sp = scipy_of()
        assert sp is not None
        system = SparseSystem(rows, cols, 8, 4, sp)
        assert system.by_band == (way == "band")
        values = RNG(0).uniform(1.0, 2.0, len(rows)).astype(dtype)
        values[:8] += 3.0
        full = np.zeros((8, 8))
        full[rows, cols] = values
        b = RNG(1).standard_normal((3, 8)).astype(dtype)
        x = system.solved(values, b, "")
        assert x.dtype == dtype
        np.testing.assert_allclose(x @ full.T, b, atol=1e-6 if dtype == np.float32 else 1e-12)
        b[:, :4] = 0.0
        bad = np.where(rows < 4, np.nan, values).astype(dtype)
        for some in (bad, np.where(rows < 4, 0.0, values)):
            found = system.solved(some.astype(dtype), b, "")
            np.testing.assert_array_equal(found[:, :4], 0.0)
            np.testing.assert_allclose(found @ full.T, b, atol=1e-6 if dtype == np.float32 else 1e-12)
        b[1, 0] = 1.0
        found = system.solved(bad, b, "")
        assert np.isnan(found[:, :4]).all()
        assert np.isfinite(found[:, 4:]).all()
        with pytest.raises(SpaceError, match="it is singular"):
            system.solved(np.where(rows < 4, 0.0, values).astype(dtype), b, "it is singular")


EQUATIONS: dict[str, Any] = {
    "division": lambda u, b: u * u * u - b,
    "band": lambda u, b: u * shifted(u, 1) - b,
    "LU": lambda u, b: MIXED(u * u) - b,
}


@pytest.mark.parametrize("way", EQUATIONS)
def test_singular_systems(way: str) -> None:
    """The error names what was called, and says what is singular; where nothing is asked of a lane it is none."""
    with planned(way):
        f = fun(V)(lambda b: root(lambda u: EQUATIONS[way](u, b), 0.0 * b))
        for x in (V.ones(), *([V.vec(jnp.ones(7))] if way == "division" else [])):
            with pytest.raises(SpaceError, match=r"root: the derivative ℝ\^7 → ℝ\^7 of its function is singular"):
                f(x)
        g = fun(V)(lambda b: fixed_point(lambda u: u + EQUATIONS[way](const(V.zeros()) * u, b - 1.0), b))
        with pytest.raises(SpaceError, match="fixed_point: id minus the derivative"):
            grad(total(g))(V.ones())


@pytest.mark.parametrize("way", EQUATIONS)
def test_lanes_that_nothing_is_asked_of(way: str) -> None:
    """A lane in which the start is the solution, and one that is not read, may have a singular system."""
    more: Any = {"division": lambda u: u, "band": lambda u: shifted(u * u, 1), "LU": lambda u: MIXED(u * u)}[way]
    with planned(way):
        one = fun(V)(lambda b: root(lambda u: u * u * u + more(u) * 0.1 * u - b, b))
        f = fun(R**L, V**L)(lambda c, bs: c @ each(lambda b: one(b).sum(), bs))
        c, bs = (R**L).vec([0.0, 1.0, 2.0]), np.ones((3, 7))
        bs[0] = 0.0
        slope = grad(f, 1)(c, (V**L).vec(bs)).array
        alone = grad(fun(V)(lambda b: one(b).sum()))(V.ones()).array
        np.testing.assert_allclose(slope, [0.0 * alone, alone, 2.0 * alone], atol=1e-10)


def test_libraries_and_precisions() -> None:
    """Arrays of JAX, under `jit` too, and of any library; single precision."""
    banded, divided = chain(90), fun(R ** Fin.of(90))(lambda b: root(lambda u: u * u * u + u - b, b))
    x = banded.dom.random(RNG(0))
    for f in (banded, divided):
        g = grad(total(f))
        strict = g(f.dom.vec(array_api_strict.asarray(x.array)))
        assert isinstance(strict.array, type(array_api_strict.asarray(1.0)))
        close(strict, g(x))
    found = banded(x.space.vec(jnp.asarray(x.array)))
    assert isinstance(found.array, jax.Array)
    close(found, banded(x))
    jitted = jax.jit(lambda a: grad(total(divided))(x.space.vec(a)).array)
    close(x.space.vec(jitted(jnp.asarray(x.array))), grad(total(divided))(x))
    W = R32 ** Fin.of(90)
    single = grad(total(fun(W)(lambda b: root(lambda u: 4.0 * u + u * u * u - u.roll(1) - b, b))))
    double = grad(total(fun(R**W.index)(lambda b: root(lambda u: 4.0 * u + u * u * u - u.roll(1) - b, b))))
    x = W.random(RNG(0))
    assert single(x).array.dtype == np.float32
    np.testing.assert_allclose(
        single(x).array, double((R**W.index).vec(x.array.astype(float))).array, rtol=1e-4, atol=1e-5
    )

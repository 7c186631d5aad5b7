"""Nonlinear programs: values and derivatives beside dense ones of JAX, at small sizes, and in scipy's solver."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

import hilbert.all as hb
from docs.examples import sparse_programs
from hilbert import SpaceError
from linmap.matrices.made import patterns

jax.config.update("jax_enable_x64", val=True)

ROOT = Path(__file__).parents[2]
ENV = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
SIZES = {"chained_rosenbrock": 7, "chained_powell": 8, "chained_cragg": 8, "minimal_surface": 25, "steering": 20}


def rosenbrock(x: Any) -> Any:
    """Lukšan & Vlček 5.1, with 0-based sums."""
    n = len(x)
    f = sum(100 * (x[i] ** 2 - x[i + 1]) ** 2 + (x[i] - 1) ** 2 for i in range(n - 1))
    g = [
        3 * x[k + 1] ** 3 + 2 * x[k + 2] - 5 + jnp.sin(x[k + 1] - x[k + 2]) * jnp.sin(x[k + 1] + x[k + 2])
        + 4 * x[k + 1] - x[k] * jnp.exp(x[k] - x[k + 1]) - 3
        for k in range(n - 2)
    ]  # fmt: skip
    return f, jnp.stack(g), jnp.zeros(0)


def powell(x: Any) -> Any:
    """Lukšan & Vlček 5.3."""
    n, f = len(x), 0.0
    for j in range((n - 2) // 2):
        a, b, c, d = x[2 * j : 2 * j + 4]
        f += (a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4
    g = [
        3 * x[0] ** 3 + 2 * x[1] - 5 + jnp.sin(x[0] - x[1]) * jnp.sin(x[0] + x[1]),
        4 * x[n - 1] - x[n - 2] * jnp.exp(x[n - 2] - x[n - 1]) - 3,
    ]
    return f, jnp.stack(g), jnp.zeros(0)


def cragg(x: Any) -> Any:
    """Lukšan & Vlček 5.4."""
    n, f = len(x), 0.0
    for j in range((n - 2) // 2):
        a, b, c, d = x[2 * j : 2 * j + 4]
        f += (jnp.exp(a) - b) ** 4 + 100 * (b - c) ** 6 + jnp.tan(c - d) ** 4 + a**8 + (d - 1) ** 2
    g = [
        8 * x[k + 1] * (x[k + 1] ** 2 - x[k]) - 2 * (1 - x[k + 1]) + 4 * (x[k + 1] - x[k + 2] ** 2)
        for k in range(n - 2)
    ]
    return f, jnp.stack(g), jnp.zeros(0)


def surface(x: Any) -> Any:
    """The area of the triangles, whose corners are written one by one."""
    k = round(len(x) ** 0.5)
    z, h, f = x.reshape(k, k), 1 / (k - 1), 0.0
    for i in range(k - 1):
        for j in range(k - 1):
            f += 0.5 * h * h * jnp.sqrt(1 + ((z[i, j + 1] - z[i, j]) / h) ** 2 + ((z[i + 1, j] - z[i, j]) / h) ** 2)
            right = ((z[i + 1, j + 1] - z[i, j + 1]) / h) ** 2
            f += 0.5 * h * h * jnp.sqrt(1 + ((z[i + 1, j + 1] - z[i + 1, j]) / h) ** 2 + right)
    at = jnp.linspace(0, 1, k)
    bow = 1 - (2 * at - 1) ** 2
    g = [*(z[0] - bow), *(z[-1] - bow), *z[1:-1, 0], *z[1:-1, -1]]
    block = [(abs(at[i] - 0.5) <= 0.25) & (abs(at[j] - 0.5) <= 0.25) for i in range(k) for j in range(k)]
    return f, jnp.stack(g), jnp.array(block) * 1.0 - x


def steered(q: Any) -> Any:
    """The trapezoidal rule, step by step."""
    k = (len(q) - 1) // 5
    t, (u, x, y, dx, dy) = q[0], q[1:].reshape(5, k)
    g = []
    for state, rate in ((x, dx), (y, dy), (dx, 100 * jnp.cos(u)), (dy, 100 * jnp.sin(u))):
        g += [state[i + 1] - state[i] - t / (k - 1) * (rate[i] + rate[i + 1]) / 2 for i in range(k - 1)]
    g += [x[0], y[0], dx[0], dy[0], y[-1] - 5, dx[-1] - 45, dy[-1]]
    return t, jnp.stack(g), jnp.concatenate([u - jnp.pi / 2, -u - jnp.pi / 2, -t[None]])


PEERS = {
    "chained_rosenbrock": rosenbrock,
    "chained_powell": powell,
    "chained_cragg": cragg,
    "minimal_surface": surface,
    "steering": steered,
}


def full(places: Any, entries: Any, shape: tuple[int, int]) -> Any:
    """The dense matrix of listed entries, which must stand at different places."""
    assert len(set(zip(*(p.tolist() for p in places), strict=True))) == len(entries)
    return scipy.sparse.coo_array((entries, places), shape).toarray()


@pytest.mark.parametrize("name", PEERS)
def test_callbacks_beside_jax(name: str) -> None:
    """f, c, ∇f, c′ and the Hessian of σf + λ·c at random points, as the solvers with callbacks ask for them."""
    p, v = sparse_programs.PROGRAMS[name](SIZES[name])
    rng, n, peer = np.random.default_rng(0), p.size, PEERS[name]

    def constraints(x: Any) -> Any:
        return jnp.concatenate(peer(x)[1:])

    rows, columns = p.hessianstructure()
    assert (rows >= columns).all()
    for x in (p.x0(v), p.x0(v) + 0.1 * rng.standard_normal(n)):
        f, g, h = peer(jnp.asarray(x))
        multipliers = rng.standard_normal(p.count)
        np.testing.assert_allclose(p.objective(x), f, rtol=1e-12)
        np.testing.assert_allclose(p.constraints(x), np.concatenate([g, h]), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(p.gradient(x), jax.grad(lambda x: peer(x)[0])(x), rtol=1e-11, atol=1e-11)
        J = full(p.jacobianstructure(), p.jacobian(x), (p.count, n))
        np.testing.assert_allclose(J, jax.jacobian(constraints)(x), rtol=1e-11, atol=1e-11)
        np.testing.assert_array_equal(J, p.jac(x).toarray())
        due = jax.hessian(lambda x, m=multipliers: 0.7 * peer(x)[0] + m @ constraints(x))(x)
        L = full((rows, columns), p.hessian(x, multipliers, 0.7), (n, n))
        np.testing.assert_allclose(L + np.tril(L, -1).T, due, rtol=1e-10, atol=1e-10 * abs(due).max())
        np.testing.assert_allclose(p.hess(x, multipliers, 0.7).toarray(), due, rtol=1e-10, atol=1e-10 * abs(due).max())
    assert (p.lower[: len(g)] == 0.0).all()
    assert (p.lower[len(g) :] == -np.inf).all()
    assert (p.upper == 0.0).all()


@pytest.mark.parametrize("name", PEERS)
def test_patterns_are_thin(name: str) -> None:
    """At ten times the size there are ten times the entries: nothing is dense."""
    small, large = (sparse_programs.PROGRAMS[name](size)[0] for size in (1000, 10_000))
    for places in ("hessianstructure", "jacobianstructure"):
        few, many = (len(getattr(p, places)()[0]) for p in (small, large))
        assert many <= 11 * few


@pytest.mark.parametrize("name", PEERS)
def test_a_first_hessian_imports_little(name: str) -> None:
    """Neither scipy nor numpy's masked arrays, which take 10 to 100 ms to import, are needed for the entries."""
    code = f"""
import sys
import numpy as np
from docs.examples.sparse_programs import PROGRAMS
p, v = PROGRAMS[{name!r}](50_000)
assert len(p.hessian(p.x0(v), np.ones(p.count))) == len(p.hessianstructure()[0]) > 30_000
print(*(m for m in sys.modules if m in ("scipy", "scipy.sparse", "numpy.ma")))
"""
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=ENV, capture_output=True, text=True, check=False)  # noqa: S603
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == []


@pytest.mark.parametrize("name", ["chained_rosenbrock", "minimal_surface"])
def test_trust_region(name: str) -> None:
    """trust-constr ends at a point that is feasible and stationary."""
    p, v = sparse_programs.PROGRAMS[name](25)
    found = scipy.optimize.minimize(
        p.objective, p.x0(v), method="trust-constr", jac=p.gradient, hess=p.goal.hess, constraints=p.conditions
    )
    assert found.status in {1, 2}
    c = p.constraints(found.x)
    assert abs(c[p.lower == 0.0]).max() < 1e-6
    assert c.max() < 1e-6
    slope = p.gradient(found.x) + p.jac(found.x).T @ np.concatenate(found.v)
    assert abs(slope).max() < 1e-4


def test_compiled_programs() -> None:
    """Where f is compiled all derivatives are, and they are the same."""
    V = hb.R ** hb.Fin.of(30)
    f, g = hb.fun(V)(lambda x: (x[1:] * hb.sin(x[:-1])).sum()), hb.fun(V)(lambda x: x[1:] ** 2 - x[:-1])
    plain, fast = hb.nlp(f, equal=g), hb.nlp(hb.compiled(f), equal=g)
    x, m = np.linspace(0.0, 1.0, 30), np.linspace(1.0, 2.0, 29)
    np.testing.assert_allclose(fast.hessian(x, m, 2.0), plain.hessian(x, m, 2.0), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(fast.jacobian(x), plain.jacobian(x), rtol=1e-12)
    for made in (fast.goal.hessian_program, fast._all.hessian_program, fast._limits.jacobian_program):
        assert isinstance(made, hb.CompiledJacobianProgram)
    again = pickle.loads(pickle.dumps(fast))
    assert repr(again) == "nlp(f : ℝ^30 → ℝ, g = 0 in ℝ^29)"
    np.testing.assert_array_equal(again.hessian(x, m, 2.0), fast.hessian(x, m, 2.0))


def test_without_constraints() -> None:
    """The program of a function alone: no entries of constraints, and the Hessian of f."""
    V = hb.R ** hb.Fin.of(3)
    p = hb.nlp(hb.fun(V)(lambda x: x @ x))
    assert (p.count, p.conditions, p.constraints([1.0, 2.0, 3.0]).shape, p.jacobian([1, 2, 3]).shape) == (
        0,
        [],
        (0,),
        (0,),
    )
    assert [len(places) for places in p.jacobianstructure()] == [0, 0]
    assert p.hessian([1.0, 2.0, 3.0], []).tolist() == [2.0, 2.0, 2.0]
    assert p.point([1.0, 2.0, 3.0]).array.tolist() == [1.0, 2.0, 3.0]


def test_refusals() -> None:
    """Functions that make no program."""
    V, W = hb.R ** hb.Fin.of(3), hb.R ** hb.Fin.of(2)
    f: Any = hb.fun(V)(lambda x: x @ x)
    g: Any = hb.fun(V)(lambda x: x > 0.0)
    three: Any = 3
    for call, says in (
        (lambda: hb.nlp(g), "nlp: f is a scalar-valued function, not one into Bool^3"),
        (lambda: hb.nlp(f, equal=g), "nlp: equal is a function into a space, not one into Bool^3"),
        (lambda: hb.nlp(f, at_most=hb.fun(W)(lambda x: x)), "f is on ℝ^3, and at_most on ℝ^2: all functions have"),
        (lambda: hb.nlp(f, equal=three), "nlp: equal takes a map, not 3"),
        (lambda: hb.nlp(f, equal=f).hessian([1.0, 2.0, 3.0], [1.0, 2.0]), "a flat array of 1 real numbers is due"),
    ):
        with pytest.raises(SpaceError) as error:
            call()
        assert says in str(error.value), str(error.value)


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The callbacks need no scipy; the constraints as scipy takes them say what to install."""
    V = hb.R ** hb.Fin.of(3)
    p = hb.nlp(hb.fun(V)(lambda x: x @ x), equal=hb.fun(V)(lambda x: x[0] * x[1]))
    patterns.scipy.cache_clear()
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(SpaceError, match="need scipy: pip install scipy"):
        p.conditions  # noqa: B018 - a property that raises
    assert p.gradient([1.0, 2.0, 3.0]).tolist() == [2.0, 4.0, 6.0]
    assert p.jacobian([1.0, 2.0, 3.0]).tolist() == [2.0, 1.0]
    assert p.hessian([1.0, 2.0, 3.0], [5.0]).tolist()[:2] == [2.0, 5.0]

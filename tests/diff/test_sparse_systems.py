"""Systems of equations through what their structure proves: divided, in bands, by sparse LU, beside their matrices."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint import check_derivative, grad, hessian, jacobian, value_and_grad
from diff import const, derivative, exp, fun, inner, jvp, lift, program, sin, tanh
from hilbert import R32, Fin, R, SpaceError
from hilbert.arrays.libraries import linear_systems, sparse_systems
from hilbert.arrays.libraries.sparse_systems import SparseSystem, scipy_of
from hilbert.program.control import equation_step
from hilbert.relation import pairs
from linmap import cost, red
from linmap.matrices.made.systems import systems
from tests.untyped import each, fixed_point, root

jax.config.update("jax_enable_x64", val=True)  # type: ignore[no-untyped-call]
RNG = np.random.default_rng
PLAN = "diff.derive.system_plan"


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
            patch.setattr(f"{PLAN}.SPARSE", 1)
            patch.setattr(sparse_systems, "PLACE", 1e9 if way == "LU" else 0.0)
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
    "cube": lambda u, c: u * u * u,
    "varied": lambda u, c: exp(0.3 * c) * u,
    "up": lambda u, c: c * shifted(u, 1),
    "down": lambda u, c: shifted(tanh(u), -1),
    "twice": lambda u, c: shifted(u * c, 2),
    "around": lambda u, c: sin(u).roll(1),
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
    """Value, gradient, and derivative in a direction are the same, in lanes too, with data that vary over them or not."""
    found = []
    for some in ("full", way):
        with planned(some):
            f = solved(names, kind)
            g = lift(f, L, over=over) if over else f
            slope = jvp(g)
            x, dx = g.dom.random(RNG(seed)), slope.dom.random(RNG(seed))
            found.append((g(x), grad(total(g))(x), slope(dx)))
            have = set.union(*(ways(program(h).line) for h in (g, slope, grad(total(g)))))
            due = {"by its matrix"} if some == "full" else {"by division", "in a band" if way == "band" else "by sparse LU"}
            assert have <= due, have
    for have, want in zip(found[1], found[0], strict=True):
        close(have, want)

"""Vectors as pytrees: the spaces of what JAX's transformations stack, cut and rebuild."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hilbert.all as hb
from adjoint.bridges.as_jax import as_jax
from adjoint.bridges.pytree import Structure, space_of


class Xs:
    """An axis."""


class Time:
    """An axis."""


class State(hb.Record):
    """The state of a loop."""

    w: hb.Part[hb.Vector[Xs]]
    s: hb.Part[hb.Scalar]


class Series(hb.Record):
    """Data, a row for each time."""

    x: hb.Part[hb.Matrix[Time, Xs]]
    y: hb.Part[hb.Vector[Time]]


X, T, N = hb.Fin(Xs, 3), hb.Fin(Time, 5), hb.Fin.of(5)
Q, D = State(w=hb.R**X, s=hb.R), Series(x=hb.R ** (T * X), y=hb.R**T)
f = as_jax(hb.fun(Q)(lambda p: (hb.sin(p[State.w]) * p[State.s]).sum()))
each = as_jax(hb.fun(Q)(lambda p: hb.sin(p[State.w]) * p[State.s]))


@pytest.fixture(autouse=True)
def _double() -> Any:
    with jax.enable_x64(True):  # noqa: FBT003 - JAX's
        yield


def test_what_scan_stacks() -> None:
    """The steps of a vector of V are a vector of V^n, whose parts and rows are those of the steps."""
    _, steps = jax.lax.scan(lambda s, _: (s + 1.0, s), Q.ones(), None, length=5)
    assert steps.space == Q**N
    assert steps[State.s].array.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert float(steps[State.s].mean()) == 3.0
    rows: Any = steps
    assert hb.equal(rows[2], Q.full(3.0))


@pytest.mark.parametrize("table", [Q**N, Q**T], ids=str)
def test_rows_of_a_table(table: Any) -> None:
    """scan and vmap take the rows of a vector of V^X: vectors of V; what they stack is in V^n."""
    rows = table.random(np.random.default_rng(0))
    total, out = jax.lax.scan(lambda s, row: (s + row, row), Q.zeros(), rows)
    assert (total.space, out.space) == (Q, Q**N)
    np.testing.assert_allclose(total[State.w].array, rows[State.w].array.sum(0))
    assert jax.vmap(jax.grad(f))(rows).space == Q**N
    np.testing.assert_allclose(jax.vmap(f)(rows)[3], f(rows[3]))
    assert jax.vmap(jax.vmap(f))((table ** hb.Fin.of(2)).ones()).shape == (2, 5)
    assert jax.jit(lambda v: v * 2.0)(rows).space == table


def test_rows_of_a_record_of_tables() -> None:
    """The parts lose their first axis together."""
    step: Any = lambda s, row: (s + row[Series.y], row[Series.x])  # noqa: E731
    total, rows = jax.lax.scan(step, hb.R.zeros(), D.ones())
    assert float(total) == 5.0
    assert str(rows.space) == "(ℝ^Xs3)^5"


@pytest.mark.parametrize("derive", [jax.jacfwd, jax.jacrev])
def test_jacobians(derive: Any) -> None:
    """JAX compares the structure of a point with that of a batch, of one direction or of many."""
    at = Q.random(np.random.default_rng(1))
    rows = derive(each)(at)
    assert rows.space == Q ** hb.Fin.of(3)
    np.testing.assert_allclose(rows[State.w].array, np.diag(np.cos(at[State.w].array) * float(at[State.s])))
    assert derive(f)(at).space == Q
    second = jax.hessian(f)(at)
    np.testing.assert_allclose(second.leaves[0].leaves[1], np.cos(at[State.w].array))


def test_two_tables_of_one_form() -> None:
    """A result of jit has the space of its argument, also where another space has the same arrays."""
    twice = jax.jit(lambda v: v * 2.0)
    V = hb.R**X
    one, other = (V ** hb.Fin.of(2)) ** N, V ** (N * hb.Fin.of(2))
    assert [twice(W.ones()).space for W in (one, other)] == [one, other]
    assert Structure(one) != Structure(other)
    assert Structure(one) == Structure(V)
    assert Structure(V) != V
    assert repr(Structure(V)) == repr(V)


@pytest.mark.parametrize(
    ("space", "shapes", "found"),
    [
        (hb.R, ((2, 3),), hb.R ** (hb.Fin.of(2) * hb.Fin.of(3))),
        (hb.R**X, ((),), hb.R),
        (hb.R ** (T * X * X), ((3, 3),), hb.R ** (X * X)),
        (hb.R ** (T + X), ((),), hb.R),
        (hb.direct_sum(hb.R, hb.R**X), ((5,), (5, 3)), hb.direct_sum(hb.R, hb.R**X) ** N),
        (hb.direct_sum(hb.R, hb.R**X), ((), ()), None),
        ((hb.R**X) * (hb.R**T), ((5,),), None),
        (hb.direct_sum(), (), hb.direct_sum()),
    ],
    ids=str,
)  # fmt: skip
def test_spaces(space: Any, shapes: Any, found: Any) -> None:
    """Axes in front may come, or the first may go."""
    assert space_of(space, shapes) == found


def test_arrays_that_do_not_fit() -> None:
    """Every use of such a vector is an error; JAX may rebuild one that fits."""
    wrong: Any = jax.tree.map(lambda _: jnp.zeros((2, 2)), Q.ones())
    uses: list[Any] = [
        lambda: wrong + 1.0, lambda: Q.ones() + wrong, lambda: wrong.array, lambda: wrong[State.w], lambda: str(wrong),
        lambda: repr(wrong), lambda: f(wrong), lambda: wrong == Q.ones(),
        lambda: hash(wrong.space), lambda: wrong.norm(over=0),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(hb.SpaceError, match=r"arrays of shapes \(2, 2\), \(2, 2\), where \(3,\), \(\) are due"):
            use()
    assert jax.tree.map(lambda _, a: a, wrong, Q.ones()).space == Q
    assert not hasattr(wrong.space, "__array__")


def test_what_is_no_array() -> None:
    """JAX puts other objects in the place of arrays."""
    assert jax.tree.map(lambda a: a.shape, Q.ones()).leaves == ((3,), ())
    assert jax.tree.map(lambda _: None, Q.ones()).leaves == (None, None)
    assert jax.eval_shape(lambda p: p, Q.ones()).space == Q

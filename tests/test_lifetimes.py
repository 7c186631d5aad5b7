"""No cache keeps spaces, labels or arrays of programs that are gone, and no plan keeps what JAX traced."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hilbert.all as hb
from adjoint import grad
from diff import fun
from hilbert import Elements, Fin, Labelled, R, SpaceError, direct_sum, relation
from hilbert.base.once import WhileAlive

if TYPE_CHECKING:
    from collections.abc import Callable

jax.config.update("jax_enable_x64", val=True)

Z = Fin.of(2)
LASTING = R**Z
"""A space that outlives the others."""


class Row:
    """The tag of a set of labels."""


def eager(X: Any) -> None:
    """Operations on vectors, with spaces that live on, too."""
    v, lasting = (R**X).ones(), LASTING.ones()
    A = (R ** (X * Z)).ones()
    for w in (
        v * v,
        v + v,
        2.0 / v,
        v @ v * v,
        hb.sin(v),
        v["a"],
        v[1:],
        A @ lasting,
        A.T @ v,
        v.sum(),
        hb.maximum(v, v),
    ):
        str(w)
    hb.outer(v, lasting)
    hb.outer(lasting, v)
    lasting.tensor(v)
    v * R.vec(2.0)
    hb.onehot(Elements(X).vec(0))
    hb.contract("xz,z->x", A, lasting, to=R**X)


def maps(X: Any) -> None:
    """Linear maps: applied, turned, printed, simplified, as matrices."""
    total, back = hb.total(X), hb.rep(X)
    f = hb.red(relation.leq(X)) @ back @ total + 2 * hb.identity(R**X)
    f(f.dom.ones())
    hb.adjoint(f)(f.cod.ones())
    str(f), repr(f), hash(f), hb.simplify(f), hb.structure(f), hb.cost(f), hb.explain(f)
    for form in ("array", "sparse", "operator"):
        hb.matrix(f, as_=form)
    hb.diagonal(f), hb.trace(f), hb.gram(f)
    hb.factors(back @ total)


def functions(X: Any) -> None:
    """Traced functions, their derivatives, gradients, Hessians, lifts."""
    A = (R ** (X * X)).ones()
    f = hb.fun(R**X, R**X)(lambda x, y: hb.tanh(A @ x) * y + hb.const((R**X).ones()))
    q = hb.fun(R**X)(lambda x: f(x, x) @ x)
    x = (R**X).ones()
    q(x), hb.grad(q)(x), hb.hessian(q, x), hb.jacobian(f, x, x), hb.value_and_grad(q)(x)
    str(q), repr(q), str(hb.derivative(f)), hb.pointfree(q), hb.simplify(hb.derivative(f))
    hb.lift(f, Z, over=(1,))(x, ((R**X) ** Z).ones())
    hb.check(q, x)


def selections(X: Any) -> None:
    """Elements, gathers, sums by key."""
    picked = hb.fun(R**X, Elements(X) ** Z)(lambda v, i: hb.sin(v)[i])
    picked((R**X).ones(), (Elements(X) ** Z).vec([0, 2]))
    hb.gather(["a", "c"], X)((R**X).ones())
    hb.segment_sum(np.array([0, 1, 1]), X)
    hb.select((R**X).ones() > 0.0, (R**X).ones())
    direct_sum(R**X, LASTING).zeros()


WORK: list[Callable[[Any], None]] = [eager, maps, functions, selections]


def kept_results() -> int:
    """How many results all caches of `while_alive` keep."""
    gc.collect()
    return sum(len(cache) for cache in gc.get_objects() if isinstance(cache, WhileAlive))


@pytest.mark.parametrize("work", WORK)
def test_labels_die(work: Callable[[Any], None]) -> None:
    """After del X and gc.collect() no index set, space or leaf with the labels of X is alive."""

    def run() -> list[weakref.ref[Any]]:
        X = Labelled(Row, ["a", "b", "c"])
        work(X)
        return [weakref.ref(X), weakref.ref(R**X)]

    run()
    before = kept_results()
    gone = [r for _ in range(2) for r in run()]
    gc.collect()
    assert [r() for r in gone] == [None] * len(gone)
    assert kept_results() == before
    assert not [X for X in gc.get_objects() if isinstance(X, Fin) and X.tag is Row]


def first_inside_jit() -> dict[str, Any]:
    """Functions whose plans keep arrays: constants, positions, masks, weights."""
    X, Y = Fin.of(5), Fin.of(7)
    V = R**X
    rng = np.random.default_rng(0)
    A, c, places = (R ** (X * X)).random(rng), V.random(rng), rng.integers(0, 5, 7)
    return {
        "constants": hb.fun(V)(lambda x: hb.tanh(A @ x + hb.const(c))),
        "gather": hb.gather(places, X),
        "segment sum": hb.segment_sum(places, X),
        "pairs": hb.red(relation.pairs([(0, 1), (2, 3), (2, 4)], X, X)),
        "elements": hb.fun(V)(lambda x: x[hb.const((Elements(X) ** Y).vec(places))]),
        "weights": hb.sparse(places % 3, places, rng.standard_normal(7), X, X),
        "select": hb.fun(V)(lambda x: hb.select(x > 0.0, x * x)),
        "gradient": hb.grad(hb.fun(V)(lambda x: hb.tanh(A @ x) @ hb.const(c))),
        "a result that is a constant": hb.fun(V)(lambda x: (x, hb.const(c))),
        "windows": hb.windows(X, 2),
    }


@pytest.mark.parametrize("name", first_inside_jit())
def test_no_tracer_is_kept(name: str) -> None:
    """f first run inside jax.jit, then under other transformations and outside: the same values."""
    f = first_inside_jit()[name]

    def total(a: Any) -> Any:
        y = f(f.dom.vec(a))
        return jnp.sum(jnp.concatenate([jnp.ravel(leaf) for leaf in y.leaves]))

    a = jnp.linspace(-1.0, 1.0, f.dom.dim)
    inside = jax.jit(total)(a)
    np.testing.assert_allclose(inside, total(a))
    np.testing.assert_allclose(jax.jit(jax.grad(total))(a), jax.grad(total)(a))
    np.testing.assert_allclose(jax.vmap(total)(jnp.stack([a, 2 * a])), [total(a), total(2 * a)])


def test_what_is_traced_has_no_entries_yet() -> None:
    """Inside jax.jit a vector prints by its shape, and a traced number without a space is refused."""

    def said(a: Any) -> Any:
        v = (hb.R ** hb.Fin.of(4)).vec(a)
        assert str(v) == "float64[4] ∈ ℝ^4"
        assert repr(v).startswith("named(")
        with pytest.raises(hb.SpaceError, match="a plain array has no space"):
            _ = v * a[0]
        return (hb.R.vec(a[0]) * v).array

    np.testing.assert_allclose(jax.jit(said)(jnp.arange(4.0) + 2.0), 2.0 * np.arange(2.0, 6.0))


def test_no_tracer_is_kept_by_operations_on_vectors_and_matrices() -> None:
    """The same for v * v, Jacobians and Hessians, whose plans are kept with spaces and derivatives."""
    X = Fin.of(4)
    V = R**X
    A = (R ** (X * X)).random(np.random.default_rng(0))
    f, q = hb.fun(V)(lambda x: hb.tanh(A @ x)), hb.fun(V)(lambda x: hb.sin(x) @ (A @ x))

    def results(a: Any) -> Any:
        v = V.vec(a)
        return (v * v + 2.0 / v).array, hb.jacobian(f, v), hb.hessian(q, v)

    a = jnp.linspace(1.0, 2.0, 4)
    inside = jax.jit(results)(a)
    for one, other in zip(inside, results(a), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    assert all(np.isfinite(d).all() for d in jax.jit(jax.jacobian(results))(a))


def test_labels_inside_jit() -> None:
    """Labels are arguments of a compiled function, or constants of one; those that are known are checked."""
    X, Y = Fin.of(3), Fin.of(5)
    V, places = R**X, Elements(X) ** Y
    slope = grad(fun(V, places)(lambda v, i: (v[i] ** 2).sum()), 0)
    labels = jnp.array([0, 2, 1, 1, 0])
    wrong = labels + 1
    due = slope(V.vec(jnp.ones(3)), places.vec(labels)).array
    argument = jax.jit(lambda v, i: slope(V.vec(v), places.vec(i)).array)
    closed = jax.jit(lambda v: slope(V.vec(v), places.vec(labels)).array)
    np.testing.assert_array_equal(argument(jnp.ones(3), labels), due)
    np.testing.assert_array_equal(closed(jnp.ones(3)), due)
    with pytest.raises(SpaceError, match="entries from 1 to 3 are not elements of 3"):
        jax.jit(lambda v: slope(V.vec(v), places.vec(wrong)).array)(jnp.ones(3))


def test_the_last_power_of_a_space_is_found_while_it_lives() -> None:
    """V^X is one object for one X, and none that is gone; another set, equal or not, makes another."""
    V, X, Y = R ** Fin.of(2), Fin.of(3), Fin.of(3)
    one = V**X
    assert V**X is one
    assert one == V**Y
    assert (V**Y).index is Y
    assert one == V**X
    known = weakref.ref(V**X)
    del one
    gc.collect()
    assert known() is None
    assert (V**X).index is X

"""Functions of the library in JAX: values, derivatives of every kind, transformations, bad input."""

from __future__ import annotations

import itertools
import pickle
import traceback
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hilbert.all as hb
from adjoint.bridges.as_jax import Rule, as_jax

X = hb.Fin.of(3)
AT = (np.arange(3.0), 1.5)


@pytest.fixture(autouse=True)
def _double() -> Any:
    with jax.enable_x64(True):  # noqa: FBT003 - JAX's
        yield


def f() -> Any:
    return hb.fun(hb.R**X, hb.R)(lambda x, k: (hb.sin(x * k), (x @ x) * k))


def plain(x: Any, k: Any) -> Any:
    return jnp.sin(x * k), (x @ x) * k


def one(h: Any) -> Any:
    """A function into ℝ of both results."""
    return lambda x, k: h(x, k)[0].sum() * h(x, k)[1]


def thrice(h: Any) -> Any:
    return jax.grad(jax.grad(jax.grad(h, 1), 1), 1)


FORWARD: dict[str, Any] = {
    "jacfwd": jax.jacfwd,
    "hessian": lambda h: jax.hessian(h, (0, 1)),
    "jvp": lambda h: lambda x, k: jax.jvp(h, (x, k), (x + 1.0, 2.0)),
    "third": thrice,
}
BACKWARD: dict[str, Any] = {
    "grad": jax.grad,
    "both": lambda h: jax.grad(h, (0, 1)),
    "jit": lambda h: jax.jit(jax.grad(h)),
    "twice": lambda h: jax.jacrev(jax.grad(h)),
    "vmap": lambda h: lambda x, k: jax.vmap(jax.grad(h), (0, None))(jnp.stack([x, x + 1.0]), k),
    "scan": lambda h: jax.grad(lambda x, k: jax.lax.scan(lambda c, _: (c + h(c * x, k), h(x, c)), k, None, 3)[0]),
    "checkpoint": lambda h: jax.grad(jax.checkpoint(h)),
}


def alike(found: Any, wanted: Any) -> None:
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", FORWARD | BACKWARD)
def test_derivatives(name: str) -> None:
    """JAX's derivatives of as_jax(f) are those of f written in JAX."""
    derive = (FORWARD | BACKWARD)[name]
    alike(derive(one(as_jax(f())))(*AT), derive(one(plain))(*AT))


@pytest.mark.parametrize("name", BACKWARD)
def test_outside_of_jax(name: str) -> None:
    """By the other rule numpy computes, or machine code."""
    derive, code = BACKWARD[name], hb.compiled(f()) if name in {"grad", "vmap"} else f()
    alike(derive(one(as_jax(code, rule="vjp")))(*AT), derive(one(plain))(*AT))


def test_the_rule_is_ours() -> None:
    """Forwards JAX runs the library's derivative: a wrong one of a user's operation shows."""
    wrong = hb.register("wrong_cube", lambda _, x: x**3, lambda x, _: 0.0 * x + 7.0)
    assert float(jax.grad(as_jax(hb.fun(hb.R)(wrong)))(2.0)) == 7.0


TABLE = np.array([[0, 2], [1, 1], [2, 0], [2, 2]])
PAIRS = hb.Fin.of(4) * hb.Fin.of(2)
KEPT: dict[str, tuple[Any, Any]] = {
    "constant": (
        lambda x: (hb.sin(x) * (hb.R**X).vec([1.0, 2.0, 3.0])).sum(),
        lambda x: jnp.sin(x) @ jnp.arange(1.0, 4.0),
    ),
    "table": (
        lambda x: ((x**3)[(hb.Elements(X) ** PAIRS).vec(TABLE)] ** 2).sum(),
        lambda x: ((x**3)[TABLE] ** 2).sum(),
    ),
    "gather": (
        lambda x: (hb.gather(TABLE.reshape(-1), X)(hb.exp(x)) ** 2).sum(),
        lambda x: (jnp.exp(x)[TABLE] ** 2).sum(),
    ),
    "mask": (
        lambda x: hb.where((hb.Bool**X).vec([True, False, True]), hb.sin(x), x**3).sum(),
        lambda x: jnp.where(np.array([True, False, True]), jnp.sin(x), x**3).sum(),
    ),
}
"""Functions with something that is moved to JAX once: as users write them, and in JAX."""
TRANSFORMED: dict[str, Any] = {
    "plain": lambda h: h,
    "grad": jax.grad,
    "jit": lambda h: jax.jit(jax.value_and_grad(h)),
    "vmap": lambda h: lambda x: jax.vmap(jax.grad(h))(jnp.stack([x, x + 1.0])),
    "hessian": jax.hessian,
    "jitted hessian": lambda h: jax.jit(jax.hessian(h)),
}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("order", list(itertools.permutations(TRANSFORMED, 2)), ids=" then ".join)
def test_constants_outlive_every_transformation(name: str, order: tuple[str, ...]) -> None:
    """What is moved to JAX inside one transformation serves all others: each twice, also of as_jax taken again."""
    ours, theirs = KEPT[name]
    function = hb.fun(hb.R**X)(ours)
    for derive in (TRANSFORMED[word] for word in order):
        found, wanted = derive(as_jax(function)), derive(theirs)(jnp.asarray(AT[0]))
        for _ in range(2):
            alike(found(jnp.asarray(AT[0])), wanted)
    alike(jax.grad(as_jax(function))(AT[0]), jax.grad(theirs)(AT[0]))


def test_vectors_are_pytrees() -> None:
    """A vector goes in, its gradient is one of the same space; records, too."""
    P = hb.direct_sum(hb.R**X, hb.R)
    g = as_jax(hb.fun(P, hb.R)(lambda p, k: (p[0] @ p[0]) * p[1] * k))
    p = P.vec(([1.0, 2.0, 3.0], 2.0))
    slope = jax.grad(g)(p, 3.0)
    assert isinstance(slope, hb.Vec)
    assert slope.space == P
    alike(slope.leaves, (jnp.array([12.0, 24.0, 36.0]), jnp.array(42.0)))
    alike(jax.grad(g)((jnp.array([1.0, 2.0, 3.0]), jnp.array(2.0)), 3.0), slope.leaves)


@pytest.mark.parametrize("rule", ["jvp", "vjp"])
def test_what_is_discrete(rule: Rule) -> None:
    """An element has no slope, and results that are elements have none either."""
    g = as_jax(hb.fun(hb.R**X, hb.Elements(X))(lambda x, i: (x[i] * x[i], x.argmax())), rule=rule)
    at = jnp.array([1.0, 4.0, 2.0])
    assert jax.grad(lambda x: g(x, 1)[0])(at).tolist() == [0.0, 8.0, 0.0]
    assert int(jax.jit(g)(at, 2)[1]) == 1


def test_single_precision_and_numbers() -> None:
    """A number takes the precision of its part, an array keeps its own."""
    g = as_jax(hb.fun(hb.R32, hb.R32)(lambda x, k: x * k))
    assert g(2.0, jnp.float32(3.0)).dtype == jnp.float32
    with pytest.raises(hb.SpaceError, match="float64"):
        g(2.0, jnp.float64(3.0))


BAD = (
    (lambda g: g(AT[0]), "takes 2 arguments, one for each part; 1 were given"),
    (lambda g: g(AT[0][:2], 1.0), "shape (3,) would fit"),
    (lambda g: g(AT[0] > 0, 1.0), "bool is not an element"),
    (lambda g: g(hb.R.vec(1.0), 1.0), "a vector of ℝ is given to f, where one of ℝ^3 is due"),
    (lambda _: as_jax(f(), rule="both"), 'the name of a rule is "jvp" or "vjp"'),  # type: ignore[arg-type]
    (lambda _: as_jax(3), "as_jax takes a map, not 3"),  # type: ignore[arg-type]
    (lambda _: as_jax(hb.fun(hb.Elements(X))(lambda i: i))(1.5), "which holds int64"),
)


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input(call: Any, message: str) -> None:
    """Errors are ours, and say the part."""
    with pytest.raises(hb.SpaceError) as error:
        call(as_jax(f()))
    assert message in str(error.value)


def test_a_function_is_pickled() -> None:
    """The function and its rule travel; the result, its gradient and its text are the same."""
    rule: Rule
    for rule in ("jvp", "vjp"):
        g: Any = as_jax(f(), rule=rule)
        again = pickle.loads(pickle.dumps(g))
        assert repr(again) == repr(g)
        assert jax.jit(again)(*AT)[1] == g(*AT)[1]
        assert jax.grad(one(again), 1)(*AT) == jax.grad(one(g), 1)(*AT)


@pytest.mark.parametrize("given", [None, "x", {}, [1.0, None, 2.0], np.array([object()] * 3)])
def test_what_is_no_array(given: Any) -> None:
    """The error says which array is due, and has the frames of the caller only."""
    g = as_jax(hb.fun(hb.R**X)(hb.sin))
    with pytest.raises(hb.SpaceError, match=r"takes an array of shape \(3,\) and dtype float64 for ℝ") as caught:
        g(given)
    assert [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)] == ["test_what_is_no_array"]


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")
def test_doubles_are_not_made_single() -> None:
    """Without JAX's doubles a vector of ℝ is refused, as arrays are; single precision and what is discrete fit."""
    g, single = as_jax(hb.fun(hb.R**X)(hb.sin)), as_jax(hb.fun(hb.R32**X)(hb.sin))
    taken = as_jax(hb.fun(hb.R32**X, hb.Elements(X))(lambda x, i: x[i]))
    with jax.enable_x64(False):  # noqa: FBT003 - JAX's
        for given in ((hb.R**X).ones(), np.ones(3)):
            with pytest.raises(hb.SpaceError, match="set its jax_enable_x64, or take R32"):
                g(given)
        assert single((hb.R32**X).ones()).dtype == np.float32
        assert taken((hb.R32**X).ones(), hb.Elements(X).vec(1)) == 1.0

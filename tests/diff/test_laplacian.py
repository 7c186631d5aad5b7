"""The Laplacian is the trace of the Hessian, of every kind of step, with the sum over directions inside."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from adjoint import hessian
from diff import contract, exp, fun, laplacian, lift, log, program, select, sigmoid, sin, square, tanh
from diff.primitives.primitives import BINARY, PRIMITIVES
from hilbert import R32, Bool, Copower, Elements, Fin, R, SpaceError, direct_sum
from linmap import cumsum, roll
from tests.diff.test_primitives import POINTS
from tests.function_terms import between
from tests.strategies import Source, sources
from tests.untyped import fold

X, H = Fin.of(4), Fin.of(3)
V = R**X


def trace(f: Any, x: Any) -> Any:
    """The trace of the Hessian of each entry of f, by its gradient."""
    entries = [fun.over(f.dom)(lambda *a, e=e: f(*a).sum() if e is None else (f(*a) * e).sum()) for e in f.cod.basis()]
    return [np.trace(hessian(entry, x)) for entry in entries]


TABLE: dict[str, Any] = {p.name: p for p in PRIMITIVES} | {p.name: p for p in BINARY}


@pytest.mark.parametrize("name", TABLE)
def test_primitives(name: str) -> None:
    """Σ p(g(x)) over a family of directions, with p behind a linear map and before one."""
    p = TABLE[name]
    point = np.asarray(POINTS.get(name, (0.3, 0.9, 1.7, 0.6)))
    if p.rule.arity == 1:
        f = fun(V)(lambda x: (p(x) * sin(p(x))).sum())
        x = V.vec(point)
    else:
        f = fun(V)(lambda x: p(x, 1.0 + 0.5 * x @ x * x).sum())
        x = V.vec([0.3, 0.9, 1.7, 0.6])
    assert float(laplacian(f)(x)) == pytest.approx(float(np.trace(hessian(f, x))), rel=1e-10, abs=1e-10)


MODELS: dict[str, Any] = {
    "quartic": fun(V)(lambda x: (x @ x) * (x @ x)),
    "network": fun(V)(lambda x: tanh((R ** (H * X)).random(np.random.default_rng(0)) @ tanh(x)) @ (R**H).ones()),
    "pairs": fun(V)(lambda x: contract("i,j->ij", x, exp(x)).sum() + log(1.0 + x @ x)),
    "relations": fun(V)(lambda x: cumsum(X)(x * x) @ roll(X, 1)(sin(x))),
    "masks": fun(V)(lambda x: select(x > 0.1, x * x).sum()),
    "components": fun(V)(lambda x: x[0] * x[1] * x[1] + x[-1]),
    "constant": fun(V)(lambda x: (x * 0.0).sum() + 1.0),
    "linear": fun(V)(lambda x: x.sum()),
    "a matrix": fun(R ** (H * X))(lambda A: tanh(A @ A.T).sum()),
    "a matrix and one transposed": fun(R ** (H * H))(lambda A: contract("ij,ji->", sin(A), exp(A))),
    "a loop over sums": fun(V)(lambda x: fold(lambda s, e: s + s * e * e, x[0], x.cumsum() * x)),
    "a family": fun(V**H)(lambda x: (x * sin(x)).sum()),
    "two parts": fun(V, R)(lambda x, k: tanh(k * x) @ x + k**3),
    "a number": fun(R)(lambda x: sigmoid(x) * sin(x)),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    """Δf(x) = tr f''(x)."""
    f = MODELS[name]
    x = f.dom.random(np.random.default_rng(1))
    assert float(laplacian(f)(x)) == pytest.approx(float(np.trace(hessian(f, x))), rel=1e-11, abs=1e-11)


@given(sources(smooth=True, single=False))
def test_functions(s: Source) -> None:
    """Functions of every combinator."""
    U = s.space(6, 1)
    f = between(s, U, R, 2)
    if not any(leaf.is_field for leaf in U.leaves):
        return
    x = s.vector(U)
    assert float(laplacian(f)(x)) == pytest.approx(float(np.trace(hessian(f, x))), rel=1e-8, abs=1e-8)


def test_vectors() -> None:
    """Of a map into a space, entry by entry."""
    f = fun(V)(lambda x: (sin(x) * (x @ x), x @ x))
    x = V.vec([0.2, -0.5, 1.0, 0.7])
    found = laplacian(f)(x)
    s, c, n = np.sin(x.array), np.cos(x.array), 4
    square = x.array @ x.array
    np.testing.assert_allclose(found.leaves[0], -s * square + 4.0 * x.array * c + 2.0 * n * s, rtol=1e-12)
    assert float(found.leaves[1]) == 2.0 * n


def test_some_parts() -> None:
    """With respect to one part, to two, and beside discrete ones."""
    f = fun(V, R, Elements(X))(lambda x, k, i: tanh(k * x)[i] + k * k * (x @ x))
    x = f.dom.random(np.random.default_rng(2))
    whole = float(laplacian(f)(x))
    first, second = (float(laplacian(f, k)(x)) for k in (0, 1))
    assert first == pytest.approx(float(np.trace(hessian(f, x, wrt=0))))
    assert first + second == pytest.approx(whole) == pytest.approx(float(laplacian(f, (0, 1))(x)))


def test_it_lifts() -> None:
    """At many points, parameters shared."""
    f = fun(R ** (H * X), V)(lambda W, x: tanh(W @ x) @ tanh(W @ x))
    points = lift(laplacian(f, 1), Fin.of(5))
    W, xs = (R ** (H * X)).random(np.random.default_rng(0)), Copower(V, Fin.of(5)).random(np.random.default_rng(1))
    due = [float(laplacian(f, 1)(W, V.vec(row))) for row in xs.array]
    np.testing.assert_allclose(points(W, xs).array, due, rtol=1e-12)


def test_steps_of_two_hidden_layers() -> None:
    """At most 27 steps, the network's own among them, and one product with U on a family."""

    def network(x: Any, W: Any, b: Any, U: Any, c: Any, w: Any) -> Any:
        return tanh(U @ tanh(W @ x + b) + c) @ w

    f = fun(V, R ** (H * X), R**H, R ** (H * H), R**H, R**H)(network)
    p = program(laplacian(f, 0))
    assert len(p.steps) <= 27
    family = {k for k, slot in enumerate(p.slots) if k >= p.arity and len(slot.axes) == 2}
    assert sum(3 in step.args and bool(family & {*step.args}) for step in p.steps) == 1
    assert max(slot.size for slot in p.slots) == 12  # no identity, no Hessian


def test_single_precision_stays() -> None:
    """On ℝ₃₂."""
    f = fun(R32**X)(lambda x: tanh(x) @ sin(x))
    assert {slot.dtype for slot in program(laplacian(f)).slots} == {"float32"}


any_laplacian: Any = laplacian


def test_bad_input() -> None:
    """No map, a discrete result, no real part, a position that there is not."""
    refused: list[tuple[Any, str]] = [
        (lambda: any_laplacian(3), "laplacian takes a map, not 3"),
        (lambda: laplacian(fun(V)(lambda x: x > 0.0)), "needs a vector space"),
        (lambda: laplacian(fun(Bool)(lambda c: select(c, V.ones()))), "there is none"),
        (lambda: laplacian(fun(V, Bool)(lambda x, c: select(c, x)), 1), "there is none"),
        (lambda: laplacian(fun(V, R)(lambda x, k: k * x), 2), "2"),
    ]
    for make, said in refused:
        with pytest.raises(SpaceError, match=said):
            make()
    assert direct_sum(V, Bool).leaves


@pytest.mark.parametrize(
    "body",
    [
        lambda x: square(x.sort()).sum(),
        lambda x: square(x.max()),
        lambda x: square(x[x.argsort()]).sum() * x[x.argmax()],
    ],
    ids=["sort", "max", "argsort"],
)
def test_what_is_found_at_the_point(body: Any) -> None:
    """Elements that are found at the point are no numbers: the basis meets them in a gather."""
    f, x = fun(R ** Fin.of(3))(body), (R ** Fin.of(3)).vec([1.0, 3.0, 2.0])
    assert np.isclose(float(laplacian(f)(x)), np.trace(hessian(f, x)))
